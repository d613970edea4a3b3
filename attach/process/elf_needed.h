/* SPDX-License-Identifier: BSD-3-Clause
 * Which libraries a program loads at its start, by the rules of this system's loader, without
 * running anything of them. */
#pragma once

#include "model/base.h"

/* Called for each library ("libmpi.so.40"), nearest to the program first, also for those that
 * cannot be found: their path is NULL. Returns whether it has seen enough. */
typedef bool (*elf_needed_fn)(const char *name, const char *path, void *context);

/* The libraries of a program or library; other files have none. True: `visit` has seen enough. */
bool elf_needed_walk(const char *path, elf_needed_fn visit, void *context);
