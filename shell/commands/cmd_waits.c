/* SPDX-License-Identifier: BSD-3-Clause
 * waits, why: who waits for whom, and from one rank to the cause. */
#include "analysis/verdict/verdict.h"
#include "analysis/waits/wait_groups.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/answers/find_cause.h"
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
	.text = "The answer goes by the counted messages and collectives. Without a recorder it\n"
		"goes by stacks and the messages that the MPI library holds. Ranks that wait\n"
		"alike share a row. <-> marks ranks that wait for each other, a deadlock. <=>\n"
		"marks those of them that \"lp\" names. With a recorder, pdb draws up to 24\n"
		"groups below the table, if a group waits for another one, or for ranks that do\n"
		"not wait. An arrow leads to the group that is waited for. Without RANKS: the\n"
		"ranks in focus, else all.\n"
		"\"waits > FILE\" draws a picture if FILE ends in .dot, .svg, .png or .pdf.",
	.example = "waits > deadlock.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_WAITS | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_waits,
	.views = {[FORMAT_TEXT] = view_waits,
		  [FORMAT_JSON] = view_waits_json,
		  [FORMAT_DOT] = view_waits_dot},
};

static int find_why(struct session *session, const struct args *args, struct answer *answer,
		    struct pdb_error *err)
{
	if (answer_take_rank(session, args, answer, err) < 0)
		return -1;
	find_cause_glance(session, answer);
	return 0;
}

const struct command cmd_why = {
	.name = "why",
	.aliases = {"w"},
	.topic = TOPIC_ANSWERS,
	.usage = "why RANK",
	.summary = "Explain what a rank waits for, step by step to the cause.",
	.text = "The chain goes from the rank to what it waits for, by the counted messages and\n"
		"collectives. It ends at a cause that you can look up in the source: a\n"
		"deadlock, a lost message, a mismatch of collectives, or a rank that computes.\n"
		"If the counts do not tell, the chain follows the progress graph to the ranks\n"
		"that \"lp\" names. Without a recorder it follows stacks and the messages that\n"
		"the MPI library holds.",
	.example = "why 7",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_WAITS | CMD_ANSWERS,
	.min_words = 1,
	.max_words = 2,
	.words = WORDS_RANK,
	.find = find_why,
	.views = {[FORMAT_TEXT] = view_why, [FORMAT_JSON] = view_why_json},
};
