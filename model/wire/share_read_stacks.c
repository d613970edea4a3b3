/* SPDX-License-Identifier: BSD-3-Clause
 * Samples, and names of frames. */

#include <uthash.h>

#include "model/job/blocked.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/variables.h"
#include "model/wire/queue_bytes.h"
#include "model/wire/share_read.h"
#include "model/wire/variable_bytes.h"

/* ---- Samples ---- */

/* Many ranks have the same: it is read once. */
static const struct sample *read_stack(struct share_reader *r, struct job *job, uint32_t item)
{
	struct share_stack *stack = &r->stacks[item];

	if (!stack->is_read) {
		stack->is_read = true;
		share_reader_begin_item(r, SHARE_SAMPLES, item);
		share_item_stack(&r->own, job, &stack->sample);
		share_reader_end(r);
		arena_keep(r->arena, stack->sample.note, free);
	}
	return &stack->sample;
}

/* What is not told follows from what is: the main thread's number is that of the process, and
 * samples of a thread follow each other in time. */
static void read_sample_times(struct share_reader *r, const struct job *job, size_t number,
			      struct sample *sample)
{
	const struct proc *proc;

	if (r->share->parts & SHARE_STACKS_ONLY) {
		proc = proctable_find(job->proctable, sample->rank);
		sample->tid = proc ? proc->pid : 0;
		sample->when_ns = number;
		return;
	}
	share_reader_begin(r, SHARE_SAMPLE_TIMES, sample->rank, number);
	share_item_sample_times(&r->own, sample);
	share_reader_end(r);
}

static void read_values(struct share_reader *r, struct sample *sample)
{
	struct sample_value value;
	size_t capacity = 0;
	uint32_t depth = 0;

	while (r->in.at < r->in.end && decoder_charge(&r->in, 2, sizeof(value))) {
		share_item_value(&r->own, &value, &depth);
		*XPUSH(sample->values, sample->num_values, capacity) = value;
	}
}

/* Does the sample have an item in a column that not all have? Then it is begun. */
static bool begin_optional(struct share_reader *r, enum share_column_id id, int rank, size_t number)
{
	if (r->in.is_bad || share_reader_count(r, id, rank, SHARE_MAX_ITEMS) <= number)
		return false;
	share_reader_begin(r, id, rank, number);
	return r->in.at < r->in.end && !r->in.is_bad;
}

int share_read_sample(struct share_reader *r, struct job *job, int rank, size_t number,
		      struct pdb_error *err)
{
	uint32_t item = share_reader_item(r, SHARE_SAMPLES, rank, number);

	(void)err;
	if (r->in.is_bad)
		return 0;
	struct sample sample = *read_stack(r, job, item);
	sample.rank = rank;
	read_sample_times(r, job, number, &sample);
	/* Each of its frames is gone through, and has a place in trees. */
	if (sample.path != CALLPATH_NONE)
		decoder_charge(&r->in, 4, callpaths_get(job->callpaths, sample.path)->depth);
	decoder_charge(&r->in, 1, sizeof(sample) + (sample.note ? strlen(sample.note) + 1 : 0));
	if (begin_optional(r, SHARE_VALUES, rank, number))
		read_values(r, &sample);
	if (begin_optional(r, SHARE_QUEUES, rank, number)) {
		queue_bytes(&r->own, &sample.queues, rank);
		share_reader_end(r);
	}
	if (begin_optional(r, SHARE_VARIABLES, rank, number)) {
		variable_bytes(&r->own, &sample.variables);
		share_reader_end(r);
	}
	if (r->in.is_bad) {
		free(sample.values);
		message_queues_destroy(sample.queues);
		variables_destroy(sample.variables);
		blocked_destroy(sample.blocked);
		return 0;
	}
	sample.note = sample.note ? xstrdup(sample.note) : NULL;
	samples_add(job->samples, &sample);
	return 0;
}

/* ---- Names ---- */

/* A name until it has its place, and what commands need of it. */
enum { NAME_COST = 800 };

struct frame_name {
	UT_hash_handle hh;
	struct share_frame frame;
	struct name *name; /* innermost first */
	size_t num, capacity;
	bool is_set; /* of a path that there is */
};

static void destroy_name(struct frame_name *name)
{
	for (size_t i = 0; i < name->num; i++) {
		free((char *)name->name[i].function);
		free((char *)name->name[i].file);
		free((char *)name->name[i].full_file);
	}
	free(name->name);
	free(name);
}

/* The name at hand and the callers that it is inlined into. */
static void take_chain(struct share_reader *r, struct frame_name *ret)
{
	bool has_caller = true;

	while (has_caller && decoder_charge(&r->in, 2, sizeof(struct name))) {
		struct name *name;

		if (ret->num == NAMES_MAX_CHAIN) {
			r->in.is_bad = true;
			return;
		}
		name = XPUSH(ret->name, ret->num, ret->capacity);
		*name = (struct name){.line = 0};
		share_item_name(&r->own, name, &has_caller);
	}
	for (size_t i = 0; i + 1 < ret->num; i++)
		ret->name[i].caller = &ret->name[i + 1];
}

/* The name at hand; where nodes differ the one that is a symbol is kept. */
static void read_name(struct share_reader *r, struct job *job, struct frame_name **names)
{
	struct frame_name *name = xcalloc(1, sizeof(*name)), *other;

	share_item_frame(&r->own, job, &name->frame);
	take_chain(r, name);
	share_reader_end(r);
	decoder_charge(&r->in, 1, sizeof(*name) + NAME_COST);
	HASH_FIND(hh, *names, &name->frame, sizeof(name->frame), other);
	if (r->in.is_bad || (other && (other->name->is_symbol || !name->name->is_symbol))) {
		destroy_name(name);
		return;
	}
	if (other) {
		HASH_DEL(*names, other);
		destroy_name(other);
	}
	HASH_ADD(hh, *names, frame, sizeof(name->frame), name);
}

/* A frame that no path has was asked for by its address: it is one by itself. */
static void set_names(struct job *job, struct frame_name *names)
{
	struct frame_name *name;

	for (size_t i = 0; i < callpaths_count(job->callpaths); i++) {
		const struct callpath_node *node = callpaths_get(job->callpaths, (uint32_t)i);
		struct share_frame frame = {node->offset, node->module, node->is_return};

		HASH_FIND(hh, names, &frame, sizeof(frame), name);
		if (!name)
			continue;
		names_set(job->names, (uint32_t)i, name->name);
		name->is_set = true;
	}
	for (name = names; name; name = name->hh.next) {
		const struct share_frame *frame = &name->frame;

		if (!name->is_set)
			names_set(job->names,
				  callpaths_intern(job->callpaths, CALLPATH_NONE, frame->module,
						   frame->offset, frame->is_return),
				  name->name);
	}
}

int share_read_names(struct share_reader *r, struct job *job, struct pdb_error *err)
{
	size_t num = r->share->columns[SHARE_NAMES_COLUMN].items.num;
	struct frame_name *names = NULL, *name, *next;

	for (size_t i = 0; i < num && !r->in.is_bad; i++) {
		share_reader_begin_item(r, SHARE_NAMES_COLUMN, (uint32_t)i);
		read_name(r, job, &names);
	}
	if (!r->in.is_bad)
		set_names(job, names);
	HASH_ITER(hh, names, name, next)
	{
		HASH_DEL(names, name);
		destroy_name(name);
	}
	return r->in.is_bad ? share_reader_refuse(r, "names", err) : 0;
}
