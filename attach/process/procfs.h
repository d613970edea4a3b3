/* SPDX-License-Identifier: BSD-3-Clause
 * What /proc says of a process. Everything here can be gone a moment later. Functions report that
 * with -1 or NULL and errno: ENOENT or ESRCH for a process that ended, EACCES for one of another
 * user.
 *
 * Beside it: maps.c and memory.c have the mappings and memory of a process, image.c the programs
 * and libraries in it, elf_symbol.c the addresses of their variables, elf_needed.c the libraries
 * that a program loads. */
#pragma once

#include "model/base.h"

struct procfs_stat {
	pid_t pid;
	pid_t ppid;
	char state;           /* R S D T t Z X */
	int num_threads;      /* of the process; in state Z with others: only its first has ended */
	bool is_ending;       /* has ended or is about to: no looking into it any more */
	char comm[32];        /* the kernel's short name */
	uint64_t start_ticks; /* tells a process from a later one with the same pid */
	uint64_t cpu_ticks;   /* processor time used so far, sysconf(_SC_CLK_TCK) a second */
	uint64_t major_faults; /* page faults that waited for a disk so far */
	uint64_t block_ticks; /* waited for disks so far; 0, too, if the kernel does not count it */
	int processor;        /* that it runs on, or ran on last; -1: not told */
};

/* Of a process (tid 0) or of one of its threads. -1: no such process. */
int procfs_stat(pid_t pid, pid_t tid, struct procfs_stat *ret);

/* The same of a process that started then (start_ticks 0: whenever), which can be looked into. -1
 * and why not: ERROR_GONE if it has ended; others if it lives, as one whose main thread alone has
 * ended, or if that cannot be known, as pdb may have no more files open. */
int procfs_look(pid_t pid, uint64_t start_ticks, struct procfs_stat *ret, struct pdb_error *err);

/* Sure that it has, with all of its threads. */
bool procfs_has_ended(pid_t pid, uint64_t start_ticks);

/* Of a process that has ended and is still there (state Z): its status as of wait(). False: it is
 * not such a one, or not this user's. */
bool procfs_exit_status(pid_t pid, int *ret);

/* Is this the first pid namespace of the machine, whose /proc has all processes? */
bool procfs_sees_machine(void);

/* What /proc/PID/status has, also of a thread. */
struct procfs_status {
	uid_t uid;    /* effective */
	uid_t owner;  /* the same, or where that is this process's: a real, saved or file system's
		       * user that is not */
	pid_t tracer; /* 0: none */
	pid_t own;    /* the number by which it knows itself, in its pid namespace */
	pid_t tgid;   /* differs from the pid asked for if that is a thread's */
	char state;   /* as in struct procfs_stat */
	/* Signals that wait for this thread, and for the process, as kill() sends them. */
	uint64_t pending, shared_pending;
};

int procfs_status(pid_t pid, struct procfs_status *ret);

/* Have both processes the same effective user? Not if one has ended. */
bool procfs_same_user(pid_t a, pid_t b);

/* The user's name, "uid 1234" without one. */
void procfs_user_name(uid_t uid, char *buffer, size_t size);

/* All of /proc/PID/NAME, at most 16 MiB, with a zero byte behind it. The caller frees. NULL with
 * errno set. *size_ret (may be NULL) is without that byte. */
char *procfs_read(pid_t pid, const char *name, size_t *size_ret);

/* The same of any file, such as /proc/stat. */
char *procfs_read_path(const char *path, size_t *size_ret);

/* The value of a variable in the text of /proc/PID/environ; NULL if it is not in there. */
const char *procfs_getenv(const char *variables, size_t size, const char *name);

/* The executable's path, without " (deleted)". False, buffer untouched: not known, or too long. */
bool procfs_executable(pid_t pid, char *buffer, size_t size);

/* The command line with blanks between the words, or the short name in brackets. */
void procfs_command(pid_t pid, char *buffer, size_t size);

/* The process table of this machine at one moment, sorted by pid. The caller frees. */
struct procfs_stat *procfs_list(size_t *num_ret);

/* NULL if it is not in the list. */
const struct procfs_stat *procfs_find(const struct procfs_stat *list, size_t num, pid_t pid);

/* The threads of a process, main thread first. The caller frees; NULL with errno set. */
pid_t *procfs_threads(pid_t pid, size_t *num_ret);

/* The living thread that knows itself by this number, in the pid namespace of its process. 0: there
 * is none. -1: not known, as the process has ended, has too many threads to ask each, or
 * pdb has no descriptor left. */
pid_t procfs_find_thread(pid_t pid, pid_t own);

/* -1 if another process traces this one, and who; procfs_explain() says the same. */
int procfs_check_tracer(pid_t pid, const char *doing, struct pdb_error *err);

/* Turn a failure (errno) to look into process `pid` into an error that says why: it has ended, it
 * is another user's, it is being traced, it cannot be traced on this system. `doing` completes
 * "cannot ...", for example "be stopped". Returns -1. */
int procfs_explain(pid_t pid, int error, const char *doing, struct pdb_error *err);
