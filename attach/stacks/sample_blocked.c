/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/stacks/sample_blocked.h"
#include "attach/blocked/blocked.h"
#include "attach/blocked/limits.h"
#include "attach/blocked/mount_probe.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"

#define MAX_SEARCHES 2 /* of all processes: some milliseconds each */
/* Of 2 ms each, rarely 22 (attach/blocked/limits.h). In a hung job few are outside MPI; of many
 * nobody asks for all. */
#define MAX_LIMITS 16
/* Some tens of microseconds each, two milliseconds where a variable is new. */
#define MAX_LOCKS_NS INT64_C(100000000)

void sample_blocked_init(struct sample_blocked_budget *budget)
{
	budget->mounts = mount_probes_create();
}

void sample_blocked_deinit(struct sample_blocked_budget *budget)
{
	mount_probes_destroy(budget->mounts);
}

void sample_blocked_begin(struct sample_blocked_budget *budget)
{
	budget->searches = MAX_SEARCHES;
	budget->limits = MAX_LIMITS;
	budget->locks_ns = MAX_LOCKS_NS;
}

struct blocked *sample_blocked_before(struct sample_blocked_budget *budget, pid_t pid, char state)
{
	struct blocked *found;

	if (state != 'S' && state != 'D')
		return NULL;
	found = blocked_read(pid, pid, &budget->searches);
	if (found && found->point)
		mount_probes_ask(budget->mounts, pid, found->point);
	return found;
}

static const char *answer_words(enum mount_answer answer)
{
	switch (answer) {
	case MOUNT_ANSWERS:
		return "the mount answers statfs()";
	case MOUNT_SILENT:
		return "the mount does not answer statfs() within 200 ms";
	case MOUNT_UNKNOWN:
		break;
	}
	return NULL;
}

void sample_blocked_end(struct sample_blocked_budget *budget, pid_t pid, struct blocked *blocked)
{
	const char *words;
	char *around;

	if (!blocked || !blocked->point)
		return;
	words = answer_words(mount_probes_answer(budget->mounts, pid, blocked->point));
	if (!words)
		return;
	around = blocked->around ? xasprintf("%s; %s", words, blocked->around) : xstrdup(words);
	free(blocked->around);
	blocked->around = around;
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
