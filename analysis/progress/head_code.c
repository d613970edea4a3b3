/* SPDX-License-Identifier: BSD-3-Clause
 * What the code tells of calls that may be heads of loops. */
#include "analysis/progress/job_heads.h"

static enum progress_nesting ask_code(const struct job_heads *jh, uint32_t state, uint32_t outside)
{
	const struct progress_calls calls = {
		.first = job_heads_path(jh, state),
		.last = job_heads_path(jh, state),
		.outside = job_heads_path(jh, outside),
	};
	enum progress_nesting found = jh->code->ask(jh->code->context, &calls);

	return found == PROGRESS_MAYBE_SKIPPED ? PROGRESS_NESTED : found;
}

enum progress_nesting job_heads_ask_code(const struct job_heads *jh, const struct loop_part *part,
					 uint32_t state)
{
	enum progress_nesting all = PROGRESS_ONE_LOOP;

	for (size_t i = 0; i < part->num_states; i++) {
		enum progress_nesting found;

		if (SEG_STATE_IS_EXIT(part->states[i]) || (part->states[i] | 1) == (state | 1))
			continue;
		found = ask_code(jh, state, part->states[i]);
		if (found == PROGRESS_NESTED)
			return found;
		if (found == PROGRESS_NESTING_NOT_KNOWN)
			all = found;
	}
	return all;
}

bool job_heads_can_be_around(const struct job_heads *jh, const struct loop_part *part,
			     uint32_t header, uint32_t mark, bool is_run)
{
	if ((mark | 1) == (header | 1))
		return job_heads_ask_code(jh, part, mark) != PROGRESS_ONE_LOOP;
	if (ask_code(jh, header, mark) == PROGRESS_ONE_LOOP)
		return false;
	return is_run || job_heads_ask_code(jh, part, mark) != PROGRESS_NESTED;
}
