/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict in words: which ranks, where, the evidence, how certain, next steps. */

#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "analysis/evidence/stack_facts.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/lp/lp.h"
#include "render/words/parts.h"
#include "render/words/role.h"

enum { MAX_COUNTS = 3, LEAST_WHO = 14 };

/* ---- The first line ---- */

/* "ranks 2,5 of 8"; where not all fit "ranks 2,5,..., 6 of 8". */
static const char *named_text(const struct view *view, const struct rankset *ranks, int room)
{
	const char *of = text_of(view, " of %d", parts_num_ranks(view)), *more, *who;

	who = label_who(view->arena, ranks, room - (int)strlen(of));
	if (!strstr(who, "..."))
		return text_of(view, "%s%s", who, of);
	more = text_of(view, ", %d%s", rankset_count(ranks), of);
	/* On a narrow terminal the ranks come before their number. */
	if (room < LEAST_WHO + (int)strlen(more))
		return label_who(view->arena, ranks, room);
	return text_of(view, "%s%s", label_who(view->arena, ranks, room - (int)strlen(more)), more);
}

/* Ranks outside MPI where all waits end, without those that move. */
static struct rankset *find_slow(const struct view *view)
{
	struct rankset *slow = parts_copy(view, view->verdict->awaited);

	rankset_remove_set(slow, view->verdict->moving);
	return rankset_is_empty(view->verdict->waiting) ? parts_set(view) : slow;
}

/* The first line if nobody is named: who waits for whom. *is_fine_ret: it is certainly no hang. */
static const char *none_text(const struct view *view, bool *is_fine_ret)
{
	const struct verdict *verdict = view->verdict;
	int waiting = rankset_count(verdict->waiting), moving = rankset_count(verdict->moving);
	int ranks = parts_num_ranks(view);
	const struct rankset *awaited = verdict->awaited, *slow = find_slow(view);
	const char *who = parts_who(view, awaited);

	*is_fine_ret = false;
	if (!rankset_is_empty(slow) && rankset_equal(slow, awaited))
		return text_of(view, "%d of %d ranks wait for %s, which %s outside MPI", waiting,
			       ranks, who, parts_plural(slow, "is", "are"));
	if (!rankset_is_empty(slow))
		return text_of(view, "%d of %d ranks wait for %s; %s %s outside MPI", waiting,
			       ranks, who, parts_who(view, slow), parts_plural(slow, "is", "are"));
	if (verdict->is_edge)
		return text_of(view, "%d of %d ranks are in MPI_Init or MPI_Finalize", waiting,
			       ranks);
	*is_fine_ret = true;
	if (moving > 0 && moving == ranks)
		return ranks == 1 ? "the only rank is making progress"
				  : text_of(view, "all %d ranks are making progress", ranks);
	if (waiting > 0 && !rankset_is_empty(awaited))
		return text_of(view, "%d of %d ranks wait for %s, which %s still making progress",
			       waiting, ranks, who, parts_plural(awaited, "is", "are"));
	if (moving > 0 && waiting == 0)
		return text_of(view, "%d of %d ranks are making progress, no rank waits inside MPI",
			       moving, ranks);
	*is_fine_ret = false;
	if (moving > 0)
		return text_of(view, "%d of %d ranks wait inside MPI, %s %s making progress",
			       waiting, ranks, parts_who(view, verdict->moving),
			       parts_plural(verdict->moving, "is", "are"));
	if (waiting > 0)
		return text_of(view,
			       "%d of %d ranks wait inside MPI, no rank is known to hold them up",
			       waiting, ranks);
	return "no rank waits inside MPI";
}

/* "No hang: ..." or "No certain hang: ..."; neither if watching found a hang. */
static const char *none_headline(const struct view *view)
{
	bool is_fine;
	const char *text = none_text(view, &is_fine);

	if (view->is_known_hang)
		return text_of(view, "%c%s.", toupper((unsigned char)*text), text + 1);
	return text_of(view, "%s: %s.", is_fine ? "No hang" : role_of(view)->title, text);
}

static const char *headline(const struct view *view)
{
	const char *title = role_of(view)->title;

	if (view->verdict->kind == VERDICT_UNKNOWN)
		return title;
	if (view->verdict->kind == VERDICT_NONE)
		return none_headline(view);
	return text_of(view, "%s%s", title,
		       named_text(view, view->verdict->culprits, view->width - (int)strlen(title)));
}

static void print_first_line(const struct view *view)
{
	const char *fit;

	if (rankset_is_empty(view->verdict->culprits)) {
		text_wrap(view, 0, "%s", headline(view));
		return;
	}
	fit = text_fit(view->arena, headline(view), (size_t)view->width, view->use_unicode);
	if (view->is_html) {
		text_wrap(view, 0, "%s", fit);
	} else {
		text_color(view, TEXT_CULPRIT);
		fputs(fit, view->out);
		text_color(view, TEXT_PLAIN);
		fputc('\n', view->out);
	}
}

/* ---- No culprit: why ---- */

/* Are earlier stays of all these ranks known? */
static bool have_history(const struct view *view, const struct rankset *ranks)
{
	const struct job_model *model = view->job->model;

	for (int r = rankset_first(ranks); r >= 0; r = rankset_next(ranks, r))
		if (!model || !rankset_contains(model->ranks, r))
			return false;
	return true;
}

/* The present stay of these ranks, compared with their longest earlier one. */
static const char *stays_text(const struct view *view, const struct rankset *ranks)
{
	const struct verdict *verdict = view->verdict;
	const struct label_time stay = label_time(verdict->stay_ns);
	const struct label_time before = label_time(verdict->longest_before_ns);

	if (!have_history(view, ranks))
		return text_of(view, "here for %s, in all stack samples", stay.text);
	if (verdict->is_new_state && verdict->longest_before_ns)
		return text_of(view,
			       "here for %s, for the first time; the longest stay elsewhere was %s",
			       stay.text, before.text);
	if (verdict->is_new_state)
		return text_of(view, "here for %s, for the first time", stay.text);
	return text_of(view, "here for %s; the longest stay here before was %s", stay.text,
		       before.text);
}

static void print_doubt(const struct view *view, const char *why)
{
	text_wrap(view, 2, "not sure that this is a hang%s: %s",
		  view->is_script ? " (exit status 0)" : "", why);
}

static void print_not_sure(const struct view *view)
{
	const struct verdict *verdict = view->verdict;

	if (view->is_known_hang)
		return;
	if (verdict->is_uncounted)
		print_doubt(view, "it may just take long. The messages of some ranks cannot be "
				  "counted, so ranks may move unseen between the samples");
	else if (verdict->basis == VERDICT_BY_STACKS && verdict->stay_ns)
		print_doubt(view, view->is_past ? "it may just take long"
						: "it may just take long; for a longer look: \"set "
						  "look 30000\", \"refresh\"");
	else
		print_doubt(view, "it may just take long; look again later");
}

static void print_why_none(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	int moving = rankset_count(verdict->moving), ranks = parts_num_ranks(view);
	const struct rankset *slow = find_slow(view);

	if (verdict->is_edge)
		text_wrap(view, 2, "the job starts or ends, which may take a while");
	else if (moving > 0 && moving == ranks)
		text_wrap(view, 2, "each entered or left an MPI call just now");
	if (!rankset_is_empty(slow))
		text_wrap(view, 2, "%s: %s", parts_who(view, slow), stays_text(view, slow));
	if (verdict->basis == VERDICT_BY_MODELS && moving < ranks)
		text_wrap(view, 2, "last move of any rank: %s ago",
			  label_time(verdict->quiet_ns).text);
	if (!rankset_is_empty(slow)) {
		print_not_sure(view);
		text_wrap(view, 2, "next: \"bt %d\", \"why %d\"", rankset_first(slow),
			  rankset_first(verdict->waiting));
	}
}

/* For ranks that all wait, by their stacks: print their places; the few elsewhere come first. */
static void print_apart(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	struct rankset *most = parts_copy(view, verdict->waiting);

	if (!rankset_is_empty(verdict->apart)) {
		text_wrap(view, 2,
			  "%s %s not where most are: look there first. A rank that waits for a "
			  "message that was not sent is apart, too",
			  parts_who(view, verdict->apart),
			  parts_plural(verdict->apart, "is", "are"));
		stack_places_print(view, verdict->apart);
		rankset_remove_set(most, verdict->apart);
	}
	stack_places_print(view, most);
}

static void print_why_unknown(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	int waiting = rankset_count(verdict->waiting);

	if (waiting > 0) {
		text_wrap(view, 2,
			  "%d of %d ranks were inside MPI in all their stack samples, none was "
			  "outside: stacks alone do not show which is behind",
			  waiting, parts_num_ranks(view));
		cause_print_open(view);
		view_unstoppable(view);
		print_apart(view);
		order_text_print_doubt(view);
		if (verdict->deadlock)
			print_doubt(view, "pdb can name no rank; look again later");
		text_wrap(view, 2, "next: %s\"bt %d\", \"classes\"",
			  view->waitfor->evidence->has_queues ? "\"waits\", " : "",
			  rankset_first(rankset_is_empty(verdict->apart) ? verdict->waiting
									 : verdict->apart));
	} else {
		text_wrap(view, 2, "there are no counts of MPI calls and no stacks");
	}
	text_wrap(view, 2,
		  "next time start the job with \"pdb run -- mpirun ...\", which counts its MPI "
		  "calls");
}

/* ---- By stacks ---- */

/* Ranks whose processes have ended. */
static struct rankset *find_ended(const struct view *view)
{
	const struct job *job = view->job;
	struct rankset *ended = parts_set(view);

	for (size_t i = 0; i < job->num_holes; i++)
		if (rankset_contains(view->verdict->culprits, job->holes[i].rank) &&
		    strcmp(job->holes[i].why, JOB_HOLE_ENDED) == 0)
			rankset_add(ended, job->holes[i].rank);
	return ended;
}

/* ---- Evidence ---- */

static bool is_waiting_group(const struct eqgroup *group)
{
	return group->activity == ACTIVITY_IN_MPI || group->activity == ACTIVITY_POLLING;
}

/* Culprits that wait inside MPI. */
static struct rankset *find_waiting_culprits(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	struct rankset *found = parts_set(view);

	if (verdict->kind == VERDICT_STOPPED || verdict->kind == VERDICT_LEFT)
		return found;
	if (verdict->basis == VERDICT_BY_STACKS) {
		const struct stack_facts *facts = view->waitfor->evidence->stacks;

		for (int r = rankset_first(verdict->culprits); r >= 0;
		     r = rankset_next(verdict->culprits, r)) {
			const struct stack_fact *fact = stack_facts_get(facts, r);

			if (fact->num_samples && fact->num_outside == 0)
				rankset_add(found, r);
		}
	}
	for (size_t i = 0; view->groups && i < verdict->num_culprit_groups; i++) {
		const struct eqgroup *group = &view->groups->groups[verdict->culprit_groups[i]];

		if (is_waiting_group(group))
			rankset_add_set(found, group->ranks);
	}
	rankset_keep_set(found, verdict->culprits);
	rankset_remove_set(found, verdict->moving);
	return found;
}

/* ": 508 in MPI_Allgather, 2 in MPI_Waitall", by the groups of the waiting ranks. */
static const char *waits_text(const struct view *view, const struct rankset *waiting)
{
	struct same waits = {.arena = view->arena};
	struct text_list line = {.arena = view->arena};

	for (size_t g = 0; view->groups && g < view->groups->num_groups; g++) {
		const struct eqgroup *group = &view->groups->groups[g];
		const char *function = view->job->model->sites[SEG_STATE_SITE(group->state)].name;
		struct rankset *ranks = parts_both(view, group->ranks, waiting);

		if (group->activity == ACTIVITY_POLLING)
			function = "polling";
		else if (!is_waiting_group(group))
			function = NULL;
		if (function && !rankset_is_empty(ranks))
			same_add_set(&waits, function, ranks);
	}
	same_sort(&waits);
	for (size_t w = 0; w < waits.num && w < MAX_COUNTS; w++) {
		const struct same_entry *wait = &waits.entries[w];

		text_list_add(&line, ", ",
			      text_of(view, "%d %s%s", rankset_count(wait->ranks),
				      strcmp(wait->text, "polling") ? "in " : "", wait->text));
	}
	if (waits.num > MAX_COUNTS)
		text_list_add(&line, ", ", "...");
	return line.text;
}

/* ", for at least 70 s": the shortest stay of a group of waiting ranks. */
static const char *shortest_wait(const struct view *view, const struct rankset *waiting)
{
	uint64_t shortest = UINT64_MAX;

	for (size_t g = 0; view->groups && g < view->groups->num_groups; g++) {
		const struct eqgroup *group = &view->groups->groups[g];

		if (!rankset_is_empty(parts_both(view, group->ranks, waiting)) &&
		    group->stay_min_ns < shortest)
			shortest = group->stay_min_ns;
	}
	if (shortest == UINT64_MAX)
		return "";
	return text_of(view, ", for at least %s", label_time(shortest).text);
}

static void print_evidence(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	struct rankset *waiting = find_waiting_culprits(view);
	int moving = rankset_count(verdict->moving), ranks = parts_num_ranks(view);
	const char *waits;

	rankset_add_set(waiting, verdict->waiting);
	waits = waits_text(view, waiting);
	text_wrap(view, 2, "evidence: %d of %d ranks wait inside MPI%s%s%s", rankset_count(waiting),
		  ranks, waits ? ": " : "", waits ? waits : "", shortest_wait(view, waiting));
	if (!cause_has_places(view))
		cause_print_waits(view, 4);
	looks_print(view, 4);
	if (verdict->is_edge) {
		text_wrap(view, 4, "all ranks that have started are in MPI_Init, for %s",
			  label_time(verdict->stay_ns).text);
	} else if (verdict->basis == VERDICT_BY_MODELS) {
		if (moving)
			text_wrap(view, 4, "%d of %d ranks are making progress", moving, ranks);
		else
			text_wrap(view, 4, "no rank has moved for %s",
				  label_time(verdict->quiet_ns).text);
		if (verdict->num_culprit_groups)
			text_wrap(view, 4, "%s", stays_text(view, verdict->culprits));
	} else {
		text_wrap(view, 4,
			  "by stack samples%s%s%s: without the recorder, MPI calls have no counts "
			  "and no times",
			  verdict->stay_ns ? " that agree for " : " of one moment",
			  verdict->stay_ns ? label_time(verdict->stay_ns).text : "",
			  view->waitfor->evidence->has_queues
				  ? ", and by the messages that the MPI library holds"
				  : "");
	}
}

static const char *const doubts[NUM_DOUBTS] = {
	[DOUBT_ON_ITS_WAY] = "it may still be on its way",
	[DOUBT_NOT_SHOWN] = "the counts of calls say that it was sent, the MPI library does not",
	[DOUBT_FIRST_POST] = "the other rank may have left out its first post to it",
	[DOUBT_LATER_START] = "the request may be one that is to be started later",
	[DOUBT_LATER_RECEIVE] = "the message that lies there may be meant for a later receive",
	[DOUBT_WHO_SENDS] = "the MPI library shows which messages are missing, not which rank "
			    "should send them",
	[DOUBT_POLLING] = "ranks that poll may stop polling and go on",
	[DOUBT_DEPARTURE] = "its unusual next call need not be the cause",
	[DOUBT_ORDER] = "the sender was found by the order of the calls alone",
	[DOUBT_PLACES] = "only the places of the ranks and the order of the calls show which rank "
			 "left it out",
	[DOUBT_EARLIER] = "another rank may have left out an earlier collective, so that its part "
			  "went to the wrong one",
	[DOUBT_SHIFTED] = "others wait in an earlier collective that all have called: a collective "
			  "left out before it would explain both",
	[DOUBT_UNCOUNTED] = "a message that cannot be counted may be on its way between them",
	[DOUBT_THREAD] = "a thread that has not called MPI so far could still help",
};

/* Is the job known only from cores, so that no process can be looked at? */
static bool has_cores(const struct view *view)
{
	return view->job->proctable->source == PROCTABLE_CORES;
}

static void print_confidence(const struct view *view)
{
	const struct verdict *verdict = view->verdict;

	if (verdict->kind == VERDICT_UNDECIDED)
		text_wrap(view, 2,
			  "not decided: all of these are inside MPI, and none is known to be "
			  "behind the others");
	else if (verdict->kind == VERDICT_LEAST && verdict->witness.kind == WITNESS_NOVEL)
		text_wrap(view, 2,
			  "all ranks that do not move are inside MPI. This one took an unusual "
			  "step, which need not be the cause");
	else if (verdict->kind == VERDICT_LEAST)
		text_wrap(view, 2,
			  "all ranks that do not move are inside MPI. These are the least "
			  "progressed of them, which need not be the cause");
	if (verdict->doubt)
		text_wrap(view, 2, "likely, not certain: %s", doubts[verdict->doubt]);
	if (!verdict->is_hang && has_cores(view))
		print_doubt(view, "cores show one moment only");
	else if (!verdict->is_hang)
		print_not_sure(view);
	if (verdict->is_approximate)
		text_wrap(view, 2,
			  "approximate: iterations of an inner loop were compared by their total "
			  "of the whole run");
}

/* Print which process traces the rank, as gdb cannot attach then. False: none does. */
static bool print_tracer(const struct view *view, int rank, int waiting)
{
	const struct sample *sample = samples_find(view->job->samples, rank, 0);
	const struct proc *proc = proctable_find(view->job->proctable, rank);
	bool is_far = proc && !proc->is_local && proc->host;
	const char *who, *more;

	if (!sample)
		return false;
	who = arena_keep(view->arena, sample_tracer(sample), free);
	if (!who && sample->state == 't')
		who = "a debugger";
	if (!who)
		return false;
	more = waiting >= 0 && view->groups ? text_of(view, "; \"why %d\"", waiting) : "";
	text_wrap(view, 2,
		  "next: rank %d is held by %s%s%s: look there, or detach that and \"refresh\"%s",
		  rank, who, is_far ? " on " : "", is_far ? proc->host : "", more);
	return true;
}

static void print_next(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	int culprit = rankset_first(verdict->culprits), waiting = rankset_first(verdict->waiting);
	bool is_ended = culprit >= 0 && rankset_contains(find_ended(view), culprit);

	if (culprit < 0)
		return;
	/* No process is left to look at. */
	if (is_ended && waiting >= 0)
		text_wrap(view, 2, "next: \"bt %d\", and what the job has printed", waiting);
	if (is_ended)
		return;
	if (has_cores(view)) {
		text_wrap(view, 2, "next: \"bt %d\"", culprit);
		return;
	}
	if (!view->is_past && print_tracer(view, culprit, waiting))
		return;
	text_wrap(view, 2, "next: %s%s\"bt %d\"%s", cause_next(view),
		  view->is_past ? "" : text_of(view, "\"gdb %d\", ", culprit), culprit,
		  waiting >= 0 && view->groups ? text_of(view, ", \"why %d\"", waiting) : "");
}

void view_lp(const struct view *view)
{
	const struct verdict *verdict = view->verdict;

	print_first_line(view);
	if (verdict->kind == VERDICT_NONE) {
		print_why_none(view);
		view_slow_glance(view);
	} else if (verdict->kind == VERDICT_UNKNOWN) {
		print_why_unknown(view);
	} else if (verdict->kind == VERDICT_CRASHED) {
		view_crash_verdict(view);
	} else {
		cause_print(view);
		if (view->groups && verdict->num_culprit_groups)
			culprit_places_print(view, cause_has_places(view));
		else
			stack_places_print(view, verdict->culprits);
		view_cause_glance(view, 2);
		order_text_print_choice(view);
		view_process_states(view);
		view_ended(view, find_ended(view));
		print_evidence(view);
		print_confidence(view);
		print_next(view);
	}
	view_holes(view);
}
