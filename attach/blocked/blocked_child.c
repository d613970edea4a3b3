/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <sys/wait.h>

#include "attach/blocked/blocked_private.h"
#include "attach/blocked/fd_object.h"
#include "attach/process/procfs.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"
#include "model/monotonic.h"

#define MAX_CHILDREN 1024
#define MAX_THREADS 1024
#define MAX_NAMED 3
#define MAX_NS (20 * UINT64_C(1000000))

struct children {
	struct procfs_stat *list;
	size_t num, capacity;
};

static void add_child(struct children *children, pid_t parent, pid_t pid)
{
	struct procfs_stat stat;

	/* One that has ended, and for which it does not wait, ends no waiting. */
	if (procfs_stat(pid, 0, &stat) || stat.ppid != parent || strchr("ZX", stat.state))
		return;
	if (children->num < MAX_CHILDREN)
		*XPUSH(children->list, children->num, children->capacity) = stat;
}

/* False: the kernel was built without these lists. */
static bool add_of_threads(struct children *children, pid_t pid)
{
	size_t num = 0;
	pid_t *tids = procfs_threads(pid, &num);
	bool is_there = false;

	for (size_t i = 0; i < num && i < MAX_THREADS; i++) {
		char name[48], *text, *end;

		snprintf(name, sizeof(name), "task/%d/children", (int)tids[i]);
		text = procfs_read(pid, name, NULL);
		is_there |= text != NULL;
		for (char *at = text; at && *at; at = end) {
			pid_t child = (pid_t)strtol(at, &end, 10);

			if (end == at)
				break;
			add_child(children, pid, child);
		}
		free(text);
	}
	free(tids);
	return is_there;
}

static void add_of_all(struct children *children, pid_t parent)
{
	uint64_t deadline = monotonic_ns() + MAX_NS;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir)) && monotonic_ns() < deadline) {
		char *end;
		pid_t pid = (pid_t)strtol(entry->d_name, &end, 10);

		if (!*end && pid > 0)
			add_child(children, parent, pid);
	}
	if (dir)
		closedir(dir);
}

static struct children read_children(pid_t pid)
{
	struct children children = {.num = 0};

	if (!add_of_threads(&children, pid))
		add_of_all(&children, pid);
	return children;
}

static void describe_one(struct blocked *found, const struct procfs_stat *stat)
{
	found->object = xasprintf("process %d (%s)", (int)stat->pid, stat->comm);
	if (stat->state == 'T')
		found->reason = xstrdup("it is stopped");
}

static bool are_stopped(const struct children *children)
{
	for (size_t i = 0; i < children->num; i++)
		if (children->list[i].state != 'T')
			return false;
	return children->num > 0;
}

static char *name_all(const struct children *children)
{
	char *text = xasprintf("any of %zu children: ", children->num), *longer;

	for (size_t i = 0; i < children->num && i < MAX_NAMED; i++) {
		longer = xasprintf("%s%s%d (%s)", text, i ? ", " : "", (int)children->list[i].pid,
				   children->list[i].comm);
		free(text);
		text = longer;
	}
	if (children->num <= MAX_NAMED)
		return text;
	longer = xasprintf("%s and %zu more", text, children->num - MAX_NAMED);
	free(text);
	return longer;
}

static void describe_any(struct blocked_look *look)
{
	struct children children = read_children(look->pid);

	if (children.num == 1) {
		describe_one(look->found, children.list);
	} else if (children.num > 1) {
		look->found->object = name_all(&children);
		if (are_stopped(&children))
			look->found->reason = xstrdup("they are stopped");
	} else {
		look->found->object = xstrdup("any child");
	}
	free(children.list);
}

/* The child that the process knows by this number: another one in a pid namespace of its own. */
static bool find_child(pid_t parent, pid_t number, struct procfs_stat *ret)
{
	struct procfs_status status;
	struct children children;
	bool found = false;

	if (!procfs_status(parent, &status) && status.own == parent)
		return !procfs_stat(number, 0, ret);
	children = read_children(parent);
	for (size_t i = 0; i < children.num && !found; i++) {
		*ret = children.list[i];
		found = !procfs_status(ret->pid, &status) && status.own == number;
	}
	free(children.list);
	return found;
}

static void describe_child(struct blocked_look *look, pid_t number)
{
	struct procfs_stat stat;

	if (find_child(look->pid, number, &stat))
		describe_one(look->found, &stat);
	else
		look->found->object = xasprintf("process %d", (int)number);
}

static void describe_group(struct blocked_look *look, pid_t group)
{
	if (group)
		look->found->object = xasprintf("any child in process group %d", (int)group);
	else
		look->found->object = xstrdup("any child in its process group");
}

void blocked_on_wait4(struct blocked_look *look)
{
	pid_t which = (pid_t)look->call->args[0];

	if (which > 0)
		describe_child(look, which);
	else if (which == -1)
		describe_any(look);
	else
		describe_group(look, (pid_t) - (int64_t)which);
}

static void describe_pidfd(struct blocked_look *look)
{
	struct procfs_stat stat;
	struct fd_object object;

	if (!fd_object_read(look->pid, (int)look->call->args[1], &object))
		return;
	if (object.info.pid > 0 && !procfs_stat(object.info.pid, 0, &stat))
		describe_one(look->found, &stat);
	fd_object_clear(&object);
}

void blocked_on_waitid(struct blocked_look *look)
{
	pid_t which = (pid_t)look->call->args[1];

	switch ((int)look->call->args[0]) {
	case P_ALL:
		describe_any(look);
		break;
	case P_PID:
		describe_child(look, which);
		break;
	case P_PGID:
		describe_group(look, which);
		break;
	case 3: /* P_PIDFD, of newer headers */
		describe_pidfd(look);
		break;
	}
}
