/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/codec.h"
#include "model/job/code.h"
#include "model/job/modules.h"
#include "model/budget.h"
#include "model/wire/code_bytes.h"

enum {
	MAX_INSNS = 16 << 20, /* of a function, as bytes of code */
	MAX_RANGES = 64,
};

/* ---- Modules ---- */

void code_bytes_module(struct codec *c, struct modules *modules, uint32_t *id)
{
	struct module module = {.path = NULL};

	if (c->to)
		module = *modules_get(modules, *id);
	CODEC_TEXT(c, module.path);
	codec_bytes(c, module.build_id, &module.build_id_size, BUILD_ID_MAX);
	if (c->to)
		return;
	*id = MODULE_NONE;
	if (codec_goes_on(c))
		*id = modules_intern(modules, module.path, module.build_id, module.build_id_size);
	free(module.path);
}

/* ---- Values ---- */

static void code_place(struct codec *c, struct code_place *place)
{
	bool is_memory = place->kind == CODE_MEMORY;

	CODEC_FLAGS(c, &place->is_signed, &is_memory);
	if (c->from)
		place->kind = is_memory ? CODE_MEMORY : CODE_REGISTER;
	CODEC_BELOW(c, place->reg, CODE_NUM_REGISTERS - 1);
	CODEC(c, place->size);
	CODEC_SIGNED(c, place->displacement);
}

static void code_value(struct codec *c, struct code_value *value)
{
	CODEC_FLAGS(c, &value->is_known, &value->is_unsigned);
	if (!value->is_known)
		return;
	CODEC_BELOW(c, value->shift, 63);
	CODEC_SIGNED(c, value->constant);
	CODEC_BELOW(c, value->num_terms, CODE_MAX_TERMS);
	for (unsigned int i = 0; i < value->num_terms; i++) {
		code_place(c, &value->terms[i].place);
		CODEC_SIGNED(c, value->terms[i].factor);
	}
}

/* Of an integer. */
static void code_size(struct codec *c, uint8_t *size)
{
	CODEC_BELOW(c, *size, 8);
	codec_refuse(c, *size == 0 || (*size & (*size - 1)));
}

void code_bytes_probe(struct codec *c, struct code_probe *probe)
{
	CODEC(c, probe->offset);
	CODEC_BELOW(c, probe->is_return, 1);
	code_size(c, &probe->size);
	CODEC_BELOW(c, probe->is_signed, 1);
	code_value(c, &probe->value);
	codec_refuse(c, !probe->value.is_known);
}

static void code_read(struct codec *c, struct code_read *read)
{
	CODEC_BELOW(c, read->num_bytes, CODE_MAX_BYTES);
	CODEC_BELOW(c, read->is_global, 1);
	CODEC_TABLE(c, read->ops, read->num_ops, CODE_MAX_OPS, 2);
	for (size_t i = 0; i < read->num_ops; i++) {
		CODEC_BELOW(c, read->ops[i].kind, CODE_OP_ELEMENTS);
		CODEC_SIGNED(c, read->ops[i].operand);
	}
}

/* ---- Functions ---- */

/* One that begins at `before` or later, and the next of the function's effects and targets. */
static void code_insn(struct codec *c, struct code_function *function, struct code_insn *insn,
		      size_t *effects, size_t *targets, uint64_t before)
{
	bool has_target = insn->target != 0;

	/* It ends below the end of all addresses. */
	CODEC_FIELD(c, insn->address, buffer_put(c->to, insn->address - before),
		    before + decoder_take_below(c->from, UINT64_MAX - UINT8_MAX - before));
	CODEC(c, insn->length);
	codec_refuse(c, !insn->length);
	CODEC_BELOW(c, insn->kind, CODE_END);
	CODEC_BELOW(c, has_target, 1);
	if (has_target)
		CODEC_AROUND(c, insn->target, insn->address);
	CODEC_BELOW(c, insn->num_effects, function->num_effects - *effects);
	if (c->from)
		insn->first_effect = (uint32_t)*effects;
	*effects += insn->num_effects;
	for (uint32_t i = 0; i < insn->num_effects && codec_goes_on(c); i++) {
		struct code_effect *effect = &function->effects[insn->first_effect + i];

		code_place(c, &effect->to);
		code_value(c, &effect->value);
	}
	CODEC_BELOW(c, insn->num_targets, function->num_targets - *targets);
	if (c->from)
		insn->first_target = (uint32_t)*targets;
	*targets += insn->num_targets;
	for (uint32_t i = 0; i < insn->num_targets && codec_goes_on(c); i++)
		CODEC_AROUND(c, function->targets[insn->first_target + i], insn->address);
}

static void code_insns(struct codec *c, struct code_function *function)
{
	size_t effects = 0, targets = 0;

	codec_count(c, &function->num_insns, MAX_INSNS, 6);
	codec_count(c, &function->num_effects, UINT32_MAX, 5);
	codec_count(c, &function->num_targets, UINT32_MAX, 1);
	if (c->from) {
		function->insns = codec_allocate(c, &function->num_insns, sizeof(*function->insns));
		function->effects =
			codec_allocate(c, &function->num_effects, sizeof(*function->effects));
		function->targets =
			codec_allocate(c, &function->num_targets, sizeof(*function->targets));
	}
	for (size_t i = 0; i < function->num_insns && codec_goes_on(c); i++)
		code_insn(c, function, &function->insns[i], &effects, &targets,
			  i ? function->insns[i - 1].address : 0);
	codec_refuse(c, effects != function->num_effects || targets != function->num_targets);
}

static void code_ranges(struct codec *c, struct code_function *function)
{
	CODEC_TABLE(c, function->ranges, function->num_ranges, MAX_RANGES, 2);
	for (size_t i = 0; i < function->num_ranges; i++) {
		struct code_range *range = &function->ranges[i];

		CODEC(c, range->begin);
		CODEC_FIELD(c, range->end, buffer_put(c->to, range->end - range->begin),
			    range->begin + decoder_take_below(c->from, UINT64_MAX - range->begin));
	}
	codec_refuse(c, !function->num_ranges);
	if (c->from && function->num_ranges)
		function->entry = function->ranges[0].begin;
}

static void code_variable(struct codec *c, struct code_variable *variable)
{
	bool has_file = variable->file != NULL;

	CODEC_TEXT(c, variable->name);
	CODEC_FLAGS(c, &variable->is_signed, &variable->is_protected, &has_file);
	if (has_file)
		CODEC_TEXT(c, variable->file);
	CODEC_INT(c, variable->line);
	code_size(c, &variable->size);
	CODEC_TABLE(c, variable->locations, variable->num_locations, UINT32_MAX, 3);
	for (size_t i = 0; i < variable->num_locations && codec_goes_on(c); i++) {
		struct code_location *location = &variable->locations[i];

		CODEC(c, location->range.begin);
		CODEC(c, location->range.end);
		code_value(c, &location->value);
	}
}

static void code_variables(struct codec *c, struct code_variables *variables)
{
	CODEC_BELOW(c, variables->has_debug_info, 1);
	CODEC_TABLE(c, variables->variables, variables->num_variables, UINT32_MAX, 5);
	for (size_t i = 0; i < variables->num_variables && codec_goes_on(c); i++)
		code_variable(c, &variables->variables[i]);
}

void code_bytes_function(struct codec *c, struct code_function **function,
			 struct code_variables **variables)
{
	if (c->from) {
		*function = xcalloc(1, sizeof(**function));
		*variables = xcalloc(1, sizeof(**variables));
	}
	code_ranges(c, *function);
	CODEC(c, (*function)->preserved);
	CODEC_BELOW(c, (*function)->stack_pointer, CODE_NUM_REGISTERS - 1);
	CODEC(c, (*function)->entry_offset);
	code_insns(c, *function);
	code_variables(c, *variables);
	if (codec_goes_on(c))
		return;
	code_function_destroy(*function);
	code_variables_destroy(*variables);
	*function = NULL;
	*variables = NULL;
}

/* ---- Questions ---- */

/* The modules that a question names, by its numbers of them. */
struct named {
	uint32_t *ids;
	size_t num;
};

static void question_module(struct codec *c, const struct named *named, uint32_t *module)
{
	CODEC_INDEX(c, *module, named->num);
	codec_refuse(c, *module == MODULE_NONE);
	if (c->from)
		*module = codec_goes_on(c) ? named->ids[*module] : MODULE_NONE;
}

static void question_addresses(struct codec *c, const struct named *named,
			       const struct code_address **addresses, size_t *num)
{
	struct code_address *table = (struct code_address *)*addresses;

	CODEC_TABLE(c, table, *num, UINT32_MAX, 2);
	for (size_t i = 0; i < *num && codec_goes_on(c); i++) {
		question_module(c, named, &table[i].module);
		CODEC(c, table[i].address);
	}
	if (c->from)
		*addresses = table;
}

static void code_question(struct codec *c, struct code_question *question, struct modules *modules)
{
	struct code_probe *probes = (struct code_probe *)question->probes;
	struct named named = {.num = modules_count(modules)};

	CODEC_TABLE(c, named.ids, named.num, UINT32_MAX - 1, 2);
	for (uint32_t i = 0; i < named.num && codec_goes_on(c); i++) {
		uint32_t id = i;

		code_bytes_module(c, modules, &id);
		if (c->from)
			named.ids[i] = id;
	}
	CODEC_TABLE(c, probes, question->num_probes, UINT32_MAX, 8);
	for (size_t i = 0; i < question->num_probes && codec_goes_on(c); i++) {
		question_module(c, &named, &probes[i].module);
		code_bytes_probe(c, &probes[i]);
		code_read(c, &probes[i].read);
	}
	if (c->from)
		question->probes = probes;
	question_addresses(c, &named, &question->names, &question->num_names);
	question_addresses(c, &named, &question->functions, &question->num_functions);
	free(named.ids);
}

void code_bytes_put_question(struct buffer *b, const struct code_question *question,
			     struct modules *modules)
{
	code_question(&(struct codec){.to = b}, (struct code_question *)question, modules);
}

int code_bytes_take_question(const uint8_t *bytes, size_t size, struct modules *modules,
			     struct code_question *ret)
{
	struct decoder in = {.at = bytes, .end = bytes + size, .memory = budget_stored(size)};

	*ret = (struct code_question){.num_probes = 0};
	code_question(&(struct codec){.from = &in}, ret, modules);
	if (!in.is_bad && in.at == in.end)
		return 0;
	code_question_deinit(ret);
	return -1;
}
