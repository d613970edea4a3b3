/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "model/code.h"

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

const struct code_insn *code_function_find(const struct code_function *function, uint64_t address)
{
	size_t low = 0, high = function->num_insns;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (function->insns[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - function->insns[low - 1].address >= function->insns[low - 1].length)
		return NULL;
	return &function->insns[low - 1];
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
