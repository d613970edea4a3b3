/* SPDX-License-Identifier: BSD-3-Clause
 * What small files cost that claim as much as they can: what a stranger may send. Each is loaded
 * and asked the questions of everyday by a process of its own, which may take 64 MiB and 2 s. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zstd.h>

#include "model/buffer.h"
#include "model/error.h"
#include "model/job/names.h"
#include "model/segment/segment.h"
#include "model/wire/share_private.h"
#include "model/wire/snapshot_format.h"
#include "shell/command.h"
#include "shell/session.h"
#include "tests/unit/unit.h"

/* What the sanitizers keep is theirs. */
#ifdef __SANITIZE_ADDRESS__
enum { MOST_KB = 1 << 20, MOST_MS = 20000 };
#else
enum { MOST_KB = 64 << 10, MOST_MS = 2000 };
#endif

static const char *const questions[] = {"lp", "groups", "info ranks", "bt all"};

/* ---- A snapshot, column by column (docs/snapshot-format.md, share-format.md) ---- */

struct maker {
	struct buffer all, item;
	struct share *share;
};

static void put(struct maker *m, uint64_t value)
{
	buffer_put(&m->item, value);
}

static void put_many(struct maker *m, size_t num, uint64_t value)
{
	for (size_t i = 0; i < num; i++)
		put(m, value);
}

/* The item is complete: its number. */
static uint32_t end_item(struct maker *m, enum share_column_id id)
{
	uint32_t item =
		share_column_add_item(&m->share->columns[id], id, m->item.bytes, m->item.num);

	m->item.num = 0;
	return item;
}

/* So many times. */
static void give(struct maker *m, enum share_column_id id, size_t rank, uint32_t item, size_t num)
{
	uint32_t *row = malloc((num + 1) * sizeof(*row));

	for (size_t i = 0; i < num; i++)
		row[i] = item;
	share_column_add(&m->share->columns[id], (int)rank, row, num);
	free(row);
}

static void begin(struct maker *m)
{
	const uint32_t version = SNAPSHOT_VERSION;

	m->share = share_create();
	m->share->parts = SHARE_ANSWERS | SHARE_NAMES;
	buffer_put_bytes(&m->all, SNAPSHOT_MAGIC, 8);
	buffer_put_bytes(&m->all, &version, sizeof(version));
}

/* Ranks 0 to num - 1 and 1,000 more missing ones, of `num_texts` texts of `length` letters. */
static void put_procs(struct maker *m, size_t num, size_t num_texts, size_t length)
{
	char *text = malloc(length + 1);

	memset(text, 'x', length);
	text[length] = '\0';
	put(m, num + 1000);
	put_many(m, 2, 0); /* job, launcher */
	put_many(m, 2, 0); /* pid, source */
	put_many(m, 2, 0); /* note */
	put(m, num_texts);
	for (size_t i = 0; i < num_texts; i++)
		buffer_put_text(&m->item, text);
	put(m, num);
	put_many(m, 4 * num, 0);
	put_many(m, 3, 0); /* crashes, modules, probes */
	buffer_put_bytes(&m->all, m->item.bytes, m->item.num);
	m->item.num = 0;
	free(text);
}

static void end(struct maker *m)
{
	share_put(m->share, &m->all);
	share_destroy(m->share);
}

static void put_stack(struct maker *m, size_t first, size_t depth)
{
	put(m, 1);
	put(m, 0);
	put(m, 'S');
	put_many(m, 2, 0); /* note */
	put(m, depth);
	for (size_t i = 0; i < depth; i++) {
		put(m, 0);
		put(m, first + i);
		put(m, 0);
	}
}

static void give_samples(struct maker *m, size_t num, uint32_t stack)
{
	uint32_t time;

	put_many(m, 3, 0);
	time = end_item(m, SHARE_SAMPLE_TIMES);
	for (size_t i = 0; i < num; i++) {
		give(m, SHARE_SAMPLES, i, stack, 1);
		give(m, SHARE_SAMPLE_TIMES, i, time, 1);
	}
}

static void put_frame_name(struct maker *m, size_t offset, size_t num_names)
{
	put_many(m, 2, 0); /* module, which is none */
	put(m, offset);
	put(m, 0);
	for (size_t i = 0; i < num_names; i++) {
		put_many(m, 6, 0);
		put(m, i + 1 < num_names ? 4 : 0);
	}
	end_item(m, SHARE_NAMES_COLUMN);
}

/* ---- What they claim; `n` is as large as can be ---- */

static void many_texts(struct maker *m, size_t n)
{
	put_procs(m, 2, n, 0);
}

static void many_ranks(struct maker *m, size_t n)
{
	put_procs(m, n, 1, 8);
	put_stack(m, 0, 0);
	give_samples(m, n, end_item(m, SHARE_SAMPLES));
}

static void long_texts(struct maker *m, size_t n)
{
	put_procs(m, n, 1, 200);
}

static void many_holes(struct maker *m, size_t n)
{
	char text[16];

	put_procs(m, n, 1, 1);
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		buffer_put_text(&m->item, text);
		give(m, SHARE_HOLES, i, end_item(m, SHARE_HOLES), 1);
	}
}

static void deep_stacks(struct maker *m, size_t n)
{
	put_procs(m, n, 1, 1);
	put_stack(m, 0, 8000);
	give_samples(m, n, end_item(m, SHARE_SAMPLES));
}

/* `n` stacks of 4,000 frames that they do not share, each with `num_names` names. */
static void inlined(struct maker *m, size_t n, size_t num_names)
{
	enum { DEPTH = 4000 };

	put_procs(m, n, 1, 1);
	for (size_t i = 0; i < n; i++) {
		put_stack(m, i * DEPTH, DEPTH);
		give(m, SHARE_SAMPLES, i, end_item(m, SHARE_SAMPLES), 1);
		put_many(m, 3, 0);
		give(m, SHARE_SAMPLE_TIMES, i, end_item(m, SHARE_SAMPLE_TIMES), 1);
	}
	for (size_t i = 0; i < n * DEPTH && num_names; i++)
		put_frame_name(m, i, num_names);
}

static void many_frames(struct maker *m, size_t n)
{
	inlined(m, n, 0);
}

static void much_inlined(struct maker *m, size_t n)
{
	inlined(m, 1, n);
}

/* In one frame. */
static void deeply_inlined(struct maker *m, size_t n)
{
	put_procs(m, 1, 1, 1);
	put_stack(m, 0, 1);
	give_samples(m, 1, end_item(m, SHARE_SAMPLES));
	put_frame_name(m, 0, n);
}

/* Of nothing but their addresses. */
static void many_names(struct maker *m, size_t n)
{
	put_procs(m, 1, 1, 1);
	for (size_t i = 0; i < n; i++)
		put_frame_name(m, i, 1);
}

static void put_tables(struct maker *m, uint32_t *shape, uint32_t *process)
{
	put(m, 9);
	buffer_put_bytes(&m->item, "xxxxxxxx", 9);
	put_many(m, 2, 0); /* modules, frames */
	put(m, 1);
	put_many(m, 4, 0);
	*shape = end_item(m, SHARE_SHAPE);
	put_many(m, 8, 0);
	*process = end_item(m, SHARE_PROCESS);
}

static void put_program(struct maker *m, size_t rank, size_t job, uint64_t size)
{
	char text[16];

	snprintf(text, sizeof(text), "%zu", job);
	put(m, size);
	put_many(m, 4, 0);
	buffer_put_text(&m->item, text);
	put_many(m, 2 + 9, 0);
	give(m, SHARE_PROGRAM, rank, end_item(m, SHARE_PROGRAM), 1);
}

struct comms {
	size_t num;
	uint64_t size, list;
	bool are_different; /* in each rank */
};

static void put_comms(struct maker *m, size_t rank, const struct comms *comms)
{
	uint32_t *row = malloc((comms->num + 1) * sizeof(*row)), none;

	for (size_t i = 0; i < comms->num; i++) {
		put(m, 0);
		put(m, 1000 + i + (comms->are_different ? rank * comms->num : 0));
		put_many(m, 3, 0);
		put(m, comms->size);
		put(m, comms->list);
		put_many(m, 4, 0);
		put_many(m, 2, 0); /* name, freed */
		row[i] = end_item(m, SHARE_COMMS);
	}
	share_column_add(&m->share->columns[SHARE_COMMS], (int)rank, row, comms->num);
	put_many(m, 2, 0);
	none = end_item(m, SHARE_COLLECTIVES);
	give(m, SHARE_COLLECTIVES, rank, none, comms->num);
	put_many(m, comms->num, 0);
	give(m, SHARE_COMM_RANKS, rank, end_item(m, SHARE_COMM_RANKS), comms->num > 0);
	free(row);
}

static void give_lanes(struct maker *m, size_t rank, size_t num)
{
	static const struct {
		enum share_column_id id;
		size_t num_values; /* all 0 */
	} columns[] = {{SHARE_LANES, 3},      {SHARE_TIMES, 7},       {SHARE_TRANSITIONS, 1},
		       {SHARE_COUNTS, 0},     {SHARE_RING_STATES, 1}, {SHARE_STAYS, 2},
		       {SHARE_OPERATIONS, 4}, {SHARE_LEDGERS, 2},     {SHARE_LOOKS, 2}};

	for (size_t i = 0; i < NUM_OF(columns); i++) {
		bool is_first = m->share->columns[columns[i].id].items.num == 0;

		put_many(m, columns[i].num_values, 0);
		give(m, columns[i].id, rank, is_first ? end_item(m, columns[i].id) : 0, num);
		m->item.num = 0;
	}
}

static void models(struct maker *m, size_t n, size_t num_jobs, uint64_t size,
		   const struct comms *comms, size_t num_lanes)
{
	uint32_t shape, process, list = 0;

	put_procs(m, n, 1, 1);
	put_tables(m, &shape, &process);
	m->share->has_model = true;
	if (comms->list >= SHARE_FIRST_LIST) {
		put(m, comms->size);
		put_many(m, comms->size, 0);
		list = end_item(m, SHARE_LISTS);
	}
	for (size_t i = 0; i < n; i++) {
		give(m, SHARE_PROCESS, i, process, 1);
		give(m, SHARE_SHAPE, i, shape, 1);
		put_program(m, i, i % num_jobs, size);
		if (comms->list >= SHARE_FIRST_LIST)
			give(m, SHARE_LISTS, i, list, 1);
		put_comms(m, i, comms);
		give_lanes(m, i, num_lanes);
	}
}

static void large_world(struct maker *m, size_t n)
{
	models(m, n, 1, INT32_MAX,
	       &(struct comms){.num = 1, .size = 1 << 22, .list = SHARE_ALL_MEMBERS}, 1);
}

static void many_worlds(struct maker *m, size_t n)
{
	models(m, n, 100, 1 << 22,
	       &(struct comms){.num = 1, .size = 1 << 22, .list = SHARE_ALL_MEMBERS}, 1);
}

static void long_list(struct maker *m, size_t n)
{
	models(m, 2, 2, 1 << 20,
	       &(struct comms){.num = n, .size = 1 << 20, .list = SHARE_FIRST_LIST}, 1);
}

static void many_comms(struct maker *m, size_t n)
{
	models(m, n, 1, 1 << 16, &(struct comms){.num = 20, .size = 1 << 20, .are_different = true},
	       1);
}

static void many_lanes(struct maker *m, size_t n)
{
	models(m, n, 1, (uint64_t)n, &(struct comms){.num = 0}, 1000);
}

static const struct {
	const char *name;
	void (*make)(struct maker *m, size_t n);
	size_t most; /* tried, and halves of it, until one is small enough to be loaded */
} files[] = {
	{"texts", many_texts, 1 << 24},    {"ranks", many_ranks, 1 << 20},
	{"long", long_texts, 1 << 20},     {"holes", many_holes, 1 << 20},
	{"names", many_names, 1 << 20},    {"stacks", deep_stacks, 1 << 20},
	{"frames", many_frames, 100},      {"inlined", much_inlined, 100},
	{"deep", deeply_inlined, 1 << 23}, {"world", large_world, 1 << 17},
	{"worlds", many_worlds, 1 << 17},  {"list", long_list, 1 << 14},
	{"comms", many_comms, 1 << 15},    {"lanes", many_lanes, 1 << 9},
};

/* ---- Costs ---- */

struct cost {
	bool is_loaded;
	long kilobytes, milliseconds;
	char text[200];
};

static long own_kilobytes(void)
{
	long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file) {
		if (fscanf(file, "%ld %ld", &pages, &resident) != 2)
			resident = 0;
		fclose(file);
	}
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void ask(const char *path, struct cost *cost)
{
	long before = own_kilobytes();
	struct rusage usage;
	struct session session;
	struct pdb_error err = {0};

	session_init(&session);
	session.execute = command_execute;
	session.out = fopen("/dev/null", "w");
	session.is_batch = true;
	cost->is_loaded = session_load(&session, path, &err) == 0;
	for (size_t i = 0; cost->is_loaded && i < NUM_OF(questions); i++)
		command_execute(&session, questions[i], &err);
	snprintf(cost->text, sizeof(cost->text), "%s", cost->is_loaded ? "" : err.text);
	getrusage(RUSAGE_SELF, &usage);
	cost->kilobytes = usage.ru_maxrss - before;
	cost->milliseconds = usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000 +
			     usage.ru_stime.tv_sec * 1000 + usage.ru_stime.tv_usec / 1000;
}

/* In a process of its own. */
static struct cost measure(const char *path)
{
	struct cost cost = {0};
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		ask(path, &cost);
		_exit(write(fds[1], &cost, sizeof(cost)) != sizeof(cost));
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &cost, sizeof(cost)), sizeof(cost));
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return cost;
}

static size_t write_file(const struct maker *m, char *path)
{
	size_t bound = ZSTD_compressBound(m->all.num), size;
	char *packed = malloc(bound);
	int fd;

	strcpy(path, "/tmp/test_budget.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	size = ZSTD_compress(packed, bound, m->all.bytes, m->all.num, 3);
	assert_false(ZSTD_isError(size));
	assert_int_equal(write(fd, packed, size), size);
	close(fd);
	free(packed);
	return size;
}

static struct cost try_file(size_t which, size_t n)
{
	struct maker m = {.share = NULL};
	struct cost cost = {0};
	char path[64];
	size_t size;

	begin(&m);
	files[which].make(&m, n);
	end(&m);
	size = write_file(&m, path);
	free(m.all.bytes);
	free(m.item.bytes);
	malloc_trim(0); /* the child is to need its own */
	if (size < 1 << 20)
		cost = measure(path);
	unlink(path);
	print_message("%-8s %8zu of %8zu bytes: %6ld KB %5ld ms %s\n", files[which].name, n, size,
		      cost.kilobytes, cost.milliseconds, cost.text);
	if (cost.kilobytes > MOST_KB || cost.milliseconds > MOST_MS)
		fail_msg("%s: %ld KB, %ld ms", files[which].name, cost.kilobytes,
			 cost.milliseconds);
	return cost;
}

/* Too much is refused, and what is just not too much is as cheap as it must be. */
static void test_snapshots(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(files); i++) {
		bool is_loaded = false;

		for (size_t n = files[i].most; n > 3 && !is_loaded; n -= n / 3)
			is_loaded = try_file(i, n).is_loaded;
		assert_true(is_loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_snapshots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
