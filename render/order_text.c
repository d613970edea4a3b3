/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "render/order_text.h"
#include "render/text.h"
#include "render/view.h"

enum { MAX_CHOICES = 3, MAX_LOOPS = 16, RANKS_WIDTH = 30 };

/* ---- Loops and causes ---- */

/* Where the code at an address is from. */
static const struct name *name_at(const struct view *view, uint32_t module, uint64_t address)
{
	return names_get(view->job->names, callpaths_intern(view->job->callpaths, CALLPATH_NONE,
							    module, address, false));
}

char *order_text_where(const struct view *view, const struct temporal_group *group)
{
	const struct callpaths *callpaths = view->job->callpaths;
	uint32_t inner;
	char *place, *text;

	if (group->path == CALLPATH_NONE)
		return xstrdup("no complete stack");
	place = label_place(view->job, group->path, LABEL_SHORT);
	if (group->example == group->path)
		return place;
	inner = callpaths_at_depth(callpaths, group->example,
				   callpaths_get(callpaths, group->path)->depth + 1);
	text = xasprintf("in %s, %s", names_get(view->job->names, inner)->function, place);
	free(place);
	return text;
}

char *order_text_loop(const struct view *view, const struct temporal_loop *loop)
{
	const struct name *header = name_at(view, loop->module, loop->header), *first = header;
	char *function = label_function(header->function), *text;

	for (size_t i = 0; i < loop->num_latches; i++) {
		const struct name *end = name_at(view, loop->module, loop->latches[i]);

		if (end->line && (!first->line || (first->file && !strcmp(first->file, end->file) &&
						   end->line < first->line)))
			first = end;
	}
	text = first->line
		       ? xasprintf("the loop at %s:%d of %s()", first->file, first->line, function)
		       : xasprintf("a loop of %s()", function);
	free(function);
	return text;
}

/* Why the iteration of a loop is not known. The caller frees. */
static char *no_variable_text(const struct loop_variable *variable)
{
	switch (variable->result) {
	case LOOP_VARIABLE_NO_DEBUG_INFO:
		return xstrdup("the function has no debug information");
	case LOOP_VARIABLE_NO_START:
		return xasprintf("\"%s\" counts its iterations, but need not begin with the same "
				 "value in all ranks",
				 variable->variable->name);
	case LOOP_VARIABLE_UNREADABLE:
		return xasprintf("\"%s\" counts its iterations, but is optimized out here",
				 variable->variable->name);
	case LOOP_VARIABLE_IRREDUCIBLE:
		return xstrdup("it, or a loop in it, has several entries");
	case LOOP_VARIABLE_UNKNOWN_JUMP:
		return xstrdup("a jump in it is not understood");
	default:
		return xstrdup("no integer variable is changed in one direction by each iteration");
	}
}

/* The caller frees. */
static char *no_code_text(const struct view *view, uint32_t frame)
{
	const struct job *job = view->job;
	const struct callpath_node *node = callpaths_get(job->callpaths, frame);
	char *function = label_function(names_get(job->names, frame)->function), *text;
	const char *why = code_store_trouble(job->code, node->module);

	if (node->module != MODULE_NONE &&
	    modules_find_place(job->modules, node->module, node->offset))
		text = xasprintf("%s() is Python, and loops and variables are read of machine "
				 "code only",
				 function);
	else
		text = xasprintf("the machine code of %s() is not there%s%s", function,
				 *why ? ": " : "", why);
	free(function);
	return text;
}

/* The caller frees. */
static char *unknown_iteration_text(const struct temporal_reason *reason)
{
	const struct loop_variable *variable = &reason->loop->variable;

	if (reason->cause == TEMPORAL_NO_VARIABLE)
		return no_variable_text(variable);
	return xasprintf(reason->cause == TEMPORAL_NO_VALUE ? "%s could not be read in all of them"
							    : "%s does not change any more",
			 variable->variable->name);
}

char *order_text_cause(const struct view *view, const struct temporal_reason *reason)
{
	char *loop, *why, *text;

	switch (reason->cause) {
	case TEMPORAL_NO_VARIABLE:
	case TEMPORAL_NO_VALUE:
	case TEMPORAL_AT_END:
		loop = order_text_loop(view, reason->loop);
		why = unknown_iteration_text(reason);
		text = xasprintf("they may be in different iterations of %s: %s", loop, why);
		free(loop);
		free(why);
		return text;
	case TEMPORAL_BRANCHES:
		return xstrdup("they are in different branches");
	case TEMPORAL_UNKNOWN_JUMP:
		return xstrdup("a jump in the function is not understood");
	case TEMPORAL_SEVERAL_ENTRIES:
		return xstrdup("a loop with several entries leads from each to the other");
	case TEMPORAL_NO_CODE:
		return no_code_text(view, reason->frame_a);
	case TEMPORAL_NO_STACK:
		return xstrdup("not all of them have complete stacks");
	default:
		return xstrdup("they have called different functions from the same place");
	}
}

/* ---- What a verdict went by ---- */

/* Groups that are later than one of the culprits' for the same reason. */
struct choice {
	struct temporal_reason reason;
	size_t a, b; /* the first two groups */
	struct rankset *earlier, *later;
	int64_t min, max; /* of the variable in the later ones */
};

static bool is_same_reason(const struct temporal_reason *a, const struct temporal_reason *b)
{
	if (a->cause != b->cause || a->loop != b->loop)
		return false;
	return a->cause == TEMPORAL_BY_VARIABLE
		       ? a->value_a == b->value_a
		       : a->frame_a == b->frame_a && a->frame_b == b->frame_b;
}

static void add_choice(const struct view *view, struct choice *choices, size_t *num,
		       const struct temporal_reason *reason, size_t a, size_t b)
{
	size_t i = 0;

	while (i < *num && !is_same_reason(&choices[i].reason, reason))
		i++;
	if (i == MAX_CHOICES)
		return;
	if (i == *num) {
		(*num)++;
		choices[i] = (struct choice){
			*reason,        a, b, rankset_create(), rankset_create(), reason->value_b,
			reason->value_b};
	}
	rankset_add_set(choices[i].earlier, view->order->groups[a].ranks);
	rankset_add_set(choices[i].later, view->order->groups[b].ranks);
	if (reason->value_b < choices[i].min)
		choices[i].min = reason->value_b;
	if (reason->value_b > choices[i].max)
		choices[i].max = reason->value_b;
}

static size_t find_choices(const struct view *view, struct choice *choices)
{
	const struct temporal_result *order = view->order;
	const struct verdict *verdict = view->verdict;
	size_t num = 0;

	for (size_t a = 0; a < order->num_groups; a++) {
		const struct rankset *earlier = order->groups[a].ranks;

		if (!rankset_contains(verdict->culprits, rankset_first(earlier)))
			continue;
		for (size_t b = 0; b < order->num_groups; b++) {
			const struct rankset *later = order->groups[b].ranks;
			struct temporal_reason reason;

			if (rankset_contains(verdict->candidates, rankset_first(later)) &&
			    temporal_order_of(order, a, b, &reason) == TEMPORAL_BEFORE)
				add_choice(view, choices, &num, &reason, a, b);
		}
	}
	return num;
}

/* ", with it=17 in all of them": of the loops that both places are in. The caller frees. */
static char *same_iterations(const struct view *view, const struct choice *choice)
{
	const struct temporal_loop *loops[2][MAX_LOOPS];
	int64_t values[2][MAX_LOOPS];
	bool has_value[2][MAX_LOOPS];
	size_t num_a = temporal_loops_of(view->order, choice->a, choice->reason.frame_a, loops[0],
					 values[0], has_value[0], MAX_LOOPS);
	size_t num_b = temporal_loops_of(view->order, choice->b, choice->reason.frame_b, loops[1],
					 values[1], has_value[1], MAX_LOOPS);
	char *text = xstrdup("");

	for (size_t i = 0; i < num_a && i < num_b && loops[0][i] == loops[1][i]; i++) {
		char *longer;

		if (!has_value[0][i] || !has_value[1][i] || values[0][i] != values[1][i])
			continue;
		longer = xasprintf("%s, %s %s=%" PRId64, text, *text ? "and" : "both with",
				   loops[0][i]->variable.variable->name, values[0][i]);
		free(text);
		text = longer;
	}
	return text;
}

static void print_choice(const struct view *view, const struct choice *choice)
{
	const struct temporal_reason *reason = &choice->reason;
	char *earlier = label_who(choice->earlier, RANKS_WIDTH);
	char *later = label_who(choice->later, RANKS_WIDTH);

	if (reason->cause == TEMPORAL_BY_VARIABLE) {
		char *loop = order_text_loop(view, reason->loop);
		char *values = choice->min == choice->max ? xasprintf("%" PRId64, choice->min)
							  : xasprintf("%" PRId64 " to %" PRId64,
								      choice->min, choice->max);

		text_wrap(view, 2,
			  "by the order of the stacks: in %s, %s is %" PRId64 " in %s and %s in %s",
			  loop, reason->loop->variable.variable->name, reason->value_a, earlier,
			  values, later);
		free(values);
		free(loop);
	} else {
		char *a = label_place(view->job, reason->frame_a, LABEL_SHORT);
		char *b = label_place(view->job, reason->frame_b, LABEL_SHORT);
		char *same = same_iterations(view, choice);

		text_wrap(view, 2,
			  "by the order of the stacks: %s, where %s %s, comes before %s, where %s "
			  "%s%s",
			  a, earlier, rankset_count(choice->earlier) == 1 ? "is" : "are", b, later,
			  rankset_count(choice->later) == 1 ? "is" : "are", same);
		free(same);
		free(b);
		free(a);
	}
	free(later);
	free(earlier);
}

void order_text_print_choice(const struct view *view)
{
	struct choice choices[MAX_CHOICES];
	size_t num;

	if (!view->order || !view->verdict->is_by_order)
		return;
	num = find_choices(view, choices);
	for (size_t i = 0; i < num; i++) {
		print_choice(view, &choices[i]);
		rankset_destroy(choices[i].earlier);
		rankset_destroy(choices[i].later);
	}
}

char *order_text_no_order(const struct view *view, const struct temporal_result *order)
{
	struct temporal_reason reason;

	for (size_t a = 0; a < order->num_groups; a++)
		for (size_t b = a + 1; b < order->num_groups; b++)
			if (temporal_order_of(order, a, b, &reason) == TEMPORAL_UNORDERED)
				return order_text_cause(view, &reason);
	return xstrdup("all are at the same place, as far as can be told");
}

void order_text_print_doubt(const struct view *view)
{
	char *why;

	if (!view->order)
		return;
	why = order_text_no_order(view, view->order);
	text_wrap(view, 2, "the stacks have no order: %s; see \"order\"", why);
	free(why);
}
