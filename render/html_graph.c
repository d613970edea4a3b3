/* SPDX-License-Identifier: BSD-3-Clause
 * Apart from html.h's other functions, as Graphviz is a large library. */
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "render/html.h"
#include "render/view.h"

int html_graph(FILE *out, const char *dot, const char *label, struct pdb_error *err)
{
	struct pdb_error why;
	char *svg = NULL;
	const char *begin = NULL;

	if (graphviz_draw(dot, "svg", &svg, &why) == 0) {
		begin = strstr(svg, "<svg");
		if (!begin)
			error_set(&why, ERROR_UNSUPPORTED, "Graphviz has drawn no SVG");
	}
	if (begin) {
		fputs("<div class=\"graph\" tabindex=\"0\" role=\"group\" aria-label=\"", out);
		html_text(out, label);
		fprintf(out, "\">\n%s</div>\n", begin);
	} else {
		fputs("<p>There is no picture, but the table says the same: ", out);
		html_text(out, why.text);
		fputs("</p>\n", out);
		if (err)
			*err = why;
	}
	free(svg);
	return begin ? 0 : -1;
}
