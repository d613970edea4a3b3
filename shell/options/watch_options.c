/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "shell/options/args.h"
#include "shell/options/watch_options.h"

enum watch_option_id {
	OPTION_ALPHA,
	OPTION_JSON,
	OPTION_KILL,
	OPTION_MAX_WAIT,
	OPTION_ON_HANG,
	OPTION_ON_HANG_TIME,
	OPTION_REPORT,
	OPTION_SAVE,
	NUM_OPTIONS
};

const struct watch_option watch_option_table[] = {
	[OPTION_ALPHA] = {"alpha", "RATE",
			  "False alarms in an hour of a healthy job, at most (0.001)"},
	[OPTION_JSON] = {"json", NULL, "Answer in JSON; watch: a line for each event"},
	[OPTION_KILL] = {"kill", NULL, "End a job that hangs, by its launcher"},
	[OPTION_MAX_WAIT] = {"max-wait", "TIME",
			     "How long a job may stand still that has no history to tell (5min)"},
	[OPTION_ON_HANG] = {"on-hang", "COMMAND",
			    "Run a shell command at a hang, PDB_HANG_... in its environment"},
	[OPTION_ON_HANG_TIME] = {"on-hang-time", "TIME", "How long that may take (60s)"},
	[OPTION_REPORT] = {"report", "FILE",
			   "Write down what pdb has to say of a hang, as a page if FILE ends in "
			   ".html, else as text"},
	[OPTION_SAVE] = {"save", "FILE",
			 "Save a snapshot of a hang, or of traces at the end, for pdb --load"},
	[NUM_OPTIONS] = {NULL, NULL, NULL},
};

void watch_options_init(struct watch_options *options)
{
	*options = (struct watch_options){
		.alpha = 0.001,
		.max_wait_s = 300,
		.on_hang_s = 60,
	};
}

static int set_alpha(struct watch_options *options, const char *value, struct pdb_error *err)
{
	char *end;
	double alpha;

	errno = 0;
	alpha = strtod(value, &end);
	if (end == value || *end || errno || !(alpha >= 1e-12 && alpha <= 0.5))
		return error_set(err, ERROR_USAGE,
				 "--alpha is a number from 1e-12 to 0.5, not \"%s\"", value);
	options->alpha = alpha;
	return 0;
}

/* "90", "90s", "5min", "1.5h" */
static int set_time(double *ret, const char *name, const char *value, struct pdb_error *err)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}};
	double time, seconds = -1;
	char *end;

	errno = 0;
	time = strtod(value, &end);
	for (size_t i = 0; end != value && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0)
			seconds = time * units[i].seconds;
	if (errno || !(seconds >= 1 && seconds <= 1e7))
		return error_set(err, ERROR_USAGE,
				 "--%s is a time of a second or more, as 90s, 5min or 1h, not "
				 "\"%s\"",
				 name, value);
	*ret = seconds;
	return 0;
}

static int set_file(const char **ret, const char *name, const char *value, struct pdb_error *err)
{
	if (!*value)
		return error_set(err, ERROR_USAGE, "--%s needs the name of a file", name);
	*ret = value;
	return 0;
}

int watch_options_set(struct watch_options *options, size_t index, const char *value,
		      struct pdb_error *err)
{
	switch (index) {
	case OPTION_ALPHA:
		return set_alpha(options, value, err);
	case OPTION_JSON:
		options->wants_json = true;
		return 0;
	case OPTION_KILL:
		options->wants_kill = true;
		return 0;
	case OPTION_MAX_WAIT:
		return set_time(&options->max_wait_s, "max-wait", value, err);
	case OPTION_ON_HANG:
		options->on_hang = value;
		return 0;
	case OPTION_ON_HANG_TIME:
		return set_time(&options->on_hang_s, "on-hang-time", value, err);
	case OPTION_REPORT:
		return set_file(&options->report, "report", value, err);
	default:
		return set_file(&options->save, "save", value, err);
	}
}

/* ---- Words ---- */

static int find_option(const char *name, size_t length, size_t *ret, struct pdb_error *err)
{
	size_t matches = 0;

	for (size_t i = 0; i < NUM_OPTIONS; i++) {
		if (strncmp(watch_option_table[i].name, name, length) != 0)
			continue;
		*ret = i;
		matches++;
		if (strlen(watch_option_table[i].name) == length)
			return 0;
	}
	if (matches == 1 && length > 0)
		return 0;
	return error_set(err, ERROR_USAGE, "watch has no option \"--%.*s\"; try \"help watch\"",
			 (int)length, name);
}

int watch_options_take(struct watch_options *options, const struct args *args,
		       struct pdb_error *err)
{
	for (size_t i = 0; i < args->num_words; i++) {
		const char *word = args->words[i], *name = word + 2, *value = NULL;
		size_t index = 0, length;

		if (strncmp(word, "--", 2) != 0)
			return error_set(err, ERROR_USAGE,
					 "\"%s\" is no option of watch; they begin with --", word);
		length = strcspn(name, "=");
		if (find_option(name, length, &index, err) < 0)
			return -1;
		if (name[length] == '=')
			value = name + length + 1;
		else if (watch_option_table[index].value && i + 1 < args->num_words)
			value = args->words[++i];
		if (!value != !watch_option_table[index].value)
			return error_set(
				err, ERROR_USAGE, "--%s takes %s", watch_option_table[index].name,
				watch_option_table[index].value ? watch_option_table[index].value
								: "no value");
		if (watch_options_set(options, index, value, err) < 0)
			return -1;
	}
	return 0;
}
