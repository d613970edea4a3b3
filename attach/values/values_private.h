/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of values.h. */
#pragma once

#include "attach/symbols/debug_file.h"
#include "attach/values/values.h"
#include "model/job/value_type.h"

enum { VALUES_MAX_DIMENSIONS = 8 };

/* The file with the module's debug information; NULL: there is none. */
struct debug_file *values_file(struct values *values, uint32_t module);

/* For a name, in a frame or among a module's global variables. */
struct values_search {
	struct debug_file *file;
	struct arena *arena;
	Dwarf_Die unit;
	bool is_fortran;
	Dwarf_Die *function; /* the frame's; NULL: of globals */
	Dwarf_Addr address;
	bool is_return;
	const char *name;
	uint32_t max_bytes; /* that may be read of a value */
	struct values_found *ret;
	struct pdb_error *err;
};

/* As values_find(), of the variable that the entry is of. */
struct expression;
int values_follow(struct values_search *search, Dwarf_Die *die,
		  const struct expression *expression);

/* The type of a value, by its entry. first_dimension: of an array, the first dimension that is
 * left. */
struct values_type {
	Dwarf_Die die; /* no typedef, no const */
	bool is_void;
	size_t first_dimension;
};

/* An array. The dimensions are in the order of memory: the one with the longest stride is first. */
struct values_shape {
	Dwarf_Die element;
	uint64_t element_size;
	size_t num;
	int64_t lower[VALUES_MAX_DIMENSIONS];
	uint64_t counts[VALUES_MAX_DIMENSIONS]; /* 0: known only when it runs */
	bool is_described; /* by a descriptor of the program: what is there is not the array */
};

/* The type of a variable, member, pointer or array. False: the entry has none, or it is void. */
bool values_type_of(Dwarf_Die *die, struct values_type *ret);

/* False: the type is no array, or its element has no size. */
bool values_shape_of(const struct values_search *search, const struct values_type *type,
		     struct values_shape *ret);

/* Read a type. NULL: its size is not known, or is 0. */
const struct value_type *values_build(const struct values_search *search,
				      const struct values_type *type);

/* An array of so many of these, or of as many as may be read. NULL: none may. */
const struct value_type *values_array(const struct values_search *search,
				      const struct value_type *element, uint64_t num);

/* The member of that name, also of a base class or a struct without a name: its offset and type.
 * False: there is none. */
bool values_member(const struct values_search *search, Dwarf_Die *type, const char *name,
		   uint64_t *offset_ret, struct values_type *ret);

/* libstdc++'s std::string is a pointer to its characters, and std::vector one to its elements, at
 * an offset. False: it is neither. */
bool values_unwrap(const struct values_search *search, const struct values_type *type, bool is_text,
		   uint64_t *offset_ret, struct values_type *ret);

bool values_name_is(Dwarf_Die *die, const char *name, bool is_fortran);
