/* SPDX-License-Identifier: BSD-3-Clause
 * Copy a segment. Nothing in it is trusted: all is read by pread into own memory, bounded by the
 * limits of the format, by the file's true size and by a budget, and then checked. */
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/error.h"
#include "model/model.h"
#include "model/segment_private.h"
#include "model/segment_reader.h"
#include "model/xalloc.h"

enum {
	ENTRY_SIZE_MAX = 4096,
	LANE_ATTEMPTS = 5,
	LOCK_ATTEMPTS = 200,
};

/* All that one segment may make the reader allocate: 64 lanes with the largest ring. */
static const uint64_t budget_max = 2ull << 30;

struct reader {
	int fd;
	uint64_t file_size;
	uint64_t budget; /* bytes left */
	struct seg_header header;
	struct model *model;
	struct raw_lane *raw; /* [model->num_lanes] */
	struct pdb_error *err;
};

/* The words of struct seg_current, out of the segment. */
struct current {
	uint32_t seq, state, poll_site, in_poll;
	uint64_t since, events, polls, poll_ticks;
};

/* What a lane holds besides its model_lane while that still has ticks in place of times. */
struct raw_lane {
	struct seg_lane head;
	struct current current;
	struct seg_state *states;
	size_t num_states;
};

/* ---- Reading --------------------------------------------------------------------------------- */

static int spend(struct reader *r, uint64_t bytes)
{
	if (bytes > r->budget)
		return error_set(r->err, ERROR_FORMAT, "the segment claims too much data");
	r->budget -= bytes;
	return 0;
}

/* Check that `count` entries of a table lie within [offset, offset + room) of the file. */
static int check_table(struct reader *r, const char *name, const struct seg_table *table,
		       uint64_t count, uint64_t most, size_t entry_size, uint64_t room)
{
	if (table->entry_size < entry_size || table->entry_size > ENTRY_SIZE_MAX)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %s of %u bytes", name,
				 table->entry_size);
	if (count > table->capacity || table->capacity > most)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %llu of %u %s",
				 (unsigned long long)count, table->capacity, name);
	if (table->offset > room || count * table->entry_size > room - table->offset)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %s beyond its end",
				 name);
	return 0;
}

/* Copy entries [first, first + count) of a checked table whose entry 0 is at `base` of the file,
 * to[] having the size that is known here. */
static int copy_entries(struct reader *r, uint64_t base, const struct seg_table *table,
			uint64_t first, uint64_t count, void *to, size_t entry_size)
{
	uint64_t from = base + first * table->entry_size;
	char *raw;
	int status;

	if (count == 0)
		return 0;
	if (table->entry_size == entry_size)
		return segment_pread(r->fd, to, count * entry_size, from, r->err);
	if (spend(r, count * table->entry_size) < 0)
		return -1;
	raw = xmalloc(count * table->entry_size);
	status = segment_pread(r->fd, raw, count * table->entry_size, from, r->err);
	for (uint64_t i = 0; status == 0 && i < count; i++)
		memcpy((char *)to + i * entry_size, raw + i * table->entry_size, entry_size);
	free(raw);
	return status;
}

/* ---- Lanes ----------------------------------------------------------------------------------- */

static uint64_t lane_base(const struct seg_header *h, size_t lane)
{
	return h->lane_offset + lane * h->lane_size;
}

/* The number of lanes, all of them inside the file. Taken before anything else, and the size of the
 * file after it: both only grow, the size first. */
static int count_lanes(struct reader *r, size_t *num_ret)
{
	const struct seg_header *h = &r->header;
	uint64_t num = h->num_lanes;
	struct stat st;

	if (fstat(r->fd, &st) < 0)
		return error_errno(r->err, "the segment");
	r->file_size = (uint64_t)st.st_size;
	r->model->bytes = (uint64_t)st.st_blocks * 512;
	if (num > SEG_MAX_LANES)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %llu lanes",
				 (unsigned long long)num);
	if (num && (h->lane_offset > r->file_size || h->lane_size > r->file_size ||
		    num > (r->file_size - h->lane_offset) / h->lane_size))
		return error_set(r->err, ERROR_FORMAT, "the segment is truncated: lanes beyond its end");
	*num_ret = num;
	return 0;
}

/* One try to read the words that must agree; false: the writer was in the middle of them. The
 * words are taken all the same, for a writer that died or was stopped there. */
static int try_current(struct reader *r, uint64_t base, struct current *ret, bool *is_whole)
{
	uint64_t at = base + offsetof(struct seg_lane, current);
	struct seg_current words;
	uint32_t before, after;

	if (segment_pread(r->fd, &before, sizeof(before), at, r->err) < 0)
		return -1;
	/* Pairs with the writer's release fence after it has made seq odd. */
	atomic_thread_fence(memory_order_acquire);
	if (segment_pread(r->fd, &words, sizeof(words), at, r->err) < 0)
		return -1;
	atomic_thread_fence(memory_order_acquire);
	if (segment_pread(r->fd, &after, sizeof(after), at, r->err) < 0)
		return -1;
	*is_whole = before == after && !(before & 1);
	*ret = (struct current){
		.seq = before,
		.state = words.state,
		.since = words.since,
		.events = words.events,
		.poll_site = words.poll_site,
		.in_poll = words.in_poll,
		.polls = words.polls,
		.poll_ticks = words.poll_ticks,
	};
	return 0;
}

static int read_current(struct reader *r, uint64_t base, struct current *ret, bool *is_whole)
{
	*is_whole = false;
	for (int i = 0; i < LOCK_ATTEMPTS && !*is_whole; i++) {
		if (i >= LOCK_ATTEMPTS / 2)
			sched_yield();
		if (try_current(r, base, ret, is_whole) < 0)
			return -1;
	}
	return 0;
}

static int copy_transitions(struct reader *r, uint64_t base, const struct seg_table *table,
			    struct model_lane *lane)
{
	uint64_t count = table->count;
	struct seg_transition *raw;
	size_t kept = 0;
	int status;

	if (check_table(r, "transitions", table, count, SEG_MAX_TRANSITIONS, sizeof(*raw),
			r->header.lane_size) < 0 ||
	    spend(r, count * (sizeof(*raw) + sizeof(*lane->transitions))) < 0)
		return -1;
	raw = xmalloc(count * sizeof(*raw));
	status = copy_entries(r, base + table->offset, table, 0, count, raw, sizeof(*raw));
	lane->transitions = xreallocarray(lane->transitions, count, sizeof(*lane->transitions));
	for (uint64_t i = 0; status == 0 && i < count; i++) {
		/* One that has just been published may not have been made yet. */
		if (raw[i].count == 0)
			continue;
		lane->transitions[kept++] = (struct model_transition){
			.from = raw[i].from,
			.to = raw[i].to,
			.count = raw[i].count,
		};
	}
	lane->num_transitions = kept;
	free(raw);
	return status;
}

/* The ring as of `events`, oldest first, with ticks in place of times. */
static int copy_ring(struct reader *r, uint64_t base, const struct seg_table *table,
		     uint64_t events, struct model_lane *lane)
{
	uint64_t capacity = table->capacity, num = events < capacity ? events : capacity;
	uint64_t first, head;
	struct seg_event *raw;
	int status;

	if (check_table(r, "ring entries", table, capacity, SEG_MAX_RING, sizeof(*raw),
			r->header.lane_size) < 0)
		return -1;
	if (capacity == 0 || (capacity & (capacity - 1)))
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: a ring of %u entries",
				 table->capacity);
	if (spend(r, num * (sizeof(*raw) + sizeof(*lane->ring))) < 0)
		return -1;
	first = (events - num) & (capacity - 1);
	head = num < capacity - first ? num : capacity - first;
	raw = xmalloc(num * sizeof(*raw));
	status = copy_entries(r, base + table->offset, table, first, head, raw, sizeof(*raw));
	if (status == 0)
		status = copy_entries(r, base + table->offset, table, 0, num - head, raw + head,
				      sizeof(*raw));
	lane->ring = xreallocarray(lane->ring, num, sizeof(*lane->ring));
	lane->num_ring = num;
	for (uint64_t i = 0; status == 0 && i < num; i++)
		lane->ring[i] = (struct model_event){ .ns = raw[i].ticks, .state = raw[i].state };
	free(raw);
	return status;
}

static void drop_oldest(struct model_lane *lane, uint64_t num)
{
	if (num > lane->num_ring)
		num = lane->num_ring;
	lane->num_ring -= num;
	memmove(lane->ring, lane->ring + num, lane->num_ring * sizeof(*lane->ring));
}

/* One copy of all that a lane holds. */
static int try_lane(struct reader *r, uint64_t base, struct model_lane *lane, struct raw_lane *raw)
{
	const struct seg_table *tables = raw->head.tables;
	struct current after;
	bool is_whole, was_whole;
	uint64_t num_states;
	uint32_t num_sites;

	if (read_current(r, base, &raw->current, &was_whole) < 0 ||
	    segment_pread(r->fd, &raw->head, sizeof(raw->head), base, r->err) < 0 ||
	    copy_transitions(r, base, &tables[SEG_LANE_TRANSITIONS], lane) < 0 ||
	    copy_ring(r, base, &tables[SEG_LANE_RING], raw->current.events, lane) < 0)
		return -1;
	/* Statistics of the sites that there are by now. */
	if (segment_pread(r->fd, &num_sites, sizeof(num_sites),
			  offsetof(struct seg_header, tables[SEG_TABLE_SITES].count), r->err) < 0)
		return -1;
	num_states = 2 * (uint64_t)num_sites;
	if (num_states > tables[SEG_LANE_STATES].capacity)
		num_states = tables[SEG_LANE_STATES].capacity;
	if (check_table(r, "states", &tables[SEG_LANE_STATES], num_states, 2 * SEG_MAX_SITES,
			sizeof(*raw->states), r->header.lane_size) < 0 ||
	    spend(r, num_states * sizeof(*raw->states)) < 0)
		return -1;
	raw->states = xreallocarray(raw->states, num_states, sizeof(*raw->states));
	raw->num_states = num_states;
	if (copy_entries(r, base + tables[SEG_LANE_STATES].offset, &tables[SEG_LANE_STATES], 0,
			 num_states, raw->states, sizeof(*raw->states)) < 0 ||
	    read_current(r, base, &after, &is_whole) < 0)
		return -1;
	/* Another `since` with the same events: a new thread has taken the lane. */
	lane->is_consistent = was_whole && is_whole && after.events == raw->current.events &&
			      after.since == raw->current.since;
	if (lane->is_consistent) {
		/* Polls may have gone on; they touch nothing that was copied. */
		raw->current = after;
	} else if (after.events + 1 > tables[SEG_LANE_RING].capacity) {
		/* Entry e has been overwritten, or is just being, once e + capacity <= events. */
		uint64_t valid_from = after.events + 1 - tables[SEG_LANE_RING].capacity;
		uint64_t oldest = raw->current.events - lane->num_ring;

		if (valid_from > oldest)
			drop_oldest(lane, valid_from - oldest);
	}
	return 0;
}

static int read_lane(struct reader *r, size_t number)
{
	struct model_lane *lane = &r->model->lanes[number];
	uint64_t budget = r->budget;

	for (int i = 0; i < LANE_ATTEMPTS; i++) {
		r->budget = budget;
		if (try_lane(r, lane_base(&r->header, number), lane, &r->raw[number]) < 0)
			return -1;
		if (lane->is_consistent)
			break;
	}
	return 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Tables refer to earlier ones only: sites to frames and strings, frames to modules, modules to
 * strings. So counts are read in the opposite order, and each covers what the one before needs. */
static int read_counts(struct reader *r)
{
	static const enum seg_table_id order[] = { SEG_TABLE_SITES, SEG_TABLE_FRAMES,
						   SEG_TABLE_MODULES, SEG_TABLE_STRINGS };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		struct seg_table table;

		if (segment_pread(r->fd, &table, sizeof(table),
				  offsetof(struct seg_header, tables) + order[i] * sizeof(table),
				  r->err) < 0)
			return -1;
		r->header.tables[order[i]] = table;
		atomic_thread_fence(memory_order_acquire);
	}
	return 0;
}

/* A table of the header, into a new array; NULL and an error. */
static void *copy_table(struct reader *r, enum seg_table_id id, const char *name, uint32_t most,
			size_t entry_size, size_t *num_ret)
{
	const struct seg_table *table = &r->header.tables[id];
	uint32_t count = table->count;
	void *entries;

	if (check_table(r, name, table, count, most, entry_size, r->file_size) < 0 ||
	    spend(r, (uint64_t)count * entry_size) < 0)
		return NULL;
	/* One more, for the last string's end. */
	entries = xcalloc(count + 1, entry_size);
	if (copy_entries(r, table->offset, table, 0, count, entries, entry_size) < 0) {
		free(entries);
		return NULL;
	}
	*num_ret = count;
	return entries;
}

static int read_strings(struct reader *r)
{
	struct model *model = r->model;

	if (r->header.tables[SEG_TABLE_STRINGS].entry_size != 1)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: strings of %u bytes",
				 r->header.tables[SEG_TABLE_STRINGS].entry_size);
	model->strings = copy_table(r, SEG_TABLE_STRINGS, "strings", SEG_MAX_STRINGS, 1,
				    &model->num_strings);
	if (!model->strings)
		return -1;
	model->num_strings++;
	segment_clean_text(model->strings, model->num_strings);
	return 0;
}

static int bad_entry(struct reader *r, const char *what, size_t index)
{
	return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: %s %zu", what, index);
}

static int read_modules(struct reader *r)
{
	struct model *model = r->model;
	struct seg_module *raw;
	size_t num;
	int status = 0;

	raw = copy_table(r, SEG_TABLE_MODULES, "modules", SEG_MAX_MODULES, sizeof(*raw), &num);
	if (!raw)
		return -1;
	model->modules = xcalloc(num, sizeof(*model->modules));
	for (size_t i = 0; i < num && status == 0; i++) {
		struct model_module *module = &model->modules[i];

		if (raw[i].path >= model->num_strings ||
		    raw[i].build_id_size > sizeof(module->build_id)) {
			status = bad_entry(r, "module", i);
			break;
		}
		module->path = xstrdup(model->strings + raw[i].path);
		module->build_id_size = raw[i].build_id_size;
		memcpy(module->build_id, raw[i].build_id, module->build_id_size);
		model->num_modules++;
	}
	free(raw);
	return status;
}

static int read_frames(struct reader *r)
{
	struct model *model = r->model;

	model->frames = copy_table(r, SEG_TABLE_FRAMES, "frames", SEG_MAX_FRAMES,
				   sizeof(*model->frames), &model->num_frames);
	if (!model->frames)
		return -1;
	for (size_t i = 0; i < model->num_frames; i++) {
		const struct seg_frame *frame = &model->frames[i];

		if ((frame->parent != SEG_NO_FRAME && frame->parent >= i) ||
		    (frame->module != SEG_NO_FRAME && frame->module >= model->num_modules))
			return bad_entry(r, "frame", i);
	}
	return 0;
}

static int read_sites(struct reader *r)
{
	struct model *model = r->model;
	struct seg_site *raw;
	size_t num;
	int status = 0;

	raw = copy_table(r, SEG_TABLE_SITES, "sites", SEG_MAX_SITES, sizeof(*raw), &num);
	if (!raw)
		return -1;
	if (num == 0 || raw[0].frame != SEG_NO_FRAME)
		status = error_set(r->err, ERROR_FORMAT, "the segment is corrupt: no site 0");
	model->sites = xcalloc(num, sizeof(*model->sites));
	for (size_t i = 0; i < num && status == 0; i++) {
		if ((raw[i].frame != SEG_NO_FRAME && raw[i].frame >= model->num_frames) ||
		    raw[i].name >= model->num_strings) {
			status = bad_entry(r, "site", i);
			break;
		}
		/* Values of later versions mean no more than "some MPI function" here. */
		model->sites[i] = (struct model_site){
			.frame = raw[i].frame,
			.name = model->strings + raw[i].name,
			.class_id = raw[i].class_id <= SEG_CLASS_ABORT ? raw[i].class_id :
									 SEG_CLASS_OTHER,
			.language = raw[i].language == SEG_LANGUAGE_FORTRAN ? SEG_LANGUAGE_FORTRAN :
									      SEG_LANGUAGE_C,
		};
		model->num_sites++;
	}
	free(raw);
	return status;
}

/* ---- From ticks and raw entries to the model ------------------------------------------------- */

/* Transitions that name states which do not exist tell nothing. */
static void check_transitions(struct model_lane *lane, uint32_t num_states)
{
	size_t kept = 0;

	for (size_t i = 0; i < lane->num_transitions; i++) {
		const struct model_transition *made = &lane->transitions[i];

		if (made->from < num_states && made->to < num_states)
			lane->transitions[kept++] = *made;
	}
	lane->num_transitions = kept;
}

/* Keep the part of the ring that this holder of the lane wrote and that makes sense. */
static void check_ring(struct model_lane *lane, const struct raw_lane *raw, uint32_t num_states)
{
	size_t from = lane->num_ring;
	uint64_t next = UINT64_MAX;

	while (from > 0) {
		const struct model_event *event = &lane->ring[from - 1];

		if (event->state >= num_states || event->ns > next ||
		    event->ns < raw->head.first_ticks)
			break;
		next = event->ns;
		from--;
	}
	drop_oldest(lane, from);
	/* A lane that a new thread has taken begins in state 1, with the old one's ring. */
	if (lane->num_ring && lane->ring[lane->num_ring - 1].state != lane->state) {
		lane->is_consistent = lane->is_consistent && lane->state == SEG_STATE_EXIT(0);
		lane->num_ring = 0;
	}
}

static int finish_lane(struct reader *r, size_t number, const struct segment_clock *clock)
{
	struct model *model = r->model;
	struct model_lane *lane = &model->lanes[number];
	const struct raw_lane *raw = &r->raw[number];
	const struct current *current = &raw->current;
	uint32_t num_states = 2 * (uint32_t)model->num_sites;
	uint32_t use = raw->head.use;

	if (use > SEG_LANE_ENDED || current->state >= num_states ||
	    current->poll_site >= model->num_sites)
		return error_set(r->err, ERROR_FORMAT, "the segment is corrupt: state of lane %zu",
				 number);
	lane->is_main = raw->head.is_main != 0;
	lane->has_ended = use != SEG_LANE_ACTIVE;
	lane->tid = raw->head.tid;
	/* Published, but not yet taken for the first time. */
	lane->state = use == SEG_LANE_FREE && current->events == 0 ? SEG_STATE_EXIT(0) :
								     current->state;
	lane->since_ns = segment_clock_time(clock, current->since);
	lane->first_ns = segment_clock_time(clock, raw->head.first_ticks);
	lane->events = current->events;
	lane->poll_site = current->poll_site;
	lane->in_poll = current->in_poll != 0;
	lane->polls = current->polls;
	if (current->poll_site)
		lane->last_poll_ns = segment_clock_time(clock, current->poll_ticks);
	check_transitions(lane, num_states);
	check_ring(lane, raw, num_states);
	if (spend(r, num_states * (sizeof(*lane->longest_ns) + sizeof(*lane->state_polls))) < 0)
		return -1;
	for (size_t i = 0; i < lane->num_ring; i++)
		lane->ring[i].ns = segment_clock_time(clock, lane->ring[i].ns);
	lane->longest_ns = xcalloc(num_states, sizeof(*lane->longest_ns));
	lane->state_polls = xcalloc(num_states, sizeof(*lane->state_polls));
	for (size_t i = 0; i < num_states && i < raw->num_states; i++) {
		lane->longest_ns[i] = segment_clock_duration(clock, raw->states[i].longest);
		lane->state_polls[i] = raw->states[i].polls;
	}
	model->dropped_transitions += raw->head.tables[SEG_LANE_TRANSITIONS].dropped;
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
	memcpy(model->host, h->host, sizeof(model->host));
	memcpy(model->job, h->job, sizeof(model->job));
	memcpy(model->mpi_library, h->mpi_library, sizeof(model->mpi_library));
	memcpy(model->executable, h->executable, sizeof(model->executable));
	model->now_ns = clock->now_ns;
	model->now_real_ns = clock->now_real_ns;
	model->dropped_strings = h->tables[SEG_TABLE_STRINGS].dropped;
	model->dropped_modules = h->tables[SEG_TABLE_MODULES].dropped;
	model->dropped_frames = h->tables[SEG_TABLE_FRAMES].dropped;
	model->dropped_sites = h->tables[SEG_TABLE_SITES].dropped;
	model->dropped_lanes = h->dropped_lanes;
	model->full_unwinds = h->full_unwinds;
	model->abandoned = h->abandoned;
}

static uint64_t last_ticks(const struct reader *r)
{
	uint64_t last = 0;

	for (size_t i = 0; i < r->model->num_lanes; i++) {
		const struct current *current = &r->raw[i].current;

		if (current->since > last)
			last = current->since;
		if (current->poll_site && current->poll_ticks > last)
			last = current->poll_ticks;
	}
	return last;
}

/* Lanes before tables: then every site that a lane names has been counted. */
static int read_all(struct reader *r)
{
	struct segment_clock clock;
	size_t num_lanes;

	if (segment_read_header(r->fd, &r->header, r->err) < 0 || count_lanes(r, &num_lanes) < 0)
		return -1;
	r->raw = xcalloc(num_lanes, sizeof(*r->raw));
	r->model->lanes = xcalloc(num_lanes, sizeof(*r->model->lanes));
	r->model->num_lanes = num_lanes;
	for (size_t i = 0; i < num_lanes; i++) {
		if (read_lane(r, i) < 0)
			return error_prefix(r->err, "lane %zu", i);
	}
	segment_clock_init(&clock, &r->header, last_ticks(r));
	if (read_counts(r) < 0 || read_strings(r) < 0 || read_modules(r) < 0 || read_frames(r) < 0 ||
	    read_sites(r) < 0)
		return -1;
	fill_identity(r, &clock);
	for (size_t i = 0; i < num_lanes; i++) {
		if (finish_lane(r, i, &clock) < 0)
			return -1;
	}
	return model_validate(r->model, r->err);
}

int segment_read(int fd, struct model **model_ret, struct pdb_error *err)
{
	struct reader r = { .fd = fd, .budget = budget_max, .err = err };
	int status;

	r.model = model_create();
	status = read_all(&r);
	for (size_t i = 0; r.raw && i < r.model->num_lanes; i++)
		free(r.raw[i].states);
	free(r.raw);
	if (status < 0)
		model_destroy(r.model);
	else
		*model_ret = r.model;
	return status;
}

int segment_look(int fd, struct segment_look *looks, int max, struct pdb_error *err)
{
	struct model unused = { 0 };
	struct reader r = { .fd = fd, .model = &unused, .err = err };
	size_t num;

	if (segment_read_header(fd, &r.header, err) < 0 || count_lanes(&r, &num) < 0)
		return -1;
	for (size_t i = 0; i < num && i < (size_t)(max > 0 ? max : 0); i++) {
		struct current current;
		bool is_whole;

		if (read_current(&r, lane_base(&r.header, i), &current, &is_whole) < 0)
			return -1;
		looks[i] = (struct segment_look){
			.events = current.events,
			.polls = current.polls,
			.state = current.state,
		};
	}
	return (int)num;
}
