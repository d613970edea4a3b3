/* SPDX-License-Identifier: BSD-3-Clause
 * The answer of a command: what is asked is found, then shown in the format that is wanted. */
#ifndef PDB_SHELL_ANSWER_H
#define PDB_SHELL_ANSWER_H

#include "render/view.h"

struct args;
struct command;
struct pdb_error;

/* Write it to session->out. The command may run, and has a view for the format. */
int answer_write(struct session *session, const struct command *command, const struct args *args,
		 enum format format, struct pdb_error *err);

/* For commands that only take ranks (those named, in focus or all), a rank, one with a model. */
int answer_take_ranks(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err);
int answer_take_rank(struct session *session, const struct args *args, struct answer *answer,
		     struct pdb_error *err);
int answer_take_model_rank(struct session *session, const struct args *args, struct answer *answer,
			   struct pdb_error *err);

#endif
