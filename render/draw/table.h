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
 * Columns are as wide as their widest cell. Rows are indented by two columns. Where they are wider
 * than view->width, headers of numbers take two lines. Then columns of text give way, the widest
 * first, down to their least width: cells are cut with an ellipsis, sets of ranks at a comma. Then
 * columns that can be spared are left out, and then those of numbers, the last one first. A line
 * below the table names them. Columns that stand to the right have numbers: these are never cut. */
#ifndef PDB_RENDER_TABLE_H
#define PDB_RENDER_TABLE_H

#include <stddef.h>

struct rankset;
struct view;

enum table_align { TABLE_LEFT, TABLE_RIGHT };

enum table_flags {
	TABLE_YIELDS = 1 << 0,     /* gives way before all columns without this flag */
	TABLE_CUT_MIDDLE = 1 << 1, /* cells are cut in the middle: both their ends matter */
	TABLE_SPARE = 1 << 2,      /* left out before all columns without this flag */
};

struct table_column {
	const char *name;       /* what code calls it: for table_hide() */
	const char *header;     /* what people read; "" for none */
	enum table_align align; /* TABLE_RIGHT: of numbers */
	unsigned flags;         /* enum table_flags */
	int min_width; /* of text: narrower only when all are at their least; 0: the header's */
};

/* It lives in the view's arena. All that it is given is borrowed until it is printed. */
struct table *table_create(const struct view *view, const struct table_column *columns,
			   size_t num_columns);
#define TABLE_OF(view, columns) table_create(view, columns, sizeof(columns) / sizeof((columns)[0]))

/* Leave a column out, by name: one that says nothing in this table. */
void table_hide(struct table *table, const char *name);
void table_row(struct table *table); /* begin a row; cells not given stay empty */
/* The next cell of the row: text, NULL for none; text by a printf() format; a set of ranks as
 * "4:[0-3]" with the colons aligned, of which NULL or an empty set leave the cell empty. */
void table_text(struct table *table, const char *text);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_ranks(struct table *table, const struct rankset *set);
/* Make the row stand out: `mark` stands behind it ("": colour alone; NULL: it does not). Where room
 * is short, rows have its first word, and lines below the table say it in full. */
void table_mark(struct table *table, const char *mark);

size_t table_num_rows(const struct table *table);
/* Header and rows; nothing at all without rows. */
void table_print(const struct table *table);

#endif
