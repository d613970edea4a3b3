/* SPDX-License-Identifier: BSD-3-Clause
 * info hosts: where the ranks run. */
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "render/draw/table.h"
#include "render/text/json.h"
#include "shell/command.h"
#include "shell/session.h"

struct host {
	const char *name;
	struct rankset *ranks;
	bool is_local;
};

struct hosts {
	struct host *hosts;
	size_t num;
};

static int find_hosts(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err)
{
	const struct proctable *table = session->job->proctable;
	struct hosts *found = arena_alloc(answer->arena, sizeof(*found));

	(void)args;
	(void)err;
	found->hosts = arena_array(answer->arena, table->num_procs, sizeof(*found->hosts));
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];
		size_t j = found->num;

		while (j > 0 && strcmp(found->hosts[j - 1].name, proc->host) != 0)
			j--;
		if (j == 0) {
			found->hosts[found->num++] = (struct host){
				proc->host, rankset_in(answer->arena, rankset_create()),
				proc->is_local};
			j = found->num;
		}
		rankset_add(found->hosts[j - 1].ranks, proc->rank);
	}
	answer->own = found;
	return 0;
}

static const char *host_note(const struct session *session, const struct host *host)
{
	if (session->snapshot || session->has_cores)
		return "";
	if (host->is_local)
		return "this host";
	return session->daemons ? "read by a daemon" : "not read";
}

static void hosts_json(const struct view *view)
{
	const struct hosts *found = view->answer->own;
	struct json *json = view->json;

	JSON_OBJECTS(json, "hosts", i, found->num) {
		const struct host *host = &found->hosts[i];

		json_text(json, "host", host->name);
		json_int(json, "count", rankset_count(host->ranks));
		json_ranks(json, "ranks", host->ranks);
		json_text(json, "note", host_note(view->session, host));
	}
}

static void print_hosts(const struct view *view)
{
	static const struct table_column columns[] = {
		{.name = "host", .header = "host"},
		{.name = "ranks", .header = "ranks", .min_width = 8},
		{.name = "note", .header = ""},
	};
	const struct hosts *found = view->answer->own;
	struct table *table = TABLE_OF(view, columns);

	for (size_t i = 0; i < found->num; i++) {
		table_row(table);
		table_cell(table, "%s", found->hosts[i].name);
		table_ranks(table, found->hosts[i].ranks);
		table_cell(table, "%s", host_note(view->session, &found->hosts[i]));
	}
	table_print(table);
}

const struct command info_hosts = {
	.name = "hosts",
	.topic = TOPIC_JOB,
	.usage = "info hosts",
	.summary = "List the hosts of the job with their ranks.",
	.text = "\"host NAME\" names the ranks of a host in other commands.",
	.example = "info hosts",
	.flags = CMD_NEEDS_JOB,
	.find = find_hosts,
	.views = {[FORMAT_TEXT] = print_hosts, [FORMAT_JSON] = hosts_json},
};
