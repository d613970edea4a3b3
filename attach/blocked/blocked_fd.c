/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "attach/blocked/blocked_private.h"
#include "attach/blocked/fd_object.h"
#include "attach/blocked/file_locks.h"
#include "attach/blocked/limits.h"
#include "attach/blocked/open_by.h"
#include "attach/process/procfs.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"

enum want { WANT_OBJECT, WANT_WRITERS, WANT_READERS };

static char *reason_of_pipe(pid_t pid, const struct fd_object *object, enum want want)
{
	bool is_read = want == WANT_WRITERS;
	struct open_by by;

	open_by_find(pid, object->link, is_read ? OPEN_BY_WRITERS : OPEN_BY_READERS, &by);
	return open_by_words(&by, is_read ? "writing" : "reading");
}

static char *reason_of_socket(pid_t pid, const struct fd_object *object)
{
	struct open_by by;
	char link[64], *names, *reason;

	if (!object->other_inode)
		return NULL;
	snprintf(link, sizeof(link), "socket:[%llu]", (unsigned long long)object->other_inode);
	open_by_find(pid, link, OPEN_BY_ANY, &by);
	names = open_by_names(&by);
	reason = names ? xasprintf("the other end is in %s", names) : NULL;
	free(names);
	return reason;
}

/* By the link of the descriptor: no walk through other file systems. */
static char *reason_of_file(pid_t pid, int fd, const struct fd_object *object)
{
	struct statvfs stat;
	char path[64];

	if (!object->is_local)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	if (statvfs(path, &stat) || !limits_is_full(&stat, limits_is_root(pid)))
		return NULL;
	return xstrdup("the file system is full");
}

/* The words and the place become those of what was found. */
static void take_words(struct blocked *found, struct fd_object *object)
{
	found->object = object->words;
	object->words = NULL;
	if (object->kind != FD_FILE)
		return;
	found->place = object->place;
	found->point = object->point;
	object->place = object->point = NULL;
}

static bool read_object(struct blocked_look *look, struct fd_object *object)
{
	int fd = (int)look->call->args[look->argument];

	return fd >= 0 && fd_object_read(look->pid, fd, object);
}

static void describe(struct blocked_look *look, enum want want)
{
	struct fd_object object;

	if (!read_object(look, &object))
		return;
	if (object.kind == FD_PIPE && want != WANT_OBJECT && blocked_may_search(look))
		look->found->reason = reason_of_pipe(look->pid, &object, want);
	else if (object.kind == FD_SOCKET && blocked_may_search(look))
		look->found->reason = reason_of_socket(look->pid, &object);
	else if (object.kind == FD_FILE && want == WANT_READERS)
		look->found->reason =
			reason_of_file(look->pid, (int)look->call->args[look->argument], &object);
	take_words(look->found, &object);
	fd_object_clear(&object);
}

void blocked_on_fd(struct blocked_look *look)
{
	describe(look, WANT_OBJECT);
}

void blocked_on_read(struct blocked_look *look)
{
	describe(look, WANT_WRITERS);
}

void blocked_on_write(struct blocked_look *look)
{
	describe(look, WANT_READERS);
}

/* ---- Locks ---- */

/* Before Linux 5.14 fdinfo has no inode. */
static uint64_t inode_of(pid_t pid, int fd, const struct fd_object *object)
{
	struct stat stat_of;
	char path[64];

	if (object->info.inode || !object->is_local)
		return object->info.inode;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	return stat(path, &stat_of) ? 0 : (uint64_t)stat_of.st_ino;
}

static char *reason_of_lock(const struct file_lock *wanted)
{
	FILE *locks = fopen("/proc/locks", "re");
	struct procfs_stat stat;
	pid_t holder;

	if (!locks)
		return NULL;
	holder = file_locks_holder(locks, wanted);
	fclose(locks);
	/* The one that took it may have ended, and others have its descriptor. */
	if (!holder || procfs_stat(holder, 0, &stat))
		return NULL;
	return xasprintf("process %d (%s%s) holds the lock", (int)holder, stat.comm,
			 stat.state == 'T' ? ", stopped" : "");
}

static void describe_lock(struct blocked_look *look, bool is_flock, pid_t waiter)
{
	struct file_lock wanted = {.is_flock = is_flock, .waiter = waiter};
	struct fd_object object;

	if (!read_object(look, &object))
		return;
	wanted.major = object.major;
	wanted.minor = object.minor;
	wanted.inode = inode_of(look->pid, (int)look->call->args[look->argument], &object);
	if (wanted.inode)
		look->found->reason = reason_of_lock(&wanted);
	take_words(look->found, &object);
	fd_object_clear(&object);
}

void blocked_on_flock(struct blocked_look *look)
{
	describe_lock(look, true, look->pid);
}

void blocked_on_fcntl(struct blocked_look *look)
{
	int operation = (int)look->call->args[look->argument + 1];

	if (operation == F_SETLKW)
		describe_lock(look, false, look->pid);
	else if (operation == F_OFD_SETLKW)
		describe_lock(look, false, -1);
	else
		blocked_on_fd(look);
}
