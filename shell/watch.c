/* SPDX-License-Identifier: BSD-3-Clause
 * The loop of watching, and when it is a hang:
 *
 *	look --> test --------------> HANG_CONFIRM --> does anybody move? --yes--> a slow-down
 *	     \-> nobody moves for 1 s, 1.5 s, ... -\          | no
 *	                                            \-> a full look: the verdict
 *
 * What the verdict has counted (deadlock, mismatch, lost message, crash) is certain and is a hang
 * at once. All else needs the test's word for it or, where that has no history to judge by, that
 * nothing has moved for --max-wait; and that those whom it accuses do not read or write. */
#include <stdlib.h>

#include "analysis/hang_test.h"
#include "analysis/verdict.h"
#include "attach/watch_digest.h"
#include "model/error.h"
#include "model/job.h"
#include "model/monotonic.h"
#include "model/proctable.h"
#include "model/rankset.h"
#include "model/xalloc.h"
#include "render/label.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/watch.h"
#include "shell/watch_hang.h"
#include "shell/watch_options.h"
#include "shell/watch_source.h"
#include "shell/watch_tell.h"

#define SECOND_NS UINT64_C(1000000000)
#define IDLE_NS (SECOND_NS / 4)    /* between two looks that only see whether the job lives */
#define STILL_NS SECOND_NS         /* nobody has moved for so long: a full look may tell more */
#define CONFIRM_NS SECOND_NS       /* between the two looks that tell a hang from a slow-down */
#define CERTAIN_NS (SECOND_NS / 2) /* after it what is certain must be so again */
#define CHECK_NS (10 * SECOND_NS)  /* what is certain is looked for also while ranks move */
#define STILL_SHARE 20  /* full looks while nobody moves take at most this part of the time, */
#define CHECK_SHARE 200 /* and this part otherwise */

struct watch {
	struct session *session;
	const struct watch_options *options;
	struct watch_teller teller;
	struct watch_source *source;
	struct watch_digest digest; /* the last one */
	struct hang_test *test;
	bool has_recorder; /* in most ranks: the test sees all of them, not sets in turn */
	struct rankset *all, *nobody;

	uint64_t began_ns;
	uint64_t moved_ns;      /* when anybody was last seen to move */
	uint64_t active_ns;     /* when those outside were last seen to read or write; 0: never */
	uint64_t next_still_ns; /* when the next full look is due if nobody moves, */
	uint64_t next_check_ns; /* and if somebody does */
	uint64_t confirm_ns;    /* when the looks that confirm began; 0: they have not */
	bool has_told_active;
	bool is_certain; /* the last full look was, and another one decides */
	bool is_hang, is_over;
	struct watch_hang hang;
};

/* ---- The test -------------------------------------------------------------------------------- */

static int start_test(struct watch *watch, struct pdb_error *err)
{
	struct hang_settings settings;

	hang_settings_init(&settings, watch->session->job->proctable->size);
	settings.alpha = watch->options->alpha;
	settings.seed = monotonic_ns();
	if (watch->has_recorder) {
		settings.set_size = 0;
		settings.is_at_once = true;
	}
	hang_test_destroy(watch->test);
	watch->test = hang_test_create(&settings, monotonic_ns(), err);
	return watch->test ? 0 : -1;
}

/* Do segments tell of most of the ranks that live? */
static bool most_are_recorded(const struct watch_digest *digest)
{
	const struct watch_numbers *numbers = &digest->numbers;

	return 2 * (uint64_t)numbers->num_recorded >= numbers->num_ranks - numbers->num_ended;
}

static void feed_test(struct watch *watch)
{
	size_t num;
	const int *ranks = hang_test_ranks(watch->test, &num);
	enum hang_look *looks = xcalloc(num, sizeof(*looks));

	for (size_t i = 0; i < num; i++)
		looks[i] = rankset_contains(watch->digest.inside, ranks[i])    ? HANG_INSIDE
			   : rankset_contains(watch->digest.outside, ranks[i]) ? HANG_OUTSIDE
									       : HANG_UNKNOWN;
	hang_test_sample(watch->test, monotonic_ns(), looks);
	free(looks);
}

/* ---- Looks ----------------------------------------------------------------------------------- */

static void note_movement(struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;
	uint64_t now_ns = monotonic_ns();

	if (numbers->num_active)
		watch->active_ns = now_ns;
	if (!numbers->num_moved && !numbers->num_changed)
		return;
	watch->moved_ns = now_ns;
	watch->next_still_ns = 0;
	watch->has_told_active = false;
}

/* Of the ranks whose turn it is, if they have to be looked at by their stacks. */
static int look(struct watch *watch, const struct rankset *sampled, struct pdb_error *err)
{
	if (watch_source_look(watch->source, sampled, &watch->digest, err) < 0)
		return -1;
	note_movement(watch);
	return 0;
}

static int look_for_test(struct watch *watch, struct pdb_error *err)
{
	struct rankset *sampled = rankset_create();
	size_t num;
	const int *ranks = hang_test_ranks(watch->test, &num);
	int result;

	for (size_t i = 0; i < num; i++)
		rankset_add(sampled, ranks[i]);
	result = look(watch, sampled, err);
	rankset_destroy(sampled);
	if (result < 0)
		return -1;
	if (most_are_recorded(&watch->digest) != watch->has_recorder) {
		watch->has_recorder = !watch->has_recorder;
		return start_test(watch, err);
	}
	feed_test(watch);
	return 0;
}

/* ---- Is it a hang? --------------------------------------------------------------------------- */

static bool is_certain(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_DEADLOCK:
	case VERDICT_MISMATCH:
	case VERDICT_LOST:
	case VERDICT_CRASHED:
		return verdict->is_hang && !verdict->is_likely;
	default:
		return false;
	}
}

static bool names_somebody(const struct verdict *verdict)
{
	return verdict->kind != VERDICT_NONE && verdict->kind != VERDICT_UNKNOWN;
}

static uint64_t still_ns(const struct watch *watch)
{
	return monotonic_ns() - watch->moved_ns;
}

static void find_hang(struct watch *watch, enum watch_proof proof)
{
	struct hang_figures figures;

	hang_test_figures(watch->test, &figures);
	watch->hang = (struct watch_hang){
		.proof = proof,
		.still_ns = still_ns(watch),
		.watched_ns = monotonic_ns() - watch->began_ns,
		.num_samples = figures.num_samples,
		.chance = figures.chance,
	};
	watch->is_hang = true;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool has_lost_ranks(const struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;

	return numbers->num_ended > 0 &&
	       numbers->num_ended + numbers->num_left < numbers->num_ranks;
}

/* As `lp` looks. ERROR_GONE is no error: the job ends. */
static int look_fully(struct watch *watch, struct pdb_error *err)
{
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
	watch->next_still_ns = now_ns + max(still_ns(watch) / 2, STILL_SHARE * cost_ns);
	watch->next_check_ns =
		now_ns + max(has_lost_ranks(watch) ? SECOND_NS : CHECK_NS, CHECK_SHARE * cost_ns);
	return 0;
}

/* Those outside MPI read or write: a long phase of few ranks, which is no hang. */
static bool is_active(struct watch *watch)
{
	if (!watch->active_ns || monotonic_ns() - watch->active_ns > 2 * SECOND_NS)
		return false;
	if (!watch->has_told_active) {
		char *who = label_who(watch->digest.outside, 40);
		char *time = label_time(still_ns(watch));

		watch_tell_note(&watch->teller, "phase",
				"nobody has entered or left MPI for %s, but %s read%s or write%s: "
				"no hang",
				time, who, rankset_count(watch->digest.outside) == 1 ? "s" : "",
				rankset_count(watch->digest.outside) == 1 ? "s" : "");
		free(who);
		free(time);
	}
	watch->has_told_active = true;
	return true;
}

/* Nobody has moved for a while, or it is time to look at those who do. */
static int look_closely(struct watch *watch, struct pdb_error *err)
{
	const struct session *session = watch->session;

	if (look_fully(watch, err) < 0)
		return -1;
	if (watch->is_over || interrupt_pending())
		return 0;
	if (is_certain(session->verdict)) {
		if (watch->is_certain)
			find_hang(watch, WATCH_BY_COUNTS);
		watch->is_certain = true;
		watch->next_still_ns = watch->next_check_ns = monotonic_ns() + CERTAIN_NS;
		return 0;
	}
	watch->is_certain = false;
	if (still_ns(watch) > watch->options->max_wait_s * SECOND_NS &&
	    names_somebody(session->verdict) && !is_active(watch))
		find_hang(watch, WATCH_BY_PATIENCE);
	return 0;
}

/* The test is sure unless somebody moves. By segments that is seen all the time; by stacks all
 * ranks are looked at now and again later. */
static int confirm(struct watch *watch, struct pdb_error *err)
{
	uint64_t now_ns = monotonic_ns();
	bool is_first = !watch->confirm_ns;

	if (is_first)
		watch->confirm_ns = now_ns;
	else if (now_ns - watch->confirm_ns < CONFIRM_NS)
		return 0;
	if (!watch->has_recorder && look(watch, watch->all, err) < 0)
		return -1;
	/* What they have done since they were last looked at says nothing of now. */
	if (is_first) {
		watch->confirm_ns = monotonic_ns();
		return 0;
	}
	if (watch->moved_ns > watch->confirm_ns) {
		char *time = label_time(watch->moved_ns - watch->began_ns);

		hang_test_confirm(watch->test, true);
		watch_tell_note(&watch->teller, "slowdown",
				"a slow-down, %s after watching began: it looked like a hang, but "
				"ranks move",
				time);
		free(time);
		watch->confirm_ns = 0;
		return 0;
	}
	watch->confirm_ns = 0;
	if (is_active(watch))
		return 0;
	if (look_fully(watch, err) < 0)
		return -1;
	if (watch->is_over || interrupt_pending() || !names_somebody(watch->session->verdict))
		return 0;
	find_hang(watch, WATCH_BY_TEST);
	hang_test_confirm(watch->test, false);
	return 0;
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* Without a recorder a full look takes a second, and is certain of nothing but deaths. */
static bool is_time(const struct watch *watch)
{
	uint64_t now_ns = monotonic_ns();

	if (still_ns(watch) >= STILL_NS && now_ns >= watch->next_still_ns)
		return true;
	return now_ns >= watch->next_check_ns && (watch->has_recorder || has_lost_ranks(watch));
}

/* One round: a look, and what follows from it. */
static int go_round(struct watch *watch, struct pdb_error *err)
{
	bool is_due = monotonic_ns() >= hang_test_next(watch->test);

	if (is_due ? look_for_test(watch, err) < 0 : look(watch, watch->nobody, err) < 0)
		return -1;
	if (hang_test_state(watch->test) == HANG_CONFIRM)
		return confirm(watch, err);
	watch->confirm_ns = 0;
	if (is_time(watch))
		return look_closely(watch, err);
	return 0;
}

static void tell_status(struct watch *watch)
{
	struct hang_figures figures;

	hang_test_figures(watch->test, &figures);
	watch_tell_status(&watch->teller, &watch->digest, &figures, still_ns(watch));
}

/* Until the next look is due. The time is that of a clock that nobody sets. */
static void sleep_round(struct watch *watch)
{
	uint64_t interval_ns = watch->has_recorder ? watch_source_interval(watch->source) : IDLE_NS;
	uint64_t next_ns = monotonic_ns() + interval_ns;

	if (hang_test_next(watch->test) < next_ns)
		next_ns = hang_test_next(watch->test);
	interrupt_sleep_until(next_ns);
}

static int watch_until(struct watch *watch, struct pdb_error *err)
{
	if (look(watch, watch->nobody, err) < 0)
		return -1;
	watch->has_recorder = most_are_recorded(&watch->digest);
	watch->moved_ns = monotonic_ns();
	watch->next_check_ns = monotonic_ns() + CHECK_NS;
	if (start_test(watch, err) < 0)
		return -1;
	watch_tell_begin(&watch->teller, &watch->digest);
	while (!watch->is_hang && !watch->is_over && !interrupt_pending()) {
		sleep_round(watch);
		if (session_has_ended(watch->session)) {
			watch->is_over = true;
			break;
		}
		if (interrupt_pending())
			break;
		if (go_round(watch, err) < 0)
			return -1;
		tell_status(watch);
	}
	return 0;
}

int watch_run(struct session *session, const struct watch_options *options, FILE *out,
	      enum watch_end *end_ret, struct pdb_error *err)
{
	struct watch watch = {
		.session = session,
		.options = options,
		.source = watch_source_create(session),
		.all = rankset_create(),
		.nobody = rankset_create(),
		.began_ns = monotonic_ns(),
	};
	int result;

	rankset_add_range(watch.all, 0, session->job->proctable->size - 1);
	watch_digest_init(&watch.digest);
	watch_tell_init(&watch.teller, session, out, options->wants_json);
	result = watch_until(&watch, err);
	/* Daemons and launcher end at the same time, in whatever order. */
	if (result < 0 && (err->code == ERROR_GONE || session_has_ended(session))) {
		watch.is_over = true;
		result = 0;
	}
	watch_tell_deinit(&watch.teller);
	session->is_hung = watch.is_hang;
	if (watch.is_hang) {
		watch_tell_hang(&watch.teller, &watch.hang);
		watch_hang_act(session, options, &watch.hang, &watch.teller);
	}
	*end_ret = watch.is_hang ? WATCH_HUNG : watch.is_over ? WATCH_ENDED : WATCH_INTERRUPTED;
	hang_test_destroy(watch.test);
	watch_source_destroy(watch.source);
	watch_digest_deinit(&watch.digest);
	rankset_destroy(watch.all);
	rankset_destroy(watch.nobody);
	return result;
}
