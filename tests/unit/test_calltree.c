/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/calltree.h"
#include "model/callpath.h"
#include "model/job.h"
#include "model/modules.h"
#include "model/names.h"
#include "model/rankset.h"
#include "model/sample.h"

/* Stacks as text, outermost first: "main:10 work:20 ^MPI_Send:25 ~PMPI_Send:30"; ^ marks the
 * recorder, ~ MPI's library; the number is part of the address and its tens are the line. */
static uint32_t make_path(struct job *job, const char *text)
{
	uint32_t program = modules_intern(job->modules, "/bin/app", NULL, 0);
	uint32_t mpi = modules_intern(job->modules, "/lib/libmpi.so.40", NULL, 0);
	uint32_t recorder = modules_intern(job->modules, "/lib/libpdbrec-openmpi.so", NULL, 0);
	uint32_t path = CALLPATH_NONE;
	char word[64];
	int used;

	for (; sscanf(text, " %63s%n", word, &used) == 1; text += used) {
		uint32_t module = word[0] == '~' ? mpi : word[0] == '^' ? recorder : program;
		char *colon = strchr(word, ':');
		struct name name = { .file = "a.c", .full_file = "/src/a.c", .is_symbol = true };

		name.line = atoi(colon + 1) / 10 * 10;
		*colon = '\0';
		name.function = word + (module != program);
		path = callpaths_intern(job->callpaths, path, module,
					(uint64_t)(word[1] * 1000 + atoi(colon + 1)), true);
		names_set(job->names, path, &name);
	}
	return path;
}

static void add_sample(struct job *job, int rank, bool is_main, const char *stack)
{
	struct sample sample = {
		.rank = rank,
		.tid = is_main ? 100 + rank : 200 + rank,
		.is_main = is_main,
		.status = SAMPLE_COMPLETE,
		.path = make_path(job, stack),
		.state = 'R',
	};

	samples_add(job->samples, &sample);
}

/* As text: "main 0-3 (work 0-2 (PMPI_Send 0-2!) idle 3!)"; ! where all of the ranks end. */
static void write_node(const struct job *job, const struct calltree *tree, uint32_t index, FILE *out)
{
	const struct calltree_node *node = &tree->nodes[index];
	char *ranks = rankset_encode(node->ranks, 0), *ends = rankset_encode(node->ends, 0);

	fprintf(out, "%s %s", names_get(job->names, node->path)->function, ranks);
	if (!rankset_is_empty(node->ends))
		fprintf(out, "!%s", strcmp(ranks, ends) ? ends : "");
	for (size_t i = 0; i < node->num_children; i++) {
		fputs(i ? " " : " (", out);
		write_node(job, tree, node->children[i], out);
	}
	if (node->num_children)
		fputc(')', out);
	free(ranks);
	free(ends);
}

static void assert_tree(const struct job *job, struct calltree *tree, const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < tree->num_roots; i++) {
		if (i)
			fputc(' ', out);
		write_node(job, tree, tree->roots[i], out);
	}
	fclose(out);
	for (uint32_t i = 0; i < tree->num_nodes; i++)
		assert_true(tree->nodes[i].parent == UINT32_MAX || tree->nodes[i].parent < i);
	assert_string_equal(text, expected);
	free(text);
	calltree_destroy(tree);
}

static struct job *sample_job(void)
{
	struct job *job = job_create();
	struct sample failed = { .rank = 9, .is_main = true, .status = SAMPLE_FAILED,
				 .path = CALLPATH_NONE };

	add_sample(job, 0, true, "main:10 work:20 ~PMPI_Send:30 ~poll:40");
	add_sample(job, 1, true, "main:10 work:21 ~PMPI_Send:31 ~wait:40");
	add_sample(job, 2, true, "main:12 work:25 ~PMPI_Send:30 ~poll:40");
	add_sample(job, 3, true, "main:30 idle:5");
	add_sample(job, 3, false, "start:10 helper:20");
	samples_add(job->samples, &failed);
	return job;
}

static void test_empty(void **state)
{
	struct job *job = job_create();

	(void)state;
	assert_tree(job, calltree_create(job, NULL, CALLTREE_FUNCTION, 0, 0), "");
	calltree_destroy(NULL);
	job_destroy(job);
}

static void test_frames(void **state)
{
	struct job *job = sample_job();

	(void)state;
	assert_tree(job, calltree_create(job, NULL, CALLTREE_FUNCTION, 0, 0),
		    "main 0-3 (work 0-2 (PMPI_Send 0-2 (poll 0,2! wait 1!)) idle 3!)");
	assert_tree(job, calltree_create(job, NULL, CALLTREE_LINE, 0, 0),
		    "main 0-2 (work 0-2 (PMPI_Send 0-2 (poll 0,2! wait 1!))) main 3 (idle 3!)");
	assert_tree(job, calltree_create(job, NULL, CALLTREE_ADDRESS, 0, 0),
		    "main 0-1 (work 0 (PMPI_Send 0 (poll 0!)) work 1 (PMPI_Send 1 (wait 1!))) "
		    "main 2 (work 2 (PMPI_Send 2 (poll 2!))) main 3 (idle 3!)");
	/* No line: the function is all there is to tell frames apart. */
	add_sample(job, 4, true, "main:10 work:20 solve:1");
	add_sample(job, 5, true, "main:10 work:20 solve:2");
	assert_tree(job, calltree_create(job, NULL, CALLTREE_LINE, 1, 0),
		    "main 0-2,4-5 (work 0-2,4-5 (PMPI_Send 0-2! solve 4-5!)) main 3 (idle 3!)");
	job_destroy(job);
}

/* Several samples of a thread: a rank stands at one place only. */
static void test_latest(void **state)
{
	struct job *job = job_create();

	(void)state;
	add_sample(job, 0, true, "main:10 work:20");
	add_sample(job, 0, true, "main:10 ~PMPI_Send:30");
	add_sample(job, 1, true, "main:10 ~PMPI_Send:30");
	assert_tree(job, calltree_create(job, NULL, CALLTREE_FUNCTION, 0, 0),
		    "main 0-1 (PMPI_Send 0-1!)");
	job_destroy(job);
}

static void test_fold_mpi(void **state)
{
	struct job *job = sample_job();

	(void)state;
	assert_tree(job, calltree_create(job, NULL, CALLTREE_FUNCTION, 1, 0),
		    "main 0-3 (work 0-2 (PMPI_Send 0-2!) idle 3!)");
	/* A frame at which one rank ends and others go on. */
	add_sample(job, 4, true, "main:10 work:22");
	assert_tree(job, calltree_create(job, NULL, CALLTREE_FUNCTION, 1, 0),
		    "main 0-4 (work 0-2,4!4 (PMPI_Send 0-2!) idle 3!)");
	/* The recorder's own frames tell nothing. */
	add_sample(job, 5, true, "main:10 work:20 ^MPI_Send:26 ~PMPI_Send:31 ~poll:40");
	add_sample(job, 6, true, "main:10 work:20 ^MPI_Send:27");
	assert_tree(job, calltree_create(job, NULL, CALLTREE_FUNCTION, 1, 0),
		    "main 0-6 (work 0-2,4-6!4,6 (PMPI_Send 0-2,5!) idle 3!)");
	assert_tree(job, calltree_create(job, NULL, CALLTREE_FUNCTION, 0, 0),
		    "main 0-6 (work 0-2,4-6!4 (PMPI_Send 0-2 (poll 0,2! wait 1!) "
		    "MPI_Send 5-6!6 (PMPI_Send 5 (poll 5!))) idle 3!)");
	job_destroy(job);
}

static void test_ranks_and_threads(void **state)
{
	struct job *job = sample_job();
	struct rankset *ranks = rankset_create();

	(void)state;
	rankset_add(ranks, 1);
	rankset_add(ranks, 3);
	assert_tree(job, calltree_create(job, ranks, CALLTREE_FUNCTION, 1, 1),
		    "main 1,3 (work 1 (PMPI_Send 1!) idle 3!) start 3 (helper 3!)");
	rankset_destroy(ranks);
	job_destroy(job);
}

/* Without symbols only equal addresses are the same. */
static void test_no_names(void **state)
{
	struct job *job = job_create();
	uint32_t module = modules_intern(job->modules, "/bin/app", NULL, 0);
	struct calltree *tree;

	(void)state;
	for (int r = 0; r < 3; r++) {
		struct sample sample = { .rank = r, .is_main = true, .state = 'R' };

		sample.path = callpaths_intern(job->callpaths, CALLPATH_NONE, module,
					       r == 2 ? 0x20 : 0x10, false);
		samples_add(job->samples, &sample);
	}
	tree = calltree_create(job, NULL, CALLTREE_FUNCTION, 0, 0);
	assert_int_equal(tree->num_roots, 2);
	assert_int_equal(rankset_count(tree->nodes[tree->roots[0]].ranks), 2);
	calltree_destroy(tree);
	job_destroy(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_latest),
		cmocka_unit_test(test_fold_mpi),
		cmocka_unit_test(test_ranks_and_threads),
		cmocka_unit_test(test_no_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
