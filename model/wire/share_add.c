/* SPDX-License-Identifier: BSD-3-Clause
 * What a share adds to the lanes of a job: details and traces. */

#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/wire/share_read.h"
#include "model/trace/trace.h"

struct adder {
	struct share_reader *reader;
	struct job_model *jm;
	struct trace **traces; /* [items] that were read, since many ranks have the same */
};

static struct trace *read_trace(struct adder *a, uint32_t item)
{
	struct decoder *in = &a->reader->in;
	size_t size = (size_t)(in->end - in->at);

	/* An element takes two bytes at least, and eight in memory; a body one, and 16. */
	if (!a->traces[item] && decoder_charge(in, size + 1, 2 * sizeof(struct trace_body)))
		a->traces[item] = trace_decode(in->at, size, TRACE_LOOP, NULL);
	in->at = in->end;
	in->is_bad = in->is_bad || !a->traces[item];
	return a->traces[item];
}

static void give_trace(struct adder *a, size_t index, struct trace *trace)
{
	struct pdb_error err;

	if (!trace)
		return;
	if (model_validate_trace(a->jm->lanes[index].model, trace, &err) < 0)
		job_model_set_trace(a->jm, index, NULL, err.text);
	else
		job_model_set_trace(a->jm, index, trace_share(trace), NULL);
}

static void add_lane(struct adder *a, size_t index)
{
	const struct job_lane *lane = &a->jm->lanes[index];
	struct share_reader *r = a->reader;
	uint32_t item = share_reader_begin(r, SHARE_TRACE_COLUMN, lane->rank, (size_t)lane->lane);
	uint64_t what = decoder_take_below(&r->in, SHARE_TRACE_NOTE);
	char *note;

	if (what == SHARE_TRACE_IS_THERE && !r->in.is_bad) {
		give_trace(a, index, read_trace(a, item));
	} else if (what == SHARE_TRACE_NOTE) {
		note = decoder_take_text(&r->in);
		if (!r->in.is_bad)
			job_model_set_trace(a->jm, index, NULL, note);
		free(note);
	}
	share_reader_end(r);
}

int share_read_traces(struct share_reader *r, struct job_model *jm, struct pdb_error *err)
{
	size_t num_items = r->share->columns[SHARE_TRACE_COLUMN].items.num;
	struct adder a = {r, jm,
			  share_reader_by_item(r, SHARE_TRACE_COLUMN, sizeof(struct trace *))};
	int status = 0;

	for (size_t i = 0; jm && i < jm->num_lanes && status == 0; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		if (share_reader_count(r, SHARE_TRACE_COLUMN, lane->rank, SHARE_MAX_ITEMS) <=
		    (size_t)lane->lane)
			continue; /* it was not asked for */
		add_lane(&a, i);
		if (r->in.is_bad)
			status = share_reader_refuse(r, "traces", err);
	}
	for (size_t i = 0; i < num_items; i++)
		trace_destroy(a.traces[i]);
	return status;
}

/* ---- Details ---- */

/* False: they are of different moments. */
static bool is_same_ring(const struct model_lane *a, const struct model_lane *b)
{
	if (a->num_ring != b->num_ring)
		return false;
	for (size_t i = 0; i < a->num_ring; i++)
		if (a->ring[i].state != b->ring[i].state)
			return false;
	return true;
}

static int add_details(struct share_reader *r, struct job_model *jm, struct pdb_error *err)
{
	for (size_t i = 0; jm && i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];
		struct model_lane details = {0};

		if (!share_has_details(r, (size_t)lane->lane, lane->rank))
			continue;
		share_read_details(r, lane->model, &details, (size_t)lane->lane, lane->rank);
		if (!r->in.is_bad && is_same_ring(&details, lane->data))
			job_model_swap_details(jm, i, &details);
		model_lane_free_details(&details);
		if (r->in.is_bad)
			return share_reader_refuse_rank(r, lane->rank, err);
	}
	return 0;
}

int share_add(const struct share *share, struct job *job, struct pdb_error *err)
{
	struct share_reader reader;

	share_reader_init(&reader, share);
	int status = add_details(&reader, job->model, err);
	if (status == 0)
		status = share_read_traces(&reader, job->model, err);
	share_reader_deinit(&reader);
	return status;
}
