/* SPDX-License-Identifier: BSD-3-Clause
 * The traces of a segment's lanes. One that cannot be had leaves a note, and the rest of the model
 * is as good without it. */

#include "model/job/model.h"
#include "model/segment/segment_private.h"
#include "model/trace/trace.h"

struct source {
	int fd;
	uint64_t at; /* in the file */
};

static int read_source(void *from, void *to, size_t size, uint64_t offset, struct pdb_error *err)
{
	const struct source *source = from;

	return segment_pread(source->fd, to, size, source->at + offset, err);
}

/* Keep the trace out, and say why. */
static void refuse(struct model_lane *lane, const char *why)
{
	trace_destroy(lane->trace);
	lane->trace = NULL;
	free(lane->trace_note);
	lane->trace_note = xstrdup(why);
}

static uint64_t storage_of(const struct trace *trace)
{
	return sizeof(*trace) + trace->num * sizeof(*trace->sequence) +
	       trace->num_bodies * sizeof(*trace->bodies) +
	       trace->num_elements * sizeof(*trace->elements);
}

void reader_read_trace(struct reader *r, size_t number)
{
	struct model_lane *lane = &r->model->lanes[number];
	const struct seg_lane *head = &r->raw[number].head;
	struct source source = {r->fd, reader_lane_base(r, number) + head->trace_offset};
	struct pdb_error err = {.code = ERROR_NONE}, *reader_err = r->err;

	if (!(r->header.features & SEG_FEATURE_TRACE) || head->trace_offset == 0)
		return;
	if (head->trace_size > SEG_MAX_TRACE || head->trace_offset > r->header.lane_size ||
	    head->trace_size > r->header.lane_size - head->trace_offset) {
		refuse(lane, "the trace is corrupt: beyond its lane");
		return;
	}
	/* Which symbols there are is known when the tables have been read. */
	lane->trace =
		trace_copy(read_source, &source, head->trace_size, r->budget, TRACE_LOOP, &err);
	r->err = &err;
	if (!lane->trace || reader_spend(r, storage_of(lane->trace)) < 0)
		refuse(lane, err.text);
	r->err = reader_err;
}

void reader_finish_trace(struct reader *r, size_t number)
{
	struct model_lane *lane = &r->model->lanes[number];
	struct pdb_error err;

	if (lane->trace && model_validate_trace(r->model, lane->trace, &err) < 0)
		refuse(lane, err.text);
}
