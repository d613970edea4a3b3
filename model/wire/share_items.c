/* SPDX-License-Identifier: BSD-3-Clause
 * Items of ranks and of samples. */

#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/sample.h"
#include "model/clean_text.h"
#include "model/wire/code_bytes.h"
#include "model/wire/share_items.h"

/* A node of a tree with its sets of ranks. */
enum { FRAME_COST = 800 };

/* ---- Tables and process ---- */

static void shape_strings(struct codec *c, struct model *model)
{
	const uint8_t *bytes = (const uint8_t *)model->strings;

	CODEC_TABLE(c, model->strings, model->num_strings, SEG_MAX_STRINGS + 1, 1);
	CODEC_FIELD(c, bytes, buffer_put_bytes(c->to, bytes, model->num_strings),
		    decoder_take_bytes(c->from, model->num_strings));
	if (c->to || !bytes || !model->num_strings)
		return;
	memcpy(model->strings, bytes, model->num_strings);
	clean_text(model->strings, model->num_strings);
}

static void shape_site(struct codec *c, const struct model *model, struct model_site *site)
{
	size_t name = c->to ? (size_t)(site->name - model->strings) : 0;

	CODEC_INDEX(c, site->frame, model->num_frames);
	CODEC_BELOW(c, name, model->num_strings ? model->num_strings - 1 : 0);
	if (c->from)
		site->name = model->strings + name;
	CODEC(c, site->class_id);
	CODEC(c, site->language);
}

void share_item_shape(struct codec *c, struct model *model)
{
	shape_strings(c, model);
	CODEC_TABLE(c, model->modules, model->num_modules, SEG_MAX_MODULES, 2);
	for (size_t i = 0; i < model->num_modules && codec_goes_on(c); i++) {
		struct model_module *module = &model->modules[i];

		CODEC_TEXT(c, module->path);
		codec_bytes(c, module->build_id, &module->build_id_size, sizeof(module->build_id));
	}
	CODEC_TABLE(c, model->frames, model->num_frames, SEG_MAX_FRAMES, 3);
	for (size_t i = 0; i < model->num_frames && codec_goes_on(c); i++) {
		CODEC_INDEX(c, model->frames[i].parent, i);
		CODEC_INDEX(c, model->frames[i].module, model->num_modules);
		CODEC(c, model->frames[i].offset);
	}
	CODEC_TABLE(c, model->sites, model->num_sites, SEG_MAX_SITES, 4);
	for (size_t i = 0; i < model->num_sites && codec_goes_on(c); i++)
		shape_site(c, model, &model->sites[i]);
}

void share_item_program(struct codec *c, struct share_program *of)
{
	struct model_program *program = of->program;

	CODEC_BELOW(c, of->size, INT32_MAX);
	CODEC(c, of->uid);
	CODEC_BELOW(c, of->life, SEG_LIFE_STOPPED);
	CODEC_INT(c, of->thread_level);
	codec_text_field(c, program->host, sizeof(program->host));
	codec_text_field(c, program->job, sizeof(program->job));
	codec_text_field(c, program->mpi_library, sizeof(program->mpi_library));
	codec_text_field(c, program->executable, sizeof(program->executable));
	CODEC(c, program->dropped_strings);
	CODEC(c, program->dropped_modules);
	CODEC(c, program->dropped_frames);
	CODEC(c, program->dropped_sites);
	CODEC(c, program->dropped_transitions);
	CODEC(c, program->dropped_lanes);
	CODEC(c, program->dropped_comms);
	CODEC(c, program->dropped_members);
	CODEC(c, program->dropped_requests);
}

void share_item_process(struct codec *c, struct model *model, int rank)
{
	CODEC_NEAR(c, model->rank, rank, -1, SHARE_MAX_RANKS);
	CODEC_INT(c, model->pid);
	CODEC(c, model->pid_start);
	CODEC(c, model->now_ns);
	CODEC_AROUND(c, model->now_real_ns, model->now_ns);
	CODEC(c, model->full_unwinds);
	CODEC(c, model->abandoned);
	CODEC(c, model->bytes);
}

/* ---- Evidence ---- */

void share_item_comm(struct codec *c, const struct model *model, struct model_comm *comm,
		     uint32_t lists[SHARE_COMM_LISTS])
{
	uint64_t word = (uint64_t)comm->kind << 2 |
			(comm->parent_id == SHARE_SELF_ID ? SHARE_PARENT_IS_SELF : 0u) |
			(comm->id == SHARE_SELF_ID ? SHARE_ID_IS_SELF : 0u);
	size_t name = comm->name ? (size_t)(comm->name - model->strings) + 1 : 0;

	CODEC_BELOW(c, word, SEG_COMM_FILE << 2 | 3);
	if (c->from) {
		comm->kind = (enum seg_comm_kind)(word >> 2);
		comm->id = comm->parent_id = SHARE_SELF_ID;
	}
	if (!(word & SHARE_ID_IS_SELF))
		CODEC(c, comm->id);
	if (!(word & SHARE_PARENT_IS_SELF))
		CODEC(c, comm->parent_id);
	CODEC(c, comm->site);
	CODEC(c, comm->ordinal);
	CODEC(c, comm->size);
	CODEC(c, lists[0]);
	CODEC(c, comm->remote_size);
	CODEC(c, lists[1]);
	CODEC(c, comm->num_sources);
	CODEC(c, lists[2]);
	CODEC_BELOW(c, name, model->num_strings);
	if (c->from && name)
		comm->name = model->strings + (name - 1);
	CODEC_BELOW(c, comm->is_freed, 1);
	if (!codec_has_part(c, comm->num_destinations > 0))
		return;
	CODEC(c, comm->num_destinations);
	CODEC(c, lists[3]);
}

/* Ranks mostly go up by one, which is 0 here. */
void share_item_members(struct codec *c, int32_t *members, size_t num)
{
	int64_t expected = 0;

	for (size_t i = 0; i < num && codec_goes_on(c); i++) {
		CODEC_NEAR(c, members[i], expected, -1, INT32_MAX);
		expected = (int64_t)members[i] + 1;
	}
}

/* So that no sum of it and a rank is too large for an int. */
void share_item_comm_rank(struct codec *c, int32_t *rank)
{
	CODEC_NEAR(c, *rank, 0, -2 * SHARE_MAX_RANKS, 2 * SHARE_MAX_RANKS);
}

void share_item_collectives(struct codec *c, struct model_comm *comm)
{
	size_t num = 0;

	CODEC(c, comm->collectives);
	while (num < SEG_RECENT && comm->recent[num].number)
		num++;
	codec_count(c, &num, SEG_RECENT, 4);
	for (size_t i = 0; i < num; i++) {
		struct model_collective *started = &comm->recent[i];

		CODEC_AGO(c, started->number, comm->collectives);
		CODEC(c, started->bytes);
		CODEC(c, started->site);
		CODEC_INT(c, started->root);
	}
}

static void request_fields(struct codec *c, const struct model *model,
			   struct model_request *request)
{
	CODEC_BELOW(c, request->kind, SEG_REQUEST_OTHER);
	CODEC(c, request->flags);
	CODEC_INDEX(c, request->comm, UINT32_MAX);
	codec_peer(c, &request->peer, share_peer_base(model, request->comm));
	CODEC_INT(c, request->tag);
	CODEC(c, request->ordinal);
	CODEC(c, request->bytes);
	CODEC(c, request->site);
	CODEC_INDEX(c, request->lane, UINT32_MAX);
	CODEC_AGO(c, request->since_ns, model->now_ns);
}

/* Those that are used, each with the number of free ones before it: free slots take no room. */
void share_item_requests(struct codec *c, struct model *model)
{
	size_t used = 0, slot = 0, free_slots;

	for (size_t i = 0; c->to && i < model->num_requests; i++)
		used += model->requests[i].kind != SEG_REQUEST_FREE;
	CODEC_BELOW(c, model->num_requests, SEG_MAX_REQUESTS);
	if (c->from) {
		model->requests = codec_allocate(c, &model->num_requests, sizeof(*model->requests));
		for (size_t i = 0; i < model->num_requests; i++)
			model->requests[i].comm = SEG_NO_COMM;
	}
	codec_count(c, &used, model->num_requests, 11);
	for (; used > 0 && codec_goes_on(c); used--) {
		for (free_slots = 0; c->to; free_slots++)
			if (model->requests[slot + free_slots].kind != SEG_REQUEST_FREE)
				break;
		CODEC_BELOW(c, free_slots, SEG_MAX_REQUESTS);
		slot += free_slots;
		codec_refuse(c, slot >= model->num_requests);
		if (codec_goes_on(c))
			request_fields(c, model, &model->requests[slot++]);
	}
}

/* ---- Samples ---- */

/* Frames from the outermost on, with their modules. */
static void sample_path(struct codec *c, struct job *job, uint32_t *path)
{
	struct callpaths *paths = job->callpaths;
	uint32_t made = CALLPATH_NONE;
	size_t depth = 0;

	if (c->to && *path != CALLPATH_NONE)
		depth = callpaths_get(paths, *path)->depth + 1;
	codec_count(c, &depth, CALLPATH_MAX_FRAMES, 3);
	for (uint32_t d = 0; d < depth && codec_goes_on(c); d++) {
		struct callpath_node node = {.module = MODULE_NONE};
		size_t before = callpaths_count(paths);

		if (c->to)
			node = *callpaths_get(paths, callpaths_at_depth(paths, *path, d));
		bool has_module = node.module != MODULE_NONE;
		CODEC_BELOW(c, node.is_return, 1);
		CODEC(c, node.offset);
		CODEC_BELOW(c, has_module, 1);
		if (has_module)
			code_bytes_module(c, job->modules, &node.module);
		if (c->to || !decoder_charge(c->from, 2, sizeof(node)))
			continue;
		made = callpaths_intern(paths, made, node.module, node.offset, node.is_return);
		if (callpaths_count(paths) > before)
			decoder_charge(c->from, 1, FRAME_COST);
	}
	if (c->from)
		*path = made;
}

void share_item_stack(struct codec *c, struct job *job, struct sample *sample)
{
	CODEC_BELOW(c, sample->is_main, 1);
	CODEC_BELOW(c, sample->status, SAMPLE_FAILED);
	CODEC_FIELD(c, sample->state, buffer_put(c->to, (uint8_t)sample->state),
		    (char)decoder_take_below(c->from, 0x7f));
	CODEC_OPTIONAL(c, sample->note);
	sample_path(c, job, &sample->path);
}

/* Of no call the name is empty. */
static void blocked_item(struct codec *c, struct blocked **ret)
{
	struct blocked texts = c->to ? **ret : (struct blocked){.call = NULL};
	char none[] = "";

	if (c->to && !texts.call)
		texts.call = none;
	CODEC_TEXT(c, texts.call);
	CODEC_OPTIONAL(c, texts.object);
	CODEC_OPTIONAL(c, texts.place);
	CODEC_OPTIONAL(c, texts.reason);
	CODEC_OPTIONAL(c, texts.kernel);
	/* Older ones end here. */
	if (codec_has_part(c, texts.stack || texts.around || texts.limit)) {
		CODEC_OPTIONAL(c, texts.stack);
		CODEC_OPTIONAL(c, texts.around);
		CODEC_OPTIONAL(c, texts.limit);
	}
	if (c->to)
		return;
	if (texts.call && !*texts.call) {
		free(texts.call);
		texts.call = NULL;
	}
	decoder_charge(c->from, 1, sizeof(texts));
	*ret = xcalloc(1, sizeof(texts));
	**ret = texts;
}

void share_item_sample_times(struct codec *c, struct sample *sample)
{
	CODEC_INT(c, sample->tid);
	CODEC(c, sample->when_ns);
	CODEC(c, sample->stopped_ns);
	/* Older ones end here, and so do those of threads that wait for nobody. */
	if (!codec_has_part(c, sample->wait.kind != SAMPLE_WAIT_NONE || sample->blocked))
		return;
	CODEC_BELOW(c, sample->wait.kind, SAMPLE_WAIT_LAST);
	CODEC_BELOW(c, sample->wait.is_timed, 1);
	CODEC_NEAR(c, sample->wait.tid, sample->tid, 0, INT32_MAX);
	if (codec_has_part(c, sample->blocked != NULL))
		blocked_item(c, &sample->blocked);
}

void share_item_hole(struct codec *c, struct job_hole *hole)
{
	struct job_end *end = &hole->end;

	CODEC_TEXT(c, hole->why);
	/* Older ones end here. */
	if (!codec_has_part(c, end->how != JOB_END_UNKNOWN || end->oom_kills))
		return;
	CODEC_BELOW(c, end->how, JOB_END_KILLED);
	CODEC_BELOW(c, end->number, INT32_MAX);
	CODEC_FLAGS(c, &end->has_core, &end->is_chosen, &end->has_cgroup);
	CODEC(c, end->oom_kills);
	CODEC(c, end->ago_ns);
}

void share_item_value(struct codec *c, struct sample_value *value, uint32_t *depth)
{
	CODEC_FIELD(c, value->depth, buffer_put(c->to, value->depth - *depth),
		    *depth + (uint32_t)decoder_take_below(c->from, UINT32_MAX - *depth));
	*depth = value->depth;
	CODEC(c, value->probe);
	CODEC_SIGNED(c, value->value);
}

void share_item_frame(struct codec *c, struct job *job, struct share_frame *frame)
{
	code_bytes_module(c, job->modules, &frame->module);
	CODEC(c, frame->offset);
	CODEC_BELOW(c, frame->is_return, 1);
}

void share_item_name(struct codec *c, struct name *name, bool *has_caller)
{
	CODEC_TEXT(c, name->function);
	CODEC_OPTIONAL(c, name->file);
	CODEC_OPTIONAL(c, name->full_file);
	CODEC_INT(c, name->line);
	CODEC_FLAGS(c, &name->is_symbol, &name->is_library, has_caller);
}
