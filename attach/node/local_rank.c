/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <unistd.h>

#include "attach/node/local_rank.h"
#include "attach/node/starved.h"
#include "attach/process/procfs.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/segment/segment_reader.h"

/* Threads of a rank that are looked at twice; of further ones only the copy is known. */
#define MAX_LANES 64

void local_rank_init(struct local_rank *local, const struct proc *proc)
{
	struct procfs_stat stat;

	*local = (struct local_rank){.rank = proc->rank, .pid = proc->pid, .fd = -1, .kept = -1};
	local->has_ended = proc->has_ended || procfs_has_ended(proc->pid, 0);
	if (procfs_stat(proc->pid, 0, &stat) == 0)
		local->start_ticks = stat.start_ticks;
}

bool local_rank_is_alive(const struct local_rank *local)
{
	return !local->has_ended && !procfs_has_ended(local->pid, local->start_ticks);
}

void local_rank_keep(struct local_rank *local, int fd)
{
	if (fd < 0)
		return;
	if (local->kept >= 0)
		close(local->kept);
	local->kept = fd;
}

/* Of one that has ended there is still what was kept. */
static int open_segment(struct local_rank *local, bool is_last)
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

static void look_at_segment(struct local_rank *local)
{
	struct procfs_stat stat;

	if (procfs_stat(local->pid, 0, &stat) == 0)
		local->cpu_ticks = stat.cpu_ticks;
	local->looks = xcalloc(MAX_LANES, sizeof(*local->looks));
	local->num_looks = segment_look(local->fd, local->looks, MAX_LANES, &local->trouble);
}

void local_rank_look(struct local_rank *local, bool is_last)
{
	local->fd = open_segment(local, is_last);
	if (local->fd >= 0)
		look_at_segment(local);
}

void local_rank_look_left(struct local_rank *local, pid_t living)
{
	struct pdb_error trouble = local->trouble;

	local->fd = segment_open_left(living, &(struct segment_left){local->rank, local->pid});
	local->is_left = local->fd >= 0;
	if (local->is_left)
		look_at_segment(local);
	local->trouble = trouble;
}

static bool is_starved(const struct local_rank *local, const struct model_lane *lane)
{
	struct starved_facts facts = {
		.polls = lane->polls,
		.now_ns = local->model->now_ns,
		.last_poll_ns = lane->last_poll_ns,
		.cpu_ticks_before = local->cpu_ticks,
	};
	struct procfs_stat all, thread;

	if (procfs_stat(local->pid, 0, &all) < 0 ||
	    procfs_stat(local->pid, lane->is_main ? local->pid : lane->tid, &thread) < 0)
		return false;
	facts.cpu_ticks = all.cpu_ticks;
	facts.state = thread.state;
	return starved_is(&facts);
}

static void find_starved(struct local_rank *local)
{
	local->lanes_starved = xcalloc(local->num_looks, sizeof(*local->lanes_starved));
	for (int i = 0; i < local->num_looks && (size_t)i < local->model->num_lanes; i++)
		if (local->model->lanes[i].polls > 0)
			local->lanes_starved[i] = is_starved(local, &local->model->lanes[i]);
}

/* What the rank did before it ended. That it has ended stays the trouble. */
static void take_left(struct local_rank *local)
{
	struct pdb_error err;

	if (segment_read(local->fd, &local->model, &err) < 0)
		local->model = NULL;
	if (local->model && local->model->life == SEG_LIFE_STOPPED) {
		model_destroy(local->model);
		local->model = NULL;
	}
	for (size_t i = 0; local->model && i < local->model->num_lanes; i++)
		local->model->lanes[i].has_ended = true;
}

void local_rank_read(struct local_rank *local)
{
	if (local->fd < 0)
		return;
	if (local->is_left) {
		take_left(local);
		return;
	}
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

void local_rank_forget(struct local_rank *local)
{
	if (local->fd >= 0)
		close(local->fd);
	free(local->looks);
	free(local->lanes_starved);
	model_destroy(local->model);
	local->fd = -1;
	local->is_left = false;
	local->looks = NULL;
	local->lanes_starved = NULL;
	local->num_looks = 0;
	local->model = NULL;
	local->end = (struct job_end){.how = JOB_END_UNKNOWN};
	error_clear(&local->trouble);
}

const char *local_rank_hole(const struct local_rank *local)
{
	if (local->trouble.code == ERROR_NOT_FOUND)
		return "no recorder";
	return local->trouble.text;
}

void local_rank_set_moves(const struct local_rank *local, struct job_lane *lane)
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

void local_rank_deinit(struct local_rank *local)
{
	local_rank_forget(local);
	if (local->kept >= 0)
		close(local->kept);
}
