/* SPDX-License-Identifier: BSD-3-Clause
 * Separate from command.c, which would pull all commands into the library. */
#include "shell/command.h"

static bool is_word(const char *name, const char *word, size_t length)
{
	return strlen(name) == length && memcmp(name, word, length) == 0;
}

bool command_is_called(const struct command *command, const char *word, size_t length)
{
	bool is_found = is_word(command->name, word, length);

	for (const char *const *alias = command->aliases; *alias; alias++)
		is_found |= is_word(*alias, word, length);
	return is_found;
}
