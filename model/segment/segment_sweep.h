/* SPDX-License-Identifier: BSD-3-Clause
 * Removes segments of jobs that are over, a few at a time, when a recorder starts and when pdb
 * leaves; and recognizes left segments. Also used in the recorder: it allocates no memory, keeps no
 * descriptor open, and leaves saving errno to the caller. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A segment stays so long after its job was first seen to be over, for who looks for the dead. */
#define SEGMENT_SWEEP_SECONDS 600

/* To read the names alone takes 0.1 s for 100,000. */
#define SEGMENT_SWEEP_FILES 64

/* The state and field 22 (the start) in /proc/PID/stat. False: it cannot be understood. */
bool segment_parse_stat(const char *stat, char *state, uint64_t *start);

/* Field 22 of /proc/PID/stat; 0: no process, a zombie at most; -1: not known, as where /proc hides
 * another user's. */
int64_t segment_process_start(pid_t pid);

/* Were two processes started in one go, as a job's ranks on one host are, however busy? A script in
 * the part of a launcher may start more jobs, whose names may be the same. */
bool segment_is_one_start(uint64_t a, uint64_t b);

/* Does anybody have the file open, or mapped, for writing, in whatever pid namespace? 1 or 0; -1:
 * not known, as where leases are turned off. */
int segment_has_writer(int fd);

/* Memory is not shared between machines, whatever a container calls itself. */
bool segment_is_in_memory(int fd);

/* The pid in a recorder's name, pdb.JOB.RANK.PID; 0: none. *job_length: up to behind "JOB.". */
pid_t segment_name_pid(const char *name, int *job_length);

/* Look at `most` segments of the directory at most, others with each `seed`, at none where there
 * are more than SEGMENT_SWEEP_FILES files for each. Remove some: in memory, the caller's own, of
 * processes that are gone, of jobs without rank, launcher and keeper here, and first seen to be so
 * SEGMENT_SWEEP_SECONDS ago. When first seen they are marked: mode 0400, which no writer leaves,
 * and the time of now. Returns how many were removed. */
int segment_sweep(const char *dir, unsigned most, unsigned seed);
