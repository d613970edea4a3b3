/* SPDX-License-Identifier: BSD-3-Clause
 * why: from one rank to the cause. */
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"

const struct command cmd_why = {
	.name = "why",
	.alias = "w",
	.topic = TOPIC_ANSWERS,
	.usage = "why RANK",
	.summary = "Explain what a rank waits for, step by step to the cause.",
	.text = "The chain goes from the rank to what it waits for, by the messages and\n"
		"collectives that were counted, and on to a cause that can be looked up in the\n"
		"source: a deadlock, a lost message, a mismatch of collectives, a rank that\n"
		"computes. Where these do not tell, it goes along the progress graph to the\n"
		"least-progressed rank. Without a recorder it goes by the stacks and what the MPI\n"
		"library holds of messages.",
	.example = "why 7",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_WAITS | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.find = answer_take_rank,
	.views = {[FORMAT_TEXT] = view_why, [FORMAT_JSON] = view_why_json},
};
