/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "shell/options/settings.h"
#include "shell/options/suggest.h"

const struct setting setting_table[NUM_SETTINGS] = {
	[SETTING_COLOR] = {.name = "color",
			   .type = SETTING_CHOICE,
			   .choices = {"off", "on", "auto", NULL},
			   .initial = SWITCH_AUTO,
			   .text = "Colours in output; auto: on terminals."},
	[SETTING_CONFIRM] = {.name = "confirm",
			     .type = SETTING_CHOICE,
			     .choices = {"off", "on", NULL},
			     .initial = SWITCH_ON,
			     .text = "Ask before overwriting files and ending jobs."},
	[SETTING_EVIDENCE] =
		{.name = "evidence",
		 .type = SETTING_CHOICE,
		 .choices = {"auto", "all", NULL},
		 .initial = EVIDENCE_AUTO,
		 .text = "all: also what a look without the recorder would see, in a second more."},
	[SETTING_FOLD] = {.name = "fold",
			  .type = SETTING_CHOICE,
			  .choices = {"off", "on", NULL},
			  .initial = SWITCH_ON,
			  .text = "Cut back traces below the first frame of the MPI library."},
	[SETTING_FRAMES] = {.name = "frames",
			    .type = SETTING_CHOICE,
			    .choices = {"function", "line", "address", NULL},
			    .initial = 1,
			    .text = "What makes two frames of stacks the same."},
	[SETTING_LOOK] = {.name = "look",
			  .type = SETTING_NUMBER,
			  .minimum = 1,
			  .maximum = 60000,
			  .initial = 100,
			  .text = "Milliseconds a look takes; 1000 at least without a recorder."},
	[SETTING_PAGER] = {.name = "pager",
			   .type = SETTING_CHOICE,
			   .choices = {"off", "on", NULL},
			   .initial = SWITCH_ON,
			   .text = "Show what is longer than the terminal by pages, or by $PAGER."},
	[SETTING_SAMPLES] =
		{.name = "samples",
		 .type = SETTING_NUMBER,
		 .minimum = 0,
		 .maximum = 65536,
		 .initial = 256,
		 .text = "How many ranks at most are stack-sampled at each refresh, on each host."},
	[SETTING_STALE] = {.name = "stale",
			   .type = SETTING_NUMBER,
			   .minimum = 1,
			   .maximum = 86400,
			   .initial = 5,
			   .text = "Seconds after which answers tell the age of the snapshot."},
	[SETTING_THREADS] = {.name = "threads",
			     .type = SETTING_CHOICE,
			     .choices = {"off", "on", NULL},
			     .initial = SWITCH_OFF,
			     .text = "Back traces of all threads, not only the main ones."},
	[SETTING_UNICODE] = {.name = "unicode",
			     .type = SETTING_CHOICE,
			     .choices = {"off", "on", "auto", NULL},
			     .initial = SWITCH_AUTO,
			     .text = "Lines and arrows in UTF-8; auto: as the locale says."},
	[SETTING_WIDTH] = {.name = "width",
			   .type = SETTING_NUMBER,
			   .minimum = 0,
			   .maximum = 10000,
			   .initial = 0,
			   .text = "Columns of output, at least 40; 0: the terminal's, or 80."},
};

void settings_init(struct settings *settings)
{
	for (int i = 0; i < NUM_SETTINGS; i++)
		settings->values[i] = setting_table[i].initial;
}

/* Find `word` among `num` names by unique prefix: its index, or -1 and a message that lists them.
 */
static int find_prefix(const char *const *names, size_t num, const char *what, const char *word,
		       struct pdb_error *err)
{
	char candidates[256] = "", all[256] = "";
	const char *nearest;
	size_t length = strlen(word), matches = 0;
	int found = -1;

	for (size_t i = 0; i < num; i++) {
		if (strcmp(names[i], word) == 0)
			return i;
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 names[i]);
		if (!length || strncmp(names[i], word, length) != 0)
			continue;
		snprintf(candidates + strlen(candidates), sizeof(candidates) - strlen(candidates),
			 "%s%s", matches ? ", " : "", names[i]);
		matches++;
		found = i;
	}
	if (matches == 1)
		return found;
	if (matches)
		return error_set(err, ERROR_USAGE, "%s \"%s\" is ambiguous: %s", what, word,
				 candidates);
	nearest = suggest_nearest(word, names, num);
	if (nearest)
		return error_set(err, ERROR_USAGE, "no %s \"%s\"; did you mean \"%s\"?", what, word,
				 nearest);
	return error_set(err, ERROR_USAGE, "%s \"%s\" is not one of: %s", what, word, all);
}

int settings_find(const char *name, enum setting_id *ret, struct pdb_error *err)
{
	const char *names[NUM_SETTINGS];
	int found;

	for (int i = 0; i < NUM_SETTINGS; i++)
		names[i] = setting_table[i].name;
	found = find_prefix(names, NUM_SETTINGS, "setting", name, err);
	if (found < 0)
		return -1;
	*ret = found;
	return 0;
}

static int set_choice(struct settings *settings, enum setting_id id, const char *value,
		      struct pdb_error *err)
{
	const struct setting *setting = &setting_table[id];
	size_t num = 0;
	int found;

	while (setting->choices[num])
		num++;
	found = find_prefix(setting->choices, num, setting->name, value, err);
	if (found < 0)
		return -1;
	settings->values[id] = found;
	return 0;
}

int settings_set(struct settings *settings, enum setting_id id, const char *value,
		 struct pdb_error *err)
{
	const struct setting *setting = &setting_table[id];
	char *end;
	long number;

	if (setting->type == SETTING_CHOICE)
		return set_choice(settings, id, value, err);
	errno = 0;
	number = strtol(value, &end, 10);
	if (!*value || *end || errno || number < setting->minimum || number > setting->maximum)
		return error_set(err, ERROR_USAGE, "%s is a number from %d to %d, not \"%s\"",
				 setting->name, setting->minimum, setting->maximum, value);
	settings->values[id] = number;
	return 0;
}

char *settings_text(const struct settings *settings, enum setting_id id, char *buffer, size_t size)
{
	const struct setting *setting = &setting_table[id];

	if (setting->type == SETTING_CHOICE)
		snprintf(buffer, size, "%s", setting->choices[settings->values[id]]);
	else
		snprintf(buffer, size, "%d", settings->values[id]);
	return buffer;
}
