/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/stack_facts.h"
#include "analysis/evidence/thread_wait.h"
#include "analysis/thresholds.h"
#include "model/arena.h"
#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "model/sorted.h"

#define NOT_ASKED (CALLPATH_NONE - 1)
enum { MAX_THREADS = 16 }; /* each of which waits for the next */

/* Who asks for the time waits for nobody: programs that compute for a while do so all the time. */
static bool tells_time(const struct job *job, uint32_t function)
{
	return strcasestr(names_function(job->names, function)->function, "mpi_wti");
}

/* The outermost frame of MPI, or CALLPATH_NONE. What a signal handler has interrupted stands still
 * until the handler returns and does not count. Answers are kept. */
static uint32_t find_function(const struct job *job, uint32_t path, uint32_t *known)
{
	uint32_t function = CALLPATH_NONE, at = path;

	if (known[path] != NOT_ASKED)
		return known[path];
	for (; at != CALLPATH_NONE && !names_is_signal(job->names, at);
	     at = callpaths_get(job->callpaths, at)->parent)
		if (names_is_mpi(job->names, at) && !tells_time(job, at))
			function = at;
	known[path] = function;
	return function;
}

/* The first sample of the thread from then on. */
static const struct sample *find_after(const struct job *job, int rank, pid_t tid, uint64_t when_ns)
{
	const struct sample *all = job->samples->samples;
	size_t num = job->samples->num_samples, i = sorted_first_rank(rank, all, num, sizeof(*all));

	for (; i < num && all[i].rank == rank; i++)
		if (all[i].tid == tid && all[i].when_ns >= when_ns)
			return &all[i];
	return NULL;
}

/* Of the thread inside MPI that a thread waits for, outside MPI: it was looked at right after.
 * NULL: it waits for none. */
static const struct sample *find_awaited(const struct job *job, const struct sample *sample,
					 uint32_t *known)
{
	for (int i = 0; i < MAX_THREADS; i++) {
		const struct thread_wait wait = thread_wait_of(job, sample);

		if (!wait.tid || wait.is_own || wait.is_timed)
			return NULL;
		sample = find_after(job, sample->rank, wait.tid, sample->when_ns);
		if (!sample || sample->path == CALLPATH_NONE)
			return NULL;
		if (find_function(job, sample->path, known) != CALLPATH_NONE)
			return sample;
	}
	return NULL;
}

static bool is_look(const struct job *job, uint32_t function)
{
	return function != CALLPATH_NONE && names_mpi_kind(job->names, function) == NAMES_MPI_LOOK;
}

static uint32_t parent_of(const struct job *job, uint32_t path)
{
	return path == CALLPATH_NONE ? CALLPATH_NONE : callpaths_get(job->callpaths, path)->parent;
}

/* The program's frame, below those of the recorder, if these are the last ones. */
static uint32_t skip_recorder(const struct job *job, uint32_t path)
{
	uint32_t module;

	for (; path != CALLPATH_NONE; path = parent_of(job, path)) {
		module = callpaths_get(job->callpaths, path)->module;
		if (module == MODULE_NONE ||
		    modules_get(job->modules, module)->kind != MODULE_RECORDER)
			break;
	}
	return path;
}

/* Is it, now and before, in calls of one function that may look, or between these? */
static bool looks_on(const struct job *job, const struct stack_fact *fact, uint32_t before,
		     uint32_t function, uint32_t path)
{
	bool is_inside = is_look(job, function), was_inside = is_look(job, fact->function);
	uint32_t at = is_inside ? parent_of(job, function) : path;
	uint32_t was_at = was_inside ? fact->call : before;

	if ((!is_inside && function != CALLPATH_NONE) ||
	    (!was_inside && fact->function != CALLPATH_NONE) || (!is_inside && !was_inside))
		return false;
	return parent_of(job, skip_recorder(job, at)) == parent_of(job, skip_recorder(job, was_at));
}

/* Some calls, as of FUSE, are uninterruptible only once somebody has tried. */
static bool is_held_by_kernel(const struct sample *sample)
{
	return sample->state == 'D' || (sample->state == 'S' && sample->status == SAMPLE_FAILED &&
					sample->blocked && sample->blocked->call);
}

static void add_sample(const struct job *job, struct stack_fact *fact, const struct sample *sample,
		       uint32_t *known)
{
	bool is_first = !fact->latest, is_polling = false;
	bool is_stopped = sample->state && strchr("TtZX", sample->state);
	uint32_t call = CALLPATH_NONE, function;
	uint32_t before = fact->latest ? fact->latest->path : CALLPATH_NONE;

	fact->is_finalizing = fact->is_initializing = false;
	fact->is_stopped = is_stopped && (is_first || fact->is_stopped);
	if (fact->queues && sample->queues)
		fact->has_moved |= message_queues_have_moved(fact->queues, sample->queues);
	if (sample->queues)
		fact->queues = sample->queues;
	fact->is_uninterruptible =
		is_held_by_kernel(sample) && (is_first || fact->is_uninterruptible);
	if (!fact->latest || sample->when_ns >= fact->latest->when_ns)
		fact->latest = sample;
	fact->is_traced = fact->latest->state == 't';
	if (sample->path == CALLPATH_NONE)
		return;
	if (fact->num_samples++ == 0)
		fact->first_ns = sample->when_ns;
	fact->span_ns = sample->when_ns - fact->first_ns;
	function = find_function(job, sample->path, known);
	fact->awaited = function == CALLPATH_NONE ? find_awaited(job, sample, known) : NULL;
	if (fact->awaited)
		function = find_function(job, fact->awaited->path, known);
	if (function != CALLPATH_NONE) {
		const char *name = names_function(job->names, function)->function;

		is_polling = names_is_poll(job->names, function);
		fact->is_finalizing = strcasestr(name, "mpi_finalize");
		fact->is_initializing = strcasestr(name, "mpi_init");
		/* Neither what MPI does meanwhile nor to and fro around a poll is a move. */
		if (is_polling || is_look(job, function))
			fact->poller = skip_recorder(job, parent_of(job, function));
		if (!is_polling)
			call = parent_of(job, function);
	} else {
		if (fact->num_samples <= 64)
			fact->outside |= UINT64_C(1) << (fact->num_samples - 1);
		fact->num_outside++;
	}
	if (fact->num_samples > 1 && call != fact->call) {
		if (looks_on(job, fact, before, function, sample->path))
			fact->is_looking = true;
		else
			fact->has_moved = true;
	}
	fact->call = call;
	fact->function = function;
	fact->num_polling += is_polling;
}

/* Who is mostly in polls, or where they are called, polls. */
static void settle_polling(struct stack_fact *fact)
{
	fact->is_polling = !fact->has_moved && fact->num_polling > 0 &&
			   2 * (fact->num_polling + fact->num_between) >= fact->num_samples;
}

/* Who is outside as well, for longer than it takes to look again, does something with the
 * answers. */
static void settle_looking(struct stack_fact *fact)
{
	if (!fact->is_looking)
		return;
	fact->has_moved |= (fact->num_outside - fact->num_between) * thresholds.looking_part >
			   fact->num_samples;
	fact->is_polling = !fact->has_moved;
}

/* Does the thread look at what a poll has answered? It is where the poll is called, not anywhere in
 * that function, which may well compute, too. */
static bool is_at_poll(const struct job *job, uint32_t poller, uint32_t path)
{
	const struct callpath_node *a, *b;

	path = skip_recorder(job, path);
	if (poller == CALLPATH_NONE || path == CALLPATH_NONE ||
	    parent_of(job, poller) != parent_of(job, path))
		return false;
	a = callpaths_get(job->callpaths, poller);
	b = callpaths_get(job->callpaths, path);
	return a->module == b->module &&
	       a->offset - b->offset + thresholds.near_poll <= 2 * thresholds.near_poll;
}

/* It is also between polls before the first that was seen. */
static void add_between(const struct job *job, struct stack_facts *facts,
			const struct sample *sample, uint32_t *known)
{
	struct stack_fact *fact = sample->rank < 0 ? NULL : &facts->ranks[sample->rank];

	if (sample->is_main && fact && sample->path != CALLPATH_NONE &&
	    find_function(job, sample->path, known) == CALLPATH_NONE)
		fact->num_between += is_at_poll(job, fact->poller, sample->path);
}

struct stack_facts *stack_facts_create(const struct job *job, struct arena *arena)
{
	struct stack_facts *facts = arena_alloc(arena, sizeof(*facts));
	size_t num_paths = callpaths_count(job->callpaths);
	uint32_t *known = arena_array(arena, num_paths, sizeof(*known));
	int highest = -1;

	for (size_t i = 0; i < num_paths; i++)
		known[i] = NOT_ASKED;
	for (size_t i = 0; i < job->samples->num_samples; i++)
		if (job->samples->samples[i].rank > highest)
			highest = job->samples->samples[i].rank;
	facts->num_ranks = (size_t)(highest + 1);
	facts->ranks = arena_array(arena, facts->num_ranks, sizeof(*facts->ranks));
	for (size_t i = 0; i < job->samples->num_samples; i++) {
		const struct sample *sample = &job->samples->samples[i];

		if (sample->is_main && sample->rank >= 0)
			add_sample(job, &facts->ranks[sample->rank], sample, known);
	}
	for (size_t i = 0; i < job->samples->num_samples; i++)
		add_between(job, facts, &job->samples->samples[i], known);
	for (size_t i = 0; i < facts->num_ranks; i++) {
		settle_polling(&facts->ranks[i]);
		settle_looking(&facts->ranks[i]);
	}
	return facts;
}

const struct stack_fact *stack_facts_get(const struct stack_facts *facts, int rank)
{
	static const struct stack_fact nothing;

	return rank < 0 || (size_t)rank >= facts->num_ranks ? &nothing : &facts->ranks[rank];
}

bool stack_facts_waits_for_threads(const struct stack_facts *facts, const struct job *job, int rank)
{
	/* Parts of the names that glibc, libgomp and the OpenMP library of LLVM have for it. */
	static const char *const waits[] = {
		"pthread_join",
		"pthread_clockjoin",
		"pthread_timedjoin",
		"pthread_cond_",
		"pthread_barrier_",
		"futex",
		"thrd_join",
		"cnd_wait",
		"GOMP_",
		"gomp_",
		"__kmp",
	};
	const struct stack_fact *fact = stack_facts_get(facts, rank);
	uint32_t path = fact->latest ? fact->latest->path : CALLPATH_NONE;

	switch (thread_wait_leads(job, fact->latest)) {
	case THREAD_WAIT_LEADS_TO_MPI:
	case THREAD_WAIT_LEADS_ON:
		return true;
	case THREAD_WAIT_LEADS_NOWHERE:
		return false;
	case THREAD_WAIT_NOT_READ:
		break;
	}
	for (; path != CALLPATH_NONE; path = callpaths_get(job->callpaths, path)->parent) {
		const char *function = names_function(job->names, path)->function;
		uint32_t module = callpaths_get(job->callpaths, path)->module;

		for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
			if (strstr(function, waits[i]))
				return true;
		if (module == MODULE_NONE ||
		    modules_get(job->modules, module)->kind == MODULE_PROGRAM)
			return false;
	}
	return false;
}
