/* SPDX-License-Identifier: BSD-3-Clause
 * list: lines of sources, with the ranks that are at them. */

#include "model/job/names.h"
#include "model/job/rankset.h"
#include "render/listed.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

enum { RANKS_WIDTH = 16, TAB = 8 };

static const char *expand_tabs(struct arena *arena, const char *line)
{
	char *text = arena_alloc(arena, TAB * strlen(line) + 1);
	size_t to = 0;

	for (; *line; line++) {
		if (*line != '\t')
			text[to++] = *line;
		else
			do
				text[to++] = ' ';
			while (to % TAB);
	}
	return text;
}

/* The ranks at a line; NULL: there are none. */
static const struct rankset *ranks_at(const struct view *view, const struct listed_part *part,
				      int line)
{
	struct rankset *ranks = NULL;

	for (size_t i = 0; i < part->num_places; i++) {
		if (part->places[i]->name->line != line)
			continue;
		if (!ranks)
			ranks = rankset_in(view->arena, rankset_create());
		rankset_add_set(ranks, part->places[i]->ranks);
	}
	return ranks;
}

/* All labels are as wide as the widest. */
static int label_width(const struct view *view, const struct listed_part *part)
{
	size_t width = 0;

	for (int line = part->first; line <= part->last; line++) {
		const struct rankset *ranks = ranks_at(view, part, line);
		const char *label = ranks ? label_ranks(view->arena, ranks, RANKS_WIDTH) : "";

		width = strlen(label) > width ? strlen(label) : width;
	}
	return (int)width;
}

static void print_line(const struct view *view, const struct listed_part *part, int line, int width)
{
	const char *text = expand_tabs(view->arena, part->lines[line - 1]);
	const struct rankset *ranks = ranks_at(view, part, line);
	const char *label = ranks ? label_ranks(view->arena, ranks, RANKS_WIDTH) : "";
	const char *head =
		text_of(view, "%*s%s %6d  ", width, label, width ? ranks ? " >" : "  " : "", line);
	size_t left = (size_t)view->width > strlen(head) ? (size_t)view->width - strlen(head) : 1;

	if (ranks)
		text_color(view, TEXT_STRONG);
	fprintf(view->out, "%s%s", head,
		*text ? text_fit(view->arena, text, left, view->use_unicode) : "");
	if (ranks)
		text_color(view, TEXT_PLAIN);
	fputc('\n', view->out);
}

static void print_part(const struct view *view, const struct listed_part *part)
{
	int width = label_width(view, part);

	for (size_t i = 0; i < part->num_places; i++) {
		const struct listed_place *place = part->places[i];

		text_wrap(view, 0, "%s: %s", label_who(view->arena, place->ranks, view->width / 2),
			  label_name(view, place->node, place->name, LABEL_FULL));
	}
	if (!part->num_places)
		text_wrap(view, 0, "%s", part->path);
	if (part->trouble)
		text_wrap(view, 2, "%s", part->trouble);
	for (int line = part->first; part->path && line <= part->last; line++)
		print_line(view, part, line, width);
	if (part->path && part->first > part->last)
		text_wrap(view, 2, "%s has only %zu lines: it is not the source of the program.",
			  part->path, part->num_lines);
	if (!part->path)
		text_wrap(view, 2, "To name directories with the sources: set sources DIR:DIR");
}

void view_list(const struct view *view)
{
	const struct listed *listed = view->answer->own;

	for (size_t i = 0; i < listed->num; i++) {
		if (i)
			fputc('\n', view->out);
		print_part(view, &listed->parts[i]);
	}
	if (listed->num_more)
		text_wrap(view, 0, "... and %zu other places; to see them, name ranks",
			  listed->num_more);
	for (size_t i = 0; i < listed->num_missing; i++)
		text_wrap(view, 0, "%s: %s",
			  label_who(view->arena, listed->missing[i].ranks, view->width / 2),
			  listed->missing[i].why);
}

static void write_part(const struct view *view, const struct listed_part *part)
{
	struct json *json = view->json;
	size_t num = part->path && part->last >= part->first
			     ? (size_t)(part->last - part->first + 1)
			     : 0;
	const struct rankset *none = rankset_in(view->arena, rankset_create());

	json_text(json, "file", part->file);
	json_text(json, "path", part->path);
	json_text(json, "trouble", part->trouble);
	JSON_OBJECTS(json, "places", i, part->num_places) {
		const struct listed_place *place = part->places[i];

		json_text(json, "where", label_name(view, place->node, place->name, LABEL_FULL));
		json_int(json, "line", place->name->line);
		json_who(json, place->ranks);
	}
	JSON_OBJECTS(json, "lines", i, num) {
		int line = part->first + (int)i;

		json_int(json, "line", line);
		json_text(json, "text", part->lines[line - 1]);
		json_who(json, ranks_at(view, part, line) ?: none);
	}
}

void view_list_json(const struct view *view)
{
	const struct listed *listed = view->answer->own;
	struct json *json = view->json;

	JSON_OBJECTS(json, "parts", i, listed->num) {
		write_part(view, &listed->parts[i]);
	}
	json_count(json, "more", listed->num_more);
	JSON_OBJECTS(json, "missing", i, listed->num_missing) {
		json_text(json, "reason", listed->missing[i].why);
		json_who(json, listed->missing[i].ranks);
	}
}
