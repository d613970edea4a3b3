/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <unistd.h>

#include "attach/process/procfs.h"

#define MAX_FILE ((size_t)16 << 20)
#define MAX_SEARCHED 1024 /* threads of a process that are asked for their numbers */
/* The first pid namespace of a machine (include/linux/proc_ns.h). */
#define WHOLE_MACHINE "pid:[4026531836]"
#define KERNEL_EXITING 0x4 /* PF_EXITING of linux/sched.h, among the flags in stat */

char *procfs_read_path(const char *path, size_t *size_ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), saved;
	size_t size = 0, capacity = 1024;
	char *text = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	do {
		if (n < 0 || size + 1 >= capacity)
			text = xreallocarray(text, capacity *= 4, 1);
		n = TEMP_FAILURE_RETRY(read(fd, text + size, capacity - 1 - size));
		size += n > 0 ? (size_t)n : 0;
	} while (n > 0 && size < MAX_FILE - 1);
	saved = errno;
	close(fd);
	if (n < 0) {
		free(text);
		errno = saved;
		return NULL;
	}
	text[size] = '\0';
	if (size_ret)
		*size_ret = size;
	return text;
}

char *procfs_read(pid_t pid, const char *name, size_t *size_ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return procfs_read_path(path, size_ret);
}

/* "4019 (name) S 1 ...": the name may hold blanks and brackets, so look for the last one. */
static int parse_stat(const char *text, struct procfs_stat *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user, system, start, faults, blocked = 0;
	unsigned int flags;
	int ppid, num_threads, processor = -1, last = 0;
	char state;

	if (!open || !close || close < open)
		goto bad;
	if (sscanf(close + 1,
		   " %c %d %*d %*d %*d %*d %u %*u %*u %llu %*u %llu %llu %*d %*d %*d %*d %d "
		   "%*d %llu%n",
		   &state, &ppid, &flags, &faults, &user, &system, &num_threads, &start,
		   &last) != 8)
		goto bad;
	if (sscanf(close + 1 + last,
		   " %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %d %*u %*u "
		   "%llu",
		   &processor, &blocked) < 1)
		processor = -1;
	ret->pid = (pid_t)strtol(text, NULL, 10);
	ret->ppid = ppid;
	ret->state = state;
	ret->num_threads = num_threads;
	ret->is_ending = state == 'Z' || state == 'X' || flags & KERNEL_EXITING;
	ret->start_ticks = start;
	ret->cpu_ticks = user + system;
	ret->major_faults = faults;
	ret->block_ticks = blocked;
	ret->processor = processor;
	snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)(close - open - 1), open + 1);
	return 0;
bad:
	errno = ESRCH;
	return -1;
}

int procfs_stat(pid_t pid, pid_t tid, struct procfs_stat *ret)
{
	char name[64] = "stat", *text;

	if (tid)
		snprintf(name, sizeof(name), "task/%d/stat", (int)tid);
	text = procfs_read(pid, name, NULL);
	if (!text)
		return -1;
	int result = parse_stat(text, ret);
	free(text);
	return result;
}

static int no_stat(pid_t pid, struct pdb_error *err)
{
	if (errno == ENOENT || errno == ESRCH)
		return error_set(err, ERROR_GONE, "process %d has ended", (int)pid);
	return error_errno(err, "/proc");
}

int procfs_look(pid_t pid, uint64_t start_ticks, struct procfs_stat *ret, struct pdb_error *err)
{
	if (procfs_stat(pid, 0, ret))
		return no_stat(pid, err);
	if (start_ticks && ret->start_ticks != start_ticks)
		return error_set(err, ERROR_GONE, "process %d has ended", (int)pid);
	int num_others = ret->num_threads - 1;
	if (ret->state == 'Z' && num_others > 0)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"its main thread has ended, %d other%s live%s on; pdb cannot look into it",
			num_others, num_others == 1 ? "" : "s", num_others == 1 ? "s" : "");
	if (ret->is_ending)
		return error_set(err, ERROR_GONE, "process %d (%s) has ended", (int)pid, ret->comm);
	return 0;
}

bool procfs_has_ended(pid_t pid, uint64_t start_ticks)
{
	struct pdb_error err = {0};
	struct procfs_stat stat;

	return procfs_look(pid, start_ticks, &stat, &err) < 0 && err.code == ERROR_GONE;
}

/* The last field of stat. The kernel says 0 to those who may not know. */
bool procfs_exit_status(pid_t pid, int *ret)
{
	struct procfs_status status;
	struct procfs_stat stat;
	char *text = procfs_read(pid, "stat", NULL);
	const char *last;
	bool is_known;

	if (!text)
		return false;
	text[strcspn(text, "\n")] = '\0';
	last = strrchr(text, ' ');
	is_known = !parse_stat(text, &stat) && stat.state == 'Z' && last && last[1] &&
		   !procfs_status(pid, &status) && (geteuid() == 0 || status.uid == geteuid());
	if (is_known)
		*ret = (int)strtol(last + 1, NULL, 10);
	free(text);
	return is_known;
}

bool procfs_sees_machine(void)
{
	char target[64];
	ssize_t n = readlink("/proc/self/ns/pid", target, sizeof(target));

	return n == (ssize_t)strlen(WHOLE_MACHINE) && !memcmp(target, WHOLE_MACHINE, (size_t)n);
}

static const char *status_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? at + strlen(key) : NULL;
}

int procfs_status(pid_t pid, struct procfs_status *ret)
{
	char *text = procfs_read(pid, "status", NULL);
	const char *uids, *state, *tracer, *tgid, *pending, *shared, *numbers;
	unsigned uid[4];

	if (!text)
		return -1;
	uids = status_value(text, "\nUid:");
	state = status_value(text, "\nState:\t");
	tracer = status_value(text, "\nTracerPid:");
	tgid = status_value(text, "\nTgid:");
	pending = status_value(text, "\nSigPnd:");
	shared = status_value(text, "\nShdPnd:");
	/* "Uid: 1000 1000 1000 1000": the real, effective, saved and file system's user. */
	if (!uids || sscanf(uids, "%u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) != 4 ||
	    !state || !tracer || !tgid || !pending || !shared) {
		free(text);
		errno = ESRCH;
		return -1;
	}
	*ret = (struct procfs_status){
		.own = pid,
		.uid = uid[1],
		.owner = uid[1],
		.state = *state,
		.tracer = (pid_t)strtol(tracer, NULL, 10),
		.tgid = (pid_t)strtol(tgid, NULL, 10),
		.pending = strtoull(pending, NULL, 16),
		.shared_pending = strtoull(shared, NULL, 16),
	};
	for (int i = 0; i < 4 && ret->owner == geteuid(); i++)
		ret->owner = uid[i];
	/* "\t1234\t17\n": the last. */
	numbers = status_value(text, "\nNSpid:");
	while (numbers && *numbers == '\t')
		ret->own = (pid_t)strtol(numbers, (char **)&numbers, 10);
	free(text);
	return 0;
}

bool procfs_same_user(pid_t a, pid_t b)
{
	struct procfs_status first, second;

	return procfs_status(a, &first) == 0 && procfs_status(b, &second) == 0 &&
	       first.uid == second.uid;
}

const char *procfs_getenv(const char *variables, size_t size, const char *name)
{
	size_t length = strlen(name);
	const char *at = variables, *end = variables + size;

	while (at < end) {
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
		at += strlen(at) + 1;
	}
	return NULL;
}

bool procfs_executable(pid_t pid, char *buffer, size_t size)
{
	static const char deleted[] = " (deleted)";
	char path[64], target[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0 || (size_t)n >= size)
		return false;
	memcpy(buffer, target, (size_t)n);
	buffer[n] = '\0';
	if ((size_t)n >= sizeof(deleted) && !strcmp(buffer + n - (sizeof(deleted) - 1), deleted))
		buffer[(size_t)n - (sizeof(deleted) - 1)] = '\0';
	return true;
}

void procfs_command(pid_t pid, char *buffer, size_t size)
{
	struct procfs_stat stat;
	size_t length;
	char *text = procfs_read(pid, "cmdline", &length);

	if (text && length > 0) {
		for (size_t i = 0; i + 1 < length; i++)
			if ((unsigned char)text[i] < ' ')
				text[i] = ' ';
		snprintf(buffer, size, "%s", text);
	} else if (!procfs_stat(pid, 0, &stat)) {
		snprintf(buffer, size, "[%s]", stat.comm);
	} else {
		snprintf(buffer, size, "?");
	}
	free(text);
}

SORTED_BY(compare_stat, struct procfs_stat, pid)

/* The numbers in a directory of /proc, behind `first` if not 0. The caller frees; NULL and
 * errno. */
static pid_t *list_numbers(const char *path, pid_t first, size_t *num_ret)
{
	size_t num = 0, capacity = 16;
	struct dirent *entry;
	DIR *dir = opendir(path);
	pid_t *list;

	if (!dir)
		return NULL;
	list = xcalloc(capacity, sizeof(*list));
	list[0] = first;
	num = first != 0;
	while ((entry = readdir(dir))) {
		char *end;
		pid_t pid = (pid_t)strtol(entry->d_name, &end, 10);

		if (*end || pid <= 0 || pid == first)
			continue;
		*XPUSH(list, num, capacity) = pid;
	}
	closedir(dir);
	*num_ret = num;
	return list;
}

struct procfs_stat *procfs_list(size_t *num_ret)
{
	size_t num_pids = 0, num = 0;
	pid_t *pids = list_numbers("/proc", 0, &num_pids);
	struct procfs_stat *list = xcalloc(num_pids + 1, sizeof(*list));

	for (size_t i = 0; i < num_pids; i++)
		num += !procfs_stat(pids[i], 0, &list[num]);
	free(pids);
	qsort(list, num, sizeof(*list), compare_stat);
	*num_ret = num;
	return list;
}

const struct procfs_stat *procfs_find(const struct procfs_stat *list, size_t num, pid_t pid)
{
	struct procfs_stat key = {.pid = pid};

	return num ? bsearch(&key, list, num, sizeof(*list), compare_stat) : NULL;
}

pid_t *procfs_threads(pid_t pid, size_t *num_ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return list_numbers(path, pid, num_ret);
}

void procfs_user_name(uid_t uid, char *buffer, size_t size)
{
	struct passwd *entry = getpwuid(uid);

	if (entry)
		snprintf(buffer, size, "%s", entry->pw_name);
	else
		snprintf(buffer, size, "uid %u", (unsigned)uid);
}

/* 0 also where the kernel has no Yama. */
static int yama_scope(void)
{
	char *text = procfs_read_path("/proc/sys/kernel/yama/ptrace_scope", NULL);
	int scope = text ? atoi(text) : 0;

	free(text);
	return scope;
}

static int refuse_tracer(pid_t pid, const struct procfs_stat *stat, pid_t tracer, const char *doing,
			 struct pdb_error *err)
{
	struct procfs_stat other;

	if (!tracer)
		return 0;
	if (procfs_stat(tracer, 0, &other))
		snprintf(other.comm, sizeof(other.comm), "unknown");
	return error_set(err, ERROR_PERMISSION,
			 "process %d (%s) cannot %s: it is already traced by pid %d (%s); "
			 "detach that first",
			 (int)pid, stat->comm, doing, (int)tracer, other.comm);
}

/* The thread of the process if it lives, 0 if it does not, -1 if that cannot be seen. */
static pid_t find_living(pid_t pid, pid_t tid)
{
	struct procfs_stat stat;

	if (procfs_stat(pid, tid, &stat))
		return errno == ENOENT || errno == ESRCH ? 0 : -1;
	return strchr("ZX", stat.state) ? 0 : tid;
}

pid_t procfs_find_thread(pid_t pid, pid_t own)
{
	struct procfs_status status;
	pid_t *tids, found = 0;
	size_t num = 0;

	if (procfs_status(pid, &status))
		return -1;
	/* Not in a pid namespace of its own, as mostly. */
	if (status.own == pid)
		return find_living(pid, own);
	tids = procfs_threads(pid, &num);
	for (size_t i = 0; i < num && i < MAX_SEARCHED && !found; i++)
		if (procfs_status(tids[i], &status) == 0 && status.own == own)
			found = find_living(pid, tids[i]);
	if (!found && (!tids || num > MAX_SEARCHED))
		found = -1;
	free(tids);
	return found;
}

int procfs_check_tracer(pid_t pid, const char *doing, struct pdb_error *err)
{
	struct procfs_status status;
	struct procfs_stat stat;

	if (procfs_status(pid, &status) || procfs_stat(pid, 0, &stat))
		return no_stat(pid, err);
	return refuse_tracer(pid, &stat, status.tracer, doing, err);
}

/* As the kernel asks: who owns it, who has it already, what the system allows. */
static int explain_refusal(pid_t pid, const struct procfs_stat *stat, const char *doing,
			   struct pdb_error *err)
{
	/* By Yama's scope. */
	static const char *const reasons[] = {
		"the kernel refuses. It may be set-uid or not dumpable, or pdb runs in a container "
		"without CAP_SYS_PTRACE",
		"kernel.yama.ptrace_scope is 1. Start the job with \"pdb run\", or as root: sysctl "
		"kernel.yama.ptrace_scope=0",
		"kernel.yama.ptrace_scope is 2, which allows it to root only. Run pdb as root, or "
		"as "
		"root: sysctl kernel.yama.ptrace_scope=0",
		"kernel.yama.ptrace_scope is 3, which forbids it to everybody until the next boot",
	};
	struct procfs_status status;
	char user[64];

	if (procfs_status(pid, &status))
		return no_stat(pid, err);
	if (geteuid() != 0 && status.uid != geteuid()) {
		procfs_user_name(status.uid, user, sizeof(user));
		return error_set(err, ERROR_PERMISSION,
				 "process %d (%s) cannot %s: it belongs to %s; run pdb as %s or "
				 "as root",
				 (int)pid, stat->comm, doing, user, user);
	}
	if (refuse_tracer(pid, stat, status.tracer, doing, err) < 0)
		return -1;
	int scope = yama_scope();
	return error_set(err, ERROR_PERMISSION, "process %d (%s) cannot %s: %s", (int)pid,
			 stat->comm, doing, reasons[scope >= 1 && scope <= 3 ? scope : 0]);
}

int procfs_explain(pid_t pid, int error, const char *doing, struct pdb_error *err)
{
	struct procfs_stat stat;

	if (procfs_look(pid, 0, &stat, err) < 0)
		return -1;
	if (error == EPERM || error == EACCES)
		return explain_refusal(pid, &stat, doing, err);
	errno = error;
	return error_errno(err, "process %d (%s) cannot %s", (int)pid, stat.comm, doing);
}
