/* SPDX-License-Identifier: BSD-3-Clause
 * Who is inside MPI, by the stacks of a few ranks without a recorder, for as long as a job is
 * watched. */
#pragma once

#include "attach/stacks/sampler.h"
#include "model/base.h"

struct watch_digest;
struct watch_stacks;

/* Its tables of modules, call paths and names are its own, and made anew when they have grown. */
struct watch_stacks *watch_stacks_create(void);
void watch_stacks_destroy(struct watch_stacks *stacks); /* NULL is fine */

/* Sample the main threads of these ranks and add to the numbers of the digest that are about
 * stacks. A rank between two calls of the test and probe families, or in one a moment ago, counts
 * as inside: it waits in a loop of its own. The frames outside a call show that a rank seen in the
 * same call twice has gone round. While nobody moves otherwise, the message counts of its MPI
 * library show that, too. */
void watch_stacks_take(struct watch_stacks *stacks, const struct sampler_target *targets,
		       size_t num, struct watch_digest *digest);

/* A number for the functions that the main thread is in, equal for equal ones. 0: no stack. */
uint64_t watch_stacks_number(struct watch_stacks *stacks, const struct sampler_target *target);
