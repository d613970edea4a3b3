/* SPDX-License-Identifier: BSD-3-Clause
 * pdb's own command line, by argp. */
#include <argp.h>
#include <unistd.h>

#include "shell/options/options.h"
#include "shell/options/suggest.h"

/* The words for actions, and at the end another user of options. */
static const char *const actions[] = {
	[ACTION_DEBUG] = "",      [ACTION_RUN] = "run",     [ACTION_ENV] = "env",
	[ACTION_CLEAN] = "clean", [ACTION_WATCH] = "watch", [NUM_ACTIONS] = "run --watch",
};

static const char doc[] =
	"Finds the rank that holds up an MPI job, and why. mpidb is a second name of pdb: Python's "
	"debugger has the first name, too.\v"
	"Without arguments pdb lists your jobs on this machine, and attaches if there is just "
	"one.\n"
	"  pdb --pid PID          attach to the job of this launcher\n"
	"  pdb run -- mpirun ...  start a job with the recorder in it\n"
	"  pdb watch --pid PID    watch a job until it ends or hangs\n"
	"  pdb run --watch -- mpirun ...   start a job and watch it\n"
	"  pdb run --trace --save FILE -- mpirun ...   save its traces at the end\n"
	"  eval \"$(pdb env)\"      record the jobs that this shell starts\n"
	"  pdb --load FILE        look at a snapshot\n"
	"  pdb --core FILE...     look at a crashed job; or --core DIRECTORY\n"
	"  pdb clean              remove what crashed jobs left in /dev/shm\n\n"
	"Exit status: 0 no certain hang, 1 hang or crash, 2 pdb failed. With run --watch, pdb "
	"returns the status of a job that ends by itself. You can write options as in gdb: -p, -x, "
	"-ex, -batch.";

enum {
	FIRST_KEY = 256, /* options without a letter: this plus their number */
	PART_OF_WATCHING = 4,
};

static size_t count_options(void)
{
	return program_option_table.num + watch_option_table.num;
}

/* Options of watching come after the others. */
static bool is_of_watching(size_t i)
{
	return i >= program_option_table.num;
}

static const struct option_spec *option_of(size_t i)
{
	return is_of_watching(i) ? &watch_option_table.options[i - program_option_table.num]
				 : &program_option_table.options[i];
}

/* "run, env": the users of an option. */
static const char *users_of(struct arena *arena, const struct option_spec *option)
{
	const char *text = "";

	for (size_t i = 0; i <= NUM_ACTIONS; i++)
		if (option->users >> i & 1)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", actions[i]);
	return text;
}

static struct argp_option argp_option_of(struct arena *arena, size_t i)
{
	const struct option_spec *option = option_of(i);
	bool is_of_some = !is_of_watching(i) && option->users;
	char *argument = arena_keep(arena, option_argument(option), free);
	bool may_be_left_out = argument && *argument == '[';

	if (may_be_left_out)
		argument[strlen(argument) - 1] = '\0';
	return (struct argp_option){
		.name = option->name,
		.key = option->letter ? option->letter : FIRST_KEY + (int)i,
		.arg = may_be_left_out ? argument + 1 : argument,
		.flags = may_be_left_out ? OPTION_ARG_OPTIONAL : 0,
		.doc = is_of_some ? arena_printf(arena, "%s: %s", users_of(arena, option),
						 option->help)
				  : option->help,
		.group = option->part ? option->part : PART_OF_WATCHING,
	};
}

struct parsing {
	struct options *options;
	struct arena *arena;
	bool *is_given;
};

static void refuse_word(const char *word, struct argp_state *state)
{
	const char *nearest = suggest_nearest(word, actions + 1, NUM_ACTIONS - 1);

	if (nearest)
		argp_error(state, "no \"%s\"; did you mean \"%s\"?", word, nearest);
	else if (access(word, R_OK) == 0)
		argp_error(state,
			   "%s is no command of pdb. For a program: pdb run -- mpirun ...; "
			   "for a snapshot: --load; for cores: --core",
			   word);
	else
		argp_error(state, "\"%s\" is not run, watch, env or clean; to attach: --pid PID",
			   word);
}

/* The first word that is no option; for run, it and all others are the job's command. */
static void parse_word(char *word, struct argp_state *state, struct options *options)
{
	if (options->action == ACTION_RUN) {
		options->run_argv = &state->argv[state->next - 1];
		state->next = state->argc;
		return;
	}
	if (options->program.cores.num) {
		option_list_add(&options->program.cores, NULL, word);
		return;
	}
	if (options->action != ACTION_DEBUG)
		argp_error(state, "\"%s\" is one word too many", word);
	for (size_t i = ACTION_DEBUG + 1; i < NUM_ACTIONS; i++)
		if (strcmp(word, actions[i]) == 0)
			options->action = (enum program_action)i;
	if (options->action == ACTION_DEBUG)
		refuse_word(word, state);
}

/* A number of bytes, optionally with k, M or G, and optionally the most elements of a loop after
 * it. */
static bool is_trace_size(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	const char *end = text + digits;

	if (*end && strchr("kKmMgG", *end))
		end++;
	if (*end == ',') {
		digits = digits ? strspn(end + 1, "0123456789") : 0;
		end += 1 + digits;
	}
	return digits > 0 && *end == '\0';
}

/* Check that the chosen action takes the option. */
static void check_user(struct argp_state *state, const struct parsing *parsing,
		       const struct option_spec *option)
{
	const struct options *options = parsing->options;
	unsigned int users = 1u << options->action | (unsigned int)options->program.is_watched
							     << NUM_ACTIONS;

	if (!option_is_for(option, users))
		argp_error(state, "--%s is for %s%s%s", option->name,
			   users_of(parsing->arena, option), option->hint ? "; " : "",
			   option->hint ? option->hint : "");
}

static void check(struct argp_state *state, const struct parsing *parsing)
{
	struct options *options = parsing->options;
	struct program_options *program = &options->program;
	bool has_cores = program->cores.num > 0;
	bool has_job = program->pid || program->load || has_cores;
	bool is_watch = options->action == ACTION_WATCH;

	/* --save stores a hang, or the end of a traced job; both need watching. */
	if (options->action == ACTION_RUN && options->watch.save)
		program->is_watched = true;
	for (size_t i = 0; i < count_options(); i++)
		if (parsing->is_given[i])
			check_user(state, parsing, option_of(i));
	if ((program->pid != 0) + (program->load != NULL) + has_cores > 1)
		argp_error(state, "give only one of --pid, --load and --core");
	if (is_watch && (program->load || has_cores))
		argp_error(state, "pdb can watch only a running job: --pid PID");
	if (options->action != ACTION_DEBUG && !is_watch && has_job)
		argp_error(state, "--pid, --load and --core do not go with run, env or clean");
	if (options->action == ACTION_RUN && !options->run_argv)
		argp_error(state, "run needs a command: pdb run -- mpirun -n 4 ./program");
	if (program->trace_filter && !program->trace)
		program->trace = "1M";
	if (program->trace && !is_trace_size(program->trace))
		argp_error(state, "\"%s\" is no size of a trace; give bytes, such as 4M",
			   program->trace);
}

static void parse_option(size_t i, const char *value, struct argp_state *state)
{
	struct parsing *parsing = state->input;
	struct options *options = parsing->options;
	struct pdb_error err;
	int result;

	parsing->is_given[i] = true;
	if (is_of_watching(i))
		result =
			option_set(&watch_option_table, option_of(i), value, &options->watch, &err);
	else
		result = option_set(&program_option_table, option_of(i), value, &options->program,
				    &err);
	if (result < 0)
		argp_error(state, "%s", err.text);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct parsing *parsing = state->input;

	if (key == ARGP_KEY_ARG) {
		parse_word(value, state, parsing->options);
		return 0;
	}
	if (key == ARGP_KEY_END) {
		check(state, parsing);
		return 0;
	}
	for (size_t i = 0; i < count_options(); i++) {
		int letter = option_of(i)->letter;

		if (key == (letter ? letter : FIRST_KEY + (int)i)) {
			parse_option(i, value, state);
			return 0;
		}
	}
	return ARGP_ERR_UNKNOWN;
}

void options_parse(int argc, char **argv, struct options *ret)
{
	struct arena *arena = arena_create();
	struct argp_option *all = arena_array(arena, count_options() + 1, sizeof(*all));
	const struct argp argp = {
		.options = all,
		.parser = parse,
		.args_doc = "\n--core FILE...\nrun [--] COMMAND...\nwatch\nenv\nclean",
		.doc = doc,
	};
	struct parsing parsing = {
		.options = ret,
		.arena = arena,
		.is_given = arena_array(arena, count_options(), sizeof(bool)),
	};

	for (size_t i = 0; i < count_options(); i++)
		all[i] = argp_option_of(arena, i);
	*ret = (struct options){.action = ACTION_DEBUG};
	option_init(&watch_option_table, &ret->watch);
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_LONG_ONLY, NULL, &parsing))
		exit(2);
	arena_destroy(arena);
}
