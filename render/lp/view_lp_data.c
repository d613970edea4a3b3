/* SPDX-License-Identifier: BSD-3-Clause
 * The verdict as JSON. */
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "render/text/json.h"
#include "render/words/parts.h"
#include "render/words/role.h"

const char *view_verdict_name(const struct verdict *verdict)
{
	static const char *const names[] = {
		[VERDICT_NONE] = "none",         [VERDICT_COMPUTATION] = "computation",
		[VERDICT_STOPPED] = "stopped",   [VERDICT_LEFT] = "left",
		[VERDICT_LEAST] = "least",       [VERDICT_UNDECIDED] = "undecided",
		[VERDICT_UNKNOWN] = "unknown",   [VERDICT_DEADLOCK] = "deadlock",
		[VERDICT_MISMATCH] = "mismatch", [VERDICT_LOST] = "lost message",
		[VERDICT_LIBRARY] = "library",   [VERDICT_CRASHED] = "crash",
	};

	return names[verdict->kind];
}

/* How the rank ended, as far as it is known. */
static void write_end(struct json *json, const struct view *view, const struct job_end *end)
{
	json_text(json, "ended", label_end(view->arena, end));
	if (end->how != JOB_END_UNKNOWN)
		json_int(json, end->how == JOB_END_KILLED ? "signal" : "exit_status", end->number);
	if (end->oom_kills)
		json_count(json, "oom_kills", end->oom_kills);
	json_bool(json, "killed_for_memory", end->is_chosen);
}

static void write_holes(struct json *json, const struct view *view)
{
	const struct job *job = view->job;

	json_array(json, "holes");
	for (size_t i = 0; i < job->num_holes; i++) {
		json_object(json, NULL);
		json_int(json, "rank", job->holes[i].rank);
		json_text(json, "why", job->holes[i].why);
		if (job_find_end(job, job->holes[i].rank))
			write_end(json, view, job_find_end(job, job->holes[i].rank));
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_crashes(struct json *json, const struct view *view)
{
	const struct job *job = view->job;

	json_array(json, "crashes");
	for (size_t i = 0; i < job->num_crashes; i++) {
		json_object(json, NULL);
		json_int(json, "rank", job->crashes[i].rank);
		json_int(json, "signal", job->crashes[i].signal);
		json_text(json, "how", label_crash(view->arena, &job->crashes[i]));
		json_end_object(json);
	}
	json_end_array(json);
}

/* The message that a rank waits for. */
static void write_message(struct json *json, const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	const struct waitfor_need *need = verdict->need;

	if (verdict->kind != VERDICT_LOST || !need || need->kind == WAITFOR_TOKEN)
		return;
	json_object(json, "message");
	if (need->peer >= 0)
		json_int(json, "from", need->peer);
	json_int(json, "to", view->waitfor->evidence->actors[need->actor].rank);
	if (need->tag >= 0)
		json_int(json, "tag", need->tag);
	if (need->number != WAITFOR_NOT_KNOWN && need->number > 0)
		json_int(json, "number", (int64_t)need->number);
	json_bool(json, "sent", need->is_sent);
	json_end_object(json);
}

void view_lp_json(const struct view *view)
{
	const struct verdict *verdict = view->verdict;
	bool has_times = verdict->basis == VERDICT_BY_MODELS;
	struct json *json = view->json;

	json_text(json, "verdict", view_verdict_name(verdict));
	json_text(json, "role", role_of(view)->name);
	json_text(json, "rule", verdict->rule);
	json_bool(json, "hang", verdict->is_hang || view->is_known_hang);
	json_bool(json, "likely", verdict->doubt != DOUBT_NONE);
	json_bool(json, "approximate", verdict->is_approximate);
	json_text(json, "by", has_times ? "models" : "stacks");
	json_who(json, verdict->culprits);
	json_ranks(json, "waiting", verdict->waiting);
	json_ranks(json, "moving", verdict->moving);
	json_ranks(json, "apart", verdict->apart);
	json_seconds(json, "stay_s", verdict->stay_ns);
	if (has_times) {
		json_seconds(json, "longest_stay_before_s", verdict->longest_before_ns);
		json_seconds(json, "quiet_s", verdict->quiet_ns);
	}
	json_array(json, "groups");
	for (size_t i = 0; view->groups && i < verdict->num_culprit_groups; i++) {
		uint32_t g = verdict->culprit_groups[i];

		json_object(json, NULL);
		parts_json_group(json, view, g, view->groups->groups[g].ranks);
		json_end_object(json);
	}
	json_end_array(json);
	label_json_thread_waits(json, view, verdict->culprits);
	label_json_system_calls(json, view, verdict->culprits);
	label_json_limits(json, view, verdict->culprits);
	view_slow_glance_json(view);
	view_cause_glance_json(view);
	write_message(json, view);
	write_crashes(json, view);
	write_holes(json, view);
	json_lines(json, "text", view, view_lp);
}
