/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <unistd.h>

#include "render/draw/dot.h"
#include "render/text/gate.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/line/editor.h"
#include "shell/output.h"
#include "shell/line/pager.h"
#include "shell/session.h"
#include "shell/spinner.h"

/* The first `|` or `>` that no quote or backslash covers; NULL if there is none. */
/* As in "print p->x". */
static bool is_arrow(const char *line, const char *p)
{
	return p > line && p[-1] == '-';
}

static const char *find_redirection(const char *line)
{
	char quote = '\0';

	for (const char *p = line; *p; p++) {
		if (*p == '\\' && p[1] && quote != '\'')
			p++;
		else if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else if (!quote && *p == '#' && (p == line || isblank((unsigned char)p[-1])))
			return NULL;
		else if (!quote && (*p == '|' || (*p == '>' && !is_arrow(line, p))))
			return p;
	}
	return NULL;
}

/* File endings. An ending may have several formats: a command uses the first one that it has a view
 * for. */
static const struct ending {
	const char *name;
	enum format format;
	const char *picture;
} endings[] = {
	{"json", FORMAT_JSON, NULL}, {"folded", FORMAT_FOLDED, NULL}, {"dot", FORMAT_DOT, NULL},
	{"svg", FORMAT_SVG, NULL},   {"svg", FORMAT_DOT, "svg"},      {"png", FORMAT_DOT, "png"},
	{"pdf", FORMAT_DOT, "pdf"},
};

/* The format by the file's ending; text if the command has no view for it. */
static int choose_format(const char *path, const struct command *command, struct output *output,
			 struct pdb_error *err)
{
	const char *dot = strrchr(path, '.');
	const struct ending *known = NULL;

	for (size_t i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (strcasecmp(dot + 1, endings[i].name) != 0)
			continue;
		known = &endings[i];
		if (command && command->views[known->format]) {
			output->format = known->format;
			output->picture = known->picture;
			return 0;
		}
	}
	if (known && known->picture)
		return error_set(err, ERROR_USAGE, "this command draws no %s picture", known->name);
	if (known && known->format == FORMAT_FOLDED && command && command->views[FORMAT_JSON])
		return error_set(
			err, ERROR_USAGE,
			"this command writes no folded stacks; a .json file has the whole answer");
	return 0;
}

/* The file behind > or >>: one word, quotes removed. */
static int split_file(const char *p, const struct command *command, struct output *output,
		      struct pdb_error *err)
{
	struct args *args;
	int result;

	output->kind = *p == '>' ? OUTPUT_APPEND : OUTPUT_FILE;
	if (args_parse(p + (*p == '>'), &args, err) < 0)
		return -1;
	if (args->num_words != 1)
		result = error_set(err, ERROR_USAGE, "give one file name after \">\"");
	else
		result = choose_format(args->words[0], command, output, err);
	if (!result && output->format != FORMAT_TEXT && output->kind == OUTPUT_APPEND)
		result = error_set(err, ERROR_USAGE,
				   "pictures and data cannot be appended to a file; use \">\"");
	if (!result) {
		if (output->format != FORMAT_TEXT)
			output->kind = OUTPUT_COLLECTED;
		output->target = xstrdup(args->words[0]);
	}
	args_destroy(args);
	return result;
}

int output_split(const char *line, const struct command *command, char **text_ret,
		 struct output *output, struct pdb_error *err)
{
	const char *mark = find_redirection(line);
	const char *p;

	*output = (struct output){.kind = OUTPUT_PLAIN};
	if (!mark) {
		*text_ret = xstrdup(line);
		return 0;
	}
	p = mark + 1;
	if (*mark == '>') {
		if (split_file(p, command, output, err) < 0)
			return -1;
	} else {
		while (isblank((unsigned char)*p))
			p++;
		if (!*p)
			return error_set(err, ERROR_USAGE, "give a command after \"|\"");
		output->kind = OUTPUT_PIPE;
		output->target = xstrdup(p);
	}
	*text_ret = xstrndup(line, mark - line);
	return 0;
}

/* A user waits at the terminal for the answer. */
static bool is_watched(const struct session *session)
{
	return session->editor && isatty(STDOUT_FILENO);
}

int output_open(struct output *output, struct session *session, bool is_collected,
		struct pdb_error *err)
{
	const char *path = output->target;

	output->outer = session->out;
	output->outer_fd = session->out_fd;
	switch (output->kind) {
	case OUTPUT_PLAIN:
		if (output->outer != stdout)
			output->stream = output->outer;
		else if (is_collected && is_watched(session))
			output->stream = open_memstream(&output->memory, &output->memory_size);
		else
			output->stream = stdout;
		break;
	case OUTPUT_COLLECTED:
		output->stream = open_memstream(&output->memory, &output->memory_size);
		break;
	case OUTPUT_PIPE:
		fflush(stdout);
		output->pipe = popen(output->target, "we");
		if (output->pipe)
			output->stream = gate_open(output->pipe);
		if (output->pipe)
			session->out_fd = fileno(output->pipe);
		break;
	case OUTPUT_FILE:
		if (access(path, F_OK) == 0 &&
		    !editor_confirm(session, "%s exists. Overwrite it?", path))
			return error_set(err, ERROR_USAGE, "not written: %s", path);
		output->stream = gate_open_file(path, "we", &session->out_fd);
		break;
	case OUTPUT_APPEND:
		output->stream = gate_open_file(path, "ae", &session->out_fd);
		break;
	}
	if (!output->stream)
		return error_errno(err, "cannot write to %s", path ? path : "memory");
	session->out = output->stream;
	session->out_is_paged = output->kind == OUTPUT_PLAIN && output->stream != output->outer;
	return 0;
}

static int write_collected(const struct output *output, struct pdb_error *err)
{
	FILE *file;

	if (output->picture)
		return graphviz_write(output->memory, output->picture, output->target, err);
	file = gate_open_file(output->target, "we", NULL);
	if (!file)
		return error_errno(err, "cannot write to %s", output->target);
	fwrite(output->memory, 1, output->memory_size, file);
	if (ferror(file) | fclose(file))
		return error_errno(err, "cannot write to %s", output->target);
	return 0;
}

static int close_stream(struct output *output, struct pdb_error *err)
{
	int status;

	switch (output->kind) {
	case OUTPUT_PIPE:
		fclose(output->stream);
		status = pclose(output->pipe);
		if (status == 127 << 8)
			return error_set(err, ERROR_NOT_FOUND, "no such command: %s",
					 output->target);
		return 0;
	case OUTPUT_PLAIN:
		if (output->stream == output->outer) {
			/* A reader that closes the pipe early is no failure of the answer. */
			if (fflush(output->outer) != 0 && errno != EPIPE)
				return error_errno(err, "cannot write the answer");
			return 0;
		}
		/* fall through */
	case OUTPUT_COLLECTED:
		fclose(output->stream);
		return 0;
	default:
		if (ferror(output->stream) | fclose(output->stream))
			return error_errno(err, "cannot write to %s", output->target);
		return 0;
	}
}

/* Explain "3:[0-1,7]" below the first answer that has such a set. */
static void explain_ranks(struct output *output, struct session *session)
{
	const char *text = output->memory, *end = text + output->memory_size;
	bool is_there = false;

	for (const char *p = text; p + 3 < end && !is_there; p++)
		is_there = isdigit((unsigned char)p[0]) && p[1] == ':' && p[2] == '[' &&
			   isdigit((unsigned char)p[3]);
	if (!is_there)
		return;
	session->has_shown_ranks = true;
	output->memory = xreallocarray(output->memory, output->memory_size + 128, 1);
	output->memory_size += (size_t)sprintf(output->memory + output->memory_size,
					       "(3:[0-1,7] stands for 3 ranks: 0, 1 and 7)\n");
}

int output_close(struct output *output, struct session *session, bool keep, struct pdb_error *err)
{
	int result = 0;

	session->out_is_paged = false;
	if (output->stream) {
		session->out = output->outer;
		session->out_fd = output->outer_fd;
		result = close_stream(output, err);
	}
	if (output->kind == OUTPUT_PLAIN)
		spinner_stop();
	if (output->memory && output->kind == OUTPUT_PLAIN && !session->has_shown_ranks)
		explain_ranks(output, session);
	if (!result && output->memory && output->kind == OUTPUT_PLAIN &&
	    session->settings.pager == SWITCH_ON)
		pager_show(output->memory, output->memory_size);
	else if (!result && output->memory && output->kind == OUTPUT_PLAIN)
		fwrite(output->memory, 1, output->memory_size, stdout);
	else if (!result && output->memory && keep)
		result = write_collected(output, err);
	spinner_stop();
	free(output->memory);
	free(output->target);
	return result;
}
