/* SPDX-License-Identifier: BSD-3-Clause
 * Which variable is in a register or in memory at a place of the program, by DWARF. */
#include <dwarf.h>

#include "attach/code/variables.h"
#include "attach/values/operand_names.h"

enum { MAX_DEPTH = 4, MAX_SCOPES = 64 };

/* Where it is: memory at reg + offset, an address, or at the pointer in `slot` + offset. */
struct spot {
	enum { SPOT_REGISTER, SPOT_MEMORY, SPOT_ADDRESS, SPOT_BEHIND } kind;
	uint8_t reg;
	int64_t offset;
	struct code_place slot; /* of SPOT_BEHIND */
	uint8_t size;
};

/* ---- Parts of a variable ---- */

/* The member, element or base class at the offset of a type, as text behind `text`. False: there is
 * none of that size. */
static bool find_part(const struct naming *naming, struct values_type *type, uint64_t offset,
		      uint8_t size, const char **text);

static bool find_member_at(const struct naming *naming, struct values_type *type, uint64_t offset,
			   uint8_t size, const char **text)
{
	Dwarf_Die child;

	if (dwarf_child(&type->die, &child))
		return false;
	do {
		struct values_type member;
		Dwarf_Attribute attribute;
		Dwarf_Word at = 0, length;
		int tag = dwarf_tag(&child);
		const char *name = dwarf_diename(&child);

		if (!debug_file_look(naming->search.file))
			return false;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
		    !values_type_of(&child, &member) ||
		    dwarf_aggregate_size(&member.die, &length) ||
		    dwarf_hasattr(&child, DW_AT_bit_size) ||
		    dwarf_hasattr(&child, DW_AT_data_bit_offset) ||
		    dwarf_hasattr(&child, DW_AT_external))
			continue;
		if (dwarf_attr(&child, DW_AT_data_member_location, &attribute) &&
		    dwarf_formudata(&attribute, &at))
			continue;
		if (offset < at || offset - at >= length)
			continue;
		if (tag == DW_TAG_member && name)
			*text = arena_printf(naming->search.arena, "%s%s%s", *text,
					     naming->search.is_fortran ? "%" : ".", name);
		*type = member;
		return find_part(naming, type, offset - at, size, text);
	} while (debug_file_next(&child, &child));
	return false;
}

static bool find_part(const struct naming *naming, struct values_type *type, uint64_t offset,
		      uint8_t size, const char **text)
{
	int tag = dwarf_tag(&type->die);
	struct values_shape shape;
	Dwarf_Word length;
	uint64_t count;

	if (strlen(*text) > 200)
		return false;
	if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
		return find_member_at(naming, type, offset, size, text);
	if (tag == DW_TAG_array_type) {
		if (naming->search.is_fortran || !values_shape_of(&naming->search, type, &shape) ||
		    dwarf_hasattr(&type->die, DW_AT_data_location) || shape.num != 1 ||
		    !shape.element_size ||
		    !values_count_of(&naming->search, &shape.ranges[0], &count) ||
		    offset / shape.element_size >= count)
			return false;
		*text = arena_printf(naming->search.arena, "%s[%llu]", *text,
				     (unsigned long long)(offset / shape.element_size));
		*type = (struct values_type){.die = shape.element};
		return !dwarf_peel_type(&type->die, &type->die) &&
		       find_part(naming, type, offset % shape.element_size, size, text);
	}
	return tag != DW_TAG_union_type && !offset && !dwarf_aggregate_size(&type->die, &length) &&
	       length == size;
}

/* ---- Variables ---- */

/* Is the variable, or a part of it, at the spot? */
static bool is_at(const struct naming *naming, Dwarf_Die *die, const struct spot *spot,
		  struct named *ret)
{
	const struct values_search *search = &naming->search;
	const char *text = dwarf_diename(die);
	struct variables_location location;
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t num;
	int64_t offset;

	if (!text || dwarf_hasattr_integrate(die, DW_AT_declaration) ||
	    !values_type_of(die, &ret->type) ||
	    !dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, search->level.address, &ops, &num, 1) != 1 ||
	    !variables_locate(search->level.function, &attribute, ops, num, &location))
		return false;
	ret->variable = dwarf_dieoffset(die);
	const struct code_value *value = &location.value;
	const struct code_place *place = &value->terms[0].place;
	bool is_sum = value->num_terms == 1 && value->terms[0].factor == 1 && !value->shift;
	switch (spot->kind) {
	case SPOT_REGISTER:
		if (!location.is_value || !is_sum || value->constant ||
		    place->kind != CODE_REGISTER || place->reg != spot->reg)
			return false;
		ret->text = text;
		return true;
	case SPOT_ADDRESS:
		if (!location.is_global || location.is_value)
			return false;
		break;
	case SPOT_MEMORY:
		if (location.is_value || !is_sum || place->kind != CODE_REGISTER ||
		    place->reg != spot->reg)
			return false;
		break;
	case SPOT_BEHIND:
		if (location.is_value || !is_sum || place->kind != CODE_MEMORY ||
		    place->reg != spot->slot.reg || place->displacement != spot->slot.displacement)
			return false;
		break;
	}
	offset = spot->offset - value->constant;
	if (offset < 0 || !find_part(naming, &ret->type, (uint64_t)offset, spot->size, &text))
		return false;
	ret->text = text;
	return true;
}

static bool has_variables(const struct naming *naming, Dwarf_Die *scope, bool is_global)
{
	int tag = dwarf_tag(scope);

	if (is_global)
		return tag == DW_TAG_namespace || tag == DW_TAG_module;
	return tag == DW_TAG_common_block || (tag == DW_TAG_lexical_block &&
					      dwarf_haspc(scope, naming->search.level.address) > 0);
}

/* In a function and its blocks there; is_global: in a unit and its namespaces and modules. */
static bool find_in(const struct naming *naming, Dwarf_Die *scope, bool is_global,
		    const struct spot *spot, unsigned int depth, struct named *ret)
{
	Dwarf_Die child;

	if (depth == MAX_SCOPES || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!debug_file_look(naming->search.file))
			return false;
		if ((has_variables(naming, &child, is_global) &&
		     find_in(naming, &child, is_global, spot, depth + 1, ret)) ||
		    ((tag == DW_TAG_variable || (!is_global && tag == DW_TAG_formal_parameter)) &&
		     is_at(naming, &child, spot, ret)))
			return true;
	} while (debug_file_next(&child, &child));
	return false;
}

static bool find_variable(struct naming *naming, uint64_t at, const struct spot *spot,
			  struct named *ret)
{
	struct debug_functions *functions = naming->functions;
	Dwarf_CU *unit = NULL;
	Dwarf_Die root;
	uint8_t type;

	*ret = (struct named){.text = NULL};
	naming->search.level.address = at;
	if (!debug_file_functions(naming->search.file, at, functions) || !functions->num)
		return false;
	naming->search.unit = functions->unit;
	naming->search.is_fortran = debug_file_is_fortran(&functions->unit);
	naming->search.level.function = &functions->list[0];
	for (size_t i = functions->num; i-- > 0;)
		if (find_in(naming, &functions->list[i], false, spot, 0, ret)) {
			ret->function = dwarf_diename(&functions->list[i]);
			return ret->function != NULL;
		}
	if (spot->kind != SPOT_ADDRESS)
		return false;
	if (find_in(naming, &functions->unit, true, spot, 0, ret))
		return true;
	while (!dwarf_get_units(naming->search.file->dwarf, unit, &unit, NULL, &type, &root, NULL))
		if (type == DW_UT_compile && find_in(naming, &root, true, spot, 0, ret))
			return true;
	return false;
}

/* ---- Operands ---- */

struct code_place operand_place(const struct naming *naming, const struct operand *operand)
{
	struct code_place place = {.kind = CODE_MEMORY,
				   .reg = operand->reg,
				   .size = operand->size,
				   .displacement = operand->constant};
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t num;

	if (!naming->cfi || dwarf_cfi_addrframe(naming->cfi, operand->at, &frame))
		return place;
	if (!dwarf_frame_cfa(frame, &ops, &num) && num == 1) {
		uint64_t reg = ops[0].atom == DW_OP_bregx ? ops[0].number
							  : ops[0].atom - (uint64_t)DW_OP_breg0;
		Dwarf_Word offset = ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number;

		if (reg == operand->reg) {
			place.reg = CODE_CFA;
			place.displacement -= (int64_t)offset;
		}
	}
	free(frame);
	return place;
}

/* What the pointer in a register leads to. */
static bool name_pointed(struct naming *naming, const struct operand *operand, int depth,
			 struct named *ret)
{
	struct operand base = *operand;
	struct named pointer;
	const char *text;
	int tag;

	base.kind = OPERAND_REGISTER;
	base.size = 8;
	if (!operand_name(naming, &base, depth + 1, &pointer) || pointer.type.is_void)
		return false;
	tag = dwarf_tag(&pointer.type.die);
	if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type) ||
	    !values_type_of(&pointer.type.die, &ret->type) || operand->constant < 0)
		return false;
	ret->function = pointer.function;
	ret->variable = pointer.variable;
	text = "";
	if (!find_part(naming, &ret->type, (uint64_t)operand->constant, operand->size, &text))
		return false;
	if (tag == DW_TAG_reference_type)
		ret->text = arena_printf(naming->search.arena, "%s%s", pointer.text, text);
	else if (*text == '.' || *text == '%')
		ret->text = arena_printf(naming->search.arena, "%s->%s", pointer.text, text + 1);
	else if (!*text)
		ret->text = arena_printf(naming->search.arena, "*%s", pointer.text);
	else
		return false;
	return true;
}

static bool name_memory(struct naming *naming, const struct operand *operand, int depth,
			struct named *ret)
{
	struct spot spot = {
		.kind = SPOT_ADDRESS, .offset = operand->constant, .size = operand->size};
	struct operand base = *operand;
	struct source source;

	if (operand->index != OPERAND_NO_REGISTER)
		return false;
	if (operand->reg == OPERAND_NO_REGISTER)
		return find_variable(naming, operand->at, &spot, ret);
	const struct code_place place = operand_place(naming, operand);
	spot.kind = SPOT_MEMORY;
	spot.reg = place.reg;
	spot.offset = place.displacement;
	if (find_variable(naming, operand->at, &spot, ret))
		return true;
	base.kind = OPERAND_REGISTER;
	base.size = 8;
	source = conditions_source(naming->conditions, &base);
	if (source.kind == SOURCE_COPY && source.from.kind == OPERAND_CONSTANT) {
		spot.kind = SPOT_ADDRESS;
		spot.offset = operand->constant + source.from.constant;
		return find_variable(naming, operand->at, &spot, ret);
	}
	if (source.kind == SOURCE_COPY && source.from.kind == OPERAND_MEMORY &&
	    source.from.index == OPERAND_NO_REGISTER && source.from.reg != OPERAND_NO_REGISTER) {
		spot.kind = SPOT_BEHIND;
		spot.slot = operand_place(naming, &source.from);
		spot.offset = operand->constant;
		if (find_variable(naming, source.from.at, &spot, ret))
			return true;
	}
	return depth < MAX_DEPTH && name_pointed(naming, operand, depth, ret);
}

bool operand_name(struct naming *naming, const struct operand *operand, int depth,
		  struct named *ret)
{
	struct operand at = *operand;

	for (int i = 0; i < MAX_STEPS; i++) {
		const struct spot spot = {.kind = SPOT_REGISTER, .reg = at.reg};
		struct source source;

		if (at.kind == OPERAND_MEMORY)
			return name_memory(naming, &at, depth, ret);
		if (at.kind != OPERAND_REGISTER)
			return false;
		if (find_variable(naming, at.at, &spot, ret))
			return true;
		source = conditions_source(naming->conditions, &at);
		if (source.kind != SOURCE_COPY)
			return false;
		at = source.from;
	}
	return false;
}

bool operand_variable(struct naming *naming, const struct operand *operand, struct named *ret)
{
	const struct spot spot = {.kind = SPOT_REGISTER, .reg = operand->reg};

	if (operand->kind == OPERAND_MEMORY)
		return name_memory(naming, operand, 0, ret);
	return operand->kind == OPERAND_REGISTER && find_variable(naming, operand->at, &spot, ret);
}
