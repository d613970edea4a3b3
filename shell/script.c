/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/macro.h"
#include "shell/script.h"
#include "shell/session.h"

#define MAX_DEPTH 20

int script_run(struct session *session, struct line_source *source, struct pdb_error *err)
{
	struct line_source *outer = session->source;
	char *line;
	int result = 0;

	if (session->depth >= MAX_DEPTH)
		return error_set(err, ERROR_USAGE, "commands are nested more than %d deep",
				 MAX_DEPTH);
	session->depth++;
	session->source = source;
	while (!result && !session->wants_quit && (line = source->next(source, ""))) {
		int number = source->line;

		result = command_execute(session, line, err);
		free(line);
		if (!result && interrupt_pending())
			result = error_set(err, ERROR_INTERRUPTED, "interrupted");
		if (result)
			error_prefix(err, "%s:%d", source->name, number);
	}
	session->source = outer;
	session->depth--;
	return result;
}

struct file_source {
	struct line_source base;
	FILE *file;
};

static char *next_of_file(struct line_source *source, const char *prompt)
{
	struct file_source *file = (struct file_source *)source;
	char *line = NULL;
	size_t size = 0;
	ssize_t length = getline(&line, &size, file->file);

	(void)prompt;
	if (length < 0) {
		free(line);
		return NULL;
	}
	while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
		line[--length] = '\0';
	source->line++;
	return line;
}

int script_run_stream(struct session *session, FILE *stream, const char *name,
		      struct pdb_error *err)
{
	struct file_source file = {
		.base = {.next = next_of_file, .name = name},
		.file = stream,
	};
	int result;

	errno = 0;
	result = script_run(session, &file.base, err);
	if (!result && ferror(stream))
		result = error_errno(err, "cannot read %s", name);
	return result;
}

int script_run_file(struct session *session, const char *path, struct pdb_error *err)
{
	FILE *file = fopen(path, "re");
	int result;

	if (!file)
		return error_errno(err, "cannot open %s", path);
	result = script_run_stream(session, file, path, err);
	fclose(file);
	return result;
}

struct macro_source {
	struct line_source base;
	char **lines;
	size_t num_lines;
};

static char *next_of_macro(struct line_source *source, const char *prompt)
{
	struct macro_source *macro = (struct macro_source *)source;

	(void)prompt;
	if ((size_t)source->line >= macro->num_lines)
		return NULL;
	return xstrdup(macro->lines[source->line++]);
}

int script_run_macro(struct session *session, const struct macro *macro, const struct args *args,
		     struct pdb_error *err)
{
	struct macro_source source = {
		.base = {.next = next_of_macro, .name = macro->name},
		.num_lines = macro->num_lines,
	};
	char *name = xstrdup(macro->name);
	int result;

	/* A copy: the lines may define the macro anew. */
	source.base.name = name;
	source.lines = xcalloc(macro->num_lines, sizeof(char *));
	for (size_t i = 0; i < macro->num_lines; i++)
		source.lines[i] = macro_expand(macro->lines[i], args);
	result = script_run(session, &source.base, err);
	for (size_t i = 0; i < source.num_lines; i++)
		free(source.lines[i]);
	free(source.lines);
	free(name);
	return result;
}
