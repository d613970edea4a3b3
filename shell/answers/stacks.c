/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/stacks/temporal.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/job/rankset.h"
#include "render/words/label.h"
#include "render/view.h"
#include "shell/options/args.h"
#include "shell/banner.h"
#include "shell/options/options.h"
#include "shell/session.h"
#include "shell/answers/stack_order.h"
#include "shell/answers/stacks.h"

ARENA_DEFINE_IN(calltree)

/* A regular expression, or "mpi"; NULL: nothing. */
static int compile(struct arena *arena, const char *word, struct calltree_pattern *ret,
		   struct pdb_error *err)
{
	ret->is_mpi = word && strcmp(word, "mpi") == 0;
	if (!word || ret->is_mpi)
		return 0;
	ret->expression = args_compile_in(arena, word, err);
	return ret->expression ? 0 : -1;
}

/* Which stacks are selected, and how many. */
static int take_some(const struct stacks_options *o, struct stacks_asked *ret,
		     struct pdb_error *err)
{
	const unsigned int extremes[] = {
		[CALLTREE_LEAST] = o->least,
		[CALLTREE_MOST] = o->most,
		[CALLTREE_SHORTEST] = o->shortest,
		[CALLTREE_LONGEST] = o->longest,
	};
	int given = (o->first > 0) + (o->last > 0);

	ret->num = o->first + o->last;
	ret->is_timed = given > 0;
	ret->is_last = o->last > 0;
	for (unsigned int i = 0; i < sizeof(extremes) / sizeof(extremes[0]); i++) {
		if (!extremes[i])
			continue;
		given++;
		ret->is_selected = true;
		ret->extreme = (enum calltree_extreme)i;
		ret->num = extremes[i];
	}
	if (given > 1)
		return error_set(
			err, ERROR_USAGE,
			"give only one of -least, -most, -shortest, -longest, -first, -last");
	return 0;
}

struct stacks_asked *stacks_take_options(struct session *session, const struct args *args,
					 struct arena *arena, struct pdb_error *err)
{
	struct stacks_asked *ret = arena_alloc(arena, sizeof(*ret));
	struct stacks_options o = {.depth = 0};
	struct args rest;
	size_t next = 0;
	int result = option_take_all(&stacks_option_table, 0, args, &o, &rest, err);

	arena_keep(arena, rest.words, free);
	ret->is_full = o.is_full;
	ret->is_joined = o.is_joined;
	ret->edit.depth = o.depth;
	if (result < 0 || take_some(&o, ret, err) < 0 ||
	    compile(arena, o.above, &ret->edit.above, err) < 0 ||
	    compile(arena, o.below, &ret->edit.below, err) < 0 ||
	    compile(arena, o.hide, &ret->edit.hide, err) < 0 ||
	    compile(arena, o.search, &ret->edit.search, err) < 0 ||
	    session_take_ranks(session, &rest, &next, &ret->ranks, err) < 0)
		return NULL;
	rankset_in(arena, ret->ranks);
	return ret;
}

int stacks_ensure(struct session *session, const struct rankset *ranks, struct pdb_error *err)
{
	const struct sampling *sampling = &session->sampling;
	bool all_threads = session->settings.threads == SWITCH_ON;
	struct rankset *missing SCOPED(rankset) = rankset_copy(ranks);

	if (sampling->ranks && (sampling->all_threads || !all_threads))
		rankset_remove_set(missing, sampling->ranks);
	if (session_has_ended(session) || rankset_is_empty(missing))
		return 0;
	return stack_order_sample(session, ranks, err);
}

/* The tree of all stacks, before options select some. */
static struct calltree *make_whole_tree(struct session *session, const struct stacks_asked *o,
					const struct rankset *ranks, bool over_time)
{
	const struct setting_options *settings = &session->settings;
	const struct calltree_options how = {
		.frames = settings->frames,
		/* "-above mpi" asks for the frames inside MPI. */
		.fold = settings->fold == SWITCH_ON && !o->is_full && !o->edit.above.is_mpi,
		.all_threads = settings->threads == SWITCH_ON,
		.over_time = over_time,
	};

	return calltree_create(session->job, ranks, &how);
}

/* The ranks in the first or last steps of the order. NULL and *err: there are none. */
static struct rankset *take_steps(struct session *session, const struct stacks_asked *o,
				  const struct temporal_result *order, struct pdb_error *err)
{
	struct rankset *ranks = temporal_steps(order, o->num, o->is_last);
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

static struct calltree *edit_tree(const struct stacks_asked *o, const struct calltree *all)
{
	struct calltree_edit edit = o->edit;
	struct calltree *tree;

	edit.hide_starts = !o->is_full;
	tree = calltree_edit(all, &edit);
	if (o->is_selected) {
		struct calltree *more SCOPED(calltree) = tree;

		tree = calltree_select(more, o->extreme, o->num);
	}
	if (o->is_joined)
		calltree_join(tree);
	return tree;
}

struct calltree *stacks_make_tree(struct session *session, const struct stacks_asked *o,
				  bool over_time, struct pdb_error *err)
{
	struct temporal_result *order SCOPED(temporal_result) =
		stack_order_compare(session, o->ranks, STACK_ORDER_QUICK, o->is_timed ? err : NULL);
	struct rankset *steps SCOPED(rankset) = NULL;
	struct calltree *all SCOPED(calltree) = NULL, *tree;

	if (o->is_timed && (!order || !(steps = take_steps(session, o, order, err))))
		return NULL;
	all = make_whole_tree(session, o, steps ? steps : o->ranks, over_time);
	tree = edit_tree(o, all);
	if (order)
		calltree_order(tree, order);
	if (interrupt_check(err) == 0 && tree->num_nodes > 0)
		return tree;
	calltree_destroy(tree);
	if (!interrupt_pending())
		error_set(err, ERROR_NOT_FOUND, "%s",
			  all->num_nodes ? "these options leave out all stacks"
					 : "there is no stack of these ranks");
	return NULL;
}

int stacks_find_tree(struct session *session, const struct args *args, bool over_time,
		     struct answer *answer, struct pdb_error *err)
{
	const struct stacks_asked *taken;
	struct calltree *tree = NULL;
	int result = 0;

	taken = stacks_take_options(session, args, answer->arena, err);
	if (!taken)
		return -1;
	if (over_time)
		result = stacks_ensure(session, taken->ranks, err);
	else if (!session_has_ended(session))
		result = stack_order_sample(session, taken->ranks, err);
	if (!result)
		tree = stacks_make_tree(session, taken, over_time, err);
	if (!tree && answer->format == FORMAT_TEXT)
		banner_print_stack_holes(session, taken->ranks, session->out);
	answer->tree = calltree_in(answer->arena, tree);
	answer->ranks = taken->ranks;
	return tree ? 0 : -1;
}
