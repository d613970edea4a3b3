/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/thread_wait.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"

/* A library's functions that wait are a few frames, one in the other. */
enum { MAX_FRAMES = 12 };
enum { MAX_THREADS = 16 }; /* each of which waits for the next */

/* Parts of the names that glibc, musl, libgomp and the OpenMP library of LLVM have for it, and what
 * to call it; NULL: as it calls itself, from there on. */
static const struct {
	const char *part;
	const char *called;
	enum thread_wait_kind kind;
	uint8_t beside; /* what holds such a lock is said so (enum sample_wait_kind) */
} functions[] = {
	{"pthread_join", "pthread_join", THREAD_WAIT_JOIN, SAMPLE_WAIT_NONE},
	{"pthread_clockjoin", "pthread_join", THREAD_WAIT_JOIN, SAMPLE_WAIT_NONE},
	{"pthread_timedjoin", "pthread_join", THREAD_WAIT_JOIN, SAMPLE_WAIT_NONE},
	{"thrd_join", "thrd_join", THREAD_WAIT_JOIN, SAMPLE_WAIT_NONE},
	{"pthread_mutex_", "pthread_mutex_lock", THREAD_WAIT_LOCK, SAMPLE_WAIT_MUTEX},
	{"mtx_lock", "mtx_lock", THREAD_WAIT_LOCK, SAMPLE_WAIT_MUTEX},
	{"mtx_timedlock", "mtx_timedlock", THREAD_WAIT_LOCK, SAMPLE_WAIT_MUTEX},
	{"pthread_rwlock_", NULL, THREAD_WAIT_LOCK, SAMPLE_WAIT_RWLOCK},
	{"pthread_cond_", "pthread_cond_wait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"cnd_wait", "cnd_wait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"cnd_timedwait", "cnd_timedwait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"pthread_barrier_wait", "pthread_barrier_wait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"new_sem_wait", "sem_wait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"sem_wait", "sem_wait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"sem_timedwait", "sem_timedwait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"sem_clockwait", "sem_clockwait", THREAD_WAIT_CONDITION, SAMPLE_WAIT_NONE},
	{"GOMP_", NULL, THREAD_WAIT_REGION, SAMPLE_WAIT_NONE},
	{"gomp_", NULL, THREAD_WAIT_REGION, SAMPLE_WAIT_NONE},
	{"__kmp", NULL, THREAD_WAIT_REGION, SAMPLE_WAIT_NONE},
	/* By its module. */
	{"", NULL, THREAD_WAIT_REGION, SAMPLE_WAIT_NONE},
};

enum { NUM_FUNCTIONS = sizeof(functions) / sizeof(functions[0]), IN_OPENMP = NUM_FUNCTIONS - 1 };

static size_t find_function(const char *name, const char **called_ret)
{
	for (size_t i = 0; i < IN_OPENMP; i++) {
		const char *at = strstr(name, functions[i].part);

		if (!at)
			continue;
		*called_ret = functions[i].called ? functions[i].called : at;
		return i;
	}
	return NUM_FUNCTIONS;
}

enum thread_wait_kind thread_wait_judge(unsigned int sample_kind, enum thread_wait_kind by_name)
{
	if (sample_kind == SAMPLE_WAIT_NONE || by_name != THREAD_WAIT_NONE)
		return sample_kind == SAMPLE_WAIT_NONE ? THREAD_WAIT_NONE : by_name;
	/* The word was in a thread's descriptor. Any other may be a thread's number by chance,
	 * above all where numbers are small. */
	return sample_kind == SAMPLE_WAIT_JOIN ? THREAD_WAIT_JOIN : THREAD_WAIT_FUTEX;
}

/* Is the thread that was read the one that this kind is about? `found`: the function's place in the
 * table. */
static bool has_thread(unsigned int sample_kind, enum thread_wait_kind kind, size_t found)
{
	uint8_t beside = found < NUM_FUNCTIONS ? functions[found].beside : SAMPLE_WAIT_NONE;

	if (kind == THREAD_WAIT_JOIN)
		return sample_kind == SAMPLE_WAIT_JOIN;
	if (kind != THREAD_WAIT_LOCK)
		return false;
	return sample_kind == beside ||
	       (sample_kind == SAMPLE_WAIT_OWNED && beside != SAMPLE_WAIT_RWLOCK);
}

/* Most of its functions have no names once it is stripped, and it waits for nothing but its
 * threads. */
static bool is_openmp(const struct job *job, uint32_t module)
{
	static const char *const libraries[] = {"libgomp.so", "libomp.so", "libiomp5.so"};
	const char *path = module == MODULE_NONE ? "" : modules_get(job->modules, module)->path;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strncmp(basename(path), libraries[i], strlen(libraries[i])) == 0)
			return true;
	return false;
}

/* By the frames that are nearest to the kernel: from the first with a known name to the last of the
 * same kind, which is what was called. */
static size_t find_names(const struct job *job, uint32_t path, struct thread_wait *wait)
{
	size_t last = NUM_FUNCTIONS;

	for (int i = 0; i < MAX_FRAMES && path != CALLPATH_NONE; i++) {
		const struct callpath_node *node = callpaths_get(job->callpaths, path);
		const char *called = NULL, *name = names_function(job->names, path)->function;
		size_t found = find_function(name, &called);
		bool is_program = node->module == MODULE_NONE ||
				  modules_get(job->modules, node->module)->kind == MODULE_PROGRAM;

		if (names_is_signal(job->names, path))
			break;
		if (found == NUM_FUNCTIONS && is_openmp(job, node->module))
			found = IN_OPENMP;
		if (found < NUM_FUNCTIONS &&
		    (last == NUM_FUNCTIONS || functions[found].kind == functions[last].kind)) {
			last = found;
			wait->function = called ? called : wait->function;
			wait->caller = node->parent;
		} else if (last < NUM_FUNCTIONS || is_program) {
			break;
		}
		path = node->parent;
	}
	return last;
}

/* Of a library without names: who has called it. */
static uint32_t find_caller(const struct job *job, uint32_t path)
{
	const uint32_t module = callpaths_get(job->callpaths, path)->module;

	while (path != CALLPATH_NONE && callpaths_get(job->callpaths, path)->module == module)
		path = callpaths_get(job->callpaths, path)->parent;
	return path;
}

/* Where the handler that the thread is in has interrupted; CALLPATH_NONE: it is in none. */
static uint32_t find_interrupted(const struct job *job, uint32_t path)
{
	while (path != CALLPATH_NONE && !names_is_signal(job->names, path))
		path = callpaths_get(job->callpaths, path)->parent;
	return path == CALLPATH_NONE ? path : callpaths_get(job->callpaths, path)->parent;
}

struct thread_wait thread_wait_of(const struct job *job, const struct sample *sample)
{
	struct thread_wait wait = {.caller = CALLPATH_NONE, .interrupted = CALLPATH_NONE};
	size_t found;

	if (!sample || sample->path == CALLPATH_NONE || sample->wait.kind == SAMPLE_WAIT_NONE)
		return wait;
	found = find_names(job, sample->path, &wait);
	wait.kind =
		thread_wait_judge(sample->wait.kind,
				  found < NUM_FUNCTIONS ? functions[found].kind : THREAD_WAIT_NONE);
	if (found == NUM_FUNCTIONS && wait.kind == THREAD_WAIT_JOIN) {
		wait.function = "pthread_join";
		wait.caller = find_caller(job, sample->path);
	}
	wait.interrupted = find_interrupted(job, sample->path);
	wait.is_timed = sample->wait.is_timed;
	if (!has_thread(sample->wait.kind, wait.kind, found))
		return wait;
	wait.tid = sample->wait.tid;
	wait.is_own = wait.kind == THREAD_WAIT_LOCK && wait.tid == sample->tid;
	return wait;
}

bool thread_wait_is_for_threads(const struct thread_wait *wait)
{
	return wait->kind != THREAD_WAIT_NONE && wait->kind != THREAD_WAIT_FUTEX && !wait->is_own;
}

const struct sample *thread_wait_next(const struct job *job, const struct sample *sample,
				      const struct thread_wait *wait)
{
	if (!wait->tid || wait->is_own)
		return NULL;
	return samples_find(job->samples, sample->rank, wait->tid);
}

/* Samples' numbers are this system's, those of lanes the process' own: the same unless it is in a
 * pid namespace. */
uint32_t thread_wait_lane(const struct job *job, const struct sample *sample,
			  const struct thread_wait *wait)
{
	const struct job_model *jm = job->model;
	const struct sample *main = samples_find(job->samples, sample->rank, 0);
	size_t num, first = job_model_lanes(jm, sample->rank, &num);
	uint32_t found = UINT32_MAX;
	bool is_same_namespace = false;

	if (!wait->tid || wait->is_own || !main)
		return UINT32_MAX;
	for (size_t l = first; l < first + num; l++) {
		const struct model_lane *lane = jm->lanes[l].data;

		is_same_namespace |= lane->is_main && lane->tid == main->tid;
		if (lane->tid == wait->tid && !lane->has_ended)
			found = (uint32_t)l;
	}
	return is_same_namespace ? found : UINT32_MAX;
}

/* What a signal's handler has interrupted stands still, and does not count. */
static bool is_in_mpi(const struct job *job, uint32_t path)
{
	for (; path != CALLPATH_NONE && !names_is_signal(job->names, path);
	     path = callpaths_get(job->callpaths, path)->parent)
		if (names_is_mpi(job->names, path))
			return true;
	return false;
}

enum thread_wait_end thread_wait_follow(const struct job *job, const struct sample *sample,
					const struct sample **way, size_t max, size_t *num_ret)
{
	*num_ret = 0;
	while (sample && sample->path != CALLPATH_NONE && *num_ret < max) {
		struct thread_wait wait = thread_wait_of(job, sample);

		for (size_t i = 0; i < *num_ret; i++)
			if (way[i] == sample)
				return THREAD_WAIT_END_CIRCLE;
		way[(*num_ret)++] = sample;
		if (is_in_mpi(job, sample->path))
			return THREAD_WAIT_END_IN_MPI;
		if (wait.is_own)
			return THREAD_WAIT_END_CIRCLE;
		if (wait.kind == THREAD_WAIT_NONE || wait.kind == THREAD_WAIT_FUTEX)
			return THREAD_WAIT_END_OUTSIDE;
		sample = thread_wait_next(job, sample, &wait);
	}
	return THREAD_WAIT_END_UNKNOWN;
}

enum thread_wait_lead thread_wait_leads(const struct job *job, const struct sample *sample)
{
	const struct thread_wait wait = thread_wait_of(job, sample);
	const struct sample *way[MAX_THREADS];
	size_t num;

	if (wait.kind == THREAD_WAIT_NONE || wait.kind == THREAD_WAIT_FUTEX)
		return THREAD_WAIT_NOT_READ;
	switch (thread_wait_follow(job, sample, way, MAX_THREADS, &num)) {
	case THREAD_WAIT_END_IN_MPI:
		return THREAD_WAIT_LEADS_TO_MPI;
	case THREAD_WAIT_END_OUTSIDE:
	case THREAD_WAIT_END_CIRCLE:
		return THREAD_WAIT_LEADS_NOWHERE;
	case THREAD_WAIT_END_UNKNOWN:
		break;
	}
	/* Of a lock nobody may be the holder any more. */
	return wait.kind == THREAD_WAIT_LOCK && !wait.tid ? THREAD_WAIT_NOT_READ
							  : THREAD_WAIT_LEADS_ON;
}
