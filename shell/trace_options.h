/* SPDX-License-Identifier: BSD-3-Clause
 * What the commands that compare traces (lattice, similar, suspects, diff) have in common: their
 * options, and the runs they are of. */
#ifndef PDB_SHELL_TRACE_OPTIONS_H
#define PDB_SHELL_TRACE_OPTIONS_H

#include <stdbool.h>

#include "analysis/traces/clustering.h"
#include "analysis/traces/trace_runs.h"
#include "render/traces/view_traces.h"

struct answer;
struct args;
struct pdb_error;
struct rankset;
struct session;

/* For the texts of help. */
#define TRACE_OPTIONS_EVENTS                                                                       \
	"  -by path|line|function|call   what makes two calls different: the lines of all\n"       \
	"               calls on the way from main() (else), the line of the call, the\n"          \
	"               function that it is in, or nothing but what is called\n"                   \
	"  -only RE, -without RE   events with or without \"MPI_Send, halo() at a.c:141\"\n"       \
	"  -mpi         only MPI calls; -communication only those that talk to others\n"           \
	"  -all         nothing is left out of the answer"
#define TRACE_OPTIONS_ATTRIBUTES                                                                   \
	"  -attributes entries|pairs|bodies|ends   or several, with commas: calls, two\n"          \
	"               that follow each other, loop bodies, the last call\n"                      \
	"  -frequency no|actual|log10   is how often they are part of them?\n"
#define TRACE_OPTIONS_LINKAGE "  -linkage single|complete|average|ward   of clusters\n"

/* Which of these a command takes, beside those of events. */
enum trace_option_group { TRACE_TAKES_ATTRIBUTES = 1, TRACE_TAKES_LINKAGE = 2 };

struct trace_options {
	struct trace_runs_options runs; /* its expressions are in `expressions` */
	unsigned int kinds;             /* 0: not said */
	unsigned int frequencies;       /* 1 << enum attribute_frequency; 0: not said */
	enum linkage linkage;
	bool all;
	regex_t expressions[2];
	unsigned int num_expressions;
};

/* Take the options, `takes` of enum trace_option_group among them, off the words; *rest_ret has the
 * others, borrowed. All is the answer's, whose is_full is set. NULL and *err: not such options, or
 * a file of a kind that these commands do not write. */
struct trace_options *trace_options_take(struct session *session, const struct args *args,
					 unsigned int takes, struct answer *answer,
					 struct args *rest_ret, struct pdb_error *err);

/* ---- A run ---- */

struct trace_input {
	const char *name; /* as typed; borrowed */
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
