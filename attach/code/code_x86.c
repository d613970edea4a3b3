/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/code/code_private.h"

enum { RAX = 0, RDX = 1, RCX = 2, RBX = 3, RSI = 4, RDI = 5, RBP = 6, RSP = 7 };

/* By DWARF number: what each is called of 8, 4, 2 and 1 bytes, and its second byte. */
static const uint16_t registers[][5] = {
	{X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
	{X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
	{X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
	{X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
	{X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
	{X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
	{X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
	{X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
	{X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
	{X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
	{X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
	{X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
	{X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
	{X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
	{X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
	{X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
};

/* The DWARF number of the register that holds this one, which is its part number *part_ret;
 * CODE_NO_REGISTER for what is no integer register. */
static unsigned int find_register(x86_reg reg, unsigned int *part_ret)
{
	for (unsigned int i = 0; reg && i < sizeof(registers) / sizeof(registers[0]); i++)
		for (unsigned int j = 0; j < 5; j++)
			if (registers[i][j] == reg) {
				*part_ret = j;
				return i;
			}
	return CODE_NO_REGISTER;
}

unsigned int code_x86_register(x86_reg reg)
{
	unsigned int part;

	return find_register(reg, &part);
}

/* The DWARF number and the size in bytes; CODE_NO_REGISTER also for what is no lowest part. */
static unsigned int register_number(x86_reg reg, unsigned int *size_ret)
{
	unsigned int part = 0, number = find_register(reg, &part);

	*size_ret = 8u >> part;
	return part < 4 ? number : CODE_NO_REGISTER;
}

/* ---- Operands ---- */

static void add_register(struct code_value *value, x86_reg reg, int64_t factor)
{
	unsigned int size, number = register_number(reg, &size);

	if (number == CODE_NO_REGISTER)
		value->is_known = false;
	else
		code_add_term(value, code_register(number, size), factor);
}

/* Add to *value the address of a memory operand; it becomes unknown if that is no such sum. */
static void add_address(struct code_value *value, const cs_insn *decoded, const x86_op_mem *memory)
{
	value->constant += memory->disp;
	if (memory->segment != X86_REG_INVALID)
		value->is_known = false;
	if (memory->base == X86_REG_RIP)
		value->constant += (int64_t)(decoded->address + decoded->size);
	else if (memory->base != X86_REG_INVALID)
		add_register(value, memory->base, 1);
	if (memory->index != X86_REG_INVALID && memory->index != X86_REG_RIZ)
		add_register(value, memory->index, memory->scale);
}

/* The place that an operand names. False: it is none that is kept track of. */
static bool get_place(const cs_insn *decoded, const cs_x86_op *op, struct code_place *ret)
{
	struct code_value address = code_constant(0);
	unsigned int size, reg;

	if (op->type == X86_OP_REG) {
		reg = register_number(op->reg, &size);
		if (reg == CODE_NO_REGISTER)
			return false;
		*ret = code_register(reg, size);
		return true;
	}
	if (op->type != X86_OP_MEM)
		return false;
	add_address(&address, decoded, &op->mem);
	if (!address.is_known || address.num_terms != 1 || address.terms[0].factor != 1)
		return false;
	*ret = code_memory(address.terms[0].place.reg, address.constant, op->size);
	return true;
}

static struct code_value get_value(const cs_insn *decoded, const cs_x86_op *op)
{
	struct code_place place;

	if (op->type == X86_OP_IMM)
		return code_constant(op->imm);
	return get_place(decoded, op, &place) ? code_copy(place) : code_unknown;
}

/* Operand `to` becomes that. Of a register's parts only those that leave nothing of the rest. */
static void set(struct code_builder *builder, struct code_insn *insn, const cs_insn *decoded,
		const cs_x86_op *to, struct code_value value)
{
	struct code_place place;
	unsigned int part;

	if (to->type == X86_OP_REG) {
		bool is_whole = to->size >= 4;

		code_set_register(builder, insn, find_register(to->reg, &part),
				  is_whole ? to->size : 8, is_whole ? value : code_unknown);
	} else if (get_place(decoded, to, &place)) {
		code_add_effect(builder, insn, place, value);
	}
}

/* What is not understood: all that it writes is not known any more. */
static void set_unknown(struct code_builder *builder, csh handle, const cs_insn *decoded,
			struct code_insn *insn)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	cs_regs read, written;
	uint8_t num_read, num_written;
	unsigned int part;

	/* Some instructions' list of accesses is wrong in Capstone 4: the first operand counts. */
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (i == 0 || x86->operands[i].access & CS_AC_WRITE)
			set(builder, insn, decoded, &x86->operands[i], code_unknown);
	if (cs_regs_access(handle, decoded, read, &num_read, written, &num_written))
		return;
	for (uint8_t i = 0; i < num_written; i++)
		code_set_register(builder, insn, find_register(written[i], &part), 8, code_unknown);
}

/* ---- Tables of switches ---- */

static const struct table *table_of(const struct code_builder *builder, x86_reg reg)
{
	static const struct table nothing;
	unsigned int size, number = register_number(reg, &size);

	return number == CODE_NO_REGISTER ? &nothing : &builder->tables[number];
}

/* Is the memory operand an entry of a table? One of its registers is the table's address, the other
 * one an index; or the address is in the instruction. */
static bool get_entry(const struct code_builder *builder, const cs_x86_op *op, struct table *ret)
{
	const x86_op_mem *memory = &op->mem;
	const struct table *base = table_of(builder, memory->base);
	const struct table *index = table_of(builder, memory->index);

	if (op->type != X86_OP_MEM || memory->segment != X86_REG_INVALID ||
	    memory->base == X86_REG_RIP)
		return false;
	*ret = (struct table){.step = TABLE_ENTRY, .entry_size = op->size, .is_signed = true};
	if (base->step == TABLE_CONSTANT)
		ret->address = base->address + (uint64_t)memory->disp;
	else if (index->step == TABLE_CONSTANT && memory->scale == 1)
		ret->address = index->address + (uint64_t)memory->disp;
	else if (memory->index != X86_REG_INVALID && memory->base == X86_REG_INVALID &&
		 memory->disp > 0)
		ret->address = (uint64_t)memory->disp;
	else
		return false;
	return op->size == 4 || op->size == 8;
}

/* What the register that an instruction writes has to do with a table then. */
static struct table next_table(const struct code_builder *builder, const cs_insn *decoded)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	const cs_x86_op *to = &x86->operands[0], *from = &x86->operands[1];
	struct table table = {.step = TABLE_NOTHING}, left, right = table;

	if (decoded->id == X86_INS_CDQE)
		return builder->tables[RAX];
	if (x86->op_count != 2 || to->type != X86_OP_REG)
		return table;
	left = *table_of(builder, to->reg);
	if (from->type == X86_OP_REG)
		right = *table_of(builder, from->reg);
	switch (decoded->id) {
	case X86_INS_LEA:
		if (from->mem.base == X86_REG_RIP)
			table = (struct table){.step = TABLE_CONSTANT,
					       .address = decoded->address + decoded->size +
							  (uint64_t)from->mem.disp};
		return table;
	case X86_INS_MOV:
	case X86_INS_MOVSXD:
		if (from->type == X86_OP_IMM)
			return (struct table){.step = TABLE_CONSTANT,
					      .address = (uint64_t)from->imm};
		if (from->type == X86_OP_MEM && !get_entry(builder, from, &table))
			table.step = TABLE_NOTHING;
		return from->type == X86_OP_REG ? right : table;
	case X86_INS_ADD:
		if (left.step == TABLE_CONSTANT && right.step == TABLE_ENTRY) {
			table = right;
			table.base = left.address;
		} else if (left.step == TABLE_ENTRY && right.step == TABLE_CONSTANT) {
			table = left;
			table.base = right.address;
		} else {
			return table;
		}
		table.step = TABLE_TARGET;
		table.is_relative = true;
		return table;
	default:
		return table;
	}
}

static void note_comparison(struct code_builder *builder, const cs_insn *decoded)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	const uint64_t changes = X86_EFLAGS_MODIFY_CF | X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_RESET_CF |
				 X86_EFLAGS_RESET_ZF | X86_EFLAGS_SET_CF | X86_EFLAGS_SET_ZF |
				 X86_EFLAGS_UNDEFINED_CF | X86_EFLAGS_UNDEFINED_ZF;
	bool compares = decoded->id == X86_INS_CMP || decoded->id == X86_INS_SUB;

	if (!compares && !(x86->eflags & changes))
		return;
	builder->has_compared =
		compares && x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM;
	if (builder->has_compared)
		builder->compared = (uint64_t)x86->operands[1].imm;
}

static void note_branch(struct code_builder *builder, const cs_insn *decoded, uint64_t target)
{
	bool is_with = decoded->id == X86_INS_JA || decoded->id == X86_INS_JBE;

	if (is_with || decoded->id == X86_INS_JAE || decoded->id == X86_INS_JB)
		code_note_bound(builder, is_with,
				decoded->id == X86_INS_JBE || decoded->id == X86_INS_JB, target);
	else
		builder->bound = 0;
}

/* ---- Instructions ---- */

static void decode_jump(struct code_builder *builder, const cs_insn *decoded,
			struct code_insn *insn)
{
	const cs_x86_op *to = &decoded->detail->x86.operands[0];
	struct table table = {0};

	if (to->type == X86_OP_IMM) {
		insn->kind = decoded->id == X86_INS_JMP ? CODE_JUMP : CODE_BRANCH;
		insn->target = (uint64_t)to->imm;
		note_branch(builder, decoded, insn->target);
		return;
	}
	/* Through a fixed pointer, or one of an object: to another function. */
	if (to->type == X86_OP_MEM && to->mem.index == X86_REG_INVALID) {
		insn->kind = CODE_END;
		return;
	}
	insn->kind = CODE_SWITCH;
	if (to->type == X86_OP_REG)
		table = *table_of(builder, to->reg);
	else
		get_entry(builder, to, &table);
	if (table.step == TABLE_TARGET || (table.step == TABLE_ENTRY && table.entry_size == 8))
		code_add_table(builder, insn, &table);
}

static void decode_stack(struct code_builder *builder, const cs_insn *decoded,
			 struct code_insn *insn)
{
	const cs_x86_op *op = &decoded->detail->x86.operands[0];
	struct code_value moved = code_copy(code_register(RSP, 8));

	switch (decoded->id) {
	case X86_INS_PUSH:
		moved.constant = -8;
		code_add_effect(builder, insn, code_register(RSP, 8), moved);
		code_add_effect(builder, insn, code_memory(RSP, 0, 8), get_value(decoded, op));
		break;
	case X86_INS_POP:
		moved.constant = 8;
		set(builder, insn, decoded, op, code_copy(code_memory(RSP, 0, 8)));
		code_add_effect(builder, insn, code_register(RSP, 8), moved);
		break;
	default: /* leave */
		moved = code_copy(code_register(RBP, 8));
		moved.constant = 8;
		code_add_effect(builder, insn, code_register(RSP, 8), moved);
		code_add_effect(builder, insn, code_register(RBP, 8),
				code_copy(code_memory(RSP, -8, 8)));
		break;
	}
}

/* An operand plus or minus another one, shifted or multiplied by a constant. */
static struct code_value calculate(const cs_insn *decoded)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	const cs_x86_op *left = &x86->operands[x86->op_count == 3];
	const cs_x86_op *right = &x86->operands[x86->op_count - 1];
	struct code_value value = get_value(decoded, left), other = get_value(decoded, right);
	int64_t by = x86->op_count == 1 ? 1 : right->imm & (left->size == 8 ? 63 : 31);
	bool is_by = x86->op_count == 1 || right->type == X86_OP_IMM;

	if (!value.is_known)
		return code_unknown;
	switch (decoded->id) {
	case X86_INS_INC:
		value.constant++;
		return value;
	case X86_INS_DEC:
		value.constant--;
		return value;
	case X86_INS_NEG:
		value.terms[0].factor = -1;
		return value;
	case X86_INS_ADD:
	case X86_INS_SUB:
		code_add(&value, &other, decoded->id == X86_INS_ADD ? 1 : -1);
		return value;
	case X86_INS_IMUL:
		value.terms[0].factor = right->imm;
		break;
	case X86_INS_SHL:
	case X86_INS_SAL:
		value.terms[0].factor = (int64_t)(UINT64_C(1) << by);
		break;
	default: /* shr, sar */
		code_shift_right(&value, (unsigned int)by, decoded->id == X86_INS_SAR);
		break;
	}
	return is_by ? value : code_unknown;
}

static struct code_value load(const cs_insn *decoded, const cs_x86_op *from)
{
	struct code_value value = get_value(decoded, from);

	if (value.is_known && value.num_terms)
		value.terms[0].place.is_signed =
			decoded->id == X86_INS_MOVSX || decoded->id == X86_INS_MOVSXD;
	return value;
}

static void decode(struct code_builder *builder, csh handle, const cs_insn *decoded,
		   struct code_insn *insn)
{
	const cs_x86 *x86 = &decoded->detail->x86;
	const cs_x86_op *to = &x86->operands[0];
	struct table table = next_table(builder, decoded);
	struct code_value value;
	unsigned int size, reg = RAX;

	note_comparison(builder, decoded);
	if (cs_insn_group(handle, decoded, CS_GRP_RET)) {
		insn->kind = CODE_END;
		return;
	}
	if (cs_insn_group(handle, decoded, CS_GRP_CALL)) {
		code_note_call(builder, insn, to->type == X86_OP_IMM ? (uint64_t)to->imm : 0);
		return;
	}
	if (cs_insn_group(handle, decoded, CS_GRP_JUMP)) {
		decode_jump(builder, decoded, insn);
		return;
	}
	switch (decoded->id) {
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		insn->kind = CODE_END;
		return;
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_NOP:
	case X86_INS_BT:
	case X86_INS_DATA16:
		return;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
		set(builder, insn, decoded, to, load(decoded, &x86->operands[1]));
		break;
	case X86_INS_CDQE:
		value = code_copy(code_register(RAX, 4));
		value.terms[0].place.is_signed = true;
		code_set_register(builder, insn, RAX, 8, value);
		break;
	case X86_INS_LEA:
		value = code_constant(0);
		add_address(&value, decoded, &x86->operands[1].mem);
		set(builder, insn, decoded, to, value);
		break;
	case X86_INS_XOR:
	case X86_INS_SUB:
		if (to->type == X86_OP_REG && x86->operands[1].type == X86_OP_REG &&
		    to->reg == x86->operands[1].reg) {
			set(builder, insn, decoded, to, code_constant(0));
			break;
		}
		if (decoded->id == X86_INS_XOR) {
			set_unknown(builder, handle, decoded, insn);
			break;
		}
		/* fall through */
	case X86_INS_ADD:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_NEG:
	case X86_INS_SHL:
	case X86_INS_SAL:
	case X86_INS_SHR:
	case X86_INS_SAR:
		set(builder, insn, decoded, to, calculate(decoded));
		break;
	case X86_INS_IMUL:
		if (x86->op_count == 3)
			set(builder, insn, decoded, to, calculate(decoded));
		else
			set_unknown(builder, handle, decoded, insn);
		break;
	case X86_INS_PUSH:
	case X86_INS_POP:
	case X86_INS_LEAVE:
		decode_stack(builder, decoded, insn);
		break;
	case X86_INS_XCHG:
		/* One with itself stands for a nop of two bytes. */
		if (x86->op_count == 2 && to->type == X86_OP_REG && to->reg == x86->operands[1].reg)
			return;
		/* fall through */
	default:
		set_unknown(builder, handle, decoded, insn);
		return;
	}
	if (decoded->id != X86_INS_CDQE)
		reg = x86->op_count ? register_number(to->reg, &size) : CODE_NO_REGISTER;
	if (reg != CODE_NO_REGISTER && table.step != TABLE_NOTHING)
		builder->tables[reg] = table;
}

static bool may_leave(csh handle, const cs_insn *decoded, const struct code_range *range)
{
	const cs_x86_op *to = &decoded->detail->x86.operands[0];

	if (cs_insn_group(handle, decoded, CS_GRP_RET))
		return true;
	if (!cs_insn_group(handle, decoded, CS_GRP_JUMP))
		return false;
	return to->type != X86_OP_IMM || (uint64_t)to->imm < range->begin ||
	       (uint64_t)to->imm >= range->end;
}

/* A stub for calls of other libraries: jmp *displacement(%rip), maybe behind endbr64. */
static uint64_t stub_pointer(const uint8_t *bytes, size_t size, uint64_t address)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;
	int32_t displacement;

	if (size >= sizeof(endbr) && !memcmp(bytes, endbr, sizeof(endbr)))
		at = sizeof(endbr);
	if (at < size && bytes[at] == 0xf2)
		at++;
	if (size < at + 6 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return 0;
	memcpy(&displacement, bytes + at + 2, sizeof(displacement));
	return address + at + 6 + (uint64_t)(int64_t)displacement;
}

/* The System V ABI: rbx, rbp, r12 to r15 are the caller's; and so is the stack pointer. */
const struct code_machine code_machine_x86 = {
	.arch = CS_ARCH_X86,
	.mode = CS_MODE_64,
	.preserved = 1u << RBX | 1u << RBP | 1u << RSP | 0xfu << 12 | UINT64_C(1) << CODE_CFA,
	.stack_pointer = RSP,
	.entry_offset = 8,
	.decode = decode,
	.may_leave = may_leave,
	.stub_pointer = stub_pointer,
};
