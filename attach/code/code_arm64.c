/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/code/code_private.h"

enum { LR = 30, SP = 31 };

/* DWARF number and size in bytes; CODE_NO_REGISTER for what is no integer register, or always 0. */
static unsigned int register_number(arm64_reg reg, unsigned int *size_ret)
{
	*size_ret = 8;
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return reg - ARM64_REG_X0;
	if (reg == ARM64_REG_X29)
		return 29;
	if (reg == ARM64_REG_X30)
		return LR;
	if (reg == ARM64_REG_SP)
		return SP;
	*size_ret = 4;
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return reg - ARM64_REG_W0;
	if (reg == ARM64_REG_WSP)
		return SP;
	return CODE_NO_REGISTER;
}

static bool is_zero(const cs_arm64_op *op)
{
	return op->type == ARM64_OP_REG && (op->reg == ARM64_REG_XZR || op->reg == ARM64_REG_WZR);
}

static void set_register(struct code_builder *builder, struct code_insn *insn, arm64_reg to,
			 struct code_value value)
{
	unsigned int size, reg = register_number(to, &size);

	code_set_register(builder, insn, reg, size, value);
}

/* A register, shifted or extended, or a constant. */
static struct code_value get_value(const cs_arm64_op *op)
{
	struct code_value value;
	unsigned int size, reg;

	if (op->type == ARM64_OP_IMM)
		return code_constant(op->shift.type == ARM64_SFT_LSL
					     ? (int64_t)((uint64_t)op->imm << op->shift.value)
					     : op->imm);
	if (is_zero(op))
		return code_constant(0);
	if (op->type != ARM64_OP_REG)
		return code_unknown;
	reg = register_number(op->reg, &size);
	if (reg == CODE_NO_REGISTER)
		return code_unknown;
	value = code_copy(code_register(reg, size));
	if (op->ext == ARM64_EXT_SXTB || op->ext == ARM64_EXT_UXTB)
		value.terms[0].place.size = 1;
	if (op->ext == ARM64_EXT_SXTH || op->ext == ARM64_EXT_UXTH)
		value.terms[0].place.size = 2;
	if (op->ext >= ARM64_EXT_SXTB)
		value.terms[0].place.is_signed = true;
	if (op->shift.type == ARM64_SFT_LSL || op->shift.type == ARM64_SFT_INVALID)
		value.terms[0].factor = (int64_t)(UINT64_C(1) << (op->shift.value & 63));
	else if (op->shift.type == ARM64_SFT_LSR || op->shift.type == ARM64_SFT_ASR)
		code_shift_right(&value, op->shift.value, op->shift.type == ARM64_SFT_ASR);
	else
		return code_unknown;
	return value;
}

static struct code_value shift(const cs_insn *decoded, const cs_arm64_op *from,
			       const cs_arm64_op *by)
{
	struct code_value value = get_value(from);

	if (by->type != ARM64_OP_IMM || !value.is_known || value.num_terms != 1 || value.shift)
		return code_unknown;
	if (decoded->id == ARM64_INS_LSL) {
		value.terms[0].factor = (int64_t)(UINT64_C(1) << (by->imm & 63));
		return value;
	}
	code_shift_right(&value, by->imm & 63, decoded->id == ARM64_INS_ASR);
	return value;
}

/* ---- Memory ---- */

static const struct access {
	uint16_t id;
	uint8_t num;  /* registers */
	uint8_t size; /* of memory; 0: that of the register */
	bool is_load, is_signed;
} accesses[] = {
	{ARM64_INS_LDR, 1, 0, true, false},    {ARM64_INS_LDUR, 1, 0, true, false},
	{ARM64_INS_LDRB, 1, 1, true, false},   {ARM64_INS_LDURB, 1, 1, true, false},
	{ARM64_INS_LDRH, 1, 2, true, false},   {ARM64_INS_LDURH, 1, 2, true, false},
	{ARM64_INS_LDRSB, 1, 1, true, true},   {ARM64_INS_LDURSB, 1, 1, true, true},
	{ARM64_INS_LDRSH, 1, 2, true, true},   {ARM64_INS_LDURSH, 1, 2, true, true},
	{ARM64_INS_LDRSW, 1, 4, true, true},   {ARM64_INS_LDURSW, 1, 4, true, true},
	{ARM64_INS_LDP, 2, 0, true, false},    {ARM64_INS_STR, 1, 0, false, false},
	{ARM64_INS_STUR, 1, 0, false, false},  {ARM64_INS_STRB, 1, 1, false, false},
	{ARM64_INS_STURB, 1, 1, false, false}, {ARM64_INS_STRH, 1, 2, false, false},
	{ARM64_INS_STURH, 1, 2, false, false}, {ARM64_INS_STP, 2, 0, false, false},
};

/* NULL: it neither loads nor stores. */
static const struct access *get_access(unsigned int id)
{
	for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++)
		if (accesses[i].id == id)
			return &accesses[i];
	return NULL;
}

/* Bytes of an operand that may be a vector register. */
static unsigned int operand_size(const cs_arm64_op *op)
{
	unsigned int size;

	if (is_zero(op))
		return op->reg == ARM64_REG_XZR ? 8 : 4;
	if (register_number(op->reg, &size) != CODE_NO_REGISTER)
		return size;
	if (op->reg >= ARM64_REG_S0 && op->reg <= ARM64_REG_S31)
		return 4;
	if (op->reg >= ARM64_REG_D0 && op->reg <= ARM64_REG_D31)
		return 8;
	return 16;
}

/* The entry of a switch's table that is loaded. */
static void follow_load(struct code_builder *builder, const cs_arm64_op *to,
			const cs_arm64_op *from, const struct access *access,
			const struct table *base)
{
	unsigned int size, reg = register_number(to->reg, &size);

	if (reg == CODE_NO_REGISTER || base->step != TABLE_CONSTANT ||
	    from->mem.index == ARM64_REG_INVALID)
		return;
	builder->tables[reg] = (struct table){
		.step = TABLE_ENTRY,
		.entry_size = access->size ? access->size : (uint8_t)size,
		.is_signed = access->is_signed,
		.address = base->address,
	};
}

static void transfer(struct code_builder *builder, struct code_insn *insn, const cs_arm64_op *op,
		     struct code_place place, const struct access *access)
{
	if (access->is_load) {
		place.is_signed = access->is_signed;
		set_register(builder, insn, op->reg, code_copy(place));
	} else {
		code_add_effect(builder, insn, place, get_value(op));
	}
}

static void decode_memory(struct code_builder *builder, const cs_insn *decoded,
			  struct code_insn *insn, const struct access *access)
{
	const cs_arm64 *arm64 = &decoded->detail->arm64;
	const cs_arm64_op *memory = &arm64->operands[access->num];
	unsigned int size, base = register_number(memory->mem.base, &size);
	bool is_post = arm64->op_count > access->num + 1;

	if (memory->type != ARM64_OP_MEM || base == CODE_NO_REGISTER) {
		for (uint8_t i = 0; access->is_load && i < access->num; i++)
			set_register(builder, insn, arm64->operands[i].reg, code_unknown);
		return;
	}
	struct table table = builder->tables[base];
	struct code_value moved = code_copy(code_register(base, 8));
	moved.constant = is_post ? arm64->operands[access->num + 1].imm : memory->mem.disp;
	if (decoded->detail->arm64.writeback && !is_post)
		code_add_effect(builder, insn, code_register(base, 8), moved);
	for (uint8_t i = 0, at = 0; i < access->num; i++) {
		const cs_arm64_op *op = &arm64->operands[i];
		unsigned int bytes = access->size ? access->size : operand_size(op);
		bool is_moved = decoded->detail->arm64.writeback || is_post;
		struct code_place place =
			code_memory(base, (is_moved ? 0 : memory->mem.disp) + at, bytes);

		at = (uint8_t)(at + bytes);
		if (memory->mem.index == ARM64_REG_INVALID)
			transfer(builder, insn, op, place, access);
		else if (access->is_load)
			set_register(builder, insn, op->reg, code_unknown);
	}
	if (is_post)
		code_add_effect(builder, insn, code_register(base, 8), moved);
	if (access->is_load && access->num == 1)
		follow_load(builder, &arm64->operands[0], memory, access, &table);
}

/* ---- Instructions ---- */

static void set_unknown(struct code_builder *builder, csh handle, const cs_insn *decoded,
			struct code_insn *insn)
{
	const cs_arm64 *arm64 = &decoded->detail->arm64;
	cs_regs read, written;
	uint8_t num_read, num_written;

	if (arm64->op_count && arm64->operands[0].type == ARM64_OP_REG)
		set_register(builder, insn, arm64->operands[0].reg, code_unknown);
	if (cs_regs_access(handle, decoded, read, &num_read, written, &num_written))
		return;
	for (uint8_t i = 0; i < num_written; i++)
		set_register(builder, insn, written[i], code_unknown);
}

/* An address in a register: adrp and add, adr; and what is made of a table's entry. */
static void follow_table(struct code_builder *builder, const cs_insn *decoded, struct table left,
			 struct table right)
{
	const cs_arm64 *arm64 = &decoded->detail->arm64;
	const cs_arm64_op *last = &arm64->operands[arm64->op_count ? arm64->op_count - 1 : 0];
	unsigned int size, reg = register_number(arm64->operands[0].reg, &size);

	if (!arm64->op_count || arm64->operands[0].type != ARM64_OP_REG || reg == CODE_NO_REGISTER)
		return;
	struct table *table = &builder->tables[reg];
	if (decoded->id == ARM64_INS_ADRP || decoded->id == ARM64_INS_ADR) {
		*table = (struct table){.step = TABLE_CONSTANT, .address = (uint64_t)last->imm};
	} else if (decoded->id == ARM64_INS_ADD && last->type == ARM64_OP_IMM &&
		   left.step == TABLE_CONSTANT) {
		*table = left;
		table->address += (uint64_t)get_value(last).constant;
	} else if (decoded->id == ARM64_INS_ADD && last->type == ARM64_OP_REG &&
		   left.step == TABLE_CONSTANT && right.step == TABLE_ENTRY) {
		*table = right;
		table->step = TABLE_TARGET;
		table->is_relative = true;
		table->base = left.address;
		table->scale = (uint8_t)last->shift.value;
		table->is_signed = last->ext >= ARM64_EXT_SXTB;
	}
}

static void note_branch(struct code_builder *builder, arm64_cc condition, uint64_t target)
{
	bool is_with = condition == ARM64_CC_HI || condition == ARM64_CC_LS;

	if (is_with || condition == ARM64_CC_HS || condition == ARM64_CC_LO)
		code_note_bound(builder, is_with,
				condition == ARM64_CC_LS || condition == ARM64_CC_LO, target);
	else
		builder->bound = 0;
}

static void decode_branch(struct code_builder *builder, const cs_insn *decoded,
			  struct code_insn *insn)
{
	const cs_arm64 *arm64 = &decoded->detail->arm64;
	const cs_arm64_op *to = &arm64->operands[arm64->op_count ? arm64->op_count - 1 : 0];
	unsigned int size, reg;

	if (to->type == ARM64_OP_IMM) {
		bool is_plain = decoded->id == ARM64_INS_B &&
				(arm64->cc == ARM64_CC_INVALID || arm64->cc == ARM64_CC_AL);

		insn->kind = is_plain ? CODE_JUMP : CODE_BRANCH;
		insn->target = (uint64_t)to->imm;
		note_branch(builder, arm64->cc, insn->target);
		return;
	}
	reg = register_number(to->reg, &size);
	insn->kind = CODE_SWITCH;
	if (reg != CODE_NO_REGISTER && builder->tables[reg].step == TABLE_TARGET)
		code_add_table(builder, insn, &builder->tables[reg]);
}

static struct table table_of(const struct code_builder *builder, const cs_arm64_op *op)
{
	unsigned int size, reg = CODE_NO_REGISTER;

	if (op->type == ARM64_OP_REG)
		reg = register_number(op->reg, &size);
	return reg == CODE_NO_REGISTER ? (struct table){0} : builder->tables[reg];
}

static struct code_value extended(unsigned int id, const cs_arm64_op *from)
{
	struct code_value value = get_value(from);

	if (!value.is_known || value.num_terms != 1)
		return code_unknown;
	value.terms[0].place.size = id == ARM64_INS_SXTB || id == ARM64_INS_UXTB   ? 1
				    : id == ARM64_INS_SXTH || id == ARM64_INS_UXTH ? 2
										   : 4;
	value.terms[0].place.is_signed =
		id == ARM64_INS_SXTB || id == ARM64_INS_SXTH || id == ARM64_INS_SXTW;
	return value;
}

static bool is_subtraction(unsigned int id)
{
#if CS_API_MAJOR >= 5 /* before, what sets the flags had the same */
	return id == ARM64_INS_SUB || id == ARM64_INS_SUBS;
#else
	return id == ARM64_INS_SUB;
#endif
}

static void decode_calculation(struct code_builder *builder, csh handle, const cs_insn *decoded,
			       struct code_insn *insn)
{
	const cs_arm64_op *ops = decoded->detail->arm64.operands;
	uint8_t num = decoded->detail->arm64.op_count;
	struct table left = {0}, right = {0};
	struct code_value value, other;

	if (num == 3) {
		left = table_of(builder, &ops[1]);
		right = table_of(builder, &ops[2]);
	}
	switch (decoded->id) {
	case ARM64_INS_CMP:
	case ARM64_INS_CMN:
	case ARM64_INS_TST:
	case ARM64_INS_CCMP:
	case ARM64_INS_NOP:
		return;
	case ARM64_INS_MOV:
	case ARM64_INS_MOVZ:
		set_register(builder, insn, ops[0].reg, get_value(&ops[1]));
		break;
	case ARM64_INS_MOVN:
		value = get_value(&ops[1]);
		value.constant = ~value.constant;
		set_register(builder, insn, ops[0].reg, value);
		break;
	case ARM64_INS_ADR:
	case ARM64_INS_ADRP:
		set_register(builder, insn, ops[0].reg, code_constant(ops[1].imm));
		break;
	case ARM64_INS_ADD:
	case ARM64_INS_SUB:
#if CS_API_MAJOR >= 5
	case ARM64_INS_ADDS:
	case ARM64_INS_SUBS:
#endif
		if (num != 3 || ops[1].type != ARM64_OP_REG) {
			set_unknown(builder, handle, decoded, insn);
			return;
		}
		value = get_value(&ops[1]);
		other = get_value(&ops[2]);
		code_add(&value, &other, is_subtraction(decoded->id) ? -1 : 1);
		set_register(builder, insn, ops[0].reg, value);
		break;
	case ARM64_INS_LSL:
	case ARM64_INS_LSR:
	case ARM64_INS_ASR:
		set_register(builder, insn, ops[0].reg, shift(decoded, &ops[1], &ops[2]));
		break;
	case ARM64_INS_SXTB:
	case ARM64_INS_SXTH:
	case ARM64_INS_SXTW:
	case ARM64_INS_UXTB:
	case ARM64_INS_UXTH:
	case ARM64_INS_UXTW:
		set_register(builder, insn, ops[0].reg, extended(decoded->id, &ops[1]));
		break;
	default:
		set_unknown(builder, handle, decoded, insn);
		return;
	}
	follow_table(builder, decoded, left, right);
}

static void note_comparison(struct code_builder *builder, const cs_insn *decoded)
{
	const cs_arm64 *arm64 = &decoded->detail->arm64;
	const cs_arm64_op *with = &arm64->operands[1];

	if (decoded->id != ARM64_INS_CMP && !arm64->update_flags)
		return;
	builder->has_compared = decoded->id == ARM64_INS_CMP && with->type == ARM64_OP_IMM;
	if (builder->has_compared)
		builder->compared = (uint64_t)get_value(with).constant;
}

static void decode(struct code_builder *builder, csh handle, const cs_insn *decoded,
		   struct code_insn *insn)
{
	const struct access *access = get_access(decoded->id);
	const cs_arm64_op *to = &decoded->detail->arm64.operands[0];

	note_comparison(builder, decoded);
	switch (decoded->id) {
	case ARM64_INS_RET:
	case ARM64_INS_BRK:
	case ARM64_INS_HLT:
		insn->kind = CODE_END;
		return;
	case ARM64_INS_BL:
	case ARM64_INS_BLR:
		code_note_call(builder, insn, to->type == ARM64_OP_IMM ? (uint64_t)to->imm : 0);
		return;
	case ARM64_INS_B:
	case ARM64_INS_BR:
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		decode_branch(builder, decoded, insn);
		return;
	default:
		break;
	}
	if (access)
		decode_memory(builder, decoded, insn, access);
	else
		decode_calculation(builder, handle, decoded, insn);
}

static bool may_leave(csh handle, const cs_insn *decoded, const struct code_range *range)
{
	const cs_arm64 *arm64 = &decoded->detail->arm64;
	const cs_arm64_op *to = &arm64->operands[arm64->op_count ? arm64->op_count - 1 : 0];

	(void)handle;
	switch (decoded->id) {
	case ARM64_INS_RET:
	case ARM64_INS_BR:
		return true;
	case ARM64_INS_B:
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return (uint64_t)to->imm < range->begin || (uint64_t)to->imm >= range->end;
	default:
		return false;
	}
}

/* adrp x16, page; ldr x17, [x16, #offset]: the pointer is at page + offset. */
static uint64_t stub_pointer(const uint8_t *bytes, size_t size, uint64_t address)
{
	uint32_t adrp, ldr;
	int64_t page;

	if (size < 8)
		return 0;
	__builtin_memcpy(&adrp, bytes, sizeof(adrp));
	__builtin_memcpy(&ldr, bytes + 4, sizeof(ldr));
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	page = code_extend((int64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 11, 4, true);
	return (address & ~UINT64_C(0xfff)) + (uint64_t)(page * 2) + (ldr >> 10 & 0xfff) * 8;
}

/* The procedure call standard: x19 to x29 are the caller's; and so is the stack pointer. */
const struct code_machine code_machine_arm64 = {
	.arch = CS_ARCH_ARM64,
	.mode = CS_MODE_LITTLE_ENDIAN,
	.preserved = UINT64_C(0x7ff) << 19 | UINT64_C(1) << SP | UINT64_C(1) << CODE_CFA,
	.stack_pointer = SP,
	.entry_offset = 0,
	.decode = decode,
	.may_leave = may_leave,
	.stub_pointer = stub_pointer,
};
