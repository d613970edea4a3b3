/* SPDX-License-Identifier: BSD-3-Clause
 * Finds what a sleeping thread waits for in the kernel, from /proc alone. It stops and opens
 * nothing. No call here waits for a file server: a path on a file system that is not local stays a
 * text.
 *
 * All texts come from other processes and may hold any bytes. A path has at most 4096 bytes.
 *
 * system_call.c has the call itself. fd_object.c and path_object.c put descriptors and paths into
 * words. open_by.c finds who has the other end of a pipe. mounts.c, sockets.c and file_locks.c read
 * the kernel's tables. */
#pragma once

#include "model/base.h"

struct blocked;
struct system_call;

/* Find what thread `tid` of process `pid` sleeps in (tid 0: its main thread). The caller destroys
 * the result. NULL: it runs, is stopped, is in no system call, is in one that the tool knows
 * otherwise (futex), or pdb may not read it. This takes some tens of microseconds. For the other
 * end of a pipe, FIFO or connection, and for children, it searches all processes: some
 * milliseconds, at most 20 ms of processor time. *searches: how many such searches are still
 * allowed; it is counted down. NULL: any number. */
struct blocked *blocked_read(pid_t pid, pid_t tid, int *searches);

/* The same for a thread whose registers say that it is in that call. NULL: the tool knows the call
 * otherwise. */
struct blocked *blocked_describe(pid_t pid, pid_t tid, struct system_call *call, int *searches);

/* The name of a system call, NULL if it has none here. */
const char *blocked_call_name(long number);
