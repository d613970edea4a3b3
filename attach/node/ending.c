/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/wait.h>
#include <unistd.h>

#include "attach/node/ending.h"
#include "attach/process/cgroup.h"
#include "attach/process/kernel_log.h"
#include "attach/process/procfs.h"
#include "model/job/job.h"
#include "model/monotonic.h"

#define MAX_COMM 15 /* the kernel cuts names there */
#define SECOND_NS UINT64_C(1000000000)
/* By which the log's clock may be off in a job's time. */
#define SLACK_NS (10 * SECOND_NS)
/* Living ranks whose cgroup is asked. */
#define MOST_ASKED 64

struct endings {
	char *log; /* NULL: it may not be read */
	struct procfs_stat living;
	uint64_t oom_kills;
};

struct endings *endings_create(const pid_t *living, size_t num)
{
	struct endings *endings = xcalloc(1, sizeof(*endings));

	if (num == 0 || procfs_stat(living[0], 0, &endings->living))
		return endings;
	endings->log = kernel_log_read();
	if (!cgroup_oom_kills(living, num < MOST_ASKED ? num : MOST_ASKED, &endings->oom_kills))
		endings->oom_kills = 0;
	return endings;
}

void endings_destroy(struct endings *endings)
{
	if (!endings)
		return;
	free(endings->log);
	free(endings);
}

/* As the kernel names a process of that program. */
static void name_of(const char *executable, char comm[MAX_COMM + 1])
{
	const char *slash = executable ? strrchr(executable, '/') : NULL;

	snprintf(comm, MAX_COMM + 1, "%s", slash ? slash + 1 : executable ? executable : "");
}

static void take_status(struct job_end *end, int status)
{
	end->how = WIFSIGNALED(status) ? JOB_END_KILLED : JOB_END_EXITED;
	end->number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	end->has_core = WIFSIGNALED(status) && WCOREDUMP(status);
}

static bool is_named(const char *name, const char *comm, const struct endings *endings)
{
	return *name && (!strcmp(name, comm) || !strcmp(name, endings->living.comm));
}

/* Of a process that is still there, as its parent has not collected it. */
static void ask_process(const struct endings *endings, pid_t pid, uint64_t start_ticks,
			const char *comm, struct job_end *end)
{
	struct procfs_stat stat;
	int status;

	if (procfs_stat(pid, 0, &stat) || stat.state != 'Z' ||
	    (start_ticks && stat.start_ticks != start_ticks) ||
	    !is_named(stat.comm, comm, endings) || !procfs_exit_status(pid, &status))
		return;
	take_status(end, status);
	end->has_cgroup = cgroup_oom_kills(&pid, 1, &end->oom_kills);
}

/* When the first of the job's processes can have ended, on the log's clock. */
static uint64_t log_begin(const struct endings *endings)
{
	uint64_t ns = endings->living.start_ticks * (SECOND_NS / (uint64_t)sysconf(_SC_CLK_TCK));

	return ns > SLACK_NS ? ns - SLACK_NS : 0;
}

static void ask_log(const struct endings *endings, pid_t pid, const char *comm, struct job_end *end)
{
	const char *const names[] = {comm, endings->living.comm};
	struct kernel_log_end found;
	uint64_t now = monotonic_ns();

	for (size_t i = 0; i < 2; i++) {
		if (!endings->log || !*names[i] ||
		    !kernel_log_find(endings->log, pid, names[i], log_begin(endings), &found))
			continue;
		/* A process that catches a fault may end otherwise. */
		if (end->how != JOB_END_UNKNOWN &&
		    (end->how != JOB_END_KILLED || end->number != found.signal))
			return;
		end->how = JOB_END_KILLED;
		end->number = found.signal;
		end->is_chosen = found.is_chosen;
		end->ago_ns = now > found.ns ? now - found.ns : 0;
		return;
	}
}

void endings_find(const struct endings *endings, pid_t pid, uint64_t start_ticks,
		  const char *executable, struct job_end *ret)
{
	char comm[MAX_COMM + 1];

	*ret = (struct job_end){.how = JOB_END_UNKNOWN};
	name_of(executable, comm);
	ask_process(endings, pid, start_ticks, comm, ret);
	ask_log(endings, pid, comm, ret);
	if (!ret->has_cgroup)
		ret->oom_kills = endings->oom_kills;
}
