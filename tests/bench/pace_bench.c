/* SPDX-License-Identifier: BSD-3-Clause
 * How often a job with the recorder is wrongly said to hang, and how long it takes to see that it
 *does.
 *
 *	pace_bench [HOURS [SEED]]
 *
 * Healthy jobs of an hour each, HOURS (240) in sum, with parameters drawn at random within their
 * kind: 8 ranks go round a loop of several places in which they compute, each of them followed by a
 * collective that waits for all. They are looked at 20 times a second. Jobs are short because what
 * is hard to judge is the beginning. Then hangs of one rank that computes for ever, and of a
 * message that never comes.
 *
 * Exit status 1: a kind of job that is what the statistic supposes has significantly more false
 * alarms than alpha. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/hang/pace.h"
#include "analysis/hang/statistics.h"

enum { RANKS = 8, MAX_PLACES = 6, RUNS = 60, SHAPES = 4 };

#define STEP_S 0.05

static const double pi = 3.14159265358979, second_ns = 1e9, hour = 3600, alpha = 0.001;

enum shape { UNIFORM, EXPONENTIAL, LOGNORMAL, PARETO };

/* What a rank has done in a place: as the recorder keeps it. */
struct stays {
	uint64_t num;
	double longest;
};

struct kind;

struct job {
	const struct kind *kind;
	struct pace *pace;
	uint64_t random;
	double now, looked; /* s */
	bool is_alarm;

	/* Drawn for the job. */
	enum shape shape;
	size_t num_places;
	double mean[MAX_PLACES];
	double extra;         /* so much more does one rank have to do */
	double common;        /* part of a stay that is the same for all ranks of a round */
	double every, serial; /* s: one rank works alone so often, for so long */
	double growth;        /* of all stays, in an hour */
	double phase;         /* s after which other places come */

	/* The present round. */
	size_t place, generation; /* generation: of places, which change with the phases */
	double began;             /* of the round */
	double next_serial;
	double stay[RANKS];
	bool is_serial;
	struct stays stays[RANKS][3 * MAX_PLACES];
	uint64_t moves[RANKS];
	int hung; /* this rank does not end its stay; RANKS: a message is lost; -1: all is well */
};

/* Which parameters a kind draws. */
struct kind {
	const char *name;
	enum shape shape;
	double shortest, longest; /* mean stays, s */
	double common, extra, growth;
	bool has_phases;
	enum { NO_SERIAL, SAME_PLACE, OWN_PLACE, WORKING } serial;
	bool is_unfair; /* nothing tells it from a hang when it happens first: no bar */
};

static const struct kind kinds[] = {
	{.name = "rounds of 20 to 100 ms", .shape = LOGNORMAL, .shortest = 0.02, .longest = 0.1},
	{.name = "uniform", .shape = UNIFORM, .shortest = 0.02, .longest = 3},
	{.name = "exponential", .shape = EXPONENTIAL, .shortest = 0.02, .longest = 3},
	{.name = "log-normal", .shape = LOGNORMAL, .shortest = 0.02, .longest = 3},
	{.name = "Pareto, index 2.5", .shape = PARETO, .shortest = 0.02, .longest = 3},
	{.name = "log-normal, all alike",
	 .shape = LOGNORMAL,
	 .shortest = 0.02,
	 .longest = 3,
	 .common = 0.9},
	{.name = "one rank with more work",
	 .shape = LOGNORMAL,
	 .shortest = 0.02,
	 .longest = 1,
	 .extra = 4},
	{.name = "stays grow up to 20 times",
	 .shape = UNIFORM,
	 .shortest = 0.02,
	 .longest = 0.5,
	 .growth = 20},
	{.name = "phases of 0.5 to 15 min",
	 .shape = LOGNORMAL,
	 .shortest = 0.02,
	 .longest = 3,
	 .has_phases = true},
	{.name = "serial part, own place",
	 .shape = LOGNORMAL,
	 .shortest = 0.02,
	 .longest = 0.5,
	 .serial = OWN_PLACE},
	{.name = "serial part with output",
	 .shape = LOGNORMAL,
	 .shortest = 0.02,
	 .longest = 0.5,
	 .serial = WORKING},
	{.name = "serial part, same place",
	 .shape = LOGNORMAL,
	 .shortest = 0.02,
	 .longest = 0.5,
	 .serial = SAME_PLACE,
	 .is_unfair = true},
};

enum { NUM_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* ---- Jobs ---- */

static double unit(struct job *job)
{
	return statistics_random_unit(&job->random);
}

static double between(struct job *job, double low, double high)
{
	return low * pow(high / low, unit(job));
}

static double normal(struct job *job)
{
	return sqrt(-2 * log(1 - unit(job))) * cos(2 * pi * unit(job));
}

/* Mean 1. */
static double draw(struct job *job)
{
	double u = 1 - unit(job);

	switch (job->shape) {
	case UNIFORM:
		return 0.5 + u;
	case EXPONENTIAL:
		return -log(u);
	case LOGNORMAL:
		return exp(0.7 * normal(job) - 0.245);
	default:
		return 0.6 * pow(u, -0.4);
	}
}

static void draw_means(struct job *job)
{
	for (size_t i = 0; i < job->num_places; i++)
		job->mean[i] = between(job, job->kind->shortest, job->kind->longest);
}

/* Number of the place, for `stays`: that of the serial part is one of its own. */
static size_t place_of(const struct job *job, int rank)
{
	if (rank == 0 && job->is_serial && job->kind->serial != SAME_PLACE)
		return 3 * MAX_PLACES - 1;
	return job->generation % 2 * MAX_PLACES + job->place;
}

static void begin_round(struct job *job)
{
	double factor = 1 + job->growth * job->began / hour, same = draw(job);

	job->is_serial = job->every > 0 && job->began >= job->next_serial && job->place == 0;
	if (job->is_serial)
		job->next_serial = job->began + job->every;
	for (int r = 0; r < RANKS; r++) {
		double own = job->common * same + (1 - job->common) * draw(job);

		job->stay[r] = job->mean[job->place] * factor * own;
		if (r == 0)
			job->stay[r] *= 1 + job->extra;
		if (r == 0 && job->is_serial)
			job->stay[r] += job->serial * (0.5 + unit(job));
		if (r == job->hung)
			job->stay[r] = INFINITY;
	}
}

static double end_of_round(const struct job *job)
{
	double longest = 0;

	for (int r = 0; r < RANKS; r++)
		longest = fmax(longest, job->stay[r]);
	return job->hung == RANKS ? INFINITY : job->began + longest;
}

static void end_round(struct job *job, double end)
{
	for (int r = 0; r < RANKS; r++) {
		struct stays *stays = &job->stays[r][place_of(job, r)];

		stays->num++;
		stays->longest = fmax(stays->longest, job->stay[r]);
		job->moves[r] += 2;
	}
	job->began = end;
	job->place = (job->place + 1) % job->num_places;
	if (job->phase > 0 && (size_t)(end / job->phase) != job->generation) {
		job->generation = (size_t)(end / job->phase);
		draw_means(job);
	}
}

static void look(struct job *job)
{
	struct pace_look looks[RANKS];

	job->now += STEP_S;
	while (end_of_round(job) <= job->now) {
		end_round(job, end_of_round(job));
		begin_round(job);
	}
	for (int r = 0; r < RANKS; r++) {
		size_t place = place_of(job, r);
		const struct stays *stays = &job->stays[r][place];
		bool is_outside = job->began + job->stay[r] > job->now;
		double since = job->began + (is_outside ? 0 : job->stay[r]);

		looks[r] = (struct pace_look){
			.look = is_outside ? HANG_OUTSIDE : HANG_INSIDE,
			.place = 2 * place + is_outside + 1,
			.moves = job->moves[r] + !is_outside,
			.stay_ns = (uint64_t)((job->now - since) * second_ns),
			.longest_ns = is_outside ? (uint64_t)(stays->longest * second_ns) : 0,
			.num_stays = stays->num,
			.work = r == 0 && job->is_serial && job->kind->serial == WORKING
					? (uint64_t)job->now
					: 0,
		};
	}
	pace_add(job->pace, (uint64_t)(job->now * second_ns), looks);
}

static bool is_hang(const struct job *job)
{
	struct pace_report report;

	pace_report(job->pace, &report);
	return report.kind == PACE_HANG;
}

static void begin_job(struct job *job, const struct kind *kind, uint64_t seed)
{
	const struct pace_settings settings = {
		.num_ranks = RANKS, .alpha = alpha, .proof_ns = UINT64_C(600000000000)};

	*job = (struct job){.kind = kind, .random = seed, .hung = -1, .shape = kind->shape};
	job->random = statistics_random(&job->random);
	job->pace = pace_create(&settings, 0, NULL);
	job->num_places = 1 + (size_t)(unit(job) * MAX_PLACES);
	job->common = kind->common;
	job->extra = kind->extra * unit(job);
	job->growth = kind->growth > 0 ? between(job, 1, kind->growth) : 0;
	if (kind->has_phases)
		job->phase = between(job, 30, 900);
	if (kind->serial != NO_SERIAL) {
		job->every = between(job, 10, 1200);
		job->serial = between(job, 0.5, 30);
		job->next_serial = job->every * unit(job);
	}
	draw_means(job);
	begin_round(job);
}

/* ---- False alarms ---- */

static size_t count_alarms(const struct kind *kind, size_t hours, uint64_t seed)
{
	size_t num = 0;

	for (size_t i = 0; i < hours; i++) {
		struct job job;
		bool was_hang = false;

		begin_job(&job, kind, seed + i);
		while (job.now < hour) {
			/* Only in a round that lasts can there be an alarm. */
			bool may_be = end_of_round(&job) - job.began > 1;
			bool is = false;

			look(&job);
			if (may_be)
				is = is_hang(&job);
			num += is && !was_hang;
			was_hang = is;
		}
		pace_destroy(job.pace);
	}
	return num;
}

static bool print_alarms(size_t hours, uint64_t seed)
{
	bool is_bad = false;

	printf("False alarms of healthy jobs with the recorder, %zu hours of each kind, alpha %g "
	       "per hour\n\n",
	       hours, alpha);
	for (size_t k = 0; k < NUM_KINDS; k++) {
		size_t num = count_alarms(&kinds[k], hours, seed);
		/* More than alpha explains, at 99.9 %? */
		double allowed = statistics_poisson_upper((uint64_t)(alpha * (double)hours), 0.999);

		is_bad |= !kinds[k].is_unfair && (double)num > allowed;
		printf("%-26s | %6zu alarms %10.2g per hour\n", kinds[k].name, num,
		       (double)num / (double)hours);
	}
	return is_bad;
}

/* ---- Delays ---- */

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Seconds from the fault, in the round that is next at `start` s, to its detection; INFINITY: not
 * within 5 minutes. */
static double delay_of(const struct kind *kind, double start, bool is_lost, uint64_t seed)
{
	struct job job;
	double since, found = INFINITY;

	begin_job(&job, kind, seed);
	while (job.now < start)
		look(&job);
	job.hung = is_lost ? RANKS : (int)(seed % RANKS);
	if (!is_lost)
		job.stay[job.hung] = INFINITY;
	since = job.now;
	while (isinf(found) && job.now < since + 300) {
		look(&job);
		if (is_hang(&job))
			found = job.now - since;
	}
	pace_destroy(job.pace);
	return found;
}

static void print_delays(const struct kind *kind, double from, double to, bool is_lost,
			 uint64_t seed)
{
	double delays[RUNS];

	for (int i = 0; i < RUNS; i++)
		delays[i] = delay_of(kind, from + (to - from) * (i + 0.5) / RUNS, is_lost,
				     seed + (uint64_t)i);
	qsort(delays, RUNS, sizeof(*delays), compare);
	printf(" | %6.1f %6.1f", delays[RUNS / 2], delays[RUNS * 95 / 100]);
}

static void print_all_delays(uint64_t seed)
{
	printf("\nSeconds until a hang is found, median and 95 %%\n\n%-26s | %s\n", "",
	       "endless loop                    | lost message");
	printf("%-26s | %-13s | %-13s | %-13s\n", "kind", "after 5-25 s", "after 10 min",
	       "after 5-25 s");
	for (size_t k = 0; k < NUM_KINDS; k++) {
		printf("%-26s", kinds[k].name);
		print_delays(&kinds[k], 5, 25, false, seed);
		print_delays(&kinds[k], 600, 610, false, seed);
		print_delays(&kinds[k], 5, 25, true, seed);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	double hours = argc > 1 ? atof(argv[1]) : 240;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	bool is_bad;

	setvbuf(stdout, NULL, _IOLBF, 0);
	is_bad = print_alarms((size_t)ceil(hours / NUM_KINDS), seed);
	print_all_delays(seed);
	return is_bad;
}
