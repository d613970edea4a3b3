/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/code_sample.h"

struct code_value sample_value(uint8_t reg, int64_t constant)
{
	struct code_value value = {.is_known = true, .num_terms = 1, .constant = constant};

	value.terms[0].factor = -3;
	value.terms[0].place = (struct code_place){
		.kind = CODE_MEMORY, .reg = reg, .size = 4, .is_signed = true, .displacement = -20};
	return value;
}

struct code_function *make_function(uint64_t entry)
{
	static const struct code_insn insns[] = {
		{.address = 0,
		 .length = 4,
		 .kind = CODE_PLAIN,
		 .first_effect = 0,
		 .num_effects = 2},
		{.address = 4, .length = 12, .kind = CODE_CALL, .target = 0x80},
		{.address = 16,
		 .length = 8,
		 .kind = CODE_SWITCH,
		 .first_target = 0,
		 .num_targets = 2},
		{.address = 24, .length = 8, .kind = CODE_BRANCH, .target = 4},
		{.address = 4096, .length = 4, .kind = CODE_END},
	};
	struct code_function *function = xcalloc(1, sizeof(*function));

	function->entry = entry;
	function->num_ranges = 2;
	function->ranges = xcalloc(2, sizeof(*function->ranges));
	function->ranges[0] = (struct code_range){entry, entry + 32};
	function->ranges[1] = (struct code_range){entry + 4096, entry + 4100};
	function->num_insns = NUM_OF(insns);
	function->insns = xcalloc(NUM_OF(insns), sizeof(*insns));
	memcpy(function->insns, insns, sizeof(insns));
	for (size_t i = 0; i < NUM_OF(insns); i++) {
		function->insns[i].address += entry;
		function->insns[i].target += insns[i].target ? entry : 0;
	}
	function->num_effects = 2;
	function->effects = xcalloc(2, sizeof(*function->effects));
	function->effects[0].to = (struct code_place){.reg = 7, .size = 8};
	function->effects[0].value = sample_value(7, INT64_MIN);
	function->effects[1].to =
		(struct code_place){.kind = CODE_MEMORY, .reg = CODE_CFA, .size = 16};
	function->num_targets = 2;
	function->targets = xcalloc(2, sizeof(*function->targets));
	function->targets[0] = entry + 24;
	function->targets[1] = entry;
	function->preserved = UINT64_C(1) << 32 | 8;
	function->stack_pointer = 7;
	function->entry_offset = 8;
	return function;
}

struct code_variables *make_variables(uint64_t entry)
{
	struct code_variables *variables = xcalloc(1, sizeof(*variables));
	struct code_variable *variable;

	variables->has_debug_info = true;
	variables->num_variables = 2;
	variable = variables->variables = xcalloc(2, sizeof(*variable));
	variable->name = xstrdup("step");
	variable->file = xstrdup("solve.c");
	variable->line = 12;
	variable->size = 8;
	variable->is_protected = true;
	variable->num_locations = 1;
	variable->locations = xcalloc(1, sizeof(*variable->locations));
	variable->locations[0].range = (struct code_range){entry, entry + 16};
	variable->locations[0].value = sample_value(CODE_CFA, 5);
	variable++;
	variable->name = xstrdup("k");
	variable->size = 2;
	variable->is_signed = true;
	variable->locations = xcalloc(1, sizeof(*variable->locations));
	return variables;
}

struct code_probe make_probe(uint32_t module, uint64_t offset)
{
	return (struct code_probe){.module = module,
				   .offset = offset,
				   .is_return = true,
				   .size = 4,
				   .is_signed = true,
				   .value = sample_value(6, 1)};
}

static void assert_same_place(const struct code_place *a, const struct code_place *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->reg, b->reg);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->is_signed, b->is_signed);
	assert_true(a->displacement == b->displacement);
}

static void assert_same_value(const struct code_value *a, const struct code_value *b)
{
	assert_int_equal(a->is_known, b->is_known);
	assert_int_equal(a->is_unsigned, b->is_unsigned);
	assert_int_equal(a->num_terms, b->num_terms);
	assert_int_equal(a->shift, b->shift);
	assert_true(a->constant == b->constant);
	for (unsigned int i = 0; i < a->num_terms; i++) {
		assert_same_place(&a->terms[i].place, &b->terms[i].place);
		assert_true(a->terms[i].factor == b->terms[i].factor);
	}
}

static void assert_same_insns(const struct code_function *a, const struct code_function *b)
{
	assert_int_equal(a->num_insns, b->num_insns);
	assert_int_equal(a->num_effects, b->num_effects);
	assert_int_equal(a->num_targets, b->num_targets);
	for (size_t i = 0; i < a->num_insns; i++) {
		const struct code_insn *x = &a->insns[i], *y = &b->insns[i];

		assert_true(x->address == y->address && x->target == y->target);
		assert_int_equal(x->length, y->length);
		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->num_effects, y->num_effects);
		for (uint32_t k = 0; k < x->num_effects; k++) {
			const struct code_effect *v = &a->effects[x->first_effect + k];
			const struct code_effect *w = &b->effects[y->first_effect + k];

			assert_same_place(&v->to, &w->to);
			assert_same_value(&v->value, &w->value);
		}
		assert_int_equal(x->num_targets, y->num_targets);
		for (uint32_t k = 0; k < x->num_targets; k++)
			assert_true(a->targets[x->first_target + k] ==
				    b->targets[y->first_target + k]);
	}
}

void assert_same_function(const struct code_function *a, const struct code_function *b)
{
	assert_true(a->entry == b->entry && a->preserved == b->preserved);
	assert_int_equal(a->stack_pointer, b->stack_pointer);
	assert_int_equal(a->entry_offset, b->entry_offset);
	assert_int_equal(a->num_ranges, b->num_ranges);
	assert_memory_equal(a->ranges, b->ranges, a->num_ranges * sizeof(*a->ranges));
	assert_same_insns(a, b);
}

void assert_same_variables(const struct code_variables *a, const struct code_variables *b)
{
	assert_int_equal(a->has_debug_info, b->has_debug_info);
	assert_int_equal(a->num_variables, b->num_variables);
	for (size_t i = 0; i < a->num_variables; i++) {
		const struct code_variable *x = &a->variables[i], *y = &b->variables[i];

		assert_string_equal(x->name, y->name);
		assert_int_equal(!x->file, !y->file);
		if (x->file)
			assert_string_equal(x->file, y->file);
		assert_int_equal(x->line, y->line);
		assert_int_equal(x->size, y->size);
		assert_int_equal(x->is_signed, y->is_signed);
		assert_int_equal(x->is_protected, y->is_protected);
		assert_int_equal(x->num_locations, y->num_locations);
		for (size_t k = 0; k < x->num_locations; k++) {
			assert_memory_equal(&x->locations[k].range, &y->locations[k].range,
					    sizeof(x->locations[k].range));
			assert_same_value(&x->locations[k].value, &y->locations[k].value);
		}
	}
}

void assert_same_code(const struct code_store *a, const struct code_store *b)
{
	assert_int_equal(code_store_count(a), code_store_count(b));
	for (size_t i = 0; i < code_store_count(a); i++) {
		const struct code_body *x = code_store_get(a, i), *y = code_store_get(b, i);

		assert_int_equal(x->module, y->module);
		assert_same_function(x->function, y->function);
		assert_same_variables(x->variables, y->variables);
	}
}
