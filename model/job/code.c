/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/code.h"

void code_function_destroy(struct code_function *function)
{
	if (!function)
		return;
	free(function->ranges);
	free(function->insns);
	free(function->effects);
	free(function->targets);
	free(function);
}

static int begins_before(const void *address, const void *insn)
{
	return ((const struct code_insn *)insn)->address <= *(const uint64_t *)address;
}

const struct code_insn *code_function_find(const struct code_function *function, uint64_t address)
{
	const struct code_insn *insns = function->insns;
	size_t at =
		sorted_first(&address, insns, function->num_insns, sizeof(*insns), begins_before);

	return at && address - insns[at - 1].address < insns[at - 1].length ? &insns[at - 1] : NULL;
}

void code_variables_destroy(struct code_variables *variables)
{
	if (!variables)
		return;
	for (size_t i = 0; i < variables->num_variables; i++) {
		free(variables->variables[i].name);
		free(variables->variables[i].file);
		free(variables->variables[i].locations);
	}
	free(variables->variables);
	free(variables);
}

static bool is_same_place(const struct code_place *a, const struct code_place *b)
{
	return a->kind == b->kind && a->reg == b->reg && a->size == b->size &&
	       a->is_signed == b->is_signed && a->displacement == b->displacement;
}

bool code_value_is_same(const struct code_value *a, const struct code_value *b)
{
	if (a->is_known != b->is_known || a->is_unsigned != b->is_unsigned ||
	    a->num_terms != b->num_terms || a->shift != b->shift || a->constant != b->constant)
		return false;
	for (unsigned i = 0; i < a->num_terms; i++)
		if (a->terms[i].factor != b->terms[i].factor ||
		    !is_same_place(&a->terms[i].place, &b->terms[i].place))
			return false;
	return true;
}

bool code_probe_is_same(const struct code_probe *a, const struct code_probe *b)
{
	return a->module == b->module && a->offset == b->offset && a->is_return == b->is_return &&
	       a->size == b->size && a->is_signed == b->is_signed &&
	       code_value_is_same(&a->value, &b->value);
}

void code_question_deinit(struct code_question *question)
{
	for (size_t i = 0; i < question->num_probes; i++)
		free(question->probes[i].read.ops);
	free((struct code_probe *)question->probes);
	free((struct code_address *)question->names);
	free((struct code_address *)question->functions);
	*question = (struct code_question){.num_probes = 0};
}

int64_t code_extend(int64_t bits, unsigned size, bool is_signed)
{
	unsigned unused = size < 8 ? 64 - 8 * size : 0;
	uint64_t high = (uint64_t)bits << unused;

	return is_signed ? (int64_t)high >> unused : (int64_t)(high >> unused);
}

int64_t code_evaluate(const struct code_value *value, const int64_t places[CODE_MAX_TERMS])
{
	uint64_t sum = (uint64_t)value->constant;

	for (unsigned i = 0; i < value->num_terms; i++)
		sum += (uint64_t)value->terms[i].factor * (uint64_t)places[i];
	return value->is_unsigned ? (int64_t)(sum >> value->shift) : (int64_t)sum >> value->shift;
}
