/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two sets of ranks that have no rank in common: if one rank loops for ever outside MPI, S_out of
 * its set does not get down to what is suspicious, but that of the other does. They are looked at
 * in turns, into one model; or at once, with a model each, which may cause as many of the false
 * alarms each.
 *
 * Beside the models, how long nobody was seen to move is compared with how long that ever was:
 * where somebody moves at each look that is a proof, whatever S_out is. It may cause half of the
 * false alarms. */
#include <math.h>

#include "analysis/hang/hang_model.h"
#include "analysis/hang/hang_test.h"
#include "analysis/hang/statistics.h"
#include "analysis/hang/stay_history.h"
#include "analysis/thresholds.h"
#include "model/error.h"
#include "model/sorted.h"
#include "model/xalloc.h"

enum { TURN = 30, NUM_SETS = 2, SET_SIZE = 10, MS = 1000000 };
/* I, the mean time between looks, at first and at most; see hang_model.h. */
enum { INTERVAL_MS = 400, MAX_INTERVAL_MS = 6400 };

static const double min_alpha = 1e-12, max_alpha = 0.5;

struct hang_test {
	struct hang_settings settings;
	uint64_t random;
	enum hang_state state;

	int *ranks;           /* of the sets, one after the other, each ascending */
	bool has_moved;       /* somebody has, since the last sample */
	bool is_known;        /* of some rank was known in it what it does */
	enum hang_look *last; /* parallel to ranks: what each did when it was last looked at */
	size_t num_sets, num_in[NUM_SETS], set; /* set: whose turn it is */
	uint32_t num_in_turn;
	struct hang_model models[NUM_SETS];
	size_t num_models, suspect; /* suspect: the model to be confirmed */

	uint64_t interval_ns, last_ns, next_ns;
	struct stay_history gaps; /* between two movements */
	uint64_t still_ns;        /* since the last one */
	double s_out;
};

/* The first ranks of a random permutation are those of the sets (Fisher and Yates). */
static void draw_sets(struct hang_test *test)
{
	size_t num = (size_t)test->settings.num_ranks, half = num / 2;

	test->num_sets = num > 1 ? NUM_SETS : 1;
	if (num == 1)
		test->num_in[0] = 1;
	else if (!test->settings.sees_all && SET_SIZE <= half)
		test->num_in[0] = test->num_in[1] = SET_SIZE;
	else
		test->num_in[0] = num - half, test->num_in[1] = half;
	test->ranks = xmalloc(num * sizeof(*test->ranks));
	test->last = xmalloc(num * sizeof(*test->last));
	for (size_t i = 0; i < num; i++) {
		test->last[i] = HANG_UNKNOWN;
		test->ranks[i] = (int)i;
	}
	for (size_t i = 0; i + 1 < num; i++) {
		size_t other = i + statistics_random(&test->random) % (num - i);
		int rank = test->ranks[i];

		test->ranks[i] = test->ranks[other];
		test->ranks[other] = rank;
	}
	sorted_make(test->ranks, test->num_in[0], sizeof(*test->ranks), sorted_compare_u32);
	sorted_make(test->ranks + test->num_in[0], test->num_in[1], sizeof(*test->ranks),
		    sorted_compare_u32);
}

static void plan_next(struct hang_test *test, uint64_t now_ns)
{
	double step = (0.5 + statistics_random_unit(&test->random)) * (double)test->interval_ns;

	test->last_ns = now_ns;
	test->next_ns = now_ns + (uint64_t)step;
}

int hang_settings_check(int num_ranks, double alpha, struct pdb_error *err)
{
	if (num_ranks < 1)
		return error_set(err, ERROR_USAGE, "there are no ranks to watch");
	if (!(alpha >= min_alpha && alpha <= max_alpha))
		return error_set(err, ERROR_USAGE, "alpha has to be from %g to %g", min_alpha,
				 max_alpha);
	return 0;
}

struct hang_test *hang_test_create(const struct hang_settings *settings, uint64_t now_ns,
				   struct pdb_error *err)
{
	struct hang_test *test;

	if (hang_settings_check(settings->num_ranks, settings->alpha, err) < 0)
		return NULL;
	test = xcalloc(1, sizeof(*test));
	test->settings = *settings;
	test->random = settings->seed;
	test->interval_ns = INTERVAL_MS * (uint64_t)MS;
	test->s_out = -1;
	test->last_ns = test->next_ns = now_ns;
	draw_sets(test);
	test->num_models = settings->sees_all ? test->num_sets : 1;
	for (size_t i = 0; i < test->num_models; i++) {
		struct hang_model *model = &test->models[i];

		hang_model_init(model);
		model->alpha = settings->alpha / (double)test->num_models / 2;
		model->shortest_ns = (double)thresholds.sampled_ns;
		model->novel_ns = (double)thresholds.sampled_new_ns;
		model->interval_ns = (double)INTERVAL_MS * MS;
		model->max_interval_ns = (double)MAX_INTERVAL_MS * MS;
	}
	return test;
}

void hang_test_destroy(struct hang_test *test)
{
	if (!test)
		return;
	for (size_t i = 0; i < test->num_models; i++)
		hang_model_deinit(&test->models[i]);
	free(test->ranks);
	free(test->last);
	free(test);
}

uint64_t hang_test_next(const struct hang_test *test)
{
	return test->next_ns;
}

const int *hang_test_ranks(const struct hang_test *test, size_t *num)
{
	if (test->settings.sees_all) {
		*num = test->num_in[0] + test->num_in[1];
		return test->ranks;
	}
	*num = test->num_in[test->set];
	return test->ranks + (test->set ? test->num_in[0] : 0);
}

/* S_out in hundredths, rounded up; -1 if no rank is known. */
static int value_of(const enum hang_look *looks, size_t num)
{
	size_t known = 0, outside = 0;

	for (size_t i = 0; i < num; i++) {
		known += looks[i] != HANG_UNKNOWN;
		outside += looks[i] == HANG_OUTSIDE;
	}
	return known ? (int)((outside * HANG_TOP + known - 1) / known) : -1;
}

static void double_others(struct hang_test *test, size_t which)
{
	for (size_t i = 0; i < test->num_models; i++)
		if (i != which)
			hang_model_double(&test->models[i]);
	test->interval_ns *= 2;
}

/* A loop over MPI_Test is one place, whether the rank is in the call or not at the moment. */
static bool is_same_look(enum hang_look before, enum hang_look now)
{
	if (before == HANG_UNKNOWN || now == HANG_UNKNOWN || before == now)
		return true;
	return before != HANG_INSIDE && now != HANG_INSIDE;
}

/* Has anyone moved since the last look at these ranks, the first of which is test->ranks[first]? */
static bool keep_looks(struct hang_test *test, size_t first, const enum hang_look *looks,
		       size_t num)
{
	bool moved = false;

	for (size_t i = 0; i < num; i++) {
		moved |= !is_same_look(test->last[first + i], looks[i]);
		if (looks[i] != HANG_UNKNOWN)
			test->last[first + i] = looks[i];
	}
	return moved;
}

static void end_gap(struct hang_test *test)
{
	if (test->still_ns)
		stay_history_add(&test->gaps, (double)test->still_ns);
	test->still_ns = 0;
}

static void add_gap(struct hang_test *test, bool has_moved, uint64_t step_ns)
{
	/* Of ranks of which nothing is known nobody is seen to move. */
	if (test->is_known)
		test->still_ns += step_ns;
	/* What has changed in a set since its last turn says nothing of now. */
	if (has_moved && (test->num_models == test->num_sets || test->num_in_turn))
		end_gap(test);
}

/* What is shorter than two steps is not seen. */
static double noise_of(const struct hang_test *test)
{
	return 2 * (double)test->interval_ns;
}

static bool is_long_gap(const struct hang_test *test)
{
	return test->still_ns >= thresholds.sampled_new_ns &&
	       (double)test->still_ns >=
		       stay_history_needed(&test->gaps, test->settings.alpha / 2, noise_of(test));
}

/* looks[num] of test->ranks[first] and on, for one of the models. Returns whether any has moved. */
static bool add_looks(struct hang_test *test, size_t which, size_t first,
		      const enum hang_look *looks, size_t num)
{
	struct hang_model *model = &test->models[which];
	bool moved = keep_looks(test, first, looks, num) || test->has_moved;
	int value = value_of(looks, num);

	if (value < 0)
		return moved;
	test->is_known = true;
	test->s_out = value / (double)HANG_TOP;
	if (hang_model_add(model, value, moved))
		double_others(test, which);
	if (test->state != HANG_CONFIRM && hang_model_is_hang(model)) {
		test->state = HANG_CONFIRM;
		test->suspect = which;
	}
	return moved;
}

/* The model that is nearest to an alarm. */
static size_t nearest_model(const struct hang_test *test)
{
	size_t nearest = 0;

	if (test->state == HANG_CONFIRM || test->state == HANG_FOUND)
		return test->suspect;
	for (size_t i = 1; i < test->num_models; i++)
		if (hang_model_chance(&test->models[i]) < hang_model_chance(&test->models[nearest]))
			nearest = i;
	return nearest;
}

static void set_state(struct hang_test *test)
{
	test->state = HANG_LEARNING;
	for (size_t i = 0; i < test->num_models; i++) {
		const struct hang_model *model = &test->models[i];

		if (model->num_low)
			test->state = HANG_SUSPICIOUS;
		else if (model->level >= 0 && test->state == HANG_LEARNING)
			test->state = HANG_WATCHING;
	}
}

/* After 30 samples, but not in a stretch of suspicions: it may be the set that shows the hang. */
static void take_turns(struct hang_test *test)
{
	if (test->num_models == test->num_sets || ++test->num_in_turn < TURN)
		return;
	if (test->models[0].num_low)
		return;
	test->set = (test->set + 1) % test->num_sets;
	test->num_in_turn = 0;
}

void hang_test_sample(struct hang_test *test, uint64_t now_ns, const enum hang_look *looks)
{
	uint64_t step_ns = now_ns > test->last_ns ? now_ns - test->last_ns : 0;
	size_t num, done = 0, first;
	bool has_moved = false;

	if (test->state == HANG_FOUND)
		return;
	first = (size_t)(hang_test_ranks(test, &num) - test->ranks);
	if (step_ns > test->interval_ns * 3 / 2)
		step_ns = test->interval_ns * 3 / 2;
	test->gaps.watched += (double)step_ns;
	test->is_known = false;
	for (size_t i = 0; i < test->num_models; i++) {
		size_t num_looks = test->num_models > 1 ? test->num_in[i] : num;

		has_moved |= add_looks(test, i, first + done, looks + done, num_looks);
		done += num_looks;
	}
	test->has_moved = false;
	add_gap(test, has_moved, step_ns);
	if (test->state != HANG_CONFIRM)
		set_state(test);
	if (test->state != HANG_CONFIRM && is_long_gap(test)) {
		test->suspect = nearest_model(test);
		test->state = HANG_CONFIRM;
	}
	take_turns(test);
	plan_next(test, now_ns);
}

void hang_test_note_movement(struct hang_test *test)
{
	test->has_moved = true;
}

void hang_test_confirm(struct hang_test *test, bool has_moved)
{
	if (test->state != HANG_CONFIRM)
		return;
	if (!has_moved) {
		test->state = HANG_FOUND;
		return;
	}
	end_gap(test);
	for (size_t i = 0; i < test->num_models; i++)
		hang_model_end_stretch(&test->models[i]);
	set_state(test);
}

enum hang_state hang_test_state(const struct hang_test *test)
{
	return test->state;
}

void hang_test_figures(const struct hang_test *test, struct hang_figures *figures_ret)
{
	const struct hang_model *model = &test->models[nearest_model(test)];
	double of_gap = stay_history_chance(&test->gaps, (double)test->still_ns, noise_of(test));

	*figures_ret = (struct hang_figures){
		.state = test->state,
		.s_out = test->s_out,
		.num_samples = (uint32_t)model->num,
		.wanted = hang_model_wanted(model),
		.num_low = model->num_still,
		.needed = hang_model_needed(model),
		.chance = 2 * fmin(hang_model_chance(model), of_gap),
	};
}
