/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "model/recorder/p2p.h"
#include "model/recorder/slow.h"
#include "model/recorder/ticks.h"
#include "model/segment/segment_sweep.h"

/* Segments that a rank looks at when it starts, which takes a millisecond or two. */
enum { SWEEP_FILES = 64 };

struct process process;

__thread struct process_self process_self __attribute__((tls_model("initial-exec")));

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

/* A lane for this thread: one of an ended thread or a new one. In a slow section. */
static struct lane *get_lane(void)
{
	struct seg_header *h = process.writer.header;
	struct lane *lane = process.free_lanes;
	uint32_t index = relaxed_get(&h->num_lanes);

	/* Threads have traces of their own, as long as they are not too many. */
	if (lane && (!lane->tracer || !tracer_has_events(lane->tracer) || index >= TRACER_LANES)) {
		process.free_lanes = lane->next_free;
		lane_forget(lane);
		return lane;
	}
	lane = lane_create(&process.writer, index);
	if (!lane) {
		relaxed_add(&h->dropped_lanes, 1);
		return NULL;
	}
	lane->requests = &process.requests;
	lane->next = process.lanes;
	process.lanes = lane;
	if (process.tracing.size)
		lane->tracer = tracer_create(&process.tracing, &process.writer, lane->seg, index);
	/* Pairs with the reader's acquire load: it then sees the lane's tables. */
	atomic_store_explicit(&h->num_lanes, index + 1, memory_order_release);
	return lane;
}

/* The calling thread takes the lane. In a slow section. */
static void take_lane(struct lane *lane)
{
	pid_t tid = syscall(SYS_gettid);

	read_stack_bounds(lane);
	process.unwound = NULL;
	lane_take(lane, tid, tid == getpid());
	pthread_setspecific(process.key, lane);
	process_self.lane = lane;
}

void process_forget_unloaded(struct lane *lane)
{
	if (lane->cache.generation == process.objects.generation)
		return;
	lane->cache.generation = process.objects.generation;
	lane_forget(lane);
	if (lane->tracer)
		tracer_forget_functions(lane->tracer);
	unwind_flush();
	process.unwound = NULL;
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
	atomic_store(&process.stage, PROCESS_OFF);
	slow_reset();
	if (process_self.lane) {
		process_self.lane->call_cfa = 0;
		pthread_setspecific(process.key, NULL);
	}
	memset(&process_self, 0, sizeof(process_self));
}

static void thread_ended(void *lane_of_thread)
{
	struct lane *lane = lane_of_thread;
	struct slow s;

	process_self.lane = NULL;
	lane->call_cfa = 0;
	lane->is_skipping = false;
	p2p_abandon(lane);
	slow_left();
	if (!slow_begin(&s))
		return;
	atomic_store_explicit(&lane->seg->use, SEG_LANE_ENDED, memory_order_release);
	lane->next_free = process.free_lanes;
	process.free_lanes = lane;
	slow_end(&s);
}

static const char *segment_dir(void)
{
	const char *dir = getenv(PDB_ENV_DIR);

	return dir && *dir ? dir : PDB_DEFAULT_SEGMENT_DIR;
}

static bool prepare(const struct writer_identity *identity, char *why, size_t why_size)
{
	const char *reason = unwind_init();

	if (reason) {
		snprintf(why, why_size, "%s", reason);
		return false;
	}
	process.paths = pages_map(2 * sizeof(*process.paths));
	if (!process.paths || !objects_refresh(&process.objects)) {
		snprintf(why, why_size, "out of memory");
		return false;
	}
	ticks_init();
	if (!tracing_init(&process.tracing, getenv(PDB_ENV_TRACE), getenv(PDB_ENV_TRACE_FILTER))) {
		snprintf(why, why_size, "out of memory");
		return false;
	}
	if (writer_create(&process.writer, segment_dir(), identity, ring_size(),
			  process.tracing.size, why, why_size) != 0)
		return false;
	int error = requests_init(&process.requests, &process.writer) ? 0 : ENOMEM;
	if (!error)
		error = pthread_key_create(&process.key, thread_ended);
	if (!error)
		error = pthread_atfork(NULL, NULL, in_child);
	/* The first lane now, so that want of room for it is said as well. */
	process.free_lanes = error ? NULL : get_lane();
	if (!process.free_lanes) {
		writer_remove(&process.writer);
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

	if (atomic_load(&process.stage) != PROCESS_ASLEEP)
		return;
	atomic_store(&process.stage, PROCESS_OFF);
	if (variable_is(PDB_ENV_RECORD, "0") || getauxval(AT_SECURE))
		return;
	identity_from_environment(&identity);
	if (!prepare(&identity, why, sizeof(why))) {
		say_not_recorded(&identity, why);
		return;
	}
	atomic_store(&process.writer.header->life, life);
	if (!variable_is(PDB_ENV_PTRACER, "0"))
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	atomic_store(&process.stage, PROCESS_ON);
	if (identity_is_first_here())
		segment_sweep(segment_dir(), SWEEP_FILES, (unsigned)(getpid() ^ ticks_now()));
}

void process_stop(void)
{
	atomic_store(&process.writer.header->life, SEG_LIFE_STOPPED);
	atomic_store(&process.stage, PROCESS_OFF);
}

struct lane *process_attach(enum seg_life life)
{
	struct lane *lane = NULL;
	struct slow s;

	if (relaxed_get(&process.stage) == PROCESS_OFF || process_self.no_lane || !slow_begin(&s))
		return NULL;
	start(life);
	if (atomic_load(&process.stage) == PROCESS_ON) {
		lane = get_lane();
		process_self.no_lane = !lane;
	}
	if (lane)
		take_lane(lane);
	slow_end(&s);
	if (lane && lane->tracer && tracer_has_events(lane->tracer))
		tracer_call(lane->tracer, 0); /* of another thread till now */
	return lane;
}

/* ---- Communicators, windows, files ---- */

/* A slow section with a segment to write to; false: not begun. Brief inside a call, where abandon()
 * sees it if a handler has jumped out. */
static bool comms_begin(struct slow *s)
{
	const struct lane *lane = process_self.lane;

	if (relaxed_get(&process.stage) != PROCESS_ON)
		return false;
	if (lane && lane->call_cfa != 0 && comms_here.entries)
		return slow_begin_brief(s);
	if (!slow_begin(s))
		return false;
	const struct seg_header *h = process.writer.header;
	comms_predefine(&comms_here, &process.writer, h->rank, h->rank >= 0 ? h->size : 0);
	return true;
}

#define IN_SECTION(what_)                                                                          \
	do {                                                                                       \
		struct slow s;                                                                     \
		if (comms_begin(&s)) {                                                             \
			what_;                                                                     \
			slow_end(&s);                                                              \
		}                                                                                  \
	} while (0)

uint32_t process_adopt(uint64_t key, enum seg_comm_kind kind)
{
	uint32_t index = SEG_NO_COMM;

	IN_SECTION(index = comms_adopt(&comms_here, &process.writer, key, kind));
	return index;
}

void process_map(uint64_t key, uint32_t index)
{
	IN_SECTION(comms_map(&comms_here, key, index));
}

static void add_made(const struct comms_new *made)
{
	uint32_t again = comms_recycle(&comms_here, &process.writer);

	for (struct lane *l = again == SEG_NO_COMM ? NULL : process.lanes; l; l = l->next)
		ledger_forget(l, again);
	comms_add(&comms_here, &process.writer, made);
}

void process_made(const struct comms_new *made)
{
	IN_SECTION(add_made(made));
}

void process_unmap(uint32_t index)
{
	IN_SECTION(comms_unmap(&comms_here, index));
}

void process_freed(uint32_t index)
{
	IN_SECTION(comms_freed(&comms_here, index));
}

void process_name(uint32_t index, const char *text, size_t length)
{
	IN_SECTION(comms_name(&comms_here, &process.writer, index, text,
			      length < UINT32_MAX ? length : UINT32_MAX));
}

/* ---- Init, finalize, abort ---- */

static void set_life(enum seg_life life)
{
	if (atomic_load(&process.stage) == PROCESS_ON)
		atomic_store(&process.writer.header->life, life);
}

/* May threads be in MPI at the same time? */
static void set_shared(bool is_shared)
{
	process.requests.is_shared = is_shared;
	comms_here.is_alone = !is_shared;
}

void process_before_init(void)
{
	process.had_init = true;
	if (!process_self.lane)
		process_attach(SEG_LIFE_STARTING);
}

void process_after_init(const struct process_mpi *mpi)
{
	struct seg_header *h = process.writer.header;
	int saved_errno = errno;
	int rank, size, level;

	if (atomic_load(&process.stage) != PROCESS_ON || process.knows_world)
		return;
	process.knows_world = true;
	if (mpi->world(&rank, &size)) {
		h->rank = rank;
		h->size = size;
	}
	if (mpi->thread_level(&level))
		h->thread_level = level;
	set_shared(process.had_sessions || h->thread_level < 0 || h->thread_level >= mpi->multiple);
	mpi->version(h->mpi_library, sizeof(h->mpi_library));
	mpi->predefined(process_map);
	set_life(SEG_LIFE_RUNNING);
	errno = saved_errno;
}

void process_before_finalize(void)
{
	set_life(SEG_LIFE_FINALIZING);
}

/* Is somebody there who takes the segment for its traces, and removes it? */
static bool has_keeper(const struct seg_header *header)
{
	return header->features & SEG_FEATURE_TRACE && header->keeper > 0 &&
	       kill(header->keeper, 0) == 0;
}

void process_after_finalize(void)
{
	struct slow s;

	slow_left(); /* a signal's handler may end the program */
	if (!process.writer.header || !slow_begin(&s))
		return;
	if (atomic_load(&process.writer.header->life) != SEG_LIFE_FINALIZED) {
		atomic_store(&process.writer.header->life, SEG_LIFE_FINALIZED);
		if (!has_keeper(process.writer.header))
			writer_remove(&process.writer);
	}
	atomic_store(&process.stage, PROCESS_OFF);
	slow_end(&s);
}

void process_before_abort(void)
{
	set_life(SEG_LIFE_ABORTED);
}

void process_session(int change)
{
	struct slow s;

	if (!slow_begin(&s))
		return;
	process.sessions += change;
	process.had_sessions = true;
	/* It has a thread level of its own, which may allow more than MPI_Init did. */
	set_shared(true);
	slow_end(&s);
}

/* MPI sessions alone need no MPI_Finalize: if all are closed, the segment goes with the program. */
static __attribute__((destructor)) void at_exit(void)
{
	if (atomic_load(&process.stage) == PROCESS_ON && process.sessions == 0 &&
	    process.had_sessions && !process.had_init)
		process_after_finalize();
}
