/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include "attach/blocked/fd_object.h"
#include "attach/blocked/limits.h"
#include "attach/blocked/mounts.h"
#include "attach/process/procfs.h"
#include "model/monotonic.h"

#define MAX_NS (2 * UINT64_C(1000000))
#define COUNT_NS (20 * UINT64_C(1000000))
#define MAX_MOUNTS 16

struct scan {
	pid_t pid;
	bool is_root;
	char *mounts; /* mountinfo, once it is needed */
	int asked[MAX_MOUNTS];
	size_t num_asked;
	uint64_t num_open;
	char *words;
};

bool limits_parse_files(const char *text, uint64_t *ret)
{
	static const char name[] = "Max open files";
	const char *line = strstr(text, name);
	unsigned long long limit;

	/* "unlimited" is no number. */
	if (!line || sscanf(line + strlen(name), " %llu", &limit) != 1)
		return false;
	*ret = limit;
	return true;
}

bool limits_is_root(pid_t pid)
{
	struct procfs_status status;

	return !procfs_status(pid, &status) && status.uid == 0;
}

static void add_words(struct scan *scan, char *more)
{
	char *words = scan->words ? xasprintf("%s; %s", scan->words, more) : xstrdup(more);

	free(scan->words);
	free(more);
	scan->words = words;
}

bool limits_is_full(const struct statvfs *stat, bool is_root)
{
	/* tmpfs without a limit says 0 of 0. */
	return stat->f_blocks && !(is_root ? stat->f_bfree : stat->f_bavail);
}

/* Of `path`, a link below /proc that leads to a local file system. NULL: there is room. */
static const char *find_full(const struct scan *scan, const char *path)
{
	struct statvfs stat;

	if (statvfs(path, &stat))
		return NULL;
	if (limits_is_full(&stat, scan->is_root))
		return "is full";
	if (stat.f_files && !(scan->is_root ? stat.f_ffree : stat.f_favail))
		return "has no inodes left";
	return NULL;
}

/* Each mount once. */
static bool is_asked(struct scan *scan, int mount)
{
	for (size_t i = 0; i < scan->num_asked; i++)
		if (scan->asked[i] == mount)
			return true;
	if (scan->num_asked == MAX_MOUNTS)
		return true;
	scan->asked[scan->num_asked++] = mount;
	return false;
}

static void ask_mount(struct scan *scan, int id, const char *path, const char *file)
{
	struct mount mount = {0};
	const char *how = NULL;
	char *place;

	if (!scan->mounts)
		scan->mounts = procfs_read(scan->pid, "mountinfo", NULL);
	if (scan->mounts && mounts_find_id(scan->mounts, id, &mount) && mount_is_local(&mount))
		how = find_full(scan, path);
	if (how) {
		place = mount_place(&mount);
		add_words(scan, xasprintf("the file system of %s%s%s%s %s", file, place ? " (" : "",
					  place ? place : "", place ? ")" : "", how));
		free(place);
	}
	mount_clear(&mount);
}

/* Only of files that are written. */
static void ask_descriptor(struct scan *scan, const char *fd)
{
	struct fd_info info;
	char path[64], *link, *text;

	snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", (int)scan->pid, fd);
	link = fd_object_link(path);
	if (link && *link == '/' && strncmp(link, "/dev/", 5) != 0) {
		snprintf(path, sizeof(path), "fdinfo/%.16s", fd);
		text = procfs_read(scan->pid, path, NULL);
		fd_info_parse(text ? text : "", &info);
		free(text);
		snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", (int)scan->pid, fd);
		if ((info.flags & O_ACCMODE) != O_RDONLY && !(info.flags & O_PATH) &&
		    info.mount_id >= 0 && !is_asked(scan, info.mount_id))
			ask_mount(scan, info.mount_id, path, link);
	}
	free(link);
}

static void ask_descriptors(struct scan *scan)
{
	uint64_t deadline = monotonic_ns() + MAX_NS, limit = UINT64_MAX;
	char path[32], *text = procfs_read(scan->pid, "limits", NULL);
	bool is_cut = false;
	struct dirent *entry;
	DIR *dir;

	if (!text || !limits_parse_files(text, &limit))
		limit = UINT64_MAX;
	free(text);

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)scan->pid);
	dir = opendir(path);
	while (dir && !is_cut && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		/* Those above were opened under another limit. */
		scan->num_open += strtoull(entry->d_name, NULL, 10) < limit;
		/* To count them is quick, to look at each is not. */
		if (monotonic_ns() < deadline)
			ask_descriptor(scan, entry->d_name);
		else
			is_cut = monotonic_ns() > deadline + COUNT_NS;
	}
	if (dir)
		closedir(dir);
	if (!is_cut && scan->num_open == limit)
		add_words(scan, xasprintf("all %llu file descriptors that it may have are open",
					  (unsigned long long)limit));
}

/* The kernel asks them for each part of a path that leads through them. */
static bool is_far(const char *mounts, const char *path)
{
	struct mount mount = {0};
	char *point = mounts_find_path(mounts, path, &mount) ? mount_far_point(&mount) : NULL;
	bool is_it = point != NULL;

	free(point);
	mount_clear(&mount);
	return is_it;
}

/* Shared memory of MPI libraries is there, and mostly not open any more. */
static void ask_shared_memory(struct scan *scan)
{
	struct mount mount = {0};
	const char *how = NULL;
	char path[64];

	if (!scan->mounts)
		scan->mounts = procfs_read(scan->pid, "mountinfo", NULL);
	if (!scan->mounts || is_far(scan->mounts, "/") || is_far(scan->mounts, "/dev") ||
	    !mounts_find_path(scan->mounts, "/dev/shm", &mount))
		return;
	snprintf(path, sizeof(path), "/proc/%d/root/dev/shm", (int)scan->pid);
	if (!strcmp(mount.point, "/dev/shm") && mount_is_local(&mount) && !is_asked(scan, mount.id))
		how = find_full(scan, path);
	if (how)
		add_words(scan, xasprintf("/dev/shm %s", how));
	mount_clear(&mount);
}

char *limits_reached(pid_t pid)
{
	struct scan scan = {.pid = pid};

	scan.is_root = limits_is_root(pid);
	ask_descriptors(&scan);
	ask_shared_memory(&scan);
	free(scan.mounts);
	return scan.words;
}
