/* SPDX-License-Identifier: BSD-3-Clause
 * Threads inside the kernel: a file server that hangs, page faults, recorded stacks, calls by
 * registers. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "attach/blocked/blocked.h"
#include "attach/blocked/kernel_place.h"
#include "attach/blocked/mount_probe.h"
#include "attach/blocked/system_call.h"
#include "model/job/blocked.h"
#include "model/monotonic.h"
#include "tests/unit/child.h"
#include "tests/unit/silent_fuse.h"

#define MS UINT64_C(1000000)

/* ---- Recorded stacks ---- */

static void test_stacks(void **state)
{
	static const struct {
		const char *text, *stack;
	} cases[] = {
		/* Linux 5.14 */
		{"[<0>] rpc_wait_bit_killable+0x1e/0xa0 [sunrpc]\n"
		 "[<0>] __rpc_execute+0x10f/0x3b0 [sunrpc]\n"
		 "[<0>] nfs4_do_call_sync+0x69/0xa0 [nfsv4]\n"
		 "[<0>] do_syscall_64+0x38/0x90\n"
		 "[<0>] entry_SYSCALL_64_after_hwframe+0x63/0xcd\n",
		 "rpc_wait_bit_killable < __rpc_execute < nfs4_do_call_sync"},
		/* 6.12 */
		{"[<0>] folio_wait_bit_common+0x13c/0x330\n"
		 "[<0>] filemap_fault+0x5c6/0xd00\n"
		 "[<0>] __do_fault+0x31/0x130\n[<0>] do_fault+0x1/0x2\n"
		 "[<0>] __handle_mm_fault+0x1/0x2\n[<0>] handle_mm_fault+0x1/0x2\n"
		 "[<0>] do_user_addr_fault+0x1/0x2\n[<0>] exc_page_fault+0x1/0x2\n"
		 "[<0>] asm_exc_page_fault+0x26/0x30\n",
		 "folio_wait_bit_common < filemap_fault < __do_fault < do_fault < "
		 "__handle_mm_fault < handle_mm_fault"},
		{"[<0>] cl_sync_io_wait+0x1/0x2 [obdclass]\n[<0>] __x64_sys_pread64+0x1/0x2\n"
		 "[<0>] x64_sys_call+0x1/0x2\n",
		 "cl_sync_io_wait"},
		/* 4.18 */
		{"[<ffffffff81088f3b>] request_wait_answer+0x1/0x2\n[<0>]", "request_wait_answer"},
		{"", NULL},
		{"rubbish\n[<0>] \n[<", NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char *stack = kernel_place_parse(cases[i].text);

		assert_string_equal(stack ? stack : "-", cases[i].stack ? cases[i].stack : "-");
		free(stack);
	}
	assert_true(kernel_place_is_fault("folio_wait_bit_common", NULL));
	assert_true(kernel_place_is_fault(NULL, "request_wait_answer < filemap_fault"));
	assert_false(kernel_place_is_fault("mem_cgroup_handle_over_high", NULL));
	assert_false(kernel_place_is_fault(NULL, NULL));
}

/* ---- A file server that hangs ---- */

struct use {
	bool is_mapped, answers_statfs;
};

static char point[] = "/tmp/pdb-fuse.XXXXXX";

/* The child serves and its own child uses it; that one's pid comes through the pipe. */
static void serve(const struct use *use, int out)
{
	int fd = silent_fuse_mount(point);
	char path[64], byte;
	pid_t pid = fd < 0 ? 0 : fork();

	if (!pid && fd >= 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fd);
		snprintf(path, sizeof(path), "%s/file", point);
		fd = open(path, O_RDONLY);
		if (use->is_mapped)
			_exit(*(volatile char *)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0));
		_exit(read(fd, &byte, 1) != 1);
	}
	if (write(out, &pid, sizeof(pid)) == sizeof(pid) && fd >= 0)
		silent_fuse_serve(fd, use->answers_statfs);
}

/* Returns the server; *user_ret is 0: this machine allows no such mount. */
static pid_t start_server(const struct use *use, pid_t *user_ret)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(use, fds[1]);
		_exit(0);
	}
	assert_int_equal(read(fds[0], user_ret, sizeof(*user_ret)), sizeof(*user_ret));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static struct blocked *wait_for_kernel(pid_t pid, const char *call, const char *other)
{
	for (uint64_t end = monotonic_ns() + 10000 * MS; monotonic_ns() < end;) {
		struct blocked *blocked = blocked_read(pid, pid, NULL);

		if (blocked && (!strcmp(blocked->call, call) || !strcmp(blocked->call, other)))
			return blocked;
		blocked_destroy(blocked);
		usleep(2000);
	}
	fail_msg("not in %s", call);
	return NULL;
}

/* On a busy machine an answer may take longer than it may. */
static enum mount_answer ask_mount(pid_t user, enum mount_answer expected)
{
	enum mount_answer answer = MOUNT_UNKNOWN;

	for (int i = 0; i < 50 && answer != expected; i++) {
		struct mount_probes *probes = mount_probes_create();

		mount_probes_ask(probes, user, point);
		answer = mount_probes_answer(probes, user, point);
		/* Known; one that is silent is not asked again. */
		if (answer == MOUNT_SILENT)
			mount_probes_ask(probes, user, point);
		assert_int_equal(mount_probes_answer(probes, user, point), answer);
		assert_int_equal(mount_probes_answer(probes, user, "/nowhere"), MOUNT_UNKNOWN);
		mount_probes_ask(probes, user, "/nowhere");
		assert_int_equal(mount_probes_answer(probes, user, "/nowhere"), MOUNT_UNKNOWN);
		mount_probes_destroy(probes);
	}
	return answer;
}

static void test_read(void **state)
{
	static const struct use uses[] = {{false, false}, {false, true}};

	(void)state;
	for (size_t i = 0; i < NUM_OF(uses); i++) {
		enum mount_answer expected = uses[i].answers_statfs ? MOUNT_ANSWERS : MOUNT_SILENT;
		struct blocked *blocked;
		pid_t user, server = start_server(&uses[i], &user);

		if (!user) {
			stop(server);
			skip();
		}
		blocked = wait_for_kernel(user, "read", "read");
		assert_string_equal(blocked->point, point);
		blocked_destroy(blocked);
		assert_int_equal(ask_mount(user, expected), expected);
		kill(user, SIGKILL);
		stop(server);
		/* No child is left. */
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	}
}

static void live_elsewhere(const void *argument, int ready)
{
	const char *told = unshare(CLONE_NEWNS) ? "n" : "y";

	(void)argument;
	if (write(ready, told, 1) == 1)
		for (;;)
			pause();
}

/* In another mount namespace another mount may be at that place. */
static void test_elsewhere(void **state)
{
	enum mount_answer answer = MOUNT_UNKNOWN;
	bool is_elsewhere;
	pid_t other = start_told(live_elsewhere, NULL, &is_elsewhere);

	(void)state;
	if (!is_elsewhere) {
		stop(other);
		skip();
	}
	for (int i = 0; i < 50 && answer != MOUNT_ANSWERS; i++) {
		struct mount_probes *probes = mount_probes_create();

		mount_probes_ask(probes, getpid(), "/");
		answer = mount_probes_answer(probes, getpid(), "/");
		assert_int_equal(mount_probes_answer(probes, other, "/"), MOUNT_UNKNOWN);
		mount_probes_destroy(probes);
	}
	assert_int_equal(answer, MOUNT_ANSWERS);
	stop(other);
}

static void test_fault(void **state)
{
	static const struct use use = {.is_mapped = true};
	struct blocked *blocked;
	pid_t user, server = start_server(&use, &user);

	(void)state;
	if (!user) {
		stop(server);
		skip();
	}
	/* Which of them depends on what the kernel shows. */
	blocked = wait_for_kernel(user, BLOCKED_PAGE_FAULT, BLOCKED_NO_CALL);
	assert_null(blocked->object);
	blocked_destroy(blocked);
	kill(user, SIGKILL);
	stop(server);
}

/* ---- By registers ---- */

#ifdef __x86_64__
static void read_pipe(const void *argument, int ready)
{
	char byte;

	if (write(ready, "y", 1) == 1 && read(*(const int *)argument, &byte, 1) < 0)
		_exit(1);
}

static bool is_in_read(pid_t pid)
{
	struct system_call call;
	char *text = procfs_read(pid, "syscall", NULL);
	bool is_in = text && system_call_parse(text, &call) && call.number == SYS_read;

	free(text);
	return is_in;
}

static void test_registers(void **state)
{
	struct user_regs_struct regs;
	struct system_call call;
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = start(read_pipe, &fds[0]);
	while (!is_in_read(pid))
		usleep(1000);
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
	assert_int_equal(waitpid(pid, &status, __WALL), pid);
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, 0, &regs), 0);
	assert_true(system_call_of_registers(&regs, &call));
	assert_int_equal(call.number, SYS_read);
	assert_int_equal(call.args[0], fds[0]);
	assert_int_equal(call.args[2], 1);
	regs.rax = 5;
	assert_false(system_call_of_registers(&regs, &call));
	regs.rax = (unsigned long)-512;
	regs.orig_rax = (unsigned long)-1;
	assert_false(system_call_of_registers(&regs, &call));
	ptrace(PTRACE_DETACH, pid, 0, 0);
	stop(pid);
	close(fds[0]);
	close(fds[1]);
}
#endif

static int make_point(void **state)
{
	(void)state;
	return mkdtemp(point) ? 0 : -1;
}

static int remove_point(void **state)
{
	(void)state;
	return rmdir(point);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),    cmocka_unit_test(test_read),
		cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_fault),
#ifdef __x86_64__
		cmocka_unit_test(test_registers),
#endif
	};

	return cmocka_run_group_tests(tests, make_point, remove_point);
}
