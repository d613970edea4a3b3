/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/lane.h"

#include "model/recorder/p2p.h"
#include "model/recorder/slow.h"
#include "model/recorder/ticks.h"

struct lane *lane_create(struct writer *w, uint32_t index)
{
	const size_t hints = SEG_MAX_SITES * sizeof(struct lane_hint);
	const size_t rows = SEG_MAX_LEDGER * sizeof(struct ledger_next);
	const size_t looks = sizeof(struct looks);
	const size_t size = sizeof(struct lane) + hints + rows + looks + P2P_MEMORY;
	struct lane *l = pages_map(size);

	if (!l)
		return NULL;
	if (!pathcache_init(&l->cache) || !(l->seg = writer_lane(w, index))) {
		pathcache_deinit(&l->cache);
		pages_unmap(l, size);
		return NULL;
	}
	l->hints = (struct lane_hint *)(l + 1);
	ledger_init(l, (struct ledger_next *)((char *)l->hints + hints));
	l->looks = (struct looks *)((char *)l->next_rows + rows);
	p2p_init(&l->p2p, (char *)l->looks + looks);
	l->index = index;
	l->writer = w;
	struct seg_table *tables = l->seg->tables;
	l->current = &l->seg->current;
	l->ring = (void *)((char *)l->seg + tables[SEG_LANE_RING].offset);
	l->states = (void *)((char *)l->seg + tables[SEG_LANE_STATES].offset);
	l->transitions = (void *)((char *)l->seg + tables[SEG_LANE_TRANSITIONS].offset);
	l->ledger = (void *)((char *)l->seg + tables[SEG_LANE_LEDGER].offset);
	l->ring_mask = tables[SEG_LANE_RING].capacity - 1;
	l->states_ready = tables[SEG_LANE_STATES].allocated / sizeof(struct seg_state);
	l->state = SEG_STATE_EXIT(0);
	return l;
}

static void forget_polls(struct lane *l)
{
	l->poll_site = 0;
	relaxed_set(&l->current->poll_site, 0);
	relaxed_set(&l->current->in_poll, 0);
	relaxed_set(&l->current->polls, 0);
}

void lane_take(struct lane *l, int tid, bool is_main)
{
	struct seg_lane *seg = l->seg;
	uint64_t now = ticks_now();

	/* The call that the thread before was in when it ended; when that was is not known. */
	if (!SEG_STATE_IS_EXIT(l->state))
		lane_leave(l, relaxed_get(&l->current->since));
	seg->tid = tid;
	seg->is_main = is_main;
	seg->first_ticks = now;
	uint32_t seq = section_begin(&l->current->seq);
	l->hint = &l->hints[0];
	l->state = SEG_STATE_EXIT(0);
	relaxed_set(&l->current->state, SEG_STATE_EXIT(0));
	relaxed_set(&l->current->since, now);
	forget_polls(l);
	section_end(&l->current->seq, seq);
	looks_forget(l->looks);
	l->looks_left = LOOKS_SAMPLE;
	atomic_store_explicit(&seg->use, SEG_LANE_ACTIVE, memory_order_release);
}

bool lane_prepare_site(struct lane *l, uint32_t site)
{
	if (SEG_STATE_EXIT(site) < l->states_ready)
		return true;
	if (!writer_lane_reserve(l->writer, l->seg, l->index, SEG_LANE_STATES,
				 SEG_STATE_EXIT(site) + 1))
		return false;
	l->states_ready = l->seg->tables[SEG_LANE_STATES].allocated / sizeof(struct seg_state);
	return true;
}

bool lane_has_room(struct lane *l, enum seg_lane_id table, uint32_t entries)
{
	const struct seg_table *t = &l->seg->tables[table];
	bool has_room = false;
	struct slow s;

	if ((uint64_t)entries * t->entry_size <= t->allocated)
		return true;
	if (!(l->refused & 1u << table) && slow_begin(&s)) {
		has_room = writer_lane_reserve(l->writer, l->seg, l->index, table, entries);
		slow_end(&s);
	}
	if (!has_room)
		l->refused |= 1u << table;
	return has_room;
}

static void forget_entries(struct lane_hint *hint)
{
	hint->likely.line = hint->other.line = 0;
	hint->polls[0] = hint->polls[1] = 0;
}

void lane_forget(struct lane *l)
{
	pathcache_flush(&l->cache);
	for (uint32_t site = 0; site < l->states_ready / 2; site++)
		forget_entries(&l->hints[site]);
	forget_entries(&l->poll_hint);
	l->entry = NULL;
}

const struct path_entry *lane_remember(struct lane *l, const struct recorder_function *function,
				       uintptr_t ra, uintptr_t cfa, uint32_t site,
				       const struct call_path *path)
{
	const struct path_entry *e = pathcache_add(&l->cache, function, ra, cfa, site, path);

	if (e)
		return e;
	lane_forget(l);
	return pathcache_add(&l->cache, function, ra, cfa, site, path);
}

enum { NO_TRANSITION = UINT32_MAX };

static uint32_t add_transition(struct lane *l, uint32_t from, uint32_t to, uint64_t key)
{
	struct seg_table *table = &l->seg->tables[SEG_LANE_TRANSITIONS];
	uint32_t at = relaxed_get(&table->count);

	if (!lane_has_room(l, SEG_LANE_TRANSITIONS, at + 1) || !idhash_add(&l->edges, key, at)) {
		relaxed_set(&table->dropped, relaxed_get(&table->dropped) + 1);
		return NO_TRANSITION;
	}
	l->transitions[at].from = from;
	l->transitions[at].to = to;
	/* Pairs with the reader's acquire load: it then sees from and to. */
	atomic_store_explicit(&table->count, at + 1, memory_order_release);
	return at;
}

/* A transition from the present state; NO_TRANSITION when there is no room for a new one. */
static uint32_t find_transition(struct lane *l, uint32_t to)
{
	uint32_t from = l->state;
	uint64_t key = (uint64_t)from << 32 | to;
	uint32_t id = IDHASH_FIND(&l->edges, key, at,
				  l->transitions[at].from == from && l->transitions[at].to == to);

	return id != IDHASH_NONE ? id : add_transition(l, from, to, key);
}

static uint32_t count_likely(const struct lane *l, const struct lane_hint *hint)
{
	return relaxed_get(&l->transitions[hint->likely.transition].count);
}

/* Was the likely way not taken, now and the time before? Once, at the end of a loop, is not enough
 * (as in branch predictors: Smith, A study of branch prediction strategies, 1981). */
static bool missed_again(const struct lane *l, struct lane_hint *hint)
{
	uint32_t before = hint->likely_count;

	hint->likely_count = count_likely(l, hint);
	return hint->likely_count == before;
}

static struct lane_way *take_other(const struct lane *l, struct lane_hint *hint)
{
	if (!missed_again(l, hint))
		return &hint->other;
	struct lane_way likely = hint->likely;
	hint->likely = hint->other;
	hint->other = likely;
	hint->likely_count = count_likely(l, hint);
	return &hint->likely;
}

/* A way to the site, which is none of the two; NULL: no room. */
static struct lane_way *add_way(struct lane *l, struct lane_hint *hint, uint32_t site)
{
	uint32_t transition = find_transition(l, SEG_STATE_ENTER(site));

	if (transition == NO_TRANSITION)
		return NULL;
	if (hint->likely.site && missed_again(l, hint) && hint->other.site) {
		hint->likely = hint->other;
		hint->likely_count = count_likely(l, hint);
	}
	struct lane_way *way = hint->likely.site ? &hint->other : &hint->likely;
	*way = (struct lane_way){.site = site, .transition = transition};
	return way;
}

/* That of a call that enters, by `entry`: what the hint expects from now on. */
static uint32_t enter_transition(struct lane *l, struct lane_hint *hint, uint32_t site,
				 const struct path_entry *entry)
{
	struct lane_way *way = hint->likely.site == site  ? &hint->likely
			       : hint->other.site == site ? take_other(l, hint)
							  : add_way(l, hint, site);

	if (!way)
		return NO_TRANSITION;
	way->line = pathcache_line(&l->cache, entry);
	return way->transition;
}

/* What a thread does between two polls may take as long as what it does between two calls. */
static void end_gap(struct lane *l, uint64_t now)
{
	_Atomic uint64_t *longest = &l->states[l->state].polls;
	int64_t gap = now - l->poll_ticks;

	if (SEG_STATE_IS_EXIT(l->state) && gap > (int64_t)relaxed_get(longest))
		relaxed_set(longest, gap);
}

void lane_pass(struct lane *l, uint32_t site, uint64_t at)
{
	struct lane_hint *from = &l->hints[SEG_STATE_SITE(l->state)], *hint = &l->hints[site];
	uint32_t transition = find_transition(l, SEG_STATE_ENTER(site));
	uint32_t seq = section_begin(&l->current->seq);

	if (transition != NO_TRANSITION)
		lane_add(&l->transitions[transition].count, 1);
	lane_event(l, l->current, &from->longest[1], SEG_STATE_ENTER(site), hint, at);
	lane_event(l, l->current, &hint->longest[0], SEG_STATE_EXIT(site), hint, at);
	section_end(&l->current->seq, seq);
}

void lane_enter(struct lane *l, uint32_t site, const struct path_entry *entry, uint64_t now)
{
	struct lane_hint *hint = &l->hints[SEG_STATE_SITE(l->state)];
	uint32_t transition = enter_transition(l, hint, site, entry);
	uint32_t seq = section_begin(&l->current->seq);

	if (transition != NO_TRANSITION)
		lane_add(&l->transitions[transition].count, 1);
	if (l->poll_site)
		end_gap(l, now);
	lane_event(l, l->current, &hint->longest[1], SEG_STATE_ENTER(site), &l->hints[site], now);
	if (l->poll_site)
		forget_polls(l);
	section_end(&l->current->seq, seq);
}

/* What may come after the poll: it again, the call that is likely here, or another poll. */
static void expect_after_poll(struct lane *l, bool is_first)
{
	struct lane_hint *hint = &l->hints[SEG_STATE_SITE(l->state)];
	uint16_t line = pathcache_line(&l->cache, l->entry);
	int i = is_first || line == hint->polls[0] ? 0 : 1;

	hint->polls[i] = line;
	l->poll_hint.likely.line = line;
	l->poll_hint.other.line = hint->likely.line;
	l->poll_hint.polls[0] = hint->polls[!i];
}

void lane_enter_poll(struct lane *l, uint32_t site, uint64_t now)
{
	struct seg_current *current = l->current;
	uint64_t since = l->poll_site ? l->poll_ticks : relaxed_get(&current->since);

	if ((int64_t)(now - since) < 0) /* as in lane_event() */
		now = since;
	expect_after_poll(l, l->poll_site == 0);
	if (l->poll_site)
		end_gap(l, now);
	l->poll_ticks = now;
	l->poll_site = site;
	/* The next event is not for the fast path: it ends this polling. */
	l->hint = &l->poll_hint;
	uint32_t seq = section_begin(&current->seq);
	relaxed_set(&current->poll_site, site);
	relaxed_set(&current->in_poll, 1);
	relaxed_set(&current->poll_ticks, l->poll_ticks);
	section_end(&current->seq, seq);
}

void lane_leave_poll(struct lane *l, bool failed)
{
	struct seg_current *current = l->current;
	uint32_t site = l->poll_site;

	if (!failed) {
		uint64_t now = ticks_now();
		lane_enter(l, site, l->entry, l->poll_ticks);
		lane_leave(l, now);
		return;
	}
	lane_add(&l->states[SEG_STATE_ENTER(site)].polls, 1);
	uint32_t seq = section_begin(&current->seq);
	relaxed_set(&current->in_poll, 0);
	lane_add(&current->polls, 1);
	section_end(&current->seq, seq);
}
