/* SPDX-License-Identifier: BSD-3-Clause
 * What a sleeping thread waits for in the kernel, by /proc alone. Nothing is stopped or opened, and
 * no call here waits for a file server: paths on other file systems than local ones stay texts.
 *
 * All texts come from other processes and may hold any bytes. Lengths are bounded: a path has at
 * most 4096 bytes.
 *
 * Beside it: system_call.c has the call itself, fd_object.c and path_object.c the words of
 * descriptors and paths, open_by.c who has the other end of a pipe, mounts.c, sockets.c and
 * file_locks.c the kernel's tables. */
#pragma once

#include "model/base.h"

struct blocked;
struct system_call;

/* What thread `tid` of process `pid` sleeps in (tid 0: its main thread). NULL: it runs, is stopped,
 * is in no system call, in one that the tool knows otherwise (futex), or nothing may be read. The
 * caller destroys it. Takes some tens of microseconds. Where all processes are searched, for the
 * other end of a pipe, FIFO or connection or for children, it takes some milliseconds: at most
 * 20 ms of processor time. *searches is how many of these may still be made, and is counted down;
 * NULL: any number. */
struct blocked *blocked_read(pid_t pid, pid_t tid, int *searches);

/* The same of a thread that is known to be in that call, as its registers say. NULL: the tool knows
 * the call otherwise. */
struct blocked *blocked_describe(pid_t pid, pid_t tid, struct system_call *call, int *searches);

/* The name of a system call, NULL if it has none here. */
const char *blocked_call_name(long number);
