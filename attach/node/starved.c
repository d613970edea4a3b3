/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/node/starved.h"
#include "attach/process/procfs.h"
#include "model/job/model.h"

bool starved_now(pid_t pid, uint64_t cpu_ticks_before, const struct model *model,
		 const struct model_lane *lane)
{
	struct starved_facts facts = {
		.polls = lane->polls,
		.now_ns = model->now_ns,
		.last_poll_ns = lane->last_poll_ns,
		.cpu_ticks_before = cpu_ticks_before,
	};
	struct procfs_stat all, thread;

	if (procfs_stat(pid, 0, &all) < 0 ||
	    procfs_stat(pid, lane->is_main ? pid : lane->tid, &thread) < 0)
		return false;
	facts.cpu_ticks = all.cpu_ticks;
	facts.state = thread.state;
	return starved_is(&facts);
}
