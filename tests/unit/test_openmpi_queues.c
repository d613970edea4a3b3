/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues of Open MPI, put together by hand in a library that has its name: what is read of
 * them, and that what is damaged, endless or not there is refused and does no harm. Real ones:
 * tests/attach/queues.sh. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "attach/queues/mpi_queues.h"
#include "attach/stacks/sampler.h"
#include "model/job/callpath.h"
#include "model/job/message_queues.h"
#include "model/job/modules.h"
#include "model/job/sample.h"
#include "tests/unit/child.h"
#include "tests/unit/openmpi_world.h"

static struct message_queues *read_world(struct openmpi_queues *queues)
{
	show_world();
	return openmpi_queues_read(queues);
}

static struct openmpi_queues *create(void)
{
	const struct memory memory = {.pid = getpid()};
	struct maps *maps = maps_read(getpid());
	struct openmpi_queues *queues = openmpi_queues_create(&memory, maps);

	assert_non_null(queues);
	maps_destroy(maps);
	return queues;
}

static void test_whole(void **state)
{
	struct openmpi_queues *queues = create();

	(void)state;
	/* Twice: the second time what classes are called is known. */
	for (int i = 0; i < 2; i++) {
		struct message_queues *read;

		make_world();
		read = read_world(queues);
		assert_world(read);
		message_queues_destroy(read);
		/* Now there was a message. */
		world.peers[1][3] = halves(2, 0);
		read = read_world(queues);
		assert_int_equal(read->num_pairs, 2);
		assert_int_equal(read->pairs[0].peer, MESSAGE_OTHER_PEER);
		assert_int_equal(read->pairs[0].arrived, 1);
		message_queues_destroy(read);
	}
	free(queues);
}

static const char strange[] = "not_a_known_one_at_all_but_long_enough";

/* Each changes one thing, so that nothing is believed any more. */
static const struct {
	uint64_t *word;
	uint64_t value;
} damages[] = {
	{&world.array[0], 0},
	{&world.array[0], 8},
	{&world.array[WORDS(88)], 0},
	{&world.array[WORDS(88)], INT32_MAX},
	{&world.array[WORDS(88)], UINT32_MAX},
	{&world.array[WORDS(112)], 0},
	{&world.array[WORDS(112)], UINT64_MAX - 8},
	{&world.comm[0], 16},
	{&world.comm[WORDS(328)], 3},
	{&world.comm[WORDS(328)], UINT64_MAX},
	{&world.pml[0], 0},
	{&world.pml[WORDS(88)], 0},
	{&world.pml[WORDS(216)], 0},
	{&world.pml[WORDS(224)], 1u << 23},
	{&world.pml[WORDS(224)], UINT64_MAX},
	{&world.members[2], 1},
	{&world.peers[0][0], 0},
	{&world.peers[0][2], 0},
	{&world.peers[0][2], 5},
	{&world.peers[0][WORDS(40)], 0},
	{&world.peers[0][WORDS(104)], 0},
	{&world.peers[0][WORDS(40) + 7], 3},
	{&world.peers[0][WORDS(104) + 7], 1},
	{&world.procs[0][0], 0},
	{&world.procs[0][WORDS(40)], JOB | UINT64_C(1) << 63},
	{&world.own_proc, 0},
	{&world.receives[1][0], 0},
	{&world.receives[1][2], 0},
	{&world.receives[1][3], 0},
	{&world.receives[1][WORDS(472)], 0},
	{&world.fragments[1][2], 24},
	{&world.fragments[0][3], 24},
	{&classes[PML][0], 0},
	{&classes[PML][0], (uint64_t)-1},
	{&classes[COMM][7], 400},
	{&classes[PML][7], 248},
	{&classes[PEER][7], 160},
	{&classes[RECEIVE][1], 0},
	{&classes[BASE][7], 8},
	{&classes[BASE][7], UINT64_MAX},
};

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(damages); i++) {
		struct openmpi_queues *queues = create();
		struct message_queues *read;

		make_world();
		*damages[i].word = damages[i].value;
		read = read_world(queues);
		if (read)
			fail_msg("damage %zu is believed", i);
		/* A moment later all is well; but what was believed of classes stays so. */
		if (damages[i].word >= classes[0] && damages[i].word < classes[NUM_CLASSES]) {
			free(queues);
			queues = create();
		}
		make_world();
		read = read_world(queues);
		assert_non_null(read);
		message_queues_destroy(read);
		free(queues);
	}
}

/* Of a class of its own, and lists without an end. */
static void test_endless(void **state)
{
	struct openmpi_queues *queues = create();

	(void)state;
	make_world();
	classes[RECEIVE][0] = address_of(strange);
	assert_null(read_world(queues));
	make_world();
	classes[BASE][0] = address_of(strange);
	classes[BASE][1] = address_of(classes[BASE]);
	assert_null(read_world(queues));
	make_world();
	world.receives[2][2] = world.receives[2][3] = address_of(world.receives[2]);
	assert_null(read_world(queues));
	make_world();
	world.fragments[0][2] = world.fragments[0][3] = address_of(world.fragments[1]);
	world.fragments[1][2] = world.fragments[1][3] = address_of(world.fragments[0]);
	world.peers[0][WORDS(104) + 4] = address_of(world.fragments[0]);
	assert_null(read_world(queues));
	free(queues);
}

/* Any words anywhere, many of them addresses of something else. */
static void test_random(void **state)
{
	struct openmpi_queues *queues = create();
	uint64_t *words = (uint64_t *)&world;

	(void)state;
	srand(1);
	for (int round = 0; round < 5000; round++) {
		make_world();
		for (int i = rand() % 4; i >= 0; i--) {
			size_t at = (size_t)rand() % WORDS(sizeof(world));
			size_t to = (size_t)rand() % WORDS(sizeof(world));
			const uint64_t values[] = {
				0,        UINT64_MAX, (uint64_t)rand(), 1, address_of(words + to),
				words[to]};

			words[at] = values[(size_t)rand() % NUM_OF(values)];
		}
		message_queues_destroy(read_world(queues));
	}
	free(queues);
}

static void *change(void *is_done)
{
	while (!atomic_load((atomic_bool *)is_done)) {
		/* In the midst of it nothing fits together. */
		make_list(world.peers[0], WORDS(104), NULL, 0);
		make_list(world.peers[0], WORDS(104),
			  (uint64_t *[]){world.fragments[0], world.fragments[1]}, 2);
		sched_yield();
	}
	return NULL;
}

/* It changes while it is read: what is told was so at a time. */
static void test_changing(void **state)
{
	struct openmpi_queues *queues = create();
	atomic_bool is_done = false;
	pthread_t thread;
	int num_whole = 0;

	(void)state;
	make_world();
	show_world();
	assert_int_equal(pthread_create(&thread, NULL, change, &is_done), 0);
	for (int i = 0; i < 20000 || (!num_whole && i < 2000000); i++) {
		struct message_queues *read = openmpi_queues_read(queues);

		if (!read)
			continue;
		assert_true(read->num_unexpected == 0 || read->num_unexpected == 2);
		assert_int_equal(read->num_receives, 3);
		num_whole++;
		message_queues_destroy(read);
	}
	atomic_store(&is_done, true);
	pthread_join(thread, NULL);
	assert_true(num_whole > 0);
	free(queues);
}

static void test_none(void **state)
{
	const struct memory memory = {.pid = getpid()};
	struct maps *maps = maps_create();

	(void)state;
	assert_null(openmpi_queues_create(&memory, maps));
	maps_destroy(maps);
}

static void wait_here_in_world(const void *argument, int ready)
{
	(void)argument;
	wait_here(ready);
}

/* They come with samples of main threads, if that is asked for. */
static void test_sampled(void **state)
{
	struct modules *modules = modules_create();
	struct callpaths *callpaths = callpaths_create();
	struct sampler *sampler = sampler_create(modules, callpaths);
	struct sampler_target target = {.rank = 7};

	(void)state;
	make_world();
	show_world();
	target.pid = start(wait_here_in_world, NULL);
	for (unsigned flags = 0; flags <= SAMPLER_QUEUES; flags += SAMPLER_QUEUES) {
		struct samples *samples = samples_create();

		assert_int_equal(sampler_take(sampler, &target, 1, flags, samples, NULL), 0);
		assert_int_equal(samples->num_samples, 1);
		if (flags)
			assert_world(samples->samples[0].queues);
		else
			assert_null(samples->samples[0].queues);
		samples_destroy(samples);
	}
	stop(target.pid);
	sampler_destroy(sampler);
	callpaths_destroy(callpaths);
	modules_destroy(modules);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),    cmocka_unit_test(test_whole),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_endless),
		cmocka_unit_test(test_random),  cmocka_unit_test(test_changing),
		cmocka_unit_test(test_sampled),
	};

	(void)argc;
	if (!load_library(argv[0]))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
