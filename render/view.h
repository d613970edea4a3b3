/* SPDX-License-Identifier: BSD-3-Clause
 * The commands' answers. Each function writes one answer, from finished results, to view->out.
 * Everything fits view->width columns for 4 ranks and for 4,096.
 *
 * Each answer for people has a twin for programs: view_..._json() writes the members of view->json,
 * an open object, the "result" of docs/json.md. If you change the content of one, change the other,
 * too. Commands have a table of these functions by format (shell/command.h).
 *
 * The verdict's views are in lp/, those of traces in traces/; report/ makes a page of them all.
 * Labels (words/), tables, trees and graphs (draw/) are their parts; text/ writes lines, HTML and
 * JSON. Temporary results live in view->arena. */
#pragma once

#include "model/base.h"

struct caused_list;
struct slow_rank;

/* The formats of an answer. */
enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_DOT,    /* input of Graphviz, for pictures */
	FORMAT_SVG,    /* pictures that pdb draws itself */
	FORMAT_FOLDED, /* stacks in the input format of flame graphs */
	NUM_FORMATS,
};

/* What a command was asked, and what it found. Each command uses its own members. */
struct answer {
	struct arena *arena; /* owner of the results */
	enum format format;

	const struct rankset *ranks;
	int rank;
	int count;    /* how many at most; 0: not given */
	bool is_full; /* nothing is left out */

	const struct calltree *tree;
	const struct temporal_result *order;
	const struct wait_groups *waits;
	const struct message_pairs *pairs;
	/* Collectives of these communicators (indexes in view->comms); comms NULL: of all. */
	const uint32_t *comms;
	struct collective_groups *const *collectives;
	size_t num_collectives;
	const struct traces *traces;
	const struct traces_lane *lane; /* one lane of `traces` */
	const struct trace_answer *compared;
	const struct caused_list
		*caused; /* where the verdict's ranks parted; NULL: not looked for */
	const void *own; /* data for the command's own views only */
};

struct view {
	FILE *out;
	struct json *json;               /* writes to `out`; a JSON view fills its open object */
	struct arena *arena;             /* for temporary results of the answer */
	const struct answer *answer;     /* NULL: the view needs none */
	struct session *session;         /* for views outside of render/ */
	int width;                       /* columns, at least 40 */
	bool use_unicode;                /* box drawing and arrows in UTF-8; else ASCII */
	bool use_color;                  /* ANSI colours; marks show the same without them */
	bool is_script;                  /* nobody types: a doubtful answer names the exit status */
	bool is_known_hang;              /* watching found the hang: the answer does not doubt it */
	bool is_past;                    /* a snapshot, or ended: no gdb, no other look */
	bool is_html;                    /* paragraphs and tables for report.h, no drawings */
	const struct job *job;           /* names are resolved through job->names */
	const struct progress *progress; /* these are NULL if no rank has a recorder, */
	const struct eqgroups *groups;   /* except verdict, which is always there */
	const struct progress_graph *graph;
	const struct verdict *verdict;
	const struct job_comms *comms; /* NULL if no rank has a recorder, like the next */
	const struct waitfor *waitfor;
	const struct temporal_result *order; /* of the stacks; NULL: the verdict does not need it */
	const struct rankset *focus;         /* NULL: all; tables leave out other ranks */
};

/* The ranks without a model, and why. view_lp() prints this, too. */
void view_holes(const struct view *view);

/* How ranks ended and where, by their cores; of all if `ranks` is NULL. */
void view_crashes(const struct view *view, const struct rankset *ranks);
/* How these ranks ended, for whom the others wait. */
void view_ended(const struct view *view, const struct rankset *ended);
/* What view_lp() prints about a crashed job, below the first line. */
void view_crash_verdict(const struct view *view);

/* lp: scripts rely on the first words (render/words/role.h): "Culprit: rank 100 of 512", "Least
 * progressed: ranks 3,7-9 of 512"; if the list is too long "ranks 0,2,4,..., 256 of 512". Then
 * place, iteration, evidence and next steps. */
void view_lp(const struct view *view);
void view_lp_json(const struct view *view);
/* The kind of a verdict in JSON: "computation", "deadlock", ... Static text. */
const char *view_verdict_name(const struct verdict *verdict);
/* slow: who holds the others up in a job that moves, and why; view->answer->own is the slow. */
void view_slow(const struct view *view);
void view_slow_json(const struct view *view);
/* What lp says of it: one paragraph; a member "slow". Nothing if view->answer has none. */
void view_slow_glance(const struct view *view);
void view_slow_glance_json(const struct view *view);
/* Why a rank is slow, in one line; it has reasons. */
const char *view_slow_reasons(const struct view *view, const struct slow_rank *rank);
/* groups: a row per group: ranks, where, iteration, since. */
void view_groups(const struct view *view);
void view_groups_json(const struct view *view);
void view_graph(const struct view *view);     /* layered drawing of the progress dependency graph */
void view_graph_dot(const struct view *view); /* the same as DOT, folded beyond ~300 nodes */
void view_graph_json(const struct view *view);
/* why: the chain from a rank to the cause, along waits or the progress graph, with evidence. */
void view_why(const struct view *view);
void view_why_json(const struct view *view);
void view_loops(const struct view *view); /* the loop nest with lines and counts by rank set */
void view_loops_dot(const struct view *view);
void view_loops_json(const struct view *view);
void view_progress(const struct view *view); /* each group's place in the loop nest as bars */
void view_progress_json(const struct view *view);
/* history: the last transitions of a rank with times. Without a count: one screen; in JSON all. */
void view_history(const struct view *view);
void view_history_json(const struct view *view);
/* model: the Markov model of a rank as a table, only of the loops that it is in unless is_full. */
void view_model(const struct view *view);
void view_model_dot(const struct view *view);
void view_model_json(const struct view *view);

/* order: groups from the earliest moment to the latest, the reasons, and the unordered groups. */
void view_order(const struct view *view);
void view_order_json(const struct view *view);
/* print: the values of an expression, a row for each value; of many numbers the extremes. */
void view_print(const struct view *view);
void view_print_json(const struct view *view);
/* cause: where ranks parted, and the values that decided it. */
void view_cause(const struct view *view);
void view_cause_json(const struct view *view);
/* What lp and why say of it: one paragraph; a member "parted". Nothing unless view->answer->caused
 * has one place. */
void view_cause_glance(const struct view *view, int indent);
void view_cause_glance_json(const struct view *view);
/* locals: a table of variables for each function that ranks are in. */
void view_locals(const struct view *view);
void view_locals_json(const struct view *view);
/* list: sources around the places of ranks, whose lines are marked with them. */
void view_list(const struct view *view);
void view_list_json(const struct view *view);
/* bt, tree: merged stacks. Ranks are shown where the tree divides or ranks end; the number of
 * samples, if a rank has several. Arrows mark branches of few ranks. */
void view_calltree(const struct view *view);
void view_calltree_dot(const struct view *view);
/* "main;run;halo 12": a line per stack with its number of samples, for flame graphs. */
void view_calltree_folded(const struct view *view);
void view_calltree_json(const struct view *view);
/* classes: ranks with the same stacks of the tree, and the stacks of each class. */
void view_classes(const struct view *view);
void view_classes_json(const struct view *view);

/* collectives: how far each communicator's ranks are in its collectives. Communicators that the
 * user names also show members, roots and sizes. */
void view_collectives(const struct view *view);
void view_collectives_json(const struct view *view);
/* waits: who waits for whom, as a table and a drawing if it fits. Ranks that wait alike are one
 * group. For a job without models the sources are stacks and the MPI libraries' message queues,
 * limited to `ranks`. */
void view_waits(const struct view *view);
void view_waits_dot(const struct view *view);
void view_waits_json(const struct view *view);
/* messages: the counts of both ends; differences come first. For several ranks it leaves out rows
 * whose messages are complete and whose ends agree. */
void view_messages(const struct view *view);
void view_messages_json(const struct view *view);
/* requests: what a rank has begun and not completed. First come requests that the other end has not
 * met. */
void view_requests(const struct view *view);
void view_requests_json(const struct view *view);
