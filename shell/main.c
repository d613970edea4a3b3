/* SPDX-License-Identifier: BSD-3-Clause
 * pdb: options, session, loop. */
#include <locale.h>
#include <unistd.h>

#include "model/job/rankset.h"
#include "model/segment/segment_reader.h"
#include "model/stack.h"
#include "render/text/gate.h"
#include "shell/banner.h"
#include "shell/command.h"
#include "shell/line/complete.h"
#include "shell/line/editor.h"
#include "shell/interrupt.h"
#include "shell/start/find.h"
#include "shell/start/launch.h"
#include "shell/options/options.h"
#include "shell/pdb.h"
#include "shell/script/script.h"
#include "shell/session.h"
#include "shell/spinner.h"
#include "shell/watch/watch.h"

/* argp in the C library reads this symbol. Symbols of the archive are hidden, so it is defined
 * here. */
__attribute__((visibility("default"))) const char *argp_program_version = "pdb " PDB_VERSION;

enum { STATUS_CANNOT = 2 };

static int complain(const struct pdb_error *err)
{
	session_complain(err);
	return STATUS_CANNOT;
}

static bool is_file(const struct option_word *word)
{
	return strcmp(word->option->argument, "FILE") == 0;
}

/* Returns how many lines failed. With --batch the first failure ends the run. */
static int run_start_commands(struct session *session, const struct options *options)
{
	const struct option_list *commands = &options->program.commands;
	int failed = 0;

	for (size_t i = 0; i < commands->num && !session->wants_quit; i++) {
		const struct option_word *command = &commands->words[i];
		struct pdb_error err;
		int result = is_file(command) ? script_run_file(session, command->text, &err)
					      : command_execute(session, command->text, &err);

		if (!result)
			continue;
		session_complain(&err);
		interrupt_clear();
		failed++;
		if (session->is_batch)
			break;
	}
	return failed;
}

/* The age of the answers, if it matters; see "help prompt". The caller frees. */
static char *make_age(const struct session *session)
{
	double age = session_age(session);

	if (session->snapshot || session->has_cores || !session->job)
		return xstrdup("");
	if (!session->is_live)
		return xstrdup(" ended");
	if (age <= session->settings.stale)
		return xstrdup("");
	if (age < 120)
		return xasprintf(" %.0f s old", age);
	if (age < 2 * 3600)
		return xasprintf(" %.0f min old", age / 60);
	return xasprintf(" %.0f h old", age / 3600);
}

static char *make_prompt(const struct session *session)
{
	char *age SCOPED(free) = make_age(session);
	char *ranks SCOPED(free) = session->focus ? rankset_encode(session->focus, 3) : NULL;
	char *prompt = xasprintf("(pdb%s%s%s) ", ranks ? " " : "", ranks ? ranks : "", age);

	return prompt;
}

static bool is_empty(const char *line)
{
	return line[strspn(line, " \t")] == '\0';
}

/* Lines of a terminal: after an error the next line is read; an empty line repeats. */
static void interact(struct session *session)
{
	struct line_source *source = editor_source(session->editor);
	char *last = xstrdup("");

	while (!session->wants_quit && !interrupt_wants_end()) {
		char *prompt SCOPED(free) = make_prompt(session);
		char *line SCOPED(free) = source->next(source, prompt);
		struct pdb_error err;

		if (!line)
			break;
		if (!is_empty(line)) {
			editor_remember(session->editor, line);
			free(last);
			last = command_repeats(line) ? xstrdup(line) : xstrdup("");
		}
		session->source = source;
		session->is_repeated = is_empty(line);
		if (command_execute(session, is_empty(line) ? last : line, &err) < 0)
			session_complain(&err);
		interrupt_clear();
	}
	free(last);
}

static int debug(struct session *session, const struct options *options)
{
	struct pdb_error err;
	int failed;

	if (!options->program.is_batch)
		banner_print(session, stdout);
	if (session->job)
		banner_print_holes(session, options->program.is_batch ? stderr : stdout);
	if (!options->program.is_batch && isatty(STDIN_FILENO))
		session->editor = editor_create(session, complete_line);
	if (!options->program.no_init)
		startup_run(session);
	failed = run_start_commands(session, options);
	if (!options->program.is_batch && !session->wants_quit) {
		if (session->editor) {
			interact(session);
			failed = 0; /* typing errors at the prompt are no failures of pdb */
		} else if (script_run_file(session, "/dev/stdin", &err) < 0) {
			session_complain(&err);
			failed++;
		}
	}
	return failed ? STATUS_CANNOT : session_status(session);
}

static int clean(void)
{
	struct pdb_error err;
	int removed = segment_clean(NULL, NULL, 0, &err);

	if (removed < 0)
		return complain(&err);
	printf("%d segment%s of dead processes removed\n", removed, removed == 1 ? "" : "s");
	return 0;
}

/* Do all -ex commands work without a job, such as "suspects GOOD BAD"? */
static bool needs_no_job(const struct options *options)
{
	const struct option_list *commands = &options->program.commands;

	for (size_t i = 0; i < commands->num; i++)
		if (is_file(&commands->words[i]) || !command_needs_no_job(commands->words[i].text))
			return false;
	return options->program.is_batch && commands->num > 0;
}

static int load_cores(struct session *session, const struct option_list *cores,
		      struct pdb_error *err)
{
	const char **paths SCOPED(free) = xcalloc(cores->num, sizeof(*paths));

	for (size_t i = 0; i < cores->num; i++)
		paths[i] = cores->words[i].text;
	return session_load_cores(session, (char *const *)paths, cores->num, err);
}

static int open_job(struct session *session, const struct options *options, struct launch **launch,
		    struct pdb_error *err)
{
	pid_t pid = options->program.pid;

	if (options->action == ACTION_RUN) {
		if (launch_start(options, launch, err) < 0)
			return -1;
		return launch_attach(*launch, session, err);
	}
	if (!pid && !options->program.load && !options->program.cores.num) {
		if (needs_no_job(options))
			return 0;
		if (joblist_choose(&pid, stdout, err) < 0)
			return -1;
	}
	if (!options->program.is_batch && isatty(STDIN_FILENO))
		spinner_start("looking");
	if (options->program.load)
		return session_load(session, options->program.load, err);
	if (options->program.cores.num)
		return load_cores(session, &options->program.cores, err);
	return session_attach(session, pid, options->program.nspace, err);
}

static int run(int argc, char **argv)
{
	struct launch *launch = NULL;
	struct options options;
	struct session session;
	struct pdb_error err;
	int status, result;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	gate_install();
	options_parse(argc, argv, &options);
	if (options.action == ACTION_ENV) {
		status = launch_print_env(&options, &err) < 0 ? complain(&err) : 0;
		goto out;
	}
	if (options.action == ACTION_CLEAN) {
		status = clean();
		goto out;
	}
	interrupt_init();
	session_init(&session);
	session.execute = command_execute;
	session.is_batch = options.program.is_batch;
	session.is_json = options.watch.wants_json;
	if (options.action == ACTION_WATCH || options.program.is_watched) {
		status = watch_main(&session, &options);
		if (session.is_hung && run_start_commands(&session, &options) > 0)
			status = STATUS_CANNOT;
		goto done;
	}
	result = open_job(&session, &options, &launch, &err);
	spinner_stop();
	if (result < 0)
		status = complain(&err);
	else
		status = debug(&session, &options);
	launch_finish(launch, &session);
	editor_destroy(session.editor);
done:
	session_deinit(&session);
	segment_sweep_usual();
out:
	option_list_free(&options.program.commands);
	option_list_free(&options.program.cores);
	return status;
}

int main(int argc, char **argv)
{
	return stack_run(run, argc, argv);
}
