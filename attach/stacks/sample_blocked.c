/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/stacks/sample_blocked.h"
#include "attach/blocked/blocked.h"
#include "attach/blocked/limits.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"
#include "model/xalloc.h"

#define MAX_SEARCHES 2 /* of all processes: some milliseconds each */
/* Of at most 2 ms each. In a hung job few are outside MPI; of many nobody asks for all. */
#define MAX_LIMITS 16

void sample_blocked_begin(struct sample_blocked_budget *budget)
{
	*budget = (struct sample_blocked_budget){MAX_SEARCHES, MAX_LIMITS};
}

struct blocked *sample_blocked_before(struct sample_blocked_budget *budget, pid_t pid, char state)
{
	return state == 'S' || state == 'D' ? blocked_read(pid, pid, &budget->searches) : NULL;
}

void sample_blocked_after(struct sample_blocked_budget *budget, pid_t pid,
			  const struct user_regs_struct *regs, struct blocked **blocked)
{
	struct system_call call;
	char *limit;

	if (!*blocked && system_call_of_registers(regs, &call))
		*blocked = blocked_describe(pid, pid, &call, &budget->searches);
	if (budget->limits-- <= 0)
		return;
	limit = limits_reached(pid);
	if (limit && !*blocked)
		*blocked = xcalloc(1, sizeof(**blocked));
	if (limit)
		(*blocked)->limit = limit;
}
