/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "attach/process/procfs.h"
#include "attach/usage/usage_memory.h"
#include "attach/usage/usage_private.h"
#include "attach/usage/usage_take.h"
#include "attach/usage/usage_text.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/usage.h"
#include "model/monotonic.h"

#define SECOND_NS UINT64_C(1000000000)
enum { MAX_THREADS = 256 };
/* A process that used less of a processor keeps nobody waiting. */
static const double least_other = 0.05;
/* Other threads of a rank that ran for less do not work with its memory. */
static const double least_threads = 0.05;

/* A rank at one reading. */
struct rank_reading {
	int rank;
	pid_t pid;
	uint64_t when_ns;
	struct procfs_stat stat;
	bool is_there, has_queue;
	uint64_t ran_ns, queued_ns, khz;
	struct usage_group group;
};

struct node_reading {
	uint64_t when_ns, steal_ticks, swapped_in;
	uint32_t num_processors;
	struct procfs_stat *list;
	size_t num_list;
};

struct usage_reading {
	struct rank_reading *ranks;
	size_t num_ranks;
	struct node_reading node;
};

static uint64_t ticks_ns(uint64_t ticks)
{
	return ticks * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Counters of the kernel may be read a little out of order. */
static uint64_t since(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

/* ---- One reading ---- */

static uint64_t read_khz(int processor)
{
	char path[96], *text;
	uint64_t khz = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
		 processor);
	text = processor >= 0 ? procfs_read_path(path, NULL) : NULL;
	if (text)
		khz = strtoull(text, NULL, 10);
	free(text);
	return khz;
}

static struct rank_reading read_rank(int rank, pid_t pid)
{
	struct rank_reading reading = {.rank = rank, .pid = pid, .when_ns = monotonic_ns()};
	char name[40], *text;

	/* Of the process, so that faults of all threads count. */
	reading.is_there = procfs_stat(pid, 0, &reading.stat) == 0 && !reading.stat.is_ending;
	if (!reading.is_there)
		return reading;
	snprintf(name, sizeof(name), "task/%d/schedstat", (int)pid);
	text = procfs_read(pid, name, NULL);
	reading.has_queue = text && usage_text_schedstat(text, &reading.ran_ns, &reading.queued_ns);
	free(text);
	reading.khz = read_khz(reading.stat.processor);
	return reading;
}

static uint64_t read_number(const char *path, const char *key)
{
	char *text = procfs_read_path(path, NULL);
	uint64_t number = text ? usage_text_number(text, key) : 0;

	free(text);
	return number;
}

static struct node_reading read_node(void)
{
	struct node_reading reading = {.when_ns = monotonic_ns()};
	char *text = procfs_read_path("/proc/stat", NULL);

	if (text)
		usage_text_stat(text, &reading.steal_ticks, &reading.num_processors);
	free(text);
	reading.swapped_in = read_number("/proc/vmstat", "pswpin ");
	reading.list = procfs_list(&reading.num_list);
	return reading;
}

struct usage_reading *usage_take_begin(const struct proctable *table)
{
	struct usage_reading *reading = xcalloc(1, sizeof(*reading));

	reading->node = read_node();
	reading->ranks = xcalloc(table->num_procs, sizeof(*reading->ranks));
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];
		struct rank_reading *rank = &reading->ranks[reading->num_ranks];

		if (!proc_is_here(proc))
			continue;
		*rank = read_rank(proc->rank, proc->pid);
		rank->group = usage_group_find(proc->pid);
		reading->num_ranks++;
	}
	return reading;
}

void usage_take_destroy(struct usage_reading *reading)
{
	if (!reading)
		return;
	for (size_t i = 0; i < reading->num_ranks; i++)
		usage_group_deinit(&reading->ranks[i].group);
	free(reading->ranks);
	free(reading->node.list);
	free(reading);
}

/* ---- The difference ---- */

static struct rankset *read_allowed(pid_t pid)
{
	char *text = procfs_read(pid, "status", NULL);
	struct rankset *allowed = text ? usage_text_allowed(text) : rankset_create();

	free(text);
	return allowed;
}

/* What its other threads use may be near them. */
static void look_at_memory(const struct usage_numa *numa, const struct rank_reading *before,
			   const struct rank_reading *now, struct usage_rank *rank)
{
	int own = usage_numa_of(numa, now->stat.processor);
	uint64_t threads_ns = since(rank->ran_ns, rank->process_ns);

	if (own >= 0 && own == usage_numa_of(numa, before->stat.processor) && rank->has_queue &&
	    (double)threads_ns < least_threads * (double)rank->interval_ns)
		usage_memory_take(numa, before->pid, own, rank);
}

static void add_rank(struct usage *usage, const struct usage_numa *numa,
		     struct rank_reading *before)
{
	struct rank_reading now = read_rank(before->rank, before->pid);
	struct usage_group group = before->group;
	struct usage_rank rank = {
		.rank = before->rank,
		.interval_ns = since(before->when_ns, now.when_ns),
		.has_queue = before->has_queue && now.has_queue,
		.ran_ns = since(before->ran_ns, now.ran_ns),
		.queued_ns = since(before->queued_ns, now.queued_ns),
		.process_ns = ticks_ns(since(before->stat.cpu_ticks, now.stat.cpu_ticks)),
		.major_faults = since(before->stat.major_faults, now.stat.major_faults),
		.block_ns = ticks_ns(since(before->stat.block_ticks, now.stat.block_ticks)),
		.khz = before->khz && now.khz ? (before->khz + now.khz) / 2 : 0,
	};

	if (!before->is_there || !now.is_there ||
	    before->stat.start_ticks != now.stat.start_ticks || !rank.interval_ns)
		return;
	rank.node_rank = usage->num_ranks ? usage->ranks[0].rank : rank.rank;
	rank.allowed = read_allowed(before->pid);
	usage_group_read(&group);
	rank.periods = since(before->group.periods, group.periods);
	rank.throttled = since(before->group.throttled, group.throttled);
	rank.quota_percent = group.quota_percent;
	rank.group = group.path ? xstrdup(group.path) : NULL;
	if (numa)
		look_at_memory(numa, before, &now, &rank);
	usage_add_rank(usage, &rank);
}

static bool is_rank(const struct usage_reading *reading, pid_t pid)
{
	for (size_t i = 0; i < reading->num_ranks; i++)
		if (reading->ranks[i].pid == pid)
			return true;
	return false;
}

/* Where it was at both readings, and the threads of it that are ready now. */
static struct rankset *find_processors(const struct procfs_stat *before,
				       const struct procfs_stat *now)
{
	struct rankset *set = rankset_create();
	struct procfs_stat thread;
	size_t num = 0;
	pid_t *tids = now->num_threads > 1 ? procfs_threads(now->pid, &num) : NULL;

	if (before->processor >= 0)
		rankset_add(set, before->processor);
	if (now->processor >= 0)
		rankset_add(set, now->processor);
	for (size_t i = 0; tids && i < num && i < MAX_THREADS; i++)
		if (procfs_stat(now->pid, tids[i], &thread) == 0 && thread.state == 'R' &&
		    thread.processor >= 0)
			rankset_add(set, thread.processor);
	free(tids);
	return set;
}

static void add_other(struct usage_node *node, const struct procfs_stat *before,
		      const struct procfs_stat *now, uint64_t ran_ns)
{
	struct usage_process other = {.pid = now->pid, .ran_ns = ran_ns};
	size_t at = node->num_others;

	while (at > 0 && node->others[at - 1].ran_ns < ran_ns)
		at--;
	if (at == USAGE_MAX_OTHERS)
		return;
	memcpy(other.name, now->comm, sizeof(other.name));
	other.processors = find_processors(before, now);
	if (node->num_others == USAGE_MAX_OTHERS)
		rankset_destroy(node->others[--node->num_others].processors);
	memmove(&node->others[at + 1], &node->others[at],
		(node->num_others - at) * sizeof(node->others[0]));
	node->others[at] = other;
	node->num_others++;
}

static void find_others(const struct usage_reading *reading, const struct node_reading *now,
			struct usage_node *node)
{
	/* Those that the first reading has not are new, if that could be made. */
	for (size_t i = 0; reading->node.num_list && i < now->num_list; i++) {
		const struct procfs_stat *process = &now->list[i];
		const struct procfs_stat *before =
			procfs_find(reading->node.list, reading->node.num_list, process->pid);
		bool is_same = before && before->start_ticks == process->start_ticks;
		uint64_t ran_ns =
			ticks_ns(since(is_same ? before->cpu_ticks : 0, process->cpu_ticks));

		if ((double)ran_ns < least_other * (double)node->interval_ns ||
		    process->pid == getpid() || is_rank(reading, process->pid))
			continue;
		add_other(node, is_same ? before : process, process, ran_ns);
	}
}

static void add_node(struct usage *usage, const struct usage_reading *reading)
{
	struct node_reading now = read_node();
	const struct node_reading *before = &reading->node;
	struct usage_node node = {
		.rank = usage->ranks[0].rank,
		.interval_ns = since(before->when_ns, now.when_ns),
		.num_processors = now.num_processors,
		.steal_ns = ticks_ns(since(before->steal_ticks, now.steal_ticks)),
		.swapped_in = since(before->swapped_in, now.swapped_in),
	};

	find_others(reading, &now, &node);
	free(now.list);
	usage_add_node(usage, &node);
}

struct usage *usage_take_end(struct usage_reading *reading)
{
	struct usage_numa *numa;
	struct usage *usage;

	if (!reading)
		return NULL;
	usage = usage_create();
	numa = usage_numa_read("/sys/devices/system/node");
	for (size_t i = 0; i < reading->num_ranks; i++)
		add_rank(usage, numa, &reading->ranks[i]);
	usage_numa_destroy(numa);
	if (usage->num_ranks)
		add_node(usage, reading);
	usage_take_destroy(reading);
	return usage;
}
