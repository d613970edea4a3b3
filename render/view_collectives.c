/* SPDX-License-Identifier: BSD-3-Clause
 * How far the members of each communicator are in its collectives. */
#include "analysis/verdict/verdict.h"
#include "analysis/waits/collective_groups.h"
#include "analysis/waits/waitfor.h"
#include "model/job/job_comms.h"
#include "model/job/model.h"
#include "model/job/rankset.h"
#include "render/draw/table.h"
#include "render/lp/lp.h"
#include "render/text/json.h"
#include "render/words/parts.h"

static const struct table_column columns[] = {
	{.name = "number", .header = "number", .align = TABLE_RIGHT},
	{.name = "ranks", .header = "ranks", .flags = TABLE_YIELDS, .min_width = 15},
	{.name = "last", .header = "last collective", .flags = TABLE_CUT_MIDDLE, .min_width = 12},
	{.name = "root", .header = "root", .align = TABLE_RIGHT},
	{.name = "bytes", .header = "bytes", .align = TABLE_RIGHT},
};

static const char *const stages[] = {
	[COLLECTIVE_IN] = "in",
	[COLLECTIVE_BEGUN] = "begun",
	[COLLECTIVE_AFTER] = "after",
};

/* ---- Rows ---- */

static const char *group_mark(const struct collective_group *group)
{
	if (group->differences & COLLECTIVE_OTHER_FUNCTION)
		return "<- mismatch: another function";
	if (group->differences & COLLECTIVE_OTHER_ROOT)
		return "<- mismatch: another root";
	if (group->differences & COLLECTIVE_OTHER_BYTES)
		return "<- mismatch: another size";
	return group->is_awaited ? "<- awaited" : NULL;
}

/* "in MPI_Bcast, halo() solver.c:141" */
static const char *group_text(const struct view *view, const struct collective_group *group)
{
	if (!group->number)
		return "none yet";
	return text_of(view, "%s%s %s, %s", stages[group->stage],
		       group->stage == COLLECTIVE_BEGUN ? ":" : "", group->function,
		       label_user_place(view, group->path, LABEL_SHORT));
}

static void add_root(struct table *table, const struct job_comm *comm, int32_t root)
{
	if (root == SEG_PEER_ROOT)
		table_text(table, "itself");
	else if (root < 0)
		table_text(table, NULL);
	else if (comm->kind != SEG_COMM_INTER && (size_t)root < comm->sizes[0] &&
		 comm->groups[0][root] >= 0)
		table_cell(table, "%d", comm->groups[0][root]);
	else
		table_text(table, "?");
}

static void add_row(struct table *table, const struct view *view, const struct job_comm *comm,
		    const struct collective_group *group, const struct rankset *ranks)
{
	table_row(table);
	table_cell(table, "%" PRIu64, group->number);
	table_ranks(table, ranks);
	table_text(table, group_text(view, group));
	add_root(table, comm, group->root);
	if (group->bytes != SEG_NO_BYTES)
		table_cell(table, "%" PRIu64, group->bytes);
	table_mark(table, group_mark(group));
}

/* Print mismatches of collectives whose rows do not show them. Returns the number of lines. */
static size_t print_mismatches(const struct view *view, uint32_t comm)
{
	size_t num = 0;

	for (size_t m = 0; view->waitfor && m < view->waitfor->num_mismatches; m++) {
		const struct waitfor_mismatch *mismatch = &view->waitfor->mismatches[m];

		if (mismatch->comm != comm || mismatch->what <= WAITFOR_OTHER_BYTES)
			continue;
		cause_print_mismatch(view, mismatch, 2);
		num += 1 + mismatch->num_parties + mismatch->num_pairs;
	}
	return num;
}

/* The groups of one communicator. Returns how many lines. */
static size_t print_groups(const struct view *view, const struct job_comm *comm,
			   const struct collective_groups *groups, bool is_detailed)
{
	struct table *table = TABLE_OF(view, columns);
	bool has_root = false, has_bytes = false;
	size_t left = 0;

	for (size_t g = 0; g < groups->num_groups; g++) {
		const struct collective_group *group = &groups->groups[g];
		struct rankset *ranks = parts_in_focus(view, group->ranks);

		if (rankset_is_empty(ranks))
			;
		else if (table_num_rows(table) < PARTS_MAX_ROWS)
			add_row(table, view, comm, group, ranks);
		else
			left++;
		has_root |= group->root >= 0 || group->root == SEG_PEER_ROOT;
		has_bytes |= group->bytes != SEG_NO_BYTES;
	}
	if (!is_detailed || !has_root)
		table_hide(table, "root");
	if (!is_detailed || !has_bytes)
		table_hide(table, "bytes");
	table_print(table);
	if (left)
		text_wrap(view, 2, "... and %zu more groups", left);
	return table_num_rows(table);
}

/* ---- All of them ---- */

static bool is_freed(const struct job_comm *comm)
{
	for (size_t i = 0; i < comm->num_views; i++) {
		struct job_comm_view known = job_comm_view(comm, i);

		if (!job_comm_seen(&known)->is_freed)
			return false;
	}
	return comm->num_views > 0;
}

static bool has_focus(const struct view *view, const struct collective_groups *groups)
{
	bool has = !view->focus;

	for (size_t g = 0; g < groups->num_groups && !has; g++)
		has = !rankset_is_empty(parts_in_focus(view, groups->groups[g].ranks));
	return has;
}

static void print_heading(const struct view *view, uint32_t c, enum label_detail detail,
			  const char *rest)
{
	const struct job_comm *comm = &view->comms->comms[c];
	size_t size = comm->sizes[0] + comm->sizes[1];

	text_wrap(view, 0, "%u: %s, %zu rank%s%s", c + 1, label_comm(view, c, detail), size,
		  size == 1 ? "" : "s", rest);
}

/* A communicator whose members all have the same number and none is in a collective: one line.
 * Returns the number of lines. */
static size_t print_quiet(const struct view *view, uint32_t c,
			  const struct collective_groups *groups)
{
	const struct collective_group *group = groups->groups;
	const char *rest;

	if (groups->num_groups == 0)
		rest = "";
	else if (groups->largest == 0)
		rest = ": no collective yet";
	else
		rest = text_of(view, ": all after number %" PRIu64 ", %s", group->number,
			       group->function);
	print_heading(view, c, LABEL_SHORT, rest);
	return 1;
}

struct listing {
	size_t num_lines;
	size_t num_freed, num_left; /* not listed */
};

/* interesting: communicators with activity; else the others, if there is room. */
static void print_comms(struct listing *listing, const struct view *view,
			struct collective_groups *const *groups, bool interesting)
{
	for (uint32_t c = 0; c < view->comms->num_comms; c++) {
		if (is_freed(&view->comms->comms[c])) {
			listing->num_freed += interesting;
			continue;
		}
		/* Does it show who waits for whom? */
		if ((groups[c]->is_active || groups[c]->is_differing ||
		     groups[c]->least != groups[c]->largest) != interesting ||
		    !has_focus(view, groups[c]))
			continue;
		if (listing->num_lines >= PARTS_MAX_ROWS) {
			listing->num_left++;
		} else if (interesting) {
			print_heading(view, c, LABEL_SHORT, "");
			listing->num_lines +=
				2 + print_groups(view, &view->comms->comms[c], groups[c], false);
			listing->num_lines += print_mismatches(view, c);
		} else {
			listing->num_lines += print_quiet(view, c, groups[c]);
		}
	}
}

/* Print which ranks move: their numbers are of one moment. */
static void print_moving(const struct view *view)
{
	struct rankset *moving = parts_in_focus(view, view->verdict->moving);

	if (!rankset_is_empty(moving))
		text_wrap(view, 0, "%s %s moving: the numbers are of one moment.",
			  parts_who(view, moving), parts_plural(moving, "is", "are"));
}

static void print_all(const struct view *view)
{
	struct collective_groups *const *groups = view->answer->collectives;
	struct listing listing = {0};

	print_comms(&listing, view, groups, true);
	print_comms(&listing, view, groups, false);
	if (listing.num_left)
		text_wrap(view, 0,
			  "... and %zu more; \"collectives COMM\" shows one by its number or name, "
			  "\"focus RANKS\" shows those of some ranks",
			  listing.num_left);
	if (listing.num_freed)
		text_wrap(view, 0, "%zu freed by the program %s not listed.", listing.num_freed,
			  listing.num_freed == 1 ? "is" : "are");
	print_moving(view);
}

/* ---- One ---- */

static struct rankset *members(const struct view *view, const struct job_comm *comm, int side)
{
	struct rankset *ranks = parts_set(view);

	for (size_t i = 0; i < comm->sizes[side]; i++)
		if (comm->groups[side][i] >= 0)
			rankset_add(ranks, comm->groups[side][i]);
	return ranks;
}

static void print_members(const struct view *view, const struct job_comm *comm, int side)
{
	struct rankset *ranks = members(view, comm, side);
	const char *who = label_ranks(view->arena, ranks, 40);
	size_t others = comm->sizes[side] - (size_t)rankset_count(ranks);

	if (others)
		text_wrap(view, 2, "members%s: %s, and %zu that are not of this job or not known",
			  side ? " of the other group" : "", who, others);
	else
		text_wrap(view, 2, "members%s: %s", side ? " of the other group" : "", who);
}

/* "made by MPI_Comm_split, setup() at grid.c:40, from MPI_COMM_WORLD" */
static void print_origin(const struct view *view, const struct job_comm *comm)
{
	const char *parent;

	if (!comm->made_by)
		return;
	parent = comm->parent == SEG_NO_COMM ? "" : label_comm(view, comm->parent, LABEL_SHORT);
	text_wrap(view, 2, "made by %s, %s%s%s", comm->made_by,
		  label_user_place(view, comm->path, LABEL_FULL), *parent ? ", from " : "", parent);
}

static void print_one(const struct view *view, uint32_t c, const struct collective_groups *groups)
{
	const struct job_comm *comm = &view->comms->comms[c];

	print_heading(view, c, LABEL_FULL, is_freed(comm) ? ", freed" : "");
	print_origin(view, comm);
	print_members(view, comm, 0);
	if (comm->kind == SEG_COMM_INTER)
		print_members(view, comm, 1);
	print_groups(view, comm, groups, true);
	print_mismatches(view, c);
	if (!rankset_is_empty(groups->unknown))
		text_wrap(view, 2, "not known: how far %s %s", parts_who(view, groups->unknown),
			  parts_plural(groups->unknown, "is", "are"));
	print_moving(view);
}

void view_collectives(const struct view *view)
{
	const struct answer *answer = view->answer;

	if (!answer->comms)
		print_all(view);
	for (size_t i = 0; answer->comms && i < answer->num_collectives; i++)
		print_one(view, answer->comms[i], answer->collectives[i]);
}

/* ---- JSON ---- */

static void write_group(struct json *json, const struct view *view, const struct job_comm *comm,
			const struct collective_group *group)
{
	bool has_root = group->root >= 0 && comm->kind != SEG_COMM_INTER &&
			(size_t)group->root < comm->sizes[0] && comm->groups[0][group->root] >= 0;

	json_count(json, "number", group->number);
	json_who(json, group->ranks);
	json_text(json, "function", group->function);
	if (group->number) {
		json_text(json, "stage", stages[group->stage]);
		json_text(json, "place", label_user_place(view, group->path, LABEL_FULL));
	}
	if (has_root)
		json_int(json, "root", comm->groups[0][group->root]);
	if (group->bytes != SEG_NO_BYTES)
		json_count(json, "bytes", group->bytes);
	json_bool(json, "awaited", group->is_awaited);
	json_bool(json, "other_function", group->differences & COLLECTIVE_OTHER_FUNCTION);
	json_bool(json, "other_root", group->differences & COLLECTIVE_OTHER_ROOT);
	json_bool(json, "other_bytes", group->differences & COLLECTIVE_OTHER_BYTES);
}

static void write_comm(struct json *json, const struct view *view, uint32_t c,
		       const struct collective_groups *groups)
{
	const struct job_comm *comm = &view->comms->comms[c];

	json_object(json, NULL);
	json_count(json, "number", c + 1);
	json_text(json, "name", label_comm(view, c, LABEL_FULL));
	json_text(json, "kind", label_comm_kind(view, c));
	json_count(json, "size", comm->sizes[0] + comm->sizes[1]);
	json_ranks(json, "members", members(view, comm, 0));
	json_text(json, "made_by", comm->made_by);
	json_bool(json, "freed", is_freed(comm));
	JSON_OBJECTS(json, "groups", g, groups->num_groups)
		write_group(json, view, comm, &groups->groups[g]);
	json_ranks(json, "unknown", groups->unknown);
	json_end_object(json);
}

void view_collectives_json(const struct view *view)
{
	const struct answer *answer = view->answer;
	struct json *json = view->json;

	json_array(json, "communicators");
	for (size_t i = 0; i < answer->num_collectives; i++)
		if (has_focus(view, answer->collectives[i]))
			write_comm(json, view, answer->comms ? answer->comms[i] : (uint32_t)i,
				   answer->collectives[i]);
	json_end_array(json);
}
