/* SPDX-License-Identifier: BSD-3-Clause
 * Apart from html.h's other functions, as Graphviz is a large library. */
#include <stdlib.h>
#include <string.h>

#include "render/html.h"
#include "render/view.h"

void html_graph(FILE *out, const char *dot, const char *label)
{
	char *svg = NULL;
	const char *begin = graphviz_draw(dot, "svg", &svg, NULL) < 0 ? NULL : strstr(svg, "<svg");

	if (begin) {
		fputs("<div class=\"graph\" tabindex=\"0\" role=\"group\" aria-label=\"", out);
		html_text(out, label);
		fprintf(out, "\">\n%s</div>\n", begin);
	} else {
		fputs("<p>It cannot be drawn here; the table says the same.</p>\n", out);
	}
	free(svg);
}
