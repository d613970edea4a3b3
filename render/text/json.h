/* SPDX-License-Identifier: BSD-3-Clause
 * A writer of JSON, one value after the other, without line breaks. `key` is the member's name;
 * NULL in arrays and for the outermost value. Text may come from other people's programs. Quotes,
 * backslashes and control characters are escaped, and bytes that are not UTF-8 become U+FFFD, so
 * the output is always valid. docs/json.md explains the members. */
#pragma once

#include "model/base.h"

struct view;

struct json {
	FILE *out;
	bool needs_comma; /* before the next value */
};

void json_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_array(struct json *json, const char *key);
void json_end_array(struct json *json);

void json_text(struct json *json, const char *key, const char *text); /* NULL: null */
void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_int(struct json *json, const char *key, int64_t value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_real(struct json *json, const char *key, double value);  /* null if it is not finite */
void json_fixed(struct json *json, const char *key, double value); /* with six places */
void json_seconds(struct json *json, const char *key, uint64_t ns);
/* Loop: an array of `num` objects. Its body writes the members of object `i`, and reaches its
 * end. */
#define JSON_OBJECTS(json, key, i, num)                                                            \
	for (size_t i = (json_array((json), (key)), 0); json_next_object((json), (i), (num)); i++)
/* For JSON_OBJECTS(). */
bool json_next_object(struct json *json, size_t i, size_t num);
/* All ranks of the set as "0-2,8"; NULL is the empty set. */
void json_ranks(struct json *json, const char *key, const struct rankset *ranks);
/* Write the members "count" and "ranks" of the open object. */
void json_who(struct json *json, const struct rankset *ranks);
/* Write an index as the number that people see, from 1; null if it is `none`. */
void json_number(struct json *json, const char *key, size_t index, size_t none);
/* Write an object with the numbers "from" and "to" of these indexes. */
void json_edge(struct json *json, size_t from, size_t to);
void json_raw(struct json *json, const char *key, const char *value); /* `value` is JSON */
/* The lines that a view prints, as an array of text; lines may have any length. */
void json_lines(struct json *json, const char *key, const struct view *view,
		void (*print)(const struct view *view));
/* Write text as a JSON string. */
void json_quote(FILE *out, const char *text);
