/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A candidate is a rank that may end the standstill by itself: one outside MPI, or in a call that
 * works by itself. The standstill is a hang when for each candidate one of two lasts too long:
 *
 *	its stay, against earlier ones in that place, or
 *	the standstill, against earlier ones with few candidates and in places that are known, as
 *	theirs are now; ranks that wait for each other all the time have hardly any.
 *
 * Each may cause half of the false alarms. */
#include <math.h>

#include "analysis/hang/pace.h"
#include "analysis/hang/stay_history.h"
#include "analysis/thresholds.h"
#include "model/arena.h"
#include "model/job/pair_map.h"
#include "model/job/recent.h"

enum { MS = 1000000, MAX_STEP_MS = 1000 };

/* A place, and the stays in it of any rank. */
struct place {
	double first_ns;           /* watched time when it was first seen */
	struct stay_history stays; /* that ended between looks; the short ones of many are missed */
	/* The most that recorders said: also before watching, also stays that no look has seen. */
	uint64_t longest_ns, num_stays;
	bool was_candidate; /* while nobody moved for longer than noise */
};

struct pace_rank {
	struct pace_look last;
	struct place *place;
	double entered_ns;    /* watched time at which this stay was first seen */
	double before_ns;     /* how long it had lasted by then */
	double worked_ns;     /* and at which it last worked; -1: not in this stay */
	struct recent stacks; /* of this stay */
};

struct pace {
	struct arena *arena; /* all of it lives there */
	struct pace_settings settings;
	double noise_ns;
	struct pace_rank *ranks;
	struct pair_map *index_of; /* of a place by its number */
	struct place **places;
	size_t num_places, capacity, num_candidate_places;
	bool has_looked;
	size_t num_known;
	uint64_t last_ns;
	double watched_ns, recorded_ns; /* watched: by looks; recorded: before the first of them */
	double moved_ns;                /* watched time of the last movement */
	double since_ns;                /* since when nobody moves or works */
	double inside_ns;               /* and since when nobody is outside */
	bool are_known;                 /* the places of all candidates, and these are few */
	struct stay_history inside;     /* standstills with nobody outside */
	struct stay_history outside;    /* with few candidates, in known places, and no work done */
};

struct pace *pace_create(const struct pace_settings *settings, uint64_t watched_ns,
			 struct pdb_error *err)
{
	struct arena *arena;
	struct pace *pace;

	if (hang_settings_check(settings->num_ranks, settings->alpha, err) < 0)
		return NULL;
	arena = arena_create();
	pace = arena_alloc(arena, sizeof(*pace));
	pace->arena = arena;
	pace->settings = *settings;
	pace->noise_ns = fmax((double)thresholds.pause_ns, (double)settings->interval_ns);
	pace->ranks = arena_array(arena, (size_t)settings->num_ranks, sizeof(*pace->ranks));
	pace->index_of = pair_map_in(arena);
	pace->recorded_ns = (double)watched_ns;
	return pace;
}

void pace_destroy(struct pace *pace)
{
	if (!pace)
		return;
	for (int r = 0; r < pace->settings.num_ranks; r++)
		recent_deinit(&pace->ranks[r].stacks);
	arena_destroy(pace->arena);
}

static struct place *get_place(struct pace *pace, uint64_t key)
{
	uint32_t index = pair_map_get(pace->index_of, key);

	if (index != PAIR_NONE)
		return pace->places[index];
	pair_map_add(pace->index_of, key, (uint32_t)pace->num_places);
	pace->places = arena_grow(pace->arena, pace->places, pace->num_places, &pace->capacity,
				  sizeof(*pace->places));
	pace->places[pace->num_places] = arena_alloc(pace->arena, sizeof(struct place));
	pace->places[pace->num_places]->first_ns = pace->watched_ns;
	return pace->places[pace->num_places++];
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
	bool is_first = rank->stacks.num == 0;

	return stack && recent_add(&rank->stacks, stack) && !is_first;
}

/* since_last: begun since the last look. A rank's own clock goes on while the job is suspended. */
static void begin_stay(struct pace *pace, struct pace_rank *rank, const struct pace_look *look,
		       bool since_last)
{
	rank->before_ns = (double)look->stay_ns;
	if (since_last)
		rank->before_ns = fmin(rank->before_ns, (double)MAX_STEP_MS * MS);
	rank->entered_ns = pace->watched_ns;
	rank->worked_ns = -1;
	recent_clear(&rank->stacks);
	is_new_stack(rank, look->stack);
}

static void learn_place(struct place *place, const struct pace_look *look)
{
	if (look->longest_ns > place->longest_ns)
		place->longest_ns = look->longest_ns;
	if (look->num_stays > place->num_stays)
		place->num_stays = look->num_stays;
}

/* Returns whether the rank has moved. */
static bool look_at(struct pace *pace, int number, const struct pace_look *look)
{
	struct pace_rank *rank = &pace->ranks[number];
	bool is_first = !pace->has_looked;
	bool moved = is_first || has_moved(&rank->last, look);

	if (moved) {
		bool was_seen = !is_first && rank->last.look != HANG_UNKNOWN;

		if (rank->place)
			stay_history_add(&rank->place->stays, pace->watched_ns - rank->entered_ns);
		begin_stay(pace, rank, look, was_seen);
		rank->place = look->look == HANG_UNKNOWN ? NULL : get_place(pace, look->place);
	} else if (look->stay_ns < rank->last.stay_ns) {
		/* It has polled: what it does now began then. That is no movement, or ranks that
		 * poll for what never comes would move for ever. */
		begin_stay(pace, rank, look, true);
	} else {
		bool is_new = is_new_stack(rank, look->stack);

		if (is_candidate(look) && (is_new || look->work != rank->last.work))
			rank->worked_ns = pace->watched_ns;
	}
	if (rank->place)
		learn_place(rank->place, look);
	rank->last = *look;
	return moved;
}

/* Since when nobody moves or works. */
static double still_since(const struct pace *pace)
{
	double since_ns = pace->moved_ns;

	for (int r = 0; r < pace->settings.num_ranks; r++)
		since_ns = fmax(since_ns, pace->ranks[r].worked_ns);
	return since_ns;
}

/* The standstill of the looks before has ended, even if it was as short as a look. */
static void learn_gap(struct pace *pace, double since_ns)
{
	double inside_ns = pace->watched_ns - fmax(pace->moved_ns, pace->inside_ns);

	if (inside_ns > 0)
		stay_history_add(&pace->inside, inside_ns);
	if (pace->are_known)
		stay_history_add(&pace->outside, pace->watched_ns - since_ns);
}

static bool is_known(const struct place *place)
{
	return place->num_stays >= thresholds.known_stays ||
	       place->stays.num >= thresholds.known_stays;
}

/* Are all candidates in known places, and few? What most ranks do is the course of the program. */
static bool are_known(const struct pace *pace)
{
	size_t num_candidates = 0;

	for (int r = 0; r < pace->settings.num_ranks; r++) {
		const struct pace_rank *rank = &pace->ranks[r];

		if (!rank->place || !is_candidate(&rank->last))
			continue;
		num_candidates++;
		if (!is_known(rank->place))
			return false;
	}
	return num_candidates * 2 <= pace->num_known;
}

/* Places in which a standstill may be healthy: each of them may cause false alarms. */
static void mark_places(struct pace *pace)
{
	if (pace->watched_ns - pace->moved_ns <= pace->noise_ns)
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
	double since_ns = pace->since_ns;
	bool moved = false, is_outside = false;

	step_ns = fmin(step_ns, (double)MAX_STEP_MS * MS);
	pace->watched_ns += step_ns;
	pace->outside.watched = pace->watched_ns;
	pace->num_known = 0;
	for (int r = 0; r < pace->settings.num_ranks; r++) {
		moved |= look_at(pace, r, &looks[r]);
		is_outside |= is_candidate(&looks[r]);
		pace->num_known += looks[r].look != HANG_UNKNOWN;
	}
	if (moved) {
		if (pace->has_looked)
			learn_gap(pace, since_ns);
		pace->moved_ns = pace->watched_ns;
	}
	if (is_outside)
		pace->inside_ns = pace->watched_ns;
	mark_places(pace);
	pace->are_known = are_known(pace);
	pace->since_ns = still_since(pace);
	pace->last_ns = now_ns;
	pace->has_looked = true;
}

/* The stays that were watched, and a longer one of before. As long as there are few, those that the
 * recorder has counted, of which only the longest is known. */
static struct stay_history place_history(const struct pace *pace, const struct place *place)
{
	struct stay_history history = place->stays;

	history.watched = pace->watched_ns - place->first_ns;
	if (history.num < thresholds.known_stays && place->num_stays >= thresholds.known_stays) {
		while (history.num < STAYS_KEPT)
			stay_history_add(&history, pace->noise_ns);
		history.num = place->num_stays;
		history.watched = pace->recorded_ns + pace->watched_ns;
	}
	history.longest[0] = fmax(history.longest[0], (double)place->longest_ns);
	return history;
}

/* What a standstill is judged by. */
struct judgement {
	double stay_ns, needed_ns, chance;
	uint64_t num; /* of earlier ones */
	double longest;
};

/* Where what was seen before leaves it open for longer than that. */
static void take_proof(const struct pace_settings *settings, struct judgement *judgement)
{
	if (judgement->needed_ns <= (double)settings->proof_ns)
		return;
	judgement->needed_ns = (double)settings->proof_ns;
	judgement->chance = INFINITY;
}

/* By how long it has been in its place, as each of several places may cause false alarms. */
static struct judgement judge_stay(const struct pace *pace, const struct stay_history *history,
				   double stay_ns)
{
	const struct pace_settings *settings = &pace->settings;
	double times = 2 * fmax((double)pace->num_candidate_places, 1);
	struct judgement judgement = {
		.num = history->num,
		.longest = history->longest[0],
		.stay_ns = stay_ns,
		.needed_ns = stay_history_needed(history, settings->alpha / times, pace->noise_ns),
		.chance = times * stay_history_chance(history, stay_ns, pace->noise_ns),
	};

	take_proof(settings, &judgement);
	return judgement;
}

/* By how long nobody has moved or worked. */
static struct judgement judge_gap(const struct pace *pace, const struct stay_history *history,
				  double stay_ns)
{
	double still_ns = pace->watched_ns - pace->since_ns, needed_ns;

	needed_ns = stay_history_needed(&pace->outside, pace->settings.alpha / 2, pace->noise_ns);
	return (struct judgement){
		.num = history->num,
		.longest = history->longest[0],
		.stay_ns = stay_ns,
		.needed_ns = fmax(needed_ns + stay_ns - still_ns,
				  thresholds.standstill_ratio * history->longest[0]),
		.chance = 2 * stay_history_chance(&pace->outside, still_ns, pace->noise_ns),
	};
}

static struct judgement judge_rank(const struct pace *pace, const struct pace_rank *rank)
{
	struct stay_history history = place_history(pace, rank->place);
	/* Without working, as far as that was watched. */
	double stay_ns = rank->worked_ns >= 0
				 ? pace->watched_ns - rank->worked_ns
				 : rank->before_ns + pace->watched_ns - rank->entered_ns;
	struct judgement by_stay = judge_stay(pace, &history, stay_ns);
	struct judgement by_gap = judge_gap(pace, &history, stay_ns);

	return pace->are_known && by_gap.needed_ns < by_stay.needed_ns ? by_gap : by_stay;
}

/* Is a rank in a call that has never ended before? */
static bool is_novel(const struct pace *pace)
{
	for (int r = 0; r < pace->settings.num_ranks; r++) {
		const struct pace_rank *rank = &pace->ranks[r];

		if (rank->place && !rank->place->num_stays && !rank->place->stays.num)
			return true;
	}
	return false;
}

/* As long as little was watched, earlier standstills are taken to be of noise. */
static struct judgement judge_inside(const struct pace *pace)
{
	const struct pace_settings *settings = &pace->settings;
	double stay_ns = pace->watched_ns - fmax(pace->moved_ns, pace->inside_ns);
	struct stay_history history = pace->inside;
	struct judgement judgement;

	while (history.num < STAYS_KEPT)
		stay_history_add(&history, pace->noise_ns);
	history.watched = pace->watched_ns;
	judgement = (struct judgement){
		.num = pace->inside.num,
		.longest = history.longest[0],
		.stay_ns = stay_ns,
		.needed_ns = stay_history_needed(&history, settings->alpha, pace->noise_ns),
		.chance = stay_history_chance(&history, stay_ns, pace->noise_ns),
	};
	if (is_novel(pace))
		judgement.needed_ns =
			fmax(judgement.needed_ns, (double)thresholds.standstill_new_ns);
	take_proof(settings, &judgement);
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

static uint64_t to_ns(double ns)
{
	return ns < 0x1p63 ? (uint64_t)ns : UINT64_MAX;
}

/* Of a standstill. */
static void report_still(const struct pace *pace, struct pace_report *report)
{
	struct judgement judgement = {0};
	int rank = most_plausible(pace, &judgement);
	const struct pace_rank *who = rank < 0 ? NULL : &pace->ranks[rank];

	if (!who)
		judgement = judge_inside(pace);
	report->rank = rank;
	report->stay_ns = to_ns(judgement.stay_ns);
	report->longest_ns = to_ns(judgement.longest);
	report->num_stays = judgement.num;
	/* Too few to be judged by, and yet not the first. */
	if (who && who->place->num_stays > report->num_stays)
		report->num_stays = who->place->num_stays;
	report->chance = judgement.chance;
	report->needed_ns = to_ns(judgement.needed_ns);
	if (report->still_ns < thresholds.standstill_ns)
		report->kind = PACE_WORKING;
	else
		report->kind = report->stay_ns >= report->needed_ns ? PACE_HANG : PACE_STILL;
}

void pace_report(const struct pace *pace, struct pace_report *report_ret)
{
	*report_ret = (struct pace_report){
		.kind = pace->num_known ? PACE_MOVING : PACE_UNKNOWN,
		.still_ns = to_ns(pace->watched_ns - pace->since_ns),
		.rank = -1,
		.chance = INFINITY,
	};
	if (pace->num_known &&
	    pace->watched_ns - pace->moved_ns >= (double)thresholds.standstill_ns)
		report_still(pace, report_ret);
}
