/* SPDX-License-Identifier: BSD-3-Clause
 * The tables of a segment that give states their names: strings, modules, frames, sites. */

#include "model/job/model.h"
#include "model/segment/segment_private.h"

static int read_strings(struct reader *r)
{
	struct model *model = r->model;

	model->strings = reader_copy_table(r, SEG_TABLE_STRINGS, &model->num_strings);
	if (!model->strings)
		return -1;
	/* A zero has been added: the end of the last one. */
	model->num_strings++;
	clean_text(model->strings, model->num_strings);
	return 0;
}

static int read_modules(struct reader *r)
{
	struct model *model = r->model;
	size_t num;
	const struct seg_module *raw = reader_keep_table(r, SEG_TABLE_MODULES, &num);

	if (!raw)
		return -1;
	model->modules = xcalloc(num, sizeof(*model->modules));
	for (size_t i = 0; i < num; i++) {
		struct model_module *module = &model->modules[i];

		if (raw[i].path >= model->num_strings ||
		    raw[i].build_id_size > sizeof(module->build_id))
			return reader_bad_entry(r, "module", i);
		module->path = xstrdup(model->strings + raw[i].path);
		module->build_id_size = raw[i].build_id_size;
		memcpy(module->build_id, raw[i].build_id, module->build_id_size);
		model->num_modules++;
	}
	return 0;
}

static int read_frames(struct reader *r)
{
	struct model *model = r->model;

	model->frames = reader_copy_table(r, SEG_TABLE_FRAMES, &model->num_frames);
	if (!model->frames)
		return -1;
	for (size_t i = 0; i < model->num_frames; i++) {
		const struct seg_frame *frame = &model->frames[i];

		if ((frame->parent != SEG_NO_FRAME && frame->parent >= i) ||
		    (frame->module != SEG_NO_FRAME && frame->module >= model->num_modules))
			return reader_bad_entry(r, "frame", i);
	}
	return 0;
}

static int read_sites(struct reader *r)
{
	struct model *model = r->model;
	size_t num;
	const struct seg_site *raw = reader_keep_table(r, SEG_TABLE_SITES, &num);

	if (!raw)
		return -1;
	if (num == 0 || raw[0].frame != SEG_NO_FRAME)
		return READER_CORRUPT(r, "no site 0");
	model->sites = xcalloc(num, sizeof(*model->sites));
	for (size_t i = 0; i < num; i++) {
		if ((raw[i].frame != SEG_NO_FRAME && raw[i].frame >= model->num_frames) ||
		    raw[i].name >= model->num_strings)
			return reader_bad_entry(r, "site", i);
		/* Values of later versions mean no more than "some MPI function" here. */
		model->sites[i] = (struct model_site){
			.frame = raw[i].frame,
			.name = model->strings + raw[i].name,
			.class_id = raw[i].class_id <= SEG_CLASS_ABORT ? raw[i].class_id
								       : SEG_CLASS_OTHER,
			.language = raw[i].language == SEG_LANGUAGE_FORTRAN ? SEG_LANGUAGE_FORTRAN
									    : SEG_LANGUAGE_C,
		};
		model->num_sites++;
	}
	return 0;
}

/* Tables refer to earlier ones only: sites to frames and strings, frames to modules, modules to
 * strings. So counts are taken in the opposite order, and each covers what the one before needs. */
int reader_read_tables(struct reader *r)
{
	static const enum seg_table_id order[] = {SEG_TABLE_SITES, SEG_TABLE_FRAMES,
						  SEG_TABLE_MODULES, SEG_TABLE_STRINGS};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (reader_take_count(r, order[i]) < 0)
			return -1;
	if (read_strings(r) < 0 || read_modules(r) < 0 || read_frames(r) < 0)
		return -1;
	return read_sites(r);
}
