/* SPDX-License-Identifier: BSD-3-Clause
 * How ranks ended: by their cores, and by what their hosts still know. */
#include <signal.h>

#include "model/job/job.h"
#include "render/words/label.h"

static const char *signal_text(struct arena *arena, int signal)
{
	const char *name = sigabbrev_np(signal);

	return name ? arena_printf(arena, "SIG%s", name) : arena_printf(arena, "signal %d", signal);
}

const char *label_crash(struct arena *arena, const struct job_crash *crash)
{
	const char *text = signal_text(arena, crash->signal);

	if (crash->has_address)
		return arena_printf(arena, "%s at address 0x%" PRIx64, text, crash->address);
	return crash->is_sent ? arena_printf(arena, "%s from another process", text) : text;
}

/* SIGKILL has many senders, and the kernel is one of them. */
static bool is_likely_memory(const struct job_end *end)
{
	return end->how == JOB_END_KILLED && end->number == SIGKILL && end->oom_kills > 0;
}

/* Behind how it ended; "": of memory nothing is known. */
static const char *memory_text(struct arena *arena, const struct job_end *end)
{
	const char *count;

	if (end->is_chosen)
		return ", out of memory, as the kernel's log says";
	if (!end->oom_kills || (end->how != JOB_END_UNKNOWN && !is_likely_memory(end)))
		return "";
	count = arena_printf(arena, "%s counts %" PRIu64 " oom kill%s",
			     end->has_cgroup ? "its cgroup" : "the cgroup of the other ranks there",
			     end->oom_kills, end->oom_kills == 1 ? "" : "s");
	return is_likely_memory(end) ? arena_printf(arena, ", most likely out of memory: %s", count)
				     : arena_printf(arena, "; %s", count);
}

const char *label_end(struct arena *arena, const struct job_end *end)
{
	const char *how = "has ended", *ago = "", *core;

	if (!end)
		return how;
	if (end->how == JOB_END_KILLED)
		how = arena_printf(arena, "was killed by %s", signal_text(arena, end->number));
	else if (end->how == JOB_END_EXITED)
		how = arena_printf(arena, "has exited with status %d", end->number);
	if (end->ago_ns)
		ago = arena_printf(arena, " %s ago", label_time(end->ago_ns).text);
	core = end->has_core ? ", which wrote a core" : "";
	return arena_printf(arena, "%s%s%s%s", how, ago, core, memory_text(arena, end));
}

const char *label_end_short(struct arena *arena, const struct job_end *end)
{
	if (!end || end->how == JOB_END_UNKNOWN)
		return NULL;
	if (end->how == JOB_END_EXITED)
		return arena_printf(arena, "exit %d", end->number);
	return arena_printf(arena, "%s%s", signal_text(arena, end->number),
			    end->is_chosen          ? ", out of memory"
			    : is_likely_memory(end) ? ", out of memory?"
						    : "");
}
