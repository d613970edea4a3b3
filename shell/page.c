/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/page.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/stacks/calltree.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/collective_groups.h"
#include "analysis/waits/wait_groups.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/report/report.h"
#include "render/view.h"
#include "shell/args.h"
#include "shell/command.h"
#include "shell/document.h"
#include "shell/session.h"
#include "shell/stacks.h"

enum { MAX_WAIT_GROUPS = 60, PAGE_WIDTH = 200 };

bool page_is_name(const char *path)
{
	static const char ending[] = ".html";
	size_t length = strlen(path), num = strlen(ending);

	return length >= num && strcmp(path + length - num, ending) == 0;
}

/* What a command prints, NULL if it fails. The caller frees. */
static char *ask(struct session *session, const char *line)
{
	FILE *outer = session->out;
	char *text = NULL;
	size_t size = 0;
	int result;

	session->out = open_memstream(&text, &size);
	if (!session->out)
		abort();
	result = command_execute(session, line, NULL);
	fclose(session->out);
	session->out = outer;
	if (result == 0)
		return text;
	free(text);
	return NULL;
}

/* The ranks' latest stacks merged; NULL: there are none. */
static struct calltree *make_tree(struct session *session)
{
	const struct args none = {.words = NULL};
	struct stacks_options options;
	struct calltree *tree = NULL;

	if (stacks_take_options(session, &none, &options, NULL) < 0)
		return NULL;
	if (stacks_ensure(session, options.ranks, NULL) == 0)
		tree = stacks_make_tree(session, &options, true, NULL);
	stacks_options_deinit(&options);
	return tree;
}

static struct collective_groups **make_collectives(const struct session *session)
{
	const struct job_comms *comms = session->comms;
	struct collective_groups **groups;

	if (!comms)
		return NULL;
	groups = xcalloc(comms->num_comms, sizeof(*groups));
	for (uint32_t c = 0; c < comms->num_comms; c++)
		groups[c] = collective_groups_create(session->job->model, comms, c);
	return groups;
}

static void free_collectives(const struct session *session, struct collective_groups **groups)
{
	for (uint32_t c = 0; groups && c < session->comms->num_comms; c++)
		collective_groups_destroy(groups[c]);
	free(groups);
}

/* "Seen on 2026-11-21 at 22:10:04 UTC by pdb 0.1, in hang.pdb." */
static char *made_text(const struct session *session)
{
	time_t seconds = (time_t)(session->job->taken_real_ns / 1000000000);
	char when[64] = "at a time that is not known";
	struct tm parts;

	if (seconds && gmtime_r(&seconds, &parts))
		strftime(when, sizeof(when), "on %Y-%m-%d at %H:%M:%S UTC", &parts);
	return xasprintf("Seen %s by pdb %s%s%s.", when, document_version(),
			 session->snapshot ? ", kept in " : "",
			 session->snapshot ? session->snapshot : "");
}

int page_write(struct session *session, FILE *out, struct pdb_error *err)
{
	const struct proctable *table = session->job->proctable;
	struct rankset *ranks = proctable_ranks(table);
	char *made = made_text(session), *facts = ask(session, "info job");
	char *costs = ask(session, "info overhead");
	char *title = xasprintf("%d ranks, job %s", table->size,
				table->job && *table->job ? table->job : "without a name");
	struct calltree *tree = make_tree(session);
	struct collective_groups **collectives = make_collectives(session);
	struct wait_groups *waits = NULL;
	struct arena *arena = arena_create();
	struct view view = session_view(session, arena);
	struct answer answer = {.arena = arena, .tree = tree, .collectives = collectives};
	int result;
	struct report report = {
		.view = &view,
		.title = title,
		.made = made,
		.facts = facts,
		.costs = costs,
	};

	view.out = out;
	view.width = PAGE_WIDTH;
	view.use_unicode = true;
	view.use_color = false;
	view.is_html = true;
	view.focus = NULL;
	view.answer = &answer;
	if (session->waitfor)
		answer.waits = waits =
			wait_groups_create(session->waitfor, session->groups, ranks,
					   session->verdict->culprits, MAX_WAIT_GROUPS);
	result = report_write(&report, err);
	arena_destroy(arena);
	wait_groups_destroy(waits);
	free_collectives(session, collectives);
	calltree_destroy(tree);
	rankset_destroy(ranks);
	free(title);
	free(costs);
	free(facts);
	free(made);
	return result;
}
