/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/code/code.h"
#include "attach/code/condition_private.h"

enum {
	MAX_VISITS = 4000, /* instructions, for where one register is set */
	MAX_BACK = 24,     /* from a jump to what it goes by */
};

static uint32_t index_at(const struct code_function *function, uint64_t address)
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
	uint32_t to = index_at(function, target);

	if (to != UINT32_MAX)
		*XPUSH(edges->list, edges->num, edges->capacity) = (struct edge){to, from};
}

static int by_target(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return SORTED_ORDER(x->to, y->to) ?: SORTED_ORDER(x->from, y->from);
}

static void find_edges(struct conditions *conditions)
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

/* The instructions that may run right before this one. */
static const struct edge *before(const struct conditions *conditions, uint32_t insn,
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

/* ---- Public ---- */

struct conditions *conditions_create(struct code_reader *reader, uint32_t module,
				     const struct code_function *function)
{
	const struct code_file *file = code_reader_file(reader, module);
	struct conditions *conditions;

	if (!file || !file->handle || file->machine != &code_machine_x86 || !function->num_insns)
		return NULL;
	conditions = xcalloc(1, sizeof(*conditions));
	conditions->file = file;
	conditions->function = function;
	conditions->decoded = cs_malloc(file->handle);
	find_edges(conditions);
	return conditions;
}

void conditions_destroy(struct conditions *conditions)
{
	if (!conditions)
		return;
	cs_free(conditions->decoded, 1);
	free(conditions->edges);
	free(conditions);
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
		const struct edge *edges = before(conditions, insn, &num);
		const cs_insn *decoded;

		if (num != 1)
			return false;
		insn = edges[0].from;
		if (conditions->function->insns[insn].kind == CODE_CALL)
			return false;
		decoded = conditions_decode(conditions, insn);
		if (!decoded)
			return false;
		if (condition_x86_sets_flags(decoded)) {
			*ret = insn;
			return true;
		}
	}
	return false;
}

bool conditions_of(const struct conditions *conditions, uint64_t address, struct comparison *ret)
{
	uint32_t insn = index_at(conditions->function, address), flags;
	const cs_insn *decoded;
	unsigned int id;

	if (insn == UINT32_MAX || !(decoded = conditions_decode(conditions, insn)))
		return false;
	if (conditions->function->insns[insn].kind == CODE_SWITCH)
		return condition_x86_switch(conditions, insn, ret);
	id = decoded->id;
	return conditions_flags(conditions, insn, &flags) &&
	       (decoded = conditions_decode(conditions, flags)) &&
	       condition_x86_compare(decoded, condition_x86_code(id), ret);
}

bool conditions_call(const struct conditions *conditions, uint64_t address, struct operand *ret)
{
	uint32_t insn = index_at(conditions->function, address);
	const cs_insn *decoded;

	if (insn == UINT32_MAX || conditions->function->insns[insn].kind != CODE_CALL ||
	    !(decoded = conditions_decode(conditions, insn)))
		return false;
	return condition_x86_pointer(decoded, ret);
}

/* The one instruction that sets the register before `insn`; UINT32_MAX: none, or several. */
static uint32_t find_setter(const struct conditions *conditions, uint32_t insn, unsigned int reg)
{
	size_t num = conditions->function->num_insns, depth = 0, visits = 0;
	bool *seen SCOPED(free) = xcalloc(num, sizeof(*seen));
	uint32_t *stack SCOPED(free) = xreallocarray(NULL, num + 1, sizeof(*stack));
	uint32_t setter = UINT32_MAX;

	stack[depth++] = insn;
	while (depth) {
		uint32_t at = stack[--depth];
		size_t num_before;
		const struct edge *edges = before(conditions, at, &num_before);

		/* It is what the caller has passed. */
		if (!num_before ||
		    at == index_at(conditions->function, conditions->function->entry))
			return UINT32_MAX;
		for (size_t i = 0; i < num_before; i++) {
			uint32_t from = edges[i].from;
			const cs_insn *decoded;

			if (seen[from])
				continue;
			seen[from] = true;
			if (visits++ == MAX_VISITS ||
			    !(decoded = conditions_decode(conditions, from)))
				return UINT32_MAX;
			if (!condition_x86_sets(conditions, from, decoded, reg)) {
				stack[depth++] = from;
				continue;
			}
			if (setter != UINT32_MAX)
				return UINT32_MAX;
			setter = from;
		}
	}
	return setter;
}

struct source conditions_source(const struct conditions *conditions, const struct operand *reg)
{
	struct source none = {.kind = SOURCE_UNKNOWN};
	uint32_t insn = index_at(conditions->function, reg->at), setter;
	const cs_insn *decoded;

	if (reg->kind != OPERAND_REGISTER || insn == UINT32_MAX)
		return none;
	setter = find_setter(conditions, insn, reg->reg);
	if (setter == UINT32_MAX || !(decoded = conditions_decode(conditions, setter)))
		return none;
	return condition_x86_source(conditions, setter, decoded, reg);
}

const char *conditions_name(const struct conditions *conditions, uint64_t address)
{
	return code_file_name(conditions->file, address);
}

Dwarf_CFI *conditions_frames(const struct conditions *conditions)
{
	return dwarf_getcfi_elf(conditions->file->files.main.elf);
}

const uint8_t *conditions_constant(const struct conditions *conditions, uint64_t address,
				   size_t size)
{
	return code_file_is_constant(conditions->file, address)
		       ? code_file_bytes(conditions->file, address, size)
		       : NULL;
}
