/* SPDX-License-Identifier: BSD-3-Clause
 * What ranks that have ended have left: while others of their job live, and for a keeper. */
#include "model/segment/segment_reader.h"
#include "tests/unit/segment_dir.h"

static void spoil_host(struct seg_header *h)
{
	strcpy(h->host, "elsewhere.example");
}

static void spoil_no_rank(struct seg_header *h)
{
	h->rank = -1;
}

static void spoil_no_parent(struct seg_header *h)
{
	h->parent_pid = 0;
}

static void spoil_user(struct seg_header *h)
{
	h->uid++;
}

/* The live rank 3 of 8, and what rank 5 may have left. */
static void test_left(void **state)
{
	static const struct {
		void (*spoil)(struct seg_header *header);
		int num;
	} table[] = {
		{NULL, 1},           {spoil_job, 0},    {spoil_host, 0},
		{spoil_size, 0},     {spoil_rank, 0},   {spoil_no_rank, 0},
		{spoil_own_rank, 0}, {spoil_parent, 0}, {spoil_no_parent, 0},
		{spoil_user, 0},     {spoil_before, 0}, {spoil_later, 0},
		{spoil_alive, 0},
	};
	struct fixture *fix = *state;
	struct pdb_error err = {0};
	struct seg_header usual;
	char path[4096];
	uint64_t start;
	pid_t ended = start_ended(fix, &start);

	fix->w->header.parent_pid = getpid();
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	usual = fix->w->header;
	usual.rank = 5;
	usual.pid = ended;
	usual.pid_start = start;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct segment_left *left = NULL;

		fix->w->header = usual;
		if (table[i].spoil)
			table[i].spoil(&fix->w->header);
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		if (segment_find_left(fix->child.pid, &left, &err) != table[i].num)
			fail_msg("case %zu: not %d", i, table[i].num);
		if (table[i].num) {
			assert_int_equal(left[0].rank, 5);
			assert_int_equal(left[0].pid, ended);
		}
		free(left);
		assert_int_equal(remove(path), 0);
	}
}

/* Sorted, each rank once, and those whose pid is another process' by now. */
static void test_left_many(void **state)
{
	static const struct {
		int rank;
		bool is_reused;
	} table[] = {{7, false}, {2, true}, {7, false}, {0, false}};
	struct fixture *fix = *state;
	struct segment_left *left;
	struct pdb_error err = {0};
	char path[4096];

	fix->w->header.parent_pid = getpid();
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	for (size_t i = 0; i < NUM_OF(table); i++) {
		fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
		fix->w->header.rank = table[i].rank;
		if (table[i].is_reused)
			fix->w->header.pid = 1; /* which has begun at another time for sure */
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
	}
	assert_int_equal(segment_find_left(fix->child.pid, &left, &err), 3);
	assert_int_equal(left[0].rank, 0);
	assert_int_equal(left[1].rank, 2);
	assert_int_equal(left[2].rank, 7);
	for (int i = 0; i < 3; i++) {
		int fd = segment_open_left(fix->child.pid, &left[i]);

		assert_true(fd >= 0);
		close(fd);
		left[i].rank++;
		assert_int_equal(segment_open_left(fix->child.pid, &left[i]), -1);
	}
	free(left);
}

/* Nothing is known of what others left when the live rank does not say who started it. */
static void test_left_unknown(void **state)
{
	static const int parents[] = {0, 1, -7};
	struct fixture *fix = *state;
	struct pdb_error err = {0};
	struct segment_left *left;
	pid_t pid = fix->w->header.pid;
	uint64_t pid_start = fix->w->header.pid_start;
	char live[4096], path[4096];

	assert_int_equal(segment_find_left(fix->child.pid, &left, &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "no recorder");
	for (size_t i = 0; i <= NUM_OF(parents); i++) {
		/* The last of them has ended. */
		fix->w->header.parent_pid =
			i < NUM_OF(parents) ? parents[i] : start_ended(fix, NULL);
		fix->w->header.rank = 3;
		fix->w->header.pid = pid;
		fix->w->header.pid_start = pid_start;
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, live), 0);
		fix->w->header.rank = 5;
		fix->w->header.pid = start_ended(fix, &fix->w->header.pid_start);
		assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
		assert_int_equal(segment_find_left(fix->child.pid, &left, &err), 0);
		assert_null(left);
		assert_int_equal(remove(live), 0);
		assert_int_equal(remove(path), 0);
	}
}

/* Of a rank that has ended, for a keeper. */
static void save_kept(struct fixture *fix, const char *job, int rank, const struct child *child,
		      uint64_t start, pid_t keeper, char path[4096])
{
	fix->w->header.rank = rank;
	fix->w->header.keeper = keeper;
	save_as(fix, job, child->pid, start, path);
}

static void test_take_kept(void **state)
{
	struct fixture *fix = *state;
	struct child child = start_child(fix->dir, false), other = start_child(fix->dir, false);
	char first[4096], again[4096], second[4096], others[4096], alive[4096];
	uint64_t start = start_time(child.pid), other_start = start_time(other.pid);
	struct pdb_error err = {0};
	struct segment_kept *kept;

	save_kept(fix, "b", 1, &child, start, getpid(), first);
	save_kept(fix, "b", 0, &other, other_start, getpid(), second);
	/* An earlier program of the same rank. */
	save_kept(fix, "b", 0, &child, start - 1, getpid(), again);
	save_kept(fix, "c", 0, &child, start, 1, others);
	save_kept(fix, "d", 0, &fix->child, start_time(fix->child.pid), getpid(), alive);
	end_child(&child);
	end_child(&other);

	/* They wait for their keepers. */
	assert_int_equal(segment_clean(fix->dir, NULL, 0, &err), 0);
	assert_int_equal(segment_take_kept(fix->dir, getpid(), &kept, &err), 2);
	for (int i = 0; i < 2; i++) {
		assert_string_equal(kept[i].job, "b");
		assert_int_equal(kept[i].rank, i);
		assert_false(segment_has_traces(kept[i].fd));
	}
	assert_true(kept[0].start == other_start);
	assert_false(exists(first) || exists(second) || exists(again));
	assert_true(exists(others) && exists(alive));
	segment_kept_free(kept, 2);
	assert_int_equal(segment_take_kept(fix->dir, getpid(), &kept, &err), 0);
	segment_kept_free(kept, 0);
	assert_int_equal(segment_take_kept("/nowhere", getpid(), &kept, &err), -1);
	fix->w->header.keeper = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_take_kept, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
