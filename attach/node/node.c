/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "attach/node/ending.h"
#include "attach/node/local_rank.h"
#include "attach/node/node.h"
#include "attach/process/procfs.h"
#include "attach/stacks/sampler.h"
#include "attach/usage/usage_take.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"
#include "model/segment/segment_reader.h"

/* Without any recorder only stacks tell who moves: so many samples, over at least so long. One
 * alone shows somebody outside MPI in nearly every healthy job. */
#define STACK_LOOKS 4
#define STACK_LOOK_MS 1000
/* In a look that measures, so many: shares of time can be told from them. */
#define MEASURE_LOOKS 50
/* Ranks of a job whose recorded ranks' message queues are read, too. */
#define MOST_WITH_QUEUES 4096

/* How often a stack that is not complete is tried again. */
#define RETRIES 2

struct node {
	struct job *job;
	struct sampler *sampler;
	struct local_rank *locals; /* by rank */
	size_t num_locals;

	/* Between look and commit, as are the models of the locals. */
	struct samples *samples;
	struct usage *usage; /* NULL: not measured */
	uint64_t taken_real_ns;
	double look_seconds;
};

struct node *node_create(struct job *job, struct sampler *sampler)
{
	struct node *node = xcalloc(1, sizeof(*node));
	const struct proctable *table = job->proctable;

	node->job = job;
	node->sampler = sampler;
	node->locals = xcalloc(table->num_procs, sizeof(*node->locals));
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];

		if (proc->is_local && proc->pid > 0)
			local_rank_init(&node->locals[node->num_locals++], proc);
	}
	return node;
}

static struct local_rank *find_local(const struct node *node, int rank)
{
	for (size_t i = 0; i < node->num_locals; i++)
		if (node->locals[i].rank == rank)
			return &node->locals[i];
	return NULL;
}

bool node_is_alive(const struct node *node, int rank)
{
	const struct local_rank *local = find_local(node, rank);

	return local && local_rank_is_alive(local);
}

/* ---- The segments ---- */

void node_raise_file_limit(size_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed + 64)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void node_keep(struct node *node, int rank, int fd)
{
	struct local_rank *local = find_local(node, rank);

	if (local)
		local_rank_keep(local, fd);
	else if (fd >= 0)
		close(fd);
}

/* What ranks that have ended have left, found beside a living one. */
static void look_at_left(struct node *node)
{
	pid_t living = 0;

	for (size_t i = 0; i < node->num_locals && !living; i++)
		if (node->locals[i].fd >= 0)
			living = node->locals[i].pid;
	for (size_t i = 0; i < node->num_locals && living; i++) {
		struct local_rank *local = &node->locals[i];

		if (local->fd < 0 && local->trouble.code == ERROR_GONE)
			local_rank_look_left(local, living);
	}
}

/* How those ended that have. Nothing is read if none has. */
static void find_ends(struct node *node)
{
	pid_t *living = xcalloc(node->num_locals, sizeof(*living));
	struct endings *endings = NULL;
	size_t num_ended = 0, num_living = 0;

	for (size_t i = 0; i < node->num_locals; i++)
		num_ended += node->locals[i].trouble.code == ERROR_GONE;
	for (size_t i = 0; i < node->num_locals && num_ended; i++)
		if (node->locals[i].trouble.code != ERROR_GONE)
			living[num_living++] = node->locals[i].pid;
	if (num_living)
		endings = endings_create(living, num_living);
	for (size_t i = 0; i < node->num_locals && endings; i++) {
		struct local_rank *local = &node->locals[i];
		const struct proc *proc = proctable_find(node->job->proctable, local->rank);

		if (local->trouble.code == ERROR_GONE)
			endings_find(endings, local->pid, local->start_ticks,
				     proc ? proc->executable : NULL, &local->end);
	}
	endings_destroy(endings);
	free(living);
}

static void add_holes(struct node *node)
{
	job_clear_holes(node->job);
	for (size_t i = 0; i < node->num_locals; i++) {
		const struct local_rank *local = &node->locals[i];

		if (local->trouble.code == ERROR_GONE)
			job_add_ended(node->job, local->rank, &local->end);
		else if (local->trouble.code != ERROR_NONE)
			job_add_hole(node->job, local->rank, local_rank_hole(local));
	}
}

/* A new job model of what was read; NULL if nothing was. */
static struct job_model *make_model(struct node *node)
{
	struct job *job = node->job;
	struct job_model *jm = NULL;
	size_t next = 0;

	for (size_t i = 0; i < node->num_locals; i++) {
		struct local_rank *local = &node->locals[i];

		if (!local->model)
			continue;
		if (!jm)
			jm = job_model_create(job->modules, job->callpaths);
		job_model_add(jm, local->rank, local->model, local->pid);
		local->model = NULL;
	}
	if (!jm)
		return NULL;
	job_model_finish(jm);
	/* Lanes and locals are both by rank. */
	for (size_t i = 0; i < jm->num_lanes; i++) {
		while (node->locals[next].rank < jm->lanes[i].rank)
			next++;
		local_rank_set_moves(&node->locals[next], &jm->lanes[i]);
	}
	return jm;
}

/* ---- Stacks ---- */

/* Sample those of `ranks` (NULL: all) that are alive, at most max of them, into new samples. */
static int take_samples(struct node *node, const struct rankset *ranks, int max, unsigned flags,
			struct samples **ret, struct pdb_error *err)
{
	struct sampler_target *targets = xcalloc(node->num_locals, sizeof(*targets));
	size_t num = 0;
	int result = 0;

	for (size_t i = 0; i < node->num_locals && num < (size_t)max; i++) {
		const struct local_rank *local = &node->locals[i];

		if ((!ranks || rankset_contains(ranks, local->rank)) && local_rank_is_alive(local))
			targets[num++] = (struct sampler_target){local->rank, local->pid,
								 local->start_ticks};
	}
	*ret = samples_create();
	if (num)
		result = sampler_take(node->sampler, targets, num, flags, *ret, err);
	free(targets);
	return result;
}

static size_t count_incomplete(const struct samples *samples, int rank)
{
	size_t num = 0;

	for (size_t i = 0; i < samples->num_samples; i++)
		num += samples->samples[i].rank == rank &&
		       samples->samples[i].status == SAMPLE_INCOMPLETE;
	return num;
}

static struct rankset *find_incomplete(const struct samples *samples)
{
	struct rankset *ranks = rankset_create();

	for (size_t i = 0; i < samples->num_samples; i++)
		if (samples->samples[i].status == SAMPLE_INCOMPLETE)
			rankset_add(ranks, samples->samples[i].rank);
	return ranks;
}

/* Of those ranks that `fresh` knows more of, take its samples. */
static void take_better(struct samples *samples, struct samples *fresh, struct rankset *ranks)
{
	struct samples *kept = samples_create(), old = *samples;

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank))
		if (count_incomplete(fresh, rank) >= count_incomplete(samples, rank))
			rankset_remove(ranks, rank);
	samples_move(kept, samples, ranks, false);
	samples_move(kept, fresh, ranks, true);
	*samples = *kept;
	*kept = old;
	samples_destroy(kept);
}

/* A thread in the midst of a call through a table may be told better a moment later. */
static void try_again(struct node *node, struct samples *samples, unsigned flags)
{
	for (int i = 0; i < RETRIES; i++) {
		struct rankset *ranks = find_incomplete(samples);
		struct samples *fresh;
		struct pdb_error err;

		if (rankset_is_empty(ranks)) {
			rankset_destroy(ranks);
			return;
		}
		if (take_samples(node, ranks, node->num_locals, flags, &fresh, &err) == 0)
			take_better(samples, fresh, ranks);
		samples_destroy(fresh);
		rankset_destroy(ranks);
	}
}

/* All that is asked for of those that are there. */
static int sample_times(struct node *node, const struct rankset *ranks,
			const struct node_sampling *sampling, struct samples *all,
			struct pdb_error *err)
{
	unsigned threads =
		SAMPLER_BLOCKED | (sampling->all_threads ? SAMPLER_ALL_THREADS : SAMPLER_AWAITED);
	uint64_t begin = monotonic_ns(), span = sampling->milliseconds * UINT64_C(1000000);

	for (int i = 0; i < sampling->times; i++) {
		struct samples *some;

		if (i > 0 && !sampling->sleep_until(begin + span * i / (sampling->times - 1)))
			break;
		/* A recorder tells more of messages; else, how they are at first and last. */
		bool wants_queues = !node->job->model && (i == 0 || i == sampling->times - 1);
		unsigned flags = threads | (wants_queues ? SAMPLER_QUEUES : 0);

		int result = take_samples(node, ranks, node->num_locals, flags, &some, err);
		if (result == 0) {
			try_again(node, some, flags);
			samples_move(all, some, NULL, true);
		}
		samples_destroy(some);
		if (result < 0)
			return -1;
	}
	return 0;
}

int node_sample(struct node *node, const struct rankset *ranks,
		const struct node_sampling *sampling, struct pdb_error *err)
{
	struct samples *fresh = samples_create();

	if (sample_times(node, ranks, sampling, fresh, err) < 0) {
		samples_destroy(fresh);
		return -1;
	}
	for (size_t i = 0; i < node->num_locals; i++) {
		const struct local_rank *local = &node->locals[i];

		if (rankset_contains(ranks, local->rank) && !local_rank_is_alive(local))
			samples_add_failed(fresh, local->rank, local->pid, JOB_HOLE_ENDED)
				->when_ns = monotonic_ns();
	}
	job_replace_samples(node->job, ranks, fresh);
	return 0;
}

/* ---- All of it ---- */

static bool all_are_gone(const struct node *node)
{
	for (size_t i = 0; i < node->num_locals; i++)
		if (node->locals[i].trouble.code != ERROR_GONE)
			return false;
	return node->num_locals > 0;
}

static void forget_looks(struct node *node)
{
	for (size_t i = 0; i < node->num_locals; i++)
		local_rank_forget(&node->locals[i]);
	samples_destroy(node->samples);
	node->samples = NULL;
	usage_destroy(node->usage);
	node->usage = NULL;
}

/* Open the segments and look at them; -1 when no process is left. */
static int begin_look(struct node *node, const struct node_look_options *options,
		      struct pdb_error *err)
{
	/* One descriptor a rank is open during a look, and one that is kept. */
	node_raise_file_limit(2 * node->num_locals);
	for (size_t i = 0; i < node->num_locals; i++) {
		struct local_rank *local = &node->locals[i];

		local_rank_look(local, options->is_last);
		/* The same file once more, as long as it is the rank's. */
		if (options->keeps && local->fd >= 0 && segment_has_traces(local->fd))
			local_rank_keep(local, fcntl(local->fd, F_DUPFD_CLOEXEC, 0));
	}
	look_at_left(node);
	return all_are_gone(node) ? error_set(err, ERROR_GONE, "the job has ended") : 0;
}

static int num_looks(const struct node_look_options *options)
{
	return options->measures ? MEASURE_LOOKS : STACK_LOOKS;
}

/* What is not read in each of the many samples of a look that measures. */
static unsigned too_costly(const struct node_look_options *options, int number)
{
	if (!options->measures || number == 0)
		return 0;
	return number % 10 ? SAMPLER_QUEUES | SAMPLER_BLOCKED : SAMPLER_QUEUES;
}

/* Of num_looks() samples, evenly within span_ns from begin_ns on, those from `first` to before
 * `end`; of these ranks (NULL: all), in the last one of all. -1: there are no stacks at all. */
static int sample_evenly(struct node *node, const struct node_look_options *options, unsigned flags,
			 const struct rankset *ranks, int first, int end, uint64_t begin_ns,
			 uint64_t span_ns, struct pdb_error *err)
{
	int result = 0, last = num_looks(options) - 1;

	for (int i = first; i < end; i++) {
		unsigned without = i < last ? too_costly(options, i) : 0;
		struct samples *more;

		if (i > 0 &&
		    !options->sleep_until(begin_ns + span_ns * (uint64_t)i / (uint64_t)last))
			break;
		result = take_samples(node, i < last ? ranks : NULL, options->max_samples,
				      flags & ~without, &more, err);
		if (result == 0 && options->prepare && i < last)
			options->prepare(options->context, more);
		size_t num = more->num_samples;
		if (result == 0)
			samples_move(node->samples, more, NULL, true);
		samples_destroy(more);
		/* Some may have ended or be refused, and the rest not. */
		if (i == first && (!ranks || i == last) && (result < 0 || num == 0))
			return result;
	}
	samples_sort(node->samples);
	return node->samples->num_samples > 0 ? 0 : result;
}

/* What a look without a recorder sees before its last sample, which is then due. */
static void sample_before(struct node *node, const struct node_look_options *options)
{
	unsigned flags = SAMPLER_QUEUES | SAMPLER_BLOCKED |
			 (options->all_threads ? SAMPLER_ALL_THREADS : SAMPLER_AWAITED);
	uint64_t begin = monotonic_ns(), span = STACK_LOOK_MS * UINT64_C(1000000);
	struct pdb_error err; /* the last sample has the same trouble */

	sample_evenly(node, options, flags, NULL, 0, STACK_LOOKS - 1, begin, span, &err);
	options->sleep_until(begin + span);
}

/* Until the second look is due. -1: there are no stacks at all. */
static int sample_between(struct node *node, const struct node_look_options *options,
			  uint64_t begin, struct pdb_error *err)
{
	int milliseconds = options->milliseconds, first, result;
	struct rankset *unrecorded = rankset_create();
	unsigned flags =
		SAMPLER_BLOCKED | (options->all_threads ? SAMPLER_ALL_THREADS : SAMPLER_AWAITED);
	bool is_recorded = false, is_once;

	for (size_t i = 0; i < node->num_locals; i++) {
		is_recorded |= node->locals[i].fd >= 0;
		if (node->locals[i].fd < 0)
			rankset_add(unrecorded, node->locals[i].rank);
		/* If any calls MPI from several, main threads alone do not tell where it is. */
		if (node->locals[i].num_looks > 1)
			flags |= SAMPLER_ALL_THREADS;
	}
	is_once = rankset_is_empty(unrecorded) || options->all_evidence;
	first = is_once && !options->measures ? STACK_LOOKS - 1 : 0;
	/* Who waits for whom inside a collective only these tell. So big a job is not asked. */
	if (!is_recorded || node->job->proctable->size <= MOST_WITH_QUEUES || options->all_evidence)
		flags |= SAMPLER_QUEUES;
	if (milliseconds < STACK_LOOK_MS && first == 0)
		milliseconds = STACK_LOOK_MS;
	result = sample_evenly(node, options, flags, options->measures ? NULL : unrecorded, first,
			       num_looks(options), begin,
			       first == 0 ? milliseconds * UINT64_C(1000000) : 0, err);
	rankset_destroy(unrecorded);
	if (is_recorded)
		options->sleep_until(begin + milliseconds * UINT64_C(1000000));
	return result;
}

int node_look(struct node *node, const struct node_look_options *options, char **trouble_ret,
	      struct pdb_error *err)
{
	struct pdb_error trouble = {.code = ERROR_NONE};

	forget_looks(node);
	node->samples = samples_create();
	if (options->all_evidence && !options->measures)
		sample_before(node, options);
	uint64_t begin = monotonic_ns();
	if (begin_look(node, options, err) < 0) {
		forget_looks(node);
		return -1;
	}
	struct usage_reading *reading =
		options->measures ? usage_take_begin(node->job->proctable) : NULL;
	int sampled = sample_between(node, options, begin, &trouble);
	if (!options->sleep_until(0)) {
		usage_take_destroy(reading);
		forget_looks(node);
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	}
	node->usage = usage_take_end(reading);
	for (size_t i = 0; i < node->num_locals; i++)
		local_rank_read(&node->locals[i]);
	find_ends(node);
	node->taken_real_ns = clock_ns(CLOCK_REALTIME);
	node->look_seconds = (monotonic_ns() - begin) / 1e9;
	*trouble_ret = sampled < 0 ? xstrdup(trouble.text) : NULL;
	return 0;
}

void node_commit(struct node *node)
{
	struct job *job = node->job;

	job->taken_real_ns = node->taken_real_ns;
	job->look_seconds = node->look_seconds;
	add_holes(node);
	job_model_destroy(job->model);
	job->model = make_model(node);
	samples_destroy(job->samples);
	job->samples = node->samples;
	node->samples = NULL;
	usage_destroy(job->usage);
	job->usage = node->usage;
	node->usage = NULL;
	forget_looks(node);
}

void node_destroy(struct node *node)
{
	if (!node)
		return;
	forget_looks(node);
	for (size_t i = 0; i < node->num_locals; i++)
		local_rank_deinit(&node->locals[i]);
	free(node->locals);
	free(node);
}
