/* SPDX-License-Identifier: BSD-3-Clause
 * Does the job hang? A statistical answer from looks at a few ranks, without a time-out. In a
 * healthy job the share of ranks outside MPI (S_out) goes up and down; in a hung one it stays low.
 * After ParaStack (Li, Chen, Gupta, SC 2017, sections 3.1 to 3.3). docs/hang-detection.md has the
 * assumptions, what is done beyond ParaStack, and what was measured.
 *
 * The object reads no clock and looks at nobody. Its user repeats:
 *
 *	at hang_test_next(): look at the ranks of hang_test_ranks(), hang_test_sample()
 *	while the state is HANG_CONFIRM: look at all ranks twice, hang_test_confirm()
 *	HANG_FOUND: report
 *
 * Times are nanoseconds of any clock; only differences count. */
#ifndef PDB_ANALYSIS_HANG_TEST_H
#define PDB_ANALYSIS_HANG_TEST_H

#include "model/std.h"

struct pdb_error;

struct hang_settings {
	int num_ranks;
	double alpha; /* false alarms per hour of a healthy job */
	/* Looks cost nothing: at all ranks each time, in two halves with a model for each. Else at
	 * sets of 10 in turns, which suits ranks that have to be stopped for a look. */
	bool sees_all;
	uint64_t seed; /* of the choice of ranks and times */
};

/* For all that watch a job. -1 with ERROR_USAGE: no rank, or alpha not from 1e-12 to 0.5. */
int hang_settings_check(int num_ranks, double alpha, struct pdb_error *err);

enum hang_look {
	HANG_INSIDE,  /* in an MPI call */
	HANG_OUTSIDE, /* anywhere else */
	HANG_UNKNOWN, /* could not be looked at, or has ended */
	HANG_POLLING, /* in a call that only asks (names_is_poll()) or, if that is known, between
		       * two of them without success: as inside, but leaving it is no movement */
};

enum hang_state {
	HANG_LEARNING,   /* too few samples for any statement */
	HANG_WATCHING,   /* the model is good; S_out is not low */
	HANG_SUSPICIOUS, /* S_out is low, several times in a row perhaps */
	HANG_CONFIRM,    /* so many times that only a slow-down could explain it: look at all */
	HANG_FOUND,
};

/* For status lines and reports: of the model that is nearest to an alarm. */
struct hang_figures {
	enum hang_state state;
	double s_out;         /* the last sample's, 0 to 1; -1: none yet */
	uint32_t num_samples; /* in the model */
	uint32_t wanted;      /* learning: as many as may suffice; otherwise as num_samples */
	uint32_t num_low;     /* suspicions in a row now, since somebody moved */
	uint32_t needed;      /* so many confirm a hang (k) */
	double chance;        /* false alarms per hour if called now; 1 or more: no sign of one */
};

struct hang_test;

/* NULL with ERROR_USAGE if a setting is out of range. The job is first to be looked at now_ns. With
 * fewer than 20 ranks the sets are halves; one rank is one set. */
struct hang_test *hang_test_create(const struct hang_settings *settings, uint64_t now_ns,
				   struct pdb_error *err);
void hang_test_destroy(struct hang_test *test); /* NULL is fine */

/* When the next sample is wanted: I/2 to 3I/2 after the last; I is 400 ms, doubled up to 6.4 s. */
uint64_t hang_test_next(const struct hang_test *test);

/* The ranks to look at then, ascending; valid until the next sample. */
const int *hang_test_ranks(const struct hang_test *test, size_t *num);

/* What was seen: looks[i] of hang_test_ranks()[i]. now_ns before the last one's (the clock was set)
 * only moves the schedule; much later than planned (the watcher was stopped) counts as one step. A
 * set nobody of which is known gives no sample. Nothing happens in HANG_FOUND. */
void hang_test_sample(struct hang_test *test, uint64_t now_ns, const enum hang_look *looks);

/* Somebody, of those ranks or others, has called or left MPI or gone from one call to another since
 * the last sample. To be said before the sample; what the looks themselves show needs no note. */
void hang_test_note_movement(struct hang_test *test);

/* In HANG_CONFIRM: has anybody moved, or worked outside MPI, between the two looks at all? Then the
 * stretch is learnt as a healthy one and watching goes on; otherwise the job hangs. */
void hang_test_confirm(struct hang_test *test, bool has_moved);

enum hang_state hang_test_state(const struct hang_test *test);
void hang_test_figures(const struct hang_test *test, struct hang_figures *figures_ret);

#endif
