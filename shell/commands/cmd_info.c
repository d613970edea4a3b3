/* SPDX-License-Identifier: BSD-3-Clause
 * info: job, ranks, hosts, overhead, recorder. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attach/node/node.h"
#include "attach/process/procfs.h"
#include "attach/stacks/sampler.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "render/json.h"
#include "render/label.h"
#include "render/table.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/daemons.h"
#include "shell/session.h"

static int run_job(struct session *session, const struct args *args, struct pdb_error *err);
static int run_ranks(struct session *session, const struct args *args, struct pdb_error *err);
static int run_hosts(struct session *session, const struct args *args, struct pdb_error *err);
static int run_overhead(struct session *session, const struct args *args, struct pdb_error *err);
static int run_recorder(struct session *session, const struct args *args, struct pdb_error *err);

static const struct command info_hosts = {
	.name = "hosts",
	.topic = TOPIC_JOB,
	.usage = "info hosts",
	.summary = "List the hosts of the job with their ranks.",
	.text = "\"host NAME\" names the ranks of a host in other commands.",
	.example = "info hosts",
	.flags = CMD_NEEDS_JOB | CMD_DATA,
	.run = run_hosts,
};

static const struct command info_job = {
	.name = "job",
	.topic = TOPIC_JOB,
	.usage = "info job",
	.summary = "Tell what is attached, how it was found, and how old the snapshot is.",
	.text = "\"found by\" says which way to the ranks was taken, and why no other.",
	.example = "info job",
	.flags = CMD_NEEDS_JOB | CMD_DATA,
	.run = run_job,
};

static const struct command info_overhead = {
	.name = "overhead",
	.topic = TOPIC_JOB,
	.usage = "info overhead",
	.summary = "Tell what pdb and the recorder have cost the job.",
	.text = "How long ranks stood still for stack samples, how long the last look took, and\n"
		"what the recorders keep and how often they had to unwind in full.",
	.example = "info overhead",
	.flags = CMD_NEEDS_JOB | CMD_DATA,
	.run = run_overhead,
};

static const struct command info_ranks = {
	.name = "ranks",
	.topic = TOPIC_JOB,
	.usage = "info ranks [RANKS]",
	.summary = "List ranks with host, process and what is known of them.",
	.text = "Without RANKS: those in focus, else all. The state is that of /proc: R running,\n"
		"S sleeping, D in the kernel, T stopped, t traced, Z ended; on other hosts it is\n"
		"that of the last stack sample.",
	.example = "info ranks 0-3",
	.flags = CMD_NEEDS_JOB | CMD_DATA,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_ranks,
};

static const struct command info_recorder = {
	.name = "recorder",
	.topic = TOPIC_JOB,
	.usage = "info recorder [RANKS]",
	.summary = "Tell what the recorders hold, and what they lost.",
	.text = "Lost entries make answers less sure; they are counted here. \"of evidence\":\n"
		"messages, requests and communicators that were not counted, so that less is\n"
		"known of who waits for whom; + where tags had to be counted together. Without\n"
		"RANKS: those in focus, else all.",
	.example = "info recorder lp",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_DATA,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_recorder,
};

static const struct command *const info_family[] = {
	&info_hosts, &info_job, &info_overhead, &info_ranks, &info_recorder, NULL,
};

const struct command cmd_info = {
	.name = "info",
	.topic = TOPIC_JOB,
	.usage = "info hosts|job|overhead|ranks|recorder",
	.summary = "Tell about the job and about pdb itself.",
	.text = "A second word says what about.",
	.example = "info job",
	.words = WORDS_RANKS,
	.family = info_family,
};

/* ---- info job ---- */

static void print_state(struct session *session, FILE *out)
{
	char *age = label_time(session_age(session) * 1e9);

	if (session->snapshot)
		fprintf(out, "  state     snapshot loaded from %s\n", session->snapshot);
	else if (session->has_cores)
		fputs("  state     ended; read from cores\n", out);
	else if (session_has_ended(session))
		fprintf(out, "  state     ended; the last snapshot is %s old\n", age);
	else
		fprintf(out, "  state     attached; the snapshot is %s old\n", age);
	free(age);
}

static void print_daemons(const struct session *session, FILE *out)
{
	if (session->daemons)
		fprintf(out, "  daemons   on %d hosts\n", daemons_count(session->daemons));
	else if (session->daemon_trouble.code != ERROR_NONE)
		fprintf(out, "  daemons   none, so only ranks of this host are looked at: %s\n",
			session->daemon_trouble.text);
}

/* "Open MPI v4.1.4", without the package behind it; "" if not known. The caller frees. */
static char *find_mpi(const struct job *job)
{
	const struct job_model *jm = job->model;
	const char *mpi = jm && jm->num_lanes ? jm->lanes[0].model->program->mpi_library : "";

	return xstrndup(mpi, strcspn(mpi, ","));
}

static void job_json(const struct session *session)
{
	const struct job *job = session->job;
	const struct proctable *table = job->proctable;
	const char *command = session->launcher.command;
	struct json json = {.out = session->out};

	json_object(&json, NULL);
	if (table->launcher_pid) {
		json_text(&json, "launcher",
			  table->launcher_name ? table->launcher_name : "unknown launcher");
		json_int(&json, "launcher_pid", table->launcher_pid);
	}
	json_text(&json, "command", *command ? command : NULL);
	json_label(&json, "mpi", find_mpi(job));
	json_text(&json, "found_by", proctable_source_text(table->source));
	json_text(&json, "found_note", table->source_note);
	json_int(&json, "daemons", session->daemons ? (int)daemons_count(session->daemons) : 0);
	json_text(&json, "no_daemons_because",
		  session->daemons || session->daemon_trouble.code == ERROR_NONE
			  ? NULL
			  : session->daemon_trouble.text);
	json_real(&json, "age_s", session->looked_ns ? session_age(session) : NAN);
	json_text(&json, "snapshot", session->snapshot);
	json_end_object(&json);
}

static int run_job(struct session *session, const struct args *args, struct pdb_error *err)
{
	const struct job *job = session->job;
	const struct proctable *table = job->proctable;
	FILE *out = session->out;
	char *mpi;

	(void)args;
	(void)err;
	if (session->wants_data) {
		job_json(session);
		return 0;
	}
	fprintf(out, "  job       %s\n", table->job && *table->job ? table->job : "(no name)");
	if (table->launcher_pid)
		fprintf(out, "  launcher  %s, pid %d\n",
			table->launcher_name ? table->launcher_name : "unknown launcher",
			(int)table->launcher_pid);
	if (session->launcher.command[0])
		fprintf(out, "  command   %s\n", session->launcher.command);
	fprintf(out, "  ranks     %d, recorder in %d\n", table->size,
		job->model ? rankset_count(job->model->ranks) : 0);
	if (table->size_claimed)
		fprintf(out,
			"            %d ranks are claimed; with so few processes that is not "
			"believed\n",
			table->size_claimed);
	mpi = find_mpi(job);
	if (*mpi)
		fprintf(out, "  MPI       %s\n", mpi);
	free(mpi);
	fprintf(out, "  found by  %s%s%s\n", proctable_source_text(table->source),
		table->source_note ? ": " : "", table->source_note ? table->source_note : "");
	print_daemons(session, out);
	print_state(session, out);
	return 0;
}

/* ---- info ranks ---- */

/* The rank's state, now or, on another host, when it was last sampled; "": not known. */
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

static void add_rank(struct session *session, struct table *out, int rank)
{
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
	if (crash) {
		char *how = label_crash(crash);

		table_cell(out, "%s", how);
		free(how);
	} else {
		table_cell(out, "%s", state);
	}
	table_cell(out, "%s", hole ? hole : "yes");
	table_cell(out, "%s", proc ? proc->executable : "");
}

static void rank_json(struct json *json, const struct session *session, int rank)
{
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
	json_label(json, "ended_by", crash ? label_crash(crash) : NULL);
	json_bool(json, "recorded", !hole);
	json_text(json, "hole", hole);
	json_end_object(json);
}

static void ranks_json(const struct session *session, const struct rankset *ranks)
{
	struct json json = {.out = session->out};

	json_object(&json, NULL);
	json_array(&json, "ranks");
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank))
		rank_json(&json, session, rank);
	json_end_array(&json);
	json_end_object(&json);
}

static int run_ranks(struct session *session, const struct args *args, struct pdb_error *err)
{
	static const struct table_column columns[] = {
		{.name = "rank", .header = "rank", .align = TABLE_RIGHT},
		{.name = "host", .header = "host"},
		{.name = "pid", .header = "pid", .align = TABLE_RIGHT},
		{.name = "state", .header = "state"},
		{.name = "recorder", .header = "recorder"},
		{.name = "executable", .header = "executable", .min_width = 10},
	};
	struct view view = session_view(session);
	struct table *table;
	struct rankset *ranks;
	size_t next = 0;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	if (session->wants_data) {
		ranks_json(session, ranks);
		rankset_destroy(ranks);
		return 0;
	}
	table = table_create(columns, sizeof(columns) / sizeof(columns[0]));
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank))
		add_rank(session, table, rank);
	table_print(table, &view);
	table_destroy(table);
	rankset_destroy(ranks);
	return 0;
}

/* ---- info hosts ---- */

struct host {
	const char *name;
	struct rankset *ranks;
	bool is_local;
};

static struct host *find_hosts(const struct proctable *table, size_t *num_ret)
{
	struct host *hosts = xcalloc(table->num_procs, sizeof(*hosts));
	size_t num = 0;

	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];
		size_t j = num;

		while (j > 0 && strcmp(hosts[j - 1].name, proc->host) != 0)
			j--;
		if (j == 0) {
			hosts[num++] = (struct host){proc->host, rankset_create(), proc->is_local};
			j = num;
		}
		rankset_add(hosts[j - 1].ranks, proc->rank);
	}
	*num_ret = num;
	return hosts;
}

static const char *host_note(const struct session *session, const struct host *host)
{
	if (session->snapshot || session->has_cores)
		return "";
	if (host->is_local)
		return "this host";
	return session->daemons ? "read by a daemon" : "not read";
}

static void hosts_json(const struct session *session, const struct host *hosts, size_t num)
{
	struct json json = {.out = session->out};

	json_object(&json, NULL);
	json_array(&json, "hosts");
	for (size_t i = 0; i < num; i++) {
		json_object(&json, NULL);
		json_text(&json, "host", hosts[i].name);
		json_int(&json, "count", rankset_count(hosts[i].ranks));
		json_ranks(&json, "ranks", hosts[i].ranks);
		json_text(&json, "note", host_note(session, &hosts[i]));
		json_end_object(&json);
	}
	json_end_array(&json);
	json_end_object(&json);
}

static int run_hosts(struct session *session, const struct args *args, struct pdb_error *err)
{
	static const struct table_column columns[] = {
		{.name = "host", .header = "host"},
		{.name = "ranks", .header = "ranks", .min_width = 8},
		{.name = "note", .header = ""},
	};
	struct view view = session_view(session);
	struct table *table = table_create(columns, sizeof(columns) / sizeof(columns[0]));
	struct host *hosts;
	size_t num;

	(void)args;
	(void)err;
	hosts = find_hosts(session->job->proctable, &num);
	for (size_t i = 0; i < num; i++) {
		table_row(table);
		table_cell(table, "%s", hosts[i].name);
		table_ranks(table, hosts[i].ranks);
		table_cell(table, "%s", host_note(session, &hosts[i]));
	}
	if (session->wants_data)
		hosts_json(session, hosts, num);
	else
		table_print(table, &view);
	table_destroy(table);
	for (size_t i = 0; i < num; i++)
		rankset_destroy(hosts[i].ranks);
	free(hosts);
	return 0;
}

/* ---- info overhead ---- */

static void print_start(const struct daemons *daemons, FILE *out)
{
	const struct daemons_start_times times = daemons_get_start_times(daemons);

	fprintf(out,
		"  start of daemons %.0f ms: launcher told %.0f, connected %.0f, job told %.0f\n",
		(times.launch_ns + times.connect_ns + times.tell_ns) / 1e6, times.launch_ns / 1e6,
		times.connect_ns / 1e6, times.tell_ns / 1e6);
}

static int print_sampling(struct session *session, FILE *out, struct pdb_error *err)
{
	struct sampler_cost cost;

	if (!session->sampler)
		return 0;
	if (session_get_cost(session, &cost, err) < 0)
		return -1;
	if (session->daemons)
		print_start(session->daemons, out);
	fprintf(out, "  stack samples    %" PRIu64 " taken, %" PRIu64 " failed\n", cost.num_samples,
		cost.num_failed);
	fprintf(out, "  ranks stopped    median %.0f us, longest %.0f us, all together %.1f ms\n",
		cost.stopped_ns_median / 1e3, cost.stopped_ns_max / 1e3,
		cost.stopped_ns_total / 1e6);
	fprintf(out, "  last look        %.0f ms, of which ranks do not notice the reading\n",
		session->look_cost_ns / 1e6);
	return 0;
}

struct recorder_sums {
	uint64_t bytes, largest, unwinds, events;
};

/* Each model once, however many lanes it has. */
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

static void print_recorders(const struct job_model *jm, FILE *out)
{
	struct recorder_sums sums = sum_recorders(jm);

	fprintf(out, "  recorders        %.1f MB in all, %.2f MB in the largest rank\n",
		sums.bytes / 1e6, sums.largest / 1e6);
	fprintf(out, "  full unwinds     %" PRIu64 " in %" PRIu64 " transitions\n", sums.unwinds,
		sums.events);
}

static int overhead_json(struct session *session, struct pdb_error *err)
{
	struct recorder_sums sums = {0};
	struct json json = {.out = session->out};
	struct sampler_cost cost = {0};

	if (session->sampler && session_get_cost(session, &cost, err) < 0)
		return -1;
	if (session->job->model)
		sums = sum_recorders(session->job->model);
	json_object(&json, NULL);
	json_count(&json, "samples", cost.num_samples);
	json_count(&json, "samples_failed", cost.num_failed);
	json_seconds(&json, "stopped_median_s", cost.stopped_ns_median);
	json_seconds(&json, "stopped_longest_s", cost.stopped_ns_max);
	json_seconds(&json, "stopped_s", cost.stopped_ns_total);
	json_seconds(&json, "look_s", session->look_cost_ns);
	json_count(&json, "recorder_bytes", sums.bytes);
	json_count(&json, "recorder_bytes_largest", sums.largest);
	json_count(&json, "full_unwinds", sums.unwinds);
	json_count(&json, "transitions", sums.events);
	json_end_object(&json);
	return 0;
}

static int run_overhead(struct session *session, const struct args *args, struct pdb_error *err)
{
	(void)args;
	if (session->wants_data)
		return overhead_json(session, err);
	if (print_sampling(session, session->out, err) < 0)
		return -1;
	if (session->job->model)
		print_recorders(session->job->model, session->out);
	return 0;
}

/* ---- info recorder ---- */

static uint64_t count_dropped(const struct model *model)
{
	return model->program->dropped_strings + model->program->dropped_modules +
	       model->program->dropped_frames + model->program->dropped_sites +
	       model->program->dropped_transitions + model->program->dropped_lanes;
}

/* Of what tells who waits for whom. */
static uint64_t count_dropped_evidence(const struct model *model)
{
	uint64_t dropped = model->program->dropped_comms + model->program->dropped_members +
			   model->program->dropped_requests;

	for (size_t i = 0; i < model->num_lanes; i++)
		dropped += model->lanes[i].dropped_ledger;
	return dropped;
}

/* Is there a ledger in which some tags have no row of their own? */
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

static int run_recorder(struct session *session, const struct args *args, struct pdb_error *err)
{
	static const struct table_column columns[] = {
		{.name = "rank", .header = "rank", .align = TABLE_RIGHT},
		{.name = "state", .header = "state"},
		{.name = "threads", .header = "threads", .align = TABLE_RIGHT},
		{.name = "sites", .header = "call paths", .align = TABLE_RIGHT},
		{.name = "transitions", .header = "transitions", .align = TABLE_RIGHT},
		{.name = "kB", .header = "kB", .align = TABLE_RIGHT},
		{.name = "lost", .header = "lost", .align = TABLE_RIGHT},
		{.name = "evidence", .header = "of evidence", .align = TABLE_RIGHT},
		{.name = "abandoned", .header = "abandoned", .align = TABLE_RIGHT},
	};
	const struct job_model *jm = session->job->model;
	struct json json = {.out = session->out};
	struct view view = session_view(session);
	const struct model *last = NULL;
	struct rankset *ranks;
	struct table *table;
	size_t next = 0;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	if (session->wants_data) {
		json_object(&json, NULL);
		json_array(&json, "ranks");
	}
	table = table_create(columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < jm->num_lanes; i++) {
		if (jm->lanes[i].model == last || !rankset_contains(ranks, jm->lanes[i].rank))
			continue;
		last = jm->lanes[i].model;
		if (session->wants_data)
			model_json(&json, jm->lanes[i].rank, last);
		else
			add_model(table, jm->lanes[i].rank, last);
	}
	if (session->wants_data) {
		json_end_array(&json);
		json_end_object(&json);
	}
	table_print(table, &view);
	table_destroy(table);
	rankset_destroy(ranks);
	return 0;
}
