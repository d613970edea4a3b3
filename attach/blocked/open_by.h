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

/* Look for what is a link /proc/PID/fd/N with this text ("pipe:[123]", a path), asked for process
 * `own`; those with pids close to it first. Takes at most 20,000 links and 20 ms of processor time,
 * 100 ms on a busy machine. What is cut short is not whole. */
void open_by_find(pid_t own, const char *link, enum open_by_mode mode, struct open_by *ret);

/* "process 812 (sh) has it open for writing", "nobody has ..." if that is sure; NULL: nothing is
 * known. `doing` is "reading" or "writing". The caller frees. */
char *open_by_words(const struct open_by *by, const char *doing);

/* "process 812 (sh)", "processes 812 (sh, stopped), 813 (tar) and 3 more"; "this process" if no
 * other has it; NULL: none is known. The caller frees. */
char *open_by_names(const struct open_by *by);
