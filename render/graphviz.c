/* SPDX-License-Identifier: BSD-3-Clause */
#include <graphviz/gvc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "render/view.h"

/* Lay out and draw into an open file. Graphviz tells its errors through a variable of its own. */
static int draw(GVC_t *gvc, graph_t *graph, const char *format, FILE *out, struct pdb_error *err)
{
	const char *why;
	int result;

	if (gvLayout(gvc, graph, "dot")) {
		why = aglasterr();
		return error_set(err, ERROR_SYSTEM, "cannot lay out the graph: %s",
				 why ? why : "no reason given");
	}
	result = gvRender(gvc, graph, format, out);
	gvFreeLayout(gvc, graph);
	if (result) {
		why = aglasterr();
		return error_set(err, ERROR_UNSUPPORTED, "Graphviz cannot draw %s: %s", format,
				 why ? why : "no reason given");
	}
	return 0;
}

/* One context for the life of the program: Graphviz's text plugin keeps pointers into the fonts of
 * the first context, which would dangle when that is freed and another one made. */
static GVC_t *get_context(void)
{
	static GVC_t *gvc;

	if (!gvc)
		gvc = gvContext();
	return gvc;
}

/* The picture in memory, so that an existing file is touched only when there is one. The caller
 * frees *bytes_ret. */
static int render(const char *dot, const char *format, char **bytes_ret, size_t *size_ret,
		  struct pdb_error *err)
{
	graph_t *graph;
	FILE *out;
	int result;

	/* Its warnings (a font that is not there) would end up between prompt and answer. */
	agseterr(AGMAX);
	graph = agmemread(dot);
	if (!graph)
		return error_set(err, ERROR_FORMAT, "not a graph in the DOT language");
	out = open_memstream(bytes_ret, size_ret);
	if (!out) {
		agclose(graph);
		return error_errno(err, "cannot draw the graph");
	}
	result = draw(get_context(), graph, format, out, err);
	agclose(graph);
	fclose(out);
	if (result)
		free(*bytes_ret);
	return result;
}

int graphviz_draw(const char *dot, const char *format, char **ret, struct pdb_error *err)
{
	size_t size;

	return render(dot, format, ret, &size, err);
}

int graphviz_write(const char *dot, const char *format, const char *path, struct pdb_error *err)
{
	char *bytes = NULL;
	size_t size = 0;
	bool is_written;
	FILE *out;

	if (strcmp(format, "svg") != 0 && strcmp(format, "png") != 0 &&
	    strcmp(format, "pdf") != 0)
		return error_set(err, ERROR_USAGE, "cannot draw %s: svg, png and pdf are known",
				 format);
	if (render(dot, format, &bytes, &size, err))
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
