/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>

#include "model/error.h"
#include "model/xalloc.h"
#include "shell/script/safe_paths.h"

int safe_paths_add(struct safe_paths *safe, const char *directory, struct pdb_error *err)
{
	const char *home = getenv("HOME");
	char *name = directory[0] == '~' && (!directory[1] || directory[1] == '/') && home
			     ? xasprintf("%s%s", home, directory + 1)
			     : xstrdup(directory);
	char *path = realpath(name, NULL);
	struct stat status;

	free(name);
	if (!path || stat(path, &status) < 0) {
		free(path);
		return error_errno(err, "safe-path %s", directory);
	}
	if (!S_ISDIR(status.st_mode)) {
		free(path);
		return error_set(err, ERROR_USAGE, "safe-path: %s is no directory", directory);
	}
	*XPUSH(safe->paths, safe->num, safe->capacity) = path;
	return 0;
}

bool safe_paths_contain(const struct safe_paths *safe, const char *directory)
{
	for (size_t i = 0; i < safe->num; i++) {
		size_t length = strlen(safe->paths[i]);

		if (length == 1) /* the root */
			return true;
		if (strncmp(directory, safe->paths[i], length) == 0 &&
		    (!directory[length] || directory[length] == '/'))
			return true;
	}
	return false;
}

void safe_paths_clear(struct safe_paths *safe)
{
	for (size_t i = 0; i < safe->num; i++)
		free(safe->paths[i]);
	free(safe->paths);
	*safe = (struct safe_paths){0};
}
