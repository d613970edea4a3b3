/* SPDX-License-Identifier: BSD-3-Clause
 * State of watching, shared by its parts: looks (watch_look.c) and what follows from them
 * (watch_judge.c). */
#pragma once

#include "analysis/hang/pace.h"
#include "attach/node/watch_digest.h"
#include "shell/watch/watch.h"
#include "shell/watch/watch_tell.h"

#define CHECK_NS (10 * SECOND_NS) /* certain hangs are looked for also while ranks move */
#define TELL_STILL_NS (10 * SECOND_NS)

struct watch {
	struct session *session;
	const struct watch_options *options;
	struct watch_teller teller;
	struct watch_source *source;
	struct watch_digest digest; /* the last one */
	struct hang_test *test;     /* with a recorder, for the status line alone */
	struct pace *pace;
	struct watch_rates *rates;
	struct pace_look *looks; /* [size of the job] for pace */
	struct pace_report report;
	bool has_recorder; /* most ranks have one */
	struct rankset *all, *nobody;

	uint64_t began_ns, looked_ns; /* the last look; 0: none yet */
	uint64_t moved_ns;      /* when a rank was last seen to move; else when watching began */
	uint64_t before_ns;     /* the standstill before that, by the segments: only reported */
	bool has_moved;         /* a rank has been seen to move */
	bool may_start;         /* see watch_may_be_starting() */
	uint32_t num_looks;     /* looks at stacks since then */
	bool is_unsure;         /* some ranks' messages could not be counted in the last look */
	uint64_t active_ns;     /* when ranks outside MPI were last seen to work; 0: never */
	struct rankset *active; /* the ranks outside MPI then */
	uint64_t next_still_ns; /* when the next full look is due if nobody moves, */
	uint64_t next_check_ns; /* and if somebody does, */
	uint64_t next_proof_ns; /* and if pace calls it a hang */
	uint64_t confirm_ns;    /* when the looks that confirm began; 0: they have not */
	bool has_told_active, has_told_spared;
	bool wants_why;         /* ranks have become slow, and it is not told yet why */
	bool is_suspended;      /* all ranks are stopped by a signal: no time passes */
	uint64_t partly_ns;     /* since when all ranks of only some hosts are stopped; 0: none */
	uint64_t tell_still_ns; /* a standstill this long is reported */
	bool is_certain;        /* the last full look was certain; the next one decides */
	bool is_hang, is_over;
	struct watch_hang hang;
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Look at all ranks. Ranks of `sampled` without a recorder are looked at by their stacks. -1 and
 * *err. */
int watch_look(struct watch *watch, const struct rankset *sampled, struct pdb_error *err);

/* How long no rank was seen to move: in ns, for decisions; and as a standstill, for people. */
uint64_t watch_still_ns(const struct watch *watch);
struct watch_standstill watch_standstill_of(const struct watch *watch);
bool watch_has_lost_ranks(const struct watch *watch);
/* Do ranks outside MPI read, write or advance in their code? Then it is no hang. Reported if it
 * lasts. */
bool watch_is_active(struct watch *watch);

/* ---- What follows from a look, possibly a hang. All return -1 if the job cannot be looked at.
 * ---- */
/* Full look: no rank has moved for a while, or it is time to check ranks that move. */
int watch_look_closely(struct watch *watch, struct pdb_error *err);
/* For a job without a recorder: is it so young that one rank may still read input that all others
 * wait for, and was no rank ever seen to move? Then the test's result does not count yet. Call only
 * when the test has a result. */
bool watch_may_be_starting(struct watch *watch);
/* Without a recorder: the test is sure; confirm by more looks. */
int watch_confirm(struct watch *watch, struct pdb_error *err);
/* With a recorder, at each look: judge by the exact moves of the ranks. */
int watch_judge_pace(struct watch *watch, struct pdb_error *err);

/* Source of looks: this process or daemons. The session is borrowed; its job is live. */
struct watch_source *watch_source_create(struct session *session);
void watch_source_destroy(struct watch_source *source); /* NULL is fine */
/* Shortest interval between looks that keeps them cheap, in ns. */
uint64_t watch_source_interval(const struct watch_source *source);

/* Look at all ranks with a recorder, and at the stacks of those in `sampled` without one. *ret is
 * an initialised digest. -1: as daemons_look(); lost daemons are already handled. */
int watch_source_look(struct watch_source *source, const struct rankset *sampled,
		      struct watch_digest *ret, struct pdb_error *err);

/* ---- Jobs that become slow ---- */
struct watch_rates *watch_rates_create(int num_ranks, double alpha,
				       struct pdb_error *err); /* NULL: ERROR_USAGE */
void watch_rates_destroy(struct watch_rates *rates);           /* NULL is fine */

/* Add a look at all ranks, made just now: looks[num_ranks]. Reports what has changed. True: ranks
 * have become slow. */
bool watch_rates_add(struct watch_rates *rates, const struct pace_look *looks,
		     struct watch_teller *teller);

/* Look for a second and report why ranks are slow, if that shows. -1 and *err: the job cannot be
 * looked at. */
int watch_tell_why(struct watch *watch, struct pdb_error *err);
