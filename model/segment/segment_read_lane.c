/* SPDX-License-Identifier: BSD-3-Clause
 * The lanes of a segment: what each thread does, its transitions and its last events. */

#include "model/job/model.h"
#include "model/segment/segment_private.h"

/* What only looks is answered sooner, even where a rank that polls gets a processor but seldom. */
#define LOOK_BLOCKED_NS UINT64_C(10000000000)

uint64_t reader_lane_base(const struct reader *r, size_t lane)
{
	return r->header.lane_offset + lane * r->header.lane_size;
}

int reader_read_current(struct reader *r, uint64_t base, struct seg_current *ret, bool *is_whole)
{
	const struct reader_locked words = {
		.at = base + offsetof(struct seg_lane, current),
		.size = sizeof(*ret),
		.to = ret,
	};

	return reader_copy_under_lock(r, &words, is_whole);
}

static bool is_call(const struct seg_transition *made)
{
	return !SEG_STATE_IS_EXIT(made->to) && SEG_STATE_SITE(made->to) < SEG_MAX_SITES;
}

/* How often each site was called, of those up to the last one; the caller frees it. */
static uint64_t *count_calls(const struct seg_transition *raw, uint64_t count)
{
	uint32_t num_sites = 1;
	uint64_t *calls;

	for (uint64_t i = 0; i < count; i++)
		if (is_call(&raw[i]) && SEG_STATE_SITE(raw[i].to) >= num_sites)
			num_sites = SEG_STATE_SITE(raw[i].to) + 1;
	calls = xcalloc(num_sites, sizeof(*calls));
	for (uint64_t i = 0; i < count; i++)
		if (is_call(&raw[i]))
			calls[SEG_STATE_SITE(raw[i].to)] += raw[i].count;
	return calls;
}

/* All transitions of a lane whose present state that is into `ret`, with room for these and as
 * many returns as there are sites or calls: how many they are. The segment has those into calls.
 * A call's return stands behind the first way into it. */
static size_t expand_transitions(const struct seg_transition *raw, uint64_t count, uint32_t state,
				 struct model_transition *ret)
{
	uint64_t *calls = count_calls(raw, count);
	size_t num = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t from = raw[i].from, to = raw[i].to;

		/* One that has just been published may not have been made yet. */
		if (raw[i].count == 0)
			continue;
		ret[num++] =
			(struct model_transition){.from = from, .to = to, .count = raw[i].count};
		if (!is_call(&raw[i]) || calls[SEG_STATE_SITE(to)] == 0)
			continue;
		uint64_t returns = calls[SEG_STATE_SITE(to)] - (to == state);
		calls[SEG_STATE_SITE(to)] = 0;
		if (returns)
			ret[num++] = (struct model_transition){
				.from = to, .to = to + 1, .count = returns};
	}
	free(calls);
	return num;
}

static int copy_transitions(struct reader *r, uint64_t base, struct raw_lane *of,
			    struct model_lane *lane)
{
	uint64_t count = of->head.tables[SEG_LANE_TRANSITIONS].count;
	uint64_t max = count + (count < SEG_MAX_SITES ? count : SEG_MAX_SITES);
	const struct seg_transition *raw =
		reader_copy_lane_table(r, base, of, SEG_LANE_TRANSITIONS, count);

	if (!raw || reader_spend(r, max * sizeof(*lane->transitions)) < 0)
		return -1;
	lane->transitions = xreallocarray(lane->transitions, max, sizeof(*lane->transitions));
	lane->num_transitions =
		expand_transitions(raw, count, of->current.state, lane->transitions);
	return 0;
}

/* The ring as of `events`, oldest first, with ticks in place of times. */
static int copy_ring(struct reader *r, uint64_t base, struct raw_lane *of, struct model_lane *lane)
{
	uint64_t capacity = of->head.tables[SEG_LANE_RING].capacity, events = of->current.events;
	uint64_t num = events < capacity ? events : capacity;
	uint64_t first, head;
	struct seg_event *raw;

	if (reader_check_lane_table(r, &of->head, SEG_LANE_RING, capacity) < 0)
		return -1;
	if (capacity == 0 || (capacity & (capacity - 1)))
		return READER_CORRUPT(r, "a ring of %u entries", (unsigned)capacity);
	if (reader_spend(r, num * (sizeof(*raw) + sizeof(*lane->ring))) < 0)
		return -1;
	first = (events - num) & (capacity - 1);
	head = num < capacity - first ? num : capacity - first;
	raw = arena_array(of->arena, num, sizeof(*raw));
	if (reader_copy_lane_entries(r, base, &of->head, SEG_LANE_RING, first, head, raw) < 0 ||
	    reader_copy_lane_entries(r, base, &of->head, SEG_LANE_RING, 0, num - head, raw + head) <
		    0)
		return -1;
	lane->ring = xreallocarray(lane->ring, num, sizeof(*lane->ring));
	lane->num_ring = num;
	for (uint64_t i = 0; i < num; i++)
		lane->ring[i] = (struct model_event){.ns = raw[i].ticks, .state = raw[i].state};
	return 0;
}

static void drop_oldest(struct model_lane *lane, uint64_t num)
{
	if (num > lane->num_ring)
		num = lane->num_ring;
	lane->num_ring -= num;
	memmove(lane->ring, lane->ring + num, lane->num_ring * sizeof(*lane->ring));
}

/* One copy of all that a lane holds. */
static int try_lane(struct reader *r, uint64_t base, struct model_lane *lane, struct raw_lane *raw)
{
	const struct seg_table *tables = raw->head.tables;
	struct seg_current after;
	bool is_whole, was_whole;
	uint32_t num_sites;

	arena_destroy(raw->arena);
	raw->arena = arena_create();
	if (reader_read_current(r, base, &raw->current, &was_whole) < 0 ||
	    segment_pread(r->fd, &raw->head, sizeof(raw->head), base, r->err) < 0 ||
	    /* First, so that it is most likely still that of the state. */
	    reader_read_lane_evidence(r, base, raw) < 0 || reader_read_notes(r, base, raw) < 0 ||
	    copy_transitions(r, base, raw, lane) < 0 || copy_ring(r, base, raw, lane) < 0)
		return -1;
	/* Statistics of the sites that there are by now. */
	if (segment_pread(r->fd, &num_sites, sizeof(num_sites),
			  offsetof(struct seg_header, tables[SEG_TABLE_SITES].count), r->err) < 0)
		return -1;
	raw->num_states = 2 * (uint64_t)num_sites;
	if (raw->num_states > tables[SEG_LANE_STATES].capacity)
		raw->num_states = tables[SEG_LANE_STATES].capacity;
	raw->states = reader_copy_lane_table(r, base, raw, SEG_LANE_STATES, raw->num_states);
	if (!raw->states || reader_read_current(r, base, &after, &is_whole) < 0)
		return -1;
	/* Another `since` with the same events: a new thread has taken the lane. */
	lane->is_consistent = was_whole && is_whole && after.events == raw->current.events &&
			      after.since == raw->current.since;
	if (lane->is_consistent) {
		/* Polls may have gone on; they touch nothing that was copied. */
		raw->current = after;
	} else if (after.events + 1 > tables[SEG_LANE_RING].capacity) {
		/* Entry e has been overwritten, or is just being, once e + capacity <= events. */
		uint64_t valid_from = after.events + 1 - tables[SEG_LANE_RING].capacity;
		uint64_t oldest = raw->current.events - lane->num_ring;

		if (valid_from > oldest)
			drop_oldest(lane, valid_from - oldest);
	}
	return 0;
}

int reader_read_lane(struct reader *r, size_t number)
{
	struct model_lane *lane = &r->model->lanes[number];
	uint64_t budget = r->budget;

	for (int i = 0; i < READER_LANE_ATTEMPTS; i++) {
		r->budget = budget;
		if (try_lane(r, reader_lane_base(r, number), lane, &r->raw[number]) < 0)
			return -1;
		if (lane->is_consistent)
			break;
	}
	return 0;
}

/* Transitions that name states which do not exist tell nothing. */
static void check_transitions(struct model_lane *lane, uint32_t num_states)
{
	size_t kept = 0;

	for (size_t i = 0; i < lane->num_transitions; i++) {
		const struct model_transition *made = &lane->transitions[i];

		if (made->from < num_states && made->to < num_states)
			lane->transitions[kept++] = *made;
	}
	lane->num_transitions = kept;
}

/* Keep the part of the ring that this holder of the lane wrote and that makes sense. */
static void check_ring(struct model_lane *lane, const struct raw_lane *raw, uint32_t num_states)
{
	size_t from = lane->num_ring;
	uint64_t next = UINT64_MAX;

	while (from > 0) {
		const struct model_event *event = &lane->ring[from - 1];

		if (event->state >= num_states || event->ns > next ||
		    event->ns < raw->head.first_ticks)
			break;
		next = event->ns;
		from--;
	}
	drop_oldest(lane, from);
	/* A lane that a new thread has taken begins in state 1, with the old one's ring. */
	if (lane->num_ring && lane->ring[lane->num_ring - 1].state != lane->state) {
		lane->is_consistent = lane->is_consistent && lane->state == SEG_STATE_EXIT(0);
		lane->num_ring = 0;
	}
}

/* A one-sided call that only looks is a poll, but it may have to wait, for a lock or for its
 * target. When that takes long, the lane is inside it, as if it had been recorded. */
static void enter_blocked_look(const struct model *model, struct model_lane *lane)
{
	uint32_t state = SEG_STATE_ENTER(lane->poll_site);
	int class = model->sites[lane->poll_site].class_id;

	if (!lane->in_poll || lane->has_ended || !SEG_STATE_IS_EXIT(lane->state) ||
	    (class != SEG_CLASS_RMA && class != SEG_CLASS_RMA_SYNC) ||
	    lane->last_poll_ns < lane->since_ns ||
	    model->now_ns - lane->last_poll_ns < LOOK_BLOCKED_NS)
		return;
	if (lane->num_ring > 0) {
		/* It takes the place of the oldest. */
		drop_oldest(lane, 1);
		lane->ring[lane->num_ring++] =
			(struct model_event){.ns = lane->last_poll_ns, .state = state};
	}
	lane->state = state;
	lane->since_ns = lane->last_poll_ns;
	lane->poll_site = 0;
	lane->in_poll = false;
	lane->polls = lane->last_poll_ns = 0;
}

int reader_finish_lane(struct reader *r, size_t number, const struct segment_clock *clock)
{
	struct model *model = r->model;
	struct model_lane *lane = &model->lanes[number];
	const struct raw_lane *raw = &r->raw[number];
	const struct seg_current *current = &raw->current;
	uint32_t num_states = 2 * (uint32_t)model->num_sites;
	uint32_t use = raw->head.use;

	if (use > SEG_LANE_ENDED || current->state >= num_states ||
	    current->poll_site >= model->num_sites)
		return READER_CORRUPT(r, "state of lane %zu", number);
	lane->is_main = raw->head.is_main != 0;
	lane->has_ended = use != SEG_LANE_ACTIVE;
	lane->tid = raw->head.tid;
	/* Published, but not yet taken for the first time. */
	lane->state =
		use == SEG_LANE_FREE && current->events == 0 ? SEG_STATE_EXIT(0) : current->state;
	lane->since_ns = segment_clock_time(clock, current->since);
	lane->first_ns = segment_clock_time(clock, raw->head.first_ticks);
	lane->events = current->events;
	lane->poll_site = current->poll_site;
	lane->in_poll = current->in_poll != 0;
	lane->polls = current->polls;
	if (current->poll_site)
		lane->last_poll_ns = segment_clock_time(clock, current->poll_ticks);
	check_transitions(lane, num_states);
	check_ring(lane, raw, num_states);
	if (reader_spend(r, num_states * (sizeof(*lane->longest_ns) + sizeof(*lane->state_polls))) <
	    0)
		return -1;
	for (size_t i = 0; i < lane->num_ring; i++)
		lane->ring[i].ns = segment_clock_time(clock, lane->ring[i].ns);
	lane->longest_ns = xcalloc(num_states, sizeof(*lane->longest_ns));
	lane->state_polls = xcalloc(num_states, sizeof(*lane->state_polls));
	for (size_t i = 0; i < num_states && i < raw->num_states; i++) {
		lane->longest_ns[i] = segment_clock_duration(clock, raw->states[i].longest);
		lane->state_polls[i] = SEG_STATE_IS_EXIT(i)
					       ? segment_clock_duration(clock, raw->states[i].polls)
					       : raw->states[i].polls;
	}
	enter_blocked_look(model, lane);
	model->program->dropped_transitions += raw->head.tables[SEG_LANE_TRANSITIONS].dropped;
	return 0;
}
