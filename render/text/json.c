/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "model/job/rankset.h"
#include "render/text/json.h"
#include "render/text/text.h"
#include "render/text/utf8.h"
#include "render/view.h"

/* wide enough to cut no line */
enum { UNLIMITED_WIDTH = 1 << 20 };

/* ---- Text ---- */

/* A character by its number; beyond the first 65,536 it takes a pair. */
static void quote_code(FILE *out, uint32_t code)
{
	if (code >= 0x10000) {
		fprintf(out, "\\u%04x", 0xd800 + ((code - 0x10000) >> 10));
		code = 0xdc00 + (code & 0x3ff);
	}
	fprintf(out, "\\u%04x", code);
}

void json_quote(FILE *out, const char *text)
{
	fputc('"', out);
	for (const char *at = text; *at;) {
		uint32_t code;
		size_t size = utf8_next(at, &code);

		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at == '\n')
			fputs("\\n", out);
		else if (*at == '\t')
			fputs("\\t", out);
		else if (utf8_is_printable(code))
			fwrite(at, 1, size, out);
		else
			quote_code(out, code == UTF8_BROKEN ? 0xfffd : code);
		at += size;
	}
	fputc('"', out);
}

/* ---- Values ---- */

/* Write the comma and key before a value. */
static void begin(struct json *json, const char *key)
{
	if (json->needs_comma)
		fputs(", ", json->out);
	json->needs_comma = true;
	if (!key)
		return;
	json_quote(json->out, key);
	fputs(": ", json->out);
}

static void open_bracket(struct json *json, const char *key, char bracket)
{
	begin(json, key);
	fputc(bracket, json->out);
	json->needs_comma = false;
}

static void close_bracket(struct json *json, char bracket)
{
	fputc(bracket, json->out);
	json->needs_comma = true;
}

void json_object(struct json *json, const char *key)
{
	open_bracket(json, key, '{');
}

void json_end_object(struct json *json)
{
	close_bracket(json, '}');
}

void json_array(struct json *json, const char *key)
{
	open_bracket(json, key, '[');
}

void json_end_array(struct json *json)
{
	close_bracket(json, ']');
}

bool json_next_object(struct json *json, size_t i, size_t num)
{
	if (i > 0)
		json_end_object(json);
	if (i < num)
		json_object(json, NULL);
	else
		json_end_array(json);
	return i < num;
}

void json_raw(struct json *json, const char *key, const char *value)
{
	begin(json, key);
	fputs(value, json->out);
}

void json_null(struct json *json, const char *key)
{
	json_raw(json, key, "null");
}

void json_text(struct json *json, const char *key, const char *text)
{
	if (!text) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	json_quote(json->out, text);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_raw(json, key, value ? "true" : "false");
}

void json_int(struct json *json, const char *key, int64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
	begin(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_real(struct json *json, const char *key, double value)
{
	if (!isfinite(value)) {
		json_null(json, key);
		return;
	}
	begin(json, key);
	fprintf(json->out, "%.6g", value);
}

void json_fixed(struct json *json, const char *key, double value)
{
	begin(json, key);
	fprintf(json->out, "%.6f", value);
}

void json_seconds(struct json *json, const char *key, uint64_t ns)
{
	begin(json, key);
	fprintf(json->out, "%" PRIu64 ".%06" PRIu64, ns / 1000000000, ns % 1000000000 / 1000);
}

void json_ranks(struct json *json, const char *key, const struct rankset *ranks)
{
	char *text SCOPED(free) = ranks ? rankset_encode(ranks, 0) : NULL;

	json_text(json, key, text ? text : "");
}

void json_who(struct json *json, const struct rankset *ranks)
{
	json_int(json, "count", rankset_count(ranks));
	json_ranks(json, "ranks", ranks);
}

void json_number(struct json *json, const char *key, size_t index, size_t none)
{
	if (index == none)
		json_null(json, key);
	else
		json_count(json, key, index + 1);
}

void json_edge(struct json *json, size_t from, size_t to)
{
	json_object(json, NULL);
	json_count(json, "from", from + 1);
	json_count(json, "to", to + 1);
	json_end_object(json);
}

void json_lines(struct json *json, const char *key, const struct view *view,
		void (*print)(const struct view *view))
{
	struct view wide = *view;
	char *rest, *line;

	wide.width = UNLIMITED_WIDTH;
	wide.use_unicode = true;
	wide.use_color = false;
	json_array(json, key);
	rest = text_printed(&wide, print);
	while ((line = strsep(&rest, "\n")))
		if (rest)
			json_text(json, NULL, line);
	json_end_array(json);
}
