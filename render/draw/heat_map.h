/* SPDX-License-Identifier: BSD-3-Clause
 * A square of values from 0 to 1, drawn as colours on a terminal and as SVG. */
#pragma once

#include "model/base.h"

struct view;

struct heat_map {
	const char *title;
	const char *const *labels; /* [num] of the rows, and of the columns */
	const double *values;      /* [num * num] */
	size_t num;
};

enum { HEAT_MAP_MAX_SVG = 256 };

/* The most rows that fit the view, for labels of this width in columns. At least 4. */
size_t heat_map_capacity(const struct view *view, size_t label_width);
/* Print the map with numbers in percent if they fit, else with shades. */
void heat_map_print(const struct view *view, const struct heat_map *map);
/* Write the map as an SVG document. The values are tool tips. */
void heat_map_svg(const struct view *view, const struct heat_map *map);
