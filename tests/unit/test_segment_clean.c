/* SPDX-License-Identifier: BSD-3-Clause
 * What "pdb clean" removes of whole segments, and of files that a process left before they were. */
#include <sys/mman.h>
#include <time.h>

#include "model/segment/segment.h"
#include "model/segment/segment_reader.h"
#include "tests/unit/segment_dir.h"

/* ---- Whole segments ---- */

static void test_clean(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false);
	pid_t live = fix->child.pid, dead = child.pid;
	uint64_t start = start_time(dead);
	char alive[4096], gone[4096], reused[4096], mapped[4096], open_mode[4096], garbage[4096];
	char other[80];
	struct pdb_error err = {0};
	void *map;
	int fd;

	save_as(fix, "alive", live, start_time(live), alive);
	save_as(fix, "gone", dead, start, gone);
	save_as(fix, "reused", live, start_time(live) - 1, reused);
	save_as(fix, "mapped", dead, start, mapped);
	save_as(fix, "open", dead, start, open_mode);
	save_as(fix, "garbage", dead, start, garbage);
	end_child(&child);
	snprintf(other, sizeof(other), "%s/other", fix->dir);
	assert_int_equal(segment_writer_save(fix->w, other), 0);
	assert_int_equal(chmod(open_mode, 0644), 0);
	write_at(garbage, 0, "ELF");
	/* A writer whose pid is not visible here still has its segment mapped. */
	fd = open(mapped, O_RDWR);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);

	assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), 2);
	assert_false(exists(gone) || exists(reused));
	assert_true(exists(alive) && exists(mapped) && exists(open_mode) && exists(garbage) &&
		    exists(other));
	munmap(map, 4096);
	assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), 1);
	assert_false(exists(mapped));
	assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), 0);
	fd = segment_open_pid(live, &err);
	assert_true(fd >= 0);
	close(fd);
}

/* What a rank has left while others of its job go on tells that it has ended: until they have,
 * too. */
static void test_clean_live_job(void **state)
{
	static const struct {
		void (*spoil)(struct seg_header *header);
		bool is_removed;
	} table[] = {
		{NULL, false},        {spoil_job, true},      {spoil_size, true},
		{spoil_rank, true},   {spoil_own_rank, true}, {spoil_parent, true},
		{spoil_before, true}, {spoil_later, true},    {spoil_alive, false},
	};
	struct fixture *fix = *state;
	struct pdb_error err = {0};
	struct seg_header usual;
	char live[4096], path[4096];

	fix->w->header.parent_pid = getpid();
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, live), 0);
	fix->w->header.rank = 5;
	fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
	usual = fix->w->header;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		fix->w->header = usual;
		if (table[i].spoil)
			table[i].spoil(&fix->w->header);
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		if (segment_clean(fix->dir, NULL, 0, &err) != table[i].is_removed)
			fail_msg("case %zu: %s", i, table[i].is_removed ? "stays" : "removed");
		assert_true(exists(live));
		assert_int_equal(exists(path), !table[i].is_removed);
		remove(path);
	}
	fix->w->header = usual;
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	end_child(&fix->child);
	assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), 2);
	fix->child = start_child(fix->dir, false);
}

/* One job's: another's stay, also those of an earlier process with the same pid. */
static void test_clean_of(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false), other = start_child(fix->dir, false);
	pid_t live = fix->child.pid;
	struct segment_process processes[] = {{child.pid, start_time(child.pid)},
					      {live, start_time(live)}};
	char alive[4096], gone[4096], earlier[4096], others[4096];
	struct pdb_error err = {0};

	save_as(fix, "alive", live, start_time(live), alive);
	save_as(fix, "gone", child.pid, start_time(child.pid), gone);
	save_as(fix, "earlier", child.pid, start_time(child.pid) - 1, earlier);
	save_as(fix, "others", other.pid, start_time(other.pid), others);
	end_child(&child);
	end_child(&other);

	assert_int_equal(segment_clean(fix->dir, processes, 0, &err), 0);
	assert_true(exists(gone));
	assert_int_equal(segment_clean(fix->dir, processes, 2, &err), 1);
	assert_false(exists(gone));
	assert_true(exists(alive) && exists(earlier) && exists(others));
	assert_int_equal(segment_clean("/no/such/directory", processes, 2, &err), -1);
}

/* The pid of another machine's rank is nobody's here. */
static void test_clean_shared(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false);
	struct pdb_error err = {0};
	char path[4096];
	bool is_memory = is_in_memory(fix->dir);

	strcpy(fix->w->header.host, "elsewhere.example");
	save_as(fix, "far", child.pid, start_time(child.pid), path);
	end_child(&child);
	assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), is_memory);
	assert_int_equal(exists(path), !is_memory);
}

static void test_clean_refused(void **state)
{
	struct pdb_error err = {0};

	(void)state;
	assert_int_equal(segment_clean("/no/such/directory", NULL, 0, &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "/no/such/directory");
}

/* ---- Files that are not whole yet ---- */

enum { WHOLE = 8192 };

/* A segment directory in memory, as the default one is. */
static int setup_in_memory(void **state)
{
	return setup_in("/dev/shm", state);
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
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}};

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
	{"empty", "pdb.1048577.0.%d", ENDED, "", 0, NULL, true},
	{"nothing but zeros", "pdb.ns@1_-b.12.%d", ENDED, "", WHOLE, NULL, true},
	{"a part of a header", "pdb.job.-1.%d", ENDED, PDB_SEGMENT_MAGIC, 100, NULL, true},
	{"a part of the magic", "pdb.job.0.%d", ENDED, "PDB", 3, NULL, true},
	{"of a live process", "pdb.job.0.%d", LIVE, "", 0, NULL, false},
	{"a part, of a live process", "pdb.job.0.%d", LIVE, PDB_SEGMENT_MAGIC, 100, NULL, false},
	{"of one before a live process", "pdb.job.0.%d", LIVE, "", 0, set_hour_back, true},
	{"others may read it", "pdb.job.0.%d", ENDED, "", 0, let_others_in, false},
	{"another user's", "pdb.job.0.%d", ENDED, "", 0, give_away, false},
	{"a link", "pdb.job.0.%d", ENDED, "", 0, make_link, false},
	{"a directory", "pdb.job.0.%d", ENDED, "", 0, make_directory, false},
	{"something else", "pdb.job.0.%d", ENDED, "ELF", 100, NULL, false},
	{"something else, short", "pdb.job.0.%d", ENDED, "PDX", 3, NULL, false},
	/* Whole, but of another release, which knows what it says. */
	{"another version", "pdb.job.0.%d", ENDED, PDB_SEGMENT_MAGIC "\377", WHOLE, NULL, false},
	{"no rank", "pdb.job.%d", ENDED, "", 0, NULL, false},
	{"a rank of letters", "pdb.job.x.%d", ENDED, "", 0, NULL, false},
	{"a rank of minus two", "pdb.job.-2.%d", ENDED, "", 0, NULL, false},
	{"more behind it", "pdb.job.0.%d.gz", ENDED, "", 0, NULL, false},
	{"more within it", "pdb.job.b.0.%d", ENDED, "", 0, NULL, false},
	{"a name of no job", "pdb.my job.0.%d", ENDED, "", 0, NULL, false},
	{"another name", "pdbx.job.0.%d", ENDED, "", 0, NULL, false},
};

static void make_path(const struct fixture *fix, pid_t ended, size_t i, char *path, size_t size)
{
	char name[64];

	snprintf(name, sizeof(name), cases[i].format,
		 (int)(cases[i].whose == LIVE ? getpid() : ended));
	snprintf(path, size, "%s/%s", fix->dir, name);
}

static void test_broken(void **state)
{
	struct fixture *fix = *state;
	struct pdb_error err = {0};
	pid_t ended = start_ended(fix, NULL);

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char path[256];

		make_path(fix, ended, i, path, sizeof(path));
		close(make_file(path, cases[i].start, cases[i].size));
		if (cases[i].spoil)
			cases[i].spoil(path);
		if (segment_clean(fix->dir, NULL, 0, &err) != cases[i].is_removed)
			fail_msg("%s: %s", cases[i].name,
				 cases[i].is_removed ? "stays" : "removed");
		assert_int_equal(exists(path), !cases[i].is_removed);
		remove(path);
	}
}

/* Somebody has it open for writing: a process of another pid namespace, whose pid means nothing
 * here. */
static void test_broken_has_writer(void **state)
{
	struct fixture *fix = *state;
	struct pdb_error err = {0};
	pid_t ended = start_ended(fix, NULL);

	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char path[256];
		int fd;

		if (!cases[i].is_removed)
			continue;
		make_path(fix, ended, i, path, sizeof(path));
		fd = make_file(path, cases[i].start, cases[i].size);
		assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), 0);
		assert_true(exists(path));
		close(fd);
		assert_int_equal(remove(path), 0);
	}
}

/* A process that never ends, as its segment names it, has none of them. */
static void test_broken_of(void **state)
{
	struct fixture *fix = *state;
	pid_t ended = start_ended(fix, NULL);
	const struct segment_process process = {ended, 1};
	struct pdb_error err = {0};
	struct segment_kept *kept;
	char path[256];

	make_path(fix, ended, 0, path, sizeof(path));
	close(make_file(path, "", 0));
	assert_int_equal(segment_clean(fix->dir, &process, 1, &err), 0);
	assert_int_equal(segment_take_kept(fix->dir, getpid(), &kept, &err), 0);
	segment_kept_free(kept, 0);
	assert_true(exists(path));
}

/* In a directory that machines may share, the pid may be another machine's. */
static void test_broken_shared(void **state)
{
	struct fixture *fix = *state;
	struct pdb_error err = {0};
	bool is_memory = is_in_memory(fix->dir);
	pid_t ended = start_ended(fix, NULL);
	char path[256];

	make_path(fix, ended, 0, path, sizeof(path));
	close(make_file(path, "", 0));
	assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), is_memory);
	assert_int_equal(exists(path), !is_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_clean, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean_live_job, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean_of, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clean_shared, setup, teardown),
		cmocka_unit_test(test_clean_refused),
		cmocka_unit_test_setup_teardown(test_broken, setup_in_memory, teardown),
		cmocka_unit_test_setup_teardown(test_broken_has_writer, setup_in_memory, teardown),
		cmocka_unit_test_setup_teardown(test_broken_of, setup_in_memory, teardown),
		cmocka_unit_test_setup_teardown(test_broken_shared, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
