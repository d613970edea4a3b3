/* SPDX-License-Identifier: BSD-3-Clause */
#include <graphviz/gvc.h>

#include "model/error.h"
#include "render/draw/dot.h"
#include "render/text/html.h"

/* Set *err when Graphviz cannot draw `what`; returns -1. Layouts and formats are plugins, listed in
 * a file that "dot -c" writes when Graphviz is installed. *err has Graphviz's last message, without
 * its list of alternatives. */
static int explain(struct pdb_error *err, const char *what)
{
	char *why = aglasterr(), *end = why ? strstr(why, ". Use one of") : NULL;

	if (end)
		*end = '\0';
	if (why)
		why[strcspn(why, "\n")] = '\0';
	error_set(err, ERROR_UNSUPPORTED,
		  "Graphviz cannot draw %s: %s; if its plugins are not listed, \"dot -c\" as root "
		  "does that",
		  what, why && *why ? why : "no reason given");
	free(why);
	return -1;
}

/* Lay out and draw into an open file. */
static int draw(GVC_t *gvc, graph_t *graph, const char *format, FILE *out, struct pdb_error *err)
{
	int result = 0;

	if (gvLayout(gvc, graph, "dot"))
		return explain(err, "the graph");
	if (gvRender(gvc, graph, format, out) || fflush(out) || ftell(out) <= 0)
		result = explain(err, format);
	gvFreeLayout(gvc, graph);
	return result;
}

/* One context for the life of the program. Graphviz's text plugin keeps pointers into the fonts of
 * the first context; they would dangle if that were freed and another one created. */
static GVC_t *get_context(void)
{
	static GVC_t *gvc;

	if (!gvc)
		gvc = gvContext();
	return gvc;
}

int graphviz_draw(const char *dot, const char *format, char **bytes_ret, size_t *size_ret,
		  struct pdb_error *err)
{
	GVC_t *gvc = get_context();
	char *bytes = NULL;
	graph_t *graph;
	size_t size;
	FILE *out;
	int result;

	if (!gvc)
		return error_set(err, ERROR_SYSTEM, "Graphviz cannot be started");
	/* Graphviz's warnings (about a missing font) would appear between prompt and answer. */
	agseterr(AGMAX);
	graph = agmemread(dot);
	if (!graph)
		return error_set(err, ERROR_FORMAT, "not a graph in the DOT language");
	out = open_memstream(&bytes, &size);
	if (!out) {
		agclose(graph);
		return error_errno(err, "cannot draw the graph");
	}
	result = draw(gvc, graph, format, out, err);
	agclose(graph);
	if (fclose(out) && !result)
		result = error_errno(err, "cannot draw the graph");
	if (result) {
		free(bytes);
		return result;
	}
	*bytes_ret = bytes;
	*size_ret = size;
	return 0;
}

int graphviz_write(const char *dot, const char *format, const char *path, struct pdb_error *err)
{
	char *bytes = NULL;
	size_t size = 0;
	bool is_written;
	FILE *out;

	if (strcmp(format, "svg") != 0 && strcmp(format, "png") != 0 && strcmp(format, "pdf") != 0)
		return error_set(err, ERROR_USAGE, "cannot draw %s: svg, png and pdf are known",
				 format);
	if (graphviz_draw(dot, format, &bytes, &size, err))
		return -1;
	out = fopen(path, "we");
	if (!out) {
		free(bytes);
		return error_errno(err, "cannot write %s", path);
	}
	is_written = fwrite(bytes, 1, size, out) == size;
	free(bytes);
	if (fclose(out) || !is_written)
		return error_errno(err, "cannot write %s", path);
	return 0;
}

int graphviz_html(FILE *out, const char *dot, const char *label, struct pdb_error *err)
{
	struct pdb_error why;
	char *svg = NULL;
	const char *begin = NULL;
	size_t size;

	if (graphviz_draw(dot, "svg", &svg, &size, &why) == 0) {
		begin = strstr(svg, "<svg");
		if (!begin)
			error_set(&why, ERROR_UNSUPPORTED, "Graphviz has drawn no SVG");
	}
	if (begin) {
		html_printf(
			out,
			"<div class=\"graph\" tabindex=\"0\" role=\"group\" aria-label=\"%s\">\n",
			label);
		fprintf(out, "%s</div>\n", begin);
	} else {
		html_printf(out, "<p>There is no picture, but the table says the same: %s</p>\n",
			    why.text);
		if (err)
			*err = why;
	}
	free(svg);
	return begin ? 0 : -1;
}
