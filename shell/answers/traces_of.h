/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the commands about traces: where traces come from (the last look or a snapshot), and
 * the options of the commands that compare them (lattice, similar, suspects, diff). */
#pragma once

#include "analysis/traces/trace_runs.h"
#include "render/traces/view_traces.h"
#include "shell/options/options.h"

struct answer;
struct session;

/* The traces of `ranks` (NULL: of all), fetched from other hosts if necessary. The caller destroys
 * them before the next look. NULL and ERROR_NOT_FOUND: nothing was traced; *err says what to do. */
struct traces *trace_source_get(struct session *session, const struct rankset *ranks,
				struct pdb_error *err);

struct traces_asked {
	struct traces_options options;
	struct trace_runs_options runs; /* the same options, as trace_runs takes them */
};

/* Take the options of `users` (enum traces_user) off the words. The other words are in *rest_ret,
 * borrowed. The result and *rest_ret live as long as the answer; its is_full is set. NULL and *err:
 * the options are wrong. */
struct traces_asked *trace_options_take(struct session *session, const struct args *args,
					unsigned int users, struct answer *answer,
					struct args *rest_ret, struct pdb_error *err);

struct trace_input {
	struct job *job;
	struct traces *traces;
	bool is_own; /* the job comes from a snapshot that this command read */
};

/* Open the traces that a word names: "." is the session's job, all else a snapshot file. `ranks`:
 * the ranks whose traces are needed (NULL: all), for ".". The result lives as long as the answer.
 * NULL and *err; ERROR_NOT_FOUND: there are no traces. */
const struct trace_input *trace_input_open(struct session *session, const char *word,
					   const struct rankset *ranks, struct answer *answer,
					   struct pdb_error *err);

static inline struct trace_run trace_input_run(const struct trace_input *input)
{
	return (struct trace_run){input->job, input->traces};
}
