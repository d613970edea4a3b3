/* SPDX-License-Identifier: BSD-3-Clause
 * Who holds the others up in a job that moves, and why. */

#include "analysis/progress/loop_nest.h"
#include "analysis/slow/slow.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"
#include "render/text/json.h"
#include "render/words/parts.h"

enum { MOST_RANKS = 4, MOST_OTHERS = 3, WHO = 40 };

static const struct slow *slow_of(const struct view *view)
{
	return view->answer->own;
}

static double percent(double share)
{
	return 100 * share;
}

/* What a snapshot claims may be anything. */
static uint64_t whole(double ns)
{
	return ns > 0 ? (ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18) : 0;
}

static struct label_time time_of(double ns)
{
	return label_time(whole(ns));
}

static struct rankset *named(const struct view *view, const struct slow *slow)
{
	struct rankset *ranks = parts_set(view);

	for (size_t i = 0; i < slow->num_slow; i++)
		rankset_add(ranks, slow->ranks[i].rank);
	return ranks;
}

/* ---- What was seen ---- */

/* "iterations 10 to 49 of loop run() at x.c:3", "25 stack samples". */
static const char *steps_text(const struct view *view, const struct slow *slow)
{
	if (slow->source == SLOW_BY_ITERATIONS)
		return text_of(view, "iterations %" PRIu64 " to %" PRIu64 " of %s, %s",
			       slow->first_step, slow->last_step,
			       label_loop(view, slow->loop, LABEL_FULL),
			       time_of(slow->span_ns).text);
	if (slow->source == SLOW_BY_SLICES)
		return text_of(view, "the last %s", time_of(slow->span_ns).text);
	return text_of(view, "%u stack samples", slow->num_steps);
}

/* "iteration", "40 ms", "sample". */
static const char *step_name(const struct view *view, const struct slow *slow)
{
	if (slow->source == SLOW_BY_SLICES)
		return text_of(view, "%s", time_of(slow->span_ns / slow->num_steps).text);
	return slow->source == SLOW_BY_ITERATIONS ? "iteration" : "sample";
}

/* "30 of 40 iterations". */
static const char *longer_text(const struct view *view, const struct slow *slow,
			       const struct slow_rank *rank)
{
	return text_of(view, "%u of %u %s", rank->num_longer, slow->num_steps,
		       slow->source == SLOW_BY_ITERATIONS ? "iterations"
		       : slow->source == SLOW_BY_SLICES   ? "slices of that time"
							  : "samples");
}

/* "MPI_Allreduce, step() at x.c:12". */
static const char *call_text(const struct view *view, uint32_t state)
{
	const struct job_site *site = &view->job->model->sites[SEG_STATE_SITE(state)];

	if (SEG_STATE_SITE(state) == 0)
		return "the start";
	return text_of(view, "%s, %s", site->name, label_user_place(view, site->path, LABEL_FULL));
}

/* ---- Why ---- */

/* "processor 0", "processors 0-3". */
static const char *processors_text(const struct view *view, const struct rankset *set)
{
	return text_of(view, "processor%s %s", rankset_count(set) == 1 ? "" : "s",
		       label_rank_list(view->arena, set, WHO));
}

static const char *others_text(const struct view *view, const struct slow_reason *reason)
{
	struct text_list list = {view->arena, NULL};

	for (size_t i = 0; i < reason->num_others && i < MOST_OTHERS; i++) {
		const struct usage_process *other = &reason->others[i];

		text_list_add(&list, ", ",
			      text_of(view, "process %d (%s) ran for %s on %s", (int)other->pid,
				      other->name, label_time(other->ran_ns).text,
				      processors_text(view, other->processors)));
	}
	if (reason->num_others > MOST_OTHERS)
		text_list_add(&list, ", ",
			      text_of(view, "and %zu more", reason->num_others - MOST_OTHERS));
	return list.text;
}

static const char *asleep_text(const struct view *view, const struct sample *sample)
{
	const char *where = sample && sample->blocked ? label_blocked(view, sample) : NULL;

	return where ? text_of(view, ": %s", where) : "";
}

static const char *reason_text(const struct view *view, const struct slow_reason *reason)
{
	const struct usage_rank *used = reason->used;
	const char *none = text_of(view,
				   "ready to run, but without a processor for %.0f %% of "
				   "the time",
				   percent(reason->share));

	switch (reason->kind) {
	case SLOW_REASON_THROTTLED:
		return text_of(view,
			       "its control group %s used up its quota of %.3g processors in "
			       "%" PRIu64 " of %" PRIu64 " periods",
			       used->group, (double)used->quota_percent / 100, used->throttled,
			       used->periods);
	case SLOW_REASON_SHARED:
		return text_of(view, "%s: ranks %s %s %s", none,
			       label_rank_list(view->arena, reason->ranks, WHO),
			       reason->is_bound ? "are bound to" : "share",
			       processors_text(view, used->allowed));
	case SLOW_REASON_OWN_THREADS:
		return text_of(view, "%s: other threads of its process ran for %s on %s", none,
			       label_time(reason->number).text,
			       processors_text(view, used->allowed));
	case SLOW_REASON_OTHERS:
		return text_of(view, "%s: %s", reason->is_also ? "also there" : none,
			       others_text(view, reason));
	case SLOW_REASON_STOLEN:
		return text_of(view, "the hypervisor took %.0f %% of the time of its processors",
			       percent(reason->share));
	case SLOW_REASON_QUEUED:
		return text_of(view, "%s; who had it was not seen", none);
	case SLOW_REASON_FREQUENCY:
		return text_of(view, "its processor ran at %.0f MHz, those of the others at %.0f",
			       reason->own, reason->usual);
	case SLOW_REASON_FAULTS:
		return text_of(view, "%.0f page faults a second waited for a disk%s", reason->own,
			       reason->number
				       ? text_of(view,
						 "; its node read %" PRIu64 " pages from swap",
						 reason->number)
				       : "");
	case SLOW_REASON_DISK:
		return text_of(view, "waited for a disk or file system for %.0f %% of the time%s",
			       percent(reason->share), asleep_text(view, reason->sample));
	case SLOW_REASON_SLEEPS:
		return text_of(view, "asleep outside MPI for %.0f %% of the time%s",
			       percent(reason->share), asleep_text(view, reason->sample));
	case SLOW_REASON_CALLS:
		return text_of(view,
			       "more to do: it leaves %.3g MPI calls in each step, the others %.3g",
			       reason->own, reason->usual);
	case SLOW_REASON_REMOTE:
		return text_of(view,
			       "it was seen on NUMA node %u, but of %u sampled pages of its memory "
			       "%u are on other nodes, the most on node %u; of ranks that are not "
			       "slow at most %.0f %% of the pages",
			       used->own_node, used->num_pages, used->num_far, used->far_node,
			       percent(reason->usual));
	case SLOW_REASON_COMPUTES:
		return text_of(
			view,
			"it computes for %.0f %% of the time or more, the others for %.0f %% "
			"or less: it has more to do there, or a slower processor or memory",
			percent(reason->own), percent(reason->usual));
	case SLOW_NUM_REASONS:
		break;
	}
	return "";
}

const char *view_slow_reasons(const struct view *view, const struct slow_rank *rank)
{
	struct text_list list = {view->arena, NULL};

	for (size_t i = 0; i < rank->num_reasons; i++)
		text_list_add(&list, "; ", reason_text(view, &rank->reasons[i]));
	return list.text;
}

static void print_why(const struct view *view, const struct slow *slow,
		      const struct slow_rank *rank)
{
	for (size_t i = 0; i < rank->num_reasons; i++)
		text_wrap(view, 2, "why: %s", reason_text(view, &rank->reasons[i]));
	if (rank->num_reasons)
		return;
	if (slow->is_measured)
		text_wrap(view, 2,
			  "why: not known: nothing that was measured takes enough of the time");
	else if (slow->is_quiet)
		text_wrap(view, 2, "why: not known: pdb measured only after that");
	else
		text_wrap(view, 2, "why: not measured; \"slow\" in the running job does that");
}

/* ---- Text ---- */

static void print_stretch(const struct view *view, const struct slow *slow,
			  const struct slow_rank *rank)
{
	const struct slow_stretch *s = &rank->stretch;
	const char *others;

	if (!rank->has_stretch)
		return;
	others = s->num_others == 0 ? "the others do not do it"
				    : text_of(view, "%s in the others, %s at most",
					      time_of(s->others_ns).text, time_of(s->most_ns).text);
	text_wrap(view, 2, "from %s, to %s: %s in each %s; %s", call_text(view, s->from),
		  call_text(view, s->to), time_of(s->own_ns).text, step_name(view, slow), others);
	if (rank->since_iteration)
		text_wrap(view, 2, "since iteration %" PRIu64 ", %s ago; before, %s there",
			  rank->since_iteration, time_of(rank->since_ns).text,
			  time_of(s->before_ns).text);
}

static void print_rank(const struct view *view, const struct slow *slow,
		       const struct slow_rank *rank)
{
	const struct sample *sample = rank->sample;

	text_wrap(
		view, 0,
		"rank %d: outside MPI for %.0f %% of the time, the others for %.0f %%; for longer "
		"than they in %s",
		rank->rank, percent(rank->outside), percent(rank->others),
		longer_text(view, slow, rank));
	print_stretch(view, slow, rank);
	if (sample)
		text_wrap(view, 2, "mostly in %s",
			  label_user_place(view, sample->path, LABEL_FULL));
	print_why(view, slow, rank);
}

static void print_headline(const struct view *view, const struct slow *slow)
{
	const char *steps = slow->kind == SLOW_NOT_KNOWN ? "" : steps_text(view, slow);
	const struct rankset *ranks = named(view, slow);

	switch (slow->kind) {
	case SLOW_NOT_KNOWN:
		text_wrap(view, 0, "Not known who is slow: %s.", slow->why);
		break;
	case SLOW_BALANCED:
		text_wrap(view, 0,
			  "Balanced: none of %u ranks holds the others up, in %s. They are inside "
			  "MPI for %.0f %% of the time.",
			  slow->num_ranks, steps, percent(slow->inside));
		break;
	case SLOW_RANKS:
		text_wrap(view, 0,
			  "Slow: %s of %d. The others wait for %s for %.0f %% of the time, in %s.",
			  parts_who(view, ranks), parts_num_ranks(view),
			  parts_plural(ranks, "it", "them"), percent(slow->ranks[0].loss), steps);
		break;
	case SLOW_TURNS:
		text_wrap(view, 0,
			  "In turns: ranks wait for %.0f %% of the time, in %s, each time for "
			  "another one. None is slower than the others.",
			  percent(slow->turns), steps);
		break;
	case SLOW_MPI:
		text_wrap(view, 0,
			  "MPI: ranks are inside MPI for %.0f %% of the time, in %s, and wait for "
			  "no slow rank. The calls themselves take it, the network, a lack of "
			  "processors, or the order in which ranks wait for each other.",
			  percent(slow->inside), steps);
		break;
	}
}

/* "rank 1", "ranks 0-3, at worst rank 1". */
static const char *having_text(const struct view *view, const struct slow_reason *reason)
{
	const char *who = parts_who(view, reason->having);

	return rankset_count(reason->having) == 1
		       ? who
		       : text_of(view, "%s, at worst rank %d", who, reason->worst);
}

void view_slow(const struct view *view)
{
	const struct slow *slow = slow_of(view);

	print_headline(view, slow);
	if (slow->kind != SLOW_NOT_KNOWN && slow->kind != SLOW_RANKS &&
	    !rankset_is_empty(slow->left_out))
		text_wrap(view, 2, "%s could not be compared: the others may wait for %s",
			  parts_who(view, slow->left_out),
			  parts_plural(slow->left_out, "it", "them"));
	if (slow->is_quiet)
		text_wrap(view, 2,
			  "That was before: no rank has begun an iteration for %s; \"lp\" says who "
			  "is waited for now",
			  time_of(slow->quiet_ns).text);
	for (size_t i = 0; i < slow->num_slow && i < MOST_RANKS; i++)
		print_rank(view, slow, &slow->ranks[i]);
	if (slow->num_slow > MOST_RANKS)
		text_wrap(view, 0, "%zu more ranks: \"slow > FILE.json\" has all",
			  slow->num_slow - MOST_RANKS);
	for (size_t i = 0; i < slow->num_reasons; i++)
		text_wrap(view, 0, "%s: %s", having_text(view, &slow->reasons[i]),
			  reason_text(view, &slow->reasons[i]));
}

void view_slow_glance(const struct view *view)
{
	const struct slow *slow = view->answer ? slow_of(view) : NULL;
	const struct slow_rank *worst;
	const struct rankset *ranks;

	if (!slow)
		return;
	worst = &slow->ranks[0];
	ranks = named(view, slow);
	text_wrap(view, 2,
		  "slow: %s %s the others up for %.0f %% of the time, in %s%s; \"slow\" says why",
		  parts_who(view, ranks), parts_plural(ranks, "holds", "hold"),
		  percent(worst->loss), steps_text(view, slow),
		  worst->since_iteration
			  ? text_of(view, ", since iteration %" PRIu64, worst->since_iteration)
			  : "");
}

/* ---- JSON ---- */

static const char *const kind_names[] = {"not known", "balanced", "ranks", "turns", "mpi"};
static const char *const source_names[] = {"nothing", "iterations", "slices", "samples"};
static const char *const reason_names[] = {
#define SLOW_REASON(id, name, scope, find) name,
#include "analysis/slow/reasons.def"
#undef SLOW_REASON
};

static void write_others(struct json *json, const struct view *view,
			 const struct slow_reason *reason)
{
	if (!reason->num_others)
		return;
	JSON_OBJECTS(json, "processes", i, reason->num_others) {
		const struct usage_process *other = &reason->others[i];

		json_int(json, "pid", other->pid);
		json_text(json, "name", other->name);
		json_seconds(json, "ran_s", other->ran_ns);
		json_text(json, "processors",
			  label_rank_list(view->arena, other->processors, INT_MAX));
	}
}

static void write_reasons(struct json *json, const struct view *view,
			  const struct slow_reason *reasons, size_t num)
{
	JSON_OBJECTS(json, "reasons", i, num) {
		json_text(json, "kind", reason_names[reasons[i].kind]);
		json_fixed(json, "share", reasons[i].share);
		json_text(json, "text", reason_text(view, &reasons[i]));
		write_others(json, view, &reasons[i]);
		if (reasons[i].having)
			json_ranks(json, "ranks", reasons[i].having);
	}
}

static void write_stretch(struct json *json, const struct view *view,
			  const struct slow_stretch *stretch)
{
	json_object(json, "stretch");
	json_text(json, "from", call_text(view, stretch->from));
	json_text(json, "to", call_text(view, stretch->to));
	json_seconds(json, "own_s", whole(stretch->own_ns));
	json_seconds(json, "others_s", whole(stretch->others_ns));
	json_seconds(json, "most_s", whole(stretch->most_ns));
	json_seconds(json, "before_s", whole(stretch->before_ns));
	json_end_object(json);
}

static void write_rank(struct json *json, const struct view *view, const struct slow_rank *rank)
{
	json_int(json, "rank", rank->rank);
	json_fixed(json, "loss", rank->loss);
	json_fixed(json, "outside", rank->outside);
	json_fixed(json, "others_outside", rank->others);
	json_count(json, "longer_in", rank->num_longer);
	if (rank->has_stretch)
		write_stretch(json, view, &rank->stretch);
	if (rank->since_iteration) {
		json_count(json, "since_iteration", rank->since_iteration);
		json_seconds(json, "since_s", whole(rank->since_ns));
	}
	if (rank->sample)
		json_text(json, "where", label_user_place(view, rank->sample->path, LABEL_FULL));
	write_reasons(json, view, rank->reasons, rank->num_reasons);
}

void view_slow_glance_json(const struct view *view)
{
	const struct slow *slow = view->answer ? slow_of(view) : NULL;
	struct json *json = view->json;

	if (!slow)
		return;
	json_object(json, "slow");
	json_ranks(json, "ranks", named(view, slow));
	json_fixed(json, "loss", slow->ranks[0].loss);
	json_end_object(json);
}

void view_slow_json(const struct view *view)
{
	const struct slow *slow = slow_of(view);
	struct json *json = view->json;

	json_text(json, "kind", kind_names[slow->kind]);
	json_ranks(json, "ranks", named(view, slow));
	json_text(json, "source", source_names[slow->source]);
	json_bool(json, "measured", slow->is_measured);
	json_count(json, "steps", slow->num_steps);
	if (slow->kind != SLOW_NOT_KNOWN) {
		json_ranks(json, "left_out", slow->left_out);
		json_fixed(json, "inside", slow->inside);
		json_fixed(json, "turns", slow->turns);
	}
	if (slow->loop != LOOP_NONE) {
		json_text(json, "loop", label_loop(view, slow->loop, LABEL_FULL));
		json_count(json, "first_iteration", slow->first_step);
		json_count(json, "last_iteration", slow->last_step);
		json_seconds(json, "span_s", whole(slow->span_ns));
		json_bool(json, "past", slow->is_quiet);
	}
	JSON_OBJECTS(json, "slow", i, slow->num_slow)
		write_rank(json, view, &slow->ranks[i]);
	write_reasons(json, view, slow->reasons, slow->num_reasons);
}
