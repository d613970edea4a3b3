/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "model/job/callpath.h"
#include "model/interrupt.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/wire/snapshot_format.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"
#include "tests/unit/whole_job.h"

static char dir[] = "/tmp/test_snapshot.XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/job.snap", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	/* Fails if anything was left beside it. */
	return rmdir(dir);
}

/* ---- Are two jobs equal? ---- */

static void assert_same_job(const struct job *a, const struct job *b)
{
	assert_int_equal(a->proctable->size, b->proctable->size);
	assert_string_equal(a->proctable->job, b->proctable->job);
	assert_string_equal(a->proctable->launcher_name, b->proctable->launcher_name);
	assert_int_equal(a->proctable->launcher_pid, b->proctable->launcher_pid);
	assert_int_equal(b->proctable->source, PROCTABLE_SNAPSHOT);
	assert_int_equal(a->proctable->num_procs, b->proctable->num_procs);
	for (size_t i = 0; i < a->proctable->num_procs; i++) {
		assert_int_equal(a->proctable->procs[i].rank, b->proctable->procs[i].rank);
		assert_int_equal(a->proctable->procs[i].pid, b->proctable->procs[i].pid);
		assert_string_equal(a->proctable->procs[i].host, b->proctable->procs[i].host);
		/* Nobody may look at those pids now. */
		assert_false(b->proctable->procs[i].is_local);
	}
	assert_same_contents(a, b);
	assert_same_code(a->code, b->code);
	assert_int_equal(a->num_probes, b->num_probes);
	for (size_t i = 0; i < a->num_probes; i++)
		assert_true(code_probe_is_same(&a->probes[i], &b->probes[i]));
}

/* ---- Round trips ---- */

static void save(const struct job *job)
{
	struct pdb_error err = {0};

	if (snapshot_save(job, path, &err) < 0)
		fail_msg("%s", err.text);
}

static struct job *load(void)
{
	struct pdb_error err = {0};
	struct job *job = NULL;

	if (snapshot_load(path, &job, &err) < 0)
		fail_msg("%s", err.text);
	return job;
}

static void test_round_trip(void **state)
{
	struct job *job = whole_job_create(false), *again, *third;

	(void)state;
	assert_int_equal(job->model->lanes[0].data->operation.kind, SEG_OPERATION_WAIT_ANY);
	assert_int_equal(job->model->lanes[1].data->operation.kind, SEG_OPERATION_SENDRECV);
	save(job);
	again = load();
	assert_same_job(job, again);
	assert_non_null(strstr(again->proctable->source_note, "MPIR table"));
	assert_string_equal(names_get(again->names, 0)->function, "main");
	assert_true(num_inlined(again) > 0);
	/* One that was loaded is saved the same, over the old file. */
	save(again);
	third = load();
	assert_same_job(again, third);
	assert_string_equal(third->proctable->source_note, again->proctable->source_note);
	job_destroy(job);
	job_destroy(again);
	job_destroy(third);
	job_destroy(NULL);
}

static void test_empty(void **state)
{
	struct job *job = job_create(), *again;

	(void)state;
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	save(job);
	again = load();
	assert_same_job(job, again);
	assert_null(again->model);
	job_destroy(again);
	/* A model without ranks is not the same as none. */
	job->model = job_model_create(job->modules, job->callpaths);
	job_model_finish(job->model);
	save(job);
	again = load();
	assert_non_null(again->model);
	job_destroy(again);
	job_destroy(job);
}

static void test_file(void **state)
{
	struct job *job = job_create();
	struct pdb_error err = {0};
	struct stat st;
	mode_t old = umask(0);

	(void)state;
	save(job);
	umask(old);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(snapshot_save(job, "/no/such/directory/file", &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "/no/such/directory/file");
	/* What cannot be replaced stays, and nothing is left beside it (see teardown). */
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(snapshot_save(job, path, &err), -1);
	assert_error(&err, ERROR_USAGE, "no regular file");
	assert_int_equal(rmdir(path), 0);
	/* As /dev/null is none. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(snapshot_save(job, path, &err), -1);
	assert_error(&err, ERROR_USAGE, "no regular file");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(unlink(path), 0);
	if (access("/dev/full", W_OK) == 0) {
		assert_int_equal(symlink("/dev/full", path), 0);
		save(job);
		assert_int_equal(lstat(path, &st), 0);
		assert_true(S_ISREG(st.st_mode));
	}
	job_destroy(job);
}

/* Equal ranks cost little: 2,048 of them with a ring of 64 and a list of all others,
 * which is there once for all. */
static void test_small(void **state)
{
	struct job *job = job_create(), *again;
	struct segment_writer *w = whole_job_segment(0, "/bin/app");
	int32_t members[2048];
	struct stat st;

	(void)state;
	job->model = job_model_create(job->modules, job->callpaths);
	segment_writer_call(w, 0, SEND, 40, 9000);
	srandom(5);
	for (int i = 0; i < 2048; i++)
		members[i] = (int32_t)(random() % 2048);
	segment_writer_comm(w, &(struct seg_comm){
				       .id = 5,
				       .size = 2048,
				       .members = segment_writer_members(w, members, 2048),
				       .remote_members = SEG_NO_MEMBERS,
				       .sources = SEG_NO_MEMBERS,
			       });
	for (int i = 0; i < 2048; i++)
		job_model_add(job->model, i, segment_writer_model(w), 0);
	segment_writer_destroy(w);
	job_model_finish(job->model);
	save(job);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1000, 200000);
	again = load();
	assert_int_equal(again->model->num_lanes, 2048);
	assert_int_equal(again->model->num_shapes, 1);
	for (int i = 0; i < 2048; i += 2047)
		assert_memory_equal(
			model_members(again->model->lanes[i].model,
				      model_comm(again->model->lanes[i].model, 0)->members),
			members, sizeof(members));
	job_destroy(again);
	job_destroy(job);
}

/* ---- Bad input ---- */

static size_t read_file(uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got = fread(bytes, 1, size, file);

	fclose(file);
	assert_true(got < size);
	return got;
}

static void write_file(const void *bytes, size_t size)
{
	FILE *file;

	/* A new file, since some file systems flush one that is written over. */
	unlink(path);
	file = fopen(path, "w");

	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void write_compressed(const void *bytes, size_t size)
{
	size_t bound = ZSTD_compressBound(size), length;
	char *packed = malloc(bound);

	length = ZSTD_compress(packed, bound, bytes, size, 1);
	assert_false(ZSTD_isError(length));
	write_file(packed, length);
	free(packed);
}

static void assert_refused(enum error_code code, const char *part)
{
	struct pdb_error err = {0};
	struct job *job = NULL;

	assert_int_equal(snapshot_load(path, &job, &err), -1);
	assert_null(job);
	assert_error(&err, code, part);
	assert_int_equal(snapshot_load(path, &job, NULL), -1);
}

static void test_refused(void **state)
{
	uint8_t bytes[65536], plain[65536];
	struct job *job = whole_job_create(false);
	size_t size, length;

	(void)state;
	unlink(path);
	assert_refused(ERROR_NOT_FOUND, "job.snap");
	write_file("", 0);
	assert_refused(ERROR_FORMAT, "truncated");
	write_file("hello, this is text", 19);
	assert_refused(ERROR_FORMAT, "not a snapshot");
	write_compressed("hello, this is text", 19);
	assert_refused(ERROR_FORMAT, "not a snapshot");
	save(job);
	size = read_file(bytes, sizeof(bytes));
	length = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	assert_false(ZSTD_isError(length));
	write_compressed(plain, length);
	job_destroy(job);
	job = load();
	job_destroy(job);
	bytes[size] = 'x';
	write_file(bytes, size + 1);
	assert_refused(ERROR_FORMAT, "after its end");
	plain[length] = 0;
	write_compressed(plain, length + 1);
	assert_refused(ERROR_FORMAT, "the snapshot is corrupt");
	/* Of an older version, and of one to come. */
	plain[8] = SNAPSHOT_VERSION - 1;
	write_compressed(plain, length);
	assert_refused(ERROR_VERSION,
		       "has version 5, this pdb reads version 6: use the pdb that saved it");
	plain[8] = SNAPSHOT_VERSION + 1;
	write_compressed(plain, length);
	assert_refused(ERROR_VERSION, "use the pdb that saved it");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused(ERROR_FORMAT, "not a regular file");
	rmdir(path);
}

static void test_truncated(void **state)
{
	uint8_t bytes[65536], plain[65536];
	struct job *job = whole_job_create(false);
	size_t size, length;

	(void)state;
	save(job);
	job_destroy(job);
	size = read_file(bytes, sizeof(bytes));
	for (size_t cut = 0; cut < size; cut++) {
		write_file(bytes, cut);
		assert_refused(ERROR_FORMAT, "");
	}
	/* The same inside the compression. */
	length = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	for (size_t cut = 0; cut < length; cut++) {
		write_compressed(plain, cut);
		assert_refused(ERROR_FORMAT, cut < SNAPSHOT_HEADER_SIZE ? "truncated" : "");
	}
}

static void test_mutated(void **state)
{
	uint8_t bytes[65536], plain[65536], copy[65536];
	struct job *job = whole_job_create(false);
	size_t size, length;
	int taken = 0;

	(void)state;
	save(job);
	job_destroy(job);
	size = read_file(bytes, sizeof(bytes));
	length = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	srandom(3);
	for (int round = 0; round < 4000; round++) {
		struct pdb_error err = {0};
		struct job *loaded;

		memcpy(copy, plain, length);
		for (int n = 1 + (int)(random() % 2); n > 0; n--) {
			uint8_t *at = &copy[12 + (size_t)random() % (length - 12)];

			*at = (uint8_t)(random() % 2 ? random() : *at + random() % 3 - 1);
		}
		write_compressed(copy, length);
		if (snapshot_load(path, &loaded, &err) == 0) {
			for (uint32_t i = 0; i < callpaths_count(loaded->callpaths); i++)
				names_get(loaded->names, i);
			job_destroy(loaded);
			taken++;
		} else {
			assert_int_equal(err.code, ERROR_FORMAT);
		}
	}
	assert_in_range(taken, 100, 3900);
	/* The compressed bytes: the checksum refuses nearly all. */
	for (int round = 0; round < 1000; round++) {
		struct job *loaded;

		memcpy(copy, bytes, size);
		copy[(size_t)random() % size] ^= (uint8_t)(1 + random() % 255);
		write_file(copy, size);
		if (snapshot_load(path, &loaded, NULL) == 0)
			job_destroy(loaded);
	}
}

/* Whoever interrupts is told so, not that the file is damaged. */
static void test_interrupted(void **state)
{
	struct job *job = whole_job_create(false);

	(void)state;
	save(job);
	job_destroy(job);
	interrupt_end = SIGTERM;
	assert_refused(ERROR_INTERRUPTED, "interrupted");
	interrupt_end = 0;
	job_destroy(load());
}

/* Of a job that is known from its cores. */
static void test_crashes(void **state)
{
	static const struct job_crash crashes[] = {
		{.rank = 1,
		 .tid = 4001,
		 .signal = 11,
		 .is_fault = true,
		 .has_address = true,
		 .address = UINT64_MAX},
		{.rank = 3, .tid = 4003, .signal = 6, .is_sent = true},
	};
	static const struct job_crash bad[] = {
		{.rank = 3, .tid = 4003, .signal = 6}, /* once more */
		{.rank = 2, .tid = 4003, .signal = 6}, /* not in order */
		{.rank = 4, .tid = 4003, .signal = 0},
		{.rank = 4, .tid = 4003, .signal = 65},
	};
	struct job *job, *again;

	(void)state;
	for (size_t b = 0; b <= NUM_OF(bad); b++) {
		job = job_create();
		assert_int_equal(proctable_finish(job->proctable, NULL), 0);
		for (size_t i = 0; i < NUM_OF(crashes); i++)
			job_add_crash(job, &crashes[i]);
		if (b < NUM_OF(bad))
			job_add_crash(job, &bad[b]);
		save(job);
		job_destroy(job);
		if (b < NUM_OF(bad))
			assert_refused(ERROR_FORMAT, "the snapshot is corrupt");
	}
	again = load();
	assert_int_equal(again->num_crashes, NUM_OF(crashes));
	for (size_t i = 0; i < NUM_OF(crashes); i++) {
		const struct job_crash *x = &crashes[i], *y = &again->crashes[i];

		assert_int_equal(x->rank, y->rank);
		assert_int_equal(x->tid, y->tid);
		assert_int_equal(x->signal, y->signal);
		assert_int_equal(x->is_fault, y->is_fault);
		assert_int_equal(x->is_sent, y->is_sent);
		assert_int_equal(x->has_address, y->has_address);
		assert_int_equal(x->address, y->address);
	}
	job_destroy(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_small, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mutated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_crashes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interrupted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
