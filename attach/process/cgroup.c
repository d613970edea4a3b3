/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "attach/process/cgroup.h"
#include "attach/process/procfs.h"

#define MAX_PATH ((size_t)4096)

/* Is `word` among those of a list with commas? */
static bool has_word(const char *list, size_t length, const char *word)
{
	const char *end = list + length;

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		size_t size = (size_t)((comma ? comma : end) - list);

		if (size == strlen(word) && !memcmp(list, word, size))
			return true;
		list += size + 1;
	}
	return false;
}

char *cgroup_memory_path(const char *text, bool *is_v2_ret)
{
	const char *found = NULL, *line = text, *end;
	char *path;

	/* "4:memory:/slurm/job_7", "0::/system.slice/x" */
	for (; line && *line; line = end ? end + 1 : NULL) {
		const char *list = strchr(line, ':'), *colon = list ? strchr(list + 1, ':') : NULL;

		end = strchr(line, '\n');
		if (!colon || (end && colon > end))
			continue;
		if (has_word(list + 1, (size_t)(colon - list - 1), "memory")) {
			found = colon + 1;
			*is_v2_ret = false;
			break;
		}
		if (!strncmp(line, "0::", 3)) {
			found = colon + 1;
			*is_v2_ret = true;
		}
	}
	if (!found || *found != '/' || !strncmp(found, "/..", 3))
		return NULL;
	path = xstrndup(found, strnlen(found, MAX_PATH));
	path[strcspn(path, "\n")] = '\0';
	/* Of a cgroup that was removed. */
	end = strstr(path, " (deleted)");
	if (end && !end[strlen(" (deleted)")])
		path[end - path] = '\0';
	return path;
}

/* "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory": its root, its point,
 * and whether it is the mount of this version with the memory controller. */
static bool parse_mount(const char *line, size_t length, bool is_v2, char **root_ret,
			char **point_ret)
{
	char *copy = xstrndup(line, length), *save = NULL, *word, *words[5] = {NULL};
	const char *type, *options = NULL;
	bool is_wanted;

	word = strtok_r(copy, " ", &save);
	for (int i = 0; i < 5 && word; i++, word = strtok_r(NULL, " ", &save))
		words[i] = word;
	while (word && strcmp(word, "-") != 0)
		word = strtok_r(NULL, " ", &save);
	type = word ? strtok_r(NULL, " ", &save) : NULL;
	if (type && strtok_r(NULL, " ", &save))
		options = strtok_r(NULL, " ", &save);
	is_wanted = options && (is_v2 ? !strcmp(type, "cgroup2")
				      : !strcmp(type, "cgroup") &&
						has_word(options, strlen(options), "memory"));
	if (is_wanted) {
		*root_ret = xstrdup(words[3]);
		*point_ret = xstrdup(words[4]);
	}
	free(copy);
	return is_wanted;
}

/* The path below the mount's root; NULL: it is not. */
static const char *below_root(const char *path, const char *root)
{
	size_t length = strlen(root);

	if (!strcmp(root, "/"))
		return path;
	return strncmp(path, root, length) == 0 && (path[length] == '/' || !path[length])
		       ? path + length
		       : NULL;
}

char *cgroup_directory(const char *mounts, const char *path, bool is_v2)
{
	const char *line = mounts, *end;
	char *found = NULL;

	if (!strcmp(path, "/"))
		return NULL;
	for (; line && *line && !found; line = end ? end + 1 : NULL) {
		char *root, *point;
		const char *below;

		end = strchr(line, '\n');
		if (!parse_mount(line, end ? (size_t)(end - line) : strlen(line), is_v2, &root,
				 &point))
			continue;
		below = below_root(path, root);
		if (below)
			found = xasprintf("%s%s", point, below);
		free(root);
		free(point);
	}
	return found;
}

bool cgroup_parse_kills(const char *text, uint64_t *ret)
{
	unsigned long long kills;

	while (text && *text) {
		if (sscanf(text, "oom_kill %llu", &kills) == 1) {
			*ret = kills;
			return true;
		}
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return false;
}

/* Leave of `path` what leads to the other one, too: "/a/b" of "/a/b/c" and "/a/b/d". */
static void keep_common(char *path, const char *other)
{
	size_t same = 0, slash = 0;

	for (; path[same] && path[same] == other[same]; same++)
		if (path[same] == '/')
			slash = same;
	if ((!path[same] || path[same] == '/') && (!other[same] || other[same] == '/'))
		slash = same;
	path[slash ? slash : 1] = '\0';
}

static bool read_kills(const char *directory, bool is_v2, uint64_t *ret)
{
	char *name = xasprintf("%s/%s", directory, is_v2 ? "memory.events" : "memory.oom_control");
	FILE *file = fopen(name, "re");
	char text[1024];
	size_t size;

	free(name);
	if (!file)
		return false;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	return cgroup_parse_kills(text, ret);
}

/* Of all the processes; NULL: of one it is not known, or they are of both versions. */
static char *common_path(const pid_t *pids, size_t num, bool *is_v2_ret)
{
	char *common = NULL;

	for (size_t i = 0; i < num; i++) {
		char *text = procfs_read(pids[i], "cgroup", NULL), *path;
		bool is_v2 = false;

		path = text ? cgroup_memory_path(text, &is_v2) : NULL;
		free(text);
		if (!path || (common && is_v2 != *is_v2_ret)) {
			free(path);
			free(common);
			return NULL;
		}
		*is_v2_ret = is_v2;
		if (!common) {
			common = path;
			continue;
		}
		keep_common(common, path);
		free(path);
	}
	return common;
}

bool cgroup_oom_kills(const pid_t *pids, size_t num, uint64_t *ret)
{
	bool is_v2 = false, is_known;
	char *path = common_path(pids, num, &is_v2), *mounts, *directory;

	if (!path)
		return false;
	mounts = procfs_read(getpid(), "mountinfo", NULL);
	directory = mounts ? cgroup_directory(mounts, path, is_v2) : NULL;
	is_known = directory && read_kills(directory, is_v2, ret);
	free(directory);
	free(mounts);
	free(path);
	return is_known;
}
