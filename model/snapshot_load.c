/* SPDX-License-Identifier: BSD-3-Clause
 * Read a snapshot. Nothing in it is trusted: it is decompressed section by section, each into memory
 * that grows with what really comes; counts are checked against the bytes that are left; and what
 * is built is charged to a budget and checked as if it came from a segment. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "model/callpath.h"
#include "model/error.h"
#include "model/job.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/modules.h"
#include "model/names.h"
#include "model/proctable.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/segment_private.h"
#include "model/snapshot_private.h"
#include "model/xalloc.h"

struct loader {
	struct pdb_error *err;
	int fd;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer in;
	char chunk[65536];
	bool at_end;	/* of the zstd frame */
	uint64_t bytes; /* still allowed to come out */
	uint64_t memory; /* still allowed to be allocated */

	/* The section being read. Reading past its end, or a value out of range, makes it bad. */
	uint8_t *section;
	size_t section_capacity;
	const uint8_t *at, *end;
	bool is_bad;

	char **strings; /* number 1 is strings[0] */
	size_t num_strings, strings_capacity;
	struct model **shapes; /* the tables alone */
	size_t num_shapes, shapes_capacity;
	bool has_model; /* as the JOB section says */
	struct job *job;
};

/* ---- In -------------------------------------------------------------------------------------- */

static int truncated(struct loader *l)
{
	return error_set(l->err, ERROR_FORMAT, "the snapshot is truncated");
}

/* Decompress up to `size` bytes; fewer only at the end. -1 and *err on garbage. */
static int64_t decompress(struct loader *l, void *to, size_t size)
{
	ZSTD_outBuffer out = { to, size, 0 };

	while (out.pos < size && !l->at_end) {
		size_t status;

		if (l->in.pos == l->in.size) {
			ssize_t got = read(l->fd, l->chunk, sizeof(l->chunk));

			if (got < 0 && errno == EINTR)
				continue;
			if (got < 0)
				return error_errno(l->err, "reading");
			if (got == 0)
				return truncated(l);
			l->in = (ZSTD_inBuffer){ l->chunk, (size_t)got, 0 };
		}
		status = ZSTD_decompressStream(l->zstd, &out, &l->in);
		if (ZSTD_isError(status))
			return error_set(l->err, ERROR_FORMAT, "not a snapshot, or damaged: %s",
					 ZSTD_getErrorName(status));
		l->at_end = status == 0;
	}
	if (out.pos > l->bytes)
		return error_set(l->err, ERROR_FORMAT, "the snapshot is too large");
	l->bytes -= out.pos;
	return (int64_t)out.pos;
}

static int decompress_all(struct loader *l, void *to, size_t size)
{
	int64_t got = decompress(l, to, size);

	if (got < 0)
		return -1;
	return (uint64_t)got == size ? 0 : truncated(l);
}

static int read_section(struct loader *l, int *id_ret)
{
	uint8_t header[SNAPSHOT_SECTION_HEADER_SIZE];
	uint64_t size = 0, have = 0;

	if (decompress_all(l, header, sizeof(header)) < 0)
		return -1;
	for (int i = 0; i < 8; i++)
		size |= (uint64_t)header[1 + i] << (8 * i);
	if (size > SNAPSHOT_MAX_SECTION)
		return error_set(l->err, ERROR_FORMAT, "section %d is too large", header[0]);
	/* Not all at once: the size is only a claim. */
	while (have < size) {
		uint64_t more = size - have < (1 << 20) + have ? size - have : (1 << 20) + have;

		if (have + more > l->section_capacity) {
			l->section_capacity = have + more;
			l->section = xreallocarray(l->section, l->section_capacity, 1);
		}
		if (decompress_all(l, l->section + have, more) < 0)
			return -1;
		have += more;
	}
	*id_ret = header[0];
	l->at = l->section;
	l->end = l->section + size;
	l->is_bad = false;
	return 0;
}

static uint64_t take(struct loader *l)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 64 && l->at < l->end; shift += 7) {
		uint8_t byte = *l->at++;

		/* The tenth byte has room for one bit. */
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	l->is_bad = true;
	return 0;
}

/* A value of at most `most`. */
static uint64_t take_below(struct loader *l, uint64_t most)
{
	uint64_t value = take(l);

	if (value <= most)
		return value;
	l->is_bad = true;
	return 0;
}

static int64_t take_signed(struct loader *l, int64_t least, int64_t most)
{
	uint64_t raw = take(l);
	int64_t value = (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1);

	if (value >= least && value <= most)
		return value;
	l->is_bad = true;
	return 0;
}

static int take_int(struct loader *l)
{
	return (int)take_signed(l, INT32_MIN, INT32_MAX);
}

/* An index below `num`, or UINT32_MAX. */
static uint32_t take_index(struct loader *l, uint64_t num)
{
	return (uint32_t)take_below(l, num) - 1;
}

/* A number of elements that take `bytes_each` or more of what is left of the section. */
static size_t take_count(struct loader *l, uint64_t most, size_t bytes_each)
{
	uint64_t value = take(l);

	if (value <= most && value <= (uint64_t)(l->end - l->at) / bytes_each)
		return value;
	l->is_bad = true;
	return 0;
}

static const uint8_t *take_bytes(struct loader *l, size_t num)
{
	const uint8_t *bytes = l->at;

	if (num > (size_t)(l->end - l->at)) {
		l->is_bad = true;
		return NULL;
	}
	l->at += num;
	return bytes;
}

/* Borrowed; NULL where the writer had none. */
static const char *take_string(struct loader *l)
{
	uint64_t id = take_below(l, l->num_strings);

	return id ? l->strings[id - 1] : NULL;
}

static const char *take_text(struct loader *l)
{
	const char *text = take_string(l);

	return text ? text : "";
}

static void *allocate(struct loader *l, size_t num, size_t size)
{
	if (num * size > l->memory) {
		l->is_bad = true;
		num = 0;
	} else {
		l->memory -= num * size;
	}
	return xcalloc(num, size);
}

/* ---- Tables of the job ----------------------------------------------------------------------- */

static void load_strings(struct loader *l)
{
	while (l->at < l->end && !l->is_bad) {
		size_t length = take_count(l, SNAPSHOT_MAX_SECTION, 1);
		const uint8_t *bytes = take_bytes(l, length);
		char *text = allocate(l, length + 1, 1);

		if (l->is_bad) {
			free(text);
			return;
		}
		memcpy(text, bytes, length);
		segment_clean_text(text, length);
		l->strings = xgrow(l->strings, l->num_strings, &l->strings_capacity,
				   sizeof(*l->strings));
		l->strings[l->num_strings++] = text;
	}
}

static void load_job(struct loader *l)
{
	struct job *job = l->job;
	uint64_t bits;

	job->taken_real_ns = take(l);
	bits = take(l);
	memcpy(&job->look_seconds, &bits, sizeof(bits));
	if (!(job->look_seconds >= 0 && job->look_seconds < 1e9))
		l->is_bad = true;
	l->has_model = take_below(l, 1);
	if (l->has_model && !job->model)
		job->model = job_model_create(job->modules, job->callpaths);
}

static char *source_note(enum proctable_source source, const char *note)
{
	if (source == PROCTABLE_SNAPSHOT)
		return note ? xstrdup(note) : NULL;
	return xasprintf("When the snapshot was taken, the ranks were found by: %s.%s%s",
			 proctable_source_text(source), note ? " " : "", note ? note : "");
}

static int load_proctable(struct loader *l)
{
	struct proctable *table = l->job->proctable;
	enum proctable_source source;
	size_t num;

	if (table->job)
		return error_set(l->err, ERROR_FORMAT, "two process tables");
	table->size = (int)take_below(l, SNAPSHOT_MAX_RANKS);
	table->job = xstrdup(take_text(l));
	table->launcher_name = xstrdup(take_text(l));
	table->launcher_pid = take_int(l);
	table->launcher = take_below(l, LAUNCHER_OTHER);
	source = take_below(l, PROCTABLE_SNAPSHOT);
	table->source = PROCTABLE_SNAPSHOT;
	table->source_note = source_note(source, take_string(l));
	num = take_count(l, SNAPSHOT_MAX_RANKS, 4);
	for (size_t i = 0; i < num && !l->is_bad; i++) {
		int rank = take_int(l), pid = take_int(l);
		const char *host = take_text(l), *executable = take_text(l);

		/* Each proc owns its strings, so a long one may come many times. */
		if (strlen(host) + strlen(executable) + sizeof(struct proc) > l->memory)
			l->is_bad = true;
		else
			l->memory -= strlen(host) + strlen(executable) + sizeof(struct proc);
		if (!l->is_bad)
			proctable_add(table, rank, pid, host, executable);
	}
	if (l->is_bad)
		return 0;
	if (proctable_finish(table, l->err) < 0)
		return -1;
	/* Whatever these pids are by now, they are not the job's. */
	for (size_t i = 0; i < table->num_procs; i++)
		table->procs[i].is_local = false;
	return 0;
}

static void load_modules(struct loader *l)
{
	size_t num = take_count(l, UINT32_MAX - 1, 2);

	for (size_t i = 0; i < num && !l->is_bad; i++) {
		const char *path = take_text(l);
		size_t size = take_below(l, BUILD_ID_MAX);
		const uint8_t *build_id = take_bytes(l, size);

		if (!l->is_bad && modules_intern(l->job->modules, path, build_id, size) != i)
			l->is_bad = true;
	}
}

static void load_callpaths(struct loader *l)
{
	struct callpaths *paths = l->job->callpaths;
	size_t num = take_count(l, UINT32_MAX - 1, 4);

	for (size_t i = 0; i < num && !l->is_bad; i++) {
		uint32_t parent = take_index(l, i);
		uint32_t module = take_index(l, modules_count(l->job->modules));
		uint64_t offset = take(l);
		bool is_return = take_below(l, 1);

		if (!l->is_bad && callpaths_intern(paths, parent, module, offset, is_return) != i)
			l->is_bad = true;
	}
}

static void load_names(struct loader *l)
{
	size_t num = take_count(l, callpaths_count(l->job->callpaths), 5);

	for (size_t i = 0; i < num && !l->is_bad; i++) {
		struct name name = { .function = take_text(l) };

		name.file = take_string(l);
		name.full_file = take_string(l);
		name.line = take_int(l);
		name.is_symbol = take_below(l, 1);
		if (!l->is_bad)
			names_set(l->job->names, (uint32_t)i, &name);
	}
}

/* ---- Models ---------------------------------------------------------------------------------- */

static void load_shape_modules(struct loader *l, struct model *shape)
{
	size_t num = take_count(l, SEG_MAX_MODULES, 2);

	shape->modules = allocate(l, num, sizeof(*shape->modules));
	for (size_t i = 0; i < num && !l->is_bad; i++) {
		struct model_module *module = &shape->modules[i];
		const char *path = take_text(l);
		const uint8_t *build_id;

		module->build_id_size = (uint8_t)take_below(l, sizeof(module->build_id));
		build_id = take_bytes(l, module->build_id_size);
		if (build_id)
			memcpy(module->build_id, build_id, module->build_id_size);
		module->path = xstrdup(path);
		shape->num_modules++;
	}
}

static void load_shape_sites(struct loader *l, struct model *shape)
{
	size_t num = take_count(l, SEG_MAX_SITES, 4);

	shape->sites = allocate(l, num, sizeof(*shape->sites));
	for (size_t i = 0; i < num && !l->is_bad; i++) {
		struct model_site *site = &shape->sites[i];

		site->frame = take_index(l, shape->num_frames);
		site->name = shape->strings;
		if (shape->num_strings)
			site->name += take_below(l, shape->num_strings - 1);
		site->class_id = (uint16_t)take_below(l, UINT16_MAX);
		site->language = (uint16_t)take_below(l, UINT16_MAX);
		shape->num_sites++;
	}
}

static int load_shape(struct loader *l)
{
	struct model *shape = model_create();
	const uint8_t *bytes;
	size_t num;

	l->shapes = xgrow(l->shapes, l->num_shapes, &l->shapes_capacity, sizeof(*l->shapes));
	l->shapes[l->num_shapes++] = shape;
	num = take_count(l, SEG_MAX_STRINGS + 1, 1);
	bytes = take_bytes(l, num);
	shape->strings = allocate(l, num, 1);
	if (l->is_bad)
		return 0;
	memcpy(shape->strings, bytes, num);
	shape->num_strings = num;
	segment_clean_text(shape->strings, num);
	load_shape_modules(l, shape);
	num = take_count(l, SEG_MAX_FRAMES, 3);
	shape->frames = allocate(l, num, sizeof(*shape->frames));
	for (size_t i = 0; i < num && !l->is_bad; i++) {
		shape->frames[i].parent = take_index(l, i);
		shape->frames[i].module = take_index(l, shape->num_modules);
		shape->frames[i].offset = take(l);
		shape->num_frames++;
	}
	load_shape_sites(l, shape);
	return l->is_bad ? 0 : model_validate(shape, l->err);
}

/* Give `model` its own copy of the tables. */
static void copy_shape(struct loader *l, const struct model *shape, struct model *model)
{
	model->strings = allocate(l, shape->num_strings, 1);
	model->modules = allocate(l, shape->num_modules, sizeof(*model->modules));
	model->frames = allocate(l, shape->num_frames, sizeof(*model->frames));
	model->sites = allocate(l, shape->num_sites, sizeof(*model->sites));
	if (l->is_bad)
		return;
	memcpy(model->strings, shape->strings, shape->num_strings);
	model->num_strings = shape->num_strings;
	for (size_t i = 0; i < shape->num_modules && !l->is_bad; i++) {
		size_t size = strlen(shape->modules[i].path) + 1;

		model->modules[i] = shape->modules[i];
		model->modules[i].path = allocate(l, size, 1);
		model->num_modules++;
		if (!l->is_bad)
			memcpy(model->modules[i].path, shape->modules[i].path, size);
	}
	if (shape->num_frames)
		memcpy(model->frames, shape->frames, shape->num_frames * sizeof(*model->frames));
	model->num_frames = shape->num_frames;
	for (size_t i = 0; i < shape->num_sites; i++) {
		model->sites[i] = shape->sites[i];
		model->sites[i].name = model->strings + (shape->sites[i].name - shape->strings);
	}
	model->num_sites = shape->num_sites;
}

static void take_field(struct loader *l, char *field, size_t size)
{
	snprintf(field, size, "%s", take_text(l));
}

static void load_ring(struct loader *l, const struct model *model, struct model_lane *lane)
{
	size_t num = take_count(l, SEG_MAX_RING, 2);
	uint64_t ns = model->now_ns;

	lane->ring = allocate(l, num, sizeof(*lane->ring));
	if (l->is_bad)
		return;
	lane->num_ring = num;
	for (size_t i = 0; i < num; i++)
		lane->ring[i].state = (uint32_t)take_below(l, UINT32_MAX);
	for (size_t i = num; i > 0; i--) {
		ns -= take_below(l, ns);
		lane->ring[i - 1].ns = ns;
	}
}

static void load_lane(struct loader *l, const struct model *model, struct model_lane *lane)
{
	size_t num_states = 2 * model->num_sites, num;
	uint64_t flags = take(l);

	lane->is_main = flags & SNAPSHOT_LANE_MAIN;
	lane->has_ended = flags & SNAPSHOT_LANE_ENDED;
	lane->is_consistent = flags & SNAPSHOT_LANE_CONSISTENT;
	lane->in_poll = flags & SNAPSHOT_LANE_IN_POLL;
	lane->tid = take_int(l);
	lane->state = (uint32_t)take_below(l, UINT32_MAX);
	lane->since_ns = model->now_ns - take_below(l, model->now_ns);
	lane->first_ns = model->now_ns - take_below(l, model->now_ns);
	lane->events = take(l);
	lane->poll_site = (uint32_t)take_below(l, UINT32_MAX);
	lane->polls = take(l);
	lane->last_poll_ns = take(l);
	num = take_count(l, SEG_MAX_TRANSITIONS, 3);
	lane->transitions = allocate(l, num, sizeof(*lane->transitions));
	lane->longest_ns = allocate(l, num_states, sizeof(*lane->longest_ns));
	lane->state_polls = allocate(l, num_states, sizeof(*lane->state_polls));
	if (l->is_bad)
		return;
	lane->num_transitions = num;
	for (size_t i = 0; i < num; i++) {
		lane->transitions[i].from = (uint32_t)take_below(l, UINT32_MAX);
		lane->transitions[i].to = (uint32_t)take_below(l, UINT32_MAX);
		lane->transitions[i].count = take(l);
	}
	for (size_t i = 0; i < num_states; i++)
		lane->longest_ns[i] = take(l);
	for (size_t i = 0; i < num_states; i++)
		lane->state_polls[i] = take(l);
	load_ring(l, model, lane);
}

static void load_model_head(struct loader *l, struct model *model)
{
	model->rank = (int32_t)take_signed(l, -1, SNAPSHOT_MAX_RANKS);
	model->size = (int32_t)take_signed(l, 0, INT32_MAX);
	model->pid = take_int(l);
	model->pid_start = take(l);
	model->uid = (uint32_t)take_below(l, UINT32_MAX);
	model->life = take_below(l, SEG_LIFE_ABORTED);
	model->thread_level = take_int(l);
	take_field(l, model->host, sizeof(model->host));
	take_field(l, model->job, sizeof(model->job));
	take_field(l, model->mpi_library, sizeof(model->mpi_library));
	take_field(l, model->executable, sizeof(model->executable));
	model->now_ns = take(l);
	model->now_real_ns = take(l);
	model->dropped_strings = take(l);
	model->dropped_modules = take(l);
	model->dropped_frames = take(l);
	model->dropped_sites = take(l);
	model->dropped_transitions = take(l);
	model->dropped_lanes = take(l);
	model->full_unwinds = take(l);
	model->abandoned = take(l);
	model->bytes = take(l);
}

static int load_model(struct loader *l)
{
	struct model *model = model_create();
	int rank = (int)take_signed(l, 0, SNAPSHOT_MAX_RANKS - 1);
	uint64_t shape = take(l);
	size_t num;

	if (!l->job->model || shape >= l->num_shapes || rankset_contains(l->job->model->ranks, rank))
		l->is_bad = true;
	if (!l->is_bad)
		copy_shape(l, l->shapes[shape], model);
	load_model_head(l, model);
	num = take_count(l, SEG_MAX_LANES, 12);
	model->lanes = allocate(l, num, sizeof(*model->lanes));
	for (size_t i = 0; i < num && !l->is_bad; i++) {
		model->num_lanes++;
		load_lane(l, model, &model->lanes[i]);
	}
	if (l->is_bad || model_validate(model, l->err) < 0) {
		model_destroy(model);
		return l->is_bad ? 0 : error_prefix(l->err, "rank %d", rank);
	}
	job_model_add(l->job->model, rank, model, 0);
	return 0;
}

static void load_looks(struct loader *l)
{
	struct job_model *jm = l->job->model;
	size_t num = take_count(l, UINT32_MAX, 1);

	if (!jm || num != jm->num_lanes) {
		l->is_bad = true;
		return;
	}
	job_model_finish(jm);
	for (size_t i = 0; i < num; i++) {
		uint64_t flags = take(l);

		jm->lanes[i].has_second_look = flags & SNAPSHOT_LOOK_TAKEN;
		jm->lanes[i].has_moved = flags & SNAPSHOT_LOOK_MOVED;
		jm->lanes[i].has_polled = flags & SNAPSHOT_LOOK_POLLED;
	}
}

/* ---- The rest of the job --------------------------------------------------------------------- */

static void load_samples(struct loader *l)
{
	size_t num = take_count(l, UINT32_MAX, 9);

	for (size_t i = 0; i < num && !l->is_bad; i++) {
		struct sample sample = { .rank = (int)take_signed(l, 0, SNAPSHOT_MAX_RANKS - 1) };
		const char *note;

		sample.tid = take_int(l);
		sample.is_main = take_below(l, 1);
		sample.status = take_below(l, SAMPLE_FAILED);
		sample.path = take_index(l, callpaths_count(l->job->callpaths));
		sample.state = (char)take_below(l, 0x7f);
		sample.when_ns = take(l);
		sample.stopped_ns = (uint32_t)take_below(l, UINT32_MAX);
		note = take_string(l);
		if (l->is_bad)
			return;
		if (note) {
			size_t size = strlen(note) + 1;

			sample.note = allocate(l, size, 1);
			if (!l->is_bad)
				memcpy(sample.note, note, size);
		}
		samples_add(l->job->samples, &sample);
	}
}

static void load_holes(struct loader *l)
{
	size_t num = take_count(l, SNAPSHOT_MAX_RANKS, 2);

	for (size_t i = 0; i < num && !l->is_bad; i++) {
		int rank = (int)take_signed(l, 0, SNAPSHOT_MAX_RANKS - 1);
		const char *why = take_text(l);

		if (strlen(why) + sizeof(struct job_hole) > l->memory)
			l->is_bad = true;
		else
			l->memory -= strlen(why) + sizeof(struct job_hole);
		if (!l->is_bad)
			job_add_hole(l->job, rank, why);
	}
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* id: one that may_follow() lets pass. */
static int load_section(struct loader *l, enum snapshot_section id)
{
	int status = 0;

	switch (id) {
	case SNAPSHOT_STRINGS:
		load_strings(l);
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
	case SNAPSHOT_END:
		break;
	}
	if (status == 0 && (l->is_bad || l->at != l->end))
		status = error_set(l->err, ERROR_FORMAT, "section %d is corrupt", id);
	return status;
}

static int read_magic(struct loader *l)
{
	uint8_t header[SNAPSHOT_HEADER_SIZE];
	uint32_t version;

	if (decompress_all(l, header, sizeof(header)) < 0)
		return -1;
	if (memcmp(header, SNAPSHOT_MAGIC, 8) != 0)
		return error_set(l->err, ERROR_FORMAT, "not a snapshot of pdb");
	version = header[8] | (uint32_t)header[9] << 8 | (uint32_t)header[10] << 16 |
		  (uint32_t)header[11] << 24;
	if (version != SNAPSHOT_VERSION)
		return error_set(l->err, ERROR_VERSION,
				 "the snapshot has version %u, this pdb reads version %d", version,
				 SNAPSHOT_VERSION);
	return 0;
}

/* May `id` come after `last` (0: nothing yet)? All but STRINGS stand in the order of their numbers,
 * and those of models are there just when JOB says so. */
static bool may_follow(const struct loader *l, int last, int id)
{
	bool is_among_models = l->has_model && last >= SNAPSHOT_NAMES && last <= SNAPSHOT_MODEL;

	switch (id) {
	case SNAPSHOT_STRINGS:
		return true;
	case SNAPSHOT_JOB:
		return last == 0;
	case SNAPSHOT_SHAPE:
	case SNAPSHOT_MODEL:
	case SNAPSHOT_LOOKS:
		return is_among_models;
	case SNAPSHOT_SAMPLES:
		return last == (l->has_model ? SNAPSHOT_LOOKS : SNAPSHOT_NAMES);
	default:
		return last == id - 1;
	}
}

static int load_all(struct loader *l)
{
	int id = 0, last = 0;
	int64_t got;
	char extra;

	if (read_magic(l) < 0)
		return -1;
	while (last != SNAPSHOT_END) {
		if (read_section(l, &id) < 0)
			return -1;
		if (!may_follow(l, last, id))
			return error_set(l->err, ERROR_FORMAT, "section %d is out of place", id);
		if (load_section(l, id) < 0)
			return -1;
		if (id != SNAPSHOT_STRINGS)
			last = id;
	}
	/* The checksum at the end of the frame, and nothing after it. */
	got = decompress(l, &extra, 1);
	if (got < 0)
		return -1;
	if (got > 0 || l->in.pos < l->in.size || read(l->fd, &extra, 1) > 0)
		return error_set(l->err, ERROR_FORMAT, "the snapshot goes on after its end");
	return 0;
}

static int open_file(const char *path, struct pdb_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return error_errno(err, "%s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(err, ERROR_FORMAT, "%s is not a regular file", path);
	}
	return fd;
}

int snapshot_load(const char *path, struct job **job_ret, struct pdb_error *err)
{
	struct pdb_error own = { 0 };
	struct loader *l;
	int fd = open_file(path, err), status;

	if (fd < 0)
		return -1;
	l = xcalloc(1, sizeof(*l));
	l->err = &own;
	l->fd = fd;
	l->zstd = ZSTD_createDStream();
	l->bytes = SNAPSHOT_MAX_BYTES;
	l->memory = SNAPSHOT_MAX_MEMORY;
	l->job = job_create();
	status = l->zstd ? load_all(l) : error_set(&own, ERROR_SYSTEM, "zstd: out of memory");
	if (status < 0) {
		job_destroy(l->job);
		error_prefix(&own, "%s", path);
		if (err)
			*err = own;
	} else {
		*job_ret = l->job;
	}
	for (size_t i = 0; i < l->num_strings; i++)
		free(l->strings[i]);
	for (size_t i = 0; i < l->num_shapes; i++)
		model_destroy(l->shapes[i]);
	free(l->strings);
	free(l->shapes);
	free(l->section);
	ZSTD_freeDStream(l->zstd);
	close(l->fd);
	free(l);
	return status;
}
