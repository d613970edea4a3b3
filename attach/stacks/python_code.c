/* SPDX-License-Identifier: BSD-3-Clause
 * Names of Python code: from code objects, read while the process runs on. A function that is being
 * run has a code object that stays; what is read is checked all the same. */

#include <uthash.h>

#include "attach/stacks/python_private.h"
#include "model/hash.h"
#include "model/job/modules.h"

#define MAX_NAME 1024
#define MAX_TABLE (1 << 20)
#define MAX_CODES 65536
#define MAX_CODE_BYTES ((size_t)16 << 20)

struct python_code {
	uint64_t address;
	/* As it was when it was read, to be known again. */
	uint64_t file_object, name_object, table_object;
	int first_line;
	char *file, *function;
	uint8_t *table; /* of locations */
	size_t table_size;
	UT_hash_handle hh;
};

struct cursor {
	const uint8_t *at, *end;
};

/* Six bits in each byte, the lowest first; 0x40: more follow. No line is beyond 36 bits. */
static uint64_t take_number(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; cursor->at < cursor->end && shift < 36; shift += 6) {
		uint8_t byte = *cursor->at++;

		value |= (uint64_t)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return value;
}

static int64_t take_signed(struct cursor *cursor)
{
	uint64_t value = take_number(cursor);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum { LOCATION_ONE_LINE = 10, LOCATION_NO_COLUMNS = 13, LOCATION_LONG = 14, LOCATION_NONE = 15 };

int python_line(const uint8_t *table, size_t size, int first_line, int64_t unit)
{
	struct cursor cursor = {table, table + size};
	int64_t line = first_line, at = 0;

	/* The first instruction has not begun yet. */
	if (unit < 0)
		return first_line;
	while (cursor.at < cursor.end) {
		uint8_t head = *cursor.at++;
		int kind = head >> 3 & 15;

		if (!(head & 128))
			return 0;
		if (kind == LOCATION_LONG || kind == LOCATION_NO_COLUMNS)
			line += take_signed(&cursor);
		else if (kind >= LOCATION_ONE_LINE && kind < LOCATION_NO_COLUMNS)
			line += kind - LOCATION_ONE_LINE;
		at += (head & 7) + 1;
		if (unit < at)
			return kind == LOCATION_NONE || line <= 0 || line > INT32_MAX ? 0
										      : (int)line;
		/* Columns: the first byte of an entry alone has its highest bit set. */
		while (cursor.at < cursor.end && !(*cursor.at & 128))
			cursor.at++;
	}
	return 0;
}

static bool read_at(const struct python *python, uint64_t address, void *buffer, size_t size)
{
	return !memory_get(&python->memory, address, buffer, size);
}

static size_t put_utf8(char *to, uint32_t c)
{
	static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};

	if (c < 0x20 || c > 0x10ffff)
		c = '?';
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	to[0] = (char)(heads[more] | c >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		to[i] = (char)(0x80 | (c >> 6 * (more - i) & 63));
	return more + 1;
}

/* From 1, 2 or 4 bytes a character. */
char *python_string(const struct python *python, uint64_t object, uint64_t most, bool *is_cut_ret)
{
	const struct python_offsets *offsets = &python->offsets;
	uint8_t bytes[4 * MAX_NAME];
	uint32_t state, kind;
	uint64_t length, data;
	size_t at = 0;

	if (!read_at(python, object + offsets->string.length, &length, sizeof(length)) ||
	    !read_at(python, object + offsets->string.state, &state, sizeof(state)))
		return NULL;
	kind = state >> 2 & 7;
	if (length > most && is_cut_ret) {
		*is_cut_ret = true;
		length = most;
	}
	if (length > most || length > MAX_NAME || (kind != 1 && kind != 2 && kind != 4) ||
	    !(state & 1 << 5))
		return NULL;
	data = object + (state & 1 << 6 ? offsets->string.ascii_size
					: offsets->string.ascii_size + (python->is_3_11 ? 24 : 16));
	if (!read_at(python, data, bytes, length * kind))
		return NULL;
	char *text = xmalloc(4 * length + 1);
	for (uint64_t i = 0; i < length; i++) {
		uint32_t c = 0;

		memcpy(&c, bytes + i * kind, kind); /* little endian */
		at += put_utf8(text + at, c);
	}
	text[at] = '\0';
	return text;
}

/* "solve.<locals>.step" is "solve.step". */
static void simplify(char *name)
{
	static const char locals[] = "<locals>.";
	char *at = name;

	while ((at = strstr(at, locals)))
		memmove(at, at + sizeof(locals) - 1, strlen(at + sizeof(locals) - 1) + 1);
}

static void destroy_code(struct python_code *code)
{
	free(code->file);
	free(code->function);
	free(code->table);
	free(code);
}

void python_forget_codes(struct python *python)
{
	struct python_code *code, *next;

	HASH_ITER(hh, python->codes, code, next)
	{
		HASH_DEL(python->codes, code);
		destroy_code(code);
	}
	python->code_bytes = 0;
}

static bool read_identity(const struct python *python, struct python_code *code)
{
	const struct python_offsets *offsets = &python->offsets;
	uint64_t at = code->address, type;
	int32_t line;

	if (!read_at(python, at + offsets->object.type, &type, 8) || type != python->code_type ||
	    !read_at(python, at + offsets->code.filename, &code->file_object, 8) ||
	    !read_at(python, at + offsets->code.qualname, &code->name_object, 8) ||
	    !read_at(python, at + offsets->code.linetable, &code->table_object, 8) ||
	    !read_at(python, at + offsets->code.firstlineno, &line, sizeof(line)))
		return false;
	code->first_line = line;
	return true;
}

static bool read_code(const struct python *python, struct python_code *code)
{
	const struct python_offsets *offsets = &python->offsets;
	uint64_t size;

	code->file = python_string(python, code->file_object, MAX_NAME, NULL);
	code->function = python_string(python, code->name_object, MAX_NAME, NULL);
	if (!code->file || !code->file[0] || !code->function ||
	    !read_at(python, code->table_object + offsets->bytes.ob_size, &size, sizeof(size)) ||
	    size > MAX_TABLE || size > python->line_bytes)
		return false;
	code->table = xmalloc(size + 1);
	code->table_size = size;
	simplify(code->function);
	return read_at(python, code->table_object + offsets->bytes.ob_sval, code->table, size);
}

static struct python_code *get_code(struct python *python, uint64_t address)
{
	struct python_code now = {.address = address}, *code;

	if (!read_identity(python, &now))
		return NULL;
	HASH_FIND(hh, python->codes, &address, sizeof(address), code);
	if (code && code->file_object == now.file_object && code->name_object == now.name_object &&
	    code->table_object == now.table_object && code->first_line == now.first_line)
		return code;
	if (code) { /* another has its place by now */
		HASH_DEL(python->codes, code);
		python->code_bytes -= code->table_size;
		destroy_code(code);
	}
	if (HASH_COUNT(python->codes) >= MAX_CODES || python->code_bytes > MAX_CODE_BYTES)
		python_forget_codes(python);
	code = xcalloc(1, sizeof(*code));
	*code = now;
	if (!read_code(python, code)) {
		destroy_code(code);
		return NULL;
	}
	HASH_ADD(hh, python->codes, address, sizeof(code->address), code);
	python->code_bytes += code->table_size;
	return code;
}

int python_locate(struct python *python, uint64_t address, uint64_t instruction,
		  struct modules *modules, uint32_t *module_ret, uint64_t *offset_ret)
{
	struct python_code *code = get_code(python, address);

	if (!code || code->table_size > python->line_bytes)
		return -1;
	python->line_bytes -= code->table_size;
	int64_t unit = (int64_t)(instruction - address - python->offsets.code.code_adaptive) / 2;
	int line = python_line(code->table, code->table_size, code->first_line, unit);
	/* The same in all processes that run the same file. */
	*offset_ret = hash_bytes(code->function, strlen(code->function)) << 32 | (uint32_t)line;
	*module_ret = modules_intern(modules, code->file, NULL, 0);
	modules_set_place(modules, *module_ret, *offset_ret, code->function, line);
	return 0;
}
