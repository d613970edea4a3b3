/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/rates.h"
#include "model/error.h"
#include "model/xalloc.h"

enum { MS = 1000000, MAX_STEP_MS = 1000, HISTORY = 64, FEW_WINDOWS = 8 };

/* Windows in a row in which a rank was on the slow side, and what that adds up to. */
struct streak {
	uint32_t num;
	double own, median;
};

struct rates_rank {
	uint64_t iterations; /* at the last look */
	uint64_t first;      /* at the beginning of the window */
	double known_ns, outside_ns;
	struct streak behind, busy;
};

struct rates {
	struct rates_settings settings;
	struct rates_rank *ranks;
	double *sorted; /* [num_ranks] to find medians in */
	struct slow_rank *slow_ranks;
	size_t num_slow_ranks;
	bool has_looked;
	uint64_t last_ns;
	double window_ns, done_ns; /* of the present window */
	double history[HISTORY];   /* iterations of the median rank in each window */
	uint32_t num_windows;
};

void rates_settings_init(struct rates_settings *settings, int num_ranks)
{
	*settings = (struct rates_settings){
		.num_ranks = num_ranks,
		.alpha = 0.001,
		.window_ns = 1000 * (uint64_t)MS,
		.least = 0.2,
	};
}

struct rates *rates_create(const struct rates_settings *settings, struct pdb_error *err)
{
	size_t num = (size_t)settings->num_ranks;
	struct rates *rates;

	if (settings->num_ranks < 1) {
		error_set(err, ERROR_USAGE, "there are no ranks to watch");
		return NULL;
	}
	if (!(settings->alpha > 0 && settings->alpha < 1)) {
		error_set(err, ERROR_USAGE, "alpha has to be between 0 and 1");
		return NULL;
	}
	if (!settings->window_ns) {
		error_set(err, ERROR_USAGE, "a window has to last some time");
		return NULL;
	}
	rates = xcalloc(1, sizeof(*rates));
	rates->settings = *settings;
	rates->ranks = xcalloc(num, sizeof(*rates->ranks));
	rates->sorted = xcalloc(num, sizeof(*rates->sorted));
	rates->slow_ranks = xcalloc(num, sizeof(*rates->slow_ranks));
	rates->window_ns = (double)settings->window_ns;
	return rates;
}

void rates_destroy(struct rates *rates)
{
	if (!rates)
		return;
	free(rates->ranks);
	free(rates->sorted);
	free(rates->slow_ranks);
	free(rates);
}

/* ---- Windows ------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Sorts the values. Of an even number the upper one of the two in the middle. */
static double median(double *values, size_t num)
{
	if (!num)
		return 0;
	qsort(values, num, sizeof(*values), compare_doubles);
	return values[num / 2];
}

static double iterations_of(const struct rates_rank *rank)
{
	return rank->iterations > rank->first ? (double)(rank->iterations - rank->first) : 0;
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

	for (int r = 0; r < rates->settings.num_ranks; r++)
		if (is_known(&rates->ranks[r]))
			rates->sorted[num++] = value(&rates->ranks[r]);
	return median(rates->sorted, num);
}

static void count_streak(struct streak *streak, bool is_on, double own, double other)
{
	if (!is_on) {
		*streak = (struct streak){0};
		return;
	}
	streak->num++;
	streak->own += own;
	streak->median += other;
}

/* So many windows in a row are chance in one of all ranks with probability alpha at most. */
static uint32_t windows_needed(const struct rates *rates)
{
	return (uint32_t)ceil(log2(rates->settings.num_ranks / rates->settings.alpha));
}

static void add_slow(struct rates *rates, int number, bool is_behind, double ratio, uint32_t num)
{
	rates->slow_ranks[rates->num_slow_ranks++] = (struct slow_rank){
		.rank = number,
		.is_behind = is_behind,
		.ratio = ratio,
		.num_windows = num,
	};
}

static void find_slow_ranks(struct rates *rates)
{
	uint32_t needed = windows_needed(rates);
	double least = rates->settings.least;

	rates->num_slow_ranks = 0;
	for (int r = 0; r < rates->settings.num_ranks; r++) {
		const struct streak *behind = &rates->ranks[r].behind,
				    *busy = &rates->ranks[r].busy;

		if (behind->num >= needed && behind->own <= (1 - least) * behind->median)
			add_slow(rates, r, true, behind->own / behind->median, behind->num);
		else if (busy->num >= needed && busy->own - busy->median >= least * busy->num)
			add_slow(rates, r, false, (busy->own - busy->median) / busy->num,
				 busy->num);
	}
}

static bool are_most_empty(const struct rates *rates)
{
	uint32_t num = 0;

	for (uint32_t i = 0; i < rates->num_windows; i++)
		num += rates->history[i] <= 0;
	return rates->num_windows >= FEW_WINDOWS && 2 * num > rates->num_windows;
}

/* Windows in which nothing is ever seen are too short. */
static void add_to_history(struct rates *rates, double iterations)
{
	if (rates->num_windows == HISTORY) {
		memmove(rates->history, rates->history + 1,
			(HISTORY - 1) * sizeof(*rates->history));
		rates->num_windows--;
	}
	rates->history[rates->num_windows++] = iterations;
	if (are_most_empty(rates)) {
		rates->window_ns *= 2;
		rates->num_windows = 0;
	}
}

static void end_window(struct rates *rates)
{
	double iterations = median_of(rates, iterations_of), outside = median_of(rates, outside_of);

	for (int r = 0; r < rates->settings.num_ranks; r++) {
		struct rates_rank *rank = &rates->ranks[r];

		if (is_known(rank)) {
			double own = iterations_of(rank), share = outside_of(rank);

			count_streak(&rank->behind, own < iterations, own, iterations);
			count_streak(&rank->busy, share > outside, share, outside);
		}
		rank->first = rank->iterations;
		rank->known_ns = rank->outside_ns = 0;
	}
	find_slow_ranks(rates);
	add_to_history(rates, iterations);
	rates->done_ns = 0;
}

void rates_add(struct rates *rates, uint64_t now_ns, const struct rates_look *looks)
{
	double step_ns = rates->has_looked && now_ns > rates->last_ns
				 ? (double)(now_ns - rates->last_ns)
				 : 0;

	step_ns = fmin(step_ns, (double)MAX_STEP_MS * MS);
	for (int r = 0; r < rates->settings.num_ranks; r++) {
		struct rates_rank *rank = &rates->ranks[r];

		if (looks[r].look == HANG_UNKNOWN)
			continue;
		if (!rates->has_looked || !rank->iterations)
			rank->first = looks[r].iterations;
		rank->iterations = looks[r].iterations;
		rank->known_ns += step_ns;
		rank->outside_ns += looks[r].look == HANG_OUTSIDE ? step_ns : 0;
	}
	rates->has_looked = true;
	rates->last_ns = now_ns;
	rates->done_ns += step_ns;
	if (rates->done_ns >= rates->window_ns)
		end_window(rates);
}

/* ---- Answers ------------------------------------------------------------------------------- */

/* The most windows at the end that all had less than each before, and are too many for chance; 0:
 * none. */
static uint32_t count_slow_windows(const struct rates *rates)
{
	double most_after = 0, ways = 1;
	uint32_t slow = 0;

	for (uint32_t w = 1; w < rates->num_windows; w++) {
		uint32_t before = rates->num_windows - w;
		double least_before = INFINITY;

		most_after = fmax(most_after, rates->history[before]);
		/* num_windows choose w */
		ways = ways * (before + 1) / w;
		for (uint32_t i = 0; i < before; i++)
			least_before = fmin(least_before, rates->history[i]);
		if (most_after < least_before && 1 / ways <= rates->settings.alpha)
			slow = w;
	}
	return slow;
}

static double median_rate(const struct rates *rates, uint32_t from, uint32_t num)
{
	double values[HISTORY];

	memcpy(values, rates->history + from, num * sizeof(*values));
	return median(values, num) / (rates->window_ns / 1e9);
}

void rates_report(const struct rates *rates, struct rates_report *report_ret)
{
	uint32_t slow = count_slow_windows(rates), last = slow ? slow : rates->num_windows > 0;
	uint32_t before = rates->num_windows - last;

	*report_ret = (struct rates_report){
		.window_ns = (uint64_t)rates->window_ns,
		.num_windows = rates->num_windows,
		.rate = median_rate(rates, before, last),
		.usual = median_rate(rates, 0, before),
		.slow_ranks = rates->slow_ranks,
		.num_slow_ranks = rates->num_slow_ranks,
	};
	if (slow && report_ret->rate <= (1 - rates->settings.least) * report_ret->usual) {
		report_ret->is_slow_phase = true;
		report_ret->num_slow_windows = slow;
	}
}
