/* SPDX-License-Identifier: BSD-3-Clause
 * Segments of jobs that are over, removed a few at a time by whoever comes by: a recorder that
 * starts and a pdb that leaves. What both and "pdb clean" tell a left segment by. The recorder has
 * this file, too: no memory is allocated, no descriptor stays open, and errno is the caller's to
 * save. */
#ifndef PDB_MODEL_SEGMENT_SWEEP_H
#define PDB_MODEL_SEGMENT_SWEEP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For so long a segment stays after it was first seen that its job is over: who looks for a rank
 * that has died still finds it. */
#define SEGMENT_SWEEP_SECONDS 600

/* To read the names alone takes 0.1 s for 100,000. */
#define SEGMENT_SWEEP_FILES 64

/* What /proc/PID/stat says: the state and field 22, when it started. False: it cannot be understood. */
bool segment_parse_stat(const char *stat, char *state, uint64_t *start);

/* When a process started, field 22 of /proc/PID/stat; 0: there is none, a zombie at most; -1: that
 * cannot be known, as of another user's where /proc hides them. */
int64_t segment_process_start(pid_t pid);

/* Were two processes started in one go, as the ranks of a job on one host are, however busy that
 * is? A script that takes the part of a launcher may start more jobs, and not all names of jobs
 * tell them apart. */
bool segment_is_one_start(uint64_t a, uint64_t b);

/* Does anybody have the file open, or mapped, for writing? A writer in another pid namespace, whose
 * pid means nothing here, is seen, too. 1 or 0; -1: that cannot be known, as where leases are
 * turned off. */
int segment_has_writer(int fd);

/* Memory is not shared between machines, whatever a container calls itself. */
bool segment_is_in_memory(int fd);

/* The pid in a name that the recorder gives, pdb.JOB.RANK.PID; 0 if it is none. *job_length: of the
 * part up to the point behind JOB. */
pid_t segment_name_pid(const char *name, int *job_length);

/* Look at `most` segments of the directory at most, others with each `seed`, at none where there
 * are more than SEGMENT_SWEEP_FILES files for each of them, and remove of those some few: segments
 * in memory that are the caller's own, of processes that are gone, of jobs that have no rank and no
 * launcher left here, and no keeper, and that were first seen to be so SEGMENT_SWEEP_SECONDS ago.
 * Those that are seen so for the first time are marked: mode 0400, which their writer would not
 * have left, and the time of now. Returns how many were removed. */
int segment_sweep(const char *dir, unsigned most, unsigned seed);

#endif
