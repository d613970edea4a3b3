/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "attach/usage/usage_memory.h"
#include "attach/usage/usage_text.h"
#include "model/job/rankset.h"
#include "model/job/usage.h"

/* ---- NUMA nodes ---- */

/* The numbers in a file like cpulist; empty: there are none. */
static struct rankset *read_list(const char *folder, const char *name, int most)
{
	char *path = xasprintf("%s/%s", folder, name);
	char *text = procfs_read_path(path, NULL);
	struct rankset *set = usage_text_list(text ? text : "", most);

	free(text);
	free(path);
	return set;
}

struct usage_numa *usage_numa_read(const char *folder)
{
	struct usage_numa *numa = xcalloc(1, sizeof(*numa));
	struct rankset *nodes = read_list(folder, "has_memory", USAGE_MAX_NUMA_NODES);
	int num_both = 0;

	numa->processors = xcalloc(USAGE_MAX_NUMA_NODES, sizeof(*numa->processors));
	for (int n = rankset_first(nodes); n >= 0; n = rankset_next(nodes, n)) {
		char name[32];
		struct rankset *processors;

		snprintf(name, sizeof(name), "node%d/cpulist", n);
		processors = read_list(folder, name, USAGE_MAX_PROCESSORS);
		if (rankset_is_empty(processors)) {
			rankset_destroy(processors);
			continue;
		}
		numa->processors[n] = processors;
		numa->num = n + 1;
		num_both++;
	}
	rankset_destroy(nodes);
	if (num_both >= 2)
		return numa;
	usage_numa_destroy(numa);
	return NULL;
}

void usage_numa_destroy(struct usage_numa *numa)
{
	if (!numa)
		return;
	for (int n = 0; n < numa->num; n++)
		rankset_destroy(numa->processors[n]);
	free(numa->processors);
	free(numa);
}

static bool has_both(const struct usage_numa *numa, int node)
{
	return node >= 0 && node < numa->num && numa->processors[node];
}

int usage_numa_of(const struct usage_numa *numa, int processor)
{
	for (int n = 0; processor >= 0 && n < numa->num; n++)
		if (has_both(numa, n) && rankset_contains(numa->processors[n], processor))
			return n;
	return -1;
}

/* ---- Pages ---- */

/* What is shared may be near another process that uses it. */
static bool is_own_memory(const struct maps_range *range)
{
	return range->is_writable && !range->is_shared && range->end > range->start;
}

size_t usage_memory_choose(const struct maps *maps, uint64_t page_size,
			   uint64_t addresses[USAGE_MAX_PAGES])
{
	uint64_t num_pages = 0, before = 0, next = 0;
	size_t num = 0;

	for (size_t i = 0; i < maps->num_ranges; i++)
		if (is_own_memory(&maps->ranges[i]))
			num_pages += (maps->ranges[i].end - maps->ranges[i].start) / page_size;
	for (size_t i = 0; i < maps->num_ranges; i++) {
		const struct maps_range *range = &maps->ranges[i];
		uint64_t here = is_own_memory(range) ? (range->end - range->start) / page_size : 0;

		while (num < USAGE_MAX_PAGES && next < before + here) {
			addresses[num++] = range->start + (next - before) * page_size;
			/* In this order, as few pages are all taken, and many cannot overflow. */
			next = num_pages <= USAGE_MAX_PAGES ? num
							    : num_pages / USAGE_MAX_PAGES * num +
								      num_pages % USAGE_MAX_PAGES *
									      num / USAGE_MAX_PAGES;
		}
		before += here;
	}
	return num;
}

int usage_memory_ask(pid_t pid, const uint64_t *addresses, size_t num, int *nodes)
{
	void *pages[USAGE_MAX_PAGES];

	if (num > USAGE_MAX_PAGES) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 0; i < num; i++) {
		pages[i] = (void *)(uintptr_t)addresses[i];
		nodes[i] = -1;
	}
	/* Without nodes to move to, it only says where pages are. */
	return syscall(SYS_move_pages, pid, num, pages, NULL, nodes, 0) == 0 ? 0 : -1;
}

void usage_memory_count(const struct usage_numa *numa, int own, const int *nodes, size_t num,
			struct usage_rank *rank)
{
	uint32_t *pages = xcalloc((size_t)numa->num, sizeof(*pages)), most = 0;

	rank->num_pages = rank->num_far = 0;
	rank->own_node = (uint32_t)own;
	rank->far_node = 0;
	for (size_t i = 0; i < num; i++) {
		rank->num_pages += nodes[i] >= 0;
		if (!has_both(numa, nodes[i]) || nodes[i] == own)
			continue;
		rank->num_far++;
		if (++pages[nodes[i]] > most) {
			most = pages[nodes[i]];
			rank->far_node = (uint32_t)nodes[i];
		}
	}
	free(pages);
}

void usage_memory_take(const struct usage_numa *numa, pid_t pid, int own, struct usage_rank *rank)
{
	uint64_t addresses[USAGE_MAX_PAGES];
	int nodes[USAGE_MAX_PAGES];
	struct maps *maps = maps_read(pid);
	size_t num = 0;

	if (maps)
		num = usage_memory_choose(maps, (uint64_t)sysconf(_SC_PAGESIZE), addresses);
	maps_destroy(maps);
	if (num && usage_memory_ask(pid, addresses, num, nodes) == 0)
		usage_memory_count(numa, own, nodes, num, rank);
}
