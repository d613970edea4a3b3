/* SPDX-License-Identifier: BSD-3-Clause
 * Does a job with the recorder move, and if not, does it hang? The exact counterpart of
 * hang_test.h: every transition is known. docs/hang-detection.md explains the answer.
 *
 * The job moves if any rank enters or leaves an MPI call, apart from polls. If none does, only a
 * rank outside MPI can change that: its time there is compared with earlier stays in that place. If
 * no rank is outside, the time without movement is compared with earlier such times of the whole
 * job. A rank outside MPI that reads or writes, or gets to new places of its code, works, however
 * long. */
#ifndef PDB_ANALYSIS_PACE_H
#define PDB_ANALYSIS_PACE_H

#include "analysis/hang/hang_test.h"

struct pace_settings {
	int num_ranks;
	double alpha;         /* false alarms per hour */
	uint64_t interval_ns; /* between looks: what is shorter is not seen */
	/* The longest standstill that is asked for: of a rank that computes, or does what may last,
	 * where it has never been. The shortest is 3 s, or 20 s in an MPI call that never ended. */
	uint64_t proof_ns;
};

/* A rank, or its thread that moved last. Of counters only changes count. 0: not known. */
struct pace_look {
	enum hang_look look; /* HANG_INSIDE between failing polls, too */
	bool may_last;    /* inside a call that works by itself: of files, Init, Finalize, Spawn */
	uint64_t place;   /* its state: the same number in all ranks that are there */
	uint64_t moves;   /* transitions ever made */
	uint64_t stay_ns; /* in this place so far, of one outside since its last poll */
	uint64_t longest_ns; /* there before, by this rank or also by others */
	uint64_t num_stays;  /* the same */
	uint64_t stack;      /* hash of its call path now */
	uint64_t work;       /* sum of the counters of I/O, of this thread */
};

enum pace_kind {
	PACE_UNKNOWN, /* nobody could be looked at */
	PACE_MOVING,
	PACE_WORKING, /* no transition for long, but `rank` works on; no alarm */
	PACE_STILL,   /* nothing happens; not long enough to tell */
	PACE_HANG,
};

struct pace_report {
	enum pace_kind kind;
	uint64_t still_ns; /* since anybody moved or worked, as far as it was watched */
	/* Unless it moves or nothing is known: */
	int rank;         /* the one by which this is most plausible; -1: nobody is outside MPI */
	uint64_t stay_ns; /* its, or how long nobody has moved */
	uint64_t longest_ns, num_stays; /* in its place, by any rank; or of nobody moving before */
	double chance;      /* per hour, in a healthy job; INFINITY: nothing to compare with */
	uint64_t needed_ns; /* a hang if stay_ns is as long as this */
};

struct pace;

/* watched_ns: how long the job has been recorded already when it is first looked at. */
struct pace *pace_create(const struct pace_settings *settings, uint64_t watched_ns,
			 struct pdb_error *err); /* NULL: ERROR_USAGE */
void pace_destroy(struct pace *pace);            /* NULL is fine */

/* What all ranks did at now_ns; looks[num_ranks]. Time counts up to a second a look, so neither a
 * clock that is set nor a watcher that was stopped makes a hang. Call it a few times a second. */
void pace_add(struct pace *pace, uint64_t now_ns, const struct pace_look *looks);

void pace_report(const struct pace *pace, struct pace_report *report_ret);

#endif
