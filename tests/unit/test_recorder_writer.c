/* SPDX-License-Identifier: BSD-3-Clause
 * The writer's end of the segment file, without MPI. */
#include "model/recorder/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static char dir[] = "/tmp/pdb-test-writer-XXXXXX";
static const struct writer_identity identity = {.rank = 3, .size = 8, .job = "prterun-x@1/.."};

static void create(struct writer *w)
{
	char why[512] = "";

	if (writer_create(w, dir, &identity, 64, 0, why, sizeof(why)) != 0)
		fail_msg("%s", why);
}

static void test_header(void **state)
{
	struct writer w;
	struct stat st;
	char name[512];

	(void)state;
	create(&w);
	snprintf(name, sizeof(name), "%s/pdb.prterun-x@1___.3.%d", dir, (int)getpid());
	assert_string_equal(w.path, name);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, w.header->file_size);
	assert_memory_equal(w.header->magic, PDB_SEGMENT_MAGIC, 8);
	assert_int_equal(w.header->pid, getpid());
	assert_true(w.header->pid_start > 0);
	assert_int_equal(w.header->rank, 3);
	assert_int_equal(w.header->size, 8);
	assert_string_equal(w.header->job, identity.job);
	assert_int_equal(w.header->tables[SEG_TABLE_SITES].count, 1);
	writer_remove(&w);
	assert_int_equal(access(name, F_OK), -1);
}

/* Two rows of entries: what was published stays where it was while the table grows. */
static void test_tables_grow(void **state)
{
	struct writer w;
	uint32_t index;

	(void)state;
	create(&w);
	const struct seg_frame *frames =
		(const void *)((char *)w.header + w.header->tables[SEG_TABLE_FRAMES].offset);
	for (uint32_t i = 0; i < 5000; i++) {
		struct seg_frame *f = writer_next(&w, SEG_TABLE_FRAMES, 1, &index);
		assert_non_null(f);
		assert_int_equal(index, i);
		*f = (struct seg_frame){.parent = SEG_NO_FRAME, .offset = i};
		writer_publish(&w, SEG_TABLE_FRAMES, 1);
	}
	assert_int_equal(w.header->tables[SEG_TABLE_FRAMES].count, 5000);
	assert_int_equal(frames[4321].offset, 4321);
	assert_true(w.header->tables[SEG_TABLE_FRAMES].allocated >= 5000 * sizeof(frames[0]));
	writer_remove(&w);
}

static void test_table_full(void **state)
{
	struct writer w;
	uint32_t index;

	(void)state;
	create(&w);
	for (uint32_t i = 0; i < SEG_MAX_MODULES; i++) {
		assert_non_null(writer_next(&w, SEG_TABLE_MODULES, 1, &index));
		writer_publish(&w, SEG_TABLE_MODULES, 1);
	}
	assert_null(writer_next(&w, SEG_TABLE_MODULES, 1, &index));
	assert_int_equal(w.header->tables[SEG_TABLE_MODULES].count, SEG_MAX_MODULES);
	assert_int_equal(w.header->tables[SEG_TABLE_MODULES].dropped, 1);
	/* Other tables still grow. */
	assert_true(writer_string(&w, "more") > 0);
	writer_remove(&w);
}

/* Growth past RLIMIT_FSIZE must be refused without SIGXFSZ, which would end this program. */
static void test_file_size_limit(void **state)
{
	struct rlimit old, low;
	struct writer w;
	char why[512] = "";

	(void)state;
	create(&w);
	getrlimit(RLIMIT_FSIZE, &old);
	low = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &low);
	uint32_t index;
	void *entry = writer_next(&w, SEG_TABLE_FRAMES, 1, &index);
	struct seg_lane *lane = writer_lane(&w, 0);
	struct writer second;
	int created = writer_create(&second, dir, &(struct writer_identity){.job = "other"}, 64, 0,
				    why, sizeof(why));
	setrlimit(RLIMIT_FSIZE, &old);
	assert_null(entry);
	assert_null(lane);
	assert_int_equal(created, -1);
	assert_non_null(strstr(why, "File too large"));
	/* One refusal is final. */
	assert_null(writer_next(&w, SEG_TABLE_FRAMES, 1, &index));
	assert_int_equal(w.header->tables[SEG_TABLE_FRAMES].dropped, 2);
	writer_remove(&w);
}

/* What stands in the way under our name, and whether it may be replaced. */
static void test_name_taken(void **state)
{
	static const struct {
		const char *what;
		int result;
	} cases[] = {{"file", 0}, {"link", -1}, {"directory", -1}, {"fifo", -1}};
	char name[512], victim[512], why[512];
	struct writer w;

	(void)state;
	snprintf(name, sizeof(name), "%s/pdb.prterun-x@1___.3.%d", dir, (int)getpid());
	snprintf(victim, sizeof(victim), "%s/victim", dir);
	close(open(victim, O_CREAT | O_WRONLY, 0600));
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		switch (cases[i].what[0]) {
		case 'f':
			if (cases[i].what[1] == 'i' && cases[i].what[2] == 'f')
				assert_int_equal(mkfifo(name, 0600), 0);
			else
				close(open(name, O_CREAT | O_WRONLY, 0600));
			break;
		case 'l':
			assert_int_equal(symlink(victim, name), 0);
			break;
		default:
			assert_int_equal(mkdir(name, 0700), 0);
		}
		assert_int_equal(writer_create(&w, dir, &identity, 64, 0, why, sizeof(why)),
				 cases[i].result);
		remove(name);
	}
	struct stat st;
	assert_int_equal(stat(victim, &st), 0);
	assert_int_equal(st.st_size, 0);
	remove(victim);
}

/* Somebody has put another file under our name: it is neither grown nor removed. */
static void test_file_replaced(void **state)
{
	struct writer w;
	uint32_t index;

	(void)state;
	create(&w);
	unlink(w.path);
	close(open(w.path, O_CREAT | O_WRONLY, 0600));
	assert_null(writer_next(&w, SEG_TABLE_FRAMES, 1, &index));
	writer_remove(&w);
	assert_int_equal(access(w.path, F_OK), 0);
	unlink(w.path);
}

static void test_lanes(void **state)
{
	struct writer w;

	(void)state;
	create(&w);
	for (uint32_t i = 0; i < 3; i++) {
		struct seg_lane *lane = writer_lane(&w, i);
		assert_non_null(lane);
		assert_int_equal(lane->tables[SEG_LANE_RING].capacity, 64);
		lane->tid = i;
	}
	assert_int_equal(w.header->file_size, w.header->lane_offset + 3 * w.header->lane_size);
	int32_t tid = -1;
	int fd = open(w.path, O_RDONLY);
	assert_int_equal(pread(fd, &tid, sizeof(tid),
			       w.header->lane_offset + 2 * w.header->lane_size +
				       offsetof(struct seg_lane, tid)),
			 sizeof(tid));
	close(fd);
	assert_int_equal(tid, 2);
	assert_null(writer_lane(&w, SEG_MAX_LANES));
	writer_remove(&w);
}

static void test_no_directory(void **state)
{
	struct writer w;
	char why[512];

	(void)state;
	assert_int_equal(writer_create(&w, "/nonexistent", &identity, 64, 0, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "cannot create /nonexistent/pdb."));
	assert_non_null(strstr(why, "No such file or directory"));
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),     cmocka_unit_test(test_tables_grow),
		cmocka_unit_test(test_table_full), cmocka_unit_test(test_file_size_limit),
		cmocka_unit_test(test_name_taken), cmocka_unit_test(test_file_replaced),
		cmocka_unit_test(test_lanes),      cmocka_unit_test(test_no_directory),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
