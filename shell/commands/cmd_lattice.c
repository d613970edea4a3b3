/* SPDX-License-Identifier: BSD-3-Clause
 * lattice, similar: what the traces of the ranks have in common. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/traces/concept_lattice.h"
#include "analysis/traces/trace_similarity.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/view.h"
#include "shell/args.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"
#include "shell/trace_options.h"

static int run_lattice(struct session *session, const struct args *args, struct pdb_error *err);
static int run_similar(struct session *session, const struct args *args, struct pdb_error *err);

/* More concepts than anybody can look at. */
enum { MOST_CONCEPTS = 20000 };

const struct command cmd_lattice = {
	.name = "lattice",
	.topic = TOPIC_LOOKING,
	.usage = "lattice [RANKS] [OPTION...]",
	.summary = "Show which ranks did the same by their traces, as a lattice of concepts.",
	.text = "A concept is a set of ranks with all that they have in common: first what all\n"
		"ranks did, below it what fewer of them did as well. \"set threads\" applies.\n"
		"Without options it goes by entries, and how often they were is no "
		"matter.\n" TRACE_OPTIONS_ATTRIBUTES TRACE_OPTIONS_EVENTS
		"\n\"> FILE\" writes a picture (.dot, .svg, .png, .pdf) or .json.",
	.example = "lattice -attributes pairs > lattice.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_GRAPHIC | CMD_DATA | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_lattice,
};

const struct command cmd_similar = {
	.name = "similar",
	.topic = TOPIC_LOOKING,
	.usage = "similar [RANKS] [OPTION...]",
	.summary = "Show how similar the traces of the ranks are, and how they cluster.",
	.text = "Similarity is the share of attributes that both have among those that any of\n"
		"both has (Jaccard). Ranks that are similar are beside each other. \"set "
		"threads\"\n"
		"applies. Without options it goes by entries, and how often they were is no\n"
		"matter; linkage is average.\n" TRACE_OPTIONS_ATTRIBUTES TRACE_OPTIONS_LINKAGE
			TRACE_OPTIONS_EVENTS "\n\"> FILE\" writes a picture (.svg) or .json.",
	.example = "similar -frequency log10 > similar.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_SVG | CMD_DATA | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_similar,
};

/* Traces of the session's job, and how similar they are. */
struct compared {
	struct trace_options options;
	struct trace_measure measure;
	struct rankset *ranks;
	struct trace_input input;
	struct trace_runs *runs;
	struct trace_similarity *similarity;
};

/* One frequency at most, else those of one attribute would be of several. */
static int take_measure(struct compared *c, struct pdb_error *err)
{
	unsigned int frequencies = c->options.frequencies ? c->options.frequencies : 1;

	if (frequencies & (frequencies - 1))
		return error_set(err, ERROR_USAGE, "-frequency: one of no, actual, log10");
	c->measure = (struct trace_measure){
		.kinds = c->options.kinds ? c->options.kinds : ATTRIBUTE_ENTRY,
		.frequency = (enum attribute_frequency)__builtin_ctz(frequencies),
		.linkage = c->options.linkage,
	};
	return 0;
}

static int take_words(struct session *session, const struct args *args, unsigned int takes,
		      struct compared *c, struct args *rest, struct pdb_error *err)
{
	size_t next = 0;

	if (trace_options_take(session, args, takes, &c->options, rest, err) < 0)
		return -1;
	if (take_measure(c, err) == 0 &&
	    session_take_ranks(session, rest, &next, &c->ranks, err) == 0)
		return 0;
	trace_options_deinit(&c->options, rest);
	return -1;
}

static int compare(struct session *session, struct compared *c, struct pdb_error *err)
{
	struct trace_run run;

	if (trace_input_open(session, ".", c->ranks, &c->input, err) < 0)
		return -1;
	run = trace_input_run(&c->input);
	c->options.runs.ranks = c->ranks;
	c->runs = trace_runs_create(&run, 1, &c->options.runs);
	if (interrupt_check(err) < 0)
		return -1;
	if (c->runs->num_threads == 0)
		return error_set(err, ERROR_NOT_FOUND, "none of these ranks has a trace");
	c->similarity =
		trace_similarity_create(c->runs->set, c->measure.kinds, c->measure.frequency);
	return 0;
}

typedef int print_fn(struct session *session, const struct compared *c, struct pdb_error *err);

static int run(struct session *session, const struct args *args, unsigned int takes,
	       print_fn *print, struct pdb_error *err)
{
	struct compared c = {.ranks = NULL};
	struct args rest;
	int result;

	if (take_words(session, args, takes, &c, &rest, err) < 0)
		return -1;
	result = compare(session, &c, err);
	if (result == 0)
		result = print(session, &c, err);
	trace_similarity_destroy(c.similarity);
	trace_runs_destroy(c.runs);
	trace_input_close(&c.input);
	rankset_destroy(c.ranks);
	trace_options_deinit(&c.options, &rest);
	return result;
}

static int print_lattice(struct session *session, const struct compared *c, struct pdb_error *err)
{
	struct view view = session_view(session);
	struct concept_lattice *lattice =
		concept_lattice_create(c->similarity->context, MOST_CONCEPTS, err);

	if (!lattice)
		return -1;
	if (session->wants_data)
		view_lattice_json(&view, c->runs, c->similarity, lattice, &c->measure);
	else if (session->wants_dot)
		view_lattice_dot(&view, c->runs, c->similarity, lattice, &c->measure);
	else
		view_lattice(&view, c->runs, c->similarity, lattice, &c->measure, c->options.all);
	concept_lattice_destroy(lattice);
	return 0;
}

static int run_lattice(struct session *session, const struct args *args, struct pdb_error *err)
{
	return run(session, args, TRACE_TAKES_ATTRIBUTES, print_lattice, err);
}

static int print_similar(struct session *session, const struct compared *c, struct pdb_error *err)
{
	struct view view = session_view(session);
	uint32_t *traces = xcalloc(c->runs->num_threads, sizeof(*traces));
	struct trace_clusters *clusters;

	(void)err;
	for (uint32_t t = 0; t < c->runs->num_threads; t++)
		traces[t] = t;
	clusters = trace_clusters_create(c->similarity, traces, c->runs->num_threads,
					 c->measure.linkage);
	if (session->wants_data && strcmp(session->wants_data, "svg") == 0)
		view_similar_svg(&view, c->runs, c->similarity, clusters, &c->measure);
	else if (session->wants_data)
		view_similar_json(&view, c->runs, c->similarity, clusters, &c->measure);
	else
		view_similar(&view, c->runs, c->similarity, clusters, &c->measure);
	trace_clusters_destroy(clusters);
	free(traces);
	return 0;
}

static int run_similar(struct session *session, const struct args *args, struct pdb_error *err)
{
	return run(session, args, TRACE_TAKES_ATTRIBUTES | TRACE_TAKES_LINKAGE, print_similar, err);
}
