/* SPDX-License-Identifier: BSD-3-Clause
 * MPICH's launcher and its proxies: their command lines, and shells that have such. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/launchers/hydra.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "model/job/proctable.h"
#include "tests/unit/unit.h"

/* ---- Command lines ---- */

#define REST "--rmk user --launcher ssh --demux poll --pgid 0 --retries 10 --usize -2"

static const struct {
	const char *cmdline; /* a "|" where a word begins that a blank is in, else blanks */
	const char *hosts;   /* NULL: nothing to do with a proxy */
	const char *control, *launcher;
	int group;
} cmdlines[] = {
	/* MPICH 4.0.2 */
	{"/usr/bin/hydra_pmi_proxy --control-port a:37763 " REST " --proxy-id 0", "", "a:37763",
	 "ssh", 0},
	{"/usr/bin/ssh -x b \"/usr/bin/hydra_pmi_proxy\" --control-port a:37763 " REST
	 " --proxy-id 1",
	 "b", "a:37763", "ssh", 0},
	{"ssh -x -o Port=22 me@node-7.site.org \"/opt/m p/hydra_pmi_proxy\" --control-port a:1 "
	 "--pgid 3",
	 "?", "a:1", "", 3},
	{"ssh -x me@node-7.site.org \"/opt/hydra_pmi_proxy\" --control-port a:1 --pgid 3",
	 "node-7.site.org", "a:1", "", 3},
	/* -launcher-exec: scripts. */
	{"/bin/sh /home/me/reach -x b -- hydra_pmi_proxy --control-port a:1", "b", "a:1", "", 0},
	{"|ssh|b|\"hydra_pmi_proxy\" --control-port a:1 --launcher rsh --pgid 0", "b", "a:1", "rsh",
	 0},
	{"blaunch -n b hydra_pmi_proxy --control-port a:1 --launcher lsf", "b", "a:1", "lsf", 0},
	{"qrsh -inherit -V b hydra_pmi_proxy --control-port a:1 --launcher sge", "b", "a:1", "sge",
	 0},
	/* One for all. */
	{"/usr/bin/srun --nodelist n1,n2 -N 2 -n 2 --input none /usr/bin/hydra_pmi_proxy "
	 "--control-port n1:4 --rmk user --launcher slurm --pgid 0 --proxy-id -1",
	 "n1,n2", "n1:4", "slurm", 0},
	{"srun -N 2 -n 2 --input none hydra_pmi_proxy --control-port n1:4 --launcher slurm", "?",
	 "n1:4", "slurm", 0},
	{"srun --nodelist n[1-2] hydra_pmi_proxy --control-port n1:4 --launcher slurm", "?", "n1:4",
	 "slurm", 0},
	/* Not to be words of a command line. */
	{"ssh -x b:2 hydra_pmi_proxy --control-port a:1", "?", "a:1", "", 0},
	{"ssh -x b;ls hydra_pmi_proxy --control-port a:1", "?", "a:1", "", 0},
	{"-x hydra_pmi_proxy --control-port a:1", "?", "a:1", "", 0},
	{"ssh -x b,-F hydra_pmi_proxy --control-port a:1", "?", "a:1", "", 0},
	{"ssh -x me@-F hydra_pmi_proxy --control-port a:1", "?", "a:1", "", 0},
	{"ssh -x , hydra_pmi_proxy --control-port a:1", "?", "a:1", "", 0},
	{"", NULL, NULL, NULL, 0},
	{"mpiexec -n 2 prog --control-port a:1", NULL, NULL, NULL, 0},
	{"ssh b hydra_pmi_proxy", NULL, NULL, NULL, 0},
	{"ssh b hydra_pmi_proxy --control-port", NULL, NULL, NULL, 0},
	{"ssh b hydra_pmi_proxy --control-port 7", NULL, NULL, NULL, 0},
	{"ssh b --control-port a:1 hydra_pmi_proxy", NULL, NULL, NULL, 0},
	{"ssh b my_hydra_pmi_proxy --control-port a:1", NULL, NULL, NULL, 0},
};

static void test_cmdlines(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUM_OF(cmdlines); i++) {
		const char *line = cmdlines[i].cmdline;
		char between = *line == '|' ? '|' : ' ', *text = strdup(line + (*line == '|'));
		size_t size = *text ? strlen(text) + 1 : 0;
		struct hydra_proxy proxy;

		for (char *c = text; *c; c++)
			*c = *c == between ? '\0' : *c;
		assert_int_equal(hydra_parse(text, size, &proxy), cmdlines[i].hosts != NULL);
		if (cmdlines[i].hosts) {
			assert_string_equal(proxy.hosts, cmdlines[i].hosts);
			assert_string_equal(proxy.control, cmdlines[i].control);
			assert_string_equal(proxy.launcher, cmdlines[i].launcher);
			assert_int_equal(proxy.group, cmdlines[i].group);
			hydra_proxy_deinit(&proxy);
		}
		free(text);
	}
}

/* ---- Processes ---- */

/* As the MPIR interface has them, for a test that plays srun. */
struct procdesc {
	const char *host, *executable;
	int pid;
};
extern struct procdesc *MPIR_proctable;
extern int MPIR_proctable_size;
struct procdesc *MPIR_proctable;
int MPIR_proctable_size;

static void play_srun(void)
{
	static struct procdesc table[] = {{"pdb-c", "proxy", 7}, {"pdb-b", "proxy", 8}};

	MPIR_proctable = table;
	MPIR_proctable_size = 2;
	if (write(9, "r", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* A shell whose command line is this: the first word, its own "-c SCRIPT", the others. */
static void become(const char *script, const char *line)
{
	char *words[64], *copy = strdup(line), *save;
	int num = 0;

	words[num++] = strtok_r(copy, " ", &save);
	words[num++] = (char *)"-c";
	words[num++] = (char *)script;
	while (num < 63 && (words[num] = strtok_r(NULL, " ", &save)))
		num++;
	words[num] = NULL;
	/* An srun is this program again. */
	execv(strcmp(words[0], "srun") == 0 ? "/proc/self/exe" : "/bin/sh", words);
	_exit(1);
}

/* A process with such children; each of them, and the ranks that a script starts, says when it is
 * there: num_ready in all. They are a process group. */
static pid_t start_launcher(const char *const (*children)[2], int num_ready)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		dup2(ready[1], 9);
		for (; (*children)[0]; children++)
			if (fork() == 0)
				become((*children)[1], (*children)[0]);
		close(ready[0]);
		close(ready[1]);
		close(9);
		for (;;)
			pause();
	}
	setpgid(pid, pid);
	close(ready[1]);
	for (int i = 0; i < num_ready; i++)
		assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void stop_launcher(pid_t pid)
{
	kill(-pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#define READY "printf r >&9; sleep 60"
#define RANK(rank) "PMI_RANK=" rank " PMI_SIZE=4 sh -c '" READY "' & "
#define ARGS " --control-port a:37763 --rmk user --launcher ssh --pgid 0 --proxy-id 1"

static struct launcher_hosts find_hosts(const char *const (*children)[2], int num_ready)
{
	pid_t pid = start_launcher(children, num_ready);
	struct launcher_hosts hosts;
	struct launcher_info info;
	struct pdb_error err;

	assert_int_equal(launcher_identify(pid, &info, &err), 0);
	assert_ptr_equal(info.kind, &launcher_hydra);
	assert_int_equal(info.pid, pid);
	launcher_find_hosts(&info, &hosts);
	stop_launcher(pid);
	return hosts;
}

static void test_hosts(void **state)
{
	/* The second program of the job is on a host of its own; the other's is none of its. */
	static const char *const children[][2] = {
		{"ssh -x pdb-c \"/usr/bin/hydra_pmi_proxy\"" ARGS, READY},
		{"ssh -x pdb-b \"/usr/bin/hydra_pmi_proxy\"" ARGS, READY},
		{"ssh -x pdb-c \"/usr/bin/hydra_pmi_proxy\"" ARGS, READY},
		{"ssh -x pdb-d hydra_pmi_proxy --control-port a:37763 --pgid 1", READY},
		{"ssh -x pdb-e sleep 60", READY},
		{NULL, NULL},
	};
	struct launcher_hosts hosts = find_hosts(children, 5);

	(void)state;
	assert_int_equal(hosts.num, 2);
	assert_string_equal(hosts.names[0], "pdb-b");
	assert_string_equal(hosts.names[1], "pdb-c");
	assert_string_equal(hosts.launcher, "ssh");
	assert_string_equal(hosts.mark, "--control-port a:37763 --pgid 0");
	assert_int_equal(hosts.user, getuid());
	launcher_hosts_deinit(&hosts);
}

/* A proxy that was started without ssh is on this host; all are needed, this one too. */
static void test_own_host(void **state)
{
	static const char *const children[][2] = {
		{"/usr/bin/hydra_pmi_proxy" ARGS, READY},
		{"ssh -x pdb-b \"/usr/bin/hydra_pmi_proxy\"" ARGS, READY},
		{NULL, NULL},
	};
	static const char *const alone[][2] = {
		{"/usr/bin/hydra_pmi_proxy" ARGS, READY},
		{"ssh -x ; hydra_pmi_proxy" ARGS, READY},
		{NULL, NULL},
	};
	struct launcher_hosts hosts = find_hosts(children, 2);
	char here[256] = "";
	bool has_here = false;

	(void)state;
	gethostname(here, sizeof(here) - 1);
	assert_int_equal(hosts.num, 2);
	for (size_t i = 0; i < hosts.num; i++)
		has_here |= strcmp(hosts.names[i], here) == 0;
	assert_true(has_here);
	launcher_hosts_deinit(&hosts);

	/* No others, or none that is known. */
	hosts = find_hosts(alone, 2);
	assert_int_equal(hosts.num, 0);
	assert_null(hosts.names);
	assert_null(hosts.mark);
	launcher_hosts_deinit(&hosts);
}

/* In an allocation: mpiexec names no nodes to srun, which keeps a table of them. */
static void test_srun(void **state)
{
	static const char *const with_table[][2] = {
		{"srun -N 2 -n 2 hydra_pmi_proxy --control-port a:1 --launcher slurm", ""},
		{NULL, NULL},
	};
	static const char *const without[][2] = {
		{"my-srun -N 2 -n 2 hydra_pmi_proxy --control-port a:1 --launcher slurm", READY},
		{NULL, NULL},
	};
	struct launcher_hosts hosts = find_hosts(with_table, 1);

	(void)state;
	assert_int_equal(hosts.num, 2);
	assert_string_equal(hosts.names[0], "pdb-b");
	assert_string_equal(hosts.names[1], "pdb-c");
	assert_string_equal(hosts.launcher, "slurm");
	launcher_hosts_deinit(&hosts);

	hosts = find_hosts(without, 1);
	assert_int_equal(hosts.num, 0);
	launcher_hosts_deinit(&hosts);
}

/* Intel's, which has a table and proxies of its own. */
static void test_intel(void **state)
{
	static const struct {
		const char *children[3][2];
		const struct launcher_kind *kind;
	} cases[] = {
		{{{"/opt/hydra_pmi_proxy --usize -1 --auto-cleanup 1", READY}}, &launcher_intel},
		{{{"ssh -q -x b /opt/hydra_bstrap_proxy --upstream-host a --pgid 0", READY}},
		 &launcher_intel},
		{{{"/opt/hydra_bstrap_proxy --upstream-host a", READY}, {"sleep 60", READY}},
		 &launcher_intel},
		{{{"/usr/bin/hydra_pmi_proxy" ARGS, READY}}, &launcher_hydra},
		{{{"my_hydra_bstrap_proxy", READY}}, NULL},
		{{{"hydra_pmi_proxys", READY}}, NULL},
	};
	struct launcher_info info;
	struct pdb_error err;

	(void)state;
	for (size_t i = 0; i < NUM_OF(cases); i++) {
		int num = cases[i].children[1][0] ? 2 : 1;
		pid_t pid = start_launcher(cases[i].children, num);
		int result = launcher_identify(pid, &info, &err);

		stop_launcher(pid);
		assert_int_equal(result, cases[i].kind ? 0 : -1);
		if (cases[i].kind)
			assert_ptr_equal(info.kind, cases[i].kind);
	}
}

/* Of the ranks on this host those of the job's first program: not those of another job, nor of a
 * program that it has spawned. */
static void test_scan_mark(void **state)
{
	static const char *const children[][2] = {
		{"/usr/bin/hydra_pmi_proxy" ARGS, RANK("2") RANK("3") "wait"},
		{"hydra_pmi_proxy --control-port a:37763 --pgid 1", RANK("0") "wait"},
		{"hydra_pmi_proxy --control-port a:3776 --pgid 0", RANK("1") "wait"},
		{"hydra_pmi_proxy --control-port b:37763 --pgid 0", RANK("0") "wait"},
		{"hydra_pmi_proxy --pgid a:37763 --control-port 0", RANK("0") "wait"},
		{NULL, NULL},
	};
	static const char mark[] = "--control-port a:37763 --pgid 0";
	static const struct {
		const char *mark;
		uid_t other_user;
	} misses[] = {
		{"--control-port a:37763 --pgid 2", 0},
		{"--control-port a:37763 --pgid", 0},
		{"--control-port", 0},
		{"", 0},
		{mark, 1},
	};
	pid_t pid = start_launcher(children, 6);
	struct proctable *table;
	struct pdb_error err;

	(void)state;
	assert_int_equal(launcher_scan_mark(mark, getuid(), &table, &err), 0);
	assert_int_equal(table->num_procs, 2);
	assert_int_equal(table->size, 4);
	assert_int_equal(table->procs[0].rank, 2);
	assert_int_equal(table->procs[1].rank, 3);
	assert_true(table->procs[0].is_local);
	assert_true(table->procs[0].pid > 0);
	assert_non_null(strchr(table->procs[0].executable, '/'));
	assert_int_equal(table->source, PROCTABLE_PROCFS);
	proctable_destroy(table);
	for (size_t i = 0; i < NUM_OF(misses); i++) {
		assert_int_equal(launcher_scan_mark(misses[i].mark, getuid() + misses[i].other_user,
						    &table, &err),
				 -1);
		assert_error(&err, ERROR_NOT_FOUND, "no ranks on this node");
	}
	stop_launcher(pid);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cmdlines),  cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_own_host),  cmocka_unit_test(test_srun),
		cmocka_unit_test(test_scan_mark), cmocka_unit_test(test_intel),
	};

	if (argc > 1 && strcmp(argv[0], "srun") == 0)
		play_srun();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
