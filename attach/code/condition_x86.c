/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/code/condition_private.h"

enum { RAX = 0, XMM0 = 17, NUM_VECTORS = 16, MAX_TABLE_BACK = 12 };

static unsigned int register_of(x86_reg reg)
{
	if (reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + NUM_VECTORS)
		return XMM0 + (unsigned int)(reg - X86_REG_XMM0);
	if (reg >= X86_REG_YMM0 && reg < X86_REG_YMM0 + NUM_VECTORS)
		return XMM0 + (unsigned int)(reg - X86_REG_YMM0);
	return code_x86_register(reg);
}

/* ---- Operands ---- */

static struct operand operand_of(const cs_insn *decoded, unsigned int number)
{
	const cs_x86_op *op = &decoded->detail->x86.operands[number];
	struct operand ret = {.size = op->size,
			      .reg = OPERAND_NO_REGISTER,
			      .index = OPERAND_NO_REGISTER,
			      .at = decoded->address};

	if (number >= decoded->detail->x86.op_count)
		return ret;
	switch (op->type) {
	case X86_OP_IMM:
		ret.kind = OPERAND_CONSTANT;
		ret.constant = op->imm;
		break;
	case X86_OP_REG:
		ret.reg = (uint8_t)register_of(op->reg);
		ret.is_float = ret.reg >= XMM0 && ret.reg < XMM0 + NUM_VECTORS;
		/* The second byte of a register is no value of its own here. */
		if (ret.reg != OPERAND_NO_REGISTER && op->reg != X86_REG_AH &&
		    op->reg != X86_REG_BH && op->reg != X86_REG_CH && op->reg != X86_REG_DH)
			ret.kind = OPERAND_REGISTER;
		break;
	case X86_OP_MEM:
		if (op->mem.segment != X86_REG_INVALID)
			break;
		ret.kind = OPERAND_MEMORY;
		ret.constant = op->mem.disp;
		if (op->mem.base == X86_REG_RIP)
			ret.constant += (int64_t)(decoded->address + decoded->size);
		else if (op->mem.base != X86_REG_INVALID)
			ret.reg = (uint8_t)register_of(op->mem.base);
		if (op->mem.index != X86_REG_INVALID && op->mem.index != X86_REG_RIZ) {
			ret.index = (uint8_t)register_of(op->mem.index);
			ret.scale = (uint8_t)op->mem.scale;
		}
		break;
	default:
		break;
	}
	return ret;
}

static struct operand constant_of(int64_t constant, uint8_t size, uint64_t at)
{
	return (struct operand){.kind = OPERAND_CONSTANT,
				.size = size,
				.reg = OPERAND_NO_REGISTER,
				.index = OPERAND_NO_REGISTER,
				.constant = constant,
				.at = at};
}

/* ---- Flags ---- */

enum flags_code condition_x86_code(unsigned int id)
{
	switch (id) {
	case X86_INS_JE:
	case X86_INS_SETE:
		return FLAGS_E;
	case X86_INS_JNE:
	case X86_INS_SETNE:
		return FLAGS_NE;
	case X86_INS_JL:
	case X86_INS_SETL:
		return FLAGS_L;
	case X86_INS_JLE:
	case X86_INS_SETLE:
		return FLAGS_LE;
	case X86_INS_JG:
	case X86_INS_SETG:
		return FLAGS_G;
	case X86_INS_JGE:
	case X86_INS_SETGE:
		return FLAGS_GE;
	case X86_INS_JB:
	case X86_INS_SETB:
		return FLAGS_B;
	case X86_INS_JBE:
	case X86_INS_SETBE:
		return FLAGS_BE;
	case X86_INS_JA:
	case X86_INS_SETA:
		return FLAGS_A;
	case X86_INS_JAE:
	case X86_INS_SETAE:
		return FLAGS_AE;
	case X86_INS_JS:
	case X86_INS_SETS:
		return FLAGS_S;
	case X86_INS_JNS:
	case X86_INS_SETNS:
		return FLAGS_NS;
	case X86_INS_JP:
	case X86_INS_SETP:
		return FLAGS_P;
	case X86_INS_JNP:
	case X86_INS_SETNP:
		return FLAGS_NP;
	default:
		return FLAGS_OTHER;
	}
}

static bool is_single(unsigned int id)
{
	return id == X86_INS_COMISS || id == X86_INS_UCOMISS || id == X86_INS_VCOMISS ||
	       id == X86_INS_VUCOMISS;
}

static bool is_float_comparison(unsigned int id)
{
	return is_single(id) || id == X86_INS_COMISD || id == X86_INS_UCOMISD ||
	       id == X86_INS_VCOMISD || id == X86_INS_VUCOMISD;
}

bool condition_x86_sets_flags(const cs_insn *decoded)
{
	const uint64_t changes = X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_RESET_ZF | X86_EFLAGS_SET_ZF |
				 X86_EFLAGS_UNDEFINED_ZF | X86_EFLAGS_MODIFY_CF |
				 X86_EFLAGS_RESET_CF | X86_EFLAGS_SET_CF | X86_EFLAGS_UNDEFINED_CF;
	const cs_x86 *x86 = &decoded->detail->x86;

	if (is_float_comparison(decoded->id))
		return true;
	for (unsigned int i = 0; i < decoded->detail->regs_write_count; i++)
		if (decoded->detail->regs_write[i] == X86_REG_EFLAGS)
			return true;
	return x86->op_count && x86->operands[0].type != X86_OP_INVALID && x86->eflags & changes &&
	       decoded->id != X86_INS_MOV && decoded->id != X86_INS_LEA;
}

/* Of two integers. */
static enum condition_relation relation_of(enum flags_code code, bool *is_unsigned_ret)
{
	*is_unsigned_ret = code >= FLAGS_B && code <= FLAGS_AE;
	switch (code) {
	case FLAGS_E:
		return CONDITION_EQUAL;
	case FLAGS_NE:
		return CONDITION_UNEQUAL;
	case FLAGS_L:
	case FLAGS_B:
	case FLAGS_S:
		return CONDITION_LESS;
	case FLAGS_LE:
	case FLAGS_BE:
		return CONDITION_LESS_EQUAL;
	case FLAGS_G:
	case FLAGS_A:
		return CONDITION_GREATER;
	case FLAGS_GE:
	case FLAGS_AE:
	case FLAGS_NS:
		return CONDITION_GREATER_EQUAL;
	default:
		return CONDITION_UNKNOWN;
	}
}

static bool compare_floats(enum flags_code code, struct comparison *ret)
{
	/* Of two that cannot be compared all three flags are set. */
	ret->is_true_for_nan =
		code == FLAGS_E || code == FLAGS_B || code == FLAGS_BE || code == FLAGS_P;
	ret->left.is_float = ret->right.is_float = true;
	if (code == FLAGS_P || code == FLAGS_NP)
		ret->relation = code == FLAGS_P ? CONDITION_UNORDERED : CONDITION_ORDERED;
	else
		ret->relation = relation_of(code, &ret->is_unsigned);
	ret->is_unsigned = false;
	return code != FLAGS_S && code != FLAGS_NS;
}

/* What a calculation has left in its first operand, compared with 0. */
static void compare_result(const cs_insn *decoded, enum flags_code code, struct comparison *ret)
{
	bool is_plain = code == FLAGS_E || code == FLAGS_NE || code == FLAGS_S || code == FLAGS_NS;

	ret->left = operand_of(decoded, 0);
	ret->left.at = decoded->address + decoded->size;
	ret->right = constant_of(0, ret->left.size, decoded->address);
	ret->relation = is_plain ? relation_of(code, &ret->is_unsigned) : CONDITION_UNKNOWN;
}

static void compare_and(const cs_insn *decoded, enum flags_code code, struct comparison *ret)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	bool is_same = x86->operands[0].type == X86_OP_REG && x86->operands[1].type == X86_OP_REG &&
		       x86->operands[0].reg == x86->operands[1].reg;
	bool is_zero = code == FLAGS_E || code == FLAGS_NE;

	ret->left = operand_of(decoded, 0);
	ret->right = operand_of(decoded, 1);
	if (!is_same && x86->operands[1].type != X86_OP_IMM)
		return;
	if (!is_same)
		ret->mask =
			(uint64_t)x86->operands[1].imm &
			(ret->left.size < 8 ? (UINT64_C(1) << 8 * ret->left.size) - 1 : UINT64_MAX);
	ret->right = constant_of(0, ret->left.size, decoded->address);
	/* Carry and overflow are 0: "below or equal" is "equal". */
	if (code == FLAGS_BE || code == FLAGS_A)
		code = code == FLAGS_BE ? FLAGS_E : FLAGS_NE;
	ret->relation =
		is_same || is_zero ? relation_of(code, &ret->is_unsigned) : CONDITION_UNKNOWN;
}

bool condition_x86_compare(const cs_insn *decoded, enum flags_code code, struct comparison *ret)
{
	const cs_x86 *x86 = &decoded->detail->x86;

	*ret = (struct comparison){.relation = CONDITION_UNKNOWN};
	if (code == FLAGS_OTHER)
		return false;
	if (is_float_comparison(decoded->id)) {
		ret->left = operand_of(decoded, 0);
		ret->right = operand_of(decoded, 1);
		/* Capstone 4 takes all of them for vectors. */
		ret->left.size = ret->right.size = is_single(decoded->id) ? 4 : 8;
		return compare_floats(code, ret);
	}
	switch (decoded->id) {
	case X86_INS_CMP:
	case X86_INS_SUB:
		ret->left = operand_of(decoded, 0);
		ret->right = operand_of(decoded, 1);
		ret->relation = relation_of(code, &ret->is_unsigned);
		return true;
	case X86_INS_TEST:
	case X86_INS_AND:
		compare_and(decoded, code, ret);
		return true;
	case X86_INS_BT:
		ret->left = operand_of(decoded, 0);
		ret->right = constant_of(0, ret->left.size, decoded->address);
		if (x86->operands[1].type != X86_OP_IMM) {
			ret->right = operand_of(decoded, 1);
			return true;
		}
		ret->mask = UINT64_C(1) << (x86->operands[1].imm & 63);
		ret->relation = code == FLAGS_B    ? CONDITION_UNEQUAL
				: code == FLAGS_AE ? CONDITION_EQUAL
						   : CONDITION_UNKNOWN;
		return true;
	case X86_INS_ADD:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_NEG:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_SHR:
	case X86_INS_SAR:
	case X86_INS_SHL:
		compare_result(decoded, code, ret);
		return ret->left.kind == OPERAND_REGISTER;
	default:
		return false;
	}
}

/* ---- Switches and pointers ---- */

/* The entry of a table that a register has been read from, a few instructions before. */
bool condition_x86_switch(const struct conditions *conditions, uint32_t insn,
			  struct comparison *ret)
{
	const cs_insn *decoded = conditions_decode(conditions, insn);
	const struct code_insn *insns = conditions->function->insns;
	struct operand target;

	*ret = (struct comparison){.relation = CONDITION_TABLE};
	if (!decoded)
		return false;
	target = operand_of(decoded, 0);
	for (int i = 0; i < MAX_TABLE_BACK; i++) {
		if (target.kind == OPERAND_MEMORY && target.index != OPERAND_NO_REGISTER) {
			ret->left = (struct operand){.kind = OPERAND_REGISTER,
						     .size = 8,
						     .reg = target.index,
						     .index = OPERAND_NO_REGISTER,
						     .at = target.at};
			return true;
		}
		if (target.kind != OPERAND_REGISTER)
			return false;
		/* The base is added to the entry. */
		while (insn-- && insns[insn].kind == CODE_PLAIN) {
			decoded = conditions_decode(conditions, insn);
			if (!decoded)
				return false;
			if (condition_x86_sets(conditions, insn, decoded, target.reg))
				break;
		}
		if (insn == UINT32_MAX || insns[insn].kind != CODE_PLAIN)
			return false;
		if (decoded->id != X86_INS_ADD)
			target = operand_of(decoded, 1);
	}
	return false;
}

bool condition_x86_store(const cs_insn *decoded, unsigned int reg, struct operand *ret)
{
	const cs_x86 *x86 = &decoded->detail->x86;

	if ((decoded->id != X86_INS_MOV && decoded->id != X86_INS_MOVSD &&
	     decoded->id != X86_INS_MOVSS) ||
	    x86->op_count != 2 || x86->operands[0].type != X86_OP_MEM ||
	    x86->operands[1].type != X86_OP_REG || register_of(x86->operands[1].reg) != reg)
		return false;
	*ret = operand_of(decoded, 0);
	ret->size = decoded->id == X86_INS_MOVSD   ? 8
		    : decoded->id == X86_INS_MOVSS ? 4
						   : x86->operands[1].size;
	return ret->kind == OPERAND_MEMORY;
}

bool condition_x86_pointer(const cs_insn *decoded, struct operand *ret)
{
	*ret = operand_of(decoded, 0);
	return ret->kind == OPERAND_REGISTER || ret->kind == OPERAND_MEMORY;
}

/* ---- Where a register's content comes from ---- */

bool condition_x86_sets(const struct conditions *conditions, uint32_t insn, const cs_insn *decoded,
			unsigned int reg)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	cs_regs read, written;
	uint8_t num_read, num_written;

	if (conditions->function->insns[insn].kind == CODE_CALL)
		return reg >= XMM0 || !(conditions->function->preserved >> reg & 1);
	switch (decoded->id) {
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_NOP:
	case X86_INS_BT:
	case X86_INS_PUSH:
		return false;
	default:
		break;
	}
	if (is_float_comparison(decoded->id))
		return false;
	/* Some instructions' list of accesses is wrong in Capstone 4: the first operand counts. */
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_REG &&
		    (i == 0 || x86->operands[i].access & CS_AC_WRITE) &&
		    register_of(x86->operands[i].reg) == reg)
			return true;
	if (cs_regs_access(conditions->file->handle, decoded, read, &num_read, written,
			   &num_written))
		return true;
	for (uint8_t i = 0; i < num_written; i++)
		if (register_of(written[i]) == reg)
			return true;
	return false;
}

static struct source copy_of(const cs_insn *decoded, unsigned int number)
{
	return (struct source){.kind = SOURCE_COPY, .from = operand_of(decoded, number)};
}

static struct source mix_of(const cs_insn *decoded)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	struct source mix = {.kind = SOURCE_MIX, .from = operand_of(decoded, 0)};

	if (x86->op_count > 1)
		mix.other = operand_of(decoded, x86->op_count - 1u);
	if (x86->op_count > 2)
		mix.from = operand_of(decoded, x86->op_count - 2u);
	return mix;
}

static struct source sum_of(const cs_insn *decoded)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	struct source sum = {.kind = SOURCE_ADD, .from = operand_of(decoded, 0)};

	switch (decoded->id) {
	case X86_INS_INC:
	case X86_INS_DEC:
		sum.by = decoded->id == X86_INS_INC ? 1 : -1;
		return sum;
	case X86_INS_ADD:
	case X86_INS_SUB:
		if (x86->operands[1].type != X86_OP_IMM)
			return mix_of(decoded);
		sum.by = decoded->id == X86_INS_ADD ? x86->operands[1].imm : -x86->operands[1].imm;
		return sum;
	default: { /* lea */
		struct operand address = operand_of(decoded, 1);
		struct operand base = address, index = address;

		base.kind = index.kind = OPERAND_REGISTER;
		base.size = index.size = x86->operands[0].size;
		index.reg = address.index;
		if (address.kind != OPERAND_MEMORY)
			return (struct source){.kind = SOURCE_UNKNOWN};
		sum.from = base;
		sum.by = address.constant;
		if (address.index == OPERAND_NO_REGISTER && address.reg != OPERAND_NO_REGISTER)
			return sum;
		if (address.reg == OPERAND_NO_REGISTER && address.index == OPERAND_NO_REGISTER)
			return (struct source){
				.kind = SOURCE_COPY,
				.from = constant_of(address.constant, 8, decoded->address)};
		sum = (struct source){.kind = SOURCE_MIX, .from = index};
		if (address.reg != OPERAND_NO_REGISTER)
			sum.other = base;
		return sum;
	}
	}
}

static bool is_register_with_itself(const cs_x86 *x86)
{
	unsigned int num = x86->op_count;

	return num >= 2 && x86->operands[num - 1].type == X86_OP_REG &&
	       x86->operands[num - 2].type == X86_OP_REG &&
	       x86->operands[num - 1].reg == x86->operands[num - 2].reg;
}

/* The absolute value of a floating-point number: its sign is cut off. */
static bool is_sign_cut(const struct conditions *conditions, const struct operand *mask)
{
	const uint8_t *bytes;
	uint64_t bits = 0;

	if (mask->kind != OPERAND_MEMORY || mask->reg != OPERAND_NO_REGISTER ||
	    mask->index != OPERAND_NO_REGISTER)
		return false;
	bytes = conditions_constant(conditions, (uint64_t)mask->constant, sizeof(bits));
	if (bytes)
		memcpy(&bits, bytes, sizeof(bits));
	return bits == INT64_MAX || (uint32_t)bits == INT32_MAX;
}

static struct source call_of(const struct conditions *conditions, uint32_t insn, unsigned int reg)
{
	const struct code_insn *call = &conditions->function->insns[insn];
	struct source source = {.kind = SOURCE_UNKNOWN};

	if (reg != RAX && reg != XMM0)
		return source;
	source.kind = SOURCE_COPY;
	source.from = constant_of((int64_t)call->target, 8, call->address);
	source.from.kind = OPERAND_CALL;
	return source;
}

static struct source compare_of(const struct conditions *conditions, uint32_t insn,
				enum flags_code code)
{
	struct source source = {.kind = SOURCE_COMPARE};
	const cs_insn *decoded;
	uint32_t flags;

	if (!conditions_flags(conditions, insn, &flags) ||
	    !(decoded = conditions_decode(conditions, flags)) ||
	    !condition_x86_compare(decoded, code, &source.comparison))
		source.kind = SOURCE_UNKNOWN;
	return source;
}

struct source condition_x86_source(const struct conditions *conditions, uint32_t insn,
				   const cs_insn *decoded, const struct operand *reg)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	struct source source = {.kind = SOURCE_UNKNOWN};

	if (conditions->function->insns[insn].kind == CODE_CALL)
		return call_of(conditions, insn, reg->reg);
	if (condition_x86_code(decoded->id) != FLAGS_OTHER)
		return compare_of(conditions, insn, condition_x86_code(decoded->id));
	if (!x86->op_count || x86->operands[0].type != X86_OP_REG ||
	    register_of(x86->operands[0].reg) != reg->reg) {
		if (decoded->id != X86_INS_CDQE)
			return source;
		source.kind = SOURCE_COPY;
		source.from = *reg;
		source.from.size = 4;
		source.from.at = decoded->address;
		return source;
	}
	/* What is set is only a part of what is asked for. */
	if (x86->operands[0].size < reg->size && x86->operands[0].size < 4)
		return source;
	switch (decoded->id) {
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_MOVQ:
	case X86_INS_MOVD:
	case X86_INS_MOVSD:
	case X86_INS_MOVSS:
	case X86_INS_MOVAPD:
	case X86_INS_MOVAPS:
	case X86_INS_CVTSI2SD:
	case X86_INS_CVTSI2SS:
	case X86_INS_CVTSS2SD:
		return copy_of(decoded, x86->op_count - 1u);
	case X86_INS_LEA:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_INC:
	case X86_INS_DEC:
		return sum_of(decoded);
	case X86_INS_XOR:
	case X86_INS_PXOR:
	case X86_INS_XORPS:
	case X86_INS_XORPD:
		if (!is_register_with_itself(x86))
			return mix_of(decoded);
		source.kind = SOURCE_COPY;
		source.from = constant_of(0, reg->size, decoded->address);
		return source;
	case X86_INS_AND:
		source = mix_of(decoded);
		if (x86->operands[1].type == X86_OP_IMM) {
			source.kind = SOURCE_AND;
			source.by = x86->operands[1].imm;
			if (reg->size < 8 || x86->operands[0].size < 8)
				source.by &= UINT32_MAX;
		}
		return source;
	case X86_INS_ANDPD:
	case X86_INS_ANDPS:
		source = mix_of(decoded);
		if (is_sign_cut(conditions, &source.other)) {
			source.kind = SOURCE_ABSOLUTE;
			source.from.is_float = true;
		}
		return source;
	default:
		return mix_of(decoded);
	}
}
