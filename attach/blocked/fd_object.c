/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include <unistd.h>

#include "attach/blocked/fd_object.h"
#include "attach/blocked/mounts.h"
#include "attach/process/procfs.h"
#include "attach/blocked/sockets.h"

#define MAX_TARGET 4096
#define NUM_OF(array) (sizeof(array) / sizeof((array)[0]))

char *fd_object_link(const char *path)
{
	char target[MAX_TARGET];
	ssize_t n = readlink(path, target, sizeof(target));

	return n > 0 ? xstrndup(target, (size_t)n) : NULL;
}

static const char *value_of(const char *text, const char *key)
{
	size_t length = strlen(key);

	while (text && *text) {
		if (!strncmp(text, key, length))
			return text + length;
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return NULL;
}

void fd_info_parse(const char *text, struct fd_info *ret)
{
	const char *flags = value_of(text, "flags:"), *mount = value_of(text, "mnt_id:");
	const char *inode = value_of(text, "ino:"), *pid = value_of(text, "Pid:");

	*ret = (struct fd_info){
		.flags = flags ? strtoul(flags, NULL, 8) : 0,
		.mount_id = mount ? (int)strtol(mount, NULL, 10) : -1,
		.inode = inode ? strtoull(inode, NULL, 10) : 0,
		.pid = pid ? (pid_t)strtol(pid, NULL, 10) : 0,
	};
}

size_t fd_info_watched(const char *text, int *fds, size_t most)
{
	size_t num = 0;

	while ((text = value_of(text, "tfd:"))) {
		if (num < most)
			fds[num] = (int)strtol(text, NULL, 10);
		num++;
	}
	return num;
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* By the link's text; the words stand for what begins so. */
static const struct {
	const char *link, *words;
} plain[] = {
	{"anon_inode:[eventfd]", "an eventfd"},
	{"anon_inode:[timerfd]", "a timerfd"},
	{"anon_inode:[signalfd]", "a signalfd"},
	{"anon_inode:[eventpoll]", "an epoll descriptor"},
	{"anon_inode:inotify", "an inotify descriptor"},
	{"anon_inode:[fanotify]", "a fanotify descriptor"},
	{"anon_inode:[io_uring]", "an io_uring descriptor"},
	{"anon_inode:[userfaultfd]", "a userfaultfd"},
};

static char *words_of_process(pid_t pid)
{
	struct procfs_stat stat;

	if (pid <= 0 || procfs_stat(pid, 0, &stat))
		return xstrdup("a process that has ended");
	return xasprintf("process %d (%s)", (int)pid, stat.comm);
}

static char *words_of_other(const struct fd_object *object)
{
	for (size_t i = 0; i < NUM_OF(plain); i++)
		if (begins(object->link, plain[i].link))
			return xstrdup(plain[i].words);
	if (begins(object->link, "anon_inode:[pidfd]") || begins(object->link, "pidfd:"))
		return words_of_process(object->info.pid);
	return xstrdup(object->link);
}

/* A FIFO has the name of a file. The path of the link leads to it without a walk. */
static bool is_fifo(pid_t pid, int fd)
{
	struct stat stat_of;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	return !stat(path, &stat_of) && S_ISFIFO(stat_of.st_mode);
}

/* Not /dev/pts/ptmx, of which every opening is another one. */
static bool is_terminal(const char *link)
{
	static const char pts[] = "/dev/pts/";

	return begins(link, "/dev/tty") ||
	       (begins(link, pts) && link[sizeof(pts) - 1] >= '0' && link[sizeof(pts) - 1] <= '9');
}

static void look_at_file(pid_t pid, int fd, struct fd_object *object)
{
	char *mounts = procfs_read(pid, "mountinfo", NULL);
	struct mount mount = {0};

	if (mounts && mounts_find_id(mounts, object->info.mount_id, &mount)) {
		object->is_local = mount_is_local(&mount);
		object->place = mount_place(&mount);
		object->point = mount_far_point(&mount);
		object->major = mount.major;
		object->minor = mount.minor;
	}
	mount_clear(&mount);
	free(mounts);
	if (object->is_local && is_fifo(pid, fd)) {
		object->kind = FD_PIPE;
		object->words = xasprintf("the FIFO %s", object->link);
	} else if (is_terminal(object->link)) {
		object->words = xasprintf("the terminal %s", object->link);
	} else {
		object->words = xstrdup(object->link);
	}
}

static void look_at(pid_t pid, int fd, struct fd_object *object)
{
	unsigned long long inode;

	if (*object->link == '/') {
		object->kind = FD_FILE;
		look_at_file(pid, fd, object);
	} else if (begins(object->link, "pipe:[")) {
		object->kind = FD_PIPE;
		object->words = xstrdup("a pipe");
	} else if (sscanf(object->link, "socket:[%llu]", &inode) == 1) {
		object->kind = FD_SOCKET;
		object->words = sockets_words(pid, inode, &object->other_inode);
	} else {
		object->kind = FD_OTHER;
		object->words = words_of_other(object);
	}
}

bool fd_object_read(pid_t pid, int fd, struct fd_object *ret)
{
	char path[64], *info;

	*ret = (struct fd_object){.kind = FD_OTHER};
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	ret->link = fd_object_link(path);
	if (!ret->link)
		return false;
	snprintf(path, sizeof(path), "fdinfo/%d", fd);
	info = procfs_read(pid, path, NULL);
	fd_info_parse(info ? info : "", &ret->info);
	free(info);
	look_at(pid, fd, ret);
	return true;
}

void fd_object_clear(struct fd_object *object)
{
	free(object->link);
	free(object->words);
	free(object->place);
	free(object->point);
	*object = (struct fd_object){.kind = FD_OTHER};
}
