/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/process/memory.h"
#include "tests/unit/unit.h"

static struct maps *parse(const char *text)
{
	char *copy = strdup(text);
	struct maps *maps = maps_parse(copy);

	free(copy);
	return maps;
}

static void test_objects(void **state)
{
	static const char text[] =
		"55d0c0000000-55d0c0001000 r--p 00000000 fe:00 100    /opt/my app/run\n"
		"55d0c0001000-55d0c0002000 r-xp 00001000 fe:00 100    /opt/my app/run\n"
		"55d0c0002000-55d0c0003000 rw-p 00002000 fe:00 100    /opt/my app/run\n"
		"55d0c0003000-55d0c0004000 rw-p 00000000 00:00 0 \n"
		"55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0      [heap]\n"
		"7f0000000000-7f0000001000 r--p 00000000 fe:00 200    /lib/libmpi.so.40.30.4 "
		"(deleted)\n"
		"7f0000001000-7f0000002000 ---p 00001000 fe:00 200    /lib/libmpi.so.40.30.4 "
		"(deleted)\n"
		"7f0000002000-7f0000003000 r-xp 00001000 fe:00 200    /lib/libmpi.so.40.30.4 "
		"(deleted)\n"
		"7f0000004000-7f0000005000 r--p 00000000 fe:00 300    /data/in\\012put\n"
		"7f0000006000-7f0000007000 r--p 00003000 fe:00 300    /data/in\\012put\n"
		"7f0000008000-7f0000009000 r--p 00003000 fe:00 400    /data/middle\n"
		"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0      [stack]\n"
		"7ffd00030000-7ffd00032000 r-xp 00000000 00:00 0      [vdso]\n"
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]";
	struct maps *maps = parse(text);

	(void)state;
	assert_int_equal(maps->num_ranges, 14);
	assert_int_equal(maps->num_objects, 4);
	assert_string_equal(maps->objects[0].path, "/opt/my app/run");
	assert_int_equal(maps->objects[0].start, 0x55d0c0000000);
	assert_int_equal(maps->objects[0].inode, 100);
	assert_true(maps->objects[0].has_code);
	assert_false(maps->objects[0].is_deleted);
	assert_string_equal(maps->objects[1].path, "/lib/libmpi.so.40.30.4");
	assert_true(maps->objects[1].is_deleted);
	assert_true(maps->objects[1].has_code);
	assert_string_equal(maps->objects[2].path, "/data/in\nput");
	assert_false(maps->objects[2].has_code);
	assert_string_equal(maps->objects[3].path, "[vdso]");
	assert_true(maps_has_mpi(maps));
	assert_ptr_equal(maps_find_object(maps, "ru"), &maps->objects[0]);
	assert_null(maps_find_object(maps, "opt"));
	maps_destroy(maps);
}

static void test_find(void **state)
{
	static const struct {
		uint64_t address;
		int range; /* -1: none */
	} cases[] = {
		{0, -1},     {0xfff, -1}, {0x1000, 0},  {0x1fff, 0},
		{0x2000, 1}, {0x2fff, 1}, {0x3000, -1}, {0x4fff, -1},
		{0x5000, 2}, {0x5fff, 2}, {0x6000, -1}, {UINT64_MAX, -1},
	};
	struct maps *maps = parse("1000-2000 r-xp 00000000 fe:00 1 /a\n"
				  "2000-3000 rw-p 00001000 fe:00 1 /a\n"
				  "5000-6000 r-xp 00000000 fe:00 2 /b\n");
	size_t i;

	(void)state;
	for (i = 0; i < NUM_OF(cases); i++) {
		const struct maps_range *range = maps_find(maps, cases[i].address);

		if (cases[i].range < 0)
			assert_null(range);
		else
			assert_ptr_equal(range, &maps->ranges[cases[i].range]);
	}
	assert_true(maps->ranges[0].is_executable && !maps->ranges[0].is_writable);
	assert_true(maps->ranges[1].is_writable && !maps->ranges[1].is_executable);
	assert_int_equal(maps->ranges[1].object, 0);
	assert_int_equal(maps->ranges[2].object, 1);
	maps_destroy(maps);
}

/* Where an object has its variables. */
static void test_variables(void **state)
{
	static const struct {
		const char *name;
		uint64_t start, end; /* both 0: it has none */
	} cases[] = {
		/* one of them cannot be written; zeros behind the last */
		{"run", 0x3000, 0x7000},
		{"libone", 0x11000, 0x12000},   /* memory of somebody else behind a gap */
		{"libtwo", 0, 0},               /* what follows code is not its own */
		{"libthree", 0x32000, 0x33000}, /* a part of another file follows */
		{"libfour", 0x40000, 0x43000},  /* a part without rights follows, zeros behind it */
	};
	struct maps *maps = parse("1000-2000 rw-p 00000000 00:00 0\n"
				  "2000-3000 r-xp 00000000 fe:00 1 /run\n"
				  "3000-4000 rw-p 00001000 fe:00 1 /run\n"
				  "4000-5000 r--p 00002000 fe:00 1 /run\n"
				  "5000-6000 rw-p 00003000 fe:00 1 /run\n"
				  "6000-7000 rw-p 00000000 00:00 0\n"
				  "10000-11000 r-xp 00000000 fe:00 2 /libone.so\n"
				  "11000-12000 rw-p 00001000 fe:00 2 /libone.so\n"
				  "13000-14000 rw-p 00000000 00:00 0\n"
				  "20000-21000 r-xp 00000000 fe:00 3 /libtwo.so\n"
				  "21000-22000 rw-p 00000000 00:00 0\n"
				  "30000-32000 r-xp 00000000 fe:00 4 /libthree.so\n"
				  "32000-33000 rw-p 00002000 fe:00 4 /libthree.so\n"
				  "33000-34000 rw-s 00005000 fe:00 9 /data/in the middle\n"
				  "34000-35000 rw-p 00000000 00:00 0\n"
				  "40000-41000 rw-p 00000000 fe:00 5 /libfour.so\n"
				  "41000-42000 rw-p 00000000 00:00 0\n"
				  "42000-43000 rw-p 00000000 00:00 0\n"
				  "43000-44000 ---p 00000000 00:00 0\n"
				  "44000-45000 rw-p 00000000 00:00 0\n");

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct maps_object *object = maps_find_object(maps, cases[i].name);
		uint64_t start = 0, end = 0;

		assert_non_null(object);
		assert_int_equal(maps_find_variables(maps, object, &start, &end),
				 cases[i].end != 0);
		assert_int_equal(start, cases[i].start);
		assert_int_equal(end, cases[i].end);
	}
	maps_destroy(maps);
}

static void test_bad_lines(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"garbage",
		"2000-1000 r-xp 00000000 fe:00 1 /a\n",
		"1000-1000 r-xp 00000000 fe:00 1 /a\n",
		"1000-2000 r-xp",
		"1000-2000 r- 0 0:0 1 /a",
	};
	struct maps *maps;
	size_t i;

	(void)state;
	for (i = 0; i < NUM_OF(texts); i++) {
		maps = parse(texts[i]);
		assert_int_equal(maps->num_ranges, 0);
		assert_null(maps_find(maps, 0x1800));
		maps_destroy(maps);
	}
	/* Overlapping what came before, so not from a kernel. */
	maps = parse("1000-3000 r-xp 00000000 fe:00 1 /a\n2000-4000 r-xp 00000000 fe:00 1 /b\n");
	assert_int_equal(maps->num_ranges, 1);
	maps_destroy(maps);
	maps_destroy(NULL);
}

static void test_own_process(void **state)
{
	struct maps *maps = maps_read(getpid());
	const struct maps_range *range = maps_find(maps, (uint64_t)(uintptr_t)&test_own_process);

	(void)state;
	assert_non_null(range);
	assert_true(range->is_executable);
	assert_string_equal(maps_base(maps->objects[range->object].path), "test_maps");
	assert_false(maps_has_mpi(maps));
	maps_destroy(maps);
	assert_null(maps_read(0x7ffffff0));
}

static void test_memory(void **state)
{
	char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = (uint64_t)(uintptr_t)pages;
	char buffer[8192];

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	memset(pages, 'x', 4096);
	memcpy(pages + 4090, "ends", 5);
	/* Up to where memory ends, and not beyond. */
	assert_int_equal(memory_read(getpid(), at, buffer, 100), 100);
	assert_int_equal(memory_read(getpid(), at, buffer, sizeof(buffer)), 4096);
	assert_memory_equal(buffer, pages, 4096);
	assert_int_equal(memory_read(getpid(), at + 4096, buffer, 1), -1);
	assert_int_equal(memory_read_all(getpid(), at + 4000, buffer, 96), 0);
	assert_int_equal(memory_read_all(getpid(), at + 4000, buffer, 97), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(memory_read_string(getpid(), at + 4090, buffer, sizeof(buffer)), 4);
	assert_string_equal(buffer, "ends");
	assert_int_equal(memory_read_string(getpid(), at, buffer, 16), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	pages[4094] = 'x';
	pages[4095] = 'x';
	assert_int_equal(memory_read_string(getpid(), at + 4095, buffer, sizeof(buffer)), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(memory_read(getpid(), UINT64_MAX - 8, buffer, 16), -1);
	assert_int_equal(errno, EFAULT);
	assert_int_equal(memory_read(0x7ffffff0, at, buffer, 1), -1);
	assert_int_equal(errno, ESRCH);
	munmap(pages, 3 * 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),   cmocka_unit_test(test_find),
		cmocka_unit_test(test_bad_lines), cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_memory),    cmocka_unit_test(test_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
