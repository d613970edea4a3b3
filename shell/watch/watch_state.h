/* SPDX-License-Identifier: BSD-3-Clause
 * What a job that is watched is known by, and the parts of watching: looks (watch_look.c) and what
 * follows from them (watch_judge.c). */
#ifndef PDB_SHELL_WATCH_STATE_H
#define PDB_SHELL_WATCH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/hang/pace.h"
#include "attach/node/watch_digest.h"
#include "shell/watch/watch.h"
#include "shell/watch/watch_tell.h"

#define CHECK_NS (10 * SECOND_NS) /* what is certain is looked for also while ranks move */
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
	uint64_t moved_ns;  /* when anybody was last seen to move; till then when watching began */
	uint64_t before_ns; /* how long nobody had moved then, by the segments: told, and no more */
	bool has_moved;     /* anybody has been seen to */
	bool may_start;     /* see watch_may_be_starting() */
	uint32_t num_looks; /* at stacks, since then */
	bool is_unsure;     /* of some ranks of the last of these messages could not be counted */
	uint64_t active_ns; /* when those outside were last seen to work; 0: never */
	struct rankset *active; /* who was outside then */
	uint64_t next_still_ns; /* when the next full look is due if nobody moves, */
	uint64_t next_check_ns; /* and if somebody does, */
	uint64_t next_proof_ns; /* and if pace calls it a hang */
	uint64_t confirm_ns;    /* when the looks that confirm began; 0: they have not */
	bool has_told_active, has_told_spared;
	bool is_suspended;      /* all ranks are stopped by a signal: no time passes */
	uint64_t partly_ns;     /* since when so are all of some hosts alone; 0: of none */
	uint64_t tell_still_ns; /* a standstill as long as this is told */
	bool is_certain;        /* the last full look was, and another one decides */
	bool is_hang, is_over;
	struct watch_hang hang;
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Look at the ranks, at those of `sampled` by their stacks where they have no recorder. */
int watch_look(struct watch *watch, const struct rankset *sampled, struct pdb_error *err);

/* How long nobody was seen to move, by which it is decided; and the same for people. */
uint64_t watch_still_ns(const struct watch *watch);
struct watch_standstill watch_standstill_of(const struct watch *watch);
bool watch_has_lost_ranks(const struct watch *watch);
/* Do those outside MPI read, write or get on in their code? No hang; told when it lasts. */
bool watch_is_active(struct watch *watch);

/* What follows from a look, which may be that it is a hang. -1: the job cannot be looked at. */
/* Nobody has moved for a while, or it is time to look at those who do. */
int watch_look_closely(struct watch *watch, struct pdb_error *err);
/* Without a recorder: was nobody ever seen to move, in a job that is so young that one rank may
 * still read what all others wait for? Then the test's word does not count yet. To be asked when it
 * has one. */
bool watch_may_be_starting(struct watch *watch);
/* Without a recorder the test is sure. */
int watch_confirm(struct watch *watch, struct pdb_error *err);
/* With a recorder, at each look: what that tells is exact, somebody moves or nobody does. */
int watch_judge_pace(struct watch *watch, struct pdb_error *err);

/* Where looks come from, this process or daemons; the session, whose job is live, is borrowed. */
struct watch_source *watch_source_create(struct session *session);
void watch_source_destroy(struct watch_source *source); /* NULL is fine */
/* How often a look is cheap enough: nanoseconds between two. */
uint64_t watch_source_interval(const struct watch_source *source);

/* Look at all ranks with a recorder, and at the stacks of those of `sampled` that have none, into
 * an initialised digest. -1: as daemons_look(), what is left to do for lost daemons done. */
int watch_source_look(struct watch_source *source, const struct rankset *sampled,
		      struct watch_digest *ret, struct pdb_error *err);

/* Slow jobs. */
struct watch_rates *watch_rates_create(int num_ranks, double alpha,
				       struct pdb_error *err); /* NULL: ERROR_USAGE */
void watch_rates_destroy(struct watch_rates *rates);           /* NULL is fine */

/* Of all ranks, looked at just now; looks[num_ranks]. Tells what has changed. */
void watch_rates_add(struct watch_rates *rates, const struct pace_look *looks,
		     struct watch_teller *teller);

#endif
