/* SPDX-License-Identifier: BSD-3-Clause
 * Launchers played by children of the test: what they have mapped, what they export, and what
 * their own children have in the environment. */
#include "tests/unit/unit.h"

#include <errno.h>
#include <sched.h>

#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/process/procfs.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/launcher_children.h"

/* ---- What a process is ---- */

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
		const struct launcher_kind *kind; /* NULL: refused */
		const char *name;
	} cases[] = {
		{{"libprrte.so.3.0.8", "libpmix.so.2"}, &launcher_prrte, "PRRTE"},
		{{"libopen-rte.so.40.30.2"}, &launcher_openmpi4, "Open MPI 4 mpirun"},
		/* A rank of Open MPI 4 has the launcher's library too. */
		{{"libopen-rte.so.40.30.2", "libmpi.so.40"}, NULL, NULL},
		/* Not an executable of that name. */
		{{"libslurmfull.so"}, NULL, NULL},
		{{NULL}, NULL, NULL},
	};
	struct launcher_info info;
	struct pdb_error err;
	size_t i;

	(void)state;
	unsetenv("PMIX_RANK");
	for (i = 0; i < NUM_OF(cases); i++) {
		pid_t pid = start(body_with_libraries, cases[i].libraries);
		int result = launcher_identify(pid, &info, &err);

		if (cases[i].kind == NULL) {
			assert_int_equal(result, -1);
			assert_error(&err, ERROR_UNSUPPORTED, "no MPI launcher");
		} else {
			assert_int_equal(result, 0);
			assert_ptr_equal(info.kind, cases[i].kind);
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
	snprintf(command, sizeof(command), "cp -f /proc/%d/exe '%s'", (int)getpid(), path);
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
	assert_ptr_equal(info.kind, &launcher_prrte);
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
	snprintf(command, sizeof(command), "cp -f /proc/%d/exe %s", (int)getpid(), path);
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
	assert_ptr_equal(info.kind, &launcher_slurm);
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

/* ---- Process trees ---- */

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
	assert_ptr_equal(info.kind, &launcher_other);
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
		assert_string_equal(strrchr(proc->executable, '/') + 1,
				    program_invocation_short_name);
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
	info = (struct launcher_info){.kind = &launcher_other, .pid = zombie, .name = "gone"};
	assert_int_equal(launcher_scan_procfs(&info, &table, &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "no ranks");
	assert_int_equal(launcher_read_mpir(&info, &table, &err), -1);
	assert_error(&err, ERROR_GONE, "has ended");
}

static void body_of_users(const void *argument, int ready)
{
	const uid_t *uids = argument;

	map_file("libopen-rte.so.40");
	if (setresuid(uids[0], uids[1], uids[2]) < 0)
		_exit(1);
	wait_here(ready);
}

/* The same user in a container. */
static void body_in_container(const void *argument, int ready)
{
	(void)argument;
	map_file("libopen-rte.so.40");
	wait_here(unshare(CLONE_NEWUSER) == 0 ? ready : -1);
}

static bool has_containers(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) != 0);
	return waitpid(pid, &status, 0) == pid && status == 0;
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

/* What it says may be carried out if it is our own, and still the process that was identified. */
static void test_check_own(void **state)
{
	static const struct {
		uid_t real, effective, saved;
	} others[] = {{65534, 65534, 65534}, {65534, 0, 0}, {0, 0, 65534}, {0, 65534, 0}};
	pid_t pid = start(body_with_libraries, (const char *const[]){"libopen-rte.so.40", NULL});
	struct launcher_info info;
	struct pdb_error err;

	(void)state;
	assert_int_equal(launcher_identify(pid, &info, &err), 0);
	assert_int_equal(info.user, geteuid());
	assert_int_equal(launcher_check_own(&info, &err), 0);
	info.start_ticks--;
	assert_int_equal(launcher_check_own(&info, &err), -1);
	assert_error(&err, ERROR_GONE, "has ended");
	info.start_ticks++;
	stop(pid);
	assert_int_equal(launcher_check_own(&info, &err), -1);
	assert_error(&err, ERROR_GONE, "has ended");
	if (has_containers()) {
		pid = start(body_in_container, NULL);
		assert_int_equal(launcher_identify(pid, &info, &err), 0);
		assert_int_equal(launcher_check_own(&info, &err), -1);
		assert_error(&err, ERROR_PERMISSION, "in a container of its own");
		stop(pid);
	}
	for (size_t i = 0; i < NUM_OF(others) && geteuid() == 0; i++) {
		pid = start(body_of_users, &others[i]);
		assert_int_equal(launcher_identify(pid, &info, &err), 0);
		assert_int_equal(info.user, 65534);
		assert_int_equal(launcher_check_own(&info, &err), -1);
		assert_error(&err, ERROR_PERMISSION, "run pdb as");
		stop(pid);
	}
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
	assert_ptr_equal(info.kind, &launcher_slurm);
	assert_int_equal(info.pid, pid);
	assert_int_equal(launcher_identify(ranks[1], &info, &err), 0);
	assert_ptr_equal(info.kind, &launcher_other);
	stop(pid);
	stop(ranks[0]);
	stop(ranks[1]);
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
	struct launcher_info info = {.kind = &launcher_hydra, .pid = pid, .name = "fake"};
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
		cmocka_unit_test(test_kinds),          cmocka_unit_test(test_odd_name),
		cmocka_unit_test(test_srun_parent),    cmocka_unit_test(test_srun_of_rank),
		cmocka_unit_test(test_scan),           cmocka_unit_test(test_no_launcher),
		cmocka_unit_test(test_somebody_elses), cmocka_unit_test(test_check_own),
		cmocka_unit_test(test_scan_ended),
	};

	if (argc > 3 && !strcmp(argv[1], "--as-odd"))
		play_odd(argv);
	if (argc > 4 && !strcmp(argv[1], "--as-srun"))
		play_srun(argv);
	if (argc > 4 && !strcmp(argv[1], "--as-rank"))
		play_rank(argv);
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
