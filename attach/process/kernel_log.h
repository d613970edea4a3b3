/* SPDX-License-Identifier: BSD-3-Clause
 * The kernel's log, where it may be read: which processes the kernel itself has ended. */
#pragma once

#include "model/base.h"

/* The newest part of it, as of `dmesg --raw`: "<4>[ 12.345678] text". The caller frees; NULL: it
 * may not be read, or this is not the pid namespace whose pids are in it. */
char *kernel_log_read(void);

struct kernel_log_end {
	int signal;
	bool is_chosen; /* killed as memory was out */
	uint64_t ns;    /* on the log's clock, which is about CLOCK_MONOTONIC */
};

/* The end of a process with this pid and short name, not before `since_ns`. Faults are in the log
 * for main threads, and only of programs that do not catch the signal. */
bool kernel_log_find(const char *log, pid_t pid, const char *comm, uint64_t since_ns,
		     struct kernel_log_end *ret);
