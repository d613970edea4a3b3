/* SPDX-License-Identifier: BSD-3-Clause
 * list: the source around the places of ranks. */
#include "model/job/rankset.h"
#include "render/listed.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/answers/frame.h"
#include "shell/answers/list_source.h"
#include "shell/command.h"
#include "shell/options/args.h"
#include "shell/session.h"

/* FILE:LINE. NULL: it is something else. */
static const char *take_line(struct arena *arena, const char *word, int *line_ret)
{
	const char *colon = strrchr(word, ':');
	char *end;
	long line;

	if (!colon || colon == word || colon[-1] == ':' || !isdigit((unsigned char)colon[1]))
		return NULL;
	line = strtol(colon + 1, &end, 10);
	if (*end || line < 1 || line > INT_MAX / 2)
		return NULL;
	*line_ret = (int)line;
	return arena_strndup(arena, word, (size_t)(colon - word));
}

static int take_ranks(struct session *session, const struct args *args, size_t next,
		      struct answer *answer, struct pdb_error *err)
{
	struct rankset *ranks;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0) {
		if (err->code == ERROR_USAGE && isdigit((unsigned char)args->words[0][0]))
			error_prefix(err, "numbers are ranks here; a line is FILE:LINE");
		return -1;
	}
	answer->ranks = rankset_in(answer->arena, ranks);
	return 0;
}

static int find_list(struct session *session, const struct args *args, struct answer *answer,
		     struct pdb_error *err)
{
	struct listed *listed = arena_alloc(answer->arena, sizeof(*listed));
	const char *word = args->num_words ? args->words[0] : NULL, *file = NULL;
	bool is_before = word && strcmp(word, "-") == 0;
	struct frame frame;
	size_t next = 0;
	int line = 0;

	answer->own = listed;
	if (word)
		file = take_line(answer->arena, word, &line);
	if (file || is_before)
		next = 1;
	else if (frame_take(session, args, &next, &frame, err) < 0)
		return -1;
	if (take_ranks(session, args, next, answer, err) < 0)
		return -1;
	if (list_can_go_on(session) && (!word || is_before || session->is_repeated))
		return list_next(session, answer->arena, is_before, answer->ranks, listed, err);
	if (is_before)
		return error_set(err, ERROR_USAGE, "nothing has been listed yet: list");
	return file ? list_line(session, answer->arena, file, line, answer->ranks, listed, err)
		    : list_frames(session, answer->arena, &frame, answer->ranks, listed, err);
}

const struct command cmd_list = {
	.name = "list",
	.topic = TOPIC_STACKS,
	.usage = "list [FRAME|FUNCTION|FILE:LINE|-] [RANKS]",
	.summary = "Show the source around the places of ranks.",
	.text = "Ten lines for each place, those of the most ranks first. Lines that ranks are\n"
		"at are marked with these. Without FRAME it is the innermost frame of the\n"
		"program's own code. FRAME is \"frame N\" (0 is the innermost), or \"parted\":\n"
		"the frame where the ranks' stacks part. FUNCTION is where ranks are in that\n"
		"function; if none is, its beginning. \"list\" alone or an empty line shows the\n"
		"next ten lines, \"list -\" those before. Until the next look, \"list all\" shows\n"
		"the ranks' places again.\n"
		"pdb looks for a source file by its path in the debug information, in the file\n"
		"system of the rank, then here. It then tries the directories of the setting\n"
		"sources, with all of that path and with ever less of it.",
	.example = "list solve lp",
	.flags = CMD_NEEDS_JOB,
	.max_words = -1,
	.words = WORDS_FRAME_RANKS,
	.find = find_list,
	.views = {[FORMAT_TEXT] = view_list, [FORMAT_JSON] = view_list_json},
};
