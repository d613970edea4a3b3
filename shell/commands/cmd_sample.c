/* SPDX-License-Identifier: BSD-3-Clause
 * sample: take stacks, once or over time. */
#include <errno.h>

#include "attach/stacks/sampler.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/text/json.h"
#include "render/words/label.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/session.h"
#include "shell/spinner.h"
#include "shell/answers/stack_order.h"

/* The longest time that pdb waits for daemons to look. */
#define MAX_MS 60000
#define MAX_TIMES 10000
#define INTERVAL_MS 100 /* if none is given */

/* "250ms", "2s", "0.5s"; a bare number is milliseconds. */
static int take_time(const char *word, double *ms_ret, struct pdb_error *err)
{
	char *end;
	double time;

	errno = 0;
	time = strtod(word, &end);
	if (end != word && strcmp(end, "s") == 0)
		time *= 1000;
	else if (end == word || (*end && strcmp(end, "ms") != 0))
		time = -1;
	if (errno || !(time >= 1 && time <= MAX_MS))
		return error_set(err, ERROR_USAGE,
				 "\"%s\" is not a time from 1ms to %ds, such as 100ms or 2s", word,
				 MAX_MS / 1000);
	*ms_ret = time;
	return 0;
}

static int take_words(const struct args *args, long *times_ret, int *ms_ret, struct pdb_error *err)
{
	double interval = INTERVAL_MS;
	size_t next = 0;

	*times_ret = 1;
	*ms_ret = 0;
	if (args->num_words == 0)
		return 0;
	if (args_take_number(args, &next, "number of samples", 1, MAX_TIMES, times_ret, err) < 0)
		return -1;
	if (next < args->num_words) {
		if (strcmp(args->words[next], "every") != 0 || args->num_words != 3)
			return error_set(err, ERROR_USAGE, "usage: %s", cmd_sample.usage);
		if (take_time(args->words[2], &interval, err) < 0)
			return -1;
	}
	if (interval * (double)(*times_ret - 1) > MAX_MS)
		return error_set(err, ERROR_USAGE,
				 "%ld samples every %g ms take longer than %d s; take fewer",
				 *times_ret, interval, MAX_MS / 1000);
	*ms_ret = (int)(interval * (double)(*times_ret - 1));
	return 0;
}

/* What sampling has produced. */
struct counts {
	struct rankset *ranks; /* ranks with a stack */
	size_t stacks, incomplete;
	size_t times; /* samples of one thread, at most */
	uint64_t stops, stopped_ns;
};

static void count(const struct samples *samples, const struct rankset *ranks, struct counts *ret)
{
	size_t times = 0;

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!rankset_contains(ranks, sample->rank) || sample->status == SAMPLE_FAILED)
			continue;
		rankset_add(ret->ranks, sample->rank);
		ret->stacks++;
		ret->incomplete += sample->status == SAMPLE_INCOMPLETE;
		times = i > 0 && sample[-1].rank == sample->rank && sample[-1].tid == sample->tid
				? times + 1
				: 1;
		if (times > ret->times)
			ret->times = times;
	}
}

static void tell_json(const struct view *view)
{
	const struct counts *counts = view->answer->own;
	struct json *json = view->json;

	json_ranks(json, "ranks", counts->ranks);
	json_count(json, "samples", counts->times);
	json_count(json, "stacks", counts->stacks);
	json_count(json, "incomplete", counts->incomplete);
	json_count(json, "stops", counts->stops);
	json_seconds(json, "stopped_s", counts->stopped_ns);
}

static void tell(const struct view *view)
{
	const struct counts *counts = view->answer->own;

	fprintf(view->out, "%zu sample%s of %s: %zu stack%s, %zu of them incomplete\n",
		counts->times, counts->times == 1 ? "" : "s",
		rankset_is_empty(counts->ranks) ? "no rank"
						: label_who(view->arena, counts->ranks, 40),
		counts->stacks, counts->stacks == 1 ? "" : "s", counts->incomplete);
	if (counts->stops > 0)
		fprintf(view->out, "A thread stood still for %.0f us each time, on average.\n",
			(double)counts->stopped_ns / (double)counts->stops / 1e3);
}

static int find_sample(struct session *session, const struct args *args, struct answer *answer,
		       struct pdb_error *err)
{
	struct counts *counts = arena_alloc(answer->arena, sizeof(*counts));
	const struct args none = {.words = NULL};
	struct sampler_cost before, after;
	long times;
	int ms;

	if (take_words(args, &times, &ms, err) < 0 ||
	    answer_take_ranks(session, &none, answer, err) < 0)
		return -1;
	spinner_expect(ms / 1e3);
	/* Most ranks are still at places known from earlier samples. Preparing those first gives
	 * each new sample its place in the order. */
	if (session->job->samples)
		stack_order_prepare(session, session->job->samples);
	if (session_get_cost(session, &before, err) < 0 ||
	    session_sample(session, answer->ranks, (int)times, ms, err) < 0 ||
	    session_get_cost(session, &after, err) < 0)
		return -1;
	counts->ranks = rankset_in(answer->arena, rankset_create());
	counts->stops = after.num_samples - before.num_samples;
	counts->stopped_ns = after.stopped_ns_total - before.stopped_ns_total;
	count(session->job->samples, answer->ranks, counts);
	answer->own = counts;
	return 0;
}

const struct command cmd_sample = {
	.name = "sample",
	.topic = TOPIC_STACKS,
	.usage = "sample [N [every T]]",
	.summary = "Take stack samples, once or N times, for tree and classes.",
	.text = "sample takes stacks of the ranks in focus, else of all, on all nodes. With \"set\n"
		"threads on\" it takes all their threads. T is a time such as 2s; without it,\n"
		"100ms. A rank stands still for some microseconds each time. If pdb cannot\n"
		"follow a stack to its beginning, it tries twice more. All samples together may\n"
		"take up to 60 s. Ctrl-C ends it early.",
	.example = "sample 10 every 200ms",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_STACKS,
	.max_words = 3,
	.find = find_sample,
	.views = {[FORMAT_TEXT] = tell, [FORMAT_JSON] = tell_json},
};
