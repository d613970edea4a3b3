/* SPDX-License-Identifier: BSD-3-Clause
 * Which processes of this machine have a pipe, FIFO or socket open. */
#pragma once

#include "model/base.h"

enum open_by_mode { OPEN_BY_ANY, OPEN_BY_READERS, OPEN_BY_WRITERS };

#define OPEN_BY_NAMED 2

struct open_by {
	struct open_by_process {
		pid_t pid;
		char state; /* as in struct procfs_stat */
		char comm[64];
	} others[OPEN_BY_NAMED]; /* the first of them */
	size_t num_others;       /* all of them, without the one that asks */
	bool is_own;             /* the one that asks has it open, too */
	bool is_whole;           /* every process of the machine was looked at */
};

/* Find the processes with a link /proc/PID/fd/N of this text ("pipe:[123]", a path), for process
 * `own`. It looks first at pids close to that one. It reads at most 20,000 links, for at most 20 ms
 * of processor time, 100 ms on a busy machine. If it stops early, is_whole is false. */
void open_by_find(pid_t own, const char *link, enum open_by_mode mode, struct open_by *ret);

/* "process 812 (sh) has it open for writing", "nobody has ..." if that is sure; NULL: nothing is
 * known. `doing` is "reading" or "writing". The caller frees. */
char *open_by_words(const struct open_by *by, const char *doing);

/* "process 812 (sh)", "processes 812 (sh, stopped), 813 (tar) and 3 more"; "this process" if no
 * other has it; NULL: none is known. The caller frees. */
char *open_by_names(const struct open_by *by);
