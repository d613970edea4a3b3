/* SPDX-License-Identifier: BSD-3-Clause */
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
	size_t num_cells;   /* cells given so far */
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

	*ARENA_PUSH(arena, table->rows, table->num_rows, table->capacity) =
		(struct row){.cells = arena_array(arena, table->num_columns, sizeof(struct cell))};
}

/* Cells beyond the last column are dropped. */
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

/* Digits of the largest count in a column of rank sets, to align the colons. */
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
	/* No cell is wider than the line, so none needs to be longer. */
	int widest = 0, most = table->view->width;

	for (size_t r = 0; r < table->num_rows; r++) {
		struct arena *scratch SCOPED(arena) = arena_create();
		int columns = (int)text_columns(
			cell_text(table, scratch, &table->rows[r].cells[c], 0, digits, most));

		widest = MAX(widest, columns);
	}
	return widest;
}

/* Break a header into two lines so that the longer one is as short as possible. Returns the length
 * of the first line: the whole header if it stays on one line. */
static size_t header_break(const struct table_column *column, bool is_wrapped)
{
	const char *header = column->header;
	size_t length = strlen(header), best = length, widest = SIZE_MAX;

	if (!is_wrapped || column->align != TABLE_RIGHT)
		return length;

	for (size_t i = 1; i < length; i++) {
		size_t wider = MAX(i, length - i - 1);

		if (header[i] == ' ' && wider < widest) {
			best = i;
			widest = wider;
		}
	}
	return best;
}

static int header_width(const struct table_column *column, bool is_wrapped)
{
	size_t length = strlen(column->header), first = header_break(column, is_wrapped);

	return (int)(first == length ? text_columns(column->header)
				     : MAX(first, length - first - 1));
}

/* How a table is laid out. */
struct layout {
	int *widths, *digits;
	bool *is_left_out; /* hidden, or no room */
	bool is_wrapped;   /* headers of numbers take two lines */
	bool cut_marks;    /* marks show their first word */
};

static int least_width(const struct table_column *column, const struct layout *layout)
{
	return column->min_width > 0 ? column->min_width : header_width(column, layout->is_wrapped);
}

/* The widest column that can become narrower. First choice: TABLE_YIELDS columns above their least
 * width; then all columns above it; then (to_one) all columns. Columns of numbers never do.
 * SIZE_MAX: there is none. */
static size_t choose_widest(const struct table *table, const struct layout *layout, bool to_one)
{
	for (int pass = 0; pass < (to_one ? 3 : 2); pass++) {
		size_t widest = SIZE_MAX;

		for (size_t c = 0; c < table->num_columns; c++) {
			const struct table_column *column = &table->columns[c];
			int least = pass < 2 ? least_width(column, layout) : 1;
			int width = layout->widths[c];

			if (layout->is_left_out[c] || column->align == TABLE_RIGHT ||
			    (pass == 0 && !(column->flags & TABLE_YIELDS)))
				continue;
			if (width > least && (widest == SIZE_MAX || width > layout->widths[widest]))
				widest = c;
		}
		if (widest != SIZE_MAX)
			return widest;
	}
	return SIZE_MAX;
}

static int total_width(const struct table *table, const struct layout *layout)
{
	int total = INDENT, shown = 0;

	for (size_t c = 0; c < table->num_columns; c++) {
		if (layout->is_left_out[c])
			continue;
		total += layout->widths[c];
		shown++;
	}
	return total + (shown > 1 ? GAP * (shown - 1) : 0);
}

/* Make columns of text narrower. */
static void narrow(const struct table *table, struct layout *layout, int room, bool to_one)
{
	while (total_width(table, layout) > room) {
		size_t widest = choose_widest(table, layout, to_one);

		if (widest == SIZE_MAX)
			break;
		layout->widths[widest]--;
	}
}

/* The next column to leave out: one with TABLE_SPARE, else the last one of numbers; never the first
 * of the table. SIZE_MAX: there is none. */
static size_t choose_left_out(const struct table *table, const struct layout *layout)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t c = table->num_columns; c-- > 1;)
			if (!layout->is_left_out[c] &&
			    (pass ? table->columns[c].align == TABLE_RIGHT
				  : table->columns[c].flags & TABLE_SPARE))
				return c;
	return SIZE_MAX;
}

/* Width of the longest mark, or of the longest first word of a mark. */
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

static void measure(const struct table *table, struct layout *layout)
{
	for (size_t c = 0; c < table->num_columns; c++) {
		layout->digits[c] = column_digits(table, c);
		layout->widths[c] = MAX(natural_width(table, c, layout->digits[c]),
					header_width(&table->columns[c], layout->is_wrapped));
	}
}

static struct layout lay_out(const struct table *table)
{
	struct arena *arena = table->view->arena;
	size_t num = table->num_columns;
	struct layout layout = {
		.widths = arena_array(arena, num, sizeof(*layout.widths)),
		.digits = arena_array(arena, num, sizeof(*layout.digits)),
		.is_left_out = arena_array(arena, num, sizeof(*layout.is_left_out)),
	};
	int room = table->view->width - mark_width(table, false);

	memcpy(layout.is_left_out, table->is_hidden, num * sizeof(*table->is_hidden));
	measure(table, &layout);
	if (total_width(table, &layout) <= room)
		return layout;
	layout.cut_marks = true;
	room = table->view->width - mark_width(table, true);
	if (total_width(table, &layout) <= room)
		return layout;
	layout.is_wrapped = true;
	for (;;) {
		size_t left_out;

		measure(table, &layout);
		narrow(table, &layout, room, false);
		left_out = choose_left_out(table, &layout);
		if (total_width(table, &layout) <= room || left_out == SIZE_MAX)
			break;
		layout.is_left_out[left_out] = true;
	}
	narrow(table, &layout, room, true);
	return layout;
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

/* Print one header line. Headers on one line appear in the last. */
static void print_header_line(const struct table *table, const struct layout *layout, bool is_last)
{
	const struct view *view = table->view;
	int pending = INDENT;

	text_color(view, TEXT_STRONG);
	for (size_t c = 0; c < table->num_columns; c++) {
		const char *header = table->columns[c].header, *text = header;
		size_t first = header_break(&table->columns[c], layout->is_wrapped);

		if (layout->is_left_out[c])
			continue;
		if (!is_last)
			text = header[first] ? arena_strndup(view->arena, header, first) : "";
		else if (header[first])
			text = header + first + 1;
		put_cell(view->out,
			 text_fit(view->arena, text, (size_t)layout->widths[c], view->use_unicode),
			 layout->widths[c], table->columns[c].align, &pending);
		pending += GAP;
	}
	text_color(view, TEXT_PLAIN);
	fputc('\n', view->out);
}

static void print_header(const struct table *table, const struct layout *layout)
{
	bool has_header = false, has_two = false;

	for (size_t c = 0; c < table->num_columns; c++) {
		const char *header = table->columns[c].header;

		if (layout->is_left_out[c])
			continue;
		has_header |= *header != '\0';
		has_two |= header[header_break(&table->columns[c], layout->is_wrapped)] != '\0';
	}
	if (has_two)
		print_header_line(table, layout, false);
	if (has_header)
		print_header_line(table, layout, true);
}

static void print_row(const struct table *table, const struct row *row, const struct layout *layout)
{
	const struct view *view = table->view;
	struct arena *scratch SCOPED(arena) = arena_create();
	int pending = INDENT;

	if (row->mark)
		text_color(view, TEXT_CULPRIT);
	for (size_t c = 0; c < table->num_columns; c++) {
		if (layout->is_left_out[c])
			continue;
		put_cell(view->out,
			 cell_text(table, scratch, &row->cells[c], table->columns[c].flags,
				   layout->digits[c], layout->widths[c]),
			 layout->widths[c], table->columns[c].align, &pending);
		pending += GAP;
	}
	if (row->mark && *row->mark) {
		pending += layout->cut_marks ? MARK_GAP - GAP : 0;
		put_cell(view->out,
			 layout->cut_marks
				 ? arena_strndup(scratch, row->mark, strcspn(row->mark, " "))
				 : row->mark,
			 0, TABLE_LEFT, &pending);
	}
	if (row->mark)
		text_color(view, TEXT_PLAIN);
	fputc('\n', view->out);
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

static void print_left_out(const struct table *table, const struct layout *layout)
{
	struct text_list names = {.arena = table->view->arena};

	for (size_t c = 0; c < table->num_columns; c++)
		if (layout->is_left_out[c] && !table->is_hidden[c])
			text_list_add(&names, ", ", table->columns[c].header);
	if (names.text)
		text_wrap(table->view, INDENT, "no room for: %s", names.text);
}

/* ---- HTML ---- */

static void write_html_row(const struct table *table, const struct row *row)
{
	FILE *out = table->view->out;

	fputs(row->mark ? "<tr class=\"marked\">" : "<tr>", out);
	for (size_t c = 0; c < table->num_columns; c++) {
		if (table->is_hidden[c])
			continue;
		html_printf(out,
			    table->columns[c].align == TABLE_RIGHT ? "<td class=\"right\">%s</td>"
								   : "<td>%s</td>",
			    cell_text(table, table->view->arena, &row->cells[c], 0, 0,
				      HTML_CELL_WIDTH));
	}
	if (row->mark && *row->mark)
		html_printf(out, "<td class=\"mark\">%s</td>", row->mark);
	fputs("</tr>\n", out);
}

static void print_html(const struct table *table)
{
	FILE *out = table->view->out;

	fputs("<div class=\"wide\"><table><thead><tr>", out);
	for (size_t c = 0; c < table->num_columns; c++) {
		if (table->is_hidden[c])
			continue;
		html_printf(out,
			    table->columns[c].align == TABLE_RIGHT
				    ? "<th scope=\"col\" class=\"right\">%s</th>"
				    : "<th scope=\"col\">%s</th>",
			    table->columns[c].header);
	}
	fputs("</tr></thead><tbody>\n", out);
	for (size_t r = 0; r < table->num_rows; r++)
		write_html_row(table, &table->rows[r]);
	fputs("</tbody></table></div>\n", out);
}

void table_print(const struct table *table)
{
	struct layout layout;

	if (!table->num_rows)
		return;
	if (table->view->is_html) {
		print_html(table);
		return;
	}
	layout = lay_out(table);
	print_header(table, &layout);
	for (size_t r = 0; r < table->num_rows; r++)
		print_row(table, &table->rows[r], &layout);
	if (layout.cut_marks)
		print_marks(table);
	print_left_out(table, &layout);
}
