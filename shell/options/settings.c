/* SPDX-License-Identifier: BSD-3-Clause */
#include "shell/options/settings.h"

#include <stdio.h>
#include <string.h>

static const struct option_table table = {setting_table, NUM_SETTINGS, "", NULL};

void settings_init(struct settings *settings)
{
	option_init(&table, settings);
}

int settings_find(const char *name, enum setting_id *ret, struct pdb_error *err)
{
	const struct option_spec *found = option_find(&table, 0, name, strlen(name), err);

	if (!found)
		return -1;
	*ret = (enum setting_id)(found - setting_table);
	return 0;
}

int settings_set(struct settings *settings, enum setting_id id, const char *value,
		 struct pdb_error *err)
{
	return option_set(&table, &setting_table[id], value, settings, err);
}

char *settings_text(const struct settings *settings, enum setting_id id, char *buffer, size_t size)
{
	const struct option_spec *setting = &setting_table[id];

	if (setting->kind == OPTION_CHOICE)
		snprintf(buffer, size, "%s", setting->choices[settings->values[id]]);
	else
		snprintf(buffer, size, "%d", settings->values[id]);
	return buffer;
}
