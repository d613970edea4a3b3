/* SPDX-License-Identifier: BSD-3-Clause
 * What is told of locks: this process' memory has images of them as glibc 2.36 and 2.41 and libgomp
 * of gcc 12 and 14 lay them out, and of some that only look so. */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/blocked/blocked_lock.h"
#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/process/procfs.h"
#include "attach/stacks/lock_look.h"
#include "attach/stacks/tracee.h"
#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "tests/unit/unit.h"

#define PRIVATE_WAIT (FUTEX_WAIT | FUTEX_PRIVATE_FLAG)
#define PRIVATE_BITSET (FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG)

enum { MUTEX_OWNER = 2, MUTEX_KIND = 4, GLIBC_SHARED = 0x80 };

/* A lock of its own, one in something larger, and none that has a name. */
static uint32_t table_lock[10] __attribute__((aligned(64)));
static struct {
	uint32_t before[20];
	uint32_t lock[14];
} cells __attribute__((aligned(64)));
static uint32_t team[32] __attribute__((aligned(64)));
static uint32_t *heap, *shared_lock;
static uint64_t descriptor[128] __attribute__((aligned(64)));
/* gcc and clang name critical sections so. */
uint32_t gcc_critical[2] __asm__(".gomp_critical_user_update");
uint32_t clang_critical[8] __asm__(".gomp_critical_user_sum.var");

static pid_t ended, living;
static int64_t left_ns = INT64_MAX; /* for words of locks */

static const char *or_none(const char *text)
{
	return text ? text : "-";
}

/* A look at a thread that waits at this word. `now` (may be NULL): what is there after the copy. */
static struct lock_look look_later(uint32_t *word, int operation, struct lock_names *names,
				   const uint32_t *now)
{
	static struct tracee tracee;
	struct maps *maps = maps_read(getpid());
	struct lock_look look = {.pid = getpid(),
				 .reader = getpid(),
				 .tracee = &tracee,
				 .path = CALLPATH_NONE,
				 .left_ns = &left_ns};

	tracee = (struct tracee){.tid = getpid(), .maps = maps};
	tracee.futex = (struct futex_call){
		.address = (uint64_t)word, .operation = (uint32_t)operation, .value = word[0]};
	/* Of what is around it, too. */
	assert_int_equal(memory_read_all(getpid(), (uint64_t)(word - 2), tracee.futex.before,
					 sizeof(tracee.futex.before)),
			 0);
	assert_int_equal(memory_read_all(getpid(), (uint64_t)word, tracee.futex_words,
					 sizeof(tracee.futex_words)),
			 0);
	tracee.num_futex_words = FUTEX_WORDS;
	if (now)
		memcpy(word, now, FUTEX_WORDS * sizeof(*now));
	lock_look_take(&look, names);
	maps_destroy(maps);
	return look;
}

static struct lock_look look_at(uint32_t *word, int operation, struct lock_names *names)
{
	return look_later(word, operation, names, NULL);
}

static void fill_mutex(uint32_t *lock, pid_t owner, uint32_t kind)
{
	memset(lock, 0, 10 * sizeof(*lock));
	lock[0] = 2;
	lock[MUTEX_OWNER] = (uint32_t)owner;
	lock[MUTEX_KIND] = kind;
}

static void check(const struct lock_look *look, enum sample_wait_kind kind, pid_t tid,
		  const char *object, const char *reason)
{
	assert_int_equal(look->wait.kind, kind);
	assert_int_equal(look->wait.tid, tid);
	if (!object) {
		assert_null(look->blocked);
		return;
	}
	assert_non_null(look->blocked);
	assert_true(blocked_is_lock(look->blocked));
	assert_string_equal(or_none(look->blocked->object), object);
	assert_string_equal(or_none(look->blocked->reason), reason);
	blocked_destroy(look->blocked);
}

static void test_mutex(void **state)
{
	struct lock_names *names = *state;
	struct lock_look look;
	char text[64];

	fill_mutex(table_lock, getpid(), 0);
	look = look_at(table_lock, PRIVATE_WAIT, names);
	check(&look, SAMPLE_WAIT_MUTEX, getpid(), "'table_lock'", "-");
	/* Only the wait was asked for. */
	look = look_at(table_lock, PRIVATE_WAIT, NULL);
	check(&look, SAMPLE_WAIT_MUTEX, getpid(), NULL, NULL);
	fill_mutex(cells.lock, getpid(), 1);
	look = look_at(cells.lock, PRIVATE_WAIT, names);
	check(&look, SAMPLE_WAIT_MUTEX, getpid(), "'cells'+80", "-");
	fill_mutex(heap + 4, getpid(), 2);
	look = look_at(heap + 4, PRIVATE_WAIT, names);
	check(&look, SAMPLE_WAIT_MUTEX, getpid(), "-", "-");
	/* Whose thread is no more, and whose is another process. */
	fill_mutex(table_lock, ended, 0);
	look = look_at(table_lock, PRIVATE_WAIT, names);
	snprintf(text, sizeof(text), "thread %d held it and has ended", (int)ended);
	check(&look, SAMPLE_WAIT_MUTEX, 0, "'table_lock'", text);
	fill_mutex(shared_lock, living, GLIBC_SHARED);
	look = look_at(shared_lock, FUTEX_WAIT, names);
	snprintf(text, sizeof(text), "process %d (test_lock_look) holds it", (int)living);
	assert_true(look.wait.is_timed); /* it may end it */
	check(&look, SAMPLE_WAIT_MUTEX, 0, "-", text);
	/* It does not have that memory. */
	fill_mutex(table_lock, living, GLIBC_SHARED);
	look = look_at(table_lock, FUTEX_WAIT, names);
	check(&look, SAMPLE_WAIT_MUTEX, 0, "'table_lock'", "-");
	/* Robust, and with priority inheritance. */
	memset(table_lock, 0, sizeof(table_lock));
	table_lock[0] = FUTEX_WAITERS | (uint32_t)ended;
	look = look_at(table_lock, FUTEX_WAIT, names);
	snprintf(text, sizeof(text), "thread %d held it and has ended", (int)ended);
	check(&look, SAMPLE_WAIT_OWNED, 0, "'table_lock'", text);
	table_lock[0] = FUTEX_WAITERS | (uint32_t)getpid();
	look = look_at(table_lock, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, names);
	check(&look, SAMPLE_WAIT_OWNED, getpid(), "'table_lock'", "-");
}

/* The thread let go of it after the copy, and ended: it does not hold it for ever. */
static void test_let_go(void **state)
{
	static const uint32_t nobody[FUTEX_WORDS];
	uint32_t other[FUTEX_WORDS] = {2};
	struct lock_look look;

	other[MUTEX_OWNER] = (uint32_t)getpid();
	fill_mutex(table_lock, ended, 0);
	look = look_later(table_lock, PRIVATE_WAIT, *state, nobody);
	check(&look, SAMPLE_WAIT_MUTEX, 0, "'table_lock'", "-");
	fill_mutex(table_lock, ended, 0);
	look = look_later(table_lock, PRIVATE_WAIT, *state, other);
	check(&look, SAMPLE_WAIT_MUTEX, 0, "'table_lock'", "-");
	fill_mutex(shared_lock, ended, GLIBC_SHARED);
	look = look_later(shared_lock, FUTEX_WAIT, *state, nobody);
	check(&look, SAMPLE_WAIT_MUTEX, 0, "-", "-");
}

static void test_rwlock(void **state)
{
	static const struct {
		uint32_t readers;
		enum sample_wait_kind kind;
		const char *reason;
	} table[] = {
		{1 << 3 | 2, SAMPLE_WAIT_READERS, "a reader holds it"},
		{5 << 3 | 2 | 4, SAMPLE_WAIT_READERS, "5 readers hold it"},
		{5 << 3, SAMPLE_WAIT_OTHER, "-"},         /* nobody wants to write */
		{5 << 3 | 2 | 1, SAMPLE_WAIT_OTHER, "-"}, /* somebody writes */
		{2, SAMPLE_WAIT_OTHER, "-"},              /* nobody reads */
	};
	struct lock_look look;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		memset(&cells, 0, sizeof(cells));
		cells.lock[0] = table[i].readers;
		cells.lock[2] = 2;
		look = look_at(cells.lock + 2, PRIVATE_BITSET, *state);
		check(&look, table[i].kind, 0, "'cells'+88", table[i].reason);
	}
	/* One who writes, that has ended. */
	cells.lock[2] = 3;
	cells.lock[6] = (uint32_t)getpid();
	look = look_at(cells.lock + 2, PRIVATE_BITSET, *state);
	check(&look, SAMPLE_WAIT_RWLOCK, getpid(), "'cells'+88", "-");
}

static void test_barrier(void **state)
{
	static const struct {
		uint32_t in, round, all, shared;
		enum sample_wait_kind kind;
		const char *reason;
	} table[] = {
		{1, 0, 4, 0, SAMPLE_WAIT_BARRIER, "1 of 4 threads is there"},
		{1001, 999, 3, 0, SAMPLE_WAIT_BARRIER, "2 of 3 threads are there"},
		{4, 0, 4, 0, SAMPLE_WAIT_OTHER, "-"},
		{0, 0, 4, 0, SAMPLE_WAIT_OTHER, "-"},
		{1, 0, 4, 7, SAMPLE_WAIT_OTHER, "-"},
		{1, 0, 1 << 20, 0, SAMPLE_WAIT_OTHER, "-"},
	};

	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct lock_look look;

		memset(table_lock, 0, sizeof(table_lock));
		table_lock[2] = table[i].in;
		table_lock[3] = table[i].round;
		table_lock[4] = table[i].all;
		table_lock[5] = table[i].shared;
		look = look_at(table_lock + 3, PRIVATE_BITSET, *state);
		check(&look, table[i].kind, 0, "'table_lock'", table[i].reason);
	}
}

/* Another thread's descriptor has two pointers to itself, and its number. */
static void fill_descriptor(pid_t tid)
{
	memset(descriptor, 0, sizeof(descriptor));
	descriptor[0] = descriptor[2] = (uint64_t)descriptor;
	memcpy((char *)descriptor + FUTEX_DESCRIPTOR_TID, &tid, sizeof(tid));
}

static void fill_stream_lock(uint32_t *lock, uint64_t owner)
{
	lock[0] = 2;
	lock[1] = 0;
	memcpy(lock + 2, &owner, sizeof(owner));
}

static void test_stream(void **state)
{
	FILE *file = fopen("/dev/null", "w");
	struct lock_look look;
	char text[64];

	fill_descriptor(getpid());
	fill_stream_lock(file->_lock, (uint64_t)descriptor);
	look = look_at(file->_lock, PRIVATE_WAIT, *state);
	snprintf(text, sizeof(text), "descriptor %d (/dev/null)", fileno(file));
	assert_false(look.is_anybody);
	check(&look, SAMPLE_WAIT_STREAM, getpid(), text, "-");
	memset(file->_lock, 0, 16);
	fclose(file);
	fill_stream_lock(stderr->_lock, (uint64_t)descriptor);
	look = look_at(stderr->_lock, PRIVATE_WAIT, *state);
	memset(stderr->_lock, 0, 16);
	check(&look, SAMPLE_WAIT_STREAM, getpid(), "stderr", "-");
	/* Of no stream. */
	fill_stream_lock(table_lock, (uint64_t)descriptor);
	look = look_at(table_lock, PRIVATE_WAIT, *state);
	check(&look, SAMPLE_WAIT_STREAM, getpid(), "-", "-");
	/* No descriptor, none that can be read, and none of a living thread: it says nothing. */
	descriptor[2] = 0;
	look = look_at(table_lock, PRIVATE_WAIT, *state);
	assert_true(look.is_anybody);
	check(&look, SAMPLE_WAIT_OTHER, 0, "'table_lock'", "-");
	fill_stream_lock(table_lock, (uint64_t)1 << 45);
	look = look_at(table_lock, PRIVATE_WAIT, *state);
	check(&look, SAMPLE_WAIT_OTHER, 0, "'table_lock'", "-");
	fill_descriptor(ended);
	fill_stream_lock(table_lock, (uint64_t)descriptor);
	look = look_at(table_lock, PRIVATE_WAIT, *state);
	check(&look, SAMPLE_WAIT_OTHER, 0, "'table_lock'", "-");
	fill_descriptor(living);
	look = look_at(table_lock, PRIVATE_WAIT, *state);
	check(&look, SAMPLE_WAIT_OTHER, 0, "'table_lock'", "-");
}

/* Streams that lead to each other have an end. */
static void test_stream_circle(void **state)
{
	FILE *file = fopen("/dev/null", "w"), *next = file->_chain;
	struct maps *maps = maps_read(getpid());

	file->_chain = file;
	assert_null(blocked_lock_stream(*state, getpid(), maps, (uint64_t)table_lock));
	file->_chain = (FILE *)64;
	assert_null(blocked_lock_stream(*state, getpid(), maps, (uint64_t)table_lock));
	file->_chain = next;
	assert_null(blocked_lock_stream(*state, getpid(), NULL, (uint64_t)table_lock));
	maps_destroy(maps);
	fclose(file);
}

static void test_openmp(void **state)
{
	static const struct {
		uint32_t total, generation, awaited, last;
		const char *reason;
	} table[] = {
		{4, 8, 1, 4, "3 of 4 threads are there"},
		{4, 8, 4, 3, "1 of 4 threads is there"},
		{4, 8, 4, 4, "-"},
		{4, 8, 0, 4, "-"},
		{1, 8, 1, 1, "-"},
		{1 << 20, 8, 3, 3, "-"},
	};
	struct lock_look look;

	for (size_t i = 0; i < NUM_OF(table); i++) {
		memset(team, 0, sizeof(team));
		team[0] = table[i].total;
		team[1] = table[i].generation;
		team[16] = table[i].awaited;
		team[17] = table[i].last;
		look = look_at(team + 1, PRIVATE_WAIT, *state);
		check(&look, SAMPLE_WAIT_OTHER, 0, "'team'+4", table[i].reason);
		/* Of a condition variable. */
		look = look_at(team + 1, PRIVATE_BITSET, *state);
		check(&look, SAMPLE_WAIT_OTHER, 0, "'team'+4", "-");
	}
	gcc_critical[0] = clang_critical[0] = UINT32_MAX;
	look = look_at(gcc_critical, PRIVATE_WAIT, *state);
	assert_true(look.is_anybody);
	check(&look, SAMPLE_WAIT_GOMP, 0, "critical section 'update'", "-");
	look = look_at(clang_critical, PRIVATE_WAIT, *state);
	check(&look, SAMPLE_WAIT_GOMP, 0, "critical section 'sum'", "-");
}

/* All looks of a take have so much time for words; the waits are found in any case. */
static void test_no_time(void **state)
{
	struct lock_look look;

	fill_mutex(table_lock, getpid(), 0);
	gcc_critical[0] = UINT32_MAX;
	left_ns = 1;
	look = look_at(table_lock, PRIVATE_WAIT, *state);
	check(&look, SAMPLE_WAIT_MUTEX, getpid(), "'table_lock'", "-");
	assert_true(left_ns <= 0);
	look = look_at(table_lock, PRIVATE_WAIT, *state);
	check(&look, SAMPLE_WAIT_MUTEX, getpid(), NULL, NULL);
	look = look_at(gcc_critical, PRIVATE_WAIT, *state);
	assert_true(look.is_anybody);
	check(&look, SAMPLE_WAIT_GOMP, 0, NULL, NULL);
	left_ns = INT64_MAX;
}

static void test_names(void **state)
{
	struct maps *maps = maps_read(getpid());
	struct maps_object object = maps->objects[0];
	struct elf_variable variable;
	uint32_t on_stack;

	assert_null(blocked_lock_name(*state, getpid(), maps, (uint64_t)&on_stack));
	assert_null(blocked_lock_name(*state, getpid(), maps, (uint64_t)heap));
	assert_null(blocked_lock_name(*state, getpid(), maps, 0));
	assert_null(blocked_lock_name(*state, getpid(), NULL, (uint64_t)table_lock));
	assert_int_equal(elf_symbol_at(getpid(), &object, (uint64_t)&cells.lock, &variable), 0);
	assert_string_equal(variable.name, "cells");
	assert_int_equal(variable.offset, sizeof(cells.before));
	assert_int_equal(variable.size, sizeof(cells));
	/* A function, and another file by now. */
	assert_int_equal(elf_symbol_at(getpid(), &object, (uint64_t)&test_names, &variable), -1);
	object.inode++;
	assert_int_equal(elf_symbol_at(getpid(), &object, (uint64_t)&cells, &variable), -1);
	maps_destroy(maps);
}

/* Another file may be mapped below the program. */
static void test_program_is_not_lowest(void **state)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	void *low =
		mmap((void *)0x200000, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	struct maps *maps = maps_read(getpid());
	char *name;

	assert_ptr_equal(low, (void *)0x200000);
	assert_string_equal(maps->objects[0].path, "/etc/passwd");
	name = blocked_lock_name(*state, getpid(), maps, (uint64_t)table_lock);
	assert_string_equal(name, "'table_lock'");
	free(name);
	maps_destroy(maps);
	munmap(low, 4096);
	close(fd);
}

static void *stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* Process 1 of a pid namespace, with threads 2 to 1101. */
static void live_in_namespace(int out)
{
	pid_t pid = unshare(CLONE_NEWPID) ? -1 : fork();
	pthread_attr_t small;
	pthread_t thread;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		/* -1: this machine does not allow so many. */
		for (int i = 0; i < 1100 && !pid; i++)
			pid = pthread_create(&thread, &small, stay, NULL) ? -1 : 0;
	}
	if (write(out, &pid, sizeof(pid)) == sizeof(pid))
		stay(NULL);
	_exit(1);
}

/* Not all of so many threads are asked for their numbers: then none is said to have ended. */
static void test_many_threads(void **state)
{
	pid_t child, first = 1, second = 1, pid;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		live_in_namespace(fds[1]);
	}
	assert_int_equal(read(fds[0], &first, sizeof(first)), sizeof(first));
	if (first >= 0)
		assert_int_equal(read(fds[0], &second, sizeof(second)), sizeof(second));
	pid = first > 0 ? first : second;
	if (first >= 0 && second >= 0) {
		assert_int_equal(procfs_find_thread(pid, 1), pid);
		assert_int_equal(procfs_find_thread(pid, 1101), -1);
		assert_int_equal(procfs_find_thread(pid, 4000), -1);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(procfs_find_thread(child, child), -1);
	if (first < 0 || second < 0)
		skip();
}

static int set_up(void **state)
{
	*state = lock_names_create();
	heap = calloc(1, 4096);
	shared_lock = (uint32_t *)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0) +
		      64;
	ended = fork();
	if (ended == 0)
		_exit(0);
	waitpid(ended, NULL, 0);
	living = fork();
	if (living == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return heap && living > 0 ? 0 : -1;
}

static int tear_down(void **state)
{
	kill(living, SIGKILL);
	waitpid(living, NULL, 0);
	free(heap);
	lock_names_destroy(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex),        cmocka_unit_test(test_rwlock),
		cmocka_unit_test(test_barrier),      cmocka_unit_test(test_stream),
		cmocka_unit_test(test_openmp),       cmocka_unit_test(test_stream_circle),
		cmocka_unit_test(test_names),        cmocka_unit_test(test_program_is_not_lowest),
		cmocka_unit_test(test_let_go),       cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_many_threads),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
