/* SPDX-License-Identifier: BSD-3-Clause
 * What temporal.c finds in functions, for temporal_compare.c. */
#pragma once

#include <uthash.h>

#include "analysis/stacks/flow.h"
#include "analysis/stacks/temporal.h"
#include "model/job/modules.h"

#define TEMPORAL_NO_PROBE UINT32_MAX

struct temporal_site_key {
	uint64_t offset;
	uint32_t module, is_return;
};

/* A place in the code where frames are. */
struct temporal_site {
	struct temporal_site_key key;
	struct temporal_body *body; /* NULL: no machine code */
	struct flow_place place;
	UT_hash_handle hh;
};

struct temporal_body_loop {
	struct temporal_loop public;
	struct temporal_site **sites; /* borrowed; as those of public.variable */
	uint32_t *probes;             /* of each site, or TEMPORAL_NO_PROBE */
	size_t num_sites, capacity;
	size_t num_chosen; /* of the sites, when the variable was chosen */
};

/* A function. */
struct temporal_body {
	const struct code_function *code;
	const struct code_variables *variables;
	struct flow *flow;
	struct temporal_body_loop *loops; /* as in flow->nest */
	UT_hash_handle hh;
};

struct temporal {
	const struct callpaths *callpaths;
	const struct modules *modules;
	struct temporal_source source;
	struct temporal_body *bodies;
	struct temporal_site *sites;
	struct code_probe *probes;
	size_t num_probes, probes_capacity;
};

/* NULL: it has not been added, or is no frame of the program. */
const struct temporal_site *temporal_find_site(const struct temporal *temporal, uint32_t node);
enum module_kind temporal_kind(const struct temporal *temporal, uint32_t node);
/* The path without what is inside MPI and inside other libraries at its inner end. */
uint32_t temporal_program_path(const struct temporal *temporal, uint32_t path);
