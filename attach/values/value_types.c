/* SPDX-License-Identifier: BSD-3-Clause */
#include <dwarf.h>
#include <float.h>

#include "attach/values/values_private.h"

enum { MAX_MEMBERS = 64, MAX_NAMES = 1024, MAX_DEPTH = 6 };

/* ---- C++ containers ---- */

/* Members of members. */
static bool find_path(const struct values_search *search, const struct values_type *type,
		      const char *const *names, uint64_t *offset_ret, struct values_type *ret)
{
	uint64_t offset;

	*offset_ret = 0;
	*ret = *type;
	for (; *names; names++) {
		struct values_type of = *ret;

		if (of.is_void || !values_member(search, &of.die, *names, &offset, ret))
			return false;
		*offset_ret += offset;
	}
	return true;
}

static bool is_called(const struct values_type *type, const char *prefix)
{
	Dwarf_Die die = type->die;
	const char *name = type->is_void ? NULL : dwarf_diename(&die);

	return name && !strncmp(name, prefix, strlen(prefix));
}

bool values_unwrap(const struct values_search *search, const struct values_type *type, bool is_text,
		   uint64_t *offset_ret, struct values_type *ret)
{
	static const char *const text[] = {"_M_dataplus", "_M_p", NULL};
	static const char *const vector[] = {"_M_impl", "_M_start", NULL};

	return is_text ? is_called(type, "basic_string<char,") &&
				 find_path(search, type, text, offset_ret, ret)
		       : is_called(type, "vector<") && !is_called(type, "vector<bool") &&
				 find_path(search, type, vector, offset_ret, ret);
}

static bool build_container(const struct values_search *search, const struct values_type *from,
			    struct value_type *type)
{
	static const char *const last[] = {"_M_impl", "_M_finish", NULL};
	static const char *const num[] = {"_M_t", "_M_impl", "_M_node_count", NULL};
	static const char *const length[] = {"_M_string_length", NULL};
	struct values_type pointer, element;
	uint64_t begin = 0, end = 0;
	Dwarf_Word size = 0;

	if (values_unwrap(search, from, false, &begin, &pointer)) {
		if (!find_path(search, from, last, &end, &element) ||
		    !values_type_of(&pointer.die, &element) ||
		    dwarf_aggregate_size(&element.die, &size) || !size)
			return false;
	} else if (!((is_called(from, "map<") || is_called(from, "set<")) &&
		     find_path(search, from, num, &begin, &element)) &&
		   !(is_called(from, "basic_string<") &&
		     find_path(search, from, length, &begin, &element))) {
		return false;
	}
	if (type->size < 8 || begin > type->size - 8 || end > type->size - 8)
		return false;
	type->kind = VALUE_CONTAINER;
	type->begin = (uint32_t)begin;
	type->end = (uint32_t)end;
	type->element_size = (uint32_t)size;
	return true;
}

/* ---- Types ---- */

static const struct value_type *build(const struct values_search *search,
				      const struct values_type *type, unsigned int depth);

static enum value_kind kind_of_base(Dwarf_Die *die)
{
	int64_t encoding = 0;

	values_constant_of(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		return VALUE_BOOL;
	case DW_ATE_float:
		return VALUE_FLOAT;
	case DW_ATE_complex_float:
		return VALUE_COMPLEX;
	case DW_ATE_signed:
		return VALUE_SIGNED;
	case DW_ATE_unsigned:
		return VALUE_UNSIGNED;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return dwarf_bytesize(die) == 1 ? VALUE_CHARACTER : VALUE_UNSIGNED;
	default:
		return VALUE_OTHER;
	}
}

/* Is it a number that no type of this machine's C has? gdb knows these floating point numbers by
 * their names, too. */
static bool is_too_wide(const struct value_type *type)
{
	static const char *const quads[] = {"_Float128", "__float128", "real(kind=16)",
					    "complex(kind=16)", "complex _Float128"};

	switch (type->kind) {
	case VALUE_SIGNED:
	case VALUE_UNSIGNED:
		return type->size > 8;
	case VALUE_FLOAT:
	case VALUE_COMPLEX:
		for (size_t i = 0; i < sizeof(quads) / sizeof(quads[0]); i++)
			if (LDBL_MANT_DIG != 113 && !strcmp(type->name, quads[i]))
				return true;
		return false;
	default:
		return false;
	}
}

static void build_names(const struct values_search *search, Dwarf_Die *die, struct value_type *type)
{
	struct value_name *names = NULL;
	size_t capacity = 0;
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return;
	do {
		struct value_name name = {.name = dwarf_diename(&child)};

		if (dwarf_tag(&child) == DW_TAG_enumerator && name.name &&
		    values_constant_of(&child, DW_AT_const_value, &name.value)) {
			name.name = arena_strdup(search->arena, name.name);
			*ARENA_PUSH(search->arena, names, type->num_names, capacity) = name;
		}
	} while (type->num_names < MAX_NAMES && debug_file_look(search->file) &&
		 debug_file_next(&child, &child));
	type->names = names;
}

static bool is_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	/* Static members are variables, and virtual bases lie elsewhere. */
	return (tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
	       !dwarf_hasattr(die, DW_AT_external) && !dwarf_hasattr(die, DW_AT_virtuality);
}

/* Within a struct; false: it is not known before the program runs. */
static bool offset_of(Dwarf_Die *member, uint64_t *ret)
{
	int64_t offset = 0;

	if (dwarf_hasattr(member, DW_AT_data_member_location) &&
	    !values_constant_of(member, DW_AT_data_member_location, &offset))
		return false;
	*ret = (uint64_t)offset;
	return offset >= 0;
}

static bool build_bits(Dwarf_Die *die, struct value_member *member)
{
	uint64_t size = member->type->size, shift = 0;
	int64_t bits = 0, place = 0;

	if (!values_constant_of(die, DW_AT_bit_size, &bits))
		return true;
	if (values_constant_of(die, DW_AT_data_bit_offset, &place)) {
		member->offset = (uint32_t)((uint64_t)place / 8 / size * size);
		shift = (uint64_t)place - 8 * (uint64_t)member->offset;
	} else if (values_constant_of(die, DW_AT_bit_offset, &place)) {
		shift = 8 * size - (uint64_t)place - (uint64_t)bits;
	}
	member->num_bits = (uint8_t)bits;
	member->shift = (uint8_t)shift;
	return bits > 0 && bits <= 64 && shift <= 64 - (uint64_t)bits;
}

static void build_members(const struct values_search *search, Dwarf_Die *die,
			  struct value_type *type, unsigned int depth)
{
	struct value_member *members = NULL;
	size_t capacity = 0;
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return;
	do {
		struct value_member member = {.name = dwarf_diename(&child)};
		bool is_cut = type->is_cut;
		struct values_type of;
		uint64_t offset;

		if (!is_member(&child))
			continue;
		if (type->num_members == MAX_MEMBERS || !debug_file_look(search->file)) {
			type->is_cut = true;
			break;
		}
		type->is_cut = true;
		if (!values_type_of(&child, &of) || !offset_of(&child, &offset))
			continue;
		member.type = build(search, &of, depth + 1);
		member.offset = (uint32_t)offset;
		if (dwarf_tag(&child) == DW_TAG_inheritance)
			member.name = NULL;
		if (!member.type || !build_bits(&child, &member) || member.offset > type->size ||
		    type->size - member.offset < member.type->size)
			continue;
		type->is_cut = is_cut;
		if (member.name)
			member.name = arena_strdup(search->arena, member.name);
		*ARENA_PUSH(search->arena, members, type->num_members, capacity) = member;
	} while (debug_file_next(&child, &child));
	type->members = members;
}

static void build_pointer(const struct values_search *search, Dwarf_Die *die,
			  struct value_type *type, unsigned int depth)
{
	const char *name = "void";
	struct values_type to;

	type->kind = VALUE_POINTER;
	type->size = 8;
	if (values_type_of(die, &to)) {
		const struct value_type *base = NULL;

		if (dwarf_tag(&to.die) == DW_TAG_base_type)
			base = build(search, &to, depth + 1);
		if (base && base->kind == VALUE_CHARACTER)
			type->element = base;
		name = dwarf_diename(&to.die) ?: "...";
	}
	type->name = arena_printf(search->arena, "%s *", name);
}

/* All of its bounds are constants. */
bool values_count_of(const struct values_search *search, Dwarf_Die *range, uint64_t *ret)
{
	int64_t lower = search->is_fortran, value;

	*ret = 0;
	if (dwarf_hasattr(range, DW_AT_byte_stride) ||
	    (dwarf_hasattr(range, DW_AT_lower_bound) &&
	     !values_constant_of(range, DW_AT_lower_bound, &lower)))
		return false;
	if (values_constant_of(range, DW_AT_count, &value))
		*ret = value > 0 ? (uint64_t)value : 0;
	else if (values_constant_of(range, DW_AT_upper_bound, &value))
		*ret = value >= lower ? (uint64_t)value - (uint64_t)lower + 1 : 0;
	else
		return false;
	return true;
}

static const struct value_type *build_array(const struct values_search *search,
					    const struct values_type *type, unsigned int depth)
{
	Dwarf_Die die = type->die;
	const struct value_type *ret;
	struct values_shape shape;
	uint64_t count;

	if (dwarf_hasattr(&die, DW_AT_data_location) || !values_shape_of(search, type, &shape) ||
	    !shape.element_size)
		return NULL;
	ret = build(search, &(struct values_type){.die = shape.element}, depth + 1);
	/* From the shortest stride to the longest. */
	for (size_t i = 0; ret && i + type->first_dimension < shape.num; i++)
		ret = values_count_of(search,
				      &shape.ranges[search->is_fortran ? i : shape.num - 1 - i],
				      &count)
			      ? value_array(search->arena, ret, count, search->max_bytes)
			      : NULL;
	return ret;
}

static const struct value_type *build(const struct values_search *search,
				      const struct values_type *from, unsigned int depth)
{
	struct value_type *type = arena_alloc(search->arena, sizeof(*type));
	struct values_type number;
	Dwarf_Die die = from->die;
	Dwarf_Word size = 0;
	const char *name;

	if (from->is_void || depth == MAX_DEPTH || !debug_file_look(search->file))
		return NULL;
	if (dwarf_tag(&die) == DW_TAG_array_type)
		return build_array(search, from, depth);
	dwarf_aggregate_size(&die, &size);
	name = dwarf_diename(&die);
	*type = (struct value_type){.kind = VALUE_OTHER,
				    .size = size <= search->max_bytes ? (uint32_t)size : 0,
				    .name = arena_strdup(search->arena, name ? name : "...")};
	switch (dwarf_tag(&die)) {
	case DW_TAG_base_type:
		type->kind = kind_of_base(&die);
		if (is_too_wide(type))
			return NULL;
		break;
	case DW_TAG_enumeration_type:
		type->kind = VALUE_ENUM;
		build_names(search, &die, type);
		type->is_unsigned = values_type_of(&die, &number) &&
				    kind_of_base(&number.die) == VALUE_UNSIGNED;
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		build_pointer(search, &die, type, depth);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		type->kind = VALUE_STRUCT;
		if (!build_container(search, from, type))
			build_members(search, &die, type, depth);
		break;
	case DW_TAG_string_type: /* Fortran's character(len=n) */
		type->kind = VALUE_ARRAY;
		type->name = "character";
		type->num = type->total = size;
		type->element = arena_alloc(search->arena, sizeof(*type));
		*(struct value_type *)type->element = (struct value_type){
			.kind = VALUE_CHARACTER, .size = 1, .name = "character"};
		break;
	default:
		break;
	}
	return type->size ? type : NULL;
}

const struct value_type *values_build(const struct values_search *search,
				      const struct values_type *type)
{
	return build(search, type, 0);
}

/* ---- Members ---- */

static bool find_member(const struct values_search *search, Dwarf_Die *type, const char *name,
			unsigned int depth, uint64_t *offset_ret, struct values_type *ret)
{
	struct values_type of;
	Dwarf_Die child;
	uint64_t offset;

	if (depth == MAX_DEPTH || dwarf_child(type, &child))
		return false;
	do {
		const char *own = dwarf_diename(&child);

		if (!debug_file_look(search->file))
			return false;
		if (!is_member(&child) || !offset_of(&child, &offset) ||
		    !values_type_of(&child, &of) || dwarf_hasattr(&child, DW_AT_bit_size))
			continue;
		if (values_name_is(&child, name, search->is_fortran)) {
			*offset_ret += offset;
			*ret = of;
			return true;
		}
		if ((!own || dwarf_tag(&child) == DW_TAG_inheritance) &&
		    find_member(search, &of.die, name, depth + 1, offset_ret, ret)) {
			*offset_ret += offset;
			return true;
		}
	} while (debug_file_next(&child, &child));
	return false;
}

bool values_member(const struct values_search *search, Dwarf_Die *type, const char *name,
		   uint64_t *offset_ret, struct values_type *ret)
{
	*offset_ret = 0;
	return find_member(search, type, name, 0, offset_ret, ret);
}
