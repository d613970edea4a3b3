/* SPDX-License-Identifier: BSD-3-Clause
 * A directory of segments, and processes that are alive or have ended to be named in them. */
#ifndef PDB_TESTS_UNIT_SEGMENT_DIR_H
#define PDB_TESTS_UNIT_SEGMENT_DIR_H

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

/* A live process with an environment of its own: cat, which ends when its stdin does. */
struct child {
	pid_t pid;
	int stdin_fd;
};

static inline struct child start_child(const char *dir, bool own_pid_namespace)
{
	char variable[256];
	char *env[] = {variable, NULL}, *argv[] = {(char *)"cat", NULL};
	struct child child;
	int in[2], started[2];
	char byte;

	snprintf(variable, sizeof(variable), "%s%s",
		 dir ? PDB_ENV_DIR "=" : "OTHER=", dir ? dir : "x");
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		close(in[1]);
		dup2(in[0], 0);
		/* The process itself stays outside; its child is pid 1 inside. */
		if (own_pid_namespace) {
			if (unshare(CLONE_NEWPID) < 0)
				_exit(77);
			child.pid = fork();
			if (child.pid > 0) {
				close(started[1]);
				waitpid(child.pid, NULL, 0);
				_exit(0);
			}
		}
		execve("/bin/cat", argv, env);
		_exit(127);
	}
	close(in[0]);
	close(started[1]);
	child.stdin_fd = in[1];
	/* Ends when the exec has closed the last copy. */
	assert_int_equal(read(started[0], &byte, 1), 0);
	close(started[0]);
	return child;
}

static inline void end_child(struct child *child)
{
	close(child->stdin_fd);
	waitpid(child->pid, NULL, 0);
}

static inline uint64_t start_time(pid_t pid)
{
	uint64_t start = segment_writer_start_time(pid);

	assert_true(start > 0);
	return start;
}

struct fixture {
	char dir[64];
	struct child child;
	struct segment_writer *w; /* of the child, rank 3 of 8 */
};

static inline int setup_in(const char *parent, void **state)
{
	struct fixture *fix = calloc(1, sizeof(*fix));

	snprintf(fix->dir, sizeof(fix->dir), "%s/pdb-test-segments.XXXXXX", parent);
	assert_non_null(mkdtemp(fix->dir));
	fix->child = start_child(fix->dir, false);
	fix->w = segment_writer_create(3, 8);
	fix->w->header.pid = fix->child.pid;
	fix->w->header.pid_start = start_time(fix->child.pid);
	*state = fix;
	return 0;
}

static inline int setup(void **state)
{
	return setup_in("/tmp", state);
}

static inline int teardown(void **state)
{
	struct fixture *fix = *state;
	char command[128];

	end_child(&fix->child);
	segment_writer_destroy(fix->w);
	snprintf(command, sizeof(command), "rm -r %s", fix->dir);
	assert_int_equal(system(command), 0);
	free(fix);
	return 0;
}

/* The pid of a process that is gone, and when it had started (may be NULL). */
static inline pid_t start_ended(struct fixture *fix, uint64_t *start_ret)
{
	struct child child = start_child(fix->dir, false);

	if (start_ret)
		*start_ret = start_time(child.pid);
	end_child(&child);
	return child.pid;
}

static inline void save_as(struct fixture *fix, const char *job, pid_t pid, uint64_t start,
			   char path[4096])
{
	strcpy(fix->w->header.job, job);
	fix->w->header.pid = pid;
	fix->w->header.pid_start = start;
	assert_int_equal(segment_writer_save_in(fix->w, fix->dir, path), 0);
}

static inline bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Machines do not share it. */
static inline bool is_in_memory(const char *dir)
{
	struct statfs fs;

	assert_int_equal(statfs(dir, &fs), 0);
	return fs.f_type == TMPFS_MAGIC;
}

static inline void write_at(const char *path, off_t offset, const char *text)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, text, strlen(text), offset), strlen(text));
	close(fd);
}

/* What makes a header another's than a rank's that has ended while others of its job live. */

static inline void spoil_job(struct seg_header *h)
{
	strcpy(h->job, "another");
}

static inline void spoil_size(struct seg_header *h)
{
	h->size++;
}

static inline void spoil_rank(struct seg_header *h)
{
	h->rank = h->size;
}

static inline void spoil_own_rank(struct seg_header *h)
{
	h->rank = 3;
}

static inline void spoil_parent(struct seg_header *h)
{
	h->parent_pid--;
}

static inline void spoil_before(struct seg_header *h)
{
	h->pid_start = start_time(getpid()) - 1;
}

static inline void spoil_later(struct seg_header *h)
{
	h->pid_start += 60 * (uint64_t)sysconf(_SC_CLK_TCK);
}

static inline void spoil_alive(struct seg_header *h)
{
	h->pid = getpid();
	h->pid_start = start_time(getpid());
}

#endif
