/* SPDX-License-Identifier: BSD-3-Clause */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/options/options.h"
#include "shell/options/suggest.h"

enum option_key {
	KEY_JOB = 256,
	KEY_LOAD,
	KEY_CORE,
	KEY_BATCH,
	KEY_EX,
	KEY_MPI,
	KEY_OUTPUT,
	KEY_WATCH,
	KEY_TRACE,
	KEY_TRACE_FILTER,
	KEY_UNSET,
	KEY_WATCH_OPTIONS, /* and on: the indexes of watch_option_table */
};

static const char doc[] =
	"An interactive debugger for parallel programs: tells which rank of a hung MPI job is "
	"least "
	"progressed, where it is and why, and hands it to gdb.\v"
	"Without arguments pdb lists your jobs on this machine, and attaches when there is one.\n"
	"  pdb --pid PID          attach to the job of this launcher\n"
	"  pdb run -- mpirun ...  start a job with the recorder in it\n"
	"  pdb watch --pid PID    watch a job until it ends or hangs\n"
	"  pdb run --watch -- mpirun ...   both\n"
	"  pdb run --trace --save FILE -- mpirun ...   all that it did, to its end or a hang\n"
	"  eval \"$(pdb env)\"      put the recorder into jobs started by hand\n"
	"  pdb --load FILE        look at a saved snapshot\n"
	"  pdb --core FILE...     look at the cores of a crashed job; or --core DIRECTORY\n"
	"  pdb clean              remove what crashed jobs left in /dev/shm\n\n"
	"Exit status: 0 no hang found, 1 a hang or a fault found, 2 pdb could not do what was "
	"asked; run --watch: that of COMMAND when it ends by itself. PID and options may be "
	"written as in gdb: -p, -x, -ex, -batch.";

static const struct argp_option table[] = {
	{"pid", 'p', "PID", 0, "The job's launcher, or one of its ranks", 1},
	{"job", KEY_JOB, "NAME", 0, "Which of several jobs of one launcher", 1},
	{"load", KEY_LOAD, "FILE", 0, "A snapshot made by save", 1},
	{"core", KEY_CORE, "FILE", 0, "Cores of a job, or a directory of them; more may follow", 1},
	{"ex", KEY_EX, "COMMAND", 0, "Carry out a command; may be repeated", 2},
	{"command", 'x', "FILE", 0, "Carry out the commands of a file; may be repeated", 2},
	{"batch", KEY_BATCH, NULL, 0, "Leave after these commands; stop at the first that fails",
	 2},
	{"nx", 'n', NULL, 0, "Do not read the files of \"help startup\", as ~/.pdbrc", 2},
	{"mpi", KEY_MPI, "MPI", 0,
	 "run, env: the recorder of openmpi or mpich only, in place of all", 3},
	{"output", KEY_OUTPUT, "FILE", 0, "run: the job's output, in place of the terminal", 3},
	{"trace", KEY_TRACE, "SIZE", OPTION_ARG_OPTIONAL,
	 "run: record traces, in SIZE bytes a thread (1M), for the command trace", 3},
	{"trace-filter", KEY_TRACE_FILTER, "WORDS", 0,
	 "run: record of traces what WORDS let pass: mpi, comm, depth=3, lib=libm*, !MPI_Test", 3},
	{"unset", KEY_UNSET, NULL, 0, "env: undo it: eval \"$(pdb env --unset)\"", 3},
	{"watch", KEY_WATCH, NULL, 0, "run: watch the job until it ends or hangs", 4},
};

/* Those of watching behind the others. The caller frees. */
static struct argp_option *make_table(void)
{
	const size_t num = sizeof(table) / sizeof(table[0]);
	struct argp_option *all;
	size_t num_watch = 0;

	while (watch_option_table[num_watch].name)
		num_watch++;
	all = xcalloc(num + num_watch + 1, sizeof(*all));
	memcpy(all, table, sizeof(table));
	for (size_t i = 0; i < num_watch; i++)
		all[num + i] = (struct argp_option){
			.name = watch_option_table[i].name,
			.key = KEY_WATCH_OPTIONS + (int)i,
			.arg = watch_option_table[i].value,
			.doc = watch_option_table[i].text,
			.group = 4,
		};
	return all;
}

static int parse_pid(const char *text, struct argp_state *state, pid_t *ret)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (!*text || *end || errno || pid <= 0 || pid > INT_MAX) {
		argp_error(state, "\"%s\" is no process id", text);
		return EINVAL;
	}
	*ret = pid;
	return 0;
}

static void add_command(struct options *options, const char *text, bool is_file)
{
	options->commands = xgrow(options->commands, options->num_commands, &options->capacity,
				  sizeof(*options->commands));
	options->commands[options->num_commands++] = (struct start_command){text, is_file};
}

static void add_core(struct options *options, char *path)
{
	options->cores =
		xgrow(options->cores, options->num_cores, &options->cores_capacity, sizeof(char *));
	options->cores[options->num_cores++] = path;
	options->has_cores = true;
}

static void refuse_word(const char *word, struct argp_state *state)
{
	static const char *const words[] = {"run", "watch", "env", "clean"};
	const char *nearest = suggest_nearest(word, words, sizeof(words) / sizeof(words[0]));

	if (nearest)
		argp_error(state, "no \"%s\"; did you mean \"%s\"?", word, nearest);
	else if (access(word, R_OK) == 0)
		argp_error(state,
			   "%s is no command of pdb; a program is started by \"pdb run -- "
			   "mpirun ...\", a snapshot is shown by --load, cores by --core",
			   word);
	else
		argp_error(state,
			   "\"%s\" is neither run, watch, env nor clean; to attach: --pid PID",
			   word);
}

/* The first word that is no option; for run, all that follow are the job's. */
static int parse_word(const char *word, struct argp_state *state, struct options *options)
{
	if (options->action == ACTION_RUN) {
		options->run_argv = &state->argv[state->next - 1];
		state->next = state->argc;
	} else if (options->has_cores) {
		add_core(options, state->argv[state->next - 1]);
	} else if (options->action != ACTION_DEBUG) {
		argp_error(state, "\"%s\" is one word too many", word);
	} else if (strcmp(word, "run") == 0) {
		options->action = ACTION_RUN;
	} else if (strcmp(word, "env") == 0) {
		options->action = ACTION_ENV;
	} else if (strcmp(word, "clean") == 0) {
		options->action = ACTION_CLEAN;
	} else if (strcmp(word, "watch") == 0) {
		options->action = ACTION_WATCH;
	} else {
		refuse_word(word, state);
	}
	return 0;
}

static int check(struct argp_state *state, struct options *options)
{
	bool has_job = options->pid || options->load || options->has_cores;
	bool is_watch = options->action == ACTION_WATCH;

	/* What is saved is a hang, or of traces the end: who waits for that watches. */
	if (options->action == ACTION_RUN && options->watch.save)
		options->is_watched = true;
	if ((options->pid != 0) + (options->load != NULL) + options->has_cores > 1)
		argp_error(state, "--pid, --load and --core exclude each other");
	if (is_watch && (options->load || options->has_cores))
		argp_error(state, "only a job that runs can be watched: --pid PID");
	if (options->is_watched && options->action != ACTION_RUN)
		argp_error(state, "--watch is for run; to watch a job that runs: watch --pid PID");
	if (options->has_watch_options && !is_watch && !options->is_watched)
		argp_error(state, "--alpha, --max-wait, --save, --report, --on-hang, "
				  "--on-hang-time and --kill are for watch and run --watch");
	if (options->action != ACTION_DEBUG && !is_watch && has_job)
		argp_error(state, "--pid, --load and --core do not go with run, env or clean");
	if (options->action == ACTION_RUN && !options->run_argv)
		argp_error(state, "run needs a command: pdb run -- mpirun -n 4 ./program");
	if ((options->trace || options->trace_filter) && options->action != ACTION_RUN)
		argp_error(state, "--trace and --trace-filter are for run; jobs started otherwise "
				  "take PDB_TRACE and PDB_TRACE_FILTER");
	if (options->wants_unset && options->action != ACTION_ENV)
		argp_error(state, "--unset is for env: eval \"$(pdb env --unset)\"");
	if (options->mpi && strcmp(options->mpi, "openmpi") != 0 &&
	    strcmp(options->mpi, "mpich") != 0)
		argp_error(state, "--mpi is openmpi or mpich");
	return 0;
}

/* A number of bytes, maybe in k, M or G, and maybe the elements that a loop may have behind it. */
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

static error_t parse_trace(const char *value, struct argp_state *state)
{
	struct options *options = state->input;

	options->trace = value ? value : "1M";
	if (!is_trace_size(options->trace))
		argp_error(state, "\"%s\" is no size of a trace; give bytes, for example 4M",
			   value);
	return 0;
}

static error_t parse_watch_option(size_t index, const char *value, struct argp_state *state)
{
	struct options *options = state->input;
	struct pdb_error err;

	/* The answers of commands may be JSON, too. */
	if (strcmp(watch_option_table[index].name, "json") != 0)
		options->has_watch_options = true;
	if (watch_options_set(&options->watch, index, value, &err) < 0)
		argp_error(state, "%s", err.text);
	return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct options *options = state->input;

	if (key >= KEY_WATCH_OPTIONS && key < KEY_WATCH_OPTIONS + 100)
		return parse_watch_option(key - KEY_WATCH_OPTIONS, value, state);
	switch (key) {
	case KEY_WATCH:
		options->is_watched = true;
		return 0;
	case 'p':
		return parse_pid(value, state, &options->pid);
	case KEY_JOB:
		options->nspace = value;
		return 0;
	case KEY_LOAD:
		options->load = value;
		return 0;
	case KEY_EX:
		add_command(options, value, false);
		return 0;
	case 'x':
		add_command(options, value, true);
		return 0;
	case KEY_CORE:
		add_core(options, value);
		return 0;
	case KEY_BATCH:
		options->is_batch = true;
		return 0;
	case 'n':
		options->no_init = true;
		return 0;
	case KEY_MPI:
		options->mpi = value;
		return 0;
	case KEY_UNSET:
		options->wants_unset = true;
		return 0;
	case KEY_OUTPUT:
		options->output = value;
		return 0;
	case KEY_TRACE:
		return parse_trace(value, state);
	case KEY_TRACE_FILTER:
		options->trace_filter = value;
		options->trace = options->trace ? options->trace : "1M";
		return 0;
	case ARGP_KEY_ARG:
		return parse_word(value, state, options);
	case ARGP_KEY_END:
		return check(state, options);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(int argc, char **argv, struct options *ret)
{
	struct argp_option *all = make_table();
	const struct argp argp = {
		.options = all,
		.parser = parse,
		.args_doc = "\n--core FILE...\nrun [--] COMMAND...\nwatch\nenv\nclean",
		.doc = doc,
	};

	*ret = (struct options){.action = ACTION_DEBUG};
	watch_options_init(&ret->watch);
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_LONG_ONLY, NULL, ret))
		exit(2);
	free(all);
}

void options_free(struct options *options)
{
	free(options->commands);
	free(options->cores);
}
