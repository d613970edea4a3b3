/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "attach/process/elf_needed.h"

/* The loader that this process itself was started by. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_INTERP)
			*(const char **)path =
				(const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return 1; /* the program comes first */
}

/* What the loader says, of the descriptor `out`. Whether it likes the file does not matter. */
static void list(const char *file, int out)
{
	const char *preferred = getenv("LD_LIBRARY_PATH"), *loader = NULL;
	char *variable = xasprintf("LD_LIBRARY_PATH=%s", preferred ? preferred : "");
	const char *const argv[] = {"ld.so", "--list", file, NULL};
	char *const env[] = {variable, NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	dl_iterate_phdr(find_loader, &loader);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (loader && posix_spawn(&pid, loader, &actions, NULL, (char *const *)argv, env) == 0)
		waitpid(pid, NULL, 0);
	posix_spawn_file_actions_destroy(&actions);
	free(variable);
}

/* "\tlibmpi.so.40 => /usr/lib/libmpi.so.40 (0x7f...)", "\tlibx.so => not found", or a path, or the
 * kernel's library, without an arrow. */
static bool take_line(char *line, elf_needed_fn visit, void *context)
{
	char *name = line + strspn(line, "\t"), *arrow = strstr(name, " => ");
	char *path = arrow ? arrow + strlen(" => ") : name, *end = strrchr(path, '(');

	if (end && end > path)
		end[-1] = '\0';
	if (arrow)
		*arrow = '\0';
	return visit(name, path[0] == '/' ? path : NULL, context);
}

bool elf_needed_walk(const char *path, elf_needed_fn visit, void *context)
{
	char real[PATH_MAX], *line = NULL;
	int fd = memfd_create("pdb-needed", MFD_CLOEXEC);
	FILE *lines = fd < 0 ? NULL : fdopen(fd, "r");
	bool is_enough = false;
	size_t size = 0;

	if (!lines)
		return false;
	/* $ORIGIN is where the file is behind all links. */
	if (realpath(path, real))
		list(real, fd);
	rewind(lines);
	while (!is_enough && getline(&line, &size, lines) > 0)
		is_enough = take_line(line, visit, context);
	free(line);
	fclose(lines);
	return is_enough;
}
