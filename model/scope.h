/* SPDX-License-Identifier: BSD-3-Clause
 * Scope guards: what a variable owns ends with its block, however the block is left.
 *
 *	char *name SCOPED(free) = xstrdup(word);
 *
 * Such a variable has an initial value, and nothing else ends what it owns; NULL is fine. */
#ifndef PDB_MODEL_SCOPE_H
#define PDB_MODEL_SCOPE_H

#include "model/std.h"

#define SCOPED(what) __attribute__((cleanup(scoped_##what)))

/* For SCOPED(NAME): pointers to struct NAME, which NAME_destroy() ends. */
#define SCOPE_DEFINE(name)                                                                         \
	static inline void scoped_##name(struct name **object)                                     \
	{                                                                                          \
		name##_destroy(*object);                                                           \
	}

static inline void scoped_free(void *pointer)
{
	free(*(void **)pointer);
}

#endif
