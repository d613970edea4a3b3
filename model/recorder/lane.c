/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/lane.h"

#include "model/recorder/pages.h"
#include "model/recorder/ticks.h"

#define RELAXED memory_order_relaxed

struct lane *lane_create(struct writer *w, uint32_t index,
			 bool (*grow)(struct lane *l, uint32_t transitions))
{
	size_t size = sizeof(struct lane) + 2ul * SEG_MAX_SITES * sizeof(struct lane_hint);
	struct lane *l = pages_map(size);

	if (!l)
		return NULL;
	if (!pathcache_init(&l->cache) || !(l->seg = writer_lane(w, index))) {
		pathcache_deinit(&l->cache);
		pages_unmap(l, size);
		return NULL;
	}
	l->hints = (struct lane_hint *)(l + 1);
	l->index = index;
	l->grow = grow;
	struct seg_table *tables = l->seg->tables;
	l->ring = (void *)((char *)l->seg + tables[SEG_LANE_RING].offset);
	l->states = (void *)((char *)l->seg + tables[SEG_LANE_STATES].offset);
	l->transitions = (void *)((char *)l->seg + tables[SEG_LANE_TRANSITIONS].offset);
	l->ring_mask = tables[SEG_LANE_RING].capacity - 1;
	l->states_ready = tables[SEG_LANE_STATES].allocated / sizeof(struct seg_state);
	return l;
}

/* The sequence lock of struct seg_current. An odd value left by a thread that was thrown out of
 * the middle (a signal handler's longjmp) is made even by the next section. */
static inline void section_begin(struct lane *l)
{
	l->seq |= 1;
	atomic_store_explicit(&l->seg->current.seq, l->seq, RELAXED);
	atomic_thread_fence(memory_order_release);
}

static inline void section_end(struct lane *l)
{
	l->seq++;
	atomic_store_explicit(&l->seg->current.seq, l->seq, memory_order_release);
}

void lane_take(struct lane *l, int tid, bool is_main)
{
	struct seg_lane *seg = l->seg;
	uint64_t now = ticks_now();

	seg->tid = tid;
	seg->is_main = is_main;
	seg->first_ticks = now;
	l->state = SEG_STATE_EXIT(0);
	l->since = now;
	l->polls = 0;
	l->poll_site = 0;
	section_begin(l);
	atomic_store_explicit(&seg->current.state, l->state, RELAXED);
	atomic_store_explicit(&seg->current.since, now, RELAXED);
	atomic_store_explicit(&seg->current.poll_site, 0, RELAXED);
	atomic_store_explicit(&seg->current.in_poll, 0, RELAXED);
	atomic_store_explicit(&seg->current.polls, 0, RELAXED);
	section_end(l);
	atomic_store_explicit(&seg->use, SEG_LANE_ACTIVE, memory_order_release);
}

bool lane_prepare_site(struct lane *l, struct writer *w, uint32_t site)
{
	if (SEG_STATE_EXIT(site) < l->states_ready)
		return true;
	if (!writer_lane_reserve(w, l->seg, l->index, SEG_LANE_STATES, SEG_STATE_EXIT(site) + 1))
		return false;
	l->states_ready = l->seg->tables[SEG_LANE_STATES].allocated / sizeof(struct seg_state);
	return true;
}

bool lane_reserve_transitions(struct lane *l, struct writer *w, uint32_t transitions)
{
	return writer_lane_reserve(w, l->seg, l->index, SEG_LANE_TRANSITIONS, transitions);
}

static struct seg_transition *add_transition(struct lane *l, uint32_t from, uint32_t to,
					     uint64_t key)
{
	struct seg_table *table = &l->seg->tables[SEG_LANE_TRANSITIONS];
	uint32_t at = atomic_load_explicit(&table->count, RELAXED);

	bool room = (at + 1) * sizeof(l->transitions[0]) <= table->allocated || l->grow(l, at + 1);
	if (!room || !idhash_add(&l->edges, key, at)) {
		atomic_store_explicit(&table->dropped,
				      atomic_load_explicit(&table->dropped, RELAXED) + 1, RELAXED);
		return NULL;
	}
	l->transitions[at].from = from;
	l->transitions[at].to = to;
	/* Pairs with the reader's acquire load: it then sees from and to. */
	atomic_store_explicit(&table->count, at + 1, memory_order_release);
	return &l->transitions[at];
}

/* The transition for which the hint was wrong; NULL when there is no room for a new one. */
static struct seg_transition *other_transition(struct lane *l, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;
	struct idhash_probe probe = idhash_probe(&l->edges, key);
	struct seg_transition *t = NULL;
	uint32_t id;

	while ((id = idhash_next(&l->edges, &probe)) != IDHASH_NONE) {
		if (l->transitions[id].from == from && l->transitions[id].to == to) {
			t = &l->transitions[id];
			break;
		}
	}
	if (!t)
		t = add_transition(l, from, to, key);
	if (t)
		l->hints[from] = (struct lane_hint){.to = to, .transition = t - l->transitions};
	return t;
}

/* One event: into `to` at `now`. Must be within a section. */
static inline void event(struct lane *l, uint32_t to, uint64_t now)
{
	struct seg_current *current = &l->seg->current;
	uint32_t from = l->state;
	struct lane_hint hint = l->hints[from];
	struct seg_transition *t = &l->transitions[hint.transition];

	if (__builtin_expect(hint.to != to, 0))
		t = other_transition(l, from, to);
	if (__builtin_expect(t != NULL, 1))
		atomic_store_explicit(&t->count, atomic_load_explicit(&t->count, RELAXED) + 1,
				      RELAXED);
	struct seg_state *stats = &l->states[from];
	uint64_t stay = now - l->since;
	if (stay > atomic_load_explicit(&stats->longest, RELAXED))
		atomic_store_explicit(&stats->longest, stay, RELAXED);
	struct seg_event *slot = &l->ring[l->events & l->ring_mask];
	atomic_store_explicit(&slot->ticks, now, RELAXED);
	atomic_store_explicit(&slot->state, to, RELAXED);
	l->state = to;
	l->since = now;
	l->events++;
	atomic_store_explicit(&current->state, to, RELAXED);
	atomic_store_explicit(&current->since, now, RELAXED);
	atomic_store_explicit(&current->events, l->events, RELAXED);
	if (__builtin_expect(l->poll_site, 0)) {
		l->poll_site = 0;
		l->polls = 0;
		atomic_store_explicit(&current->poll_site, 0, RELAXED);
		atomic_store_explicit(&current->in_poll, 0, RELAXED);
		atomic_store_explicit(&current->polls, 0, RELAXED);
	}
}

void lane_enter(struct lane *l, uint32_t site)
{
	uint64_t now = ticks_now();

	section_begin(l);
	event(l, SEG_STATE_ENTER(site), now);
	section_end(l);
}

void lane_leave(struct lane *l)
{
	uint64_t now = ticks_now();

	section_begin(l);
	event(l, l->state | 1, now);
	section_end(l);
}

void lane_enter_poll(struct lane *l, uint32_t site)
{
	struct seg_current *current = &l->seg->current;

	l->poll_ticks = ticks_now();
	l->poll_site = site;
	section_begin(l);
	atomic_store_explicit(&current->poll_site, site, RELAXED);
	atomic_store_explicit(&current->in_poll, 1, RELAXED);
	atomic_store_explicit(&current->poll_ticks, l->poll_ticks, RELAXED);
	section_end(l);
}

void lane_leave_poll(struct lane *l, bool failed)
{
	struct seg_current *current = &l->seg->current;

	if (failed) {
		struct seg_state *stats = &l->states[SEG_STATE_ENTER(l->poll_site)];
		atomic_store_explicit(&stats->polls,
				      atomic_load_explicit(&stats->polls, RELAXED) + 1, RELAXED);
		l->polls++;
		section_begin(l);
		atomic_store_explicit(&current->in_poll, 0, RELAXED);
		atomic_store_explicit(&current->polls, l->polls, RELAXED);
		section_end(l);
		return;
	}
	uint32_t site = l->poll_site;
	uint64_t now = ticks_now();
	section_begin(l);
	event(l, SEG_STATE_ENTER(site), l->poll_ticks);
	event(l, SEG_STATE_EXIT(site), now);
	section_end(l);
}
