/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A sample is suspicious if S_out is at most a threshold, and a stretch is a maximal sequence of
 * suspicious samples. The plain rule, which is the published one, takes samples to be independent:
 * a stretch of k has probability q^k. Beside it the stretches that there were tell by their lengths
 * how probable it is that one goes on: samples that depend on each other make long stretches, and
 * phases of the program make very long ones. Both have to allow an alarm.
 *
 * The present stretch is not part of the model until it ends: it would make itself look usual. */
#include <math.h>

#include "analysis/hang/hang_model.h"
#include "analysis/hang/statistics.h"
#include "model/xalloc.h"

enum {
	FEW_TAILS = 5,           /* so many stretches at least tell how long they last */
	MAX_CONSTANT = 16,       /* samples of a start-up in which S_out is low and never changes */
	MAX_CHECKED = 256,       /* samples without a decision of the runs test */
	FEWEST_UNSEEN = 42,      /* samples that must be above a threshold never reached */
	GROWTH = 16,             /* the threshold is chosen anew for each 1/16 more samples */
	LONGER_THAN_LONGEST = 2, /* times */
};

static const double hour_ns = 3600e9, certain = 0.975, runs_level = 0.05, z = 1.96,
		    largest_q = 0.98, rounding = 1e-9;

/* A tolerance; the share of suspicious samples that it can be justified for with the fewest
 * samples, where 5 / p is 1.96^2 p (1 - p) / tolerance^2; and how many these are. */
static const struct {
	double tolerance, p, num_samples;
} levels[HANG_LEVELS] = {
	{0.3, 0.47022254788640849, 11},
	{0.2, 0.26639628602251275, 19},
	{0.1, 0.12173520563831283, 42},
	{0.05, 0.058797295730073321, 86},
};

/* Fewest samples for p to +-tolerance at 95 % (normal approximation); infinity for 0 and 1. */
static double fewest_samples(double p, double tolerance)
{
	double num;

	if (p <= 0 || p >= 1)
		return INFINITY;
	num = fmax(5 / p, 5 / (1 - p));
	num = fmax(num, z * z * p * (1 - p) / (tolerance * tolerance));
	return ceil(num - rounding);
}

/* The smallest k with q^k <= alpha: so many suspicions in a row are rarer. UINT32_MAX: none. */
static uint32_t suspicions_needed(double q, double alpha)
{
	double needed;

	if (q >= 1)
		return UINT32_MAX;
	if (q <= 0 || alpha >= 1)
		return 1;
	needed = ceil(log(alpha) / log(q));
	return needed < 1 ? 1 : needed < UINT32_MAX ? (uint32_t)needed : UINT32_MAX;
}

void hang_model_init(struct hang_model *model)
{
	memset(model, 0, sizeof(*model));
	model->level = -1;
	for (int i = 0; i < HANG_TAILS; i++)
		model->tails[i].longer_than = i ? 1u << (i - 1) : 0;
}

void hang_model_deinit(struct hang_model *model)
{
	free(model->values);
	memset(model, 0, sizeof(*model));
}

static void learn_stretch(struct hang_model *model, uint32_t length)
{
	for (int i = 0; i < HANG_TAILS && model->tails[i].longer_than < length; i++) {
		model->tails[i].num++;
		model->tails[i].more += length - model->tails[i].longer_than - 1;
	}
	if (length > model->longest)
		model->longest = length;
}

/* Count anew what depends on the threshold. No stretch is under way. */
static void count_stretches(struct hang_model *model)
{
	uint32_t length = 0;

	model->num_suspicious = 0;
	model->longest = 0;
	for (int i = 0; i < HANG_TAILS; i++)
		model->tails[i].num = model->tails[i].more = 0;
	if (model->level < 0)
		return;
	for (size_t i = 0; i < model->num; i++) {
		if (model->values[i] <= model->threshold) {
			length++;
			model->num_suspicious++;
		} else if (length) {
			learn_stretch(model, length);
			length = 0;
		}
	}
	if (length)
		learn_stretch(model, length);
}

/* The value on either side of the share p: the largest below, and the next. */
struct candidate {
	int value;
	double p, num_samples;
};

static struct candidate find_candidate(const struct hang_model *model, int level)
{
	struct candidate below = {.num_samples = INFINITY}, other = below;
	double p = 0;
	size_t sum = 0;

	for (int value = 0; value <= HANG_TOP; value++) {
		if (!model->counts[value])
			continue;
		sum += model->counts[value];
		p = (double)sum / (double)model->num;
		other = (struct candidate){value, p, fewest_samples(p, levels[level].tolerance)};
		if (p >= levels[level].p)
			break;
		below = other;
	}
	return below.num_samples < other.num_samples ? below : other;
}

static int smallest_value(const struct hang_model *model)
{
	int value = 0;

	while (value < HANG_TOP && !model->counts[value])
		value++;
	return value;
}

/* Suspicious: by the best tolerance that samples suffice for, else what many never showed. */
static void choose(struct hang_model *model)
{
	int old_level = model->level, old_threshold = model->threshold;

	model->level = -1;
	for (int i = HANG_LEVELS - 1; i >= 0 && model->level < 0; i--) {
		struct candidate found = find_candidate(model, i);

		if ((double)model->num >= found.num_samples &&
		    found.p + levels[i].tolerance < largest_q) {
			model->level = i;
			model->threshold = found.value;
		}
	}
	if (model->level < 0 && model->num >= FEWEST_UNSEEN && smallest_value(model) > 0) {
		model->level = HANG_LEVELS;
		model->threshold = smallest_value(model) - 1;
	}
	if (model->level < 0)
		model->threshold = -1;
	if ((model->level < 0) != (old_level < 0) || model->threshold != old_threshold)
		count_stretches(model);
	model->next_choice = model->num + 1 + model->num / GROWTH;
}

static void change_history(struct hang_model *model)
{
	memset(model->counts, 0, sizeof(model->counts));
	for (size_t i = 0; i < model->num; i++)
		model->counts[model->values[i]]++;
	choose(model);
	count_stretches(model);
}

/* Is it time for a runs test, and does it say that samples are not random? */
static bool has_rhythm(struct hang_model *model)
{
	struct runs_test test;

	if (model->is_settled || model->num_unchecked < HANG_CHECK_EVERY)
		return false;
	model->num_unchecked = 0;
	test = statistics_runs_test(model->values, model->num, runs_level);
	model->is_settled = test.is_random || (!test.is_decided && model->num >= MAX_CHECKED);
	return !test.is_random && test.is_decided;
}

void hang_model_end_stretch(struct hang_model *model)
{
	if (!model->num_low)
		return;
	for (size_t i = model->num - model->num_low; i < model->num; i++)
		model->counts[model->values[i]]++;
	model->num_suspicious += model->num_low;
	learn_stretch(model, model->num_low);
	model->num_low = 0;
	model->num_still = 0;
	model->needed = 0;
}

/* A start in which nothing happens yet teaches nothing: its length says nothing of what comes. */
static bool is_start(const struct hang_model *model, int value)
{
	return model->num >= MAX_CONSTANT && value <= HANG_TOP / 2 &&
	       model->counts[value] == model->num;
}

static void go_on(struct hang_model *model, int value, bool has_moved)
{
	model->num_low++;
	if (has_moved || !model->num_still || value > model->still_top) {
		model->still_top = value;
		model->needed = 0;
	}
	if (has_moved && model->num_still > model->longest_still)
		model->longest_still = model->num_still;
	model->num_still = has_moved ? 1 : model->num_still + 1;
}

bool hang_model_add(struct hang_model *model, int value, bool has_moved)
{
	bool is_low;

	if (is_start(model, value))
		return false;
	if (model->num >= HANG_HISTORY && !model->num_low) {
		model->num /= 2;
		memmove(model->values, model->values + model->num, model->num);
		change_history(model);
	}
	is_low = model->level >= 0 && value <= model->threshold;
	if (!is_low)
		hang_model_end_stretch(model);
	*XPUSH(model->values, model->num, model->capacity) = (uint8_t)value;
	model->num_unchecked++;
	if (is_low) {
		go_on(model, value, has_moved);
		return false;
	}
	model->counts[value]++;
	if (has_rhythm(model) && 2 * model->interval_ns <= model->max_interval_ns) {
		hang_model_double(model);
		return true;
	}
	if (model->num >= model->next_choice)
		choose(model);
	return false;
}

void hang_model_double(struct hang_model *model)
{
	hang_model_end_stretch(model);
	for (size_t i = 0; 2 * i + 1 < model->num; i++)
		model->values[i] = model->values[2 * i + 1];
	model->num /= 2;
	change_history(model);
	model->longest_still = (model->longest_still + 1) / 2;
	model->interval_ns *= 2;
}

static size_t num_learnt(const struct hang_model *model)
{
	return model->num - model->num_low;
}

static double q_of(const struct hang_model *model)
{
	double num = (double)num_learnt(model);
	double p = num > 0 ? (double)model->num_suspicious / num : 0;

	if (model->level < 0)
		return 1;
	if (model->level == HANG_LEVELS)
		return statistics_binomial_upper(model->num_suspicious, num_learnt(model), certain);
	return fmin(1, p + levels[model->level].tolerance);
}

/* Chances per hour of a beginning, in the plain rule: each sample may be one. */
static double plain_rate(const struct hang_model *model)
{
	return hour_ns / model->interval_ns;
}

/* A stretch beyond a tail's bound goes on with probability q, `rate` of them an hour; at most. */
struct tail_bound {
	double q, rate;
};

static struct tail_bound bound_tail(const struct hang_model *model, const struct hang_tail *tail)
{
	double hours = (double)num_learnt(model) * model->interval_ns / hour_ns;

	return (struct tail_bound){
		.q = statistics_binomial_upper(tail->more, tail->more + tail->num, certain),
		.rate = statistics_poisson_upper(tail->num, certain) / hours,
	};
}

static uint32_t plain_needed(const struct hang_model *model)
{
	return suspicions_needed(q_of(model), model->alpha / plain_rate(model));
}

/* Have there been several stretches that were as low? */
static bool is_depth_known(const struct hang_model *model, int top)
{
	uint32_t num = 0;
	bool was_low = false;

	for (size_t i = 0; i < num_learnt(model) && num < FEW_TAILS; i++) {
		bool is_low = model->values[i] <= top;

		num += is_low && !was_low;
		was_low = is_low;
	}
	return num >= FEW_TAILS;
}

static uint32_t at_least(uint32_t needed, double other)
{
	return other <= needed ? needed : other < UINT32_MAX ? (uint32_t)other : UINT32_MAX;
}

uint32_t hang_model_needed(const struct hang_model *model)
{
	uint32_t needed = plain_needed(model);

	if (needed == UINT32_MAX)
		return needed;
	if (model->needed)
		return model->needed;
	needed = at_least(needed, (double)LONGER_THAN_LONGEST * model->longest);
	needed = at_least(needed, (double)LONGER_THAN_LONGEST * model->longest_still);
	needed = at_least(needed, ceil(model->shortest_ns / model->interval_ns));
	if (!is_depth_known(model, model->num_still ? model->still_top : model->threshold))
		needed = at_least(needed, ceil(model->novel_ns / model->interval_ns));
	for (int i = 0; i < HANG_TAILS && model->tails[i].num >= FEW_TAILS; i++) {
		struct tail_bound bound = bound_tail(model, &model->tails[i]);
		double more = suspicions_needed(bound.q, model->alpha / bound.rate);

		needed = at_least(needed, model->tails[i].longer_than + 1 + more);
	}
	return needed;
}

bool hang_model_is_hang(struct hang_model *model)
{
	uint32_t evidence = model->num_still;

	if (!evidence || (model->needed && evidence < model->needed) ||
	    evidence < plain_needed(model))
		return false;
	if (!model->needed)
		model->needed = hang_model_needed(model);
	return evidence >= model->needed;
}

double hang_model_chance(const struct hang_model *model)
{
	uint32_t evidence = model->num_still;
	double chance = plain_rate(model) * pow(q_of(model), evidence);

	if (model->level < 0)
		return chance;
	for (int i = 0; i < HANG_TAILS && model->tails[i].num >= FEW_TAILS; i++) {
		const struct hang_tail *tail = &model->tails[i];
		struct tail_bound bound = bound_tail(model, tail);
		uint32_t start = tail->longer_than + 1;
		double more = evidence > start ? evidence - start : 0;

		chance = fmax(chance, bound.rate * pow(bound.q, more));
	}
	return chance;
}

uint32_t hang_model_wanted(const struct hang_model *model)
{
	double wanted = INFINITY;

	if (model->level >= 0)
		return (uint32_t)model->num;
	for (int i = 0; i < HANG_LEVELS; i++) {
		struct candidate found = find_candidate(model, i);

		wanted = fmin(wanted, fmax(found.num_samples, levels[i].num_samples));
	}
	if (wanted > FEWEST_UNSEEN)
		wanted = FEWEST_UNSEEN;
	return (uint32_t)fmax(wanted, (double)model->num + 1);
}
