/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/code/code_private.h"

#define MAX_TABLE 4096 /* entries of a switch's table */

const struct code_value code_unknown;

struct code_place code_register(unsigned int reg, unsigned int size)
{
	return (struct code_place){
		.kind = CODE_REGISTER, .reg = (uint8_t)reg, .size = (uint8_t)size};
}

struct code_place code_memory(unsigned int base, int64_t displacement, unsigned int size)
{
	return (struct code_place){.kind = CODE_MEMORY,
				   .reg = (uint8_t)base,
				   .size = (uint8_t)size,
				   .displacement = displacement};
}

struct code_value code_constant(int64_t constant)
{
	return (struct code_value){.is_known = true, .constant = constant};
}

struct code_value code_copy(struct code_place from)
{
	struct code_value value = {.is_known = true};

	code_add_term(&value, from, 1);
	return value;
}

void code_add_term(struct code_value *value, struct code_place place, int64_t factor)
{
	for (unsigned int i = 0; i < value->num_terms; i++) {
		const struct code_place *other = &value->terms[i].place;

		if (other->kind == place.kind && other->reg == place.reg &&
		    other->displacement == place.displacement && other->size == place.size) {
			value->terms[i].factor += factor;
			return;
		}
	}
	if (value->num_terms == CODE_MAX_TERMS) {
		value->is_known = false;
		return;
	}
	value->terms[value->num_terms].place = place;
	value->terms[value->num_terms++].factor = factor;
}

void code_add(struct code_value *value, const struct code_value *other, int64_t factor)
{
	int64_t constant;

	value->is_known &= other->is_known && !value->shift && !other->shift;
	for (unsigned int i = 0; i < other->num_terms; i++)
		code_add_term(value, other->terms[i].place, factor * other->terms[i].factor);
	if (__builtin_mul_overflow(factor, other->constant, &constant) ||
	    __builtin_add_overflow(value->constant, constant, &value->constant))
		value->is_known = false;
}

void code_shift_right(struct code_value *value, unsigned int by, bool is_signed)
{
	value->terms[0].place.is_signed = is_signed;
	value->is_unsigned = !is_signed;
	value->shift = (uint8_t)by;
}

void code_add_effect(struct code_builder *builder, struct code_insn *insn, struct code_place to,
		     struct code_value value)
{
	struct code_function *function = builder->function;

	if (!value.is_known)
		value = code_unknown;
	if (!insn->num_effects)
		insn->first_effect = (uint32_t)function->num_effects;
	*XPUSH(function->effects, function->num_effects, builder->effects_capacity) =
		(struct code_effect){to, value};
	insn->num_effects++;
}

void code_set_register(struct code_builder *builder, struct code_insn *insn, unsigned int reg,
		       unsigned int size, struct code_value value)
{
	if (reg == CODE_NO_REGISTER)
		return;
	builder->tables[reg].step = TABLE_NOTHING;
	code_add_effect(builder, insn, code_register(reg, size), value);
}

static uint64_t read_entry(const struct table *table, const uint8_t *bytes)
{
	uint64_t value = 0;

	memcpy(&value, bytes, table->entry_size);
	value = (uint64_t)code_extend((int64_t)value, table->entry_size, table->is_signed);
	value <<= table->scale;
	return table->is_relative ? table->base + value : value;
}

void code_note_bound(struct code_builder *builder, uint64_t more, bool is_target, uint64_t target)
{
	uint64_t limit = builder->has_compared ? builder->compared + more : 0;

	builder->bound = is_target ? 0 : limit;
	if (!is_target)
		return;
	builder->bound_at = target;
	builder->bound_then = limit;
}

void code_note_call(struct code_builder *builder, struct code_insn *insn, uint64_t target)
{
	insn->kind = CODE_CALL;
	insn->target = target;
	builder->has_compared = false;
	builder->bound = 0;
	for (unsigned int i = 0; i < CODE_NUM_REGISTERS; i++)
		if (!(builder->function->preserved >> i & 1))
			builder->tables[i].step = TABLE_NOTHING;
}

/* Entries end where the comparison before says; without one, another table may follow. */
void code_add_table(struct code_builder *builder, struct code_insn *insn, const struct table *table)
{
	struct code_function *function = builder->function;
	uint64_t bound = builder->bound <= MAX_TABLE ? builder->bound : 0;

	insn->first_target = (uint32_t)function->num_targets;
	for (uint64_t i = 0; i < bound; i++) {
		const uint8_t *bytes = code_file_bytes(
			builder->file, table->address + i * table->entry_size, table->entry_size);

		if (!bytes)
			break;
		*XPUSH(function->targets, function->num_targets, builder->targets_capacity) =
			read_entry(table, bytes);
		insn->num_targets++;
	}
	if (insn->num_targets < bound)
		insn->num_targets = 0;
	builder->bound = 0;
}
