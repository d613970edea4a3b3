/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/node/daemon_job.h"
#include "attach/process/procfs.h"
#include "model/buffer.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/decoder.h"
#include "model/wire/proc_bytes.h"
#include "model/wire/share.h"

/* ---- The job ---- */

struct taking {
	const char *host; /* the last one that was looked at */
	bool is_host_here;
	struct daemon_rank *ranks;
	size_t num, capacity;
};

static void take_rank(void *context, const struct proc *proc)
{
	struct taking *taking = context;

	if (proc->host != taking->host)
		taking->is_host_here = host_is_local(proc->host);
	taking->host = proc->host;
	if (taking->is_host_here && proc->rank >= 0 && proc->pid > 0)
		*XPUSH(taking->ranks, taking->num, taking->capacity) = daemon_rank_of(proc);
}

struct daemon_rank daemon_rank_of(const struct proc *proc)
{
	struct procfs_stat stat;
	bool lives = !proc->has_ended && procfs_stat(proc->pid, 0, &stat) == 0 &&
		     !procfs_has_ended(proc->pid, 0);

	return (struct daemon_rank){
		.rank = proc->rank, .pid = proc->pid, .start_ticks = lives ? stat.start_ticks : 0};
}

size_t daemon_job_take(const uint8_t *bytes, size_t length, struct daemon_rank **ret)
{
	struct decoder in = {.at = bytes, .end = bytes + length, .memory = UINT64_MAX};
	struct taking taking = {.num = 0};

	proc_bytes_take(&in, take_rank, &taking);
	*ret = taking.ranks;
	return taking.num;
}

size_t daemon_job_count_living(const struct daemon_rank *ranks, size_t num)
{
	size_t num_living = 0;

	for (size_t i = 0; i < num; i++)
		num_living += ranks[i].start_ticks &&
			      !procfs_has_ended(ranks[i].pid, ranks[i].start_ticks);
	return num_living;
}

/* ---- What was found ---- */

void daemon_job_put_found(struct buffer *ret, const struct proctable *table)
{
	buffer_put(ret, (uint64_t)table->size);
	proc_bytes_put(ret, table);
}

struct adding {
	struct proctable *table;
	struct rankset *known;
};

static void add_found(void *context, const struct proc *proc)
{
	const struct adding *adding = context;

	if (proc->rank < 0 || proc->rank >= SHARE_MAX_RANKS || proc->pid == 0 ||
	    !host_is_name(proc->host) || rankset_contains(adding->known, proc->rank))
		return;
	rankset_add(adding->known, proc->rank);
	proctable_add_like(adding->table, proc);
}

int daemon_job_take_found(const uint8_t *bytes, size_t length, struct proctable *table,
			  struct pdb_error *err)
{
	struct decoder in = {.at = bytes, .end = bytes + length, .memory = UINT64_MAX};
	struct adding adding = {.table = table, .known = rankset_create()};
	size_t num_before = table->num_procs;
	int size = table->size;

	for (size_t i = 0; i < table->num_procs; i++)
		rankset_add(adding.known, table->procs[i].rank);
	while (in.at < in.end && !in.is_bad) {
		int told = (int)decoder_take_below(&in, SHARE_MAX_RANKS);

		size = told > size ? told : size;
		proc_bytes_take(&in, add_found, &adding);
	}
	rankset_destroy(adding.known);
	if (proctable_finish(table, err) < 0)
		return -1;
	proctable_claim(table, size);
	return (int)(table->num_procs - num_before);
}
