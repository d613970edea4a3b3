/* SPDX-License-Identifier: BSD-3-Clause
 * Heads of loops that are made of several calls. A call here is one of the innermost function that
 * all of the loop is in: of MPI, or of a function with all the calls of MPI in it. */
#include "analysis/progress/job_heads.h"
#include "model/arena.h"
#include "model/job/callpath.h"
#include "model/job/model.h"
#include "model/sorted.h"

/* A state of the part, by where the loop's innermost common function calls. */
struct place_in_code {
	uint32_t module;
	uint64_t offset;
	uint32_t state;
};

SORTED_BY(compare_code, struct place_in_code, module, offset, state)

static struct place_in_code find_in_code(const struct job_heads *jh, uint32_t around,
					 uint32_t state)
{
	uint32_t path = job_heads_path(jh, state);
	struct place_in_code place = {.state = state};

	while (path != around) {
		const struct callpath_node *node = callpaths_get(jh->jm->callpaths, path);

		place.module = node->module;
		place.offset = node->offset;
		path = node->parent;
	}
	return place;
}

/* Number the calls of the loop's code in its order: rank_of[] of each state of the part. */
static uint32_t number_calls(struct job_heads *jh, const struct job_loop *loop,
			     const struct loop_part *part)
{
	struct place_in_code *places = arena_array(jh->scratch, part->num_states, sizeof(*places));
	uint32_t num = 0;

	for (size_t i = 0; i < part->num_states; i++)
		places[i] = find_in_code(jh, loop->path, part->states[i]);
	qsort(places, part->num_states, sizeof(*places), compare_code);
	for (size_t i = 0; i < part->num_states; i++) {
		if (i > 0 && (places[i].module != places[i - 1].module ||
			      places[i].offset != places[i - 1].offset))
			num++;
		jh->mark_of[places[i].state] = num;
	}
	return num + 1;
}

/* Which call ranks made first directly after which other: before[from * num_calls + to]. */
static bool *note_first_visits(const struct job_heads *jh, uint32_t num_calls)
{
	bool *before = arena_array(jh->scratch, (size_t)num_calls * num_calls, sizeof(*before));
	bool *is_seen = arena_array(jh->scratch, num_calls, sizeof(*is_seen));

	for (size_t i = 0; i < jh->num_shapes; i++) {
		const struct shape *shape = &jh->shapes[i];
		uint32_t last = NO_MARK;

		memset(is_seen, 0, num_calls * sizeof(*is_seen));
		for (size_t site = 0; site < shape->num_sites; site++) {
			uint32_t call = jh->mark_of[SEG_STATE_EXIT(shape->site_map[site])];

			if (call == NO_MARK || is_seen[call])
				continue;
			is_seen[call] = true;
			if (last != NO_MARK)
				before[last * num_calls + call] = true;
			last = call;
		}
	}
	return before;
}

static bool is_next_call(const bool *before, const uint32_t *position, uint32_t num_calls,
			 uint32_t call)
{
	for (uint32_t from = 0; from < num_calls; from++)
		if (from != call && position[from] == NO_MARK && before[from * num_calls + call])
			return false;
	return position[call] == NO_MARK;
}

/* Renumber the calls in the order in which ranks first made them: in turns, each those that come
 * after calls of turns before. With none to go on from, take one. */
static void renumber_by_visits(struct job_heads *jh, const struct loop_part *part,
			       uint32_t num_calls)
{
	bool *before = note_first_visits(jh, num_calls);
	uint32_t *position = arena_array(jh->scratch, num_calls, sizeof(*position));
	uint32_t *turn = arena_array(jh->scratch, num_calls, sizeof(*turn));
	uint32_t num = 0;

	for (uint32_t call = 0; call < num_calls; call++)
		position[call] = NO_MARK;
	while (num < num_calls) {
		uint32_t num_turn = 0, first = NO_MARK;

		for (uint32_t call = 0; call < num_calls; call++) {
			if (first == NO_MARK && position[call] == NO_MARK)
				first = call;
			if (is_next_call(before, position, num_calls, call))
				turn[num_turn++] = call;
		}
		if (num_turn == 0)
			turn[num_turn++] = first;
		for (uint32_t i = 0; i < num_turn; i++)
			position[turn[i]] = num++;
	}
	for (size_t i = 0; i < part->num_states; i++)
		jh->mark_of[part->states[i]] = position[jh->mark_of[part->states[i]]];
}

/* arrivals[k]: how often the rank went from later calls, or outside, to the first k + 1 calls. */
static bool count_arrivals(const struct job_heads *jh, const struct job_lane *lane,
			   uint32_t num_calls, uint64_t *arrivals)
{
	bool is_runner = false;

	memset(arrivals, 0, (num_calls + 1) * sizeof(*arrivals));
	for (size_t t = 0; t < lane->data->num_transitions; t++) {
		const struct model_transition *made = &lane->data->transitions[t];
		uint32_t from = jh->mark_of[job_lane_state(lane, made->from)];
		uint32_t to = jh->mark_of[job_lane_state(lane, made->to)];

		if (to == NO_MARK)
			continue;
		is_runner = true;
		if (from == NO_MARK)
			from = num_calls;
		if (to >= from)
			continue;
		arrivals[to] += made->count;
		arrivals[from] -= made->count;
	}
	for (uint32_t k = 1; k < num_calls; k++)
		arrivals[k] += arrivals[k - 1];
	return is_runner;
}

/* The calls from first to last are the head, or all others are. */
static void set_calls(const struct job_heads *jh, struct job_loop *loop, struct loop_part *part,
		      uint32_t first, uint32_t last, bool is_inside)
{
	part->is_head = arena_array(jh->arena, part->num_states, sizeof(*part->is_head));
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t call = jh->mark_of[part->states[i]];

		part->is_head[i] = (call >= first && call <= last) == is_inside;
	}
	for (size_t i = part->num_states; i-- > 0;)
		if (part->is_head[i])
			loop->header = part->states[i];
}

static void forget_calls(struct job_heads *jh, const struct loop_part *part)
{
	for (size_t i = 0; i < part->num_states; i++)
		jh->mark_of[part->states[i]] = NO_MARK;
}

/* What `count` tells of each call, with room for one more; false: of a rank that makes none. */
static struct range *range_calls(const struct job_heads *jh, uint32_t num_calls,
				 bool (*count)(const struct job_heads *jh,
					       const struct job_lane *lane, uint32_t num_calls,
					       uint64_t *arrivals))
{
	struct range *ranges = arena_array(jh->scratch, num_calls, sizeof(*ranges));
	uint64_t *arrivals = arena_array(jh->scratch, num_calls + 1, sizeof(*arrivals));

	for (uint32_t k = 0; k < num_calls; k++)
		ranges[k].least = UINT64_MAX;
	for (size_t i = 0; i < jh->jm->num_lanes; i++) {
		if (jh->jm->lanes[i].like != i ||
		    !count(jh, &jh->jm->lanes[i], num_calls, arrivals))
			continue;
		for (uint32_t k = 0; k < num_calls; k++)
			range_extend(&ranges[k], arrivals[k]);
	}
	return ranges;
}

static uint32_t find_best_last(const struct job_heads *jh, uint32_t num_calls)
{
	struct range *ranges = range_calls(jh, num_calls, count_arrivals);
	uint32_t best = NO_MARK;

	/* Ranks must agree well enough to take it for the number of iterations. */
	for (uint32_t k = 0; k + 1 < num_calls; k++)
		if (ranges[k].least >= MIN_ITERATIONS &&
		    range_spread(&ranges[k]) <= ranges[k].least / 2 &&
		    (best == NO_MARK || range_is_closer(&ranges[k], &ranges[best])))
			best = k;
	return best;
}

/* Each rank makes some of the loop's calls. If these run in an order, then in each iteration all
 * come to one of the first few, and make one of the others before they come again. Take as many as
 * make ranks agree best on how often that was. The order is that of the code, or if ranks do not
 * agree, as when the compiler has moved code, that of first visits. */
bool job_heads_choose_first_calls(struct job_heads *jh, struct job_loop *loop,
				  struct loop_part *part)
{
	uint32_t num_calls = number_calls(jh, loop, part);
	uint32_t best = find_best_last(jh, num_calls);

	if (best == NO_MARK && num_calls <= MAX_ORDERED_CALLS) {
		renumber_by_visits(jh, part, num_calls);
		best = find_best_last(jh, num_calls);
	}
	if (best != NO_MARK)
		set_calls(jh, loop, part, 0, best, true);
	forget_calls(jh, part);
	return best != NO_MARK;
}

/* How often ranks came to the header's call from the other calls, and to the header at all. */
static void range_own(const struct job_heads *jh, uint32_t header, struct range *runs,
		      struct range *calls)
{
	uint32_t own = jh->mark_of[header];

	for (size_t i = 0; i < jh->jm->num_lanes; i++) {
		const struct job_lane *lane = &jh->jm->lanes[i];
		uint64_t num_runs = 0, num_calls = 0;

		if (lane->like != i)
			continue;
		for (size_t t = 0; t < lane->data->num_transitions; t++) {
			const struct model_transition *made = &lane->data->transitions[t];
			uint32_t to = job_lane_state(lane, made->to);

			if (jh->mark_of[to] != own)
				continue;
			if (to == header)
				num_calls += made->count;
			if (jh->mark_of[job_lane_state(lane, made->from)] != own)
				num_runs += made->count;
		}
		if (num_calls == 0)
			continue;
		range_extend(runs, num_runs);
		range_extend(calls, num_calls);
	}
}

static bool comes_again(const struct job_heads *jh, const struct loop_part *part, uint32_t header)
{
	for (size_t i = 0; i < part->num_states; i++) {
		uint32_t from = part->states[i];

		if (jh->mark_of[from] == jh->mark_of[header] &&
		    job_model_find_transition(jh->jm, from, header) != SIZE_MAX)
			return true;
	}
	return false;
}

/* Sends and receives are repeated for each neighbour; what else is repeated rather is the loop. */
static bool is_for_neighbours(const struct job_heads *jh, uint32_t header)
{
	enum seg_class class_id = jh->jm->sites[SEG_STATE_SITE(header)].class_id;

	return class_id == SEG_CLASS_SEND || class_id == SEG_CLASS_RECV ||
	       class_id == SEG_CLASS_SENDRECV || class_id == SEG_CLASS_START;
}

/* How often the rank came to the loop's other calls from each of its calls, or from outside. */
static bool count_others(const struct job_heads *jh, const struct job_lane *lane,
			 uint32_t num_calls, uint64_t *arrivals)
{
	bool is_runner = false;

	memset(arrivals, 0, num_calls * sizeof(*arrivals));
	for (size_t t = 0; t < lane->data->num_transitions; t++) {
		const struct model_transition *made = &lane->data->transitions[t];
		uint32_t from = jh->mark_of[job_lane_state(lane, made->from)];
		uint32_t to = jh->mark_of[job_lane_state(lane, made->to)];

		if (to == NO_MARK || from == to)
			continue;
		is_runner = true;
		for (uint32_t call = 0; call < num_calls; call++)
			if (call == from || (from == NO_MARK && call != to))
				arrivals[call] += made->count;
	}
	return is_runner;
}

static bool is_call_inside(const struct job_heads *jh, const struct loop_part *part, uint32_t call)
{
	for (size_t i = 0; i < part->num_states; i++)
		if (jh->mark_of[part->states[i]] == call)
			return job_heads_ask_code(jh, part, part->states[i]) == PROGRESS_NESTED;
	return false;
}

/* The call with which iterations end, if ranks came from it to the others more often than to the
 * header's, since some iterations begin otherwise; but not so often that it is in a loop itself. */
static uint32_t find_end(const struct job_heads *jh, const struct loop_part *part,
			 uint32_t num_calls, const struct range *runs, const struct range *calls)
{
	struct range *ranges = range_calls(jh, num_calls, count_others);
	uint64_t most = runs->most;
	uint32_t end = NO_MARK;

	for (uint32_t call = 0; call < num_calls; call++) {
		if (ranges[call].least <= most || ranges[call].most >= 2 * runs->least ||
		    ranges[call].most >= calls->least || is_call_inside(jh, part, call))
			continue;
		most = ranges[call].most;
		end = call;
	}
	return end;
}

/* The head is the whole call that holds the header if it is repeated there, and all ranks do so
 * equally often, so that taking it for an inner loop fits as well. */
void job_heads_leave_repeated_call(struct job_heads *jh, struct job_loop *loop,
				   struct loop_part *part)
{
	struct range runs = {.least = UINT64_MAX}, calls = {.least = UINT64_MAX};
	uint32_t num_calls, own, end;

	if (!is_for_neighbours(jh, loop->header) ||
	    job_heads_ask_code(jh, part, loop->header) == PROGRESS_ONE_LOOP)
		return;
	num_calls = number_calls(jh, loop, part);
	if (num_calls > 1 && comes_again(jh, part, loop->header)) {
		own = jh->mark_of[loop->header];
		range_own(jh, loop->header, &runs, &calls);
		if (runs.least >= MIN_ITERATIONS &&
		    (range_spread(&runs) <= 1 || !range_is_closer(&calls, &runs))) {
			end = find_end(jh, part, num_calls, &runs, &calls);
			if (end == NO_MARK || end == own)
				set_calls(jh, loop, part, own, own, true);
			else
				set_calls(jh, loop, part, end, end, false);
		}
	}
	forget_calls(jh, part);
}
