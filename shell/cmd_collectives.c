/* SPDX-License-Identifier: BSD-3-Clause
 * collectives: how far each communicator's ranks are. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_groups.h"
#include "model/error.h"
#include "model/job.h"
#include "model/job_comms.h"
#include "model/xalloc.h"
#include "render/view.h"
#include "shell/cmd.h"
#include "shell/command.h"
#include "shell/session.h"

static int run_collectives(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_collectives = {
	.name = "collectives",
	.topic = TOPIC_LOOKING,
	.usage = "collectives [COMM]",
	.summary = "Show how far the ranks of each communicator are in its collectives.",
	.text = "Collectives are counted on each communicator. Ranks that others wait for, and\n"
		"ranks that call something else as the same number, are marked. COMM is the\n"
		"number in the first column, or a name; it is then shown with its members, and\n"
		"with roots and sizes.",
	.example = "collectives MPI_COMM_WORLD",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.max_words = 1,
	.words = WORDS_COMMS,
	.run = run_collectives,
};

static int show_numbered(const struct session *session, const struct view *view, const char *word,
			 struct pdb_error *err)
{
	const struct job_comms *comms = session->comms;
	struct collective_groups *groups;
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	if (!isdigit((unsigned char)*word) || *end || number < 1 || number > comms->num_comms)
		return error_set(err, ERROR_NOT_FOUND,
				 "no communicator \"%s\"; \"collectives\" lists %zu of them", word,
				 comms->num_comms);
	groups = collective_groups_create(session->job->model, comms, (uint32_t)number - 1);
	view_collective(view, (uint32_t)number - 1, groups);
	collective_groups_destroy(groups);
	return 0;
}

/* All of this name; how many they are. */
static size_t show_named(const struct session *session, const struct view *view, const char *word)
{
	const struct job_comms *comms = session->comms;
	size_t found = 0;

	for (uint32_t c = 0; c < comms->num_comms; c++) {
		struct collective_groups *groups;

		if (!comms->comms[c].name || strcmp(comms->comms[c].name, word) != 0)
			continue;
		groups = collective_groups_create(session->job->model, comms, c);
		view_collective(view, c, groups);
		collective_groups_destroy(groups);
		found++;
	}
	return found;
}

static void show_all(const struct session *session, const struct view *view)
{
	const struct job_comms *comms = session->comms;
	struct collective_groups **groups = xcalloc(comms->num_comms, sizeof(*groups));

	for (uint32_t c = 0; c < comms->num_comms; c++)
		groups[c] = collective_groups_create(session->job->model, comms, c);
	view_collectives(view, groups);
	for (uint32_t c = 0; c < comms->num_comms; c++)
		collective_groups_destroy(groups[c]);
	free(groups);
}

static int run_collectives(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);

	if (session->comms->num_comms == 0)
		return error_set(err, ERROR_NOT_FOUND, "nothing is known of the communicators");
	if (args->num_words == 0)
		show_all(session, &view);
	else if (show_named(session, &view, args->words[0]) == 0)
		return show_numbered(session, &view, args->words[0], err);
	return 0;
}
