/* SPDX-License-Identifier: BSD-3-Clause
 * What starting and asking the daemons share. */
#ifndef PDB_SHELL_DAEMONS_PRIVATE_H
#define PDB_SHELL_DAEMONS_PRIVATE_H

#include "attach/daemons/daemon_launch.h"
#include "model/job/job.h"
#include "pmix/tool.h"
#include "shell/daemons.h"

struct daemons {
	struct job *job;
	const struct launcher_kind *kind;
	const struct launcher_hosts *hosts; /* none: those of the process table */
	struct link_listener *listener;
	struct link *link;
	struct daemon_launch launch;
	struct pmix_daemons spawned;
	int num_hosts;
	const char **avoided; /* hosts without a daemon, as they do not answer; ends with NULL */
	size_t num_avoided;
	uint64_t reached_ns; /* when that was found */
	bool is_lost;        /* they cannot be told to end */
	uint32_t next_channel;
	struct daemons_start_times start_times;
	unsigned num_owed; /* answers that are still to come, those nobody waits for included */
	struct job answer; /* between look and commit: model, samples, holes; tables of `job` */
};

/* Of a look that was not committed, if any. */
void daemons_forget_answer(struct daemons *daemons);

/* Has the host no daemon, as it did not answer when they were started? */
bool daemons_is_avoided(const struct daemons *daemons, const char *host);

#endif
