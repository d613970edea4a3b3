/* SPDX-License-Identifier: BSD-3-Clause
 * Instructions of a function, and which ones come before which. */
#include "attach/code/condition_private.h"

enum { MAX_BACK = 24 }; /* instructions, from a jump to what it goes by */

uint32_t conditions_index(const struct code_function *function, uint64_t address)
{
	const struct code_insn *insn = code_function_find(function, address);

	return insn && insn->address == address ? (uint32_t)(insn - function->insns) : UINT32_MAX;
}

/* ---- Which instructions come before which ---- */

struct edges {
	struct edge *list;
	size_t num, capacity;
};

static void add_edge(struct edges *edges, const struct code_function *function, uint32_t from,
		     uint64_t target)
{
	uint32_t to = conditions_index(function, target);

	if (to != UINT32_MAX)
		*XPUSH(edges->list, edges->num, edges->capacity) = (struct edge){to, from};
}

static int by_target(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return SORTED_ORDER(x->to, y->to) ?: SORTED_ORDER(x->from, y->from);
}

void conditions_find_edges(struct conditions *conditions)
{
	const struct code_function *function = conditions->function;
	struct edges edges = {.num = 0};

	for (uint32_t i = 0; i < function->num_insns; i++) {
		const struct code_insn *insn = &function->insns[i];

		if (insn->kind == CODE_PLAIN || insn->kind == CODE_BRANCH ||
		    insn->kind == CODE_CALL)
			add_edge(&edges, function, i, insn->address + insn->length);
		if (insn->kind == CODE_JUMP || insn->kind == CODE_BRANCH)
			add_edge(&edges, function, i, insn->target);
		for (uint32_t t = 0; t < insn->num_targets; t++)
			add_edge(&edges, function, i, function->targets[insn->first_target + t]);
	}
	sorted_make(edges.list, edges.num, sizeof(*edges.list), by_target);
	conditions->edges = edges.list;
	conditions->num_edges = edges.num;
}

const struct edge *conditions_before(const struct conditions *conditions, uint32_t insn,
				     size_t *num_ret)
{
	const struct edge key = {insn, 0};
	size_t first = sorted_first(&key, conditions->edges, conditions->num_edges,
				    sizeof(*conditions->edges), by_target),
	       num = 0;

	while (first + num < conditions->num_edges && conditions->edges[first + num].to == insn)
		num++;
	*num_ret = num;
	return &conditions->edges[first];
}

const cs_insn *conditions_decode(const struct conditions *conditions, uint32_t insn)
{
	const struct code_insn *of = &conditions->function->insns[insn];
	const uint8_t *bytes = code_file_bytes(conditions->file, of->address, of->length);
	uint64_t address = of->address;
	size_t left = of->length;

	if (!bytes || !code_file_spend(conditions->file, 1) ||
	    !cs_disasm_iter(conditions->file->handle, &bytes, &left, &address, conditions->decoded))
		return NULL;
	return conditions->decoded;
}

/* The instruction before, if there is only one and it sets no flags; else the one that does. */
bool conditions_flags(const struct conditions *conditions, uint32_t insn, uint32_t *ret)
{
	for (int i = 0; i < MAX_BACK; i++) {
		size_t num;
		const struct edge *edges = conditions_before(conditions, insn, &num);
		const cs_insn *decoded;

		if (num != 1)
			return false;
		insn = edges[0].from;
		if (conditions->function->insns[insn].kind == CODE_CALL)
			return false;
		decoded = conditions_decode(conditions, insn);
		if (!decoded)
			return false;
		if (conditions->sets_flags(decoded)) {
			*ret = insn;
			return true;
		}
	}
	return false;
}

const uint8_t *conditions_constant(const struct conditions *conditions, uint64_t address,
				   size_t size)
{
	return code_file_is_constant(conditions->file, address)
		       ? code_file_bytes(conditions->file, address, size)
		       : NULL;
}
