/* SPDX-License-Identifier: BSD-3-Clause
 * Message queues of Open MPI over UCX, put together by hand: the objects of Open MPI here, those
 * of UCX as MPICH has them, too. What is read of them, and that what is damaged or not there is
 * refused and does no harm. Real ones: tests/attach/queues.sh. */
#include <limits.h>
#include <stdio.h>

#include "attach/process/elf_symbol.h"
#include "attach/queues/mpi_queues.h"
#include "tests/unit/mpich_world.h"

#define JOB 0x12340007u
#define OTHER_JOB 0x12340008u

/* Bytes from MANY on. */
enum {
	LIBRARY = 0,
	PML_LIBRARY = 0x10000,
	CLASSES = 0x20000,
	NAMES = 0x20400,
	COMM_LIST = 0x20800,
	COMM_NAMES = 0x20a00,
	COMMS = 0x21000,
	GROUPS = 0x23000,
	MEMBERS = 0x24000,
	PROCS = 0x27000,
	END = 0x28000,
	NUM_PROCS = 8,
	NUM_COMMS = 16, /* that there is room for */
	MAX_MEMBERS = 80,
	WORLD = 0,
	REVERSED = 3,
	UNREADABLE = 5,
	NEW = 6,
	NOBODY = 7,
	LARGE = 15,
	SIZE_OF_LARGE = 65,
};

enum { ARRAY, COMM, GROUP, PROC, NUM_CLASSES };

#define COMM_AT(i) (COMMS + 512 * (i))
#define GROUP_AT(i) (GROUPS + 128 * (i))
#define MEMBERS_AT(i) (MEMBERS + 8 * MAX_MEMBERS * (i))
#define PROC_AT(i) (PROCS + 128 * (i))

static const struct openmpi_version {
	const struct mpich_version *ucx;
	bool is_built_in; /* into the library of MPI */
	size_t comm_size, comm_group, group_size;
	bool name_is_apart;
} openmpi_versions[] = {
	{&versions[0], false, 352, 256, 72, false}, /* 4.1 */
	{&versions[1], true, 384, 272, 80, true},   /* 5.0 */
};

static const struct openmpi_version *of; /* of the world */
static uint64_t bytes[END / 8];
static char folder[PATH_MAX / 2];                         /* of the libraries */
static size_t communicators, own_proc, pml, built_in_pml; /* bytes from MANY on */

static uint64_t *at(size_t offset)
{
	return &bytes[offset / 8];
}

/* ---- The world ---- */

static struct maps *make_maps(bool has_pml, bool has_ucx)
{
	char text[2 * PATH_MAX];
	int length =
		snprintf(text, sizeof(text), "%llx-%llx rw-p 00000000 fe:00 7 %s/libmpi.so.40\n",
			 (unsigned long long)MANY, (unsigned long long)MANY + PML_LIBRARY, folder);

	if (has_pml)
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   "%llx-%llx r-xp 00000000 fe:00 9 %s/mca_pml_ucx.so\n",
				   (unsigned long long)MANY + PML_LIBRARY,
				   (unsigned long long)MANY + CLASSES, folder);
	if (has_ucx)
		snprintf(text + length, sizeof(text) - (size_t)length,
			 "7fb000006000-7fb000007000 r-xp 00000000 fe:00 8 /lib/libucp.so.0.0.0\n");
	return maps_parse(text);
}

static size_t find_symbol(const struct maps *maps, const char *library, const char *name)
{
	uint64_t address;

	assert_int_equal(elf_symbol_find(0, maps_find_object(maps, library), name, &address, NULL),
			 0);
	return address - MANY;
}

static int find_symbols(void **state)
{
	struct maps *maps = make_maps(true, true);

	(void)state;
	communicators = find_symbol(maps, "libmpi.so", "ompi_mpi_communicators");
	own_proc = find_symbol(maps, "libmpi.so", "ompi_proc_local_proc");
	built_in_pml = find_symbol(maps, "libmpi.so", "ompi_pml_ucx");
	pml = find_symbol(maps, "mca_pml_ucx.so", "ompi_pml_ucx");
	maps_destroy(maps);
	return 0;
}

static void be_a(size_t offset, int class)
{
	*at(offset) = MANY + CLASSES + 64 * (size_t) class;
}

static void make_class(int i, const char *name, size_t size)
{
	uint64_t *class = at(CLASSES + 64 * (size_t)i);

	class[0] = MANY + NAMES + 32 * (size_t)i;
	class[7] = size;
	strcpy((char *)at(NAMES + 32 * (size_t)i), name);
}

static void make_proc(size_t i, uint32_t job, uint32_t number)
{
	be_a(PROC_AT(i), PROC);
	*at(PROC_AT(i) + 40) = halves(job, number);
}

/* Instead of a description. */
static uint64_t name_of(uint32_t job, uint32_t number)
{
	return halves((job & 0xffff0000) | (job & 0x7fff) << 1 | 1, number);
}

static void make_openmpi_comm(size_t i, const char *name, uint32_t size)
{
	*at(COMM_LIST + 8 * i) = MANY + COMM_AT(i);
	be_a(COMM_AT(i), COMM);
	strcpy(of->name_is_apart ? (char *)at(COMM_NAMES + 64 * i) : (char *)at(COMM_AT(i)) + 160,
	       name);
	if (of->name_is_apart)
		*at(COMM_AT(i) + 160) = MANY + COMM_NAMES + 64 * i;
	*at(COMM_AT(i) + of->comm_group) = MANY + GROUP_AT(i);
	be_a(GROUP_AT(i), GROUP);
	*at(GROUP_AT(i) + 16) = size;
	*at(GROUP_AT(i) + 32) = MANY + MEMBERS_AT(i);
	*at(GROUP_AT(i) + 40) = 4;
	for (size_t m = 0; m < size; m++)
		*at(MEMBERS_AT(i) + 8 * m) = MANY + PROC_AT(m % NUM_PROCS);
}

static void make_openmpi(void)
{
	size_t module = of->is_built_in ? built_in_pml : pml;

	memset(bytes, 0, sizeof(bytes));
	many = bytes;
	num_many = NUM_OF(bytes);
	make_class(ARRAY, "opal_pointer_array_t", 120);
	make_class(COMM, "ompi_communicator_t", of->comm_size);
	make_class(GROUP, "ompi_group_t", of->group_size);
	make_class(PROC, "ompi_proc_t", 120);
	be_a(communicators, ARRAY);
	*at(communicators + 88) = NUM_COMMS;
	*at(communicators + 112) = MANY + COMM_LIST;
	for (uint32_t i = 0; i < NUM_PROCS; i++)
		make_proc(i, JOB, i);
	make_proc(6, OTHER_JOB, 1);
	*at(own_proc) = MANY + PROC_AT(2);
	make_openmpi_comm(WORLD, "MPI COMM WORLD", 8);
	/* Backwards, and there are processes that nothing was sent to. */
	make_openmpi_comm(REVERSED, "halo\n", 5);
	for (size_t i = 0; i < 5; i++)
		*at(MEMBERS_AT(REVERSED) + 8 * i) = MANY + PROC_AT(7 - i);
	*at(MEMBERS_AT(REVERSED) + 16) = name_of(JOB, 70000);
	*at(MEMBERS_AT(REVERSED) + 24) = name_of(OTHER_JOB, 1);
	*at(COMM_LIST + 8 * UNREADABLE) = 1;
	make_openmpi_comm(NEW, "", 0);
	*at(COMM_AT(NEW) + of->comm_group) = 0;
	make_openmpi_comm(NOBODY, "", 0);
	*at(GROUP_AT(NOBODY) + 40) = 0;
	make_openmpi_comm(LARGE, "large", SIZE_OF_LARGE);
	*at(module + 40) = CONTEXT;
	*at(module + 48) = WORKER;
}

static void make_openmpi_world(const struct openmpi_version *new)
{
	of = new;
	make_world(of->ucx);
	make_openmpi();
}

static struct openmpi_ucx *create_ucx(void)
{
	struct maps *maps = make_maps(!of->is_built_in, true);
	struct openmpi_ucx *queues = openmpi_ucx_create(&world_memory, maps);

	assert_non_null(queues);
	maps_destroy(maps);
	return queues;
}

/* By somebody who sees the process for the first time. */
static struct message_queues *read_new(void)
{
	struct openmpi_ucx *queues = create_ucx();
	struct message_queues *read = openmpi_ucx_read(queues);

	free(queues);
	return read;
}

static bool is_read(struct openmpi_ucx *queues)
{
	struct message_queues *read = openmpi_ucx_read(queues);

	message_queues_destroy(read);
	return read != NULL;
}

/* ---- What is there ---- */

static void test_none(void **state)
{
	(void)state;
	of = &openmpi_versions[0];
	make_openmpi();
	for (int i = 0; i < 4; i++) {
		struct maps *maps = make_maps(i & 1, i & 2);
		struct openmpi_ucx *queues = openmpi_ucx_create(&world_memory, maps);

		assert_int_equal(queues != NULL, (i & 2) != 0);
		free(queues);
		maps_destroy(maps);
	}
}

/* Which way Open MPI sends is seen when it does: its libraries are loaded while it starts. */
static void test_loaded_later(void **state)
{
	struct maps *maps = make_maps(false, false);
	struct mpi_queues *queues;
	struct message_queues *read;

	(void)state;
	make_openmpi_world(&openmpi_versions[0]);
	queues = mpi_queues_create(&world_memory, maps);
	assert_non_null(queues);
	assert_null(mpi_queues_read(queues));
	maps_destroy(maps);
	maps = make_maps(true, true);
	for (int i = 0; i < 2; i++) {
		mpi_queues_update(queues, &world_memory, maps);
		read = mpi_queues_read(queues);
		assert_non_null(read);
		message_queues_destroy(read);
	}
	maps_destroy(maps);
	mpi_queues_destroy(queues);
}

/* Where there is nothing to be found is ever less searched; a new session has a new worker. */
static void test_search(void **state)
{
	struct openmpi_ucx *queues;

	(void)state;
	make_openmpi_world(&openmpi_versions[0]);
	queues = create_ucx();
	for (int round = 0; round < 2; round++) {
		*at(pml + 48) = 0;
		for (int i = 1; i < 64; i++) {
			if (i == 20)
				*at(pml + 48) = WORKER;
			num_reads = 0;
			if (is_read(queues) != (i >= 32))
				fail_msg("take %d of round %d", i, round);
			if (i < 32 && (i & (i - 1)))
				assert_int_equal(num_reads, 0);
		}
	}
	free(queues);
}

/* ---- Tags ---- */

#define UCX_TAG(tag, source, number)                                                               \
	((uint64_t)(int64_t)(tag) << 40 | (uint64_t)(source) << 20 | (number))
#define OF_ANY_SOURCE UINT64_C(0xffffff00000fffff)
#define OF_ANY_TAG UINT64_C(0x800000ffffffffff)
#define OF_ANY UINT64_C(0x80000000000fffff)
#define NONE MESSAGE_OTHER_PEER

static const struct tag_case {
	uint64_t tag, mask;
	int comm; /* -1: left out */
	int32_t peer, read_tag;
} tag_cases[] = {
	{UCX_TAG(0, 0, WORLD), ALL_BITS, WORLD, 0, 0},
	{UCX_TAG(5, 7, WORLD), ALL_BITS, WORLD, 7, 5},
	{UCX_TAG(5, 6, WORLD), ALL_BITS, WORLD, NONE, 5},
	{UCX_TAG(0x7fffff, 7, WORLD), ALL_BITS, WORLD, 7, 0x7fffff},
	{UCX_TAG(9, 0, REVERSED), ALL_BITS, REVERSED, 7, 9},
	{UCX_TAG(9, 1, REVERSED), ALL_BITS, REVERSED, NONE, 9},
	{UCX_TAG(9, 2, REVERSED), ALL_BITS, REVERSED, 70000, 9},
	{UCX_TAG(9, 3, REVERSED), ALL_BITS, REVERSED, NONE, 9},
	{UCX_TAG(9, 4, REVERSED), ALL_BITS, REVERSED, 3, 9},
	{UCX_TAG(9, 64, LARGE), ALL_BITS, LARGE, 0, 9},
	{UCX_TAG(5, 0xfffff, REVERSED), OF_ANY_SOURCE, REVERSED, MESSAGE_ANY_PEER, 5},
	{UCX_TAG(0, 4, REVERSED), OF_ANY_TAG, REVERSED, 3, MESSAGE_ANY_TAG},
	{UCX_TAG(0, 0xfffff, REVERSED), OF_ANY, REVERSED, MESSAGE_ANY_PEER, MESSAGE_ANY_TAG},
	/* Of collectives. */
	{UCX_TAG(-1, 2, WORLD), ALL_BITS, WORLD, 2, -1},
	{UCX_TAG(-17, 4, REVERSED), ALL_BITS, REVERSED, 3, -17},
	{UCX_TAG(-17, 0xfffff, REVERSED), OF_ANY_SOURCE, REVERSED, MESSAGE_ANY_PEER, -17},
	{UCX_TAG(-0x800000, 4, REVERSED), ALL_BITS, REVERSED, 3, -0x800000},
	/* Nobody knows such a communicator, or such a rank in it. */
	{UCX_TAG(9, 0, 1), ALL_BITS, -1, 0, 0},
	{UCX_TAG(9, 0, UNREADABLE), ALL_BITS, -1, 0, 0},
	{UCX_TAG(9, 0, NEW), ALL_BITS, -1, 0, 0},
	{UCX_TAG(9, 0, NOBODY), ALL_BITS, -1, 0, 0},
	{UCX_TAG(9, 0, NOBODY), OF_ANY, -1, 0, 0},
	{UCX_TAG(9, 0, NUM_COMMS), ALL_BITS, -1, 0, 0},
	{UCX_TAG(9, 0, 0xfffff), ALL_BITS, -1, 0, 0},
	{UCX_TAG(9, 5, REVERSED), ALL_BITS, -1, 0, 0},
	{UCX_TAG(9, 0xfffff, REVERSED), ALL_BITS, -1, 0, 0},
	{UINT64_MAX, 0, -1, 0, 0},
};

static void assert_case(const struct message_queues *read, bool is_message,
			const struct tag_case *expected)
{
	const struct queued_message *message = is_message ? read->unexpected : read->receives;
	size_t num = is_message ? read->num_unexpected : read->num_receives;

	assert_int_equal(read->num_receives + read->num_unexpected, expected->comm >= 0);
	assert_int_equal(read->num_comms, expected->comm >= 0);
	if (expected->comm < 0)
		return;
	assert_int_equal(num, 1);
	assert_int_equal(message->comm, 0);
	assert_int_equal(message->peer, expected->peer);
	assert_int_equal(message->tag, expected->read_tag);
	assert_int_equal(read->comms[0].size, *at(GROUP_AT((size_t)expected->comm) + 16));
	assert_string_equal(read->comms[0].name, expected->comm == WORLD      ? "MPI COMM WORLD"
						 : expected->comm == REVERSED ? "halo?"
									      : "large");
}

static void test_tags(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NUM_OF(openmpi_versions) * NUM_OF(tag_cases); i++) {
		const struct tag_case *expected = &tag_cases[i / (2 * NUM_OF(openmpi_versions))];
		struct message_queues *read;
		bool is_message = i % 2;

		if (is_message && expected->mask != ALL_BITS)
			continue;
		make_openmpi_world(&openmpi_versions[i / 2 % NUM_OF(openmpi_versions)]);
		if (is_message)
			arrive(expected->tag);
		else
			post(expected->tag, expected->mask);
		read = read_new();
		if (!read)
			fail_msg("tag %llx", (unsigned long long)expected->tag);
		assert_case(read, is_message, expected);
		assert_int_equal(read->num_posted, FIRST_NUMBER + !is_message);
		message_queues_destroy(read);
	}
}

static void make_busy_world(const struct openmpi_version *new)
{
	make_openmpi_world(new);
	post(UCX_TAG(1, 64, LARGE), ALL_BITS);
	post(UCX_TAG(2, 0, LARGE), OF_ANY_SOURCE);
	post(UCX_TAG(0, 0, REVERSED), OF_ANY);
	post(UCX_TAG(3, 0, REVERSED), ALL_BITS);
	post(UCX_TAG(4, 2, REVERSED), ALL_BITS);
	arrive(UCX_TAG(5, 4, REVERSED));
	arrive(UCX_TAG(-6, 1, WORLD));
}

/* By communicator and peer. Of whom one of any source may be is told of not more than 64
 * members. */
static void test_order(void **state)
{
	static const struct queued_message receives[] = {
		{MESSAGE_ANY_PEER, MESSAGE_ANY_TAG, 1},
		{7, 3, 1},
		{70000, 4, 1},
		{MESSAGE_ANY_PEER, 2, 2},
		{0, 1, 2},
	};
	static const struct queued_message unexpected[] = {{1, -6, 0}, {3, 5, 1}};
	static const int32_t pairs[] = {NONE, NONE, 3, 7, 70000};
	struct message_queues *read;

	(void)state;
	make_busy_world(&openmpi_versions[1]);
	read = read_new();
	assert_non_null(read);
	assert_int_equal(read->num_comms, 3);
	assert_int_equal(read->num_receives, NUM_OF(receives));
	assert_memory_equal(read->receives, receives, sizeof(receives));
	assert_int_equal(read->num_unexpected, NUM_OF(unexpected));
	assert_memory_equal(read->unexpected, unexpected, sizeof(unexpected));
	assert_int_equal(read->num_pairs, NUM_OF(pairs));
	for (size_t i = 0; i < NUM_OF(pairs); i++) {
		assert_int_equal(read->pairs[i].peer, pairs[i]);
		assert_int_equal(read->pairs[i].comm, 1);
		assert_int_equal(read->pairs[i].sent + read->pairs[i].arrived, 0);
	}
	message_queues_destroy(read);
}

/* ---- What is damaged ---- */

/* Each changes one word, so that nothing is believed any more. */
static const struct {
	size_t *base; /* NULL: from MANY on */
	size_t offset;
	uint64_t value;
} damages[] = {
	{&communicators, 0, 0},
	{&communicators, 0, MANY + CLASSES + 64 * COMM},
	{&communicators, 88, 0},
	{&communicators, 88, 16385},
	{&communicators, 88, UINT32_MAX},
	{&communicators, 112, 0},
	{&communicators, 112, UINT64_MAX - 7},
	{&own_proc, 0, 0},
	{&own_proc, 0, MANY + COMMS},
	{&pml, 48, 0},
	{&pml, 48, CONTEXT},
	{NULL, COMM_AT(REVERSED) + 328, 8}, /* another PML has a part of it */
	{NULL, COMM_AT(REVERSED) + 256, 8},
	{NULL, COMM_AT(REVERSED) + 256, MANY + COMMS},
	{NULL, COMM_AT(LARGE) + 256, MANY + END - 8},
	{NULL, COMM_AT(NOBODY) + 256, UINT64_MAX},
	{NULL, GROUP_AT(REVERSED), 0},
	{NULL, GROUP_AT(REVERSED) + 16, UINT32_MAX},
	{NULL, GROUP_AT(REVERSED) + 16, (16 << 20) + 1},
	{NULL, GROUP_AT(REVERSED) + 32, 0},
	{NULL, GROUP_AT(REVERSED) + 32, UINT64_MAX - 7},
	{NULL, GROUP_AT(REVERSED) + 40, 0},
	{NULL, GROUP_AT(REVERSED) + 40, 3},
	{NULL, MEMBERS_AT(REVERSED), 0},
	{NULL, MEMBERS_AT(REVERSED), MANY + END},
	{NULL, MEMBERS_AT(REVERSED), MANY + COMMS},
	{NULL, MEMBERS_AT(REVERSED) + 8, 8}, /* of whom one of any source may be */
	{NULL, PROC_AT(7), 0},
	{NULL, PROC_AT(7) + 40, JOB | UINT64_C(1) << 63},
	{NULL, CLASSES + 64 * GROUP, 0},
	{NULL, CLASSES + 64 * GROUP, MANY + NAMES},
	{NULL, CLASSES + 64 * GROUP + 56, 80},
	{NULL, CLASSES + 64 * COMM + 56, 384},
	{NULL, CLASSES + 64 * PROC, UINT64_MAX},
	{NULL, NAMES + 32 * GROUP, 0},
};

static void test_damaged(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NUM_OF(damages); i++) {
		size_t base = damages[i / 2].base ? *damages[i / 2].base : 0;
		bool is_class = !damages[i / 2].base && damages[i / 2].offset < COMM_LIST;
		struct openmpi_ucx *queues;

		/* Where all was well before, or not: then what was believed of classes stays so. */
		if (i % 2 && is_class)
			continue;
		make_busy_world(&openmpi_versions[0]);
		queues = create_ucx();
		if (i % 2)
			assert_true(is_read(queues));
		*at(base + damages[i / 2].offset) = damages[i / 2].value;
		num_reads = 0;
		if (is_read(queues))
			fail_msg("damage %zu is believed", i / 2);
		assert_in_range(num_reads, 1, 2000);
		free(queues);
	}
	/* A moment later all is well, but for the next search. */
	make_busy_world(&openmpi_versions[0]);
	message_queues_destroy(read_new());
}

/* Any words anywhere, many of them addresses of something else. */
static void test_random(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 5000; round++) {
		make_busy_world(&openmpi_versions[round % 2]);
		for (int i = rand() % 4; i >= 0; i--) {
			size_t place = (size_t)(CLASSES + rand() % (END - CLASSES));
			size_t to = (size_t)(CLASSES + rand() % (END - CLASSES));
			const uint64_t values[] = {0, UINT64_MAX,        (uint64_t)rand(),
						   1, MANY + to / 8 * 8, *at(to)};

			*at(place) = values[(size_t)rand() % NUM_OF(values)];
		}
		num_reads = 0;
		message_queues_destroy(read_new());
		assert_in_range(num_reads, 1, 200000);
	}
}

/* What changes while it is read is read again, but not for ever. */
static void test_changing(void **state)
{
	struct openmpi_ucx *queues;

	(void)state;
	make_busy_world(&openmpi_versions[0]);
	queues = create_ucx();
	num_changes = 1;
	assert_true(is_read(queues));
	num_changes = SIZE_MAX;
	assert_false(is_read(queues));
	free(queues);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),   cmocka_unit_test(test_loaded_later),
		cmocka_unit_test(test_search), cmocka_unit_test(test_tags),
		cmocka_unit_test(test_order),  cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_random), cmocka_unit_test(test_changing),
	};
	const char *slash = strrchr(argv[0], '/');
	char path[PATH_MAX], *real;

	(void)argc;
	snprintf(path, sizeof(path), "%.*s../attach", slash ? (int)(slash + 1 - argv[0]) : 0,
		 argv[0]);
	real = realpath(path, NULL);
	if (!real)
		return 1;
	snprintf(folder, sizeof(folder), "%s", real);
	free(real);
	return cmocka_run_group_tests(tests, find_symbols, NULL);
}
