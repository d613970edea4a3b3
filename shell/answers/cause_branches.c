/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/values/value_groups.h"
#include "attach/values/values.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "render/caused.h"
#include "shell/answers/find_cause_private.h"
#include "shell/answers/stack_order.h"
#include "shell/session.h"

static uint32_t node_of(const struct finding *finding, uint32_t module, uint64_t address)
{
	return callpaths_intern(finding->session->job->callpaths, CALLPATH_NONE, module, address,
				false);
}

bool cause_is_same_line(const struct finding *finding, uint32_t module, uint64_t a, uint64_t b)
{
	struct names *names = finding->session->job->names;
	const struct name *x = names_get(names, node_of(finding, module, a));
	const struct name *y = names_get(names, node_of(finding, module, b));

	return a == b || (x->line > 0 && x->line == y->line && x->file && y->file &&
			  !strcmp(x->file, y->file));
}

/* The successor that all of a side take; CAUSE_NONE: not known. */
static uint32_t side_now(const struct pair *pair, const struct cause_branch *branch,
			 const struct judged *judged, int side)
{
	const struct rankset *ranks = pair->groups[side]->ranks;
	uint32_t now = CAUSE_NONE;

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		double left, right;
		uint32_t to;

		if (!cause_value_of(pair, &judged->condition.left, judged->left, rank, &left) ||
		    (judged->condition.relation != CONDITION_TABLE &&
		     !cause_value_of(pair, &judged->condition.right, judged->right, rank, &right)))
			return CAUSE_NONE;
		if (judged->condition.relation == CONDITION_TABLE)
			right = 0;
		to = cause_successor(pair->places.flow, branch, &judged->condition, left, right);
		if (to == CAUSE_NONE || (now != CAUSE_NONE && now != to))
			return CAUSE_NONE;
		now = to;
	}
	return now;
}

static bool is_unchanged(const struct pair *pair, const struct cause_branch *branch,
			 const struct condition_term *term, int side)
{
	return term->is_constant ||
	       (term->has_place &&
		cause_is_unchanged(&pair->places, branch, (uint32_t)side, &term->place, term->at));
}

static bool is_counter(const struct pair *pair, const struct cause_branch *branch,
		       const struct condition *condition, const struct condition_term *term)
{
	if (term->is_constant || condition->is_float)
		return false;
	return term->has_place && cause_is_counter(&pair->places, branch, &term->place);
}

/* How far the side has counted that is still in the loop, by the others' bound. */
enum counted {
	COUNTED_NOT_KNOWN,
	COUNTED_LESS,   /* it would still be in it */
	COUNTED_ENOUGH, /* it would have left it */
};

static enum counted count_of(const struct pair *pair, const struct cause_branch *branch,
			     const struct judged *judged, int side)
{
	const struct condition *condition = &judged->condition;
	bool is_left = is_counter(pair, branch, condition, &condition->left);
	bool is_right = is_counter(pair, branch, condition, &condition->right);
	bool is_ordered = condition->relation >= CONDITION_LESS &&
			  condition->relation <= CONDITION_GREATER_EQUAL;
	int example = rankset_first(pair->groups[!side]->ranks);
	double left, right, other_left, other_right;
	const struct rankset *ranks = pair->groups[side]->ranks;
	enum counted counted = COUNTED_NOT_KNOWN;

	if (is_left && is_right && is_ordered)
		return COUNTED_LESS;
	other_left = other_right = 0;
	if (is_left == is_right ||
	    (is_right &&
	     !cause_value_of(pair, &condition->left, judged->left, example, &other_left)) ||
	    (is_left &&
	     !cause_value_of(pair, &condition->right, judged->right, example, &other_right)))
		return COUNTED_NOT_KNOWN;
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		enum counted of;
		uint32_t to;

		if (!cause_value_of(pair, &condition->left, judged->left, rank, &left) ||
		    !cause_value_of(pair, &condition->right, judged->right, rank, &right))
			return COUNTED_NOT_KNOWN;
		to = cause_successor(pair->places.flow, branch, condition,
				     is_left ? left : other_left, is_left ? other_right : right);
		if (to == CAUSE_NONE)
			return COUNTED_NOT_KNOWN;
		of = to == branch->to[side] ? COUNTED_LESS : COUNTED_ENOUGH;
		if (counted != COUNTED_NOT_KNOWN && counted != of)
			return COUNTED_NOT_KNOWN;
		counted = of;
	}
	return counted;
}

static struct cause_evidence judge(const struct pair *pair, const struct cause_branch *branch,
				   const struct judged *judged, uint32_t line)
{
	struct cause_evidence evidence = {.line = line, .now = {CAUSE_NONE, CAUSE_NONE}};

	for (int side = 0; side < 2; side++)
		evidence.is_inside[side] = cause_is_in_loop(&pair->places, branch, (uint32_t)side);
	if (!judged->is_known)
		return evidence;
	evidence.is_counted =
		is_counter(pair, branch, &judged->condition, &judged->condition.left) ||
		is_counter(pair, branch, &judged->condition, &judged->condition.right);
	for (int side = 0; side < 2; side++) {
		evidence.now[side] = side_now(pair, branch, judged, side);
		evidence.is_unchanged[side] = judged->is_unchanged[side][0] &&
					      (judged->condition.relation == CONDITION_TABLE ||
					       judged->is_unchanged[side][1]);
	}
	for (int side = 0; side < 2; side++) {
		enum counted counted = evidence.is_inside[side]
					       ? count_of(pair, branch, judged, side)
					       : COUNTED_NOT_KNOWN;

		evidence.is_behind |= counted == COUNTED_LESS;
		evidence.is_inside[side] &= counted == COUNTED_NOT_KNOWN;
	}
	return evidence;
}

/* ---- The answer for two groups ---- */

/* Equal numbers stand for one line: the index of the first branch that has it. */
static uint32_t line_of(const struct finding *finding, const struct pair *pair,
			const struct cause_branch *branches, size_t i)
{
	size_t k = 0;

	while (k < i &&
	       !cause_is_same_line(finding, pair->module, branches[k].address, branches[i].address))
		k++;
	return (uint32_t)k;
}

static bool is_line_of_loop(const struct pair *pair, const struct cause_branch *branch)
{
	return cause_is_in_loop(&pair->places, branch, 0) ||
	       cause_is_in_loop(&pair->places, branch, 1);
}

static void add_values(struct finding *finding, const struct pair *pair,
		       const struct judged *judged, const struct cause_evidence *evidence,
		       size_t num, uint32_t found, struct caused *ret)
{
	bool *done = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*done));

	ret->values = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*ret->values));
	for (size_t i = 0; i < num; i++) {
		const struct condition *condition = &judged[i].condition;
		const int wanted[2] = {judged[i].left, judged[i].right};
		const struct condition_term *terms[2] = {&condition->left, &condition->right};

		if (evidence[i].line != evidence[found].line)
			continue;
		for (int t = 0; t < 2; t++) {
			const struct value_groups *groups =
				wanted[t] < 0 ? NULL : pair->wanted[wanted[t]].groups;
			struct caused_value *value = &ret->values[ret->num_values];

			if (terms[t]->called && !terms[t]->name)
				ret->returned = terms[t]->called;
			if (!groups || !groups->num_values || done[wanted[t]])
				continue;
			done[wanted[t]] = true;
			value->expression = terms[t]->name;
			value->groups = groups;
			for (int side = 0; side < 2; side++)
				value->may_have_changed |= !judged[i].is_unchanged[side][t];
			ret->num_values++;
		}
	}
}

enum cause_result cause_choose_by_values(struct finding *finding, struct pair *pair,
					 const struct cause_branch *branches, size_t num,
					 struct caused *ret)
{
	const struct code_function *function = pair->places.flow->code;
	const bool is_together[2] = {cause_waits_for(finding, pair, 0),
				     cause_waits_for(finding, pair, 1)};
	struct judged *judged = arena_array(finding->arena, num + 1, sizeof(*judged));
	struct cause_evidence *evidence = arena_array(finding->arena, num + 1, sizeof(*evidence));
	enum cause_result result;
	uint32_t found;

	for (size_t i = 0; i < num; i++) {
		struct judged *of = &judged[i];

		if (cause_is_late(finding))
			return CAUSE_NOT_KNOWN;
		of->is_known = values_condition(finding->values, finding->arena,
						stack_order_reader(finding->session), pair->module,
						function, branches[i].address, &of->condition);
		of->left = cause_want(finding, pair, &of->condition.left);
		of->right = cause_want(finding, pair, &of->condition.right);
		for (int side = 0; side < 2; side++) {
			of->is_unchanged[side][0] =
				is_unchanged(pair, &branches[i], &of->condition.left, side);
			of->is_unchanged[side][1] =
				is_unchanged(pair, &branches[i], &of->condition.right, side);
			if (of->is_unchanged[side][0])
				cause_want_there(finding, pair, &of->condition.left, of->left,
						 side);
			if (of->is_unchanged[side][1])
				cause_want_there(finding, pair, &of->condition.right, of->right,
						 side);
		}
	}
	cause_read_values(finding, pair);
	for (size_t i = 0; i < num; i++)
		evidence[i] =
			judge(pair, &branches[i], &judged[i], line_of(finding, pair, branches, i));
	result = cause_choose(&pair->places, branches, evidence, num, is_together, &found);
	if (result != CAUSE_FOUND && result != CAUSE_LIKELY)
		return result;
	ret->is_likely = result == CAUSE_LIKELY;
	ret->node = node_of(finding, pair->module, branches[found].address);
	ret->kind = judged[found].condition.relation == CONDITION_TABLE ? CAUSED_BY_TABLE
		    : is_line_of_loop(pair, &branches[found])           ? CAUSED_BY_LOOP
									: CAUSED_BY_BRANCH;
	add_values(finding, pair, judged, evidence, num, found, ret);
	return result;
}
