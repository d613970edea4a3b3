/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/graph.h"
#include "analysis/progress/loop_nest.h"
#include "analysis/stacks/temporal_private.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/xalloc.h"

#define MAX_MORE 512
#define MAX_PLACES 16

struct temporal *temporal_create(const struct callpaths *callpaths, const struct modules *modules,
				 const struct temporal_source *source)
{
	struct temporal *temporal = xcalloc(1, sizeof(*temporal));

	temporal->callpaths = callpaths;
	temporal->modules = modules;
	temporal->source = *source;
	return temporal;
}

static void destroy_body(struct temporal_body *body)
{
	for (size_t i = 0; i < body->flow->nest->num_loops; i++) {
		struct temporal_body_loop *loop = &body->loops[i];

		free(loop->public.places);
		free(loop->public.variable.sites);
		free(loop->sites);
		free(loop->probes);
	}
	free(body->loops);
	flow_destroy(body->flow);
	free(body);
}

void temporal_destroy(struct temporal *temporal)
{
	struct temporal_body *body, *next_body;
	struct temporal_site *site, *next_site;

	if (!temporal)
		return;
	HASH_ITER(hh, temporal->sites, site, next_site)
	{
		HASH_DEL(temporal->sites, site);
		free(site);
	}
	HASH_ITER(hh, temporal->bodies, body, next_body)
	{
		HASH_DEL(temporal->bodies, body);
		destroy_body(body);
	}
	free(temporal->probes);
	free(temporal);
}

static void add_place(struct temporal_loop *loop, uint64_t address)
{
	loop->places = xreallocarray(loop->places, loop->num_places + 1, sizeof(*loop->places));
	loop->places[loop->num_places++] = address;
}

static void find_latches(struct temporal_body *body)
{
	const struct flow *flow = body->flow;

	for (uint32_t block = 0; block < flow->num_blocks; block++) {
		size_t num;
		const uint32_t *successors = graph_successors(flow->graph, block, &num);

		for (size_t i = 0; i < num; i++) {
			uint32_t loop = flow->nest->loop_of[successors[i]];

			if (flow_is_back_edge(flow, block, successors[i]))
				add_place(&body->loops[loop].public,
					  flow_last_insn(flow, block)->address);
		}
	}
}

/* A loop's first and last instructions may be those of an inlined function; others tell. */
static void find_places(struct temporal_body *body)
{
	const struct flow *flow = body->flow;

	for (uint32_t block = 0; block < flow->num_blocks; block++) {
		uint32_t index = flow->nest->loop_of[block];
		struct temporal_loop *loop = index == LOOP_NONE ? NULL : &body->loops[index].public;

		if (loop && loop->num_places < MAX_PLACES)
			add_place(loop, flow_last_insn(flow, block)->address);
	}
}

static struct temporal_body *get_body(struct temporal *temporal, uint32_t module,
				      const struct code_function *code)
{
	const struct temporal_source *source = &temporal->source;
	struct temporal_body *body;

	HASH_FIND_PTR(temporal->bodies, &code, body);
	if (body)
		return body;
	body = xcalloc(1, sizeof(*body));
	body->code = code;
	body->variables = source->get_variables(source->context, module, code);
	body->flow = flow_create(code);
	body->loops = xcalloc(body->flow->nest->num_loops, sizeof(*body->loops));
	for (size_t i = 0; i < body->flow->nest->num_loops; i++) {
		uint32_t header = body->flow->nest->loops[i].header;

		body->loops[i].public.module = module;
		body->loops[i].public.header =
			code->insns[body->flow->blocks[header].first].address;
	}
	find_latches(body);
	find_places(body);
	HASH_ADD_PTR(temporal->bodies, code, body);
	return body;
}

static struct temporal_site_key key_of(const struct callpath_node *node)
{
	struct temporal_site_key key;

	/* Compared as bytes. */
	memset(&key, 0, sizeof(key));
	key.offset = node->offset;
	key.module = node->module;
	key.is_return = node->is_return;
	return key;
}

const struct temporal_site *temporal_find_site(const struct temporal *temporal, uint32_t node)
{
	struct temporal_site_key key = key_of(callpaths_get(temporal->callpaths, node));
	struct temporal_site *site;

	HASH_FIND(hh, temporal->sites, &key, sizeof(key), site);
	return site;
}

/* The site is in all loops around it. */
static void add_to_loops(struct temporal_site *site)
{
	const struct loop_nest *nest = site->body->flow->nest;
	uint32_t loop = flow_loop(site->body->flow, site->place);

	for (; loop != LOOP_NONE; loop = nest->loops[loop].parent) {
		struct temporal_body_loop *of = &site->body->loops[loop];

		*XPUSH(of->sites, of->num_sites, of->capacity) = site;
	}
}

static bool add_frame(struct temporal *temporal, uint32_t id)
{
	const struct callpath_node *node = callpaths_get(temporal->callpaths, id);
	const struct temporal_source *source = &temporal->source;
	const struct code_function *code;
	struct temporal_site *site;

	if (temporal_find_site(temporal, id))
		return false;
	site = xcalloc(1, sizeof(*site));
	site->key = key_of(node);
	code = source->get_function(source->context, node->module, node->offset - node->is_return,
				    NULL);
	if (code && code->num_insns) {
		site->body = get_body(temporal, node->module, code);
		if (flow_find(site->body->flow, node->offset, node->is_return, &site->place))
			add_to_loops(site);
		else
			site->body = NULL;
	}
	HASH_ADD(hh, temporal->sites, key, sizeof(site->key), site);
	return true;
}

enum module_kind temporal_kind(const struct temporal *temporal, uint32_t node)
{
	uint32_t module = callpaths_get(temporal->callpaths, node)->module;

	return module == MODULE_NONE ? MODULE_SYSTEM : modules_get(temporal->modules, module)->kind;
}

/* What is inside MPI, or in libraries below the program's last frame, says nothing. */
uint32_t temporal_program_path(const struct temporal *temporal, uint32_t path)
{
	uint32_t end = path;

	if (path == CALLPATH_NONE)
		return path;
	for (uint32_t node = path; node != CALLPATH_NONE;
	     node = callpaths_get(temporal->callpaths, node)->parent) {
		enum module_kind kind = temporal_kind(temporal, node);

		if (kind == MODULE_MPI || kind == MODULE_RECORDER)
			end = callpaths_get(temporal->callpaths, node)->parent;
	}
	while (end != CALLPATH_NONE && temporal_kind(temporal, end) != MODULE_PROGRAM)
		end = callpaths_get(temporal->callpaths, end)->parent;
	return end;
}

/* Libraries' frames that are between the program's are looked at, too: there may be loops in them.
 * Those outside of the program's outermost one are the same in all stacks. */
bool temporal_add(struct temporal *temporal, uint32_t path)
{
	uint32_t inner = temporal_program_path(temporal, path), outer = inner;
	bool is_new = false;

	if (inner == CALLPATH_NONE)
		return false;
	for (uint32_t node = inner; node != CALLPATH_NONE;
	     node = callpaths_get(temporal->callpaths, node)->parent)
		if (temporal_kind(temporal, node) == MODULE_PROGRAM)
			outer = node;
	is_new = add_frame(temporal, outer);
	for (uint32_t node = inner; node != outer;
	     node = callpaths_get(temporal->callpaths, node)->parent)
		is_new |= add_frame(temporal, node);
	return is_new;
}

/* The number of a probe: of an equal one, if there is any. */
static uint32_t add_probe(struct temporal *temporal, const struct code_probe *probe)
{
	for (size_t i = 0; i < temporal->num_probes; i++)
		if (code_probe_is_same(&temporal->probes[i], probe))
			return (uint32_t)i;
	temporal->probes = xgrow(temporal->probes, temporal->num_probes, &temporal->probes_capacity,
				 sizeof(*temporal->probes));
	temporal->probes[temporal->num_probes] = *probe;
	return (uint32_t)temporal->num_probes++;
}

static uint32_t choose_probe(struct temporal *temporal, const struct loop_variable *variable,
			     size_t site, const struct temporal_site_key *key)
{
	const struct code_probe probe = {
		.module = key->module,
		.offset = key->offset,
		.is_return = key->is_return,
		.size = variable->variable ? variable->variable->size : 0,
		.is_signed = variable->variable && variable->variable->is_signed,
		.value = variable->sites[site].value,
	};

	return variable->result == LOOP_VARIABLE_FOUND && variable->sites[site].is_readable
		       ? add_probe(temporal, &probe)
		       : TEMPORAL_NO_PROBE;
}

/* Where a rank that was interrupted in a frame may be in a moment: the other instructions of the
 * innermost loop there. Else values could be read in a loop that never ends only by chance. */
static size_t find_more(const struct temporal_body_loop *loop, struct flow_place *places)
{
	bool *is_in = NULL;
	size_t num = 0;

	for (size_t i = 0; i < loop->num_sites; i++) {
		const struct temporal_site *site = loop->sites[i];
		const struct flow *flow = site->body->flow;
		uint32_t inner = flow_loop(flow, site->place);

		if (site->key.is_return || site->place.is_inside)
			continue;
		is_in = is_in ?: xcalloc(flow->code->num_insns, sizeof(*is_in));
		for (uint32_t k = 0; k < flow->code->num_insns && num < MAX_MORE; k++) {
			if (is_in[k] || !loop_nest_contains(flow->nest, inner, flow->block_of[k]))
				continue;
			is_in[k] = true;
			places[num++] = (struct flow_place){k, false};
		}
	}
	free(is_in);
	return num;
}

static void choose_for_loop(struct temporal *temporal, const struct temporal_body *body,
			    uint32_t index)
{
	struct temporal_body_loop *loop = &body->loops[index];
	struct flow_place *places SCOPED(free) =
		xcalloc(loop->num_sites + MAX_MORE, sizeof(*places));
	struct loop_variable *variable = &loop->public.variable;
	size_t num = loop->num_sites, num_more = find_more(loop, places + num);

	free(variable->sites);
	for (size_t i = 0; i < num; i++)
		places[i] = loop->sites[i]->place;
	loop_variables_choose(body->flow, body->variables, index, places, num, num_more, variable);
	loop->probes = xreallocarray(loop->probes, num, sizeof(*loop->probes));
	for (size_t i = 0; i < num; i++)
		loop->probes[i] = choose_probe(temporal, variable, i, &loop->sites[i]->key);
	for (size_t i = num; i < num + num_more; i++)
		choose_probe(temporal, variable, i,
			     &(struct temporal_site_key){
				     .offset = body->code->insns[places[i].insn].address,
				     .module = loop->public.module,
			     });
	loop->num_chosen = num;
}

const struct code_probe *temporal_choose(struct temporal *temporal, size_t *num_ret)
{
	struct temporal_body *body, *next;

	HASH_ITER(hh, temporal->bodies, body, next)
	{
		for (uint32_t i = 0; i < body->flow->nest->num_loops; i++)
			if (body->loops[i].num_sites > body->loops[i].num_chosen)
				choose_for_loop(temporal, body, i);
	}
	*num_ret = temporal->num_probes;
	return temporal->probes;
}

static bool is_around(const struct temporal_site *site, const struct temporal_loop *loop)
{
	const struct loop_nest *nest = site->body->flow->nest;
	uint32_t at = flow_loop(site->body->flow, site->place);

	while (at != LOOP_NONE && &site->body->loops[at].public != loop)
		at = nest->loops[at].parent;
	return at != LOOP_NONE;
}

bool temporal_is_in_loop(const struct temporal *temporal, const struct temporal_loop *loop,
			 uint32_t path)
{
	for (uint32_t node = temporal_program_path(temporal, path); node != CALLPATH_NONE;
	     node = callpaths_get(temporal->callpaths, node)->parent) {
		const struct temporal_site *site = temporal_find_site(temporal, node);

		if (site && site->body && is_around(site, loop))
			return true;
	}
	return false;
}

bool temporal_is_innermost_loop(const struct temporal *temporal, const struct temporal_loop *loop,
				uint32_t path)
{
	uint32_t last = temporal_program_path(temporal, path), innermost;
	const struct temporal_site *site =
		last == CALLPATH_NONE ? NULL : temporal_find_site(temporal, last);

	if (!site || !site->body)
		return false;
	innermost = flow_loop(site->body->flow, site->place);
	return innermost != LOOP_NONE && &site->body->loops[innermost].public == loop;
}

size_t temporal_loop_places(const struct temporal *temporal, struct code_address **ret)
{
	struct temporal_body *body, *next;
	struct code_address *list = NULL;
	size_t num = 0, capacity = 0;

	HASH_ITER(hh, temporal->bodies, body, next)
	{
		for (uint32_t i = 0; i < body->flow->nest->num_loops; i++) {
			const struct temporal_loop *loop = &body->loops[i].public;

			for (size_t k = 0; body->loops[i].num_sites && k <= loop->num_places; k++) {
				*XPUSH(list, num, capacity) = (struct code_address){
					loop->module, k ? loop->places[k - 1] : loop->header};
			}
		}
	}
	*ret = list;
	return num;
}
