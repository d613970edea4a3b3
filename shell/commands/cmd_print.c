/* SPDX-License-Identifier: BSD-3-Clause
 * print, locals: variables of many ranks at one moment. */

#include "model/job/rankset.h"
#include "render/printed.h"
#include "render/view.h"
#include "shell/answers/answer.h"
#include "shell/answers/frame.h"
#include "shell/answers/print_values.h"
#include "shell/command.h"
#include "shell/options/args.h"
#include "shell/session.h"

/* Do the words from `first` on name ranks? */
static bool are_ranks(struct session *session, const struct args *args, size_t first,
		      struct rankset **ret, struct pdb_error *err)
{
	return session_take_ranks(session, args, &first, ret, err) == 0;
}

/* EXPRESSION [RANKS], or FRAME EXPRESSION [RANKS], where the second word names no ranks. */
static int take_words(struct session *session, const struct args *args, const char **frame_ret,
		      const char **expression_ret, struct rankset **ranks_ret,
		      struct pdb_error *err)
{
	bool is_frame = isdigit((unsigned char)args->words[0][0]);
	struct pdb_error ignored;

	*frame_ret = NULL;
	*expression_ret = args->words[0];
	if (!is_frame &&
	    are_ranks(session, args, 1, ranks_ret, args->num_words == 2 ? &ignored : err))
		return 0;
	if (args->num_words < 2)
		return error_set(err, ERROR_USAGE,
				 "the expression is missing: print FRAME EXPRESSION");
	/* "n + 1": print_expression() says what is to be done with that. */
	if (!strchr("_*(", args->words[1][0]) && !isalpha((unsigned char)args->words[1][0])) {
		*expression_ret = args->rest + strspn(args->rest, " \t");
		return are_ranks(session, args, args->num_words, ranks_ret, err) ? 0 : -1;
	}
	*frame_ret = args->words[0];
	*expression_ret = args->words[1];
	return are_ranks(session, args, 2, ranks_ret, err) ? 0 : -1;
}

static int find_print(struct session *session, const struct args *args, struct answer *answer,
		      struct pdb_error *err)
{
	struct printed *printed = arena_alloc(answer->arena, sizeof(*printed));
	struct rankset *ranks;
	struct frame frame = {.kind = FRAME_ANY};
	const char *word, *expression;

	if (take_words(session, args, &word, &expression, &ranks, err) < 0)
		return -1;
	answer->ranks = rankset_in(answer->arena, ranks);
	answer->own = printed;
	if (word && frame_parse(session, word, &frame, err) < 0) {
		if (err->code == ERROR_USAGE)
			error_prefix(err, "ranks come behind the expression");
		return -1;
	}
	return print_expression(session, answer->arena, expression, &frame, answer->ranks, printed,
				err);
}

const struct command cmd_print = {
	.name = "print",
	.aliases = {"p"},
	.topic = TOPIC_STACKS,
	.usage = "print [FRAME] EXPRESSION [RANKS]",
	.summary = "Show the value of a variable in all ranks, equal values together.",
	.text = "EXPRESSION is a variable, a member, an element, or what a pointer leads to: n,\n"
		"p->x, grid.nx, *p, a[3], a[0:10] (without 10), solver::tol. In Fortran: a(3,4),\n"
		"a(2:5,1), a(:,3). Without FRAME, pdb takes the innermost frame of each rank's\n"
		"stack that has the variable, then global ones. FRAME is a function's name; a\n"
		"number: 0 is the innermost frame of the program's own code; or \"parted\": the\n"
		"frame where the ranks' stacks part. Without RANKS: the ranks in focus, else all.\n"
		"A row is a value with its ranks. The value of the most ranks comes first. If\n"
		"there are many different numbers, pdb shows the smallest, the median and the\n"
		"largest. For the elements of a long array it shows these three, and how many\n"
		"are NaN.\n"
		"Of a Python frame (CPython 3.11 and 3.13) it shows numbers, texts, the length of\n"
		"lists, and the shape and elements of NumPy's arrays.\n"
		"pdb stops a rank only to copy its stack, for some 50 us. It reads other memory\n"
		"right after that, while the rank runs on. The program needs debug information\n"
		"(-g).\n"
		"gdb computes other expressions, for at most 16 ranks:\n"
		"print \"n * sizeof(*p)\" 0-3. With spaces, and with ranks or a frame, an\n"
		"expression is in quotes. A rank stands still as long as its gdb runs, about half\n"
		"a second. gdb may neither write to the rank's memory nor call its functions; for\n"
		"that, use the command gdb.",
	.example = "print res 0-31",
	.flags = CMD_NEEDS_JOB,
	.min_words = 1,
	.max_words = -1,
	.find = find_print,
	.views = {[FORMAT_TEXT] = view_print, [FORMAT_JSON] = view_print_json},
};

static int find_variables(struct session *session, const struct args *args, bool are_arguments,
			  struct answer *answer, struct pdb_error *err)
{
	struct printed_locals *locals = arena_alloc(answer->arena, sizeof(*locals));
	struct rankset *ranks;
	struct frame frame;
	size_t next = 0;

	answer->own = locals;
	if (frame_take(session, args, &next, &frame, err) < 0 ||
	    session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	answer->ranks = rankset_in(answer->arena, ranks);
	return print_locals(session, answer->arena, &frame, are_arguments, answer->ranks, locals,
			    err);
}

static int find_locals(struct session *session, const struct args *args, struct answer *answer,
		       struct pdb_error *err)
{
	return find_variables(session, args, false, answer, err);
}

static int find_arguments(struct session *session, const struct args *args, struct answer *answer,
			  struct pdb_error *err)
{
	return find_variables(session, args, true, answer, err);
}

#define LOCALS_TEXT                                                                                \
	"Ranks in one function share a table. Equal values share a row, as in \"print\".\n"        \
	"If there are more than three values, the first row is that of the most ranks.\n"          \
	"Variables of functions that are inlined there are shown, too. Without FRAME it\n"         \
	"is the innermost frame of the program's own code. FRAME is a function's name,\n"          \
	"\"frame N\" (0 is the innermost), or \"parted\": the frame where the ranks' stacks\n"     \
	"part. Without RANKS: the ranks in focus, else all.\n"

/* What these commands have in common. */
#define OF_VARIABLES                                                                               \
	.flags = CMD_NEEDS_JOB, .max_words = -1, .words = WORDS_FRAME_RANKS,                       \
	.views = {[FORMAT_TEXT] = view_locals, [FORMAT_JSON] = view_locals_json}

const struct command cmd_locals = {
	.name = "locals",
	.topic = TOPIC_STACKS,
	.usage = "locals [FRAME] [RANKS]",
	.summary = "Show all variables of a frame of the program.",
	.text = LOCALS_TEXT "\"info args\" shows the arguments.",
	.example = "locals lp",
	.find = find_locals,
	OF_VARIABLES,
};

const struct command info_locals = {
	.name = "locals",
	.topic = TOPIC_JOB,
	.usage = "info locals [FRAME] [RANKS]",
	.summary = "Show all variables of a frame, as \"locals\".",
	.text = LOCALS_TEXT "\"info args\" shows the arguments.",
	.example = "info locals lp",
	.find = find_locals,
	OF_VARIABLES,
};

const struct command info_args = {
	.name = "args",
	.topic = TOPIC_JOB,
	.usage = "info args [FRAME] [RANKS]",
	.summary = "Show the arguments of a frame of the program.",
	.text = LOCALS_TEXT "\"locals\" shows the other variables.",
	.example = "info args solve 0-3",
	.find = find_arguments,
	OF_VARIABLES,
};
