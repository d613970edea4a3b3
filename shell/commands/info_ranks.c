/* SPDX-License-Identifier: BSD-3-Clause
 * info ranks: where ranks run, and what is known about them. */
#include "attach/node/node.h"
#include "attach/process/procfs.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/words/label.h"
#include "shell/answers/answer.h"
#include "shell/command.h"
#include "shell/session.h"

/* The letter of the rank's state: now, or at its last sample if it is on another host. 0: it has
 * ended; '?': not known. */
static char find_letter(const struct session *session, const struct proc *proc)
{
	const struct job *job = session->job;
	const struct sample *sample = samples_find(job->samples, proc->rank, proc->pid);
	const char *hole = job_find_hole(job, proc->rank);
	struct procfs_stat stat;

	if (proc->is_local && session->node)
		return node_is_alive(session->node, proc->rank) &&
				       procfs_stat(proc->pid, 0, &stat) == 0
			       ? stat.state
			       : 0;
	if (hole && strcmp(hole, JOB_HOLE_ENDED) == 0)
		return 0;
	return session->is_live && sample ? sample->state : '?';
}

/* "S", "ended", "": not known; with its system call "S in read()". */
static const char *find_state(const struct view *view, const struct proc *proc, bool has_call)
{
	const struct sample *sample = samples_find(view->session->job->samples, proc->rank, 0);
	const char *call = sample && has_call ? label_blocked_short(view, sample) : NULL;
	char letter = find_letter(view->session, proc);

	if (!letter)
		return "ended";
	if (letter == '?')
		return call ? text_of(view, "in %s", call) : "";
	/* What it did at the last sample. */
	return call && strchr("SD", letter) ? text_of(view, "%c in %s", letter, call)
					    : text_of(view, "%c", letter);
}

/* How the rank ended; NULL: it has not, or nothing is known of how. */
static const char *find_end(const struct view *view, int rank)
{
	const struct job_crash *crash = job_find_crash(view->session->job, rank);

	return crash ? label_crash(view->arena, crash)
		     : label_end_short(view->arena, job_find_end(view->session->job, rank));
}

/* Why the recorder tells nothing of the rank; NULL: it does, as of one that has ended since. */
static const char *find_hole(const struct job *job, int rank)
{
	return job->model && rankset_contains(job->model->ranks, rank) ? NULL
								       : job_find_hole(job, rank);
}

static void add_rank(const struct view *view, struct table *out, int rank)
{
	const struct session *session = view->session;
	const struct proc *proc = proctable_find(session->job->proctable, rank);
	const char *how = find_end(view, rank), *hole = find_hole(session->job, rank);
	const char *state = proc && !how ? find_state(view, proc, true) : "";

	table_row(out);
	table_cell(out, "%d", rank);
	table_cell(out, "%s", proc ? proc->host : "");
	if (proc && proc->pid > 0)
		table_cell(out, "%d", (int)proc->pid);
	else
		table_cell(out, "%s", "");
	table_cell(out, "%s", how ? how : state);
	table_cell(out, "%s", hole ? hole : "yes");
	table_cell(out, "%s", proc ? proc->executable : "");
}

static void rank_json(struct json *json, const struct view *view, int rank)
{
	const struct session *session = view->session;
	const struct proc *proc = proctable_find(session->job->proctable, rank);
	const char *how = find_end(view, rank), *hole = find_hole(session->job, rank);
	const char *state = proc && !how ? find_state(view, proc, false) : "";

	json_object(json, NULL);
	json_int(json, "rank", rank);
	json_text(json, "host", proc ? proc->host : NULL);
	if (proc && proc->pid > 0)
		json_int(json, "pid", proc->pid);
	json_text(json, "executable", proc ? proc->executable : NULL);
	json_text(json, "state", *state ? state : NULL);
	json_text(json, "ended_by", how);
	json_text(json, "process", label_process(view, rank));
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
		"running, S sleeping, D in the kernel, T stopped, t traced, Z ended. If pdb\n"
		"knows how the process ended, it shows that. For a rank outside MPI, the system\n"
		"call of its last stack sample follows. For ranks on other hosts, the state is\n"
		"also that of this sample.",
	.example = "info ranks 0-3",
	.flags = CMD_NEEDS_JOB,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = answer_take_ranks,
	.views = {[FORMAT_TEXT] = print_ranks, [FORMAT_JSON] = ranks_json},
};
