/* SPDX-License-Identifier: BSD-3-Clause
 * Finds who is inside MPI while pdb watches a job, from the stacks of a few ranks without a
 * recorder. */
#pragma once

#include "attach/stacks/sampler.h"
#include "model/base.h"

struct watch_digest;
struct watch_stacks;

/* It has its own tables of modules, call paths and names, and makes them anew when they have
 * grown. */
struct watch_stacks *watch_stacks_create(void);
void watch_stacks_destroy(struct watch_stacks *stacks); /* NULL is fine */

/* Sample the main threads of these ranks, and add to the digest's numbers about stacks. A rank
 * counts as inside if it is between two calls of the test and probe families, or was in one a
 * moment ago: it waits in a loop of its own. A rank seen twice in the same call may have gone
 * round. The frames outside the call show this. While nobody moves otherwise, so do the message
 * counts of its MPI library. */
void watch_stacks_take(struct watch_stacks *stacks, const struct sampler_target *targets,
		       size_t num, struct watch_digest *digest);

/* A number for the functions that the main thread is in: equal for equal functions. 0: no stack. */
uint64_t watch_stacks_number(struct watch_stacks *stacks, const struct sampler_target *target);
