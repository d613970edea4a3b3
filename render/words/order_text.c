/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/param.h>

#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "render/words/parts.h"

enum { MAX_CHOICES = 3, MAX_LOOPS = 16 };

/* ---- Loops and causes ---- */

static uint32_t node_at(const struct view *view, uint32_t module, uint64_t address)
{
	return callpaths_intern(view->job->callpaths, CALLPATH_NONE, module, address, false);
}

/* To which level do both chains name the same functions, inlined by the same calls? */
static size_t common_level(struct names *names, uint32_t a, uint32_t b, size_t max)
{
	size_t level = 0;

	while (level < max && names_at(names, a, level)->line == names_at(names, b, level)->line &&
	       name_level(names_at(names, b, level + 1)) == level + 1 &&
	       !strcmp(names_at(names, a, level + 1)->function,
		       names_at(names, b, level + 1)->function))
		level++;
	return level;
}

/* The level of the function that the loop is written in: all its places are in that, or inlined
 * into it. */
static size_t loop_level(const struct view *view, const struct temporal_loop *loop)
{
	struct names *names = view->job->names;
	uint32_t header = node_at(view, loop->module, loop->header);
	size_t level = name_level(names_get(names, header));

	for (size_t i = 0; i < loop->num_places; i++) {
		uint32_t place = node_at(view, loop->module, loop->places[i]);

		if (names_innermost(names, place)->line)
			level = common_level(names, header, place, level);
	}
	return level;
}

const char *order_text_where(const struct view *view, const struct temporal_group *group)
{
	const struct callpaths *callpaths = view->job->callpaths;
	uint32_t inner;
	const char *place;

	if (group->path == CALLPATH_NONE)
		return "no complete stack";
	place = label_place(view, group->path, LABEL_SHORT);
	if (group->example == group->path)
		return place;
	inner = callpaths_at_depth(callpaths, group->example,
				   callpaths_get(callpaths, group->path)->depth + 1);
	return text_of(view, "in %s, %s", names_get(view->job->names, inner)->function, place);
}

const char *order_text_loop(const struct view *view, const struct temporal_loop *loop)
{
	struct names *names = view->job->names;
	size_t level = loop_level(view, loop);
	const struct name *first =
		names_at(names, node_at(view, loop->module, loop->header), level);
	const char *function = label_function(view->arena, first->function);

	for (size_t i = 0; i < loop->num_places; i++) {
		const struct name *end =
			names_at(names, node_at(view, loop->module, loop->places[i]), level);

		if (end->line && (!first->line || (first->file && !strcmp(first->file, end->file) &&
						   end->line < first->line)))
			first = end;
	}
	return first->line ? text_of(view, "the loop at %s:%d of %s()", first->file, first->line,
				     function)
			   : text_of(view, "a loop of %s()", function);
}

/* Why the iteration of a loop is not known. */
static const char *no_variable_text(const struct view *view, const struct loop_variable *variable)
{
	switch (variable->result) {
	case LOOP_VARIABLE_NO_DEBUG_INFO:
		return "the function has no debug information";
	case LOOP_VARIABLE_NO_START:
		return text_of(view,
			       "\"%s\" counts its iterations, but may begin with different values "
			       "in different ranks",
			       variable->variable->name);
	case LOOP_VARIABLE_UNREADABLE:
		return text_of(view, "\"%s\" counts its iterations, but is optimized out here",
			       variable->variable->name);
	case LOOP_VARIABLE_IRREDUCIBLE:
		return "it has several entries, or a loop inside it has";
	case LOOP_VARIABLE_UNKNOWN_JUMP:
		return "a jump in it is not understood";
	default:
		return "no integer variable grows or falls with each iteration";
	}
}

static const char *no_code_text(const struct view *view, uint32_t frame)
{
	const struct job *job = view->job;
	const struct callpath_node *node = callpaths_get(job->callpaths, frame);
	const char *function = label_function(view->arena, names_get(job->names, frame)->function);
	const char *why = code_store_trouble(job->code, node->module);

	if (node->module != MODULE_NONE &&
	    modules_find_place(job->modules, node->module, node->offset))
		return text_of(
			view, "%s() is Python; loops and variables are read from machine code only",
			function);
	return text_of(view, "the machine code of %s() is missing%s%s", function, *why ? ": " : "",
		       why);
}

static const char *unknown_iteration_text(const struct view *view,
					  const struct temporal_reason *reason)
{
	const struct loop_variable *variable = &reason->loop->variable;

	if (reason->cause == TEMPORAL_NO_VARIABLE)
		return no_variable_text(view, variable);
	return text_of(view,
		       reason->cause == TEMPORAL_NO_VALUE ? "%s could not be read in all of them"
							  : "%s does not change any more",
		       variable->variable->name);
}

const char *order_text_cause(const struct view *view, const struct temporal_reason *reason)
{
	switch (reason->cause) {
	case TEMPORAL_NO_VARIABLE:
	case TEMPORAL_NO_VALUE:
	case TEMPORAL_AT_END:
		return text_of(view, "they may be in different iterations of %s: %s",
			       order_text_loop(view, reason->loop),
			       unknown_iteration_text(view, reason));
	case TEMPORAL_BRANCHES:
		return "they are in different branches";
	case TEMPORAL_UNKNOWN_JUMP:
		return "a jump in the function is not understood";
	case TEMPORAL_SEVERAL_ENTRIES:
		return "a loop with several entries leads from each to the other";
	case TEMPORAL_NO_CODE:
		return no_code_text(view, reason->frame_a);
	case TEMPORAL_NO_STACK:
		return "some of them have no complete stack";
	default:
		return "they called different functions from the same place";
	}
}

/* ---- What a verdict went by ---- */

/* Groups that are later than a culprit's group for the same reason. */
struct choice {
	struct temporal_reason reason;
	size_t a, b; /* the first two groups */
	struct rankset *earlier, *later;
	int64_t min, max; /* of the variable, in the later groups */
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
			*reason,        a, b, parts_set(view), parts_set(view), reason->value_b,
			reason->value_b};
	}
	rankset_add_set(choices[i].earlier, view->order->groups[a].ranks);
	rankset_add_set(choices[i].later, view->order->groups[b].ranks);
	choices[i].min = MIN(choices[i].min, reason->value_b);
	choices[i].max = MAX(choices[i].max, reason->value_b);
}

static size_t find_choices(const struct view *view, struct choice *choices)
{
	const struct temporal_result *order = view->order;
	const struct verdict *verdict = view->verdict;
	size_t num = 0;

	for (size_t a = 0; a < order->num_groups; a++) {
		if (!rankset_contains(verdict->culprits, rankset_first(order->groups[a].ranks)))
			continue;
		for (size_t b = 0; b < order->num_groups; b++) {
			struct temporal_reason reason;

			if (rankset_contains(verdict->compared,
					     rankset_first(order->groups[b].ranks)) &&
			    temporal_order_of(order, a, b, &reason) == TEMPORAL_BEFORE)
				add_choice(view, choices, &num, &reason, a, b);
		}
	}
	return num;
}

/* ", with it=17 in all of them": the loops that contain both places. */
static const char *same_iterations(const struct view *view, const struct choice *choice)
{
	const struct temporal_loop *loops[2][MAX_LOOPS];
	int64_t values[2][MAX_LOOPS];
	bool has_value[2][MAX_LOOPS];
	size_t num_a = temporal_loops_of(view->order, choice->a, choice->reason.frame_a, loops[0],
					 values[0], has_value[0], MAX_LOOPS);
	size_t num_b = temporal_loops_of(view->order, choice->b, choice->reason.frame_b, loops[1],
					 values[1], has_value[1], MAX_LOOPS);
	const char *text = "";

	for (size_t i = 0; i < num_a && i < num_b && loops[0][i] == loops[1][i]; i++) {
		if (has_value[0][i] && has_value[1][i] && values[0][i] == values[1][i])
			text = text_of(view, "%s, %s %s=%" PRId64, text,
				       *text ? "and" : "both with",
				       loops[0][i]->variable.variable->name, values[0][i]);
	}
	return text;
}

static void print_choice(const struct view *view, const struct choice *choice)
{
	const struct temporal_reason *reason = &choice->reason;
	const char *earlier = parts_who(view, choice->earlier);
	const char *later = parts_who(view, choice->later);

	if (reason->cause == TEMPORAL_BY_VARIABLE) {
		const char *values = choice->min == choice->max
					     ? text_of(view, "%" PRId64, choice->min)
					     : text_of(view, "%" PRId64 " to %" PRId64, choice->min,
						       choice->max);

		text_wrap(
			view, 2,
			"by the order of the stacks: in %s, %s is %" PRId64 " in %s, and %s in %s",
			order_text_loop(view, reason->loop), reason->loop->variable.variable->name,
			reason->value_a, earlier, values, later);
	} else {
		text_wrap(view, 2,
			  "by the order of the stacks: %s, where %s %s, comes before %s, where %s "
			  "%s%s",
			  label_place(view, reason->frame_a, LABEL_SHORT), earlier,
			  parts_plural(choice->earlier, "is", "are"),
			  label_place(view, reason->frame_b, LABEL_SHORT), later,
			  parts_plural(choice->later, "is", "are"), same_iterations(view, choice));
	}
}

void order_text_print_choice(const struct view *view)
{
	struct choice choices[MAX_CHOICES];
	size_t num;

	if (!view->order || !view->verdict->is_by_order)
		return;
	num = find_choices(view, choices);
	for (size_t i = 0; i < num; i++)
		print_choice(view, &choices[i]);
}

const char *order_text_no_order(const struct view *view, const struct temporal_result *order)
{
	struct temporal_reason reason;

	for (size_t a = 0; a < order->num_groups; a++)
		for (size_t b = a + 1; b < order->num_groups; b++)
			if (temporal_order_of(order, a, b, &reason) == TEMPORAL_UNORDERED)
				return order_text_cause(view, &reason);
	return "all seem to be at the same place";
}

void order_text_print_doubt(const struct view *view)
{
	if (!view->order)
		return;
	text_wrap(view, 2, "the stacks have no order: %s; see \"order\"",
		  order_text_no_order(view, view->order));
}
