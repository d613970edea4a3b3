/* SPDX-License-Identifier: BSD-3-Clause
 * slow: who holds the others up in a job that moves, and why. */
#include "analysis/evidence/evidence.h"
#include "analysis/slow/slow.h"
#include "model/job/job.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/options/args.h"
#include "shell/session.h"
#include "shell/spinner.h"

enum { MAX_SECONDS = 60 };

static int find_slow(struct session *session, const struct args *args, struct answer *answer,
		     struct pdb_error *err)
{
	long seconds = 1;
	size_t next = 0;

	if (args->num_words &&
	    args_take_number(args, &next, "number of seconds", 1, MAX_SECONDS, &seconds, err) < 0)
		return -1;
	if (session->is_live && !session_has_ended(session)) {
		spinner_expect((double)seconds);
		if (session_measure(session, (int)seconds * 1000, err) < 0)
			return -1;
	}
	answer->own = slow_find(answer->arena, session->job, session->progress,
				session->evidence ? session->evidence->stacks : NULL);
	return 0;
}

const struct command cmd_slow = {
	.name = "slow",
	.topic = TOPIC_ANSWERS,
	.usage = "slow [SECONDS]",
	.summary = "Name the ranks that slow a moving job down, and say why.",
	.text = "slow looks at the job for a second, or for SECONDS. A rank holds the others up\n"
		"if it is outside MPI for longer than they are, while they wait inside MPI. The\n"
		"first line begins with\n"
		"  Slow: rank 3 of 8      it holds the others up\n"
		"  Balanced: ...          no rank does\n"
		"  In turns: ...          each time another rank does\n"
		"  MPI: ...               no rank does, but MPI takes most of the time\n"
		"  Not known ...          pdb saw too little\n"
		"With a recorder slow compares the last iterations of the outermost loop that\n"
		"the ranks share. It shows between which calls a rank loses its time, and since\n"
		"which iteration. Without one it takes 50 stack samples of each rank.\n"
		"Below are causes that pdb measured in the same time: no processor (a quota,\n"
		"ranks bound to one, other processes), its frequency, page faults, disks, sleep.\n"
		"For a snapshot, slow shows what pdb measured before it saved the snapshot.",
	.example = "slow 5",
	.flags = CMD_NEEDS_JOB | CMD_ANSWERS,
	.max_words = 1,
	.find = find_slow,
	.views = {[FORMAT_TEXT] = view_slow, [FORMAT_JSON] = view_slow_json},
};
