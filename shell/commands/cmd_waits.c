/* SPDX-License-Identifier: BSD-3-Clause
 * waits, why: who waits for whom, and from one rank to the cause. */
#include "analysis/verdict/verdict.h"
#include "analysis/waits/wait_groups.h"
#include "model/job/job.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/session.h"

enum { MAX_GROUPS = 24, MAX_GROUPS_DATA = 300 };

static int find_waits(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err)
{
	size_t max = answer->format == FORMAT_TEXT ? MAX_GROUPS : MAX_GROUPS_DATA;

	if (answer_take_ranks(session, args, answer, err) < 0)
		return -1;
	answer->waits = wait_groups_create(session->waitfor, session->groups, answer->ranks,
					   session->verdict->culprits, max, answer->arena);
	return 0;
}

const struct command cmd_waits = {
	.name = "waits",
	.topic = TOPIC_ANSWERS,
	.usage = "waits [RANKS]",
	.summary = "Show who waits for whom.",
	.text = "By the messages and collectives that were counted; without a recorder by the\n"
		"stacks and what the MPI library holds of messages. Ranks that wait alike stand\n"
		"together. Those of a deadlock, who wait for each other, are marked <->, and <=>\n"
		"where \"lp\" names them. With a recorder, and where others wait for these, or "
		"for\n"
		"ranks that do not wait, up to 24 groups are drawn below the table, an arrow\n"
		"leading to those who are waited for. Without RANKS: those in focus, else all.\n"
		"\"waits > FILE\" with .dot, .svg, .png or .pdf makes a picture.",
	.example = "waits > deadlock.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_WAITS | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_waits,
	.views = {[FORMAT_TEXT] = view_waits,
		  [FORMAT_JSON] = view_waits_json,
		  [FORMAT_DOT] = view_waits_dot},
};

const struct command cmd_why = {
	.name = "why",
	.aliases = {"w"},
	.topic = TOPIC_ANSWERS,
	.usage = "why RANK",
	.summary = "Explain what a rank waits for, step by step to the cause.",
	.text = "The chain goes from the rank to what it waits for, by the messages and\n"
		"collectives that were counted, and on to a cause that can be looked up in the\n"
		"source: a deadlock, a lost message, a mismatch of collectives, a rank that\n"
		"computes. Where these do not tell, it goes along the progress graph to the\n"
		"ranks that \"lp\" names. Without a recorder it goes by the stacks and what the "
		"MPI\n"
		"library holds of messages.",
	.example = "why 7",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_WAITS | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.find = answer_take_rank,
	.views = {[FORMAT_TEXT] = view_why, [FORMAT_JSON] = view_why_json},
};
