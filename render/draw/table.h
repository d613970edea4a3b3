/* SPDX-License-Identifier: BSD-3-Clause
 * A table that fits the terminal.
 *
 *	struct table *table = TABLE_OF(view, columns);
 *
 *	table_row(table);
 *	table_ranks(table, set);
 *	table_cell(table, "%d", pid);
 *	table_mark(table, "<- culprit");
 *	table_print(table);
 *
 * Columns are as wide as their widest cell. Rows are indented by two columns. If rows are wider
 * than view->width, these steps follow in turn. Headers of numbers take two lines. Columns of text
 * become narrower, the widest first, down to their least width: cells are cut with an ellipsis,
 * sets of ranks at a comma. Columns with TABLE_SPARE are left out, then columns of numbers, the
 * last one first. A line below the table names the columns left out. Numbers (TABLE_RIGHT) are
 * never cut. */
#ifndef PDB_RENDER_TABLE_H
#define PDB_RENDER_TABLE_H

#include "model/std.h"

struct rankset;
struct view;

enum table_align { TABLE_LEFT, TABLE_RIGHT };

enum table_flags {
	TABLE_YIELDS = 1 << 0,     /* becomes narrower before all columns without this flag */
	TABLE_CUT_MIDDLE = 1 << 1, /* cells are cut in the middle: both ends matter */
	TABLE_SPARE = 1 << 2,      /* left out before all columns without this flag */
};

struct table_column {
	const char *name;       /* name in the code, for table_hide() */
	const char *header;     /* text above the column; "" for none */
	enum table_align align; /* TABLE_RIGHT: a column of numbers */
	unsigned flags;         /* enum table_flags */
	int min_width;          /* text: narrower only if all are at their least; 0: the header's */
};

/* Create a table in the view's arena. Everything passed to it is borrowed until it is printed. */
struct table *table_create(const struct view *view, const struct table_column *columns,
			   size_t num_columns);
#define TABLE_OF(view, columns) table_create(view, columns, sizeof(columns) / sizeof((columns)[0]))

/* Leave out the column called `name`. */
void table_hide(struct table *table, const char *name);
void table_row(struct table *table); /* begin a row; cells not given stay empty */
/* Add the next cell of the row. table_text(): text; NULL: empty. table_cell(): text by a printf()
 * format. table_ranks(): a set of ranks as "4:[0-3]" with aligned colons; NULL or an empty set:
 * empty. */
void table_text(struct table *table, const char *text);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_ranks(struct table *table, const struct rankset *set);
/* Highlight the row: `mark` is printed behind it ("": only the colour; NULL: no highlight). If
 * there is little room, rows show the first word of the mark, and lines below the table show it in
 * full. */
void table_mark(struct table *table, const char *mark);

size_t table_num_rows(const struct table *table);
/* Print header and rows. Prints nothing if there are no rows. */
void table_print(const struct table *table);

#endif
