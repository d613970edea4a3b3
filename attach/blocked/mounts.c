/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/blocked/mounts.h"

#define MAX_PATH ((size_t)4096)
#define MAX_TYPE ((size_t)64)
#define NUM_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool is_octal(const char *text)
{
	return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' &&
	       text[2] >= '0' && text[2] <= '7';
}

/* The kernel writes blanks, tabs, newlines and backslashes as \040. */
static char *unescape(const char *from, size_t length)
{
	char *result = xmalloc(length + 1), *to = result;
	const char *end = from + length;

	while (from < end) {
		if (*from == '\\' && end - from >= 4 && is_octal(from + 1)) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return result;
}

/* The next word of the line, NULL: there is none. Moves *at behind it. */
static const char *next_word(const char **at, size_t *length_ret)
{
	const char *word = *at + strspn(*at, " ");

	*length_ret = strcspn(word, " \n");
	*at = word + *length_ret;
	return *length_ret ? word : NULL;
}

static char *take_word(const char **at, size_t most)
{
	size_t length;
	const char *word = next_word(at, &length);

	return word ? unescape(word, length < most ? length : most) : NULL;
}

/* Optional fields end with a lone "-". */
static bool skip_optional(const char **at)
{
	const char *word;
	size_t length;

	while ((word = next_word(at, &length)))
		if (length == 1 && *word == '-')
			return true;
	return false;
}

bool mount_parse(const char *line, struct mount *ret)
{
	int used = 0;
	const char *at;

	*ret = (struct mount){0};
	if (sscanf(line, "%d %*d %u:%u %*s %n", &ret->id, &ret->major, &ret->minor, &used) != 3 ||
	    !used)
		return false;
	at = line + used;
	ret->point = take_word(&at, MAX_PATH);
	if (skip_optional(&at)) {
		ret->type = take_word(&at, MAX_TYPE);
		ret->source = take_word(&at, MAX_PATH);
	}
	if (ret->point && ret->type && ret->source)
		return true;
	mount_clear(ret);
	return false;
}

void mount_clear(struct mount *mount)
{
	free(mount->point);
	free(mount->type);
	free(mount->source);
	*mount = (struct mount){0};
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

bool mounts_find_id(const char *text, int id, struct mount *ret)
{
	for (; *text; text = next_line(text)) {
		if (strtol(text, NULL, 10) != id)
			continue;
		return mount_parse(text, ret);
	}
	*ret = (struct mount){0};
	return false;
}

/* Is the path at or below this mount point? */
static bool is_below(const char *path, const char *point)
{
	size_t length = strlen(point);

	if (length == 1 && *point == '/')
		return *path == '/';
	return !strncmp(path, point, length) && (path[length] == '/' || !path[length]);
}

/* Without taking the line apart: false if its mount point is no prefix of the path. */
static bool may_lead_to(const char *line, const char *path)
{
	const char *point = NULL;
	size_t length;

	for (int i = 0; i < 5; i++)
		point = next_word(&line, &length);
	return point && (memchr(point, '\\', length) || !strncmp(point, path, length));
}

bool mounts_find_path(const char *text, const char *path, struct mount *ret)
{
	struct mount mount;

	*ret = (struct mount){0};
	for (; *text; text = next_line(text)) {
		if (!may_lead_to(text, path) || !mount_parse(text, &mount))
			continue;
		if (is_below(path, mount.point) &&
		    (!ret->point || strlen(mount.point) >= strlen(ret->point))) {
			mount_clear(ret);
			*ret = mount;
		} else {
			mount_clear(&mount);
		}
	}
	return ret->point != NULL;
}

static bool is_one_of(const char *type, const char *const *types, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

bool mount_is_local(const struct mount *mount)
{
	static const char *const types[] = {"ext2",  "ext3",  "ext4",   "xfs",
					    "btrfs", "tmpfs", "overlay"};

	return mount->type && is_one_of(mount->type, types, NUM_OF(types));
}

static bool is_kernels(const struct mount *mount)
{
	static const char *const types[] = {"devtmpfs", "devpts", "proc",    "sysfs",
					    "mqueue",   "cgroup", "cgroup2", "rootfs"};

	return !mount->type || is_one_of(mount->type, types, NUM_OF(types));
}

char *mount_far_point(const struct mount *mount)
{
	return is_kernels(mount) || mount_is_local(mount) ? NULL : xstrdup(mount->point);
}

char *mount_place(const struct mount *mount)
{
	const char *source = mount->source;

	if (is_kernels(mount))
		return NULL;
	if (!*source || !strcmp(source, "none") || !strcmp(source, mount->type))
		return xasprintf("%s, mounted at %s", mount->type, mount->point);
	return xasprintf("%s, %s, mounted at %s", mount->type, source, mount->point);
}
