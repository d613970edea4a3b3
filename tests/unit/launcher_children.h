/* SPDX-License-Identifier: BSD-3-Clause
 * Children of the test that look like a launcher or its ranks. Ranks are the test's program run
 * anew: its main() has to call play_rank() when it is "--as-rank". */
#ifndef PDB_TESTS_UNIT_LAUNCHER_CHILDREN_H
#define PDB_TESTS_UNIT_LAUNCHER_CHILDREN_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/child.h"

/* As the MPIR interface has them; found by name in this program's own symbol table. */
struct procdesc {
	const char *host, *executable;
	int pid;
};
extern struct procdesc *MPIR_proctable;
extern int MPIR_proctable_size;
struct procdesc *MPIR_proctable;
int MPIR_proctable_size;

/* For what children map, and segments. */
static char directory[] = "/tmp/pdb-test-XXXXXX";

static inline int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static inline int remove_directory(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

/* Have a file of this name mapped, as a library would be. */
static inline void map_file(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096) ||
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
}

static inline void play_rank(char **argv)
{
	strcpy(directory, argv[4]);
	if (argv[3][0] == '1') {
		if (fork())
			for (;;)
				pause();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	if (!strcmp(argv[2], "mpi"))
		map_file("libmpi.so.40");
	wait_here(9);
}

static inline void body_rank(const void *argument, int ready)
{
	char *const arguments[] = {(char *)"rank", (char *)"--as-rank", (char *)"mpi",
				   (char *)"0",    directory,           NULL};
	char *text = strdup(argument), *second = strchr(text, '\n');
	char *environment[] = {text, (char *)"PMI_SIZE=3", second, NULL};

	/* Two variables may stand there, in two lines. */
	if (second) {
		*second = '\0';
		environment[2] = second + 1;
	}
	dup2(ready, 9);
	execve("/proc/self/exe", arguments, environment);
}

#endif
