/* SPDX-License-Identifier: BSD-3-Clause
 * messages, requests: what ranks have sent each other, counted at both ends, and what is not
 * complete. */
#include "analysis/waits/message_pairs.h"
#include "model/job/job.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/session.h"

static int find_messages(struct session *session, const struct args *args, struct answer *answer,
			 struct pdb_error *err)
{
	answer->pairs = message_pairs_create(session->job->model, session->comms, answer->arena);
	return answer_take_ranks(session, args, answer, err);
}

const struct command cmd_messages = {
	.name = "messages",
	.topic = TOPIC_COUNTS,
	.usage = "messages [RANKS]",
	.summary = "Compare the messages sent with those received.",
	.text = "A row stands for a communicator, sender, receiver and tag. It has the counts of\n"
		"both ends. Differences come first: messages that a rank waits for and nobody\n"
		"sent, and messages that nobody received. For one rank the answer lists all\n"
		"rows. For several it lists only those that differ or are not complete. Without\n"
		"RANKS: the ranks in focus, else all.",
	.example = "messages 101",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_messages,
	.views = {[FORMAT_TEXT] = view_messages, [FORMAT_JSON] = view_messages_json},
};

static int find_requests(struct session *session, const struct args *args, struct answer *answer,
			 struct pdb_error *err)
{
	answer->pairs = message_pairs_create(session->job->model, session->comms, answer->arena);
	return answer_take_model_rank(session, args, answer, err);
}

const struct command cmd_requests = {
	.name = "requests",
	.topic = TOPIC_COUNTS,
	.usage = "requests RANK",
	.summary = "List what a rank has begun and not completed.",
	.text = "These are non-blocking sends, receives and collectives, and locks of windows.\n"
		"Each row shows the call that began it, and whether the other end has done its\n"
		"part. The rows whose other end has not done it come first, then the oldest.",
	.example = "requests 101",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.find = find_requests,
	.views = {[FORMAT_TEXT] = view_requests, [FORMAT_JSON] = view_requests_json},
};
