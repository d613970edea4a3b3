/* SPDX-License-Identifier: BSD-3-Clause
 * What the commands print. Each function writes one answer of finished results to view->out.
 * Everything fits view->width columns for 4 ranks and for 4,096.
 *
 * Beside each answer for people is the same for programs: view_..._json() writes the members of
 * view->json, an open object, the "result" of docs/json.md. Who changes what one of them tells
 * changes the other, too. Commands have a table of these functions by format (shell/command.h).
 *
 * The verdict's views are in lp/, those of traces in traces/, and report/ makes a page of them all.
 * They are made of labels (words/), tables, trees and graphs (draw/), and written as lines, HTML or
 * JSON (text/). What they make on the way lives in view->arena. */
#ifndef PDB_RENDER_VIEW_H
#define PDB_RENDER_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The forms that an answer can have. */
enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_DOT,    /* of which Graphviz makes pictures */
	FORMAT_SVG,    /* of what draws by itself */
	FORMAT_FOLDED, /* stacks, as flame graphs take them */
	NUM_FORMATS,
};

/* What a command is asked, and what it has found to answer that: each has its own of these. */
struct answer {
	struct arena *arena; /* what was found lives there */
	enum format format;

	const struct rankset *ranks;
	int rank;
	int count;    /* how many at most; 0: not said */
	bool is_full; /* nothing is left out */

	const struct calltree *tree;
	const struct temporal_result *order;
	const struct wait_groups *waits;
	const struct message_pairs *pairs;
	/* Of these of view->comms, each with its groups; comms NULL: of all. */
	const uint32_t *comms;
	struct collective_groups *const *collectives;
	size_t num_collectives;
	const struct traces *traces;
	const struct traces_lane *lane; /* of them */
	const struct trace_answer *compared;
	const void *own; /* what only the command's own views know */
};

struct view {
	FILE *out;
	struct json *json;               /* on `out`: the object that a JSON view fills */
	struct arena *arena;             /* for what is made until the answer is written */
	const struct answer *answer;     /* NULL: views that need none */
	struct session *session;         /* for views that are no part of render/ */
	int width;                       /* columns, at least 40 */
	bool use_unicode;                /* box drawing and arrows in UTF-8; else ASCII */
	bool use_color;                  /* ANSI colours; marks say the same without them */
	bool is_script;                  /* nobody types: the exit status of a doubt is told */
	bool is_known_hang;              /* watching has found it: the answer does not doubt it */
	bool is_html;                    /* paragraphs and tables for report.h, no drawings */
	const struct job *job;           /* names are resolved through job->names */
	const struct progress *progress; /* these four are NULL when no rank has a recorder, */
	const struct eqgroups *groups;   /* but for verdict, which is always there */
	const struct progress_graph *graph;
	const struct verdict *verdict;
	const struct job_comms *comms; /* NULL when no rank has a recorder, as the next */
	const struct waitfor *waitfor;
	const struct temporal_result
		*order;              /* of the stacks; NULL: the verdict has no use for it */
	const struct rankset *focus; /* NULL: all; others are left out of tables */
};

/* The ranks without a model, and why. view_lp() tells it, too. */
void view_holes(const struct view *view);

/* How ranks were ended, by their cores, and where; of all if `ranks` is NULL. */
void view_crashes(const struct view *view, const struct rankset *ranks);
/* What view_lp() says of a job that crashed, below its first line. */
void view_crash_verdict(const struct view *view);

/* lp: the first words of the first line are kept for scripts (render/words/role.h): "Culprit: rank
 * 100 of 512", "Least progressed: ranks 3,7-9 of 512"; of a list too long for it "ranks 0,2,4,...,
 * 256 of 512". Then place, iteration, evidence, what next. */
void view_lp(const struct view *view);
void view_lp_json(const struct view *view);
/* The kind of a verdict in JSON: "computation", "deadlock", ... Static text. */
const char *view_verdict_name(const struct verdict *verdict);
/* groups: a row for each: ranks, where, iteration, since. */
void view_groups(const struct view *view);
void view_groups_json(const struct view *view);
void view_graph(const struct view *view);     /* layered drawing of the progress dependency graph */
void view_graph_dot(const struct view *view); /* the same as DOT, folded beyond ~300 nodes */
void view_graph_json(const struct view *view);
/* why: the chain from a rank along the waits or the progress graph to the cause, with evidence. */
void view_why(const struct view *view);
void view_why_json(const struct view *view);
void view_loops(const struct view *view); /* the loop nest with lines and counts by rank set */
void view_loops_dot(const struct view *view);
void view_loops_json(const struct view *view);
void view_progress(const struct view *view); /* each group's place in the loop nest as bars */
void view_progress_json(const struct view *view);
/* history: the last transitions of a rank with times; without a count a screenful, in JSON all. */
void view_history(const struct view *view);
void view_history_json(const struct view *view);
/* model: the Markov model of a rank as a table; unless is_full of the loops that it is in. */
void view_model(const struct view *view);
void view_model_dot(const struct view *view);
void view_model_json(const struct view *view);

/* order: groups from the earliest moment to the latest, why, and what is not ordered. */
void view_order(const struct view *view);
void view_order_json(const struct view *view);
/* bt, tree: merged stacks. Ranks are told where the tree divides or ranks end, with the number of
 * samples if a rank has several. An arrow is at branches of few ranks. */
void view_calltree(const struct view *view);
void view_calltree_dot(const struct view *view);
/* "main;run;halo 12", a line for each stack with its number of samples, for flame graphs. */
void view_calltree_folded(const struct view *view);
void view_calltree_json(const struct view *view);
/* classes: ranks with the same stacks of the tree, and the stacks of each. */
void view_classes(const struct view *view);
void view_classes_json(const struct view *view);

/* collectives: how far the ranks of each communicator are in its collectives; of those that are
 * asked for with members, roots and sizes. */
void view_collectives(const struct view *view);
void view_collectives_json(const struct view *view);
/* waits: who waits for whom, those who wait alike together: a table, and a drawing where it fits.
 * Of a job without models, by stacks and what the MPI libraries hold of messages, who of
 * `ranks`. */
void view_waits(const struct view *view);
void view_waits_dot(const struct view *view);
void view_waits_json(const struct view *view);
/* messages: both ends' counts, what differs first. Of several ranks not what is complete. */
void view_messages(const struct view *view);
void view_messages_json(const struct view *view);
/* requests: what a rank has begun and not completed; what the other end has not met comes first. */
void view_requests(const struct view *view);
void view_requests_json(const struct view *view);

#endif
