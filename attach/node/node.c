/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "attach/node/node.h"
#include "attach/node/starved.h"
#include "attach/process/procfs.h"
#include "attach/stacks/sampler.h"
#include "attach/usage/usage_take.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"
#include "model/segment/segment_reader.h"
#include "model/xalloc.h"

/* Threads of a rank that are looked at twice; of further ones only the copy is known. */
#define MAX_LANES 64

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

/* A rank that is a process of this host. */
struct local {
	int rank;
	pid_t pid;
	uint64_t start_ticks; /* 0: not known */
	bool has_ended;       /* before the first look */

	int fd;   /* the segment while looking; -1: none */
	int kept; /* a segment with a trace, from a look that keeps it on; -1: none */
	struct segment_look *looks;
	int num_looks;
	uint64_t cpu_ticks;  /* that the process had used at the first look */
	bool *lanes_starved; /* [num_looks] at the second look, see is_starved() */
	struct pdb_error trouble;
	struct model *model;
};

struct node {
	struct job *job;
	struct sampler *sampler;
	struct local *locals; /* by rank */
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
		struct local *local = &node->locals[node->num_locals];
		struct procfs_stat stat;

		if (!proc->is_local || proc->pid <= 0)
			continue;
		node->num_locals++;
		local->rank = proc->rank;
		local->pid = proc->pid;
		local->fd = local->kept = -1;
		local->has_ended = proc->has_ended || procfs_has_ended(proc->pid, 0);
		if (procfs_stat(proc->pid, 0, &stat) == 0)
			local->start_ticks = stat.start_ticks;
	}
	return node;
}

static bool is_alive(const struct local *local)
{
	return !local->has_ended && !procfs_has_ended(local->pid, local->start_ticks);
}

static struct local *find_local(const struct node *node, int rank)
{
	for (size_t i = 0; i < node->num_locals; i++)
		if (node->locals[i].rank == rank)
			return &node->locals[i];
	return NULL;
}

bool node_is_alive(const struct node *node, int rank)
{
	const struct local *local = find_local(node, rank);

	return local && is_alive(local);
}

/* ---- The segments ---- */

static void keep(struct local *local, int fd)
{
	if (fd < 0)
		return;
	if (local->kept >= 0)
		close(local->kept);
	local->kept = fd;
}

void node_keep(struct node *node, int rank, int fd)
{
	struct local *local = find_local(node, rank);

	if (local)
		keep(local, fd);
	else if (fd >= 0)
		close(fd);
}

/* Of one that has ended there is still what was kept. */
static int open_segment(struct local *local, bool is_last)
{
	struct procfs_stat stat;

	if (is_last && local->kept >= 0)
		return fcntl(local->kept, F_DUPFD_CLOEXEC, 0);
	if (local->has_ended)
		return error_set(&local->trouble, ERROR_GONE, JOB_HOLE_ENDED);
	if (procfs_look(local->pid, local->start_ticks, &stat, &local->trouble) < 0)
		return -1;
	return segment_open_pid(local->pid, &local->trouble);
}

static void first_look(struct local *local, bool is_last)
{
	struct procfs_stat stat;

	local->fd = open_segment(local, is_last);
	if (local->fd < 0)
		return;
	if (procfs_stat(local->pid, 0, &stat) == 0)
		local->cpu_ticks = stat.cpu_ticks;
	local->looks = xcalloc(MAX_LANES, sizeof(*local->looks));
	local->num_looks = segment_look(local->fd, local->looks, MAX_LANES, &local->trouble);
}

static void find_starved(struct local *local)
{
	local->lanes_starved = xcalloc(local->num_looks, sizeof(*local->lanes_starved));
	for (int i = 0; i < local->num_looks && (size_t)i < local->model->num_lanes; i++)
		if (local->model->lanes[i].polls > 0)
			local->lanes_starved[i] =
				starved_now(local->pid, local->cpu_ticks, local->model,
					    &local->model->lanes[i]);
}

static void second_look(struct local *local)
{
	if (local->fd < 0)
		return;
	error_clear(&local->trouble);
	if (segment_read(local->fd, &local->model, &local->trouble) < 0) {
		local->model = NULL;
		return;
	}
	if (local->num_looks > 0)
		find_starved(local);
	if (local->model->life != SEG_LIFE_STOPPED)
		return;
	/* It stands where the rank was then, which would look like a rank that does not move. */
	model_destroy(local->model);
	local->model = NULL;
	error_set(&local->trouble, ERROR_SYSTEM,
		  "recording ended early: no space left for segments; set PDB_SEGMENT_DIR to a "
		  "directory with space");
}

static void forget_look(struct local *local)
{
	if (local->fd >= 0)
		close(local->fd);
	free(local->looks);
	free(local->lanes_starved);
	model_destroy(local->model);
	local->fd = -1;
	local->looks = NULL;
	local->lanes_starved = NULL;
	local->num_looks = 0;
	local->model = NULL;
	error_clear(&local->trouble);
}

/* The same trouble in the same words for every rank, so that ranks can be counted by them. */
static const char *hole_text(const struct local *local)
{
	if (local->trouble.code == ERROR_NOT_FOUND)
		return "no recorder";
	return local->trouble.code == ERROR_GONE ? JOB_HOLE_ENDED : local->trouble.text;
}

static void add_holes(struct node *node)
{
	job_clear_holes(node->job);
	for (size_t i = 0; i < node->num_locals; i++)
		if (node->locals[i].trouble.code != ERROR_NONE)
			job_add_hole(node->job, node->locals[i].rank, hole_text(&node->locals[i]));
}

static void set_moves(struct job_lane *lane, const struct local *local)
{
	const struct segment_look *look;

	if (lane->lane >= local->num_looks)
		return;
	look = &local->looks[lane->lane];
	lane->has_second_look = true;
	/* Until all of the copy was made: a lane that has not moved is of one moment, the same for
	 * all ranks, since all were looked at before any was copied. */
	lane->has_moved = lane->data->last_events != look->events;
	lane->moves =
		lane->data->last_events > look->events ? lane->data->last_events - look->events : 0;
	/* One that has polled where it is does so still when it has done nothing else since. */
	lane->has_polled = lane->data->polls > (lane->has_moved ? 0 : look->polls) ||
			   (local->lanes_starved && local->lanes_starved[lane->lane]);
}

/* A new job model of what was read; NULL if nothing was. */
static struct job_model *make_model(struct node *node)
{
	struct job *job = node->job;
	struct job_model *jm = NULL;
	size_t next = 0;

	for (size_t i = 0; i < node->num_locals; i++) {
		struct local *local = &node->locals[i];

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
		set_moves(&jm->lanes[i], &node->locals[next]);
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
		const struct local *local = &node->locals[i];

		if ((!ranks || rankset_contains(ranks, local->rank)) && is_alive(local))
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
		int result;

		if (i > 0 && !sampling->sleep_until(begin + span * i / (sampling->times - 1)))
			break;
		/* A recorder tells more of messages; without one, how they are at first and last. */
		bool wants_queues = !node->job->model && (i == 0 || i == sampling->times - 1);
		unsigned flags = threads | (wants_queues ? SAMPLER_QUEUES : 0);

		result = take_samples(node, ranks, node->num_locals, flags, &some, err);
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
		const struct local *local = &node->locals[i];

		if (rankset_contains(ranks, local->rank) && !is_alive(local))
			samples_add_failed(fresh, local->rank, local->pid, JOB_HOLE_ENDED)
				->when_ns = monotonic_ns();
	}
	job_replace_samples(node->job, ranks, fresh);
	return 0;
}

/* ---- All of it ---- */

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

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
		forget_look(&node->locals[i]);
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
		struct local *local = &node->locals[i];

		first_look(local, options->is_last);
		/* The same file once more, as long as it is the rank's. */
		if (options->keeps && local->fd >= 0 && segment_has_traces(local->fd))
			keep(local, fcntl(local->fd, F_DUPFD_CLOEXEC, 0));
	}
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
		size_t num;

		if (i > 0 &&
		    !options->sleep_until(begin_ns + span_ns * (uint64_t)i / (uint64_t)last))
			break;
		result = take_samples(node, i < last ? ranks : NULL, options->max_samples,
				      flags & ~without, &more, err);
		if (result == 0 && options->prepare && i < last)
			options->prepare(options->context, more);
		num = more->num_samples;
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
	/* Who waits for whom inside a collective only these tell. Of so big a job it is not asked. */
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
		second_look(&node->locals[i]);
	node->taken_real_ns = realtime_ns();
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
		if (node->locals[i].kept >= 0)
			close(node->locals[i].kept);
	free(node->locals);
	free(node);
}
