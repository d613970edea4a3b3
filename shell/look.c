/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "attach/procfs.h"
#include "attach/sampler.h"
#include "model/callpath.h"
#include "model/error.h"
#include "model/job.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/proctable.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/segment_reader.h"
#include "model/xalloc.h"
#include "shell/interrupt.h"
#include "shell/look.h"

/* Threads of a rank that are looked at twice; of further ones only the copy is known. */
#define MAX_LANES 64

/* Without any recorder only stacks tell who moves: so many samples, over at least so long. One
 * alone would show somebody outside MPI in nearly every healthy job. */
#define STACK_LOOKS 4
#define STACK_LOOK_MS 1000

/* A rank that is a process of this host. */
struct local {
	int rank;
	pid_t pid;
	uint64_t start_ticks; /* 0: it had ended before the first look */

	int fd; /* the segment while looking; -1: none */
	struct segment_look *looks;
	int num_looks;
	uint64_t cpu_ticks; /* that the process had used at the first look */
	bool *lanes_starved; /* [num_looks] at the second look, see is_starved() */
	struct pdb_error trouble;
	struct model *model;
};

struct looker {
	struct job *job;
	struct sampler *sampler;
	struct local *locals; /* by rank */
	size_t num_locals;

	/* Between look and commit, as are the models of the locals. */
	struct samples *samples;
	uint64_t taken_real_ns;
	double look_seconds;
};

struct looker *looker_create(struct job *job, struct sampler *sampler)
{
	struct looker *looker = xcalloc(1, sizeof(*looker));
	const struct proctable *table = job->proctable;

	looker->job = job;
	looker->sampler = sampler;
	looker->locals = xcalloc(table->num_procs, sizeof(*looker->locals));
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];
		struct local *local = &looker->locals[looker->num_locals];
		struct procfs_stat stat;

		if (!proc->is_local || proc->pid <= 0)
			continue;
		looker->num_locals++;
		local->rank = proc->rank;
		local->pid = proc->pid;
		local->fd = -1;
		if (!proc->has_ended && procfs_stat(proc->pid, 0, &stat) == 0)
			local->start_ticks = stat.start_ticks;
	}
	return looker;
}

static bool is_alive(const struct local *local)
{
	struct procfs_stat stat;

	return procfs_stat(local->pid, 0, &stat) == 0 && stat.state != 'Z' && stat.state != 'X' &&
	       stat.start_ticks == local->start_ticks;
}

static const struct local *find_local(const struct looker *looker, int rank)
{
	for (size_t i = 0; i < looker->num_locals; i++)
		if (looker->locals[i].rank == rank)
			return &looker->locals[i];
	return NULL;
}

bool looker_is_alive(const struct looker *looker, int rank)
{
	const struct local *local = find_local(looker, rank);

	return local && is_alive(local);
}

/* ---- The segments -------------------------------------------------------------------------- */

/* One descriptor a rank is open during a look. */
static void raise_file_limit(size_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed + 64)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void first_look(struct local *local)
{
	struct procfs_stat stat;

	if (!is_alive(local)) {
		error_set(&local->trouble, ERROR_GONE, JOB_HOLE_ENDED);
		return;
	}
	local->fd = segment_open_pid(local->pid, &local->trouble);
	if (local->fd < 0)
		return;
	if (procfs_stat(local->pid, 0, &stat) == 0)
		local->cpu_ticks = stat.cpu_ticks;
	local->looks = xcalloc(MAX_LANES, sizeof(*local->looks));
	local->num_looks = segment_look(local->fd, local->looks, MAX_LANES, &local->trouble);
}

/* Could the thread have gone on, but got no processor between the looks, nor did any other thread
 * of its process? Ticks are of 10 ms. */
static bool is_starved(const struct local *local, const struct model_lane *lane)
{
	struct procfs_stat all, thread;

	return procfs_stat(local->pid, 0, &all) == 0 && all.cpu_ticks <= local->cpu_ticks + 1 &&
	       procfs_stat(local->pid, lane->is_main ? local->pid : lane->tid, &thread) == 0 &&
	       thread.state == 'R';
}

/* Only for so long after its last poll: a rank that computes for ever after it has polled gets no
 * processor in one look or another either. */
enum { STARVED_NS = 1000 * 1000 * 1000 };

static void find_starved(struct local *local)
{
	local->lanes_starved = xcalloc(local->num_looks, sizeof(*local->lanes_starved));
	for (int i = 0; i < local->num_looks && (size_t)i < local->model->num_lanes; i++)
		if (local->model->lanes[i].polls > 0 &&
		    local->model->now_ns < local->model->lanes[i].last_poll_ns + STARVED_NS)
			local->lanes_starved[i] = is_starved(local, &local->model->lanes[i]);
}

static void second_look(struct local *local)
{
	if (local->fd < 0)
		return;
	error_clear(&local->trouble);
	if (segment_read(local->fd, &local->model, &local->trouble) < 0)
		local->model = NULL;
	if (!local->model)
		return;
	if (local->num_looks > 0)
		find_starved(local);
	if (local->model->life != SEG_LIFE_STOPPED)
		return;
	/* It stands where the rank was then, which would look like a rank that does not move. */
	model_destroy(local->model);
	local->model = NULL;
	error_set(&local->trouble, ERROR_SYSTEM,
		  "recording ended early: no space left for segments (see PDB_SEGMENT_DIR)");
}

static void forget_look(struct local *local)
{
	if (local->fd >= 0)
		close(local->fd);
	local->fd = -1;
	free(local->looks);
	local->looks = NULL;
	free(local->lanes_starved);
	local->lanes_starved = NULL;
	local->num_looks = 0;
	model_destroy(local->model);
	local->model = NULL;
	error_clear(&local->trouble);
}

/* The same trouble in the same words for every rank, so that ranks can be counted by them. */
static const char *hole_text(const struct local *local)
{
	switch (local->trouble.code) {
	case ERROR_NOT_FOUND:
		return "no recorder";
	case ERROR_GONE:
		return JOB_HOLE_ENDED;
	default:
		return local->trouble.text;
	}
}

static void clear_holes(struct job *job)
{
	for (size_t i = 0; i < job->num_holes; i++)
		free(job->holes[i].why);
	free(job->holes);
	job->holes = NULL;
	job->num_holes = 0;
}

static void add_holes(struct looker *looker)
{
	const struct proctable *table = looker->job->proctable;
	size_t next = 0;
	char why[256];

	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];

		if (next < looker->num_locals && looker->locals[next].rank == proc->rank) {
			if (looker->locals[next].trouble.code != ERROR_NONE)
				job_add_hole(looker->job, proc->rank,
					     hole_text(&looker->locals[next]));
			next++;
			continue;
		}
		if (proc->is_local)
			snprintf(why, sizeof(why), "process id not known");
		else
			snprintf(why, sizeof(why), "on host %s: pdb reads only its own host so far",
				 proc->host);
		job_add_hole(looker->job, proc->rank, why);
	}
	/* Ranks that are not in the table at all. */
	for (int rank = 0, i = 0; rank < table->size; rank++) {
		if ((size_t)i < table->num_procs && table->procs[i].rank == rank)
			i++;
		else
			job_add_hole(looker->job, rank, "not found on this host");
	}
}

static void set_moves(struct job_lane *lane, const struct local *local)
{
	const struct segment_look *look;

	if (lane->lane >= local->num_looks)
		return;
	look = &local->looks[lane->lane];
	lane->has_second_look = true;
	/* Until all of the copy was made: what it holds of a lane that has not moved is of one moment,
	 * and that moment is the same for all ranks, since all were looked at before any was copied. */
	lane->has_moved = lane->data->last_events != look->events;
	lane->moves = lane->data->last_events > look->events ?
			      lane->data->last_events - look->events :
			      0;
	lane->has_polled =
		lane->has_moved ? lane->data->polls > 0 : lane->data->polls > look->polls;
	/* One that has polled where it is does so still when it has done nothing else since. */
	if (local->lanes_starved && local->lanes_starved[lane->lane])
		lane->has_polled = true;
}

/* A new job model of what was read; NULL if nothing was. */
static struct job_model *make_model(struct looker *looker)
{
	struct job *job = looker->job;
	struct job_model *jm = NULL;
	size_t next = 0;

	for (size_t i = 0; i < looker->num_locals; i++) {
		struct local *local = &looker->locals[i];

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
		while (looker->locals[next].rank < jm->lanes[i].rank)
			next++;
		set_moves(&jm->lanes[i], &looker->locals[next]);
	}
	return jm;
}

/* ---- Stacks -------------------------------------------------------------------------------- */

/* Sample those of `ranks` (NULL: all) that are alive, at most max of them, into new samples. */
static int take_samples(struct looker *looker, const struct rankset *ranks, int max, unsigned flags,
			struct samples **ret, struct pdb_error *err)
{
	struct sampler_target *targets = xcalloc(looker->num_locals, sizeof(*targets));
	struct samples *samples = samples_create();
	size_t num = 0;
	int result = 0;

	for (size_t i = 0; i < looker->num_locals && num < (size_t)max; i++) {
		const struct local *local = &looker->locals[i];

		if ((!ranks || rankset_contains(ranks, local->rank)) && is_alive(local))
			targets[num++] = (struct sampler_target){
				local->rank, local->pid, local->start_ticks};
	}
	if (num)
		result = sampler_take(looker->sampler, targets, num, flags, samples, err);
	free(targets);
	*ret = samples;
	return result;
}

static int by_rank_and_thread(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->is_main != y->is_main)
		return x->is_main ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->when_ns < y->when_ns ? -1 : x->when_ns > y->when_ns;
}

static void sort_samples(struct samples *samples)
{
	if (samples->num_samples)
		qsort(samples->samples, samples->num_samples, sizeof(*samples->samples),
		      by_rank_and_thread);
}

/* Append those of `from`, which keeps what no longer has notes. */
static void move_samples(struct samples *to, struct samples *from)
{
	for (size_t i = 0; i < from->num_samples; i++) {
		samples_add(to, &from->samples[i]);
		from->samples[i].note = NULL;
	}
}

/* Take over `fresh`; samples of `ranks` that it does not replace are dropped. */
static void replace_samples(struct job *job, const struct rankset *ranks, struct samples *fresh)
{
	for (size_t i = 0; job->samples && i < job->samples->num_samples; i++) {
		struct sample *old = &job->samples->samples[i];

		if (rankset_contains(ranks, old->rank))
			continue;
		samples_add(fresh, old);
		old->note = NULL;
	}
	samples_destroy(job->samples);
	job->samples = fresh;
	sort_samples(fresh);
}

/* A sample that says why there is none. */
static void add_ended(struct samples *samples, const struct local *local)
{
	const struct sample ended = {
		.rank = local->rank,
		.tid = local->pid,
		.is_main = true,
		.status = SAMPLE_FAILED,
		.path = CALLPATH_NONE,
		.state = '?',
		.when_ns = monotonic_ns(),
		.note = xstrdup(JOB_HOLE_ENDED),
	};

	samples_add(samples, &ended);
}

int looker_sample(struct looker *looker, const struct rankset *ranks, bool all_threads,
		  struct pdb_error *err)
{
	struct samples *fresh;

	if (take_samples(looker, ranks, looker->num_locals, all_threads ? SAMPLER_ALL_THREADS : 0,
			 &fresh, err) < 0) {
		samples_destroy(fresh);
		return -1;
	}
	for (size_t i = 0; i < looker->num_locals; i++)
		if (rankset_contains(ranks, looker->locals[i].rank) &&
		    !is_alive(&looker->locals[i]))
			add_ended(fresh, &looker->locals[i]);
	replace_samples(looker->job, ranks, fresh);
	return 0;
}

/* ---- All of it ----------------------------------------------------------------------------- */

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool all_are_gone(const struct looker *looker)
{
	for (size_t i = 0; i < looker->num_locals; i++)
		if (looker->locals[i].trouble.code != ERROR_GONE)
			return false;
	return looker->num_locals > 0;
}

static void forget_looks(struct looker *looker)
{
	for (size_t i = 0; i < looker->num_locals; i++)
		forget_look(&looker->locals[i]);
	samples_destroy(looker->samples);
	looker->samples = NULL;
}

/* Open the segments and look at them; -1 when no process is left. */
static int begin_look(struct looker *looker, struct pdb_error *err)
{
	raise_file_limit(looker->num_locals);
	for (size_t i = 0; i < looker->num_locals; i++)
		first_look(&looker->locals[i]);
	if (all_are_gone(looker))
		return error_set(err, ERROR_GONE, "the job has ended");
	return 0;
}

/* Does any rank call MPI from several threads? Then main threads alone do not tell where it is. */
static bool has_threads(const struct looker *looker)
{
	for (size_t i = 0; i < looker->num_locals; i++)
		if (looker->locals[i].num_looks > 1)
			return true;
	return false;
}

static bool has_recorder(const struct looker *looker)
{
	for (size_t i = 0; i < looker->num_locals; i++)
		if (looker->locals[i].fd >= 0)
			return true;
	return false;
}

/* The other samples of a look at a job without a recorder, evenly until `end_ns`. */
static void sample_again(struct looker *looker, const struct look_options *options, unsigned flags,
			 uint64_t begin_ns, uint64_t end_ns)
{
	struct samples *all = looker->samples;
	struct pdb_error err;

	for (uint64_t i = 1; i < STACK_LOOKS; i++) {
		uint64_t when = begin_ns + (end_ns - begin_ns) * i / (STACK_LOOKS - 1);
		struct samples *more;

		if (!interrupt_sleep_until(when))
			break;
		if (take_samples(looker, NULL, options->max_samples, flags, &more, &err) == 0)
			move_samples(all, more);
		samples_destroy(more);
	}
	sort_samples(all);
}

int looker_look(struct looker *looker, const struct look_options *options, char **trouble_ret,
		struct pdb_error *err)
{
	struct pdb_error trouble = {.code = ERROR_NONE};
	uint64_t begin = monotonic_ns(), end;
	int milliseconds = options->milliseconds;
	unsigned flags = 0;
	int sampled;

	forget_looks(looker);
	if (begin_look(looker, err) < 0) {
		forget_looks(looker);
		return -1;
	}
	if (options->all_threads || has_threads(looker))
		flags |= SAMPLER_ALL_THREADS;
	/* The time between the looks is there anyway. */
	sampled =
		take_samples(looker, NULL, options->max_samples, flags, &looker->samples, &trouble);
	if (!has_recorder(looker) && milliseconds < STACK_LOOK_MS)
		milliseconds = STACK_LOOK_MS;
	end = begin + milliseconds * UINT64_C(1000000);
	if (sampled == 0 && !has_recorder(looker) && looker->samples->num_samples > 0)
		sample_again(looker, options, flags, begin, end);
	else if (has_recorder(looker))
		interrupt_sleep_until(end);
	if (interrupt_pending()) {
		forget_looks(looker);
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	}
	for (size_t i = 0; i < looker->num_locals; i++)
		second_look(&looker->locals[i]);
	looker->taken_real_ns = realtime_ns();
	looker->look_seconds = (monotonic_ns() - begin) / 1e9;
	*trouble_ret = sampled < 0 ? xstrdup(trouble.text) : NULL;
	return 0;
}

void looker_commit(struct looker *looker)
{
	struct job *job = looker->job;

	job->taken_real_ns = looker->taken_real_ns;
	job->look_seconds = looker->look_seconds;
	clear_holes(job);
	add_holes(looker);
	job_model_destroy(job->model);
	job->model = make_model(looker);
	samples_destroy(job->samples);
	job->samples = looker->samples;
	looker->samples = NULL;
	forget_looks(looker);
}

void looker_destroy(struct looker *looker)
{
	if (!looker)
		return;
	forget_looks(looker);
	free(looker->locals);
	free(looker);
}
