/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A daemon of pdb: one on each node of the job, all of them one MPI job. Rank 0 is connected to
 * pdb, asks the others what pdb asks, and hands the merged answer on.
 *
 * A daemon ends, and with it all of them,
 *	- when pdb says so or its connection breaks (rank 0),
 *	- when no process of the job is left (rank 0),
 *	- when the process that started it has ended, whatever the way,
 *	- when it has heard nothing from rank 0, which asks every PDBD_PING_MS, for SILENCE_MS and
 *as long as the last answer could take,
 *	- at a SIGTERM, SIGINT or SIGHUP.
 * MPI may hang where a peer is gone or stopped: MPI_Init and MPI_Finalize are under an alarm.
 *
 * The launcher has started a guard (pdbd_guard.c), and that this process. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/daemons/daemon_look.h"
#include "attach/daemons/link.h"
#include "attach/daemons/pdbd.h"
#include "attach/daemons/pdbd_end.h"
#include "attach/daemons/pdbd_gdb.h"
#include "attach/daemons/pdbd_private.h"
#include "attach/daemons/pdbd_tree.h"
#include "attach/launchers/daemon_plan.h"
#include "attach/launchers/launcher.h"
#include "attach/node/daemon_job.h"
#include "attach/node/watch_digest.h"
#include "attach/stacks/sampler.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/stack.h"
#include "model/xalloc.h"

#define INIT_SECONDS 60
#define FINALIZE_SECONDS 3
#define SILENCE_MS 20000
#define PIECE_NS 100000000L /* of a sleep: how long it may take to end */

static void on_alarm(int signal_number)
{
	(void)signal_number;
	_exit(0);
}

static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = on_alarm};

	pdbd_end_catch();
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool pdbd_is_over(const struct daemon *daemon)
{
	return pdbd_end_is_told() || getppid() != daemon->parent;
}

bool pdbd_take_turn(const struct daemon *daemon)
{
	if (daemon->tree)
		pdbd_gdb_turn(daemon->gdb, daemon->tree);
	return pdbd_is_over(daemon);
}

static bool take_turn(void *argument)
{
	return pdbd_take_turn(argument);
}

/* ---- What is asked of each node ---- */

static void answer_hosts(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	char host[256] = "", line[300];
	int rank;

	(void)argument, (void)payload, (void)length;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	gethostname(host, sizeof(host) - 1);
	buffer_put_bytes(ret, line, snprintf(line, sizeof(line), "%d %s\n", rank, host));
}

static int merge_texts(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	(void)argument;
	buffer_put_bytes(into, part, length);
	return 0;
}

static void answer_living(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;
	uint32_t num_living = daemon_job_count_living(daemon->ranks, daemon->num_ranks);

	(void)payload, (void)length;
	buffer_put_bytes(ret, &num_living, sizeof(num_living));
}

static void answer_job(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	free(daemon->ranks);
	daemon->num_ranks = daemon_job_take(payload, length, host_is_local, &daemon->ranks);
	daemon_job_note_start(daemon->ranks, daemon->num_ranks);
	daemon->knows_job = true;
	daemon->look = daemon_look_create(daemon->ranks, daemon->num_ranks);
	answer_living(daemon, NULL, 0, ret);
}

static void answer_scan(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct pdbd_scan question;
	struct proctable *table;
	struct pdb_error err;
	char *mark;

	(void)argument;
	if (length < sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	mark = xstrndup((const char *)payload + sizeof(question), length - sizeof(question));
	if (launcher_scan_mark(mark, question.user, &table, &err) == 0) {
		daemon_job_put_found(ret, table);
		proctable_destroy(table);
	}
	free(mark);
}

static int merge_numbers(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	uint32_t sum, number;

	(void)argument;
	if (length != sizeof(number) || into->num != sizeof(sum))
		return -1;
	memcpy(&number, part, sizeof(number));
	memcpy(&sum, into->bytes, sizeof(sum));
	sum += number;
	memcpy(into->bytes, &sum, sizeof(sum));
	return 0;
}

/* False when this daemon is to end. Signals come to the other thread. */
static bool sleep_until(uint64_t until_ns)
{
	for (;;) {
		int64_t left_ns = (int64_t)(until_ns - monotonic_ns());
		struct timespec rest = {.tv_nsec = left_ns < PIECE_NS ? left_ns : PIECE_NS};

		if (left_ns <= 0 || pdbd_end_is_told())
			return !pdbd_end_is_told();
		nanosleep(&rest, NULL);
	}
}

static void hear_job_size(void *argument, const uint8_t *payload, size_t length)
{
	struct daemon *daemon = argument;
	uint32_t num_ranks;

	if (length < sizeof(num_ranks))
		return;
	memcpy(&num_ranks, payload, sizeof(num_ranks));
	daemon->job_size = (int)num_ranks;
}

static void hear_look(void *argument, const uint8_t *payload, size_t length)
{
	struct daemon *daemon = argument;
	struct pdbd_look question;

	hear_job_size(argument, payload, length);
	if (length < sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	daemon->keeps_traces = question.keeps;
}

static void answer_look(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	if (daemon->look)
		daemon_look_answer(daemon->look, payload, length, sleep_until, ret);
}

static void answer_samples(void *argument, const uint8_t *payload, size_t length,
			   struct buffer *ret)
{
	struct daemon *daemon = argument;

	if (daemon->look)
		daemon_look_answer_samples(daemon->look, payload, length, sleep_until, ret);
}

static void answer_traces(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	if (daemon->look)
		daemon_look_answer_traces(daemon->look, payload, length, ret);
}

static int merge_shares(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	const struct daemon *daemon = argument;

	return daemon_look_merge(into, part, length, daemon->job_size);
}

static void answer_cost(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	const struct daemon *daemon = argument;
	struct sampler_cost cost;

	(void)payload, (void)length;
	if (!daemon->look)
		return;
	daemon_look_get_cost(daemon->look, &cost);
	buffer_put_bytes(ret, &cost, sizeof(cost));
}

static void answer_watch(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	if (daemon->look)
		daemon_look_answer_watch(daemon->look, payload, length, ret);
}

static int merge_digests(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	const struct daemon *daemon = argument;

	return watch_digest_merge(into, part, length, daemon->job_size);
}

static void answer_gdb(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	pdbd_gdb_answer_order(daemon->gdb, daemon->ranks, daemon->num_ranks,
			      pdbd_tree_rank(daemon->tree), payload, length, ret);
}

static void answer_gdb_state(void *argument, const uint8_t *payload, size_t length,
			     struct buffer *ret)
{
	struct daemon *daemon = argument;

	pdbd_gdb_answer_state(daemon->gdb, payload, length, ret);
}

static void answer_quit(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	(void)payload, (void)length, (void)ret;
	daemon->is_quitting = true;
}

static const struct pdbd_service services[] = {
	{PDBD_HOSTS, PDBD_AT_ONCE, NULL, answer_hosts, merge_texts},
	{PDBD_JOB, PDBD_ALONE, NULL, answer_job, merge_numbers},
	{PDBD_LIVING, PDBD_AT_ONCE, NULL, answer_living, merge_numbers},
	{PDBD_QUIT, PDBD_AT_ONCE, NULL, answer_quit, merge_texts},
	{PDBD_LOOK, PDBD_MEANWHILE, hear_look, answer_look, merge_shares},
	{PDBD_SAMPLE, PDBD_MEANWHILE, hear_job_size, answer_samples, merge_shares},
	{PDBD_TRACES, PDBD_MEANWHILE, hear_job_size, answer_traces, merge_shares},
	{PDBD_SCAN, PDBD_ALONE, NULL, answer_scan, merge_texts},
	{PDBD_WATCH, PDBD_MEANWHILE, hear_job_size, answer_watch, merge_digests},
	{PDBD_COST, PDBD_ALONE, NULL, answer_cost, merge_texts},
	{PDBD_GDB, PDBD_ALONE, NULL, answer_gdb, merge_texts},
	{PDBD_GDB_STATE, PDBD_AT_ONCE, NULL, answer_gdb_state, merge_texts},
	{0, PDBD_AT_ONCE, NULL, NULL, NULL},
};

/* ---- The others ---- */

static void run_other(struct daemon *daemon, struct pdbd_tree *tree)
{
	int64_t heard_ms = monotonic_ms();

	/* Rank 0 may wait for others as long as it may for us, and once more. */
	while (!daemon->is_quitting && !pdbd_take_turn(daemon) &&
	       monotonic_ms() - heard_ms < SILENCE_MS + 2 * pdbd_tree_asked_ms(tree))
		if (pdbd_tree_serve(tree, PDBD_PING_MS) != 0)
			heard_ms = monotonic_ms();
}

/* MPI_Finalize of MPICH 4.0 hangs every second time when there are several hosts. Without it the
 * launcher ends the other daemons, which are about to end, and nobody reads what it says. */
static void __attribute__((noreturn)) end_mpi(void)
{
#ifndef MPICH_VERSION
	MPI_Finalize();
#endif
	_exit(0);
}

static int run(int argc, char **argv)
{
	struct daemon daemon = {.ranks = NULL};
	char *invitation;
	int level;

	daemon.parent = getppid();
	catch_signals();
	invitation = link_invitation_take(PDBD_ENV_INVITATION);
	alarm(INIT_SECONDS);
	if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
		return 0;
	alarm(0);

	struct pdbd_tree *tree = pdbd_tree_create(services, &daemon, take_turn);

	daemon.gdb = pdbd_gdb_create();
	daemon.tree = tree;
	if (pdbd_tree_rank(tree) == 0)
		pdbd_run_first(&daemon, invitation);
	else
		run_other(&daemon, tree);
	pdbd_gdb_destroy(daemon.gdb);
	alarm(FINALIZE_SECONDS);
	pdbd_tree_is_flushed(tree, PDBD_QUIT_MS);
	if (pdbd_tree_destroy(tree) == 0) {
		daemon_look_destroy(daemon.look);
		free(daemon.ranks);
	}
	link_forget(invitation);
	end_mpi();
}

int main(int argc, char **argv)
{
	return stack_run(run, argc, argv);
}
