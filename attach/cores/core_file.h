/* SPDX-License-Identifier: BSD-3-Clause
 * One core file, as written by Linux and gdb's gcore: the dumped memory of the process, its
 * mappings and its threads. It is untrusted input: every offset, size and count is checked. If the
 * file changes or ends early, reading fails, nothing else. */
#pragma once

#include <signal.h>
#include <sys/user.h>

#include "model/base.h"

struct stat;

/* PT_LOAD: a mapping of the process. Of what is behind dumped_size nothing is in the core. */
struct core_segment {
	uint64_t start, end; /* end is the first address behind it */
	uint64_t dumped_size;
	uint64_t at; /* in the core file */
	bool is_readable, is_writable, is_executable;
};

/* A line of NT_FILE: a mapping of a file. */
struct core_mapping {
	uint64_t start, end;
	uint64_t file_offset;
	const char *path; /* with " (deleted)" behind it if it was */
};

/* NT_PRSTATUS and NT_SIGINFO of a thread. */
struct core_thread {
	pid_t tid;
	int signal; /* that it was ended or stopped by; 0: none */
	struct user_regs_struct regs;
	uint64_t blocked; /* signals, by number less one; gdb's gcore writes none */
	bool has_info;    /* info is there */
	siginfo_t info;
};

struct core_file {
	struct arena *arena; /* what is in here, and this */
	int fd;
	char *path;
	uint64_t size;
	/* Bytes that reading may take: in proportion to what is stored, as holes claim any
	 * number. */
	uint64_t budget;
	uint64_t notes_left;           /* of that, for notes, until they are read */
	int64_t written_ns;            /* the file's modification time */
	pid_t pid;                     /* of the process */
	char command[81];              /* the beginning of its command line */
	uint64_t missing;              /* bytes that the file should have and has not: truncated */
	struct core_segment *segments; /* ascending, not overlapping */
	size_t num_segments, segments_capacity;
	struct core_mapping *mappings; /* ascending, not overlapping */
	size_t num_mappings, mappings_capacity;
	struct core_thread *threads; /* the one that got the signal first */
	size_t num_threads, threads_capacity;
	uint64_t *auxv; /* pairs of type and value, without AT_NULL */
	size_t num_auxv;
	char *file_note; /* what the mappings' paths are in */
};

/* Open and read all but the memory. NULL and *err: no such file, not a core, one of another
 * architecture, or none of a thread in it. */
struct core_file *core_file_open(const char *path, struct pdb_error *err);
void core_file_close(struct core_file *core); /* NULL is fine */

/* When a file was last written to. */
int64_t core_file_written_ns(const struct stat *status);

/* Is this a core, by its first bytes? False also if it cannot be read or is no regular file. */
bool core_file_is_core(const char *path);

/* Copy just `size` bytes of memory as far as it was dumped; -1 if they are not all there. */
int core_file_read(const struct core_file *core, uint64_t address, void *buffer, size_t size);

/* The segment that an address lies in, or NULL. */
const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address);

/* A value of the auxiliary vector (AT_...); 0 if it has none. */
uint64_t core_file_auxv(const struct core_file *core, uint64_t type);

/* As in /proc/PID/environ, with a zero byte behind it. The caller frees. NULL: not found. */
char *core_file_environ(const struct core_file *core, size_t *size_ret);

/* The thread that the process ended by, NULL if none got a signal. *info_ret: the signal's
 * information (si_signo 0: none); where a handler caught a fault and sent the signal again, as Open
 * MPI's and UCX's do, that of the fault if it is still on the stack. */
const struct core_thread *core_file_culprit(const struct core_file *core, siginfo_t *info_ret);
