/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <uthash.h>

#include "analysis/values/value_groups.h"
#include "attach/values/expression.h"
#include "attach/values/values.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/value_type.h"
#include "model/job/variables.h"
#include "render/printed.h"
#include "shell/answers/frame.h"
#include "shell/answers/print_values.h"
#include "shell/session.h"

/* Ranks that move may be at new places in each round, whose variables are not known yet. */
#define MAX_ROUNDS 4

#define MAX_BYTES (UINT64_C(64) << 20)
#define MAX_BYTES_RANK (UINT64_C(1) << 20) /* as sampling bounds it (attach/stacks/unwind_read.c) */
#define LEAST_BYTES 512

enum { MAX_CALLERS = 4 }; /* that may tell what a parameter was */

/* A frame's place or a module with its globals, and what the expression is there. */
struct place {
	uint32_t id; /* the key: a call path node, or a module */
	int result;  /* of values_find(), or of values_find_global() */
	struct values_found found;
	uint32_t probe, text; /* their numbers */
	UT_hash_handle hh;
};

/* One expression. */
struct item {
	const char *text;
	const struct frame *frame;
	uint64_t variable_wanted; /* 0: any */
	struct expression expression;
	const char *unparsed; /* it cannot be read from memory: why; NULL: it can */
	struct place *places, *globals;
	struct value_reading *readings;
	size_t num_readings;
	struct rankset *for_gdb; /* ranks whose value it may know */
	const char *type;
	uint32_t node;
	bool is_mixed, has_value;
	/* Of the sample at hand. */
	const struct place *found;
	const struct variable *variable; /* what came with the sample; NULL: `found` */
	uint32_t found_node;
	const char *why; /* there is none */
};

/* Values of a sample that one probe has read in one frame. */
struct run {
	uint32_t probe, depth;
	const struct sample_value *values;
	size_t num;
};

struct printing {
	struct session *session;
	struct arena *arena;
	struct values *values;
	bool is_keeping; /* what comes with samples goes to the job's */
	struct item *items;
	size_t num_items;
	struct code_probe *probes;
	size_t num_probes, probes_capacity;
	struct run *runs; /* of the sample at hand */
	size_t num_runs, runs_capacity;
	struct pdb_error *err;
};

/* ---- Where the name is ---- */

static uint32_t add_probe(struct printing *printing, const struct code_probe *probe)
{
	*ARENA_PUSH(printing->arena, printing->probes, printing->num_probes,
		    printing->probes_capacity) = *probe;
	return (uint32_t)printing->num_probes - 1;
}

static void take_probes(struct printing *printing, struct place *place)
{
	if (place->result != 1 || place->found.trouble || place->found.constant)
		return;
	place->probe = add_probe(printing, &place->found.probe);
	if (place->found.text.read.num_bytes)
		place->text = add_probe(printing, &place->found.text);
}

/* One in another block, or another module's, may have the same name. */
static void check_variable(const struct item *item, struct place *place)
{
	if (place->result == 1 && item->variable_wanted &&
	    place->found.variable != item->variable_wanted)
		place->result = 0;
}

/* NULL: *err. */
static struct place *get_place(struct printing *printing, struct item *item, uint32_t id)
{
	const struct callpaths *callpaths = printing->session->job->callpaths;
	struct values_frame frames[1 + MAX_CALLERS];
	struct place *place;
	size_t num = 0;

	HASH_FIND(hh, item->places, &id, sizeof(id), place);
	if (place)
		return place->result < 0 ? NULL : place;
	place = arena_alloc(printing->arena, sizeof(*place));
	place->id = id;
	for (; id != CALLPATH_NONE && num <= MAX_CALLERS; num++) {
		const struct callpath_node *node = callpaths_get(callpaths, id);

		frames[num] = print_frame(node);
		id = node->parent;
	}
	place->result =
		values_find(printing->values, printing->arena, frames, num, item->frame->function,
			    &item->expression, &place->found, printing->err);
	check_variable(item, place);
	HASH_ADD(hh, item->places, id, sizeof(place->id), place);
	take_probes(printing, place);
	return place->result < 0 ? NULL : place;
}

/* NULL: *err. */
static struct place *get_global(struct printing *printing, struct item *item, uint32_t module)
{
	struct place *place;

	HASH_FIND(hh, item->globals, &module, sizeof(module), place);
	if (!place) {
		place = arena_alloc(printing->arena, sizeof(*place));
		place->id = module;
		place->result = values_find_global(printing->values, printing->arena, module,
						   &item->expression, &place->found, printing->err);
		check_variable(item, place);
		HASH_ADD(hh, item->globals, id, sizeof(place->id), place);
		take_probes(printing, place);
	}
	return place->result < 0 ? NULL : place;
}

/* Of the program's own code in the stack, the innermost first. -1: *err. */
static int find_global(struct printing *printing, struct item *item, uint32_t path)
{
	const struct job *job = printing->session->job;

	for (uint32_t id = path; id != CALLPATH_NONE && !item->found;) {
		const struct callpath_node *node = callpaths_get(job->callpaths, id);
		const struct place *place;

		id = node->parent;
		if (!modules_is_own_code(job->modules, node->module, node->offset))
			continue;
		place = get_global(printing, item, node->module);
		if (!place)
			return -1;
		if (place->result)
			item->found = place;
	}
	return 0;
}

static bool has_information(struct printing *printing, uint32_t path)
{
	const struct job *job = printing->session->job;
	bool is_known = false;

	for (uint32_t id = path; id != CALLPATH_NONE && !is_known;) {
		const struct callpath_node *node = callpaths_get(job->callpaths, id);

		id = node->parent;
		is_known = modules_is_own_code(job->modules, node->module, node->offset) &&
			   values_has_information(printing->values, node->module);
	}
	return is_known;
}

static const char *explain_missing(struct printing *printing, const struct item *item,
				   const struct sample *sample)
{
	const struct job *job = printing->session->job;
	const char *name = item->unparsed ? item->text : item->expression.name;

	if (print_is_kept(printing->session) && !sample->variables)
		return PRINT_NOT_KEPT;
	if (sample->variables && !item->unparsed && item->expression.num_steps)
		return arena_printf(printing->arena, "only whole variables are known: print %s",
				    name);
	if (frame_is_one(item->frame))
		return frame_find(job, item->frame, sample->path) == CALLPATH_NONE
			       ? frame_missing(printing->arena, item->frame)
			       : arena_printf(printing->arena, "no \"%s\" in that frame", name);
	if (item->frame->kind == FRAME_FUNCTION)
		return arena_printf(printing->arena, "not in %s(), or no \"%s\" there",
				    item->frame->function, name);
	if (item->unparsed)
		return item->unparsed;
	return sample->variables || has_information(printing, sample->path)
		       ? arena_printf(printing->arena, "no \"%s\" in its stack", name)
		       : print_no_information(printing->arena, job, sample->path);
}

/* What came with the sample, in the frame `id`. */
static const struct variable *find_variable(struct printing *printing, const struct item *item,
					    const struct sample *sample, uint32_t id)
{
	const struct job *job = printing->session->job;
	const struct name *name = names_innermost(job->names, id);

	if (item->frame->kind == FRAME_FUNCTION)
		while (name && !frame_is_called(printing->arena, name, item->frame->function))
			name = name->caller;
	return name ? variables_find(sample->variables, callpaths_get(job->callpaths, id)->depth,
				     item->text)
		    : NULL;
}

/* The variable or place of the expression in a frame. -1: *err; 0: it has none. */
static int find_in_frame(struct printing *printing, struct item *item, const struct sample *sample,
			 uint32_t id)
{
	const struct job *job = printing->session->job;
	const struct callpath_node *node = callpaths_get(job->callpaths, id);

	item->found = NULL;
	item->found_node = id;
	if (sample->variables &&
	    (item->variable = find_variable(printing, item, sample, id)) != NULL)
		return 1;
	if (print_is_kept(printing->session) || item->unparsed ||
	    !modules_is_own_code(job->modules, node->module, node->offset))
		return 0;
	item->found = get_place(printing, item, id);
	return item->found ? item->found->result : -1;
}

/* The place of the expression in a stack, or why there is none. -1: *err. */
static int find_place(struct printing *printing, struct item *item, const struct sample *sample)
{
	const struct job *job = printing->session->job;
	bool is_one = frame_is_one(item->frame);
	uint32_t id = is_one ? frame_find(job, item->frame, sample->path) : sample->path;

	item->variable = NULL;
	for (; id != CALLPATH_NONE; id = callpaths_get(job->callpaths, id)->parent) {
		int result = find_in_frame(printing, item, sample, id);

		if (result)
			return result < 0 ? -1 : 0;
		if (is_one)
			break;
	}
	item->found = NULL;
	item->found_node = CALLPATH_NONE;
	if (item->frame->kind == FRAME_ANY) {
		item->variable = variables_find_global(sample->variables, item->text);
		if (item->variable)
			return 0;
		if (!print_is_kept(printing->session) && !item->unparsed &&
		    find_global(printing, item, sample->path) < 0)
			return -1;
	}
	if (!item->found)
		item->why = explain_missing(printing, item, sample);
	return 0;
}

static int find_places(struct printing *printing, const struct sample *sample)
{
	for (size_t i = 0; i < printing->num_items; i++)
		if (find_place(printing, &printing->items[i], sample) < 0)
			return -1;
	return 0;
}

/* ---- What ranks have ---- */

static struct value_reading *add_reading(struct item *item, int rank, const char *text)
{
	struct value_reading *reading = &item->readings[item->num_readings++];

	*reading = (struct value_reading){.rank = rank, .text = text};
	return reading;
}

/* text: what the pointer leads to, which says more than its address; or NULL. */
static void add_value(struct printing *printing, struct item *item, int rank,
		      const struct value_type *type, const uint8_t *bytes, const char *text)
{
	size_t size = item->found->found.text.read.num_bytes;
	bool is_cut = text && strnlen(text, size) == size;
	struct value_reading *reading = add_reading(
		item, rank,
		text ? arena_printf(printing->arena, "%s%s",
				    value_quote(printing->arena, text, size), is_cut ? "..." : "")
		     : value_text(printing->arena, type, bytes));

	reading->has_value = true;
	reading->is_number = value_number(type, bytes, &reading->number);
}

static void find_runs(struct printing *printing, const struct sample *sample)
{
	struct run *run = NULL;

	printing->num_runs = 0;
	for (size_t i = 0; i < sample->num_values; i++) {
		const struct sample_value *value = &sample->values[i];

		if (!run || run->probe != value->probe || run->depth != value->depth) {
			run = ARENA_PUSH(printing->arena, printing->runs, printing->num_runs,
					 printing->runs_capacity);
			*run = (struct run){value->probe, value->depth, value, 0};
		}
		run->num++;
	}
}

/* What a probe has read in the frame at that depth, or whichever frame if it is a global's. NULL:
 * nothing. */
static const struct run *find_run(const struct printing *printing, uint32_t number, uint32_t depth)
{
	const struct code_read *read = &printing->probes[number].read;

	for (size_t i = 0; i < printing->num_runs; i++) {
		const struct run *run = &printing->runs[i];

		if (run->probe == number && (read->is_global || run->depth == depth))
			return run;
	}
	return NULL;
}

static const char *explain_status(struct printing *printing, const struct run *run)
{
	static const char *const reasons[] = {
		[CODE_NO_MEMORY] = "not readable: no memory at that address",
		[CODE_LOST_REGISTER] = "not readable: where it was saved is not known",
		[CODE_NOT_ALLOCATED] = "not allocated",
		[CODE_NOT_ASSOCIATED] = "not associated",
		[CODE_NO_THREAD] = "thread-local: pdb finds its place only with glibc on x86-64, "
				   "in running processes",
		[CODE_NO_THREAD_YET] = "thread-local: the thread has not used it yet",
		[CODE_TOO_LARGE] = "larger than print reads; print a part of it",
		[CODE_NO_VALUE] = "what its debug information says leads to no value",
	};
	int64_t status = run ? run->values[0].value : CODE_TOO_LARGE;

	if (status == CODE_NO_ELEMENT && run->num >= 3)
		return run->values[2].value < run->values[1].value
			       ? "it has no elements"
			       : arena_printf(printing->arena,
					      "no such element: its indexes are %" PRId64
					      " to %" PRId64,
					      run->values[1].value, run->values[2].value);
	return status > 0 && status <= CODE_NO_VALUE && reasons[status] ? reasons[status]
									: reasons[CODE_NO_VALUE];
}

/* The words from the given one on, as bytes. */
static const uint8_t *bytes_of(struct printing *printing, const struct run *run, size_t first)
{
	int64_t *words = arena_array(printing->arena, run->num - first + 1, sizeof(*words));

	for (size_t i = first; i < run->num; i++)
		words[i - first] = run->values[i].value;
	return (const uint8_t *)words;
}

/* NULL: *why_ret. Else *type_ret is that of the value, which may be a rank's own by the number of
 * elements. */
static const uint8_t *read_value(struct printing *printing, const struct place *place,
				 uint32_t depth, const struct value_type **type_ret,
				 const char **why_ret)
{
	const struct values_found *found = &place->found;
	const struct run *run;
	size_t first = 1 + found->num_dimensions;

	*type_ret = found->type;
	if (found->constant)
		return found->constant;
	run = find_run(printing, place->probe, depth);
	if (!run || run->values[0].value != CODE_READ || run->num < first) {
		*why_ret = explain_status(printing, run);
		return NULL;
	}
	if (found->num_dimensions) {
		uint64_t counts[CODE_MAX_DIMENSIONS];

		for (size_t i = 0; i < found->num_dimensions; i++)
			counts[i] = (uint64_t)run->values[1 + i].value;
		*type_ret = value_shape(printing->arena, found->type, counts, found->num_dimensions,
					8 * (run->num - first));
	} else if (8 * (run->num - first) < found->type->size) {
		*why_ret = explain_status(printing, NULL);
		return NULL;
	}
	return bytes_of(printing, run, first);
}

static const char *name_of(const struct value_type *type)
{
	return type ? type->name : NULL;
}

static void note_place(struct item *item, const char *name)
{
	if (!item->has_value) {
		item->type = name;
		item->node = item->found_node;
	}
	item->has_value = true;
	item->is_mixed |= item->node != item->found_node;
	if (name && item->type && strcmp(name, item->type) != 0)
		item->type = NULL;
}

static void read_variable(struct printing *printing, struct item *item, int rank)
{
	const struct variable *variable = item->variable;
	struct value_reading *reading =
		add_reading(item, rank, arena_strdup(printing->arena, variable->text));

	note_place(item, variable->type ? arena_strdup(printing->arena, variable->type) : NULL);
	reading->has_value = variable->has_value;
	reading->is_number = variable->is_number;
	reading->number = variable->number;
}

static void read_item(struct printing *printing, struct item *item, const struct sample *sample)
{
	const struct callpaths *callpaths = printing->session->job->callpaths;
	const struct place *place = item->found;
	uint32_t depth = item->found_node == CALLPATH_NONE
				 ? 0
				 : callpaths_get(callpaths, item->found_node)->depth;
	const struct value_type *type;
	const struct run *text;
	const uint8_t *bytes;
	const char *why = NULL;

	if (item->variable) {
		read_variable(printing, item, sample->rank);
		return;
	}
	if (!place) {
		add_reading(item, sample->rank, item->why);
		return;
	}
	if (place->found.trouble) {
		note_place(item, name_of(place->found.type));
		add_reading(item, sample->rank, place->found.trouble);
		if (place->found.is_for_gdb)
			rankset_add(item->for_gdb, sample->rank);
		return;
	}
	bytes = read_value(printing, place, depth, &type, &why);
	note_place(item, name_of(type));
	if (!bytes) {
		add_reading(item, sample->rank, why);
		return;
	}
	text = !place->found.constant && place->found.text.read.num_bytes
		       ? find_run(printing, place->text, depth)
		       : NULL;
	add_value(printing, item, sample->rank, type, bytes,
		  text && text->values[0].value == CODE_READ &&
				  8 * (text->num - 1) >= place->found.text.read.num_bytes
			  ? (const char *)bytes_of(printing, text, 1)
			  : NULL);
}

/* Was what reads them among the probes that were asked for? */
static bool were_asked(const struct printing *printing, size_t num_asked)
{
	for (size_t i = 0; i < printing->num_items; i++) {
		const struct place *place = printing->items[i].found;

		if (place && !place->found.trouble && !place->found.constant &&
		    place->probe >= num_asked)
			return false;
	}
	return true;
}

static void add_failure(struct printing *printing, const struct sample *sample)
{
	for (size_t i = 0; i < printing->num_items; i++)
		add_reading(&printing->items[i], sample->rank,
			    arena_strdup(printing->arena, sample->note ?: "no stack"));
}

/* Ranks whose places were known before they were sampled are no longer missing. -1: *err. */
static int take_samples(struct printing *printing, const struct samples *samples, size_t num_asked,
			struct rankset *missing)
{
	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!sample->is_main || !rankset_contains(missing, sample->rank))
			continue;
		if (sample->path == CALLPATH_NONE) {
			add_failure(printing, sample);
		} else {
			if (find_places(printing, sample) < 0)
				return -1;
			if (!were_asked(printing, num_asked))
				continue;
			if (printing->is_keeping)
				print_keep_sample(printing->session->job, sample);
			find_runs(printing, sample);
			for (size_t k = 0; k < printing->num_items; k++)
				read_item(printing, &printing->items[k], sample);
		}
		rankset_remove(missing, sample->rank);
	}
	return 0;
}

/* What the last look's stacks lead to is most often what the ranks are at now. */
static int prepare(struct printing *printing, const struct rankset *ranks)
{
	const struct samples *samples = printing->session->job->samples;

	for (size_t i = 0; samples && i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (sample->is_main && sample->path != CALLPATH_NONE &&
		    rankset_contains(ranks, sample->rank) && find_places(printing, sample) < 0)
			return -1;
	}
	return 0;
}

/* Those of a snapshot are all there are. */
static int read_kept(struct printing *printing, const struct rankset *ranks)
{
	const struct samples *samples = printing->session->job->samples;

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		const struct sample none = {.rank = rank}, *sample;

		sample = samples_find(samples, rank, 0) ?: &none;
		if (sample == &none || sample->path == CALLPATH_NONE) {
			add_failure(printing, sample);
			continue;
		}
		if (find_places(printing, sample) < 0)
			return -1;
		for (size_t k = 0; k < printing->num_items; k++)
			read_item(printing, &printing->items[k], sample);
	}
	return 0;
}

static int read_all(struct printing *printing, const struct rankset *ranks)
{
	struct rankset *missing = rankset_in(printing->arena, rankset_copy(ranks));
	struct rankset *seen = rankset_in(printing->arena, rankset_create());

	if (print_is_kept(printing->session))
		return read_kept(printing, ranks);
	if (prepare(printing, ranks) < 0)
		return -1;
	for (int round = 0; round < MAX_ROUNDS && !rankset_is_empty(missing); round++) {
		size_t num_asked = printing->num_probes;
		struct samples *samples;
		int result = session_read_probes(printing->session, missing, printing->probes,
						 num_asked, &samples, printing->err);

		if (result < 0)
			return -1;
		for (size_t i = 0; i < samples->num_samples; i++)
			rankset_add(seen, samples->samples[i].rank);
		result = take_samples(printing, samples, num_asked, missing);
		samples_destroy(samples);
		if (result < 0)
			return -1;
	}
	for (int rank = rankset_first(missing); rank >= 0; rank = rankset_next(missing, rank))
		for (size_t i = 0; i < printing->num_items; i++)
			add_reading(&printing->items[i], rank,
				    rankset_contains(seen, rank)
					    ? "it moves too fast: it was never seen twice at one "
					      "place"
					    : print_no_sample(printing->session->job, rank));
	return 0;
}

/* ---- Public ---- */

/* Variables that come with samples are known by their text alone. */
static int take_items(struct printing *printing, const struct print_ask *asks, size_t num,
		      int num_ranks)
{
	struct pdb_error why;

	printing->items = arena_array(printing->arena, num, sizeof(*printing->items));
	printing->num_items = num;
	for (size_t i = 0; i < num; i++) {
		struct item *item = &printing->items[i];

		item->text = asks[i].expression;
		item->frame = &asks[i].frame;
		item->variable_wanted = asks[i].variable;
		item->for_gdb = rankset_in(printing->arena, rankset_create());
		item->readings = arena_array(printing->arena, (size_t)num_ranks + 1,
					     sizeof(*item->readings));
		if (expression_parse(printing->arena, asks[i].expression, &item->expression, &why) <
		    0) {
			item->unparsed = arena_strdup(printing->arena, why.text);
			if (num == 1) {
				*printing->err = why;
				return -1;
			}
		}
	}
	return 0;
}

/* Of one value: all that is read of all ranks has its bound, and that of one rank. */
static uint32_t bytes_each(const struct rankset *ranks, size_t num)
{
	uint64_t of_rank = MAX_BYTES / ((uint64_t)rankset_count(ranks) + 1);

	if (of_rank > MAX_BYTES_RANK)
		of_rank = MAX_BYTES_RANK;
	of_rank /= num;
	return of_rank < LEAST_BYTES ? LEAST_BYTES : (uint32_t)of_rank;
}

int print_read(struct session *session, struct arena *arena, const struct print_ask *asks,
	       size_t num, const struct rankset *ranks, struct values *values, bool is_keeping,
	       struct print_read *ret, struct pdb_error *err)
{
	struct printing printing = {
		.session = session,
		.arena = arena,
		.is_keeping = is_keeping,
		.err = err,
	};
	int result;

	if (print_check(session, err) < 0 ||
	    take_items(&printing, asks, num, rankset_count(ranks)) < 0)
		return -1;
	printing.values =
		values ?: values_create(session->job->modules, bytes_each(ranks, num ? num : 1));
	result = read_all(&printing, ranks);
	if (!values)
		values_destroy(printing.values);
	for (size_t i = 0; i < num; i++) {
		struct item *item = &printing.items[i];

		HASH_CLEAR(hh, item->places);
		HASH_CLEAR(hh, item->globals);
		ret[i] = (struct print_read){
			.node = item->is_mixed || !item->has_value ? CALLPATH_NONE : item->node,
			.type = item->type,
			.readings = item->readings,
			.num = item->num_readings,
			.for_gdb = item->for_gdb,
		};
	}
	return result;
}

void print_group(struct arena *arena, const char *expression, const struct print_read *read,
		 struct printed *ret)
{
	*ret = (struct printed){
		.expression = expression,
		.node = read->node,
		.type = read->type,
		.groups = value_groups_create(arena, read->readings, read->num),
	};
}

int print_values(struct session *session, struct arena *arena, const char *const *expressions,
		 size_t num, const struct frame *frame, const struct rankset *ranks,
		 struct printed *ret, struct pdb_error *err)
{
	struct print_ask *asks = arena_array(arena, num, sizeof(*asks));
	struct print_read *read = arena_array(arena, num, sizeof(*read));

	for (size_t i = 0; i < num; i++)
		asks[i] = (struct print_ask){.expression = expressions[i], .frame = *frame};
	if (print_read(session, arena, asks, num, ranks, NULL, false, read, err) < 0)
		return -1;
	for (size_t i = 0; i < num; i++)
		print_group(arena, expressions[i], &read[i], &ret[i]);
	return 0;
}
