/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "analysis/hang/rates.h"
#include "analysis/hang/statistics.h"
#include "analysis/thresholds.h"
#include "model/arena.h"
#include "model/job/pair_map.h"
#include "model/sorted.h"

enum { MS = 1000000, MAX_STEP_MS = 1000, HISTORY = 64, COMPARED = 24 };

/* A rank in one window: shares of time outside MPI. */
struct share {
	double own, median;
};

struct rates_rank {
	uint64_t moves; /* at the last look */
	uint64_t first; /* at the beginning of the window */
	double known_ns, outside_ns;
	struct share shares[COMPARED]; /* of window n at n % COMPARED */
	uint64_t num_shares;
};

struct window {
	double moves;            /* of the median rank */
	double looks, new_looks; /* at ranks, and at those in new places */
};

struct rates {
	struct arena *arena; /* all of it lives there */
	int num_ranks;
	double alpha;
	struct rates_rank *ranks;
	struct pair_map *places; /* the window in which each was first seen */
	double *sorted;          /* [num_ranks] to find medians in */
	struct slow_rank *slow_ranks;
	size_t num_slow_ranks;
	bool has_looked;
	uint64_t last_ns;
	double window_ns, done_ns; /* of the present window */
	struct window present, history[HISTORY];
	uint32_t num_windows; /* in the history */
	uint64_t num_ended;
	double slow_usual; /* the job is slow: its rate before it was; 0: it is not */
};

struct rates *rates_create(int num_ranks, double alpha, struct pdb_error *err)
{
	size_t num = (size_t)num_ranks;
	struct arena *arena;
	struct rates *rates;

	if (hang_settings_check(num_ranks, alpha, err) < 0)
		return NULL;
	arena = arena_create();
	rates = arena_alloc(arena, sizeof(*rates));
	rates->arena = arena;
	rates->num_ranks = num_ranks;
	rates->alpha = alpha;
	rates->ranks = arena_array(arena, num, sizeof(*rates->ranks));
	rates->places = pair_map_in(arena);
	rates->sorted = arena_array(arena, num, sizeof(*rates->sorted));
	rates->slow_ranks = arena_array(arena, num, sizeof(*rates->slow_ranks));
	rates->window_ns = 1000.0 * MS;
	return rates;
}

void rates_destroy(struct rates *rates)
{
	if (rates)
		arena_destroy(rates->arena);
}

static int compare_doubles(const void *a, const void *b)
{
	return SORTED_ORDER(*(const double *)a, *(const double *)b);
}

/* Sorts the values. Of an even number the upper one of the two in the middle. */
static double median(double *values, size_t num)
{
	sorted_make(values, num, sizeof(*values), compare_doubles);
	return num ? values[num / 2] : 0;
}

static double moves_of(const struct rates_rank *rank)
{
	return rank->moves > rank->first ? (double)(rank->moves - rank->first) : 0;
}

static double outside_of(const struct rates_rank *rank)
{
	return rank->outside_ns / rank->known_ns;
}

static bool is_known(const struct rates_rank *rank)
{
	return rank->known_ns > 0;
}

static double median_of(struct rates *rates, double (*value)(const struct rates_rank *))
{
	size_t num = 0;

	for (int r = 0; r < rates->num_ranks; r++)
		if (is_known(&rates->ranks[r]))
			rates->sorted[num++] = value(&rates->ranks[r]);
	return median(rates->sorted, num);
}

/* In how many of the last windows the rank was outside for longer than the median; the means. */
static uint32_t compare(const struct rates_rank *rank, uint32_t num, struct share *mean_ret)
{
	uint32_t num_longer = 0;

	*mean_ret = (struct share){0};
	for (uint32_t i = 0; i < num; i++) {
		num_longer += rank->shares[i].own > rank->shares[i].median;
		mean_ret->own += rank->shares[i].own / num;
		mean_ret->median += rank->shares[i].median / num;
	}
	return num_longer;
}

static void find_slow_ranks(struct rates *rates)
{
	rates->num_slow_ranks = 0;
	for (int r = 0; r < rates->num_ranks; r++) {
		const struct rates_rank *rank = &rates->ranks[r];
		uint32_t num = rank->num_shares < COMPARED ? (uint32_t)rank->num_shares : COMPARED;
		struct share mean;
		uint32_t num_longer = compare(rank, num, &mean);

		if (statistics_binomial_tail(num_longer, num, 0.5) >
			    rates->alpha / rates->num_ranks ||
		    mean.own - mean.median < thresholds.slow_time)
			continue;
		rates->slow_ranks[rates->num_slow_ranks++] = (struct slow_rank){
			.rank = r,
			.outside = mean.own,
			.usual = mean.median,
			.seconds = num * rates->window_ns / 1e9,
		};
	}
}

static bool are_most_empty(const struct rates *rates)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < rates->num_windows; i++)
		num += rates->history[i].moves <= 0;
	return rates->num_windows >= thresholds.few_windows && 2 * num > rates->num_windows;
}

/* Windows in which nothing is ever seen are too short. */
static void add_to_history(struct rates *rates)
{
	if (rates->num_windows == HISTORY) {
		memmove(rates->history, rates->history + 1,
			(HISTORY - 1) * sizeof(*rates->history));
		rates->num_windows--;
	}
	rates->history[rates->num_windows++] = rates->present;
	if (!are_most_empty(rates))
		return;
	rates->window_ns *= 2;
	rates->num_windows = 0;
	for (int r = 0; r < rates->num_ranks; r++)
		rates->ranks[r].num_shares = 0;
}

/* The most windows at the end that are slower than all before, and too many for chance; 0: none. */
static uint32_t count_slow_windows(const struct rates *rates)
{
	double most_after = 0, ways = 1;
	uint32_t slow = 0;

	for (uint32_t w = 1; w < rates->num_windows; w++) {
		uint32_t before = rates->num_windows - w;
		double least_before = INFINITY;

		most_after = fmax(most_after, rates->history[before].moves);
		/* num_windows choose w */
		ways = ways * (before + 1) / w;
		for (uint32_t i = 0; i < before; i++)
			least_before = fmin(least_before, rates->history[i].moves);
		if (most_after < least_before && 1 / ways <= rates->alpha)
			slow = w;
	}
	return slow;
}

static double median_rate(const struct rates *rates, uint32_t from, uint32_t num)
{
	double values[HISTORY];

	for (uint32_t i = 0; i < num; i++)
		values[i] = rates->history[from + i].moves;
	return median(values, num) / (rates->window_ns / 1e9);
}

/* Are the ranks where they were before, in the last windows? */
static bool is_known_phase(const struct rates *rates, uint32_t num)
{
	double looks = 0, new_looks = 0;

	for (uint32_t i = rates->num_windows - num; i < rates->num_windows; i++) {
		looks += rates->history[i].looks;
		new_looks += rates->history[i].new_looks;
	}
	return new_looks <= thresholds.new_share * looks;
}

static bool is_slower(double rate, double usual)
{
	return rate <= (1 - thresholds.slow_rate) * usual;
}

/* Of all ranks that were seen in the last window. */
static bool are_compared(const struct rates *rates)
{
	for (int r = 0; r < rates->num_ranks; r++)
		if (rates->ranks[r].num_shares && rates->ranks[r].num_shares < COMPARED)
			return false;
	return rates->num_windows > 0;
}

/* What the history tells. */
struct slowness {
	uint32_t windows;   /* at the end, slower than those before, in the same places */
	double rate, usual; /* in these, or in the last ones, and in those before */
	bool is_elsewhere;
};

static struct slowness find_slowness(const struct rates *rates)
{
	uint32_t slow = count_slow_windows(rates), last = slow, before;
	struct slowness found;

	if (!slow)
		last = rates->slow_usual ? thresholds.few_windows : 1;
	if (last > rates->num_windows)
		last = rates->num_windows;
	before = rates->num_windows - last;
	found = (struct slowness){
		.windows = slow,
		.rate = median_rate(rates, before, last),
		.usual = median_rate(rates, 0, before),
		.is_elsewhere = !is_known_phase(rates, last),
	};
	if (found.is_elsewhere || !is_slower(found.rate, found.usual))
		found.windows = 0;
	return found;
}

/* A job that gets slower and slower is slow even when how fast it was is forgotten. */
static void keep_slow(struct rates *rates)
{
	struct slowness found = find_slowness(rates);

	if (!rates->slow_usual && found.windows)
		rates->slow_usual = found.usual;
	else if (rates->num_windows && !found.windows &&
		 (found.is_elsewhere || !is_slower(found.rate, rates->slow_usual)))
		rates->slow_usual = 0;
}

static void end_window(struct rates *rates)
{
	double outside = median_of(rates, outside_of);

	rates->present.moves = median_of(rates, moves_of);
	for (int r = 0; r < rates->num_ranks; r++) {
		struct rates_rank *rank = &rates->ranks[r];

		if (is_known(rank))
			rank->shares[rank->num_shares++ % COMPARED] =
				(struct share){outside_of(rank), outside};
		rank->first = rank->moves;
		rank->known_ns = rank->outside_ns = 0;
	}
	find_slow_ranks(rates);
	add_to_history(rates);
	rates->num_ended++;
	keep_slow(rates);
	rates->present = (struct window){0};
	rates->done_ns = 0;
}

static bool is_new_place(struct rates *rates, uint64_t key)
{
	uint32_t now = (uint32_t)rates->num_ended, first = pair_map_get(rates->places, key);

	if (first == PAIR_NONE) {
		first = now;
		pair_map_add(rates->places, key, now);
	}
	return now - first < thresholds.new_windows;
}

static void look_at(struct rates *rates, struct rates_rank *rank, const struct pace_look *look,
		    double step_ns)
{
	if (look->look == HANG_UNKNOWN)
		return;
	if (!rank->moves)
		rank->first = look->moves;
	rank->moves = look->moves;
	rank->known_ns += step_ns;
	rank->outside_ns += look->look == HANG_OUTSIDE ? step_ns : 0;
	rates->present.looks++;
	rates->present.new_looks += is_new_place(rates, look->place);
}

void rates_add(struct rates *rates, uint64_t now_ns, const struct pace_look *looks)
{
	double step_ns = rates->has_looked && now_ns > rates->last_ns
				 ? (double)(now_ns - rates->last_ns)
				 : 0;

	step_ns = fmin(step_ns, (double)MAX_STEP_MS * MS);
	for (int r = 0; r < rates->num_ranks; r++)
		look_at(rates, &rates->ranks[r], &looks[r], step_ns);
	rates->has_looked = true;
	rates->last_ns = now_ns;
	rates->done_ns += step_ns;
	if (rates->done_ns >= rates->window_ns)
		end_window(rates);
}

void rates_report(const struct rates *rates, struct rates_report *report_ret)
{
	struct slowness found = find_slowness(rates);

	*report_ret = (struct rates_report){
		.rate = found.rate,
		.usual = rates->slow_usual ? rates->slow_usual : found.usual,
		.is_slow_phase = rates->slow_usual > 0,
		.slow_seconds = found.windows * rates->window_ns / 1e9,
		.is_elsewhere = found.is_elsewhere,
		.slow_ranks = rates->slow_ranks,
		.num_slow_ranks = rates->num_slow_ranks,
		.are_compared = are_compared(rates),
		.num_windows = rates->num_ended,
	};
}
