/* SPDX-License-Identifier: BSD-3-Clause
 * A daemon of pdb: one on each node of the job, all of them one MPI job. Rank 0 is connected to
 * pdb, asks the others what pdb asks, and hands the merged answer on.
 *
 * A daemon ends, and with it all of them,
 *	- when pdb says so or its connection breaks (rank 0),
 *	- when no process of the job is left (rank 0),
 *	- when the process that started it has ended, whatever the way,
 *	- when rank 0, which asks every PDBD_PING_MS, is silent for SILENCE_MS and the last answer,
 *	- at a SIGTERM, SIGINT or SIGHUP.
 * MPI may hang where a peer is gone or stopped: MPI_Init and MPI_Finalize are under an alarm.
 *
 * The launcher has started a guard (pdbd_guard.c), and that this process. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include "attach/daemons/link.h"
#include "attach/daemons/pdbd_end.h"
#include "attach/daemons/pdbd_gdb.h"
#include "attach/daemons/pdbd_private.h"
#include "attach/daemons/pdbd_tree.h"
#include "attach/launchers/daemon_plan.h"
#include "model/monotonic.h"
#include "model/stack.h"

#define INIT_SECONDS 60
#define FINALIZE_SECONDS 3
#define SILENCE_MS 20000

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
	struct daemon daemon = {.parent = getppid(), .sleep_until = pdbd_sleep_until};
	int level;

	catch_signals();
	char *invitation = link_invitation_take(PDBD_ENV_INVITATION);
	alarm(INIT_SECONDS);
	if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
		return 0;
	alarm(0);

	struct pdbd_tree *tree = pdbd_tree_create(pdbd_services, &daemon, pdbd_take_turn);

	daemon.gdb = pdbd_gdb_create(tree);
	daemon.tree = tree;
	if (pdbd_tree_rank(tree) == 0)
		pdbd_run_first(&daemon, invitation);
	else
		run_other(&daemon, tree);
	pdbd_gdb_destroy(daemon.gdb);
	alarm(FINALIZE_SECONDS);
	pdbd_tree_is_flushed(tree, PDBD_QUIT_MS);
	if (pdbd_tree_destroy(tree) == 0)
		pdbd_node_deinit(&daemon);
	link_forget(invitation);
	end_mpi();
}

int main(int argc, char **argv)
{
	return stack_run(run, argc, argv);
}
