/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/random.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/verdict/verdict.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "render/draw/dot.h"
#include "render/report/report.h"
#include "render/text/html.h"
#include "render/words/parts.h"

enum { MAX_STACK = 48, RANKS_WIDTH = 400 };

/* The files beside this one. */
#define ASSET(name, path)                                                                          \
	__asm__(".pushsection .rodata\n"                                                           \
		".global " #name "\n" #name ":\n"                                                  \
		".incbin \"" path "\"\n"                                                           \
		".byte 0\n"                                                                        \
		".popsection\n");                                                                  \
	extern const char name[] /* NOLINT(bugprone-macro-parentheses): it is declared */

ASSET(report_css, "render/report/report.css");
ASSET(report_js, "render/report/report.js");

/* ---- Head ---- */

/* The nonce of this page's own style and script. Markup in a name does not know it and cannot
 * run. */
static void make_nonce(char nonce[33])
{
	unsigned char bytes[16] = {0};

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		abort();
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(nonce + 2 * i, "%02x", bytes[i]);
}

/* The first line of lp. */
static const char *headline(const struct view *view)
{
	struct view plain = *view;
	char *text;

	plain.is_html = false;
	plain.width = 120;
	text = text_printed(&plain, view_lp);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void write_head(const struct report *report, const char *nonce)
{
	FILE *out = report->view->out;
	const char *verdict = headline(report->view);

	fprintf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'nonce-%s'; script-src 'nonce-%s'; base-uri 'none'; form-action "
		"'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
		nonce, nonce);
	html_printf(out, "%s: %s", report->title, verdict);
	fprintf(out, "</title>\n<style nonce=\"%s\">\n%s</style>\n</head>\n<body>\n", nonce,
		report_css);
	fprintf(out, "<a class=\"skip\" href=\"#verdict\">To the verdict</a>\n<header%s><h1>",
		report->view->verdict->is_hang || report->view->is_known_hang ? " class=\"hang\""
									      : "");
	html_printf(out, "%s</h1>\n<p>%s</p>\n<p>%s</p></header>\n", verdict, report->title,
		    report->made);
}

/* ---- Sections ---- */

static void begin_section(FILE *out, const char *id, const char *title, const char *note)
{
	fprintf(out,
		"<section id=\"%s\" aria-labelledby=\"%s-title\"><h2 id=\"%s-title\">%s</h2>\n", id,
		id, id, title);
	if (note)
		fprintf(out, "<p class=\"note\">%s</p>\n", note);
}

static void end_section(FILE *out)
{
	fputs("</section>\n", out);
}

/* ---- Groups ---- */

/* The stack of the group's first rank that has one. CALLPATH_NONE: none has. */
static uint32_t find_stack(const struct view *view, const struct eqgroup *group, int *rank_ret)
{
	for (size_t i = 0; i < group->num_actors; i++) {
		const struct job_lane *lane = &view->job->model->lanes[group->actors[i]];
		const struct sample *sample = samples_find(
			view->job->samples, lane->rank, lane->data->is_main ? 0 : lane->data->tid);

		if (!sample || sample->status == SAMPLE_FAILED || sample->path == CALLPATH_NONE)
			continue;
		*rank_ret = lane->rank;
		return sample->path;
	}
	return CALLPATH_NONE;
}

static void write_stack(const struct view *view, uint32_t path, uint32_t own, int rank)
{
	const struct callpaths *paths = view->job->callpaths;
	uint32_t depth = callpaths_get(paths, path)->depth, written = 0;
	FILE *out = view->out;

	fprintf(out,
		"<p class=\"note\">Stack of rank %d, innermost first:</p><ol class=\"stack\">\n",
		rank);
	for (uint32_t d = depth + 1; d-- > 0 && written < MAX_STACK; written++) {
		uint32_t node = callpaths_at_depth(paths, path, d);
		const struct name *name = names_innermost(view->job->names, node);

		for (; name; name = name->caller) {
			bool is_own = node == own && name == names_get(view->job->names, own);

			html_printf(out, is_own ? "<li class=\"own\">%s</li>\n" : "<li>%s</li>\n",
				    label_name(view, node, name, LABEL_FULL));
		}
	}
	fputs("</ol>\n", out);
}

static void write_group(const struct view *view, uint32_t g)
{
	const struct eqgroup *group = &view->groups->groups[g];
	const char *iterations = parts_iterations(view, group);
	const char *mark = parts_mark(view, g, group->ranks);
	FILE *out = view->out;
	int rank = -1;
	uint32_t path = find_stack(view, group, &rank), own;
	const struct name *name;

	fprintf(out, "<article id=\"group-%u\" data-ranks=\"%s\"%s><h3>Group %u: ", g + 1,
		(char *)arena_keep(view->arena, rankset_encode(group->ranks, 0), free),
		parts_is_culprit(view, g) ? " class=\"least\"" : "", g + 1);
	html_printf(out, "%s</h3>\n<p>%s%s%s, %s", label_where(view, group, LABEL_FULL),
		    label_who(view->arena, group->ranks, RANKS_WIDTH),
		    *iterations ? ", in iteration " : "", iterations, parts_stay(view, group));
	if (mark)
		html_printf(out, " <span class=\"mark\">%s</span>", mark);
	fputs("</p>\n", out);
	if (path == CALLPATH_NONE)
		path = view->job->model->sites[SEG_STATE_SITE(group->state)].path;
	own = path == CALLPATH_NONE ? CALLPATH_NONE : names_user_frame(view->job->names, path);
	if (own != CALLPATH_NONE) {
		name = names_get(view->job->names, own);
		html_source(out, name->full_file, name->line);
	}
	if (rank >= 0)
		write_stack(view, path, own, rank);
	fputs("</article>\n", out);
}

static void write_groups(const struct view *view)
{
	size_t left = 0;

	view_groups(view);
	for (uint32_t g = 0; g < view->groups->num_groups; g++)
		if (parts_has_article(view, g))
			write_group(view, g);
		else
			left++;
	if (left)
		fprintf(view->out, "<p>%zu more groups are not listed.</p>\n", left);
}

/* ---- The page ---- */

static void write_nav(const struct report *report)
{
	const struct view *view = report->view;
	FILE *out = view->out;

	fputs("<nav aria-label=\"Sections\"><ul>\n<li><a href=\"#verdict\">Verdict</a></li>\n",
	      out);
	if (view->groups)
		fputs("<li><a href=\"#progress\">Progress graph</a></li>\n"
		      "<li><a href=\"#groups\">Groups</a></li>\n"
		      "<li><a href=\"#loops\">Loops</a></li>\n"
		      "<li><a href=\"#waits\">Who waits for whom</a></li>\n"
		      "<li><a href=\"#collectives\">Collectives</a></li>\n",
		      out);
	if (view->answer->tree)
		fputs("<li><a href=\"#stacks\">Stacks</a></li>\n", out);
	fputs("<li><a href=\"#job\">The job</a></li>\n</ul></nav>\n<main>\n", out);
}

static int write_models(const struct report *report, struct pdb_error *err)
{
	const struct view *view = report->view;
	FILE *out = view->out;
	int result;

	begin_section(out, "progress", "Progress graph",
		      "An arrow leads to a group that is less progressed. A box links to its group "
		      "below. Round corners: outside MPI. Thick and red: least progressed.");
	result = graphviz_html(out, text_printed(view, view_graph_dot), "Progress graph", err);
	end_section(out);
	begin_section(out, "groups", "Groups",
		      "Ranks that do the same in the same iteration of every loop around it.");
	write_groups(view);
	end_section(out);
	begin_section(out, "loops", "Loops",
		      "Red: the ranks that hold up the others. There is a bar for each rank.");
	html_iterations(view);
	view_loops(view);
	end_section(out);
	begin_section(out, "waits", "Who waits for whom", NULL);
	view_waits(view);
	if (graphviz_html(out, text_printed(view, view_waits_dot), "Wait-for graph", err) < 0)
		result = -1;
	end_section(out);
	begin_section(out, "collectives", "Collectives", NULL);
	if (view->comms && view->comms->num_comms)
		view_collectives(view);
	end_section(out);
	return result;
}

/* NULL: none. */
static void write_lines(const struct view *view, const char *text)
{
	char *rest = arena_strdup(view->arena, text ? text : ""), *line;

	fputs("<pre>", view->out);
	while ((line = strsep(&rest, "\n"))) {
		html_text(view->out, line);
		fputc('\n', view->out);
	}
	fputs("</pre>\n", view->out);
}

int report_write(const struct report *report, struct pdb_error *err)
{
	const struct view *view = report->view;
	FILE *out = view->out;
	char nonce[33];
	int result = 0;

	make_nonce(nonce);
	write_head(report, nonce);
	write_nav(report);
	begin_section(out, "verdict", "Verdict", NULL);
	view_lp(view);
	end_section(out);
	if (view->groups && view->graph)
		result = write_models(report, err);
	if (view->answer->tree) {
		begin_section(
			out, "stacks", "Stacks",
			"The merged stacks of the ranks. Red: few ranks leave the others there.");
		html_calltree(view, view->answer->tree);
		end_section(out);
	}
	begin_section(out, "job", "The job", NULL);
	write_lines(view, report->facts);
	fputs("<h3>What pdb cost the job</h3>\n", out);
	write_lines(view, report->costs);
	end_section(out);
	fprintf(out, "</main>\n<script nonce=\"%s\">\n%s</script>\n</body>\n</html>\n", nonce,
		report_js);
	return result;
}
