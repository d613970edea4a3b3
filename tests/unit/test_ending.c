/* SPDX-License-Identifier: BSD-3-Clause
 * How processes ended: by recorded files of /proc, /sys and the kernel's log, and real processes. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "attach/node/ending.h"
#include "attach/process/cgroup.h"
#include "attach/process/kernel_log.h"
#include "model/arena.h"
#include "model/job/job.h"
#include "render/words/label.h"
#include "tests/unit/child.h"

#define SECOND_NS UINT64_C(1000000000)

/* ---- Recorded files ---- */

static void test_paths(void **state)
{
	static const struct {
		const char *text, *path;
		bool is_v2;
	} cases[] = {
		/* Debian 12 and 13 */
		{"0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_3\n",
		 "/system.slice/slurmstepd.scope/job_7/step_0/user/task_3", true},
		/* RHEL 8, and 9 with version 1 */
		{"12:memory:/slurm/uid_0/job_7/step_0\n11:cpu,cpuacct:/\n0::/init.scope\n",
		 "/slurm/uid_0/job_7/step_0", false},
		{"5:cpuset,memory:/a:b\n", "/a:b", false},
		{"1:name=systemd:/x\n0::/\n", "/", true},
		{"0::/job_7 (deleted)\n", "/job_7", true},
		{"0::/../other\n", NULL, false},
		{"4:memory:\n", NULL, false},
		{"1:name=memory:/x\n", NULL, false},
		{"", NULL, false},
		{"0:", NULL, false},
		{"0::", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		bool is_v2 = false;
		char *path = cgroup_memory_path(cases[i].text, &is_v2);

		if (!path != !cases[i].path || (path && strcmp(path, cases[i].path) != 0) ||
		    (path && is_v2 != cases[i].is_v2))
			fail_msg("case %zu: %s", i, path ? path : "none");
		free(path);
	}
}

static void test_directories(void **state)
{
	static const char mounts[] =
		"31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
		"33 31 0:30 / /sys/fs/cgroup/cpu rw shared:7 - cgroup cgroup rw,cpu,cpuacct\n"
		"short\n"
		"35 31 0:32 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
		"41 31 0:38 /pods/a /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
		"42 31 0:38";
	static const struct {
		const char *path, *directory;
		bool is_v2;
	} cases[] = {
		{"/job_7", "/sys/fs/cgroup/memory/job_7", false},
		{"/pods/a/job_7", "/sys/fs/cgroup/unified/job_7", true},
		{"/pods/a", "/sys/fs/cgroup/unified", true},
		{"/pods/ab", NULL, true},
		{"/", NULL, false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		char *found = cgroup_directory(mounts, cases[i].path, cases[i].is_v2);

		if (!found != !cases[i].directory ||
		    (found && strcmp(found, cases[i].directory) != 0))
			fail_msg("case %zu: %s", i, found ? found : "none");
		free(found);
	}
}

static void test_kills(void **state)
{
	static const struct {
		const char *text;
		int kills; /* -1: not there */
	} cases[] = {
		/* memory.events of Linux 5.14; of 6.1 and 6.12 */
		{"low 0\nhigh 0\nmax 41\noom 2\noom_kill 1\n", 1},
		{"low 0\nhigh 0\nmax 41\noom 2\noom_kill 3\noom_group_kill 0\n", 3},
		/* memory.oom_control */
		{"oom_kill_disable 0\nunder_oom 0\noom_kill 12\n", 12},
		{"oom_kill_disable 0\nunder_oom 0\n", -1},
		{"oom_kill\n", -1},
		{"", -1},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		uint64_t kills = 0;
		bool found = cgroup_parse_kills(cases[i].text, &kills);

		if ((found ? (int)kills : -1) != cases[i].kills)
			fail_msg("case %zu: %d", i, (int)kills);
	}
}

static void test_log(void **state)
{
	static const char log[] =
		"<6>[   10.000001] Killed process 812 (lmp) total-vm:1kB\n"
		/* Linux 5.14, with who printed it; 6.12 */
		"<3>[ 5000.500000][ T812] Memory cgroup out of memory: Killed process 812 (lmp) "
		"total-vm:37112kB, anon-rss:27252kB, file-rss:3672kB, shmem-rss:0kB, UID:0 "
		"pgtables:108kB oom_score_adj:0\n"
		"<3>[ 5001.000000] Out of memory: Killed process 813 (xhpl) total-vm:1kB\n"
		"<6>[ 5002.000000] lmp[814]: segfault at 10 ip 000055 sp 00007f error 6 in "
		"lmp[1132]\n"
		"<6>[ 5003.000000] traps: lmp[815] trap divide error ip:55 sp:7f error:0 in lmp\n"
		"<6>[ 5004.000000] traps: lmp[816] general protection fault ip:55 sp:7f error:0\n"
		"<6>[ 5005.000000] traps: lmp[817] trap invalid opcode ip:55 sp:7f error:0\n"
		/* A name may be anything. */
		"<6>[ 5006.000000] Killed process [818]: segfault at 0 (lmp)\n"
		"<6>[ 5007.000000] x: Killed process 819 (lmp)\n"
		"<6>no time: Killed process 820 (lmp)\n"
		"<6>[ 5008.000000] oom_reaper: reaped process 821 (lmp), now anon-rss:0kB\n"
		"<6>[";
	static const struct {
		pid_t pid;
		const char *comm;
		int signal;
		bool is_chosen;
	} cases[] = {
		{812, "lmp", SIGKILL, true},  {812, "other", 0, false},
		{81, "lmp", 0, false},        {813, "xhpl", SIGKILL, true},
		{814, "lmp", SIGSEGV, false}, {815, "lmp", SIGFPE, false},
		{816, "lmp", SIGSEGV, false}, {817, "lmp", SIGILL, false},
		{818, "lmp", 0, false},       {819, "lmp", 0, false},
		{820, "lmp", 0, false},       {821, "lmp", 0, false},
	};
	struct kernel_log_end end;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		bool found =
			kernel_log_find(log, cases[i].pid, cases[i].comm, 100 * SECOND_NS, &end);

		if ((found ? end.signal : 0) != cases[i].signal ||
		    (found && end.is_chosen != cases[i].is_chosen))
			fail_msg("case %zu", i);
	}
	assert_true(kernel_log_find(log, 812, "lmp", 0, &end));
	assert_int_equal(end.ns, 5000 * SECOND_NS + SECOND_NS / 2);
	assert_false(kernel_log_find(log, 812, "lmp", 5001 * SECOND_NS, &end));
}

static void test_words(void **state)
{
	static const struct {
		struct job_end end;
		const char *words, *brief;
	} cases[] = {
		{{.how = JOB_END_UNKNOWN}, "has ended", NULL},
		{{.how = JOB_END_EXITED, .number = 3}, "has exited with status 3", "exit 3"},
		{{.how = JOB_END_EXITED, .oom_kills = 1}, "has exited with status 0", "exit 0"},
		{{.how = JOB_END_KILLED, .number = SIGKILL}, "was killed by SIGKILL", "SIGKILL"},
		{{.how = JOB_END_KILLED, .number = SIGSEGV, .oom_kills = 1, .has_core = true},
		 "was killed by SIGSEGV, which wrote a core",
		 "SIGSEGV"},
		{{.how = JOB_END_KILLED,
		  .number = SIGKILL,
		  .oom_kills = 1,
		  .has_cgroup = true,
		  .ago_ns = 40 * SECOND_NS},
		 "was killed by SIGKILL 40 s ago, most likely out of memory: its cgroup counts 1 "
		 "oom kill",
		 "SIGKILL, out of memory?"},
		{{.how = JOB_END_KILLED, .number = SIGKILL, .oom_kills = 2},
		 "was killed by SIGKILL, most likely out of memory: the cgroup of the other ranks "
		 "there counts 2 oom kills",
		 "SIGKILL, out of memory?"},
		{{.how = JOB_END_KILLED, .number = SIGKILL, .oom_kills = 2, .is_chosen = true},
		 "was killed by SIGKILL, out of memory, as the kernel's log says",
		 "SIGKILL, out of memory"},
		{{.oom_kills = 1},
		 "has ended; the cgroup of the other ranks there counts 1 oom kill",
		 NULL},
	};
	struct arena *arena = arena_create();

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		const char *brief = label_end_short(arena, &cases[i].end);

		assert_string_equal(label_end(arena, &cases[i].end), cases[i].words);
		assert_string_equal(brief ? brief : "-", cases[i].brief ? cases[i].brief : "-");
	}
	assert_string_equal(label_end(arena, NULL), "has ended");
	arena_destroy(arena);
}

/* ---- Processes ---- */

static void wait_for_ever(const void *argument, int ready)
{
	(void)argument;
	while (write(ready, "y", 1) == 1)
		pause();
}

/* One that has ended in this way and is not collected. */
static pid_t start_zombie(int signal_or_status, bool is_signal)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
		if (is_signal)
			raise(signal_or_status);
		_exit(signal_or_status);
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void test_zombies(void **state)
{
	static const struct {
		int number;
		bool is_signal;
	} cases[] = {{3, false}, {0, false}, {SIGKILL, true}, {SIGABRT, true}};
	pid_t living = start(wait_for_ever, NULL);
	struct endings *endings = endings_create(&living, 1);
	struct job_end end;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		pid_t pid = start_zombie(cases[i].number, cases[i].is_signal);
		struct procfs_stat stat;

		assert_int_equal(procfs_stat(pid, 0, &stat), 0);
		endings_find(endings, pid, stat.start_ticks, "", &end);
		assert_int_equal(end.how, cases[i].is_signal ? JOB_END_KILLED : JOB_END_EXITED);
		assert_int_equal(end.number, cases[i].number);
		assert_false(end.has_core || end.is_chosen);
		/* Another one of that number. */
		endings_find(endings, pid, stat.start_ticks + 1, "", &end);
		assert_int_equal(end.how, JOB_END_UNKNOWN);
		stop(pid);
		endings_find(endings, pid, stat.start_ticks, "", &end);
		assert_int_equal(end.how, JOB_END_UNKNOWN);
	}
	endings_find(endings, living, 0, "", &end);
	assert_int_equal(end.how, JOB_END_UNKNOWN);
	endings_destroy(endings);
	stop(living);
}

/* ---- Out of memory, in a cgroup of version 1 ---- */

#define CGROUPS "/sys/fs/cgroup/memory/"

static char cgroup[64];

static bool write_text(const char *file, const char *text)
{
	char path[128];
	int fd;
	bool is_written;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return is_written;
}

static void enter_and_wait(const void *argument, int ready)
{
	if (write_text("cgroup.procs", "0"))
		wait_for_ever(argument, ready);
}

static pid_t start_greedy(void)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid) {
		if (!write_text("cgroup.procs", "0"))
			_exit(1);
		for (;;) {
			char *some = malloc(1 << 20);

			if (some)
				memset(some, 1, 1 << 20);
		}
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void test_memory(void **state)
{
	struct endings *endings;
	struct job_end end;
	pid_t living, pid;
	char *log;

	(void)state;
	snprintf(cgroup, sizeof(cgroup), CGROUPS "pdb-test-%d", (int)getpid());
	if (mkdir(cgroup, 0700) || !write_text("memory.limit_in_bytes", "20000000")) {
		rmdir(cgroup);
		skip();
	}
	living = start(enter_and_wait, NULL);
	pid = start_greedy();
	endings = endings_create(&living, 1);
	endings_find(endings, pid, 0, "", &end);
	assert_int_equal(end.how, JOB_END_KILLED);
	assert_int_equal(end.number, SIGKILL);
	assert_int_equal(end.oom_kills, 1);
	log = kernel_log_read();
	assert_int_equal(end.is_chosen, log != NULL);
	assert_int_equal(end.ago_ns > 0, log != NULL);
	assert_true(end.ago_ns < 600 * SECOND_NS);
	free(log);
	stop(pid);
	endings_destroy(endings);
	stop(living);
	assert_int_equal(rmdir(cgroup), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),  cmocka_unit_test(test_directories),
		cmocka_unit_test(test_kills),  cmocka_unit_test(test_log),
		cmocka_unit_test(test_words),  cmocka_unit_test(test_zombies),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
