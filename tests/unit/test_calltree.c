/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/calltree.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"

static uint64_t address_of(const char *function, int number)
{
	uint64_t hash = 5381;

	while (*function)
		hash = hash * 33 + (uint8_t)*function++;
	return (hash % 1000003) * 1000 + (uint64_t)number;
}

/* Stacks as text, outermost first: "+_start:1 main:10 work:20 ^MPI_Send:25 ~MPI_Send:30"; ^ marks
 * the recorder, ~ MPI's library, + the C library, % libgomp, ! a signal; the number is part of the
 * address and its tens are the line; = is a blank. "main:10/work:20/less:30": work is inlined into
 * main, and less into that. */
static uint32_t make_path(struct job *job, const char *text)
{
	uint32_t program = modules_intern(job->modules, "/bin/app", NULL, 0);
	uint32_t mpi = modules_intern(job->modules, "/lib/libmpi.so.40", NULL, 0);
	uint32_t recorder = modules_intern(job->modules, "/lib/libpdbrec-openmpi.so", NULL, 0);
	uint32_t system = modules_intern(job->modules, "/lib/libc.so.6", NULL, 0);
	uint32_t libgomp = modules_intern(job->modules, "/lib/libgomp.so.1.0.0", NULL, 0);
	uint32_t signal = modules_intern(job->modules, MODULES_SIGNAL, NULL, 0);
	uint32_t path = CALLPATH_NONE;
	char word[64], all[64];
	int used;

	for (; sscanf(text, " %63s%n", word, &used) == 1; text += used) {
		uint32_t module = word[0] == '~'   ? mpi
				  : word[0] == '^' ? recorder
				  : word[0] == '+' ? system
				  : word[0] == '%' ? libgomp
				  : word[0] == '!' ? signal
						   : program;
		struct name names[4];
		char *next = word, *function;
		size_t num = 0;
		int number = 0;

		strcpy(all, word);
		while ((function = strsep(&next, "/"))) {
			struct name *name = &names[num];
			char *colon = strchr(function, ':');

			*name = (struct name){
				.file = "a.c", .full_file = "/src/a.c", .is_symbol = true};
			number = atoi(colon + 1);
			name->line = number / 10 * 10;
			name->caller = num++ ? name - 1 : NULL;
			*colon = '\0';
			for (char *at = function; (at = strchr(at, '='));)
				*at = ' ';
			name->function = function + (num == 1 && module != program);
		}
		*strrchr(all, ':') = '\0';
		path = callpaths_intern(job->callpaths, path, module, address_of(all, number),
					true);
		names_set(job->names, path, &names[num - 1]);
	}
	return path;
}

/* thread 0: the main one. */
static void add_thread(struct job *job, int rank, int thread, uint64_t when_ns, const char *stack)
{
	struct sample sample = {
		.rank = rank,
		.tid = 100 + rank + 100 * thread,
		.is_main = thread == 0,
		.status = SAMPLE_COMPLETE,
		.path = make_path(job, stack),
		.state = 'R',
		.when_ns = when_ns,
	};

	samples_add(job->samples, &sample);
}

static void add_sample(struct job *job, int rank, bool is_main, const char *stack)
{
	add_thread(job, rank, !is_main, 0, stack);
}

/* As text: "main 0-3 (work 0-2 (MPI_Send 0-2!) idle 3!)"; ! where all of the ranks end. "x12":
 * seen so often, where ranks are seen more than once; "w3": so often in workers; "+" before the
 * name: on its caller's line; "MPI:" before that of a helper. */
static void write_node(const struct job *job, const struct calltree *tree, uint32_t index,
		       FILE *out)
{
	const struct calltree_node *node = &tree->nodes[index];
	char *ranks = rankset_encode(node->ranks, 0), *ends = rankset_encode(node->ends, 0);

	if (node->is_helper && node->parent == UINT32_MAX)
		fputs("MPI:", out);
	fprintf(out, "%s%s %s", node->is_joined ? "+" : "", calltree_name(tree, index)->function,
		ranks);
	if (tree->has_repeats)
		fprintf(out, "x%d", (int)node->seen);
	if (node->workers)
		fprintf(out, "w%d", (int)node->workers);
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

/* calltree_create() in one line. */
static struct calltree *make(const struct job *job, const struct rankset *ranks,
			     enum calltree_frames frames, bool fold, bool all_threads)
{
	const struct calltree_options options = {
		.frames = frames, .fold = fold, .all_threads = all_threads};

	return calltree_create(job, ranks, &options);
}

static struct job *sample_job(void)
{
	struct job *job = job_create();
	struct sample failed = {
		.rank = 9, .is_main = true, .status = SAMPLE_FAILED, .path = CALLPATH_NONE};

	add_sample(job, 0, true, "main:10 work:20 ~MPI_Send:30 ~poll:40");
	add_sample(job, 1, true, "main:10 work:21 ~MPI_Send:31 ~wait:40");
	add_sample(job, 2, true, "main:12 work:25 ~MPI_Send:30 ~poll:40");
	add_sample(job, 3, true, "main:30 idle:5");
	add_sample(job, 3, false, "start:10 helper:20");
	samples_add(job->samples, &failed);
	return job;
}

static void test_empty(void **state)
{
	struct job *job = job_create();

	(void)state;
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, 0, 0), "");
	calltree_destroy(NULL);
	job_destroy(job);
}

static void test_frames(void **state)
{
	struct job *job = sample_job();

	(void)state;
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, 0, 0),
		    "main 0-3 (work 0-2 (MPI_Send 0-2 (poll 0,2! wait 1!)) idle 3!)");
	assert_tree(job, make(job, NULL, CALLTREE_LINE, 0, 0),
		    "main 0-2 (work 0-2 (MPI_Send 0-2 (poll 0,2! wait 1!))) main 3 (idle 3!)");
	assert_tree(job, make(job, NULL, CALLTREE_ADDRESS, 0, 0),
		    "main 0-1 (work 0 (MPI_Send 0 (poll 0!)) work 1 (MPI_Send 1 (wait 1!))) "
		    "main 2 (work 2 (MPI_Send 2 (poll 2!))) main 3 (idle 3!)");
	/* No line: the function is all there is to tell frames apart. */
	add_sample(job, 4, true, "main:10 work:20 solve:1");
	add_sample(job, 5, true, "main:10 work:20 solve:2");
	assert_tree(job, make(job, NULL, CALLTREE_LINE, 1, 0),
		    "main 0-2,4-5 (work 0-2,4-5 (MPI_Send 0-2! solve 4-5!)) main 3 (idle 3!)");
	job_destroy(job);
}

/* Several samples of a thread: a rank stands at one place only. */
static void test_latest(void **state)
{
	struct job *job = job_create();

	(void)state;
	add_sample(job, 0, true, "main:10 work:20");
	add_sample(job, 0, true, "main:10 ~MPI_Send:30");
	add_sample(job, 1, true, "main:10 ~MPI_Send:30");
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, 0, 0), "main 0-1 (MPI_Send 0-1!)");
	job_destroy(job);
}

static void test_fold_mpi(void **state)
{
	struct job *job = sample_job();

	(void)state;
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, 1, 0),
		    "main 0-3 (work 0-2 (MPI_Send 0-2!) idle 3!)");
	/* A frame at which one rank ends and others go on. */
	add_sample(job, 4, true, "main:10 work:22");
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, 1, 0),
		    "main 0-4 (work 0-2,4!4 (MPI_Send 0-2!) idle 3!)");
	/* The recorder's own frames tell nothing. */
	add_sample(job, 5, true, "main:10 work:20 ^MPI_Send:26 ~MPI_Send:31 ~poll:40");
	add_sample(job, 6, true, "main:10 work:20 ^MPI_Send:27");
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, 1, 0),
		    "main 0-6 (work 0-2,4-6!4,6 (MPI_Send 0-2,5!) idle 3!)");
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, 0, 0),
		    "main 0-6 (work 0-2,4-6!4 (MPI_Send 0-2 (poll 0,2! wait 1!) "
		    "MPI_Send 5-6!6 (MPI_Send 5 (poll 5!))) idle 3!)");
	job_destroy(job);
}

static void test_ranks_and_threads(void **state)
{
	struct job *job = sample_job();
	struct rankset *ranks = rankset_create();

	(void)state;
	rankset_add(ranks, 1);
	rankset_add(ranks, 3);
	assert_tree(job, make(job, ranks, CALLTREE_FUNCTION, 1, 1),
		    "main 1,3 (work 1 (MPI_Send 1!) idle 3!) start 3 (helper 3!)");
	rankset_destroy(ranks);
	job_destroy(job);
}

/* Without symbols only equal addresses are the same. */
/* Functions are frames of their own, inlined or not; by line and address, too. Of MPI's none is
 * shown but the one that was called. */
static void test_inlined(void **state)
{
	struct job *job = job_create();

	(void)state;
	add_sample(job, 0, true, "main:10/work:20/less:30");
	add_sample(job, 1, true, "main:10/work:20/less:31");
	add_sample(job, 2, true, "main:10/work:40/less:30");
	add_sample(job, 3, true, "main:10 work:20");
	add_sample(job, 4, true, "main:50 ~MPI_Send:20/progress:30 ~poll:10");
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, true, false),
		    "main 0-4 (work 0-3!3 (less 0-2!) MPI_Send 4!)");
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, false, false),
		    "main 0-4 (work 0-3!3 (less 0-2!) MPI_Send 4 (progress 4 (poll 4!)))");
	assert_tree(job, make(job, NULL, CALLTREE_LINE, true, false),
		    "main 0-3 (work 0-1,3!3 (less 0-1!) work 2 (less 2!)) main 4 (MPI_Send 4!)");
	assert_tree(job, make(job, NULL, CALLTREE_ADDRESS, true, false),
		    "main 0 (work 0 (less 0!)) main 1 (work 1 (less 1!)) main 2 (work 2 (less 2!)) "
		    "main 3 (work 3!) main 4 (MPI_Send 4!)");
	job_destroy(job);
}

/* A signal's handler is shown whatever it has interrupted. */
static void test_signal(void **state)
{
	struct job *job = job_create();

	(void)state;
	add_sample(job, 0, true, "main:10 ~MPI_Send:20 ~poll:10 !<signal>:10 tick:10");
	add_sample(job, 1, true, "main:10 ~MPI_Send:20 ~poll:10");
	add_sample(job, 2, true, "main:10 !<signal>:10 tick:10 ~MPI_Test:10 ~poll:20");
	assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, true, false),
		    "main 0-2 (MPI_Send 0-1!1 (<signal> 0 (tick 0!)) <signal> 2 (tick 2 (MPI_Test "
		    "2!)))");
	job_destroy(job);
}

static void test_no_names(void **state)
{
	struct job *job = job_create();
	uint32_t module = modules_intern(job->modules, "/bin/app", NULL, 0);
	struct calltree *tree;

	(void)state;
	for (int r = 0; r < 3; r++) {
		struct sample sample = {.rank = r, .is_main = true, .state = 'R'};

		sample.path = callpaths_intern(job->callpaths, CALLPATH_NONE, module,
					       r == 2 ? 0x20 : 0x10, false);
		samples_add(job->samples, &sample);
	}
	tree = make(job, NULL, CALLTREE_FUNCTION, 0, 0);
	assert_int_equal(tree->num_roots, 2);
	assert_int_equal(rankset_count(tree->nodes[tree->roots[0]].ranks), 2);
	calltree_destroy(tree);
	job_destroy(job);
}

/* ---- Over time and in threads ---- */

static void test_over_time(void **state)
{
	const struct calltree_options options = {.over_time = true};
	struct job *job = job_create();

	(void)state;
	add_thread(job, 0, 0, 1, "main:10 work:20");
	add_thread(job, 0, 0, 2, "main:10 ~MPI_Send:30");
	add_thread(job, 0, 0, 3, "main:10 work:20");
	add_thread(job, 1, 0, 1, "main:10 ~MPI_Send:30");
	assert_tree(job, calltree_create(job, NULL, &options),
		    "main 0-1x4 (MPI_Send 0-1x2! work 0x2!)");
	job_destroy(job);
}

static void test_workers(void **state)
{
	static const struct {
		const char *main, *worker;
		bool fold;
		const char *expected;
	} cases[] = {
		/* In the region with the main thread. */
		{"main:10 f:20 %GOMP_parallel:30 f._omp_fn.0:40",
		 "+clone:1 +start_thread:2 %lib:3 f._omp_fn.0:41 g:50", false,
		 "main 0x2w1 (f 0x2w1 (GOMP_parallel 0x2w1 (f._omp_fn.0 0x2w1! (g 0x1w1!))))"},
		{"main:10 f:20 %GOMP_parallel:30 f._omp_fn:40", "%lib:3 f._omp_fn:41", true,
		 "main 0x2w1 (f 0x2w1 (f._omp_fn 0x2w1!))"},
		/* The main thread waits for the workers at the end of the region. */
		{"main:10 f:20 %GOMP_parallel_end:30 %lib:31", "%lib:3 f._omp_fn.0:41", false,
		 "main 0x2w1 (f 0x2w1 (GOMP_parallel_end 0x2w1 (lib 0x1! f._omp_fn.0 0x1w1!)))"},
		{"main:10 f:20 %lib:30 %lib:31", "%lib:3 f._omp_fn.0:41", true,
		 "main 0x2w1 (f 0x2w1 (lib 0x1 (lib 0x1!) f._omp_fn.0 0x1w1!))"},
		/* One region within another: that of the worker's name. */
		{"main:10 f:20 %GOMP_parallel:30 f._omp_fn.0:40 g:50 %GOMP_parallel:31 "
		 "g._omp_fn.1:60",
		 "%lib:3 f._omp_fn.0:41", true,
		 "main 0x2w1 (f 0x2w1 (f._omp_fn.0 0x2w1! (g 0x1 (g._omp_fn.1 0x1!))))"},
		/* A worker that has begun a region of its own. */
		{"main:10 f:20 %GOMP_parallel:30 f._omp_fn.0:40",
		 "%lib:3 f._omp_fn.0:41 g:50 %GOMP_parallel:31 g._omp_fn.1:60", true,
		 "main 0x2w1 (f 0x2w1 (f._omp_fn.0 0x2w1! (g 0x1w1 (g._omp_fn.1 0x1w1!))))"},
		/* Names of C++; f2() is not f(). */
		{"f2(int):10 %GOMP_parallel:30 f2(int)=[clone=._omp_fn.0]:40 f(int):20 %lib:31",
		 "%lib:3 f(int)=[clone=._omp_fn.0]:41", true,
		 "f2(int) 0x2w1 (f2(int) [clone ._omp_fn.0] 0x2w1 (f(int) 0x2w1 (lib 0x1! "
		 "f(int) [clone ._omp_fn.0] 0x1w1!)))"},
		/* f() has been inlined: the innermost region. */
		{"main:10 %GOMP_parallel:30 %lib:31", "%lib:3 f._omp_fn.0:41", false,
		 "main 0x2w1 (GOMP_parallel 0x2w1 (lib 0x1! f._omp_fn.0 0x1w1!))"},
		/* The main thread is in no region. */
		{"main:10 f:20", "%lib:3 f._omp_fn.0:41", true,
		 "main 0 (f 0!) lib 0 (f._omp_fn.0 0!)"},
		/* Without work. */
		{"main:10 f:20 %GOMP_parallel:30 f._omp_fn.0:40", "+clone:1 %lib:3 %lib:4", true,
		 "main 0 (f 0 (f._omp_fn.0 0!)) clone 0 (lib 0 (lib 0!))"},
		/* Another thread of the program. */
		{"main:10 f:20", "+clone:1 reader:20", true, "main 0 (f 0!) clone 0 (reader 0!)"},
		/* One of MPI's own, which is not confused with what the program does. */
		{"+clone:1 main:10", "+clone:1 ~progress:20 wake:30", false,
		 "clone 0 (main 0!) MPI:clone 0 (progress 0 (wake 0!))"},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct job *job = job_create();

		add_thread(job, 0, 0, 1, cases[i].main);
		add_thread(job, 0, 1, 1, cases[i].worker);
		assert_tree(job, make(job, NULL, CALLTREE_FUNCTION, cases[i].fold, true),
			    cases[i].expected);
		job_destroy(job);
	}
}

/* ---- Editing ---- */

static struct job *deep_job(void)
{
	struct job *job = job_create();

	add_sample(job, 0, true, "+_start:1 +libc:2 main:10 run:20 halo:30 ~MPI_Wait:40 ~poll:50");
	add_sample(job, 1, true, "+_start:1 +libc:2 main:10 run:20 halo:30 ~MPI_Wait:40 ~poll:50");
	add_sample(job, 2, true, "+_start:1 +libc:2 main:10 run:20 solve:30 +memcpy:40");
	add_sample(job, 3, true, "+_start:1 +libc:2 main:10 run:20 ^MPI_Send:30 ~MPI_Send:40");
	add_sample(job, 4, true, "+_start:1 +libc:2");
	return job;
}

static void test_edit(void **state)
{
	static const struct {
		const char *search, *above, *below, *hide; /* "mpi": the library */
		bool hide_starts;
		unsigned int depth;
		const char *expected;
	} cases[] = {
		{.expected =
			 "_start 0-4 (libc 0-4!4 (main 0-3 (run 0-3 (halo 0-1 (MPI_Wait 0-1 (poll "
			 "0-1!)) solve 2 (memcpy 2!) MPI_Send 3 (MPI_Send 3!)))))"},
		{.hide_starts = true,
		 .below = "_start", /* but where a rank ends */
		 .expected = "libc 0-4!4 (main 0-3 (run 0-3 (halo 0-1 (MPI_Wait 0-1 (poll 0-1!)) "
			     "solve 2 (memcpy 2!) MPI_Send 3!)))"},
		{.above = "main", .below = "^run", .expected = "main 0-3 (run 0-3!)"},
		{.above = "mpi", .expected = "MPI_Wait 0-1 (poll 0-1!) MPI_Send 3!"},
		{.above = "main",
		 .below = "mpi",
		 .expected = "main 0-3 (run 0-3 (halo 0-1 (MPI_Wait 0-1!) solve 2 (memcpy 2!) "
			     "MPI_Send 3 (MPI_Send 3!)))"},
		{.above = "^run",
		 .hide = "halo|solve",
		 .depth = 2,
		 .expected = "run 0-3 (MPI_Wait 0-1! memcpy 2! MPI_Send 3!)"},
		{.search = "solve\\(\\) at /src/a.c:30",
		 .above = "main",
		 .expected = "main 2 (run 2 (solve 2 (memcpy 2!)))"},
		{.search = "mpi", .above = "main", .depth = 1, .expected = "main 0-1,3!"},
		/* What is searched for may be cut away; what is hidden may be the end. */
		{.search = "poll",
		 .above = "run",
		 .below = "halo",
		 .expected = "run 0-1 (halo 0-1!)"},
		{.above = "halo", .hide = "poll", .expected = "halo 0-1 (MPI_Wait 0-1!)"},
		{.search = "nosuch", .expected = ""},
		{.above = "nosuch", .expected = ""},
		{.hide = ".", .expected = ""},
	};
	struct job *job = deep_job();

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *const texts[] = {cases[i].search, cases[i].above, cases[i].below,
					     cases[i].hide};
		struct calltree_edit edit = {.hide_starts = cases[i].hide_starts,
					     .depth = cases[i].depth};
		struct calltree_pattern *const patterns[] = {&edit.search, &edit.above, &edit.below,
							     &edit.hide};
		struct calltree *tree = make(job, NULL, CALLTREE_FUNCTION, false, false);
		regex_t expressions[4];

		for (int k = 0; k < 4; k++) {
			if (!texts[k])
				continue;
			patterns[k]->is_mpi = strcmp(texts[k], "mpi") == 0;
			if (!patterns[k]->is_mpi)
				patterns[k]->expression = &expressions[k];
			assert_int_equal(regcomp(&expressions[k], texts[k], REG_EXTENDED), 0);
		}
		assert_tree(job, calltree_edit(tree, &edit), cases[i].expected);
		for (int k = 0; k < 4; k++)
			if (texts[k])
				regfree(&expressions[k]);
		calltree_destroy(tree);
	}
	job_destroy(job);
}

/* What a stripped program begins with has no name; a function of it that calls the C library has
 * none either. */
static void test_stripped(void **state)
{
	const struct calltree_edit edit = {.hide_starts = true};
	struct job *job = job_create();
	uint32_t program = modules_intern(job->modules, "/bin/app", NULL, 0);
	uint32_t system = modules_intern(job->modules, "/lib/libc.so.6", NULL, 0);
	const uint32_t modules[] = {program, system, program, system};
	struct sample sample = {.is_main = true, .path = CALLPATH_NONE};
	struct calltree *tree, *edited;

	(void)state;
	for (size_t i = 0; i < NUM_OF(modules); i++)
		sample.path =
			callpaths_intern(job->callpaths, sample.path, modules[i], 16 * i, true);
	samples_add(job->samples, &sample);
	tree = make(job, NULL, CALLTREE_FUNCTION, false, false);
	edited = calltree_edit(tree, &edit);
	assert_int_equal(tree->num_nodes, 4);
	assert_int_equal(edited->num_nodes, 2);
	assert_int_equal(callpaths_get(job->callpaths, edited->nodes[0].path)->offset, 32);
	calltree_destroy(tree);
	calltree_destroy(edited);
	job_destroy(job);
}

static void test_join(void **state)
{
	struct job *job = deep_job();
	struct calltree *tree = make(job, NULL, CALLTREE_FUNCTION, false, false);

	(void)state;
	calltree_join(tree);
	assert_tree(job, tree,
		    "_start 0-4 (+libc 0-4!4 (main 0-3 (+run 0-3 (halo 0-1 (+MPI_Wait 0-1 (+poll "
		    "0-1!)) solve 2 (+memcpy 2!) MPI_Send 3 (+MPI_Send 3!)))))");
	job_destroy(job);
}

static void test_select(void **state)
{
	static const struct {
		enum calltree_extreme extreme;
		size_t num;
		const char *expected;
	} cases[] = {
		{CALLTREE_MOST, 1, "main 0-2 (b 0-2!)"},
		{CALLTREE_MOST, 2, "main 0-4 (b 0-2! d 3-4 (e 3-4!))"},
		/* Two equal ones are both the first. */
		{CALLTREE_LEAST, 1, "main 5-6 (c 5! d 6 (e 6 (f 6!)))"},
		{CALLTREE_LEAST, 3, "main 3-6 (d 3-4,6 (e 3-4,6!3-4 (f 6!)) c 5!)"},
		{CALLTREE_SHORTEST, 1, "main 0-2,5 (b 0-2! c 5!)"},
		{CALLTREE_LONGEST, 1, "main 6 (d 6 (e 6 (f 6!)))"},
		{CALLTREE_LONGEST, 99, "main 0-6 (b 0-2! d 3-4,6 (e 3-4,6!3-4 (f 6!)) c 5!)"},
	};
	struct job *job = job_create();

	(void)state;
	for (int r = 0; r < 3; r++)
		add_sample(job, r, true, "main:10 b:20");
	add_sample(job, 3, true, "main:10 d:20 e:30");
	add_sample(job, 4, true, "main:10 d:20 e:30");
	add_sample(job, 5, true, "main:10 c:20");
	add_sample(job, 6, true, "main:10 d:20 e:30 f:40");
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct calltree *tree = make(job, NULL, CALLTREE_FUNCTION, false, false);

		assert_tree(job, calltree_select(tree, cases[i].extreme, cases[i].num),
			    cases[i].expected);
		calltree_destroy(tree);
	}
	job_destroy(job);
}

/* At most a quarter of those at the frame before. */
static void test_deviates(void **state)
{
	struct job *job = job_create();
	struct calltree *tree;

	(void)state;
	for (int r = 0; r < 6; r++)
		add_sample(job, r, true, r < 5 ? "main:10 a:20" : "main:10 b:20 c:30");
	add_sample(job, 6, true, "other:10");
	add_sample(job, 7, true, "other:10");
	add_sample(job, 0, false, "~progress:20");
	samples_sort(job->samples);
	tree = make(job, NULL, CALLTREE_FUNCTION, false, true);
	for (uint32_t n = 0; n < tree->num_nodes; n++) {
		const char *function = calltree_name(tree, n)->function;

		assert_int_equal(calltree_deviates(tree, n),
				 strcmp(function, "b") == 0 || strcmp(function, "other") == 0);
	}
	calltree_destroy(tree);
	job_destroy(job);
}

/* ---- Classes ---- */

/* "0-2: b; 3: d/e c" */
static void assert_classes(struct calltree *tree, const char *expected)
{
	struct calltree_classes *classes = calltree_classes_create(tree);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < classes->num_classes; i++) {
		char *ranks = rankset_encode(classes->classes[i].ranks, 0);

		fprintf(out, "%s%s:", i > 0 ? "; " : "", ranks);
		for (size_t k = 0; k < classes->classes[i].num_ends; k++) {
			uint32_t end = classes->classes[i].ends[k];

			fprintf(out, " %s", calltree_name(tree, end)->function);
		}
		free(ranks);
	}
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	calltree_destroy(tree);
}

static void test_classes(void **state)
{
	const struct calltree_options over_time = {.over_time = true};
	struct job *job = job_create();

	(void)state;
	assert_classes(make(job, NULL, CALLTREE_FUNCTION, false, false), "");
	add_thread(job, 0, 0, 1, "main:10 a:20");
	add_thread(job, 0, 0, 2, "main:10 b:20");
	add_thread(job, 1, 0, 1, "main:10 c:20");
	add_thread(job, 2, 0, 1, "main:10 b:20");
	add_thread(job, 2, 0, 2, "main:10 a:20");
	add_thread(job, 2, 0, 3, "main:10 a:20");
	add_thread(job, 3, 0, 1, "main:10 a:20");
	add_thread(job, 3, 1, 1, "reader:10");
	assert_classes(make(job, NULL, CALLTREE_FUNCTION, false, false), "2-3: a; 0: b; 1: c");
	assert_classes(calltree_create(job, NULL, &over_time), "0,2: a b; 1: c; 3: a");
	assert_classes(make(job, NULL, CALLTREE_FUNCTION, false, true),
		       "0: b; 1: c; 2: a; 3: a reader");
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
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_over_time),
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_deviates),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
