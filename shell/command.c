/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/answers/answer.h"
#include "shell/options/args.h"
#include "shell/options/option.h"
#include "shell/command.h"
#include "shell/answers/document.h"
#include "shell/script/script.h"
#include "shell/output.h"
#include "shell/session.h"
#include "shell/spinner.h"
#include "shell/options/suggest.h"

/* Words that gdb users try. */
static const struct {
	const char *words; /* with blanks around each */
	const char *advice;
} foreign_words[] = {
	{" continue cont resume ", "ranks run on by themselves; \"refresh\" looks at them again"},
	{" break delete next n step finish until jump call ",
	 "that is for gdb: \"gdb RANK\" or \"gdb lp\""},
	{" x list frame up down thread threads disassemble ptype ",
	 "that is for gdb: \"gdb RANK\" or \"gdb lp\""},
	{" backtrace stack stacks ", "did you mean \"bt\"?"},
	{" attach run start load core ",
	 "give it when you start pdb: pdb --pid PID, pdb run -- mpirun ..., pdb --load FILE"},
	{" detach kill bye stop ", "\"quit\" leaves pdb, and the job goes on"},
	{" status hang least ", "did you mean \"lp\"?"},
	{" man ? ", "did you mean \"help\"?"},
};

static const char *find_foreign(const char *word)
{
	char padded[64];

	snprintf(padded, sizeof(padded), " %s ", word);
	for (size_t i = 0; i < sizeof(foreign_words) / sizeof(foreign_words[0]); i++)
		if (*word && strstr(foreign_words[i].words, padded))
			return foreign_words[i].advice;
	return NULL;
}

int command_find(const struct command *const *table, const char *what, const char *word,
		 const struct command **ret, struct pdb_error *err)
{
	const char *advice = table == command_table ? find_foreign(word) : NULL;
	const char *names[128];
	size_t num = 0;
	int found;

	for (; num < sizeof(names) / sizeof(names[0]) && table[num]; num++) {
		*ret = table[num];
		if (command_is_called(table[num], word, strlen(word)))
			return 0;
		names[num] = table[num]->name;
	}
	found = suggest_find(what, "", word, strlen(word), names, num, advice ? NULL : err);
	if (found < 0)
		return advice ? error_set(err, ERROR_USAGE, "no %s \"%s\": %s", what, word, advice)
			      : -1;
	*ret = table[found];
	return 0;
}

char *command_text(const struct command *command)
{
	char *options SCOPED(free) =
		command->options ? option_help(command->options, command->users) : NULL;

	return options ? xasprintf("%s\n%s", command->text, options) : xstrdup(command->text);
}

static const char *skip_blanks(const char *text)
{
	while (isblank((unsigned char)*text))
		text++;
	return text;
}

/* The command word at *text: letters, digits, '-', '_', '.'; or one other character, as "!". */
static char *take_word(const char **text)
{
	const char *p = skip_blanks(*text), *start = p;

	while (isalnum((unsigned char)*p) || (*p && strchr("-_.", *p)))
		p++;
	if (p == start && *p)
		p++;
	*text = p;
	return xstrndup(start, p - start);
}

static int list_family(const struct command *command, struct pdb_error *err)
{
	char members[256] = "";

	for (size_t i = 0; command->family[i]; i++)
		snprintf(members + strlen(members), sizeof(members) - strlen(members), "%s%s",
			 i ? ", " : "", command->family[i]->name);
	return error_set(err, ERROR_USAGE, "\"%s\" needs one of: %s", command->name, members);
}

int command_take(const char **text, const struct command **ret, struct pdb_error *err)
{
	const struct command *command;
	const char *p = *text;
	char what[64];
	char *word = take_word(&p);
	int result = command_find(command_table, "command", word, &command, err);

	free(word);
	if (!result && command->family) {
		const char *second = skip_blanks(p);

		if (!*second || *second == '|' || *second == '>' || *second == '#')
			return list_family(command, err);
		snprintf(what, sizeof(what), "%s command", command->name);
		p = second;
		word = take_word(&p);
		result = command_find(command->family, what, word, &command, err);
		free(word);
	}
	if (result)
		return -1;
	*text = p;
	*ret = command;
	return 0;
}

/* Is the answer about the job's snapshot? */
static bool is_of_snapshot(const struct session *session, const struct command *command)
{
	if (!session->job || session->snapshot || session->has_cores)
		return false;
	return command->flags & CMD_ANSWERS &&
	       (command->flags & CMD_NEEDS_JOB || session->has_given_traces);
}

/* Print that an answer's snapshot is old: to people, and to scripts if a file is written; once for
 * all answers that a command collects. */
static void tell_age(struct session *session, const struct command *command)
{
	double age = session_age(session);
	char end[128];

	if (!is_of_snapshot(session, command) || session->out != stdout ||
	    (!session->editor && !(command->flags & CMD_KEEPS)))
		return;
	if (session_has_ended(session)) {
		session_describe_end(session, end, sizeof(end));
		printf("(%s; this is its last snapshot)\n", end);
	} else if (age >= 120)
		printf("(snapshot %.0f min old; refresh to look again)\n", age / 60);
	else if (age > session->settings.stale)
		printf("(snapshot %.0f s old; refresh to look again)\n", age);
}

/* What runs before a redirection: a command of the table or a user-defined one. */
struct call {
	const struct command *command;
	const struct macro *macro;
	const char *line; /* as it was typed */
	enum format format;
};

/* Take "--json" off the words. */
static bool take_json(struct args *args)
{
	size_t kept = 0;

	for (size_t i = 0; i < args->num_words; i++)
		if (strcmp(args->words[i], "--json") != 0)
			args->words[kept++] = args->words[i];
	if (kept == args->num_words)
		return false;
	args->num_words = kept;
	return true;
}

/* The format by the file's ending; JSON also if the command or the session asks for it. */
static enum format choose_format(const struct session *session, const struct call *call,
				 const struct output *output, struct args *args)
{
	if (call->command && call->command->views[FORMAT_JSON] &&
	    (take_json(args) || (session->is_json && output->format == FORMAT_TEXT)))
		return FORMAT_JSON;
	return output->format;
}

/* "lp", "info ranks". The caller frees. */
static char *full_name(const struct command *command)
{
	for (size_t i = 0; command_table[i]; i++) {
		const struct command *first = command_table[i];

		for (size_t j = 0; first->family && first->family[j]; j++)
			if (first->family[j] == command)
				return xasprintf("%s %s", first->name, command->name);
	}
	return xstrdup(command->name);
}

/* After gdb the ranks may have moved: look again. */
static int look_anew(struct session *session, const struct command *command, struct pdb_error *err)
{
	if (!session->is_outdated || !(command->flags & CMD_ANSWERS))
		return 0;
	if (session_has_ended(session))
		return 0;
	if (session_refresh(session, err) < 0)
		return session->is_live ? -1 : 0;
	return command_check_needs(session, command->flags, err);
}

static int run_plain(struct session *session, const struct call *call, const struct args *args,
		     struct pdb_error *err)
{
	if (call->macro)
		return script_run_macro(session, call->macro, args, err);
	if (look_anew(session, call->command, err) < 0)
		return -1;
	if (call->command->run)
		return call->command->run(session, args, err);
	return answer_write(session, call->command, args, call->format, err);
}

/* Write a JSON document. The answer is collected first, so a failed one leaves no half document. */
static int run_document(struct session *session, const struct call *call, const struct args *args,
			struct pdb_error *err)
{
	FILE *outer = session->out;
	char *name = full_name(call->command), *result = NULL;
	size_t size = 0;
	int status;

	session->out = open_memstream(&result, &size);
	if (!session->out)
		abort();
	status = command_check(session, call->command, args, err);
	if (!status)
		status = run_plain(session, call, args, err);
	fclose(session->out);
	session->out = outer;
	document_write(session, outer, name, call->line, status ? NULL : result, err);
	free(result);
	free(name);
	return status;
}

/* Parse, check, open, run, close. Words and output are as the user typed them. */
static int run_call(struct session *session, struct call *call, const char *rest,
		    struct pdb_error *err)
{
	unsigned flags = call->command ? call->command->flags : CMD_TERMINAL;
	struct output output;
	struct args *args;
	char *text;
	int result;

	session->has_given_traces = false;
	if (output_split(rest, call->command, &text, &output, err) < 0)
		return -1;
	result = args_parse(text, &args, err);
	if (!result) {
		call->format = choose_format(session, call, &output, args);
		if (call->command && call->format != FORMAT_JSON)
			result = command_check(session, call->command, args, err);
		if (!result)
			result = output_open(&output, session, !(flags & CMD_TERMINAL), err);
		if (!result && output.kind != OUTPUT_PIPE && !(flags & CMD_TERMINAL) &&
		    session->editor)
			spinner_start(call->command->name);
		if (!result)
			result = call->format == FORMAT_JSON
					 ? run_document(session, call, args, err)
					 : run_plain(session, call, args, err);
		args_destroy(args);
	}
	/* Report the command's own error rather than one from closing. */
	if (output_close(&output, session, !result, result ? NULL : err) < 0)
		result = -1;
	if (!result && call->command && call->format != FORMAT_JSON)
		tell_age(session, call->command);
	free(text);
	return result;
}

static int run_raw(struct session *session, const struct command *command, const char *rest,
		   struct pdb_error *err)
{
	struct args args = {.rest = skip_blanks(rest)};

	if (command->min_words > 0 && !*args.rest)
		return command_refuse_words(command, err);
	if (command_check_needs(session, command->flags, err) < 0)
		return -1;
	return command->run(session, &args, err);
}

int command_execute(struct session *session, const char *line, struct pdb_error *err)
{
	const char *p = skip_blanks(line);
	const char *rest = p;
	struct call call = {.line = p};
	char *word SCOPED(free) = take_word(&rest);

	if (!*p || *p == '#')
		return 0;
	call.macro = macros_find(&session->macros, word);
	if (call.macro)
		return run_call(session, &call, rest, err);
	if (command_take(&p, &call.command, err) < 0)
		return -1;
	if (call.command->flags & CMD_RAW)
		return run_raw(session, call.command, p, err);
	return run_call(session, &call, p, err);
}

bool command_needs_no_job(const char *line)
{
	const struct command *command;

	return command_take(&line, &command, NULL) == 0 &&
	       !(command->flags & (CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_NEEDS_MODEL));
}

bool command_repeats(const char *line)
{
	const struct command *command;
	const char *p = skip_blanks(line);

	if (!*p || *p == '#')
		return false;
	if (command_take(&p, &command, NULL) < 0)
		return true; /* user-defined */
	return !(command->flags & CMD_NO_REPEAT);
}
