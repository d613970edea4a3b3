/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "model/job/code.h"
#include "model/job/value_type.h"

enum {
	MAX_ELEMENTS = 8, /* of an array that is shown whole */
	MAX_DEPTH = 8,
	MAX_TEXT = 200, /* bytes of a string */
};

const struct value_type *value_array(struct arena *arena, const struct value_type *element,
				     uint64_t num, uint64_t max_bytes)
{
	struct value_type *type = arena_alloc(arena, sizeof(*type));
	uint64_t most = max_bytes / element->size;
	size_t inner;

	if (!num || !most)
		return NULL;
	*type = (struct value_type){.kind = VALUE_ARRAY, .element = element, .total = num};
	type->num = num < most ? num : most;
	type->size = (uint32_t)(type->num * element->size);
	inner = element->kind == VALUE_ARRAY ? strcspn(element->name, "[") : strlen(element->name);
	type->name = arena_printf(arena, "%.*s[%" PRIu64 "]%s", (int)inner, element->name, num,
				  element->name + inner);
	return type;
}

/* "integer[3][4]" in the order of indexes in C; without the elements of some dimension "{}". */
const struct value_type *value_shape(struct arena *arena, const struct value_type *element,
				     const uint64_t *counts, size_t num, uint64_t num_bytes)
{
	struct value_type *type = arena_alloc(arena, sizeof(*type));
	const struct value_type *nested = element;
	uint64_t there = num_bytes / element->size;
	bool is_whole = true, is_flat = false;

	*type = (struct value_type){
		.kind = VALUE_ARRAY, .element = element, .total = 1, .name = element->name};
	for (size_t i = 0; i < num; i++) {
		is_flat |= counts[i] > MAX_ELEMENTS;
		if (__builtin_mul_overflow(type->total, counts[i], &type->total))
			type->total = UINT64_MAX;
		type->name = arena_printf(arena, "%s[%" PRIu64 "]", type->name, counts[i]);
	}
	is_whole = type->total && type->total <= there;
	type->num = type->total < there ? type->total : there;
	type->size = (uint32_t)(type->num * element->size);
	if (is_flat || !is_whole || num == 1)
		return type;
	for (size_t i = num; i-- > 0 && nested;)
		nested = value_array(arena, nested, counts[i], num_bytes);
	return nested ? nested : type;
}

/* ---- Numbers ---- */

static int64_t integer_of(const struct value_type *type, const uint8_t *bytes)
{
	uint64_t bits = 0;

	memcpy(&bits, bytes, type->size < 8 ? type->size : 8);
	return code_extend((int64_t)bits, type->size < 8 ? type->size : 8,
			   type->kind == VALUE_SIGNED ||
				   (type->kind == VALUE_ENUM && !type->is_unsigned));
}

static bool float_of(uint32_t size, const uint8_t *bytes, long double *ret)
{
	double wide;
	float narrow;

	switch (size) {
	case sizeof(narrow):
		memcpy(&narrow, bytes, sizeof(narrow));
		*ret = narrow;
		return true;
	case sizeof(wide):
		memcpy(&wide, bytes, sizeof(wide));
		*ret = wide;
		return true;
	case sizeof(*ret):
		memcpy(ret, bytes, sizeof(*ret));
		return true;
	default:
		return false;
	}
}

bool value_number(const struct value_type *type, const void *bytes, double *ret)
{
	long double wide;

	switch (type->kind) {
	case VALUE_SIGNED:
	case VALUE_ENUM:
		*ret = (double)integer_of(type, bytes);
		return type->size <= 8;
	case VALUE_UNSIGNED:
	case VALUE_BOOL:
	case VALUE_CHARACTER:
		*ret = (double)(uint64_t)integer_of(type, bytes);
		return type->size <= 8;
	case VALUE_FLOAT:
		if (!float_of(type->size, bytes, &wide))
			return false;
		*ret = (double)wide;
		return true;
	default:
		return false;
	}
}

/* ---- Text ---- */

static char *quote_char(struct arena *arena, unsigned char c, char quote)
{
	static const char escapes[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
	const char *escape = c ? strchr(escapes, c) : NULL;

	if (escape)
		return arena_printf(arena, "\\%c", letters[escape - escapes]);
	if (c == (unsigned char)quote || c == '\\')
		return arena_printf(arena, "\\%c", c);
	return isprint(c) || c >= 0x80 ? arena_printf(arena, "%c", c)
				       : arena_printf(arena, "\\%03o", c);
}

char *value_quote(struct arena *arena, const char *text, size_t size)
{
	size_t length = strnlen(text, size), shown = length < MAX_TEXT ? length : MAX_TEXT;
	char *ret = arena_strdup(arena, "\"");

	for (size_t i = 0; i < shown; i++)
		ret = arena_printf(arena, "%s%s", ret,
				   quote_char(arena, (unsigned char)text[i], '"'));
	return arena_printf(arena, "%s\"%s", ret, shown < length ? "..." : "");
}

static char *float_text(struct arena *arena, uint32_t size, const uint8_t *bytes)
{
	long double value;

	if (!float_of(size, bytes, &value))
		return arena_printf(arena, "(%u bytes)", size);
	/* As few digits as lead back to the same number. */
	for (int digits = size == 4 ? 6 : 15; digits < 21; digits++) {
		char *text = arena_printf(arena, "%.*Lg", digits, value);
		long double again = strtold(text, NULL);

		if (size == sizeof(float)    ? (float)again == (float)value || isnan(value)
		    : size == sizeof(double) ? (double)again == (double)value || isnan(value)
					     : again == value || isnan(value))
			return text;
	}
	return arena_printf(arena, "%.21Lg", value);
}

static char *enum_text(struct arena *arena, const struct value_type *type, int64_t value)
{
	for (size_t i = 0; i < type->num_names; i++)
		if (type->names[i].value == value)
			return arena_strdup(arena, type->names[i].name);
	return arena_printf(arena, "%" PRId64, value);
}

static char *text_of(struct arena *arena, const struct value_type *type, const uint8_t *bytes,
		     unsigned int depth);

static char *member_text(struct arena *arena, const struct value_member *member,
			 const uint8_t *bytes, unsigned int depth)
{
	struct value_type field = *member->type;
	uint64_t bits = 0;

	if (!member->num_bits)
		return text_of(arena, member->type, bytes + member->offset, depth);
	memcpy(&bits, bytes + member->offset, field.size < 8 ? field.size : 8);
	bits = bits >> member->shift << (64 - member->num_bits);
	bits = field.kind == VALUE_SIGNED ? (uint64_t)((int64_t)bits >> (64 - member->num_bits))
					  : bits >> (64 - member->num_bits);
	return text_of(arena, &field, (const uint8_t *)&bits, depth);
}

static char *struct_text(struct arena *arena, const struct value_type *type, const uint8_t *bytes,
			 unsigned int depth)
{
	char *ret = arena_strdup(arena, "{");

	for (size_t i = 0; i < type->num_members; i++) {
		const struct value_member *member = &type->members[i];

		ret = arena_printf(arena, "%s%s%s%s%s", ret, i ? ", " : "",
				   member->name ? member->name : "", member->name ? " = " : "",
				   member_text(arena, member, bytes, depth + 1));
	}
	return arena_printf(arena, "%s%s}", ret, type->is_cut ? ", ..." : "");
}

static char *elements_text(struct arena *arena, const struct value_type *type, const uint8_t *bytes,
			   unsigned int depth)
{
	uint64_t num = type->num < MAX_ELEMENTS ? type->num : MAX_ELEMENTS;
	char *ret = arena_strdup(arena, "{");

	for (uint64_t i = 0; i < num; i++)
		ret = arena_printf(
			arena, "%s%s%s", ret, i ? ", " : "",
			text_of(arena, type->element, bytes + i * type->element->size, depth + 1));
	return arena_printf(arena, "%s%s}", ret, num < type->num ? ", ..." : "");
}

static int compare_numbers(const void *a, const void *b)
{
	return SORTED_ORDER(*(const double *)a, *(const double *)b);
}

/* Counted without those that are no numbers. */
static char *statistics_text(struct arena *arena, const struct value_type *type,
			     const uint8_t *bytes)
{
	double *numbers = arena_array(arena, type->num, sizeof(*numbers));
	size_t num = 0, num_nan = 0, num_infinite = 0;
	char *ret = type->num < type->total
			    ? arena_printf(arena, "{the first %" PRIu64 " of %" PRIu64 " elements",
					   type->num, type->total)
			    : arena_printf(arena, "{%" PRIu64 " elements", type->num);

	for (uint64_t i = 0; i < type->num; i++) {
		value_number(type->element, bytes + i * type->element->size, &numbers[num]);
		if (isnan(numbers[num])) {
			num_nan++;
			continue;
		}
		num_infinite += isinf(numbers[num]) != 0;
		num++;
	}
	sorted_make(numbers, num, sizeof(*numbers), compare_numbers);
	if (num && numbers[0] == numbers[num - 1])
		ret = arena_printf(arena, "%s: all %.6g", ret, numbers[0]);
	else if (num)
		ret = arena_printf(arena, "%s: min %.6g, median %.6g, max %.6g", ret, numbers[0],
				   numbers[num / 2], numbers[num - 1]);
	if (num_nan)
		ret = arena_printf(arena, "%s, %zu NaN", ret, num_nan);
	if (num_infinite)
		ret = arena_printf(arena, "%s, %zu infinite", ret, num_infinite);
	return arena_printf(arena, "%s}", ret);
}

/* All dimensions as one, if there are numbers in them. False: too few to say only how large they
 * are. */
static bool flatten(const struct value_type *type, struct value_type *ret)
{
	bool is_large = type->num > MAX_ELEMENTS;
	double number;

	*ret = *type;
	while (ret->element->kind == VALUE_ARRAY) {
		const struct value_type *inner = ret->element;

		is_large |= inner->num > MAX_ELEMENTS;
		ret->num *= inner->num;
		ret->total *= inner->total;
		ret->element = inner->element;
	}
	return is_large && ret->element->kind != VALUE_CHARACTER &&
	       value_number(ret->element, (const uint8_t[16]){0}, &number);
}

static char *array_text(struct arena *arena, const struct value_type *type, const uint8_t *bytes,
			unsigned int depth)
{
	struct value_type flat;

	if (type->element->kind == VALUE_CHARACTER)
		return value_quote(arena, (const char *)bytes, type->num);
	if (flatten(type, &flat))
		return statistics_text(arena, &flat, bytes);
	return elements_text(arena, type, bytes, depth);
}

static char *container_text(struct arena *arena, const struct value_type *type,
			    const uint8_t *bytes)
{
	uint64_t begin, end, num;

	memcpy(&begin, bytes + type->begin, sizeof(begin));
	memcpy(&end, bytes + type->end, sizeof(end));
	num = type->element_size ? (end - begin) / type->element_size : begin;
	return arena_printf(arena, "{%" PRIu64 " element%s}", num, num == 1 ? "" : "s");
}

static char *text_of(struct arena *arena, const struct value_type *type, const uint8_t *bytes,
		     unsigned int depth)
{
	if (depth == MAX_DEPTH)
		return arena_strdup(arena, "{...}");
	switch (type->kind) {
	case VALUE_SIGNED:
		return arena_printf(arena, "%" PRId64, integer_of(type, bytes));
	case VALUE_UNSIGNED:
		return arena_printf(arena, "%" PRIu64, (uint64_t)integer_of(type, bytes));
	case VALUE_BOOL:
		return arena_strdup(arena, integer_of(type, bytes) ? "true" : "false");
	case VALUE_CHARACTER:
		return arena_printf(arena, "%u '%s'", bytes[0], quote_char(arena, bytes[0], '\''));
	case VALUE_FLOAT:
		return float_text(arena, type->size, bytes);
	case VALUE_COMPLEX:
		return arena_printf(arena, "(%s, %s)", float_text(arena, type->size / 2, bytes),
				    float_text(arena, type->size / 2, bytes + type->size / 2));
	case VALUE_ENUM:
		return enum_text(arena, type, integer_of(type, bytes));
	case VALUE_POINTER:
		return arena_printf(arena, "0x%" PRIx64, (uint64_t)integer_of(type, bytes));
	case VALUE_STRUCT:
		return struct_text(arena, type, bytes, depth);
	case VALUE_ARRAY:
		return array_text(arena, type, bytes, depth);
	case VALUE_CONTAINER:
		return container_text(arena, type, bytes);
	case VALUE_OTHER:
		break;
	}
	return arena_printf(arena, "(%u bytes)", type->size);
}

char *value_text(struct arena *arena, const struct value_type *type, const void *bytes)
{
	return text_of(arena, type, bytes, 0);
}
