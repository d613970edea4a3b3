/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/code/code.h"
#include "attach/code/condition_private.h"

enum {
	MAX_VISITS = 4000, /* instructions, for where one register is set */
	MAX_STORE = 16,    /* from there to where it is stored */
};

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
	conditions->sets_flags = condition_x86_sets_flags;
	conditions->decoded = cs_malloc(file->handle);
	conditions_find_edges(conditions);
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

bool conditions_of(const struct conditions *conditions, uint64_t address, struct comparison *ret)
{
	uint32_t insn = conditions_index(conditions->function, address), flags;
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
	uint32_t insn = conditions_index(conditions->function, address);
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
		const struct edge *edges = conditions_before(conditions, at, &num_before);

		/* It is what the caller has passed. */
		if (!num_before ||
		    at == conditions_index(conditions->function, conditions->function->entry))
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
	uint32_t insn = conditions_index(conditions->function, reg->at), setter;
	const cs_insn *decoded;

	if (reg->kind != OPERAND_REGISTER || insn == UINT32_MAX)
		return none;
	setter = find_setter(conditions, insn, reg->reg);
	if (setter == UINT32_MAX || !(decoded = conditions_decode(conditions, setter)))
		return none;
	return condition_x86_source(conditions, setter, decoded, reg);
}

/* Right before `insn`, in one line: also of a register that several instructions may have set. */
static bool is_stored_before(const struct conditions *conditions, uint32_t insn, unsigned int reg,
			     struct operand *ret)
{
	for (uint32_t i = insn; i > 0 && insn - i < MAX_STORE; i--) {
		const cs_insn *decoded;
		size_t num;
		const struct edge *before = conditions_before(conditions, i, &num);

		if (num != 1 || before->from != i - 1 ||
		    conditions->function->insns[i - 1].kind != CODE_PLAIN ||
		    !(decoded = conditions_decode(conditions, i - 1)))
			return false;
		if (condition_x86_store(decoded, reg, ret))
			return true;
		if (condition_x86_sets(conditions, i - 1, decoded, reg))
			return false;
	}
	return false;
}

bool conditions_stored(const struct conditions *conditions, const struct operand *reg,
		       struct operand *ret)
{
	const struct code_function *function = conditions->function;
	uint32_t insn = conditions_index(function, reg->at), setter;

	if (reg->kind != OPERAND_REGISTER || insn == UINT32_MAX)
		return false;
	if (is_stored_before(conditions, insn, reg->reg, ret))
		return true;
	setter = find_setter(conditions, insn, reg->reg);
	for (uint32_t i = setter; setter != UINT32_MAX && ++i < function->num_insns;) {
		const cs_insn *decoded;
		size_t num;

		conditions_before(conditions, i, &num);
		if (num != 1 || i - setter > MAX_STORE || function->insns[i].kind != CODE_PLAIN ||
		    !(decoded = conditions_decode(conditions, i)))
			return false;
		if (condition_x86_store(decoded, reg->reg, ret))
			return true;
		if (condition_x86_sets(conditions, i, decoded, reg->reg))
			return false;
	}
	return false;
}

const char *conditions_name(const struct conditions *conditions, uint64_t address)
{
	return code_file_name(conditions->file, address);
}

Dwarf_CFI *conditions_frames(const struct conditions *conditions)
{
	return dwarf_getcfi_elf(conditions->file->files.main.elf);
}
