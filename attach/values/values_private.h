/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of values.h. */
#pragma once

#include "attach/symbols/debug_file.h"
#include "attach/values/values.h"
#include "model/job/value_type.h"

struct expression;

/* The frame of a location's registers, so many frames above the one that was asked for. */
struct values_level {
	struct debug_file *file;
	uint32_t module;
	Dwarf_Die *function; /* not one inlined into it; NULL: there is no frame, of globals */
	Dwarf_Addr address;
	bool is_return; /* its call may have changed registers */
	size_t up;
};

/* For a name, in a frame or among a module's global variables. */
struct values_search {
	struct debug_modules *files;
	struct debug_file *file;
	struct arena *arena;
	Dwarf_Die unit;
	bool is_fortran;
	struct values_level level;
	const struct values_frame *callers; /* of the frame, the nearest first */
	size_t num_callers;
	bool is_in_base; /* of a frame, which cannot be said in terms of itself */
	const char *name;
	uint32_t max_bytes; /* that may be read of a value */
	struct values_found *ret;
	struct pdb_error *err;
};

/* The module's file with debug information; NULL: there is none. */
struct debug_file *values_file(struct debug_modules *modules, uint32_t module);
struct debug_modules *values_modules(struct values *values);

/* As values_find(), of the variable that the entry is of. */
int values_follow(struct values_search *search, Dwarf_Die *die,
		  const struct expression *expression);

/* The type of a value, by its entry. first_dimension: of an array, how many are gone. */
struct values_type {
	Dwarf_Die die; /* no typedef, no const */
	bool is_void;
	size_t first_dimension;
};

/* ---- Operations ---- */

struct values_ops {
	struct code_op *list; /* of the search's arena */
	size_t num, capacity;
	bool has_registers; /* it needs a frame */
};

void values_add_op(struct values_search *search, struct values_ops *ops, enum code_op_kind kind,
		   int64_t operand);
void values_add_ops(struct values_search *search, struct values_ops *ops,
		    const struct values_ops *more);

/* Why there is no value. */
extern const char values_not_understood[], values_changed[];

/* Is the operation a register's name? */
bool values_is_register(const Dwarf_Op *op, uint64_t *ret);

/* NULL: the register is as it was in the frame; else why that is not known. */
const char *values_check_register(const struct values_level *level, uint64_t reg);

enum values_piece_kind {
	VALUES_VALUE,  /* its operations leave it on the stack */
	VALUES_VECTOR, /* in a vector register */
	VALUES_MEMORY, /* they leave its address */
	VALUES_LOST,
};

struct values_piece {
	enum values_piece_kind kind;
	uint64_t size; /* bytes, UINT64_MAX: all */
	struct values_ops ops;
	unsigned int vector;
};

/* Where a value is: one piece, most often. */
struct values_location {
	struct values_piece *pieces;
	size_t num, capacity;
};

/* The parts of a location expression. NULL, or why they are not known. */
const char *values_locate(struct values_search *search, const struct values_level *level,
			  Dwarf_Attribute *location, const Dwarf_Op *ops, size_t num,
			  struct values_location *ret);

/* Add operations that leave on the stack what the expression does. NULL, or why there are none. */
const char *values_compute(struct values_search *search, const struct values_level *level,
			   Dwarf_Attribute *location, const Dwarf_Op *ops, size_t num,
			   struct values_ops *ret);

/* The same for a type's property: a constant, an expression, or a variable. */
const char *values_compute_property(struct values_search *search, Dwarf_Attribute *property,
				    struct values_ops *ret);

/* The same for how many characters the string type has. */
const char *values_compute_length(struct values_search *search, Dwarf_Die *type,
				  Dwarf_Attribute *property, struct values_ops *ret);

/* The call that a level's function is in: the caller's level, its function, and the property that
 * says what was in the register. False: that is not known. */
bool values_find_passed(struct values_search *search, const struct values_level *level,
			uint64_t reg, struct values_level *above_ret, Dwarf_Die *function_ret,
			Dwarf_Attribute *value_ret);

/* ---- Arrays ---- */

/* The dimensions are in the order of the debug information: in Fortran the one with the shortest
 * stride is first, else last. */
struct values_shape {
	Dwarf_Die element;
	uint64_t element_size; /* 0: known only when it runs */
	size_t num;
	Dwarf_Die ranges[CODE_MAX_DIMENSIONS];
};

/* False: the type is no array. */
bool values_shape_of(const struct values_search *search, const struct values_type *type,
		     struct values_shape *ret);

/* From what is at the address on the stack to the first element, with what tells whether there is
 * any. NULL, or why not. */
const char *values_begin_array(struct values_search *search, const struct values_type *type,
			       struct values_ops *ops);

/* Push lower and upper bound and stride of a dimension. *is_open_ret: nothing says where it
 * ends. */
const char *values_push_dimension(struct values_search *search, const struct values_shape *shape,
				  size_t number, struct values_ops *ops, bool *is_open_ret);

/* If the last three operations push three constants, take them away. */
bool values_pop_constants(struct values_ops *ops, int64_t ret[3]);

/* ---- Places ---- */

/* Where the value is that the steps of an expression lead to. */
struct values_place {
	struct values_type type;
	bool is_value;         /* in these pieces, from `offset` on; else in memory */
	struct values_ops ops; /* then they leave its address on the stack */
	struct values_location location;
	uint64_t offset;
	bool has_begun; /* an array: the address is that of elements */
	size_t num_dimensions;
};

/* These go on with 0. 1: there is no value, and search->ret says why; -1: search->err. */
int values_give_up(struct values_search *search, const char *why);
int values_leave_to_gdb(struct values_search *search, const char *why); /* who may know it */

/* By `num` times `size` bytes. False: beyond all addresses. */
bool values_move(struct values_search *search, struct values_place *place, int64_t num,
		 uint64_t size);

/* The address that is in the pieces becomes that of a place in memory. */
int values_take_address(struct values_search *search, struct values_place *place);

/* All that an array has from the dimension `first` on. */
int values_take_rest(struct values_search *search, struct values_place *place,
		     const struct values_shape *shape, size_t first);

/* From an array's place to its elements. */
int values_begin(struct values_search *search, struct values_place *place);

/* Follow the expression's steps. */
int values_take_steps(struct values_search *search, struct values_place *place,
		      const struct expression *expression);

/* ---- Types ---- */

/* The type of a variable, member, pointer or array. False: the entry has none, or it is void. */
bool values_type_of(Dwarf_Die *die, struct values_type *ret);

/* How many elements the range of an array has, by constants alone. */
bool values_count_of(const struct values_search *search, Dwarf_Die *range, uint64_t *ret);

bool values_constant_of(Dwarf_Die *die, unsigned int name, int64_t *ret);

/* Read a type. NULL: its size is not known, or is 0. */
const struct value_type *values_build(const struct values_search *search,
				      const struct values_type *type);

/* The member of that name, also of a base class or a struct without a name: its offset and type.
 * False: there is none. */
bool values_member(const struct values_search *search, Dwarf_Die *type, const char *name,
		   uint64_t *offset_ret, struct values_type *ret);

/* libstdc++'s std::string is a pointer to its characters, and std::vector one to its elements, at
 * an offset. False: it is neither. */
bool values_unwrap(const struct values_search *search, const struct values_type *type, bool is_text,
		   uint64_t *offset_ret, struct values_type *ret);

bool values_name_is(Dwarf_Die *die, const char *name, bool is_fortran);
