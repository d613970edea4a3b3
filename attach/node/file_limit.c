/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/resource.h>

#include "attach/node/node.h"

void node_raise_file_limit(size_t needed)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed + 64)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
