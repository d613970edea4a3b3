/* SPDX-License-Identifier: BSD-3-Clause
 * Why a rank is slow: a table of rules on what was counted in the interval (reasons.def). */
#include "analysis/evidence/stack_facts.h"
#include "analysis/slow/slow_private.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"

/* Who used less of the processors that a rank may use did not keep it waiting. */
static const double least_competition = 0.05;
/* A rank that had or wanted a processor for less of the time shares it easily. */
static const double wants_processor = 0.5;
/* The clock of a processor varies by itself. */
static const double usual_frequency = 0.85;
/* Faults in a second: each takes 0.1 ms on a fast disk and 10 ms on a slow one. */
static const double least_faults = 20;
/* In the same steps: less may be chance, or a colder cache. */
static const double more_computing = 1.3, least_computing = 0.02;
/* So many more calls in a step are another way through the program. */
static const double more_calls = 1.25;
/* Pages that are far away: a clear share of a sample, and clearly more than in any other rank. So
 * many give a share to within 0.12. */
static const double least_far = 0.5, more_far = 2;
static const uint32_t least_pages = 64;

struct reasons {
	struct arena *arena;
	const struct job *job;
	const struct stack_facts *stacks;
	const int *ranks; /* who is compared */
	double *outside;  /* [num_ranks] shares of time outside MPI */
	uint32_t num_ranks;
	const struct slow *slow;
	struct slow_reason *found; /* of the rank at hand */
	size_t num_found;
	double least; /* share of time that a cause must take */
};

/* One rank as the rules see it; `slow` is NULL where all are asked alike. */
struct subject {
	const struct usage_rank *used; /* NULL: it was not read */
	const struct usage_node *node; /* NULL: the same */
	const struct slow_rank *slow;
};

/* The kernel's counters and the interval are not read in one moment. */
static double part_of(uint64_t part, uint64_t whole)
{
	return part < whole ? (double)part / (double)whole : 1;
}

static double share(uint64_t part_ns, const struct usage_rank *used)
{
	return part_of(part_ns, used->interval_ns);
}

static double outside_of(const struct reasons *r, int rank)
{
	size_t at = sorted_first_rank(rank, r->ranks, r->num_ranks, sizeof(*r->ranks));

	return at < r->num_ranks && r->ranks[at] == rank ? r->outside[at] : 0;
}

/* Ready without a processor, as far as it was outside MPI: one that waits inside by looking again
 * and again loses nothing. */
static double queued(const struct reasons *r, const struct usage_rank *used)
{
	double outside = outside_of(r, used->rank);

	if (!used->has_queue)
		return 0;
	return share(used->queued_ns, used) < outside ? share(used->queued_ns, used) : outside;
}

/* On a processor outside MPI, at least and at most: how much of the time without one was inside is
 * not known. */
static double computing_least(const struct reasons *r, const struct usage_rank *used)
{
	double outside = outside_of(r, used->rank) - queued(r, used);

	return share(used->ran_ns, used) < outside ? share(used->ran_ns, used) : outside;
}

static double computing_most(const struct reasons *r, const struct usage_rank *used)
{
	double outside = outside_of(r, used->rank);

	return share(used->ran_ns, used) < outside ? share(used->ran_ns, used) : outside;
}

static double blocked(const struct reasons *r, const struct usage_rank *used)
{
	(void)r;
	return share(used->block_ns, used);
}

static double throttled(const struct reasons *r, const struct usage_rank *used)
{
	(void)r;
	return used->periods ? part_of(used->throttled, used->periods) : 0;
}

static double faults(const struct reasons *r, const struct usage_rank *used)
{
	(void)r;
	return (double)used->major_faults * 1e9 / (double)used->interval_ns;
}

static double khz(const struct reasons *r, const struct usage_rank *used)
{
	(void)r;
	return (double)used->khz;
}

static int compare_doubles(const void *a, const void *b)
{
	return SORTED_ORDER(*(const double *)a, *(const double *)b);
}

/* Of the other ranks that were read; 0: there is none. */
static double usual(const struct reasons *r, int rank,
		    double (*value)(const struct reasons *, const struct usage_rank *))
{
	double *values = arena_array(r->arena, r->num_ranks + 1, sizeof(*values));
	size_t num = 0;

	for (uint32_t i = 0; i < r->num_ranks; i++) {
		const struct usage_rank *used = usage_find(r->job->usage, r->ranks[i]);

		if (used && r->ranks[i] != rank)
			values[num++] = value(r, used);
	}
	sorted_make(values, num, sizeof(*values), compare_doubles);
	return num ? values[num / 2] : 0;
}

/* How much more it has than the others; where all are asked, how much it has. */
static double excess(const struct reasons *r, const struct subject *s,
		     double (*value)(const struct reasons *, const struct usage_rank *))
{
	return value(r, s->used) - (s->slow ? usual(r, s->used->rank, value) : 0);
}

static bool has_found(const struct reasons *r, enum slow_reason_kind first,
		      enum slow_reason_kind last)
{
	for (size_t i = 0; i < r->num_found; i++)
		if (r->found[i].kind >= first && r->found[i].kind <= last)
			return true;
	return false;
}

/* ---- No processor ---- */

static bool lacks_processor(const struct reasons *r, const struct subject *s,
			    struct slow_reason *ret)
{
	ret->share = excess(r, s, queued);
	ret->used = s->used;
	return ret->share >= r->least;
}

static bool find_throttled(const struct reasons *r, const struct subject *s,
			   struct slow_reason *ret)
{
	ret->share = excess(r, s, throttled);
	ret->used = s->used;
	return s->used->group && ret->share >= r->least;
}

/* Ranks of its node that may use no others than it may, and want them. */
static struct rankset *find_sharers(const struct reasons *r, const struct usage_rank *used)
{
	struct rankset *sharers = rankset_in(r->arena, rankset_create());
	const struct usage *usage = r->job->usage;

	for (size_t i = 0; i < usage->num_ranks; i++) {
		const struct usage_rank *other = &usage->ranks[i];
		struct rankset *more;

		if (other->node_rank != used->node_rank || rankset_is_empty(other->allowed) ||
		    !other->has_queue ||
		    share(other->ran_ns + other->queued_ns, other) < wants_processor)
			continue;
		more = rankset_copy(other->allowed);
		rankset_remove_set(more, used->allowed);
		if (rankset_is_empty(more))
			rankset_add(sharers, other->rank);
		rankset_destroy(more);
	}
	return sharers;
}

static bool find_shared(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	struct rankset *sharers;

	if (rankset_is_empty(s->used->allowed) || !lacks_processor(r, s, ret)) {
		/* Who is inside MPI waits for ranks that have none. */
		ret->share = s->used->has_queue ? share(s->used->queued_ns, s->used) : 0;
		if (s->slow || rankset_is_empty(s->used->allowed) || ret->share < r->least)
			return false;
	}
	sharers = find_sharers(r, s->used);
	ret->ranks = sharers;
	ret->is_bound =
		!s->node || (uint32_t)rankset_count(s->used->allowed) < s->node->num_processors;
	return rankset_contains(sharers, s->used->rank) &&
	       rankset_count(sharers) > rankset_count(s->used->allowed);
}

/* Its other threads fill the processors that it may use. */
static bool find_own_threads(const struct reasons *r, const struct subject *s,
			     struct slow_reason *ret)
{
	uint64_t others_ns =
		s->used->process_ns > s->used->ran_ns ? s->used->process_ns - s->used->ran_ns : 0;

	if (!lacks_processor(r, s, ret) || rankset_is_empty(s->used->allowed))
		return false;
	ret->number = others_ns;
	return share(others_ns, s->used) >= ret->share / 2 &&
	       share(s->used->process_ns, s->used) >=
		       0.8 * rankset_count(s->used->allowed) - least_competition;
}

static bool find_others(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	struct usage_process *others;
	double processors = rankset_count(s->used->allowed), sum = 0;

	if (!s->node || !processors || !lacks_processor(r, s, ret))
		return false;
	others = arena_array(r->arena, USAGE_MAX_OTHERS, sizeof(*others));
	for (size_t i = 0; i < s->node->num_others; i++) {
		const struct usage_process *other = &s->node->others[i];

		if (!rankset_meets(other->processors, s->used->allowed))
			continue;
		others[ret->num_others++] = *other;
		sum += (double)other->ran_ns / (double)s->node->interval_ns;
	}
	ret->others = others;
	return sum / processors >= least_competition && sum >= ret->share * slow_limits.least_part;
}

static double stolen(const struct usage_node *node)
{
	return node && node->num_processors && node->interval_ns
		       ? part_of(node->steal_ns / node->num_processors, node->interval_ns)
		       : 0;
}

/* All ranks of a node have it: it explains who is slow only where others are elsewhere. */
static bool find_stolen(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	double least = s->slow ? stolen(s->node) : 0;

	for (uint32_t i = 0; s->slow && i < r->num_ranks; i++) {
		const struct usage_rank *used = usage_find(r->job->usage, r->ranks[i]);

		if (used && stolen(usage_node(r->job->usage, used)) < least)
			least = stolen(usage_node(r->job->usage, used));
	}
	ret->share = stolen(s->node) - least;
	return ret->share >= r->least;
}

static bool find_queued(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	return !has_found(r, SLOW_REASON_THROTTLED, SLOW_REASON_STOLEN) &&
	       lacks_processor(r, s, ret);
}

/* ---- A processor that is slow, memory, disks ---- */

static bool find_frequency(const struct reasons *r, const struct subject *s,
			   struct slow_reason *ret)
{
	ret->own = khz(r, s->used) / 1000;
	ret->usual = usual(r, s->used->rank, khz) / 1000;
	ret->share = ret->usual > 0 ? 1 - ret->own / ret->usual : 0;
	return ret->own > 0 && ret->own < usual_frequency * ret->usual;
}

static bool find_faults(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	ret->own = faults(r, s->used);
	ret->usual = s->slow ? usual(r, s->used->rank, faults) : 0;
	ret->number = s->node ? s->node->swapped_in : 0;
	return ret->own >= least_faults && (!s->slow || ret->own >= 4 * ret->usual);
}

/* In how many of its samples it was outside MPI in one of these states. */
static double share_in_state(const struct reasons *r, int rank, char state,
			     const struct sample **sample_ret)
{
	struct slow_samples samples;
	uint32_t num = 0;

	if (!r->stacks)
		return 0;
	samples = slow_samples_outside(r->arena, r->job, stack_facts_get(r->stacks, rank), rank);
	for (uint32_t i = 0; i < samples.num; i++)
		if (samples.samples[i]->state == state) {
			num++;
			if (!*sample_ret || samples.samples[i]->blocked)
				*sample_ret = samples.samples[i];
		}
	return samples.num_all >= slow_limits.least_samples ? (double)num / samples.num_all : 0;
}

static bool find_disk(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	double counted = excess(r, s, blocked);
	double seen = share_in_state(r, s->used->rank, 'D', &ret->sample);

	ret->share = counted > seen ? counted : seen;
	return ret->share >= r->least;
}

/* ---- What it does ---- */

static bool find_sleeps(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	ret->share = share_in_state(r, s->used->rank, 'S', &ret->sample);
	return ret->share >= r->least && ret->share >= s->slow->outside / 4;
}

static bool find_calls(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	(void)r;
	ret->own = s->slow->calls;
	ret->usual = s->slow->others_calls;
	return ret->usual > 0 && ret->own >= more_calls * ret->usual && ret->own >= ret->usual + 1;
}

static bool is_slow(const struct reasons *r, int rank)
{
	for (size_t i = 0; i < r->slow->num_slow; i++)
		if (r->slow->ranks[i].rank == rank)
			return true;
	return false;
}

static double far_pages(const struct usage_rank *used)
{
	return part_of(used->num_far, used->num_pages);
}

/* Of the ranks that are not slow; below 0: of none are pages known. */
static double most_far_pages(const struct reasons *r)
{
	double most = -1;

	for (uint32_t i = 0; i < r->num_ranks; i++) {
		const struct usage_rank *used = usage_find(r->job->usage, r->ranks[i]);

		if (used && used->num_pages >= least_pages && !is_slow(r, r->ranks[i]) &&
		    far_pages(used) > most)
			most = far_pages(used);
	}
	return most;
}

static bool find_computes(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	ret->own = computing_least(r, s->used);
	ret->usual = usual(r, s->used->rank, computing_most);
	ret->share = ret->own - ret->usual;
	return s->used->has_queue && ret->share >= least_computing &&
	       ret->own >= more_computing * ret->usual;
}

/* Memory slows only a rank that uses it. */
static bool find_remote(const struct reasons *r, const struct subject *s, struct slow_reason *ret)
{
	struct slow_reason computes = {.share = 0};

	ret->used = s->used;
	if (s->used->num_pages < least_pages || !find_computes(r, s, &computes))
		return false;
	ret->own = far_pages(s->used);
	ret->usual = most_far_pages(r);
	return ret->usual >= 0 && ret->own >= least_far && ret->own >= more_far * ret->usual;
}

/* ---- All rules ---- */

static const struct rule {
	bool may_be_all;
	bool (*find)(const struct reasons *r, const struct subject *s, struct slow_reason *ret);
} rules[SLOW_NUM_REASONS] = {
#define SLOW_REASON(id, name, scope, find) {scope, find},
#include "analysis/slow/reasons.def"
#undef SLOW_REASON
};

static void add(struct reasons *r, struct slow_reason *reason)
{
	reason->is_also = has_found(r, SLOW_REASON_THROTTLED, SLOW_REASON_OTHERS);
	r->found[r->num_found++] = *reason;
}

static void ask(struct reasons *r, const struct subject *s)
{
	r->found = arena_array(r->arena, SLOW_NUM_REASONS, sizeof(*r->found));
	r->num_found = 0;
	if (!s->used)
		return;
	for (size_t i = 0; i < SLOW_NUM_REASONS; i++) {
		struct slow_reason reason = {.kind = (enum slow_reason_kind)i};

		if ((s->slow || rules[i].may_be_all) && rules[i].find(r, s, &reason))
			add(r, &reason);
	}
}

static struct subject subject_of(const struct reasons *r, int rank, const struct slow_rank *slow)
{
	const struct usage_rank *used = usage_find(r->job->usage, rank);

	return (struct subject){used, used ? usage_node(r->job->usage, used) : NULL, slow};
}

static bool is_told(const struct reasons *r, enum slow_reason_kind kind,
		    const struct rankset *having)
{
	int num = rankset_count(having);

	return num > 0 && (kind == SLOW_REASON_THROTTLED || 2 * (uint32_t)num >= r->num_ranks);
}

static void ask_all(struct reasons *r, struct slow *slow)
{
	struct slow_reason worst[SLOW_NUM_REASONS] = {0};
	struct rankset *having[SLOW_NUM_REASONS];

	for (size_t i = 0; i < SLOW_NUM_REASONS; i++)
		having[i] = rankset_in(r->arena, rankset_create());
	r->least = slow_limits.least_of_all;
	for (uint32_t i = 0; i < r->num_ranks; i++) {
		struct subject subject = subject_of(r, r->ranks[i], NULL);

		ask(r, &subject);
		for (size_t k = 0; k < r->num_found; k++) {
			struct slow_reason *reason = &r->found[k], *kept = &worst[reason->kind];

			if (rankset_is_empty(having[reason->kind]) || reason->share > kept->share) {
				*kept = *reason;
				kept->worst = r->ranks[i];
			}
			rankset_add(having[reason->kind], r->ranks[i]);
		}
	}
	slow->reasons = arena_array(r->arena, SLOW_NUM_REASONS, sizeof(*slow->reasons));
	for (size_t i = 0; i < SLOW_NUM_REASONS; i++)
		if (is_told(r, (enum slow_reason_kind)i, having[i])) {
			worst[i].having = having[i];
			slow->reasons[slow->num_reasons++] = worst[i];
		}
}

/* What is told of a slow rank. */
static void leave_out(struct slow *slow, const struct reasons *r, int rank)
{
	size_t num = 0;

	for (size_t i = 0; i < slow->num_reasons; i++)
		if (!has_found(r, slow->reasons[i].kind, slow->reasons[i].kind) ||
		    (slow->reasons[i].kind == SLOW_REASON_THROTTLED &&
		     slow->reasons[i].worst != rank))
			slow->reasons[num++] = slow->reasons[i];
	slow->num_reasons = num;
}

static void find_outside(struct reasons *r, const struct slow_steps *steps)
{
	r->outside = arena_array(r->arena, r->num_ranks + 1, sizeof(*r->outside));
	for (uint32_t i = 0; i < r->num_ranks; i++) {
		double outside = 0, all = 0;

		for (uint32_t k = steps->now; k < steps->num_steps; k++) {
			outside += slow_time_of(steps, i, k)->outside;
			all += slow_time_of(steps, i, k)->all;
		}
		r->outside[i] = all > 0 ? outside / all : 0;
	}
}

void slow_reasons_find(struct arena *arena, const struct job *job, const struct slow_steps *steps,
		       const struct stack_facts *stacks, struct slow *slow)
{
	struct reasons r = {
		.arena = arena,
		.job = job,
		.stacks = stacks,
		.ranks = steps->ranks,
		.num_ranks = steps->num_ranks,
		.slow = slow,
	};

	find_outside(&r, steps);
	ask_all(&r, slow);
	for (size_t i = 0; i < slow->num_slow && i < SLOW_MAX_TOLD; i++) {
		struct slow_rank *rank = &slow->ranks[i];
		struct subject subject = subject_of(&r, rank->rank, rank);

		r.least = rank->loss * slow_limits.least_part;
		if (r.least < slow_limits.least_cause)
			r.least = slow_limits.least_cause;
		ask(&r, &subject);
		rank->reasons = r.found;
		rank->num_reasons = r.num_found;
		leave_out(slow, &r, rank->rank);
	}
}
