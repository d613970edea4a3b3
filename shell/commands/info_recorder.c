/* SPDX-License-Identifier: BSD-3-Clause
 * info recorder: what the recorders store, and what they lost. */
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "shell/answers/answer.h"
#include "shell/command.h"

static uint64_t count_dropped(const struct model *model)
{
	return model->program->dropped_strings + model->program->dropped_modules +
	       model->program->dropped_frames + model->program->dropped_sites +
	       model->program->dropped_transitions + model->program->dropped_lanes;
}

/* Of the parts that show who waits for whom. */
static uint64_t count_dropped_evidence(const struct model *model)
{
	uint64_t dropped = model->program->dropped_comms + model->program->dropped_members +
			   model->program->dropped_requests;

	for (size_t i = 0; i < model->num_lanes; i++)
		dropped += model->lanes[i].dropped_ledger;
	return dropped;
}

/* Does any ledger count several tags in one row? */
static bool has_many_tags(const struct model *model)
{
	for (size_t i = 0; i < model->num_lanes; i++)
		for (size_t r = 0; r < model->lanes[i].num_ledger; r++)
			if (model->lanes[i].ledger[r].tag == SEG_TAG_MANY)
				return true;
	return false;
}

static const char *life_text(enum seg_life life)
{
	switch (life) {
	case SEG_LIFE_STARTING:
		return "in MPI_Init";
	case SEG_LIFE_RUNNING:
		return "running";
	case SEG_LIFE_FINALIZING:
		return "in MPI_Finalize";
	case SEG_LIFE_FINALIZED:
		return "finalized";
	case SEG_LIFE_ABORTED:
		return "called MPI_Abort";
	case SEG_LIFE_STOPPED:
		return "no space: past only";
	}
	return "?";
}

static uint64_t count_transitions(const struct model *model)
{
	uint64_t transitions = 0;

	for (size_t i = 0; i < model->num_lanes; i++)
		transitions += model->lanes[i].events;
	return transitions;
}

static void model_json(struct json *json, int rank, const struct model *model)
{
	json_object(json, NULL);
	json_int(json, "rank", rank);
	json_text(json, "state", life_text(model->life));
	json_count(json, "threads", model->num_lanes);
	json_count(json, "call_paths", model->num_sites ? model->num_sites - 1 : 0);
	json_count(json, "transitions", count_transitions(model));
	json_count(json, "bytes", model->bytes);
	json_count(json, "lost", count_dropped(model));
	json_count(json, "lost_evidence", count_dropped_evidence(model));
	json_bool(json, "tags_together", has_many_tags(model));
	json_count(json, "abandoned", model->abandoned);
	json_end_object(json);
}

static void add_model(struct table *table, int rank, const struct model *model)
{
	table_row(table);
	table_cell(table, "%d", rank);
	table_cell(table, "%s", life_text(model->life));
	table_cell(table, "%zu", model->num_lanes);
	table_cell(table, "%zu", model->num_sites ? model->num_sites - 1 : 0);
	table_cell(table, "%" PRIu64, count_transitions(model));
	table_cell(table, "%.0f", model->bytes / 1e3);
	table_cell(table, "%" PRIu64, count_dropped(model));
	table_cell(table, "%" PRIu64 "%s", count_dropped_evidence(model),
		   has_many_tags(model) ? "+" : "");
	table_cell(table, "%" PRIu64, model->abandoned);
}

/* The first lane at or after *i whose model is wanted and new. NULL: there is none. */
static const struct job_lane *next_lane(const struct view *view, size_t *i)
{
	const struct job_model *jm = view->job->model;

	while (*i < jm->num_lanes) {
		const struct job_lane *lane = &jm->lanes[(*i)++];

		if ((lane == jm->lanes || lane[-1].model != lane->model) &&
		    rankset_contains(view->answer->ranks, lane->rank))
			return lane;
	}
	return NULL;
}

static void recorder_json(const struct view *view)
{
	struct json *json = view->json;
	const struct job_lane *lane;

	json_array(json, "ranks");
	for (size_t i = 0; (lane = next_lane(view, &i));)
		model_json(json, lane->rank, lane->model);
	json_end_array(json);
}

static void print_recorder(const struct view *view)
{
	static const struct table_column columns[] = {
		{.name = "rank", .header = "rank", .align = TABLE_RIGHT},
		{.name = "state", .header = "state", .min_width = 10},
		{.name = "threads",
		 .header = "threads",
		 .align = TABLE_RIGHT,
		 .flags = TABLE_SPARE},
		{.name = "sites",
		 .header = "call paths",
		 .align = TABLE_RIGHT,
		 .flags = TABLE_SPARE},
		{.name = "transitions", .header = "transitions", .align = TABLE_RIGHT},
		{.name = "kB", .header = "kB", .align = TABLE_RIGHT, .flags = TABLE_SPARE},
		{.name = "lost", .header = "entries lost", .align = TABLE_RIGHT},
		{.name = "evidence", .header = "messages uncounted", .align = TABLE_RIGHT},
		{.name = "abandoned", .header = "left by jump", .align = TABLE_RIGHT},
	};
	struct table *table = TABLE_OF(view, columns);
	const struct job_lane *lane;

	for (size_t i = 0; (lane = next_lane(view, &i));)
		add_model(table, lane->rank, lane->model);
	table_print(table);
}

const struct command info_recorder = {
	.name = "recorder",
	.topic = TOPIC_JOB,
	.usage = "info recorder [RANKS]",
	.summary = "Show what the recorders hold, and what they lost.",
	.text = "\"entries lost\" counts call paths, transitions and threads that had no room.\n"
		"\"messages uncounted\" counts messages, requests and communicators that had\n"
		"none. + marks ranks whose tags the recorder had to count together. Lost entries\n"
		"make answers less sure. \"left by jump\": MPI calls that ended by longjmp() or\n"
		"an exception. Without RANKS: the ranks in focus, else all.",
	.example = "info recorder lp",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = answer_take_ranks,
	.views = {[FORMAT_TEXT] = print_recorder, [FORMAT_JSON] = recorder_json},
};
