/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/trace_filter.h"

#include <stdlib.h>
#include <string.h>

#include "model/segment/segment.h"

static void take_word(struct trace_filter *filter, char *word)
{
	struct trace_pattern pattern = {.text = word};
	char *end;

	if (strcmp(word, "mpi") == 0) {
		filter->mpi_only = true;
	} else if (strcmp(word, "comm") == 0) {
		filter->communication_only = true;
	} else if (strncmp(word, "depth=", 6) == 0) {
		unsigned long depth = strtoul(word + 6, &end, 10);
		if (end != word + 6 && *end == '\0' && depth < INT_MAX)
			filter->max_depth = (int)depth;
	} else if (*word && filter->num_patterns < TRACE_FILTER_PATTERNS) {
		pattern.is_against = *pattern.text == '!';
		pattern.text += pattern.is_against;
		pattern.is_library = strncmp(pattern.text, "lib=", 4) == 0;
		pattern.text += pattern.is_library ? 4 : 0;
		filter->patterns[filter->num_patterns++] = pattern;
	}
}

void trace_filter_parse(struct trace_filter *filter, const char *text)
{
	char *next;

	*filter = (struct trace_filter){.max_depth = INT_MAX};
	if (!text || strlen(text) >= sizeof(filter->text))
		return;
	strcpy(filter->text, text);
	for (char *word = filter->text; word; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		take_word(filter, word);
	}
}

static bool fits(const char *pattern, const char *name)
{
	const char *star = NULL, *mark = NULL; /* after the last *; where what it stands for ends */

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			mark = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++mark;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* By the patterns of names, or those of libraries. */
static bool is_wanted(const struct trace_filter *filter, const char *name, bool is_library)
{
	bool is_for = false, has_for = false;

	for (unsigned i = 0; i < filter->num_patterns; i++) {
		const struct trace_pattern *pattern = &filter->patterns[i];
		if (pattern->is_library != is_library)
			continue;
		bool is_it = name && fits(pattern->text, name);
		if (pattern->is_against && is_it)
			return false;
		has_for |= !pattern->is_against;
		is_for |= is_it;
	}
	return is_for || !has_for;
}

bool trace_filter_has_call(const struct trace_filter *filter, const char *name, uint16_t class_id)
{
	if (filter->communication_only &&
	    (class_id == SEG_CLASS_OTHER || class_id == SEG_CLASS_INIT ||
	     class_id == SEG_CLASS_FILE))
		return false;
	return is_wanted(filter, name, false);
}

bool trace_filter_has_function(const struct trace_filter *filter, const char *name,
			       const char *library)
{
	const char *base = strrchr(library, '/');

	return !filter->mpi_only && is_wanted(filter, base ? base + 1 : library, true) &&
	       is_wanted(filter, name, false);
}

bool trace_filter_needs_names(const struct trace_filter *filter)
{
	for (unsigned i = 0; i < filter->num_patterns; i++)
		if (!filter->patterns[i].is_library)
			return true;
	return false;
}
