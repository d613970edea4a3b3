/* SPDX-License-Identifier: BSD-3-Clause
 * Variables of Python frames, read while the process runs on, and without running any code in it.
 * Objects are untrusted: what is no object, or not the same any more, is left out. */
#include "attach/stacks/python.h"
#include "attach/stacks/python_private.h"
#include "model/job/modules.h"
#include "model/job/value_type.h"
#include "model/job/variables.h"

enum {
	MAX_READS = 20000,    /* of memory, for one stack */
	MAX_FRAMES = 16,      /* of the program's own, from the innermost on */
	MAX_LOCALS = 256,     /* of a frame */
	MAX_ENTRIES = 4096,   /* of a dict */
	MAX_TEXT = 80,        /* characters of a str */
	MAX_DIMENSIONS = 64,  /* of an array of NumPy */
	MAX_ARRAY = 65536,    /* bytes of its elements, as of any value */
	MAX_BYTES = 1 << 20,  /* of all of these */
	MAX_DIGITS = 34,      /* of an int, 30 bits each */
	MAX_TYPES = 64,       /* that are remembered */
	ENTRIES_AT_ONCE = 64, /* of a dict */
};

/* The same in 3.11 and 3.13, by offsetof(): of objects, of their types, and of code objects. */
enum {
	AT_SIZE = 16,     /* of list, tuple, bytes; of an int the digits, or its tag */
	AT_VALUE = 16,    /* of float, cell */
	AT_DIGITS = 24,   /* of an int */
	AT_ITEMS = 24,    /* of a tuple */
	AT_SET_USED = 24, /* of a set */
	AT_USED = 16,     /* of a dict */
	AT_KEYS = 32,
	AT_SPLIT = 40, /* values of a dict that shares its keys */
	TYPE_NAME = 24,
	TYPE_FLAGS = 168,
	CODE_FLAGS = 48,
	CODE_KEYWORDS = 8, /* behind the number of arguments */
};

/* In the flags of types: of these, or derived of them. */
enum { IS_LONG = 1 << 24, IS_LIST = 1 << 25, IS_TUPLE = 1 << 26, IS_BYTES = 1 << 27 };
enum { IS_STRING = 1 << 28, IS_DICT = 1 << 29 };

/* Of code objects and of their variables. */
enum { HAS_MORE = 4, HAS_MORE_KEYWORDS = 8, IS_CELL = 0x40, IS_FREE = 0x80, IS_HIDDEN = 0x10 };

struct type {
	uint64_t address, flags;
	char name[64];
};

struct reading {
	struct python *python;
	struct variables *variables;
	struct arena *arena;
	unsigned int reads_left;
	uint64_t bytes_left; /* of elements */
	struct type types[MAX_TYPES];
	size_t num_types;
	uint32_t depth; /* of the frame at hand */
};

static bool read_at(struct reading *reading, uint64_t address, void *buffer, size_t size)
{
	if (!address || !reading->reads_left)
		return false;
	reading->reads_left--;
	return !memory_get(&reading->python->memory, address, buffer, size);
}

static uint64_t read_word(struct reading *reading, uint64_t address)
{
	uint64_t word;

	return read_at(reading, address, &word, sizeof(word)) ? word : 0;
}

/* ---- Types ---- */

/* In parts, since what follows its end need not be there. */
static bool read_name(struct reading *reading, uint64_t address, char *ret, size_t size)
{
	for (size_t num = 0; num + 8 < size; num += 8) {
		if (!read_at(reading, address + num, ret + num, 8))
			return false;
		ret[num + 8] = 0;
		if (strlen(ret) < num + 8)
			return true;
	}
	return false;
}

/* NULL: the object has none. */
static const struct type *type_of(struct reading *reading, uint64_t object)
{
	struct type type = {
		.address = read_word(reading, object + reading->python->offsets.object.type)};
	struct type *kept = &reading->types[reading->num_types % MAX_TYPES];

	for (size_t i = 0; i < reading->num_types && i < MAX_TYPES; i++)
		if (reading->types[i].address == type.address)
			return &reading->types[i];
	if (!type.address || !read_at(reading, type.address + TYPE_FLAGS, &type.flags, 8) ||
	    !read_name(reading, read_word(reading, type.address + TYPE_NAME), type.name,
		       sizeof(type.name)))
		return NULL;
	*kept = type;
	reading->num_types++;
	return kept;
}

/* ---- Values ---- */

static bool set_text(struct variable *ret, char *text)
{
	ret->text = text;
	return true;
}

static bool set_number(struct variable *ret, double number, char *text)
{
	ret->is_number = true;
	ret->number = number;
	return set_text(ret, text);
}

/* All decimal digits of what the 30-bit digits are, the lowest first; these are used up. */
static char *text_of_digits(uint32_t *digits, uint64_t num, bool is_negative)
{
	char text[10 * MAX_DIGITS + 2];
	size_t at = sizeof(text);

	text[--at] = 0;
	do {
		uint64_t rest = 0;

		for (uint64_t i = num; i-- > 0;) {
			rest = rest << 30 | digits[i];
			digits[i] = (uint32_t)(rest / 10);
			rest %= 10;
		}
		text[--at] = (char)('0' + rest);
		while (num && !digits[num - 1])
			num--;
	} while (num);
	return xasprintf("%s%s", is_negative ? "-" : "", text + at);
}

/* Later the number of digits is above three bits with the sign: 0 positive, 1 zero, 2 negative. */
static bool read_int(struct reading *reading, uint64_t object, bool is_bool, struct variable *ret)
{
	uint32_t digits[MAX_DIGITS];
	double value = 0;
	uint64_t num;
	bool is_negative;
	int64_t size;

	if (!read_at(reading, object + AT_SIZE, &size, sizeof(size)))
		return false;
	is_negative = reading->python->is_3_11 ? size < 0 : (size & 3) == 2;
	num = !reading->python->is_3_11 ? (uint64_t)size >> 3
	      : size < 0                ? -(uint64_t)size
					: (uint64_t)size;
	if (!reading->python->is_3_11 && (size & 3) == 1)
		num = 0;
	if (num > MAX_DIGITS)
		return num < UINT32_MAX &&
		       set_text(ret, xasprintf("an int of about %" PRIu64 " bits", 30 * num));
	if (num && !read_at(reading, object + AT_DIGITS, digits, num * sizeof(*digits)))
		return false;
	for (uint64_t i = num; i-- > 0;) {
		if (digits[i] >> 30)
			return false;
		value = value * (1 << 30) + digits[i];
	}
	if (is_bool)
		return value <= 1 && set_number(ret, value, xstrdup(value > 0 ? "True" : "False"));
	return set_number(ret, is_negative ? -value : value,
			  text_of_digits(digits, num, is_negative));
}

/* As short as it can be told from all others. */
static char *text_of_float(double value)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return xasprintf("%s%s", text, strpbrk(text, ".ein") ? "" : ".0");
}

static bool read_float(struct reading *reading, uint64_t object, struct variable *ret)
{
	double value;

	return read_at(reading, object + AT_VALUE, &value, sizeof(value)) &&
	       set_number(ret, value, text_of_float(value));
}

static bool read_str(struct reading *reading, uint64_t object, struct variable *ret)
{
	bool is_cut = false;
	char *text = python_string(reading->python, object, MAX_TEXT, &is_cut);
	uint64_t length = read_word(reading, object + reading->python->offsets.string.length);
	bool is_read = text != NULL;

	if (is_read && is_cut)
		set_text(ret, xasprintf("'%s...' of %" PRIu64 " characters", text, length));
	else if (is_read)
		set_text(ret, xasprintf("'%s'", text));
	free(text);
	return is_read;
}

static bool read_size(struct reading *reading, uint64_t address, const char *what,
		      struct variable *ret)
{
	int64_t size;

	return read_at(reading, address, &size, sizeof(size)) && size >= 0 &&
	       set_text(ret, xasprintf("%s of %" PRId64, what, size));
}

/* NumPy's types by their numbers, which are part of its binary interface. Of those without a size
 * elements are not read. */
static const struct array_type {
	const char *name;
	enum value_kind kind;
	uint32_t size;
} array_types[] = {
	{"bool", VALUE_UNSIGNED, 1},     {"int8", VALUE_SIGNED, 1},
	{"uint8", VALUE_UNSIGNED, 1},    {"int16", VALUE_SIGNED, 2},
	{"uint16", VALUE_UNSIGNED, 2},   {"int32", VALUE_SIGNED, 4},
	{"uint32", VALUE_UNSIGNED, 4},   {"int64", VALUE_SIGNED, 8},
	{"uint64", VALUE_UNSIGNED, 8},   {"int64", VALUE_SIGNED, 8},
	{"uint64", VALUE_UNSIGNED, 8},   {"float32", VALUE_FLOAT, 4},
	{"float64", VALUE_FLOAT, 8},     {"longdouble", VALUE_OTHER, 0},
	{"complex64", VALUE_OTHER, 0},   {"complex128", VALUE_OTHER, 0},
	{"clongdouble", VALUE_OTHER, 0}, {"object", VALUE_OTHER, 0},
	{"bytes", VALUE_OTHER, 0},       {"str", VALUE_OTHER, 0},
	{"void", VALUE_OTHER, 0},        {"datetime64", VALUE_OTHER, 0},
	{"timedelta64", VALUE_OTHER, 0}, {"float16", VALUE_OTHER, 0},
};

/* Of NumPy 1 and 2: part of the same interface. */
struct array {
	uint64_t data;
	int num_dimensions;
	uint64_t dimensions, strides, base, type;
	int flags;
};

enum { ARRAY_IS_CONTIGUOUS = 3, AT_ARRAY = 16, AT_ORDER = 26, AT_TYPE_NUMBER = 28 };

/* " {12 elements: all 0}"; nothing where they are not side by side, or cannot be read. */
static const char *text_of_elements(struct reading *reading, const struct array *array,
				    const struct array_type *of, uint64_t total)
{
	const struct value_type element = {.kind = of->kind, .size = of->size, .name = of->name};
	struct value_type type = {
		.kind = VALUE_ARRAY, .element = &element, .num = total, .total = total};
	void *bytes;

	if (!of->size || !(array->flags & ARRAY_IS_CONTIGUOUS) || !total)
		return "";
	if (type.num > MAX_ARRAY / of->size)
		type.num = MAX_ARRAY / of->size;
	type.size = (uint32_t)(type.num * of->size);
	if (type.size > reading->bytes_left)
		return "";
	reading->bytes_left -= type.size;
	bytes = arena_alloc(reading->arena, type.size);
	if (!read_at(reading, array->data, bytes, type.size))
		return "";
	return arena_printf(reading->arena, " %s", value_text(reading->arena, &type, bytes));
}

/* The order of bytes is this machine's, but for '>'. */
static bool read_array(struct reading *reading, uint64_t object, struct variable *ret)
{
	struct array_type of = {.name = "of a type of its own"};
	int64_t dimensions[MAX_DIMENSIONS];
	char shape[24 * MAX_DIMENSIONS] = "";
	uint64_t total = 1;
	struct array array;
	uint32_t type;
	size_t at = 0;
	char order;

	if (!read_at(reading, object + AT_ARRAY, &array, sizeof(array)) ||
	    array.num_dimensions < 0 || array.num_dimensions > MAX_DIMENSIONS ||
	    (array.num_dimensions && !read_at(reading, array.dimensions, dimensions,
					      sizeof(int64_t) * (size_t)array.num_dimensions)) ||
	    !read_at(reading, array.type + AT_TYPE_NUMBER, &type, sizeof(type)) ||
	    !read_at(reading, array.type + AT_ORDER, &order, 1))
		return false;
	for (int i = 0; i < array.num_dimensions; i++) {
		if (dimensions[i] < 0 ||
		    __builtin_mul_overflow(total, (uint64_t)dimensions[i], &total))
			return false;
		at += (size_t)snprintf(shape + at, sizeof(shape) - at, "%s%" PRId64, i ? ", " : "",
				       dimensions[i]);
	}
	if (type < sizeof(array_types) / sizeof(array_types[0]))
		of = array_types[type];
	return set_text(
		ret,
		xasprintf("array (%s%s) %s%s", shape, array.num_dimensions == 1 ? "," : "", of.name,
			  order == '>' ? "" : text_of_elements(reading, &array, &of, total)));
}

/* A number of NumPy: its value is behind the object's head, as in C. False: it is none. */
static bool read_scalar(struct reading *reading, uint64_t object, const char *name,
			struct variable *ret)
{
	static const char prefix[] = "numpy.";
	uint8_t bytes[8];

	if (!strcmp(name, "numpy.bool_") || !strcmp(name, "numpy.bool"))
		return read_at(reading, object + AT_VALUE, bytes, 1) && bytes[0] <= 1 &&
		       set_number(ret, bytes[0], xstrdup(bytes[0] ? "True" : "False"));
	for (size_t i = 0; i < sizeof(array_types) / sizeof(array_types[0]); i++) {
		const struct array_type *of = &array_types[i];
		const struct value_type type = {.kind = of->kind, .size = of->size};

		if (!of->size || strncmp(name, prefix, strlen(prefix)) != 0 ||
		    strcmp(name + strlen(prefix), of->name) != 0)
			continue;
		return read_at(reading, object + AT_VALUE, bytes, of->size) &&
		       value_number(&type, bytes, &ret->number) &&
		       set_number(ret, ret->number,
				  xstrdup(value_text(reading->arena, &type, bytes)));
	}
	return false;
}

static bool read_object(struct reading *reading, uint64_t object, const struct type *type,
			struct variable *ret)
{
	const char *name = type->name;

	if (!strcmp(name, "NoneType"))
		return set_text(ret, xstrdup("None"));
	if (type->flags & IS_LONG)
		return read_int(reading, object, !strcmp(name, "bool"), ret);
	if (!strcmp(name, "float") || !strcmp(name, "numpy.float64"))
		return read_float(reading, object, ret);
	if (type->flags & IS_STRING)
		return read_str(reading, object, ret);
	if (type->flags & IS_BYTES)
		return read_size(reading, object + AT_SIZE, "bytes", ret);
	if (type->flags & IS_LIST)
		return read_size(reading, object + AT_SIZE, "list", ret);
	if (type->flags & IS_TUPLE)
		return read_size(reading, object + AT_SIZE, "tuple", ret);
	if (type->flags & IS_DICT)
		return read_size(reading, object + AT_USED, "dict", ret);
	if (!strcmp(name, "set") || !strcmp(name, "frozenset"))
		return read_size(reading, object + AT_SET_USED, name, ret);
	if (!strcmp(name, "numpy.ndarray"))
		return read_array(reading, object, ret);
	if (read_scalar(reading, object, name, ret))
		return true;
	return set_text(ret, xasprintf("a %s", name));
}

/* Add the variable; not if the object is none. */
static void add_object(struct reading *reading, const char *name, uint64_t object, uint8_t kind)
{
	const struct type *type = type_of(reading, object);
	struct variable variable = {.depth = reading->depth, .kind = kind, .has_value = true};

	if (!type || reading->variables->num >= VARIABLES_MAX)
		return;
	variable.name = (char *)name;
	variable.type = (char *)type->name;
	if (!read_object(reading, object, type, &variable)) {
		variable.has_value = variable.is_number = false;
		variable.text = xstrdup("it has changed while pdb read it");
	}
	variables_add(reading->variables, &variable);
	free(variable.text);
}

/* ---- Frames ---- */

/* What modules have beside their variables. */
static bool is_definition(struct reading *reading, uint64_t object)
{
	static const char *const names[] = {"module", "function", "type",
					    "builtin_function_or_method"};
	const struct type *type = type_of(reading, object);

	for (size_t i = 0; type && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(type->name, names[i]))
			return true;
	return !type;
}

static void add_entry(struct reading *reading, uint64_t key, uint64_t value, uint8_t kind)
{
	char *name;

	if (!key || !value || is_definition(reading, value))
		return;
	name = python_string(reading->python, key, MAX_TEXT, NULL);
	if (name && strncmp(name, "__", 2) != 0)
		add_object(reading, name, value, kind);
	free(name);
}

/* The head of a dict's keys, as they are in 3.11 and 3.13: behind it come the indices, then the
 * entries. */
struct keys {
	uint64_t references;
	uint8_t log_size, log_index_bytes, kind, unused;
	uint32_t version;
	int64_t num_usable, num_entries;
};

enum { KEYS_GENERAL, KEYS_STRINGS };

static void add_dict(struct reading *reading, uint64_t dict, uint8_t kind)
{
	const struct type *type = type_of(reading, dict);
	uint64_t at = read_word(reading, dict + AT_KEYS), entries[3 * ENTRIES_AT_ONCE];
	struct keys keys;
	size_t words, num;

	if (!type || !(type->flags & IS_DICT) || read_word(reading, dict + AT_SPLIT) ||
	    !read_at(reading, at, &keys, sizeof(keys)) || keys.kind > KEYS_STRINGS ||
	    keys.log_index_bytes > 32 || keys.num_entries < 0 || keys.num_entries > MAX_ENTRIES)
		return;
	words = keys.kind == KEYS_STRINGS ? 2 : 3;
	at += sizeof(keys) + ((uint64_t)1 << keys.log_index_bytes);
	for (size_t i = 0; i < (size_t)keys.num_entries; i += num) {
		num = (size_t)keys.num_entries - i;
		if (num > ENTRIES_AT_ONCE)
			num = ENTRIES_AT_ONCE;
		if (!read_at(reading, at + i * words * 8, entries, num * words * 8))
			return;
		for (size_t k = 0; k < num; k++)
			add_entry(reading, entries[(k + 1) * words - 2],
				  entries[(k + 1) * words - 1], kind);
	}
}

/* How many of its variables are arguments. */
static int64_t count_arguments(struct reading *reading, uint64_t code)
{
	uint64_t at = code + reading->python->offsets.code.argcount;
	int32_t plain = 0, keywords = 0, flags = 0;

	if (!read_at(reading, at, &plain, sizeof(plain)) ||
	    !read_at(reading, at + CODE_KEYWORDS, &keywords, sizeof(keywords)) ||
	    !read_at(reading, code + CODE_FLAGS, &flags, sizeof(flags)))
		return 0;
	return (int64_t)plain + keywords + !!(flags & HAS_MORE) + !!(flags & HAS_MORE_KEYWORDS);
}

static uint64_t content_of_cell(struct reading *reading, uint64_t object)
{
	const struct type *type = type_of(reading, object);

	return type && !strcmp(type->name, "cell") ? read_word(reading, object + AT_VALUE) : object;
}

static void add_locals(struct reading *reading, const struct python_frame *frame)
{
	const struct python_offsets *offsets = &reading->python->offsets;
	uint64_t names = read_word(reading, frame->code + offsets->code.localsplusnames);
	uint64_t kinds_at = read_word(reading, frame->code + offsets->code.localspluskinds);
	uint64_t num = read_word(reading, names + AT_SIZE), objects[MAX_LOCALS];
	uint64_t slots[MAX_LOCALS];
	uint8_t kinds[MAX_LOCALS];
	int64_t num_arguments = count_arguments(reading, frame->code);

	if (num > MAX_LOCALS)
		num = MAX_LOCALS;
	if (!num || !read_at(reading, names + AT_ITEMS, objects, num * 8) ||
	    !read_at(reading, kinds_at + offsets->bytes.ob_sval, kinds, num) ||
	    !read_at(reading, frame->address + offsets->frame.localsplus, slots, num * 8))
		return;
	for (uint64_t i = 0; i < num; i++) {
		char *name;

		if (!slots[i] || kinds[i] & IS_HIDDEN)
			continue;
		if (kinds[i] & (IS_CELL | IS_FREE))
			slots[i] = content_of_cell(reading, slots[i]);
		name = python_string(reading->python, objects[i], MAX_TEXT, NULL);
		/* ".0" is what a generator goes through. */
		if (slots[i] && name && *name != '.')
			add_object(reading, name, slots[i],
				   (int64_t)i < num_arguments ? VARIABLE_ARGUMENT : VARIABLE_LOCAL);
		free(name);
	}
}

/* Does the frame still run that code? Else what was read since is anybody's. */
static bool is_still(struct reading *reading, const struct python_frame *frame)
{
	return read_word(reading, frame->address + reading->python->offsets.frame.executable) ==
	       frame->code;
}

/* A module's variables are in its dict, which functions see as global. */
static void add_frame(struct reading *reading, const struct python_frame *frame, bool is_innermost)
{
	bool is_3_11 = reading->python->is_3_11;
	uint64_t own = read_word(reading, frame->address + (is_3_11 ? 24 : 40));
	uint64_t global = read_word(reading, frame->address + (is_3_11 ? 8 : 24));
	size_t before = reading->variables->num;

	add_locals(reading, frame);
	if (own)
		add_dict(reading, own, VARIABLE_LOCAL);
	if (is_innermost && global && global != own)
		add_dict(reading, global, VARIABLE_GLOBAL);
	if (!is_still(reading, frame))
		variables_cut(reading->variables, before);
}

struct variables *python_variables(const struct python_copy *copy, const struct modules *modules,
				   size_t num_frames)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));
	struct variables *variables = variables_create();
	int num = 0;

	reading->python = copy->python;
	reading->variables = variables;
	reading->arena = arena_create();
	reading->reads_left = MAX_READS;
	reading->bytes_left = MAX_BYTES;
	for (size_t i = 0; i < copy->num_frames && num < MAX_FRAMES; i++) {
		const struct python_frame *frame = &copy->frames[i];

		if (!frame->place || frame->place > num_frames ||
		    modules_get(modules, frame->module)->kind != MODULE_PROGRAM)
			continue;
		reading->depth = (uint32_t)(num_frames - frame->place);
		add_frame(reading, frame, num++ == 0);
	}
	arena_destroy(reading->arena);
	free(reading);
	if (variables->num)
		return variables;
	variables_destroy(variables);
	return NULL;
}
