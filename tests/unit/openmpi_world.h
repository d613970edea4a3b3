/* SPDX-License-Identifier: BSD-3-Clause
 * A process that has message queues of Open MPI, put together by hand in a library that has its
 * name. */
#ifndef PDB_TESTS_UNIT_OPENMPI_WORLD_H
#define PDB_TESTS_UNIT_OPENMPI_WORLD_H

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "model/job/message_queues.h"
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

static inline uint64_t address_of(const void *object)
{
	return (uint64_t)(uintptr_t)object;
}

static inline uint64_t halves(int32_t low, int32_t high)
{
	return (uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static inline void be_a(uint64_t *object, int class)
{
	object[0] = address_of(classes[class]);
}

/* A list whose header is at word `at` of `owner`, of these items. */
static inline void make_list(uint64_t *owner, size_t at, uint64_t **items, size_t num)
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

static inline uint64_t *make_receive(int i, int32_t peer, int32_t tag)
{
	be_a(world.receives[i], RECEIVE);
	world.receives[i][WORDS(472)] = halves(peer, tag);
	return world.receives[i];
}

static inline uint64_t *make_fragment(int i, int32_t source, int32_t tag)
{
	be_a(world.fragments[i], FRAGMENT);
	world.fragments[i][WORDS(56)] = halves(65, source);
	world.fragments[i][WORDS(56) + 1] = halves(tag, 1);
	return world.fragments[i];
}

/* Rank 1 of four, which has to do with rank 3 and with a process of another job. */
static inline void make_world(void)
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

/* As the world is now. */
static inline void show_world(void)
{
	memcpy(library_array, world.array, sizeof(world.array));
	*library_own_proc = world.own_proc;
}

/* Load the library, which is beside the tests: program is argv[0]. */
static inline bool load_library(const char *program)
{
	const char *slash = strrchr(program, '/');
	char path[PATH_MAX];
	void *library;

	snprintf(path, sizeof(path), "%.*s../attach/libmpi.so.40",
		 slash ? (int)(slash + 1 - program) : 0, program);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	library_array = dlsym(library, "ompi_mpi_communicators");
	library_own_proc = dlsym(library, "ompi_proc_local_proc");
	return library_array && library_own_proc;
}

static inline void assert_message(const struct queued_message *message, int32_t peer, int32_t tag)
{
	assert_int_equal(message->peer, peer);
	assert_int_equal(message->tag, tag);
	assert_int_equal(message->comm, 0);
}

/* What there is to be read of it. */
static inline void assert_world(const struct message_queues *queues)
{
	assert_non_null(queues);
	assert_int_equal(queues->num_comms, 1);
	assert_string_equal(queues->comms[0].name, "halo?");
	assert_int_equal(queues->comms[0].size, 4);
	assert_int_equal(queues->num_receives, 3);
	assert_message(&queues->receives[0], MESSAGE_ANY_PEER, 5);
	assert_message(&queues->receives[1], 3, MESSAGE_ANY_TAG);
	assert_message(&queues->receives[2], 3, 6);
	assert_int_equal(queues->num_unexpected, 2);
	assert_message(&queues->unexpected[0], 3, 8);
	assert_message(&queues->unexpected[1], 3, MESSAGE_TAG_NOT_KNOWN);
	assert_int_equal(queues->num_pairs, 1);
	assert_int_equal(queues->pairs[0].peer, 3);
	assert_int_equal(queues->pairs[0].sent, 2);
	assert_int_equal(queues->pairs[0].arrived, 65535);
}

#endif
