/* SPDX-License-Identifier: BSD-3-Clause
 * Carries out the operations of a read (model/job/code.h) in a frame. Operations and what is read
 * of the process are untrusted: each ends with a status instead of going wrong. */
#include <sys/param.h>

#include "attach/stacks/thread_locals.h"
#include "attach/stacks/tracee.h"
#include "attach/stacks/unwind_private.h"
#include "model/job/code.h"
#include "model/job/sample.h"

#define MAX_BYTES ((uint64_t)1 << 20) /* read behind addresses, of a stack */
#define MAX_ROW ((uint64_t)256 << 10) /* that is read at once though not all of it is wanted */
#define MAX_GAP 4096 /* between its elements: to read them one by one is about as fast */
#define LEAST_PAGE 4096

enum { MAX_STACK = 64, MAX_UP = 16 };

struct dimension {
	uint64_t count;
	int64_t stride;
};

struct machine {
	struct walk *walk;
	const unw_cursor_t *frame;
	unw_cursor_t cursor; /* of the frame whose registers these are */
	bool is_innermost;   /* the frame is */
	uint32_t module;
	uint64_t stack[MAX_STACK];
	size_t num;
	uint64_t object;
	struct dimension dimensions[CODE_MAX_DIMENSIONS];
	size_t num_dimensions;
	uint8_t *bytes; /* of the result */
	size_t num_bytes, capacity;
	int64_t bounds[2]; /* of CODE_NO_ELEMENT */
};

/* As it was when the thread stood still, where that was copied; else as it is now. */
static bool read_memory(struct machine *machine, uint64_t address, void *ret, size_t size)
{
	const struct tracee *tracee = machine->walk->tracee;
	const struct tracee_part *parts[] = {&tracee->stack, &tracee->other};

	for (size_t i = 0; i < 2; i++) {
		uint64_t offset = address - parts[i]->address;

		if (parts[i]->bytes && address >= parts[i]->address && offset <= parts[i]->size &&
		    parts[i]->size - offset >= size) {
			memcpy(ret, parts[i]->bytes + offset, size);
			return true;
		}
	}
	return memory_get(&machine->walk->space->memory, address, ret, size) == 0;
}

bool walk_register(const unw_cursor_t *cursor, unsigned int number, unw_word_t *ret)
{
	unw_cursor_t caller = *cursor;

	/* The frame's address is what the stack pointer is in its caller. */
	if (number == CODE_CFA)
		return unw_step(&caller) > 0 && !unw_get_reg(&caller, UNW_REG_SP, ret);
	return number < WALK_REGISTERS && !unw_get_reg(&caller, (int)number, ret);
}

void walk_add_value(struct walk *walk, size_t frame, uint32_t number, int64_t value)
{
	*XPUSH(walk->values, walk->num_values, walk->values_capacity) =
		(struct sample_value){(uint32_t)frame, number, value};
}

/* ---- The result ---- */

/* Where the next bytes of the result go; NULL: there is no room for so many. */
static uint8_t *make_room(struct machine *machine, uint64_t size)
{
	uint8_t *at = machine->bytes + machine->num_bytes;

	if (size > machine->capacity - machine->num_bytes)
		return NULL;
	machine->num_bytes += size;
	return at;
}

static enum code_status give_bytes(struct machine *machine, uint64_t address, uint64_t size,
				   bool is_text)
{
	uint8_t *to = make_room(machine, size);
	uint64_t left = LEAST_PAGE - address % LEAST_PAGE;

	if (!to)
		return CODE_TOO_LARGE;
	if (read_memory(machine, address, to, size) ||
	    (is_text && left < size && read_memory(machine, address, to, left)))
		return CODE_READ;
	return CODE_NO_MEMORY;
}

static enum code_status give_vector(struct machine *machine, uint64_t reg, uint64_t size)
{
	const struct tracee_vectors *vectors = &machine->walk->tracee->vectors;
	uint8_t *to;

	/* Only those of the innermost frame are known: who is called need not keep them. */
	if (!machine->is_innermost || reg >= vectors->num || size > sizeof(vectors->bytes[0]))
		return CODE_LOST_REGISTER;
	to = make_room(machine, size);
	if (!to)
		return CODE_TOO_LARGE;
	memcpy(to, vectors->bytes[reg], size);
	return CODE_READ;
}

/* One after the other along the first dimension of these, which has the shortest stride. */
static enum code_status give_row(struct machine *machine, uint64_t address, uint64_t count,
				 int64_t stride, uint64_t size)
{
	uint64_t length = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
	uint64_t span = (count - 1) * length;
	uint64_t first = stride < 0 ? address - span : address;
	uint8_t *row = NULL;
	enum code_status status = CODE_READ;

	if (!count)
		return CODE_READ;
	if (stride == (int64_t)size)
		return give_bytes(machine, address, count * size, false);
	/* There is room for all, so that `span` is not too large for a word. */
	if (length <= MAX_GAP && span <= MAX_ROW) {
		row = xmalloc(span + size);
		if (!read_memory(machine, first, row, span + size)) {
			free(row);
			row = NULL;
		}
	}
	for (uint64_t i = 0; i < count && status == CODE_READ; i++) {
		uint64_t at = address + i * (uint64_t)stride;
		uint8_t *to;

		if (!row) {
			status = give_bytes(machine, at, size, false);
			continue;
		}
		to = make_room(machine, size);
		if (to)
			memcpy(to, row + (at - first), size);
		else
			status = CODE_TOO_LARGE;
	}
	free(row);
	return status;
}

/* Of the dimensions up to `last`, as many elements as there is room for. */
static enum code_status give_elements(struct machine *machine, uint64_t address, size_t last,
				      uint64_t size)
{
	const struct dimension *dimension = &machine->dimensions[last];
	enum code_status status = CODE_READ;

	if (last == machine->num_dimensions - 1) {
		uint64_t room = (machine->capacity - machine->num_bytes) / size;

		return give_row(machine, address, MIN(dimension->count, room), dimension->stride,
				size);
	}
	for (uint64_t i = 0; i < dimension->count && status == CODE_READ &&
			     machine->capacity - machine->num_bytes >= size;
	     i++) {
		size_t before = machine->num_bytes;

		status = give_elements(machine, address + i * (uint64_t)dimension->stride, last + 1,
				       size);
		/* Then the others are empty, too. */
		if (machine->num_bytes == before)
			break;
	}
	return status;
}

/* ---- Operations ---- */

static bool push(struct machine *machine, uint64_t word)
{
	if (machine->num == MAX_STACK)
		return false;
	machine->stack[machine->num++] = word;
	return true;
}

static bool calculate(enum code_op_kind kind, uint64_t a, uint64_t b, uint64_t *ret)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (kind) {
	case CODE_OP_ADD:
		*ret = a + b;
		break;
	case CODE_OP_SUBTRACT:
		*ret = a - b;
		break;
	case CODE_OP_MULTIPLY:
		*ret = a * b;
		break;
	case CODE_OP_DIVIDE:
		if (!b || (x == INT64_MIN && y == -1))
			return false;
		*ret = (uint64_t)(x / y);
		break;
	case CODE_OP_MODULO:
		if (!b)
			return false;
		*ret = a % b;
		break;
	case CODE_OP_AND:
		*ret = a & b;
		break;
	case CODE_OP_OR:
		*ret = a | b;
		break;
	case CODE_OP_XOR:
		*ret = a ^ b;
		break;
	case CODE_OP_SHIFT_LEFT:
		*ret = b > 63 ? 0 : a << b;
		break;
	case CODE_OP_SHIFT_RIGHT:
		*ret = b > 63 ? 0 : a >> b;
		break;
	case CODE_OP_SHIFT_RIGHT_SIGNED:
		*ret = (uint64_t)(x >> MIN(b, 63));
		break;
	case CODE_OP_EQUAL:
		*ret = a == b;
		break;
	case CODE_OP_NOT_EQUAL:
		*ret = a != b;
		break;
	case CODE_OP_LESS:
		*ret = x < y;
		break;
	case CODE_OP_LESS_EQUAL:
		*ret = x <= y;
		break;
	case CODE_OP_GREATER:
		*ret = x > y;
		break;
	case CODE_OP_GREATER_EQUAL:
		*ret = x >= y;
		break;
	default:
		return false;
	}
	return true;
}

static bool change_frame(struct machine *machine, int64_t up)
{
	machine->cursor = *machine->frame;
	if (up < 0 || up > MAX_UP)
		return false;
	for (int64_t i = 0; i < up; i++)
		if (unw_step(&machine->cursor) <= 0 || machine->walk->is_guessed)
			return false;
	return true;
}

/* lower, upper, stride are on top; from and to as well in a range of less than all. */
static enum code_status take_dimension(struct machine *machine, bool is_range, bool is_all,
				       int64_t index)
{
	size_t num_popped = is_range && !is_all ? 5 : 3;
	const uint64_t *words;
	int64_t lower, upper, stride, first, last, distance;
	struct dimension *dimension;

	if (machine->num < num_popped + 1)
		return CODE_NO_VALUE;
	machine->num -= num_popped;
	words = machine->stack + machine->num;
	lower = (int64_t)words[0];
	upper = (int64_t)words[1];
	stride = (int64_t)words[2];
	first = !is_range ? index : is_all ? lower : (int64_t)words[3];
	last = !is_range ? index : is_all ? upper : (int64_t)words[4];
	machine->bounds[0] = lower;
	machine->bounds[1] = upper;
	if (!is_all && (first < lower || last > upper || first > last))
		return CODE_NO_ELEMENT;
	if (__builtin_sub_overflow(first, lower, &distance))
		return CODE_NO_ELEMENT;
	machine->stack[machine->num - 1] += (uint64_t)distance * (uint64_t)stride;
	if (!is_range)
		return CODE_READ;
	if (machine->num_dimensions == CODE_MAX_DIMENSIONS)
		return CODE_NO_VALUE;
	/* Those with longer strides are before it. */
	for (size_t i = machine->num_dimensions++; i > 0; i--)
		machine->dimensions[i] = machine->dimensions[i - 1];
	dimension = &machine->dimensions[0];
	*dimension =
		(struct dimension){last < first ? 0 : (uint64_t)last - (uint64_t)first + 1, stride};
	return CODE_READ;
}

static enum code_status find_local(struct machine *machine, uint64_t *word)
{
	return thread_locals_find(machine->walk->space, machine->walk->tracee, machine->module,
				  *word, word);
}

/* Operations that pop nothing. */
static enum code_status push_word(struct machine *machine, const struct code_op *op)
{
	unw_word_t word = machine->object;

	if (op->kind == CODE_OP_CONSTANT)
		word = (uint64_t)op->operand;
	else if (op->kind == CODE_OP_BIAS &&
		 !unwind_bias(machine->walk->space, machine->module, &word))
		return CODE_NO_MEMORY;
	else if (op->kind == CODE_OP_REGISTER &&
		 (op->operand < 0 || machine->walk->is_guessed ||
		  !walk_register(&machine->cursor, (unsigned int)op->operand, &word) ||
		  machine->walk->is_guessed))
		return CODE_LOST_REGISTER;
	return push(machine, word) ? CODE_READ : CODE_NO_VALUE;
}

/* Those with something on top of the stack. */
static enum code_status use_word(struct machine *machine, const struct code_op *op)
{
	uint64_t operand = (uint64_t)op->operand, *top = &machine->stack[machine->num - 1];
	uint64_t word = *top, value = 0;
	uint8_t *to;

	switch (op->kind) {
	case CODE_OP_LOAD:
		if (operand > sizeof(value))
			return CODE_NO_VALUE;
		if (!read_memory(machine, word, &value, operand))
			return CODE_NO_MEMORY;
		*top = value;
		return CODE_READ;
	case CODE_OP_ADD_CONSTANT:
		*top += operand;
		return CODE_READ;
	case CODE_OP_SIGNED:
	case CODE_OP_UNSIGNED:
		if (!operand || operand > 8)
			return CODE_NO_VALUE;
		*top = (uint64_t)code_extend((int64_t)word, (unsigned int)operand,
					     op->kind == CODE_OP_SIGNED);
		return CODE_READ;
	case CODE_OP_PICK:
		return operand < machine->num &&
				       push(machine, machine->stack[machine->num - 1 - operand])
			       ? CODE_READ
			       : CODE_NO_VALUE;
	case CODE_OP_THREAD:
		return find_local(machine, top);
	case CODE_OP_OBJECT:
		machine->object = word;
		return CODE_READ;
	default:
		break;
	}
	machine->num--;
	switch (op->kind) {
	case CODE_OP_DROP:
		return CODE_READ;
	case CODE_OP_REQUIRE:
		return word ? CODE_READ : operand < CODE_NO_VALUE ? operand : CODE_NO_VALUE;
	case CODE_OP_WORD:
		to = operand <= sizeof(word) ? make_room(machine, operand) : NULL;
		if (to)
			memcpy(to, &word, operand);
		return to ? CODE_READ : CODE_TOO_LARGE;
	case CODE_OP_BYTES:
	case CODE_OP_TEXT:
		return give_bytes(machine, word, operand, op->kind == CODE_OP_TEXT);
	case CODE_OP_ELEMENTS:
		return operand && operand <= machine->capacity && machine->num_dimensions
			       ? give_elements(machine, word, 0, operand)
			       : CODE_TOO_LARGE;
	default:
		return CODE_NO_VALUE;
	}
}

static enum code_status apply(struct machine *machine, const struct code_op *op)
{
	uint64_t *top = machine->stack + machine->num - (machine->num > 0), word;

	switch (op->kind) {
	case CODE_OP_CONSTANT:
	case CODE_OP_REGISTER:
	case CODE_OP_BIAS:
	case CODE_OP_PUSH_OBJECT:
		return push_word(machine, op);
	case CODE_OP_FRAME:
		return change_frame(machine, op->operand) ? CODE_READ : CODE_LOST_REGISTER;
	case CODE_OP_VECTOR:
		return give_vector(machine, (uint64_t)op->operand / 256,
				   (uint64_t)op->operand % 256);
	case CODE_OP_INDEX:
		return take_dimension(machine, false, false, op->operand);
	case CODE_OP_RANGE:
		return take_dimension(machine, true, op->operand == 1, 0);
	case CODE_OP_SWAP:
		if (machine->num < 2)
			return CODE_NO_VALUE;
		word = top[0];
		top[0] = top[-1];
		top[-1] = word;
		return CODE_READ;
	case CODE_OP_ROTATE:
		if (machine->num < 3)
			return CODE_NO_VALUE;
		word = top[0];
		top[0] = top[-1];
		top[-1] = top[-2];
		top[-2] = word;
		return CODE_READ;
	default:
		break;
	}
	if (op->kind >= CODE_OP_ADD && op->kind <= CODE_OP_GREATER_EQUAL) {
		if (machine->num < 2 || !calculate(op->kind, top[-1], top[0], &word))
			return CODE_NO_VALUE;
		machine->num--;
		top[-1] = word;
		return CODE_READ;
	}
	return machine->num ? use_word(machine, op) : CODE_NO_VALUE;
}

/* unwind_walk() turns the order of all values. */
static void add_result(struct machine *machine, enum code_status status, uint32_t number,
		       size_t frame)
{
	struct walk *walk = machine->walk;
	size_t num_words = (machine->num_bytes + 7) / 8;

	if (status == CODE_READ) {
		for (size_t i = num_words; i-- > 0;) {
			int64_t word;

			memcpy(&word, machine->bytes + 8 * i, sizeof(word));
			walk_add_value(walk, frame, number, word);
		}
		for (size_t i = machine->num_dimensions; i-- > 0;)
			walk_add_value(walk, frame, number, (int64_t)machine->dimensions[i].count);
	} else if (status == CODE_NO_ELEMENT) {
		walk_add_value(walk, frame, number, machine->bounds[1]);
		walk_add_value(walk, frame, number, machine->bounds[0]);
	}
	walk_add_value(walk, frame, number, status);
}

void walk_read_ops(struct walk *walk, const unw_cursor_t *cursor, const struct code_probe *probe,
		   uint32_t number, size_t frame)
{
	const struct code_read *read = &probe->read;
	struct machine machine = {
		.walk = walk,
		.frame = cursor,
		.cursor = *cursor,
		.is_innermost = frame == 0,
		.module = probe->module,
		.capacity = read->num_bytes,
	};
	enum code_status status = CODE_READ;

	if (walk->bytes_read + read->num_bytes > MAX_BYTES)
		return;
	/* Whole words, of which the last may be in part of the value. */
	machine.bytes = xcalloc((read->num_bytes + 7) / 8, 8);
	for (size_t i = 0; i < read->num_ops && status == CODE_READ; i++)
		status = apply(&machine, &read->ops[i]);
	walk->bytes_read += machine.num_bytes;
	add_result(&machine, status, number, frame);
	free(machine.bytes);
}
