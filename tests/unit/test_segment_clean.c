/* SPDX-License-Identifier: BSD-3-Clause
 * What "pdb clean" does with files that a process left before they were whole segments. */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/segment.h"
#include "model/segment_reader.h"
#include "tests/unit/unit.h"

enum { WHOLE = 8192 };

/* A segment directory in memory, as the default one is. */
struct fixture {
	char dir[64];
	pid_t ended; /* a process that is gone */
};

static int setup(void **state)
{
	struct fixture *fix = calloc(1, sizeof(*fix));

	strcpy(fix->dir, "/dev/shm/test_segment_clean.XXXXXX");
	assert_non_null(mkdtemp(fix->dir));
	fix->ended = fork();
	assert_true(fix->ended >= 0);
	if (fix->ended == 0)
		_exit(0);
	assert_int_equal(waitpid(fix->ended, NULL, 0), fix->ended);
	*state = fix;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fix = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", fix->dir);
	assert_int_equal(system(command), 0);
	free(fix);
	return 0;
}

/* Make the file with `size` bytes that begin with `start`, and leave it open. */
static int make_file(const char *path, const char *start, off_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t length = strlen(start);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, start, length, 0), length);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static void set_hour_back(const char *path)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT } };

	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= 3600;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void let_others_in(const char *path)
{
	assert_int_equal(chmod(path, 0644), 0);
}

static void give_away(const char *path)
{
	if (geteuid() == 0)
		assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
	else
		let_others_in(path);
}

static void make_link(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
}

static void make_directory(const char *path)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
}

enum whose { ENDED, LIVE };

static const struct {
	const char *name;
	const char *format; /* of the file's name, with the pid */
	enum whose whose;
	const char *start;
	off_t size;
	void (*spoil)(const char *path);
	bool is_removed;
} cases[] = {
	{ "empty", "pdb.1048577.0.%d", ENDED, "", 0, NULL, true },
	{ "nothing but zeros", "pdb.ns@1_-b.12.%d", ENDED, "", WHOLE, NULL, true },
	{ "a part of a header", "pdb.job.-1.%d", ENDED, PDB_SEGMENT_MAGIC, 100, NULL, true },
	{ "a part of the magic", "pdb.job.0.%d", ENDED, "PDB", 3, NULL, true },
	{ "of a live process", "pdb.job.0.%d", LIVE, "", 0, NULL, false },
	{ "a part, of a live process", "pdb.job.0.%d", LIVE, PDB_SEGMENT_MAGIC, 100, NULL, false },
	{ "of one before a live process", "pdb.job.0.%d", LIVE, "", 0, set_hour_back, true },
	{ "others may read it", "pdb.job.0.%d", ENDED, "", 0, let_others_in, false },
	{ "another user's", "pdb.job.0.%d", ENDED, "", 0, give_away, false },
	{ "a link", "pdb.job.0.%d", ENDED, "", 0, make_link, false },
	{ "a directory", "pdb.job.0.%d", ENDED, "", 0, make_directory, false },
	{ "something else", "pdb.job.0.%d", ENDED, "ELF", 100, NULL, false },
	{ "something else, short", "pdb.job.0.%d", ENDED, "PDX", 3, NULL, false },
	/* Whole, but of another release, which knows what it says. */
	{ "another version", "pdb.job.0.%d", ENDED, PDB_SEGMENT_MAGIC "\377", WHOLE, NULL, false },
	{ "no rank", "pdb.job.%d", ENDED, "", 0, NULL, false },
	{ "a rank of letters", "pdb.job.x.%d", ENDED, "", 0, NULL, false },
	{ "a rank of minus two", "pdb.job.-2.%d", ENDED, "", 0, NULL, false },
	{ "more behind it", "pdb.job.0.%d.gz", ENDED, "", 0, NULL, false },
	{ "more within it", "pdb.job.b.0.%d", ENDED, "", 0, NULL, false },
	{ "a name of no job", "pdb.my job.0.%d", ENDED, "", 0, NULL, false },
	{ "another name", "pdbx.job.0.%d", ENDED, "", 0, NULL, false },
};

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void make_path(const struct fixture *fix, size_t i, char *path, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), cases[i].format,
		 (int)(cases[i].whose == LIVE ? getpid() : fix->ended));
	snprintf(path, size, "%s/%s", fix->dir, name);
}

static void test_broken(void **state)
{
	const struct fixture *fix = *state;
	struct pdb_error err = { 0 };

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char path[256];

		make_path(fix, i, path, sizeof(path));
		close(make_file(path, cases[i].start, cases[i].size));
		if (cases[i].spoil)
			cases[i].spoil(path);
		if (segment_clean(fix->dir, &err) != cases[i].is_removed)
			fail_msg("%s: %s", cases[i].name, cases[i].is_removed ? "stays" : "removed");
		assert_int_equal(exists(path), !cases[i].is_removed);
		remove(path);
	}
}

/* Somebody has it open for writing: a process of another pid namespace, whose pid means nothing here. */
static void test_broken_has_writer(void **state)
{
	const struct fixture *fix = *state;
	struct pdb_error err = { 0 };

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char path[256];
		int fd;

		if (!cases[i].is_removed)
			continue;
		make_path(fix, i, path, sizeof(path));
		fd = make_file(path, cases[i].start, cases[i].size);
		assert_int_equal(segment_clean(fix->dir, &err), 0);
		assert_true(exists(path));
		close(fd);
		assert_int_equal(remove(path), 0);
	}
}

/* A process that never ends, as its segment names it, has none of them. */
static void test_broken_of(void **state)
{
	const struct fixture *fix = *state;
	const struct segment_process process = { fix->ended, 1 };
	struct pdb_error err = { 0 };
	struct segment_kept *kept;
	char path[256];

	make_path(fix, 0, path, sizeof(path));
	close(make_file(path, "", 0));
	assert_int_equal(segment_clean_of(fix->dir, &process, 1, &err), 0);
	assert_int_equal(segment_take_kept(fix->dir, getpid(), &kept, &err), 0);
	segment_kept_free(kept, 0);
	assert_true(exists(path));
}

/* In a directory that machines may share, the pid may be another machine's. */
static void test_broken_shared(void **state)
{
	struct fixture fix = *(const struct fixture *)*state;
	struct pdb_error err = { 0 };
	struct statfs fs;
	char path[256];
	bool is_memory;

	strcpy(fix.dir, "/tmp/test_segment_clean.XXXXXX");
	assert_non_null(mkdtemp(fix.dir));
	assert_int_equal(statfs(fix.dir, &fs), 0);
	is_memory = fs.f_type == TMPFS_MAGIC;
	make_path(&fix, 0, path, sizeof(path));
	close(make_file(path, "", 0));
	assert_int_equal(segment_clean(fix.dir, &err), is_memory);
	assert_int_equal(exists(path), !is_memory);
	remove(path);
	assert_int_equal(rmdir(fix.dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_broken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_has_writer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_of, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_shared, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
