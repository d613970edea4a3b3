/* SPDX-License-Identifier: BSD-3-Clause
 * The way of one call: fast when the checked cache knows its path, slow otherwise. */
#include "model/recorder/p2p.h"
#include "model/recorder/process.h"
#include "model/recorder/slow.h"
#include "model/recorder/ticks.h"

/* Most programs come to one new path after the other with most of it in common. */
static const struct call_path *unwind(const struct lane *lane, uintptr_t ra, uintptr_t cfa)
{
	const struct call_path *known = &process.paths[process.num_unwinds % 2];
	struct call_path *path = &process.paths[++process.num_unwinds % 2];

	unwind_call_path(ra, cfa, lane->stack_low, lane->stack_high,
			 process.unwound == lane ? known : NULL, path);
	relaxed_add(&process.writer.header->full_unwinds, 1);
	process.unwound = lane;
	return path;
}

/* The site of a call whose path the cache does not know; 0: cannot be recorded. */
static uint32_t find_site(struct lane *lane, struct recorder_function *function, uintptr_t ra,
			  uintptr_t cfa, const struct path_entry **entry_ret)
{
	struct slow s;

	if (relaxed_get(&process.stage) != PROCESS_ON || !slow_begin(&s))
		return 0;
	if (!objects_refresh(&process.objects)) {
		process_stop();
		slow_end(&s);
		return 0;
	}
	process_forget_unloaded(lane);
	const struct call_path *path = unwind(lane, ra, cfa);
	uint32_t site =
		intern_site(&process.intern, &process.objects, &process.writer, function, path);
	tracing_add_site(&process.tracing, site, function->name, function->class_id);
	if (!site || !lane_prepare_site(lane, site)) {
		process_stop();
		site = 0;
	} else if (path->cacheable && path->num_frames > 0) {
		*entry_ret = lane_remember(lane, function, ra, cfa, site, path);
	}
	writer_stamp(&process.writer);
	slow_end(&s);
	return site;
}

/* The call in progress was left by longjmp() or an exception: say that it has returned. */
static void abandon(struct lane *lane)
{
	slow_left();
	if (lane->is_skipping) {
		recorder_skipped(lane);
		return;
	}
	relaxed_add(&process.writer.header->abandoned, 1);
	p2p_abandon(lane);
	if (SEG_STATE_IS_EXIT(lane->state))
		lane_leave_poll(lane, true);
	else
		lane_leave(lane, ticks_now());
	lane->call_cfa = 0;
}

static bool on_own_stack(const struct lane *lane, uintptr_t cfa)
{
	return cfa >= lane->stack_low && cfa < lane->stack_high;
}

/* Is a call at `cfa` inside the one in progress? The stack grows down, so it then has the lower
 * address; on another stack (of a signal, of a coroutine) addresses tell nothing, and it is taken
 * to be inside as long as the call in progress is on the thread's own. */
static bool is_inside(const struct lane *lane, uintptr_t cfa)
{
	return cfa < lane->call_cfa ||
	       (!on_own_stack(lane, cfa) && on_own_stack(lane, lane->call_cfa));
}

static NOINLINE struct lane *unusual(uintptr_t cfa)
{
	struct lane *lane = process_self.lane;

	if (!lane)
		return process_attach(SEG_LIFE_RUNNING);
	if (is_inside(lane, cfa))
		return NULL;
	abandon(lane);
	return lane;
}

/* The call is recorded: calls in its midst are let through from here on. */
static struct lane *begun(struct lane *lane, uint32_t site, const struct path_entry *entry,
			  uintptr_t cfa)
{
	lane->call_cfa = cfa;
	atomic_signal_fence(memory_order_seq_cst);
	lane->site = site;
	lane->entry = entry;
	lane->num_skipped = 0;
	return lane;
}

/* Does the call come by the way that this entry remembers? */
static ALWAYS_INLINE bool is_known(const struct path_entry *entry,
				   const struct recorder_function *function, uintptr_t ra,
				   uintptr_t cfa)
{
	return path_entry_fits(entry, function, ra, cfa) && path_entry_holds(entry);
}

/* The whole way, with nothing assumed. */
static COLD struct lane *begin(struct recorder_function *function, uintptr_t ra, uintptr_t cfa)
{
	struct lane *lane = process_self.lane;

	if (!lane || lane->call_cfa != 0) {
		lane = unusual(cfa);
		if (!lane)
			return NULL;
	}
	const struct path_entry *entry = pathcache_find(&lane->cache, function, ra, cfa);
	uint32_t site = entry ? entry->site : find_site(lane, function, ra, cfa, &entry);
	lane->now = ticks_now();
	lane_renew_hint(lane, site, entry);
	return site ? begun(lane, site, entry, cfa) : NULL;
}

/* Not the call that is likely: another one that may come here? */
static NOINLINE struct lane *begin_other(struct lane *lane, struct recorder_function *function,
					 uintptr_t ra, uintptr_t cfa)
{
	const struct path_entry *entry = pathcache_at(&lane->cache, lane->hint->other.line);

	if (!is_known(entry, function, ra, cfa)) {
		entry = pathcache_at(&lane->cache, lane->hint->polls[0]);
		if (!is_known(entry, function, ra, cfa))
			return begin(function, ra, cfa);
	}
	return begun(lane, entry->site, entry, cfa);
}

/* The fast path: the call that is likely after the last one. Whatever else is left to begin()
 * and to the lane. */
struct lane *recorder_begin(struct recorder_function *function, uintptr_t ra, uintptr_t cfa)
{
	struct lane *lane = process_self.lane;

	if (unlikely(!lane))
		return begin(function, ra, cfa);
	if (cfa < lane->call_cfa) /* inside another call; is_inside() tells more */
		return NULL;
	if (unlikely(lane->call_cfa != 0))
		return begin(function, ra, cfa);
	/* Reading the time takes long, and the processor goes on meanwhile. */
	lane->now = ticks_now();
	const struct path_entry *entry = pathcache_at(&lane->cache, lane->hint->likely.line);
	if (unlikely(!is_known(entry, function, ra, cfa)))
		return begin_other(lane, function, ra, cfa);
	return begun(lane, entry->site, entry, cfa);
}

struct lane *recorder_may_skip(void)
{
	struct lane *lane = process_self.lane;

	if (unlikely(!lane || lane->call_cfa != 0 || !comms_here.is_alone))
		return NULL;
	return ++lane->num_skipped < RECORDER_SKIPS ? lane : NULL;
}

static ALWAYS_INLINE void enter(struct lane *lane)
{
	if (unlikely(!lane_expects(lane, lane->site))) {
		if (lane->poll_site)
			looks_resume(lane);
		lane_enter(lane, lane->site, lane->entry, lane->now);
	} else {
		lane_enter_expected(lane, lane->now);
	}
}

static NOINLINE void enter_traced(struct lane *lane)
{
	enter(lane);
	tracer_call(lane->tracer, lane->site);
}

void recorder_enter(struct lane *lane)
{
	if (unlikely(lane->tracer != NULL))
		enter_traced(lane);
	else
		enter(lane);
}

/* Calls are let in again. */
static ALWAYS_INLINE void ended(struct lane *lane)
{
	atomic_signal_fence(memory_order_seq_cst);
	lane->call_cfa = 0;
}

static COLD void leave_by_clock(struct lane *lane)
{
	lane_leave(lane, ticks_now());
	ended(lane);
}

void recorder_leave(struct lane *lane)
{
	uint64_t now;

	if (unlikely(!ticks_fast(&now))) {
		leave_by_clock(lane);
		return;
	}
	lane_leave(lane, now);
	ended(lane);
}

void recorder_enter_poll(struct lane *lane)
{
	lane_enter_poll(lane, lane->site, lane->now);
}

void recorder_leave_poll(struct lane *lane, bool failed)
{
	if (!failed && lane->looks->is_polling)
		looks_resume(lane);
	lane_leave_poll(lane, failed);
	if (unlikely(lane->tracer != NULL) && !failed)
		tracer_call(lane->tracer, lane->site);
	ended(lane);
}

void recorder_enter_look(struct lane *lane)
{
	if (!lane->looks->is_poll) {
		recorder_enter(lane);
		return;
	}
	looks_operation(lane);
	lane_enter_poll(lane, lane->site, lane->now);
}

void recorder_leave_look(struct lane *lane)
{
	bool told_nothing = looks_told_nothing(lane);

	if (lane->looks->is_poll)
		recorder_leave_poll(lane, told_nothing);
	else
		recorder_leave(lane);
	looks_end(lane);
}
