/* SPDX-License-Identifier: BSD-3-Clause
 * order: which stacks are earlier in the program than others. */
#include "analysis/stacks/temporal.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/session.h"
#include "shell/answers/stack_order.h"

ARENA_DEFINE_IN(temporal_result)

static int find_order(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err)
{
	if (answer_take_ranks(session, args, answer, err) < 0 ||
	    (!session_has_ended(session) && stack_order_sample(session, answer->ranks, err) < 0))
		return -1;
	answer->order =
		temporal_result_in(answer->arena, stack_order_compare(session, answer->ranks,
								      TEMPORAL_MAX_GROUPS, err));
	return answer->order ? 0 : -1;
}

const struct command cmd_order = {
	.name = "order",
	.topic = TOPIC_ANSWERS,
	.usage = "order [RANKS]",
	.summary = "Order ranks by their stacks, the least progressed first.",
	.text = "This needs no recorder. Without RANKS: the ranks in focus, else all. Where\n"
		"stacks part, the machine code of the function tells which place comes first.\n"
		"In a loop the iteration decides. pdb reads it in each rank's frame from the\n"
		"loop variable: an integer that begins at a constant and that each iteration\n"
		"changes by constants. This needs debug information. If neither a variable nor\n"
		"the code decides, the ranks stay unordered, and order says why. A snapshot\n"
		"holds all that order needs, without the program's files.",
	.example = "order 0-31",
	.flags = CMD_NEEDS_JOB | CMD_STACKS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_order,
	.views = {[FORMAT_TEXT] = view_order, [FORMAT_JSON] = view_order_json},
};
