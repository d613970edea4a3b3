/* SPDX-License-Identifier: BSD-3-Clause
 * Life of the recorder in a process, and the way of one call: fast when the checked cache knows
 * its path, slow otherwise. */
#include "model/recorder/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/recorder/functions.h"
#include "model/recorder/identity.h"
#include "model/recorder/intern.h"
#include "model/recorder/lane.h"
#include "model/recorder/p2p.h"
#include "model/recorder/pages.h"
#include "model/recorder/slow.h"
#include "model/recorder/ticks.h"
#include "model/recorder/tracer.h"
#include "model/segment/segment_sweep.h"

/* Segments that a rank looks at when it starts, which takes a millisecond or two. */
enum { SWEEP_FILES = 64 };

enum stage {
	STAGE_ASLEEP, /* no MPI call yet */
	STAGE_ON,
	STAGE_OFF, /* not wanted, not possible, ended, or a forked child: for good */
};

static struct recorder {
	_Atomic int stage;
	struct writer writer;
	struct objects objects;
	struct intern intern;
	struct requests requests;
	struct tracing tracing;
	pthread_key_t key;       /* its destructor marks the lane of a thread that ends */
	struct lane *lanes;      /* all, the last one first */
	struct lane *free_lanes; /* of ended threads, the last one first */
	struct call_path *paths; /* of the last two unwinds, too big for small stacks */
	unsigned num_unwinds;
	/* whose stack the last path is of; NULL: not to be used again */
	const struct lane *unwound;
	int sessions; /* open MPI sessions */
	bool had_sessions, had_init;
	bool knows_world; /* since MPI_Init */
} recorder;

struct comms recorder_comms;

static __thread struct {
	struct lane *lane; /* NULL: none yet */
	bool no_lane;      /* there was no room for one: do not ask again */
} self __attribute__((tls_model("initial-exec")));

/* ---- Lanes ---- */

static void read_stack_bounds(struct lane *lane)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	lane->stack_low = lane->stack_high = 0;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return;
	if (pthread_attr_getstack(&attr, &low, &size) == 0) {
		lane->stack_low = (uintptr_t)low;
		lane->stack_high = (uintptr_t)low + size;
	}
	pthread_attr_destroy(&attr);
}

static bool grow_lane(struct lane *lane, enum seg_lane_id table, uint32_t entries)
{
	struct slow s;
	bool room = false;

	if (slow_begin(&s)) {
		room = lane_reserve(lane, &recorder.writer, table, entries);
		slow_end(&s);
	}
	return room;
}

static bool grow_trace(void *lane_of_trace, size_t begin, size_t end)
{
	const struct lane *lane = lane_of_trace;
	struct slow s;
	bool room = false;

	if (slow_begin(&s)) {
		room = tracer_reserve(&recorder.writer, lane->seg, lane->index, begin, end);
		slow_end(&s);
	}
	return room;
}

static bool grow_requests(struct requests *requests)
{
	struct slow s;
	bool room = false;

	if (slow_begin(&s)) {
		room = requests_extend(requests, &recorder.writer);
		slow_end(&s);
	}
	return room;
}

/* A lane for this thread: one of an ended thread or a new one. In a slow section. */
static struct lane *get_lane(void)
{
	struct seg_header *h = recorder.writer.header;
	struct lane *lane = recorder.free_lanes;
	uint32_t index = relaxed_get(&h->num_lanes);

	/* Threads have traces of their own, as long as they are not too many. */
	if (lane && (!lane->tracer || !tracer_has_events(lane->tracer) || index >= TRACER_LANES)) {
		recorder.free_lanes = lane->next_free;
		lane_forget(lane);
		return lane;
	}
	lane = lane_create(&recorder.writer, index, grow_lane);
	if (!lane) {
		relaxed_add(&h->dropped_lanes, 1);
		return NULL;
	}
	lane->requests = &recorder.requests;
	lane->next = recorder.lanes;
	recorder.lanes = lane;
	if (recorder.tracing.size)
		lane->tracer = tracer_create(&recorder.tracing, &recorder.writer, lane->seg, index,
					     grow_trace, lane);
	/* Pairs with the reader's acquire load: it then sees the lane's tables. */
	atomic_store_explicit(&h->num_lanes, index + 1, memory_order_release);
	return lane;
}

/* The calling thread takes the lane. In a slow section. */
static void take_lane(struct lane *lane)
{
	pid_t tid = syscall(SYS_gettid);

	read_stack_bounds(lane);
	recorder.unwound = NULL;
	lane_take(lane, tid, tid == getpid());
	pthread_setspecific(recorder.key, lane);
	self.lane = lane;
}

/* ---- Start and end ---- */

static bool variable_is(const char *name, const char *value)
{
	const char *text = getenv(name);

	return text && strcmp(text, value) == 0;
}

/* The only line that the recorder ever prints. */
static void say_not_recorded(const struct writer_identity *identity, const char *why)
{
	char line[1200];

	if (variable_is(PDB_ENV_QUIET, "1"))
		return;
	int n = snprintf(line, sizeof(line), "pdb: rank %d (pid %d) is not recorded: %s\n",
			 identity->rank, (int)getpid(), why);
	if (n > 0)
		(void)!write(STDERR_FILENO, line,
			     n < (int)sizeof(line) ? n : (int)sizeof(line) - 1);
}

static uint32_t ring_size(void)
{
	const char *text = getenv(PDB_ENV_RING);
	char *end;

	if (!text)
		return SEG_DEFAULT_RING;
	unsigned long n = strtoul(text, &end, 10);
	bool power_of_two = n && (n & (n - 1)) == 0;
	return *end == '\0' && power_of_two && n >= SEG_MIN_RING && n <= SEG_MAX_RING
		       ? n
		       : SEG_DEFAULT_RING;
}

/* The segment is its parent's: the child writes nothing and removes nothing. */
static void in_child(void)
{
	atomic_store(&recorder.stage, STAGE_OFF);
	slow_reset();
	if (self.lane) {
		self.lane->call_cfa = 0;
		pthread_setspecific(recorder.key, NULL);
	}
	memset(&self, 0, sizeof(self));
}

static void thread_ended(void *lane_of_thread)
{
	struct lane *lane = lane_of_thread;
	struct slow s;

	self.lane = NULL;
	lane->call_cfa = 0;
	lane->is_skipping = false;
	p2p_abandon(lane);
	slow_left();
	if (!slow_begin(&s))
		return;
	atomic_store_explicit(&lane->seg->use, SEG_LANE_ENDED, memory_order_release);
	lane->next_free = recorder.free_lanes;
	recorder.free_lanes = lane;
	slow_end(&s);
}

static const char *segment_dir(void)
{
	const char *dir = getenv(PDB_ENV_DIR);

	return dir && *dir ? dir : PDB_DEFAULT_SEGMENT_DIR;
}

static bool prepare(const struct writer_identity *identity, char *why, size_t why_size)
{
	const char *reason = NULL;

	if (!unwind_init(&reason)) {
		snprintf(why, why_size, "%s", reason);
		return false;
	}
	recorder.paths = pages_map(2 * sizeof(*recorder.paths));
	if (!recorder.paths || !objects_refresh(&recorder.objects)) {
		snprintf(why, why_size, "out of memory");
		return false;
	}
	ticks_init();
	if (!tracing_init(&recorder.tracing, getenv(PDB_ENV_TRACE), getenv(PDB_ENV_TRACE_FILTER))) {
		snprintf(why, why_size, "out of memory");
		return false;
	}
	if (writer_create(&recorder.writer, segment_dir(), identity, ring_size(),
			  recorder.tracing.size, why, why_size) != 0)
		return false;
	int error = requests_init(&recorder.requests, &recorder.writer, grow_requests) ? 0 : ENOMEM;
	if (!error)
		error = pthread_key_create(&recorder.key, thread_ended);
	if (!error)
		error = pthread_atfork(NULL, NULL, in_child);
	/* The first lane now, so that want of room for it is said as well. */
	recorder.free_lanes = error ? NULL : get_lane();
	if (!recorder.free_lanes) {
		writer_remove(&recorder.writer);
		snprintf(why, why_size, "%s", error ? strerror(error) : "no room for its segment");
		return false;
	}
	return true;
}

/* In a slow section. */
static void start(enum seg_life life)
{
	struct writer_identity identity;
	char why[900];

	if (atomic_load(&recorder.stage) != STAGE_ASLEEP)
		return;
	atomic_store(&recorder.stage, STAGE_OFF);
	if (variable_is(PDB_ENV_RECORD, "0") || getauxval(AT_SECURE))
		return;
	identity_from_environment(&identity);
	if (!prepare(&identity, why, sizeof(why))) {
		say_not_recorded(&identity, why);
		return;
	}
	atomic_store(&recorder.writer.header->life, life);
	if (!variable_is(PDB_ENV_PTRACER, "0"))
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	atomic_store(&recorder.stage, STAGE_ON);
	if (identity_is_first_here())
		segment_sweep(segment_dir(), SWEEP_FILES, (unsigned)(getpid() ^ ticks_now()));
}

/* Nothing more can be recorded; what is there stays, and says so. In a slow section. */
static void stop(void)
{
	atomic_store(&recorder.writer.header->life, SEG_LIFE_STOPPED);
	atomic_store(&recorder.stage, STAGE_OFF);
}

/* ---- A call ---- */

static struct lane *attach_thread(enum seg_life life)
{
	struct lane *lane = NULL;
	struct slow s;

	if (relaxed_get(&recorder.stage) == STAGE_OFF || self.no_lane || !slow_begin(&s))
		return NULL;
	start(life);
	if (atomic_load(&recorder.stage) == STAGE_ON) {
		lane = get_lane();
		self.no_lane = !lane;
	}
	if (lane)
		take_lane(lane);
	slow_end(&s);
	if (lane && lane->tracer && tracer_has_events(lane->tracer))
		tracer_call(lane->tracer, 0); /* of another thread till now */
	return lane;
}

/* Code that was unloaded may have left its addresses to other code. In a slow section. */
static void forget_unloaded(struct lane *lane)
{
	if (lane->cache.generation == recorder.objects.generation)
		return;
	lane->cache.generation = recorder.objects.generation;
	lane_forget(lane);
	if (lane->tracer)
		tracer_forget_functions(lane->tracer);
	unwind_flush();
	recorder.unwound = NULL;
}

/* The path of the call. Most programs come to one new path after the other with most of it in
 * common. */
static const struct call_path *unwind(const struct lane *lane, uintptr_t ra, uintptr_t cfa)
{
	const struct call_path *known = &recorder.paths[recorder.num_unwinds % 2];
	struct call_path *path = &recorder.paths[++recorder.num_unwinds % 2];

	unwind_call_path(ra, cfa, lane->stack_low, lane->stack_high,
			 recorder.unwound == lane ? known : NULL, path);
	relaxed_add(&recorder.writer.header->full_unwinds, 1);
	recorder.unwound = lane;
	return path;
}

/* The site of a call whose path the cache does not know; 0: cannot be recorded. */
static uint32_t find_site(struct lane *lane, struct recorder_function *function, uintptr_t ra,
			  uintptr_t cfa, const struct path_entry **entry_ret)
{
	struct slow s;

	if (relaxed_get(&recorder.stage) != STAGE_ON || !slow_begin(&s))
		return 0;
	if (!objects_refresh(&recorder.objects)) {
		stop();
		slow_end(&s);
		return 0;
	}
	forget_unloaded(lane);
	const struct call_path *path = unwind(lane, ra, cfa);
	uint32_t site =
		intern_site(&recorder.intern, &recorder.objects, &recorder.writer, function, path);
	tracing_add_site(&recorder.tracing, site, function->name, function->class_id);
	if (!site || !lane_prepare_site(lane, &recorder.writer, site)) {
		stop();
		site = 0;
	} else if (path->cacheable && path->num_frames > 0) {
		*entry_ret = lane_remember(lane, function, ra, cfa, site, path);
	}
	writer_stamp(&recorder.writer);
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
	relaxed_add(&recorder.writer.header->abandoned, 1);
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
	struct lane *lane = self.lane;

	if (!lane)
		return attach_thread(SEG_LIFE_RUNNING);
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
	struct lane *lane = self.lane;

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
	struct lane *lane = self.lane;

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
	struct lane *lane = self.lane;

	if (unlikely(!lane || lane->call_cfa != 0 || !recorder_comms.is_alone))
		return NULL;
	return ++lane->num_skipped < RECORDER_SKIPS ? lane : NULL;
}

static ALWAYS_INLINE void enter(struct lane *lane)
{
	if (unlikely(!lane_expects(lane, lane->site)))
		lane_enter(lane, lane->site, lane->entry, lane->now);
	else
		lane_enter_expected(lane, lane->now);
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
	lane_leave_poll(lane, failed);
	if (unlikely(lane->tracer != NULL) && !failed)
		tracer_call(lane->tracer, lane->site);
	ended(lane);
}

/* ---- Functions of the program ---- */

/* What the tracer does not know yet; SEG_NO_FRAME: cannot be found out. */
static uint32_t find_function(struct lane *lane, uintptr_t address)
{
	uint32_t frame = SEG_NO_FRAME;
	struct slow s;

	if (!slow_begin(&s))
		return SEG_NO_FRAME;
	if (objects_refresh(&recorder.objects)) {
		forget_unloaded(lane);
		frame = functions_intern(&recorder.tracing.filter, &recorder.intern,
					 &recorder.objects, &recorder.writer, address);
	}
	if (frame != SEG_NO_FRAME)
		tracer_add_function(lane->tracer, address, frame);
	slow_end(&s);
	return frame;
}

void recorder_user_function(uintptr_t address, enum seg_trace_kind kind, int depth)
{
	struct lane *lane = self.lane;
	const struct trace_filter *filter = &recorder.tracing.filter;

	/* In a slow section it is a signal's handler: what is not known yet cannot be found out
	 * now. */
	if (!lane || !lane->tracer || filter->mpi_only || depth > filter->max_depth ||
	    relaxed_get(&recorder.stage) != STAGE_ON || slow_is_inside())
		return;
	uint32_t frame = tracer_find_function(lane->tracer, address);
	if (unlikely(frame == TRACER_UNKNOWN))
		frame = find_function(lane, address);
	if (frame == SEG_NO_FRAME)
		tracer_end(lane->tracer);
	else if (frame != TRACER_SKIP)
		tracer_symbol(lane->tracer, SEG_TRACE_SYMBOL(frame, kind));
}

/* ---- Communicators, windows, files ---- */

/* The first two entries, before any other. In a slow section. */
static void predefine(void)
{
	const struct seg_header *h = recorder.writer.header;

	comms_predefine(&recorder_comms, &recorder.writer, h->rank, h->rank >= 0 ? h->size : 0);
}

/* A slow section in which there is a segment to write to; false: not begun. Brief inside a call,
 * where abandon() sees it if a handler has jumped out. */
static bool comms_begin(struct slow *s)
{
	const struct lane *lane = self.lane;

	if (relaxed_get(&recorder.stage) != STAGE_ON)
		return false;
	if (lane && lane->call_cfa != 0 && recorder_comms.entries)
		return slow_begin_brief(s);
	if (!slow_begin(s))
		return false;
	predefine();
	return true;
}

uint32_t recorder_adopt(uint64_t key, enum seg_comm_kind kind)
{
	uint32_t index = SEG_NO_COMM;
	struct slow s;

	if (comms_begin(&s)) {
		index = comms_adopt(&recorder_comms, &recorder.writer, key, kind);
		slow_end(&s);
	}
	return index;
}

void recorder_map(uint64_t key, uint32_t index)
{
	struct slow s;

	if (comms_begin(&s)) {
		comms_map(&recorder_comms, key, index);
		slow_end(&s);
	}
}

void recorder_made(const struct comms_new *made)
{
	struct slow s;

	if (comms_begin(&s)) {
		uint32_t again = comms_recycle(&recorder_comms, &recorder.writer);
		for (struct lane *l = again == SEG_NO_COMM ? NULL : recorder.lanes; l; l = l->next)
			ledger_forget(l, again);
		comms_add(&recorder_comms, &recorder.writer, made);
		slow_end(&s);
	}
}

void recorder_unmap(uint32_t index)
{
	struct slow s;

	if (comms_begin(&s)) {
		comms_unmap(&recorder_comms, index);
		slow_end(&s);
	}
}

void recorder_freed(uint32_t index)
{
	struct slow s;

	if (comms_begin(&s)) {
		comms_freed(&recorder_comms, index);
		slow_end(&s);
	}
}

void recorder_name(uint32_t index, const char *text, size_t length)
{
	struct slow s;

	if (comms_begin(&s)) {
		comms_name(&recorder_comms, &recorder.writer, index, text,
			   length < UINT32_MAX ? length : UINT32_MAX);
		slow_end(&s);
	}
}

/* ---- Init, finalize, abort ---- */

static void set_life(enum seg_life life)
{
	if (atomic_load(&recorder.stage) == STAGE_ON)
		atomic_store(&recorder.writer.header->life, life);
}

/* May threads be in MPI at the same time? */
static void set_shared(bool is_shared)
{
	recorder.requests.is_shared = is_shared;
	recorder_comms.is_alone = !is_shared;
}

void recorder_before_init(void)
{
	recorder.had_init = true;
	if (!self.lane)
		attach_thread(SEG_LIFE_STARTING);
}

void recorder_after_init(const struct recorder_mpi *mpi)
{
	struct seg_header *h = recorder.writer.header;
	int saved_errno = errno;
	int rank, size, level;

	if (atomic_load(&recorder.stage) != STAGE_ON || recorder.knows_world)
		return;
	recorder.knows_world = true;
	if (mpi->world(&rank, &size)) {
		h->rank = rank;
		h->size = size;
	}
	if (mpi->thread_level(&level))
		h->thread_level = level;
	set_shared(recorder.had_sessions || h->thread_level < 0 ||
		   h->thread_level >= mpi->multiple);
	mpi->version(h->mpi_library, sizeof(h->mpi_library));
	mpi->predefined(recorder_map);
	set_life(SEG_LIFE_RUNNING);
	errno = saved_errno;
}

void recorder_before_finalize(void)
{
	set_life(SEG_LIFE_FINALIZING);
}

/* Is somebody there who takes the segment for its traces, and removes it? */
static bool has_keeper(const struct seg_header *header)
{
	return header->features & SEG_FEATURE_TRACE && header->keeper > 0 &&
	       kill(header->keeper, 0) == 0;
}

void recorder_after_finalize(void)
{
	struct slow s;

	slow_left(); /* a signal's handler may end the program */
	if (!recorder.writer.header || !slow_begin(&s))
		return;
	if (atomic_load(&recorder.writer.header->life) != SEG_LIFE_FINALIZED) {
		atomic_store(&recorder.writer.header->life, SEG_LIFE_FINALIZED);
		if (!has_keeper(recorder.writer.header))
			writer_remove(&recorder.writer);
	}
	atomic_store(&recorder.stage, STAGE_OFF);
	slow_end(&s);
}

void recorder_before_abort(void)
{
	set_life(SEG_LIFE_ABORTED);
}

void recorder_session(int change)
{
	struct slow s;

	if (!slow_begin(&s))
		return;
	recorder.sessions += change;
	recorder.had_sessions = true;
	/* It has a thread level of its own, which may allow more than MPI_Init did. */
	set_shared(true);
	slow_end(&s);
}

/* A program of MPI sessions alone has no MPI_Finalize: if it has closed them all, its segment
 * goes when the program ends. */
static __attribute__((destructor)) void at_exit(void)
{
	if (atomic_load(&recorder.stage) == STAGE_ON && recorder.sessions == 0 &&
	    recorder.had_sessions && !recorder.had_init)
		recorder_after_finalize();
}
