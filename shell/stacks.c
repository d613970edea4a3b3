/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "analysis/stacks/temporal.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/job/rankset.h"
#include "render/view.h"
#include "render/words/order_text.h"
#include "shell/args.h"
#include "shell/banner.h"
#include "shell/option.h"
#include "shell/session.h"
#include "shell/stack_order.h"
#include "shell/stacks.h"

#define MAX_FRAMES 100000

ARENA_DEFINE_IN(calltree)

/* ---- Options ---- */

#define PLACE(member) offsetof(struct stacks_options, member)

/* A regular expression, or "mpi". */
static int take_pattern(void *stacks, const struct option *option, const char *typed,
			const struct args *args, size_t *next, struct pdb_error *err)
{
	struct stacks_options *ret = stacks;
	struct calltree_pattern *pattern = (void *)((char *)stacks + option->place);
	regex_t *expression = &ret->expressions[ret->num_expressions];
	const char *word;

	if (*next >= args->num_words)
		return error_set(err, ERROR_USAGE, "a regular expression is missing after \"%s\"",
				 typed);
	if (pattern->is_mpi || pattern->expression)
		return error_set(err, ERROR_USAGE, "\"%s\" is there twice", typed);
	word = args->words[(*next)++];
	if (strcmp(word, "mpi") == 0) {
		pattern->is_mpi = true;
		return 0;
	}
	if (args_compile(word, 0, expression, err) < 0)
		return -1;
	ret->num_expressions++;
	pattern->expression = expression;
	return 0;
}

/* Which of the stacks, by `place`, and how many of them, if that is there. */
static int take_some(void *stacks, const struct option *option, const char *typed,
		     const struct args *args, size_t *next, struct pdb_error *err)
{
	struct stacks_options *ret = stacks;

	(void)typed;
	*(bool *)((char *)stacks + option->place) = true;
	if (option->place == PLACE(is_selected))
		ret->extreme = option->value;
	else
		ret->is_timed = true;
	if (ret->num)
		return error_set(err, ERROR_USAGE,
				 "only one of -least, -most, -shortest, -longest, -first, -last");
	ret->num = 1;
	if (*next >= args->num_words ||
	    args->words[*next][strspn(args->words[*next], "0123456789")] != '\0')
		return 0;
	return args_take_number(args, next, "number of stacks", 1, MAX_FRAMES, &ret->num, err);
}

#define TAKES(text, what, member) .name = text, .kind = what, .place = PLACE(member)
#define PATTERN(text, member) TAKES(text, OPTION_OTHER, member), .take = take_pattern
#define SOME(text, member, how) TAKES(text, OPTION_OTHER, member), .value = how, .take = take_some

static const struct option options[] = {
	{PATTERN("above", edit.above)},
	{PATTERN("below", edit.below)},
	{TAKES("depth", OPTION_NUMBER, edit.depth), .max = MAX_FRAMES},
	{SOME("first", is_timed, 0)},
	{TAKES("full", OPTION_FLAG, is_full)},
	{PATTERN("hide", edit.hide)},
	{TAKES("join", OPTION_FLAG, is_joined)},
	{SOME("last", is_last, 0)},
	{SOME("least", is_selected, CALLTREE_LEAST)},
	{SOME("longest", is_selected, CALLTREE_LONGEST)},
	{SOME("most", is_selected, CALLTREE_MOST)},
	{PATTERN("search", edit.search)},
	{SOME("shortest", is_selected, CALLTREE_SHORTEST)},
};

int stacks_take_options(struct session *session, const struct args *args,
			struct stacks_options *ret, struct pdb_error *err)
{
	struct args rest;
	size_t next = 0;
	int result;

	*ret = (struct stacks_options){.ranks = NULL};
	result = option_take_all(options, sizeof(options) / sizeof(options[0]), 0, args, ret, &rest,
				 err);
	if (result == 0)
		result = session_take_ranks(session, &rest, &next, &ret->ranks, err);
	free(rest.words);
	if (result < 0) {
		ret->ranks = NULL;
		stacks_options_deinit(ret);
	}
	return result;
}

void stacks_options_deinit(struct stacks_options *o)
{
	for (unsigned int i = 0; i < o->num_expressions; i++)
		regfree(&o->expressions[i]);
	rankset_destroy(o->ranks);
}

/* ---- Stacks ---- */

int stacks_ensure(struct session *session, const struct rankset *ranks, struct pdb_error *err)
{
	const struct sampling *sampling = &session->sampling;
	bool all_threads = session->settings.values[SETTING_THREADS] == SWITCH_ON;
	struct rankset *missing;
	int result = 0;

	if (session_has_ended(session))
		return 0;
	missing = rankset_copy(ranks);
	if (sampling->ranks && (sampling->all_threads || !all_threads))
		rankset_remove_set(missing, sampling->ranks);
	if (!rankset_is_empty(missing))
		result = stack_order_sample(session, ranks, err);
	rankset_destroy(missing);
	return result;
}

/* All stacks that the options leave. */
static struct calltree *make_whole_tree(struct session *session, const struct stacks_options *o,
					const struct rankset *ranks, bool over_time)
{
	const int *values = session->settings.values;
	const struct calltree_options how = {
		.frames = values[SETTING_FRAMES],
		/* What is inside MPI is asked for. */
		.fold = values[SETTING_FOLD] == SWITCH_ON && !o->is_full && !o->edit.above.is_mpi,
		.all_threads = values[SETTING_THREADS] == SWITCH_ON,
		.over_time = over_time,
	};

	return calltree_create(session->job, ranks, &how);
}

/* Ranks that are in so many steps of the order; NULL: there are none, and why. */
static struct rankset *take_steps(struct session *session, const struct stacks_options *o,
				  const struct temporal_result *order, struct pdb_error *err)
{
	struct rankset *ranks = temporal_steps(order, (size_t)o->num, o->is_last);
	struct arena *arena;
	struct view view;

	if (!rankset_is_empty(ranks))
		return ranks;
	rankset_destroy(ranks);
	arena = arena_create();
	view = session_view(session, arena);
	error_set(err, ERROR_NOT_FOUND, "the stacks have no order in time: %s",
		  order_text_no_order(&view, order));
	arena_destroy(arena);
	return NULL;
}

static struct calltree *edit_tree(const struct stacks_options *o, const struct calltree *all)
{
	struct calltree_edit edit = o->edit;
	struct calltree *tree, *more;

	edit.hide_starts = !o->is_full;
	tree = calltree_edit(all, &edit);
	if (o->is_selected) {
		more = tree;
		tree = calltree_select(more, o->extreme, (size_t)o->num);
		calltree_destroy(more);
	}
	if (o->is_joined)
		calltree_join(tree);
	return tree;
}

struct calltree *stacks_make_tree(struct session *session, const struct stacks_options *o,
				  bool over_time, struct pdb_error *err)
{
	struct temporal_result *order =
		stack_order_compare(session, o->ranks, STACK_ORDER_QUICK, o->is_timed ? err : NULL);
	struct rankset *steps = NULL;
	struct calltree *all, *tree = NULL;
	bool is_empty = true;

	if (o->is_timed && (!order || !(steps = take_steps(session, o, order, err)))) {
		temporal_result_destroy(order);
		return NULL;
	}
	all = make_whole_tree(session, o, steps ? steps : o->ranks, over_time);
	is_empty = all->num_nodes == 0;
	tree = edit_tree(o, all);
	calltree_destroy(all);
	if (order)
		calltree_order(tree, order);
	rankset_destroy(steps);
	temporal_result_destroy(order);
	if (interrupt_check(err) == 0 && tree->num_nodes > 0)
		return tree;
	calltree_destroy(tree);
	if (interrupt_pending())
		return NULL;
	error_set(err, ERROR_NOT_FOUND, "%s",
		  is_empty ? "there is no stack of these ranks"
			   : "these options leave nothing of the stacks");
	return NULL;
}

int stacks_find_tree(struct session *session, const struct args *args, bool over_time,
		     struct answer *answer, struct pdb_error *err)
{
	struct stacks_options taken;
	struct calltree *tree = NULL;
	int result = 0;

	if (stacks_take_options(session, args, &taken, err) < 0)
		return -1;
	if (over_time)
		result = stacks_ensure(session, taken.ranks, err);
	else if (!session_has_ended(session))
		result = stack_order_sample(session, taken.ranks, err);
	if (!result)
		tree = stacks_make_tree(session, &taken, over_time, err);
	if (!tree && answer->format == FORMAT_TEXT)
		banner_print_stack_holes(session, taken.ranks, session->out);
	answer->tree = calltree_in(answer->arena, tree);
	answer->ranks = rankset_in(answer->arena, taken.ranks);
	taken.ranks = NULL;
	stacks_options_deinit(&taken);
	return tree ? 0 : -1;
}
