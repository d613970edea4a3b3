/* SPDX-License-Identifier: BSD-3-Clause
 * From a job to columns: what each item holds, field by field. share_to_job.c reads the same order.
 */
#include <stdlib.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/wire/code_bytes.h"
#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/wire/queue_bytes.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/wire/share_fill.h"
#include "model/xalloc.h"

void share_filler_end_item(struct share_filler *f, enum share_column_id id)
{
	f->row = xgrow(f->row, f->num_row, &f->row_capacity, sizeof(*f->row));
	f->row[f->num_row++] =
		share_column_add_item(&f->share->columns[id], id, f->item.bytes, f->item.num);
	f->item.num = 0;
}

void share_filler_end_row(struct share_filler *f, enum share_column_id id, int rank)
{
	share_column_add(&f->share->columns[id], rank, f->row, f->num_row);
	f->num_row = 0;
}

static void put_module(struct buffer *b, const char *path, const uint8_t *build_id, size_t size)
{
	buffer_put_text(b, path);
	buffer_put(b, size);
	buffer_put_bytes(b, build_id, size);
}

void share_filler_put_peer(struct share_filler *f, const struct model *model, uint32_t comm,
			   int32_t peer)
{
	struct buffer *b = &f->item;
	int64_t distance = (int64_t)peer - share_peer_base(model, comm);

	if (peer < 0)
		buffer_put(b, (uint64_t) - (int64_t)peer << 1 | 1);
	else
		buffer_put(b, ((uint64_t)distance << 1 ^ (uint64_t)(distance >> 63)) << 1);
}

/* ---- Tables and process ---- */

static void put_shape(struct share_filler *f, const struct model *model)
{
	struct buffer *b = &f->item;

	buffer_put(b, model->num_strings);
	buffer_put_bytes(b, model->strings, model->num_strings);
	buffer_put(b, model->num_modules);
	for (size_t i = 0; i < model->num_modules; i++)
		put_module(b, model->modules[i].path, model->modules[i].build_id,
			   model->modules[i].build_id_size);
	buffer_put(b, model->num_frames);
	for (size_t i = 0; i < model->num_frames; i++) {
		buffer_put_index(b, model->frames[i].parent);
		buffer_put_index(b, model->frames[i].module);
		buffer_put(b, model->frames[i].offset);
	}
	buffer_put(b, model->num_sites);
	for (size_t i = 0; i < model->num_sites; i++) {
		buffer_put_index(b, model->sites[i].frame);
		buffer_put(b, (uint64_t)(model->sites[i].name - model->strings));
		buffer_put(b, model->sites[i].class_id);
		buffer_put(b, model->sites[i].language);
	}
	share_filler_end_item(f, SHARE_SHAPE);
}

static void put_program(struct share_filler *f, const struct model *model)
{
	struct buffer *b = &f->item;

	buffer_put(b, (uint64_t)model->size);
	buffer_put(b, model->uid);
	buffer_put(b, model->life);
	buffer_put_signed(b, model->thread_level);
	buffer_put_text(b, model->program->host);
	buffer_put_text(b, model->program->job);
	buffer_put_text(b, model->program->mpi_library);
	buffer_put_text(b, model->program->executable);
	buffer_put(b, model->program->dropped_strings);
	buffer_put(b, model->program->dropped_modules);
	buffer_put(b, model->program->dropped_frames);
	buffer_put(b, model->program->dropped_sites);
	buffer_put(b, model->program->dropped_transitions);
	buffer_put(b, model->program->dropped_lanes);
	buffer_put(b, model->program->dropped_comms);
	buffer_put(b, model->program->dropped_members);
	buffer_put(b, model->program->dropped_requests);
	share_filler_end_item(f, SHARE_PROGRAM);
}

static void put_process(struct share_filler *f, const struct model *model, int rank)
{
	struct buffer *b = &f->item;

	buffer_put_signed(b, model->rank - rank);
	buffer_put_signed(b, model->pid);
	buffer_put(b, model->pid_start);
	buffer_put(b, model->now_ns);
	buffer_put_signed(b, (int64_t)(model->now_real_ns - model->now_ns));
	buffer_put(b, model->full_unwinds);
	buffer_put(b, model->abandoned);
	buffer_put(b, model->bytes);
	share_filler_end_item(f, SHARE_PROCESS);
}

/* ---- Evidence ---- */

static void put_list(struct share_filler *f, const struct model *model, uint32_t first,
		     uint32_t num)
{
	size_t size = num * sizeof(*model->members), i;

	if (first == SEG_NO_MEMBERS || first == SEG_ALL_MEMBERS) {
		buffer_put(&f->item,
			   first == SEG_NO_MEMBERS ? SHARE_NO_MEMBERS : SHARE_ALL_MEMBERS);
		return;
	}
	if (num == 1 && model_members(model, first)[0] == model->rank) {
		buffer_put(&f->item, SHARE_OWN_MEMBER);
		return;
	}
	for (i = 0; i < f->num_lists; i++) {
		const struct list *list = &f->lists[i];

		if (list->num == num && (num == 0 || list->first == first ||
					 memcmp(model_members(model, list->first),
						model_members(model, first), size) == 0))
			break;
	}
	if (i == f->num_lists) {
		f->lists = xgrow(f->lists, i, &f->lists_capacity, sizeof(*f->lists));
		f->lists[f->num_lists++] = (struct list){first, num};
	}
	buffer_put(&f->item, SHARE_FIRST_LIST + i);
}

static void put_comm(struct share_filler *f, const struct model *model,
		     const struct model_comm *comm)
{
	struct buffer *b = &f->item;
	uint64_t self = model->num_comms > 1 ? model_comm(model, 1)->id : 0;
	bool is_self = self && comm->id == self, is_child = self && comm->parent_id == self;

	buffer_put(b, (uint64_t)comm->kind << 2 | (is_child ? SHARE_PARENT_IS_SELF : 0u) |
			      (is_self ? SHARE_ID_IS_SELF : 0u));
	if (!is_self)
		buffer_put(b, comm->id);
	if (!is_child)
		buffer_put(b, comm->parent_id);
	buffer_put(b, comm->site);
	buffer_put(b, comm->ordinal);
	buffer_put(b, comm->size);
	put_list(f, model, comm->members, comm->size);
	buffer_put(b, comm->remote_size);
	put_list(f, model, comm->remote_members, comm->remote_size);
	buffer_put(b, comm->num_sources);
	put_list(f, model, comm->sources, comm->num_sources);
	buffer_put(b, comm->name ? (uint64_t)(comm->name - model->strings) + 1 : 0);
	buffer_put(b, comm->is_freed);
	share_filler_end_item(f, SHARE_COMMS);
}

/* Ranks mostly go up by one, which is 0 here. */
static void put_lists(struct share_filler *f, const struct model *model)
{
	struct buffer *b = &f->item;

	for (size_t i = 0; i < f->num_lists; i++) {
		const int32_t *ranks = model_members(model, f->lists[i].first);
		int64_t expected = 0;

		buffer_put(b, f->lists[i].num);
		for (size_t k = 0; k < f->lists[i].num; k++) {
			buffer_put_signed(b, ranks[k] - expected);
			expected = (int64_t)ranks[k] + 1;
		}
		share_filler_end_item(f, SHARE_LISTS);
	}
}

/* Where all are members the rank is mostly the world's. */
static void put_comm_ranks(struct share_filler *f, const struct model *model)
{
	for (size_t i = 0; i < model->num_comms; i++) {
		const struct model_comm *comm = model_comm(model, i);
		int32_t expected = comm->members == SEG_ALL_MEMBERS ? model->rank : 0;

		buffer_put_signed(&f->item, (int64_t)model_comm_rank(model, i) - expected);
	}
	if (model->num_comms)
		share_filler_end_item(f, SHARE_COMM_RANKS);
}

static void put_collectives(struct share_filler *f, const struct model_comm *comm)
{
	struct buffer *b = &f->item;
	size_t num = 0;

	buffer_put(b, comm->collectives);
	while (num < SEG_RECENT && comm->recent[num].number)
		num++;
	buffer_put(b, num);
	for (size_t i = 0; i < num; i++) {
		buffer_put(b, comm->collectives - comm->recent[i].number);
		buffer_put(b, comm->recent[i].bytes);
		buffer_put(b, comm->recent[i].site);
		buffer_put_signed(b, comm->recent[i].root);
	}
	share_filler_end_item(f, SHARE_COLLECTIVES);
}

/* Those that are used, each with the number of free ones before it. */
static void put_requests(struct share_filler *f, const struct model *model)
{
	struct buffer *b = &f->item;
	size_t used = 0, next = 0;

	for (size_t i = 0; i < model->num_requests; i++)
		used += model->requests[i].kind != SEG_REQUEST_FREE;
	buffer_put(b, model->num_requests);
	buffer_put(b, used);
	for (size_t i = 0; i < model->num_requests; i++) {
		const struct model_request *request = &model->requests[i];

		if (request->kind == SEG_REQUEST_FREE)
			continue;
		buffer_put(b, i - next);
		next = i + 1;
		buffer_put(b, request->kind);
		buffer_put(b, request->flags);
		buffer_put_index(b, request->comm);
		share_filler_put_peer(f, model, request->comm, request->peer);
		buffer_put_signed(b, request->tag);
		buffer_put(b, request->ordinal);
		buffer_put(b, request->bytes);
		buffer_put(b, request->site);
		buffer_put_index(b, request->lane);
		buffer_put(b, model->now_ns - request->since_ns);
	}
	if (model->num_requests)
		share_filler_end_item(f, SHARE_REQUESTS);
	b->num = 0;
}

/* ---- Ranks ---- */

static void add_evidence(struct share_filler *f, const struct model *model, int rank)
{
	f->num_lists = 0;
	for (size_t i = 0; i < model->num_comms; i++)
		put_comm(f, model, model_comm(model, i));
	share_filler_end_row(f, SHARE_COMMS, rank);
	put_lists(f, model);
	share_filler_end_row(f, SHARE_LISTS, rank);
	put_comm_ranks(f, model);
	share_filler_end_row(f, SHARE_COMM_RANKS, rank);
	for (size_t i = 0; i < model->num_comms; i++)
		put_collectives(f, model_comm(model, i));
	share_filler_end_row(f, SHARE_COLLECTIVES, rank);
	put_requests(f, model);
	share_filler_end_row(f, SHARE_REQUESTS, rank);
}

struct rank {
	int rank;
	const struct model *model;
};

static void add_rank(struct share_filler *f, const struct rank *rank, const struct job_lane *lanes)
{
	const struct model *model = rank->model;

	put_process(f, model, rank->rank);
	share_filler_end_row(f, SHARE_PROCESS, rank->rank);
	if (f->parts & SHARE_ANSWERS) {
		put_shape(f, model);
		share_filler_end_row(f, SHARE_SHAPE, rank->rank);
		put_program(f, model);
		share_filler_end_row(f, SHARE_PROGRAM, rank->rank);
		add_evidence(f, model, rank->rank);
		for (int id = SHARE_LANES; id <= SHARE_LOOKS; id++)
			share_fill_lanes(f, model, lanes, id, rank->rank);
	}
	if (f->parts & SHARE_TRACES)
		share_fill_lanes(f, model, lanes, SHARE_TRACE_COLUMN, rank->rank);
	if (f->parts & SHARE_DETAILS)
		for (int id = SHARE_RING_TIMES; id <= SHARE_POLLS; id++)
			share_fill_lanes(f, model, lanes, id, rank->rank);
}

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static bool is_wanted(const struct share_filler *f, int rank)
{
	return rank >= 0 && rank < SHARE_MAX_RANKS &&
	       (!f->ranks || rankset_contains(f->ranks, rank));
}

static void add_models(struct share_filler *f, const struct job_model *jm)
{
	size_t num = job_model_num_ranks(jm), lane = 0;
	struct rank *ranks = xreallocarray(NULL, num + 1, sizeof(*ranks));

	for (size_t i = 0; i < num; i++)
		ranks[i].model = job_model_rank(jm, i, &ranks[i].rank);
	qsort(ranks, num, sizeof(*ranks), compare_ranks);
	for (size_t i = 0; i < num; i++) {
		/* Lanes are sorted the same way. */
		if (is_wanted(f, ranks[i].rank))
			add_rank(f, &ranks[i], jm->lanes + lane);
		lane += ranks[i].model->num_lanes;
	}
	free(ranks);
}

/* ---- Samples, holes, names ---- */

/* Frames from the outermost on, with their modules. */
static void put_path(struct share_filler *f, uint32_t path)
{
	const struct callpaths *paths = f->job->callpaths;
	struct buffer *b = &f->item;
	uint32_t depth = path == CALLPATH_NONE ? 0 : callpaths_get(paths, path)->depth + 1;

	buffer_put(b, depth);
	for (uint32_t d = 0; d < depth; d++) {
		const struct callpath_node *node =
			callpaths_get(paths, callpaths_at_depth(paths, path, d));

		buffer_put(b, node->is_return);
		buffer_put(b, node->offset);
		buffer_put(b, node->module != MODULE_NONE);
		if (node->module != MODULE_NONE) {
			const struct module *module = modules_get(f->job->modules, node->module);

			put_module(b, module->path, module->build_id, module->build_id_size);
		}
	}
}

static void put_sample(struct share_filler *f, const struct sample *sample)
{
	struct buffer *b = &f->item;

	buffer_put(b, sample->is_main);
	buffer_put(b, sample->status);
	buffer_put(b, (uint8_t)sample->state);
	buffer_put(b, sample->note != NULL);
	buffer_put_text(b, sample->note);
	put_path(f, sample->path);
	share_filler_end_item(f, SHARE_SAMPLES);
}

static void put_sample_time(struct share_filler *f, const struct sample *sample)
{
	buffer_put_signed(&f->item, sample->tid);
	buffer_put(&f->item, sample->when_ns);
	buffer_put(&f->item, sample->stopped_ns);
	share_filler_end_item(f, SHARE_SAMPLE_TIMES);
}

static void put_values(struct share_filler *f, const struct sample *sample)
{
	struct buffer *b = &f->item;
	uint32_t depth = 0;

	for (size_t i = 0; i < sample->num_values; i++) {
		const struct sample_value *value = &sample->values[i];

		buffer_put(b, value->depth - depth);
		buffer_put(b, value->probe);
		buffer_put_signed(b, value->value);
		depth = value->depth;
	}
	share_filler_end_item(f, SHARE_VALUES);
}

static void put_queues(struct share_filler *f, const struct sample *sample)
{
	if (sample->queues)
		queue_bytes_put(&f->item, sample->queues, sample->rank);
	share_filler_end_item(f, SHARE_QUEUES);
}

static bool has_queues(const struct sample *const *samples, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (samples[i]->queues)
			return true;
	return false;
}

static bool has_values(const struct sample *const *samples, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (samples[i]->num_values)
			return true;
	return false;
}

static int compare_samples(const void *a, const void *b)
{
	const struct sample *x = *(const struct sample *const *)a;
	const struct sample *y = *(const struct sample *const *)b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x > y) - (x < y);
}

static void add_samples(struct share_filler *f, const struct samples *samples)
{
	const struct sample **sorted =
		xreallocarray(NULL, samples->num_samples + 1, sizeof(*sorted));
	size_t num = 0;

	for (size_t i = 0; i < samples->num_samples; i++)
		if (is_wanted(f, samples->samples[i].rank))
			sorted[num++] = &samples->samples[i];
	qsort(sorted, num, sizeof(*sorted), compare_samples);
	for (size_t i = 0, last; i < num; i = last) {
		for (last = i; last < num && sorted[last]->rank == sorted[i]->rank; last++)
			put_sample(f, sorted[last]);
		share_filler_end_row(f, SHARE_SAMPLES, sorted[i]->rank);
		for (size_t k = i; k < last && !(f->parts & SHARE_STACKS_ONLY); k++)
			put_sample_time(f, sorted[k]);
		share_filler_end_row(f, SHARE_SAMPLE_TIMES, sorted[i]->rank);
		for (size_t k = i; k < last && has_values(sorted + i, last - i); k++)
			put_values(f, sorted[k]);
		share_filler_end_row(f, SHARE_VALUES, sorted[i]->rank);
		for (size_t k = i; k < last && has_queues(sorted + i, last - i); k++)
			put_queues(f, sorted[k]);
		share_filler_end_row(f, SHARE_QUEUES, sorted[i]->rank);
	}
	free(sorted);
}

static int compare_holes(const void *a, const void *b)
{
	const struct job_hole *x = *(const struct job_hole *const *)a;
	const struct job_hole *y = *(const struct job_hole *const *)b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x > y) - (x < y);
}

static void add_holes(struct share_filler *f, const struct job *job)
{
	const struct job_hole **sorted = xreallocarray(NULL, job->num_holes + 1, sizeof(*sorted));
	size_t num = 0;

	for (size_t i = 0; i < job->num_holes; i++)
		if (is_wanted(f, job->holes[i].rank))
			sorted[num++] = &job->holes[i];
	qsort(sorted, num, sizeof(*sorted), compare_holes);
	for (size_t i = 0; i < num; i++) {
		buffer_put_text(&f->item, sorted[i]->why);
		share_filler_end_item(f, SHARE_HOLES);
		if (i + 1 == num || sorted[i + 1]->rank != sorted[i]->rank)
			share_filler_end_row(f, SHARE_HOLES, sorted[i]->rank);
	}
	free(sorted);
}

static void put_name(struct buffer *b, const struct name *name)
{
	buffer_put_text(b, name->function);
	buffer_put(b, name->file != NULL);
	buffer_put_text(b, name->file);
	buffer_put(b, name->full_file != NULL);
	buffer_put_text(b, name->full_file);
	buffer_put_signed(b, name->line);
	buffer_put(b, name_flags(name));
}

/* Frames in no module are of one process: nobody else can tell what is there. */
static void add_names(struct share_filler *f, const struct job *job)
{
	struct buffer *b = &f->item;

	for (size_t i = 0; i < callpaths_count(job->callpaths); i++) {
		const struct callpath_node *node = callpaths_get(job->callpaths, (uint32_t)i);
		const struct name *name = names_innermost(job->names, (uint32_t)i);
		const struct module *module;

		if (node->module == MODULE_NONE)
			continue;
		module = modules_get(job->modules, node->module);
		put_module(b, module->path, module->build_id, module->build_id_size);
		buffer_put(b, node->offset);
		buffer_put(b, node->is_return);
		for (; name; name = name->caller)
			put_name(b, name);
		share_filler_end_item(f, SHARE_NAMES_COLUMN);
	}
	f->num_row = 0;
}

static void add_code(struct share_filler *f, const struct job *job)
{
	for (size_t i = 0; i < code_store_count(job->code); i++) {
		const struct code_body *body = code_store_get(job->code, i);
		const struct module *module = modules_get(job->modules, body->module);

		put_module(&f->item, module->path, module->build_id, module->build_id_size);
		code_bytes_put_function(&f->item, body->function, body->variables);
		share_filler_end_item(f, SHARE_CODE_COLUMN);
	}
	f->num_row = 0;
}

void share_fill(struct share *share, const struct job *job, const struct rankset *ranks,
		unsigned int parts)
{
	struct share_filler f = {.share = share, .job = job, .ranks = ranks, .parts = parts};

	share->parts = parts;
	share->has_model = job->model != NULL;
	share->taken_real_ns = job->taken_real_ns;
	share->look_seconds = job->look_seconds;
	if (job->model)
		add_models(&f, job->model);
	if (parts & SHARE_ANSWERS) {
		add_samples(&f, job->samples);
		add_holes(&f, job);
	}
	if (parts & SHARE_NAMES)
		add_names(&f, job);
	if (parts & SHARE_CODE)
		add_code(&f, job);
	free(f.item.bytes);
	free(f.row);
	free(f.lists);
}
