/* SPDX-License-Identifier: BSD-3-Clause
 * focus: limit later answers to some ranks. */
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "shell/command.h"
#include "shell/session.h"

static int run_focus(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct rankset *ranks;
	size_t next = 0;

	if (args->num_words == 0) {
		char *text SCOPED(free) = session->focus ? rankset_encode(session->focus, 0) : NULL;

		fprintf(session->out, "focus: %s\n", text ? text : "all ranks");
		return 0;
	}
	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	rankset_destroy(session->focus);
	session->focus = ranks;
	if (rankset_count(ranks) == session->job->proctable->size) {
		rankset_destroy(ranks);
		session->focus = NULL;
	}
	return 0;
}

const struct command cmd_focus = {
	.name = "focus",
	.topic = TOPIC_JOB,
	.usage = "focus [RANKS]",
	.summary = "Limit the commands that follow to some ranks.",
	.text = "The prompt shows these ranks. \"focus all\" goes back to all ranks. Without\n"
		"RANKS, focus shows which ranks are in focus. lp always answers for the whole\n"
		"job.",
	.example = "focus group 2",
	.flags = CMD_NEEDS_JOB,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_focus,
};
