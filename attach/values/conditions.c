/* SPDX-License-Identifier: BSD-3-Clause
 * From what a conditional jump compares back to variables with names: where DWARF has a variable in
 * that register or memory, it is that; else the instruction that set the register tells more. */
#include <dwarf.h>

#include "attach/code/condition.h"
#include "attach/code/variables.h"
#include "attach/symbols/cut_guard.h"
#include "attach/values/values.h"
#include "attach/values/values_private.h"

enum { MAX_STEPS = 12, MAX_DEPTH = 4, MAX_SCOPES = 64, MAX_MEMBERS = 16 };

struct naming {
	struct values_search search; /* its address is that of the operand at hand */
	struct debug_functions *functions;
	struct conditions *conditions;
	Dwarf_CFI *cfi;
};

/* What an operand is called. */
struct named {
	const char *text;
	const char *function; /* NULL: global */
	struct values_type type;
};

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

	if (strlen(*text) > 200)
		return false;
	if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
		return find_member_at(naming, type, offset, size, text);
	if (tag == DW_TAG_array_type) {
		if (naming->search.is_fortran || !values_shape_of(&naming->search, type, &shape) ||
		    shape.is_described || shape.num != 1 || !shape.counts[0] ||
		    offset / shape.element_size >= shape.counts[0])
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
	    dwarf_getlocation_addr(&attribute, search->address, &ops, &num, 1) != 1 ||
	    !variables_locate(search->function, &attribute, ops, num, false, &location))
		return false;
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

static bool find_in_block(const struct naming *naming, Dwarf_Die *scope, const struct spot *spot,
			  unsigned int depth, struct named *ret)
{
	Dwarf_Die child;

	if (depth == MAX_SCOPES || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!debug_file_look(naming->search.file))
			return false;
		if (((tag == DW_TAG_lexical_block &&
		      dwarf_haspc(&child, naming->search.address) > 0) ||
		     tag == DW_TAG_common_block) &&
		    find_in_block(naming, &child, spot, depth + 1, ret))
			return true;
		if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
		    is_at(naming, &child, spot, ret))
			return true;
	} while (debug_file_next(&child, &child));
	return false;
}

/* Among a unit's variables and those in its namespaces and modules. */
static bool find_global(const struct naming *naming, Dwarf_Die *scope, const struct spot *spot,
			unsigned int depth, struct named *ret)
{
	Dwarf_Die child;

	if (depth == MAX_SCOPES || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!debug_file_look(naming->search.file))
			return false;
		if ((tag == DW_TAG_variable && is_at(naming, &child, spot, ret)) ||
		    ((tag == DW_TAG_namespace || tag == DW_TAG_module) &&
		     find_global(naming, &child, spot, depth + 1, ret)))
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
	naming->search.address = at;
	if (!debug_file_functions(naming->search.file, at, functions) || !functions->num)
		return false;
	naming->search.unit = functions->unit;
	naming->search.is_fortran = debug_file_is_fortran(&functions->unit);
	naming->search.function = &functions->list[0];
	for (size_t i = functions->num; i-- > 0;)
		if (find_in_block(naming, &functions->list[i], spot, 0, ret)) {
			ret->function = dwarf_diename(&functions->list[i]);
			return ret->function != NULL;
		}
	if (spot->kind != SPOT_ADDRESS)
		return false;
	if (find_global(naming, &functions->unit, spot, 0, ret))
		return true;
	while (!dwarf_get_units(naming->search.file->dwarf, unit, &unit, NULL, &type, &root, NULL))
		if (type == DW_UT_compile && find_global(naming, &root, spot, 0, ret))
			return true;
	return false;
}

/* ---- Operands ---- */

/* Relative to the canonical frame address, if it is known to be a constant away. */
static struct code_place resolve(const struct naming *naming, const struct operand *operand)
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

static bool name_operand(struct naming *naming, const struct operand *operand, int depth,
			 struct named *ret);

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
	if (!name_operand(naming, &base, depth + 1, &pointer) || pointer.type.is_void)
		return false;
	tag = dwarf_tag(&pointer.type.die);
	if ((tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type) ||
	    !values_type_of(&pointer.type.die, &ret->type) || operand->constant < 0)
		return false;
	ret->function = pointer.function;
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
	const struct code_place place = resolve(naming, operand);
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
		spot.slot = resolve(naming, &source.from);
		spot.offset = operand->constant;
		if (find_variable(naming, source.from.at, &spot, ret))
			return true;
	}
	return depth < MAX_DEPTH && name_pointed(naming, operand, depth, ret);
}

static bool name_operand(struct naming *naming, const struct operand *operand, int depth,
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

/* ---- Terms ---- */

static bool take_constant(const struct naming *naming, const struct operand *operand, bool is_float,
			  struct condition_term *term)
{
	const uint8_t *bytes = NULL;
	int64_t bits = 0;
	float single;

	if (operand->kind == OPERAND_CONSTANT) {
		term->number = (double)operand->constant;
	} else {
		if (operand->kind == OPERAND_MEMORY && operand->reg == OPERAND_NO_REGISTER &&
		    operand->index == OPERAND_NO_REGISTER && operand->size <= 8)
			bytes = conditions_constant(naming->conditions, (uint64_t)operand->constant,
						    operand->size);
		if (!bytes)
			return false;
		memcpy(&bits, bytes, operand->size);
		memcpy(&single, bytes, sizeof(single));
		term->number = (double)code_extend(bits, operand->size, true);
		if (is_float && operand->size == 8)
			memcpy(&term->number, &bits, sizeof(bits));
		else if (is_float)
			term->number = (double)single;
	}
	term->is_known = term->is_constant = true;
	return true;
}

/* The file, with its texts, may be closed before the condition is used. */
static void set_name(const struct naming *naming, struct condition_term *term,
		     const struct named *named, bool is_known)
{
	struct arena *arena = naming->search.arena;

	term->name = arena_strdup(arena, named->text);
	term->function = named->function ? arena_strdup(arena, named->function) : NULL;
	term->type = named->type.is_void ? NULL : values_build(&naming->search, &named->type);
	term->is_known = is_known && term->type;
}

/* Where in the frame, or in which register, the value has been. */
static void set_place(const struct naming *naming, struct condition_term *term,
		      const struct operand *operand)
{
	struct code_place place = {
		.kind = CODE_REGISTER, .reg = operand->reg, .size = operand->size};

	if (operand->kind == OPERAND_MEMORY)
		place = resolve(naming, operand);
	term->has_place = operand->kind == OPERAND_MEMORY || !operand->is_float;
	term->place = place;
	term->at = operand->at;
}

/* Of something calculated: the first of what went into it that has a name. */
static void take_mixed(struct naming *naming, const struct source *source,
		       struct condition_term *term)
{
	struct named named;

	if ((source->from.kind != OPERAND_UNKNOWN &&
	     name_operand(naming, &source->from, 1, &named)) ||
	    (source->other.kind != OPERAND_UNKNOWN &&
	     name_operand(naming, &source->other, 1, &named)))
		set_name(naming, term, &named, false);
}

/* Note one step back. False: what is before it says nothing of the term's value. */
static bool take_step(const struct source *source, struct condition_term *term)
{
	switch (source->kind) {
	case SOURCE_COPY:
		return true;
	case SOURCE_ADD:
		if (term->mask || term->is_absolute ||
		    __builtin_add_overflow(term->add, source->by, &term->add))
			return false;
		return true;
	case SOURCE_AND:
		if (term->mask || term->add || term->is_absolute || source->by < 0)
			return false;
		term->mask = (uint64_t)source->by;
		return true;
	case SOURCE_ABSOLUTE:
		if (term->mask || term->add)
			return false;
		term->is_absolute = true;
		return true;
	default:
		return false;
	}
}

static void take_term(struct naming *naming, const struct operand *operand, bool is_float,
		      struct condition_term *term)
{
	struct operand at = *operand;
	struct named named;

	for (int i = 0; i < MAX_STEPS; i++) {
		const struct spot spot = {.kind = SPOT_REGISTER, .reg = at.reg};
		struct source source;

		if (take_constant(naming, &at, is_float, term))
			return;
		if (at.kind == OPERAND_CALL) {
			const char *name =
				conditions_name(naming->conditions, (uint64_t)at.constant);

			term->called = name ? arena_strdup(naming->search.arena, name) : NULL;
			return;
		}
		if (at.kind == OPERAND_MEMORY) {
			if (name_memory(naming, &at, 0, &named)) {
				set_name(naming, term, &named, true);
				set_place(naming, term, &at);
			}
			return;
		}
		if (at.kind != OPERAND_REGISTER)
			return;
		if (find_variable(naming, at.at, &spot, &named)) {
			set_name(naming, term, &named, true);
			set_place(naming, term, &at);
			return;
		}
		struct operand store;

		source = conditions_source(naming->conditions, &at);
		/* A variable that it is stored to says more than what it was calculated from. */
		if ((source.kind != SOURCE_COPY || source.from.kind == OPERAND_CALL) &&
		    conditions_stored(naming->conditions, &at, &store) &&
		    name_memory(naming, &store, 0, &named)) {
			set_name(naming, term, &named, true);
			set_place(naming, term, &store);
			return;
		}
		if (!take_step(&source, term)) {
			take_mixed(naming, &source, term);
			return;
		}
		is_float &= source.from.is_float || source.from.kind == OPERAND_MEMORY;
		at = source.from;
	}
}

/* ---- Comparisons ---- */

static void turn(struct comparison *comparison)
{
	static const uint8_t others[] = {
		[CONDITION_EQUAL] = CONDITION_UNEQUAL,
		[CONDITION_UNEQUAL] = CONDITION_EQUAL,
		[CONDITION_LESS] = CONDITION_GREATER_EQUAL,
		[CONDITION_LESS_EQUAL] = CONDITION_GREATER,
		[CONDITION_GREATER] = CONDITION_LESS_EQUAL,
		[CONDITION_GREATER_EQUAL] = CONDITION_LESS,
		[CONDITION_UNORDERED] = CONDITION_ORDERED,
		[CONDITION_ORDERED] = CONDITION_UNORDERED,
		[CONDITION_TABLE] = CONDITION_UNKNOWN,
	};

	comparison->relation = others[comparison->relation];
	comparison->is_true_for_nan = !comparison->is_true_for_nan;
}

/* A register that holds 1 or 0 of a comparison before, compared with 0: it is that comparison. */
static void look_behind(const struct naming *naming, struct comparison *comparison)
{
	for (int i = 0; i < MAX_STEPS; i++) {
		struct source source;

		if ((comparison->relation != CONDITION_EQUAL &&
		     comparison->relation != CONDITION_UNEQUAL) ||
		    comparison->left.kind != OPERAND_REGISTER ||
		    comparison->right.kind != OPERAND_CONSTANT || comparison->right.constant)
			return;
		source = conditions_source(naming->conditions, &comparison->left);
		if (source.kind == SOURCE_COMPARE) {
			bool is_turned = comparison->relation == CONDITION_EQUAL;

			*comparison = source.comparison;
			if (is_turned)
				turn(comparison);
		} else if (source.kind == SOURCE_COPY && source.from.kind == OPERAND_REGISTER &&
			   !comparison->mask) {
			comparison->left = source.from;
		} else {
			return;
		}
	}
}

static void describe(struct naming *naming, struct comparison *comparison, struct condition *ret)
{
	struct comparison behind = *comparison;
	struct spot spot = {.kind = SPOT_REGISTER, .reg = comparison->left.reg};
	struct named named;

	/* A variable that holds it is what the source has. */
	if (comparison->left.kind != OPERAND_REGISTER ||
	    !find_variable(naming, comparison->left.at, &spot, &named)) {
		look_behind(naming, &behind);
		*comparison = behind;
	}
	ret->relation = comparison->relation;
	ret->is_float = comparison->left.is_float;
	ret->is_unsigned = comparison->is_unsigned;
	ret->is_true_for_nan = comparison->is_true_for_nan;
	ret->size = comparison->left.size;
	ret->left.mask = comparison->mask;
	take_term(naming, &comparison->left, comparison->left.is_float, &ret->left);
	if (comparison->relation != CONDITION_TABLE)
		take_term(naming, &comparison->right, comparison->right.is_float, &ret->right);
}

static bool begin(struct naming *naming, struct values *values, struct arena *arena,
		  struct code_reader *reader, uint32_t module, const struct code_function *function)
{
	Dwarf *dwarf;

	*naming = (struct naming){.search = {.arena = arena, .max_bytes = CODE_MAX_BYTES}};
	naming->search.file = values_file(values, module);
	naming->conditions = conditions_create(reader, module, function);
	if (!naming->search.file || !naming->conditions)
		return false;
	naming->functions = xcalloc(1, sizeof(*naming->functions));
	dwarf = debug_file_dwarf(naming->search.file);
	naming->cfi = conditions_frames(naming->conditions);
	return dwarf != NULL;
}

static void end(struct naming *naming)
{
	if (naming->cfi)
		dwarf_cfi_end(naming->cfi);
	conditions_destroy(naming->conditions);
	free(naming->functions);
}

bool values_condition(struct values *values, struct arena *arena, struct code_reader *reader,
		      uint32_t module, const struct code_function *function, uint64_t address,
		      struct condition *ret)
{
	struct comparison comparison;
	struct cut_guard guard;
	struct naming naming;
	bool is_known = false;

	*ret = (struct condition){.address = address};
	cut_guard_enter(&guard);
	if (begin(&naming, values, arena, reader, module, function) &&
	    conditions_of(naming.conditions, address, &comparison)) {
		describe(&naming, &comparison, ret);
		is_known = true;
	}
	end(&naming);
	return !cut_guard_leave(&guard) && is_known;
}

const char *values_called_through(struct values *values, struct arena *arena,
				  struct code_reader *reader, uint32_t module,
				  const struct code_function *function, uint64_t address)
{
	struct named named = {.text = NULL};
	struct operand pointer;
	struct cut_guard guard;
	struct naming naming;

	cut_guard_enter(&guard);
	if (begin(&naming, values, arena, reader, module, function) &&
	    conditions_call(naming.conditions, address, &pointer) &&
	    !name_operand(&naming, &pointer, 0, &named))
		named.text = NULL;
	end(&naming);
	/* The file, with its texts, may be closed before this is used. */
	named.text = named.text ? arena_strdup(arena, named.text) : NULL;
	return cut_guard_leave(&guard) ? NULL : named.text;
}
