/* SPDX-License-Identifier: BSD-3-Clause
 * Puts a file descriptor of another process into words. It opens nothing. It asks only files of
 * local file systems for their kind, so no call here waits for a server. */
#pragma once

#include "model/base.h"

/* What /proc/PID/fdinfo/N says. */
struct fd_info {
	unsigned long flags; /* as of open() */
	int mount_id;        /* -1: not given */
	uint64_t inode;      /* 0: not given, before Linux 5.14 */
	pid_t pid;           /* of a pidfd, 0 otherwise */
};

void fd_info_parse(const char *text, struct fd_info *ret);

/* The descriptors that an epoll descriptor watches: "tfd:" lines of its fdinfo. Returns how many
 * there are; at most `most` are stored. */
size_t fd_info_watched(const char *text, int *fds, size_t most);

enum fd_kind { FD_FILE, FD_PIPE, FD_SOCKET, FD_OTHER };

struct fd_object {
	enum fd_kind kind;
	char *link;  /* of /proc/PID/fd: "pipe:[123]" */
	char *words; /* "a pipe", "the FIFO /tmp/x", "/tmp/file", "the terminal /dev/pts/3" */
	char *place, *point; /* as in struct blocked */
	struct fd_info info;
	bool is_local;         /* of a file: mount_is_local() */
	uint32_t major, minor; /* of its file system, 0: not known */
	uint64_t other_inode;  /* of a connection: the socket of the other end here, 0: none */
};

/* False: the process has no such descriptor, or pdb may not look at it; *ret is empty then.
 * Otherwise fd_object_clear() frees. */
bool fd_object_read(pid_t pid, int fd, struct fd_object *ret);
void fd_object_clear(struct fd_object *object);

/* The target of a link below /proc, NULL: not known. The caller frees. */
char *fd_object_link(const char *path);
