/* SPDX-License-Identifier: BSD-3-Clause
 * A correct program, built with each MPI, that shows what a library preloaded into it could change.
 *	preloaded           MPI calls of its own; with -DPLUGIN a library whose plugin() makes them
 *	preloaded FILE...   with -DHOST: plugin() of these, each opened with RTLD_LOCAL
 *	    -FILE           with RTLD_GLOBAL
 *	    +FILE           closed after it, and its MPI's place taken: that comes to another one
 *	    =FILE           not called
 * Says what is in the environment and, at the end, open, and in the file CHECK_DIR/segments how
 * many segments of this process there are. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern char **environ;

#ifndef HOST
#include <mpi.h>

static void note_segments(void)
{
	const char *folder = getenv("PDB_SEGMENT_DIR");
	char path[4096], ending[32];
	struct dirent *entry;
	int num = 0;
	DIR *dir = folder ? opendir(folder) : NULL;

	snprintf(ending, sizeof(ending), ".%d", (int)getpid());
	while (dir && (entry = readdir(dir)))
		num += strlen(entry->d_name) > strlen(ending) &&
		       !strcmp(entry->d_name + strlen(entry->d_name) - strlen(ending), ending);
	if (dir)
		closedir(dir);
	snprintf(path, sizeof(path), "%s/segments", getenv("CHECK_DIR"));
	FILE *f = fopen(path, "a");
	fprintf(f, "%d\n", num);
	fclose(f);
}

static int is_fine(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_OBJECT_NAME];
	int rank, size, length, sum = 0, got = 0, flag;
	MPI_Request request;
	MPI_Status status;
	MPI_Comm copy;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&size, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	MPI_Send(&size, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD);
	MPI_Wait(&request, &status);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_set_name(copy, "copy");
	MPI_Comm_get_name(copy, name, &length);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	MPI_Comm_free(&copy);
	MPI_Get_library_version(version, &length);
	return sum == size * size && got == size && status.MPI_TAG == 9 && flag &&
	       !strcmp(name, "copy") && MPI_Wtime() >= 0 && version[0];
}

int plugin(void);
int plugin(void)
{
	int fine;

	MPI_Init(NULL, NULL);
	fine = is_fine();
	note_segments();
	MPI_Finalize();
	puts(fine ? "fine" : "wrong");
	return !fine;
}
#endif

#ifndef PLUGIN
/* Variables that a preload itself is. */
static int is_of_preload(const char *variable)
{
	return !strncmp(variable, "LD_PRELOAD=", 11);
}

static void show_open(void)
{
	char path[64];

	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (access(path, F_OK) == 0)
			printf("open: %d\n", fd);
	}
}

/* MPI adds to it. */
static void show_environment(void)
{
	for (char **variable = environ; *variable; variable++)
		if (!is_of_preload(*variable))
			puts(*variable);
}

#ifdef HOST
static void close_for_good(void *library)
{
	char *page = (char *)dlsym(library, "PMPI_Finalize");

	page -= (uintptr_t)page % 4096;
	dlclose(library);
	mmap(page, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int call(const char *name)
{
	char how = *name;
	const char *file = strchr("-+=", how) ? name + 1 : name;
	void *library = dlopen(file, RTLD_NOW | (how == '-' ? RTLD_GLOBAL : RTLD_LOCAL));
	int (*plugin)(void) = library ? (int (*)(void))dlsym(library, "plugin") : NULL;
	int status;

	if (library && how == '=')
		return 0;
	if (!plugin)
		puts(dlerror());
	status = plugin ? plugin() : 1;
	if (plugin && how == '+')
		close_for_good(library);
	return status;
}
#endif

int main(int argc, char **argv)
{
	int status = 0;

	show_environment();
#ifdef HOST
	for (int i = 1; i < argc; i++)
		status |= call(argv[i]);
#else
	(void)argc;
	(void)argv;
	status = plugin();
#endif
	show_open();
	return status;
}
#endif
