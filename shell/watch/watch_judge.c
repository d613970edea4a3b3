/* SPDX-License-Identifier: BSD-3-Clause
 * When it is a hang:
 *
 *	recorder:    look --> pace: longer than ever? ------------------------------\
 *	no recorder: look --> test: too unlikely? --> does anybody move? -- no -----+--> verdict
 *	                                                 \-- yes: a slow-down       |
 *	both:        nobody moves for 1 s, 1.5 s, 2.3 s, ... -----------------------/
 *	recorder:    the verdict's own: too long by all stays in these places
 *
 * What the verdict says can never go on (is_final) is a hang at once: what was counted (deadlock,
 * mismatch, lost message), a crash, a rank that a signal has stopped, that has ended while others
 * wait for it, or whose signal's handler wants a lock that it holds.
 * All else needs the word of pace or test for it, or of lp itself by the stays that recorders know
 * (evidence/stays.h) once nobody has moved for a while, or, where these have no history to judge
 * by, that nothing has moved for --max-wait; and that those who are outside MPI do not read or
 * write. */
#include <math.h>

#include "analysis/hang/hang_test.h"
#include "analysis/hang/pace.h"
#include "analysis/progress/eqgroup.h"
#include "analysis/thresholds.h"
#include "analysis/verdict/verdict.h"
#include "attach/node/watch_digest.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "model/monotonic.h"
#include "render/words/label.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/watch/watch.h"
#include "shell/watch/watch_state.h"
#include "shell/options/options.h"
#include "shell/watch/watch_tell.h"

#define SPARED_NS (5 * SECOND_NS) /* between looks at ranks that may continue */
#define STILL_SHARE 20            /* full looks in a standstill take at most 1 in this of time, */
#define CHECK_SHARE 200           /* and 1 in this otherwise */

uint64_t watch_still_ns(const struct watch *watch)
{
	return monotonic_ns() - watch->moved_ns;
}

struct watch_standstill watch_standstill_of(const struct watch *watch)
{
	return (struct watch_standstill){
		.ns = watch_still_ns(watch) + watch->before_ns,
		.is_since_begin = !watch->has_moved && !watch->before_ns,
		.num_looks = watch->has_recorder ? 0 : watch->num_looks,
		.is_unsure = !watch->has_recorder && watch->is_unsure,
	};
}

static void find_hang(struct watch *watch, enum watch_proof proof)
{
	struct hang_figures figures;

	hang_test_figures(watch->test, &figures);
	watch->hang = (struct watch_hang){
		.proof = proof,
		.still = watch_standstill_of(watch),
		.watched_ns = monotonic_ns() - watch->began_ns,
		.num_samples = figures.num_samples,
		.chance = watch->has_recorder ? watch->report.chance : figures.chance,
	};
	watch->is_hang = true;
}

/* How long a standstill must last before a job is ended because of a computing rank, which may
 * continue: until such a stay is unlikely enough, or for --max-wait. */
static uint64_t sparing_ns(const struct watch *watch)
{
	const struct verdict *verdict = watch->session->verdict;
	uint64_t most_ns = (uint64_t)(watch->options->max_wait_s * SECOND_NS);

	if (watch_standstill_of(watch).is_unsure)
		return most_ns;
	if (verdict->kind != VERDICT_COMPUTATION)
		return 0;
	return verdict->is_hang && verdict->end_ns > 0 && verdict->end_ns < most_ns
		       ? verdict->end_ns
		       : most_ns;
}

/* A rank's activity in the last full look, if known. */
static const char *describe_rank(struct session *session, struct arena *arena, int rank)
{
	const struct job_model *jm = session->job->model;
	struct view view = session_view(session, arena);

	for (size_t i = 0; jm && session->groups && i < jm->num_lanes; i++)
		if (jm->lanes[i].rank == rank)
			return label_where(&view,
					   &session->groups->groups[session->groups->group_of[i]],
					   LABEL_SHORT);
	return "outside MPI";
}

/* Which ranks may continue, and why. */
static const char *describe_spared(const struct watch *watch, struct arena *arena)
{
	const struct rankset *culprits = watch->session->verdict->culprits;

	if (watch_standstill_of(watch).is_unsure)
		return "ranks may have moved between the looks";
	if (rankset_is_empty(culprits))
		return "a rank that computes may come back";
	if (rankset_count(culprits) > 1)
		return arena_printf(arena, "%s may come back", label_who(arena, culprits, 40));
	return arena_printf(arena, "%s may come back (%s)", label_who(arena, culprits, 40),
			    describe_rank(watch->session, arena, rankset_first(culprits)));
}

/* The job is not ended yet. */
static bool is_spared(struct watch *watch)
{
	uint64_t sparing = sparing_ns(watch);

	if (!watch->options->wants_kill || watch_still_ns(watch) >= sparing)
		return false;
	if (!watch->has_told_spared) {
		struct arena *arena SCOPED(arena) = arena_create();

		watch_tell_note(
			&watch->teller, "still",
			"it looks like a hang, but %s: pdb ends the job once nobody %s for %s",
			describe_spared(watch, arena),
			watch->has_recorder ? "has moved" : "was seen to move",
			label_time(sparing).text);
	}
	watch->has_told_spared = true;
	if (watch->next_still_ns > watch->moved_ns + sparing)
		watch->next_still_ns = watch->moved_ns + sparing;
	return true;
}

bool watch_has_lost_ranks(const struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;

	return numbers->num_ended > 0 &&
	       numbers->num_ended + numbers->num_left < numbers->num_ranks;
}

/* When the standstill will be a hang, for verdicts that use stays; UINT64_MAX: never. */
static uint64_t when_too_long(const struct watch *watch, uint64_t now_ns)
{
	const struct verdict *verdict = watch->session->verdict;

	if (!watch->has_recorder || !verdict->needed_ns || verdict->needed_ns <= verdict->stay_ns)
		return UINT64_MAX;
	if (verdict->needed_ns - verdict->stay_ns > UINT64_MAX / 2)
		return UINT64_MAX;
	return now_ns + (verdict->needed_ns - verdict->stay_ns) + SECOND_NS / 10;
}

/* Make a full look as for `lp`. ERROR_GONE is no error: the job is ending. */
static int look_fully(struct watch *watch, struct pdb_error *err)
{
	double patience_ns = watch->options->max_wait_s * SECOND_NS;
	uint64_t begin_ns = monotonic_ns(), now_ns, cost_ns;

	if (session_refresh(watch->session, err) < 0) {
		if (err->code == ERROR_INTERRUPTED)
			return 0;
		if (err->code != ERROR_GONE)
			return -1;
		watch->is_over = true;
		return 0;
	}
	now_ns = monotonic_ns();
	cost_ns = now_ns - begin_ns;
	watch->next_still_ns = now_ns + later(watch_still_ns(watch) / 2, STILL_SHARE * cost_ns);
	/* But not later than --max-wait, however long looks take. */
	if (watch_still_ns(watch) < patience_ns &&
	    watch->moved_ns + patience_ns < watch->next_still_ns)
		watch->next_still_ns = watch->moved_ns + (uint64_t)patience_ns;
	if (when_too_long(watch, now_ns) < watch->next_still_ns)
		watch->next_still_ns = when_too_long(watch, now_ns);
	watch->next_check_ns = now_ns + later(watch_has_lost_ranks(watch) ? SECOND_NS : CHECK_NS,
					      CHECK_SHARE * cost_ns);
	return 0;
}

bool watch_is_active(struct watch *watch)
{
	bool is_working = watch->has_recorder && watch->report.kind == PACE_WORKING;

	if (!is_working && (!watch->active_ns || monotonic_ns() - watch->active_ns > 2 * SECOND_NS))
		return false;
	if (!watch->has_told_active && watch_still_ns(watch) >= TELL_STILL_NS) {
		struct arena *arena SCOPED(arena) = arena_create();

		watch_tell_note(
			&watch->teller, "phase", "nobody %s MPI for %s, while %s did work: no hang",
			watch->has_recorder ? "has entered or left" : "was seen to enter or leave",
			label_time(watch_standstill_of(watch).ns).text,
			is_working ? arena_printf(arena, "rank %d", watch->report.rank)
				   : label_who(arena, watch->active, 40));
		watch->has_told_active = true;
	}
	return true;
}

/* The standstill is too short: report it now and again. */
static void tell_still(struct watch *watch)
{
	const struct pace_report *report = &watch->report;
	struct arena *arena;

	if (report->kind != PACE_STILL || report->rank < 0 ||
	    watch_still_ns(watch) < watch->tell_still_ns)
		return;
	watch->tell_still_ns = 2 * watch_still_ns(watch);
	arena = arena_create();
	watch_tell_note(&watch->teller, "still",
			"rank %d has been %s for %s, %s%s; pdb calls it a hang after %s",
			report->rank, describe_rank(watch->session, arena, report->rank),
			label_time(report->stay_ns).text,
			report->num_stays ? "earlier stays took at most " : "for the first time",
			report->num_stays ? label_time(report->longest_ns).text : "",
			label_time(report->needed_ns).text);
	arena_destroy(arena);
}

/* Is it a hang by stays: no rank has moved for a while, none works outside MPI, and none is
 * spared? */
static bool is_too_long(struct watch *watch)
{
	const struct verdict *verdict = watch->session->verdict;

	return watch->has_recorder && watch->report.kind != PACE_MOVING &&
	       verdict->basis == VERDICT_BY_MODELS && verdict->kind != VERDICT_NONE &&
	       verdict->is_hang && rankset_is_empty(verdict->moving) && !watch_is_active(watch) &&
	       !is_spared(watch);
}

/* No rank has moved for --max-wait, and there is nothing to compare that with. The user wants this
 * reported even if it is too early to name a rank. */
static bool is_hang_by_patience(const struct verdict *verdict)
{
	return verdict_may_be_hang(verdict) || verdict->is_edge ||
	       (!rankset_is_empty(verdict->awaited) && rankset_is_empty(verdict->moving));
}

int watch_look_closely(struct watch *watch, struct pdb_error *err)
{
	const struct session *session = watch->session;

	if (look_fully(watch, err) < 0)
		return -1;
	if (watch->is_over || interrupt_pending())
		return 0;
	if (session->verdict->is_final) {
		if (watch->is_certain)
			find_hang(watch, WATCH_BY_COUNTS);
		watch->is_certain = true;
		watch->next_still_ns = watch->next_check_ns = monotonic_ns() + thresholds.again_ns;
		return 0;
	}
	watch->is_certain = false;
	if (is_too_long(watch))
		find_hang(watch, WATCH_BY_STAYS);
	else if (!watch->has_recorder &&
		 watch_still_ns(watch) > watch->options->max_wait_s * SECOND_NS &&
		 is_hang_by_patience(session->verdict) && !watch_is_active(watch))
		find_hang(watch, WATCH_BY_PATIENCE);
	return 0;
}

bool watch_may_be_starting(struct watch *watch)
{
	bool was_starting = watch->may_start;

	watch->may_start = !watch->has_recorder && !watch->has_moved &&
			   session_age_ns(watch->session) < thresholds.edge_ns &&
			   watch_still_ns(watch) < watch->options->max_wait_s * SECOND_NS;
	/* The apparent hang was the start of the job. */
	if (was_starting && watch->has_moved)
		hang_test_confirm(watch->test, true);
	return watch->may_start || (was_starting && watch->has_moved);
}

/* Without a recorder the test counts if no rank moves between two looks at all ranks, some time
 * apart. A full look in between shows what they do. */
int watch_confirm(struct watch *watch, struct pdb_error *err)
{
	if (!watch->confirm_ns) {
		if (watch_look(watch, watch->all, err) < 0)
			return -1;
		/* Moves since their last look are old; count from here. */
		watch->confirm_ns = monotonic_ns();
		if (look_fully(watch, err) < 0)
			return -1;
	}
	if (watch->is_over || interrupt_pending() ||
	    monotonic_ns() - watch->confirm_ns < thresholds.confirm_ns)
		return 0;
	if (watch_look(watch, watch->all, err) < 0)
		return -1;
	if (watch->moved_ns > watch->confirm_ns) {
		hang_test_confirm(watch->test, true);
		watch_tell_note(&watch->teller, "slowdown",
				"a slow-down, %s after watching began: it looked like a hang, but "
				"ranks move",
				label_time(watch->moved_ns - watch->began_ns).text);
	} else if (watch_is_active(watch) || is_spared(watch)) {
		hang_test_confirm(watch->test, true);
	} else if (verdict_may_be_hang(watch->session->verdict)) {
		find_hang(watch, WATCH_BY_TEST);
		hang_test_confirm(watch->test, false);
	}
	watch->confirm_ns = 0;
	return 0;
}

int watch_judge_pace(struct watch *watch, struct pdb_error *err)
{
	const bool has_history = isfinite(watch->report.chance);
	const struct verdict *verdict;

	if (hang_test_state(watch->test) == HANG_CONFIRM)
		hang_test_confirm(watch->test, true);
	tell_still(watch);
	if (watch->report.kind != PACE_HANG || monotonic_ns() < watch->next_proof_ns)
		return 0;
	if (look_fully(watch, err) < 0)
		return -1;
	watch->next_proof_ns = monotonic_ns() + thresholds.again_ns;
	if (watch->is_over || interrupt_pending())
		return 0;
	verdict = watch->session->verdict;
	if (is_spared(watch))
		watch->next_proof_ns = monotonic_ns() + SPARED_NS;
	else if (has_history ? verdict_may_be_hang(verdict) : is_hang_by_patience(verdict))
		find_hang(watch, has_history ? WATCH_BY_TEST : WATCH_BY_PATIENCE);
	return 0;
}
