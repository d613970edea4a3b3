/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/regular_file.h"
#include "pmix/rendezvous.h"

/* PRRTE: TMPDIR/prterun.HOST.PID.UID/pmix.HOST.tool.PID; a site may put one directory between. */
#define SEARCH_DEPTH 3
/* A temporary directory can be a dumping ground; this many entries are read before giving up. */
#define SEARCH_ENTRIES 200000

/* Servers write to the first of these that is set, see prte_tmp_directory() and pmix_tmp_dir(). */
static const char *const tmpdirs[] = {"PMIX_SERVER_TMPDIR",
				      "PMIX_SYSTEM_TMPDIR",
				      "PRTE_MCA_prte_tmpdir_base",
				      "TMPDIR",
				      "TEMP",
				      "TMP"};

int rendezvous_parse(const char *text, struct rendezvous *ret, struct pdb_error *err)
{
	struct rendezvous found = {.pid = 0};
	char uri[512];
	unsigned int euid, egid;

	if (sscanf(text, "%511[^\n]\n%63[^\n]\n%d\n%u:%u\n", uri, found.version, &found.pid, &euid,
		   &egid) != 5)
		return error_set(err, ERROR_FORMAT, "not a PMIx rendezvous file");
	if (!strstr(uri, ";tcp") || found.pid <= 0)
		return error_set(err, ERROR_FORMAT, "no address in the PMIx rendezvous file");
	found.euid = euid;
	found.egid = egid;
	memcpy(found.path, ret->path, sizeof(found.path));
	*ret = found;
	return 0;
}

/* Is `name` "pmix.<anything>.tool.<pid>", and not that of a pid which only starts alike? */
static bool is_rendezvous_name(const char *name, pid_t pid)
{
	char suffix[32];
	size_t length = strlen(name);
	size_t suffix_length = snprintf(suffix, sizeof(suffix), ".tool.%d", pid);

	return strncmp(name, "pmix.", 5) == 0 && length > suffix_length + 5 &&
	       strcmp(name + length - suffix_length, suffix) == 0;
}

static bool read_rendezvous(int directory, const char *name, pid_t pid, uid_t euid,
			    struct rendezvous *ret)
{
	struct stat status;
	char text[1024];
	ssize_t length = -1;
	int fd = regular_file_open(directory, name, O_NOFOLLOW, &status);

	if (fd < 0)
		return false;
	if (status.st_uid == euid)
		length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (length <= 0)
		return false;
	text[length] = '\0';
	/* To connect to one left by an earlier server of this pid fails at once: nobody listens. */
	return rendezvous_parse(text, ret, NULL) == 0 && ret->pid == pid && ret->euid == euid;
}

/* Search the directory `fd`, which is closed, of which `path` is the name. */
static bool search(int fd, const char *path, pid_t pid, uid_t euid, int depth, int *entries_left,
		   struct rendezvous *ret)
{
	struct dirent *entry;
	bool found = false;
	DIR *directory = fdopendir(fd);

	if (!directory) {
		close(fd);
		return false;
	}
	while (!found && (entry = readdir(directory)) && (*entries_left)-- > 0) {
		if (is_rendezvous_name(entry->d_name, pid) &&
		    read_rendezvous(dirfd(directory), entry->d_name, pid, euid, ret)) {
			found = snprintf(ret->path, sizeof(ret->path), "%s/%s", path,
					 entry->d_name) < (int)sizeof(ret->path);
			continue;
		}
		if (depth <= 1 || entry->d_name[0] == '.' ||
		    (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		int child = openat(dirfd(directory), entry->d_name,
				   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (child < 0)
			continue;
		char *child_path = xasprintf("%s/%s", path, entry->d_name);
		found = search(child, child_path, pid, euid, depth - 1, entries_left, ret);
		free(child_path);
	}
	closedir(directory);
	return found;
}

int rendezvous_search(const char *directory, pid_t pid, uid_t euid, struct rendezvous *ret)
{
	struct rendezvous found = {.pid = 0};
	int entries_left = SEARCH_ENTRIES;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || !search(fd, directory, pid, euid, SEARCH_DEPTH, &entries_left, &found))
		return 1;
	*ret = found;
	return 0;
}

/* The value of `name` in the environment that process `pid` was started with, or NULL. */
static char *environment_of(pid_t pid, const char *name)
{
	char *path = xasprintf("/proc/%d/environ", pid);
	FILE *file = fopen(path, "re");
	char *line = NULL, *value = NULL;
	size_t size = 0, length = strlen(name);

	free(path);
	if (!file)
		return NULL;
	while (!value && getdelim(&line, &size, '\0', file) > 0)
		if (strncmp(line, name, length) == 0 && line[length] == '=')
			value = xstrdup(line + length + 1);
	free(line);
	fclose(file);
	return value;
}

/* Ranks and daemons are told where their server keeps its files. */
static pid_t first_child_of(pid_t pid)
{
	char *path = xasprintf("/proc/%d/task/%d/children", pid, pid);
	FILE *file = fopen(path, "re");
	pid_t child = 0;

	free(path);
	if (!file)
		return 0;
	if (fscanf(file, "%d", &child) != 1)
		child = 0;
	fclose(file);
	return child;
}

static bool search_variable(pid_t owner, const char *variable, pid_t pid, uid_t euid,
			    struct rendezvous *ret)
{
	char *directory = environment_of(owner, variable);
	bool found = directory && directory[0] == '/' &&
		     rendezvous_search(directory, pid, euid, ret) == 0;

	free(directory);
	return found;
}

/* By its folder. What the file says is the owner's word: a tool takes on this identity
 * (asker.c). */
static int owner_of(pid_t pid, struct rendezvous *ret, struct pdb_error *err)
{
	char *path = xasprintf("/proc/%d", pid);
	struct stat status;
	int result = stat(path, &status);

	free(path);
	if (result != 0)
		return error_set(err, ERROR_GONE, "process %d has ended", pid);
	ret->euid = status.st_uid;
	ret->egid = status.st_gid;
	return 0;
}

int rendezvous_find(pid_t pid, struct rendezvous *ret, struct pdb_error *err)
{
	pid_t owners[2] = {pid, first_child_of(pid)};
	struct rendezvous owner = {.pid = pid};
	bool found = false;

	if (owner_of(pid, &owner, err) != 0)
		return -1;
	if (geteuid() != 0 && geteuid() != owner.euid)
		return error_set(err, ERROR_PERMISSION,
				 "process %d belongs to user %u: run pdb as that user or as root",
				 pid, owner.euid);
	for (int i = 0; i < 2 && !found; i++)
		for (size_t v = 0;
		     owners[i] > 0 && v < sizeof(tmpdirs) / sizeof(*tmpdirs) && !found; v++)
			found = search_variable(owners[i], tmpdirs[v], pid, owner.euid, ret);
	if (found || rendezvous_search("/tmp", pid, owner.euid, ret) == 0) {
		ret->egid = owner.egid;
		return 0;
	}
	return error_set(err, ERROR_NOT_FOUND,
			 "process %d takes no tools (no pmix.*.tool.%d in its TMPDIR or in /tmp); "
			 "if it has just started, run pdb again in a few seconds",
			 pid, pid);
}
