/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/answers/report_file.h"

#include <time.h>

#include "analysis/stacks/calltree.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/collective_groups.h"
#include "analysis/waits/wait_groups.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "render/text/gate.h"
#include "render/report/report.h"
#include "render/view.h"
#include "shell/answers/stacks.h"
#include "shell/banner.h"
#include "shell/options/args.h"
#include "shell/pdb.h"
#include "shell/session.h"

enum { MAX_WAIT_GROUPS = 60, PAGE_WIDTH = 200 };

static bool is_page(const char *path)
{
	static const char ending[] = ".html";
	size_t length = strlen(path), num = strlen(ending);

	return length >= num && strcmp(path + length - num, ending) == 0;
}

/* What a command prints, NULL if it fails. */
static char *ask(struct arena *arena, struct session *session, const char *line)
{
	FILE *outer = session->out;
	char *text = NULL;
	size_t size = 0;
	int result;

	session->out = open_memstream(&text, &size);
	if (!session->out)
		abort();
	result = session->execute(session, line, NULL);
	fclose(session->out);
	session->out = outer;
	arena_keep(arena, text, free);
	return result == 0 ? text : NULL;
}

ARENA_DEFINE_IN(calltree)

/* The ranks' latest stacks merged; NULL: there are none. */
static struct calltree *make_tree(struct arena *arena, struct session *session)
{
	const struct args none = {.words = NULL};
	const struct stacks_asked *asked = stacks_take_options(session, &none, arena, NULL);

	if (!asked || stacks_ensure(session, asked->ranks, NULL) < 0)
		return NULL;
	return calltree_in(arena, stacks_make_tree(session, asked, true, NULL));
}

static struct collective_groups **make_collectives(struct arena *arena,
						   const struct session *session)
{
	const struct job_comms *comms = session->comms;
	struct collective_groups **groups;

	if (!comms)
		return NULL;
	groups = arena_array(arena, comms->num_comms, sizeof(*groups));
	for (uint32_t c = 0; c < comms->num_comms; c++)
		groups[c] = collective_groups_create(session->job->model, comms, c, arena);
	return groups;
}

/* "Seen on 2026-11-21 at 22:10:04 UTC by pdb 0.1, in hang.pdb." */
static char *made_text(struct arena *arena, const struct session *session)
{
	time_t seconds = (time_t)(session->job->taken_real_ns / 1000000000);
	char when[64] = "at a time that is not known";
	struct tm parts;

	if (seconds && gmtime_r(&seconds, &parts))
		strftime(when, sizeof(when), "on %Y-%m-%d at %H:%M:%S UTC", &parts);
	return arena_printf(arena, "Seen %s by pdb %s%s%s.", when, PDB_VERSION,
			    session->snapshot ? ", kept in " : "",
			    session->snapshot ? session->snapshot : "");
}

static int write_page(struct session *session, FILE *out, struct pdb_error *err)
{
	const struct proctable *table = session->job->proctable;
	struct arena *arena SCOPED(arena) = arena_create();
	const struct rankset *ranks = rankset_in(arena, proctable_ranks(table));
	struct answer answer = {.arena = arena};
	struct report report = {
		.made = made_text(arena, session),
		.facts = ask(arena, session, "info job"),
		.costs = ask(arena, session, "info overhead"),
		.title = arena_printf(arena, "%d ranks, job %s", table->size,
				      table->job && *table->job ? table->job : "without a name"),
	};
	struct view view;

	answer.tree = make_tree(arena, session);
	answer.collectives = make_collectives(arena, session);
	answer.waits = wait_groups_create(session->waitfor, session->groups, ranks,
					  session->verdict->culprits, MAX_WAIT_GROUPS, arena);
	view = session_view(session, arena);
	view.out = out;
	view.width = PAGE_WIDTH;
	view.use_unicode = true;
	view.use_color = false;
	view.is_html = true;
	view.focus = NULL;
	view.answer = &answer;
	report.view = &view;
	return report_write(&report, err);
}

/* One command as the user would type it; its output joins that of the others. */
static void report_command(struct session *session, const char *line)
{
	struct pdb_error err;

	fprintf(session->out, "\n---- %s\n\n", line);
	if (session->execute(session, line, &err) < 0)
		fprintf(session->out, "%s\n", err.text);
}

static void write_text(struct session *session, const char *about, FILE *out)
{
	static const char *const lines[] = {"lp",   "groups", "waits",   "progress",
					    "tree", "bt lp",  "info job"};
	const struct verdict *verdict = session->verdict;
	int waiting = rankset_first(verdict->waiting), culprit = rankset_first(verdict->culprits);
	FILE *outer = session->out;
	char line[40];

	session->out = out;
	banner_print(session, out);
	banner_print_holes(session, out);
	if (about)
		fprintf(out, "%s\n", about);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		report_command(session, lines[i]);
	if (session->job->model && culprit >= 0) {
		snprintf(line, sizeof(line), "history %d 20", culprit);
		report_command(session, line);
	}
	if (session->job->model && waiting >= 0) {
		snprintf(line, sizeof(line), "why %d", waiting);
		report_command(session, line);
	}
	session->out = outer;
}

int report_file_write(struct session *session, const char *path, const char *about,
		      struct pdb_error *undrawn, struct pdb_error *err)
{
	FILE *out = gate_open_file(path, "we", NULL);

	error_clear(undrawn);
	if (!out)
		return error_errno(err, "cannot write to %s", path);
	if (is_page(path))
		write_page(session, out, undrawn);
	else
		write_text(session, about, out);
	if (ferror(out) | fclose(out))
		return error_errno(err, "cannot write to %s", path);
	return 0;
}
