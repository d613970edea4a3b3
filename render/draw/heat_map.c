/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/draw/heat_map.h"

#include <sys/param.h>

#include "render/text/gate.h"
#include "render/text/html.h"
#include "render/text/text.h"
#include "render/view.h"

enum { NUMBER_WIDTH = 4, SHADE_WIDTH = 2, INDENT = 2, CELL = 18, FONT = 11 };

struct color {
	int red, green, blue;
};

/* White to dark blue. */
static struct color color_of(double value)
{
	return (struct color){(int)(255 - 247 * value), (int)(255 - 207 * value),
			      (int)(255 - 148 * value)};
}

static double value_at(const struct heat_map *map, size_t row, size_t column)
{
	return map->values[row * map->num + column];
}

static size_t label_width(const struct heat_map *map)
{
	size_t width = 0;

	for (size_t i = 0; i < map->num; i++)
		width = MAX(width, text_columns(map->labels[i]));
	return width;
}

/* ---- Terminal ---- */

size_t heat_map_capacity(const struct view *view, size_t width)
{
	size_t taken = INDENT + width + 1;
	size_t room = (size_t)view->width > taken ? (size_t)view->width - taken : 0;

	return room / SHADE_WIDTH > 4 ? room / SHADE_WIDTH : 4;
}

static const char *shade_of(const struct view *view, double value)
{
	static const char *const blocks[] = {" ·", "░░", "▒▒", "▓▓", "██"};
	static const char *const letters[] = {" .", "..", "::", "++", "##"};
	/* Only equal traces are darkest. */
	size_t shade = value >= 1 ? 4 : (size_t)(value * 4);

	return view->use_unicode ? blocks[shade] : letters[shade];
}

static void print_cell(const struct view *view, double value, bool as_number)
{
	struct color c = color_of(value);
	int percent = (int)(value * 100 + 0.5);

	/* Do not round a difference to "equal". */
	if (value < 1 && percent == 100)
		percent = 99;
	if (view->use_color)
		gate_color(view->out, "48;2;%d;%d;%d;38;5;%d", c.red, c.green, c.blue,
			   value > 0.5 ? 15 : 16);
	if (as_number)
		fprintf(view->out, "%*d", NUMBER_WIDTH, percent);
	else
		fputs(view->use_color ? "  " : shade_of(view, value), view->out);
	if (view->use_color)
		text_color(view, TEXT_PLAIN);
}

void heat_map_print(const struct view *view, const struct heat_map *map)
{
	size_t width = label_width(map);
	bool as_number = INDENT + width + 1 + NUMBER_WIDTH * map->num <= (size_t)view->width;

	for (size_t row = 0; row < map->num; row++) {
		const char *label = text_clean(view->arena, map->labels[row], view->use_unicode);

		fprintf(view->out, "%*s%s%*s ", INDENT, "", label,
			(int)(width - text_columns(label)), "");
		for (size_t column = 0; column < map->num; column++)
			print_cell(view, value_at(map, row, column), as_number);
		fputc('\n', view->out);
	}
	if (!as_number && !view->use_color)
		fprintf(view->out,
			"%*ssame \"%s\", above 75 %% \"%s\", 50 %% \"%s\", 25 %% \"%s\"\n", INDENT,
			"", shade_of(view, 1), shade_of(view, 0.75), shade_of(view, 0.5),
			shade_of(view, 0.25));
}

/* ---- SVG ---- */

static void write_cell(FILE *out, const struct heat_map *map, size_t row, size_t column,
		       size_t left, size_t top)
{
	double value = value_at(map, row, column);
	struct color c = color_of(value);

	fprintf(out,
		"<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\" "
		"fill=\"#%02x%02x%02x\"><title>",
		left + column * CELL, top + row * CELL, CELL, CELL, (unsigned int)c.red,
		(unsigned int)c.green, (unsigned int)c.blue);
	html_printf(out, "%s and %s", map->labels[row], map->labels[column]);
	fprintf(out, ": %.3f</title></rect>\n", value);
}

void heat_map_svg(const struct view *view, const struct heat_map *map)
{
	size_t left = 20 + label_width(map) * 7, top = 40 + label_width(map) * 7;
	size_t size = map->num * CELL, width = left + size + 20,
	       title = strlen(map->title) * 7 + 20;
	FILE *out = view->out;

	html_printf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
		    "font-family=\"sans-serif\" font-size=\"%d\">\n<rect width=\"%s\" "
		    "height=\"%s\" fill=\"#ffffff\"/>\n<text x=\"10\" y=\"20\">%s</text>\n",
		    width > title ? width : title, top + size + 20, FONT, "100%", "100%",
		    map->title);
	for (size_t i = 0; i < map->num; i++)
		html_printf(out,
			    "<text x=\"%zu\" y=\"%zu\" text-anchor=\"end\">%s</text>\n"
			    "<text transform=\"translate(%zu %zu) rotate(-90)\">%s</text>\n",
			    left - 6, top + i * CELL + CELL - 5, map->labels[i],
			    left + i * CELL + CELL - 5, top - 6, map->labels[i]);
	for (size_t row = 0; row < map->num; row++)
		for (size_t column = 0; column < map->num; column++)
			write_cell(out, map, row, column, left, top);
	fprintf(out,
		"<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\" fill=\"none\" "
		"stroke=\"#000000\"/>\n</svg>\n",
		left, top, size, size);
}
