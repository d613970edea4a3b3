/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>

#include "attach/cores/core_file.h"
#include "attach/cores/core_memory.h"
#include "attach/cores/cores.h"
#include "attach/launchers/words.h"
#include "attach/process/maps.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "tests/unit/core_writer.h"

/* ---- Memory and files ---- */

static void write_file(char *path, const char *text, size_t size)
{
	int fd;

	strcpy(path, "/tmp/pdb-file.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), size);
	close(fd);
}

static void set_written(const char *path, time_t seconds)
{
	struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void add_mapping(struct core_writer *w, uint64_t start, uint64_t end, const char *path)
{
	uint64_t words[5] = {1, 4096, start, end, 0};
	char note[128] = {0};

	memcpy(note, words, sizeof(words));
	strcpy(note + sizeof(words), path);
	core_add_note(w, NT_FILE, note, sizeof(words) + strlen(path) + 1);
}

/* Of a mapped file the first 4 bytes were dumped, the segment is shorter than the mapping, and the
 * file is shorter than both. */
static void test_memory(void **state)
{
	static const struct {
		uint64_t address;
		size_t size;
		const char *expected;
	} cases[] = {
		{0x10000, 4, "DUMP"}, {0x10004, 4, "efgh"}, {0x12004, 2, "YZ"}, /* no segment */
		{0x12006, 2, "\0"}, /* the rest of the file's last page */
		{0x13000, 1, NULL},   {0xffff, 4, NULL},
	};
	struct core_writer *w = core_of_rank(700, "PMI_RANK=3", 11);
	char path[32], text[8198], buffer[8];
	struct core_memory *memory;
	struct core_file *core;
	struct pdb_error err;
	const char *used;
	Elf64_Phdr *phdr;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "abcdefgh", 8);
	memcpy(text + 8196, "YZ", 2);
	write_file(path, text, sizeof(text));
	add_mapping(w, 0x10000, 0x14000, path);
	phdr = core_add_segment(w, 0x10000, "DUMP", 4);
	phdr->p_memsz = 0x1000;
	phdr->p_flags = PF_R | PF_X;
	core_lay_out(w);
	core_write(w);
	for (int round = 0; round < 2; round++) {
		/* A file that was written after the core is not used. */
		set_written(path, round ? 2000 : 1000);
		set_written(w->path, 1500);
		core = core_file_open(w->path, &err);
		assert_non_null(core);
		memory = core_memory_create(core);
		for (size_t i = 0; i < NUM_OF(cases); i++) {
			bool is_there = cases[i].expected && (!round || i == 0);

			assert_int_equal(
				core_memory_read(memory, cases[i].address, buffer, cases[i].size),
				is_there ? 0 : -1);
			if (is_there)
				assert_memory_equal(buffer, cases[i].expected, cases[i].size);
		}
		assert_int_equal(core_memory_num_files(memory), 1);
		assert_int_equal(core_memory_file(memory, 0, &used),
				 round ? MAPPED_DIFFERS : MAPPED_UNCHECKED);
		assert_string_equal(used, path);
		core_memory_destroy(memory);
		core_file_close(core);
	}
	unlink(path);
	core_destroy(w);
}

static void test_maps(void **state)
{
	struct core_writer *w = core_of_rank(700, "PMI_RANK=3", 11);
	struct core_memory *memory;
	const struct maps_range *range;
	struct core_file *core;
	struct pdb_error err;
	struct maps *maps;

	(void)state;
	add_mapping(w, 0x10000, 0x14000, "/nowhere/lib.so (deleted)");
	core_add_segment(w, 0x11000, NULL, 0x1000)->p_flags = PF_R;
	core_add_segment(w, 0x13000, NULL, 0x2000)->p_flags = PF_R | PF_W;
	core_lay_out(w);
	core_write(w);
	core = core_file_open(w->path, &err);
	memory = core_memory_create(core);
	maps = core_memory_steal_maps(memory);
	/* 10-11 file, 11-12 both, 12-13 file, 13-14 both, 14-15 segment, stack */
	assert_int_equal(maps->num_ranges, 6);
	range = maps_find(maps, 0x13800);
	assert_true(range->is_writable && !range->is_executable);
	assert_int_equal(range->file_offset, 0x3000);
	assert_int_equal(maps->num_objects, 1);
	assert_int_equal(range->object, 0);
	assert_true(maps->objects[0].is_deleted);
	/* Nothing is taken from a file that is no more: not even by its name. */
	assert_string_equal(maps->objects[0].path, "lib.so");
	assert_int_equal(maps_find(maps, 0x14800)->object, MAPS_NO_OBJECT);
	assert_null(maps_find(maps, 0x15000));
	maps_destroy(maps);
	core_memory_destroy(memory);
	core_file_close(core);
	core_destroy(w);
}

/* ---- Jobs ---- */

struct given {
	const char *environ;
	size_t size;
	time_t written;
};

#define GIVEN(text, seconds)                                                                       \
	{                                                                                          \
		text, sizeof(text), seconds                                                        \
	}

struct outcome {
	struct job *job;
	struct words notes;
	struct cores *cores;
	struct pdb_error err;
	int result;
};

static struct outcome load(const struct given *given, size_t num)
{
	struct outcome outcome = {.job = job_create()};
	struct core_writer *writers[8];
	char *paths[8];

	for (size_t i = 0; i < num; i++) {
		writers[i] = core_of_rank((pid_t)(700 + i), given[i].environ, given[i].size);
		core_write(writers[i]);
		set_written(writers[i]->path, given[i].written);
		paths[i] = writers[i]->path;
	}
	outcome.result =
		cores_load(paths, num, outcome.job, &outcome.notes, &outcome.cores, &outcome.err);
	for (size_t i = 0; i < num; i++)
		core_destroy(writers[i]);
	return outcome;
}

static void forget(struct outcome *outcome)
{
	words_free(outcome->notes.words);
	cores_destroy(outcome->cores);
	job_destroy(outcome->job);
}

static bool has_note(const struct outcome *outcome, const char *part)
{
	for (size_t i = 0; i < outcome->notes.num; i++)
		if (strstr(outcome->notes.words[i], part))
			return true;
	return false;
}

static void test_job(void **state)
{
	static const struct given given[] = {
		GIVEN("PMI_RANK=2\0PMI_SIZE=4", 10),
		GIVEN("PMI_RANK=0\0PMI_SIZE=4", 11),
	};
	struct outcome outcome = load(given, NUM_OF(given));
	const struct job *job = outcome.job;

	(void)state;
	assert_int_equal(outcome.result, 0);
	assert_int_equal(outcome.notes.num, 0);
	assert_int_equal(job->proctable->size, 4);
	assert_int_equal(job->proctable->num_procs, 2);
	assert_int_equal(job->proctable->source, PROCTABLE_CORES);
	assert_int_equal(proctable_find(job->proctable, 2)->pid, 700);
	assert_false(proctable_find(job->proctable, 2)->is_local);
	assert_int_equal(job->taken_real_ns, UINT64_C(11000000000));
	assert_int_equal(job->samples->num_samples, 2);
	assert_int_equal(job->samples->samples[0].rank, 0);
	assert_int_equal(job->samples->samples[0].status, SAMPLE_INCOMPLETE);
	assert_int_equal(job->num_holes, 4);
	assert_string_equal(job->holes[1].why, "no core");
	assert_int_equal(job->num_crashes, 2);
	assert_null(job_find_crash(job, 1));
	assert_int_equal(job_find_crash(job, 2)->signal, SIGSEGV);
	assert_true(job_find_crash(job, 2)->is_fault);
	assert_int_equal(job_find_crash(job, 2)->address, 0x10);
	forget(&outcome);
}

static void test_too_many(void **state)
{
	static const struct given given[] = {
		GIVEN("PMIX_NAMESPACE=a@1\0PMIX_RANK=0", 20),
		GIVEN("PMIX_NAMESPACE=a@1\0PMIX_RANK=0", 30),
		GIVEN("PMIX_NAMESPACE=b@1\0PMIX_RANK=1", 25),
		GIVEN("PMIX_NAMESPACE=a@1\0PMIX_RANK=1", 21),
		GIVEN("HOME=/root", 99),
		GIVEN("PMIX_NAMESPACE=a@1\0PMIX_RANK=many", 22),
	};
	struct outcome outcome = load(given, NUM_OF(given));

	(void)state;
	assert_int_equal(outcome.result, 0);
	assert_string_equal(outcome.job->proctable->job, "a@1");
	assert_int_equal(outcome.job->proctable->num_procs, 2);
	assert_int_equal(proctable_find(outcome.job->proctable, 0)->pid, 701);
	assert_int_equal(outcome.notes.num, 4);
	assert_true(has_note(&outcome, "rank 0 has a newer core"));
	assert_true(has_note(&outcome, "rank 1 of another job, b@1"));
	assert_true(has_note(&outcome, "no rank of an MPI job (./solver in)"));
	forget(&outcome);
}

/* A size that cannot be is not believed; a rank that cannot be ends it. */
static void test_sizes(void **state)
{
	static const struct given large[] = {GIVEN("PMI_RANK=1\0PMI_SIZE=2000000000", 1)};
	static const struct given beyond[] = {GIVEN("PMI_RANK=2000000000", 1)};
	struct outcome outcome = load(large, 1);

	(void)state;
	assert_int_equal(outcome.result, 0);
	assert_int_equal(outcome.job->proctable->size, 2);
	forget(&outcome);
	outcome = load(beyond, 1);
	assert_int_equal(outcome.result, -1);
	assert_error(&outcome.err, ERROR_FORMAT, "rank 2000000000");
	forget(&outcome);
}

static void test_directory(void **state)
{
	struct core_writer *w = core_of_rank(700, "PMI_RANK=0", 11);
	char directory[] = "/tmp/pdb-cores.XXXXXX", core[64], other[64];
	char *paths[] = {directory};
	struct outcome outcome = {.job = job_create()};
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(core, sizeof(core), "%s/core.1", directory);
	snprintf(other, sizeof(other), "%s/other", directory);
	file = fopen(other, "w");
	fputs("no core", file);
	fclose(file);
	core_write(w);
	assert_int_equal(
		cores_load(paths, 1, outcome.job, &outcome.notes, &outcome.cores, &outcome.err),
		-1);
	assert_error(&outcome.err, ERROR_NOT_FOUND, "there is no core of a rank");
	assert_error(&outcome.err, ERROR_NOT_FOUND, "1 other file, no cores; left out");
	forget(&outcome);
	outcome = (struct outcome){.job = job_create()};
	assert_int_equal(rename(w->path, core), 0);
	assert_int_equal(
		cores_load(paths, 1, outcome.job, &outcome.notes, &outcome.cores, &outcome.err), 0);
	assert_int_equal(outcome.job->proctable->num_procs, 1);
	assert_true(has_note(&outcome, "1 other file, no cores; left out"));
	forget(&outcome);
	unlink(core);
	unlink(other);
	rmdir(directory);
	core_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory), cmocka_unit_test(test_maps),
		cmocka_unit_test(test_job),    cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_sizes),  cmocka_unit_test(test_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
