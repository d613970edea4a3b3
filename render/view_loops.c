/* SPDX-License-Identifier: BSD-3-Clause
 * The loop nest, and who is in which iteration. */
#include "analysis/progress/eqgroup.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/progress/progress.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/rankset.h"
#include "render/draw/dot.h"
#include "render/text/json.h"
#include "render/words/parts.h"

enum { STEP = 4, MAX_NAMES = 5, MAX_COUNTS = 8, MAX_DEPTH = 8 };

/* Where ranks are in a loop; ranks in one iteration are together. */
struct standing {
	uint64_t count;
	bool is_approximate;
	bool has_left; /* the iteration was the last one before a place outside all loops */
	struct rankset *ranks;
};

struct standings {
	const struct view *view;
	struct standing *standings;
	size_t number, capacity;
	struct rankset *outside; /* in a role that runs this loop, but not in the loop */
};

/* "MPI_Isend, MPI_Irecv, MPI_Waitall": the functions called in the loop in the order first seen,
 * beginning with the header's. */
static const char *functions_text(const struct view *view, uint32_t loop)
{
	const struct job_model *jm = view->job->model;
	const char *names[MAX_NAMES];
	size_t number = 0, header = SEG_STATE_SITE(view->progress->loops[loop].header);
	struct text_list list = {view->arena, NULL};
	bool has_more = false;

	for (size_t i = 0; i <= jm->num_sites; i++) {
		size_t site = i ? i - 1 : header, known = 0;

		if (site == 0 || (!label_is_in_loop(view->progress, loop, SEG_STATE_ENTER(site)) &&
				  !label_is_in_loop(view->progress, loop, SEG_STATE_EXIT(site))))
			continue;
		while (known < number && strcmp(names[known], jm->sites[site].name) != 0)
			known++;
		if (known < number)
			continue;
		if (number < MAX_NAMES)
			names[number++] = jm->sites[site].name;
		else
			has_more = true;
	}
	for (size_t i = 0; i < number; i++)
		text_list_add(&list, ", ", names[i]);
	if (has_more)
		text_list_add(&list, ", ", "...");
	return list.text ? list.text : "";
}

/* ---- Who is where ---- */

static void add_standing(struct standings *all, const struct iteration *iteration, bool has_left,
			 const struct rankset *ranks)
{
	struct standing *standing;

	for (size_t i = 0; i < all->number; i++) {
		standing = &all->standings[i];
		if (standing->count == iteration->count && standing->has_left == has_left &&
		    standing->is_approximate == iteration->is_approximate) {
			rankset_add_set(standing->ranks, ranks);
			return;
		}
	}
	*ARENA_PUSH(all->view->arena, all->standings, all->number, all->capacity) =
		(struct standing){
			.count = iteration->count,
			.is_approximate = iteration->is_approximate,
			.has_left = has_left,
			.ranks = parts_copy(all->view, ranks),
		};
}

/* Most progressed first. */
static int compare_standings(const void *a, const void *b)
{
	const struct standing *one = a, *two = b;

	if (one->count != two->count)
		return one->count > two->count ? -1 : 1;
	return (int)two->has_left - (int)one->has_left;
}

static bool add_from(struct standings *all, const struct iteration *iterations, size_t number,
		     bool has_left, uint32_t loop, const struct rankset *ranks)
{
	for (size_t i = 0; i < number; i++)
		if (iterations[i].loop == loop) {
			add_standing(all, &iterations[i], has_left, ranks);
			return true;
		}
	return false;
}

static struct standings find_standings(const struct view *view, uint32_t loop)
{
	struct standings all = {.view = view, .outside = parts_set(view)};

	for (uint32_t g = 0; g < view->groups->num_groups; g++) {
		const struct eqgroup *group = &view->groups->groups[g];
		const struct place *place = group->place;
		struct rankset *ranks = parts_in_focus(view, group->ranks);

		if (group->role == view->progress->loops[loop].role && !rankset_is_empty(ranks) &&
		    !add_from(&all, place->iterations, place->num_iterations, false, loop, ranks) &&
		    !add_from(&all, place->frontier, place->num_frontier, true, loop, ranks))
			rankset_add_set(all.outside, ranks);
	}
	if (all.number > 1)
		qsort(all.standings, all.number, sizeof(*all.standings), compare_standings);
	return all;
}

/* ---- As text ---- */

static void print_ranks(const struct view *view, int indent, const char *lead,
			const struct rankset *ranks, const char *tail)
{
	int used = indent + (int)strlen(lead) + 2 + (int)strlen(tail);
	const char *who =
		label_ranks(view->arena, ranks, view->width > used + 12 ? view->width - used : 12);

	text_wrap(view, indent, "%s: %s%s", lead, who, tail);
}

/* The standings from first up to last - 1 in one line. */
static void print_range(const struct view *view, int indent, const struct standings *all,
			size_t first, size_t last)
{
	struct rankset *ranks = parts_set(view);

	for (size_t i = first; i < last; i++)
		rankset_add_set(ranks, all->standings[i].ranks);
	print_ranks(view, indent,
		    text_of(view, "iterations %" PRIu64 " to %" PRIu64,
			    all->standings[last - 1].count, all->standings[first].count),
		    ranks, "");
}

static void print_standings(const struct view *view, uint32_t loop, int indent)
{
	struct standings all = find_standings(view, loop);

	for (size_t i = 0; i < all.number; i++) {
		const struct standing *standing;

		/* If there are many different iterations, the middle ones share a line. */
		if (all.number > MAX_COUNTS && i == MAX_COUNTS / 2) {
			size_t last = all.number - MAX_COUNTS / 2;

			print_range(view, indent, &all, i, last);
			i = last;
		}
		standing = &all.standings[i];
		print_ranks(view, indent,
			    text_of(view, "iteration %s%" PRIu64,
				    standing->is_approximate ? "about " : "", standing->count),
			    standing->ranks, standing->has_left ? " (the last one seen)" : "");
	}
	if (!rankset_is_empty(all.outside))
		print_ranks(view, indent, "outside this loop", all.outside, "");
}

static void print_loop(const struct view *view, uint32_t loop)
{
	const struct job_loop *it = &view->progress->loops[loop];
	int indent = (int)(it->depth < MAX_DEPTH ? it->depth : MAX_DEPTH) * STEP;

	text_wrap(view, indent, "%s: %s%s%s", label_loop(view, loop, LABEL_FULL),
		  functions_text(view, loop),
		  it->is_irreducible ? " (entered at several places)" : "",
		  it->is_comparable ? "" : " (iterations of different ranks cannot be compared)");
	print_standings(view, loop, indent + 2);
	for (uint32_t inner = 0; inner < view->progress->num_loops; inner++)
		if (view->progress->loops[inner].parent == loop)
			print_loop(view, inner);
}

void view_loops(const struct view *view)
{
	if (!parts_have_models(view))
		return;
	if (!view->progress->num_loops)
		text_wrap(
			view, 0,
			"No loop is known yet: no rank has made an MPI call twice from one place.");
	for (uint32_t loop = 0; loop < view->progress->num_loops; loop++)
		if (view->progress->loops[loop].parent == LOOP_NONE)
			print_loop(view, loop);
}

/* ---- As DOT ---- */

/* "iteration 411 to 412: 512:[0-511]" */
static const char *standings_text(const struct view *view, uint32_t loop)
{
	struct standings all = find_standings(view, loop);
	struct rankset *inside = parts_set(view);
	const char *who;

	for (size_t i = 0; i < all.number; i++)
		rankset_add_set(inside, all.standings[i].ranks);
	who = label_ranks(view->arena, inside, 30);
	if (!all.number)
		return "no rank is in it";
	if (all.standings[0].count == all.standings[all.number - 1].count)
		return text_of(view, "iteration %" PRIu64 ": %s", all.standings[0].count, who);
	return text_of(view, "iterations %" PRIu64 " to %" PRIu64 ": %s",
		       all.standings[all.number - 1].count, all.standings[0].count, who);
}

void view_loops_dot(const struct view *view)
{
	struct dot *dot;

	if (!view->progress || !view->groups)
		return;
	dot = dot_create(view->arena, "loops of the job: an arrow leads to a loop inside the other",
			 "loops");
	for (uint32_t loop = 0; loop < view->progress->num_loops; loop++) {
		const char *text = text_of(view, "%s\n%s\n%s", label_loop(view, loop, LABEL_SHORT),
					   functions_text(view, loop), standings_text(view, loop));

		/* Outer loops are kept first. */
		dot_node(dot, text, UINT32_MAX - view->progress->loops[loop].depth, DOT_PLAIN);
		if (view->progress->loops[loop].parent != LOOP_NONE)
			dot_edge(dot, view->progress->loops[loop].parent, loop, NULL);
	}
	dot_write(dot, view->out);
}

/* ---- JSON ---- */

static void write_standings(struct json *json, const struct view *view, uint32_t loop)
{
	struct standings all = find_standings(view, loop);

	JSON_OBJECTS(json, "iterations", i, all.number) {
		const struct standing *standing = &all.standings[i];

		json_count(json, "iteration", standing->count);
		json_bool(json, "approximate", standing->is_approximate);
		json_bool(json, "last_seen", standing->has_left);
		json_who(json, standing->ranks);
	}
	json_ranks(json, "outside", all.outside);
}

void view_loops_json(const struct view *view)
{
	struct json *json = view->json;

	JSON_OBJECTS(json, "loops", l, view->progress ? view->progress->num_loops : 0) {
		const struct job_loop *loop = &view->progress->loops[l];

		json_count(json, "loop", l + 1);
		json_number(json, "inside", loop->parent, LOOP_NONE);
		json_text(json, "where", label_loop(view, l, LABEL_FULL));
		json_text(json, "functions", functions_text(view, l));
		json_bool(json, "comparable", loop->is_comparable);
		write_standings(json, view, l);
	}
}
