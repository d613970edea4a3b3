/* SPDX-License-Identifier: BSD-3-Clause
 * MPI_Init and MPI sessions in any order: whether threads may make requests at the same time, and what is
 * known of MPI_COMM_WORLD. Each case in a process of its own, as a recorder starts only once. */
#include <stdio.h>
#include <stdlib.h>

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

static const struct recorder_mpi mpi = { world, thread_level, MULTIPLE, version, predefined };

/* A call of MPI; the thread's lane. */
static __attribute__((noinline)) struct lane *call(void)
{
	static struct recorder_function function = { "MPI_Barrier", "MPI_Barrier", SEG_CLASS_COLLECTIVE,
						     SEG_LANGUAGE_C, 0, NULL };
	struct lane *lane = recorder_begin(&function, (uintptr_t)__builtin_return_address(0),
					   (uintptr_t)__builtin_frame_address(0) + 16);

	if (!lane)
		_exit(2);
	recorder_enter(lane);
	recorder_leave(lane);
	return lane;
}

static void init(int level)
{
	init_level = level;
	recorder_before_init();
	call();
	recorder_after_init(&mpi);
}

static void open_session(void)
{
	call();
	recorder_session(1);
}

struct order {
	const char *steps; /* s: MPI_Init with THREAD_SINGLE, m: with MULTIPLE, o: open a session, c: close it */
	bool is_shared, knows_world;
};

/* The segment goes with the process. */
static void end(int status)
{
	recorder_after_finalize();
	_exit(status);
}

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
			recorder_session(-1);
		else
			init(*step == 's' ? SINGLE : MULTIPLE);
	}
	lane = call();
	if (lane->requests->is_shared != order->is_shared)
		end(3);
	if ((comms_find(&recorder_comms, 77) == 0) != order->knows_world)
		end(4);
	end(0);
}

static void test_order(void **state)
{
	static const struct order orders[] = {
		{ "s", false, true },  { "m", true, true },   { "o", true, false }, { "so", true, true },
		{ "os", true, true },  { "ocs", true, true }, { "soc", true, true }, { "ss", false, true },
	};
	char dir[] = "/tmp/pdb-test-sessions-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(setenv(PDB_ENV_DIR, dir, 1), 0);
	for (size_t i = 0; i < NUM_OF(orders); i++) {
		pid_t pid = start(go, &orders[i]);
		int status;

		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (status)
			fail_msg("%s: status %d", orders[i].steps, status);
	}
	unsetenv(PDB_ENV_DIR);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
