/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "attach/stacks/python.h"
#include "attach/stacks/python_private.h"
#include "attach/stacks/unwind.h"
#include "model/monotonic.h"
#include "model/xalloc.h"

#define MAX_TRIES 8 /* objects by the names that it has */
#define MAX_INTERPRETERS 16
#define MAX_THREADS 4096 /* of all interpreters */
/* The list of threads is read no more often, since many threads may not be in it. */
#define LIST_NS 10000000
/* Of location tables, for the frames of one stack: those of a thousand usual functions. */
#define MAX_LINE_BYTES (4 << 20)
#define OWNED_BY_C_STACK 3

uint64_t python_copy_ns = 100000;

/* ---- Layouts ---- */

/* By offsetof() on the headers of 3.11.2; they do not change within 3.11. */
static const struct python_layout layout_3_11 = {
	.runtime_interpreters = 40,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_native_id = 160,
	.thread_frame = 56,
	.has_cframe = true,
	.cframe_frame = 8,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.frame_entry = 68,
	.code_first_line = 72,
	.code_file = 112,
	.code_qualname = 128,
	.code_line_table = 136,
	.code_instructions = 184,
	.object_type = 8,
	.string_length = 16,
	.string_state = 32,
	.string_ascii = 48,
	.string_compact = 72,
	.bytes_size = 16,
	.bytes_data = 32,
};

/* The beginning of _PyRuntime in 3.13: _Py_DebugOffsets, with which debuggers are told. */
struct debug_offsets {
	char cookie[8];
	uint64_t version, free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime;
	struct {
		uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins;
		uint64_t ceval_gil, gil, gil_enabled, gil_locked, gil_holder;
	} interpreter;
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id;
		uint64_t datastack_chunk, status;
	} thread;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount;
		uint64_t localsplusnames, localspluskinds, code_adaptive;
	} code;
	struct {
		uint64_t size, type;
	} object;
	uint64_t type_object[4], tuple_object[3], list_object[3], dict_object[3];
	uint64_t float_object[2], long_object[3];
	struct {
		uint64_t size, ob_size, ob_sval;
	} bytes;
	struct {
		uint64_t size, state, length, ascii_size;
	} string;
};

static int read_3_13(struct python *python)
{
	struct debug_offsets offsets;
	struct python_layout *layout = &python->layout;

	if (memory_get(&python->memory, python->runtime, &offsets, sizeof(offsets)) ||
	    memcmp(offsets.cookie, "xdebugpy", sizeof(offsets.cookie)) != 0 ||
	    offsets.free_threaded)
		return -1;
	*layout = (struct python_layout){
		.runtime_interpreters = offsets.runtime.interpreters_head,
		.interpreter_next = offsets.interpreter.next,
		.interpreter_threads = offsets.interpreter.threads_head,
		.thread_next = offsets.thread.next,
		.thread_native_id = offsets.thread.native_thread_id,
		.thread_frame = offsets.thread.current_frame,
		.frame_code = offsets.frame.executable,
		.frame_previous = offsets.frame.previous,
		.frame_instruction = offsets.frame.instr_ptr,
		.frame_entry = offsets.frame.owner,
		.has_marks = true,
		.code_first_line = offsets.code.firstlineno,
		.code_file = offsets.code.filename,
		.code_qualname = offsets.code.qualname,
		.code_line_table = offsets.code.linetable,
		.code_instructions = offsets.code.code_adaptive,
		.object_type = offsets.object.type,
		.string_length = offsets.string.length,
		.string_state = offsets.string.state,
		.string_ascii = offsets.string.ascii_size,
		.string_compact = offsets.string.ascii_size + 2 * sizeof(uint64_t),
		.bytes_size = offsets.bytes.ob_size,
		.bytes_data = offsets.bytes.ob_sval,
	};
	return 0;
}

/* What the object has of symbols decides; its name only saves the look into others. */
static bool may_be_python(const struct maps *maps, size_t i)
{
	const char *base = maps_base(maps->objects[i].path);

	return maps->objects[i].has_code &&
	       (!strncmp(base, "python", 6) || !strncmp(base, "libpython", 9));
}

static int find_layout(struct python *python, uint64_t version_address)
{
	unsigned long version;

	if (memory_get(&python->memory, version_address, &version, sizeof(version)))
		return -1;
	switch (version >> 16) {
	case 0x030b:
		python->layout = layout_3_11;
		return 0;
	case 0x030d:
		return read_3_13(python);
	default:
		return -1;
	}
}

static int find_in_object(struct python *python, const struct maps *maps, size_t number)
{
	const struct maps_object *object = &maps->objects[number];
	uint64_t version, size;

	if (elf_symbol_find(python->memory.pid, object, "_PyRuntime", &python->runtime, NULL) ||
	    elf_symbol_find(python->memory.pid, object, "PyCode_Type", &python->code_type, NULL) ||
	    elf_symbol_find(python->memory.pid, object, "Py_Version", &version, NULL) ||
	    elf_symbol_find(python->memory.pid, object, "_PyEval_EvalFrameDefault",
			    &python->eval_start, &size) ||
	    find_layout(python, version))
		return -1;
	python->eval_end = python->eval_start + size;
	python->start = object->start;
	for (size_t i = 0; i < maps->num_ranges; i++)
		if (maps->ranges[i].object == number)
			python->end = maps->ranges[i].end;
	return 0;
}

struct python *python_create(const struct memory *memory, const struct maps *maps)
{
	struct python python = {.memory = *memory}, *copy;
	int tries = 0;

	for (size_t i = 0; i < maps->num_objects && tries < MAX_TRIES; i++) {
		if (!may_be_python(maps, i) || (tries++, find_in_object(&python, maps, i)))
			continue;
		copy = xmalloc(sizeof(*copy));
		*copy = python;
		return copy;
	}
	return NULL;
}

void python_destroy(struct python *python)
{
	if (!python)
		return;
	python_forget_codes(python);
	free(python->threads);
	free(python);
}

/* ---- Before the stop ---- */

static uint64_t read_word(const struct python *python, uint64_t address)
{
	uint64_t word;

	return memory_get(&python->memory, address, &word, sizeof(word)) ? 0 : word;
}

/* The thread's number as it knows it itself: in its own pid namespace, the last of NSpid. A core
 * has that one. */
static uint64_t own_number(pid_t pid, pid_t tid)
{
	static const char key[] = "\nNSpid:";
	char name[64], *text, *at, *end;
	uint64_t number = (uint64_t)tid;

	snprintf(name, sizeof(name), "task/%d/status", (int)tid);
	text = pid ? procfs_read(pid, name, NULL) : NULL;
	at = text ? strstr(text, key) : NULL;
	if (at) {
		at += sizeof(key) - 1;
		for (;;) {
			unsigned long value = strtoul(at, &end, 10);

			if (end == at || *at == '\n')
				break;
			number = value;
			at = end;
			if (*at == '\n')
				break;
		}
	}
	free(text);
	return number;
}

/* The threads of one interpreter. What is not an interpreter any more may lead in a circle: then
 * all of it has been seen when the mark, which is left behind ever farther ahead, is met again. */
static void list_threads(struct python *python, uint64_t interpreter)
{
	const struct python_layout *layout = &python->layout;
	uint64_t thread = read_word(python, interpreter + layout->interpreter_threads), mark = 0;

	for (size_t n = 1; thread && thread != mark && python->num_threads < MAX_THREADS; n++) {
		python->threads = xgrow(python->threads, python->num_threads,
					&python->threads_capacity, sizeof(*python->threads));
		python->threads[python->num_threads++] = (struct python_thread){
			read_word(python, thread + layout->thread_native_id), thread};
		if ((n & (n - 1)) == 0)
			mark = thread;
		thread = read_word(python, thread + layout->thread_next);
	}
}

static void list_all_threads(struct python *python)
{
	const struct python_layout *layout = &python->layout;
	uint64_t first = read_word(python, python->runtime + layout->runtime_interpreters);
	uint64_t interpreter = first;

	python->num_threads = 0;
	for (int i = 0; interpreter && i < MAX_INTERPRETERS; i++) {
		list_threads(python, interpreter);
		interpreter = read_word(python, interpreter + layout->interpreter_next);
		if (interpreter == first)
			break;
	}
	python->listed_ns = monotonic_ns();
}

/* The thread's state, which still says that it is that; 0: it has none. */
static uint64_t find_thread(const struct python *python, uint64_t number)
{
	for (size_t i = 0; i < python->num_threads; i++) {
		const struct python_thread *thread = &python->threads[i];

		if (thread->number == number &&
		    read_word(python, thread->address + python->layout.thread_native_id) == number)
			return thread->address;
	}
	return 0;
}

bool python_prepare(struct python *python, pid_t tid, struct python_copy *copy)
{
	uint64_t number = own_number(python->memory.pid, tid);

	copy->python = python;
	copy->thread = 0;
	copy->num_frames = copy->num_pages = 0;
	copy->is_whole = copy->is_late = false;
	copy->thread = find_thread(python, number);
	if (!copy->thread && monotonic_ns() - python->listed_ns > LIST_NS) {
		list_all_threads(python);
		copy->thread = find_thread(python, number);
	}
	return copy->thread != 0;
}

/* ---- While it stands still ---- */

struct reader {
	struct python_copy *copy;
	uint64_t until_ns;
};

/* Frames lie side by side, so most of them come with the page of another. */
static const uint8_t *get_page(struct reader *reader, uint64_t address)
{
	struct python_copy *copy = reader->copy;
	size_t i = copy->num_pages;

	while (i > 0)
		if (copy->page_addresses[--i] == address)
			return copy->pages[i];
	copy->is_late = monotonic_ns() > reader->until_ns;
	if (copy->num_pages == PYTHON_MAX_PAGES || copy->is_late ||
	    memory_get(&copy->python->memory, address, copy->pages[copy->num_pages], PYTHON_PAGE))
		return NULL;
	copy->page_addresses[copy->num_pages] = address;
	return copy->pages[copy->num_pages++];
}

static bool get(struct reader *reader, uint64_t address, void *buffer, size_t size)
{
	uint8_t *to = buffer;

	while (size > 0) {
		uint64_t offset = address % PYTHON_PAGE;
		size_t part = PYTHON_PAGE - offset < size ? PYTHON_PAGE - offset : size;
		const uint8_t *page = get_page(reader, address - offset);

		if (!page)
			return false;
		memcpy(to, page + offset, part);
		to += part;
		address += part;
		size -= part;
	}
	return true;
}

static bool get_frame(struct reader *reader, uint64_t address, struct python_frame *frame,
		      uint64_t *previous_ret, bool *is_mark_ret)
{
	const struct python_layout *layout = &reader->copy->python->layout;
	uint8_t entry;

	if (!get(reader, address + layout->frame_code, &frame->code, 8) ||
	    !get(reader, address + layout->frame_previous, previous_ret, 8) ||
	    !get(reader, address + layout->frame_instruction, &frame->instruction, 8) ||
	    !get(reader, address + layout->frame_entry, &entry, 1))
		return false;
	*is_mark_ret = layout->has_marks && entry == OWNED_BY_C_STACK;
	frame->is_entry = !layout->has_marks && entry;
	return true;
}

void python_copy_frames(struct python_copy *copy)
{
	const struct python_layout *layout = &copy->python->layout;
	struct reader reader = {copy, copy->python->memory.pid ? monotonic_ns() + python_copy_ns
							       : UINT64_MAX};
	uint64_t address;

	if (!get(&reader, copy->thread + layout->thread_frame, &address, sizeof(address)))
		return;
	if (layout->has_cframe &&
	    !get(&reader, address + layout->cframe_frame, &address, sizeof(address)))
		return;
	while (address && copy->num_frames < PYTHON_MAX_FRAMES) {
		struct python_frame *last =
			copy->num_frames ? &copy->frames[copy->num_frames - 1] : NULL;
		struct python_frame frame;
		uint64_t previous;
		bool is_mark;

		if (!get_frame(&reader, address, &frame, &previous, &is_mark))
			return;
		if (is_mark && last && !last->is_entry) {
			last->is_entry = true;
		} else {
			if (is_mark)
				frame = (struct python_frame){.is_entry = true};
			copy->frames[copy->num_frames++] = frame;
		}
		address = previous;
	}
	copy->is_whole = !address;
}

/* ---- Merging ---- */

static bool is_eval(const struct python *python, const struct unwind_frame *frame)
{
	uint64_t at = frame->address - frame->is_return;

	return at >= python->eval_start && at < python->eval_end;
}

static bool is_own(const struct python *python, const struct unwind_frame *frame)
{
	uint64_t at = frame->address - frame->is_return;

	return at >= python->start && at < python->end;
}

/* Which of the native calls of the interpreter runs the innermost entry: the first, or, while a
 * call has just begun or is about to end, the second. -1 if they do not fit. */
static int align(const struct python_copy *copy, size_t num_evals)
{
	size_t num_entries = 0;

	for (size_t i = 0; i < copy->num_frames; i++)
		num_entries += copy->frames[i].is_entry;
	if (!num_evals || !copy->num_frames)
		return -1;
	if (!copy->is_whole)
		return num_entries <= num_evals ? 0 : -1;
	if (num_entries == num_evals)
		return 0;
	return num_entries + 1 == num_evals ? 1 : -1;
}

/* Frames being put together. */
struct output {
	struct unwind_frame *frames;
	size_t num, max;
};

static void put(struct output *output, const struct unwind_frame *frame)
{
	if (output->num < output->max)
		output->frames[output->num++] = *frame;
}

/* The frames of one native call, from number `next` on. Returns the number behind them. */
static size_t put_entry(const struct python_copy *copy, size_t next,
			const struct unwind_frame *native, struct modules *modules,
			struct output *output)
{
	while (next < copy->num_frames) {
		const struct python_frame *frame = &copy->frames[next++];
		struct unwind_frame named = *native;

		if (frame->code && !python_locate(copy->python, frame->code, frame->instruction,
						  modules, &named.module, &named.offset))
			named.is_return = false;
		if (frame->code)
			put(output, &named);
		if (frame->is_entry)
			break;
	}
	return next;
}

bool python_merge(const struct python_copy *copy, struct modules *modules,
		  struct unwind_frame *frames, size_t *num, size_t max)
{
	struct python *python = copy->python;
	struct output output = {.max = max};
	size_t num_evals = 0, next = 0, i;
	int skip;

	for (i = 0; i < *num; i++)
		num_evals += is_eval(python, &frames[i]);
	skip = align(copy, num_evals);
	if (skip < 0)
		return !copy->is_late;
	output.frames = xcalloc(max, sizeof(*output.frames));
	python->line_bytes = MAX_LINE_BYTES;
	for (i = 0; i < *num; i++) {
		if (is_eval(python, &frames[i])) {
			if (skip-- <= 0)
				next = put_entry(copy, next, &frames[i], modules, &output);
		} else if (!is_own(python, &frames[i])) {
			put(&output, &frames[i]);
		}
	}
	if (output.num) {
		memcpy(frames, output.frames, output.num * sizeof(*frames));
		*num = output.num;
	}
	free(output.frames);
	return copy->is_whole || next < copy->num_frames;
}
