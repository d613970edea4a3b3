/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/process/elf_symbol.h"
#include "attach/process/maps.h"
#include "attach/process/procfs.h"
#include "attach/stacks/python.h"
#include "attach/stacks/python_private.h"
#include "attach/stacks/unwind.h"
#include "model/monotonic.h"

#define MAX_TRIES 8 /* objects by the names that it has */
#define MAX_INTERPRETERS 16
#define MAX_THREADS 4096 /* of all interpreters */
/* The list of threads is read no more often, since many threads may not be in it. */
#define LIST_NS 10000000
/* Of location tables, for the frames of one stack: those of a thousand usual functions. */
#define MAX_LINE_BYTES (4 << 20)
#define OWNED_BY_C_STACK 3

uint64_t python_copy_ns = 100000;

#define CFRAME_FRAME 8 /* in 3.11, the frame in the place that points to it */

/* By offsetof() on the headers of 3.11.2; they do not change within 3.11. */
static const struct python_offsets offsets_3_11 = {
	.runtime.interpreters_head = 40,
	.interpreter = {.next = 0, .threads_head = 16},
	.thread = {.next = 8, .native_thread_id = 160, .current_frame = 56},
	.frame = {.executable = 32, .previous = 48, .instr_ptr = 56, .localsplus = 72, .owner = 68},
	.code = {.firstlineno = 72,
		 .argcount = 56,
		 .localsplusnames = 96,
		 .localspluskinds = 104,
		 .filename = 112,
		 .qualname = 128,
		 .linetable = 136,
		 .code_adaptive = 184},
	.object.type = 8,
	.string = {.length = 16, .state = 32, .ascii_size = 48},
	.bytes = {.ob_size = 16, .ob_sval = 32},
};

/* What the object has of symbols decides; its name only saves the look into others. */
static bool may_be_python(const struct maps *maps, size_t i)
{
	const char *base = maps_base(maps->objects[i].path);

	return maps->objects[i].has_code &&
	       (!strncmp(base, "python", 6) || !strncmp(base, "libpython", 9));
}

static int find_offsets(struct python *python, uint64_t version_address)
{
	struct python_offsets *offsets = &python->offsets;
	unsigned long version;

	if (memory_get(&python->memory, version_address, &version, sizeof(version)))
		return -1;
	python->is_3_11 = version >> 16 == 0x030b;
	if (python->is_3_11) {
		*offsets = offsets_3_11;
		return 0;
	}
	if (version >> 16 != 0x030d ||
	    memory_get(&python->memory, python->runtime, offsets, sizeof(*offsets)) ||
	    memcmp(offsets->cookie, "xdebugpy", sizeof(offsets->cookie)) != 0)
		return -1;
	return offsets->free_threaded ? -1 : 0;
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
	    find_offsets(python, version))
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

/* The threads of one interpreter. What is not an interpreter any more may lead in a circle: then
 * all of it has been seen when the mark, which is left behind ever farther ahead, is met again. */
static void list_threads(struct python *python, uint64_t interpreter)
{
	const struct python_offsets *offsets = &python->offsets;
	uint64_t thread = read_word(python, interpreter + offsets->interpreter.threads_head),
		 mark = 0;

	for (size_t n = 1; thread && thread != mark && python->num_threads < MAX_THREADS; n++) {
		*XPUSH(python->threads, python->num_threads,
		       python->threads_capacity) = (struct python_thread){
			read_word(python, thread + offsets->thread.native_thread_id), thread};
		if ((n & (n - 1)) == 0)
			mark = thread;
		thread = read_word(python, thread + offsets->thread.next);
	}
}

static void list_all_threads(struct python *python)
{
	const struct python_offsets *offsets = &python->offsets;
	uint64_t first = read_word(python, python->runtime + offsets->runtime.interpreters_head);
	uint64_t interpreter = first;

	python->num_threads = 0;
	for (int i = 0; interpreter && i < MAX_INTERPRETERS; i++) {
		list_threads(python, interpreter);
		interpreter = read_word(python, interpreter + offsets->interpreter.next);
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
		    read_word(python, thread->address + python->offsets.thread.native_thread_id) ==
			    number)
			return thread->address;
	}
	return 0;
}

bool python_prepare(struct python *python, pid_t tid, struct python_copy *copy)
{
	struct procfs_status status = {.own = tid};

	/* A core has its own number. */
	if (python->memory.pid)
		procfs_status(tid, &status);
	copy->python = python;
	copy->num_frames = copy->num_pages = 0;
	copy->is_whole = copy->is_late = false;
	copy->thread = find_thread(python, (uint64_t)status.own);
	if (!copy->thread && monotonic_ns() - python->listed_ns > LIST_NS) {
		list_all_threads(python);
		copy->thread = find_thread(python, (uint64_t)status.own);
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
	const struct python *python = reader->copy->python;
	const struct python_offsets *offsets = &python->offsets;
	uint8_t entry;

	if (!get(reader, address + offsets->frame.executable, &frame->code, 8) ||
	    !get(reader, address + offsets->frame.previous, previous_ret, 8) ||
	    !get(reader, address + offsets->frame.instr_ptr, &frame->instruction, 8) ||
	    !get(reader, address + offsets->frame.owner, &entry, 1))
		return false;
	frame->address = address;
	*is_mark_ret = !python->is_3_11 && entry == OWNED_BY_C_STACK;
	frame->is_entry = python->is_3_11 && entry;
	return true;
}

void python_copy_frames(struct python_copy *copy)
{
	const struct python *python = copy->python;
	const struct python_offsets *offsets = &python->offsets;
	struct reader reader = {copy,
				python->memory.pid ? monotonic_ns() + python_copy_ns : UINT64_MAX};
	uint64_t address;

	if (!get(&reader, copy->thread + offsets->thread.current_frame, &address, sizeof(address)))
		return;
	if (python->is_3_11 && !get(&reader, address + CFRAME_FRAME, &address, sizeof(address)))
		return;
	while (address && copy->num_frames < PYTHON_MAX_FRAMES) {
		struct python_frame *last =
			copy->num_frames ? &copy->frames[copy->num_frames - 1] : NULL;
		struct python_frame frame = {.place = 0};
		bool is_mark;

		if (!get_frame(&reader, address, &frame, &address, &is_mark))
			return;
		if (is_mark)
			frame = (struct python_frame){.is_entry = true};
		if (is_mark && last && !last->is_entry)
			last->is_entry = true;
		else
			copy->frames[copy->num_frames++] = frame;
	}
	copy->is_whole = !address;
}

/* ---- Merging ---- */

static bool is_within(const struct unwind_frame *frame, uint64_t start, uint64_t end)
{
	uint64_t at = frame->address - frame->is_return;

	return at >= start && at < end;
}

static bool is_eval(const struct python *python, const struct unwind_frame *frame)
{
	return is_within(frame, python->eval_start, python->eval_end);
}

/* Which of the native calls of the interpreter runs the innermost entry: the first, or, while a
 * call has just begun or is about to end, the second. -1 if they do not fit. */
static int align(const struct python_copy *copy, size_t num_evals)
{
	size_t num_entries = 0;

	for (size_t i = 0; i < copy->num_frames; i++)
		num_entries += copy->frames[i].is_entry;
	if (!num_evals || !copy->num_frames || num_entries > num_evals)
		return -1;
	if (!copy->is_whole || num_entries == num_evals)
		return 0;
	return num_entries + 1 == num_evals ? 1 : -1;
}

struct output {
	struct unwind_frame *frames;
	size_t num, max;
};

/* Returns its place, from 1 on; 0: there is no room. */
static size_t put(struct output *output, const struct unwind_frame *frame)
{
	if (output->num == output->max)
		return 0;
	output->frames[output->num++] = *frame;
	return output->num;
}

/* The frames of one native call, from number `next` on. Returns the number behind them. */
static size_t put_entry(struct python_copy *copy, size_t next, const struct unwind_frame *native,
			struct modules *modules, struct output *output)
{
	while (next < copy->num_frames) {
		struct python_frame *frame = &copy->frames[next++];
		struct unwind_frame named = *native;
		bool is_located =
			frame->code && !python_locate(copy->python, frame->code, frame->instruction,
						      modules, &named.module, &named.offset);
		size_t place;

		named.is_return &= !is_located;
		place = frame->code ? put(output, &named) : 0;
		if (is_located) {
			frame->place = place;
			frame->module = named.module;
		}
		if (frame->is_entry)
			break;
	}
	return next;
}

bool python_merge(struct python_copy *copy, struct modules *modules, struct unwind_frame *frames,
		  size_t *num, size_t max)
{
	struct python *python = copy->python;
	struct output output = {.max = max};
	size_t num_evals = 0, next = 0, i;

	for (i = 0; i < *num; i++)
		num_evals += is_eval(python, &frames[i]);
	for (i = 0; i < copy->num_frames; i++)
		copy->frames[i].place = 0;
	int skip = align(copy, num_evals);
	if (skip < 0)
		return !copy->is_late;
	output.frames = xcalloc(max, sizeof(*output.frames));
	python->line_bytes = MAX_LINE_BYTES;
	for (i = 0; i < *num; i++) {
		if (is_eval(python, &frames[i])) {
			if (skip-- <= 0)
				next = put_entry(copy, next, &frames[i], modules, &output);
		} else if (!is_within(&frames[i], python->start, python->end)) {
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
