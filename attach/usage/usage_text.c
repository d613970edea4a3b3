/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/usage/usage_text.h"
#include "model/job/rankset.h"
#include "model/job/usage.h"

bool usage_text_schedstat(const char *text, uint64_t *ran_ns_ret, uint64_t *queued_ns_ret)
{
	return sscanf(text, "%" SCNu64 " %" SCNu64, ran_ns_ret, queued_ns_ret) == 2;
}

/* Behind `key` at the beginning of a line; NULL: there is none. */
static const char *value_of(const char *text, const char *key)
{
	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, key, strlen(key)) == 0)
			return text + strlen(key);
	}
	return NULL;
}

uint64_t usage_text_number(const char *text, const char *key)
{
	const char *value = value_of(text, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

struct rankset *usage_text_list(const char *text, int most)
{
	size_t length = strcspn(text, "\n");
	char *list = strndup(text, length);
	struct rankset *set = NULL;

	if (!list || !length || rankset_decode(list, most, &set, NULL) < 0)
		set = rankset_create();
	free(list);
	return set;
}

struct rankset *usage_text_allowed(const char *status)
{
	const char *value = value_of(status, "Cpus_allowed_list:\t");

	return usage_text_list(value ? value : "", USAGE_MAX_PROCESSORS);
}

void usage_text_stat(const char *text, uint64_t *steal_ticks_ret, uint32_t *num_processors_ret)
{
	const char *all = value_of(text, "cpu ");
	uint64_t steal = 0;

	*num_processors_ret = 0;
	if (!all || sscanf(all, "%*u %*u %*u %*u %*u %*u %*u %" SCNu64, &steal) != 1)
		steal = 0;
	*steal_ticks_ret = steal;
	for (const char *at = value_of(text, "cpu"); at; at = value_of(at, "cpu"))
		*num_processors_ret += *at >= '0' && *at <= '9';
}

/* "4:cpu,cpuacct:/job/step": is `cpu` among the names? */
static bool is_for_processors(const char *names, size_t length)
{
	for (const char *at = names; at < names + length;) {
		size_t size = strcspn(at, ",:");

		if (size == 3 && strncmp(at, "cpu", 3) == 0)
			return true;
		at += size + 1;
	}
	return false;
}

bool usage_text_group(const char *text, bool is_v1, char *path, size_t size)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *names, *end;

		line += *line == '\n';
		names = strchr(line, ':');
		end = names ? strchr(names + 1, ':') : NULL;
		if (!end || memchr(line, '\n', (size_t)(end - line)))
			continue;
		names++;
		if (is_v1 ? is_for_processors(names, (size_t)(end - names)) : names == end)
			return snprintf(path, size, "%.*s", (int)strcspn(end + 1, "\n"), end + 1) <
			       (int)size;
	}
	return false;
}

uint64_t usage_text_cpu_max(const char *text)
{
	uint64_t quota, period;

	if (sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) != 2 || !period ||
	    quota > UINT64_MAX / 100)
		return 0;
	return quota * 100 / period;
}
