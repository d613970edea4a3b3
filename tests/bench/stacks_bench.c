/* SPDX-License-Identifier: BSD-3-Clause
 * What it takes until the merged stacks of a job are there.
 *
 *	stacks_bench PID [OTHERS]
 *		The ranks of that launcher on this node, sampled, merged and printed with their
 *		names: the first time, when neither processes nor symbols are known, and again.
 *		Beside it eu-stack and gdb on the first OTHERS ranks (4), one after the other;
 *		neither merges.
 *	stacks_bench --merge RANKS CLASSES
 *		A job of so many ranks on nodes of 64, in so many different places, 12 to 16
 *		functions deep: what the daemons send, merged along a binomial tree as in
 *		share_bench, is made a job, then a tree of names, then its classes. "merge": of the
 *		longest way through the tree; "job", "tree", "classes": at pdb. Once with ranks of a
 *		class side by side, once with all scattered.
 *
 * Milliseconds; of processor time in brackets. The simulation is processor time only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>

#include "analysis/stacks/calltree.h"
#include "attach/launchers/launcher.h"
#include "attach/node/node.h"
#include "attach/stacks/sampler.h"
#include "attach/symbols/symbols.h"
#include "model/arena.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/wire/share.h"
#include "model/xalloc.h"
#include "render/view.h"

enum { ROUNDS = 21, NODE = 64, SHALLOW = 12, DEPTHS = 5 };

static double clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double wall_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

static double cpu_ms(void)
{
	return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

static void check(int status, const struct pdb_error *err)
{
	if (status == 0)
		return;
	fprintf(stderr, "stacks_bench: %s\n", err->text);
	exit(1);
}

/* As the tree command makes it. Returns how many frames are shown. */
static size_t print_tree(const struct job *job)
{
	const struct calltree_options options = {
		.frames = CALLTREE_LINE, .fold = true, .over_time = true};
	const struct calltree_edit edit = {.hide_starts = true};
	struct calltree *all = calltree_create(job, NULL, &options);
	struct calltree *tree = calltree_edit(all, &edit);
	size_t num = tree->num_nodes, size;
	char *text;
	struct answer answer = {.arena = arena_create(), .tree = tree};
	struct view view = {
		.out = open_memstream(&text, &size),
		.arena = answer.arena,
		.answer = &answer,
		.width = 80,
		.job = job,
	};

	view_calltree(&view);
	fclose(view.out);
	arena_destroy(answer.arena);
	free(text);
	calltree_destroy(all);
	calltree_destroy(tree);
	return num;
}

/* ---- A real job ---- */

static bool never_given_up(uint64_t until_ns)
{
	(void)until_ns;
	return true;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_line(const char *what, size_t num_ranks, double wall, double cpu)
{
	printf("  %-44s %4zu ranks %10.1f (%.1f)\n", what, num_ranks, wall, cpu);
	fflush(stdout);
}

static void bench_pdb(struct proctable *table)
{
	const struct node_sampling once = {.times = 1, .sleep_until = never_given_up};
	struct job *job = job_create();
	struct symbols *symbols = symbols_create(job->modules);
	struct rankset *ranks = rankset_create();
	double wall[ROUNDS], cpu[ROUNDS];
	struct sampler *sampler;
	struct pdb_error err;
	struct node *node;

	proctable_destroy(job->proctable);
	job->proctable = table;
	names_destroy(job->names);
	job->names = names_create(job->modules, job->callpaths, symbols_resolve, symbols);
	sampler = sampler_create(job->modules, job->callpaths);
	node = node_create(job, sampler);
	rankset_add_range(ranks, 0, table->size - 1);
	for (int i = 0; i < ROUNDS; i++) {
		wall[i] = wall_ms();
		cpu[i] = cpu_ms();
		check(node_sample(node, ranks, &once, &err), &err);
		if (print_tree(job) == 0)
			exit(1);
		wall[i] = wall_ms() - wall[i];
		cpu[i] = cpu_ms() - cpu[i];
	}
	print_line("pdb, sampled and merged with names, cold", table->num_procs, wall[0], cpu[0]);
	qsort(wall + 1, ROUNDS - 1, sizeof(*wall), compare);
	qsort(cpu + 1, ROUNDS - 1, sizeof(*cpu), compare);
	print_line("the same, warm (median)", table->num_procs, wall[ROUNDS / 2], cpu[ROUNDS / 2]);
	rankset_destroy(ranks);
	node_destroy(node);
	sampler_destroy(sampler);
	symbols_destroy(symbols);
	job_destroy(job);
}

static void run(char *const argv[])
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
		fprintf(stderr, "stacks_bench: %s failed\n", argv[0]);
		exit(1);
	}
}

static double children_ms(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static void bench_other(const char *what, char **argv, int pid_argument, const pid_t *pids,
			size_t num)
{
	double wall = wall_ms(), cpu = children_ms();

	for (size_t i = 0; i < num; i++) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", (int)pids[i]);
		argv[pid_argument] = pid;
		run(argv);
	}
	print_line(what, num, wall_ms() - wall, children_ms() - cpu);
}

static void bench_job(pid_t launcher, size_t others)
{
	char *eu_stack[] = {(char *)"eu-stack", (char *)"-p", NULL, NULL};
	char *gdb[] = {(char *)"gdb", (char *)"-nx", (char *)"-batch", (char *)"-p",
		       NULL,          (char *)"-ex", (char *)"bt",     NULL};
	struct launcher_info info;
	struct proctable *table;
	struct pdb_error err;
	pid_t *pids;
	size_t num;

	unsetenv("DEBUGINFOD_URLS");
	check(launcher_identify(launcher, &info, &err), &err);
	check(launcher_scan_procfs(&info, &table, &err), &err);
	num = table->num_procs;
	pids = xcalloc(num + 1, sizeof(*pids));
	for (size_t i = 0; i < num; i++)
		pids[i] = table->procs[i].pid;
	printf("%s\n", info.name);
	bench_pdb(table);
	bench_other("eu-stack -p", eu_stack, 2, pids, others < num ? others : num);
	bench_other("gdb -batch -p -ex bt", gdb, 4, pids, others < num ? others : num);
	free(pids);
}

/* ---- A simulated one ---- */

static int class_of(int rank, int num_ranks, int num_classes, bool is_scattered)
{
	if (is_scattered)
		return (int)((uint32_t)rank * UINT32_C(2654435761) >> 8) % num_classes;
	return (int)((int64_t)rank * num_classes / num_ranks);
}

/* The stack of a class: the outer half of it is that of all. */
static uint32_t make_path(struct job *job, int class)
{
	uint32_t module = modules_intern(job->modules, "/home/me/bin/application", NULL, 0);
	uint32_t path = CALLPATH_NONE;

	for (int depth = 0; depth < SHALLOW + class % DEPTHS; depth++) {
		int branch = depth < SHALLOW / 2 ? 0 : class;
		char *function = xasprintf("function_%d_%d", depth, branch);
		const struct name name = {.function = function,
					  .file = "file.c",
					  .full_file = "/home/me/src/file.c",
					  .line = depth + 100 * branch,
					  .is_symbol = true};

		path = callpaths_intern(job->callpaths, path, module,
					(uint64_t)(0x1000 * (depth + 1) + 16 * branch), true);
		names_set(job->names, path, &name);
		free(function);
	}
	return path;
}

static struct job *make_node_job(int first, int last, int num_ranks, int num_classes,
				 bool is_scattered)
{
	struct job *job = job_create();

	for (int rank = first; rank <= last; rank++) {
		struct sample sample = {
			.rank = rank, .tid = 1000 + rank, .is_main = true, .state = 'R'};

		sample.path = make_path(job, class_of(rank, num_ranks, num_classes, is_scattered));
		samples_add(job->samples, &sample);
	}
	return job;
}

struct daemon {
	struct buffer bytes; /* what it sends to its parent */
	double ready;        /* when, since its own share was there */
};

/* What a daemon adds to its share from its children: see share_bench. */
static void merge_children(struct daemon *daemons, int num, int i, int num_ranks)
{
	struct pdb_error err = {0};
	struct share *share, *other;
	double now = 0, at;

	if (i % 2)
		return;
	check(share_decode(daemons[i].bytes.bytes, daemons[i].bytes.num, num_ranks, &share, &err),
	      &err);
	for (int step = 1; i + step < num && (i & step) == 0; step *= 2) {
		struct daemon *child = &daemons[i + step];

		now = child->ready > now ? child->ready : now;
		at = cpu_ms();
		check(share_decode(child->bytes.bytes, child->bytes.num, num_ranks, &other, &err),
		      &err);
		check(share_merge(share, other, &err), &err);
		now += cpu_ms() - at;
		share_destroy(other);
		free(child->bytes.bytes);
	}
	at = cpu_ms();
	daemons[i].bytes.num = 0;
	check(share_encode(share, &daemons[i].bytes, &err), &err);
	daemons[i].ready = now + cpu_ms() - at;
	share_destroy(share);
}

/* What comes to pdb, in *ret; returns the time until it is there. */
static double send_all(int num_ranks, int num_classes, bool is_scattered, struct buffer *ret)
{
	int num = (num_ranks + NODE - 1) / NODE;
	struct daemon *daemons = xcalloc((size_t)num, sizeof(*daemons));
	struct pdb_error err = {0};
	double ready;

	for (int i = 0; i < num; i++) {
		int last = (i + 1) * NODE < num_ranks ? (i + 1) * NODE - 1 : num_ranks - 1;
		struct job *job =
			make_node_job(i * NODE, last, num_ranks, num_classes, is_scattered);
		struct share *share = share_create();

		share_fill(share, job, NULL, SHARE_ANSWERS | SHARE_NAMES | SHARE_STACKS_ONLY);
		check(share_encode(share, &daemons[i].bytes, &err), &err);
		share_destroy(share);
		job_destroy(job);
	}
	for (int i = num - 1; i >= 0; i--)
		merge_children(daemons, num, i, num_ranks);
	*ret = daemons[0].bytes;
	ready = daemons[0].ready;
	free(daemons);
	return ready;
}

static void bench_merge(int num_ranks, int num_classes, bool is_scattered)
{
	const struct calltree_options options = {.frames = CALLTREE_LINE, .over_time = true};
	struct job *job = job_create();
	struct calltree_classes *classes;
	struct pdb_error err = {0};
	double at, merge, get, tree_ms, classes_ms;
	struct calltree *tree;
	struct buffer bytes;
	struct share *share;

	for (int rank = 0; rank < num_ranks; rank++)
		proctable_add(job->proctable, rank, 1000 + rank, "host", "application");
	check(proctable_finish(job->proctable, &err), &err);
	merge = send_all(num_ranks, num_classes, is_scattered, &bytes);
	at = cpu_ms();
	check(share_decode(bytes.bytes, bytes.num, num_ranks, &share, &err), &err);
	check(share_to_job(share, job, &err), &err);
	share_destroy(share);
	get = cpu_ms() - at;
	at = cpu_ms();
	print_tree(job);
	tree_ms = cpu_ms() - at;
	tree = calltree_create(job, NULL, &options);
	at = cpu_ms();
	classes = calltree_classes_create(tree);
	classes_ms = cpu_ms() - at;
	printf("  %-12s %10.1f %10.1f %10.1f %10.1f %10.1f %10zu\n",
	       is_scattered ? "scattered" : "side by side", merge, get, tree_ms, classes_ms,
	       merge + get + tree_ms + classes_ms, bytes.num / 1024);
	if (classes->num_classes != (size_t)num_classes) {
		fprintf(stderr, "stacks_bench: %zu classes, not %d\n", classes->num_classes,
			num_classes);
		exit(1);
	}
	calltree_destroy(tree);
	job_destroy(job);
	free(bytes.bytes);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--merge") == 0) {
		int num_ranks = atoi(argv[2]), num_classes = atoi(argv[3]);

		if (num_classes < 1 || num_ranks < num_classes)
			return 2;
		printf("%d ranks in %d classes, simulated; ms\n", num_ranks, num_classes);
		printf("  %-12s %10s %10s %10s %10s %10s %10s\n", "", "merge", "job", "tree",
		       "classes", "together", "KB");
		bench_merge(num_ranks, num_classes, false);
		bench_merge(num_ranks, num_classes, true);
		return 0;
	}
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: stacks_bench PID [OTHERS] | --merge RANKS CLASSES\n");
		return 2;
	}
	bench_job(atoi(argv[1]), argc > 2 ? (size_t)atoi(argv[2]) : 4);
	return 0;
}
