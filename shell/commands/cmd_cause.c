/* SPDX-License-Identifier: BSD-3-Clause
 * cause: where ranks parted, and which value decided it. */
#include "render/caused.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/answers/find_cause.h"
#include "shell/answers/stack_order.h"
#include "shell/command.h"
#include "shell/options/args.h"
#include "shell/session.h"

static int find(struct session *session, const struct args *args, struct answer *answer,
		struct pdb_error *err)
{
	struct caused_list *list = arena_alloc(answer->arena, sizeof(*list));

	answer->own = list;
	if (args->num_words && answer_take_ranks(session, args, answer, err) < 0)
		return -1;
	return find_cause(session, answer->arena, answer->ranks, list, err);
}

const struct command cmd_cause = {
	.name = "cause",
	.topic = TOPIC_ANSWERS,
	.usage = "cause [RANKS]",
	.summary = "Find the branch where ranks parted, and what decided it.",
	.text = "Without RANKS: the ranks that lp names; if it names none, those that are not\n"
		"where most ranks are. pdb finds the function in which their stacks part. In its\n"
		"machine code it finds the branch of which one side leads to these ranks, and\n"
		"the other side to the others. Debug information has the variables that the\n"
		"branch compares. Their values are those of now: \"now\" marks values that may\n"
		"have changed since the ranks parted.\n"
		"\"likely parted\": at an earlier branch all would go the same way now, but "
		"values\n"
		"that it compares may have changed. Otherwise cause says nothing rather than\n"
		"something that is not sure. It needs debug information (-g), and living\n"
		"processes or cores.",
	.example = "cause 3",
	.flags = CMD_NEEDS_JOB,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find,
	.views = {[FORMAT_TEXT] = view_cause, [FORMAT_JSON] = view_cause_json},
};
