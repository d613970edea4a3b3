/* SPDX-License-Identifier: BSD-3-Clause
 * collectives: how far each communicator's ranks are. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/waits/collective_groups.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/xalloc.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
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
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_DATA | CMD_ANSWERS,
	.max_words = 1,
	.words = WORDS_COMMS,
	.run = run_collectives,
};

/* By number or name: their indexes in chosen[], which has room for all. */
static int choose(const struct job_comms *comms, const char *word, uint32_t *chosen,
		  size_t *num_ret, struct pdb_error *err)
{
	unsigned long number;
	size_t num = 0;
	char *end;

	for (uint32_t c = 0; c < comms->num_comms; c++)
		if (!word || (comms->comms[c].name && strcmp(comms->comms[c].name, word) == 0))
			chosen[num++] = c;
	*num_ret = num;
	if (num > 0)
		return 0;
	number = strtoul(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || number < 1 || number > comms->num_comms)
		return error_set(err, ERROR_NOT_FOUND,
				 "no communicator \"%s\"; \"collectives\" lists %zu of them", word,
				 comms->num_comms);
	chosen[0] = (uint32_t)number - 1;
	*num_ret = 1;
	return 0;
}

static void show(struct session *session, bool is_all, const uint32_t *chosen, size_t num)
{
	struct collective_groups **groups = xcalloc(num, sizeof(*groups));
	struct view view = session_view(session);

	for (size_t i = 0; i < num; i++)
		groups[i] =
			collective_groups_create(session->job->model, session->comms, chosen[i]);
	if (session->wants_data)
		view_collectives_json(&view, chosen, groups, num);
	else if (is_all)
		view_collectives(&view, groups);
	for (size_t i = 0; i < num; i++) {
		if (!session->wants_data && !is_all)
			view_collective(&view, chosen[i], groups[i]);
		collective_groups_destroy(groups[i]);
	}
	free(groups);
}

static int run_collectives(struct session *session, const struct args *args, struct pdb_error *err)
{
	const char *word = args->num_words ? args->words[0] : NULL;
	uint32_t *chosen;
	size_t num;
	int result;

	if (session->comms->num_comms == 0)
		return error_set(err, ERROR_NOT_FOUND, "nothing is known of the communicators");
	chosen = xcalloc(session->comms->num_comms, sizeof(*chosen));
	result = choose(session->comms, word, chosen, &num, err);
	if (result == 0)
		show(session, !word, chosen, num);
	free(chosen);
	return result;
}
