/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/start/leftovers.h"

#include <stdbool.h>
#include <stdlib.h>

#include "attach/process/procfs.h"
#include "model/job/job.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/segment/segment.h"
#include "model/segment/segment_reader.h"
#include "model/xalloc.h"
#include "shell/interrupt.h"
#include "shell/session.h"

#define WAIT_NS                                                                                    \
	UINT64_C(10000000000) /* ranks may outlive their launcher for so long, on a busy machine */
#define POLL_NS UINT64_C(10000000)

struct leftovers {
	struct segment_process *processes;
	size_t num;
};

struct leftovers *leftovers_note(const struct session *session)
{
	const struct proctable *table = session->job ? session->job->proctable : NULL;
	struct leftovers *leftovers = xcalloc(1, sizeof(*leftovers));
	struct procfs_stat stat;

	if (!table)
		return leftovers;
	leftovers->processes = xcalloc(table->num_procs, sizeof(*leftovers->processes));
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];

		if (proc->is_local && proc->pid > 0 && !proc->has_ended &&
		    procfs_stat(proc->pid, 0, &stat) == 0)
			leftovers->processes[leftovers->num++] =
				(struct segment_process){proc->pid, stat.start_ticks};
	}
	return leftovers;
}

/* A process that is killed ends thread by thread. Until the last one its segment is in use, also
 * when the first one is a zombie already. */
static bool is_alive(const struct segment_process *process)
{
	struct procfs_stat stat;

	return procfs_stat(process->pid, 0, &stat) == 0 && stat.start_ticks == process->start &&
	       (stat.state != 'Z' || stat.num_threads > 1);
}

static bool is_any_alive(const struct leftovers *leftovers)
{
	for (size_t i = 0; i < leftovers->num; i++)
		if (is_alive(&leftovers->processes[i]))
			return true;
	return false;
}

void leftovers_remove(struct leftovers *leftovers)
{
	uint64_t until_ns = monotonic_ns() + WAIT_NS;

	if (!leftovers)
		return;
	while (is_any_alive(leftovers) && monotonic_ns() < until_ns &&
	       interrupt_sleep_until(monotonic_ns() + POLL_NS))
		;
	/* What cannot be removed is no matter: "pdb clean" says why. */
	segment_clean_of(NULL, leftovers->processes, leftovers->num, NULL);
	free(leftovers->processes);
	free(leftovers);
}
