/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/core_writer.h"

void core_add_note(struct core_writer *w, uint32_t type, const void *content, size_t size)
{
	Elf64_Nhdr note = {.n_namesz = 5, .n_descsz = (uint32_t)size, .n_type = type};
	char *at = w->notes + w->num_notes;

	assert_true(w->num_notes + sizeof(note) + 8 + size + 4 < sizeof(w->notes));
	memcpy(at, &note, sizeof(note));
	memcpy(at + sizeof(note), "CORE\0\0\0", 8);
	memcpy(at + sizeof(note) + 8, content, size);
	w->num_notes += sizeof(note) + 8 + ((size + 3) & ~(size_t)3);
}

void core_set_regs(struct user_regs_struct *regs, uint64_t sp, uint64_t pc)
{
#if defined(__x86_64__)
	regs->rsp = sp;
	regs->rip = pc;
#elif defined(__aarch64__)
	regs->sp = sp;
	regs->pc = pc;
#endif
}

void core_add_thread(struct core_writer *w, pid_t tid, int number, uint64_t sp, uint64_t pc)
{
	struct elf_prstatus status = {.pr_cursig = (short)number, .pr_pid = tid};
	struct user_regs_struct regs = {0};

	core_set_regs(&regs, CORE_STACK + sp, pc);
	memcpy(&status.pr_reg, &regs, sizeof(regs));
	core_add_note(w, NT_PRSTATUS, &status, sizeof(status));
}

void core_add_info(struct core_writer *w, int number, int code, pid_t pid, uint64_t address)
{
	siginfo_t info = {.si_signo = number, .si_code = code};

	if (code > 0)
		info.si_addr = (void *)(uintptr_t)address;
	else
		info.si_pid = pid;
	core_add_note(w, NT_SIGINFO, &info, sizeof(info));
}

static void core_add_process(struct core_writer *w, pid_t pid)
{
	struct elf_prpsinfo info = {
		.pr_pid = pid, .pr_fname = "solver", .pr_psargs = "./solver in"};

	core_add_note(w, NT_PRPSINFO, &info, sizeof(info));
}

Elf64_Phdr *core_add_segment(struct core_writer *w, uint64_t address, const void *content,
			     uint64_t size)
{
	Elf64_Phdr *phdr = &w->phdrs[w->header.e_phnum];

	assert_true(w->header.e_phnum < CORE_MAX_SEGMENTS);
	*phdr = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_W,
		.p_vaddr = address,
		.p_filesz = content ? size : 0,
		.p_memsz = size,
	};
	w->contents[w->header.e_phnum++] = content;
	return phdr;
}

void core_add_start(struct core_writer *w, const char *variables, size_t size)
{
	uint64_t execfn = CORE_STACK_SIZE - 32, strings = execfn - size, word = strings - 1024;
	const char *at;

	memcpy(w->stack + execfn, "./solver", 9);
	memcpy(w->stack + strings, variables, size);
	w->auxv[0] = AT_PAGESZ, w->auxv[1] = 4096;
	w->auxv[2] = AT_EXECFN, w->auxv[3] = CORE_STACK + execfn;
	w->auxv[4] = AT_ENTRY, w->auxv[5] = 0x401000;
	word &= ~UINT64_C(7);
	memcpy(w->stack + word, w->auxv, 8 * sizeof(uint64_t));
	word -= 8; /* the zero behind environ */
	for (at = variables; at < variables + size; at += strlen(at) + 1) {
		uint64_t pointer = CORE_STACK + strings + (uint64_t)(at - variables);

		word -= 8;
		memcpy(w->stack + word, &pointer, sizeof(pointer));
	}
	core_add_note(w, NT_AUXV, w->auxv, 8 * sizeof(uint64_t));
}

struct core_writer *core_create(void)
{
	struct core_writer *w = calloc(1, sizeof(*w));

	memcpy(w->header.e_ident, ELFMAG, SELFMAG);
	w->header.e_ident[EI_CLASS] = ELFCLASS64;
	w->header.e_ident[EI_DATA] = ELFDATA2LSB;
	w->header.e_type = ET_CORE;
	w->header.e_machine = CORE_MACHINE;
	w->header.e_phentsize = sizeof(Elf64_Phdr);
	w->header.e_phoff = sizeof(w->header);
	core_add_segment(w, 0, w->notes, 1)->p_type = PT_NOTE;
	core_add_segment(w, CORE_STACK, w->stack, CORE_STACK_SIZE);
	return w;
}

void core_lay_out(struct core_writer *w)
{
	uint64_t at = sizeof(w->header) + sizeof(w->phdrs);

	w->phdrs[0].p_filesz = w->num_notes;
	for (int i = 0; i < w->header.e_phnum; i++) {
		w->phdrs[i].p_offset = at;
		at += w->phdrs[i].p_filesz;
	}
}

void core_write(struct core_writer *w)
{
	int fd;

	strcpy(w->path, "/tmp/pdb-core.XXXXXX");
	fd = mkstemp(w->path);
	assert_true(fd >= 0);
	/* Header and table, which stand at the beginning of both. */
	assert_int_equal(pwrite(fd, w, offsetof(struct core_writer, contents), 0),
			 offsetof(struct core_writer, contents));
	for (int i = 0; i < CORE_MAX_SEGMENTS; i++) {
		size_t size = w->phdrs[i].p_filesz;

		if (w->contents[i])
			assert_int_equal(
				pwrite(fd, w->contents[i], size, (off_t)w->phdrs[i].p_offset),
				size);
	}
	close(fd);
}

void core_destroy(struct core_writer *w)
{
	if (w->path[0])
		unlink(w->path);
	free(w);
}

struct core_writer *core_of_rank(pid_t pid, const char *variables, size_t size)
{
	struct core_writer *w = core_create();

	core_add_thread(w, pid, SIGSEGV, 4096, 0x1234);
	core_add_process(w, pid);
	core_add_info(w, SIGSEGV, SEGV_MAPERR, 0, 0x10);
	core_add_start(w, variables, size);
	core_lay_out(w);
	return w;
}
