/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "attach/stacks/futex.h"
#include "model/job/sample.h"

/* Results of calls that a stop has interrupted and the kernel will make again; it keeps them for
 * itself (include/linux/errno.h). */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

/* Words of glibc's struct __pthread_mutex_s, from its lock on, and the bits of its kind. */
enum { MUTEX_OWNER = 2, MUTEX_KIND = 4 };
#define MUTEX_KINDS 0x3f3u
#define MUTEX_SHARED 0x80u
#define MUTEX_CONTENDED 2u
/* musl waits with this in a mutex that has no owner. */
#define MUSL_BUSY (FUTEX_WAITERS | 16u)
/* A word for which a rwlock's readers or writers wait while somebody writes, with the bit that says
 * that somebody waits; and from either how far it is to who writes, and to a 0 or 1. */
#define RWLOCK_WRITING 1u
#define RWLOCK_USED 2u
/* The word of readers, two before the one that a writer waits for: bits, above them how many. */
#define RWLOCK_READING 1u /* is clear while readers have it */
#define RWLOCK_WANTED 2u
#define RWLOCK_READERS 3
/* Of struct pthread_barrier (internaltypes.h): more threads are at no barrier. */
#define MOST_AT_BARRIER 65536u
/* Of a lock of libgomp that others want, too (config/linux/mutex.h). */
#define GOMP_CONTENDED UINT32_MAX

#if defined(__x86_64__)

bool futex_call_of(const struct user_regs_struct *regs, struct futex_call *ret)
{
	int64_t result = -(int64_t)regs->rax;

	if (result != ERESTARTSYS && result != ERESTARTNOINTR && result != ERESTARTNOHAND &&
	    result != ERESTART_RESTARTBLOCK)
		return false;
	/* With a time limit it is another system call from the second time on, with the arguments
	 * of the first. */
	ret->is_restarted = regs->orig_rax == SYS_restart_syscall;
	if (regs->orig_rax != SYS_futex && !ret->is_restarted)
		return false;
	if (regs->rsi > UINT32_MAX || regs->rdi % sizeof(uint32_t) != 0)
		return false;
	ret->address = regs->rdi;
	ret->operation = (uint32_t)regs->rsi;
	ret->value = (uint32_t)regs->rdx;
	ret->is_timed = regs->r10 != 0 || ret->is_restarted;
	ret->before[0] = ret->before[1] = 0;
	return true;
}

#else

/* AArch64 has the result where the first argument was; /proc/PID/task/TID/syscall would tell it of
 * a thread that sleeps, before it is stopped. */
bool futex_call_of(const struct user_regs_struct *regs, struct futex_call *ret)
{
	(void)regs;
	(void)ret;
	return false;
}

#endif

static struct sample_wait waits(enum sample_wait_kind kind, uint32_t tid)
{
	return (struct sample_wait){.kind = (uint8_t)kind, .tid = (pid_t)tid};
}

/* A thread's number fits below the bits of a futex; 0 is nobody. */
static bool is_tid(uint32_t word)
{
	return word > 0 && word <= FUTEX_TID_MASK;
}

/* Of several processes, or of one: as the call is. */
static bool is_mutex(const struct futex_call *call, const uint32_t *words, size_t num)
{
	bool is_private = call->operation & FUTEX_PRIVATE_FLAG;

	return num > MUTEX_KIND && words[0] == MUTEX_CONTENDED && is_tid(words[MUTEX_OWNER]) &&
	       !(words[MUTEX_KIND] & ~MUTEX_KINDS) &&
	       !(words[MUTEX_KIND] & MUTEX_SHARED) == is_private;
}

/* A writer waits in __wrphase_futex for those who read. */
static bool is_read(const struct futex_call *call, const uint32_t *words, size_t num)
{
	return num > 5 && words[0] == RWLOCK_USED && call->value == words[0] && words[4] == 0 &&
	       words[5] <= 1 && !(call->before[0] & RWLOCK_READING) &&
	       call->before[0] & RWLOCK_WANTED && futex_readers(call) > 0;
}

/* In current_round: `in` is before, `count` and `shared` are behind. */
static bool is_barrier(const struct futex_call *call, const uint32_t *words, size_t num)
{
	uint32_t all = 0, here = num > 1 ? futex_arrived(call, words, &all) : 0;

	return num > 2 && words[0] == call->value && words[2] <= 1 && all <= MOST_AT_BARRIER &&
	       here > 0 && here < all;
}

static struct sample_wait judge_wait(const struct futex_call *call, const uint32_t *words,
				     size_t num, pid_t own)
{
	uint32_t word = words[0];

	if (word == call->value && is_mutex(call, words, num))
		return waits(SAMPLE_WAIT_MUTEX, words[MUTEX_OWNER]);
	/* The kernel clears the word at the end of the thread that it names, and wakes as a process
	 * would another. */
	if (!(call->operation & FUTEX_PRIVATE_FLAG) && word == call->value && is_tid(word) &&
	    (pid_t)word != own)
		return waits(SAMPLE_WAIT_JOIN, word);
	if (futex_is_simple(call) && word == GOMP_CONTENDED && word == call->value)
		return waits(SAMPLE_WAIT_GOMP, 0);
	if (word == call->value && word & FUTEX_WAITERS && word != MUSL_BUSY &&
	    is_tid(word & FUTEX_TID_MASK))
		return waits(SAMPLE_WAIT_OWNED, word & FUTEX_TID_MASK);
	if (word == (RWLOCK_WRITING | RWLOCK_USED) && word == call->value) {
		/* From __wrphase_futex, as readers wait, and from __writers_futex. */
		if (num > 5 && is_tid(words[4]) && words[5] <= 1)
			return waits(SAMPLE_WAIT_RWLOCK, words[4]);
		if (num > 4 && is_tid(words[3]) && words[4] <= 1)
			return waits(SAMPLE_WAIT_RWLOCK, words[3]);
	}
	if (is_read(call, words, num))
		return waits(SAMPLE_WAIT_READERS, 0);
	if (is_barrier(call, words, num))
		return waits(SAMPLE_WAIT_BARRIER, 0);
	return waits(SAMPLE_WAIT_OTHER, 0);
}

uint32_t futex_readers(const struct futex_call *call)
{
	return call->before[0] >> RWLOCK_READERS;
}

uint32_t futex_arrived(const struct futex_call *call, const uint32_t *words, uint32_t *all_ret)
{
	*all_ret = words[1];
	return call->before[1] - words[0];
}

bool futex_is_simple(const struct futex_call *call)
{
	return (call->operation & (uint32_t)FUTEX_CMD_MASK) == FUTEX_WAIT &&
	       call->operation & FUTEX_PRIVATE_FLAG && !call->is_timed;
}

bool futex_is_plain(const struct futex_call *call, const uint32_t *words, size_t num)
{
	return futex_is_simple(call) && num > 0 && words[0] == call->value &&
	       words[0] == MUTEX_CONTENDED;
}

uint64_t futex_holder(const struct futex_call *call, const uint32_t *words, size_t num)
{
	uint64_t holder = num > 3 ? (uint64_t)words[3] << 32 | words[2] : 0;

	return futex_is_plain(call, words, num) && holder % 64 == 0 ? holder : 0;
}

bool futex_is_descriptor(uint64_t address, const uint64_t *words)
{
	return words[0] == address && words[2] == address;
}

struct sample_wait futex_of_nobody(const struct futex_call *call, unsigned kind)
{
	struct sample_wait wait = {.kind = SAMPLE_WAIT_NONE};

	/* It may as well sleep or poll. */
	if (call->is_restarted)
		return wait;
	wait.kind = (uint8_t)kind;
	/* Another process may wake it. */
	wait.is_timed = call->is_timed || !(call->operation & FUTEX_PRIVATE_FLAG);
	return wait;
}

struct sample_wait futex_judge(const struct futex_call *call, const uint32_t *words, size_t num,
			       pid_t own)
{
	struct sample_wait wait = {.kind = SAMPLE_WAIT_NONE};

	if (num == 0)
		return wait;
	switch (call->operation & (uint32_t)FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		wait = judge_wait(call, words, num, own);
		break;
	case FUTEX_LOCK_PI:
	case 13: /* FUTEX_LOCK_PI2, of Linux 5.14 */
		wait = waits(SAMPLE_WAIT_OTHER, 0);
		/* The kernel sets the bit for who waits, and does not restart this call so. */
		if (!call->is_restarted && words[0] & FUTEX_WAITERS &&
		    is_tid(words[0] & FUTEX_TID_MASK))
			wait = waits(SAMPLE_WAIT_OWNED, words[0] & FUTEX_TID_MASK);
		break;
	case FUTEX_WAIT_REQUEUE_PI:
		wait = waits(SAMPLE_WAIT_OTHER, 0);
		break;
	}
	if (wait.kind == SAMPLE_WAIT_NONE)
		return wait;
	if (!wait.tid)
		return futex_of_nobody(call, wait.kind);
	wait.is_timed = call->is_timed;
	return wait;
}

/* A descriptor begins with two pointers to itself, of the thread's control block
 * (sysdeps/x86_64/nptl, tcbhead_t), and is aligned. */
bool futex_is_of_thread(uint64_t address, const uint64_t *before)
{
	uint64_t begin = (address & ~UINT64_C(63)) - FUTEX_BEFORE * sizeof(*before);

	for (size_t i = 0; i < FUTEX_BEFORE; i += 64 / sizeof(*before))
		if (futex_is_descriptor(begin + i * sizeof(*before), before + i))
			return true;
	return false;
}
