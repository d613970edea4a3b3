/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/wire/budget.h"
#include "model/buffer.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/job/modules.h"
#include "model/wire/decoder.h"
#include "model/xalloc.h"

enum {
	MAX_INSNS = 16 << 20, /* of a function, as bytes of code */
	MAX_RANGES = 64,
	/* Bits of what stands before a value, a place, a variable. */
	IS_KNOWN = 1,
	IS_UNSIGNED = 2,
	IS_SIGNED = 1,
	IS_MEMORY = 2,
	IS_PROTECTED = 2,
	HAS_FILE = 4,
};

/* ---- Modules ---- */

void code_bytes_put_module(struct buffer *b, const struct modules *modules, uint32_t id)
{
	const struct module *module = modules_get(modules, id);

	buffer_put_text(b, module->path);
	buffer_put(b, module->build_id_size);
	buffer_put_bytes(b, module->build_id, module->build_id_size);
}

uint32_t code_bytes_take_module(struct decoder *in, struct modules *modules)
{
	char *path = decoder_take_text(in);
	size_t size = decoder_take_below(in, BUILD_ID_MAX);
	const uint8_t *build_id = decoder_take_bytes(in, size);
	uint32_t module = MODULE_NONE;

	if (!in->is_bad)
		module = modules_intern(modules, path, build_id, size);
	free(path);
	return module;
}

/* ---- Values ---- */

static void put_place(struct buffer *b, const struct code_place *place)
{
	buffer_put(b, (place->is_signed ? IS_SIGNED : 0u) |
			      (place->kind == CODE_MEMORY ? IS_MEMORY : 0u));
	buffer_put(b, place->reg);
	buffer_put(b, place->size);
	buffer_put_signed(b, place->displacement);
}

static struct code_place take_place(struct decoder *in)
{
	uint64_t flags = decoder_take_below(in, IS_SIGNED | IS_MEMORY);
	struct code_place place = {
		.kind = flags & IS_MEMORY ? CODE_MEMORY : CODE_REGISTER,
		.is_signed = flags & IS_SIGNED,
	};

	place.reg = (uint8_t)decoder_take_below(in, CODE_NUM_REGISTERS - 1);
	place.size = (uint8_t)decoder_take_below(in, UINT8_MAX);
	place.displacement = decoder_take_signed(in, INT64_MIN, INT64_MAX);
	return place;
}

static void put_value(struct buffer *b, const struct code_value *value)
{
	buffer_put(b, (value->is_known ? IS_KNOWN : 0u) | (value->is_unsigned ? IS_UNSIGNED : 0u));
	if (!value->is_known)
		return;
	buffer_put(b, value->shift);
	buffer_put_signed(b, value->constant);
	buffer_put(b, value->num_terms);
	for (unsigned int i = 0; i < value->num_terms; i++) {
		put_place(b, &value->terms[i].place);
		buffer_put_signed(b, value->terms[i].factor);
	}
}

static struct code_value take_value(struct decoder *in)
{
	uint64_t flags = decoder_take_below(in, IS_KNOWN | IS_UNSIGNED);
	struct code_value value = {
		.is_known = flags & IS_KNOWN,
		.is_unsigned = flags & IS_UNSIGNED,
	};

	if (!value.is_known)
		return value;
	value.shift = (uint8_t)decoder_take_below(in, 63);
	value.constant = decoder_take_signed(in, INT64_MIN, INT64_MAX);
	value.num_terms = (uint8_t)decoder_take_below(in, CODE_MAX_TERMS);
	for (unsigned int i = 0; i < value.num_terms; i++) {
		value.terms[i].place = take_place(in);
		value.terms[i].factor = decoder_take_signed(in, INT64_MIN, INT64_MAX);
	}
	return value;
}

/* Of an integer. */
static uint8_t take_size(struct decoder *in)
{
	uint64_t size = decoder_take_below(in, 8);

	if (size != 1 && size != 2 && size != 4 && size != 8)
		in->is_bad = true;
	return (uint8_t)size;
}

void code_bytes_put_probe(struct buffer *b, const struct code_probe *probe)
{
	buffer_put(b, probe->offset);
	buffer_put(b, probe->is_return);
	buffer_put(b, probe->size);
	buffer_put(b, probe->is_signed);
	put_value(b, &probe->value);
}

void code_bytes_take_probe(struct decoder *in, struct code_probe *ret)
{
	ret->offset = decoder_take(in);
	ret->is_return = decoder_take_below(in, 1);
	ret->size = take_size(in);
	ret->is_signed = decoder_take_below(in, 1);
	ret->value = take_value(in);
	if (!ret->value.is_known)
		in->is_bad = true;
}

/* ---- Functions ---- */

static void put_insns(struct buffer *b, const struct code_function *function)
{
	uint64_t before = 0;

	buffer_put(b, function->num_insns);
	buffer_put(b, function->num_effects);
	buffer_put(b, function->num_targets);
	for (size_t i = 0; i < function->num_insns; i++) {
		const struct code_insn *insn = &function->insns[i];

		buffer_put(b, insn->address - before);
		buffer_put(b, insn->length);
		buffer_put(b, insn->kind);
		buffer_put(b, insn->target != 0);
		if (insn->target)
			buffer_put_signed(b, (int64_t)(insn->target - insn->address));
		before = insn->address;
		buffer_put(b, insn->num_effects);
		for (uint32_t k = 0; k < insn->num_effects; k++) {
			const struct code_effect *effect =
				&function->effects[insn->first_effect + k];

			put_place(b, &effect->to);
			put_value(b, &effect->value);
		}
		buffer_put(b, insn->num_targets);
		for (uint32_t k = 0; k < insn->num_targets; k++)
			buffer_put_signed(b, (int64_t)(function->targets[insn->first_target + k] -
						       insn->address));
	}
}

/* One that begins at `before` or later. */
static void take_insn(struct decoder *in, struct code_function *function, size_t max_effects,
		      size_t max_targets, uint64_t before)
{
	struct code_insn *insn = &function->insns[function->num_insns];

	/* It ends below the end of all addresses. */
	insn->address = before + decoder_take_below(in, UINT64_MAX - UINT8_MAX - before);
	insn->length = (uint8_t)decoder_take_below(in, UINT8_MAX);
	insn->kind = (uint8_t)decoder_take_below(in, CODE_END);
	if (decoder_take_below(in, 1))
		insn->target =
			insn->address + (uint64_t)decoder_take_signed(in, INT64_MIN, INT64_MAX);
	insn->first_effect = (uint32_t)function->num_effects;
	insn->num_effects = (uint32_t)decoder_take_below(in, max_effects - function->num_effects);
	for (uint32_t i = 0; i < insn->num_effects && !in->is_bad; i++) {
		struct code_effect *effect = &function->effects[function->num_effects++];

		effect->to = take_place(in);
		effect->value = take_value(in);
	}
	insn->first_target = (uint32_t)function->num_targets;
	insn->num_targets = (uint32_t)decoder_take_below(in, max_targets - function->num_targets);
	for (uint32_t i = 0; i < insn->num_targets && !in->is_bad; i++)
		function->targets[function->num_targets++] =
			insn->address + (uint64_t)decoder_take_signed(in, INT64_MIN, INT64_MAX);
	function->num_insns++;
}

static void take_insns(struct decoder *in, struct code_function *function)
{
	size_t num = decoder_take_count(in, MAX_INSNS, 6);
	size_t num_effects = decoder_take_count(in, UINT32_MAX, 5);
	size_t num_targets = decoder_take_count(in, UINT32_MAX, 1);
	uint64_t before = 0;

	function->insns = decoder_allocate(in, num, sizeof(*function->insns));
	function->effects = decoder_allocate(in, num_effects, sizeof(*function->effects));
	function->targets = decoder_allocate(in, num_targets, sizeof(*function->targets));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		take_insn(in, function, num_effects, num_targets, before);
		before = function->insns[i].address;
		if (!function->insns[i].length)
			in->is_bad = true;
	}
	if (function->num_effects != num_effects || function->num_targets != num_targets)
		in->is_bad = true;
}

static void take_ranges(struct decoder *in, struct code_function *function)
{
	size_t num = decoder_take_count(in, MAX_RANGES, 2);

	function->ranges = decoder_allocate(in, num, sizeof(*function->ranges));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		struct code_range *range = &function->ranges[function->num_ranges++];

		range->begin = decoder_take(in);
		range->end = range->begin + decoder_take_below(in, UINT64_MAX - range->begin);
	}
	if (!num)
		in->is_bad = true;
	else
		function->entry = function->ranges[0].begin;
}

/* ---- Variables ---- */

static void put_variable(struct buffer *b, const struct code_variable *variable)
{
	buffer_put_text(b, variable->name);
	buffer_put(b, (variable->is_signed ? IS_SIGNED : 0u) |
			      (variable->is_protected ? IS_PROTECTED : 0u) |
			      (variable->file ? HAS_FILE : 0u));
	if (variable->file)
		buffer_put_text(b, variable->file);
	buffer_put_signed(b, variable->line);
	buffer_put(b, variable->size);
	buffer_put(b, variable->num_locations);
	for (size_t i = 0; i < variable->num_locations; i++) {
		const struct code_location *location = &variable->locations[i];

		buffer_put(b, location->range.begin);
		buffer_put(b, location->range.end);
		put_value(b, &location->value);
	}
}

static void take_variable(struct decoder *in, struct code_variable *variable)
{
	uint64_t flags;
	size_t num;

	variable->name = decoder_take_text(in);
	flags = decoder_take_below(in, IS_SIGNED | IS_PROTECTED | HAS_FILE);
	variable->is_signed = flags & IS_SIGNED;
	variable->is_protected = flags & IS_PROTECTED;
	if (flags & HAS_FILE)
		variable->file = decoder_take_text(in);
	variable->line = decoder_take_int(in);
	variable->size = take_size(in);
	num = decoder_take_count(in, UINT32_MAX, 3);
	variable->locations = decoder_allocate(in, num, sizeof(*variable->locations));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		struct code_location *location = &variable->locations[variable->num_locations++];

		location->range.begin = decoder_take(in);
		location->range.end = decoder_take(in);
		location->value = take_value(in);
	}
}

static struct code_variables *take_variables(struct decoder *in)
{
	struct code_variables *variables = xcalloc(1, sizeof(*variables));
	size_t num;

	variables->has_debug_info = decoder_take_below(in, 1);
	num = decoder_take_count(in, UINT32_MAX, 5);
	variables->variables = decoder_allocate(in, num, sizeof(*variables->variables));
	for (size_t i = 0; i < num && !in->is_bad; i++)
		take_variable(in, &variables->variables[variables->num_variables++]);
	return variables;
}

void code_bytes_put_function(struct buffer *b, const struct code_function *function,
			     const struct code_variables *variables)
{
	buffer_put(b, function->num_ranges);
	for (size_t i = 0; i < function->num_ranges; i++) {
		buffer_put(b, function->ranges[i].begin);
		buffer_put(b, function->ranges[i].end - function->ranges[i].begin);
	}
	buffer_put(b, function->preserved);
	buffer_put(b, function->stack_pointer);
	buffer_put(b, function->entry_offset);
	put_insns(b, function);
	buffer_put(b, variables->has_debug_info);
	buffer_put(b, variables->num_variables);
	for (size_t i = 0; i < variables->num_variables; i++)
		put_variable(b, &variables->variables[i]);
}

struct code_function *code_bytes_take_function(struct decoder *in,
					       struct code_variables **variables_ret)
{
	struct code_function *function = xcalloc(1, sizeof(*function));
	struct code_variables *variables;

	take_ranges(in, function);
	function->preserved = decoder_take(in);
	function->stack_pointer = (uint8_t)decoder_take_below(in, CODE_NUM_REGISTERS - 1);
	function->entry_offset = (uint8_t)decoder_take_below(in, UINT8_MAX);
	take_insns(in, function);
	variables = take_variables(in);
	if (in->is_bad) {
		code_function_destroy(function);
		code_variables_destroy(variables);
		return NULL;
	}
	*variables_ret = variables;
	return function;
}

/* ---- Questions ---- */

static void put_addresses(struct buffer *b, const struct code_address *addresses, size_t num)
{
	buffer_put(b, num);
	for (size_t i = 0; i < num; i++) {
		buffer_put_index(b, addresses[i].module);
		buffer_put(b, addresses[i].address);
	}
}

void code_bytes_put_question(struct buffer *b, const struct code_question *question,
			     const struct modules *modules)
{
	size_t num = modules_count(modules);

	buffer_put(b, num);
	for (size_t i = 0; i < num; i++)
		code_bytes_put_module(b, modules, (uint32_t)i);
	buffer_put(b, question->num_probes);
	for (size_t i = 0; i < question->num_probes; i++) {
		buffer_put_index(b, question->probes[i].module);
		code_bytes_put_probe(b, &question->probes[i]);
	}
	put_addresses(b, question->names, question->num_names);
	put_addresses(b, question->functions, question->num_functions);
}

/* The modules by their numbers in the question. */
static uint32_t *take_modules(struct decoder *in, struct modules *modules, size_t *num_ret)
{
	size_t num = decoder_take_count(in, UINT32_MAX - 1, 2);
	uint32_t *numbers = decoder_allocate(in, num, sizeof(*numbers));

	for (size_t i = 0; i < num && !in->is_bad; i++)
		numbers[i] = code_bytes_take_module(in, modules);
	*num_ret = num;
	return numbers;
}

static uint32_t take_module(struct decoder *in, const uint32_t *numbers, size_t num)
{
	uint32_t index = decoder_take_index(in, num);

	if (!in->is_bad && index != MODULE_NONE)
		return numbers[index];
	in->is_bad = true;
	return MODULE_NONE;
}

static struct code_address *take_addresses(struct decoder *in, const uint32_t *numbers,
					   size_t num_modules, size_t *num_ret)
{
	size_t num = decoder_take_count(in, UINT32_MAX, 2);
	struct code_address *addresses = decoder_allocate(in, num, sizeof(*addresses));

	for (size_t i = 0; i < num && !in->is_bad; i++) {
		addresses[i].module = take_module(in, numbers, num_modules);
		addresses[i].address = decoder_take(in);
	}
	*num_ret = num;
	return addresses;
}

int code_bytes_take_question(const uint8_t *bytes, size_t size, struct modules *modules,
			     struct code_question *ret)
{
	struct decoder in = {.at = bytes, .end = bytes + size, .memory = budget_stored(size)};
	struct code_probe *probes;
	uint32_t *numbers;
	size_t num_modules;

	*ret = (struct code_question){.num_probes = 0};
	numbers = take_modules(&in, modules, &num_modules);
	ret->num_probes = decoder_take_count(&in, UINT32_MAX, 8);
	ret->probes = probes = decoder_allocate(&in, ret->num_probes, sizeof(*probes));
	for (size_t i = 0; i < ret->num_probes && !in.is_bad; i++) {
		probes[i].module = take_module(&in, numbers, num_modules);
		code_bytes_take_probe(&in, &probes[i]);
	}
	ret->names = take_addresses(&in, numbers, num_modules, &ret->num_names);
	ret->functions = take_addresses(&in, numbers, num_modules, &ret->num_functions);
	free(numbers);
	if (!in.is_bad && in.at == in.end)
		return 0;
	code_question_deinit(ret);
	return -1;
}
