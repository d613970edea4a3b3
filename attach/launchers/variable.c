/* SPDX-License-Identifier: BSD-3-Clause
 * Variables in a launcher's memory. */

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/process/memory.h"

bool launcher_find_variable(const struct launcher_info *launcher, const struct maps *maps,
			    const char *name, uint64_t *address_ret)
{
	for (size_t i = 0; i < maps->num_objects; i++) {
		const struct maps_object *object = &maps->objects[i];

		if (object->has_code && object->path[0] == '/' &&
		    !elf_symbol_find(launcher->pid, object, name, address_ret, NULL))
			return true;
	}
	return false;
}

void launcher_kind_version(const struct launcher_look *look, const char *library,
			   const char *symbol, char *buffer, size_t size)
{
	const struct maps_object *object = maps_find_object(look->maps, library);
	uint64_t address;

	if (!object || elf_symbol_find(look->pid, object, symbol, &address, NULL) ||
	    memory_read_string(look->pid, address, buffer, size) < 0)
		buffer[0] = '\0';
	/* Untrusted and shown to people: digits and what versions have between them. */
	buffer[strspn(buffer, "0123456789.abcdefghijklmnopqrstuvwxyz-")] = '\0';
}
