/* SPDX-License-Identifier: BSD-3-Clause
 * messages: what ranks have sent each other, counted at both ends. */
#include "analysis/waits/message_pairs.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_messages(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_messages = {
	.name = "messages",
	.topic = TOPIC_LOOKING,
	.usage = "messages [RANKS]",
	.summary = "Compare the messages that ranks sent with those that were received.",
	.text = "A row for each communicator, sender, receiver and tag, with the counts of both\n"
		"ends. What differs comes first: messages that are waited for and were not sent,\n"
		"and messages that nobody has received. Of one rank all rows are listed, of\n"
		"several (without RANKS: those in focus, else all) only those that differ or are\n"
		"not complete.",
	.example = "messages 101",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_DATA | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_messages,
};

static int run_messages(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);
	struct message_pairs *pairs;
	struct rankset *ranks;
	size_t next = 0;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	pairs = message_pairs_create(session->job->model, session->comms);
	if (session->wants_data)
		view_messages_json(&view, pairs, ranks);
	else
		view_messages(&view, pairs, ranks);
	message_pairs_destroy(pairs);
	rankset_destroy(ranks);
	return 0;
}
