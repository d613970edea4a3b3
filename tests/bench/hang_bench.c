/* SPDX-License-Identifier: BSD-3-Clause
 * How often the hang test is wrong on healthy jobs, and how long it takes to find hung ones.
 *
 *	hang_bench [HOURS [SEED]]
 *
 * Healthy jobs are simulated in continuous time for HOURS in sum (1300), each job for 10 hours with
 * parameters drawn at random within its kind; of each rank looked at is decided whether it is
 *outside MPI. Every time the test asks to look at all ranks counts as a false alarm, as if the
 *filter of slow-downs saw no movement; the job goes on as after one that was seen. In half of the
 *jobs nobody is ever outside MPI in a low stretch, so that nobody moves: what is left then is how
 *long it lasts. Then hangs of one rank outside MPI, and of none.
 *
 * Exit status 1: a kind of job in which somebody moves has significantly more false alarms than
 * alpha. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hang/hang_test.h"
#include "analysis/hang/statistics.h"

enum { JOB_HOURS = 10, RANKS = 64, MAX_LOOKS = 64, RUNS = 400 };

static const double pi = 3.14159265358979, second_ns = 1e9, hour = 3600, alpha = 0.001;

/* ---- Healthy jobs ---- */

struct job {
	uint64_t random, bits;
	unsigned int num_bits;
	double now; /* s */
	/* Of a process of two states: outside or inside MPI mostly. */
	bool is_low;
	double until;
	/* Drawn for the job. */
	double a, b, c;
	double level; /* of the autocorrelated one */
	double low; /* share of ranks outside MPI while most are inside: in half of the jobs nobody
		     */
};

static double unit(struct job *job)
{
	return statistics_random_unit(&job->random);
}

static double between(struct job *job, double low, double high)
{
	return low * pow(high / low, unit(job));
}

static double exponential(struct job *job, double mean)
{
	return -mean * log(1 - unit(job));
}

static double normal(struct job *job)
{
	return sqrt(-2 * log(1 - unit(job))) * cos(2 * pi * unit(job));
}

/* Each kind: draw the parameters; then the share of ranks outside MPI at job->now. */
struct kind {
	const char *name;
	void (*draw)(struct job *job);
	double (*share)(struct job *job, double step);
	bool has_low;  /* it uses job->low */
	bool is_still; /* nobody ever moves while S_out is low */
};

static double share_independent(struct job *job, double step)
{
	(void)step;
	return pow(unit(job), job->a);
}

static void draw_independent(struct job *job)
{
	job->a = between(job, 0.2, 3);
}

/* a: period, b: the part of it that computes. */
static double share_periodic(struct job *job, double step)
{
	(void)step;
	return fmod(job->now, job->a) < job->a * job->b ? 0.97 : job->low;
}

static void draw_fast(struct job *job)
{
	job->a = between(job, 0.001, 0.2);
	job->b = 0.1 + 0.85 * unit(job);
}

static void draw_medium(struct job *job)
{
	job->a = between(job, 0.2, 5);
	job->b = 0.1 + 0.85 * unit(job);
}

static void draw_slow(struct job *job)
{
	job->a = between(job, 5, 120);
	job->b = 0.3 + 0.6 * unit(job);
}

/* a, b: mean times outside and inside. */
static double share_bursty(struct job *job, double step)
{
	(void)step;
	while (job->until < job->now) {
		job->is_low = !job->is_low;
		job->until += exponential(job, job->is_low ? job->b : job->a);
	}
	return job->is_low ? job->low : 0.9;
}

static void draw_bursty(struct job *job)
{
	job->a = between(job, 0.1, 30);
	job->b = between(job, 0.1, 5);
}

/* The same with times of a tail that is heavier than exponential. */
static double share_heavy(struct job *job, double step)
{
	(void)step;
	while (job->until < job->now) {
		job->is_low = !job->is_low;
		job->until +=
			job->is_low ? job->b * exp(normal(job) - 0.5) : exponential(job, job->a);
	}
	return job->is_low ? job->low : 0.9;
}

/* a: correlation time, b, c: mean and spread of the logit. */
static double share_correlated(struct job *job, double step)
{
	double keep = exp(-step / job->a);

	job->level = keep * job->level + sqrt(1 - keep * keep) * normal(job);
	return 1 / (1 + exp(-job->b - job->c * job->level));
}

static void draw_correlated(struct job *job)
{
	job->a = between(job, 0.1, 10);
	job->b = 2 * unit(job) - 1;
	job->c = between(job, 0.5, 3);
	job->level = normal(job);
}

/* a: time of an iteration, b: the part of it after which the first rank is done; the last one is at
 * its end. c: the part that all communicate for. */
static double share_imbalanced(struct job *job, double step)
{
	double at = fmod(job->now, job->a) / job->a;

	(void)step;
	if (at > 1 - job->c)
		return job->low;
	if (at < job->b)
		return 1;
	return pow((1 - job->c - at) / (1 - job->c - job->b), 2);
}

static void draw_imbalanced(struct job *job)
{
	job->a = between(job, 0.5, 60);
	job->b = 0.2 + 0.6 * unit(job);
	job->c = 0.15 * unit(job);
}

/* Two programs in turns, a seconds each: one that computes, one that communicates most of the time.
 */
static double share_phases(struct job *job, double step)
{
	(void)step;
	if (fmod(job->now, 2 * job->a) < job->a)
		return 0.3 + 0.7 * unit(job);
	return unit(job) < job->b ? job->low : 0.3;
}

static void draw_phases(struct job *job)
{
	job->a = between(job, 30, 900);
	job->b = 0.3 + 0.5 * unit(job);
}

/* Every a seconds b seconds of writing, in which nobody is outside MPI. */
static double share_checkpoints(struct job *job, double step)
{
	(void)step;
	if (fmod(job->now + job->a - job->c, job->a) < job->b)
		return 0;
	return pow(unit(job), 0.5);
}

static void draw_checkpoints(struct job *job)
{
	job->a = between(job, 120, 1800);
	job->b = between(job, 1, 15);
	job->c = job->a * unit(job);
}

static double share_computing(struct job *job, double step)
{
	(void)step;
	return unit(job) < job->a ? 0.05 : 0.999;
}

static void draw_computing(struct job *job)
{
	job->a = between(job, 0.001, 0.05);
}

static double share_communicating(struct job *job, double step)
{
	(void)step;
	return unit(job) < job->a ? 0.4 : 0.01;
}

static void draw_communicating(struct job *job)
{
	job->a = between(job, 0.1, 0.6);
}

/* A start of a seconds in which nobody or one rank computes, then an independent job. */
static double share_start(struct job *job, double step)
{
	if (job->now < job->a)
		return 0;
	return share_independent(&(struct job){.random = statistics_random(&job->random), .a = 1},
				 step);
}

static void draw_start(struct job *job)
{
	job->a = between(job, 1, 300);
}

static const struct kind kinds[] = {
	{.name = "independent", .draw = draw_independent, .share = share_independent},
	{.name = "period 1 to 200 ms", .draw = draw_fast, .share = share_periodic, .has_low = true},
	{.name = "period 0.2 to 5 s",
	 .draw = draw_medium,
	 .share = share_periodic,
	 .has_low = true},
	{.name = "period 5 to 120 s", .draw = draw_slow, .share = share_periodic, .has_low = true},
	{.name = "bursts, exponential",
	 .draw = draw_bursty,
	 .share = share_bursty,
	 .has_low = true},
	{.name = "bursts, log-normal", .draw = draw_bursty, .share = share_heavy, .has_low = true},
	{.name = "autocorrelated", .draw = draw_correlated, .share = share_correlated},
	{.name = "imbalanced iterations",
	 .draw = draw_imbalanced,
	 .share = share_imbalanced,
	 .has_low = true},
	{.name = "phases of 0.5 to 15 min",
	 .draw = draw_phases,
	 .share = share_phases,
	 .has_low = true},
	{.name = "checkpoints of 1 to 15 s",
	 .draw = draw_checkpoints,
	 .share = share_checkpoints,
	 .is_still = true},
	{.name = "computes nearly always", .draw = draw_computing, .share = share_computing},
	{.name = "communicates mostly", .draw = draw_communicating, .share = share_communicating},
	{.name = "start of up to 5 min",
	 .draw = draw_start,
	 .share = share_start,
	 .is_still = true},
};

enum { NUM_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct job begin_job(const struct kind *kind, uint64_t seed)
{
	struct job job = {.random = seed};

	job.random = statistics_random(&job.random);
	job.low = unit(&job) < 0.5 ? 0 : 0.03;
	kind->draw(&job);
	return job;
}

/* Four decisions of 16 bits from one random number. */
static bool decide(struct job *job, double share)
{
	uint64_t bits;

	if (!job->num_bits) {
		job->bits = statistics_random(&job->random);
		job->num_bits = 4;
	}
	bits = job->bits & 0xffff;
	job->bits >>= 16;
	job->num_bits--;
	return (double)bits < share * 0x10000;
}

static void look(struct hang_test *test, struct job *job, const struct kind *kind)
{
	enum hang_look looks[MAX_LOOKS] = {0};
	double now = (double)hang_test_next(test) / second_ns, share;
	size_t num;

	hang_test_ranks(test, &num);
	share = kind->share(job, now - job->now);
	job->now = now;
	for (size_t i = 0; i < num; i++)
		looks[i] = decide(job, share) ? HANG_OUTSIDE : HANG_INSIDE;
	hang_test_sample(test, hang_test_next(test), looks);
}

static struct hang_test *begin_test(uint64_t seed)
{
	const struct hang_settings settings = {.num_ranks = RANKS, .alpha = alpha, .seed = seed};

	return hang_test_create(&settings, 0, NULL);
}

/* In jobs of which somebody moves in low stretches, and in the others. */
struct count {
	double moving_hours, still_hours;
	size_t moving_alarms, still_alarms;
};

static struct count count_alarms(const struct kind *kind, double hours, uint64_t seed)
{
	struct count count = {0};

	for (double done = 0; done < hours; done += JOB_HOURS, seed++) {
		struct hang_test *test = begin_test(seed);
		struct job job = begin_job(kind, seed);
		bool is_still = kind->is_still || (kind->has_low && job.low == 0);
		size_t num = 0;

		while (job.now < JOB_HOURS * hour) {
			look(test, &job, kind);
			if (hang_test_state(test) != HANG_CONFIRM)
				continue;
			num++;
			hang_test_confirm(test, true);
		}
		hang_test_destroy(test);
		*(is_still ? &count.still_hours : &count.moving_hours) += JOB_HOURS;
		*(is_still ? &count.still_alarms : &count.moving_alarms) += num;
	}
	return count;
}

static double per_hour(size_t num, double hours)
{
	return hours > 0 ? (double)num / hours : 0;
}

/* ---- Hung jobs ---- */

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* Seconds from a hang at `start` s to its detection; the hang is one of computing: one rank, among
 * those looked at with the chance that it has, is outside. INFINITY: not within 2 hours. */
static double delay_of(const struct kind *kind, double start, uint64_t seed)
{
	struct hang_test *test = begin_test(seed);
	struct job job = begin_job(kind, seed);
	int culprit = (int)(seed % RANKS);
	double found;

	while ((double)hang_test_next(test) / second_ns < start) {
		look(test, &job, kind);
		hang_test_confirm(test, true);
	}
	while (hang_test_state(test) != HANG_CONFIRM &&
	       (double)hang_test_next(test) / second_ns < start + 2 * hour) {
		enum hang_look looks[MAX_LOOKS] = {0};
		size_t num;
		const int *ranks = hang_test_ranks(test, &num);

		for (size_t i = 0; i < num; i++)
			looks[i] = ranks[i] == culprit ? HANG_OUTSIDE : HANG_INSIDE;
		job.now = (double)hang_test_next(test) / second_ns;
		hang_test_sample(test, hang_test_next(test), looks);
	}
	found = hang_test_state(test) == HANG_CONFIRM ? job.now - start : INFINITY;
	hang_test_destroy(test);
	return found;
}

static void print_delays(const struct kind *kind, double start, uint64_t seed)
{
	double delays[RUNS];

	for (int i = 0; i < RUNS; i++)
		delays[i] = delay_of(kind, start, seed + (uint64_t)i);
	qsort(delays, RUNS, sizeof(*delays), compare);
	printf(" %7.1f %7.1f", delays[RUNS / 2], delays[RUNS * 95 / 100]);
}

static uint32_t suspicions_needed(double q, double rate)
{
	return q < 1 ? (uint32_t)fmax(ceil(log(rate) / log(q)), 1) : UINT32_MAX;
}

/* What the rules ask for when the share p of samples is suspicious and independent of others. */
static void print_needed(double p, double tolerance)
{
	static const double alphas[] = {0.01, 0.001, 0.0001}, intervals[] = {0.05, 0.4, 1.6, 6.4};

	printf("%5.2f %5.2f", p, fmin(p + tolerance, 1));
	for (size_t a = 0; a < 3; a++)
		printf(" %4u", suspicions_needed(p + tolerance, alphas[a]));
	for (size_t i = 0; i < 4; i++) {
		printf(" |");
		for (size_t a = 0; a < 3; a++) {
			uint32_t needed =
				suspicions_needed(p + tolerance, alphas[a] * intervals[i] / hour);

			printf(" %5.1f", needed * intervals[i]);
		}
	}
	printf("\n");
}

static bool print_alarms(double each, uint64_t seed)
{
	struct count sum = {0};
	bool is_bad = false;

	printf("False alarms of healthy jobs without the filter of slow-downs, alpha %g per "
	       "hour\n\n",
	       alpha);
	printf("%-25s | %-26s | %s\n", "", "somebody moves when low", "nobody ever does");
	printf("%-25s | %8s %6s %10s | %8s %6s %10s\n", "kind", "hours", "alarms", "per hour",
	       "hours", "alarms", "per hour");
	for (size_t k = 0; k < NUM_KINDS; k++) {
		struct count now = count_alarms(&kinds[k], each, seed);
		double allowed =
			statistics_poisson_upper((uint64_t)(alpha * now.moving_hours), 0.999);

		/* More than alpha explains, at 99.9 %? */
		is_bad |= (double)now.moving_alarms > allowed;
		sum.moving_hours += now.moving_hours;
		sum.still_hours += now.still_hours;
		sum.moving_alarms += now.moving_alarms;
		sum.still_alarms += now.still_alarms;
		printf("%-25s | %8.0f %6zu %10.2g | %8.0f %6zu %10.2g\n", kinds[k].name,
		       now.moving_hours, now.moving_alarms,
		       per_hour(now.moving_alarms, now.moving_hours), now.still_hours,
		       now.still_alarms, per_hour(now.still_alarms, now.still_hours));
	}
	printf("%-25s | %8.0f %6zu %10.2g | %8.0f %6zu %10.2g\n", "all", sum.moving_hours,
	       sum.moving_alarms, per_hour(sum.moving_alarms, sum.moving_hours), sum.still_hours,
	       sum.still_alarms, per_hour(sum.still_alarms, sum.still_hours));
	return is_bad;
}

static void print_all_delays(uint64_t seed)
{
	printf("\nSeconds until a hang is found, of which one rank of %d is outside MPI: median, "
	       "95 %%\n\n",
	       RANKS);
	printf("%-25s %15s %15s\n", "kind", "hangs after 30 s", "10 min");
	for (size_t k = 0; k < NUM_KINDS; k++) {
		printf("%-25s", kinds[k].name);
		print_delays(&kinds[k], 30, seed);
		print_delays(&kinds[k], 600, seed);
		printf("\n");
	}
}

static void print_rules(void)
{
	printf("\nSuspicions in a row by the published rule for alpha 0.01, 0.001, 0.0001; and the "
	       "seconds that\n"
	       "they have to last per hour, by I (50 ms, 0.4, 1.6, 6.4 s) and these alphas\n\n");
	print_needed(0.47, 0.3);
	print_needed(0.27, 0.2);
	print_needed(0.12, 0.1);
	print_needed(0.06, 0.05);
	for (double p = 0.1; p < 0.95; p += 0.1)
		print_needed(p, 0.05);
}

int main(int argc, char **argv)
{
	double hours = argc > 1 ? atof(argv[1]) : 1300;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	bool is_bad;

	setvbuf(stdout, NULL, _IOLBF, 0);
	is_bad = print_alarms(ceil(hours / NUM_KINDS / JOB_HOURS) * JOB_HOURS, seed);
	print_all_delays(seed);
	print_rules();
	return is_bad;
}
