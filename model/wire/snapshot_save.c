/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uthash.h>
#include <zstd.h>

#include "model/buffer.h"
#include "model/job/callpath.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/job/code_store.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model_private.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/wire/queue_bytes.h"
#include "model/job/sample.h"
#include "model/wire/snapshot_private.h"
#include "model/xalloc.h"

/* A string and its number, from 1; 0 stands for NULL. */
struct string_id {
	UT_hash_handle hh;
	uint64_t id;
	char text[];
};

/* A list of ranks and its number, from 1. */
struct list_id {
	UT_hash_handle hh;
	uint64_t id;
	int32_t ranks[];
};

struct saver {
	FILE *file;
	ZSTD_CStream *zstd;
	bool has_failed;
	int number;                            /* errno of what failed */
	const char *why;                       /* zstd's words in its place */
	struct buffer section, strings, lists; /* strings, lists: those not yet written */
	struct string_id *ids;
	struct list_id *list_ids;
	size_t max_ring; /* entries kept of each lane's ring */
};

/* ---- Out ---- */

static void compress(struct saver *s, const void *bytes, size_t size, ZSTD_EndDirective mode)
{
	ZSTD_inBuffer in = {bytes, size, 0};
	char chunk[16384];
	size_t left;

	if (s->has_failed)
		return;
	do {
		ZSTD_outBuffer out = {chunk, sizeof(chunk), 0};

		left = ZSTD_compressStream2(s->zstd, &out, &in, mode);
		if (ZSTD_isError(left)) {
			s->has_failed = true;
			s->why = ZSTD_getErrorName(left);
			return;
		}
		if (fwrite(chunk, 1, out.pos, s->file) != out.pos) {
			s->has_failed = true;
			s->number = errno;
			return;
		}
	} while (in.pos < in.size || (mode == ZSTD_e_end && left > 0));
}

static void put_string(struct saver *s, const char *text)
{
	struct string_id *found;
	size_t length;

	if (!text) {
		buffer_put(&s->section, 0);
		return;
	}
	length = strlen(text);
	HASH_FIND(hh, s->ids, text, length, found);
	if (!found) {
		found = xmalloc(sizeof(*found) + length + 1);
		memcpy(found->text, text, length + 1);
		found->id = HASH_COUNT(s->ids) + 1;
		HASH_ADD_KEYPTR(hh, s->ids, found->text, length, found);
		buffer_put(&s->strings, length);
		buffer_put_bytes(&s->strings, text, length);
	}
	buffer_put(&s->section, found->id);
}

/* Ranks mostly go up by one, which is 0 here. */
static void put_list(struct saver *s, const struct model *model, uint32_t first, uint32_t num)
{
	static const int32_t empty[1];
	const int32_t *ranks = num ? model_members(model, first) : empty;
	size_t size = num * sizeof(*ranks);
	struct list_id *found;
	int64_t expected = 0;

	if (first == SEG_NO_MEMBERS || first == SEG_ALL_MEMBERS) {
		buffer_put(&s->section,
			   first == SEG_NO_MEMBERS ? SNAPSHOT_LIST_NONE : SNAPSHOT_LIST_ALL);
		return;
	}
	HASH_FIND(hh, s->list_ids, ranks, size, found);
	if (!found) {
		found = xmalloc(sizeof(*found) + size);
		if (size)
			memcpy(found->ranks, ranks, size);
		found->id = HASH_COUNT(s->list_ids) + 1;
		HASH_ADD_KEYPTR(hh, s->list_ids, found->ranks, size, found);
		buffer_put(&s->lists, num);
		for (uint32_t i = 0; i < num; i++) {
			buffer_put_signed(&s->lists, ranks[i] - expected);
			expected = (int64_t)ranks[i] + 1;
		}
	}
	buffer_put(&s->section, found->id + 1);
}

static void write_section(struct saver *s, enum snapshot_section id, const struct buffer *b)
{
	uint8_t header[SNAPSHOT_SECTION_HEADER_SIZE] = {(uint8_t)id};

	for (int i = 0; i < 8; i++)
		header[1 + i] = (uint8_t)((uint64_t)b->num >> (8 * i));
	compress(s, header, sizeof(header), ZSTD_e_continue);
	compress(s, b->bytes, b->num, ZSTD_e_continue);
}

/* Write the section that was put together, its new strings and lists before it, and begin an empty
 * one. */
static void end_section(struct saver *s, enum snapshot_section id)
{
	if (s->strings.num)
		write_section(s, SNAPSHOT_STRINGS, &s->strings);
	if (s->lists.num)
		write_section(s, SNAPSHOT_LISTS, &s->lists);
	s->strings.num = s->lists.num = 0;
	write_section(s, id, &s->section);
	s->section.num = 0;
}

/* ---- Sections ---- */

static void save_job(struct saver *s, const struct job *job)
{
	uint64_t bits;

	memcpy(&bits, &job->look_seconds, sizeof(bits));
	buffer_put(&s->section, job->taken_real_ns);
	buffer_put(&s->section, bits);
	buffer_put(&s->section, job->model != NULL);
	end_section(s, SNAPSHOT_JOB);
}

static void save_proctable(struct saver *s, const struct proctable *table)
{
	buffer_put(&s->section, (uint64_t)table->size);
	put_string(s, table->job);
	put_string(s, table->launcher_name);
	buffer_put_signed(&s->section, table->launcher_pid);
	buffer_put(&s->section, table->launcher);
	buffer_put(&s->section, table->source);
	put_string(s, table->source_note);
	buffer_put(&s->section, table->num_procs);
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = &table->procs[i];

		buffer_put_signed(&s->section, proc->rank);
		buffer_put_signed(&s->section, proc->pid);
		put_string(s, proc->host);
		put_string(s, proc->executable);
	}
	end_section(s, SNAPSHOT_PROCTABLE);
}

static void save_modules(struct saver *s, const struct modules *modules)
{
	size_t num = modules_count(modules);

	buffer_put(&s->section, num);
	for (size_t i = 0; i < num; i++) {
		const struct module *module = modules_get(modules, (uint32_t)i);

		put_string(s, module->path);
		buffer_put(&s->section, module->build_id_size);
		buffer_put_bytes(&s->section, module->build_id, module->build_id_size);
	}
	end_section(s, SNAPSHOT_MODULES);
}

static void save_callpaths(struct saver *s, const struct callpaths *paths)
{
	size_t num = callpaths_count(paths);

	buffer_put(&s->section, num);
	for (size_t i = 0; i < num; i++) {
		const struct callpath_node *node = callpaths_get(paths, (uint32_t)i);

		buffer_put_index(&s->section, node->parent);
		buffer_put_index(&s->section, node->module);
		buffer_put(&s->section, node->offset);
		buffer_put(&s->section, node->is_return);
	}
	end_section(s, SNAPSHOT_CALLPATHS);
}

static void put_name(struct saver *s, const struct name *name)
{
	put_string(s, name->function);
	put_string(s, name->file);
	put_string(s, name->full_file);
	buffer_put_signed(&s->section, name->line);
	buffer_put(&s->section, name_flags(name));
}

static void save_names(struct saver *s, const struct job *job)
{
	size_t num = callpaths_count(job->callpaths);

	buffer_put(&s->section, num);
	for (size_t i = 0; i < num; i++) {
		const struct name *name = names_innermost(job->names, (uint32_t)i);

		for (; name; name = name->caller)
			put_name(s, name);
	}
	end_section(s, SNAPSHOT_NAMES);
}

static void save_shape(struct saver *s, const struct model *model)
{
	struct buffer *b = &s->section;

	buffer_put(b, model->num_strings);
	buffer_put_bytes(b, model->strings, model->num_strings);
	buffer_put(b, model->num_modules);
	for (size_t i = 0; i < model->num_modules; i++) {
		const struct model_module *module = &model->modules[i];

		put_string(s, module->path);
		buffer_put(b, module->build_id_size);
		buffer_put_bytes(b, module->build_id, module->build_id_size);
	}
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
	end_section(s, SNAPSHOT_SHAPE);
}

static void save_comm(struct saver *s, const struct model *model, size_t index)
{
	const struct model_comm *comm = model_comm(model, index);
	struct buffer *b = &s->section;
	size_t num = 0;

	buffer_put(b, comm->id);
	buffer_put(b, comm->parent_id);
	buffer_put(b, comm->kind);
	buffer_put(b, comm->site);
	buffer_put(b, comm->ordinal);
	buffer_put_signed(b, model_comm_rank(model, index));
	buffer_put(b, comm->size);
	put_list(s, model, comm->members, comm->size);
	buffer_put(b, comm->remote_size);
	put_list(s, model, comm->remote_members, comm->remote_size);
	buffer_put(b, comm->num_sources);
	put_list(s, model, comm->sources, comm->num_sources);
	buffer_put(b, comm->name ? (uint64_t)(comm->name - model->strings) + 1 : 0);
	buffer_put(b, comm->is_freed);
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
}

/* Those that are used, each with the number of free ones before it. */
static void save_requests(struct saver *s, const struct model *model)
{
	struct buffer *b = &s->section;
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
		buffer_put_signed(b, request->peer);
		buffer_put_signed(b, request->tag);
		buffer_put(b, request->ordinal);
		buffer_put(b, request->bytes);
		buffer_put(b, request->site);
		buffer_put_index(b, request->lane);
		buffer_put(b, model->now_ns - request->since_ns);
	}
}

static void save_operation(struct buffer *b, const struct model_operation *operation)
{
	buffer_put(b, operation->kind);
	buffer_put(b, operation->flags);
	buffer_put(b, operation->number);
	for (int i = 0; i < model_num_transfers(operation->kind); i++) {
		const struct model_transfer *transfer = &operation->transfers[i];

		buffer_put_index(b, transfer->comm);
		buffer_put_signed(b, transfer->peer);
		buffer_put_signed(b, transfer->tag);
		buffer_put(b, transfer->ordinal);
		buffer_put(b, transfer->bytes);
	}
	buffer_put(b, operation->num_waited);
	for (size_t i = 0; i < operation->num_waited; i++)
		buffer_put(b, operation->waited[i]);
}

static void save_ledger(struct buffer *b, const struct model *model, const struct model_lane *lane)
{
	buffer_put(b, lane->dropped_ledger);
	buffer_put(b, lane->num_ledger);
	for (size_t i = 0; i < lane->num_ledger; i++) {
		const struct model_ledger *row = &lane->ledger[i];

		buffer_put_index(b, row->comm);
		buffer_put_signed(b, model_ledger_peer(model, row));
		buffer_put_signed(b, row->tag);
		buffer_put(b, row->cancelled);
		buffer_put(b, row->sends);
		buffer_put(b, row->sends_done);
		buffer_put(b, row->receives);
		buffer_put(b, row->receives_done);
		buffer_put(b, row->taken);
	}
}

/* States and times apart: both repeat, but not together. */
static void save_ring(struct saver *s, const struct model *model, const struct model_lane *lane)
{
	size_t num = lane->num_ring < s->max_ring ? lane->num_ring : s->max_ring;
	const struct model_event *ring = lane->ring + (lane->num_ring - num);

	buffer_put(&s->section, num);
	for (size_t i = 0; i < num; i++)
		buffer_put(&s->section, ring[i].state);
	for (size_t i = num; i > 0; i--)
		buffer_put(&s->section, (i == num ? model->now_ns : ring[i].ns) - ring[i - 1].ns);
}

static void save_lane(struct saver *s, const struct model *model, const struct model_lane *lane)
{
	struct buffer *b = &s->section;

	buffer_put(b, (lane->is_main ? SNAPSHOT_LANE_MAIN : 0u) |
			      (lane->has_ended ? SNAPSHOT_LANE_ENDED : 0u) |
			      (lane->is_consistent ? SNAPSHOT_LANE_CONSISTENT : 0u) |
			      (lane->in_poll ? SNAPSHOT_LANE_IN_POLL : 0u));
	buffer_put_signed(b, lane->tid);
	buffer_put(b, lane->state);
	buffer_put(b, model->now_ns - lane->since_ns);
	buffer_put(b, model->now_ns - lane->first_ns);
	buffer_put(b, lane->events);
	buffer_put(b, lane->poll_site);
	buffer_put(b, lane->polls);
	buffer_put(b, lane->last_poll_ns);
	buffer_put(b, lane->num_transitions);
	for (size_t i = 0; i < lane->num_transitions; i++) {
		buffer_put(b, lane->transitions[i].from);
		buffer_put(b, lane->transitions[i].to);
		buffer_put(b, lane->transitions[i].count);
	}
	for (size_t i = 0; i < 2 * model->num_sites; i++)
		buffer_put(b, model_lane_stay(lane, (uint32_t)i));
	for (size_t i = 0; i < 2 * model->num_sites; i++)
		buffer_put(b, lane->state_polls[i]);
	save_ring(s, model, lane);
	buffer_put(b, lane->last_events - lane->events);
	save_operation(b, &lane->operation);
	save_ledger(b, model, lane);
}

static void save_model(struct saver *s, const struct job_rank *rank)
{
	const struct model *model = rank->model;
	struct buffer *b = &s->section;

	buffer_put_signed(b, rank->rank);
	buffer_put(b, rank->shape);
	buffer_put_signed(b, model->rank);
	buffer_put_signed(b, model->size);
	buffer_put_signed(b, model->pid);
	buffer_put(b, model->pid_start);
	buffer_put(b, model->uid);
	buffer_put(b, model->life);
	buffer_put_signed(b, model->thread_level);
	put_string(s, model->program->host);
	put_string(s, model->program->job);
	put_string(s, model->program->mpi_library);
	put_string(s, model->program->executable);
	buffer_put(b, model->now_ns);
	buffer_put(b, model->now_real_ns);
	buffer_put(b, model->program->dropped_strings);
	buffer_put(b, model->program->dropped_modules);
	buffer_put(b, model->program->dropped_frames);
	buffer_put(b, model->program->dropped_sites);
	buffer_put(b, model->program->dropped_transitions);
	buffer_put(b, model->program->dropped_lanes);
	buffer_put(b, model->full_unwinds);
	buffer_put(b, model->abandoned);
	buffer_put(b, model->bytes);
	buffer_put(b, model->program->dropped_comms);
	buffer_put(b, model->program->dropped_members);
	buffer_put(b, model->program->dropped_requests);
	buffer_put(b, model->num_comms);
	for (size_t i = 0; i < model->num_comms; i++)
		save_comm(s, model, i);
	save_requests(s, model);
	buffer_put(b, model->num_lanes);
	for (size_t i = 0; i < model->num_lanes; i++)
		save_lane(s, model, &model->lanes[i]);
	end_section(s, SNAPSHOT_MODEL);
}

static void save_job_model(struct saver *s, const struct job_model *jm)
{
	const struct job_model_private *p = jm->private;
	uint32_t num_shapes = 0;

	s->max_ring = SNAPSHOT_MAX_RING_TOTAL / (jm->num_lanes ? jm->num_lanes : 1);
	for (size_t i = 0; i < p->num_ranks; i++) {
		/* Shapes are numbered in the order in which ranks first had them. */
		if (p->ranks[i].shape == num_shapes) {
			save_shape(s, p->ranks[i].model);
			num_shapes++;
		}
		save_model(s, &p->ranks[i]);
	}
	buffer_put(&s->section, jm->num_lanes);
	for (size_t i = 0; i < jm->num_lanes; i++) {
		const struct job_lane *lane = &jm->lanes[i];

		buffer_put(&s->section, (lane->has_second_look ? SNAPSHOT_LOOK_TAKEN : 0u) |
						(lane->has_moved ? SNAPSHOT_LOOK_MOVED : 0u) |
						(lane->has_polled ? SNAPSHOT_LOOK_POLLED : 0u));
		buffer_put(&s->section, lane->moves);
	}
	end_section(s, SNAPSHOT_LOOKS);
}

static void save_values(struct buffer *b, const struct sample *sample)
{
	uint32_t depth = 0;

	buffer_put(b, sample->num_values);
	for (size_t i = 0; i < sample->num_values; i++) {
		const struct sample_value *value = &sample->values[i];

		buffer_put(b, value->depth - depth);
		buffer_put(b, value->probe);
		buffer_put_signed(b, value->value);
		depth = value->depth;
	}
}

static void save_samples(struct saver *s, const struct samples *samples)
{
	struct buffer *b = &s->section;

	buffer_put(b, samples->num_samples);
	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		buffer_put_signed(b, sample->rank);
		buffer_put_signed(b, sample->tid);
		buffer_put(b, sample->is_main);
		buffer_put(b, sample->status);
		buffer_put_index(b, sample->path);
		buffer_put(b, (uint8_t)sample->state);
		buffer_put(b, sample->when_ns);
		buffer_put(b, sample->stopped_ns);
		put_string(s, sample->note);
		save_values(b, sample);
	}
	end_section(s, SNAPSHOT_SAMPLES);
}

static bool has_queues(const struct samples *samples)
{
	for (size_t i = 0; i < samples->num_samples; i++)
		if (samples->samples[i].queues)
			return true;
	return false;
}

/* Of each sample: how many have none before it. */
static void save_queues(struct saver *s, const struct samples *samples)
{
	struct buffer *b = &s->section;
	size_t next = 0;

	for (size_t i = 0; i < samples->num_samples && b->num < SNAPSHOT_MAX_QUEUES; i++) {
		if (!samples->samples[i].queues)
			continue;
		buffer_put(b, i - next);
		queue_bytes_put(b, samples->samples[i].queues, samples->samples[i].rank);
		next = i + 1;
	}
	end_section(s, SNAPSHOT_QUEUES);
}

static void save_holes(struct saver *s, const struct job *job)
{
	buffer_put(&s->section, job->num_holes);
	for (size_t i = 0; i < job->num_holes; i++) {
		buffer_put_signed(&s->section, job->holes[i].rank);
		put_string(s, job->holes[i].why);
	}
	end_section(s, SNAPSHOT_HOLES);
}

static void save_crashes(struct saver *s, const struct job *job)
{
	buffer_put(&s->section, job->num_crashes);
	for (size_t i = 0; i < job->num_crashes; i++) {
		const struct job_crash *crash = &job->crashes[i];

		buffer_put_signed(&s->section, crash->rank);
		buffer_put_signed(&s->section, crash->tid);
		buffer_put_signed(&s->section, crash->signal);
		buffer_put(&s->section, (crash->is_fault ? SNAPSHOT_CRASH_FAULT : 0u) |
						(crash->is_sent ? SNAPSHOT_CRASH_SENT : 0u) |
						(crash->has_address ? SNAPSHOT_CRASH_ADDRESS : 0u));
		buffer_put(&s->section, crash->address);
	}
	end_section(s, SNAPSHOT_CRASHES);
}

static void save_code(struct saver *s, const struct job *job)
{
	size_t num = code_store_count(job->code);

	buffer_put(&s->section, job->num_probes);
	for (size_t i = 0; i < job->num_probes; i++) {
		buffer_put_index(&s->section, job->probes[i].module);
		code_bytes_put_probe(&s->section, &job->probes[i]);
	}
	buffer_put(&s->section, num);
	for (size_t i = 0; i < num; i++) {
		const struct code_body *body = code_store_get(job->code, i);

		buffer_put_index(&s->section, body->module);
		code_bytes_put_function(&s->section, body->function, body->variables);
	}
	end_section(s, SNAPSHOT_CODE);
}

static void save_all(struct saver *s, const struct job *job)
{
	uint8_t header[SNAPSHOT_HEADER_SIZE] = SNAPSHOT_MAGIC;

	header[8] = SNAPSHOT_VERSION;
	compress(s, header, sizeof(header), ZSTD_e_continue);
	save_job(s, job);
	save_proctable(s, job->proctable);
	save_modules(s, job->modules);
	save_callpaths(s, job->callpaths);
	save_names(s, job);
	if (job->model)
		save_job_model(s, job->model);
	save_samples(s, job->samples);
	save_holes(s, job);
	if (job->num_crashes)
		save_crashes(s, job);
	if (job->num_probes || code_store_count(job->code))
		save_code(s, job);
	if (snapshot_put_traces(&s->section, job->model))
		end_section(s, SNAPSHOT_TRACES);
	if (has_queues(job->samples))
		save_queues(s, job->samples);
	end_section(s, SNAPSHOT_END);
	compress(s, NULL, 0, ZSTD_e_end);
}

/* ---- The file ---- */

static int save_to(FILE *file, const struct job *job, struct pdb_error *err)
{
	struct saver s = {.file = file, .zstd = ZSTD_createCStream()};
	struct string_id *id, *next;
	struct list_id *list, *next_list;
	int status = 0;

	if (!s.zstd)
		return error_set(err, ERROR_SYSTEM, "zstd: out of memory");
	ZSTD_CCtx_setParameter(s.zstd, ZSTD_c_checksumFlag, 1);
	save_all(&s, job);
	if (!s.has_failed && (fflush(file) != 0 || fsync(fileno(file)) != 0)) {
		s.has_failed = true;
		s.number = errno;
	}
	errno = s.number;
	if (s.why)
		status = error_set(err, ERROR_SYSTEM, "zstd: %s", s.why);
	else if (s.has_failed)
		status = error_errno(err, "writing");
	HASH_ITER(hh, s.ids, id, next)
	{
		HASH_DEL(s.ids, id);
		free(id);
	}
	HASH_ITER(hh, s.list_ids, list, next_list)
	{
		HASH_DEL(s.list_ids, list);
		free(list);
	}
	free(s.lists.bytes);
	free(s.section.bytes);
	free(s.strings.bytes);
	ZSTD_freeCStream(s.zstd);
	return status;
}

/* A renamed file takes the place of whatever has the name: of /dev/null too, if root says so. */
static bool may_replace(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode);
}

/* A file that is to be renamed. Returns its descriptor, -1 with *err; the caller frees
 * *name_ret. */
static int open_beside(const char *path, char **name_ret, struct pdb_error *err)
{
	char *name;
	int fd;

	if (!may_replace(path))
		return error_set(err, ERROR_USAGE,
				 "%s is there and is no regular file; give another name", path);
	name = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		free(name);
		return error_errno(err, "%s", path);
	}
	*name_ret = name;
	return fd;
}

int snapshot_check_path(const char *path, struct pdb_error *err)
{
	char *beside;
	int fd = open_beside(path, &beside, err);

	if (fd < 0)
		return -1;
	close(fd);
	unlink(beside);
	free(beside);
	return 0;
}

int snapshot_save(const struct job *job, const char *path, struct pdb_error *err)
{
	char *beside;
	FILE *file;
	int fd, status;

	fd = open_beside(path, &beside, err);
	if (fd < 0)
		return -1;
	file = fdopen(fd, "w");
	if (!file) {
		status = error_errno(err, "%s", path);
		close(fd);
	} else {
		status = save_to(file, job, err);
		if (fclose(file) != 0 && status == 0)
			status = error_errno(err, "writing");
		if (status == 0 && rename(beside, path) != 0)
			status = error_errno(err, "renaming");
		if (status < 0)
			error_prefix(err, "%s", path);
	}
	if (status < 0)
		unlink(beside);
	free(beside);
	return status;
}
