/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "model/job/rankset.h"
#include "render/draw/table.h"
#include "render/text/html.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"

enum { INDENT = 2, GAP = 2, MARK_GAP = 1, HTML_CELL_WIDTH = 120 };

struct cell {
	const char *text;            /* NULL: empty, or a set */
	const struct rankset *ranks; /* NULL: text */
};

struct row {
	struct cell *cells; /* [num_columns] */
	size_t num_cells;   /* given so far */
	const char *mark;   /* NULL: an ordinary row */
};

struct table {
	const struct view *view;
	const struct table_column *columns;
	size_t num_columns;
	bool *is_hidden; /* [num_columns] */
	struct row *rows;
	size_t num_rows, capacity;
};

struct table *table_create(const struct view *view, const struct table_column *columns,
			   size_t num_columns)
{
	struct table *table = arena_alloc(view->arena, sizeof(*table));

	table->view = view;
	table->columns = columns;
	table->num_columns = num_columns;
	table->is_hidden = arena_array(view->arena, num_columns, sizeof(*table->is_hidden));
	return table;
}

void table_hide(struct table *table, const char *name)
{
	for (size_t c = 0; c < table->num_columns; c++)
		if (!strcmp(table->columns[c].name, name))
			table->is_hidden[c] = true;
}

void table_row(struct table *table)
{
	struct arena *arena = table->view->arena;

	table->rows = arena_grow(arena, table->rows, table->num_rows, &table->capacity,
				 sizeof(*table->rows));
	table->rows[table->num_rows++] =
		(struct row){.cells = arena_array(arena, table->num_columns, sizeof(struct cell))};
}

/* What does not fit the columns is left out. */
static void add_cell(struct table *table, struct cell cell)
{
	struct row *row = table->rows ? &table->rows[table->num_rows - 1] : NULL;

	if (row && row->num_cells < table->num_columns)
		row->cells[row->num_cells++] = cell;
}

void table_text(struct table *table, const char *text)
{
	add_cell(table, (struct cell){.text = text});
}

void table_cell(struct table *table, const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		abort();
	va_end(ap);
	table_text(table, arena_keep(table->view->arena, text, free));
}

void table_ranks(struct table *table, const struct rankset *set)
{
	add_cell(table, (struct cell){.ranks = set && rankset_is_empty(set) ? NULL : set});
}

void table_mark(struct table *table, const char *mark)
{
	if (table->num_rows)
		table->rows[table->num_rows - 1].mark = mark;
}

size_t table_num_rows(const struct table *table)
{
	return table->num_rows;
}

/* ---- Layout ---- */

static int count_digits(int count)
{
	return snprintf(NULL, 0, "%d", count);
}

/* Digits of the largest count in a column of rank sets: so their colons stand below each other. */
static int column_digits(const struct table *table, size_t c)
{
	int widest = 0;

	for (size_t r = 0; r < table->num_rows; r++) {
		const struct rankset *ranks = table->rows[r].cells[c].ranks;

		if (ranks)
			widest = MAX(widest, count_digits(rankset_count(ranks)));
	}
	return widest;
}

/* The cell's text in at most `width` columns. */
static const char *cell_text(const struct table *table, struct arena *arena,
			     const struct cell *cell, unsigned flags, int digits, int width)
{
	bool use_unicode = table->view->use_unicode || table->view->is_html;
	const char *text = cell->text ? cell->text : "";
	int pad;

	if (!cell->ranks && (flags & TABLE_CUT_MIDDLE))
		return text_fit_middle(arena, text, (size_t)width, use_unicode);
	if (!cell->ranks)
		return text_fit(arena, text, (size_t)width, use_unicode);
	pad = digits - count_digits(rankset_count(cell->ranks));
	if (pad >= width)
		pad = 0;
	return arena_printf(arena, "%*s%s", pad, "", label_ranks(arena, cell->ranks, width - pad));
}

static int natural_width(const struct table *table, size_t c, int digits)
{
	/* No cell gets more than the line, so no cell needs to be longer than that. */
	int widest = (int)text_columns(table->columns[c].header), most = table->view->width;

	for (size_t r = 0; r < table->num_rows; r++) {
		struct arena *scratch = arena_create();
		int columns = (int)text_columns(
			cell_text(table, scratch, &table->rows[r].cells[c], 0, digits, most));

		widest = MAX(widest, columns);
		arena_destroy(scratch);
	}
	return widest;
}

static int least_width(const struct table_column *column)
{
	return column->min_width > 0 ? column->min_width : (int)text_columns(column->header);
}

/* The widest column that may still give way: of those with TABLE_YIELDS, else of all that are above
 * their least width, else of all. SIZE_MAX if none is wider than one. */
static size_t choose_widest(const struct table *table, const int *widths)
{
	for (int pass = 0; pass < 3; pass++) {
		size_t widest = SIZE_MAX;

		for (size_t c = 0; c < table->num_columns; c++) {
			const struct table_column *column = &table->columns[c];
			int least = pass < 2 ? least_width(column) : 1;

			if (pass == 0 && !(column->flags & TABLE_YIELDS))
				continue;
			if (widths[c] > least && (widest == SIZE_MAX || widths[c] > widths[widest]))
				widest = c;
		}
		if (widest != SIZE_MAX)
			return widest;
	}
	return SIZE_MAX;
}

static int total_width(const struct table *table, const int *widths)
{
	int total = INDENT, shown = 0;

	for (size_t c = 0; c < table->num_columns; c++) {
		total += widths[c];
		shown += !table->is_hidden[c];
	}
	return total + (shown > 1 ? GAP * (shown - 1) : 0);
}

/* Columns of the longest mark, or of the longest first word of one. */
static int mark_width(const struct table *table, bool first_word)
{
	int widest = 0;

	for (size_t r = 0; r < table->num_rows; r++) {
		const char *mark = table->rows[r].mark;

		if (mark)
			widest = MAX(widest, (int)(first_word ? strcspn(mark, " ") : strlen(mark)));
	}
	return widest ? MARK_GAP + widest : 0;
}

/* Returns whether marks have to be cut to their first word. */
static bool lay_out(const struct table *table, int *widths, int *digits)
{
	int room = table->view->width - mark_width(table, false);
	bool cut_marks = false;

	for (size_t c = 0; c < table->num_columns; c++) {
		digits[c] = column_digits(table, c);
		widths[c] = table->is_hidden[c] ? 0 : natural_width(table, c, digits[c]);
	}
	if (total_width(table, widths) > room) {
		cut_marks = true;
		room = table->view->width - mark_width(table, true);
	}
	while (total_width(table, widths) > room) {
		size_t widest = choose_widest(table, widths);

		if (widest == SIZE_MAX)
			break;
		widths[widest]--;
	}
	return cut_marks;
}

/* Print a cell; blanks that would end the line are left to the next cell. */
static void put_cell(FILE *out, const char *text, int width, enum table_align align, int *pending)
{
	int columns = (int)text_columns(text);

	if (align == TABLE_RIGHT)
		*pending += width - columns;
	if (columns) {
		fprintf(out, "%*s%s", *pending > 0 ? *pending : 0, "", text);
		*pending = 0;
	}
	if (align == TABLE_LEFT)
		*pending += width - columns;
}

static void print_header(const struct table *table, const int *widths)
{
	const struct view *view = table->view;
	int pending = INDENT;
	bool has_header = false;

	for (size_t c = 0; c < table->num_columns; c++)
		has_header |= !table->is_hidden[c] && *table->columns[c].header;
	if (!has_header)
		return;
	text_color(view, TEXT_STRONG);
	for (size_t c = 0; c < table->num_columns; c++) {
		if (table->is_hidden[c])
			continue;
		put_cell(view->out,
			 text_fit(view->arena, table->columns[c].header, (size_t)widths[c],
				  view->use_unicode),
			 widths[c], table->columns[c].align, &pending);
		pending += GAP;
	}
	text_color(view, TEXT_PLAIN);
	fputc('\n', view->out);
}

static void print_row(const struct table *table, const struct row *row, const int *widths,
		      const int *digits, bool cut_mark)
{
	const struct view *view = table->view;
	struct arena *scratch = arena_create();
	int pending = INDENT;

	if (row->mark)
		text_color(view, TEXT_CULPRIT);
	for (size_t c = 0; c < table->num_columns; c++) {
		if (table->is_hidden[c])
			continue;
		put_cell(view->out,
			 cell_text(table, scratch, &row->cells[c], table->columns[c].flags,
				   digits[c], widths[c]),
			 widths[c], table->columns[c].align, &pending);
		pending += GAP;
	}
	if (row->mark && *row->mark) {
		pending += cut_mark ? MARK_GAP - GAP : 0;
		put_cell(view->out,
			 cut_mark ? arena_strndup(scratch, row->mark, strcspn(row->mark, " "))
				  : row->mark,
			 0, TABLE_LEFT, &pending);
	}
	if (row->mark)
		text_color(view, TEXT_PLAIN);
	fputc('\n', view->out);
	arena_destroy(scratch);
}

/* The marks in full, each once. */
static void print_marks(const struct table *table)
{
	for (size_t r = 0; r < table->num_rows; r++) {
		const char *mark = table->rows[r].mark;
		bool is_known = !mark || !strchr(mark, ' ');

		for (size_t other = 0; other < r && !is_known; other++)
			is_known =
				table->rows[other].mark && !strcmp(table->rows[other].mark, mark);
		if (!is_known)
			text_wrap(table->view, INDENT, "%s", mark);
	}
}

/* ---- HTML ---- */

static void write_html_row(const struct table *table, const struct row *row)
{
	FILE *out = table->view->out;

	fputs(row->mark ? "<tr class=\"marked\">" : "<tr>", out);
	for (size_t c = 0; c < table->num_columns; c++) {
		if (table->is_hidden[c])
			continue;
		fputs(table->columns[c].align == TABLE_RIGHT ? "<td class=\"right\">" : "<td>",
		      out);
		html_text(out, cell_text(table, table->view->arena, &row->cells[c], 0, 0,
					 HTML_CELL_WIDTH));
		fputs("</td>", out);
	}
	if (row->mark && *row->mark) {
		fputs("<td class=\"mark\">", out);
		html_text(out, row->mark);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

static void print_html(const struct table *table)
{
	FILE *out = table->view->out;

	fputs("<div class=\"wide\"><table><thead><tr>", out);
	for (size_t c = 0; c < table->num_columns; c++) {
		if (table->is_hidden[c])
			continue;
		fputs(table->columns[c].align == TABLE_RIGHT ? "<th scope=\"col\" class=\"right\">"
							     : "<th scope=\"col\">",
		      out);
		html_text(out, table->columns[c].header);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t r = 0; r < table->num_rows; r++)
		write_html_row(table, &table->rows[r]);
	fputs("</tbody></table></div>\n", out);
}

void table_print(const struct table *table)
{
	struct arena *arena = table->view->arena;
	int *widths, *digits;
	bool cut_marks;

	if (!table->num_rows)
		return;
	if (table->view->is_html) {
		print_html(table);
		return;
	}
	widths = arena_array(arena, table->num_columns, sizeof(*widths));
	digits = arena_array(arena, table->num_columns, sizeof(*digits));
	cut_marks = lay_out(table, widths, digits);
	print_header(table, widths);
	for (size_t r = 0; r < table->num_rows; r++)
		print_row(table, &table->rows[r], widths, digits, cut_marks);
	if (cut_marks)
		print_marks(table);
}
