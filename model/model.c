/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "model/error.h"
#include "model/model.h"
#include "model/xalloc.h"

struct model *model_create(void)
{
	return xcalloc(1, sizeof(struct model));
}

void model_destroy(struct model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->num_modules; i++)
		free(model->modules[i].path);
	for (size_t i = 0; i < model->num_lanes; i++) {
		free(model->lanes[i].transitions);
		free(model->lanes[i].longest_ns);
		free(model->lanes[i].state_polls);
		free(model->lanes[i].ring);
	}
	free(model->strings);
	free(model->modules);
	free(model->frames);
	free(model->sites);
	free(model->lanes);
	free(model);
}

static int wrong(struct pdb_error *err, const char *what, size_t index)
{
	return error_set(err, ERROR_FORMAT, "%s %zu is not valid", what, index);
}

static bool has_string(const struct model *model, const char *string)
{
	uintptr_t at = (uintptr_t)string, base = (uintptr_t)model->strings;

	return string && at >= base && at < base + model->num_strings &&
	       memchr(string, '\0', base + model->num_strings - at);
}

static int validate_tables(const struct model *model, struct pdb_error *err)
{
	if (model->num_modules > SEG_MAX_MODULES || model->num_frames > SEG_MAX_FRAMES ||
	    model->num_sites > SEG_MAX_SITES || model->num_lanes > SEG_MAX_LANES)
		return error_set(err, ERROR_FORMAT, "a table is too long");
	if (model->num_sites == 0 || model->sites[0].frame != SEG_NO_FRAME)
		return error_set(err, ERROR_FORMAT, "site 0 is missing");
	for (size_t i = 0; i < model->num_modules; i++) {
		if (!model->modules[i].path ||
		    model->modules[i].build_id_size > sizeof(model->modules[i].build_id))
			return wrong(err, "module", i);
	}
	for (size_t i = 0; i < model->num_frames; i++) {
		const struct seg_frame *frame = &model->frames[i];

		if ((frame->parent != SEG_NO_FRAME && frame->parent >= i) ||
		    (frame->module != SEG_NO_FRAME && frame->module >= model->num_modules))
			return wrong(err, "frame", i);
	}
	for (size_t i = 0; i < model->num_sites; i++) {
		const struct model_site *site = &model->sites[i];

		if ((site->frame != SEG_NO_FRAME && site->frame >= model->num_frames) ||
		    !has_string(model, site->name) || site->class_id > SEG_CLASS_ABORT ||
		    site->language > SEG_LANGUAGE_FORTRAN)
			return wrong(err, "site", i);
	}
	return 0;
}

static int validate_lane(const struct model *model, const struct model_lane *lane,
			 struct pdb_error *err)
{
	uint32_t num_states = (uint32_t)model->num_sites * 2;

	if (lane->state >= num_states || lane->poll_site >= model->num_sites ||
	    lane->num_transitions > SEG_MAX_TRANSITIONS || lane->num_ring > SEG_MAX_RING)
		return error_set(err, ERROR_FORMAT, "a state or a size of it is out of range");
	if (lane->since_ns > model->now_ns || lane->first_ns > model->now_ns ||
	    lane->last_poll_ns > model->now_ns)
		return error_set(err, ERROR_FORMAT, "a time of it is in the future");
	for (size_t i = 0; i < lane->num_transitions; i++) {
		const struct model_transition *made = &lane->transitions[i];

		if (made->from >= num_states || made->to >= num_states || made->count == 0)
			return wrong(err, "transition", i);
	}
	for (size_t i = 0; i < lane->num_ring; i++) {
		const struct model_event *event = &lane->ring[i];

		if (event->state >= num_states || event->ns > model->now_ns ||
		    (i && event->ns < event[-1].ns))
			return wrong(err, "ring entry", i);
	}
	if (lane->num_ring && lane->ring[lane->num_ring - 1].state != lane->state)
		return error_set(err, ERROR_FORMAT, "its ring does not end in its state");
	return 0;
}

int model_validate(const struct model *model, struct pdb_error *err)
{
	if (validate_tables(model, err) < 0)
		return -1;
	for (size_t i = 0; i < model->num_lanes; i++) {
		if (validate_lane(model, &model->lanes[i], err) < 0)
			return error_prefix(err, "lane %zu", i);
	}
	return 0;
}
