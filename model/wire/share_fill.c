/* SPDX-License-Identifier: BSD-3-Clause
 * From a job to columns: which items a rank has. What is in them share_items.h tells. */

#include "model/job/callpath.h"
#include "model/job/code_store.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/usage.h"
#include "model/trace/trace.h"
#include "model/wire/code_bytes.h"
#include "model/wire/queue_bytes.h"
#include "model/wire/share_items.h"
#include "model/wire/usage_bytes.h"
#include "model/wire/variable_bytes.h"

struct filler {
	struct share *share;
	struct job *job;             /* putting changes nothing of it */
	const struct rankset *ranks; /* NULL: all */
	unsigned int parts;
	struct buffer item; /* being put together */
	struct codec codec; /* to it */
	/* The row that is being put together, of the rank and column at hand. */
	uint32_t *row;
	size_t num_row, row_capacity;
	/* Of the rank at hand: where each different list of ranks begins. */
	struct list {
		uint32_t first, num;
	} * lists;
	size_t num_lists, lists_capacity;
};

/* The item at hand is complete: add it to the row of this column. */
static void end_item(struct filler *f, enum share_column_id id)
{
	*XPUSH(f->row, f->num_row, f->row_capacity) =
		share_column_add_item(&f->share->columns[id], id, f->item.bytes, f->item.num);
	f->item.num = 0;
}

/* The row is complete: it is that of `rank`. */
static void end_row(struct filler *f, enum share_column_id id, int rank)
{
	share_column_add(&f->share->columns[id], rank, f->row, f->num_row);
	f->num_row = 0;
}

/* ---- Evidence ---- */

/* How an item names a list. */
static uint32_t find_list(struct filler *f, const struct model *model, uint32_t first, uint32_t num)
{
	size_t size = num * sizeof(*model->members);
	uint32_t i;

	if (first == SEG_NO_MEMBERS)
		return SHARE_NO_MEMBERS;
	if (first == SEG_ALL_MEMBERS)
		return SHARE_ALL_MEMBERS;
	if (num == 1 && model_members(model, first)[0] == model->rank)
		return SHARE_OWN_MEMBER;
	for (i = 0; i < f->num_lists; i++) {
		const struct list *list = &f->lists[i];

		if (list->num == num && (num == 0 || list->first == first ||
					 memcmp(model_members(model, list->first),
						model_members(model, first), size) == 0))
			return SHARE_FIRST_LIST + i;
	}
	*XPUSH(f->lists, f->num_lists, f->lists_capacity) = (struct list){first, num};
	return SHARE_FIRST_LIST + i;
}

static void add_comms(struct filler *f, const struct model *model, int rank)
{
	uint64_t self = model->num_comms > 1 ? model_comm(model, 1)->id : 0;

	f->num_lists = 0;
	for (size_t i = 0; i < model->num_comms; i++) {
		struct model_comm comm = *model_comm(model, i);
		uint32_t lists[SHARE_COMM_LISTS] = {
			find_list(f, model, comm.members, comm.size),
			find_list(f, model, comm.remote_members, comm.remote_size),
			find_list(f, model, comm.sources, comm.num_sources),
			comm.num_destinations
				? find_list(f, model, comm.destinations, comm.num_destinations)
				: SHARE_NO_MEMBERS,
		};

		if (self && comm.id == self)
			comm.id = SHARE_SELF_ID;
		if (self && comm.parent_id == self)
			comm.parent_id = SHARE_SELF_ID;
		share_item_comm(&f->codec, model, &comm, lists);
		end_item(f, SHARE_COMMS);
	}
	end_row(f, SHARE_COMMS, rank);
	for (size_t i = 0; i < f->num_lists; i++) {
		const int32_t *members = model_members(model, f->lists[i].first);

		buffer_put(&f->item, f->lists[i].num);
		share_item_members(&f->codec, (int32_t *)members, f->lists[i].num);
		end_item(f, SHARE_LISTS);
	}
	end_row(f, SHARE_LISTS, rank);
}

static void add_evidence(struct filler *f, struct model *model, int rank)
{
	add_comms(f, model, rank);
	for (size_t i = 0; i < model->num_comms; i++) {
		/* Where all are members the rank is mostly the world's. */
		bool is_all = model_comm(model, i)->members == SEG_ALL_MEMBERS;
		int32_t own = model_comm_rank(model, i) - (is_all ? model->rank : 0);

		share_item_comm_rank(&f->codec, &own);
	}
	if (model->num_comms)
		end_item(f, SHARE_COMM_RANKS);
	end_row(f, SHARE_COMM_RANKS, rank);
	for (size_t i = 0; i < model->num_comms; i++) {
		share_item_collectives(&f->codec, (struct model_comm *)model_comm(model, i));
		end_item(f, SHARE_COLLECTIVES);
	}
	end_row(f, SHARE_COLLECTIVES, rank);
	if (model->num_requests) {
		share_item_requests(&f->codec, model);
		end_item(f, SHARE_REQUESTS);
	}
	end_row(f, SHARE_REQUESTS, rank);
}

/* ---- Ranks ---- */

struct rank {
	int rank;
	struct model *model;
};

static void put_trace(struct buffer *b, const struct model_lane *lane)
{
	buffer_put(b, lane->trace        ? SHARE_TRACE_IS_THERE
		      : lane->trace_note ? SHARE_TRACE_NOTE
					 : SHARE_TRACE_NONE);
	if (lane->trace)
		trace_encode(lane->trace, b);
	else if (lane->trace_note)
		buffer_put_text(b, lane->trace_note);
}

/* Columns of which each lane has an item; `lanes` are those of the model. */
static void add_lanes(struct filler *f, const struct rank *rank, const struct job_lane *lanes,
		      enum share_column_id first, enum share_column_id last)
{
	for (enum share_column_id id = first; id <= last; id++) {
		for (size_t l = 0; l < rank->model->num_lanes; l++) {
			if (id == SHARE_LOOKS)
				share_item_look(&f->codec, (struct job_lane *)&lanes[l]);
			else if (id == SHARE_TRACE_COLUMN)
				put_trace(&f->item, &rank->model->lanes[l]);
			else
				share_lane_item_of(id)(&f->codec, rank->model,
						       &rank->model->lanes[l]);
			end_item(f, id);
		}
		end_row(f, id, rank->rank);
	}
}

static void add_rank(struct filler *f, const struct rank *rank, const struct job_lane *lanes)
{
	struct model *model = rank->model;
	struct share_program program = {model->program, model->size, model->thread_level,
					model->uid, model->life};

	share_item_process(&f->codec, model, rank->rank);
	end_item(f, SHARE_PROCESS);
	end_row(f, SHARE_PROCESS, rank->rank);
	if (f->parts & SHARE_ANSWERS) {
		share_item_shape(&f->codec, model);
		end_item(f, SHARE_SHAPE);
		end_row(f, SHARE_SHAPE, rank->rank);
		share_item_program(&f->codec, &program);
		end_item(f, SHARE_PROGRAM);
		end_row(f, SHARE_PROGRAM, rank->rank);
		add_evidence(f, model, rank->rank);
		add_lanes(f, rank, lanes, SHARE_LANES, SHARE_LOOKS);
	}
	if (f->parts & SHARE_TRACES)
		add_lanes(f, rank, lanes, SHARE_TRACE_COLUMN, SHARE_TRACE_COLUMN);
	if (!(f->parts & SHARE_DETAILS) || !model_has_details(model))
		return;
	/* By themselves they come with the states that they are details of. */
	if (!(f->parts & SHARE_ANSWERS))
		add_lanes(f, rank, lanes, SHARE_RING_STATES, SHARE_RING_STATES);
	add_lanes(f, rank, lanes, SHARE_RING_TIMES, SHARE_POLLS);
}

SORTED_BY(compare_ranks, struct rank, rank)

static bool is_wanted(const struct filler *f, int rank)
{
	return rank >= 0 && rank < SHARE_MAX_RANKS &&
	       (!f->ranks || rankset_contains(f->ranks, rank));
}

static void add_models(struct filler *f, const struct job_model *jm)
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

static bool has_variables(const struct sample *const *samples, size_t num)
{
	for (size_t i = 0; i < num; i++)
		if (samples[i]->variables)
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

/* Those of one rank. */
static void add_samples_of(struct filler *f, const struct sample *const *samples, size_t num)
{
	int rank = samples[0]->rank;

	for (size_t k = 0; k < num; k++) {
		share_item_stack(&f->codec, f->job, (struct sample *)samples[k]);
		end_item(f, SHARE_SAMPLES);
	}
	end_row(f, SHARE_SAMPLES, rank);
	for (size_t k = 0; k < num && !(f->parts & SHARE_STACKS_ONLY); k++) {
		share_item_sample_times(&f->codec, (struct sample *)samples[k]);
		end_item(f, SHARE_SAMPLE_TIMES);
	}
	end_row(f, SHARE_SAMPLE_TIMES, rank);
	for (size_t k = 0; k < num && has_values(samples, num); k++) {
		uint32_t depth = 0;

		for (size_t i = 0; i < samples[k]->num_values; i++)
			share_item_value(&f->codec, &samples[k]->values[i], &depth);
		end_item(f, SHARE_VALUES);
	}
	end_row(f, SHARE_VALUES, rank);
	for (size_t k = 0; k < num && has_queues(samples, num); k++) {
		struct message_queues *queues = samples[k]->queues;

		if (queues)
			queue_bytes(&f->codec, &queues, rank);
		end_item(f, SHARE_QUEUES);
	}
	end_row(f, SHARE_QUEUES, rank);
	for (size_t k = 0; k < num && has_variables(samples, num); k++) {
		struct variables *variables = samples[k]->variables;

		if (variables)
			variable_bytes(&f->codec, &variables);
		end_item(f, SHARE_VARIABLES);
	}
	end_row(f, SHARE_VARIABLES, rank);
}

static void add_samples(struct filler *f, const struct samples *samples)
{
	const struct sample **sorted =
		xreallocarray(NULL, samples->num_samples + 1, sizeof(*sorted));
	size_t num = 0;

	for (size_t i = 0; i < samples->num_samples; i++)
		if (is_wanted(f, samples->samples[i].rank) &&
		    (samples->samples[i].is_main || !(f->parts & SHARE_STACKS_ONLY)))
			sorted[num++] = &samples->samples[i];
	qsort(sorted, num, sizeof(*sorted), compare_samples);
	for (size_t i = 0, last; i < num; i = last) {
		for (last = i + 1; last < num && sorted[last]->rank == sorted[i]->rank;)
			last++;
		add_samples_of(f, sorted + i, last - i);
	}
	free(sorted);
}

static void add_holes(struct filler *f, const struct job *job)
{
	for (size_t i = 0; i < job->num_holes; i++) {
		struct job_hole hole = job->holes[i];

		if (!is_wanted(f, hole.rank))
			continue;
		share_item_hole(&f->codec, &hole);
		end_item(f, SHARE_HOLES);
		if (i + 1 == job->num_holes || job->holes[i + 1].rank != hole.rank)
			end_row(f, SHARE_HOLES, hole.rank);
	}
}

static void add_usage(struct filler *f, const struct usage *usage)
{
	for (size_t i = 0; i < usage->num_ranks; i++) {
		struct usage_rank *rank = &usage->ranks[i];
		const struct usage_node *node = usage_node(usage, rank);

		if (!is_wanted(f, rank->rank))
			continue;
		usage_bytes_rank(&f->codec, rank);
		end_item(f, SHARE_USAGE);
		if (node && node->rank == rank->rank) {
			usage_bytes_node(&f->codec, (struct usage_node *)node);
			end_item(f, SHARE_USAGE);
		}
		end_row(f, SHARE_USAGE, rank->rank);
	}
}

/* Frames in no module are of one process: nobody else can tell what is there. */
static void add_names(struct filler *f)
{
	struct job *job = f->job;

	for (size_t i = 0; i < callpaths_count(job->callpaths); i++) {
		const struct callpath_node *node = callpaths_get(job->callpaths, (uint32_t)i);
		const struct name *name = names_innermost(job->names, (uint32_t)i);
		struct share_frame frame = {node->offset, node->module, node->is_return};

		if (node->module == MODULE_NONE)
			continue;
		share_item_frame(&f->codec, job, &frame);
		for (; name; name = name->caller) {
			bool has_caller = name->caller != NULL;

			share_item_name(&f->codec, (struct name *)name, &has_caller);
		}
		end_item(f, SHARE_NAMES_COLUMN);
	}
	f->num_row = 0;
}

static void add_code(struct filler *f)
{
	for (size_t i = 0; i < code_store_count(f->job->code); i++) {
		struct code_body body = *code_store_get(f->job->code, i);

		code_bytes_module(&f->codec, f->job->modules, &body.module);
		code_bytes_function(&f->codec, &body.function, &body.variables);
		end_item(f, SHARE_CODE_COLUMN);
	}
	f->num_row = 0;
}

void share_fill(struct share *share, const struct job *job, const struct rankset *ranks,
		unsigned int parts)
{
	struct filler f = {
		.share = share,
		.job = (struct job *)job,
		.ranks = ranks,
		.parts = parts,
	};

	f.codec.to = &f.item;
	share->parts = parts;
	share->has_model = job->model != NULL;
	share->taken_real_ns = job->taken_real_ns;
	share->look_seconds = job->look_seconds;
	if (job->model)
		add_models(&f, job->model);
	if (parts & SHARE_ANSWERS) {
		add_samples(&f, job->samples);
		add_holes(&f, job);
		if (job->usage)
			add_usage(&f, job->usage);
	}
	if (parts & SHARE_NAMES)
		add_names(&f);
	if (parts & SHARE_CODE)
		add_code(&f);
	free(f.item.bytes);
	free(f.row);
	free(f.lists);
}
