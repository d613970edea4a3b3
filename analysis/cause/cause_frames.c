/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cause/cause_frames.h"
#include "model/job/callpath.h"

bool cause_frames(const struct callpaths *callpaths, uint32_t a, uint32_t b, uint32_t ret[2])
{
	uint32_t common, depth;

	if (a == CALLPATH_NONE || b == CALLPATH_NONE)
		return false;
	common = callpaths_common(callpaths, a, b);
	depth = common == CALLPATH_NONE ? 0 : callpaths_get(callpaths, common)->depth + 1;
	ret[0] = callpaths_at_depth(callpaths, a, depth);
	ret[1] = callpaths_at_depth(callpaths, b, depth);
	return common != a && common != b;
}

uint32_t cause_inner_frame(const struct callpaths *callpaths, uint32_t path, uint32_t node)
{
	return node == path ? CALLPATH_NONE
			    : callpaths_at_depth(callpaths, path,
						 callpaths_get(callpaths, node)->depth + 1);
}
