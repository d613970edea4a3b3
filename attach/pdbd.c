/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A daemon of pdb: one on each node of the job, all of them one MPI job. Rank 0 is connected to
 * pdb, asks the others what pdb asks, and hands the merged answer on.
 *
 * A daemon ends, and with it all of them,
 *	- when pdb says so or its connection breaks (rank 0),
 *	- when no process of the job is left (rank 0),
 *	- when the process that started it has ended, whatever the way,
 *	- when it has heard nothing from rank 0, which asks every PING_MS, for SILENCE_MS and as
 *	  long as the last answer could take,
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

#include "attach/daemon_job.h"
#include "attach/daemon_look.h"
#include "attach/daemon_scan.h"
#include "attach/launcher.h"
#include "attach/link.h"
#include "attach/pdbd.h"
#include "attach/pdbd_gdb.h"
#include "attach/pdbd_tree.h"
#include "attach/sampler.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/monotonic.h"
#include "model/proctable.h"
#include "model/xalloc.h"

#define INIT_SECONDS 60
#define FINALIZE_SECONDS 3
#define PING_MS 5000
#define LOOK_MS 300 /* between two looks at whether this node's ranks live */
#define SILENCE_MS 20000
#define REQUEST_MS 10000    /* how long a daemon may be at work on its part of an answer */
#define LOOK_MAX_MS 60000   /* more than that is not waited between two looks */
#define QUIT_MS 1000        /* how long the others may take to hear that it is over */
#define CONNECT_MS 10000    /* pdb is waiting for the daemons */
#define SEND_MS 30000       /* an answer to pdb */
#define IDLE_MS 100         /* between two looks at other things while waiting for pdb */
#define BUSY_MS 1           /* the same while somebody speaks with a gdb */
#define PIECE_NS 100000000L /* of a sleep: how long it may take to end */

struct daemon {
	pid_t parent;
	bool is_quitting;
	bool knows_job;
	struct daemon_rank *ranks; /* of the job, on this node */
	size_t num_ranks;
	struct daemon_look *look; /* NULL: there are none, or it is not known yet */
	int job_size;             /* of the last question that said it */
	struct pdbd_gdb *gdb;
	struct pdbd_tree *tree;
};

static volatile sig_atomic_t is_told_to_end;

static void on_end(int signal_number)
{
	(void)signal_number;
	is_told_to_end = 1;
}

static void on_alarm(int signal_number)
{
	(void)signal_number;
	_exit(0);
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_end};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static bool is_over(void *argument)
{
	const struct daemon *daemon = argument;

	return is_told_to_end || getppid() != daemon->parent;
}

/* In every round of waiting: what is to be done besides. */
static bool take_turn(void *argument)
{
	const struct daemon *daemon = argument;

	if (daemon->tree)
		pdbd_gdb_turn(daemon->gdb, daemon->tree);
	return is_over(argument);
}

/* ---- What is asked of each node ------------------------------------------------------------- */

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
	daemon->num_ranks =
		daemon_job_decode((const char *)payload, length, host_is_local, &daemon->ranks);
	daemon_job_note_start(daemon->ranks, daemon->num_ranks);
	daemon->knows_job = true;
	daemon_look_destroy(daemon->look);
	daemon->look = daemon_look_create(daemon->ranks, daemon->num_ranks);
	answer_living(daemon, NULL, 0, ret);
}

static void answer_scan(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct pdbd_scan question;
	struct proctable *table;
	struct pdb_error err;
	char *mark, *text;

	(void)argument;
	if (length < sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	mark = xstrndup((const char *)payload + sizeof(question), length - sizeof(question));
	if (launcher_scan_mark(mark, question.user, &table, &err) == 0) {
		text = daemon_scan_encode(table);
		buffer_put_bytes(ret, text, strlen(text));
		free(text);
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

		if (left_ns <= 0 || is_told_to_end)
			return !is_told_to_end;
		nanosleep(&rest, NULL);
	}
}

static void hear_job_size(void *argument, const uint8_t *payload, size_t length)
{
	struct daemon *daemon = argument;
	struct pdbd_look question;

	if (length < sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	daemon->job_size = (int)question.num_ranks;
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

static int merge_shares(void *argument, struct buffer *into, const uint8_t *part, size_t length)
{
	const struct daemon *daemon = argument;
	struct buffer merged = {.bytes = NULL};

	if (length == 0)
		return 0;
	if (daemon_look_merge(daemon->job_size, into, part, length, &merged) != 0) {
		free(merged.bytes);
		return -1;
	}
	free(into->bytes);
	*into = merged;
	return 0;
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

static void answer_gdb(void *argument, const uint8_t *payload, size_t length, struct buffer *ret)
{
	struct daemon *daemon = argument;

	pdbd_gdb_answer_order(daemon->gdb, daemon->ranks, daemon->num_ranks, payload, length, ret);
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
	{PDBD_LOOK, PDBD_MEANWHILE, hear_job_size, answer_look, merge_shares},
	{PDBD_SAMPLE, PDBD_MEANWHILE, hear_job_size, answer_samples, merge_shares},
	{PDBD_SCAN, PDBD_ALONE, NULL, answer_scan, merge_texts},
	{PDBD_COST, PDBD_ALONE, NULL, answer_cost, merge_texts},
	{PDBD_GDB, PDBD_ALONE, NULL, answer_gdb, merge_texts},
	{PDBD_GDB_STATE, PDBD_AT_ONCE, NULL, answer_gdb_state, merge_texts},
	{0, PDBD_AT_ONCE, NULL, NULL, NULL},
};

/* ---- Rank 0 -----------------------------------------------------------------------------------
 */

static struct link_limit limit_of(int ms)
{
	return (struct link_limit){
		.until_ns = monotonic_ns() + ms * 1000000ull,
		.cancel_fd = -1,
	};
}

struct first {
	struct daemon *daemon;
	struct pdbd_tree *tree;
	struct link *link;
	char **hosts; /* by rank; NULL: not known */
	int64_t pinged_ms;
};

/* Let pdb know that an answer is on its way. */
static void pulse(void *argument)
{
	const struct link_limit limit = limit_of(SEND_MS);
	struct first *first = argument;
	struct pdb_error err;

	if (link_send(first->link, PDBD_ALIVE, NULL, 0, &limit, &err) != 0)
		first->daemon->is_quitting = true;
}

static void ask(struct first *first, uint32_t kind, const void *payload, size_t length,
		int total_ms, struct buffer *answer, struct overlay_ranges *missing)
{
	const struct pdbd_question question = {
		.kind = kind,
		.payload = payload,
		.length = length,
		.total_ms = total_ms,
		.pulse = pulse,
		.argument = first,
	};

	pdbd_tree_ask(first->tree, &question, answer, missing);
}

static void learn_hosts(struct first *first)
{
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer answer;
	char *save;

	ask(first, PDBD_HOSTS, NULL, 0, REQUEST_MS, &answer, &missing);
	buffer_put_bytes(&answer, "", 1);
	for (char *line = strtok_r((char *)answer.bytes, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *blank = strchr(line, ' ');
		int rank = atoi(line);

		if (blank && rank >= 0 && rank < pdbd_tree_size(first->tree) && !first->hosts[rank])
			first->hosts[rank] = xstrdup(blank + 1);
	}
	free(answer.bytes);
	overlay_ranges_deinit(&missing);
}

static char *name_missing(const struct first *first, const struct overlay_ranges *missing)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; i < overlay_ranges_total(missing); i++) {
		uint32_t rank = overlay_ranges_at(missing, i);

		if (first->hosts[rank])
			fprintf(out, "%s%s", i > 0 ? " " : "", first->hosts[rank]);
		else
			fprintf(out, "%sdaemon-%u", i > 0 ? " " : "", rank);
	}
	fclose(out);
	return text;
}

/* Looking takes as long as it is told to. */
static int answer_ms(uint32_t kind, const uint8_t *payload, size_t length)
{
	struct pdbd_look question;

	if ((kind != PDBD_LOOK && kind != PDBD_SAMPLE) || length < sizeof(question))
		return REQUEST_MS;
	memcpy(&question, payload, sizeof(question));
	return REQUEST_MS +
	       (question.milliseconds < LOOK_MAX_MS ? question.milliseconds : LOOK_MAX_MS);
}

static void send_answer(struct first *first, uint32_t kind, const struct buffer *answer,
			const struct overlay_ranges *missing)
{
	const struct link_limit limit = limit_of(SEND_MS);
	char *names = name_missing(first, missing);
	uint32_t names_length = strlen(names);
	struct buffer frame = {.bytes = NULL};
	struct pdb_error err;

	buffer_put_bytes(&frame, &names_length, sizeof(names_length));
	buffer_put_bytes(&frame, names, names_length);
	buffer_put_bytes(&frame, answer->bytes, answer->num);
	if (link_send(first->link, kind, frame.bytes, frame.num, &limit, &err) != 0)
		first->daemon->is_quitting = true;
	free(names);
	free(frame.bytes);
}

static void pass_on(struct first *first, uint32_t kind, const uint8_t *payload, size_t length)
{
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer answer;

	ask(first, kind, payload, length, answer_ms(kind, payload, length), &answer, &missing);
	/* What is missing because the daemons are being ended is no answer: pdb starts others. */
	if (missing.num == 0 || !is_over(first->daemon))
		send_answer(first, kind, &answer, &missing);
	free(answer.bytes);
	overlay_ranges_deinit(&missing);
}

/* Let the others know that rank 0 lives, and see whether the job does, and the silent. */
static void ping(struct first *first)
{
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer answer;
	uint32_t num_living = 0;

	ask(first, PDBD_LIVING, NULL, 0, REQUEST_MS, &answer, &missing);
	if (answer.num == sizeof(num_living))
		memcpy(&num_living, answer.bytes, sizeof(num_living));
	/* Daemons that are silent do not keep the others, since these may keep the launcher. */
	if (first->daemon->knows_job && num_living == 0)
		first->daemon->is_quitting = true;
	pdbd_gdb_note_silent(first->daemon->gdb, &missing);
	if (missing.num > 0)
		pdbd_tree_knock(first->tree, PDBD_LIVING);
	free(answer.bytes);
	overlay_ranges_deinit(&missing);
	first->pinged_ms = monotonic_ms();
}

/* The end of this node's ranks is a reason to ask whether others live: the launcher may be waiting
 * for the daemons. */
static bool has_lost_ranks(const struct daemon *daemon)
{
	return daemon->num_ranks > 0 &&
	       daemon_job_count_living(daemon->ranks, daemon->num_ranks) == 0;
}

static void serve_pdb(struct first *first)
{
	int64_t looked_ms = monotonic_ms();

	while (!first->daemon->is_quitting && !take_turn(first->daemon)) {
		const struct link_limit limit =
			limit_of(pdbd_gdb_is_busy(first->daemon->gdb) ? BUSY_MS : IDLE_MS);
		struct link_frame frame;
		struct pdb_error err;

		if (link_receive(first->link, &frame, &limit, &err) == 0) {
			if (frame.type == PDBD_GDB)
				pdbd_gdb_join(first->daemon->gdb, first->link, frame.payload,
					      frame.length);
			if (frame.type == PDBD_QUIT)
				first->daemon->is_quitting = true;
			else
				pass_on(first, frame.type, frame.payload, frame.length);
			link_frame_deinit(&frame);
		} else if (err.code != ERROR_TIMEOUT) {
			break;
		}
		if (monotonic_ms() - first->pinged_ms >= PING_MS) {
			ping(first);
		} else if (monotonic_ms() - looked_ms >= LOOK_MS) {
			if (has_lost_ranks(first->daemon))
				ping(first);
			looked_ms = monotonic_ms();
		}
	}
}

static void run_first(struct daemon *daemon, struct pdbd_tree *tree, const char *invitation)
{
	const struct pdbd_question quit = {.kind = PDBD_QUIT, .total_ms = QUIT_MS};
	struct first first = {.daemon = daemon, .tree = tree, .pinged_ms = monotonic_ms()};
	struct overlay_ranges missing = {.ranges = NULL};
	struct buffer answer = {.bytes = NULL};
	const struct link_limit limit = limit_of(CONNECT_MS);
	struct pdb_error err;

	first.hosts = xcalloc(pdbd_tree_size(tree), sizeof(*first.hosts));
	first.link = invitation ? link_connect(invitation, &limit, &err) : NULL;
	if (first.link) {
		learn_hosts(&first);
		serve_pdb(&first);
	}
	pdbd_gdb_part(daemon->gdb);
	link_destroy(first.link);
	pdbd_tree_ask(tree, &quit, &answer, &missing);
	free(answer.bytes);
	overlay_ranges_deinit(&missing);
	for (int rank = 0; rank < pdbd_tree_size(tree); rank++)
		free(first.hosts[rank]);
	free(first.hosts);
}

/* ---- The others --------------------------------------------------------------------------------
 */

static void run_other(struct daemon *daemon, struct pdbd_tree *tree)
{
	int64_t heard_ms = monotonic_ms();

	/* Rank 0 may wait for others as long as it may for us, and once more. */
	while (!daemon->is_quitting && !take_turn(daemon) &&
	       monotonic_ms() - heard_ms < SILENCE_MS + 2 * pdbd_tree_asked_ms(tree))
		if (pdbd_tree_serve(tree, PING_MS) != 0)
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

int main(int argc, char **argv)
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
		run_first(&daemon, tree, invitation);
	else
		run_other(&daemon, tree);
	pdbd_gdb_destroy(daemon.gdb);
	alarm(FINALIZE_SECONDS);
	pdbd_tree_is_flushed(tree, QUIT_MS);
	if (pdbd_tree_destroy(tree) == 0)
		daemon_look_destroy(daemon.look);
	free(daemon.ranks);
	link_forget(invitation);
	end_mpi();
}
