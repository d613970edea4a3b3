/* SPDX-License-Identifier: BSD-3-Clause
 * The traces of a snapshot. Many ranks have the same one: each is there once. */
#include <stdlib.h>
#include <string.h>

#include "model/wire/blobs.h"
#include "model/buffer.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/wire/snapshot_private.h"
#include "model/trace/trace.h"
#include "model/xalloc.h"

/* ---- Saving ---- */

static bool has_traces(const struct job_model *jm)
{
	for (size_t i = 0; jm && i < jm->num_lanes; i++)
		if (jm->lanes[i].data->trace || jm->lanes[i].data->trace_note)
			return true;
	return false;
}

static void put_text(struct buffer *b, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	buffer_put(b, length);
	buffer_put_bytes(b, text, length);
}

/* The number of the trace, plus one; 0: there is none, or no room for it. */
static uint32_t add(struct blobs *traces, const struct trace *trace)
{
	struct buffer bytes = {0};
	uint32_t number = 0;

	trace_encode(trace, &bytes);
	if (traces->num_bytes + bytes.num <= SNAPSHOT_MAX_TRACES)
		number = blobs_intern(traces, bytes.bytes, bytes.num) + 1;
	free(bytes.bytes);
	return number;
}

static void put_lane(struct buffer *b, struct blobs *traces, const struct model_lane *lane)
{
	uint32_t number = lane->trace ? add(traces, lane->trace) : 0;

	buffer_put(b, number);
	if (lane->trace && !number)
		put_text(b, "there was no room for the trace in the snapshot");
	else
		put_text(b, lane->trace_note);
}

bool snapshot_put_traces(struct buffer *b, const struct job_model *jm)
{
	struct buffer lanes = {0};
	struct blobs traces = {0};

	if (!has_traces(jm))
		return false;
	for (size_t i = 0; i < jm->num_lanes; i++)
		put_lane(&lanes, &traces, jm->lanes[i].data);
	buffer_put(b, traces.num);
	for (uint32_t i = 0; i < traces.num; i++) {
		size_t size;
		const uint8_t *bytes = blobs_get(&traces, i, &size);

		buffer_put(b, size);
		buffer_put_bytes(b, bytes, size);
	}
	buffer_put(b, jm->num_lanes);
	buffer_put_bytes(b, lanes.bytes, lanes.num);
	free(lanes.bytes);
	blobs_deinit(&traces);
	return true;
}

/* ---- Loading ---- */

static struct trace *take_trace(struct snapshot_input *in)
{
	size_t size = input_take_count(in, UINT32_MAX, 1);
	const uint8_t *bytes = input_take_bytes(in, size);
	struct trace *trace;

	/* An element takes two bytes at least, and eight in memory; a body one, and 16. */
	if (!bytes || !input_charge(in, size + 1, 2 * sizeof(struct trace_body)))
		return NULL;
	trace = trace_decode(bytes, size, TRACE_LOOP, NULL);
	in->is_bad = in->is_bad || !trace;
	return trace;
}

static void take_lane(struct snapshot_input *in, struct job_model *jm, size_t lane,
		      struct trace *const *traces, size_t num)
{
	uint32_t number = input_take_index(in, num);
	char *note = input_copy_text(in);
	struct trace *trace = number < num ? traces[number] : NULL;

	if (trace && !in->is_bad && model_validate_trace(jm->lanes[lane].model, trace, NULL) < 0)
		in->is_bad = true;
	if (!in->is_bad)
		job_model_set_trace(jm, lane, trace_share(trace), *note ? note : NULL);
	free(note);
}

void snapshot_take_traces(struct snapshot_input *in, struct job_model *jm)
{
	size_t num = input_take_count(in, UINT32_MAX, 2), num_lanes;
	struct trace **traces = input_allocate(in, num, sizeof(*traces));

	if (in->is_bad)
		num = 0; /* nothing may have been allocated */
	for (size_t i = 0; i < num && !in->is_bad; i++)
		traces[i] = take_trace(in);
	num_lanes = input_take_count(in, UINT32_MAX, 2);
	if (!jm || num_lanes != jm->num_lanes)
		in->is_bad = true;
	for (size_t i = 0; i < num_lanes && !in->is_bad; i++)
		take_lane(in, jm, i, traces, num);
	for (size_t i = 0; i < num; i++)
		trace_destroy(traces[i]);
	free(traces);
}
