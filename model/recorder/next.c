/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/next.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/recorder/objects.h"

enum verdict {
	VERDICT_NONE, /* no MPI seen yet */
	VERDICT_OWN,
	VERDICT_OTHER, /* asleep for good */
};

static _Atomic int verdict;
static void *_Atomic own_library; /* of the recorder's own MPI; never closed */

/* ---- MPI's libraries ---- */

/* A handle for the library that an address is in; NULL: it is in none. dlsym() on it searches
 * that and what it needs; on the program, all that is in the global scope. */
static void *open_library_of(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return NULL;
	return dlopen(map->l_name[0] ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

static void close_library(void *library)
{
	if (library)
		dlclose(library);
}

/* MPI_X -> PMPI_X, mpi_x_ -> pmpi_x_; MPICH calls those of mpi_f08 pmpir_x. */
enum { NUM_PROFILING_NAMES = 2 };
static void name_profiling(const char *symbol, char names[NUM_PROFILING_NAMES][128])
{
	bool is_upper = isupper((unsigned char)symbol[0]);

	snprintf(names[0], sizeof(names[0]), "%c%s", is_upper ? 'P' : 'p', symbol);
	snprintf(names[1], sizeof(names[1]), "pmpir%s", is_upper ? "" : symbol + strlen("mpi"));
}

/* MPI's own function behind a name, which tools leave alone; NULL when no MPI is loaded.
 * *is_only_ret: no other caller may mean another one. */
static void *find_profiling(const char *symbol, uintptr_t caller, bool *is_only_ret)
{
	char names[NUM_PROFILING_NAMES][128];
	void *found = NULL, *first, *library;

	*is_only_ret = true;
	name_profiling(symbol, names);
	for (int i = 0; i < NUM_PROFILING_NAMES && !found; i++)
		found = dlsym(RTLD_NEXT, names[i]);
	if (found)
		return found;
	/* It is in no global scope: it came by dlopen(), and there may be several. */
	library = open_library_of((const void *)caller);
	for (int i = 0; i < NUM_PROFILING_NAMES && library && !found; i++)
		found = dlsym(library, names[i]);
	close_library(library);
	for (int i = 0; i < NUM_PROFILING_NAMES; i++) {
		*is_only_ret = loaded_count(names[i], &first) <= 1 && *is_only_ret;
		if (!found)
			found = first;
	}
	return found;
}

/* Is the library that has the function of the recorder's own MPI? The first answer that is
 * certain decides about this process. */
static bool is_own(const struct next_mpi *own, const void *function, bool is_of_mpi)
{
	void *library = open_library_of(function), *none = NULL;
	bool yes = library != NULL;
	int before = VERDICT_NONE;

	for (size_t i = 0; yes && own->marks[i]; i++)
		yes = dlsym(library, own->marks[i]) != NULL;
	for (size_t i = 0; yes && own->others[i]; i++)
		yes = dlsym(library, own->others[i]) == NULL;
	if (!yes || !atomic_compare_exchange_strong(&own_library, &none, library))
		close_library(library);
	if (yes || is_of_mpi)
		atomic_compare_exchange_strong(&verdict, &before,
					       yes ? VERDICT_OWN : VERDICT_OTHER);
	return yes && atomic_load(&verdict) == VERDICT_OWN;
}

void *next_symbol(const char *name)
{
	void *library = atomic_load(&own_library);
	void *found = library ? dlsym(library, name) : NULL;

	return found ? found : dlsym(RTLD_NEXT, name);
}

void *next_variable(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	return found ? found : next_symbol(name);
}

/* ---- A call ---- */

/* No library has the function: nothing is to be done but to say so. */
static void fail(const struct jump_info *info, struct jump_frame *frame, void *const *arguments,
		 int error)
{
	int *ierror = NULL;

	if (info->ierror >= JUMP_REGISTERS)
		ierror = arguments[info->ierror - JUMP_REGISTERS];
	else if (info->ierror >= 0)
		ierror = (int *)frame->registers[info->ierror];
	if (ierror)
		*ierror = error;
	frame->result = (uint64_t)error;
}

void *next_resolve(struct recorder_function *function, const struct jump_info *info,
		   struct jump_frame *frame, void *arguments, uintptr_t caller,
		   const struct next_mpi *own)
{
	int saved_errno = errno;
	const char *chain = getenv(PDB_ENV_CHAIN);
	bool is_only;
	void *mpi = find_profiling(info->symbol, caller, &is_only);
	void *next = dlsym(RTLD_NEXT, info->symbol), *go;

	go = next = next ? next : mpi;
	if (!next) {
		fail(info, frame, arguments, own->no_function);
	} else if (atomic_load(&verdict) != VERDICT_OTHER &&
		   is_own(own, mpi ? mpi : next, mpi != NULL)) {
		/* Where there are several, who comes behind could not tell by the caller, which is
		 * the wrapper. */
		if (mpi && (!is_only || (chain && strcmp(chain, "pmpi") == 0)))
			next = mpi;
		function->next = next;
		go = (char *)&info->wrapper + info->wrapper;
	}
	/* Where all calls go stays loaded, whoever closes it. Pairs with the jump. */
	if (next && is_only && atomic_load(&verdict) != VERDICT_NONE && open_library_of(next))
		__atomic_store_n(&function->go, go, __ATOMIC_RELEASE);
	errno = saved_errno;
	return go;
}
