/* SPDX-License-Identifier: BSD-3-Clause
 * The reader's end of a segment: finds it, checks whose it is, and copies it without trusting
 * it. */
#pragma once

#include "model/base.h"

/* Open the segment of a live process of this machine: the file in PDB_SEGMENT_DIR (of its
 * environment, in its root) whose name ends in its pid (in its own pid namespace) and whose header
 * has its pid and start time. Refuses symbolic links, other owners than the process' user or root,
 * and modes that let others in. Returns an open fd; -1 with ERROR_NOT_FOUND (no recorder),
 * ERROR_GONE (no such process), ERROR_PERMISSION, ERROR_FORMAT, ERROR_VERSION or ERROR_UNSUPPORTED
 * (its PDB_SEGMENT_DIR is relative to a directory that it may have left). */
int segment_open_pid(pid_t pid, struct pdb_error *err);

/* Copy and check the whole segment: every count, index and offset against the file's true size;
 * strings are terminated. A lane is copied again, a few times, until no transition happened
 * meanwhile, or is marked !is_consistent (counts may be off by a few transitions). On success
 * *model_ret is the caller's (model_destroy). ERROR_FORMAT names what is wrong with it. */
int segment_read(int fd, struct model **model_ret, struct pdb_error *err);

/* Does its writer record traces? */
bool segment_has_traces(int fd);

/* What changes, read cheaply for a second look: one entry for each lane. */
struct segment_look {
	uint64_t events; /* transitions made so far */
	uint64_t polls;  /* failed polls since the last transition */
	uint32_t state;
};

/* Fill up to `max` entries of looks[]; returns the number of lanes, or -1 and *err. */
int segment_look(int fd, struct segment_look *looks, int max, struct pdb_error *err);

/* A process that was a rank and has ended without MPI_Finalize: its segment is left. */
struct segment_left {
	int rank;
	pid_t pid; /* that it had; by now it may be another process' */
};

/* The left-over segments of the job that the live process `pid` is a rank of. Job names and pids
 * come again, so they are of the same host, user, job name and size beside its own segment, the
 * same process, which is still there, started their processes within seconds of it, and these are
 * gone (pid gone or another start time, nobody has the file open or mapped for writing). Each rank
 * once, sorted. The caller frees *ret (NULL: none). Returns their number, 0 also when nothing can
 * be said (parent gone or not said, another pid namespace), or -1 and *err as
 * segment_open_pid(). */
int segment_find_left(pid_t pid, struct segment_left **ret, struct pdb_error *err);

/* One of these, for reading, asked beside the same live process. An open fd, or -1: it is not
 * there. */
int segment_open_left(pid_t pid, const struct segment_left *left);

/* A segment that was left for a keeper. */
struct segment_kept {
	int fd;
	int rank, size; /* -1, 0: not known */
	pid_t pid;
	char host[64], job[256], executable[256];
	uint64_t start; /* of its process, after that of processes before it */
};

/* Take what ended processes have left in `dir` (NULL: where this process' environment has segments)
 * for the keeper: the files are removed, and open. Each rank of a job once, in order.
 * The caller gives them back with segment_kept_free(). Returns their number, or -1 and *err. */
int segment_take_kept(const char *dir, pid_t keeper, struct segment_kept **ret,
		      struct pdb_error *err);
void segment_kept_free(struct segment_kept *kept, int num);

/* A process, as its segment names it. */
struct segment_process {
	pid_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat */
};

/* Remove the caller's segments in `dir` (NULL: as above), of `num` processes or (NULL) all, of dead
 * processes (no pid or another start time) without a living keeper; not of ranks of a job that goes
 * on, as they tell that these have ended; not of other machines in a shared directory. Files
 * without a whole header, that a process was killed in the midst of making, go as well. Returns how
 * many were removed, or -1 and *err. */
int segment_clean(const char *dir, const struct segment_process *processes, size_t num,
		  struct pdb_error *err);

/* Remove what segment_sweep() does in the directory above, some hundreds at most. */
void segment_sweep_usual(void);
