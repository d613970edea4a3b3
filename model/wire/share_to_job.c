/* SPDX-License-Identifier: BSD-3-Clause
 * From columns to a job, rank by rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "model/job/callpath.h"
#include "model/wire/code_bytes.h"
#include "model/job/code_store.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/message_queues.h"
#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/wire/queue_bytes.h"
#include "model/job/sample.h"
#include "model/segment/clean_text.h"
#include "model/wire/share_read.h"
#include "model/xalloc.h"

/* What commands need beside what is built: a rank with its places in what is computed of it, whose
 * tables grow more slowly than the number of ranks; a node of a tree with its sets of ranks; a name
 * until it has its place. */
enum {
	MANY_MODELS = 8192,
	MODEL_COST = 3072,
	MODEL_COST_OF_MANY = 512,
	FRAME_COST = 800,
	NAME_COST = 800,
};

static void take_field(struct share_reader *r, char *field, size_t size)
{
	char *text = share_reader_text(r);

	snprintf(field, size, "%s", text);
	free(text);
}

/* ---- Tables ---- */

static void read_modules(struct share_reader *r, struct model *shape)
{
	struct decoder *in = &r->in;
	size_t num = decoder_take_count(in, SEG_MAX_MODULES, 2);

	shape->modules = decoder_allocate(in, num, sizeof(*shape->modules));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		struct model_module *module = &shape->modules[i];
		const uint8_t *build_id;

		module->path = share_reader_text(r);
		shape->num_modules++;
		module->build_id_size = (uint8_t)decoder_take_below(in, sizeof(module->build_id));
		build_id = decoder_take_bytes(in, module->build_id_size);
		if (build_id)
			memcpy(module->build_id, build_id, module->build_id_size);
	}
}

static void read_frames(struct share_reader *r, struct model *shape)
{
	struct decoder *in = &r->in;
	size_t num = decoder_take_count(in, SEG_MAX_FRAMES, 3);

	shape->frames = decoder_allocate(in, num, sizeof(*shape->frames));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		shape->frames[i].parent = decoder_take_index(in, i);
		shape->frames[i].module = decoder_take_index(in, shape->num_modules);
		shape->frames[i].offset = decoder_take(in);
		shape->num_frames++;
	}
}

static void read_sites(struct share_reader *r, struct model *shape)
{
	struct decoder *in = &r->in;
	size_t num = decoder_take_count(in, SEG_MAX_SITES, 4);

	shape->sites = decoder_allocate(in, num, sizeof(*shape->sites));
	for (size_t i = 0; i < num && !in->is_bad; i++) {
		struct model_site *site = &shape->sites[i];

		site->frame = decoder_take_index(in, shape->num_frames);
		site->name = shape->strings;
		if (shape->num_strings)
			site->name += decoder_take_below(in, shape->num_strings - 1);
		site->class_id = (uint16_t)decoder_take_below(in, UINT16_MAX);
		site->language = (uint16_t)decoder_take_below(in, UINT16_MAX);
		shape->num_sites++;
	}
}

/* The shape at hand, a model without lanes; NULL: bad. */
static struct model *read_shape(struct share_reader *r)
{
	struct decoder *in = &r->in;
	struct model *shape = model_create();
	size_t num = decoder_take_count(in, SEG_MAX_STRINGS + 1, 1);
	const uint8_t *bytes = decoder_take_bytes(in, num);

	shape->strings = decoder_allocate(in, num, 1);
	if (!in->is_bad && num) {
		memcpy(shape->strings, bytes, num);
		shape->num_strings = num;
		segment_clean_text(shape->strings, num);
	}
	read_modules(r, shape);
	read_frames(r, shape);
	read_sites(r, shape);
	share_reader_end(r);
	if (!in->is_bad && model_validate(shape, NULL) == 0)
		return shape;
	in->is_bad = true;
	model_destroy(shape);
	return NULL;
}

/* The tables are the same for all ranks of a shape. */
static void borrow_shape(struct share_reader *r, struct model *model, int rank)
{
	size_t num;
	const uint32_t *row = share_reader_row(r, SHARE_SHAPE, rank, &num);

	if (num != 1) {
		r->in.is_bad = true;
		return;
	}
	if (!r->shapes[row[0]]) {
		share_reader_begin_item(r, SHARE_SHAPE, row[0]);
		r->shapes[row[0]] = read_shape(r);
	}
	if (!r->in.is_bad)
		model_borrow_tables(model, r->shapes[row[0]]);
}

/* ---- Ranks ---- */

static void read_program(struct share_reader *r, struct share_program *of)
{
	struct decoder *in = &r->in;
	struct model_program *program = share_reader_take(r, 1, sizeof(*program));

	if (in->is_bad)
		return;
	of->program = program;
	of->size = (int32_t)decoder_take_below(in, INT32_MAX);
	of->uid = (uint32_t)decoder_take_below(in, UINT32_MAX);
	of->life = decoder_take_below(in, SEG_LIFE_STOPPED);
	of->thread_level = decoder_take_int(in);
	take_field(r, program->host, sizeof(program->host));
	take_field(r, program->job, sizeof(program->job));
	take_field(r, program->mpi_library, sizeof(program->mpi_library));
	take_field(r, program->executable, sizeof(program->executable));
	program->dropped_strings = decoder_take(in);
	program->dropped_modules = decoder_take(in);
	program->dropped_frames = decoder_take(in);
	program->dropped_sites = decoder_take(in);
	program->dropped_transitions = decoder_take(in);
	program->dropped_lanes = decoder_take(in);
	program->dropped_comms = decoder_take(in);
	program->dropped_members = decoder_take(in);
	program->dropped_requests = decoder_take(in);
	share_reader_end(r);
}

static void borrow_program(struct share_reader *r, struct model *model, int rank)
{
	uint32_t item = share_reader_item(r, SHARE_PROGRAM, rank, 0);
	struct share_program *of;

	if (r->in.is_bad)
		return;
	of = &r->programs[item];
	if (!of->program) {
		share_reader_begin_item(r, SHARE_PROGRAM, item);
		read_program(r, of);
	}
	model->program = of->program;
	model->size = of->size;
	model->uid = of->uid;
	model->life = of->life;
	model->thread_level = of->thread_level;
}

static void read_process(struct share_reader *r, struct model *model, int rank)
{
	struct decoder *in = &r->in;
	int64_t own =
		rank + decoder_take_signed(in, -(int64_t)SHARE_MAX_RANKS - 1, SHARE_MAX_RANKS);

	if (own < -1 || own > SHARE_MAX_RANKS)
		in->is_bad = true;
	model->rank = (int32_t)own;
	model->pid = decoder_take_int(in);
	model->pid_start = decoder_take(in);
	model->now_ns = decoder_take(in);
	model->now_real_ns =
		model->now_ns + (uint64_t)decoder_take_signed(in, INT64_MIN, INT64_MAX);
	model->full_unwinds = decoder_take(in);
	model->abandoned = decoder_take(in);
	model->bytes = decoder_take(in);
	share_reader_end(r);
}

static struct model *read_model(struct share_reader *r, int rank)
{
	struct decoder *in = &r->in;
	struct model *model = model_create_in(r->pool);
	size_t num;

	decoder_charge(in, 1, sizeof(*model));
	decoder_charge(in, 1, ++r->num_models <= MANY_MODELS ? MODEL_COST : MODEL_COST_OF_MANY);
	share_reader_begin(r, SHARE_PROCESS, rank, 0);
	read_process(r, model, rank);
	borrow_shape(r, model, rank);
	borrow_program(r, model, rank);
	if (!in->is_bad)
		share_read_evidence(r, model, rank);
	num = share_reader_count(r, SHARE_LANES, rank, SEG_MAX_LANES);
	model->lanes = share_reader_take(r, num, sizeof(*model->lanes));
	for (size_t l = 0; l < num && !in->is_bad; l++) {
		model->num_lanes++;
		share_read_lane(r, model, l, rank);
		if (r->share->parts & SHARE_DETAILS && !in->is_bad)
			share_read_lane_details(r, model, l, rank);
	}
	return model;
}

static int refuse(const struct share_reader *r, int rank, struct pdb_error *err)
{
	char what[32];

	snprintf(what, sizeof(what), "rank %d", rank);
	return share_reader_refuse(r, what, err);
}

static int read_rank(struct share_reader *r, struct job *job, int rank, struct pdb_error *err)
{
	struct model *model = read_model(r, rank);
	int status = 0;

	if (r->in.is_bad)
		status = refuse(r, rank, err);
	else if (model_validate(model, err) < 0)
		status = error_prefix(err, "rank %d", rank);
	if (status < 0)
		model_destroy(model);
	else
		job_model_add(job->model, rank, model, 0);
	return status;
}

static int read_looks(struct share_reader *r, struct job_model *jm, struct pdb_error *err)
{
	for (size_t i = 0; i < jm->num_lanes; i++) {
		struct job_lane *lane = &jm->lanes[i];
		uint64_t flags;

		share_reader_begin(r, SHARE_LOOKS, lane->rank, (size_t)lane->lane);
		flags = decoder_take_below(&r->in, 7);
		lane->has_second_look = flags & 1;
		lane->has_moved = flags & 2;
		lane->has_polled = flags & 4;
		lane->moves = decoder_take(&r->in);
		share_reader_end(r);
		if (r->in.is_bad)
			return refuse(r, lane->rank, err);
	}
	return 0;
}

/* Who has something in a column. */
static struct share_place ranks_of(const struct share_reader *r, enum share_column_id id)
{
	const struct share_column *column = &r->share->columns[id];

	return column->num_places ? column->places[0] : (struct share_place){0};
}

static void init_loans(struct share_reader *r)
{
	const struct share_column *columns = r->share->columns;
	size_t num_shapes = columns[SHARE_SHAPE].items.num;

	r->pool = model_pool_create();
	r->shapes = xcalloc(num_shapes, sizeof(struct model *));
	r->programs = xcalloc(columns[SHARE_PROGRAM].items.num, sizeof(*r->programs));
	r->lists = xcalloc(columns[SHARE_LISTS].items.num, sizeof(*r->lists));
	r->comm_ranks = xcalloc(columns[SHARE_COMM_RANKS].items.num, sizeof(*r->comm_ranks));
	r->ledgers = xcalloc(columns[SHARE_LEDGERS].items.num, sizeof(*r->ledgers));
	if (r->share->parts & SHARE_DETAILS)
		return;
	r->rings = xcalloc(columns[SHARE_RING_STATES].items.num, sizeof(*r->rings));
	r->polls = xcalloc(num_shapes, sizeof(*r->polls));
}

static void deinit_loans(struct share_reader *r)
{
	for (size_t i = 0; i < r->share->columns[SHARE_SHAPE].items.num; i++)
		model_destroy(r->shapes[i]);
	free(r->shapes);
	free(r->programs);
	free(r->lists);
	free(r->comm_ranks);
	free(r->ledgers);
	free(r->rings);
	free(r->polls);
	free(r->transitions);
	free(r->transition_of.slots);
	free(r->comms);
	free(r->comm_of.slots);
	model_pool_release(r->pool);
}

static int read_models(struct share_reader *r, struct job *job, struct pdb_error *err)
{
	struct share_place ranks = ranks_of(r, SHARE_PROCESS);
	int status = 0;

	if (!r->share->has_model && ranks.num_runs == 0)
		return 0;
	job->model = job_model_create(job->modules, job->callpaths);
	init_loans(r);
	for (size_t i = 0; i < ranks.num_runs && status == 0; i++)
		for (int rank = ranks.runs[i].first; rank <= ranks.runs[i].last && status == 0;
		     rank++)
			status = read_rank(r, job, rank, err);
	deinit_loans(r);
	job_model_finish(job->model);
	return status < 0 ? status : read_looks(r, job->model, err);
}

/* ---- Samples and holes ---- */

static uint32_t read_path(struct share_reader *r, struct job *job)
{
	struct decoder *in = &r->in;
	size_t num = decoder_take_count(in, CALLPATH_MAX_FRAMES, 3);
	uint32_t path = CALLPATH_NONE;

	for (size_t i = 0; i < num && !in->is_bad; i++) {
		bool is_return = decoder_take_below(in, 1);
		uint64_t offset = decoder_take(in);
		uint32_t module = MODULE_NONE;
		size_t before = callpaths_count(job->callpaths);

		if (decoder_take_below(in, 1))
			module = code_bytes_take_module(in, job->modules);
		if (!decoder_charge(in, 2, sizeof(struct callpath_node)))
			break;
		path = callpaths_intern(job->callpaths, path, module, offset, is_return);
		if (callpaths_count(job->callpaths) > before)
			decoder_charge(in, 1, FRAME_COST);
	}
	return path;
}

/* Many ranks have the same: it is read once. */
static const struct sample *read_stack(struct share_reader *r, struct job *job, uint32_t item)
{
	struct decoder *in = &r->in;
	struct sample *sample;
	bool has_note;

	if (!r->stacks)
		r->stacks = xcalloc(r->share->columns[SHARE_SAMPLES].items.num, sizeof(*r->stacks));
	sample = &r->stacks[item].sample;
	if (r->stacks[item].is_read)
		return sample;
	r->stacks[item].is_read = true;
	share_reader_begin_item(r, SHARE_SAMPLES, item);
	sample->is_main = decoder_take_below(in, 1);
	sample->status = decoder_take_below(in, SAMPLE_FAILED);
	sample->state = (char)decoder_take_below(in, 0x7f);
	has_note = decoder_take_below(in, 1);
	sample->note = share_reader_text(r);
	if (!has_note) {
		free(sample->note);
		sample->note = NULL;
	}
	sample->path = read_path(r, job);
	share_reader_end(r);
	return sample;
}

static void forget_stacks(struct share_reader *r)
{
	for (size_t i = 0; r->stacks && i < r->share->columns[SHARE_SAMPLES].items.num; i++)
		free(r->stacks[i].sample.note);
	free(r->stacks);
}

/* What is not told follows from what is: the main thread's number is that of the process, and
 * samples of a thread follow each other in time. */
static void read_sample_times(struct share_reader *r, const struct job *job, size_t number,
			      struct sample *sample)
{
	const struct proc *proc;

	if (r->share->parts & SHARE_STACKS_ONLY) {
		proc = proctable_find(job->proctable, sample->rank);
		sample->tid = proc ? proc->pid : 0;
		sample->when_ns = number;
		return;
	}
	share_reader_begin(r, SHARE_SAMPLE_TIMES, sample->rank, number);
	sample->tid = decoder_take_int(&r->in);
	sample->when_ns = decoder_take(&r->in);
	sample->stopped_ns = (uint32_t)decoder_take_below(&r->in, UINT32_MAX);
	share_reader_end(r);
}

static void read_values(struct share_reader *r, struct sample *sample)
{
	struct decoder *in = &r->in;
	size_t capacity = 0;
	uint32_t depth = 0;

	while (in->at < in->end && !in->is_bad) {
		struct sample_value value;

		depth += (uint32_t)decoder_take_below(in, UINT32_MAX - depth);
		value.depth = depth;
		value.probe = (uint32_t)decoder_take_below(in, UINT32_MAX);
		value.value = decoder_take_signed(in, INT64_MIN, INT64_MAX);
		decoder_charge(in, 2, sizeof(value));
		if (in->is_bad)
			return;
		sample->values = xgrow(sample->values, sample->num_values, &capacity,
				       sizeof(*sample->values));
		sample->values[sample->num_values++] = value;
	}
}

static void read_queues(struct share_reader *r, size_t number, struct sample *sample)
{
	share_reader_begin(r, SHARE_QUEUES, sample->rank, number);
	if (r->in.at < r->in.end && !r->in.is_bad)
		sample->queues = queue_bytes_take(&r->in, sample->rank);
	share_reader_end(r);
}

static void read_sample(struct share_reader *r, struct job *job, int rank, size_t number)
{
	uint32_t item = share_reader_item(r, SHARE_SAMPLES, rank, number);
	struct sample sample;

	if (r->in.is_bad)
		return;
	sample = *read_stack(r, job, item);
	sample.rank = rank;
	read_sample_times(r, job, number, &sample);
	/* Each of its frames is gone through, and has a place in trees. */
	if (sample.path != CALLPATH_NONE)
		decoder_charge(&r->in, 4, callpaths_get(job->callpaths, sample.path)->depth);
	decoder_charge(&r->in, 1, sizeof(sample) + (sample.note ? strlen(sample.note) + 1 : 0));
	if (!r->in.is_bad && share_reader_count(r, SHARE_VALUES, rank, SHARE_MAX_ITEMS) > number) {
		share_reader_begin(r, SHARE_VALUES, rank, number);
		read_values(r, &sample);
	}
	if (!r->in.is_bad && share_reader_count(r, SHARE_QUEUES, rank, SHARE_MAX_ITEMS) > number)
		read_queues(r, number, &sample);
	if (r->in.is_bad) {
		free(sample.values);
		message_queues_destroy(sample.queues);
		return;
	}
	sample.note = sample.note ? xstrdup(sample.note) : NULL;
	samples_add(job->samples, &sample);
}

static void read_hole(struct share_reader *r, struct job *job, int rank, size_t number)
{
	char *why;

	share_reader_begin(r, SHARE_HOLES, rank, number);
	why = share_reader_text(r);
	share_reader_end(r);
	decoder_charge(&r->in, 1, sizeof(struct job_hole));
	if (!r->in.is_bad)
		job_add_hole(job, rank, why);
	free(why);
}

/* Each item of a column, by rank. */
static int read_each(struct share_reader *r, struct job *job, enum share_column_id id,
		     void (*read)(struct share_reader *, struct job *, int, size_t),
		     struct pdb_error *err)
{
	struct share_place ranks = ranks_of(r, id);

	for (size_t i = 0; i < ranks.num_runs; i++) {
		for (int rank = ranks.runs[i].first; rank <= ranks.runs[i].last; rank++) {
			size_t num;

			share_reader_row(r, id, rank, &num);
			for (size_t k = 0; k < num && !r->in.is_bad; k++)
				read(r, job, rank, k);
			if (r->in.is_bad)
				return refuse(r, rank, err);
		}
	}
	return 0;
}

static int read_samples(struct share_reader *r, struct job *job, struct pdb_error *err)
{
	int result = read_each(r, job, SHARE_SAMPLES, read_sample, err);

	forget_stacks(r);
	return result;
}

/* ---- Names ---- */

struct frame_key {
	uint64_t offset;
	uint32_t module, is_return;
};

struct frame_name {
	UT_hash_handle hh;
	struct frame_key key;
	struct name *name; /* innermost first */
	size_t num, capacity;
	bool is_set; /* of a path that there is */
};

static char *take_optional(struct share_reader *r)
{
	bool is_there = decoder_take_below(&r->in, 1);
	char *text = share_reader_text(r);

	if (is_there)
		return text;
	free(text);
	return NULL;
}

static void destroy_name(struct frame_name *name)
{
	for (size_t i = 0; i < name->num; i++) {
		free((char *)name->name[i].function);
		free((char *)name->name[i].file);
		free((char *)name->name[i].full_file);
	}
	free(name->name);
	free(name);
}

/* The name at hand and the callers that it is inlined into. */
static void take_chain(struct share_reader *r, struct frame_name *ret)
{
	uint64_t flags = NAME_HAS_CALLER;

	while (flags & NAME_HAS_CALLER && decoder_charge(&r->in, 2, sizeof(struct name))) {
		struct name *name;

		if (ret->num == NAMES_MAX_CHAIN) {
			r->in.is_bad = true;
			return;
		}
		ret->name = xgrow(ret->name, ret->num, &ret->capacity, sizeof(*ret->name));
		name = &ret->name[ret->num++];
		*name = (struct name){.function = share_reader_text(r)};
		name->file = take_optional(r);
		name->full_file = take_optional(r);
		name->line = decoder_take_int(&r->in);
		flags = decoder_take_below(&r->in, NAME_ALL_FLAGS);
		name->is_symbol = flags & NAME_IS_SYMBOL;
		name->is_library = flags & NAME_IS_LIBRARY;
	}
	for (size_t i = 0; i + 1 < ret->num; i++)
		ret->name[i].caller = &ret->name[i + 1];
}

/* The name at hand; where nodes differ the one that is a symbol is kept. */
static void read_name(struct share_reader *r, struct job *job, struct frame_name **names)
{
	struct frame_name *name = xcalloc(1, sizeof(*name)), *other;

	name->key.module = code_bytes_take_module(&r->in, job->modules);
	name->key.offset = decoder_take(&r->in);
	name->key.is_return = (uint32_t)decoder_take_below(&r->in, 1);
	take_chain(r, name);
	share_reader_end(r);
	decoder_charge(&r->in, 1, sizeof(*name) + NAME_COST);
	HASH_FIND(hh, *names, &name->key, sizeof(name->key), other);
	if (r->in.is_bad || (other && (other->name->is_symbol || !name->name->is_symbol))) {
		destroy_name(name);
		return;
	}
	if (other) {
		HASH_DEL(*names, other);
		destroy_name(other);
	}
	HASH_ADD(hh, *names, key, sizeof(name->key), name);
}

/* A frame that no path has was asked for by its address: it is one by itself. */
static void set_names(struct job *job, struct frame_name *names)
{
	struct frame_name *left, *next;

	for (size_t i = 0; i < callpaths_count(job->callpaths); i++) {
		const struct callpath_node *node = callpaths_get(job->callpaths, (uint32_t)i);
		struct frame_key key = {node->offset, node->module, node->is_return};
		struct frame_name *name;

		HASH_FIND(hh, names, &key, sizeof(key), name);
		if (!name)
			continue;
		names_set(job->names, (uint32_t)i, name->name);
		name->is_set = true;
	}
	HASH_ITER(hh, names, left, next)
	{
		const struct frame_key *key = &left->key;

		if (!left->is_set)
			names_set(job->names,
				  callpaths_intern(job->callpaths, CALLPATH_NONE, key->module,
						   key->offset, key->is_return),
				  left->name);
	}
}

static int read_names(struct share_reader *r, struct job *job, struct pdb_error *err)
{
	size_t num = r->share->columns[SHARE_NAMES_COLUMN].items.num;
	struct frame_name *names = NULL, *name, *next;

	for (size_t i = 0; i < num && !r->in.is_bad; i++) {
		share_reader_begin_item(r, SHARE_NAMES_COLUMN, (uint32_t)i);
		read_name(r, job, &names);
	}
	if (!r->in.is_bad)
		set_names(job, names);
	HASH_ITER(hh, names, name, next)
	{
		HASH_DEL(names, name);
		destroy_name(name);
	}
	return r->in.is_bad ? share_reader_refuse(r, "names", err) : 0;
}

static int read_code(struct share_reader *r, struct job *job, struct pdb_error *err)
{
	size_t num = r->share->columns[SHARE_CODE_COLUMN].items.num;

	for (size_t i = 0; i < num && !r->in.is_bad; i++) {
		struct code_variables *variables = NULL;
		struct code_function *function;
		uint32_t module;

		share_reader_begin_item(r, SHARE_CODE_COLUMN, (uint32_t)i);
		module = code_bytes_take_module(&r->in, job->modules);
		function = code_bytes_take_function(&r->in, &variables);
		share_reader_end(r);
		if (function)
			code_store_add(job->code, module, function, variables);
	}
	return r->in.is_bad ? share_reader_refuse(r, "machine code", err) : 0;
}

/* ---- The whole ---- */

int share_to_job(const struct share *share, struct job *job, struct pdb_error *err)
{
	struct share_reader r;
	int status;

	share_reader_init(&r, share);
	job->taken_real_ns = share->taken_real_ns;
	job->look_seconds = share->look_seconds;
	status = read_models(&r, job, err);
	if (status == 0)
		status = read_samples(&r, job, err);
	if (status == 0)
		status = read_each(&r, job, SHARE_HOLES, read_hole, err);
	if (status == 0)
		status = read_names(&r, job, err);
	if (status == 0)
		status = read_code(&r, job, err);
	if (status == 0)
		status = share_read_traces(&r, job->model, err);
	share_reader_deinit(&r);
	return status;
}

static int add_details(struct share_reader *r, struct model *model, int rank, struct pdb_error *err)
{
	if (share_reader_count(r, SHARE_RING_TIMES, rank, SEG_MAX_LANES) == 0)
		return 0;
	for (size_t l = 0; l < model->num_lanes && !r->in.is_bad; l++) {
		model_own_lane_tables(model, &model->lanes[l]);
		share_read_lane_details(r, model, l, rank);
	}
	return r->in.is_bad ? refuse(r, rank, err) : 0;
}

int share_add_details(const struct share *share, struct job *job, struct pdb_error *err)
{
	size_t num = job->model ? job_model_num_ranks(job->model) : 0;
	struct share_reader r;
	int status = 0;

	share_reader_init(&r, share);
	/* share_to_job() has added the ranks in their order. */
	for (size_t i = 0; i < num && status == 0; i++) {
		int rank;
		struct model *model = job_model_rank(job->model, i, &rank);

		status = add_details(&r, model, rank, err);
	}
	share_reader_deinit(&r);
	return status;
}
