/* SPDX-License-Identifier: BSD-3-Clause
 * Stack samples of processes of our own, each in one awkward position. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdlib.h>

#include "attach/process/procfs.h"
#include "tests/unit/sampler_fixture.h"

/* ---- Children ---- */

KEEP_FRAME static int recurse_wide(int depth, int ready)
{
	volatile char wide[1024];
	int i;

	for (i = 0; i < 1024; i++)
		wide[i] = (char)depth;
	if (!depth) {
		stay_here(ready);
		return 0;
	}
	return recurse_wide(depth - 1, ready) + wide[depth];
}

static void body_wide(const void *argument, int ready)
{
	(void)argument;
	recurse_wide(DEPTH - 1, ready);
}

static pthread_barrier_t all_up;

KEEP_FRAME static void *wait_in_thread(void *argument)
{
	pthread_barrier_wait(&all_up);
	for (;;)
		pause();
	return argument;
}

static void body_threads(const void *argument, int ready)
{
	(void)argument;
	pthread_t threads[3];
	int i;

	pthread_barrier_init(&all_up, NULL, 4);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, wait_in_thread, NULL);
	pthread_barrier_wait(&all_up);
	stay_here(ready);
}

static int handler_ready;

KEEP_FRAME static void on_signal(int number)
{
	(void)number;
	stay_here(handler_ready);
	IS_USED_AFTER_CALL();
}

KEEP_FRAME static void raise_it(void)
{
	raise(SIGUSR1);
	atomic_fetch_add(&shared->ticks, 1);
}

static void body_handler(const void *argument, int ready)
{
	(void)argument;
	handler_ready = ready;
	signal(SIGUSR1, on_signal);
	raise_it();
}

static void body_other_stack(const void *argument, int ready)
{
	(void)argument;
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	handler_ready = ready;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise_it();
}

static int vfork_gate[2];

static void body_vfork(const void *argument, int ready)
{
	(void)argument;
	pid_t pid = vfork();

	if (!pid) {
		char byte;

		tell(ready);
		if (read(vfork_gate[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	shared->is_done = 1;
	for (;;)
		pause();
}

/* ---- Looking at samples ---- */

static int count_function(struct fixture *f, uint32_t path, const char *function)
{
	int num = 0;

	for (; path != CALLPATH_NONE; path = callpaths_get(f->callpaths, path)->parent)
		num += !strcmp(names_get(f->names, path)->function, function);
	return num;
}

/* ---- Tests ---- */

static void test_deep(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_deep, NULL);
	const struct sample *sample;

	wait_for_state(pid, 'S');
	sample = take(f, pid, 0);
	assert_whole(f, sample);
	assert_int_equal(sample->rank, 5);
	assert_int_equal(sample->tid, pid);
	assert_true(sample->is_main);
	assert_int_equal(sample->state, 'S');
	assert_true(sample->stopped_ns > 0 && sample->when_ns > 0);
	assert_int_equal(count_function(f, sample->path, "recurse"), DEPTH);
	assert_int_equal(count_function(f, sample->path, "main"), 1);
	/* Nothing has moved, so it is the same path, with or without what was learned. */
	assert_int_equal(take(f, pid, 0)->path, f->samples->samples[0].path);
	assert_int_equal(take(f, pid, SAMPLER_FRESH)->path, f->samples->samples[0].path);
	stop(pid);
}

static void test_larger_than_first_copy(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_wide, NULL);
	const struct sample *sample = take(f, pid, 0);

	assert_whole(f, sample);
	assert_int_equal(count_function(f, sample->path, "recurse_wide"), DEPTH);
	stop(pid);
}

static void test_two_processes_share_paths(void **state)
{
	struct fixture *f = *state;
	struct sampler_target targets[2];
	struct pdb_error err;
	size_t before;
	volatile int i; /* no unrolling: both are to be started from the same place */

	for (i = 0; i < 2; i++) {
		targets[i] = (struct sampler_target){i, start(body_deep, NULL), 0};
		wait_for_state(targets[i].pid, 'S');
	}
	assert_int_equal(sampler_take(f->sampler, &targets[0], 1, 0, f->samples, &err), 0);
	before = callpaths_count(f->callpaths);
	assert_int_equal(sampler_take(f->sampler, &targets[1], 1, 0, f->samples, &err), 0);
	assert_int_equal(callpaths_count(f->callpaths), before);
	assert_int_equal(f->samples->samples[0].path, f->samples->samples[1].path);
	stop(targets[0].pid);
	stop(targets[1].pid);
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_threads, NULL);
	size_t i, num_in_thread = 0;

	take(f, pid, SAMPLER_ALL_THREADS);
	assert_int_equal(f->samples->num_samples, 4);
	for (i = 0; i < 4; i++) {
		const struct sample *sample = &f->samples->samples[i];

		assert_whole(f, sample);
		assert_int_equal(sample->is_main, i == 0);
		num_in_thread += count_function(f, sample->path, "wait_in_thread") == 1;
	}
	assert_int_equal(num_in_thread, 3);
	stop(pid);
}

static void test_in_signal_handler(void **state)
{
	struct fixture *f = *state;
	void (*bodies[])(const void *, int) = {body_handler, body_other_stack};
	size_t i;

	for (i = 0; i < 2; i++) {
		pid_t pid = start(bodies[i], NULL);
		const struct sample *sample = take(f, pid, 0);
		uint32_t path = sample->path, outer;

		assert_whole(f, sample);
		assert_int_equal(count_function(f, path, "on_signal"), 1);
		assert_int_equal(count_function(f, path, "raise_it"), 1);
		assert_int_equal(count_function(f, path, "<signal 10 handler called>"), 1);
		for (outer = path; !names_is_signal(f->names, outer);)
			outer = callpaths_get(f->callpaths, outer)->parent;
		/* What the system call's signal interrupted called nothing, and was called. */
		outer = callpaths_get(f->callpaths, outer)->parent;
		assert_false(callpaths_get(f->callpaths, outer)->is_return);
		assert_int_equal(count_function(f, outer, "on_signal"), 0);
		outer = callpaths_get(f->callpaths, outer)->parent;
		assert_true(callpaths_get(f->callpaths, outer)->is_return);
		stop(pid);
	}
}

static void test_stopped_stays_stopped(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(count_ticks, NULL);
	uint64_t ticks;

	kill(pid, SIGSTOP);
	wait_for_state(pid, 'T');
	assert_whole(f, take(f, pid, 0));
	assert_int_equal(f->samples->samples[0].state, 'T');
	wait_for_state(pid, 'T');
	assert_int_equal(tracer_of(pid), 0);
	ticks = shared->ticks;
	assert_whole(f, take(f, pid, 0));
	wait_for_state(pid, 'T');
	assert_int_equal(shared->ticks, ticks);
	kill(pid, SIGCONT);
	while (shared->ticks == ticks)
		usleep(100);
	stop(pid);
}

/* After the detach the thread runs for a moment before it stops again. It is stopped all the
 * same. */
static void test_stopped_is_told(void **state)
{
	enum { TIMES = 300 };
	struct fixture *f = *state;
	pid_t pid = start(count_ticks, NULL);

	kill(pid, SIGSTOP);
	wait_for_state(pid, 'T');
	for (int i = 0; i < TIMES; i++)
		assert_int_equal(take(f, pid, 0)->state, 'T');
	kill(pid, SIGCONT);
	stop(pid);
}

static void test_vfork_parent(void **state)
{
	struct fixture *f = *state;
	const struct sample *sample;
	pid_t pid;

	assert_int_equal(pipe(vfork_gate), 0);
	pid = start(body_vfork, NULL);
	wait_for_state(pid, 'D');
	sample = take(f, pid, 0);
	assert_int_equal(sample->status, SAMPLE_FAILED);
	assert_non_null(strstr(sample->note, "does not stop"));
	assert_int_equal(sample->state, 'D');
	/* Given up, it is not held any more, and is not stopped when it wakes up. */
	assert_int_equal(tracer_of(pid), 0);
	assert_int_equal(write(vfork_gate[1], "g", 1), 1);
	while (!shared->is_done)
		usleep(100);
	wait_for_state(pid, 'S');
	assert_whole(f, take(f, pid, 0));
	stop(pid);
	close(vfork_gate[0]);
	close(vfork_gate[1]);
}

/* More that compute than there are processors: those that wait for one stop late, but do. */
static void test_crowded(void **state)
{
	struct fixture *f = *state;
	struct sampler_target targets[8];
	struct pdb_error err;
	size_t i;
	int round;

	for (i = 0; i < NUM_OF(targets); i++)
		targets[i] = (struct sampler_target){(int)i, start(count_ticks, NULL), 0};
	for (round = 0; round < 60; round++)
		assert_int_equal(
			sampler_take(f->sampler, targets, NUM_OF(targets), 0, f->samples, &err), 0);
	assert_int_equal(f->samples->num_samples, 60 * NUM_OF(targets));
	for (i = 0; i < f->samples->num_samples; i++)
		assert_whole(f, &f->samples->samples[i]);
	for (i = 0; i < NUM_OF(targets); i++)
		stop(targets[i].pid);
}

static void test_cost(void **state)
{
	struct fixture *f = *state;
	pid_t pid = start(body_deep, NULL);
	struct sampler_cost cost;
	int i;

	sampler_get_cost(f->sampler, &cost);
	assert_int_equal(cost.num_samples, 0);
	for (i = 0; i < 20; i++)
		take(f, pid, 0);
	sampler_get_cost(f->sampler, &cost);
	assert_int_equal(cost.num_samples, 20);
	assert_int_equal(cost.num_failed, 0);
	assert_true(cost.stopped_ns_median > 0);
	assert_true(cost.stopped_ns_median <= cost.stopped_ns_max);
	assert_true(cost.stopped_ns_max <= cost.stopped_ns_total);
	stop(pid);
}

static void test_added_cost(void **state)
{
	struct sampler_cost sum = {.num_failed = 1};
	const struct sampler_cost nodes[] = {
		{.num_samples = 2,
		 .stopped_ns_total = 30,
		 .stopped_ns_max = 20,
		 .stopped_ns_median = 20,
		 .num_failed = 3},
		{.num_samples = 10,
		 .stopped_ns_total = 100,
		 .stopped_ns_max = 15,
		 .stopped_ns_median = 9},
		{.num_samples = 4,
		 .stopped_ns_total = 400,
		 .stopped_ns_max = 110,
		 .stopped_ns_median = 100},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		sampler_add_cost(&sum, &nodes[i]);
	assert_int_equal(sum.num_samples, 16);
	assert_int_equal(sum.num_failed, 4);
	assert_int_equal(sum.stopped_ns_total, 530);
	assert_int_equal(sum.stopped_ns_max, 110);
	/* (2 x 20 + 10 x 9 + 4 x 100) / 16, truncated */
	assert_int_equal(sum.stopped_ns_median, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_larger_than_first_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_processes_share_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(test_in_signal_handler, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped_stays_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vfork_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_crowded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cost, setup, teardown),
		cmocka_unit_test(test_added_cost),
	};

	if (!share_memory())
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
