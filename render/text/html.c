/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include "model/regular_file.h"
#include "render/text/html.h"
#include "render/text/utf8.h"
#include "render/view.h"

enum { AROUND = 3, MAX_LINE = 160, MAX_SOURCE_BYTES = 8 << 20, MAX_INDENT = 8 };

/* ---- Text ---- */

void html_text(FILE *out, const char *text)
{
	static const char markup[] = "&<>\"\'";
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

	while (*text) {
		const char *found = strchr(markup, *text);

		if (found)
			fputs(entities[found - markup], out);
		text += found ? 1 : utf8_put(out, text);
	}
}

void html_printf(FILE *out, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	for (const char *at = format; *at; at++) {
		if (*at != '%')
			fputc(*at, out);
		else if (*++at == 's')
			html_text(out, va_arg(ap, const char *));
		else if (*at == 'd')
			fprintf(out, "%d", va_arg(ap, int));
		else if (*at == 'u')
			fprintf(out, "%u", va_arg(ap, unsigned int));
		else if (*at++ == 'z')
			fprintf(out, "%zu", va_arg(ap, size_t));
		else
			abort();
	}
	va_end(ap);
}

void html_paragraph(const struct view *view, int indent, const char *text)
{
	int depth = indent / 2 < MAX_INDENT ? indent / 2 : MAX_INDENT;

	html_printf(view->out, "<p class=\"i%d\">%s</p>\n", depth, text);
}

/* ---- Source ---- */

/* Does the name look like that of a source file? */
static bool is_source_name(const char *path)
{
	static const char *const endings[] = {"c",   "h",   "cc",  "hh",  "cpp", "hpp",
					      "cxx", "hxx", "f",   "for", "f90", "f95",
					      "f03", "f08", "inc", "cu",  "py"};
	const char *ending = strrchr(path, '.');

	for (size_t i = 0; ending && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (strcasecmp(ending + 1, endings[i]) == 0)
			return true;
	return false;
}

/* Debug information contains the file's name. Its author must not be able to put a private file of
 * the user into a report. So only names of source files are read, also behind links. */
static FILE *open_source(const char *path)
{
	char link[64], real[PATH_MAX];
	struct stat info;
	FILE *file = NULL;
	ssize_t length;
	int fd = is_source_name(path) ? regular_file_open(AT_FDCWD, path, 0, &info) : -1;

	if (fd < 0)
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, real, sizeof(real) - 1);
	real[length > 0 ? length : 0] = '\0';
	if (is_source_name(real) && info.st_size <= MAX_SOURCE_BYTES)
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

void html_source(FILE *out, const char *path, int line)
{
	FILE *file = path && line > 0 ? open_source(path) : NULL;
	char *text = NULL;
	bool has_begun = false;
	size_t size = 0;

	if (!file)
		return;
	for (int number = 1; number <= line + AROUND && getline(&text, &size, file) >= 0;
	     number++) {
		if (number < line - AROUND)
			continue;
		if (!has_begun) {
			html_printf(out,
				    "<figure class=\"source\"><figcaption>%s</figcaption><pre>",
				    path);
			has_begun = true;
		}
		text[strcspn(text, "\r\n")] = '\0';
		for (char *tab = text; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		if (strlen(text) > MAX_LINE)
			text[MAX_LINE] = '\0';
		fprintf(out, "%s%5d  ", number == line ? "<mark>" : "", number);
		html_text(out, text);
		fputs(number == line ? "</mark>\n" : "\n", out);
	}
	if (has_begun)
		fputs("</pre></figure>\n", out);
	free(text);
	fclose(file);
}
