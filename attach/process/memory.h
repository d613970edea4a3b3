/* SPDX-License-Identifier: BSD-3-Clause
 * Reading the memory of another process while it runs, or of a core. Works on 64-bit processes of
 * this architecture. */
#pragma once

#include "model/base.h"

/* Copy up to `size` bytes from `address`. Returns how many could be copied: less where the memory
 * ends; -1 with errno set if none could (EPERM: not allowed, ESRCH: no such process, EFAULT: no
 * such memory). Uses process_vm_readv, or /proc/PID/mem where a sandbox forbids that. */
ssize_t memory_read(pid_t pid, uint64_t address, void *buffer, size_t size);

/* Copy just `size` bytes; -1 with errno set otherwise. */
int memory_read_all(pid_t pid, uint64_t address, void *buffer, size_t size);

/* Copy a zero-terminated string of less than `size` bytes. Returns its length; -1 with errno set:
 * EFAULT where it cannot be read, ENAMETOOLONG where it does not end within `size` bytes. */
ssize_t memory_read_string(pid_t pid, uint64_t address, char *buffer, size_t size);

/* Where a program's memory is read from: a living process, or what is left of one, its core. */
struct memory {
	pid_t pid; /* 0: no living process; then it is read by `read` */
	/* Copy just `size` bytes; -1 if they are not all there. */
	int (*read)(void *context, uint64_t address, void *buffer, size_t size);
	void *context;
};

/* Copy just `size` bytes; -1 if they are not all there. */
int memory_get(const struct memory *memory, uint64_t address, void *buffer, size_t size);

/* The same from each of `num` addresses, one after the other, with few system calls. */
int memory_get_each(const struct memory *memory, const uint64_t *addresses, size_t num,
		    void *buffer, size_t size);

/* The one of `num` elements of `size` bytes that holds the address, NULL: none. They begin with a
 * range of addresses (start, first one behind it), ascending, not overlapping. */
const void *memory_find_range(const void *ranges, size_t num, size_t size, uint64_t address);
