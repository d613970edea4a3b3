/* SPDX-License-Identifier: BSD-3-Clause
 * info overhead: what pdb and the recorder have cost the job. */
#include "attach/stacks/sampler.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "render/text/json.h"
#include "shell/command.h"
#include "shell/daemons.h"
#include "shell/session.h"

/* Of the recorders. */
struct recorder_sums {
	uint64_t bytes, largest, unwinds, events;
};

/* Count each model once, not once per lane. */
static struct recorder_sums sum_recorders(const struct job_model *jm)
{
	struct recorder_sums sums = {0};
	const struct model *last = NULL;

	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct model *model = jm->lanes[i].model;

		sums.events += jm->lanes[i].data->events;
		if (model == last)
			continue;
		last = model;
		sums.bytes += model->bytes;
		sums.unwinds += model->full_unwinds;
		if (model->bytes > sums.largest)
			sums.largest = model->bytes;
	}
	return sums;
}

static void print_start(const struct daemons *daemons, FILE *out)
{
	fprintf(out,
		"  start of daemons %.0f ms: launcher told %.0f, connected %.0f, job told %.0f\n",
		(daemons->launch_ns + daemons->connect_ns + daemons->tell_ns) / 1e6,
		daemons->launch_ns / 1e6, daemons->connect_ns / 1e6, daemons->tell_ns / 1e6);
}

static int find_overhead(struct session *session, const struct args *args, struct answer *answer,
			 struct pdb_error *err)
{
	struct sampler_cost *cost = arena_alloc(answer->arena, sizeof(*cost));

	(void)args;
	answer->own = cost;
	return session->sampler ? session_get_cost(session, cost, err) : 0;
}

static void print_sampling(const struct session *session, const struct sampler_cost *cost,
			   FILE *out)
{
	if (session->daemons)
		print_start(session->daemons, out);
	fprintf(out, "  stack samples    %" PRIu64 " taken, %" PRIu64 " failed\n",
		cost->num_samples, cost->num_failed);
	fprintf(out, "  ranks stopped    median %.0f us, longest %.0f us, all together %.1f ms\n",
		cost->stopped_ns_median / 1e3, cost->stopped_ns_max / 1e3,
		cost->stopped_ns_total / 1e6);
	fprintf(out, "  last look        %.0f ms; ranks do not notice the reading\n",
		session->look_cost_ns / 1e6);
}

static void print_overhead(const struct view *view)
{
	struct recorder_sums sums;

	if (view->session->sampler)
		print_sampling(view->session, view->answer->own, view->out);
	if (!view->job->model)
		return;
	sums = sum_recorders(view->job->model);
	fprintf(view->out, "  recorders        %.1f MB in all, %.2f MB in the largest rank\n",
		sums.bytes / 1e6, sums.largest / 1e6);
	fprintf(view->out, "  full unwinds     %" PRIu64 " in %" PRIu64 " transitions\n",
		sums.unwinds, sums.events);
}

static void overhead_json(const struct view *view)
{
	const struct sampler_cost *cost = view->answer->own;
	struct recorder_sums sums = {0};
	struct json *json = view->json;

	if (view->job->model)
		sums = sum_recorders(view->job->model);
	json_count(json, "samples", cost->num_samples);
	json_count(json, "samples_failed", cost->num_failed);
	json_seconds(json, "stopped_median_s", cost->stopped_ns_median);
	json_seconds(json, "stopped_longest_s", cost->stopped_ns_max);
	json_seconds(json, "stopped_s", cost->stopped_ns_total);
	json_seconds(json, "look_s", view->session->look_cost_ns);
	json_count(json, "recorder_bytes", sums.bytes);
	json_count(json, "recorder_bytes_largest", sums.largest);
	json_count(json, "full_unwinds", sums.unwinds);
	json_count(json, "transitions", sums.events);
}

const struct command info_overhead = {
	.name = "overhead",
	.topic = TOPIC_JOB,
	.usage = "info overhead",
	.summary = "Show what pdb and the recorder have cost the job.",
	.text = "The answer shows how long ranks stood still for stack samples, and how long\n"
		"the last look took. It also shows how much the recorders keep, and how often\n"
		"they had to unwind in full.",
	.example = "info overhead",
	.flags = CMD_NEEDS_JOB,
	.find = find_overhead,
	.views = {[FORMAT_TEXT] = print_overhead, [FORMAT_JSON] = overhead_json},
};
