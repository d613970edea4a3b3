/* SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/param.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/stacks/python.h"
#include "attach/stacks/tracee.h"
#include "model/monotonic.h"

/* A thread that sleeps or runs stops some 10 to 50 us after it was told to; one that waits for a
 * processor does when it gets one. So wait this long for each before telling the next, */
#define SPIN_NS 60000
/* then for all that are left, in steps that grow. */
#define STEP_MIN_NS UINT64_C(10000)
#define STEP_MAX_NS UINT64_C(200000)
#define TIMEOUT_NS 2000000000ULL
/* When all that are left are in uninterruptible sleep, no point in waiting longer than this. */
#define DISK_TIMEOUT_NS 200000000ULL
/* Another pdb holds a thread for a moment only; so wait for it, this long and in these steps. */
#define OTHER_TIMEOUT_NS 500000000ULL
#define OTHER_STEP_NS 2000000
/* So often a refusal without anybody who has it can be one that let go of it just then. */
#define MAX_MISSED 3
#define RED_ZONE 128 /* bytes below the stack pointer that a function may use (x86-64 ABI) */

struct tracer {
	struct tracee *tracees;
	size_t num, num_pending;
	uint64_t none_ns; /* when the kernel last said that no tracee had stopped */
};

#if defined(__x86_64__)
#define PC rip
#define SP rsp
#elif defined(__aarch64__)
#define PC pc
#define SP sp
#endif

uint64_t tracee_pc(const struct user_regs_struct *regs)
{
	return regs->PC;
}

uint64_t tracee_sp(const struct user_regs_struct *regs)
{
	return regs->SP;
}

static void copy_part(const struct tracee *tracee, struct tracee_part *part)
{
	const struct maps_range *range =
		tracee->maps ? maps_find(tracee->maps, part->address) : NULL;
	size_t size = part->capacity;

	/* Without a known end (a thread younger than the maps) the kernel copies what it can. */
	if (range && range->end - part->address < size)
		size = range->end - part->address;
	ssize_t n = memory_read(tracee->tid, part->address, part->bytes, size);
	part->size = n > 0 ? (size_t)n : 0;
}

/* Only now is it sure that nobody else has got what it waits for. */
static void copy_futex(struct tracee *tracee)
{
	struct futex_call *call = &tracee->futex;
	uint32_t words[FUTEX_WORDS + 2];

	tracee->num_futex_words = 0;
	if (!futex_call_of(&tracee->regs, call))
		return;
	ssize_t n = memory_read(tracee->tid, call->address - sizeof(call->before), words,
				sizeof(words));
	if (n >= (ssize_t)sizeof(call->before)) {
		memcpy(call->before, words, sizeof(call->before));
		n -= (ssize_t)sizeof(call->before);
		memcpy(tracee->futex_words, words + 2, (size_t)n);
	} else {
		/* It begins a page, and there is none before. */
		n = memory_read(tracee->tid, call->address, tracee->futex_words,
				sizeof(tracee->futex_words));
	}
	tracee->num_futex_words = n > 0 ? (size_t)n / sizeof(*tracee->futex_words) : 0;
}

static void copy_vectors(struct tracee *tracee)
{
#if defined(__x86_64__)
	struct user_fpregs_struct set;
	const void *from = set.xmm_space;
	enum { NUM = sizeof(set.xmm_space) / (sizeof(tracee->vectors.bytes[0])) };
#elif defined(__aarch64__)
	struct user_fpsimd_struct set;
	const void *from = set.vregs;
	enum { NUM = sizeof(set.vregs) / sizeof(tracee->vectors.bytes[0]) };
#endif
	struct iovec part = {&set, sizeof(set)};

	_Static_assert(sizeof(tracee->vectors.bytes) >= sizeof(tracee->vectors.bytes[0]) * NUM,
		       "room for all");
	if (ptrace(PTRACE_GETREGSET, tracee->tid, NT_PRFPREG, &part) || part.iov_len < sizeof(set))
		return;
	tracee->vectors.num = NUM;
	memcpy(tracee->vectors.bytes, from, NUM * sizeof(tracee->vectors.bytes[0]));
}

/* The thread stands still. Nothing here may take long. */
static int copy_state(struct tracee *tracee)
{
	struct iovec regs = {&tracee->regs, sizeof(tracee->regs)};

	if (ptrace(PTRACE_GETREGSET, tracee->tid, NT_PRSTATUS, &regs))
		return -1;
	if (ptrace(PTRACE_GETSIGMASK, tracee->tid, sizeof(tracee->blocked), &tracee->blocked))
		tracee->blocked = 0;
	tracee->stack.address = (tracee_sp(&tracee->regs) - RED_ZONE) & ~(uint64_t)7;
	if (tracee->wants_vectors)
		copy_vectors(tracee);
	copy_futex(tracee);
	copy_part(tracee, &tracee->stack);
	if (tracee->other.address)
		copy_part(tracee, &tracee->other);
	if (tracee->python)
		python_copy_frames(tracee->python);
	return 0;
}

static void finish(struct tracer *tracer, struct tracee *tracee, enum tracee_result result)
{
	tracee->result = result;
	tracee->is_pending = false;
	tracer->num_pending--;
}

static void handle_stop(struct tracer *tracer, struct tracee *tracee, int status)
{
	/* With an event it is our interruption or a stop by a signal, which lasts beyond the
	 * detach; without one it is a signal on its way, which must not get lost. */
	long signal = status >> 8 ? 0 : status;
	bool is_copied = !copy_state(tracee);

	tracee->when_ns = monotonic_ns();
	if (ptrace(PTRACE_DETACH, tracee->tid, 0, signal))
		is_copied = false;
	/* An interruption has SIGTRAP, a stop by a signal that signal. */
	tracee->is_stopped = status >> 8 == PTRACE_EVENT_STOP && (status & 0xff) != SIGTRAP;
	tracee->stopped_ns = monotonic_ns() - MAX(tracer->none_ns, tracee->since_ns);
	finish(tracer, tracee, is_copied ? TRACEE_COPIED : TRACEE_GONE);
}

static struct tracee *find(struct tracer *tracer, pid_t tid)
{
	for (size_t i = 0; i < tracer->num; i++)
		if (tracer->tracees[i].tid == tid && tracer->tracees[i].is_pending)
			return &tracer->tracees[i];
	return NULL;
}

/* Handle one thread that has stopped, if any. Asks for stops of own tracees only (__WNOTHREAD): a
 * process's end is for its parent to hear, which may be another part of pdb. */
static bool handle_one(struct tracer *tracer)
{
	uint64_t before_ns = monotonic_ns();
	siginfo_t info = {0};

	if (waitid(P_ALL, 0, &info, WSTOPPED | WNOHANG | __WALL | __WNOTHREAD) || !info.si_pid) {
		tracer->none_ns = before_ns;
		return false;
	}
	struct tracee *tracee = find(tracer, info.si_pid);
	if (tracee)
		handle_stop(tracer, tracee, info.si_status);
	return true;
}

static bool has_ended(pid_t tid)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD))
		return true;
	/* Of a tracee the kernel reports stops too, asked for or not. */
	return info.si_pid && info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED;
}

/* Give up those that have ended, without taking the news from their parent. */
static void drop_ended(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->num; i++)
		if (tracer->tracees[i].is_pending && has_ended(tracer->tracees[i].tid))
			finish(tracer, &tracer->tracees[i], TRACEE_GONE);
}

static void seize(struct tracer *tracer, struct tracee *tracee)
{
	if (!tracee->is_wanted)
		return;
	tracee->is_wanted = false;
	tracee->is_pending = !ptrace(PTRACE_SEIZE, tracee->tid, 0, 0);
	tracer->num_pending += tracee->is_pending;
	if (tracee->is_pending)
		return;
	tracee->error = errno;
	tracee->result = errno == ESRCH ? TRACEE_GONE : TRACEE_REFUSED;
}

static void interrupt(struct tracer *tracer, struct tracee *tracee)
{
	uint64_t start_ns = monotonic_ns();

	if (!tracee->is_pending)
		return;
	tracee->since_ns = start_ns;
	/* ESRCH: it is ending, which is seen later. */
	ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0);
	while (tracee->is_pending && monotonic_ns() - start_ns < SPIN_NS)
		handle_one(tracer);
}

static bool all_pending_in_disk_sleep(const struct tracer *tracer)
{
	struct procfs_stat stat;

	for (size_t i = 0; i < tracer->num; i++)
		if (tracer->tracees[i].is_pending &&
		    (procfs_stat(tracer->tracees[i].tid, 0, &stat) || stat.state != 'D'))
			return false;
	return true;
}

/* Spinning takes processors from threads that wait for one, so sleep in between: short at first,
 * since a thread that has stopped stays so until we look, and ever longer. */
static long step_ns(uint64_t waited_ns)
{
	return (long)MIN(MAX(waited_ns / 16, STEP_MIN_NS), STEP_MAX_NS);
}

static void wait_for_rest(struct tracer *tracer)
{
	uint64_t start_ns = monotonic_ns(), waited_ns = 0, asked_ns = 0;

	while (tracer->num_pending && waited_ns < TIMEOUT_NS) {
		struct timespec pause = {0, step_ns(waited_ns)};

		if (handle_one(tracer))
			continue;
		if (waited_ns - asked_ns > DISK_TIMEOUT_NS) {
			asked_ns = waited_ns;
			if (all_pending_in_disk_sleep(tracer))
				break;
		}
		drop_ended(tracer);
		nanosleep(&pause, NULL);
		waited_ns = monotonic_ns() - start_ns;
	}
}

static void copy_wanted(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->num; i++)
		seize(tracer, &tracer->tracees[i]);
	for (size_t i = 0; i < tracer->num; i++)
		interrupt(tracer, &tracer->tracees[i]);
	wait_for_rest(tracer);
	for (size_t i = 0; i < tracer->num; i++)
		if (tracer->tracees[i].is_pending)
			finish(tracer, &tracer->tracees[i], TRACEE_TIMEOUT);
}

/* Whether a thread was refused because another process of this program has it, or had it. */
static bool is_held_by_another_of_us(const struct tracee *tracee, bool may_have_missed)
{
	struct procfs_status status;
	struct procfs_stat other, self;

	if (tracee->result != TRACEE_REFUSED || tracee->error != EPERM ||
	    procfs_status(tracee->tid, &status))
		return false;
	if (!status.tracer)
		return may_have_missed;
	return !procfs_stat(status.tracer, 0, &other) && !procfs_stat(getpid(), 0, &self) &&
	       !strcmp(other.comm, self.comm);
}

/* Of this process nothing is seized here, so that two cannot wait for each other. */
static bool want_again(struct tracer *tracer, bool may_have_missed)
{
	bool is_any = false;

	for (size_t i = 0; i < tracer->num; i++) {
		struct tracee *tracee = &tracer->tracees[i];

		tracee->is_wanted = is_held_by_another_of_us(tracee, may_have_missed);
		is_any |= tracee->is_wanted;
	}
	return is_any;
}

static void *trace(void *argument)
{
	struct sched_param priority = {.sched_priority = 1};
	struct timespec pause = {0, OTHER_STEP_NS};
	struct tracer *tracer = argument;
	uint64_t start_ns = monotonic_ns();

	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	/* Where it is allowed: a rank must not stand still because we wait for a processor. */
	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority);
	copy_wanted(tracer);
	for (int round = 1; monotonic_ns() - start_ns <= OTHER_TIMEOUT_NS &&
			    want_again(tracer, round <= MAX_MISSED);
	     round++) {
		nanosleep(&pause, NULL);
		copy_wanted(tracer);
	}
	return NULL;
}

void tracee_copy(struct tracee *tracees, size_t num)
{
	struct tracer tracer = {.tracees = tracees, .num = num};
	sigset_t all, old;
	pthread_t thread;

	for (size_t i = 0; i < num; i++)
		tracees[i].is_wanted = true;
	/* The thread inherits the mask, so that signals to pdb (Ctrl-C) never disturb it. Here they
	 * wait as well: a Ctrl-Z stops all threads, and tracees would stand still for as long. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int error = pthread_create(&thread, NULL, trace, &tracer);
	if (!error)
		pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!error)
		return;
	for (size_t i = 0; i < num; i++) {
		tracees[i].result = TRACEE_REFUSED;
		tracees[i].error = error;
	}
}
