/* SPDX-License-Identifier: BSD-3-Clause
 * From what a conditional jump compares back to variables with names: where DWARF has a variable in
 * that register or memory, it is that; else the instruction that set the register tells more. */
#include "attach/symbols/cut_guard.h"
#include "attach/values/operand_names.h"
#include "attach/values/values.h"

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
		memcpy(&single, &bits, sizeof(single));
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
	term->variable = named->variable;
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
		place = operand_place(naming, operand);
	term->has_place = operand->kind == OPERAND_MEMORY || !operand->is_float;
	term->place = place;
	term->at = operand->at;
}

/* Of a part of a variable nothing is known but the bits that are cut out of it. */
static bool is_whole(const struct operand *reg, const struct condition_term *term)
{
	return !term->type || reg->size >= term->type->size ||
	       (term->mask && reg->size < 8 && !(term->mask >> 8 * reg->size));
}

/* Of something calculated: the first of what went into it that has a name. */
static void take_mixed(struct naming *naming, const struct source *source,
		       struct condition_term *term)
{
	struct named named;

	if ((source->from.kind != OPERAND_UNKNOWN &&
	     operand_name(naming, &source->from, 1, &named)) ||
	    (source->other.kind != OPERAND_UNKNOWN &&
	     operand_name(naming, &source->other, 1, &named)))
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
			if (operand_variable(naming, &at, &named)) {
				set_name(naming, term, &named, true);
				set_place(naming, term, &at);
			}
			return;
		}
		if (at.kind != OPERAND_REGISTER)
			return;
		if (operand_variable(naming, &at, &named)) {
			set_name(naming, term, &named, true);
			set_place(naming, term, &at);
			term->is_known &= is_whole(&at, term);
			return;
		}
		struct operand store;

		source = conditions_source(naming->conditions, &at);
		/* A variable that it is stored to says more than what it was calculated from. */
		if ((source.kind != SOURCE_COPY || source.from.kind == OPERAND_CALL) &&
		    conditions_stored(naming->conditions, &at, &store) &&
		    operand_variable(naming, &store, &named)) {
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
	struct named named;

	/* A variable that holds it is what the source has. */
	if (comparison->left.kind != OPERAND_REGISTER ||
	    !operand_variable(naming, &comparison->left, &named)) {
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
	naming->search.file = values_file(values_modules(values), module);
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
	if (cut_guard_leave(&guard) || !is_known) {
		*ret = (struct condition){.address = address};
		return false;
	}
	return true;
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
	    !operand_name(&naming, &pointer, 0, &named))
		named.text = NULL;
	end(&naming);
	/* The file, with its texts, may be closed before this is used. */
	named.text = named.text ? arena_strdup(arena, named.text) : NULL;
	return cut_guard_leave(&guard) ? NULL : named.text;
}
