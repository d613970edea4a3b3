/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/error.h"
#include "model/segment/segment.h"
#include "model/xalloc.h"
#include "shell/start/libdir.h"

static void cut_name(char *path)
{
	*strrchr(path, '/') = '\0';
}

/* The folder that the running program is in. */
static bool program_folder(char folder[static PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

	if (length <= 0)
		return false;
	folder[length] = '\0';
	cut_name(folder);
	return true;
}

/* The folder of the library that this code is in. Of a program the loader knows the name that it
 * was started by. */
static bool library_folder(char folder[static PATH_MAX])
{
	static const char own;
	Dl_info info;

	if (!dladdr(&own, &info) || !info.dli_fname || info.dli_fname[0] != '/' ||
	    !realpath(info.dli_fname, folder))
		return false;
	cut_name(folder);
	return true;
}

int libdir_find(const char *name, char **path_ret, struct pdb_error *err)
{
	const char *set = getenv(PDB_ENV_LIBDIR);
	char program[PATH_MAX], library[PATH_MAX];
	bool is_program = program_folder(program), is_library = library_folder(library);
	char *places[] = {
		set && *set ? xasprintf("%s/%s", set, name) : NULL,
		is_program ? xasprintf("%s/%s", program, name) : NULL,
		is_program ? xasprintf("%s/../lib/pdb/%s", program, name) : NULL,
		is_library ? xasprintf("%s/pdb/%s", library, name) : NULL,
		is_library ? xasprintf("%s/../pdb/%s", library, name) : NULL,
		is_library ? xasprintf("%s/../lib/pdb/%s", library, name) : NULL,
		is_library ? xasprintf("%s/../%s", library, name) : NULL,
		xasprintf("%s/%s", PDB_LIBDIR_DEFAULT, name),
	};
	char *found = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!found && places[i] && access(places[i], R_OK) == 0)
			found = realpath(places[i], NULL);
		free(places[i]);
	}
	if (!found)
		return error_set(err, ERROR_NOT_FOUND,
				 "%s is neither beside pdb nor in %s; set %s to where it is", name,
				 PDB_LIBDIR_DEFAULT, PDB_ENV_LIBDIR);
	*path_ret = found;
	return 0;
}
