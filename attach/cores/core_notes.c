/* SPDX-License-Identifier: BSD-3-Clause */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "attach/cores/core_file.h"
#include "attach/cores/core_notes.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/xalloc.h"

#define MAX_FILE_NOTE ((uint64_t)64 << 20)
#define MAX_AUXV 256

_Static_assert(sizeof(((struct elf_prstatus *)0)->pr_reg) == sizeof(struct user_regs_struct),
	       "NT_PRSTATUS has the registers that ptrace knows");

static bool read_content(const struct core_file *core, uint64_t at, void *buffer, size_t size)
{
	return pread(core->fd, buffer, size, (off_t)at) == (ssize_t)size;
}

static void add_thread(struct core_file *core, uint64_t at, uint64_t size)
{
	struct elf_prstatus status;
	struct core_thread *thread;

	if (size != sizeof(status) || !read_content(core, at, &status, sizeof(status)) ||
	    status.pr_pid <= 0)
		return;
	core->threads = xgrow(core->threads, core->num_threads, &core->threads_capacity,
			      sizeof(*core->threads));
	thread = &core->threads[core->num_threads++];
	memset(thread, 0, sizeof(*thread));
	thread->tid = status.pr_pid;
	thread->signal = status.pr_cursig;
	thread->blocked = status.pr_sighold;
	memcpy(&thread->regs, &status.pr_reg, sizeof(thread->regs));
}

/* It stands behind the status of the thread that it belongs to. */
static void add_info(struct core_file *core, uint64_t at, uint64_t size)
{
	struct core_thread *thread;
	siginfo_t info;

	if (!core->num_threads || size != sizeof(info) ||
	    !read_content(core, at, &info, sizeof(info)))
		return;
	thread = &core->threads[core->num_threads - 1];
	thread->info = info;
	thread->has_info = true;
}

static void add_process(struct core_file *core, uint64_t at, uint64_t size)
{
	struct elf_prpsinfo info;

	if (size != sizeof(info) || !read_content(core, at, &info, sizeof(info)))
		return;
	core->pid = info.pr_pid;
	memcpy(core->command, info.pr_psargs, ELF_PRARGSZ);
	core->command[ELF_PRARGSZ] = '\0';
}

static void add_auxv(struct core_file *core, uint64_t at, uint64_t size)
{
	uint64_t pairs[2 * MAX_AUXV];
	size_t num = 0;

	if (size > sizeof(pairs))
		size = sizeof(pairs);
	size -= size % (2 * sizeof(pairs[0]));
	if (core->auxv || !size || !read_content(core, at, pairs, size))
		return;
	while (num < size / (2 * sizeof(pairs[0])) && pairs[2 * num] != AT_NULL)
		num++;
	core->auxv = xcalloc(num + 1, 2 * sizeof(pairs[0]));
	memcpy(core->auxv, pairs, num * 2 * sizeof(pairs[0]));
	core->num_auxv = num;
}

static void add_mapping(struct core_file *core, const uint64_t words[3], uint64_t page,
			const char *path)
{
	const struct core_mapping *last =
		core->num_mappings ? &core->mappings[core->num_mappings - 1] : NULL;

	if (words[0] >= words[1] || words[2] > INT64_MAX / page || (last && words[0] < last->end))
		return;
	core->mappings = xgrow(core->mappings, core->num_mappings, &core->mappings_capacity,
			       sizeof(*core->mappings));
	core->mappings[core->num_mappings++] = (struct core_mapping){
		.start = words[0],
		.end = words[1],
		.file_offset = words[2] * page,
		.path = path,
	};
}

/* NT_FILE: number, page size, then for each mapping start, end and offset in pages, then all the
 * paths, each with a zero byte behind it. */
static void parse_files(struct core_file *core, const char *note, uint64_t size)
{
	uint64_t head[2], words[3], num;
	const char *path, *end = note + size;

	memcpy(head, note, sizeof(head));
	num = head[0];
	if (num > (size - sizeof(head)) / sizeof(words) || !head[1] || head[1] > (1 << 30))
		return;
	path = note + sizeof(head) + num * sizeof(words);
	for (uint64_t i = 0; i < num; i++) {
		const char *zero = memchr(path, '\0', (size_t)(end - path));

		if (!zero)
			return;
		memcpy(words, note + sizeof(head) + i * sizeof(words), sizeof(words));
		add_mapping(core, words, head[1], path);
		path = zero + 1;
	}
}

static void add_files(struct core_file *core, uint64_t at, uint64_t size)
{
	if (core->file_note || size < 2 * sizeof(uint64_t) || size > MAX_FILE_NOTE)
		return;
	core->file_note = xmalloc(size);
	if (read_content(core, at, core->file_note, size))
		parse_files(core, core->file_note, size);
}

static void add_note(struct core_file *core, uint32_t type, uint64_t at, uint64_t size)
{
	switch (type) {
	case NT_PRSTATUS:
		add_thread(core, at, size);
		break;
	case NT_PRPSINFO:
		add_process(core, at, size);
		break;
	case NT_SIGINFO:
		add_info(core, at, size);
		break;
	case NT_AUXV:
		add_auxv(core, at, size);
		break;
	case NT_FILE:
		add_files(core, at, size);
		break;
	}
}

int core_notes_read(struct core_file *core, uint64_t at, uint64_t size, uint64_t align,
		    struct pdb_error *err)
{
	uint64_t mask = align == 8 ? 7 : 3, end = at + size;
	Elf64_Nhdr note;
	char name[5];

	while (end - at >= sizeof(note)) {
		uint64_t content, next;

		if (interrupt_check(err) < 0)
			return -1;
		if (!read_content(core, at, &note, sizeof(note)))
			return 0;
		content = (at + sizeof(note) + note.n_namesz + mask) & ~mask;
		next = (content + note.n_descsz + mask) & ~mask;
		if (content > end || note.n_descsz > end - content)
			return 0;
		/* Segments that overlap, or a hole in the file, which is full of empty notes. */
		if (core->notes_left < next - at)
			return error_set(err, ERROR_FORMAT,
					 "a corrupt core: more notes than it has bytes");
		core->notes_left -= next - at;
		if (note.n_namesz == sizeof(name) &&
		    read_content(core, at + sizeof(note), name, sizeof(name)) &&
		    !memcmp(name, "CORE", sizeof(name)))
			add_note(core, note.n_type, content, note.n_descsz);
		if (next > end)
			return 0;
		at = next;
	}
	return 0;
}
