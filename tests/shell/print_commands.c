/* SPDX-License-Identifier: BSD-3-Clause
 * Print docs/commands.md from the command and settings tables. */
#include <stdio.h>

#include "shell/command.h"
#include "shell/settings.h"

static void print_command(const struct command *command)
{
	printf("### %s\n\n%s\n\n    %s\n\n%s\n\n", command->name, command->summary, command->usage,
	       command->text);
	if (command->alias)
		printf("Also: `%s`\n\n", command->alias);
	for (size_t i = 0; command->family && command->family[i]; i++)
		printf("- `%s`: %s\n", command->family[i]->usage, command->family[i]->summary);
	if (command->family)
		putchar('\n');
	printf("Example: `%s`\n\n", command->example);
}

static void print_settings(void)
{
	struct settings settings;
	char text[32];

	settings_init(&settings);
	printf("## Settings\n\n| setting | at first | what it does |\n|---|---|---|\n");
	for (int i = 0; i < NUM_SETTINGS; i++)
		printf("| `%s` | %s | %s |\n", setting_table[i].name,
		       settings_text(&settings, i, text, sizeof(text)), setting_table[i].text);
}

int main(void)
{
	printf("# Commands\n\n"
	       "Made from the command table by `make docs/commands.md`; `help` shows the same.\n"
	       "Commands and settings may be shortened as long as they are unique.\n\n");
	for (int topic = 0; topic < NUM_TOPICS; topic++) {
		printf("## %s\n\n", command_topics[topic]);
		for (size_t i = 0; command_table[i]; i++)
			if ((int)command_table[i]->topic == topic)
				print_command(command_table[i]);
	}
	print_settings();
	return 0;
}
