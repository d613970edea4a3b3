/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/next.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIBRARIES = 32, MAX_PATH = 512 };

struct libraries {
	unsigned num;
	char paths[MAX_LIBRARIES][MAX_PATH];
};

static int note_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct libraries *l = data;
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "libmpi", 6) != 0 || strlen(info->dlpi_name) >= MAX_PATH)
		return 0;
	strcpy(l->paths[l->num++], info->dlpi_name);
	return l->num == MAX_LIBRARIES;
}

/* dlsym() on a library searches that and what it needs, so it cannot find ourselves. */
static void *symbol_in_loaded(const char *name)
{
	struct libraries libraries = {0};
	void *found = NULL;

	dl_iterate_phdr(note_library, &libraries);
	for (unsigned i = 0; i < libraries.num && !found; i++) {
		void *handle = dlopen(libraries.paths[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!handle)
			continue;
		found = dlsym(handle, name);
		/* What is found stays loaded as long as we may call it. */
		if (!found)
			dlclose(handle);
	}
	return found;
}

void *next_symbol(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	return found ? found : symbol_in_loaded(name);
}

void *next_variable(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return found ? found : symbol_in_loaded(name);
}

/* MPI_X -> PMPI_X, mpi_x_ -> pmpi_x_; MPICH calls those of mpi_f08 pmpir_x. */
static void *profiling_symbol(const char *symbol)
{
	static const char *const prefixes[] = {"p", "pmpir"};
	char name[128];

	if (isupper((unsigned char)symbol[0])) {
		snprintf(name, sizeof(name), "P%s", symbol);
		return next_symbol(name);
	}
	snprintf(name, sizeof(name), "%s%s", prefixes[0], symbol);
	void *found = next_symbol(name);
	if (!found) {
		snprintf(name, sizeof(name), "%s%s", prefixes[1], symbol + strlen("mpi"));
		found = next_symbol(name);
	}
	return found;
}

void *next_resolve(struct recorder_function *function)
{
	int saved_errno = errno;
	const char *chain = getenv(PDB_ENV_CHAIN);
	void *next = NULL;

	if (chain && strcmp(chain, "pmpi") == 0)
		next = profiling_symbol(function->symbol);
	if (!next)
		next = next_symbol(function->symbol);
	__atomic_store_n(&function->next, next, __ATOMIC_RELAXED);
	errno = saved_errno;
	return next;
}
