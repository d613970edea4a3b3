/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <sys/klog.h>

#include "attach/process/kernel_log.h"
#include "attach/process/procfs.h"

#define MOST_READ (128 << 10)
#define READ_ALL 3 /* SYSLOG_ACTION_READ_ALL of man 2 syslog */

char *kernel_log_read(void)
{
	char *text;
	int size;

	if (!procfs_sees_machine())
		return NULL;
	text = xmalloc(MOST_READ + 1);
	size = klogctl(READ_ALL, text, MOST_READ);
	if (size < 0) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

static const char *after(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) ? NULL : text + length;
}

/* "Killed process 812 (lmp)", of any kernel; other words are before it. */
static bool is_chosen(const char *text, pid_t pid, const char *comm)
{
	char *wanted = xasprintf("Killed process %d (%s)", (int)pid, comm);
	const char *found = strstr(text, wanted);
	bool is_it;

	/* Not what a process has as its name. */
	is_it = found && (found == text || after(text, "Out of memory") ||
			  after(text, "Memory cgroup out of memory"));
	free(wanted);
	return is_it;
}

/* "lmp[812]: segfault at 10 ip ...", "traps: lmp[812] trap divide error ip:..." */
static int fault_signal(const char *text, pid_t pid, const char *comm)
{
	static const struct {
		const char *words;
		int signal;
	} faults[] = {
		{": segfault at ", SIGSEGV},
		{" general protection", SIGSEGV},
		{" trap invalid opcode", SIGILL},
		{" trap divide error", SIGFPE},
	};
	char *who = xasprintf("%s[%d]", comm, (int)pid);
	const char *what = after(text, "traps: ");

	what = after(what ? what : text, who);
	free(who);
	for (size_t i = 0; what && i < sizeof(faults) / sizeof(faults[0]); i++)
		if (after(what, faults[i].words))
			return faults[i].signal;
	return 0;
}

/* The text behind "<4>[ 12.345678]" and, of some kernels, "[ T812]". NULL: there is no time. */
static const char *skip_head(const char *line, uint64_t *ns_ret)
{
	unsigned long long seconds, micros;
	int used = 0;

	if (sscanf(line, "<%*u>[%llu.%6llu]%n", &seconds, &micros, &used) != 2 || !used)
		return NULL;
	*ns_ret = seconds * 1000000000 + micros * 1000;
	line += used + strspn(line + used, " ");
	if (*line == '[' && strchr("TC ", line[1]) && strchr(line, ']'))
		line = strchr(line, ']') + 1;
	return line + strspn(line, " ");
}

bool kernel_log_find(const char *log, pid_t pid, const char *comm, uint64_t since_ns,
		     struct kernel_log_end *ret)
{
	bool found = false;
	char digits[16];

	snprintf(digits, sizeof(digits), "%d", (int)pid);
	for (const char *end; log && *log; log = *end ? end + 1 : end) {
		struct kernel_log_end one = {0};
		const char *text;
		char *line;

		end = strchrnul(log, '\n');
		if (!memmem(log, (size_t)(end - log), digits, strlen(digits)))
			continue;
		line = xstrndup(log, (size_t)(end - log));

		text = skip_head(line, &one.ns);
		if (text && one.ns >= since_ns) {
			one.is_chosen = is_chosen(text, pid, comm);
			one.signal = one.is_chosen ? SIGKILL : fault_signal(text, pid, comm);
		}
		if (one.signal) {
			*ret = one;
			found = true;
		}
		free(line);
	}
	return found;
}
