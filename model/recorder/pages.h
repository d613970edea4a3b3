/* SPDX-License-Identifier: BSD-3-Clause
 * Private memory straight from the kernel: the recorder never touches the program's heap. */
#ifndef PDB_RECORDER_PAGES_H
#define PDB_RECORDER_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

/* Zeroed memory, given pages as it is touched; NULL when refused (RLIMIT_AS). */
static inline void *pages_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static inline void pages_unmap(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

#endif
