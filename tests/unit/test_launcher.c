/* SPDX-License-Identifier: BSD-3-Clause
 * Launchers played by children of the test: what they have mapped, what they export, and what
 * their own children have in the environment. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/launcher.h"
#include "attach/procfs.h"
#include "attach/rankenv.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

/* As the MPIR interface has them; found by name in this program's own symbol table. */
struct procdesc {
	const char *host, *executable;
	int pid;
};
extern struct procdesc *MPIR_proctable;
extern int MPIR_proctable_size;
struct procdesc *MPIR_proctable;
int MPIR_proctable_size;
/* As srun has them. */
extern char *totalview_jobid, *totalview_stepid;
char *totalview_jobid, *totalview_stepid;

static char directory[] = "/tmp/pdb-test-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

/* ---- Children ---------------------------------------------------------------------------------
 */

static void wait_here(int ready)
{
	if (write(ready, "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Run body(argument, ready) in a child until it says that it is ready. */
static pid_t start(void (*body)(const void *argument, int ready), const void *argument)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fds[0]);
		body(argument, fds[1]);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Have a file of this name mapped, as a library would be. */
static void map_file(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 4096) ||
	    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
}

/* ---- What the environment says ----------------------------------------------------------------
 */

static void test_rankenv(void **state)
{
	static const struct {
		const char *environ; /* lines for zeros */
		int rank, size;
		const char *job;
	} cases[] = {
		{"", -1, 0, ""},
		{"HOME=/\n", -1, 0, ""},
		{"PMIX_RANK=7\nPMIX_NAMESPACE=job@1\n", 7, 0, "job@1"},
		{"OMPI_COMM_WORLD_RANK=3\nOMPI_COMM_WORLD_SIZE=8\n", 3, 8, ""},
		{"PMI_RANK=0\nPMI_SIZE=16\n", 0, 16, ""},
		{"SLURM_PROCID=5\nSLURM_JOB_ID=12\nSLURM_STEP_ID=0\nSLURM_NTASKS=9\n", 5, 9,
		 "slurm-12.0"},
		/* In a batch script SLURM_PROCID is 0 for all that is started there. */
		{"SLURM_PROCID=0\nPMI_RANK=4\n", 4, 0, ""},
		{"MPI_LOCALRANKID=1\nPMI_RANK=9\n", 9, 0, ""},
		{"XPMI_RANK=4\nPMI_RANKX=5\n", -1, 0, ""},
		{"PMI_RANK=\nPMIX_RANK=x\nOMPI_COMM_WORLD_RANK=-1\n", -1, 0, ""},
		{"PMI_RANK=99999999999999999999\n", -1, 0, ""},
		{"PMI_RANK=2147483647\n", -1, 0, ""},
		{"PMIX_RANK=4x\nPMI_RANK=2\n", 2, 0, ""},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < NUM_OF(cases); i++) {
		size_t size = strlen(cases[i].environ);
		char *text = strdup(cases[i].environ);
		struct rankenv env;

		for (k = 0; k < size; k++) {
			if (text[k] == '\n')
				text[k] = '\0';
		}
		rankenv_parse(text, size, &env);
		assert_int_equal(env.rank, cases[i].rank);
		assert_int_equal(env.size, cases[i].size);
		assert_string_equal(env.job, cases[i].job);
		free(text);
	}
}

/* ---- What a process is ------------------------------------------------------------------------
 */

static void body_with_libraries(const void *argument, int ready)
{
	const char *const *names = argument;

	for (; *names; names++)
		map_file(*names);
	wait_here(ready);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *libraries[3];
		enum launcher kind; /* LAUNCHER_UNKNOWN: refused */
		const char *name;
	} cases[] = {
		{{"libprrte.so.3.0.8", "libpmix.so.2"}, LAUNCHER_PRRTE, "PRRTE"},
		{{"libopen-rte.so.40.30.2"}, LAUNCHER_ORTE, "Open MPI 4 mpirun"},
		/* A rank of Open MPI 4 has the launcher's library too. */
		{{"libopen-rte.so.40.30.2", "libmpi.so.40"}, LAUNCHER_UNKNOWN, NULL},
		/* Not an executable of that name. */
		{{"libslurmfull.so"}, LAUNCHER_UNKNOWN, NULL},
		{{NULL}, LAUNCHER_UNKNOWN, NULL},
	};
	struct launcher_info info;
	struct pdb_error err;
	size_t i;

	(void)state;
	unsetenv("PMIX_RANK");
	for (i = 0; i < NUM_OF(cases); i++) {
		pid_t pid = start(body_with_libraries, cases[i].libraries);
		int result = launcher_identify(pid, &info, &err);

		if (cases[i].kind == LAUNCHER_UNKNOWN) {
			assert_int_equal(result, -1);
			assert_error(&err, ERROR_UNSUPPORTED, "no MPI launcher");
		} else {
			assert_int_equal(result, 0);
			assert_int_equal(info.kind, cases[i].kind);
			assert_int_equal(info.pid, pid);
			assert_non_null(strstr(info.name, cases[i].name));
			assert_non_null(strstr(info.command, "test_launcher"));
		}
		stop(pid);
	}
}

/* This program under a name that would clear the screen, as a launcher of PRRTE (see main). */
static void body_odd_name(const void *argument, int ready)
{
	char command[160], path[64], fd[16];

	(void)argument;
	snprintf(path, sizeof(path), "%s/x\033[2J", directory);
	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", (int)getpid(), path);
	if (system(command))
		_exit(1);
	snprintf(fd, sizeof(fd), "%d", ready);
	execl(path, "l\177", "--as-odd", directory, fd, (char *)NULL);
}

static void play_odd(char **argv)
{
	strcpy(directory, argv[2]);
	map_file("libprrte.so.3");
	wait_here(atoi(argv[3]));
}

static void test_odd_name(void **state)
{
	pid_t pid = start(body_odd_name, NULL);
	struct launcher_info info;
	struct pdb_error err;

	(void)state;
	assert_int_equal(launcher_identify(pid, &info, &err), 0);
	assert_int_equal(info.kind, LAUNCHER_PRRTE);
	assert_non_null(strstr(info.name, "x?[2J"));
	assert_int_equal(strncmp(info.command, "l? --as-odd", 11), 0);
	stop(pid);
}

/* This program under the name srun, which forks as srun does (see main); *argument is the pid of
 * its only rank. */
static void body_srun(const void *argument, int ready)
{
	char command[128], path[64], fd[16], rank[16];

	snprintf(path, sizeof(path), "%s/srun", directory);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", (int)getpid(), path);
	if (system(command))
		_exit(1);
	snprintf(fd, sizeof(fd), "%d", ready);
	snprintf(rank, sizeof(rank), "%d", (int)*(const pid_t *)argument);
	execl(path, path, "--as-srun", directory, fd, rank, (char *)NULL);
}

static void play_srun(char **argv)
{
	static struct procdesc table = {"localhost", "rank", 0};
	int ready = atoi(argv[3]);

	strcpy(directory, argv[2]);
	map_file("libslurmfull.so");
	table.pid = atoi(argv[4]);
	MPIR_proctable = &table;
	MPIR_proctable_size = table.pid > 0;
	if (fork())
		for (;;)
			pause();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	MPIR_proctable_size = 0;
	wait_here(ready);
}

static pid_t only_child(pid_t pid)
{
	size_t num, i;
	struct procfs_stat *list = procfs_list(&num);
	pid_t child = 0;

	for (i = 0; i < num; i++) {
		if (list[i].ppid == pid)
			child = list[i].pid;
	}
	free(list);
	return child;
}

static void test_srun_parent(void **state)
{
	const pid_t no_rank = 0;
	pid_t pid = start(body_srun, &no_rank), child = only_child(pid);
	struct launcher_info info, infos[64];
	struct pdb_error err;
	size_t i, num, seen = 0;

	(void)state;
	assert_true(child > 0);
	assert_int_equal(launcher_identify(pid, &info, &err), 0);
	assert_int_equal(info.kind, LAUNCHER_SRUN);
	assert_int_equal(info.pid, pid);
	assert_int_equal(launcher_identify(child, &info, &err), 0);
	assert_int_equal(info.pid, pid);
	num = launcher_list(infos, NUM_OF(infos));
	for (i = 0; i < num; i++) {
		assert_int_not_equal(infos[i].pid, child);
		seen += infos[i].pid == pid;
	}
	assert_int_equal(seen, 1);
	stop(pid);
}

/* ---- Process trees ----------------------------------------------------------------------------
 */

/* A launcher without a name: ranks 0 and 1 with MPI, rank 2 behind a wrapper, rank 1 of a job that
 * was spawned later; rank 3 and an unrelated process without MPI; and of launchers that do not name
 * jobs, rank 0 of one spawned with as many ranks, and rank 4 of one with more. */
static void body_unknown_launcher(const void *argument, int ready)
{
	static const struct {
		const char *rank, *job;
		bool has_mpi, has_wrapper;
		const char *size;
	} children[] = {
		{"0", "a", true, false, "5"}, {"1", "a", true, false, "5"},
		{"2", "a", true, true, "5"},  {NULL, "", false, false, "5"},
		{"1", "b", true, false, "5"}, {"3", "a", false, false, "5"},
		{"0", "a", true, false, "5"}, {"4", "a", true, false, "9"},
	};
	int fds[2];
	char byte;
	size_t i;

	(void)argument;
	setpgid(0, 0);
	for (i = 0; i < NUM_OF(children); i++) {
		char rank[32];
		char namespace[32];
		char self[64], wrapper[4];
		char *const arguments[] = {(char *)"rank",
					   (char *)"--as-rank",
					   (char *)(children[i].has_mpi ? "mpi" : "-"),
					   wrapper,
					   directory,
					   rank,
					   NULL};
		char size[16];
		char *environment[] = {rank, namespace, size, NULL};

		if (pipe(fds))
			_exit(1);
		snprintf(size, sizeof(size), "PMI_SIZE=%s", children[i].size);
		snprintf(rank, sizeof(rank), children[i].rank ? "PMI_RANK=%s" : "X=%s",
			 children[i].rank ? children[i].rank : "");
		snprintf(namespace, sizeof(namespace), "PMIX_NAMESPACE=%s", children[i].job);
		snprintf(wrapper, sizeof(wrapper), "%d", children[i].has_wrapper);
		snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			dup2(fds[1], 9);
			execve(self, arguments, environment);
			_exit(1);
		}
		if (read(fds[0], &byte, 1) != 1)
			_exit(1);
	}
	wait_here(ready);
}

static void play_rank(char **argv)
{
	strcpy(directory, argv[4]);
	if (argv[3][0] == '1') {
		if (fork())
			for (;;)
				pause();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	}
	if (!strcmp(argv[2], "mpi"))
		map_file("libmpi.so.40");
	wait_here(9);
}

static void test_scan(void **state)
{
	pid_t pid = start(body_unknown_launcher, NULL), wrapper = 0;
	struct launcher_info info = {0};
	struct proctable *table;
	struct procfs_stat stat;
	struct pdb_error err;
	int i;

	(void)state;
	assert_int_equal(launcher_identify(pid, &info, &err), 0);
	assert_int_equal(info.kind, LAUNCHER_OTHER);
	assert_int_equal(info.pid, pid);
	assert_int_equal(launcher_scan_procfs(&info, &table, &err), 0);
	assert_int_equal(table->num_procs, 4);
	assert_int_equal(table->size, 5);
	assert_int_equal(table->source, PROCTABLE_PROCFS);
	assert_string_equal(table->job, "a");
	assert_non_null(strstr(table->source_note, "jobs that it spawned (3)"));
	for (i = 0; i < 4; i++) {
		const struct proc *proc = proctable_find(table, i);

		assert_non_null(proc);
		assert_true(proc->is_local);
		assert_string_equal(strrchr(proc->executable, '/'), "/test_launcher");
		assert_int_equal(procfs_stat(proc->pid, 0, &stat), 0);
		if (i == 2)
			wrapper = stat.ppid;
		else
			assert_int_equal(stat.ppid, pid);
	}
	/* Rank 2 is the process with MPI, not what wraps it. */
	assert_int_equal(procfs_stat(wrapper, 0, &stat), 0);
	assert_int_equal(stat.ppid, pid);
	/* From a rank, and from what is around it. */
	assert_int_equal(launcher_identify(proctable_find(table, 2)->pid, &info, &err), 0);
	assert_int_equal(info.pid, pid);
	proctable_destroy(table);
	stop(pid);
}

static void test_no_launcher(void **state)
{
	struct launcher_info info;
	struct proctable *table;
	struct pdb_error err;
	pid_t zombie = fork();

	(void)state;
	if (!zombie)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)zombie, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	assert_int_equal(launcher_identify(zombie, &info, &err), -1);
	assert_error(&err, ERROR_GONE, "has ended");
	assert_int_equal(waitpid(zombie, NULL, 0), zombie);
	assert_int_equal(launcher_identify(zombie, &info, &err), -1);
	assert_error(&err, ERROR_GONE, "no process");
	assert_int_equal(launcher_identify(0, &info, &err), -1);
	assert_error(&err, ERROR_GONE, "no process 0");
	assert_int_equal(launcher_identify(-5, &info, &err), -1);
	info = (struct launcher_info){.kind = LAUNCHER_OTHER, .pid = zombie, .name = "gone"};
	assert_int_equal(launcher_scan_procfs(&info, &table, &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "no ranks");
	assert_int_equal(launcher_read_mpir(&info, &table, &err), -1);
	assert_error(&err, ERROR_GONE, "has ended");
}

static void test_somebody_elses(void **state)
{
	pid_t pid, looker;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip(); /* takes two users */
	pid = start(body_with_libraries, (const char *const[]){"libopen-rte.so.40", NULL});
	looker = fork();
	if (!looker) {
		struct launcher_info info;
		struct pdb_error err;

		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(3);
		if (!launcher_identify(pid, &info, &err))
			_exit(1);
		_exit(err.code == ERROR_PERMISSION && strstr(err.text, "belongs to root") ? 0 : 2);
	}
	assert_int_equal(waitpid(looker, &status, 0), looker);
	assert_int_equal(status, 0);
	stop(pid);
}

/* ---- Tables -----------------------------------------------------------------------------------
 */

#define MAX_ENTRIES 4

struct table_case {
	const char *what;
	int size;
	struct procdesc entries[MAX_ENTRIES];
	const void *address; /* NULL: of the entries */
	enum error_code code;
	const char *part; /* of the error */
};

static char *endless; /* 8 KiB without a zero byte, and nothing readable behind */

static void body_table(const void *argument, int ready)
{
	const struct table_case *c = argument;
	struct procdesc *entries = malloc(sizeof(c->entries));

	memcpy(entries, c->entries, sizeof(c->entries));
	MPIR_proctable = c->address ? (struct procdesc *)c->address : entries;
	if (c->address == &MPIR_proctable)
		MPIR_proctable = NULL;
	MPIR_proctable_size = c->size;
	wait_here(ready);
}

static void read_table(const struct table_case *c, struct proctable **table, pid_t *pid)
{
	struct launcher_info info = {.kind = LAUNCHER_ORTE, .name = "fake"};
	struct pdb_error err = {0};
	int result;

	*pid = info.pid = start(body_table, c);
	result = launcher_read_mpir(&info, table, &err);
	if (!c->part) {
		if (result)
			fail_msg("%s: %s", c->what, err.text);
		return;
	}
	if (!result)
		fail_msg("%s: no error", c->what);
	assert_error(&err, c->code, c->part);
	stop(*pid);
}

static void test_bad_tables(void **state)
{
	const struct table_case cases[] = {
		{"empty", 0, {{0}}, NULL, ERROR_NOT_FOUND, "is empty"},
		{"not yet", 3, {{0}}, &MPIR_proctable, ERROR_NOT_FOUND, "is empty"},
		{"negative", -1, {{0}}, NULL, ERROR_FORMAT, "-1 ranks"},
		{"huge", 0x7fffffff, {{0}}, NULL, ERROR_FORMAT, "2147483647 ranks"},
		{"longer than its memory",
		 1 << 23,
		 {{0}},
		 endless + 4096,
		 ERROR_FORMAT,
		 "cannot be read"},
		{"wild table", 2, {{0}}, (void *)0x10, ERROR_FORMAT, "the table at 0x10"},
		{"no host", 1, {{NULL, "a", 1}}, NULL, ERROR_FORMAT, "the host of rank 0"},
		{"wild host",
		 2,
		 {{"h", "a", 1}, {(char *)0x7fff00000000, "a", 2}},
		 NULL,
		 ERROR_FORMAT,
		 "the host of rank 1"},
		{"kernel address",
		 1,
		 {{(char *)-8, "a", 1}},
		 NULL,
		 ERROR_FORMAT,
		 "the host of rank 0"},
		{"wild executable",
		 1,
		 {{"h", (char *)1, 1}},
		 NULL,
		 ERROR_FORMAT,
		 "the executable of rank 0"},
		{"endless host", 1, {{endless, "a", 1}}, NULL, ERROR_FORMAT, "does not end"},
		{"host into nothing",
		 1,
		 {{endless + 8000, "a", 1}},
		 NULL,
		 ERROR_FORMAT,
		 "cannot be read"},
	};
	struct proctable *table;
	size_t i;
	pid_t pid;

	(void)state;
	for (i = 0; i < NUM_OF(cases); i++)
		read_table(&cases[i], &table, &pid);
}

static void test_tables(void **state)
{
	const struct table_case remote = {
		.what = "remote",
		.size = 4,
		.entries = {{"node1.x", "/app", 100},
			    {"node1.x", NULL, 100},
			    {"node2.x", "/app", 100},
			    {"node2.x", "/app", -7}},
	};
	struct proctable *table;
	pid_t pid;

	(void)state;
	read_table(&remote, &table, &pid);
	assert_int_equal(table->num_procs, 4);
	assert_int_equal(table->size, 4);
	assert_int_equal(table->source, PROCTABLE_MPIR);
	/* Two ranks with one process: neither is believed. On another host it is another one. */
	assert_int_equal(table->procs[0].pid, 0);
	assert_int_equal(table->procs[1].pid, 0);
	assert_int_equal(table->procs[2].pid, 100);
	assert_int_equal(table->procs[3].pid, 0);
	assert_non_null(strstr(table->source_note, "2 ranks share a pid"));
	assert_string_equal(table->procs[0].executable, "/app");
	assert_string_equal(table->procs[1].executable, "");
	assert_string_equal(table->procs[2].host, "node2.x");
	assert_false(table->procs[0].is_local);
	proctable_destroy(table);
	stop(pid);
}

struct step_case {
	const char *job, *step; /* in the launcher's memory */
	enum launcher launcher;
	const char *expected_job, *expected_step, *name; /* NULL: by the launcher's pid */
};

static void body_step(const void *argument, int ready)
{
	const struct step_case *c = argument;
	static struct procdesc table = {"node1.x", "/app", 100};

	totalview_jobid = (char *)c->job;
	totalview_stepid = (char *)c->step;
	MPIR_proctable = &table;
	MPIR_proctable_size = 1;
	wait_here(ready);
}

static void test_slurm_step(void **state)
{
	static const struct step_case cases[] = {
		{"12", "0", LAUNCHER_SRUN, "12", "0", "slurm-12.0"},
		{"4294967295", "7", LAUNCHER_SRUN, "4294967295", "7", "slurm-4294967295.7"},
		{"12", "0", LAUNCHER_ORTE, "", "", NULL},
		{NULL, NULL, LAUNCHER_SRUN, "", "", NULL},
		{"12", NULL, LAUNCHER_SRUN, "12", "", NULL},
		{"", "", LAUNCHER_SRUN, "", "", NULL},
		{"12 --uid=0", "-1", LAUNCHER_SRUN, "", "", NULL},
		{"12345678901234567890", "0", LAUNCHER_SRUN, "", "0", NULL},
		{(char *)0x10, "0", LAUNCHER_SRUN, "", "0", NULL},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		struct launcher_info info = {.kind = cases[i].launcher, .name = "fake"};
		struct launcher_step step;
		struct proctable *table;
		struct pdb_error err;
		char by_pid[32];

		info.pid = start(body_step, &cases[i]);
		launcher_slurm_step(&info, &step);
		assert_string_equal(step.job, cases[i].expected_job);
		assert_string_equal(step.step, cases[i].expected_step);
		assert_int_equal(launcher_read_mpir(&info, &table, &err), 0);
		snprintf(by_pid, sizeof(by_pid), "pid-%d", (int)info.pid);
		assert_string_equal(table->job, cases[i].name ? cases[i].name : by_pid);
		proctable_destroy(table);
		stop(info.pid);
		launcher_slurm_step(&info, &step);
		assert_string_equal(step.job, "");
	}
}

static void body_rank(const void *argument, int ready)
{
	char *const arguments[] = {(char *)"rank", (char *)"--as-rank", (char *)"mpi",
				   (char *)"0",    directory,           NULL};
	char *text = strdup(argument), *second = strchr(text, '\n');
	char *environment[] = {text, (char *)"PMI_SIZE=3", second, NULL};

	/* Two variables may stand there, in two lines. */
	if (second) {
		*second = '\0';
		environment[2] = second + 1;
	}
	dup2(ready, 9);
	execve("/proc/self/exe", arguments, environment);
}

/* The ranks' own word counts more than their order in the table. */
static void test_table_against_environment(void **state)
{
	pid_t pids[2] = {start(body_rank, "PMI_RANK=2"), start(body_rank, "PMI_RANK=0")}, pid;
	const struct table_case local = {
		.what = "local",
		.size = 2,
		.entries = {{"localhost", "wrapper", pids[0]}, {"localhost", "wrapper", pids[1]}},
	};
	struct proctable *table;

	(void)state;
	read_table(&local, &table, &pid);
	assert_int_equal(table->num_procs, 2);
	assert_int_equal(table->size, 3);
	assert_int_equal(proctable_find(table, 2)->pid, pids[0]);
	assert_int_equal(proctable_find(table, 0)->pid, pids[1]);
	assert_null(proctable_find(table, 1));
	assert_null(table->source_note);
	assert_string_equal(strrchr(proctable_find(table, 0)->executable, '/'), "/test_launcher");
	proctable_destroy(table);
	stop(pid);
	stop(pids[0]);
	stop(pids[1]);
}

/* A rank is followed to the srun that has it in its table, not to just any. */
static void test_srun_of_rank(void **state)
{
	pid_t ranks[2] = {start(body_rank, "PMI_RANK=0"), start(body_rank, "PMI_RANK=1")};
	pid_t pid = start(body_srun, &ranks[0]);
	struct launcher_info info;
	struct pdb_error err;

	(void)state;
	assert_int_equal(launcher_identify(ranks[0], &info, &err), 0);
	assert_int_equal(info.kind, LAUNCHER_SRUN);
	assert_int_equal(info.pid, pid);
	assert_int_equal(launcher_identify(ranks[1], &info, &err), 0);
	assert_int_equal(info.kind, LAUNCHER_OTHER);
	stop(pid);
	stop(ranks[0]);
	stop(ranks[1]);
}

/* A pid in the table is another process' by now: of somebody else, or a rank of another job. */
static void test_reused_pids(void **state)
{
	pid_t pids[3] = {start(body_rank, "PMIX_NAMESPACE=a\nPMI_RANK=0"), start(body_rank, "X=y"),
			 start(body_rank, "PMIX_NAMESPACE=b\nPMI_RANK=0")};
	const struct table_case local = {
		.what = "reused",
		.size = 3,
		.entries = {{"localhost", "a", pids[0]},
			    {"localhost", "a", pids[1]},
			    {"localhost", "a", pids[2]}},
	};
	struct proctable *table;
	pid_t pid;
	int i;

	(void)state;
	read_table(&local, &table, &pid);
	assert_int_equal(table->num_procs, 3);
	assert_int_equal(table->procs[0].pid, pids[0]);
	assert_int_equal(table->procs[1].pid, 0);
	assert_int_equal(table->procs[2].pid, 0);
	assert_non_null(strstr(table->source_note, "2 ranks have ended"));
	proctable_destroy(table);
	stop(pid);
	for (i = 0; i < 3; i++)
		stop(pids[i]);
}

/* A launcher of three ranks: rank 0 is there. */
static void body_launcher_of_one(const void *argument, int ready)
{
	char environment[128], byte;
	int fds[2];

	setpgid(0, 0);
	snprintf(environment, sizeof(environment), "PMI_RANK=0\n" PDB_ENV_DIR "=%s", directory);
	if (pipe(fds))
		_exit(1);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		body_rank(environment, fds[1]);
		_exit(1);
	}
	if (read(fds[0], &byte, 1) != 1)
		_exit(1);
	(void)argument;
	wait_here(ready);
}

static void save_segment(int rank, int size, pid_t pid, uint64_t start, pid_t parent)
{
	struct segment_writer *w = segment_writer_create(rank, size);
	char path[4096];

	w->header.pid = pid;
	w->header.pid_start = start;
	w->header.parent_pid = parent;
	assert_int_equal(segment_writer_save_in(w, directory, path), 0);
	segment_writer_destroy(w);
}

/* Rank 1 has no process but has left its segment; rank 2 has nothing, and what another job's has
 * left is not its. */
static void test_scan_ended(void **state)
{
	pid_t pid = start(body_launcher_of_one, NULL), ended = fork();
	struct launcher_info info = {.kind = LAUNCHER_HYDRA, .pid = pid, .name = "fake"};
	struct procfs_stat stat, ended_stat;
	struct proctable *table;
	struct pdb_error err;
	const struct proc *proc;

	(void)state;
	if (!ended)
		_exit(0);
	assert_int_equal(procfs_stat(ended, 0, &ended_stat), 0);
	assert_int_equal(waitpid(ended, NULL, 0), ended);

	assert_int_equal(launcher_scan_procfs(&info, &table, &err), 0);
	assert_int_equal(table->num_procs, 1);
	assert_int_equal(table->size, 3);
	assert_int_equal(procfs_stat(table->procs[0].pid, 0, &stat), 0);
	save_segment(0, 3, stat.pid, stat.start_ticks, pid);
	save_segment(1, 3, ended, ended_stat.start_ticks, pid);
	save_segment(2, 3, ended, ended_stat.start_ticks, getpid());
	proctable_destroy(table);

	assert_int_equal(launcher_scan_procfs(&info, &table, &err), 0);
	assert_int_equal(table->num_procs, 2);
	assert_false(proctable_find(table, 0)->has_ended);
	proc = proctable_find(table, 1);
	assert_non_null(proc);
	assert_true(proc->has_ended && proc->is_local);
	assert_int_equal(proc->pid, ended);
	assert_null(proctable_find(table, 2));
	assert_int_equal(table->size, 3);
	proctable_destroy(table);
	stop(pid);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rankenv),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_odd_name),
		cmocka_unit_test(test_srun_parent),
		cmocka_unit_test(test_srun_of_rank),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_no_launcher),
		cmocka_unit_test(test_somebody_elses),
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_slurm_step),
		cmocka_unit_test(test_table_against_environment),
		cmocka_unit_test(test_reused_pids),
		cmocka_unit_test(test_scan_ended),
	};

	if (argc > 3 && !strcmp(argv[1], "--as-odd"))
		play_odd(argv);
	if (argc > 4 && !strcmp(argv[1], "--as-srun"))
		play_srun(argv);
	if (argc > 4 && !strcmp(argv[1], "--as-rank"))
		play_rank(argv);
	endless = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (endless == MAP_FAILED)
		return 1;
	memset(endless, 'x', 8192);
	mprotect(endless + 8192, 4096, PROT_NONE);
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
