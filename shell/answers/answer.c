/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/rankset.h"
#include "render/text/json.h"
#include "shell/answers/answer.h"
#include "shell/options/args.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/session.h"

int answer_write(struct session *session, const struct command *command, const struct args *args,
		 enum format format, struct pdb_error *err)
{
	struct answer answer = {.arena = arena_create(), .format = format};
	int result = command->find ? command->find(session, args, &answer, err) : 0;

	if (!result) {
		struct view view = session_view(session, answer.arena);
		struct json json = {.out = view.out};

		view.answer = &answer;
		view.json = &json;
		if (format == FORMAT_JSON)
			json_object(&json, NULL);
		command->views[format](&view);
		if (format == FORMAT_JSON)
			json_end_object(&json);
		if (format == FORMAT_TEXT && command->flags & CMD_STACKS)
			banner_print_stack_holes(session, answer.ranks, session->out);
	}
	arena_destroy(answer.arena);
	return result;
}

int answer_take_ranks(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err)
{
	struct rankset *ranks;
	size_t next = 0;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	answer->ranks = rankset_in(answer->arena, ranks);
	return 0;
}

int answer_take_rank(struct session *session, const struct args *args, struct answer *answer,
		     struct pdb_error *err)
{
	size_t next = 0;

	return session_take_rank(session, args, &next, &answer->rank, err) < 0
		       ? -1
		       : args_end(args, next, err);
}

int answer_take_model_rank(struct session *session, const struct args *args, struct answer *answer,
			   struct pdb_error *err)
{
	size_t next = 0;

	return session_take_model_rank(session, args, &next, &answer->rank, err) < 0
		       ? -1
		       : args_end(args, next, err);
}
