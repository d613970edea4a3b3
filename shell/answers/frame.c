/* SPDX-License-Identifier: BSD-3-Clause */
#include <strings.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "render/words/label.h"
#include "shell/answers/frame.h"
#include "shell/options/args.h"
#include "shell/session.h"

bool frame_is_own(const struct job *job, uint32_t id)
{
	const struct callpath_node *node = callpaths_get(job->callpaths, id);

	return node->module != MODULE_NONE &&
	       modules_get(job->modules, node->module)->kind == MODULE_PROGRAM;
}

/* By the stacks of the last look, so that it is the same frame for whichever ranks. */
static int find_parted(const struct job *job, uint32_t *common_ret, struct pdb_error *err)
{
	size_t num = 0;

	for (size_t i = 0; job->samples && i < job->proctable->num_procs; i++) {
		const struct sample *sample =
			samples_find(job->samples, job->proctable->procs[i].rank, 0);

		/* Without its outermost frames a stack shares none. */
		if (!sample || sample->status != SAMPLE_COMPLETE || sample->path == CALLPATH_NONE)
			continue;
		*common_ret = num++ ? callpaths_common(job->callpaths, *common_ret, sample->path)
				    : sample->path;
	}
	if (num < 2)
		return error_set(err, ERROR_NOT_FOUND,
				 "parted: there are no two stacks to compare; see \"bt\"");
	if (*common_ret == CALLPATH_NONE)
		return error_set(err, ERROR_NOT_FOUND,
				 "parted: the ranks' stacks have no frame in common; see \"bt\"");
	return 0;
}

int frame_parse(struct session *session, const char *word, struct frame *ret, struct pdb_error *err)
{
	*ret = (struct frame){.kind = FRAME_ANY};
	if (isdigit((unsigned char)*word)) {
		const struct args args = {.words = (char **)&word, .num_words = 1};
		size_t next = 0;

		ret->kind = FRAME_NUMBER;
		return args_take_number(&args, &next, "frame", 0, CALLPATH_MAX_FRAMES, &ret->number,
					err);
	} else if (strcmp(word, "parted") == 0) {
		ret->kind = FRAME_PARTED;
		return find_parted(session->job, &ret->common, err);
	} else {
		ret->kind = FRAME_FUNCTION;
		ret->function = word;
	}
	return 0;
}

static bool begins_ranks(const char *word)
{
	static const char *const words[] = {"all", "lp", "group", "host"};
	bool is_one = isdigit((unsigned char)*word);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		is_one |= strcmp(word, words[i]) == 0;
	return is_one;
}

int frame_take(struct session *session, const struct args *args, size_t *next, struct frame *ret,
	       struct pdb_error *err)
{
	*ret = (struct frame){.kind = FRAME_ANY};
	if (*next >= args->num_words || begins_ranks(args->words[*next]))
		return 0;
	if (strcmp(args->words[*next], "frame") == 0) {
		++*next;
		ret->kind = FRAME_NUMBER;
		return args_take_number(args, next, "frame", 0, CALLPATH_MAX_FRAMES, &ret->number,
					err);
	}
	return frame_parse(session, args->words[(*next)++], ret, err);
}

bool frame_is_called(struct arena *arena, const struct name *name, const char *function)
{
	const char *called = label_function(arena, name->function);
	size_t length = strlen(called), wanted = strlen(function);

	return name->is_symbol && length >= wanted &&
	       !strcasecmp(called + length - wanted, function) &&
	       (length == wanted || strchr(":.", called[length - wanted - 1]));
}

bool frame_is_one(const struct frame *frame)
{
	return frame->kind == FRAME_NUMBER || frame->kind == FRAME_PARTED ||
	       frame->kind == FRAME_NODE;
}

uint32_t frame_find(const struct job *job, const struct frame *frame, uint32_t path)
{
	long number = frame->kind == FRAME_NUMBER ? frame->number : 0;
	uint32_t id = path;

	if (frame->kind == FRAME_NODE)
		return callpaths_has_prefix(job->callpaths, path, frame->common) ? frame->common
										 : CALLPATH_NONE;
	if (frame->kind == FRAME_PARTED) {
		if (!callpaths_has_prefix(job->callpaths, path, frame->common))
			return CALLPATH_NONE;
		id = callpaths_at_depth(job->callpaths, path,
					callpaths_get(job->callpaths, frame->common)->depth + 1);
	}
	for (; id != CALLPATH_NONE; id = callpaths_get(job->callpaths, id)->parent)
		if (frame_is_own(job, id) && number-- == 0)
			break;
	return id;
}

const char *frame_missing(struct arena *arena, const struct frame *frame)
{
	switch (frame->kind) {
	case FRAME_NUMBER:
		return arena_printf(arena, "no frame %ld of the program's own code", frame->number);
	case FRAME_PARTED:
		return "its stack has left the frame where the ranks part";
	case FRAME_FUNCTION:
		return arena_printf(arena, "not in %s()", frame->function);
	case FRAME_NODE:
		return "it has left that frame";
	case FRAME_ANY:
		break;
	}
	return "its stack shows no frame of the program's own code";
}
