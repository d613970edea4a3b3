/* SPDX-License-Identifier: BSD-3-Clause
 * Types of a program's values, as debug information has them, and values as text. Plain data,
 * filled by attach/values. */
#pragma once

#include "model/base.h"

enum value_kind {
	VALUE_SIGNED,
	VALUE_UNSIGNED,
	VALUE_FLOAT,   /* of 4, 8 or 16 bytes; the latter as this machine's long double */
	VALUE_COMPLEX, /* two of these */
	VALUE_BOOL,
	VALUE_CHARACTER, /* of one byte */
	VALUE_ENUM,
	VALUE_POINTER, /* to data, functions, or as a reference */
	VALUE_STRUCT,  /* or a union, or a class */
	VALUE_ARRAY,
	VALUE_CONTAINER, /* a C++ container, of which the number of elements is known */
	VALUE_OTHER,     /* bytes of which nothing more is known */
};

struct value_name {
	const char *name;
	int64_t value;
};

struct value_member {
	const char *name; /* NULL: a base class, or a struct without a name */
	uint32_t offset;
	const struct value_type *type;
	uint8_t num_bits; /* 0: no bit field */
	uint8_t shift;    /* of a bit field, from the lowest bit at `offset` */
};

struct value_type {
	enum value_kind kind;
	uint32_t size; /* bytes */
	const char *name;
	const struct value_name *names; /* of an enumeration */
	bool is_unsigned;               /* its numbers are */
	size_t num_names;
	const struct value_member *members; /* of a struct */
	size_t num_members;
	bool is_cut; /* it has more members than these */
	const struct value_type
		*element; /* of an array, or of what a pointer leads to characters */
	uint64_t num;     /* elements of an array */
	uint64_t total;   /* of which the first `num` are these */
	/* Of a container: where the address of the first element is, and the one behind the last,
	 * of so many bytes each; or where their number is, if element_size is 0. */
	uint32_t begin, end, element_size;
};

/* An array of so many of these, or of as many as `max_bytes` has room for. NULL: none. */
const struct value_type *value_array(struct arena *arena, const struct value_type *element,
				     uint64_t num, uint64_t max_bytes);

/* An array of that shape, the longest stride first, of which so many bytes are there. */
const struct value_type *value_shape(struct arena *arena, const struct value_type *element,
				     const uint64_t *counts, size_t num, uint64_t num_bytes);

/* The number that the bytes hold; false: they are no number. Enumerations and characters are. */
bool value_number(const struct value_type *type, const void *bytes, double *ret);

/* One line, as C writes it: "12", "-1.5", "RED", "{n = 3, x = 0.5}", "\"text\"". Of an array of
 * numbers with more than a few elements in a dimension: its size, the smallest, the median and the
 * largest element, and how many are NaN or infinite. bytes: type->size of them. */
char *value_text(struct arena *arena, const struct value_type *type, const void *bytes);

/* A text in C's quotes, up to its zero or so many bytes. */
char *value_quote(struct arena *arena, const char *text, size_t size);
