/* SPDX-License-Identifier: BSD-3-Clause
 * requests: what a rank has begun and not completed. */
#include "analysis/waits/message_pairs.h"
#include "model/error.h"
#include "model/job/job.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

static int run_requests(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_requests = {
	.name = "requests",
	.topic = TOPIC_LOOKING,
	.usage = "requests RANK",
	.summary = "List what a rank has begun and not completed.",
	.text = "Non-blocking sends, receives and collectives, and locks of windows, with the\n"
		"call that began them and whether the other end has done its part. Those where\n"
		"it has not come first, then the oldest.",
	.example = "requests 101",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_DATA | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.run = run_requests,
};

static int run_requests(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);
	struct message_pairs *pairs;
	size_t next = 0;
	int rank;

	if (session_take_model_rank(session, args, &next, &rank, err) < 0 ||
	    args_end(args, next, err) < 0)
		return -1;
	pairs = message_pairs_create(session->job->model, session->comms);
	if (session->wants_data)
		view_requests_json(&view, pairs, rank);
	else
		view_requests(&view, pairs, rank);
	message_pairs_destroy(pairs);
	return 0;
}
