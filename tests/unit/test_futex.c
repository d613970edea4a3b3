/* SPDX-License-Identifier: BSD-3-Clause
 * What the words at a futex tell of who will wake a thread. */
#include <linux/futex.h>
#include <sys/syscall.h>

#include "attach/stacks/futex.h"
#include "model/job/sample.h"
#include "tests/unit/unit.h"

enum { OWN = 100 };

#define PRIVATE(operation) ((operation) | FUTEX_PRIVATE_FLAG)
#define WAITED (FUTEX_WAITERS | 101u)

static void test_judge(void **state)
{
	/* Words as glibc 2.36 and 2.31 had them while threads of real programs waited. */
	static const struct {
		const char *what;
		struct futex_call call;
		uint32_t words[FUTEX_WORDS];
		size_t num;
		enum sample_wait_kind kind;
		pid_t tid;
	} table[] = {
		{"join",
		 {0, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 101, false, false, {0}},
		 {101},
		 1,
		 SAMPLE_WAIT_JOIN,
		 101},
		{"join of older ones",
		 {0, FUTEX_WAIT, 101, false, false, {0}},
		 {101, 100},
		 6,
		 SAMPLE_WAIT_JOIN,
		 101},
		{"join with a time limit",
		 {0, FUTEX_WAIT_BITSET, 101, true, true, {0}},
		 {101},
		 6,
		 SAMPLE_WAIT_JOIN,
		 101},
		{"join with one, the first time",
		 {0, FUTEX_WAIT_BITSET, 101, true, false, {0}},
		 {101},
		 6,
		 SAMPLE_WAIT_JOIN,
		 101},
		{"it has ended meanwhile",
		 {0, FUTEX_WAIT, 101, false, false, {0}},
		 {0},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"nobody joins itself",
		 {0, FUTEX_WAIT, OWN, false, false, {0}},
		 {OWN},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"a word of one's own",
		 {0, PRIVATE(FUTEX_WAIT), 101, false, false, {0}},
		 {101},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"mutex",
		 {0, PRIVATE(FUTEX_WAIT), 2, false, false, {0}},
		 {2, 0, 101, 1, 0, 0},
		 6,
		 SAMPLE_WAIT_MUTEX,
		 101},
		{"its own",
		 {0, PRIVATE(FUTEX_WAIT), 2, false, false, {0}},
		 {2, 0, OWN, 1, 0, 0},
		 6,
		 SAMPLE_WAIT_MUTEX,
		 OWN},
		{"recursive",
		 {0, PRIVATE(FUTEX_WAIT), 2, false, false, {0}},
		 {2, 3, 101, 1, 1, 0},
		 5,
		 SAMPLE_WAIT_MUTEX,
		 101},
		{"of several processes",
		 {0, FUTEX_WAIT, 2, false, false, {0}},
		 {2, 0, 101, 1, 128, 0},
		 6,
		 SAMPLE_WAIT_MUTEX,
		 101},
		{"just released",
		 {0, PRIVATE(FUTEX_WAIT), 2, false, false, {0}},
		 {0, 0, 0, 0, 0, 0},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"just taken",
		 {0, PRIVATE(FUTEX_WAIT), 2, false, false, {0}},
		 {2, 0, 0, 1, 0, 0},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"no kind of a mutex",
		 {0, PRIVATE(FUTEX_WAIT), 2, false, false, {0}},
		 {2, 0, 101, 1, 0x5008},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"at the end of memory",
		 {0, PRIVATE(FUTEX_WAIT), 2, false, false, {0}},
		 {2, 0, 101},
		 3,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"robust",
		 {0, FUTEX_WAIT, WAITED, false, false, {0}},
		 {WAITED, 0, 101, 1, 16},
		 6,
		 SAMPLE_WAIT_OWNED,
		 101},
		{"inherits priorities",
		 {0, PRIVATE(FUTEX_LOCK_PI), 1, false, false, {0}},
		 {WAITED, 0, 101, 1, 32},
		 6,
		 SAMPLE_WAIT_OWNED,
		 101},
		{"the same by a newer call",
		 {0, PRIVATE(13), 1, false, false, {0}},
		 {WAITED},
		 6,
		 SAMPLE_WAIT_OWNED,
		 101},
		{"and nobody has it",
		 {0, PRIVATE(FUTEX_LOCK_PI), 1, false, false, {0}},
		 {FUTEX_WAITERS},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"musl, nobody is named",
		 {0, PRIVATE(FUTEX_WAIT), FUTEX_WAITERS | 16, false, false, {0}},
		 {FUTEX_WAITERS | 16},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"reads while one writes",
		 {0, PRIVATE(FUTEX_WAIT_BITSET), 3, false, false, {0}},
		 {3, 1, 0, 0, 101, 0},
		 6,
		 SAMPLE_WAIT_RWLOCK,
		 101},
		{"writes while one writes",
		 {0, PRIVATE(FUTEX_WAIT_BITSET), 3, false, false, {0}},
		 {3, 0, 0, 101, 0, 0},
		 6,
		 SAMPLE_WAIT_RWLOCK,
		 101},
		{"writes while some read",
		 {0, PRIVATE(FUTEX_WAIT_BITSET), 2, false, false, {0}},
		 {2, 1, 0, 0, 0, 0},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"condition",
		 {0, PRIVATE(FUTEX_WAIT_BITSET) | FUTEX_CLOCK_REALTIME, 0, false, false, {0}},
		 {0, 0, 0, 0, 1, 0},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"with a time limit",
		 {0, PRIVATE(FUTEX_WAIT_BITSET), 0, true, true, {0}},
		 {0, 0, 0, 0, 1, 0},
		 6,
		 SAMPLE_WAIT_NONE,
		 0},
		{"requeued",
		 {0, PRIVATE(FUTEX_WAIT_REQUEUE_PI), 0, false, false, {0}},
		 {0},
		 6,
		 SAMPLE_WAIT_OTHER,
		 0},
		{"wakes others",
		 {0, PRIVATE(FUTEX_WAKE), 1, false, false, {0}},
		 {101},
		 6,
		 SAMPLE_WAIT_NONE,
		 0},
		{"cannot be read",
		 {0, FUTEX_WAIT, 101, false, false, {0}},
		 {0},
		 0,
		 SAMPLE_WAIT_NONE,
		 0},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct sample_wait wait =
			futex_judge(&table[i].call, table[i].words, table[i].num, OWN);

		if (wait.kind != table[i].kind || wait.tid != table[i].tid ||
		    wait.is_timed !=
			    (wait.kind == SAMPLE_WAIT_OTHER
				     ? table[i].call.is_timed ||
					       !(table[i].call.operation & FUTEX_PRIVATE_FLAG)
				     : wait.kind != SAMPLE_WAIT_NONE && table[i].call.is_timed))
			fail_msg("%s: kind %d, thread %d", table[i].what, wait.kind, wait.tid);
	}
}

#if defined(__x86_64__)
static void test_call(void **state)
{
	static const struct {
		struct user_regs_struct regs;
		bool is_call;
	} table[] = {
		{{.orig_rax = SYS_futex, .rax = (uint64_t)-512, .rdi = 64}, true},
		{{.orig_rax = SYS_futex, .rax = (uint64_t)-516, .rdi = 64}, true},
		{{.orig_rax = SYS_restart_syscall, .rax = (uint64_t)-516, .rdi = 64}, true},
		/* It was woken, and is on its way back. */
		{{.orig_rax = SYS_futex, .rax = 0, .rdi = 64}, false},
		{{.orig_rax = SYS_futex, .rax = (uint64_t)-11, .rdi = 64}, false},
		{{.orig_rax = SYS_read, .rax = (uint64_t)-512, .rdi = 64}, false},
		{{.orig_rax = (uint64_t)-1, .rax = (uint64_t)-512, .rdi = 64}, false},
		/* What the kernel would refuse. */
		{{.orig_rax = SYS_futex, .rax = (uint64_t)-512, .rdi = 66}, false},
		{{.orig_rax = SYS_restart_syscall,
		  .rax = (uint64_t)-516,
		  .rdi = 64,
		  .rsi = 0x7fff12345678},
		 false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct futex_call call;

		if (futex_call_of(&table[i].regs, &call) != table[i].is_call)
			fail_msg("entry %zu", i);
	}
}
#endif

/* Descriptors are aligned and begin with two pointers to themselves. */
static void test_descriptor(void **state)
{
	static const struct {
		uint64_t descriptor, first, second, address;
		bool is_of_thread;
	} table[] = {
		{0x10000, 0x10000, 0x10000, 0x102d0, true},
		{0x10000, 0x10000, 0x10000, 0x10050, true},
		/* Another's, or none. */
		{0x10000, 0x10000, 0x20000, 0x102d0, false},
		{0x10000, 0x20000, 0x20000, 0x102d0, false},
		{0x10008, 0x10008, 0x10008, 0x102d0, false},
		/* Too far off. */
		{0x10000, 0x10000, 0x10000, 0x10500, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		uint64_t memory[FUTEX_BEFORE] = {0};
		uint64_t begin = (table[i].address & ~UINT64_C(63)) - sizeof(memory);
		uint64_t at = (table[i].descriptor - begin) / sizeof(*memory);

		if (at + 2 < FUTEX_BEFORE) {
			memory[at] = table[i].first;
			memory[at + 2] = table[i].second;
		}
		if (futex_is_of_thread(table[i].address, memory) != table[i].is_of_thread)
			fail_msg("case %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_descriptor),
#if defined(__x86_64__)
		cmocka_unit_test(test_call),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
