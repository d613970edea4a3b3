/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/blocked/fd_object.h"
#include "attach/blocked/mounts.h"
#include "attach/blocked/path_object.h"
#include "attach/process/procfs.h"

#define MAX_PATH ((size_t)4096)
#define MAX_TURNS 40 /* symbolic links and "..", as the kernel's limit of links */

struct walk {
	pid_t pid;
	const char *mounts;
	char *path; /* absolute; up to `done` there are no links in it */
	size_t done;
	int fd;       /* of that part, opened by O_PATH; -1 */
	bool follows; /* a link at the end, too */
	char *fifo;
};

/* The base in the view of this process, cut down to that of one in a chroot. */
static char *base_of(pid_t pid, int base)
{
	char path[64], *directory, *root;
	size_t length;

	if (base == AT_FDCWD)
		snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	else
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, base);
	directory = fd_object_link(path);
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = fd_object_link(path);
	length = root ? strlen(root) : 0;
	if (directory && length > 1 && !strncmp(directory, root, length) &&
	    (directory[length] == '/' || !directory[length]))
		memmove(directory, directory + length, strlen(directory + length) + 1);
	free(root);
	return directory;
}

static char *join(const char *base, const char *path)
{
	size_t length = strlen(base);

	while (length > 0 && base[length - 1] == '/')
		length--;
	return xasprintf("%.*s/%s", (int)length, base, path);
}

static bool leads_to_local(struct walk *w, size_t length)
{
	char *prefix = xstrndup(w->path, length ? length : 1);
	struct mount mount;
	bool is_local = mounts_find_path(w->mounts, prefix, &mount) && mount_is_local(&mount);

	mount_clear(&mount);
	free(prefix);
	return is_local;
}

static void close_walk(struct walk *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

static bool open_root(struct walk *w)
{
	char path[64];

	close_walk(w);
	w->done = 0;
	if (!leads_to_local(w, 0))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)w->pid);
	w->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->fd >= 0;
}

/* The same path with `target` for what is from `start` to `end`. */
static void replace(struct walk *w, size_t start, size_t end, const char *target)
{
	const char *rest = w->path + end;
	char *path;

	if (*target == '/')
		path = xasprintf("%s%s", target, rest);
	else
		path = xasprintf("%.*s/%s%s", (int)start, w->path, target, rest);
	free(w->path);
	w->path = path;
}

/* "/a/b" and "..": "/a". */
static void go_up(struct walk *w, size_t end)
{
	size_t length = w->done;

	while (length > 0 && w->path[length - 1] != '/')
		length--;
	length -= length > 0;
	memmove(w->path + length, w->path + end, strlen(w->path + end) + 1);
	if (!*w->path)
		strcpy(w->path, "/");
}

/* Into the component that ends there. */
static bool enter(struct walk *w, size_t start, size_t end)
{
	char *name;
	int next;

	if (!leads_to_local(w, end))
		return false;
	name = xstrndup(w->path + start, end - start);
	next = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	free(name);
	close_walk(w);
	w->fd = next;
	return next >= 0;
}

static bool follow(struct walk *w, size_t end)
{
	char target[MAX_PATH];
	ssize_t n = readlinkat(w->fd, "", target, sizeof(target) - 1);

	if (n <= 0)
		return false;
	target[n] = '\0';
	replace(w, w->done, end, target);
	return true;
}

static void look_at_end(struct walk *w)
{
	struct stat stat_of;
	char path[64];

	if (w->fd < 0 || fstat(w->fd, &stat_of) || !S_ISFIFO(stat_of.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	w->fifo = fd_object_link(path);
}

/* From the root as far as there is no link and no other file system; true: the path has changed,
 * walk again. */
static bool walk_once(struct walk *w)
{
	struct stat stat_of;

	if (!open_root(w))
		return false;
	while (w->path[w->done]) {
		size_t start = w->done + strspn(w->path + w->done, "/");
		size_t end = start + strcspn(w->path + start, "/");

		if (end == start)
			break;
		if (end - start == 2 && !strncmp(w->path + start, "..", 2)) {
			go_up(w, end);
			return true;
		}
		if (end - start == 1 && w->path[start] == '.') {
			memmove(w->path + w->done, w->path + end, strlen(w->path + end) + 1);
			continue;
		}
		if (!enter(w, start, end) || fstat(w->fd, &stat_of))
			return false;
		if (S_ISLNK(stat_of.st_mode) && (w->follows || w->path[end]))
			return follow(w, end);
		w->done = end;
	}
	look_at_end(w);
	return false;
}

static void place_of(const char *mounts, const char *path, struct path_object *object)
{
	struct mount mount;

	if (!mounts_find_path(mounts, *path ? path : "/", &mount))
		return;
	object->place = mount_place(&mount);
	object->point = mount_far_point(&mount);
	mount_clear(&mount);
}

static void find_place(pid_t pid, bool follows, struct path_object *object)
{
	char *mounts = procfs_read(pid, "mountinfo", NULL);
	struct walk w = {.pid = pid, .mounts = mounts, .fd = -1, .follows = follows};

	if (!mounts)
		return;
	w.path = xstrdup(object->path);
	for (int i = 0; i < MAX_TURNS && strlen(w.path) < MAX_PATH; i++)
		if (!walk_once(&w))
			break;
	place_of(mounts, w.path, object);
	object->fifo = w.fifo;
	close_walk(&w);
	free(w.path);
	free(mounts);
}

void path_object_read(pid_t pid, int base, const char *path, bool follows, struct path_object *ret)
{
	char *directory;

	*ret = (struct path_object){0};
	if (*path == '/') {
		ret->path = xstrdup(path);
	} else {
		directory = base_of(pid, base);
		ret->path = directory ? join(directory, path) : xstrdup(path);
		free(directory);
	}
	if (strlen(ret->path) > MAX_PATH)
		ret->path[MAX_PATH] = '\0';
	if (*ret->path == '/')
		find_place(pid, follows, ret);
}

void path_object_clear(struct path_object *object)
{
	free(object->path);
	free(object->place);
	free(object->point);
	free(object->fifo);
	*object = (struct path_object){0};
}
