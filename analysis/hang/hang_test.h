/* SPDX-License-Identifier: BSD-3-Clause
 * Does the job hang? A statistical answer that needs no time-out, from looks at a few ranks: in a
 * healthy job the share of ranks outside MPI (S_out) goes up and down, in a hung one it stays low.
 * After ParaStack (Li, Chen, Gupta, SC 2017, sections 3.1 to 3.3); docs/hang-detection.md tells the
 * assumptions, what is done beyond it, and what was measured.
 *
 * The object reads no clock and looks at nobody. Its user goes round and round:
 *
 *	at hang_test_next(): look at the ranks of hang_test_ranks(), hang_test_sample()
 *	while the state is HANG_CONFIRM: look at all ranks twice, hang_test_confirm()
 *	HANG_FOUND: report
 *
 * Times are nanoseconds of any clock; only differences count. */
#ifndef PDB_ANALYSIS_HANG_TEST_H
#define PDB_ANALYSIS_HANG_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdb_error;

enum hang_rule {
	/* alpha is what a healthy job may have of false alarms per hour, and how long its low
	 * stretches of S_out lasted so far is taken into account. */
	HANG_RULE_PER_HOUR,
	/* As published: alpha holds for one stretch of suspicions, and samples are independent. */
	HANG_RULE_PUBLISHED,
};

struct hang_settings {
	int num_ranks; /* 1 or more */
	double alpha;  /* 1e-12 to 0.5 */
	enum hang_rule rule;
	uint64_t interval_ns;     /* I at first: the mean time between looks */
	uint64_t max_interval_ns; /* I is doubled up to this */
	/* HANG_RULE_PER_HOUR only: S_out has to be low for so long in any case; and for so long
	 * while hardly any low stretch was seen before. */
	uint64_t shortest_ns, novel_ns;
	int set_size;    /* ranks in a set; 0: half of all ranks, for who can see them all */
	bool is_at_once; /* look at both sets each time, not in turns: a model for each */
	uint64_t seed;   /* of the choice of ranks and times */
};

/* What all that watch a job have in common: 1 rank or more, alpha from 1e-12 to 0.5. -1 with
 * ERROR_USAGE if it is not so. */
int hang_settings_check(int num_ranks, double alpha, struct pdb_error *err);

/* alpha 0.001 per hour, I from 400 ms to 6.4 s, shortest 8 s, novel 12 s, sets of 10 in turns,
 * which is what suits ranks that have to be stopped for a look; seed 1. */
void hang_settings_init(struct hang_settings *settings, int num_ranks);

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
	double s_out;           /* the last sample's, 0 to 1; -1: none yet */
	uint32_t num_samples;   /* in the model */
	uint32_t wanted;        /* learning: as many as may suffice; otherwise as num_samples */
	uint64_t interval_ns;   /* I now */
	bool is_random;         /* samples I apart passed the runs test */
	double level;           /* tolerance e of the estimate: 0.3, 0.2, 0.1, 0.05; 0: the upper
				 * bound for a value never seen, or still learning */
	double threshold;       /* S_out up to this is suspicious */
	double p_hat;           /* share of suspicious samples in the model */
	double q;               /* what it is at most */
	uint32_t num_low;       /* suspicions in a row now */
	uint32_t needed;        /* so many confirm a hang (k) */
	uint32_t longest_low;   /* suspicions in a row there were at most before */
	double chance;          /* false alarms per hour if it were called now (published rule: the
				 * chance of such a stretch); 1 or more: no sign of a hang */
	uint32_t num_slowdowns; /* confirmations that found movement */
	uint64_t watched_ns; /* time covered by samples; a watcher that was stopped did not watch */
	uint64_t low_ns;     /* of it, in this stretch of suspicions */
};

struct hang_test;

/* NULL with ERROR_USAGE if a setting is out of range. The job is first to be looked at now_ns. With
 * fewer than twice set_size ranks the sets are halves; one rank is one set. */
struct hang_test *hang_test_create(const struct hang_settings *settings, uint64_t now_ns,
				   struct pdb_error *err);
void hang_test_destroy(struct hang_test *test); /* NULL is fine */

/* When the next sample is wanted: a random step of I/2 to 3I/2 after the last. */
uint64_t hang_test_next(const struct hang_test *test);

/* The ranks to look at then, ascending; valid until the next sample. */
const int *hang_test_ranks(const struct hang_test *test, size_t *num);

/* What was seen: looks[i] of hang_test_ranks()[i]. now_ns before the last one's (the clock was set)
 * only moves the schedule; much later than planned (the watcher was stopped) counts as one step. A
 * set nobody of which is known gives no sample. Nothing happens in HANG_FOUND. */
void hang_test_sample(struct hang_test *test, uint64_t now_ns, const enum hang_look *looks);

/* Somebody, of those ranks or others, was seen to move since the last sample: to call or leave MPI,
 * to go from one call to another. To be said before the sample. What ranks looked at do in and out
 * of MPI is noticed without it. */
void hang_test_note_movement(struct hang_test *test);

/* In HANG_CONFIRM: has anybody moved, or worked outside MPI, between the two looks at all? Then it
 * is a slow-down, the stretch is learnt as a healthy one, and watching goes on; otherwise the job
 * hangs.
 */
void hang_test_confirm(struct hang_test *test, bool has_moved);

enum hang_state hang_test_state(const struct hang_test *test);
void hang_test_figures(const struct hang_test *test, struct hang_figures *figures_ret);

#endif
