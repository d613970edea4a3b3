/* SPDX-License-Identifier: BSD-3-Clause
 * All that is known of a job at one moment: what analyses read and snapshots hold. */
#pragma once

#include "model/base.h"

struct code_probe;
struct code_store;
struct names;
struct usage;

/* How a process ended, as far as its host still knows; nothing of it: all is zero. */
struct job_end {
	enum { JOB_END_UNKNOWN, JOB_END_EXITED, JOB_END_KILLED } how;
	int number;         /* the exit status, or the signal */
	bool has_core;      /* the kernel wrote a core of it */
	bool is_chosen;     /* the kernel says that it killed this process as memory was out */
	bool has_cgroup;    /* the counted cgroup is its own; else that of the other ranks there */
	uint64_t oom_kills; /* processes that the kernel killed in that cgroup as memory was out */
	uint64_t ago_ns;    /* before it was looked at; 0: not known */
};

/* A rank about which something is not known, and why: never stops an answer, always told. */
struct job_hole {
	int rank;
	char *why; /* "no recorder", JOB_HOLE_ENDED, "segment is corrupt: ..." */
	struct job_end end;
};

/* Why nothing is known of a rank whose process is gone; a verdict goes by it. */
#define JOB_HOLE_ENDED "process has ended"

/* The signal that ended a rank's process, or stopped it, as its core tells. */
struct job_crash {
	int rank;
	pid_t tid;     /* the thread that got it */
	int signal;    /* SIGSEGV, ... */
	bool is_fault; /* an instruction of the thread raised it */
	/* another process sent it; if neither, the process itself did, as abort() does */
	bool is_sent;
	bool has_address;
	uint64_t address; /* of the fault: what was accessed (SIGSEGV, SIGBUS) or executed */
};

struct job {
	struct proctable *proctable;
	struct modules *modules;
	struct callpaths *callpaths;
	struct names *names;
	struct code_store *code; /* of functions in which stacks are, as far as it was looked for */
	struct job_model *model; /* NULL: no rank has a recorder */
	struct samples *samples; /* may be empty */
	struct usage *usage;     /* during the look; NULL: that was not measured */
	bool keeps_replaced;     /* samples that are replaced stay until the next look */
	struct code_probe *probes; /* what the values of samples are of, by number */
	size_t num_probes;
	struct job_hole *holes; /* about models, by rank; samples carry their own notes */
	size_t num_holes;
	struct job_crash *crashes; /* by rank, from cores; each rank at most once */
	size_t num_crashes;
	uint64_t taken_real_ns; /* when the models were read, CLOCK_REALTIME */
	double look_seconds;    /* between the two looks; 0: only one */
};

/* Empty tables, names without a resolver. job_destroy frees all of it; NULL is fine. */
struct job *job_create(void);
void job_destroy(struct job *job);
void job_add_hole(struct job *job, int rank, const char *why);
/* The same, JOB_HOLE_ENDED. */
void job_add_ended(struct job *job, int rank, const struct job_end *end);
/* The first reason that was told; NULL: none. */
const char *job_find_hole(const struct job *job, int rank);
/* How the rank ended; NULL: it has not, or nothing is known of how. */
const struct job_end *job_find_end(const struct job *job, int rank);
/* In the order of ranks. */
void job_add_crash(struct job *job, const struct job_crash *crash);
/* NULL: nothing is known of a signal. */
const struct job_crash *job_find_crash(const struct job *job, int rank);
void job_clear_holes(struct job *job);
/* Take over `fresh` in place of the samples of `ranks`, those of other ranks stay. With
 * keeps_replaced all that was borrowed of the samples before stays valid, but that of ranks that
 * are not replaced its owner has changed: their notes, values and queues are fresh's. */
void job_replace_samples(struct job *job, const struct rankset *ranks, struct samples *fresh);
/* Add the samples of `ranks` from `later`, which loses what they own. What was borrowed of others
 * stays, as above. */
void job_add_samples(struct job *job, const struct rankset *ranks, struct samples *later);
/* Values are of these probes (copied) from now on. Those that samples have keep what they are of
 * if that is among them, under its new number; others are dropped. */
void job_set_probes(struct job *job, const struct code_probe *probes, size_t num);

/* Write all of it, with the names of all nodes, into a zstd-compressed file of mode 0600: beside
 * `path`, renamed when complete. What is no regular file or link stays (ERROR_USAGE). */
int snapshot_save(const struct job *job, const char *path, struct pdb_error *err);
/* Could it be written there, but for the space? For those who need it only later. */
int snapshot_check_path(const char *path, struct pdb_error *err);
/* Read one back. Untrusted input: every count and index is checked, sizes are bounded. */
int snapshot_load(const char *path, struct job **job_ret, struct pdb_error *err);
