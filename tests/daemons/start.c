/* SPDX-License-Identifier: BSD-3-Clause
 * Start daemons for a job, for tests/daemons/check.sh.
 * usage: start PID MPI FOLDER [--everywhere]
 * PID is a launcher, FOLDER has pdbd-MPI.
 * --everywhere: also when all ranks are on this node. Then it reads words from its standard input:
 * job, living; each is asked of the daemons, and one line says
 *	WORD: ANSWER
 * At the end of the input it lets go of the daemons and ends. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/daemons/daemon_launch.h"
#include "attach/launchers/daemon_plan.h"
#include "attach/daemons/link.h"
#include "attach/daemons/pdbd.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/process/procfs.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/job/proctable.h"
#include "model/wire/proc_bytes.h"
#include "model/xalloc.h"
#include "pmix/tool.h"

#define START_MS 15000
#define ANSWER_MS 15000

static void __attribute__((noreturn)) die(const char *what, const struct pdb_error *err)
{
	printf("error: %s: %s\n", what, err ? err->text : strerror(errno));
	exit(1);
}

static struct link_limit limit_of(int ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (struct link_limit){
		.until_ns = now.tv_sec * 1000000000ull + now.tv_nsec + ms * 1000000ull,
		.cancel_fd = -1,
	};
}

static struct proctable *find_table(struct launcher_info *launcher)
{
	struct proctable *table;
	struct pdb_error err;
	int result = -1;

	if (launcher->kind->takes_pmix)
		result = pmix_proctable(launcher->pid, NULL, 5000, &table, &err);
	else if (launcher->kind->has_mpir)
		result = launcher_read_mpir(launcher, &table, &err);
	/* The job of the test is no MPI program: some launchers leave their tables empty then. */
	if (result != 0 && launcher_scan_procfs(launcher, &table, &err) != 0)
		die("no table", &err);
	return table;
}

/* The launcher's command line; for the life of this program. */
static const char *const *read_argv(pid_t pid)
{
	size_t size, num = 0;
	char *text = procfs_read(pid, "cmdline", &size);
	const char **argv = xcalloc(size + 2, sizeof(*argv));

	for (char *word = text; text && word < text + size; word += strlen(word) + 1)
		argv[num++] = word;
	return argv;
}

static struct link *await(struct link_listener *listener, struct daemon_launch *launch)
{
	struct pdb_error err;

	for (int waited_ms = 0; waited_ms < START_MS; waited_ms += 50) {
		const struct link_limit limit = limit_of(50);
		struct link *link = link_accept(listener, &limit, &err);

		if (link)
			return link;
		if (err.code != ERROR_TIMEOUT)
			die("no daemons", &err);
		if (launch->pid && daemon_launch_check(launch, &err) != 0)
			die("no daemons", &err);
	}
	die("no daemons have come", &err);
}

static void __attribute__((noreturn)) say_gone(void)
{
	printf("gone\n");
	exit(3);
}

static void ask(struct link *link, const char *word, uint32_t kind, const struct buffer *payload)
{
	const struct link_limit limit = limit_of(ANSWER_MS);
	struct link_frame answer_frame;
	struct pdb_error err;
	uint32_t number = 0;

	if (link_send(link, kind, payload->bytes, payload->num, &limit, &err) != 0 ||
	    link_receive(link, &answer_frame, &limit, &err) != 0)
		say_gone();
	if (answer_frame.length >= sizeof(number))
		memcpy(&number, answer_frame.payload, sizeof(number));
	printf("%s: %u\n", word, number);
	link_frame_deinit(&answer_frame);
}

int main(int argc, char **argv)
{
	struct daemon_launch launch = {.pid = 0};
	struct pmix_daemons daemons = {.leash = -1};
	struct launcher_info launcher;
	struct daemon_plan plan;
	struct pdb_error err;
	char path[4096] = "", word[32];

	if (argc < 4)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (launcher_identify(atoi(argv[1]), &launcher, &err) != 0)
		die("no launcher", &err);

	struct proctable *table = find_table(&launcher);
	struct link_listener *listener = link_listen(&err);
	if (!listener)
		die("cannot listen", &err);
	char *invitation = link_invitation(listener);
	struct daemon_site site = {
		.table = table,
		.kind = launcher.kind,
		.launcher_path = path,
		.launcher_argv = read_argv(launcher.pid),
		.slurm_job = getenv("SLURM_JOB_ID"),
		.mpi = argv[2],
		.pdbd_folder = argv[3],
		.invitation = invitation,
	};
	for (size_t i = 0; argc > 4 && i < table->num_procs; i++)
		table->procs[i].is_local = false;
	procfs_executable(launcher.pid, path, sizeof(path));
	if (daemon_plan_make(&site, &plan, &err) != 0)
		die("no plan", &err);
	if (plan.way == DAEMONS_NONE) {
		printf("none needed\n");
		return 0;
	}
	if (plan.way == DAEMONS_SPAWN) {
		if (pmix_spawn_daemons(launcher.pid, table->job, plan.program,
				       (const char *const *)plan.environment, START_MS, &daemons,
				       &err) != 0)
			die("not spawned", &err);
	} else if (daemon_launch_start(&plan, &launch, &err) != 0) {
		die("not launched", &err);
	}
	struct link *link = await(listener, &launch);
	struct buffer job = {.bytes = NULL}, nothing = {.bytes = NULL};
	proc_bytes_put(&job, table);
	printf("ready: %zu\n", plan.num_hosts);
	while (scanf("%31s", word) == 1) {
		if (strcmp(word, "job") == 0)
			ask(link, word, PDBD_JOB, &job);
		else if (strcmp(word, "living") == 0)
			ask(link, word, PDBD_LIVING, &nothing);
	}
	link_destroy(link);
	link_listener_destroy(listener);
	link_forget(invitation);
	daemon_launch_stop(&launch, 5000);
	pmix_release_daemons(&daemons);
	return 0;
}
