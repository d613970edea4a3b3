/* SPDX-License-Identifier: BSD-3-Clause
 * One expression: what pdb cannot read, gdb may know. */

#include "analysis/values/value_groups.h"
#include "model/job/callpath.h"
#include "model/job/rankset.h"
#include "render/printed.h"
#include "shell/answers/print_gdb.h"
#include "shell/answers/print_values.h"
#include "shell/session.h"

/* gdb may know what pdb cannot read, where it may ask for so many ranks. */
static int ask_gdb(struct session *session, struct arena *arena, const char *expression,
		   const struct frame *frame, struct print_read *read, struct pdb_error *err)
{
	size_t num = (size_t)rankset_count(read->for_gdb);
	struct value_reading *readings;

	if (!num || num > PRINT_GDB_MAX_RANKS || frame_is_one(frame) || session->cores)
		return 0;
	readings = arena_array(arena, num, sizeof(*readings));
	if (print_gdb(session, arena, expression, frame->function, read->for_gdb, readings, err) <
	    0)
		return -1;
	for (size_t i = 0; i < read->num; i++)
		for (size_t k = 0; k < num; k++)
			if (read->readings[i].rank == readings[k].rank && readings[k].has_value)
				read->readings[i] = readings[k];
	return 0;
}

/* What is no name, member or element, computed by gdb alone. */
static int print_any(struct session *session, struct arena *arena, const char *expression,
		     const struct frame *frame, const struct rankset *ranks, struct printed *ret,
		     struct pdb_error *err)
{
	size_t num = (size_t)rankset_count(ranks);
	struct value_reading *readings = arena_array(arena, num + 1, sizeof(*readings));

	if (num > PRINT_GDB_MAX_RANKS)
		return error_set(err, ERROR_USAGE,
				 "\"%s\" is more than a name, its members and its elements: gdb "
				 "computes it, for at most %d ranks.\nName ranks: print \"%s\" 0-3",
				 expression, PRINT_GDB_MAX_RANKS, expression);
	if (frame_is_one(frame))
		return error_set(err, ERROR_USAGE,
				 "gdb computes \"%s\". Name the function of the frame, not its "
				 "number.",
				 expression);
	if (print_gdb(session, arena, expression, frame->function, ranks, readings, err) < 0)
		return -1;
	*ret = (struct printed){
		.expression = expression,
		.node = CALLPATH_NONE,
		.groups = value_groups_create(arena, readings, num),
	};
	return 0;
}

int print_expression(struct session *session, struct arena *arena, const char *expression,
		     const struct frame *frame, const struct rankset *ranks, struct printed *ret,
		     struct pdb_error *err)
{
	struct print_ask ask = {.expression = expression, .frame = *frame};
	struct print_read read;

	if (print_read(session, arena, &ask, 1, ranks, NULL, false, &read, err) < 0)
		return err->code == ERROR_UNSUPPORTED && !session->cores && !print_is_kept(session)
			       ? print_any(session, arena, expression, frame, ranks, ret, err)
			       : -1;
	if (ask_gdb(session, arena, expression, frame, &read, err) < 0)
		return -1;
	print_group(arena, expression, &read, ret);
	return 0;
}
