/* SPDX-License-Identifier: BSD-3-Clause
 * info ranks: where ranks run, and what is known about them. */
#include "attach/node/node.h"
#include "attach/process/procfs.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/words/label.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/session.h"

/* The rank's state: now, or at its last sample if it is on another host. "": not known. */
static void find_state(const struct session *session, const struct proc *proc, char state[8])
{
	const struct job *job = session->job;
	const struct sample *sample = samples_find(job->samples, proc->rank, proc->pid);
	const char *hole = job_find_hole(job, proc->rank);
	struct procfs_stat stat;

	memset(state, 0, 8);
	if (proc->is_local && session->node) {
		if (node_is_alive(session->node, proc->rank) &&
		    procfs_stat(proc->pid, 0, &stat) == 0)
			state[0] = stat.state;
		else
			strcpy(state, "ended");
	} else if (hole && strcmp(hole, JOB_HOLE_ENDED) == 0) {
		strcpy(state, "ended");
	} else if (session->is_live && sample && sample->state != '?') {
		state[0] = sample->state;
	}
}

static void add_rank(const struct view *view, struct table *out, int rank)
{
	const struct session *session = view->session;
	const struct proc *proc = proctable_find(session->job->proctable, rank);
	const struct job_crash *crash = job_find_crash(session->job, rank);
	const char *hole = job_find_hole(session->job, rank);
	char state[8] = "";

	if (proc && !crash)
		find_state(session, proc, state);
	table_row(out);
	table_cell(out, "%d", rank);
	table_cell(out, "%s", proc ? proc->host : "");
	if (proc && proc->pid > 0)
		table_cell(out, "%d", (int)proc->pid);
	else
		table_cell(out, "%s", "");
	table_cell(out, "%s", crash ? label_crash(view->arena, crash) : state);
	table_cell(out, "%s", hole ? hole : "yes");
	table_cell(out, "%s", proc ? proc->executable : "");
}

static void rank_json(struct json *json, const struct view *view, int rank)
{
	const struct session *session = view->session;
	const struct proc *proc = proctable_find(session->job->proctable, rank);
	const struct job_crash *crash = job_find_crash(session->job, rank);
	const char *hole = job_find_hole(session->job, rank);
	char state[8] = "";

	if (proc && !crash)
		find_state(session, proc, state);
	json_object(json, NULL);
	json_int(json, "rank", rank);
	json_text(json, "host", proc ? proc->host : NULL);
	if (proc && proc->pid > 0)
		json_int(json, "pid", proc->pid);
	json_text(json, "executable", proc ? proc->executable : NULL);
	json_text(json, "state", *state ? state : NULL);
	json_text(json, "ended_by", crash ? label_crash(view->arena, crash) : NULL);
	json_bool(json, "recorded", !hole);
	json_text(json, "hole", hole);
	json_end_object(json);
}

static void ranks_json(const struct view *view)
{
	const struct rankset *ranks = view->answer->ranks;
	struct json *json = view->json;

	json_array(json, "ranks");
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank))
		rank_json(json, view, rank);
	json_end_array(json);
}

static void print_ranks(const struct view *view)
{
	static const struct table_column columns[] = {
		{.name = "rank", .header = "rank", .align = TABLE_RIGHT},
		{.name = "host", .header = "host"},
		{.name = "pid", .header = "pid", .align = TABLE_RIGHT},
		{.name = "state", .header = "state"},
		{.name = "recorder", .header = "recorder"},
		{.name = "executable", .header = "executable", .min_width = 10},
	};
	const struct rankset *ranks = view->answer->ranks;
	struct table *table = TABLE_OF(view, columns);

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank))
		add_rank(view, table, rank);
	table_print(table);
}

const struct command info_ranks = {
	.name = "ranks",
	.topic = TOPIC_JOB,
	.usage = "info ranks [RANKS]",
	.summary = "List ranks with host, process and what pdb knows of them.",
	.text = "Without RANKS: the ranks in focus, else all. The state is that of /proc: R\n"
		"running, S sleeping, D in the kernel, T stopped, t traced, Z ended. On other\n"
		"hosts it is the state at the last stack sample.",
	.example = "info ranks 0-3",
	.flags = CMD_NEEDS_JOB,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = answer_take_ranks,
	.views = {[FORMAT_TEXT] = print_ranks, [FORMAT_JSON] = ranks_json},
};
