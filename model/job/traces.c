/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/job/traces.h"

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/pair_map.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"

struct builder {
	struct traces *traces;
	const struct job *job;
	struct pair_map of_call;     /* job site -> symbol */
	struct pair_map of_function; /* (path, kind) -> symbol */
	size_t lanes_capacity;
	uint32_t *map; /* of the lane before */
};

/* The symbol of this key, new if there is none. */
static uint32_t intern(struct builder *b, struct pair_map *map, uint64_t key,
		       const struct traces_symbol *symbol)
{
	struct traces *traces = b->traces;
	uint32_t number = pair_map_get(map, key);

	if (number != PAIR_NONE)
		return number;
	traces->symbols = arena_grow(traces->arena, traces->symbols, traces->num_symbols,
				     &traces->symbols_capacity, sizeof(*traces->symbols));
	traces->symbols[traces->num_symbols] = *symbol;
	pair_map_add(map, key, (uint32_t)traces->num_symbols);
	return (uint32_t)traces->num_symbols++;
}

static uint32_t intern_call(struct builder *b, uint32_t job_site)
{
	const struct job_site *site = &b->job->model->sites[job_site];

	return intern(b, &b->of_call, job_site,
		      &(struct traces_symbol){
			      .kind = SEG_TRACE_CALL,
			      .path = site->path,
			      .name = site->name,
			      .class_id = site->class_id,
		      });
}

static uint32_t intern_function(struct builder *b, const struct model *model, uint32_t frame,
				enum seg_trace_kind kind)
{
	const struct seg_frame *at = &model->frames[frame];
	uint32_t module = MODULE_NONE, path;

	if (at->module != SEG_NO_FRAME) {
		const struct model_module *of = &model->modules[at->module];

		module = modules_intern(b->job->modules, of->path, of->build_id, of->build_id_size);
	}
	path = callpaths_intern(b->job->callpaths, CALLPATH_NONE, module, at->offset, true);
	return intern(b, &b->of_function, pair_key(path, kind),
		      &(struct traces_symbol){.kind = kind, .path = path});
}

static void map_symbol(struct builder *b, const struct job_lane *lane, uint32_t symbol)
{
	uint32_t id = SEG_TRACE_ID(symbol);

	if (TRACE_IS_LOOP(symbol) || b->map[symbol] != TRACE_NONE)
		return;
	if (SEG_TRACE_KIND(symbol) == SEG_TRACE_CALL)
		b->map[symbol] = intern_call(b, lane->site_map[id]);
	else
		b->map[symbol] = intern_function(b, lane->model, id, SEG_TRACE_KIND(symbol));
}

static void add_lane(struct builder *b, const struct job_lane *lane, const struct job_lane *former)
{
	struct traces *traces = b->traces;
	const struct trace *trace = lane->data->trace;
	const struct model *model = lane->model;
	size_t most = model->num_sites > model->num_frames ? model->num_sites : model->num_frames;
	uint32_t num = SEG_TRACE_SYMBOL(most, 0);

	/* Ranks with equal tables share one; the lane before mostly has the same. */
	if (!former || former->site_map != lane->site_map) {
		b->map = arena_array(traces->arena, num, sizeof(*b->map));
		memset(b->map, 0xff, num * sizeof(*b->map));
	}
	for (size_t i = 0; trace && i < trace->num; i++)
		map_symbol(b, lane, trace->sequence[i].symbol);
	for (size_t i = 0; trace && i < trace->num_elements; i++)
		map_symbol(b, lane, trace->elements[i].symbol);
	*ARENA_PUSH(traces->arena, traces->lanes, traces->num_lanes, b->lanes_capacity) =
		(struct traces_lane){
			.rank = lane->rank,
			.lane = lane->lane,
			.is_main = lane->data->is_main,
			.trace = trace,
			.note = lane->data->trace_note,
			.symbols = b->map,
			.num_local = num,
		};
}

struct traces *traces_create(const struct job *job)
{
	struct arena *arena = arena_create();
	struct builder b = {.traces = arena_alloc(arena, sizeof(*b.traces)), .job = job};
	const struct job_lane *former = NULL;

	b.traces->arena = arena;
	for (size_t i = 0; job->model && i < job->model->num_lanes; i++) {
		const struct job_lane *lane = &job->model->lanes[i];

		if (!lane->data->trace && !lane->data->trace_note)
			continue;
		add_lane(&b, lane, former);
		former = lane;
	}
	free(b.of_call.slots);
	free(b.of_function.slots);
	return b.traces;
}

void traces_destroy(struct traces *traces)
{
	if (traces)
		arena_destroy(traces->arena);
}

const struct traces_lane *traces_find_lane(const struct traces *traces, int rank, int lane)
{
	for (size_t i = 0; i < traces->num_lanes; i++)
		if (traces->lanes[i].rank == rank && traces->lanes[i].lane == lane)
			return &traces->lanes[i];
	return NULL;
}

const struct traces_lane *traces_find(const struct traces *traces, int rank)
{
	const struct traces_lane *first = NULL;

	for (size_t i = 0; i < traces->num_lanes; i++) {
		const struct traces_lane *lane = &traces->lanes[i];

		if (lane->rank == rank && lane->is_main)
			return lane;
		if (lane->rank == rank && !first)
			first = lane;
	}
	return first;
}

char *traces_symbol_text(const struct job *job, const struct traces_symbol *symbol)
{
	return xasprintf("%s%s", symbol->name ?: names_function(job->names, symbol->path)->function,
			 symbol->kind == SEG_TRACE_LEAVE ? " returns" : "");
}
