/* SPDX-License-Identifier: BSD-3-Clause
 * What the commands about traces have in common: where they get them from, those of the last look
 * or of a snapshot; and the options of those that compare them (lattice, similar, suspects,
 * diff). */
#ifndef PDB_SHELL_TRACES_OF_H
#define PDB_SHELL_TRACES_OF_H

#include <stdbool.h>

#include "analysis/traces/trace_runs.h"
#include "render/traces/view_traces.h"
#include "shell/options/options.h"

struct answer;
struct session;

/* The traces of `ranks` (NULL: of all), fetched from other hosts if need be. The caller destroys
 * them, before the next look. ERROR_NOT_FOUND: nothing was traced, and what to do about it. */
struct traces *trace_source_get(struct session *session, const struct rankset *ranks,
				struct pdb_error *err);

struct traces_asked {
	struct traces_options options;
	struct trace_runs_options runs; /* the same of them */
};

/* Take the options, `users` of enum traces_user among them, off the words; *rest_ret has the
 * others, borrowed. All is the answer's, whose is_full is set. NULL and *err: not such options. */
struct traces_asked *trace_options_take(struct session *session, const struct args *args,
					unsigned int users, struct answer *answer,
					struct args *rest_ret, struct pdb_error *err);

struct trace_input {
	struct job *job;
	struct traces *traces;
	bool is_own; /* the job is of a snapshot that was read for this */
};

/* The word "." is the session's job, of which `ranks` are wanted (NULL: all), others are snapshots.
 * It is the answer's. NULL and ERROR_NOT_FOUND: there are no traces. */
const struct trace_input *trace_input_open(struct session *session, const char *word,
					   const struct rankset *ranks, struct answer *answer,
					   struct pdb_error *err);

static inline struct trace_run trace_input_run(const struct trace_input *input)
{
	return (struct trace_run){input->job, input->traces};
}

#endif
