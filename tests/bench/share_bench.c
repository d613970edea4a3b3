/* SPDX-License-Identifier: BSD-3-Clause
 * What it costs to bring the models of many ranks to one place and to analyse them there.
 *
 *	share_bench [--tree] RANKS...
 *
 * The job is that of tests/fixtures/many_ranks.h on nodes of 64 ranks, two programs, with 26
 * rows in each ledger and rings of 512 entries; five ranks hang, and that these are found is
 * checked. Ways, each in a process of its own so that its peak of memory is known; --tree: only
 * the last two, which need no room for whole ranks:
 *
 *	models	  all ranks in one job, nothing is encoded: what the analyses alone take
 *	snapshot  the same written to a file and read back
 *	share	  the same as one share, encoded and decoded
 *	tree	  a share of each node, merged along a binomial tree; what its root has is encoded
 *		  once more for pdb. The time is that of the longest way through the tree; sending
 *		  takes none
 *	one	  the same by one process: the times of all nodes added up
 *
 * Times are processor time in ms. "put": until the bytes are there (tree: of the slowest node,
 * before anything is merged); "merge": from then until pdb has all bytes; "get": from bytes to
 * job; "judge": loops, groups, waits, verdict. KB: what comes to pdb; MB: peak of the process
 * that judges, beyond what it began with; "root MB": that of the root of the tree while it
 * merges. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/buffer.h"
#include "model/error.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "model/wire/share.h"
#include "model/xalloc.h"
#include "tests/fixtures/many_ranks.h"
#include "tests/unit/answers.h"

enum { NODE = 64, NUM_HANGING = 5, NUM_PROGRAMS = 2, RING = 512, NEIGHBOURS = 26 };

struct times {
	double put, merge, get;
	double all_put, all_merge; /* of all nodes together */
	double root_megabytes;     /* 0: nothing was merged */
	uint64_t bytes;
};

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Give back what is free, and begin a new peak. The present size. */
static double megabytes_before(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");
	long pages = 0;

	malloc_trim(0);
	if (!file || fputs("5", file) < 0 || fclose(file) != 0)
		exit(1);
	file = fopen("/proc/self/statm", "r");
	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		exit(1);
	fclose(file);
	return (double)(pages * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/* The peak since then. */
static double megabytes(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kilobytes = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %ld", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return (double)kilobytes / 1024;
}

static void check(int status, const struct pdb_error *err)
{
	if (status == 0)
		return;
	fprintf(stderr, "share_bench: %s\n", err->text);
	exit(1);
}

static struct many_ranks *make_ranks(int num_ranks)
{
	return many_ranks_create(&(struct many_ranks_setting){
		.num_ranks = num_ranks,
		.num_hanging = NUM_HANGING,
		.num_programs = NUM_PROGRAMS,
		.ring = RING,
		.ranks_per_node = NODE,
		.num_neighbours = NEIGHBOURS,
	});
}

static struct job *make_whole_job(int num_ranks)
{
	struct many_ranks *many = make_ranks(num_ranks);
	struct job *job = many_ranks_job(many, 0, num_ranks - 1);

	many_ranks_destroy(many);
	return job;
}

/* ---- Verdict ---- */

/* The ranks that many_ranks.h makes hang, and no others. */
static void check_culprits(const struct rankset *culprits, int num_ranks)
{
	int stride = num_ranks / NUM_HANGING, num = 0;

	for (int rank = rankset_first(culprits); rank >= 0; rank = rankset_next(culprits, rank))
		num += rank % stride == 7;
	if (num == NUM_HANGING && rankset_count(culprits) == NUM_HANGING)
		return;
	fprintf(stderr, "share_bench: of %d ranks, the wrong ones hang\n", num_ranks);
	exit(1);
}

static void print_times(const char *way, int num_ranks, const struct times *times, double put,
			double merge, double judge, double megabytes)
{
	printf("%8d %-9s %9.1f %9.1f %9.1f %9.1f %9" PRIu64 " %9.1f %9.1f\n", num_ranks, way, put,
	       merge, times->get, judge, times->bytes / 1024, megabytes, times->root_megabytes);
	fflush(stdout);
}

static void judge(const char *way, int num_ranks, struct job *job, const struct times *times,
		  double before)
{
	double at = milliseconds();
	struct answers answers = answers_of(job);

	at = milliseconds() - at;
	print_times(way, num_ranks, times, times->put, times->merge, at, megabytes() - before);
	if (times->merge > 0)
		print_times("one", num_ranks, times, times->all_put, times->all_merge, at,
			    megabytes() - before);
	check_culprits(answers.verdict->culprits, num_ranks);
	answers_deinit(&answers);
}

/* ---- Ways ---- */

static void bench_models(int num_ranks)
{
	struct times times = {0};
	double before = megabytes_before();
	struct job *job = make_whole_job(num_ranks);

	judge("models", num_ranks, job, &times, before);
	job_destroy(job);
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

/* Run what reads in a process of its own, forked when models are gone. */
static void run(void (*read)(int, struct times *, void *), int num_ranks, struct times *times,
		void *data)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		read(num_ranks, times, data);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
		exit(1);
}

static void read_snapshot(int num_ranks, struct times *times, void *path)
{
	double before = megabytes_before(), at = milliseconds();
	struct pdb_error err = {0};
	struct job *job;

	check(snapshot_load(path, &job, &err), &err);
	times->get = milliseconds() - at;
	judge("snapshot", num_ranks, job, times, before);
}

static void bench_snapshot(int num_ranks)
{
	char path[] = "/dev/shm/share_bench.XXXXXX";
	int fd = mkstemp(path);
	struct job *job = make_whole_job(num_ranks);
	struct pdb_error err = {0};
	struct times times = {0};
	double at = milliseconds();

	if (fd < 0)
		exit(1);
	close(fd);
	check(snapshot_save(job, path, &err), &err);
	times.put = milliseconds() - at;
	times.bytes = size_of(path);
	job_destroy(job);
	run(read_snapshot, num_ranks, &times, path);
	unlink(path);
}

static void read_share(int num_ranks, struct times *times, void *data)
{
	const struct buffer *bytes = data;
	double before = megabytes_before(), at = milliseconds();
	struct pdb_error err = {0};
	struct job *job = job_create();
	struct share *share;

	check(share_decode(bytes->bytes, bytes->num, num_ranks, &share, &err), &err);
	check(share_to_job(share, job, &err), &err);
	share_destroy(share);
	times->get = milliseconds() - at;
	judge(times->merge > 0 ? "tree" : "share", num_ranks, job, times, before);
}

/* How long it took. */
static double put_share(const struct job *job, struct buffer *bytes)
{
	struct share *share = share_create();
	struct pdb_error err = {0};
	double at = milliseconds();

	share_fill(share, job, NULL, SHARE_ANSWERS);
	check(share_encode(share, bytes, &err), &err);
	share_destroy(share);
	return milliseconds() - at;
}

static void bench_share(int num_ranks)
{
	struct job *job = make_whole_job(num_ranks);
	struct times times = {0};
	struct buffer bytes = {0};

	times.put = put_share(job, &bytes);
	times.bytes = bytes.num;
	job_destroy(job);
	run(read_share, num_ranks, &times, &bytes);
	free(bytes.bytes);
}

/* ---- The tree ---- */

struct node {
	struct buffer bytes; /* what it sends to its parent */
	double ready;        /* when, since its own share was there */
};

/* What a node adds to its share from its children: i + 1, i + 2, i + 4, ... up to its own lowest
 * bit, which have sent theirs when they were ready. */
static void merge_children(struct node *nodes, int num_nodes, int i, int num_ranks,
			   struct times *times)
{
	struct pdb_error err = {0};
	struct share *share, *other;
	double now = 0, at, begin = milliseconds();

	if (i % 2)
		return;
	check(share_decode(nodes[i].bytes.bytes, nodes[i].bytes.num, num_ranks, &share, &err),
	      &err);
	for (int step = 1; i + step < num_nodes && (i & step) == 0; step *= 2) {
		struct node *child = &nodes[i + step];

		now = child->ready > now ? child->ready : now;
		at = milliseconds();
		check(share_decode(child->bytes.bytes, child->bytes.num, num_ranks, &other, &err),
		      &err);
		check(share_merge(share, other, &err), &err);
		now += milliseconds() - at;
		share_destroy(other);
		free(child->bytes.bytes);
	}
	at = milliseconds();
	nodes[i].bytes.num = 0;
	check(share_encode(share, &nodes[i].bytes, &err), &err);
	nodes[i].ready = now + milliseconds() - at;
	share_destroy(share);
	times->all_merge += milliseconds() - begin;
}

static void bench_tree(int num_ranks)
{
	int num_nodes = (num_ranks + NODE - 1) / NODE;
	struct node *nodes = xcalloc((size_t)num_nodes, sizeof(*nodes));
	struct many_ranks *many = make_ranks(num_ranks);
	struct times times = {0};
	double before;

	for (int i = 0; i < num_nodes; i++) {
		int last = (i + 1) * NODE < num_ranks ? (i + 1) * NODE - 1 : num_ranks - 1;
		struct job *job = many_ranks_job(many, i * NODE, last);
		double took = put_share(job, &nodes[i].bytes);

		times.put = took > times.put ? took : times.put;
		times.all_put += took;
		job_destroy(job);
	}
	many_ranks_destroy(many);
	for (int i = num_nodes - 1; i > 0; i--)
		merge_children(nodes, num_nodes, i, num_ranks, &times);
	before = megabytes_before();
	merge_children(nodes, num_nodes, 0, num_ranks, &times);
	times.root_megabytes = megabytes() - before;
	times.merge = nodes[0].ready;
	times.bytes = nodes[0].bytes.num;
	run(read_share, num_ranks, &times, &nodes[0].bytes);
	free(nodes[0].bytes.bytes);
	free(nodes);
}

int main(int argc, char **argv)
{
	static void (*const ways[])(int) = {bench_models, bench_snapshot, bench_share, bench_tree};

	bool is_tree = argc > 1 && strcmp(argv[1], "--tree") == 0;

	printf("%8s %-9s %9s %9s %9s %9s %9s %9s %9s\n", "ranks", "way", "put ms", "merge ms",
	       "get ms", "judge ms", "KB", "MB", "root MB");
	fflush(stdout);
	for (int i = 1 + is_tree; i < argc; i++) {
		int num_ranks = atoi(argv[i]);

		if (num_ranks < 10 * NUM_HANGING) {
			fprintf(stderr, "usage: share_bench [--tree] RANKS..., at least %d\n",
				10 * NUM_HANGING);
			return 2;
		}
		for (size_t way = is_tree ? 3 : 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
			pid_t pid = fork();
			int status;

			if (pid == 0) {
				ways[way](num_ranks);
				exit(0);
			}
			if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
				return 1;
		}
	}
	return 0;
}
