/* SPDX-License-Identifier: BSD-3-Clause
 * Reports of jobs made by hand. PAGES=DIR keeps the pages there, to be looked at in a browser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/waits/collective_groups.h"
#include "analysis/waits/wait_groups.h"
#include "render/report/report.h"
#include "render/text/html.h"
#include "tests/unit/golden.h"
#include "tests/unit/hung_job.h"
#include "tests/unit/unit.h"

enum { MOST_BYTES = 2000000 };

static const char hostile[] =
	"f<img src=x onerror=\"alert(1)\">&'\033[31m\xff</title></script><script>alert(2)</script>";

static void keep(const char *text, const char *name)
{
	const char *folder = getenv("PAGES");
	char path[400];
	FILE *file;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s.html", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The page of a job, which is destroyed. The caller frees. */
static char *make_page(struct hung *hung, const char *name)
{
	struct collective_groups **collectives;
	struct rankset *all = rankset_create();
	struct waitfor *waitfor;
	struct wait_groups *waits;
	char *page = NULL;
	size_t size = 0;
	struct report report = {.view = &hung->view,
				.title = name,
				.made = "Seen on a day.",
				.facts = "  job   <b>4</b>\n"};

	rankset_add_range(all, 0, hung->options.size - 1);
	waitfor = waitfor_create(hung->evidence, hung->comms);
	hung->view.waitfor = waitfor;
	collectives = arena_array(hung->view.arena, hung->comms->num_comms, sizeof(*collectives));
	for (uint32_t c = 0; c < hung->comms->num_comms; c++)
		collectives[c] =
			collective_groups_create(hung->job.model, hung->comms, c, hung->view.arena);
	waits = wait_groups_create(waitfor, &hung->groups, all, hung->verdict.culprits, 60,
				   hung->view.arena);
	hung->answer.waits = waits;
	hung->answer.collectives = collectives;
	fclose(hung->view.out);
	hung->view.out = open_memstream(&page, &size);
	hung->view.is_html = true;
	hung->view.use_unicode = true;
	hung->view.width = 200;
	assert_int_equal(report_write(&report, NULL), 0);
	fflush(hung->view.out);
	page = xstrdup(page);
	keep(page, name);
	waitfor_destroy(waitfor);
	rankset_destroy(all);
	return page;
}

static size_t count(const char *text, const char *part)
{
	size_t number = 0;

	while ((text = strstr(text, part))) {
		number++;
		text++;
	}
	return number;
}

/* Wherever a link leads to there is something. */
static void assert_links(const char *page)
{
	static const char link[] = "href=\"#";

	for (const char *at = strstr(page, link); at; at = strstr(at, link)) {
		char id[80];

		at += sizeof(link) - 1;
		snprintf(id, sizeof(id), " id=\"%.*s\"", (int)strcspn(at, "\""), at);
		assert_contains(page, id);
	}
}

static void test_pages(void **state)
{
	static const struct {
		struct hung_options options;
		const char *name, *first;
	} jobs[] = {
		{{.size = 4, .culprit = 1}, "4", "<h1>Culprit: rank 1 of 4</h1>"},
		{{.size = 4096, .culprit = 1000}, "4096", "<h1>Culprit: rank 1000 of 4096</h1>"},
		{{.size = 8, .culprit = 3, .is_cxx = true, .is_nested = true},
		 "cxx",
		 "rank 3 of 8</h1>"},
		{{.size = 8, .culprit = 3, .is_moving = true}, "moving", "</h1>"},
		{{.size = 4096, .culprit = 1000, .is_scattered = true},
		 "scattered",
		 "rank 1000 of "},
		{{.size = 4096,
		  .culprit = 1000,
		  .is_cxx = true,
		  .is_scattered = true,
		  .is_everybody = true},
		 "everybody",
		 "ranks 0-4095 of "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct hung *hung = hung_create(jobs[i].options);
		char *page = make_page(hung, jobs[i].name);

		assert_contains(page, jobs[i].first);
		assert_contains(page, "<!DOCTYPE html>");
		assert_contains(page, "xlink:href=\"#group-1\"");
		assert_contains(page, "<article id=\"group-1\"");
		assert_contains(page, "<ul class=\"tree\">");
		assert_contains(page, "<path class=\"bar\"");
		assert_contains(page, "MPI_COMM_WORLD");
		assert_contains(page, "&lt;b&gt;4&lt;/b&gt;");
		assert_int_equal(count(page, "<script"), 1);
		assert_int_equal(count(page, " style=\""), 0);
		assert_true(strlen(page) < MOST_BYTES);
		assert_links(page);
		free(page);
		hung_destroy(hung);
	}
}

/* Functions, files and communicators may have any name. */
static void test_hostile(void **state)
{
	struct hung *hung = hung_create((struct hung_options){.size = 4, .culprit = 1});
	struct name name = {hostile, hostile, hostile, 88, .is_symbol = true};
	char *page;

	(void)state;
	for (uint32_t node = 0; node < callpaths_count(hung->job.callpaths); node++)
		names_set(hung->job.names, node, &name);
	hung->job.proctable->job = xstrdup(hostile);
	page = make_page(hung, "hostile");
	assert_contains(page, "f&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;");
	assert_int_equal(count(page, "<img"), 0);
	assert_int_equal(count(page, "<script"), 1);
	assert_int_equal(count(page, "</title>"), count(page, "<title>"));
	assert_int_equal(count(page, "\033"), 0);
	assert_int_equal(count(page, "\xff"), 0);
	free(page);
	hung_destroy(hung);
}

/* Which files are shown: sources alone. */
static void test_source(void **state)
{
	static const struct {
		const char *path;
		int line;
		bool is_shown;
	} cases[] = {
		{"tests/unit/test_report.c", 3, true},
		{"tests/unit/test_report.c", 1, true},
		{"tests/unit/test_report.c", 0, false},
		{"tests/unit/test_report.c", 1 << 20, false},
		{"/etc/passwd", 1, false},
		{"Makefile", 1, false},
		{"/dev/zero.c", 1, false},
		{"tests/unit", 1, false},
		{NULL, 1, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		html_source(out, cases[i].path, cases[i].line);
		fclose(out);
		assert_int_equal(strstr(text, "<mark>") != NULL, cases[i].is_shown);
		assert_int_equal(count(text, "<pre>"), count(text, "</pre>"));
		free(text);
	}
}

/* A link is as good as what it leads to; nothing is waited for. */
static void test_source_link(void **state)
{
	char directory[] = "/tmp/test_report.XXXXXX", path[64], *real = realpath(__FILE__, NULL);
	const char *const targets[] = {real, "/etc/passwd", NULL};

	(void)state;
	assert_non_null(real);
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/source.c", directory);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		assert_int_equal(targets[i] ? symlink(targets[i], path) : mkfifo(path, 0600), 0);
		html_source(out, path, 1);
		fclose(out);
		assert_int_equal(strstr(text, "<mark>") != NULL, i == 0);
		free(text);
		unlink(path);
	}
	rmdir(directory);
	free(real);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_source_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
