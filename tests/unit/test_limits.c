/* SPDX-License-Identifier: BSD-3-Clause
 * Limits that processes have reached: real file systems that are full, few descriptors. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "attach/blocked/limits.h"
#include "tests/unit/child.h"

#define FOLDER "/mnt"

static void tell_and_wait(int ready, const char *what)
{
	if (write(ready, what, 1) == 1)
		for (;;)
			pause();
}

/* ---- File systems, in a mount namespace of the child's own ---- */

struct disk {
	const char *options, *at;
	int flags;
	bool is_filled, has_files;
	const char *expected; /* NULL: nothing */
};

static void fill(int fd)
{
	static const char bytes[4096];

	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
}

static void make_files(const char *at)
{
	char path[64];

	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "%s/%d", at, i);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
}

static void use_disk(const void *argument, int ready)
{
	const struct disk *disk = argument;
	char path[64];
	int fd;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("small", disk->at, "tmpfs", 0, disk->options)) {
		tell_and_wait(ready, "n");
		return;
	}
	snprintf(path, sizeof(path), "%s/out", disk->at);
	fd = open(path, O_CREAT | O_RDWR, 0600);
	if (disk->is_filled)
		fill(fd);
	if (disk->has_files)
		make_files(disk->at);
	if (disk->flags != O_WRONLY) {
		close(fd);
		fd = disk->flags < 0 ? -1 : open(path, disk->flags);
	}
	tell_and_wait(ready, "y");
}

static void test_full(void **state)
{
	static const struct disk disks[] = {
		{"size=1m", FOLDER, O_WRONLY, true, false,
		 "the file system of " FOLDER "/out (tmpfs, small, mounted at " FOLDER ") is full"},
		{"size=1m,nr_inodes=20", FOLDER, O_WRONLY, false, true,
		 "the file system of " FOLDER "/out (tmpfs, small, mounted at " FOLDER
		 ") has no inodes left"},
		{"size=1m", "/dev/shm", -1, true, false, "/dev/shm is full"},
		/* With room; without a limit; only read; not open. */
		{"size=1m", FOLDER, O_WRONLY, false, false, NULL},
		{"size=0,nr_inodes=0", FOLDER, O_WRONLY, false, true, NULL},
		{"size=1m", FOLDER, O_RDONLY, true, false, NULL},
		{"size=1m", FOLDER, -1, true, false, NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(disks); i++) {
		bool is_mounted;
		char *words;
		pid_t pid = start_told(use_disk, &disks[i], &is_mounted);

		if (!is_mounted) {
			stop(pid);
			skip();
		}
		/* A busy machine may need longer than a look is given. */
		words = limits_reached(pid);
		for (int tries = 0; !words && disks[i].expected && tries < 50; tries++)
			words = limits_reached(pid);
		if (!words != !disks[i].expected ||
		    (words && strcmp(words, disks[i].expected) != 0))
			fail_msg("case %zu: %s", i, words ? words : "nothing");
		free(words);
		stop(pid);
	}
}

static void test_room_of_root(void **state)
{
	static const struct {
		unsigned long blocks, free, available;
		bool of_root, of_others;
	} cases[] = {{100, 5, 0, false, true},
		     {100, 0, 0, true, true},
		     {100, 9, 4, false, false},
		     {0, 0, 0, false, false}};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const struct statvfs stat = {.f_blocks = cases[i].blocks,
					     .f_bfree = cases[i].free,
					     .f_bavail = cases[i].available};

		assert_int_equal(limits_is_full(&stat, true), cases[i].of_root);
		assert_int_equal(limits_is_full(&stat, false), cases[i].of_others);
	}
}

/* In the way to /dev/shm is a file system that pdb does not know as a local one. */
static void use_far_root(const void *argument, int ready)
{
	const struct disk disk = {"size=1m", "/dev/shm", -1, true, false, NULL};

	(void)argument;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("far", FOLDER, "ramfs", 0, NULL) || mkdir(FOLDER "/dev", 0755) ||
	    mkdir(FOLDER "/dev/shm", 0755) || chroot(FOLDER) || chdir("/"))
		tell_and_wait(ready, "n");
	use_disk(&disk, ready);
}

static void test_far_root(void **state)
{
	bool is_mounted;
	pid_t pid = start_told(use_far_root, NULL, &is_mounted);
	char *words;

	(void)state;
	if (!is_mounted) {
		stop(pid);
		skip();
	}
	words = limits_reached(pid);
	assert_null(words);
	stop(pid);
}

/* ---- Descriptors ---- */

static void use_descriptors(const void *argument, int ready)
{
	bool are_all = *(const bool *)argument;

	if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}))
		return;
	while (dup(ready) >= 0)
		;
	if (!are_all)
		close(40);
	tell_and_wait(ready, "y");
}

static void test_descriptors(void **state)
{
	static const bool cases[] = {true, false};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		pid_t pid = start(use_descriptors, &cases[i]);
		char *words = limits_reached(pid);

		if (cases[i])
			assert_string_equal(words, "all 64 file descriptors that it may have are "
						   "open");
		else
			assert_null(words);
		free(words);
		stop(pid);
	}
}

static void test_parse(void **state)
{
	static const char text[] =
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max processes             96365                96365                processes \n"
		"Max open files            1024                 1048576              files     \n";
	static const char unlimited[] =
		"Max open files            unlimited            unlimited            files     \n";
	uint64_t limit = 0;

	(void)state;
	assert_true(limits_parse_files(text, &limit));
	assert_int_equal(limit, 1024);
	assert_false(limits_parse_files(unlimited, &limit));
	assert_false(limits_parse_files("", &limit));
	assert_false(limits_parse_files("Max open files", &limit));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),         cmocka_unit_test(test_far_root),
		cmocka_unit_test(test_room_of_root), cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
