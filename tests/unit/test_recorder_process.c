/* SPDX-License-Identifier: BSD-3-Clause
 * The recorder of a process: MPI_Init and MPI sessions in any order, calls left out, and slow
 * sections that a signal's handler jumps out of. Each case in a process of its own, as a
 * recorder starts only once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/recorder/process.h"
#include "model/recorder/recorder.h"
#include "model/recorder/requests.h"
#include "tests/unit/child.h"

enum { SINGLE, MULTIPLE = 3 };

static int init_level;

static bool world(int *rank, int *size)
{
	*rank = 2;
	*size = 5;
	return true;
}

static bool thread_level(int *level)
{
	*level = init_level;
	return true;
}

static bool version(char *text, size_t size)
{
	snprintf(text, size, "no MPI");
	return true;
}

static void predefined(void (*map)(uint64_t key, uint32_t index))
{
	map(77, 0);
}

static const struct process_mpi mpi = {world, thread_level, MULTIPLE, version, predefined};

static struct recorder_function barrier = {
	.name = "MPI_Barrier",
	.class_id = SEG_CLASS_COLLECTIVE,
	.language = SEG_LANGUAGE_C,
};

/* The segment goes with the process. */
static void end(int status)
{
	process_after_finalize();
	_exit(status);
}

/* A call of MPI; the thread's lane. */
static __attribute__((noinline)) struct lane *call(void)
{
	struct lane *lane = recorder_begin(&barrier, (uintptr_t)__builtin_return_address(0),
					   (uintptr_t)__builtin_frame_address(0) + 16);

	if (!lane)
		end(2);
	recorder_enter(lane);
	recorder_leave(lane);
	return lane;
}

static void init(int level)
{
	init_level = level;
	process_before_init();
	call();
	process_after_init(&mpi);
}

static void open_session(void)
{
	call();
	process_session(1);
}

struct order {
	/* s: MPI_Init with THREAD_SINGLE, m: with MULTIPLE, o: open a session, c: close it */
	const char *steps;
	bool is_shared, knows_world;
};

/* Ends with 0 if it is as it should be. */
static void go(const void *argument, int ready)
{
	const struct order *order = argument;
	const struct lane *lane;

	tell(ready);
	for (const char *step = order->steps; *step; step++) {
		if (*step == 'o')
			open_session();
		else if (*step == 'c')
			process_session(-1);
		else
			init(*step == 's' ? SINGLE : MULTIPLE);
	}
	lane = call();
	if (lane->requests->is_shared != order->is_shared ||
	    comms_here.is_alone == order->is_shared)
		end(3);
	if ((comms_find(&comms_here, 77) == 0) != order->knows_world)
		end(4);
	end(0);
}

/* Run body(argument) in a process that has a directory of its own for segments; how it ends. */
static int run(void (*body)(const void *argument, int ready), const void *argument)
{
	char dir[] = "/tmp/pdb-test-recorder-XXXXXX";
	int status;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(setenv(PDB_ENV_DIR, dir, 1), 0);
	pid_t pid = start(body, argument);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unsetenv(PDB_ENV_DIR);
	if (rmdir(dir) != 0 && !status)
		fail_msg("%s is not empty", dir);
	return status;
}

static void test_order(void **state)
{
	static const struct order orders[] = {
		{"s", false, true}, {"m", true, true},   {"o", true, false},  {"so", true, true},
		{"os", true, true}, {"ocs", true, true}, {"soc", true, true}, {"ss", false, true},
	};
	(void)state;
	for (size_t i = 0; i < NUM_OF(orders); i++) {
		int status = run(go, &orders[i]);
		if (status)
			fail_msg("%s: status %d", orders[i].steps, status);
	}
}

/* How many calls may be left out in a row. */
static int count_skips(void)
{
	int num = 0;

	while (recorder_may_skip())
		num++;
	call();
	return num;
}

static void leave_out(const void *argument, int ready)
{
	(void)argument;
	tell(ready);
	if (recorder_may_skip()) /* no lane yet */
		end(3);
	init(SINGLE);
	for (int i = 0; i < 3; i++)
		if (count_skips() != RECORDER_SKIPS - 1)
			end(4);
	if (!recorder_may_skip())
		end(5);
	struct lane *lane = recorder_begin(&barrier, 1, (uintptr_t)__builtin_frame_address(0));
	if (!lane || recorder_may_skip()) /* a call inside another */
		end(6);
	recorder_enter(lane);
	recorder_leave(lane);
	process_session(1);
	end(recorder_may_skip() ? 7 : 0); /* threads may call at the same time */
}

static void test_leave_out(void **state)
{
	(void)state;
	assert_int_equal(run(leave_out, NULL), 0);
}

static jmp_buf before_fault;

static void jump_out(int number)
{
	signal(number, SIG_DFL);
	siglongjmp(before_fault, 1);
}

/* A call that makes a communicator of ranks which cannot be read. Its stack pointer is given as
 * lower than that of the next call, which so is not inside it. */
static __attribute__((noinline)) void make_of_unreadable(void)
{
	char room[512];
	struct lane *lane =
		recorder_begin(&barrier, (uintptr_t)__builtin_return_address(0), (uintptr_t)room);

	if (!lane)
		end(3);
	recorder_enter(lane);
	process_made(&(struct comms_new){
		.key = 99, .size = 2, .parent = SEG_NO_COMM, .members = (const int32_t *)16});
	end(4);
}

static void *call_in_thread(void *argument)
{
	(void)argument;
	return call();
}

static void jump(const void *argument, int ready)
{
	pthread_t thread;
	void *lane;

	(void)argument;
	alarm(60);
	tell(ready);
	init(SINGLE);
	for (int i = 0; i < 2; i++) {
		if (i == 1) {
			signal(SIGSEGV, jump_out);
			if (!sigsetjmp(before_fault, 1))
				make_of_unreadable();
		}
		call(); /* the second time by a path that is known: it takes no slow section */
	}
	/* A new thread takes one, and so does a new path of this one. */
	if (pthread_create(&thread, NULL, call_in_thread, NULL) || pthread_join(thread, &lane) ||
	    !lane)
		end(5);
	call();
	process_made(&(struct comms_new){.key = 100, .parent = SEG_NO_COMM});
	end(comms_find(&comms_here, 100) < SEG_MAX_COMMS ? 0 : 6);
}

static void test_jump(void **state)
{
	(void)state;
	assert_int_equal(run(jump, NULL), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_leave_out),
		cmocka_unit_test(test_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
