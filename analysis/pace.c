/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A candidate is a rank that may end the standstill by itself: one outside MPI, or in a call that
 * works by itself. The standstill is a hang when each candidate's stay is too long for its place.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "analysis/pace.h"
#include "analysis/stays.h"
#include "model/error.h"
#include "model/xalloc.h"

enum { MS = 1000000, MAX_STEP_MS = 1000, NUM_STACKS = 64 };

/* A place, and the stays in it that any rank has completed. */
struct place {
	uint64_t key;
	uint64_t longest_ns, num_stays; /* the most that one rank was said to have had there */
	uint64_t num_seen;              /* stays that ended between looks */
	double seen_ns;                 /* what these lasted in sum */
	/* One rank's stays while it was watched: how long they are on average. */
	int sampled_rank;
	uint64_t first_num, last_num;
	double sampled_ns;
	bool was_candidate; /* while nobody moved for longer than noise */
	UT_hash_handle hh;
};

struct pace_rank {
	struct pace_look last;
	struct place *place;
	double entered_ns; /* watched time at which this stay was first seen */
	double worked_ns;  /* and at which it last worked; -1: not in this stay */
	double cpu_ns;     /* and at which it last used processor time */
	uint64_t *stacks;  /* [NUM_STACKS] the last different ones of this stay */
	size_t num_stacks;
};

struct pace {
	struct pace_settings settings;
	struct pace_rank *ranks;
	struct place *places;
	size_t num_candidate_places;
	bool has_looked;
	size_t num_known;
	uint64_t last_ns;
	double watched_ns, recorded_ns; /* watched: by looks; recorded: before the first of them */
	double moved_ns;                /* watched time of the last movement */
	double inside_ns;               /* and since when nobody is outside */
	struct stay_history gaps;       /* standstills with nobody outside */
};

void pace_settings_init(struct pace_settings *settings, int num_ranks)
{
	*settings = (struct pace_settings){
		.num_ranks = num_ranks,
		.alpha = 0.001,
		.noise_ns = 100 * (uint64_t)MS,
		.shortest_ns = 2000 * (uint64_t)MS,
		.novel_ns = 20000 * (uint64_t)MS,
		.proof_ns = 600000 * (uint64_t)MS,
	};
}

struct pace *pace_create(const struct pace_settings *settings, uint64_t watched_ns,
			 struct pdb_error *err)
{
	struct pace *pace;

	if (settings->num_ranks < 1) {
		error_set(err, ERROR_USAGE, "there are no ranks to watch");
		return NULL;
	}
	if (!(settings->alpha > 0 && settings->alpha < 1)) {
		error_set(err, ERROR_USAGE, "alpha has to be between 0 and 1");
		return NULL;
	}
	pace = xcalloc(1, sizeof(*pace));
	pace->settings = *settings;
	pace->ranks = xcalloc((size_t)settings->num_ranks, sizeof(*pace->ranks));
	pace->recorded_ns = (double)watched_ns;
	return pace;
}

void pace_destroy(struct pace *pace)
{
	struct place *place, *next;

	if (!pace)
		return;
	HASH_ITER(hh, pace->places, place, next)
	{
		HASH_DEL(pace->places, place);
		free(place);
	}
	for (int r = 0; r < pace->settings.num_ranks; r++)
		free(pace->ranks[r].stacks);
	free(pace->ranks);
	free(pace);
}

/* ---- Looks --------------------------------------------------------------------------------- */

static struct place *get_place(struct pace *pace, uint64_t key, int rank)
{
	struct place *place;

	HASH_FIND(hh, pace->places, &key, sizeof(key), place);
	if (place)
		return place;
	place = xcalloc(1, sizeof(*place));
	place->key = key;
	place->sampled_rank = rank;
	HASH_ADD(hh, pace->places, key, sizeof(place->key), place);
	return place;
}

static bool is_candidate(const struct pace_look *look)
{
	return look->look == HANG_OUTSIDE || (look->look == HANG_INSIDE && look->may_last);
}

/* One that polls is outside as long as it gets no processor for that, and then inside again. */
static bool has_moved(const struct pace_look *before, const struct pace_look *now)
{
	return before->moves != now->moves || before->place != now->place ||
	       (before->look == HANG_UNKNOWN) != (now->look == HANG_UNKNOWN);
}

/* Is this a stack that the stay has not had lately? Those of a loop come again. */
static bool is_new_stack(struct pace_rank *rank, uint64_t stack)
{
	size_t num = rank->num_stacks < NUM_STACKS ? rank->num_stacks : NUM_STACKS;

	if (!stack)
		return false;
	for (size_t i = 0; i < num; i++)
		if (rank->stacks[i] == stack)
			return false;
	if (!rank->stacks)
		rank->stacks = xcalloc(NUM_STACKS, sizeof(*rank->stacks));
	rank->stacks[rank->num_stacks++ % NUM_STACKS] = stack;
	return rank->num_stacks > 1;
}

static void end_stay(struct pace *pace, struct pace_rank *rank)
{
	double stay_ns = pace->watched_ns - rank->entered_ns;

	if (!rank->place)
		return;
	rank->place->num_seen++;
	rank->place->seen_ns += stay_ns;
	if (stay_ns > (double)rank->place->longest_ns)
		rank->place->longest_ns = (uint64_t)stay_ns;
}

/* What the recorder says about the place, and how long one of the ranks is in it. */
static void learn_place(struct place *place, int number, const struct pace_look *look,
			double step_ns)
{
	if (look->longest_ns > place->longest_ns)
		place->longest_ns = look->longest_ns;
	if (look->num_stays > place->num_stays)
		place->num_stays = look->num_stays;
	if (number != place->sampled_rank)
		return;
	if (!place->first_num)
		place->first_num = look->num_stays;
	place->last_num = look->num_stays;
	place->sampled_ns += step_ns;
}

/* Returns whether the rank has moved. */
static bool look_at(struct pace *pace, int number, const struct pace_look *look, double step_ns)
{
	struct pace_rank *rank = &pace->ranks[number];
	bool is_first = !pace->has_looked;
	bool moved = is_first || has_moved(&rank->last, look);

	if (moved) {
		if (!is_first)
			end_stay(pace, rank);
		rank->place =
			look->look == HANG_UNKNOWN ? NULL : get_place(pace, look->place, number);
		rank->entered_ns = pace->watched_ns;
		rank->worked_ns = -1;
		rank->cpu_ns = -1;
		rank->num_stacks = 0;
		is_new_stack(rank, look->stack);
	} else {
		bool is_new = is_new_stack(rank, look->stack);

		if (is_candidate(look) && (is_new || look->work != rank->last.work))
			rank->worked_ns = pace->watched_ns;
		if (look->cpu_ns != rank->last.cpu_ns)
			rank->cpu_ns = pace->watched_ns;
	}
	if (rank->place)
		learn_place(rank->place, number, look, step_ns);
	rank->last = *look;
	return moved;
}

static void learn_gap(struct pace *pace)
{
	double gap_ns = pace->watched_ns - fmax(pace->moved_ns, pace->inside_ns);

	if (gap_ns <= 0)
		return;
	pace->gaps.num++;
	pace->gaps.total += gap_ns;
	pace->gaps.longest = fmax(pace->gaps.longest, gap_ns);
}

/* Places in which a standstill may be healthy: each of them may cause false alarms. */
static void mark_places(struct pace *pace)
{
	if (pace->watched_ns - pace->moved_ns <= (double)pace->settings.noise_ns)
		return;
	for (int r = 0; r < pace->settings.num_ranks; r++) {
		struct pace_rank *rank = &pace->ranks[r];

		if (!rank->place || rank->place->was_candidate || !is_candidate(&rank->last))
			continue;
		rank->place->was_candidate = true;
		pace->num_candidate_places++;
	}
}

void pace_add(struct pace *pace, uint64_t now_ns, const struct pace_look *looks)
{
	double step_ns =
		pace->has_looked && now_ns > pace->last_ns ? (double)(now_ns - pace->last_ns) : 0;
	bool moved = false, is_outside = false;

	step_ns = fmin(step_ns, (double)MAX_STEP_MS * MS);
	pace->watched_ns += step_ns;
	pace->num_known = 0;
	for (int r = 0; r < pace->settings.num_ranks; r++) {
		moved |= look_at(pace, r, &looks[r], step_ns);
		is_outside |= is_candidate(&looks[r]);
		pace->num_known += looks[r].look != HANG_UNKNOWN;
	}
	if (moved) {
		if (pace->has_looked)
			learn_gap(pace);
		pace->moved_ns = pace->watched_ns;
	}
	if (is_outside)
		pace->inside_ns = pace->watched_ns;
	mark_places(pace);
	pace->last_ns = now_ns;
	pace->has_looked = true;
}

/* ---- Answers ------------------------------------------------------------------------------- */

/* The stays of a place: the recorder's, or those that were seen to end. */
static struct stay_history place_history(const struct pace *pace, const struct place *place)
{
	struct stay_history history = {
		.num = place->num_stays,
		.longest = (double)place->longest_ns,
		.watched = pace->recorded_ns + pace->watched_ns,
	};
	uint64_t num_sampled = place->last_num - place->first_num;

	if (!history.num) {
		history.num = place->num_seen;
		history.total = place->seen_ns;
	} else if (num_sampled) {
		history.total = place->sampled_ns / (double)num_sampled * (double)history.num;
	}
	return history;
}

/* What a standstill is judged by. */
struct judgement {
	struct stay_history history;
	double stay_ns, needed_ns, chance;
};

/* How long the rank has been in its place without working. */
static double idle_ns(const struct pace *pace, const struct pace_rank *rank)
{
	double since_ns = fmax(rank->entered_ns, rank->worked_ns);
	double watched_ns = pace->watched_ns - since_ns;

	return rank->worked_ns < 0 ? fmax(watched_ns, (double)rank->last.stay_ns) : watched_ns;
}

static struct judgement judge_rank(const struct pace *pace, const struct pace_rank *rank)
{
	const struct pace_settings *settings = &pace->settings;
	double places = pace->num_candidate_places ? (double)pace->num_candidate_places : 1;
	struct judgement judgement = {
		.history = place_history(pace, rank->place),
		.stay_ns = idle_ns(pace, rank),
	};

	if (!judgement.history.num) {
		judgement.needed_ns = (double)settings->proof_ns;
		judgement.chance = INFINITY;
		return judgement;
	}
	judgement.needed_ns = stay_history_needed(&judgement.history, settings->alpha / places,
						  (double)settings->noise_ns);
	judgement.chance = places * stay_history_chance(&judgement.history, judgement.stay_ns,
							(double)settings->noise_ns);
	return judgement;
}

/* Is a rank in a call that has never ended before? */
static bool is_novel(const struct pace *pace)
{
	for (int r = 0; r < pace->settings.num_ranks; r++) {
		const struct pace_rank *rank = &pace->ranks[r];

		if (rank->place && !rank->place->num_stays && !rank->place->num_seen)
			return true;
	}
	return false;
}

static struct judgement judge_inside(const struct pace *pace)
{
	const struct pace_settings *settings = &pace->settings;
	struct judgement judgement = {
		.history = pace->gaps,
		.stay_ns = pace->watched_ns - fmax(pace->moved_ns, pace->inside_ns),
	};

	/* An earlier standstill that was never seen is one of noise. */
	judgement.history.num += !judgement.history.num;
	judgement.history.watched = pace->recorded_ns + pace->watched_ns;
	judgement.needed_ns = stay_history_needed(&judgement.history, settings->alpha,
						  (double)settings->noise_ns);
	judgement.chance = stay_history_chance(&judgement.history, judgement.stay_ns,
					       (double)settings->noise_ns);
	if (is_novel(pace))
		judgement.needed_ns = fmax(judgement.needed_ns, (double)settings->novel_ns);
	return judgement;
}

/* The candidate that lacks most for a hang; -1: there is none. */
static int most_plausible(const struct pace *pace, struct judgement *judgement_ret)
{
	int plausible = -1;

	for (int r = 0; r < pace->settings.num_ranks; r++) {
		struct judgement judgement;

		if (!pace->ranks[r].place || !is_candidate(&pace->ranks[r].last))
			continue;
		judgement = judge_rank(pace, &pace->ranks[r]);
		if (plausible >= 0 && judgement.needed_ns - judgement.stay_ns <=
					      judgement_ret->needed_ns - judgement_ret->stay_ns)
			continue;
		plausible = r;
		*judgement_ret = judgement;
	}
	return plausible;
}

/* Since when nobody moves or works. */
static double still_since(const struct pace *pace)
{
	double since_ns = pace->moved_ns;

	for (int r = 0; r < pace->settings.num_ranks; r++)
		since_ns = fmax(since_ns, pace->ranks[r].worked_ns);
	return since_ns;
}

static enum pace_kind kind_of(const struct pace *pace, const struct pace_report *report)
{
	double shortest_ns = (double)pace->settings.shortest_ns;

	if (!pace->num_known)
		return PACE_UNKNOWN;
	if (pace->watched_ns - pace->moved_ns < shortest_ns)
		return PACE_MOVING;
	if ((double)report->still_ns < shortest_ns)
		return PACE_WORKING;
	return report->stay_ns >= report->needed_ns ? PACE_HANG : PACE_STILL;
}

static uint64_t to_ns(double ns)
{
	return ns < 0x1p63 ? (uint64_t)ns : UINT64_MAX;
}

void pace_report(const struct pace *pace, struct pace_report *report_ret)
{
	struct judgement judgement = {0};
	int rank = most_plausible(pace, &judgement);
	const struct pace_rank *who = rank < 0 ? NULL : &pace->ranks[rank];

	if (!who)
		judgement = judge_inside(pace);
	*report_ret = (struct pace_report){
		.still_ns = to_ns(pace->watched_ns - still_since(pace)),
		.rank = rank,
		.is_running = who && who->cpu_ns >= 0 && who->cpu_ns >= still_since(pace),
		.place = who ? who->last.place : 0,
		.stay_ns = to_ns(judgement.stay_ns),
		.longest_ns = to_ns(judgement.history.longest),
		.num_stays = judgement.history.num,
		.chance = judgement.chance,
		.needed_ns = to_ns(judgement.needed_ns),
		.watched_ns = to_ns(pace->watched_ns),
	};
	report_ret->kind = kind_of(pace, report_ret);
}
