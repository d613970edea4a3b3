/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>

#include "attach/blocked/kernel_place.h"
#include "attach/blocked/mount_probe.h"
#include "attach/process/procfs.h"
#include "model/monotonic.h"

#define MAX_WCHAN 64
#define MAX_FUNCTIONS 6
#define MAX_NS (20 * UINT64_C(1000000))
#define NUM_OF(array) (sizeof(array) / sizeof((array)[0]))

static char *read_of(pid_t pid, pid_t tid, const char *file)
{
	char name[64];

	snprintf(name, sizeof(name), "task/%d/%s", (int)tid, file);
	return procfs_read(pid, name, NULL);
}

/* The kernel says "0" where it may not say more. */
char *kernel_place_function(pid_t pid, pid_t tid)
{
	char *text = read_of(pid, tid, "wchan"), *function;

	if (!text)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	function = *text && strcmp(text, "0") != 0 ? xstrndup(text, MAX_WCHAN) : NULL;
	free(text);
	return function;
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* How every call gets into the kernel, on x86-64 and arm64. */
static bool is_entry(const char *function)
{
	static const char *const entries[] = {
		"do_syscall_64", "x64_sys_call", "entry_SYSCALL",  "asm_",         "ret_from_",
		"el0",           "do_el0_svc",   "invoke_syscall", "__arm64_sys_", "__x64_sys_",
	};

	for (size_t i = 0; i < NUM_OF(entries); i++)
		if (begins(function, entries[i]))
			return true;
	return false;
}

char *kernel_place_parse(const char *text)
{
	char *stack = NULL, *longer, function[MAX_WCHAN + 1];
	int num = 0;

	/* "[<0>] rpc_wait_bit_killable+0x1e/0xa0 [sunrpc]" */
	for (; text && *text && num < MAX_FUNCTIONS; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (sscanf(text, "[<%*[^>]>]%*1[ ]%64[^+ \n]", function) != 1 || is_entry(function))
			continue;
		longer = stack ? xasprintf("%s < %s", stack, function) : xstrdup(function);
		free(stack);
		stack = longer;
		num++;
	}
	return stack;
}

char *kernel_place_stack(pid_t pid, pid_t tid)
{
	char *text = read_of(pid, tid, "stack"), *stack;

	stack = text ? kernel_place_parse(text) : NULL;
	free(text);
	return stack;
}

bool kernel_place_is_fault(const char *function, const char *stack)
{
	static const char *const words[] = {"fault", "folio_wait", "wait_on_page", "filemap",
					    "do_swap_page"};

	for (size_t i = 0; i < NUM_OF(words); i++)
		if ((function && strstr(function, words[i])) || (stack && strstr(stack, words[i])))
			return true;
	return false;
}

static bool sleeps_in(pid_t pid, const char *function)
{
	struct procfs_stat stat;
	char *other;
	bool does;

	if (procfs_stat(pid, 0, &stat) || stat.state != 'D' || !strcmp(stat.comm, MOUNT_PROBE_NAME))
		return false;
	other = kernel_place_function(pid, pid);
	does = other && !strcmp(other, function);
	free(other);
	return does;
}

size_t kernel_place_count(pid_t pid, const char *function)
{
	uint64_t deadline = monotonic_ns() + MAX_NS;
	struct dirent *entry;
	size_t num = 0;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir)) && monotonic_ns() < deadline) {
		char *end;
		pid_t other = (pid_t)strtol(entry->d_name, &end, 10);

		num += !*end && other > 0 && other != pid && sleeps_in(other, function);
	}
	if (dir)
		closedir(dir);
	return num;
}
