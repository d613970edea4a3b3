/* SPDX-License-Identifier: BSD-3-Clause
 * A thread's lane: its present state, transitions, ring, statistics. Only its thread calls these.
 * Private copies of what the lane publishes make the fast path a row of stores. */
#pragma once

#include "model/recorder/idhash.h"
#include "model/recorder/looks.h"
#include "model/recorder/pathcache.h"
#include "model/recorder/requests.h"
#include "model/recorder/ticks.h"
#include "model/recorder/writer.h"

struct tracer;

/* A transition out of an exit state. */
struct lane_way {
	uint16_t site; /* that it enters; 0: none, as "start" is never entered */
	uint16_t line; /* pathcache_line() of the call's entry; 0: not known */
	uint32_t transition;
};

/* What the fast path needs of a site, in half a cache line: a program with thousands of call paths
 * finds none of them in a cache. */
struct lane_hint {
	/* Nearly always the likely way is the next one; at the end of a loop the other one. */
	struct lane_way likely, other;
	/* Of the enter and the exit state. The segment has the longest stay in more bits. */
	uint32_t longest[2];
	uint32_t likely_count; /* how many times that was taken, low bits, when it last was not */
	/* pathcache_line() of the poll that came first here, and of one that came after a poll */
	uint16_t polls[2];
} __attribute__((aligned(32)));
static_assert(sizeof(struct lane_hint) == 32, "two in a cache line");
static_assert(SEG_MAX_SITES <= 1 << 16, "a site in 16 bits");

enum {
	P2P_STATUS_BYTES = 64,      /* at least one MPI_Status */
	P2P_MAX_STATUSES = 1 << 12, /* that are asked for where the program ignores them */
	/* Bytes of a lane's private memory: `keys`, `listed` and `statuses`. */
	P2P_MEMORY = SEG_MAX_WAITED * (sizeof(uint64_t) + sizeof(struct requests_ref)) +
		     P2P_MAX_STATUSES * P2P_STATUS_BYTES,
};

/* What a lane keeps of the call in progress, from before it to after it. */
struct p2p {
	/* Rows that the call has counted and that are taken back should MPI refuse it. */
	uint32_t rows[2]; /* by enum ledger_way */
	/* A blocking receive with a wildcard: `comm`, else SEG_NO_COMM. */
	uint32_t wildcard_comm;
	/* Requests that the call will make, 0 to 2, in slots that the lane keeps for the next call
	 * when this one makes none. REQUESTS_NONE: not taken yet. */
	uint32_t num_made;
	uint32_t made[2];
	bool takes_any;              /* one of them is a receive with a wildcard */
	struct requests_ref message; /* that the request will receive */
	/* Keys of requests that the call is about. A program that polls lists the same again and
	 * again: while that is so and no request has changed, nothing is looked up. */
	uint32_t num_listed;
	bool is_cut; /* there were more than SEG_MAX_WAITED */
	bool is_same;
	uint64_t changes; /* of the requests, when the last list was made; UINT64_MAX: do not use */
	uint64_t *keys;   /* SEG_MAX_WAITED */
	/* What they were found to be; no slot: null or not known. */
	struct requests_ref *listed;
	uint32_t num_unknown;
	bool wants_status;
	uint32_t waited_room; /* entries of WAITED that have pages */
	_Atomic uint32_t *waited;
	void *statuses; /* P2P_MAX_STATUSES, in place of those that the program ignores */
};

struct lane {
	/* Of the present state's site; while polls are counted, a hint that knows no transition.
	 * These copies of what the segment says hold whoever writes to the file. */
	struct lane_hint *hint;
	struct seg_current *current;
	struct seg_transition *transitions;
	struct seg_event *ring;
	uint64_t ring_mask;
	struct lane_hint *hints; /* of each site */
	struct seg_state *states;
	uint32_t state; /* the present one */
	uint64_t now;   /* when the call in progress began: what entering it is to be given */

	struct seg_lane *seg;
	struct tracer *tracer;      /* NULL: no trace */
	struct lane_hint poll_hint; /* no ways, but entries of calls that may come after a poll */
	uintptr_t call_cfa;         /* stack pointer of the call in progress; 0: none */
	uint32_t site;              /* of that call */
	const struct path_entry *entry; /* of its path, or NULL */
	uint32_t poll_site;             /* of the last poll since the state was entered; 0: none */
	uint64_t poll_ticks;
	uint32_t num_skipped; /* calls left out since the last one that was not */
	bool is_skipping;     /* the call in progress is left out */
	uint32_t looks_left;  /* calls that may be looks, until looks_are_due() */
	struct looks *looks;
	struct pathcache cache;

	uint32_t states_ready; /* states below this one have pages */
	uint32_t index;
	struct writer *writer;
	struct idhash edges; /* (from, to) -> transition */
	struct seg_ledger *ledger;
	struct idhash rows; /* (communicator, peer, tag) -> row of the ledger */
	struct ledger_next *next_rows;
	uint32_t row;              /* of the ledger, that was asked for last */
	uint32_t refused;          /* bit of each table that got no more room: not asked again */
	struct requests *requests; /* of the process */
	uint32_t *notes;           /* the ring; NULL: not yet */
	uint64_t note;             /* where the one begins that is being written */
	bool has_no_notes;         /* and never will be: there is no room */
	struct p2p p2p;
	uintptr_t stack_low, stack_high;
	struct lane *next_free;
	struct lane *next; /* made before it */
};

/* Make lane `index`, mapped and empty. NULL when there is no room or memory. */
struct lane *lane_create(struct writer *w, uint32_t index);

/* Is there room for so many entries, now or after asking for it in a slow section? */
bool lane_has_room(struct lane *l, enum seg_lane_id table, uint32_t entries);

/* The calling thread takes the lane: state "start". */
void lane_take(struct lane *l, int tid, bool is_main);

/* Before the first lane_enter() of a site here, in a slow section. False: no room. */
bool lane_prepare_site(struct lane *l, uint32_t site);

/* The entry of a call's path, or NULL: not known. lane_remember() adds one, NULL when it cannot;
 * lane_forget() is for when code was unloaded. */
const struct path_entry *lane_remember(struct lane *l, const struct recorder_function *function,
				       uintptr_t ra, uintptr_t cfa, uint32_t site,
				       const struct call_path *path);
void lane_forget(struct lane *l);

/* The call enters. `entry` is what will be expected after the same state; may be NULL. */
void lane_enter(struct lane *l, uint32_t site, const struct path_entry *entry, uint64_t now);

/* A poll enters; its outcome will tell whether that was an event. */
void lane_enter_poll(struct lane *l, uint32_t site, uint64_t now);
void lane_leave_poll(struct lane *l, bool failed);

/* The events of a call that entered and returned at `at`: it was counted as a poll then. */
void lane_pass(struct lane *l, uint32_t site, uint64_t at);

/* ---- The fast path: here to be inlined ---- */

/* A call begins that may only look: is it one to look at, as it seems? */
static ALWAYS_INLINE bool looks_are_due(struct lane *l)
{
	return unlikely(--l->looks_left == 0) && looks_repeat(l);
}

/* A word that only this thread writes: its new value. */
static inline uint64_t lane_add(_Atomic uint64_t *word, uint64_t n)
{
	uint64_t sum = relaxed_get(word) + n;

	relaxed_set(word, sum);
	return sum;
}

/* The stay in the present state that ends is longer than its hint has it. Not a call, for which
 * registers would have to be saved each time. */
static ALWAYS_INLINE void lane_stayed_long(struct lane *l, uint64_t stay, uint32_t *longest)
{
	_Atomic uint64_t *known = &l->states[l->state].longest;

	if (stay > relaxed_get(known))
		relaxed_set(known, stay);
	*longest = stay < UINT32_MAX ? stay : UINT32_MAX;
}

/* One event: into `to`, of whose site that is the hint, at `now`. `longest`: of the present state.
 * Within a section. */
static ALWAYS_INLINE void lane_event(struct lane *l, struct seg_current *current, uint32_t *longest,
				     uint32_t to, struct lane_hint *hint, uint64_t now)
{
	uint64_t since = relaxed_get(&current->since);
	uint64_t stay = now - since;
	uint64_t events = relaxed_get(&current->events);
	struct seg_event *slot = &l->ring[events & l->ring_mask];

	if (unlikely(stay > *longest)) {
		if ((int64_t)stay < 0) /* a signal's handler made calls since the time was read */
			now = since;
		else
			lane_stayed_long(l, stay, longest);
	}
	l->hint = hint;
	l->state = to;
	relaxed_set(&slot->ticks, now);
	relaxed_set(&slot->state, to);
	relaxed_set(&current->state, to);
	relaxed_set(&current->since, now);
	relaxed_set(&current->events, events + 1);
}

/* Does the hint know the transition that enters the site? */
static ALWAYS_INLINE bool lane_expects(const struct lane *l, uint32_t site)
{
	return l->hint->likely.site == site;
}

/* The call of this site comes next, by this entry. If the hint has a way to it, it has another
 * entry: that was forgotten, or is of another stack pointer. */
static inline void lane_renew_hint(struct lane *l, uint32_t site, const struct path_entry *entry)
{
	struct lane_hint *hint = l->hint;

	if (hint->likely.site == site)
		hint->likely.line = pathcache_line(&l->cache, entry);
	else if (hint->other.site == site)
		hint->other.line = pathcache_line(&l->cache, entry);
}

/* The call enters that the lane expects. */
static ALWAYS_INLINE void lane_enter_expected(struct lane *l, uint64_t now)
{
	struct lane_hint *hint = l->hint, *next = &l->hints[hint->likely.site];
	struct seg_current *current = l->current;
	uint32_t seq = section_begin(&current->seq);

	lane_add(&l->transitions[hint->likely.transition].count, 1);
	lane_event(l, current, &hint->longest[1], SEG_STATE_ENTER(hint->likely.site), next, now);
	section_end(&current->seq, seq);
}

/* The call returned, or was left at some time before now. What the next one will need is fetched
 * while the program computes. */
static ALWAYS_INLINE void lane_leave(struct lane *l, uint64_t now)
{
	struct lane_hint *hint = l->hint;
	struct seg_current *current = l->current;
	uint32_t seq = section_begin(&current->seq);

	lane_event(l, current, &hint->longest[0], l->state | 1, hint, now);
	section_end(&current->seq, seq);
	path_entry_prefetch(pathcache_at(&l->cache, hint->likely.line));
	__builtin_prefetch(&l->hints[hint->likely.site]);
	__builtin_prefetch(&l->transitions[hint->likely.transition]);
}
