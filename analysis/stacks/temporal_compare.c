/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/progress/loop_nest.h"
#include "analysis/stacks/temporal_private.h"
#include "model/job/callpath.h"
#include "model/error.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/sorted.h"
#include "model/xalloc.h"

#define MAX_NESTED 64 /* loops around one place */

/* Two stacks that are being compared, and the frame of each that they have come to. */
struct pair {
	const struct temporal *temporal;
	const struct temporal_group *a, *b;
	uint32_t depth;
	const struct temporal_site *site_a, *site_b;
	struct temporal_reason reason;
	/* The first thing of which it is not known whether they are at the same, as the iteration
	 * of a loop: only if nothing else differs are they the same. */
	struct temporal_reason doubt;
	bool is_inside; /* frames that start the program are behind them */
};

static enum temporal_order unordered(struct pair *pair, enum temporal_cause cause)
{
	pair->reason.cause = cause;
	return TEMPORAL_UNORDERED;
}

static void note_doubt(struct pair *pair, const struct temporal_reason *reason)
{
	if (pair->doubt.cause == TEMPORAL_BY_NOTHING)
		pair->doubt = *reason;
}

/* The loops around a block, outermost first. Returns how many. */
static size_t loops_around(const struct loop_nest *nest, uint32_t innermost,
			   uint32_t loops[MAX_NESTED])
{
	size_t num = 0;

	for (uint32_t loop = innermost; loop != LOOP_NONE && num < MAX_NESTED;
	     loop = nest->loops[loop].parent)
		loops[num++] = loop;
	for (size_t i = 0, j = num; i + 1 < j--; i++) {
		uint32_t loop = loops[i];

		loops[i] = loops[j];
		loops[j] = loop;
	}
	return num;
}

static size_t site_index(const struct temporal_body_loop *loop, const struct temporal_site *site)
{
	size_t i = 0;

	while (i < loop->num_sites && loop->sites[i] != site)
		i++;
	return i;
}

static bool find_value(const struct temporal_group *group, uint32_t depth,
		       const struct temporal_body_loop *loop, size_t site, int64_t *ret)
{
	if (site == loop->num_sites || !loop->probes)
		return false;
	for (size_t i = 0; i < group->num_values; i++) {
		if (group->values[i].depth != depth || group->values[i].probe != loop->probes[site])
			continue;
		*ret = group->values[i].value;
		return true;
	}
	return false;
}

/* Negative: a is in an earlier iteration; 0: in the same, or it is not known. */
static int compare_iterations(struct pair *pair, const struct temporal_body_loop *loop)
{
	size_t site_a = site_index(loop, pair->site_a), site_b = site_index(loop, pair->site_b);
	struct temporal_reason reason = pair->reason;
	int order = 0;

	reason.loop = &loop->public;
	if (loop->public.variable.result != LOOP_VARIABLE_FOUND)
		reason.cause = TEMPORAL_NO_VARIABLE;
	else if (!find_value(pair->a, pair->depth, loop, site_a, &reason.value_a) ||
		 !find_value(pair->b, pair->depth, loop, site_b, &reason.value_b))
		reason.cause = TEMPORAL_NO_VALUE;
	else if (!loop_variable_compare(&loop->public.variable, site_a, reason.value_a, site_b,
					reason.value_b, &order))
		reason.cause = TEMPORAL_AT_END;
	else
		reason.cause = TEMPORAL_BY_VARIABLE;
	if (reason.cause != TEMPORAL_BY_VARIABLE) {
		note_doubt(pair, &reason);
		return 0;
	}
	if (order)
		pair->reason = reason;
	return order;
}

static int compare_loops(struct pair *pair)
{
	const struct temporal_body *body = pair->site_a->body;
	uint32_t loops[MAX_NESTED];
	size_t num = loops_around(
		body->flow->nest,
		flow_common_loop(body->flow, pair->site_a->place, pair->site_b->place), loops);
	int order = 0;

	for (size_t i = 0; i < num && !order; i++)
		order = compare_iterations(pair, &body->loops[loops[i]]);
	return order;
}

static enum temporal_order compare_places(struct pair *pair)
{
	enum flow_order order =
		flow_compare(pair->site_a->body->flow, pair->site_a->place, pair->site_b->place);

	switch (order) {
	case FLOW_SAME:
		return TEMPORAL_SAME;
	case FLOW_BEFORE:
	case FLOW_AFTER:
		pair->reason.cause = TEMPORAL_BY_POSITION;
		return order == FLOW_BEFORE ? TEMPORAL_BEFORE : TEMPORAL_AFTER;
	case FLOW_BRANCHES:
		return unordered(pair, TEMPORAL_BRANCHES);
	case FLOW_NOT_KNOWN:
		return unordered(pair, TEMPORAL_UNKNOWN_JUMP);
	case FLOW_IRREDUCIBLE:
		break;
	}
	return unordered(pair, TEMPORAL_SEVERAL_ENTRIES);
}

/* At the same place, but is it the same moment? Not known without machine code, since there may be
 * loops in it, nor where it is not known how the place is reached. */
static enum temporal_order same_place(struct pair *pair)
{
	const struct temporal_site *site = pair->site_a;
	struct temporal_reason reason = pair->reason;

	if (!pair->is_inside)
		return TEMPORAL_SAME;
	if (!site || !site->body)
		reason.cause = TEMPORAL_NO_CODE;
	else if (!flow_is_reachable(site->body->flow, site->body->flow->block_of[site->place.insn]))
		reason.cause = TEMPORAL_UNKNOWN_JUMP;
	if (reason.cause != TEMPORAL_BY_NOTHING)
		note_doubt(pair, &reason);
	return TEMPORAL_SAME;
}

static enum temporal_order compare_frames(struct pair *pair, uint32_t a, uint32_t b)
{
	const struct temporal *temporal = pair->temporal;
	const struct callpath_node *node_a = callpaths_get(temporal->callpaths, a);
	const struct callpath_node *node_b = callpaths_get(temporal->callpaths, b);
	bool is_same = node_a->module == node_b->module && node_a->offset == node_b->offset &&
		       node_a->is_return == node_b->is_return;
	int order;

	pair->reason = (struct temporal_reason){.frame_a = a, .frame_b = b};
	pair->is_inside |= pair->depth && temporal_kind(temporal, a) == MODULE_PROGRAM;
	pair->site_a = temporal_find_site(temporal, a);
	pair->site_b = temporal_find_site(temporal, b);
	if (!pair->site_a || !pair->site_b || !pair->site_a->body || !pair->site_b->body) {
		if (is_same)
			return same_place(pair);
		return unordered(pair, node_a->module == node_b->module ? TEMPORAL_NO_CODE
									: TEMPORAL_OTHER_FUNCTIONS);
	}
	if (pair->site_a->body != pair->site_b->body)
		return unordered(pair, TEMPORAL_OTHER_FUNCTIONS);
	order = compare_loops(pair);
	if (order)
		return order < 0 ? TEMPORAL_BEFORE : TEMPORAL_AFTER;
	return is_same ? same_place(pair) : compare_places(pair);
}

/* From the outermost frames inwards, to the first difference that is known. */
static enum temporal_order compare_stacks(struct pair *pair)
{
	const struct callpaths *callpaths = pair->temporal->callpaths;
	uint32_t a = pair->a->path, b = pair->b->path, depth_a, depth_b;
	enum temporal_order order = TEMPORAL_SAME;

	if (a == CALLPATH_NONE || b == CALLPATH_NONE) {
		pair->reason.frame_a = a;
		pair->reason.frame_b = b;
		return unordered(pair, TEMPORAL_NO_STACK);
	}
	depth_a = callpaths_get(callpaths, a)->depth;
	depth_b = callpaths_get(callpaths, b)->depth;
	while (order == TEMPORAL_SAME && pair->depth <= depth_a && pair->depth <= depth_b) {
		order = compare_frames(pair, callpaths_at_depth(callpaths, a, pair->depth),
				       callpaths_at_depth(callpaths, b, pair->depth));
		pair->depth++;
	}
	/* From the same place one is in a function of the program, the other one in a library. */
	if (order == TEMPORAL_SAME && depth_a != depth_b)
		order = unordered(pair, TEMPORAL_OTHER_FUNCTIONS);
	return order;
}

static enum temporal_order compare_groups(const struct temporal *temporal,
					  const struct temporal_group *a,
					  const struct temporal_group *b,
					  struct temporal_reason *reason_ret)
{
	struct pair pair = {.temporal = temporal, .a = a, .b = b};
	enum temporal_order order = compare_stacks(&pair);

	if (order != TEMPORAL_SAME && pair.doubt.cause != TEMPORAL_BY_NOTHING) {
		pair.reason = pair.doubt;
		order = TEMPORAL_UNORDERED;
	}
	*reason_ret = pair.reason;
	return order;
}

enum temporal_order temporal_order_of(const struct temporal_result *result, size_t a, size_t b,
				      struct temporal_reason *reason_ret)
{
	struct temporal_reason reason;

	return compare_groups(result->temporal, &result->groups[a], &result->groups[b],
			      reason_ret ? reason_ret : &reason);
}

size_t temporal_loops_of(const struct temporal_result *result, size_t group, uint32_t frame,
			 const struct temporal_loop **loops, int64_t *values, bool *has_value,
			 size_t max)
{
	const struct temporal_site *site = temporal_find_site(result->temporal, frame);
	uint32_t around[MAX_NESTED];
	size_t num;

	if (!site || !site->body)
		return 0;
	num = loops_around(site->body->flow->nest, flow_loop(site->body->flow, site->place),
			   around);
	if (num > max)
		num = max;
	for (size_t i = 0; i < num; i++) {
		const struct temporal_body_loop *loop = &site->body->loops[around[i]];

		loops[i] = &loop->public;
		has_value[i] = find_value(&result->groups[group],
					  callpaths_get(result->temporal->callpaths, frame)->depth,
					  loop, site_index(loop, site), &values[i]);
	}
	return num;
}

bool temporal_is_known(const struct temporal_result *result, size_t group)
{
	const struct callpaths *callpaths = result->temporal->callpaths;
	const struct temporal_loop *loops[MAX_NESTED];
	int64_t values[MAX_NESTED];
	bool has_value[MAX_NESTED];

	if (result->groups[group].path == CALLPATH_NONE)
		return false;
	for (uint32_t node = result->groups[group].path; node != CALLPATH_NONE;
	     node = callpaths_get(callpaths, node)->parent) {
		const struct temporal_site *site = temporal_find_site(result->temporal, node);
		size_t num;

		if (temporal_kind(result->temporal, node) != MODULE_PROGRAM)
			continue;
		if (!site || !site->body)
			return false;
		num = temporal_loops_of(result, group, node, loops, values, has_value, MAX_NESTED);
		for (size_t i = 0; i < num; i++)
			if (!has_value[i])
				return false;
	}
	return true;
}

static int by_stack(const void *a, const void *b)
{
	const struct temporal_group *x = a, *y = b;
	int order = SORTED_ORDER(x->path, y->path) ?: SORTED_ORDER(x->num_values, y->num_values);

	for (size_t i = 0; i < x->num_values && !order; i++) {
		const struct sample_value *v = &x->values[i], *w = &y->values[i];

		order = SORTED_ORDER(v->depth, w->depth) ?: SORTED_ORDER(v->probe, w->probe)
							 ?: SORTED_ORDER(v->value, w->value);
	}
	return order;
}

static int by_level(const void *a, const void *b)
{
	const struct temporal_group *x = a, *y = b;

	return SORTED_ORDER(x->level, y->level)
		       ?: rankset_first(x->ranks) - rankset_first(y->ranks);
}

static struct temporal_group make_group(const struct temporal *temporal,
					const struct sample *sample)
{
	struct temporal_group group = {
		.path = CALLPATH_NONE, .example = sample->path, .ranks = rankset_create()};
	uint32_t depth;

	rankset_add(group.ranks, sample->rank);
	if (sample->status != SAMPLE_COMPLETE)
		return group;
	group.path = temporal_program_path(temporal, sample->path);
	if (group.path == CALLPATH_NONE)
		return group;
	depth = callpaths_get(temporal->callpaths, group.path)->depth;
	group.values = xcalloc(sample->num_values + 1, sizeof(*group.values));
	for (size_t i = 0; i < sample->num_values; i++)
		if (sample->values[i].depth <= depth)
			group.values[group.num_values++] = sample->values[i];
	return group;
}

static void free_group(struct temporal_group *group)
{
	rankset_destroy(group->ranks);
	free(group->values);
}

static void merge_groups(struct temporal_result *result)
{
	size_t num = 0;

	sorted_make(result->groups, result->num_groups, sizeof(*result->groups), by_stack);
	for (size_t i = 0; i < result->num_groups; i++) {
		struct temporal_group *group = &result->groups[i];

		if (num && !by_stack(&result->groups[num - 1], group)) {
			if (rankset_first(group->ranks) <
			    rankset_first(result->groups[num - 1].ranks))
				result->groups[num - 1].example = group->example;
			rankset_add_set(result->groups[num - 1].ranks, group->ranks);
			free_group(group);
		} else {
			result->groups[num++] = *group;
		}
	}
	result->num_groups = num;
}

bool temporal_is_before(const struct temporal_result *result, size_t a, size_t b)
{
	return result
		->is_before[result->groups[a].row * result->num_groups + result->groups[b].row];
}

/* Compare each with each, for the longest chain of groups that are before each. */
static void find_levels(struct temporal_result *result)
{
	size_t num = result->num_groups, num_ready = 0;
	struct temporal_group *groups = result->groups;
	uint32_t *num_before SCOPED(free) = xcalloc(num + 1, sizeof(*num_before));
	size_t *ready SCOPED(free) = xcalloc(num + 1, sizeof(*ready));

	result->is_before = xcalloc(num * num + 1, sizeof(*result->is_before));
	for (size_t i = 0; i < num; i++) {
		groups[i].row = i;
		for (size_t j = i + 1; j < num; j++) {
			enum temporal_order order = temporal_order_of(result, i, j, NULL);

			result->is_before[i * num + j] = order == TEMPORAL_BEFORE;
			result->is_before[j * num + i] = order == TEMPORAL_AFTER;
			num_before[j] += order == TEMPORAL_BEFORE;
			num_before[i] += order == TEMPORAL_AFTER;
		}
	}
	for (size_t i = 0; i < num; i++)
		if (!num_before[i])
			ready[num_ready++] = i;
	for (size_t next = 0; next < num_ready; next++) {
		size_t i = ready[next];

		for (size_t j = 0; j < num; j++) {
			if (!temporal_is_before(result, i, j))
				continue;
			if (groups[j].level < groups[i].level + 1)
				groups[j].level = groups[i].level + 1;
			if (!--num_before[j])
				ready[num_ready++] = j;
		}
	}
}

bool temporal_has_moved(const struct temporal *temporal, const struct sample *a,
			const struct sample *b, struct temporal_reason *reason_ret)
{
	struct temporal_group before = make_group(temporal, a), after = make_group(temporal, b);
	struct pair pair = {.temporal = temporal, .a = &before, .b = &after};
	enum temporal_order order = compare_stacks(&pair);

	free_group(&before);
	free_group(&after);
	*reason_ret = pair.reason;
	return order != TEMPORAL_SAME && pair.reason.cause == TEMPORAL_BY_VARIABLE;
}

static struct temporal_result *make_groups(const struct temporal *temporal,
					   const struct samples *samples,
					   const struct rankset *ranks)
{
	struct temporal_result *result = xcalloc(1, sizeof(*result));
	size_t capacity = 0;

	result->temporal = temporal;
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		const struct sample *sample = samples_find(samples, rank, 0);

		if (!sample)
			continue;
		*XPUSH(result->groups, result->num_groups, capacity) = make_group(temporal, sample);
	}
	merge_groups(result);
	return result;
}

struct temporal_result *temporal_compare(const struct temporal *temporal,
					 const struct samples *samples, const struct rankset *ranks,
					 size_t max, struct pdb_error *err)
{
	struct temporal_result *result = make_groups(temporal, samples, ranks);

	if (result->num_groups > max || result->num_groups > TEMPORAL_MAX_GROUPS) {
		error_set(err, ERROR_UNSUPPORTED, "%zu different stacks are too many to compare",
			  result->num_groups);
		temporal_result_destroy(result);
		return NULL;
	}
	find_levels(result);
	sorted_make(result->groups, result->num_groups, sizeof(*result->groups), by_level);
	return result;
}

void temporal_result_destroy(struct temporal_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->num_groups; i++)
		free_group(&result->groups[i]);
	free(result->groups);
	free(result->is_before);
	free(result);
}

struct rankset *temporal_steps(const struct temporal_result *result, size_t num, bool from_last)
{
	struct rankset *ranks = rankset_create();
	bool *is_related SCOPED(free) = xcalloc(result->num_groups + 1, sizeof(*is_related));
	/* The longest chain of groups that are behind each. */
	uint32_t *behind SCOPED(free) = xcalloc(result->num_groups + 1, sizeof(*behind));

	/* Groups are by level: those behind a group come later. */
	for (size_t i = result->num_groups; i-- > 0;) {
		for (size_t j = i + 1; j < result->num_groups; j++) {
			if (!temporal_is_before(result, i, j))
				continue;
			is_related[i] = is_related[j] = true;
			if (behind[i] < behind[j] + 1)
				behind[i] = behind[j] + 1;
		}
	}
	for (size_t i = 0; i < result->num_groups; i++)
		if (is_related[i] && (from_last ? behind[i] : result->groups[i].level) < num)
			rankset_add_set(ranks, result->groups[i].ranks);
	return ranks;
}
