/* SPDX-License-Identifier: BSD-3-Clause
 * A command's answer: find the result, then show it in the requested format. */
#pragma once

#include "render/view.h"

struct args;
struct command;

/* Write the command's answer to session->out. The caller has checked that the command may run and
 * has a view for the format. -1 and *err. */
int answer_write(struct session *session, const struct command *command, const struct args *args,
		 enum format format, struct pdb_error *err);

/* For commands that take only ranks, one rank, or one rank with a model. Without words, ranks are
 * those in focus, else all. Each sets the answer's member. -1 and *err. */
int answer_take_ranks(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err);
int answer_take_rank(struct session *session, const struct args *args, struct answer *answer,
		     struct pdb_error *err);
int answer_take_model_rank(struct session *session, const struct args *args, struct answer *answer,
			   struct pdb_error *err);
