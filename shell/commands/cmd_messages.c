/* SPDX-License-Identifier: BSD-3-Clause
 * messages, requests: what ranks have sent each other, counted at both ends, and what is not
 * completed. */
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
	.topic = TOPIC_LOOKING,
	.usage = "messages [RANKS]",
	.summary = "Compare the messages that ranks sent with those that were received.",
	.text = "A row for each communicator, sender, receiver and tag, with the counts of both\n"
		"ends. What differs comes first: messages that are waited for and were not sent,\n"
		"and messages that nobody has received. Of one rank all rows are listed, of\n"
		"several (without RANKS: those in focus, else all) only those that differ or are\n"
		"not complete.",
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
	.topic = TOPIC_LOOKING,
	.usage = "requests RANK",
	.summary = "List what a rank has begun and not completed.",
	.text = "Non-blocking sends, receives and collectives, and locks of windows, with the\n"
		"call that began them and whether the other end has done its part. Those where\n"
		"it has not come first, then the oldest.",
	.example = "requests 101",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.find = find_requests,
	.views = {[FORMAT_TEXT] = view_requests, [FORMAT_JSON] = view_requests_json},
};
