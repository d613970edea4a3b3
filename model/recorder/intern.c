/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/intern.h"

/* Index of the frame, added if it is new; SEG_NO_FRAME when there is no room. */
static uint32_t intern_frame(struct intern *in, struct writer *w, struct seg_frame frame)
{
	const struct seg_frame *frames = writer_entries(w, SEG_TABLE_FRAMES);
	uint64_t key = idhash_mix((uint64_t)frame.parent << 32 | frame.module, frame.offset);
	uint32_t id = IDHASH_FIND(&in->frames, key, at,
				  frames[at].parent == frame.parent &&
					  frames[at].module == frame.module &&
					  frames[at].offset == frame.offset);

	if (id != IDHASH_NONE)
		return id;
	struct seg_frame *to = writer_next(w, SEG_TABLE_FRAMES, 1, &id);
	if (!to || !idhash_add(&in->frames, key, id))
		return SEG_NO_FRAME;
	*to = frame;
	writer_publish(w, SEG_TABLE_FRAMES, 1);
	return id;
}

static bool push(struct intern *in, struct writer *w, uint32_t *node, uint32_t module,
		 uint64_t offset)
{
	*node = intern_frame(in, w, (struct seg_frame){*node, module, offset});
	return *node != SEG_NO_FRAME;
}

/* Innermost frame of the path, or SEG_NO_FRAME when it could not be stored whole. */
static uint32_t intern_path(struct intern *in, struct objects *objects, struct writer *w,
			    const struct call_path *path)
{
	uint32_t node = SEG_NO_FRAME, module;
	uint64_t offset;

	for (uint32_t i = path->num_frames + 1; i-- > 0;) {
		if (i < path->num_frames &&
		    (!objects_find(objects, w, path->slots[i].value, &module, &offset) ||
		     !push(in, w, &node, module, offset)))
			return SEG_NO_FRAME;
		if (i == path->elided_at && i > 0 && !push(in, w, &node, SEG_NO_FRAME, SEG_ELIDED))
			return SEG_NO_FRAME;
	}
	return node;
}

static uint32_t add_site(struct intern *in, struct writer *w, const struct seg_site *site,
			 uint32_t limit)
{
	uint64_t key = idhash_mix(site->frame, (uint64_t)site->language << 32 | site->name);
	const struct seg_site *sites = writer_entries(w, SEG_TABLE_SITES);
	uint32_t id = IDHASH_FIND(&in->sites, key, at,
				  sites[at].frame == site->frame && sites[at].name == site->name &&
					  sites[at].language == site->language);

	if (id != IDHASH_NONE)
		return id;
	struct seg_table *table = &w->header->tables[SEG_TABLE_SITES];
	if (relaxed_get(&table->count) >= limit) {
		relaxed_add(&table->dropped, 1);
		return 0;
	}
	struct seg_site *to = writer_next(w, SEG_TABLE_SITES, 1, &id);
	if (!to || !idhash_add(&in->sites, key, id))
		return 0;
	*to = *site;
	writer_publish(w, SEG_TABLE_SITES, 1);
	return id;
}

uint32_t intern_site(struct intern *in, struct objects *objects, struct writer *w,
		     struct recorder_function *function, const struct call_path *path)
{
	uint32_t id = 0;

	if (!function->name_offset)
		function->name_offset = writer_string(w, function->name);
	if (!function->name_offset)
		return 0;
	struct seg_site site = {
		.frame = intern_path(in, objects, w, path),
		.name = function->name_offset,
		.class_id = function->class_id,
		.language = function->language,
	};
	if (site.frame != SEG_NO_FRAME)
		id = add_site(in, w, &site, SEG_MAX_SITES - INTERN_PATHLESS_SITES);
	if (id)
		return id;
	site.frame = SEG_NO_FRAME;
	return add_site(in, w, &site, SEG_MAX_SITES);
}

uint32_t intern_function(struct intern *in, struct objects *objects, struct writer *w,
			 uintptr_t address)
{
	struct seg_frame frame = {.parent = SEG_NO_FRAME};

	/* As a return address would be: one byte into it. */
	if (!objects_find(objects, w, address + 1, &frame.module, &frame.offset))
		return SEG_NO_FRAME;
	return intern_frame(in, w, frame);
}
