/* SPDX-License-Identifier: BSD-3-Clause
 * Copy a segment. Nothing in it is trusted: all is read into own memory and then checked. */
#include <sys/stat.h>

#include "model/budget.h"
#include "model/job/model.h"
#include "model/segment/segment_reader.h"
#include "model/segment/segment_private.h"

static struct reader reader_of(int fd, struct model *model, struct pdb_error *err)
{
	/* Tries for all sequence locks of a segment together. */
	enum { RETRIES = 20000, NAPS = 50 };

	return (struct reader){
		.fd = fd, .retries = RETRIES, .naps = NAPS, .model = model, .err = err};
}

int reader_begin(struct reader *r, size_t *num_ret)
{
	const struct seg_header *h = &r->header;
	uint64_t num = h->num_lanes;
	struct stat st;

	if (fstat(r->fd, &st) < 0)
		return error_errno(r->err, "the segment");
	r->file_size = (uint64_t)st.st_size;
	r->model->bytes = (uint64_t)st.st_blocks * 512;
	/* What is only claimed has no room in the file: such tables are holes. */
	r->budget = budget_stored(r->model->bytes);
	if (num > SEG_MAX_LANES)
		return READER_CORRUPT(r, "%llu lanes", (unsigned long long)num);
	if (num && (h->lane_offset > r->file_size || h->lane_size > r->file_size ||
		    num > (r->file_size - h->lane_offset) / h->lane_size))
		return error_set(r->err, ERROR_FORMAT,
				 "the segment is truncated: lanes beyond its end");
	*num_ret = num;
	return 0;
}

static void fill_identity(struct reader *r, const struct segment_clock *clock)
{
	const struct seg_header *h = &r->header;
	struct model *model = r->model;

	model->rank = h->rank;
	model->size = h->size;
	model->pid = h->pid;
	model->pid_start = h->pid_start;
	model->uid = h->uid;
	model->life = h->life;
	model->thread_level = h->thread_level;
	memcpy(model->program->host, h->host, sizeof(model->program->host));
	memcpy(model->program->job, h->job, sizeof(model->program->job));
	memcpy(model->program->mpi_library, h->mpi_library, sizeof(model->program->mpi_library));
	memcpy(model->program->executable, h->executable, sizeof(model->program->executable));
	model->now_ns = clock->now_ns;
	model->now_real_ns = clock->now_real_ns;
	model->program->dropped_strings = h->tables[SEG_TABLE_STRINGS].dropped;
	model->program->dropped_modules = h->tables[SEG_TABLE_MODULES].dropped;
	model->program->dropped_frames = h->tables[SEG_TABLE_FRAMES].dropped;
	model->program->dropped_sites = h->tables[SEG_TABLE_SITES].dropped;
	model->program->dropped_lanes = h->dropped_lanes;
	model->full_unwinds = h->full_unwinds;
	model->abandoned = h->abandoned;
}

static uint64_t last_ticks(const struct reader *r)
{
	uint64_t last = 0;

	for (size_t i = 0; i < r->model->num_lanes; i++) {
		const struct seg_current *current = &r->raw[i].current;

		if (current->since > last)
			last = current->since;
		if (current->poll_site && current->poll_ticks > last)
			last = current->poll_ticks;
	}
	return last;
}

/* Now that requests and communicators have been copied too. */
static int take_last_events(struct reader *r)
{
	for (size_t i = 0; i < r->model->num_lanes; i++) {
		struct seg_current current;
		bool is_whole;

		if (reader_read_current(r, reader_lane_base(r, i), &current, &is_whole) < 0)
			return -1;
		r->model->lanes[i].last_events = current.events;
	}
	return 0;
}

/* Lanes before tables: then every site that a lane names has been counted. */
static int read_all(struct reader *r)
{
	struct segment_clock clock;
	size_t num_lanes;

	if (segment_read_header(r->fd, &r->header, r->err) < 0 || reader_begin(r, &num_lanes) < 0)
		return -1;
	if (reader_spend(r, num_lanes * (sizeof(*r->raw) + sizeof(*r->model->lanes))) < 0)
		return -1;
	r->raw = arena_array(r->arena, num_lanes, sizeof(*r->raw));
	r->model->lanes = xcalloc(num_lanes, sizeof(*r->model->lanes));
	r->model->num_lanes = num_lanes;
	for (size_t i = 0; i < num_lanes; i++) {
		if (reader_read_lane(r, i) < 0)
			return error_prefix(r->err, "lane %zu", i);
		reader_read_trace(r, i);
	}
	segment_clock_init(&clock, &r->header, last_ticks(r));
	if (reader_read_evidence(r) < 0 || take_last_events(r) < 0 || reader_read_tables(r) < 0 ||
	    reader_finish_evidence(r, &clock) < 0)
		return -1;
	fill_identity(r, &clock);
	for (size_t i = 0; i < num_lanes; i++) {
		if (reader_finish_lane(r, i, &clock) < 0)
			return -1;
		reader_finish_trace(r, i);
	}
	return model_validate(r->model, r->err);
}

int segment_read(int fd, struct model **model_ret, struct pdb_error *err)
{
	struct reader r = reader_of(fd, model_create(), err);

	r.arena = arena_create();
	int status = read_all(&r);
	for (size_t i = 0; r.raw && i < r.model->num_lanes; i++) {
		arena_destroy(r.raw[i].arena);
		free(r.raw[i].waited);
	}
	arena_destroy(r.arena);
	if (status < 0)
		model_destroy(r.model);
	else
		*model_ret = r.model;
	return status;
}

int segment_look(int fd, struct segment_look *looks, int max, struct pdb_error *err)
{
	struct model unused = {0};
	struct reader r = reader_of(fd, &unused, err);
	size_t num;

	if (segment_read_header(fd, &r.header, err) < 0 || reader_begin(&r, &num) < 0)
		return -1;
	for (size_t i = 0; i < num && i < (size_t)(max > 0 ? max : 0); i++) {
		struct seg_current current;
		bool is_whole;

		if (reader_read_current(&r, reader_lane_base(&r, i), &current, &is_whole) < 0)
			return -1;
		looks[i] = (struct segment_look){
			.events = current.events,
			.polls = current.polls,
			.state = current.state,
		};
	}
	return (int)num;
}
