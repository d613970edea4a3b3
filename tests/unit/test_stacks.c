/* SPDX-License-Identifier: BSD-3-Clause
 * tree, classes and bt on samples that were made by hand, as on a snapshot: what is typed, and what
 * is printed for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/job/callpath.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "shell/command.h"
#include "shell/session.h"
#include "tests/unit/unit.h"

enum { SIZE = 8 };

struct fixture {
	struct session session;
	char *text;
	size_t size;
};

struct frame {
	const char *module, *function, *file;
	int line;
};

static const struct frame START = {"/lib/libc.so.6", "__libc_start_main", NULL, 0};
static const struct frame MAIN = {"/bin/app", "main", "/src/app.c", 10};
static const struct frame RUN = {"/bin/app", "run", "/src/app.c", 20};
static const struct frame HALO = {"/bin/app", "halo", "/src/halo.c", 30};
static const struct frame SOLVE = {"/bin/app", "ns::solve(double)", "/src/solve.cc", 40};
static const struct frame SEND = {"/lib/libmpi.so.40", "MPI_Send", NULL, 0};
static const struct frame POLL = {"/lib/libmpi.so.40", "poll_all", NULL, 0};
static const struct frame CLONE = {"/lib/libc.so.6", "clone", NULL, 0};
static const struct frame PROGRESS = {"/lib/libopen-pal.so.40", "progress_engine", NULL, 0};
static const struct frame PARALLEL = {"/lib/libgomp.so.1", "GOMP_parallel", NULL, 0};
static const struct frame REGION = {"/bin/app", "run._omp_fn.0", "/src/app.c", 22};
static const struct frame WORKER = {"/lib/libgomp.so.1", "gomp_thread_start", NULL, 0};

static uint32_t make_path(struct job *job, const struct frame *const *frames)
{
	uint32_t path = CALLPATH_NONE;

	for (; *frames; frames++) {
		const struct frame *frame = *frames;
		uint32_t module = modules_intern(job->modules, frame->module, NULL, 0);
		const struct name name = {.function = frame->function,
					  .file = frame->file ? strrchr(frame->file, '/') + 1
							      : NULL,
					  .full_file = frame->file,
					  .line = frame->line,
					  .is_symbol = true};

		path = callpaths_intern(job->callpaths, path, module,
					(uint64_t)(strlen(frame->function) * 1000) + frame->line,
					true);
		names_set(job->names, path, &name);
	}
	return path;
}

static void add(struct job *job, int rank, int thread, uint64_t when_ns,
		const struct frame *const *frames)
{
	const struct sample sample = {
		.rank = rank,
		.tid = 100 * (rank + 1) + thread,
		.is_main = thread == 0,
		.status = SAMPLE_COMPLETE,
		.path = make_path(job, frames),
		.state = 'R',
		.when_ns = when_ns,
	};

	samples_add(job->samples, &sample);
}

#define FRAMES(...) ((const struct frame *const[]){__VA_ARGS__, NULL})

/* Ranks 0-5 send, rank 6 computes and has once sent, rank 7 is gone. */
static struct job *make_job(void)
{
	struct job *job = job_create();
	struct pdb_error err;

	for (int rank = 0; rank < SIZE; rank++)
		proctable_add(job->proctable, rank, 100 * (rank + 1), rank < 4 ? "a" : "b", "app");
	assert_int_equal(proctable_finish(job->proctable, &err), 0);
	for (int rank = 0; rank < 6; rank++)
		add(job, rank, 0, 1, FRAMES(&START, &MAIN, &RUN, &HALO, &SEND, &POLL));
	add(job, 6, 0, 1, FRAMES(&START, &MAIN, &RUN, &HALO, &SEND, &POLL));
	add(job, 6, 0, 2, FRAMES(&START, &MAIN, &RUN, &SOLVE));
	samples_add(job->samples, &(struct sample){.rank = 7,
						   .tid = 800,
						   .is_main = true,
						   .status = SAMPLE_FAILED,
						   .path = CALLPATH_NONE,
						   .note = xstrdup("process has ended")});
	return job;
}

static struct fixture *create(struct job *job)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	session_init(&f->session);
	f->session.execute = command_execute;
	f->session.job = job;
	f->session.snapshot = xstrdup("hang.pdb");
	f->session.out = open_memstream(&f->text, &f->size);
	return f;
}

static void destroy(struct fixture *f)
{
	fclose(f->session.out);
	free(f->text);
	session_deinit(&f->session);
	free(f);
}

static void assert_output(struct fixture *f, const char *line, const char *expected)
{
	struct pdb_error err = {0};

	if (command_execute(&f->session, line, &err) < 0)
		fail_msg("%s: %s", line, err.text);
	fclose(f->session.out);
	if (strcmp(f->text, expected) != 0)
		fail_msg("%s: expected\n%s\nbut there is\n%s", line, expected, f->text);
	free(f->text);
	f->session.out = open_memstream(&f->text, &f->size);
}

/* What a command writes into a file. */
static void assert_file(struct fixture *f, const char *line, const char *ending,
			const char *expected)
{
	char path[64], text[4000] = "", *command;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/test_stacks.%d.%s", (int)getpid(), ending);
	command = xasprintf("%s > %s", line, path);
	assert_output(f, command, "");
	free(command);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) < sizeof(text) - 1);
	fclose(file);
	unlink(path);
	if (!strstr(text, expected))
		fail_msg("%s: \"%s\" is not in\n%s", line, expected, text);
}

#define REPEATED "<-: few ranks; 2x: in 2 samples\n"
#define GONE "rank 7 without stack: process has ended (1 of 8 ranks)\n"

static const struct {
	const char *line, *expected;
} outputs[] = {
	{"tree", "7:[0-6] 8x main() app.c:10\n"
		 "           run() app.c:20\n"
		 "|-- 7:[0-6] 7x halo() halo.c:30\n"
		 "|              MPI_Send()\n"
		 "`-- 1:[6] 1x ns::solve() solve.cc:40  <-\n" REPEATED GONE},
	{"bt", "7:[0-6] main() app.c:10\n"
	       "        run() app.c:20\n"
	       "|-- 6:[0-5] halo() halo.c:30\n"
	       "|           MPI_Send()\n"
	       "`-- 1:[6] ns::solve() solve.cc:40  <-\n<-: few ranks\n" GONE},
	{"tree -join 0-6", "7:[0-6] 8x main() > run() app.c:20\n"
			   "|-- 7:[0-6] 7x halo() > MPI_Send()\n"
			   "`-- 1:[6] 1x ns::solve() solve.cc:40  <-\n" REPEATED},
	{"tree -full 5", "1:[5] __libc_start_main()\n"
			 "      main() app.c:10\n"
			 "      run() app.c:20\n"
			 "      halo() halo.c:30\n"
			 "      MPI_Send()\n"
			 "      poll_all()\n"},
	{"tree 4-6 --depth 1", "3:[4-6] 4x main() app.c:10\n2x: in 2 samples\n"},
	{"tree host a -above mpi", "4:[0-3] MPI_Send()\n"
				   "        poll_all()\n"},
	{"tree 6 -above run -below mpi -hide halo",
	 "1:[6] 2x run() app.c:20\n"
	 "|-- 1:[6] 1x MPI_Send()\n"
	 "`-- 1:[6] 1x ns::solve() solve.cc:40\n2x: in 2 samples\n"},
	{"tree -least 0-6", "1:[6] main() app.c:10\n"
			    "      run() app.c:20\n"
			    "      ns::solve() solve.cc:40\n"},
	{"bt -mo 1 0-6 -d 2", "7:[0-6] main() app.c:10\n"
			      "        run() app.c:20\n"},
	{"tree 0-6 -se 'solve.cc:4' -above '^run'", "1:[6] run() app.c:20\n"
						    "      ns::solve() solve.cc:40\n"},
	{"classes", "class 1  6:[0-5]  e.g. rank 0\n"
		    "    main() app.c:10\n"
		    "    run() app.c:20\n"
		    "    halo() halo.c:30\n"
		    "    MPI_Send()\n"
		    "class 2  1:[6]  e.g. rank 6\n"
		    "    main() app.c:10\n"
		    "    run() app.c:20\n"
		    "    |-- halo() halo.c:30\n"
		    "    |   MPI_Send()\n"
		    "    `-- ns::solve() solve.cc:40\n" GONE},
	{"classes -below run 0-6", "class 1  7:[0-6]  e.g. rank 0\n"
				   "    main() app.c:10\n"
				   "    run() app.c:20\n"},
};

static void test_outputs(void **state)
{
	struct fixture *f = create(make_job());

	(void)state;
	for (size_t i = 0; i < NUM_OF(outputs); i++)
		assert_output(f, outputs[i].line, outputs[i].expected);
	assert_output(f, "set frames function", "");
	assert_output(f, "tree 6 -above solve", "1:[6] ns::solve() solve.cc\n");
	assert_file(f, "tree 6 -above solve", "json", "solve.cc\", \"module\"");
	assert_output(f, "set frames address", "");
	assert_output(f, "tree 6 -above solve", "1:[6] ns::solve() solve.cc:40 0x4290\n");
	assert_file(f, "tree 6 -above solve", "json", "\"offset\": 17040");
	assert_output(f, "set frames line", "");
	/* Long chains go on below each other. */
	assert_output(f, "set width 40", "");
	assert_output(f, "tree -join -full 5",
		      "1:[5] __libc_start_main() > main() >\n"
		      "      run() > halo() > MPI_Send() >\n"
		      "      poll_all()\n");
	assert_output(f, "focus 6", "");
	assert_output(f, "tree -longest",
		      "1:[6] main() app.c:10\n"
		      "      run() app.c:20\n"
		      "      halo() halo.c:30\n"
		      "      MPI_Send()\n");
	destroy(f);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{"tree -nosuch", "option \"-nosuch\" is not one of"},
		{"tree -l", "ambiguous: -least, -longest, -last"},
		{"tree -depth", "-depth takes N"},
		{"tree -depth 0", "-depth is a number from 1"},
		{"tree -above", "-above takes RE"},
		{"tree -hide '('", "regular expression \"(\": "},
		{"tree -hide a -hide mpi", "-hide is there twice"},
		{"tree -least 0", "-least is a number from 1"},
		{"tree -least -most", "only one of"},
		{"tree -first -last", "only one of"},
		{"tree -first", "no order in time: the machine code of main() is missing"},
		{"tree 8", "8"},
		{"tree 7", "there is no stack of these ranks"},
		{"classes -search nosuch", "leave out all"},
		{"bt -above nosuch", "leave out all"},
		{"sample", "hang.pdb is a snapshot"},
		{"tree >> x.json", "cannot be appended"},
		{"lp >> x.svg", "draws no svg picture"},
	};
	struct fixture *f = create(make_job());

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct pdb_error err = {0};

		assert_int_equal(command_execute(&f->session, cases[i].line, &err), -1);
		if (!strstr(err.text, cases[i].message))
			fail_msg("%s: %s", cases[i].line, err.text);
	}
	destroy(f);
}

/* Machine code is not looked for. */
static void test_python(void **state)
{
	static const struct frame module = {"/src/heat.py", "<module>", "/src/heat.py", 9};
	static const struct frame halo = {"/src/heat.py", "halo", "/src/heat.py", 3};
	static const struct frame step = {"/src/heat.py", "step", "/src/heat.py", 5};
	struct fixture *f = create(job_create());
	struct job *job = f->session.job;
	struct pdb_error err = {0};
	uint32_t file;

	(void)state;
	for (int rank = 0; rank < 2; rank++)
		proctable_add(job->proctable, rank, 100 * (rank + 1), "a", "python3");
	assert_int_equal(proctable_finish(job->proctable, &err), 0);
	add(job, 0, 0, 1, FRAMES(&START, &module, &halo, &SEND));
	add(job, 1, 0, 1, FRAMES(&START, &module, &step, &SEND));
	file = modules_intern(job->modules, "/src/heat.py", NULL, 0);
	for (uint32_t id = 0; id < callpaths_count(job->callpaths); id++)
		if (callpaths_get(job->callpaths, id)->module == file)
			modules_set_place(job->modules, file,
					  callpaths_get(job->callpaths, id)->offset,
					  names_get(job->names, id)->function, 0);
	assert_output(f, "tree",
		      "2:[0-1] <module>() heat.py:9\n"
		      "|-- 1:[0] halo() heat.py:3\n"
		      "|         MPI_Send()\n"
		      "`-- 1:[1] step() heat.py:5\n"
		      "          MPI_Send()\n");
	assert_int_equal(command_execute(&f->session, "tree -first", &err), -1);
	if (!strstr(err.text,
		    "<module>() is Python; loops and variables are read from machine code only"))
		fail_msg("%s", err.text);
	destroy(f);
}

/* ---- Threads ---- */

static void test_threads(void **state)
{
	struct job *job = make_job();
	struct fixture *f;

	(void)state;
	for (size_t i = 0; i < job->samples->num_samples; i++)
		free(job->samples->samples[i].note);
	job->samples->num_samples = 0;
	for (int rank = 0; rank < 2; rank++) {
		add(job, rank, 0, 1, FRAMES(&START, &MAIN, &RUN, &PARALLEL, &REGION, &HALO));
		for (int thread = 1; thread <= 3; thread++)
			add(job, rank, thread, 1, FRAMES(&CLONE, &WORKER, &REGION));
		add(job, rank, 4, 1, FRAMES(&CLONE, &PROGRESS, &POLL));
	}
	f = create(job);
	assert_output(f, "set threads on", "");
	assert_output(f, "tree 0-1",
		      "2:[0-1] 8x main() app.c:10\n"
		      "           run() app.c:20\n"
		      "           run._omp_fn.0() app.c:22  (6 of 8 by OpenMP workers)\n"
		      "2:[0-1] 2x halo() halo.c:30\n"
		      "Threads of the MPI library:\n"
		      "2:[0-1] 2x progress_engine()\n2x: in 2 samples\n");
	assert_output(f, "set threads off", "");
	assert_output(f, "tree 0-1 -above run -join",
		      "2:[0-1] run() > run._omp_fn.0() > halo() halo.c:30\n");
	destroy(f);
}

/* ---- Files ---- */

static void test_files(void **state)
{
	struct fixture *f = create(make_job());

	(void)state;
	assert_file(f, "tree", "folded",
		    "main;run;halo;MPI_Send 7\n"
		    "main;run;ns::solve 1\n");
	assert_file(f, "classes", "folded", "main;run;ns::solve 1\n");
	assert_file(f, "tree -above solve", "json",
		    "\"command\": \"tree\", "
		    "\"line\": \"tree -above solve");
	assert_file(
		f, "tree -above solve", "json",
		"\"result\": {\"stacks\": ["
		"{\"function\": \"ns::solve(double)\", \"file\": \"/src/solve.cc\", \"line\": 40, "
		"\"module\": \"/bin/app\", \"count\": 1, \"ranks\": \"6\", \"samples\": 1, "
		"\"ends\": \"6\", \"callees\": []}]}}\n");
	assert_file(f, "tree -above run", "json",
		    "\"ends\": \"0-6\", \"callees\": []}]}, {\"function\": \"ns::solve(double)\"");
	assert_file(f, "classes -above 'halo|solve'", "json",
		    "{\"classes\": ["
		    "{\"count\": 6, \"ranks\": \"0-5\", \"representative\": 0, \"stacks\": "
		    "[[{\"function\": \"halo\"");
	assert_file(f, "tree", "dot", "n0 -> n1 [label=\"7:[0-6] 8x\"]");
	assert_file(f, "tree -join", "dot", "n0 [label=\"main() app.c:10\\nrun() app.c:20\"]");
	assert_file(f, "tree", "dot", "label=\"ns::solve() solve.cc:40\", color=");
	/* Another ending is text. */
	assert_file(f, "tree", "txt", "7:[0-6] 8x main() app.c:10\n");
	destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_python),  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
