/* SPDX-License-Identifier: BSD-3-Clause
 * The loop of watching. Its looks are in watch_look.c, what follows from them in watch_judge.c. */
#include <unistd.h>

#include "analysis/hang/hang_test.h"
#include "analysis/hang/pace.h"
#include "attach/node/watch_digest.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/monotonic.h"
#include "model/xalloc.h"
#include "shell/interrupt.h"
#include "shell/watch/watch.h"
#include "shell/session.h"
#include "shell/watch/watch_state.h"
#include "shell/options/options.h"
#include "shell/watch/watch_tell.h"

#define IDLE_NS (SECOND_NS / 4)        /* between checks that only see whether the job lives */
#define STILL_NS SECOND_NS             /* after this standstill a full look may show more */
#define SUSPENDING_NS (10 * SECOND_NS) /* time until all hosts of a job are suspended */

static int start_test(struct watch *watch, struct pdb_error *err)
{
	int size = watch->session->job->proctable->size;
	const struct hang_settings settings = {
		.num_ranks = size,
		.alpha = watch->options->alpha,
		.sees_all = watch->has_recorder,
		.seed = monotonic_ns(),
	};
	const struct pace_settings pace = {
		.num_ranks = size,
		.alpha = watch->options->alpha,
		.interval_ns = watch_source_interval(watch->source),
		.proof_ns = watch->options->max_wait_s * SECOND_NS,
	};

	hang_test_destroy(watch->test);
	pace_destroy(watch->pace);
	watch_rates_destroy(watch->rates);
	watch->pace = NULL;
	watch->rates = NULL;
	watch->test = hang_test_create(&settings, monotonic_ns(), err);
	if (watch->test)
		watch->pace = pace_create(&pace, session_age_ns(watch->session), err);
	if (watch->pace)
		watch->rates = watch_rates_create(size, watch->options->alpha, err);
	return watch->rates ? 0 : -1;
}

/* Do most live ranks have segments? */
static bool most_are_recorded(const struct watch_digest *digest)
{
	const struct watch_numbers *numbers = &digest->numbers;

	return 2 * (uint64_t)numbers->num_recorded >= numbers->num_ranks - numbers->num_ended;
}

static void feed_test(struct watch *watch)
{
	size_t num;
	const int *ranks = hang_test_ranks(watch->test, &num);
	enum hang_look *looks SCOPED(free) = xcalloc(num, sizeof(*looks));

	for (size_t i = 0; i < num; i++)
		looks[i] = rankset_contains(watch->digest.inside, ranks[i])    ? HANG_INSIDE
			   : rankset_contains(watch->digest.outside, ranks[i]) ? HANG_OUTSIDE
									       : HANG_UNKNOWN;
	hang_test_sample(watch->test, monotonic_ns(), looks);
}

/* Hosts are not suspended and resumed all at the same moment. */
static bool may_be_suspended(const struct watch *watch)
{
	return watch->is_suspended ||
	       (watch->partly_ns && monotonic_ns() - watch->partly_ns < SUSPENDING_NS);
}

static int look_for_test(struct watch *watch, struct pdb_error *err)
{
	struct rankset *sampled SCOPED(rankset) = rankset_create();
	size_t num;
	const int *ranks = hang_test_ranks(watch->test, &num);
	int result;

	for (size_t i = 0; i < num; i++)
		rankset_add(sampled, ranks[i]);
	result = watch_look(watch, sampled, err);
	if (result < 0)
		return -1;
	if (most_are_recorded(&watch->digest) != watch->has_recorder) {
		watch->has_recorder = !watch->has_recorder;
		return start_test(watch, err);
	}
	if (watch->digest.numbers.num_changed > 0 || watch->digest.numbers.num_active > 0)
		hang_test_note_movement(watch->test);
	if (!watch->is_suspended)
		feed_test(watch);
	return 0;
}

/* Is a full look due? Without a recorder it takes a second, and only deaths are certain. */
static bool is_time(const struct watch *watch)
{
	uint64_t now_ns = monotonic_ns();

	if (watch_still_ns(watch) >= STILL_NS && now_ns >= watch->next_still_ns)
		return true;
	return now_ns >= watch->next_check_ns &&
	       (watch->has_recorder || watch_has_lost_ranks(watch));
}

/* One round: a look, and what follows from it. */
static int go_round(struct watch *watch, struct pdb_error *err)
{
	bool is_due = !watch->is_suspended && monotonic_ns() >= hang_test_next(watch->test);

	if (is_due ? look_for_test(watch, err) < 0 : watch_look(watch, watch->nobody, err) < 0)
		return -1;
	if (may_be_suspended(watch)) {
		watch->confirm_ns = 0;
		return 0;
	}
	watch_is_active(watch); /* for its report */
	if (watch->has_recorder) {
		if (watch_judge_pace(watch, err) < 0)
			return -1;
	} else if (hang_test_state(watch->test) == HANG_CONFIRM && !watch_may_be_starting(watch)) {
		return watch_confirm(watch, err);
	}
	watch->confirm_ns = 0;
	if (!watch->is_hang && !watch->is_over && watch->wants_why)
		return watch_tell_why(watch, err);
	if (!watch->is_hang && !watch->is_over && is_time(watch))
		return watch_look_closely(watch, err);
	return 0;
}

static void tell_status(struct watch *watch)
{
	struct hang_figures figures;

	hang_test_figures(watch->test, &figures);
	watch_tell_status(&watch->teller, &watch->digest, &figures, watch_standstill_of(watch),
			  watch->has_recorder && watch->report.kind == PACE_STILL
				  ? watch->report.needed_ns
				  : 0);
}

/* Sleep until the next look is due, by a clock that nobody sets. */
static void sleep_round(struct watch *watch)
{
	uint64_t interval_ns = watch->has_recorder ? watch_source_interval(watch->source) : IDLE_NS;
	uint64_t next_ns = monotonic_ns() + interval_ns;

	if (!watch->is_suspended && hang_test_next(watch->test) < next_ns)
		next_ns = hang_test_next(watch->test);
	interrupt_sleep_until(next_ns);
}

/* A launcher may wait for daemons that keep traces, so the end of the ranks counts. */
static bool is_job_over(const struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;
	const struct proctable *table = watch->session->job->proctable;

	/* Ranks on silent hosts are not known. */
	return session_has_ended(watch->session) ||
	       (watch->session->keeps_traces && numbers->num_ended > 0 &&
		numbers->num_ended == numbers->num_ranks && numbers->num_ranks == table->num_procs);
}

/* Keep traces from now on, which needs a look. */
static int keep_traces(struct session *session, struct pdb_error *err)
{
	if (session->keeps_traces)
		return 0;
	session->keeps_traces = true;
	return session_refresh(session, err);
}

static int watch_until(struct watch *watch, struct pdb_error *err)
{
	if (watch->options->save && keep_traces(watch->session, err) < 0)
		return -1;
	if (watch_source_look(watch->source, watch->nobody, &watch->digest, err) < 0)
		return -1;
	watch->has_recorder = most_are_recorded(&watch->digest);
	watch->moved_ns = monotonic_ns();
	if (watch->has_recorder && watch->digest.numbers.quiet_ns != WATCH_NEVER)
		watch->before_ns = watch->digest.numbers.quiet_ns;
	watch->tell_still_ns = TELL_STILL_NS;
	watch->next_check_ns = monotonic_ns() + CHECK_NS;
	if (start_test(watch, err) < 0)
		return -1;
	watch_tell_begin(&watch->teller, &watch->digest);
	while (!watch->is_hang && !watch->is_over && !interrupt_pending()) {
		sleep_round(watch);
		if (is_job_over(watch)) {
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
		.all = proctable_ranks(session->job->proctable),
		.nobody = rankset_create(),
		.active = rankset_create(),
		.began_ns = monotonic_ns(),
	};
	int result;

	watch.looks = xcalloc(session->job->proctable->size, sizeof(*watch.looks));
	watch_digest_init(&watch.digest);
	watch_tell_init(&watch.teller, session, out, options->wants_json);
	result = watch_until(&watch, err);
	/* Daemons and launcher end at about the same time, in any order. */
	if (result < 0 && (err->code == ERROR_GONE || session_has_ended(session))) {
		watch.is_over = true;
		result = 0;
	}
	watch_tell_clear(&watch.teller);
	session->is_hung = watch.is_hang && !watch_is_doubted(&watch.hang);
	if (watch.is_hang) {
		watch_tell_hang(&watch.teller, &watch.hang);
		watch_hang_act(session, options, &watch.hang, &watch.teller);
	} else if (watch.is_over && options->save) {
		last_look_save(session, options->save, &watch.teller);
	}
	*end_ret = watch.is_hang ? WATCH_HUNG : watch.is_over ? WATCH_ENDED : WATCH_INTERRUPTED;
	if (!watch.is_over)
		session->keeps_traces = false;
	hang_test_destroy(watch.test);
	pace_destroy(watch.pace);
	watch_rates_destroy(watch.rates);
	free(watch.looks);
	watch_source_destroy(watch.source);
	watch_digest_deinit(&watch.digest);
	rankset_destroy(watch.all);
	rankset_destroy(watch.nobody);
	rankset_destroy(watch.active);
	return result;
}
