/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shell/script/safe_paths.h"
#include "shell/script/script.h"
#include "shell/session.h"

#define FILE_NAME ".pdbrc"

/* Open without waiting: the file may be a pipe. */
static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static int check_owner(const char *path, const struct stat *status, struct pdb_error *err)
{
	if (status->st_uid != geteuid() && status->st_uid != 0)
		return error_set(err, ERROR_PERMISSION,
				 "%s belongs to another user, so pdb does not run it", path);
	if (status->st_mode & (S_IWGRP | S_IWOTH))
		return error_set(
			err, ERROR_PERMISSION,
			"%s can be written by others, so pdb does not run it. Type: chmod go-w %s",
			path, path);
	return 0;
}

/* Check the open file: its name may be another file's a moment later. */
static int run_file(struct session *session, int fd, const char *path, struct pdb_error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_errno(err, "cannot read %s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(err, ERROR_PERMISSION,
				 "%s is no regular file, so pdb does not run it", path);
	if (check_owner(path, &status, err) < 0)
		return -1;
	return script_run_open(session, fd, path, err);
}

static int run_user_file(struct session *session, struct pdb_error *err)
{
	const char *home = getenv("HOME"), *config = getenv("XDG_CONFIG_HOME");
	char *paths[2];
	int result = 0;
	int fd = -1;

	if (!home || !*home)
		return 0;
	paths[0] = config && *config == '/' ? xasprintf("%s/pdb/pdbrc", config)
					    : xasprintf("%s/.config/pdb/pdbrc", home);
	paths[1] = xasprintf("%s/" FILE_NAME, home);
	for (size_t i = 0; i < 2 && fd < 0; i++) {
		fd = open_file(paths[i]);
		if (fd >= 0)
			result = run_file(session, fd, paths[i], err);
	}
	if (fd >= 0)
		close(fd);
	free(paths[0]);
	free(paths[1]);
	return result;
}

static bool is_home(const char *directory)
{
	const char *home = getenv("HOME");
	char *path SCOPED(free) = home ? realpath(home, NULL) : NULL;
	bool is_same = path && strcmp(path, directory) == 0;

	return is_same;
}

static int check_directory(const struct session *session, const char *directory,
			   struct pdb_error *err)
{
	struct stat status;

	if (stat(directory, &status) < 0)
		return error_errno(err, "cannot read %s", directory);
	if (check_owner(directory, &status, err) < 0)
		return error_prefix(err, FILE_NAME);
	if (!safe_paths_contain(&session->safe_paths, directory))
		return error_set(err, ERROR_PERMISSION,
				 "%s/" FILE_NAME " is not run. If you trust it, put this line into "
				 "~/.config/pdb/pdbrc:\nsafe-path %s",
				 directory, directory);
	return 0;
}

static int run_project_file(struct session *session, struct pdb_error *err)
{
	int fd = open_file(FILE_NAME);
	char *directory SCOPED(free) = fd >= 0 ? realpath(".", NULL) : NULL;
	int result = 0;

	/* The file in the home directory is the user's. */
	if (directory && !is_home(directory)) {
		result = check_directory(session, directory, err);
		if (!result)
			result = run_file(session, fd, FILE_NAME, err);
	}
	if (fd >= 0)
		close(fd);
	return result;
}

void startup_run(struct session *session)
{
	struct pdb_error err;

	if (run_user_file(session, &err) < 0)
		session_complain(&err);
	if (!session->wants_quit && run_project_file(session, &err) < 0)
		session_complain(&err);
}
