/* SPDX-License-Identifier: BSD-3-Clause
 * order: which stacks are of earlier moments than others. */
#include "analysis/stacks/temporal.h"
#include "model/job/rankset.h"
#include "render/view.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"
#include "shell/stack_order.h"

static int run_order(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_order = {
	.name = "order",
	.topic = TOPIC_ANSWERS,
	.usage = "order [RANKS]",
	.summary = "Order ranks by their stacks, from the least to the most progressed.",
	.text = "Needs no recorder. Without RANKS: those in focus, else all. Where stacks part,\n"
		"the machine code of the function tells which place comes first. In a loop the\n"
		"iteration decides: by an integer variable that the loop changes by constants,\n"
		"from a constant on, read in each rank's frame where debug information says.\n"
		"What is told neither by a variable nor by the ways in the code stays unordered,\n"
		"and it is said why. Snapshots have what is needed, without the program's files.",
	.example = "order 0-31",
	.flags = CMD_NEEDS_JOB | CMD_DATA,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_order,
};

static int show(struct session *session, const struct rankset *ranks, struct pdb_error *err)
{
	struct view view = session_view(session);
	struct temporal_result *result =
		stack_order_compare(session, ranks, TEMPORAL_MAX_GROUPS, err);

	if (!result)
		return -1;
	if (session->wants_data)
		view_order_json(&view, result);
	else
		view_order(&view, result);
	temporal_result_destroy(result);
	if (!session->wants_data)
		banner_print_stack_holes(session, ranks, session->out);
	return 0;
}

static int run_order(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct rankset *ranks;
	size_t next = 0;
	int result = 0;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	if (!session_has_ended(session))
		result = stack_order_sample(session, ranks, err);
	if (!result)
		result = show(session, ranks, err);
	rankset_destroy(ranks);
	return result;
}
