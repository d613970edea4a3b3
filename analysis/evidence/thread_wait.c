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

#define MUTEX THREAD_WAIT_LOCK, THREAD_WAIT_ON_MUTEX, SAMPLE_WAIT_MUTEX
#define CONDITION(what) THREAD_WAIT_CONDITION, THREAD_WAIT_ON_##what, SAMPLE_WAIT_NONE
#define REGION(what) THREAD_WAIT_REGION, THREAD_WAIT_ON_##what, SAMPLE_WAIT_NONE

/* Parts of the names that glibc, musl, libgomp and the OpenMP library of LLVM have for it, and what
 * to call it; NULL: as it calls itself, from there on. */
static const struct {
	const char *part;
	const char *called;
	enum thread_wait_kind kind;
	enum thread_wait_what what;
	uint8_t beside; /* what holds such a lock is said so (enum sample_wait_kind) */
} functions[] = {
	{"pthread_join", "pthread_join", THREAD_WAIT_JOIN, 0, SAMPLE_WAIT_NONE},
	{"pthread_clockjoin", "pthread_join", THREAD_WAIT_JOIN, 0, SAMPLE_WAIT_NONE},
	{"pthread_timedjoin", "pthread_join", THREAD_WAIT_JOIN, 0, SAMPLE_WAIT_NONE},
	{"thrd_join", "thrd_join", THREAD_WAIT_JOIN, 0, SAMPLE_WAIT_NONE},
	{"pthread_mutex_", "pthread_mutex_lock", MUTEX},
	{"mtx_lock", "mtx_lock", MUTEX},
	{"mtx_timedlock", "mtx_timedlock", MUTEX},
	{"pthread_rwlock_", NULL, THREAD_WAIT_LOCK, THREAD_WAIT_ON_RWLOCK, SAMPLE_WAIT_RWLOCK},
	{"pthread_cond_", "pthread_cond_wait", CONDITION(CONDITION)},
	{"cnd_wait", "cnd_wait", CONDITION(CONDITION)},
	{"cnd_timedwait", "cnd_timedwait", CONDITION(CONDITION)},
	{"pthread_barrier_wait", "pthread_barrier_wait", CONDITION(BARRIER)},
	{"new_sem_wait", "sem_wait", CONDITION(SEMAPHORE)},
	{"sem_wait", "sem_wait", CONDITION(SEMAPHORE)},
	{"sem_timedwait", "sem_timedwait", CONDITION(SEMAPHORE)},
	{"sem_clockwait", "sem_clockwait", CONDITION(SEMAPHORE)},
	{"GOMP_critical", NULL, REGION(CRITICAL)},
	{"__kmpc_critical", NULL, REGION(CRITICAL)},
	{"omp_set_lock", "omp_set_lock", REGION(OMP_LOCK)},
	{"omp_set_nest_lock", "omp_set_nest_lock", REGION(OMP_LOCK)},
	{"__kmpc_set_lock", NULL, REGION(OMP_LOCK)},
	{"__kmpc_set_nest_lock", NULL, REGION(OMP_LOCK)},
	{"GOMP_", NULL, REGION(TEAM)},
	{"gomp_", NULL, REGION(TEAM)},
	{"__kmp", NULL, REGION(TEAM)},
	/* By its module. */
	{"", NULL, REGION(TEAM)},
};

#undef MUTEX
#undef CONDITION
#undef REGION

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
	/* The word was in a thread's descriptor, or beside the address of one. Any other may be a
	 * thread's number by chance, above all where numbers are small. */
	if (sample_kind == SAMPLE_WAIT_STREAM)
		return THREAD_WAIT_LOCK;
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
	if (sample_kind == SAMPLE_WAIT_STREAM)
		return beside == SAMPLE_WAIT_NONE;
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

/* Has the function `found` called `last`, the one before, for the same wait? LLVM's OpenMP library
 * waits on condition variables. */
static bool is_of_call(size_t last, size_t found)
{
	return last == NUM_FUNCTIONS || functions[found].kind == functions[last].kind ||
	       (functions[last].what == THREAD_WAIT_ON_CONDITION &&
		functions[found].kind == THREAD_WAIT_REGION);
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
		if (found < NUM_FUNCTIONS && is_of_call(last, found)) {
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

/* "fputs": the outermost of the functions of the library that the thread is in. */
static const char *find_called(const struct job *job, uint32_t path, uint32_t caller)
{
	uint32_t at = path;

	while (callpaths_get(job->callpaths, at)->parent != caller)
		at = callpaths_get(job->callpaths, at)->parent;
	return names_function(job->names, at)->is_symbol ? names_function(job->names, at)->function
							 : NULL;
}

static bool is_allocator(const char *function)
{
	static const char *const names[] = {"malloc",        "free",           "calloc",
					    "realloc",       "posix_memalign", "memalign",
					    "aligned_alloc", "valloc",         "reallocarray",
					    "pvalloc",       "mallinfo2",      "malloc_trim"};

	if (!strncmp(function, "__libc_", strlen("__libc_")))
		function += strlen("__libc_");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

/* The frame of glibc's allocator that the thread is in, as the innermost that is no unnamed one of
 * that library; CALLPATH_NONE: none. */
static uint32_t find_allocator(const struct job *job, uint32_t path)
{
	for (int i = 0; i < MAX_FRAMES && path != CALLPATH_NONE; i++) {
		uint32_t module = callpaths_get(job->callpaths, path)->module;

		if (module == MODULE_NONE ||
		    modules_get(job->modules, module)->kind != MODULE_SYSTEM)
			return CALLPATH_NONE;
		if (is_allocator(names_function(job->names, path)->function))
			return path;
		path = callpaths_get(job->callpaths, path)->parent;
	}
	return CALLPATH_NONE;
}

/* A wait in which the stack shows none of the functions above. */
static void find_in_library(const struct job *job, const struct sample *sample,
			    struct thread_wait *wait)
{
	uint32_t at;

	if (wait->kind == THREAD_WAIT_JOIN) {
		wait->function = "pthread_join";
		wait->caller = find_caller(job, sample->path);
	} else if (sample->wait.kind == SAMPLE_WAIT_STREAM) {
		wait->what = THREAD_WAIT_ON_STREAM;
		wait->caller = find_caller(job, sample->path);
		wait->function = find_called(job, sample->path, wait->caller);
	} else if (sample->wait.kind == SAMPLE_WAIT_OTHER && !sample->wait.is_timed &&
		   (at = find_allocator(job, sample->path)) != CALLPATH_NONE) {
		wait->what = THREAD_WAIT_ON_HEAP;
		wait->caller = callpaths_get(job->callpaths, at)->parent;
		wait->function = names_function(job->names, at)->function;
	}
}

/* Is what the thread does, down to the kernel, the OpenMP library's? */
static bool is_inside_openmp(const struct job *job, uint32_t path)
{
	for (int i = 0; i < MAX_FRAMES && path != CALLPATH_NONE; i++) {
		uint32_t module = callpaths_get(job->callpaths, path)->module;

		if (is_openmp(job, module))
			return true;
		if (module == MODULE_NONE ||
		    modules_get(job->modules, module)->kind != MODULE_SYSTEM)
			return false;
		path = callpaths_get(job->callpaths, path)->parent;
	}
	return false;
}

static bool is_openmp_lock(enum thread_wait_what what)
{
	return what == THREAD_WAIT_ON_CRITICAL || what == THREAD_WAIT_ON_OMP_LOCK ||
	       what == THREAD_WAIT_ON_GOMP_LOCK;
}

/* What it waits for is known only of those that wait in the kernel, but some locks are spun for. */
static struct thread_wait find_spinning(const struct job *job, const struct sample *sample)
{
	struct thread_wait wait = {.caller = CALLPATH_NONE, .interrupted = CALLPATH_NONE}, found;
	size_t i;

	if (!sample || !is_inside_openmp(job, sample->path))
		return wait;
	found = wait;
	i = find_names(job, sample->path, &found);
	if (i == NUM_FUNCTIONS || !is_openmp_lock(functions[i].what))
		return wait;
	found.what = functions[i].what;
	return found;
}

struct thread_wait thread_wait_of(const struct job *job, const struct sample *sample)
{
	struct thread_wait wait = {.caller = CALLPATH_NONE, .interrupted = CALLPATH_NONE};
	size_t found;

	if (!sample || sample->path == CALLPATH_NONE || sample->wait.kind == SAMPLE_WAIT_NONE)
		return find_spinning(job, sample);
	found = find_names(job, sample->path, &wait);
	wait.kind =
		thread_wait_judge(sample->wait.kind,
				  found < NUM_FUNCTIONS ? functions[found].kind : THREAD_WAIT_NONE);
	if (found < NUM_FUNCTIONS)
		wait.what = functions[found].what;
	/* Its functions may have no names, and those that only jump on are not on the stack. */
	if (sample->wait.kind == SAMPLE_WAIT_GOMP && wait.what == THREAD_WAIT_ON_TEAM)
		wait.what = THREAD_WAIT_ON_GOMP_LOCK;
	if (found == NUM_FUNCTIONS)
		find_in_library(job, sample, &wait);
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
uint32_t thread_wait_lane_of(const struct job *job, const struct sample *sample, pid_t tid)
{
	const struct job_model *jm = job->model;
	const struct sample *main = samples_find(job->samples, sample->rank, 0);
	size_t num, first = job_model_lanes(jm, sample->rank, &num);
	uint32_t found = UINT32_MAX;
	bool is_same_namespace = false;

	if (!tid || !main)
		return UINT32_MAX;
	for (size_t l = first; l < first + num; l++) {
		const struct model_lane *lane = jm->lanes[l].data;

		is_same_namespace |= lane->is_main && lane->tid == main->tid;
		if (lane->tid == tid && !lane->has_ended)
			found = (uint32_t)l;
	}
	return is_same_namespace ? found : UINT32_MAX;
}

uint32_t thread_wait_lane(const struct job *job, const struct sample *sample,
			  const struct thread_wait *wait)
{
	return wait->is_own ? UINT32_MAX : thread_wait_lane_of(job, sample, wait->tid);
}

static bool is_in_team(const struct job *job, uint32_t path)
{
	while (path != CALLPATH_NONE &&
	       !is_openmp(job, callpaths_get(job->callpaths, path)->module))
		path = callpaths_get(job->callpaths, path)->parent;
	return path != CALLPATH_NONE;
}

/* Is it where a thread may be that holds what the other one waits for? */
static bool may_hold(const struct job *job, const struct sample *sample,
		     const struct thread_wait *wait)
{
	if (wait->what == THREAD_WAIT_ON_HEAP)
		return thread_wait_of(job, sample).what != THREAD_WAIT_ON_HEAP &&
		       find_allocator(job, sample->path) != CALLPATH_NONE;
	/* Who waits for others of the team may have the lock, too, but seldom has. */
	return is_in_team(job, sample->path) && !is_inside_openmp(job, sample->path);
}

const struct sample *thread_wait_likely(const struct job *job, const struct sample *sample,
					const struct thread_wait *wait)
{
	const struct samples *samples = job->samples;
	const struct sample *found = NULL;

	/* A signal's handler has interrupted the allocator and wants its lock. */
	if (wait->what == THREAD_WAIT_ON_HEAP && wait->interrupted != CALLPATH_NONE &&
	    find_allocator(job, wait->interrupted) != CALLPATH_NONE)
		return sample;
	if (wait->tid || (wait->what != THREAD_WAIT_ON_HEAP && !is_openmp_lock(wait->what)))
		return NULL;
	for (size_t i = sorted_first_rank(sample->rank, samples->samples, samples->num_samples,
					  sizeof(*samples->samples));
	     i < samples->num_samples && samples->samples[i].rank == sample->rank; i++) {
		const struct sample *other = &samples->samples[i];

		if (other->tid == sample->tid ||
		    other != samples_find(samples, sample->rank, other->tid))
			continue;
		/* Then it may be that one. */
		if (other->path == CALLPATH_NONE)
			return NULL;
		if (!may_hold(job, other, wait))
			continue;
		if (found)
			return NULL;
		found = other;
	}
	return found;
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
