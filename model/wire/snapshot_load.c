/* SPDX-License-Identifier: BSD-3-Clause
 * Read a snapshot. Nothing in it is trusted: it is decompressed section by section, each into
 * memory that grows with what really comes; counts are checked against the bytes that are left;
 * and what is built is charged to a budget and checked as if it came from a segment. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/job/code_store.h"
#include "model/error.h"
#include "model/interrupt.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/wire/queue_bytes.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/segment/segment_private.h"
#include "model/wire/snapshot_private.h"
#include "model/xalloc.h"

/* With allocations of texts, room to grow, and what a command needs to print it. */
enum { TEXT_COST = 32, PROC_COST = 3 * sizeof(struct proc) + 2 * TEXT_COST + 256 };
/* With the places of the rank in the job and in what is computed of it. */
enum { LANE_COST = 256 };
enum { FRAME_COST = 800 }; /* a node of a tree, with its sets of ranks */
enum { MODEL_COST = sizeof(struct model) + sizeof(struct model_program) + 1024 };
enum { HOLE_COST = sizeof(struct job_hole) + TEXT_COST };

struct loader {
	struct snapshot_input in;
	struct model **shapes; /* the tables alone */
	size_t num_shapes, shapes_capacity;
	uint32_t version;
	bool has_model;    /* as the JOB section says */
	size_t num_probes; /* that there must be for the values of samples */
	struct job *job;
};

/* ---- Tables of the job ---- */

static void load_job(struct loader *l)
{
	struct job *job = l->job;
	uint64_t bits;

	job->taken_real_ns = input_take(&l->in);
	bits = input_take(&l->in);
	memcpy(&job->look_seconds, &bits, sizeof(bits));
	if (!(job->look_seconds >= 0 && job->look_seconds < 1e9))
		l->in.is_bad = true;
	l->has_model = input_take_below(&l->in, 1);
	if (l->has_model && !job->model)
		job->model = job_model_create(job->modules, job->callpaths);
}

static char *source_note(enum proctable_source source, const char *note)
{
	if (source == PROCTABLE_SNAPSHOT)
		return note ? xstrdup(note) : NULL;
	return xasprintf("its ranks had been found by %s%s%s%s", proctable_source_text(source),
			 note ? " (" : "", note ? note : "", note ? ")" : "");
}

static int load_proctable(struct loader *l)
{
	struct proctable *table = l->job->proctable;
	enum proctable_source source;
	size_t num;

	table->size = (int)input_take_below(&l->in, SNAPSHOT_MAX_RANKS);
	table->job = xstrdup(input_take_text(&l->in));
	table->launcher_name = xstrdup(input_take_text(&l->in));
	table->launcher_pid = input_take_int(&l->in);
	table->launcher = input_take_below(&l->in, LAUNCHER_OTHER);
	source = input_take_below(&l->in, PROCTABLE_CORES);
	table->source = PROCTABLE_SNAPSHOT;
	table->source_note = source_note(source, input_take_string(&l->in));
	num = input_take_count(&l->in, SNAPSHOT_MAX_RANKS, 4);
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		int rank = input_take_int(&l->in), pid = input_take_int(&l->in);
		const char *host = input_take_text(&l->in), *executable = input_take_text(&l->in);

		/* Each proc owns its strings, so a long one may come many times. */
		if (input_charge(&l->in, strlen(host) + strlen(executable) + PROC_COST, 1) &&
		    !l->in.is_bad)
			proctable_add(table, rank, pid, host, executable);
	}
	if (l->in.is_bad)
		return 0;
	if (proctable_finish(table, l->in.err) < 0)
		return -1;
	/* Whatever these pids are by now, they are not the job's. */
	for (size_t i = 0; i < table->num_procs; i++)
		table->procs[i].is_local = false;
	return 0;
}

static void load_modules(struct loader *l)
{
	size_t num = input_take_count(&l->in, UINT32_MAX - 1, 2);

	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		const char *path = input_take_text(&l->in);
		size_t size = input_take_below(&l->in, BUILD_ID_MAX);
		const uint8_t *build_id = input_take_bytes(&l->in, size);

		if (input_charge(&l->in, strlen(path) + sizeof(struct module), 1) &&
		    !l->in.is_bad && modules_intern(l->job->modules, path, build_id, size) != i)
			l->in.is_bad = true;
	}
}

static void load_callpaths(struct loader *l)
{
	struct callpaths *paths = l->job->callpaths;
	size_t num = input_take_count(&l->in, UINT32_MAX - 1, 4);

	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		uint32_t parent = input_take_index(&l->in, i);
		uint32_t module = input_take_index(&l->in, modules_count(l->job->modules));
		uint64_t offset = input_take(&l->in);
		bool is_return = input_take_below(&l->in, 1);

		if (input_charge(&l->in, 2, sizeof(struct callpath_node)) && !l->in.is_bad &&
		    (callpaths_intern(paths, parent, module, offset, is_return) != i ||
		     callpaths_get(paths, (uint32_t)i)->depth >= CALLPATH_MAX_FRAMES))
			l->in.is_bad = true;
	}
}

/* A name and the callers that it is inlined into, each of which has a place in trees. */
static void take_chain(struct loader *l, struct name **chain, size_t *capacity)
{
	uint64_t flags = NAME_HAS_CALLER;
	size_t num = 0;

	while (flags & NAME_HAS_CALLER &&
	       input_charge(&l->in, 1, 2 * sizeof(struct name) + (num ? FRAME_COST : 0))) {
		struct name name = {.function = input_take_text(&l->in)};

		name.file = input_take_string(&l->in);
		name.full_file = input_take_string(&l->in);
		name.line = input_take_int(&l->in);
		flags = input_take_below(&l->in, NAME_ALL_FLAGS);
		name.is_symbol = flags & NAME_IS_SYMBOL;
		name.is_library = flags & NAME_IS_LIBRARY;
		*chain = xgrow(*chain, num, capacity, sizeof(**chain));
		(*chain)[num++] = name;
		if (num > NAMES_MAX_CHAIN)
			l->in.is_bad = true;
	}
	for (size_t i = 0; i + 1 < num; i++)
		(*chain)[i].caller = *chain + i + 1;
}

static void load_names(struct loader *l)
{
	size_t num = input_take_count(&l->in, callpaths_count(l->job->callpaths), 5);
	struct name *chain = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		take_chain(l, &chain, &capacity);
		if (!l->in.is_bad)
			names_set(l->job->names, (uint32_t)i, chain);
	}
	free(chain);
}

/* ---- Models ---- */

static void load_shape_modules(struct loader *l, struct model *shape)
{
	size_t num = input_take_count(&l->in, SEG_MAX_MODULES, 2);

	shape->modules = input_allocate(&l->in, num, sizeof(*shape->modules));
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		struct model_module *module = &shape->modules[i];
		const char *path = input_take_text(&l->in);
		const uint8_t *build_id;

		module->build_id_size = (uint8_t)input_take_below(&l->in, sizeof(module->build_id));
		build_id = input_take_bytes(&l->in, module->build_id_size);
		if (build_id)
			memcpy(module->build_id, build_id, module->build_id_size);
		module->path = input_charge(&l->in, strlen(path), 1) ? xstrdup(path) : xstrdup("");
		shape->num_modules++;
	}
}

static void load_shape_sites(struct loader *l, struct model *shape)
{
	size_t num = input_take_count(&l->in, SEG_MAX_SITES, 4);

	shape->sites = input_allocate(&l->in, num, sizeof(*shape->sites));
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		struct model_site *site = &shape->sites[i];

		site->frame = input_take_index(&l->in, shape->num_frames);
		site->name = shape->strings;
		if (shape->num_strings)
			site->name += input_take_below(&l->in, shape->num_strings - 1);
		site->class_id = (uint16_t)input_take_below(&l->in, UINT16_MAX);
		site->language = (uint16_t)input_take_below(&l->in, UINT16_MAX);
		shape->num_sites++;
	}
}

static int load_shape(struct loader *l)
{
	struct model *shape = model_create();
	const uint8_t *bytes;
	size_t num;

	input_charge(&l->in, 1, sizeof(*shape));
	l->shapes = xgrow(l->shapes, l->num_shapes, &l->shapes_capacity, sizeof(*l->shapes));
	l->shapes[l->num_shapes++] = shape;
	num = input_take_count(&l->in, SEG_MAX_STRINGS + 1, 1);
	bytes = input_take_bytes(&l->in, num);
	shape->strings = input_allocate(&l->in, num, 1);
	if (l->in.is_bad)
		return 0;
	memcpy(shape->strings, bytes, num);
	shape->num_strings = num;
	segment_clean_text(shape->strings, num);
	load_shape_modules(l, shape);
	num = input_take_count(&l->in, SEG_MAX_FRAMES, 3);
	shape->frames = input_allocate(&l->in, num, sizeof(*shape->frames));
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		shape->frames[i].parent = input_take_index(&l->in, i);
		shape->frames[i].module = input_take_index(&l->in, shape->num_modules);
		shape->frames[i].offset = input_take(&l->in);
		shape->num_frames++;
	}
	load_shape_sites(l, shape);
	return l->in.is_bad ? 0 : model_validate(shape, l->in.err);
}

static void take_field(struct loader *l, char *field, size_t size)
{
	snprintf(field, size, "%s", input_take_text(&l->in));
}

static void load_ring(struct loader *l, const struct model *model, struct model_lane *lane)
{
	size_t num = input_take_count(&l->in, SEG_MAX_RING, 2);
	uint64_t ns = model->now_ns;

	lane->ring = input_allocate(&l->in, num, sizeof(*lane->ring));
	if (l->in.is_bad)
		return;
	lane->num_ring = num;
	for (size_t i = 0; i < num; i++)
		lane->ring[i].state = (uint32_t)input_take_below(&l->in, UINT32_MAX);
	for (size_t i = num; i > 0; i--) {
		ns -= input_take_below(&l->in, ns);
		lane->ring[i - 1].ns = ns;
	}
}

static void load_lane(struct loader *l, const struct model *model, struct model_lane *lane)
{
	size_t num_states = 2 * model->num_sites, num;
	uint64_t flags = input_take(&l->in);

	lane->is_main = flags & SNAPSHOT_LANE_MAIN;
	lane->has_ended = flags & SNAPSHOT_LANE_ENDED;
	lane->is_consistent = flags & SNAPSHOT_LANE_CONSISTENT;
	lane->in_poll = flags & SNAPSHOT_LANE_IN_POLL;
	lane->tid = input_take_int(&l->in);
	lane->state = (uint32_t)input_take_below(&l->in, UINT32_MAX);
	lane->since_ns = model->now_ns - input_take_below(&l->in, model->now_ns);
	lane->first_ns = model->now_ns - input_take_below(&l->in, model->now_ns);
	lane->events = input_take(&l->in);
	lane->poll_site = (uint32_t)input_take_below(&l->in, UINT32_MAX);
	lane->polls = input_take(&l->in);
	lane->last_poll_ns = input_take(&l->in);
	num = input_take_count(&l->in, MODEL_MAX_TRANSITIONS, 3);
	lane->transitions = input_allocate(&l->in, num, sizeof(*lane->transitions));
	lane->longest_ns = input_allocate(&l->in, num_states, sizeof(*lane->longest_ns));
	lane->state_polls = input_allocate(&l->in, num_states, sizeof(*lane->state_polls));
	if (l->in.is_bad)
		return;
	lane->num_transitions = num;
	for (size_t i = 0; i < num; i++) {
		lane->transitions[i].from = (uint32_t)input_take_below(&l->in, UINT32_MAX);
		lane->transitions[i].to = (uint32_t)input_take_below(&l->in, UINT32_MAX);
		lane->transitions[i].count = input_take(&l->in);
	}
	for (size_t i = 0; i < num_states; i++)
		lane->longest_ns[i] = input_take(&l->in);
	for (size_t i = 0; i < num_states; i++)
		lane->state_polls[i] = input_take(&l->in);
	load_ring(l, model, lane);
	snapshot_load_lane_evidence(&l->in, lane);
}

static void load_model_head(struct loader *l, struct model *model)
{
	model->rank = (int32_t)input_take_signed(&l->in, -1, SNAPSHOT_MAX_RANKS);
	model->size = (int32_t)input_take_signed(&l->in, 0, INT32_MAX);
	model->pid = input_take_int(&l->in);
	model->pid_start = input_take(&l->in);
	model->uid = (uint32_t)input_take_below(&l->in, UINT32_MAX);
	model->life = input_take_below(&l->in, SEG_LIFE_STOPPED);
	model->thread_level = input_take_int(&l->in);
	take_field(l, model->program->host, sizeof(model->program->host));
	take_field(l, model->program->job, sizeof(model->program->job));
	take_field(l, model->program->mpi_library, sizeof(model->program->mpi_library));
	take_field(l, model->program->executable, sizeof(model->program->executable));
	model->now_ns = input_take(&l->in);
	model->now_real_ns = input_take(&l->in);
	model->program->dropped_strings = input_take(&l->in);
	model->program->dropped_modules = input_take(&l->in);
	model->program->dropped_frames = input_take(&l->in);
	model->program->dropped_sites = input_take(&l->in);
	model->program->dropped_transitions = input_take(&l->in);
	model->program->dropped_lanes = input_take(&l->in);
	model->full_unwinds = input_take(&l->in);
	model->abandoned = input_take(&l->in);
	model->bytes = input_take(&l->in);
	model->program->dropped_comms = input_take(&l->in);
	model->program->dropped_members = input_take(&l->in);
	model->program->dropped_requests = input_take(&l->in);
}

static int load_model(struct loader *l)
{
	struct model *model = model_create();
	int rank = (int)input_take_signed(&l->in, 0, SNAPSHOT_MAX_RANKS - 1);
	uint64_t shape = input_take(&l->in);
	size_t num;

	input_charge(&l->in, 1, MODEL_COST);
	if (!l->job->model || shape >= l->num_shapes ||
	    rankset_contains(l->job->model->ranks, rank))
		l->in.is_bad = true;
	if (!l->in.is_bad)
		model_borrow_tables(model, l->shapes[shape]);
	load_model_head(l, model);
	snapshot_load_evidence(&l->in, model);
	num = input_take_count(&l->in, SEG_MAX_LANES, 18);
	model->lanes = input_allocate(&l->in, num, sizeof(*model->lanes));
	input_charge(&l->in, num, LANE_COST);
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		model->num_lanes++;
		load_lane(l, model, &model->lanes[i]);
	}
	if (l->in.is_bad || model_validate(model, l->in.err) < 0) {
		model_destroy(model);
		return l->in.is_bad ? 0 : error_prefix(l->in.err, "rank %d", rank);
	}
	job_model_add(l->job->model, rank, model, 0);
	return 0;
}

static void load_looks(struct loader *l)
{
	struct job_model *jm = l->job->model;
	size_t num = input_take_count(&l->in, UINT32_MAX, 2);

	if (!jm || num != jm->num_lanes) {
		l->in.is_bad = true;
		return;
	}
	job_model_finish(jm);
	for (size_t i = 0; i < num; i++) {
		uint64_t flags = input_take(&l->in);

		jm->lanes[i].has_second_look = flags & SNAPSHOT_LOOK_TAKEN;
		jm->lanes[i].has_moved = flags & SNAPSHOT_LOOK_MOVED;
		jm->lanes[i].has_polled = flags & SNAPSHOT_LOOK_POLLED;
		jm->lanes[i].moves = input_take(&l->in);
	}
}

/* ---- The rest of the job ---- */

static void load_values(struct loader *l, struct sample *sample)
{
	size_t num = input_take_count(&l->in, UINT32_MAX, 3);
	uint32_t depth = 0;

	if (!num)
		return;
	sample->values = input_allocate(&l->in, num, sizeof(*sample->values));
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		struct sample_value *value = &sample->values[sample->num_values++];

		depth += (uint32_t)input_take_below(&l->in, UINT32_MAX - depth);
		value->depth = depth;
		value->probe = (uint32_t)input_take_below(&l->in, UINT32_MAX);
		value->value = input_take_signed(&l->in, INT64_MIN, INT64_MAX);
		if (value->probe >= l->num_probes)
			l->num_probes = (size_t)value->probe + 1;
	}
}

/* Each of its frames is gone through, and has a place in trees, once for all samples. */
static void charge_path(struct loader *l, bool *is_charged, uint32_t path)
{
	const struct callpath_node *node;

	if (path == CALLPATH_NONE || l->in.is_bad)
		return;
	input_charge(&l->in, 4, callpaths_get(l->job->callpaths, path)->depth);
	for (; path != CALLPATH_NONE && !is_charged[path]; path = node->parent) {
		node = callpaths_get(l->job->callpaths, path);
		is_charged[path] = true;
		if (!input_charge(&l->in, 1, FRAME_COST))
			return;
	}
}

static void load_samples(struct loader *l)
{
	size_t num = input_take_count(&l->in, UINT32_MAX, 10);
	bool *is_charged = input_allocate(&l->in, callpaths_count(l->job->callpaths) + 1, 1);

	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		struct sample sample = {
			.rank = (int)input_take_signed(&l->in, 0, SNAPSHOT_MAX_RANKS - 1)};
		const char *note;

		sample.tid = input_take_int(&l->in);
		sample.is_main = input_take_below(&l->in, 1);
		sample.status = input_take_below(&l->in, SAMPLE_FAILED);
		sample.path = input_take_index(&l->in, callpaths_count(l->job->callpaths));
		sample.state = (char)input_take_below(&l->in, 0x7f);
		sample.when_ns = input_take(&l->in);
		sample.stopped_ns = (uint32_t)input_take_below(&l->in, UINT32_MAX);
		note = input_take_string(&l->in);
		charge_path(l, is_charged, sample.path);
		if (!input_charge(&l->in, 1, sizeof(sample)))
			break;
		if (note) {
			size_t size = strlen(note) + 1;

			sample.note = input_allocate(&l->in, size, 1);
			if (!l->in.is_bad)
				memcpy(sample.note, note, size);
		}
		load_values(l, &sample);
		samples_add(l->job->samples, &sample);
	}
	free(is_charged);
}

static void load_queues(struct loader *l)
{
	struct samples *samples = l->job->samples;
	size_t next = 0;

	while (l->in.at < l->in.end && !l->in.is_bad) {
		uint64_t before = input_take(&l->in);

		if (l->in.is_bad || before >= samples->num_samples - next) {
			l->in.is_bad = true;
			return;
		}
		next += before;
		samples->samples[next].queues = queue_bytes_take(
			&l->in, samples->samples[next].rank, l->version > SNAPSHOT_OLDEST_VERSION);
		next++;
	}
}

struct told_hole {
	int rank;
	const char *why;
};

static int compare_holes(const void *a, const void *b)
{
	const struct told_hole *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void load_holes(struct loader *l)
{
	size_t num = input_take_count(&l->in, SNAPSHOT_MAX_RANKS, 2);
	struct told_hole *told = input_allocate(&l->in, num, sizeof(*told));

	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		told[i].rank = (int)input_take_signed(&l->in, 0, SNAPSHOT_MAX_RANKS - 1);
		told[i].why = input_take_text(&l->in);
		input_charge(&l->in, strlen(told[i].why) + HOLE_COST, 1);
	}
	if (!l->in.is_bad && num)
		qsort(told, num, sizeof(*told), compare_holes);
	for (size_t i = 0; i < num && !l->in.is_bad; i++)
		job_add_hole(l->job, told[i].rank, told[i].why);
	free(told);
}

static void load_crashes(struct loader *l)
{
	size_t num = input_take_count(&l->in, SNAPSHOT_MAX_RANKS, 5);
	int last = -1;

	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		struct job_crash crash = {
			.rank = (int)input_take_signed(&l->in, last + 1, SNAPSHOT_MAX_RANKS - 1),
			.tid = input_take_int(&l->in),
			.signal = (int)input_take_signed(&l->in, 1, NSIG - 1),
		};
		uint64_t flags = input_take(&l->in);

		crash.is_fault = flags & SNAPSHOT_CRASH_FAULT;
		crash.is_sent = flags & SNAPSHOT_CRASH_SENT;
		crash.has_address = flags & SNAPSHOT_CRASH_ADDRESS;
		crash.address = input_take(&l->in);
		last = crash.rank;
		if (input_charge(&l->in, 1, sizeof(crash)) && !l->in.is_bad)
			job_add_crash(l->job, &crash);
	}
}

static uint32_t take_module(struct loader *l)
{
	uint32_t module = input_take_index(&l->in, modules_count(l->job->modules));

	if (module == MODULE_NONE)
		l->in.is_bad = true;
	return module;
}

static void load_probes(struct loader *l)
{
	size_t num = input_take_count(&l->in, UINT32_MAX, 8);
	struct code_probe *probes = input_allocate(&l->in, num, sizeof(*probes));

	l->job->probes = probes;
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		probes[i].module = take_module(l);
		code_bytes_take_probe(&l->in, &probes[i]);
		l->job->num_probes++;
	}
}

static void load_code(struct loader *l)
{
	size_t num;

	load_probes(l);
	num = input_take_count(&l->in, UINT32_MAX, 10);
	for (size_t i = 0; i < num && !l->in.is_bad; i++) {
		uint32_t module = take_module(l);
		struct code_variables *variables = NULL;
		struct code_function *function = code_bytes_take_function(&l->in, &variables);

		if (function)
			code_store_add(l->job->code, module, function, variables);
	}
}

/* ---- The whole ---- */

/* id: one that may_follow() lets pass. */
static int load_section(struct loader *l, enum snapshot_section id)
{
	int status = 0;

	switch (id) {
	case SNAPSHOT_STRINGS:
		input_take_strings(&l->in);
		break;
	case SNAPSHOT_JOB:
		load_job(l);
		break;
	case SNAPSHOT_PROCTABLE:
		status = load_proctable(l);
		break;
	case SNAPSHOT_MODULES:
		load_modules(l);
		break;
	case SNAPSHOT_CALLPATHS:
		load_callpaths(l);
		break;
	case SNAPSHOT_NAMES:
		load_names(l);
		break;
	case SNAPSHOT_SHAPE:
		status = load_shape(l);
		break;
	case SNAPSHOT_MODEL:
		status = load_model(l);
		break;
	case SNAPSHOT_LOOKS:
		load_looks(l);
		break;
	case SNAPSHOT_SAMPLES:
		load_samples(l);
		break;
	case SNAPSHOT_HOLES:
		load_holes(l);
		break;
	case SNAPSHOT_CRASHES:
		load_crashes(l);
		break;
	case SNAPSHOT_CODE:
		load_code(l);
		break;
	case SNAPSHOT_TRACES:
		snapshot_take_traces(&l->in, l->job->model);
		break;
	case SNAPSHOT_QUEUES:
		load_queues(l);
		break;
	case SNAPSHOT_END:
		l->in.is_bad = l->num_probes > l->job->num_probes;
		break;
	case SNAPSHOT_LISTS:
		input_take_lists(&l->in);
		break;
	}
	if (status == 0 && (l->in.is_bad || l->in.at != l->in.end))
		status = error_set(l->in.err, ERROR_FORMAT, "section %d %s", id,
				   input_why_bad(&l->in));
	/* Whatever else came of it. */
	return interrupt_check(l->in.err) < 0 ? -1 : status;
}

static int read_magic(struct loader *l)
{
	uint8_t header[SNAPSHOT_HEADER_SIZE];

	if (input_read(&l->in, header, sizeof(header)) < 0)
		return -1;
	if (memcmp(header, SNAPSHOT_MAGIC, 8) != 0)
		return error_set(l->in.err, ERROR_FORMAT, "not a snapshot of pdb");
	l->version = header[8] | (uint32_t)header[9] << 8 | (uint32_t)header[10] << 16 |
		     (uint32_t)header[11] << 24;
	if (l->version < SNAPSHOT_OLDEST_VERSION || l->version > SNAPSHOT_VERSION)
		return error_set(
			l->in.err, ERROR_VERSION,
			"the snapshot has version %u, this pdb reads version %d: use the pdb "
			"that saved it",
			l->version, SNAPSHOT_VERSION);
	return 0;
}

/* May `id` come after `last` (0: nothing yet)? All but STRINGS and LISTS stand in the order of
 * their numbers, and those of models are there just when JOB says so. */
static bool may_follow(const struct loader *l, int last, int id)
{
	bool is_among_models = l->has_model && last >= SNAPSHOT_NAMES && last <= SNAPSHOT_MODEL;

	switch (id) {
	case SNAPSHOT_STRINGS:
	case SNAPSHOT_LISTS:
		return true;
	case SNAPSHOT_JOB:
		return last == 0;
	case SNAPSHOT_SHAPE:
	case SNAPSHOT_MODEL:
	case SNAPSHOT_LOOKS:
		return is_among_models;
	case SNAPSHOT_SAMPLES:
		return last == (l->has_model ? SNAPSHOT_LOOKS : SNAPSHOT_NAMES);
	case SNAPSHOT_CRASHES:
	case SNAPSHOT_CODE:
	case SNAPSHOT_TRACES:
	case SNAPSHOT_QUEUES:
		return last == SNAPSHOT_HOLES || (last >= SNAPSHOT_CRASHES && last < id);
	case SNAPSHOT_END:
		return last == SNAPSHOT_HOLES || last >= SNAPSHOT_CRASHES;
	default:
		return last == id - 1;
	}
}

static int load_all(struct loader *l)
{
	int id = 0, last = 0;

	if (read_magic(l) < 0)
		return -1;
	while (last != SNAPSHOT_END) {
		if (input_next_section(&l->in, &id) < 0)
			return -1;
		if (!may_follow(l, last, id))
			return error_set(l->in.err, ERROR_FORMAT, "section %d is out of place", id);
		if (load_section(l, id) < 0)
			return -1;
		if (id != SNAPSHOT_STRINGS && id != SNAPSHOT_LISTS)
			last = id;
	}
	return input_expect_end(&l->in);
}

static int open_file(const char *path, uint64_t *size_ret, struct pdb_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return error_errno(err, "%s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(err, ERROR_FORMAT, "%s is not a regular file", path);
	}
	*size_ret = (uint64_t)st.st_size;
	return fd;
}

int snapshot_load(const char *path, struct job **job_ret, struct pdb_error *err)
{
	struct pdb_error own = {0};
	uint64_t size = 0;
	int fd = open_file(path, &size, err), status;
	struct loader *l;

	if (fd < 0)
		return -1;
	l = xcalloc(1, sizeof(*l));
	l->job = job_create();
	status = input_init(&l->in, fd, size, &own);
	if (status == 0)
		status = load_all(l);
	if (status < 0) {
		job_destroy(l->job);
		error_prefix(&own, "%s", path);
		if (err)
			*err = own;
	} else {
		*job_ret = l->job;
	}
	for (size_t i = 0; i < l->num_shapes; i++)
		model_destroy(l->shapes[i]);
	free(l->shapes);
	input_deinit(&l->in);
	close(fd);
	free(l);
	return status;
}
