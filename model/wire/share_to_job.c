/* SPDX-License-Identifier: BSD-3-Clause
 * From columns to a job, rank by rank. */

#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/model_pool.h"
#include "model/job/usage.h"
#include "model/wire/code_bytes.h"
#include "model/wire/share_items.h"
#include "model/wire/share_read.h"
#include "model/wire/usage_bytes.h"

/* Read each item of a column, by rank. read() returns -1 and *err, or leaves r->in.is_bad. */
static int read_each(struct share_reader *r, struct job *job, enum share_column_id id,
		     int (*read)(struct share_reader *r, struct job *job, int rank, size_t number,
				 struct pdb_error *err),
		     struct pdb_error *err)
{
	const struct share_column *column = &r->share->columns[id];
	const struct share_place *ranks = column->places;

	for (size_t i = 0; column->num_places && i < ranks->num_runs; i++) {
		for (int rank = ranks->runs[i].first; rank <= ranks->runs[i].last; rank++) {
			size_t num = share_reader_count(r, id, rank, SHARE_MAX_ITEMS);

			for (size_t k = 0; k < num && !r->in.is_bad; k++)
				if (read(r, job, rank, k, err) < 0)
					return -1;
			if (r->in.is_bad)
				return share_reader_refuse_rank(r, rank, err);
		}
	}
	return 0;
}

static int read_model(struct share_reader *r, struct job *job, int rank, size_t number,
		      struct pdb_error *err)
{
	struct model *model = share_read_model(r, rank);
	int status = 0;

	r->in.is_bad |= number > 0; /* a rank is one process */
	if (!r->in.is_bad && model_validate(model, err) < 0)
		status = error_prefix(err, "rank %d", rank);
	if (status < 0 || r->in.is_bad)
		model_destroy(model);
	else
		job_model_add(job->model, rank, model, 0);
	return status;
}

static int read_looks(struct share_reader *r, struct job_model *jm, struct pdb_error *err)
{
	for (size_t i = 0; i < jm->num_lanes && !r->in.is_bad; i++) {
		struct job_lane *lane = &jm->lanes[i];

		share_reader_begin(r, SHARE_LOOKS, lane->rank, (size_t)lane->lane);
		share_item_look(&r->own, lane);
		share_reader_end(r);
		if (r->in.is_bad)
			return share_reader_refuse_rank(r, lane->rank, err);
	}
	return 0;
}

static void init_loans(struct share_reader *r)
{
	r->pool = model_pool_create();
	r->pooled.arena = r->pool->arena;
	r->shapes = share_reader_by_item(r, SHARE_SHAPE, sizeof(*r->shapes));
	r->programs = share_reader_by_item(r, SHARE_PROGRAM, sizeof(*r->programs));
	r->lists = share_reader_by_item(r, SHARE_LISTS, sizeof(*r->lists));
	r->comm_ranks = share_reader_by_item(r, SHARE_COMM_RANKS, sizeof(*r->comm_ranks));
	r->ledgers = share_reader_by_item(r, SHARE_LEDGERS, sizeof(*r->ledgers));
	r->rings = share_reader_by_item(r, SHARE_RING_STATES, sizeof(*r->rings));
	r->polls = share_reader_by_item(r, SHARE_SHAPE, sizeof(*r->polls));
}

static int read_models(struct share_reader *r, struct job *job, struct pdb_error *err)
{
	if (!r->share->has_model && share_num_ranks(r->share) == 0)
		return 0;
	job->model = job_model_create(job->modules, job->callpaths);
	init_loans(r);
	int status = read_each(r, job, SHARE_PROCESS, read_model, err);
	for (size_t i = 0; i < r->share->columns[SHARE_SHAPE].items.num; i++)
		model_destroy(r->shapes[i]);
	free(r->transition_of.slots);
	free(r->comm_of.slots);
	model_pool_release(r->pool);
	job_model_finish(job->model);
	return status < 0 ? status : read_looks(r, job->model, err);
}

static int read_hole(struct share_reader *r, struct job *job, int rank, size_t number,
		     struct pdb_error *err)
{
	struct job_hole hole = {.rank = rank};

	(void)err;
	share_reader_begin(r, SHARE_HOLES, rank, number);
	share_item_hole(&r->own, &hole);
	share_reader_end(r);
	decoder_charge(&r->in, 1, sizeof(hole));
	if (!r->in.is_bad && !strcmp(hole.why, JOB_HOLE_ENDED))
		job_add_ended(job, rank, &hole.end);
	else if (!r->in.is_bad)
		job_add_hole(job, rank, hole.why);
	free(hole.why);
	return 0;
}

/* The first item is the rank's, the second one that of the node. */
static int read_usage(struct share_reader *r, struct job *job, int rank, size_t number,
		      struct pdb_error *err)
{
	struct usage_rank used = {.rank = rank};
	struct usage_node node = {.rank = rank};

	(void)err;
	if (!job->usage)
		job->usage = usage_create();
	share_reader_begin(r, SHARE_USAGE, rank, number);
	if (number == 0)
		usage_bytes_rank(&r->own, &used);
	else
		usage_bytes_node(&r->own, &node);
	share_reader_end(r);
	r->in.is_bad |= number > 1;
	decoder_charge(&r->in, 1, sizeof(used) + sizeof(node));
	if (number == 0 && !r->in.is_bad)
		usage_add_rank(job->usage, &used);
	else if (!r->in.is_bad)
		usage_add_node(job->usage, &node);
	if (r->in.is_bad) {
		usage_rank_deinit(&used);
		usage_node_deinit(&node);
	}
	return 0;
}

static int read_code(struct share_reader *r, struct job *job, struct pdb_error *err)
{
	size_t num = r->share->columns[SHARE_CODE_COLUMN].items.num;

	for (size_t i = 0; i < num && !r->in.is_bad; i++) {
		struct code_body body;

		share_reader_begin_item(r, SHARE_CODE_COLUMN, (uint32_t)i);
		code_bytes_module(&r->own, job->modules, &body.module);
		code_bytes_function(&r->own, &body.function, &body.variables);
		share_reader_end(r);
		if (body.function)
			code_store_add(job->code, body.module, body.function, body.variables);
	}
	return r->in.is_bad ? share_reader_refuse(r, "machine code", err) : 0;
}

int share_to_job(const struct share *share, struct job *job, struct pdb_error *err)
{
	struct share_reader r;

	share_reader_init(&r, share);
	r.stacks = share_reader_by_item(&r, SHARE_SAMPLES, sizeof(*r.stacks));
	job->taken_real_ns = share->taken_real_ns;
	job->look_seconds = share->look_seconds;
	int status = read_models(&r, job, err);
	if (status == 0)
		status = read_each(&r, job, SHARE_SAMPLES, share_read_sample, err);
	if (status == 0)
		status = read_each(&r, job, SHARE_HOLES, read_hole, err);
	if (status == 0)
		status = read_each(&r, job, SHARE_USAGE, read_usage, err);
	if (status == 0)
		status = share_read_names(&r, job, err);
	if (status == 0)
		status = read_code(&r, job, err);
	if (status == 0)
		status = share_read_traces(&r, job->model, err);
	share_reader_deinit(&r);
	return status;
}
