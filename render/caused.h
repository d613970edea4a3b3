/* SPDX-License-Identifier: BSD-3-Clause
 * The result of cause, for its views. */
#pragma once

#include "model/base.h"

struct value_groups;

enum caused_kind {
	CAUSED_BY_BRANCH,
	CAUSED_BY_LOOP,    /* ranks are still in a loop that the others have left */
	CAUSED_BY_TABLE,   /* a switch */
	CAUSED_BY_POINTER, /* one call of different functions */
};

struct caused_value {
	const char *expression;
	const struct value_groups *groups; /* of all ranks of both sides */
	bool may_have_changed;             /* since they parted */
};

/* Ranks that have parted from others. */
struct caused {
	enum caused_kind kind;
	bool is_likely; /* values that an earlier branch goes by may have changed */
	const struct rankset *ranks, *others;
	uint32_t node;      /* of the branch or call (job->callpaths) */
	uint32_t called[2]; /* CAUSED_BY_POINTER: where these ranks and the others are */
	const char *source; /* the line's text; NULL: not known */
	const char
		*returned; /* the value that decided is what this function has returned; or NULL */
	struct caused_value *values;
	size_t num_values;
};

struct caused_list {
	struct caused *list;
	size_t num;
	bool is_late; /* pdb has not looked at all pairs of stacks: that took too long */
};
