/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "attach/blocked/open_by.h"
#include "attach/process/procfs.h"
#include "model/monotonic.h"

#define MAX_LINKS 20000
#define MAX_CPU_NS (20 * UINT64_C(1000000))
#define MAX_NS (5 * MAX_CPU_NS) /* on a machine whose processors are busy */
#define LOOKS_PER_CLOCK 16
#define MAX_TARGET 4096

struct scan {
	const char *link;
	size_t length;
	enum open_by_mode mode;
	pid_t own;
	int num_links;
	unsigned num_looks;
	uint64_t deadline, cpu_deadline;
	bool is_cut, is_refused, has_init;
	struct open_by *found;
};

struct near {
	pid_t pid;
	int distance;
};

static uint64_t cpu_ns(void)
{
	struct timespec used = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static bool is_over(struct scan *scan)
{
	if (scan->num_links >= MAX_LINKS)
		scan->is_cut = true;
	else if (scan->num_looks++ % LOOKS_PER_CLOCK == 0 &&
		 (monotonic_ns() > scan->deadline || cpu_ns() > scan->cpu_deadline))
		scan->is_cut = true;
	return scan->is_cut;
}

static bool has_mode(pid_t pid, const char *fd, enum open_by_mode mode)
{
	const char *at;
	char *text, name[32];
	unsigned long flags, access;

	if (mode == OPEN_BY_ANY)
		return true;
	snprintf(name, sizeof(name), "fdinfo/%.16s", fd);
	text = procfs_read(pid, name, NULL);
	at = text ? strstr(text, "flags:") : NULL;
	flags = at ? strtoul(at + strlen("flags:"), NULL, 8) : O_PATH;
	free(text);
	/* That one can neither read nor write. */
	if (flags & O_PATH)
		return false;
	access = flags & O_ACCMODE;
	return access == O_RDWR || access == (mode == OPEN_BY_READERS ? O_RDONLY : O_WRONLY);
}

static bool is_wanted(struct scan *scan, pid_t pid, int directory, const char *fd)
{
	char target[MAX_TARGET];
	ssize_t n = readlinkat(directory, fd, target, sizeof(target));

	scan->num_links++;
	return n > 0 && (size_t)n == scan->length && !memcmp(target, scan->link, scan->length) &&
	       has_mode(pid, fd, scan->mode);
}

static bool has_it_open(struct scan *scan, pid_t pid)
{
	struct dirent *entry;
	char path[64];
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	if (!dir) {
		/* One that has just ended has nothing open. */
		if (errno != ENOENT && errno != ESRCH)
			scan->is_refused = true;
		return false;
	}
	while (!found && !is_over(scan) && (entry = readdir(dir)))
		found = entry->d_name[0] != '.' && is_wanted(scan, pid, dirfd(dir), entry->d_name);
	closedir(dir);
	return found;
}

static void add_process(struct open_by *found, pid_t pid)
{
	struct open_by_process *process;
	struct procfs_stat stat;

	if (procfs_stat(pid, 0, &stat))
		return;
	if (found->num_others < OPEN_BY_NAMED) {
		process = &found->others[found->num_others];
		process->pid = pid;
		process->state = stat.state;
		snprintf(process->comm, sizeof(process->comm), "%s", stat.comm);
	}
	found->num_others++;
}

/* The pids of the machine but the own, with their distances from that. */
static struct near *list_pids(struct scan *scan, size_t *num_ret)
{
	size_t num = 0, capacity = 64;
	struct near *list = NULL;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	if (!dir)
		scan->is_refused = true;
	list = xcalloc(capacity, sizeof(*list));
	while (dir && !is_over(scan) && (entry = readdir(dir))) {
		char *end;
		pid_t pid = (pid_t)strtol(entry->d_name, &end, 10);

		scan->has_init |= pid == 1;
		if (!*end && pid > 0 && pid != scan->own)
			*XPUSH(list, num, capacity) =
				(struct near){.pid = pid, .distance = abs(pid - scan->own)};
	}
	if (dir)
		closedir(dir);
	*num_ret = num;
	return list;
}

SORTED_BY(compare_near, struct near, distance, pid)

/* Who shares a pipe has mostly started at about the same time, so has a pid close by. */
static void scan_all(struct scan *scan)
{
	size_t num = 0;
	struct near *list = list_pids(scan, &num);

	sorted_make(list, num, sizeof(*list), compare_near);
	for (size_t i = 0; i < num && !is_over(scan); i++)
		if (has_it_open(scan, list[i].pid))
			add_process(scan->found, list[i].pid);
	free(list);
}

void open_by_find(pid_t own, const char *link, enum open_by_mode mode, struct open_by *ret)
{
	struct scan scan = {
		.link = link,
		.length = strlen(link),
		.mode = mode,
		.own = own,
		.deadline = monotonic_ns() + MAX_NS,
		.cpu_deadline = cpu_ns() + MAX_CPU_NS,
		.found = ret,
	};

	*ret = (struct open_by){0};
	ret->is_own = has_it_open(&scan, own);
	scan_all(&scan);
	ret->is_whole = !scan.is_cut && !scan.is_refused && scan.has_init && geteuid() == 0 &&
			procfs_sees_machine();
}

static char *name_of(const struct open_by_process *process)
{
	return xasprintf("%d (%s%s)", (int)process->pid, process->comm,
			 process->state == 'T' ? ", stopped" : "");
}

char *open_by_names(const struct open_by *by)
{
	char *first, *second, *names;

	if (!by->num_others)
		return by->is_own ? xstrdup("this process") : NULL;
	first = name_of(&by->others[0]);
	second = name_of(&by->others[1]);
	if (by->num_others == 1)
		names = xasprintf("process %s", first);
	else if (by->num_others == 2)
		names = xasprintf("processes %s and %s", first, second);
	else
		names = xasprintf("processes %s, %s and %zu more", first, second,
				  by->num_others - OPEN_BY_NAMED);
	free(first);
	free(second);
	return names;
}

char *open_by_words(const struct open_by *by, const char *doing)
{
	char *names, *words;

	if (!by->num_others && !by->is_own)
		return by->is_whole ? xasprintf("nobody has it open for %s", doing) : NULL;
	names = open_by_names(by);
	/* Of a search that was not whole, "only" is not sure. */
	words = xasprintf("%s%s %s it open for %s", !by->num_others && by->is_whole ? "only " : "",
			  names, by->num_others > 1 ? "have" : "has", doing);
	free(names);
	return words;
}
