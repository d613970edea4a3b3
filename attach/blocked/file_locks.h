/* SPDX-License-Identifier: BSD-3-Clause
 * /proc/locks: who holds the lock that a process waits for. */
#pragma once

#include "model/base.h"

/* Which lock is waited for. The file's device is that of its file system, as in mountinfo. */
struct file_lock {
	uint32_t major, minor;
	uint64_t inode;
	bool is_flock; /* flock(); else fcntl() */
	pid_t waiter;  /* -1: not by a process, as an OFD lock */
};

/* The holder's pid in the file's text. 0: not known, such as for an OFD lock. */
pid_t file_locks_holder(FILE *locks, const struct file_lock *wanted);
