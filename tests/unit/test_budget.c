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
#include "model/wire/snapshot_private.h"
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

/* ---- A snapshot, section by section (docs/snapshot-format.md) ---- */

struct maker {
	struct buffer all, section;
};

static void put(struct maker *m, uint64_t value)
{
	buffer_put(&m->section, value);
}

static void put_many(struct maker *m, size_t num, uint64_t value)
{
	for (size_t i = 0; i < num; i++)
		put(m, value);
}

static void end_section(struct maker *m, enum snapshot_section id)
{
	const uint64_t size = m->section.num;
	const uint8_t number = (uint8_t)id;

	buffer_put_bytes(&m->all, &number, 1);
	buffer_put_bytes(&m->all, &size, sizeof(size));
	buffer_put_bytes(&m->all, m->section.bytes, m->section.num);
	m->section.num = 0;
}

static void begin(struct maker *m)
{
	const uint32_t version = SNAPSHOT_VERSION;

	buffer_put_bytes(&m->all, SNAPSHOT_MAGIC, 8);
	buffer_put_bytes(&m->all, &version, sizeof(version));
}

/* Each a text of `length` letters. */
static void put_strings(struct maker *m, size_t num, size_t length)
{
	char *text = malloc(length + 1);

	memset(text, 'x', length);
	for (size_t i = 0; i < num; i++) {
		put(m, length);
		buffer_put_bytes(&m->section, text, length);
	}
	free(text);
	end_section(m, SNAPSHOT_STRINGS);
}

static void put_job(struct maker *m, bool has_model)
{
	put_many(m, 2, 0);
	put(m, has_model);
	end_section(m, SNAPSHOT_JOB);
}

/* Ranks 0 to num - 1 and 1,000 more missing ones. */
static void put_procs(struct maker *m, size_t num, uint64_t string)
{
	put(m, num + 1000);
	put_many(m, 3, 0);
	put_many(m, 3, 0);
	put(m, num);
	for (size_t i = 0; i < num; i++) {
		buffer_put_signed(&m->section, (int64_t)i);
		buffer_put_signed(&m->section, 0);
		put_many(m, 2, string);
	}
	end_section(m, SNAPSHOT_PROCTABLE);
}

static void put_no_paths(struct maker *m)
{
	put(m, 0);
	end_section(m, SNAPSHOT_MODULES);
	put(m, 0);
	end_section(m, SNAPSHOT_CALLPATHS);
	put(m, 0);
	end_section(m, SNAPSHOT_NAMES);
}

/* A chain of frames, each called by the one before. */
static void put_chain(struct maker *m, size_t num)
{
	put(m, 0);
	end_section(m, SNAPSHOT_MODULES);
	put(m, num);
	for (size_t i = 0; i < num; i++) {
		put(m, i); /* parent */
		put(m, 0);
		put(m, i);
		put(m, 0);
	}
	end_section(m, SNAPSHOT_CALLPATHS);
	put(m, 0);
	end_section(m, SNAPSHOT_NAMES);
}

/* `num_chains` stacks of 4,000 frames that they do not share, each with `num_names` names. */
static void put_inlined(struct maker *m, size_t num_chains, size_t num_names)
{
	enum { DEPTH = 4000 };

	put(m, 0);
	end_section(m, SNAPSHOT_MODULES);
	put(m, num_chains * DEPTH);
	for (size_t i = 0; i < num_chains * DEPTH; i++) {
		put(m, i % DEPTH ? i : 0); /* parent */
		put(m, 0);
		put(m, i);
		put(m, 0);
	}
	end_section(m, SNAPSHOT_CALLPATHS);
	put(m, num_names ? num_chains * DEPTH : 0);
	for (size_t i = 0; i < num_chains * DEPTH * num_names; i++) {
		put(m, 1);
		put_many(m, 3, 0);
		put(m, (i + 1) % num_names ? NAME_HAS_CALLER : 0);
	}
	end_section(m, SNAPSHOT_NAMES);
	put(m, num_chains);
	for (size_t i = 0; i < num_chains; i++) {
		buffer_put_signed(&m->section, (int64_t)i);
		buffer_put_signed(&m->section, (int64_t)i);
		put(m, 1);
		put(m, 0);
		put(m, (i + 1) * DEPTH);
		put(m, 'S');
		put_many(m, 4, 0);
	}
	end_section(m, SNAPSHOT_SAMPLES);
	put(m, 0);
	end_section(m, SNAPSHOT_HOLES);
}

/* A table of `num_sites` sites that all have one name. */
static void put_shape(struct maker *m, size_t num_sites, size_t length)
{
	put(m, length + 1);
	for (size_t i = 0; i < length; i++)
		buffer_put_bytes(&m->section, "x", 1);
	buffer_put_bytes(&m->section, "", 1);
	put(m, 0); /* modules */
	put(m, 0); /* frames */
	put(m, num_sites);
	put_many(m, num_sites * 4, 0);
	end_section(m, SNAPSHOT_SHAPE);
}

static void put_model_head(struct maker *m, size_t rank, uint64_t size, uint64_t job)
{
	buffer_put_signed(&m->section, (int64_t)rank);
	put(m, 0); /* shape */
	buffer_put_signed(&m->section, (int64_t)rank);
	buffer_put_signed(&m->section, (int64_t)size);
	put_many(m, 5, 0);
	put(m, 0); /* host */
	put(m, job);
	put_many(m, 2, 0);
	put_many(m, 2, 0);
	put_many(m, 6 + 2 + 1 + 3, 0);
}

struct comms {
	size_t num;
	uint64_t size, list;
	bool are_different; /* in each rank */
};

static void put_comms(struct maker *m, size_t rank, const struct comms *comms)
{
	put(m, comms->num);
	for (size_t i = 0; i < comms->num; i++) {
		put(m, 1000 + i + (comms->are_different ? rank * comms->num : 0));
		put_many(m, 4, 0);
		buffer_put_signed(&m->section, (int64_t)(rank % comms->size));
		put(m, comms->size);
		put(m, comms->list);
		put_many(m, 2 + 2, 0);
		put_many(m, 2, 0); /* name, freed */
		put_many(m, 2, 0); /* collectives */
	}
}

static void put_lanes(struct maker *m, size_t num)
{
	put(m, num);
	for (size_t i = 0; i < num; i++) {
		put(m, 0);
		buffer_put_signed(&m->section, (int64_t)i);
		put_many(m, 7, 0);
		put(m, 0);             /* transitions */
		put_many(m, 2 * 2, 0); /* longest, polls */
		put(m, 0);             /* ring */
		put_many(m, 4, 0);     /* evidence: events, operation */
		put(m, 0);
		put_many(m, 2, 0);
	}
}

static void put_looks(struct maker *m, size_t num)
{
	put(m, num);
	put_many(m, 2 * num, 0);
	end_section(m, SNAPSHOT_LOOKS);
}

static void put_samples(struct maker *m, size_t num, size_t num_paths)
{
	put(m, num);
	for (size_t i = 0; i < num; i++) {
		buffer_put_signed(&m->section, (int64_t)i);
		buffer_put_signed(&m->section, (int64_t)i);
		put(m, 1);
		put(m, 0);
		put(m, num_paths ? num_paths - i % num_paths : 0);
		put(m, 'S');
		put_many(m, 2, 0);
		put(m, 0); /* note */
		put(m, 0); /* values */
	}
	end_section(m, SNAPSHOT_SAMPLES);
}

/* From rank num - 1 down to 0. */
static void put_holes(struct maker *m, size_t num, size_t num_strings)
{
	put(m, num);
	for (size_t i = num; i > 0; i--) {
		buffer_put_signed(&m->section, (int64_t)i - 1);
		put(m, 1 + i % num_strings);
	}
	end_section(m, SNAPSHOT_HOLES);
}

static void end(struct maker *m)
{
	end_section(m, SNAPSHOT_END);
}

/* ---- What they claim; `n` is as large as can be ---- */

static void many_strings(struct maker *m, size_t n)
{
	put_strings(m, n, 0);
	put_job(m, false);
	put_procs(m, 2, 0);
	put_no_paths(m);
	put_samples(m, 0, 0);
	put(m, 0);
	end_section(m, SNAPSHOT_HOLES);
	end(m);
}

static void many_ranks(struct maker *m, size_t n)
{
	put_strings(m, 1, 8);
	put_job(m, false);
	put_procs(m, n, 1);
	put_no_paths(m);
	put_samples(m, n, 0);
	put(m, 0);
	end_section(m, SNAPSHOT_HOLES);
	end(m);
}

static void many_holes(struct maker *m, size_t n)
{
	char text[16];

	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		put(m, strlen(text));
		buffer_put_bytes(&m->section, text, strlen(text));
	}
	end_section(m, SNAPSHOT_STRINGS);
	put_job(m, false);
	put_procs(m, n, 1);
	put_no_paths(m);
	put_samples(m, 0, 0);
	put_holes(m, n, n);
	end(m);
}

static void deep_stacks(struct maker *m, size_t n)
{
	put_strings(m, 1, 8);
	put_job(m, false);
	put_procs(m, n, 0);
	put_chain(m, 8000);
	put_samples(m, n, 8000);
	put(m, 0);
	end_section(m, SNAPSHOT_HOLES);
	end(m);
}

static void many_frames(struct maker *m, size_t n)
{
	put_strings(m, 1, 8);
	put_job(m, false);
	put_procs(m, n, 0);
	put_inlined(m, n, 0);
	end(m);
}

static void much_inlined(struct maker *m, size_t n)
{
	put_strings(m, 1, 8);
	put_job(m, false);
	put_procs(m, 1, 0);
	put_inlined(m, 1, n);
	end(m);
}

/* In one frame. */
static void deeply_inlined(struct maker *m, size_t n)
{
	put_strings(m, 1, 8);
	put_job(m, false);
	put_procs(m, 1, 0);
	put_chain(m, 1);
	m->all.num -= 10; /* its section without names */
	put(m, 1);
	for (size_t i = 0; i < n; i++) {
		put(m, 1);
		put_many(m, 3, 0);
		put(m, i + 1 < n ? NAME_HAS_CALLER : 0);
	}
	end_section(m, SNAPSHOT_NAMES);
	put_samples(m, 1, 1);
	put(m, 0);
	end_section(m, SNAPSHOT_HOLES);
	end(m);
}

static void models(struct maker *m, size_t n, size_t num_jobs, uint64_t size,
		   const struct comms *comms, size_t num_lanes)
{
	char text[16];

	for (size_t i = 0; i < num_jobs; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		put(m, strlen(text));
		buffer_put_bytes(&m->section, text, strlen(text));
	}
	end_section(m, SNAPSHOT_STRINGS);
	if (comms->list > 1) {
		put(m, comms->size);
		put_many(m, comms->size, 0);
		end_section(m, SNAPSHOT_LISTS);
	}
	put_job(m, true);
	put_procs(m, n, 0);
	put_no_paths(m);
	put_shape(m, 1, 8);
	for (size_t i = 0; i < n; i++) {
		put_model_head(m, i, size, 1 + i % num_jobs);
		put_comms(m, i, comms);
		put_many(m, 2, 0); /* requests */
		put_lanes(m, num_lanes);
		end_section(m, SNAPSHOT_MODEL);
	}
	put_looks(m, n * num_lanes);
	put_samples(m, 0, 0);
	put(m, 0);
	end_section(m, SNAPSHOT_HOLES);
	end(m);
}

static void large_world(struct maker *m, size_t n)
{
	models(m, n, 1, INT32_MAX, &(struct comms){.num = 1, .size = 1 << 22, .list = 1}, 1);
}

static void many_worlds(struct maker *m, size_t n)
{
	models(m, n, 100, 1 << 22, &(struct comms){.num = 1, .size = 1 << 22, .list = 1}, 1);
}

static void long_list(struct maker *m, size_t n)
{
	models(m, 2, 2, 1 << 20, &(struct comms){.num = n, .size = 1 << 20, .list = 2}, 1);
}

static void many_comms(struct maker *m, size_t n)
{
	models(m, n, 1, 1 << 16,
	       &(struct comms){.num = 20, .size = 1 << 20, .list = 0, .are_different = true}, 1);
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
	{"strings", many_strings, 1 << 24}, {"ranks", many_ranks, 1 << 20},
	{"holes", many_holes, 1 << 20},     {"stacks", deep_stacks, 1 << 20},
	{"frames", many_frames, 100},       {"inlined", much_inlined, 100},
	{"deep", deeply_inlined, 1 << 23},  {"world", large_world, 1 << 17},
	{"worlds", many_worlds, 1 << 17},   {"list", long_list, 1 << 14},
	{"comms", many_comms, 1 << 15},     {"lanes", many_lanes, 1 << 9},
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
	struct maker m = {{0}, {0}};
	struct cost cost = {0};
	char path[64];
	size_t size;

	begin(&m);
	files[which].make(&m, n);
	size = write_file(&m, path);
	free(m.all.bytes);
	free(m.section.bytes);
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
