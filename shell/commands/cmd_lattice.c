/* SPDX-License-Identifier: BSD-3-Clause
 * lattice, similar: what the traces of the ranks have in common. */
#include "analysis/traces/concept_lattice.h"
#include "analysis/traces/trace_similarity.h"
#include "model/interrupt.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/session.h"
#include "shell/answers/traces_of.h"

/* More concepts are not useful to read. */
enum { MOST_CONCEPTS = 20000 };

/* Only one frequency: with several, one attribute would have several values. */
static int take_measure(const struct traces_options *options, struct trace_measure *ret,
			struct pdb_error *err)
{
	unsigned int frequencies = options->frequencies ? options->frequencies : 1;

	if (frequencies & (frequencies - 1))
		return error_set(err, ERROR_USAGE,
				 "-frequency takes only one of no, actual, log10");
	*ret = (struct trace_measure){
		.kinds = options->kinds ? options->kinds : ATTRIBUTE_ENTRY,
		.frequency = (enum attribute_frequency)__builtin_ctz(frequencies),
		.linkage = (enum linkage)options->linkage,
	};
	return 0;
}

/* Traces of the session's job, and how similar they are; NULL and *err. */
static struct trace_answer *compare(struct session *session, const struct args *args,
				    unsigned int takes, struct answer *answer,
				    struct pdb_error *err)
{
	struct trace_answer *found = arena_alloc(answer->arena, sizeof(*found));
	struct traces_asked *asked;
	const struct trace_input *input;
	struct trace_run run;
	struct args rest;

	answer->compared = found;
	asked = trace_options_take(session, args, takes, answer, &rest, err);
	if (!asked || take_measure(&asked->options, &found->measure, err) < 0 ||
	    answer_take_ranks(session, &rest, answer, err) < 0)
		return NULL;
	input = trace_input_open(session, ".", answer->ranks, answer, err);
	if (!input)
		return NULL;
	run = trace_input_run(input);
	asked->runs.ranks = answer->ranks;
	found->runs = trace_runs_create(answer->arena, &run, 1, &asked->runs);
	if (interrupt_check(err) < 0)
		return NULL;
	if (found->runs->num_threads == 0) {
		error_set(
			err, ERROR_NOT_FOUND,
			"none of these ranks has a trace; start the job with \"pdb run --trace\"");
		return NULL;
	}
	found->similarity = trace_similarity_create(answer->arena, found->runs->set,
						    found->measure.kinds, found->measure.frequency);
	return found;
}

static int find_lattice(struct session *session, const struct args *args, struct answer *answer,
			struct pdb_error *err)
{
	struct trace_answer *found = compare(session, args, TRACES_ATTRIBUTES, answer, err);

	if (found)
		found->lattice = concept_lattice_create(answer->arena, found->similarity->context,
							MOST_CONCEPTS, err);
	return found && found->lattice ? 0 : -1;
}

static int find_similar(struct session *session, const struct args *args, struct answer *answer,
			struct pdb_error *err)
{
	struct trace_answer *found =
		compare(session, args, TRACES_ATTRIBUTES | TRACES_LINKAGE, answer, err);
	uint32_t *traces;

	if (!found)
		return -1;
	traces = arena_array(answer->arena, found->runs->num_threads, sizeof(*traces));
	for (uint32_t t = 0; t < found->runs->num_threads; t++)
		traces[t] = t;
	found->clusters = trace_clusters_create(answer->arena, found->similarity, traces,
						found->runs->num_threads, found->measure.linkage);
	return 0;
}

const struct command cmd_lattice = {
	.name = "lattice",
	.topic = TOPIC_TRACES,
	.usage = "lattice [RANKS] [OPTION...]",
	.summary = "Show which ranks did the same, as a lattice of their traces.",
	.text = "A concept is a set of ranks with all that they have in common. The first\n"
		"concept is what all ranks did. The concepts below it add what fewer ranks did.\n"
		"\"set threads\" applies. Without options, lattice compares entries and ignores\n"
		"how often they occur. \"> FILE\" writes a picture (.dot, .svg, .png, .pdf) or\n"
		".json.",
	.options = &traces_option_table,
	.users = TRACES_ATTRIBUTES,
	.example = "lattice -attributes pairs > lattice.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_lattice,
	.views = {[FORMAT_TEXT] = view_lattice,
		  [FORMAT_JSON] = view_lattice_json,
		  [FORMAT_DOT] = view_lattice_dot},
};

const struct command cmd_similar = {
	.name = "similar",
	.topic = TOPIC_TRACES,
	.usage = "similar [RANKS] [OPTION...]",
	.summary = "Show how similar the traces of ranks are, and how they cluster.",
	.text = "pdb counts the attributes that both ranks have. The similarity is this number,\n"
		"divided by the number of attributes that at least one of them has (Jaccard).\n"
		"Similar ranks stand beside each other. \"set threads\" applies. Without options,\n"
		"similar compares entries, ignores how often they occur, and clusters by average\n"
		"linkage. \"> FILE\" writes a picture (.svg) or .json.",
	.options = &traces_option_table,
	.users = TRACES_ATTRIBUTES | TRACES_LINKAGE,
	.example = "similar -frequency log10 > similar.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_MODEL | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.find = find_similar,
	.views = {[FORMAT_TEXT] = view_similar,
		  [FORMAT_JSON] = view_similar_json,
		  [FORMAT_SVG] = view_similar_svg},
};
