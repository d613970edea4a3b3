/* SPDX-License-Identifier: BSD-3-Clause
 * collectives: how far each communicator's ranks are. */
#include "analysis/waits/collective_groups.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "render/view.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/session.h"

/* Find communicators by number or name. Their indexes go to chosen[], which has room for all. */
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
				 "no communicator \"%s\"; \"collectives\" lists all %zu", word,
				 comms->num_comms);
	chosen[0] = (uint32_t)number - 1;
	*num_ret = 1;
	return 0;
}

static int find_collectives(struct session *session, const struct args *args, struct answer *answer,
			    struct pdb_error *err)
{
	const char *word = args->num_words ? args->words[0] : NULL;
	struct collective_groups **groups;
	uint32_t *chosen;

	if (session->comms->num_comms == 0)
		return error_set(err, ERROR_NOT_FOUND, "pdb knows no communicator of this job");
	chosen = arena_array(answer->arena, session->comms->num_comms, sizeof(*chosen));
	if (choose(session->comms, word, chosen, &answer->num_collectives, err) < 0)
		return -1;
	groups = arena_array(answer->arena, answer->num_collectives, sizeof(*groups));
	for (size_t i = 0; i < answer->num_collectives; i++)
		groups[i] = collective_groups_create(session->job->model, session->comms, chosen[i],
						     answer->arena);
	answer->comms = word ? chosen : NULL;
	answer->collectives = groups;
	return 0;
}

const struct command cmd_collectives = {
	.name = "collectives",
	.topic = TOPIC_COUNTS,
	.usage = "collectives [COMM]",
	.summary = "Show how far ranks are in the collectives of each communicator.",
	.text = "pdb counts the collectives of each communicator. It marks ranks that others\n"
		"wait for, and ranks that call another collective under the same number. COMM is\n"
		"the number in the first column, or a name. With COMM, the answer shows its\n"
		"members, roots and sizes.",
	.example = "collectives MPI_COMM_WORLD",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.max_words = 1,
	.words = WORDS_COMMS,
	.find = find_collectives,
	.views = {[FORMAT_TEXT] = view_collectives, [FORMAT_JSON] = view_collectives_json},
};
