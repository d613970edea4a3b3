/* SPDX-License-Identifier: BSD-3-Clause
 * The loop of watching, and when it is a hang:
 *
 *	recorder:    look --> pace: longer than ever? ------------------------------\
 *	no recorder: look --> test: too unlikely? --> does anybody move? -- no -----+--> verdict
 *	                                                 \-- yes: a slow-down       |
 *	both:        nobody moves for 1 s, 1.5 s, 2.3 s, ... -----------------------/
 *
 * What the verdict has counted (deadlock, mismatch, lost message, crash) is certain and is a hang
 * at once, and so is a rank that a signal has stopped or that has ended while others wait for it.
 * All else needs the word of pace or test for it or, where these have no history to judge by, that
 * nothing has moved for --max-wait; and that those who are outside MPI do not read or write. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/hang/hang_test.h"
#include "analysis/hang/pace.h"
#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "attach/node/watch_digest.h"
#include "attach/process/procfs.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/monotonic.h"
#include "model/xalloc.h"
#include "render/words/label.h"
#include "shell/interrupt.h"
#include "shell/last_look.h"
#include "shell/session.h"
#include "shell/watch/watch.h"
#include "shell/watch/watch_hang.h"
#include "shell/watch/watch_options.h"
#include "shell/watch/watch_rates.h"
#include "shell/watch/watch_source.h"
#include "shell/watch/watch_tell.h"

#define SECOND_NS UINT64_C(1000000000)
#define IDLE_NS (SECOND_NS / 4)        /* between two looks that only see whether the job lives */
#define STILL_NS SECOND_NS             /* nobody has moved for so long: a full look may tell more */
#define CONFIRM_NS SECOND_NS           /* between the two looks that tell a hang from a slow-down */
#define CERTAIN_NS (SECOND_NS / 2)     /* after it what is certain must be so again */
#define SPARED_NS (5 * SECOND_NS)      /* between looks at who may come back */
#define CHECK_NS (10 * SECOND_NS)      /* what is certain is looked for also while ranks move */
#define STEP_NS (5 * SECOND_NS)        /* two looks are not further apart, full looks included */
#define SUSPENDING_NS (10 * SECOND_NS) /* until all hosts of a job are suspended */
#define TELL_STILL_NS (10 * SECOND_NS)
#define STILL_SHARE 20  /* full looks while nobody moves take at most this part of the time, */
#define CHECK_SHARE 200 /* and this part otherwise */

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

	uint64_t began_ns;
	uint64_t looked_ns; /* the last look; 0: none yet */
	/* when anybody was last seen to move; till then when watching began */
	uint64_t moved_ns;
	/* how long nobody had moved then, by the segments: told, and no more */
	uint64_t before_ns;
	bool has_moved;     /* anybody has been seen to */
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

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- The test ---- */

/* How long the job has run already, at least: the recorder has seen all of it. The start is that of
 * a clock that goes on while the machine sleeps; now is not, as if all sleep was the job's. */
static uint64_t find_age(const struct session *session)
{
	uint64_t now_ns = monotonic_ns(), start_ns;
	struct procfs_stat stat;

	if (procfs_stat(session->launcher.pid, 0, &stat) < 0)
		return 0;
	start_ns = stat.start_ticks * (SECOND_NS / sysconf(_SC_CLK_TCK));
	return now_ns > start_ns ? now_ns - start_ns : 0;
}

static int start_test(struct watch *watch, struct pdb_error *err)
{
	int size = watch->session->job->proctable->size;
	struct hang_settings settings;
	struct pace_settings pace;

	hang_settings_init(&settings, size);
	settings.alpha = watch->options->alpha;
	settings.seed = monotonic_ns();
	if (watch->has_recorder) {
		settings.set_size = 0;
		settings.is_at_once = true;
	}
	pace_settings_init(&pace, size);
	pace.alpha = watch->options->alpha;
	/* What is shorter than between two looks is not seen. */
	pace.noise_ns = max(pace.noise_ns, watch_source_interval(watch->source));
	pace.proof_ns = watch->options->max_wait_s * SECOND_NS;
	hang_test_destroy(watch->test);
	pace_destroy(watch->pace);
	watch_rates_destroy(watch->rates);
	watch->pace = NULL;
	watch->rates = NULL;
	watch->test = hang_test_create(&settings, monotonic_ns(), err);
	if (watch->test)
		watch->pace = pace_create(&pace, find_age(watch->session), err);
	if (watch->pace)
		watch->rates = watch_rates_create(size, watch->options->alpha, err);
	return watch->rates ? 0 : -1;
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

static void feed_pace(struct watch *watch)
{
	int size = watch->session->job->proctable->size;

	for (int i = 0; i < size; i++)
		watch->looks[i] = (struct pace_look){.look = HANG_UNKNOWN};
	for (size_t i = 0; i < watch->digest.num_ranks; i++) {
		const struct watch_rank *rank = &watch->digest.ranks[i];

		if (rank->rank >= (uint32_t)size)
			continue;
		watch->looks[rank->rank] = (struct pace_look){
			.look = rank->flags & WATCH_RANK_OUTSIDE ? HANG_OUTSIDE : HANG_INSIDE,
			.may_last = rank->flags & WATCH_RANK_MAY_LAST,
			.place = rank->place,
			.moves = rank->moves,
			.stay_ns = rank->stay_ns,
			.longest_ns = rank->longest_ns,
			.num_stays = rank->num_stays,
			.stack = rank->stack,
			.work = rank->work,
			.cpu_ns = rank->cpu_ns,
		};
	}
	pace_add(watch->pace, monotonic_ns(), watch->looks);
	pace_report(watch->pace, &watch->report);
	/* Nobody is slow while nobody moves. */
	if (watch->report.kind == PACE_MOVING)
		watch_rates_add(watch->rates, watch->looks, &watch->teller);
}

/* ---- Looks ---- */

/* Somebody has stopped the whole job, as batch systems do, and will let it go on. */
static void note_suspension(struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;
	bool is_suspended = numbers->num_suspended > 0 && !numbers->num_moved &&
			    numbers->num_suspended + numbers->num_ended == numbers->num_ranks;

	if (!numbers->num_suspended || is_suspended)
		watch->partly_ns = 0;
	else if (!watch->partly_ns)
		watch->partly_ns = monotonic_ns();
	if (is_suspended == watch->is_suspended)
		return;
	watch->is_suspended = is_suspended;
	if (is_suspended)
		watch_tell_note(&watch->teller, "suspended",
				"all ranks have been stopped by a signal: the job is suspended, "
				"and watching waits");
	else
		watch_tell_note(&watch->teller, "resumed", "the job goes on, and so does watching");
}

/* Hosts are not suspended, and do not go on, all at the same moment. */
static bool may_be_suspended(const struct watch *watch)
{
	return watch->is_suspended ||
	       (watch->partly_ns && monotonic_ns() - watch->partly_ns < SUSPENDING_NS);
}

static void note_movement(struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;
	uint64_t now_ns = monotonic_ns();
	uint64_t most_ns = watch->is_suspended ? 0 : STEP_NS;

	/* A watcher that was stopped did not see that nobody moved. */
	if (watch->looked_ns && now_ns - watch->looked_ns > most_ns)
		watch->moved_ns += now_ns - watch->looked_ns - most_ns;
	watch->looked_ns = now_ns;
	if (numbers->num_active) {
		watch->active_ns = now_ns;
		rankset_destroy(watch->active);
		watch->active = rankset_copy(watch->digest.outside);
	}
	watch->num_looks += numbers->num_sampled > 0;
	if (numbers->num_sampled)
		watch->is_unsure = numbers->num_unsure > 0;
	if (!numbers->num_moved && !numbers->num_changed)
		return;
	watch->moved_ns = now_ns;
	watch->num_looks = 0;
	watch->before_ns = 0;
	watch->has_moved = true;
	watch->next_still_ns = 0;
	watch->has_told_active = watch->has_told_spared = false;
	watch->tell_still_ns = TELL_STILL_NS;
}

/* Of the ranks whose turn it is, if they have to be looked at by their stacks. */
static int look(struct watch *watch, const struct rankset *sampled, struct pdb_error *err)
{
	if (watch_source_look(watch->source, sampled, &watch->digest, err) < 0)
		return -1;
	note_suspension(watch);
	note_movement(watch);
	if (watch->has_recorder && !watch->is_suspended)
		feed_pace(watch);
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
	if (watch->digest.numbers.num_changed > 0 || watch->digest.numbers.num_active > 0)
		hang_test_note_movement(watch->test);
	if (!watch->is_suspended)
		feed_test(watch);
	return 0;
}

/* ---- Is it a hang? ---- */

static bool is_certain(const struct verdict *verdict)
{
	switch (verdict->kind) {
	case VERDICT_DEADLOCK:
	case VERDICT_MISMATCH:
	case VERDICT_LOST:
	case VERDICT_CRASHED:
		return verdict->is_hang && (verdict->is_stuck || !verdict->is_likely);
	case VERDICT_STOPPED:
	case VERDICT_LEFT:
		return verdict->is_final;
	default:
		return false;
	}
}

static uint64_t still_ns(const struct watch *watch)
{
	return monotonic_ns() - watch->moved_ns;
}

/* For people. The decision goes by what was seen. */
static struct watch_standstill standstill(const struct watch *watch)
{
	return (struct watch_standstill){
		.ns = still_ns(watch) + watch->before_ns,
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
		.still = standstill(watch),
		.watched_ns = monotonic_ns() - watch->began_ns,
		.num_samples = figures.num_samples,
		.chance = watch->has_recorder ? watch->report.chance : figures.chance,
	};
	watch->is_hang = true;
}

/* Who computes may come back, and who was not seen to move may have: as long as that is likely
 * enough, the job is not ended for it. */
static bool is_spared(struct watch *watch)
{
	bool is_unsure = standstill(watch).is_unsure;
	double most_ns = watch->options->max_wait_s * SECOND_NS;

	if (!watch->options->wants_kill || still_ns(watch) >= most_ns ||
	    (!is_unsure && watch->session->verdict->kind != VERDICT_COMPUTATION))
		return false;
	if (!watch->has_told_spared)
		watch_tell_note(&watch->teller, "still",
				"it looks like a hang, but %s: the job is ended once nobody %s for "
				"%s (--max-wait)",
				is_unsure ? "ranks may have moved between the looks"
					  : "a rank that computes may come back",
				watch->has_recorder ? "has moved" : "was seen to move",
				label_time((uint64_t)most_ns).text);
	watch->has_told_spared = true;
	return true;
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
	watch->next_still_ns = now_ns + max(still_ns(watch) / 2, STILL_SHARE * cost_ns);
	/* But when the patience is over, however long looks take. */
	if (still_ns(watch) < patience_ns && watch->moved_ns + patience_ns < watch->next_still_ns)
		watch->next_still_ns = watch->moved_ns + (uint64_t)patience_ns;
	watch->next_check_ns =
		now_ns + max(has_lost_ranks(watch) ? SECOND_NS : CHECK_NS, CHECK_SHARE * cost_ns);
	return 0;
}

/* Those outside MPI read or write, or get on in their code: a long phase of few ranks, no hang. */
static bool is_active(struct watch *watch)
{
	bool is_working = watch->has_recorder && watch->report.kind == PACE_WORKING;

	if (!is_working && (!watch->active_ns || monotonic_ns() - watch->active_ns > 2 * SECOND_NS))
		return false;
	if (!watch->has_told_active && still_ns(watch) >= TELL_STILL_NS) {
		struct arena *arena = arena_create();

		watch_tell_note(&watch->teller, "phase",
				"nobody %s MPI for %s, but there is work done by %s: no hang",
				watch->has_recorder ? "has entered or left"
						    : "was seen to enter or leave",
				label_time(standstill(watch).ns).text,
				is_working ? arena_printf(arena, "rank %d", watch->report.rank)
					   : label_who(arena, watch->active, 40));
		arena_destroy(arena);
		watch->has_told_active = true;
	}
	return true;
}

/* What a rank does by the last full look, if that is known. */
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

/* A standstill that is not long enough: what is seen of it, now and again. */
static void tell_still(struct watch *watch)
{
	const struct pace_report *report = &watch->report;
	struct arena *arena;

	if (report->kind != PACE_STILL || report->rank < 0 ||
	    still_ns(watch) < watch->tell_still_ns)
		return;
	watch->tell_still_ns = 2 * still_ns(watch);
	arena = arena_create();
	watch_tell_note(&watch->teller, "still",
			"rank %d is %s for %s, %s%s; it will be called a hang after %s",
			report->rank, describe_rank(watch->session, arena, report->rank),
			label_time(report->stay_ns).text,
			report->num_stays ? "before at most " : "for the first time",
			report->num_stays ? label_time(report->longest_ns).text : "",
			label_time(report->needed_ns).text);
	arena_destroy(arena);
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
	if (!watch->has_recorder && still_ns(watch) > watch->options->max_wait_s * SECOND_NS &&
	    verdict_may_be_hang(session->verdict) && !is_active(watch))
		find_hang(watch, WATCH_BY_PATIENCE);
	return 0;
}

/* By stacks the test is sure unless somebody moves: all ranks are looked at now and again later.
 * What is known of them meanwhile takes a full look, which is made in between. */
static int confirm(struct watch *watch, struct pdb_error *err)
{
	if (!watch->confirm_ns) {
		if (look(watch, watch->all, err) < 0)
			return -1;
		/* What they have done since they were last looked at says nothing of now. */
		watch->confirm_ns = monotonic_ns();
		if (look_fully(watch, err) < 0)
			return -1;
	}
	if (watch->is_over || interrupt_pending() ||
	    monotonic_ns() - watch->confirm_ns < CONFIRM_NS)
		return 0;
	if (look(watch, watch->all, err) < 0)
		return -1;
	if (watch->moved_ns > watch->confirm_ns) {
		hang_test_confirm(watch->test, true);
		watch_tell_note(&watch->teller, "slowdown",
				"a slow-down, %s after watching began: it looked like a hang, but "
				"ranks move",
				label_time(watch->moved_ns - watch->began_ns).text);
	} else if (is_active(watch) || is_spared(watch)) {
		hang_test_confirm(watch->test, true);
	} else if (verdict_may_be_hang(watch->session->verdict)) {
		find_hang(watch, WATCH_BY_TEST);
		hang_test_confirm(watch->test, false);
	}
	watch->confirm_ns = 0;
	return 0;
}

/* By what the recorder tells, which is exact: somebody moves or nobody does. */
static int judge_pace(struct watch *watch, struct pdb_error *err)
{
	if (hang_test_state(watch->test) == HANG_CONFIRM)
		hang_test_confirm(watch->test, true);
	tell_still(watch);
	if (watch->report.kind != PACE_HANG || monotonic_ns() < watch->next_proof_ns)
		return 0;
	if (look_fully(watch, err) < 0)
		return -1;
	watch->next_proof_ns = monotonic_ns() + CERTAIN_NS;
	if (watch->is_over || interrupt_pending())
		return 0;
	if (is_spared(watch))
		watch->next_proof_ns = monotonic_ns() + SPARED_NS;
	else if (verdict_may_be_hang(watch->session->verdict))
		find_hang(watch,
			  isfinite(watch->report.chance) ? WATCH_BY_TEST : WATCH_BY_PATIENCE);
	return 0;
}

/* ---- The loop ---- */

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
	bool is_due = !watch->is_suspended && monotonic_ns() >= hang_test_next(watch->test);

	if (is_due ? look_for_test(watch, err) < 0 : look(watch, watch->nobody, err) < 0)
		return -1;
	if (may_be_suspended(watch)) {
		watch->confirm_ns = 0;
		return 0;
	}
	is_active(watch); /* which is told */
	if (watch->has_recorder) {
		if (judge_pace(watch, err) < 0)
			return -1;
	} else if (hang_test_state(watch->test) == HANG_CONFIRM) {
		return confirm(watch, err);
	}
	watch->confirm_ns = 0;
	if (!watch->is_hang && !watch->is_over && is_time(watch))
		return look_closely(watch, err);
	return 0;
}

static void tell_status(struct watch *watch)
{
	struct hang_figures figures;

	hang_test_figures(watch->test, &figures);
	watch_tell_status(&watch->teller, &watch->digest, &figures, standstill(watch),
			  watch->has_recorder && watch->report.kind == PACE_STILL
				  ? watch->report.needed_ns
				  : 0);
}

/* Until the next look is due. The time is that of a clock that nobody sets. */
static void sleep_round(struct watch *watch)
{
	uint64_t interval_ns = watch->has_recorder ? watch_source_interval(watch->source) : IDLE_NS;
	uint64_t next_ns = monotonic_ns() + interval_ns;

	if (!watch->is_suspended && hang_test_next(watch->test) < next_ns)
		next_ns = hang_test_next(watch->test);
	interrupt_sleep_until(next_ns);
}

/* For the last look at a job with traces it matters that its processes have ended: a launcher may
 * wait for the daemons that keep them. */
static bool is_job_over(const struct watch *watch)
{
	const struct watch_numbers *numbers = &watch->digest.numbers;
	const struct proctable *table = watch->session->job->proctable;

	/* Nothing is known of ranks on hosts that are silent. */
	return session_has_ended(watch->session) ||
	       (watch->session->keeps_traces && numbers->num_ended > 0 &&
		numbers->num_ended == numbers->num_ranks && numbers->num_ranks == table->num_procs);
}

/* From a look on that keeps the traces. */
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
	/* Daemons and launcher end at the same time, in whatever order. */
	if (result < 0 && (err->code == ERROR_GONE || session_has_ended(session))) {
		watch.is_over = true;
		result = 0;
	}
	watch_tell_deinit(&watch.teller);
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
