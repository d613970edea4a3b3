/* SPDX-License-Identifier: BSD-3-Clause
 * Does a rank without a recorder move? Of a process whose functions have names of MPI, and whose
 * messages nobody counts. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "attach/node/watch_digest.h"
#include "attach/node/watch_stacks.h"
#include "model/job/rankset.h"
#include "tests/unit/sampler_fixture.h"

/* Until the test says that the round is over. */
KEEP_FRAME static void MPI_Recv(uint64_t round)
{
	atomic_store(&shared->ticks, round);
	while (atomic_load(&shared->is_done) < (int)round)
		usleep(100);
	IS_USED_AFTER_CALL();
}

KEEP_FRAME static int MPI_Test(void)
{
	usleep(100);
	return atomic_load(&shared->is_ended);
}

/* Where the rounds are counted is in the frame that calls. */
KEEP_FRAME static void body_counts_here(const void *argument, int ready)
{
	volatile uint64_t round = 0;

	(void)argument;
	tell(ready);
	for (;;) {
		round++;
		MPI_Recv(round);
	}
}

KEEP_FRAME static void call_once(uint64_t round)
{
	MPI_Recv(round);
	IS_USED_AFTER_CALL();
}

/* In a frame further out. */
KEEP_FRAME static void body_counts_outside(const void *argument, int ready)
{
	volatile uint64_t round = 0;

	(void)argument;
	tell(ready);
	for (;;) {
		round++;
		call_once(round);
	}
}

static uint64_t hidden_round;

KEEP_FRAME static void call_hidden(void)
{
	MPI_Recv(++hidden_round);
	IS_USED_AFTER_CALL();
}

/* In no frame. */
KEEP_FRAME static void body_counts_elsewhere(const void *argument, int ready)
{
	(void)argument;
	tell(ready);
	for (;;)
		call_hidden();
}

KEEP_FRAME static void body_polls(const void *argument, int ready)
{
	volatile uint64_t num = 0;

	(void)argument;
	tell(ready);
	do
		num++;
	while (!MPI_Test());
}

static void wait_for_round(uint64_t round)
{
	for (int i = 0; i < 20000 && atomic_load(&shared->ticks) < round; i++)
		usleep(100);
	assert_int_equal(atomic_load(&shared->ticks), round);
	usleep(1000);
}

struct expected {
	uint32_t changed, unsure;
};

static void assert_look(struct watch_stacks *stacks, pid_t pid, struct expected expected)
{
	const struct sampler_target target = {.rank = 3, .pid = pid};
	struct watch_digest digest;

	watch_digest_init(&digest);
	watch_stacks_take(stacks, &target, 1, &digest);
	assert_int_equal(digest.numbers.num_sampled, 1);
	assert_true(rankset_contains(digest.inside, 3));
	assert_int_equal(digest.numbers.num_changed, expected.changed);
	assert_int_equal(digest.numbers.num_unsure, expected.unsure);
	watch_digest_deinit(&digest);
}

/* Each stays in the same call at every look. Seen is what the frames around it tell; what they do
 * not is not taken for standing still. */
static void test_rounds(void **state)
{
	static const struct {
		void (*body)(const void *argument, int ready);
		bool is_seen;
	} cases[] = {
		{body_counts_here, true},
		{body_counts_outside, true},
		{body_counts_elsewhere, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct expected stays = {.unsure = 1};
		const struct expected moves = {.changed = cases[i].is_seen,
					       .unsure = !cases[i].is_seen};
		struct watch_stacks *stacks = watch_stacks_create();
		pid_t pid;

		memset((void *)shared, 0, sizeof(*shared));
		pid = start(cases[i].body, NULL);
		wait_for_round(1);
		for (uint64_t round = 1; round < 4; round++) {
			assert_look(stacks, pid, round == 1 ? stays : moves);
			assert_look(stacks, pid, stays);
			assert_look(stacks, pid, stays);
			atomic_store(&shared->is_done, (int)round);
			wait_for_round(round + 1);
		}
		stop(pid);
		watch_stacks_destroy(stacks);
	}
}

/* A loop around polls is one place, whatever changes in it. */
static void test_polls(void **state)
{
	struct watch_stacks *stacks = watch_stacks_create();
	pid_t pid;

	(void)state;
	memset((void *)shared, 0, sizeof(*shared));
	pid = start(body_polls, NULL);
	for (int i = 0; i < 50; i++) {
		const struct sampler_target target = {.rank = 3, .pid = pid};
		struct watch_digest digest;

		usleep(1000);
		watch_digest_init(&digest);
		watch_stacks_take(stacks, &target, 1, &digest);
		assert_int_equal(digest.numbers.num_changed, 0);
		watch_digest_deinit(&digest);
	}
	stop(pid);
	watch_stacks_destroy(stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_polls),
	};

	return share_memory() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
