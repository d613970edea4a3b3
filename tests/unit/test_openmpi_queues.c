/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues of Open MPI, put together by hand in a library that has its name: what is read of them, and
 * that what is damaged, endless or not there is refused and does no harm. Real ones: tests/attach/queues.sh. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/maps.h"
#include "attach/memory.h"
#include "attach/openmpi_queues.h"
#include "model/message_queues.h"
#include "tests/unit/unit.h"

#define WORDS(bytes) ((bytes) / 8)
#define JOB 77u

enum { ARRAY, COMM, PML, PEER, LIST, PROC, RECEIVE, FRAGMENT, BASE, NUM_CLASSES };

/* As Open MPI 4.1 has them; words, each class with the bytes of its objects last. */
static uint64_t classes[NUM_CLASSES][8];
static const struct {
	const char *name;
	uint64_t size;
} class_table[NUM_CLASSES] = {
	{"opal_pointer_array_t", 120},
	{"ompi_communicator_t", 352},
	{"mca_pml_ob1_comm_t", 240},
	{"mca_pml_ob1_comm_proc_t", 168},
	{"opal_list_t", 64},
	{"ompi_proc_t", 120},
	{"mca_pml_ob1_recv_request_t", 648},
	{"mca_pml_ob1_recv_frag_t", 656},
	{"mca_pml_base_request_t", 496},
};

/* The objects, word by word. */
static struct world {
	uint64_t comms[8]; /* addresses, by number */
	uint64_t comm[WORDS(352)], pml[WORDS(240)], members[4];
	uint64_t peers[2][WORDS(168)];
	uint64_t procs[2][WORDS(120)];
	uint64_t receives[3][WORDS(648)];
	uint64_t fragments[2][WORDS(656)];
	uint64_t own_proc, array[15]; /* of the library */
} world;

static uint64_t *library_array;
static uint64_t *library_own_proc;

static uint64_t address_of(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

static uint64_t halves(int32_t low, int32_t high)
{
	return (uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void be_a(uint64_t *object, int class)
{
	object[0] = address_of(classes[class]);
}

/* A list whose header is at word `at` of `owner`, of these items. */
static void make_list(uint64_t *owner, size_t at, uint64_t **items, size_t num)
{
	uint64_t *list = owner + at, *last = list + 2;

	be_a(list, LIST);
	list[2 + 2] = list[2 + 3] = address_of(list + 2);
	for (size_t i = 0; i < num; i++) {
		last[2] = address_of(items[i]);
		items[i][3] = address_of(last);
		last = items[i];
		last[2] = address_of(list + 2);
		list[2 + 3] = address_of(last);
	}
	list[7] = num;
}

static uint64_t *make_receive(int i, int32_t peer, int32_t tag)
{
	be_a(world.receives[i], RECEIVE);
	world.receives[i][WORDS(472)] = halves(peer, tag);
	return world.receives[i];
}

static uint64_t *make_fragment(int i, int32_t source, int32_t tag)
{
	be_a(world.fragments[i], FRAGMENT);
	world.fragments[i][WORDS(56)] = halves(65, source);
	world.fragments[i][WORDS(56) + 1] = halves(tag, 1);
	return world.fragments[i];
}

/* Rank 1 of four, which has to do with rank 3 and with a process of another job. */
static void make_world(void)
{
	memset(&world, 0, sizeof(world));
	for (int i = 0; i < NUM_CLASSES; i++) {
		classes[i][0] = address_of(class_table[i].name);
		classes[i][1] = i == RECEIVE ? address_of(classes[BASE]) : 0;
		classes[i][7] = class_table[i].size;
	}
	be_a(world.array, ARRAY);
	world.array[WORDS(88)] = 8;
	world.array[WORDS(112)] = address_of(world.comms);
	world.comms[3] = address_of(world.comm);
	world.comms[5] = 1; /* a number that is taken, for one that is just being made */
	be_a(world.comm, COMM);
	strcpy((char *)world.comm + 160, "halo\n");
	world.comm[WORDS(328)] = address_of(world.pml);
	be_a(world.pml, PML);
	make_list(world.pml, WORDS(88), (uint64_t *[]){make_receive(0, -1, 5)}, 1);
	world.pml[WORDS(216)] = address_of(world.members);
	world.pml[WORDS(224)] = 4;
	world.members[0] = address_of(world.peers[1]);
	world.members[2] = address_of(world.peers[0]);
	for (int i = 0; i < 2; i++) {
		be_a(world.peers[i], PEER);
		be_a(world.procs[i], PROC);
		world.peers[i][2] = address_of(world.procs[i]);
		make_list(world.peers[i], WORDS(40), NULL, 0);
		make_list(world.peers[i], WORDS(104), NULL, 0);
	}
	world.procs[0][WORDS(40)] = halves(JOB, 3);
	world.procs[1][WORDS(40)] = halves(JOB + 1, 3);
	/* The next message is number 0: 65535 have arrived. 65538 were sent. */
	world.peers[0][3] = halves(0, 65538);
	world.peers[1][3] = halves(1, 0);
	make_list(world.peers[0], WORDS(40),
		  (uint64_t *[]){make_receive(1, 2, -1), make_receive(2, 2, 6)}, 2);
	/* Nobody believes a header that is not from where it is. */
	make_list(world.peers[0], WORDS(104),
		  (uint64_t *[]){make_fragment(0, 2, 8), make_fragment(1, 1, 9)}, 2);
	world.own_proc = address_of(world.procs[0]);
}

static struct message_queues *read_world(struct openmpi_queues *queues)
{
	memcpy(library_array, world.array, sizeof(world.array));
	*library_own_proc = world.own_proc;
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

static void assert_message(const struct queued_message *message, int32_t peer, int32_t tag)
{
	assert_int_equal(message->peer, peer);
	assert_int_equal(message->tag, tag);
	assert_int_equal(message->comm, 0);
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
		assert_non_null(read);
		assert_int_equal(read->num_comms, 1);
		assert_string_equal(read->comms[0].name, "halo?");
		assert_int_equal(read->comms[0].size, 4);
		assert_int_equal(read->num_receives, 3);
		assert_message(&read->receives[0], MESSAGE_ANY_PEER, 5);
		assert_message(&read->receives[1], 3, MESSAGE_ANY_TAG);
		assert_message(&read->receives[2], 3, 6);
		assert_int_equal(read->num_unexpected, 2);
		assert_message(&read->unexpected[0], 3, 8);
		assert_message(&read->unexpected[1], 3, MESSAGE_TAG_NOT_KNOWN);
		assert_int_equal(read->num_pairs, 1);
		assert_int_equal(read->pairs[0].peer, 3);
		assert_int_equal(read->pairs[0].sent, 2);
		assert_int_equal(read->pairs[0].arrived, 65535);
		message_queues_destroy(read);
		/* Now there was a message. */
		world.peers[1][3] = halves(2, 0);
		read = read_world(queues);
		assert_int_equal(read->num_pairs, 2);
		assert_int_equal(read->pairs[0].peer, MESSAGE_OTHER_PEER);
		assert_int_equal(read->pairs[0].arrived, 1);
		message_queues_destroy(read);
	}
	openmpi_queues_destroy(queues);
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
			openmpi_queues_destroy(queues);
			queues = create();
		}
		make_world();
		read = read_world(queues);
		assert_non_null(read);
		message_queues_destroy(read);
		openmpi_queues_destroy(queues);
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
	openmpi_queues_destroy(queues);
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
			const uint64_t values[] = {0, UINT64_MAX, (uint64_t)rand(), 1,
						   address_of(words + to), words[to]};

			words[at] = values[(size_t)rand() % NUM_OF(values)];
		}
		message_queues_destroy(read_world(queues));
	}
	openmpi_queues_destroy(queues);
}

static void test_none(void **state)
{
	const struct memory memory = {.pid = getpid()};
	struct maps *maps = maps_create();

	(void)state;
	assert_null(openmpi_queues_create(&memory, maps));
	maps_destroy(maps);
	openmpi_queues_destroy(NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),   cmocka_unit_test(test_whole),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_endless),
		cmocka_unit_test(test_random),
	};
	char path[PATH_MAX];
	void *library;

	(void)argc;
	/* build/tests/unit/... */
	snprintf(path, sizeof(path), "%.*s../attach/libmpi.so.40",
		 (int)(strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 - argv[0] : 0), argv[0]);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	library_array = dlsym(library, "ompi_mpi_communicators");
	library_own_proc = dlsym(library, "ompi_proc_local_proc");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
