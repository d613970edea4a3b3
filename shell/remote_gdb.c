/* SPDX-License-Identifier: BSD-3-Clause
 * Two processes work here. A relay copies between the terminal and the channels' sockets; this
 * process serves the link meanwhile. If pdb is killed, the relay loses its sockets, restores the
 * terminal and ends. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/daemons/link.h"
#include "attach/daemons/pdbd.h"
#include "attach/daemons/relay.h"
#include "attach/gdb/gdb_order.h"
#include "model/buffer.h"
#include "model/job/proctable.h"
#include "model/monotonic.h"
#include "shell/start/child.h"
#include "shell/daemons.h"
#include "shell/interrupt.h"
#include "shell/remote_gdb.h"

#define SIZE_MS 250    /* between two looks at the terminal's size */
#define END_MS 10000   /* for gdb to end, whatever it is doing */
#define SETTLE_MS 1000 /* then for the rank to continue */
#define PAUSE_MS 20

enum { RELAY_DONE = 0, RELAY_FAILED = 1, RELAY_GAVE_UP = 2 };

struct run {
	struct daemons *daemons;
	const struct remote_gdb *gdb;
	bool is_typed; /* the user types; else gdb only runs commands */
	uint32_t channel;
	struct winsize size; /* of the terminal; rows 0: there is none */
	bool is_lost;        /* the daemons can no longer be used */
	int sockets[2];      /* terminal; standard error unless is_typed; -1 */
};

/* ---- The relay ---- */

/* Keep only the standard descriptors and the sockets. A copy of the link's socket would keep the
 * daemons alive after pdb is killed. */
static void keep_sockets(const struct run *run, struct relay *relay)
{
	const int away = 16;
	int first = fcntl(run->sockets[0], F_DUPFD, away);
	int second = run->sockets[1] < 0 ? -1 : fcntl(run->sockets[1], F_DUPFD, away);

	dup2(run->gdb->output_fd, STDOUT_FILENO);
	if (!run->is_typed)
		dup2(run->gdb->error_fd, STDERR_FILENO);
	relay->socket = dup2(first, STDERR_FILENO + 1);
	relay->error_socket = second < 0 ? -1 : dup2(second, STDERR_FILENO + 2);
	close_range(STDERR_FILENO + (second < 0 ? 2 : 3), ~0U, 0);
}

/* Ctrl-C is a byte at a raw terminal, else a signal. */
static int catch_interrupts(void)
{
	const struct sigaction defaults = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGINT, &defaults, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void __attribute__((noreturn)) be_relay(const struct run *run)
{
	const struct sigaction defaults = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
	struct relay relay = {
		.in = run->is_typed ? STDIN_FILENO : -1,
		.out = STDOUT_FILENO,
		.error_out = STDERR_FILENO,
		.interrupt = -1,
	};
	struct termios modes, raw;
	struct pdb_error err;
	bool has_modes;
	int result;

	sigaction(SIGHUP, &defaults, NULL);
	sigaction(SIGTERM, &defaults, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	/* Another process may own the terminal by the time that it is restored. */
	sigaction(SIGTTOU, &ignore, NULL);
	sigaction(SIGTTIN, &ignore, NULL);
	keep_sockets(run, &relay);
	has_modes = run->is_typed && tcgetattr(STDIN_FILENO, &modes) == 0;
	if (has_modes) {
		raw = modes;
		cfmakeraw(&raw);
		tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	} else {
		relay.interrupt = catch_interrupts();
	}
	result = relay_run(&relay, &err);
	if (has_modes)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
	_exit(result == 0 ? RELAY_DONE : err.code == ERROR_TIMEOUT ? RELAY_GAVE_UP : RELAY_FAILED);
}

/* ---- The channels ---- */

static void close_sockets(struct run *run)
{
	for (int i = 0; i < 2; i++) {
		if (run->sockets[i] >= 0)
			close(run->sockets[i]);
		run->sockets[i] = -1;
	}
}

static void close_channels(struct run *run)
{
	close_sockets(run);
	link_channel_close(run->daemons->link, run->channel);
	link_channel_close(run->daemons->link, run->channel + 1);
}

static int open_channels(struct run *run, struct pdb_error *err)
{
	run->channel = daemons_take_channels(run->daemons);
	for (int i = 0; i < (run->is_typed ? 1 : 2); i++)
		if (link_channel_open(run->daemons->link, run->channel + (uint32_t)i,
				      &run->sockets[i], err) < 0) {
			close_channels(run);
			return -1;
		}
	return 0;
}

/* ---- The questions ---- */

static int ask(struct run *run, uint32_t kind, const void *question, size_t size,
	       struct link_frame *ret, struct pdb_error *err)
{
	int result = daemons_ask(run->daemons, kind, question, size, 0, ret, err);

	run->is_lost |= result < 0 && err->code != ERROR_GONE && err->code != ERROR_INTERRUPTED;
	return result;
}

static int no_answer(const struct run *run, struct pdb_error *err)
{
	return error_set(err, ERROR_TIMEOUT, "host %s, where rank %d runs, does not answer",
			 run->gdb->host, run->gdb->rank);
}

static int take_started(const struct run *run, const struct link_frame *answer, char *before,
			struct pdb_error *err)
{
	struct gdb_started started;

	if (answer->length < sizeof(started))
		return no_answer(run, err);
	memcpy(&started, answer->payload, sizeof(started));
	if (started.code)
		return error_set(err, (enum error_code)started.code, "%.*s",
				 (int)(answer->length - sizeof(started)),
				 (const char *)answer->payload + sizeof(started));
	*before = (char)started.state;
	return 0;
}

static int order(struct run *run, char *before, struct pdb_error *err)
{
	struct gdb_order order = {
		.rank = (uint32_t)run->gdb->rank,
		.channel = run->channel,
		.rows = run->size.ws_row,
		.columns = run->size.ws_col,
		.words = (const char **)run->gdb->words,
		.num_words = (uint32_t)run->gdb->num_words,
	};
	char *folder = getcwd(NULL, 0);
	struct buffer question = {.bytes = NULL};
	struct link_frame answer;
	int result;

	order.folder = folder ? folder : "/";
	order.environment = gdb_order_environment(&order.num_environment);
	gdb_order_encode(&order, &question);
	free(order.environment);
	free(folder);
	result = ask(run, PDBD_GDB, question.bytes, question.num, &answer, err);
	free(question.bytes);
	if (result < 0)
		return -1;
	result = take_started(run, &answer, before, err);
	link_frame_deinit(&answer);
	return result;
}

static int ask_state(struct run *run, bool wants_end, struct gdb_state *ret, struct pdb_error *err)
{
	const struct gdb_state_question question = {
		.channel = run->channel,
		.rows = run->size.ws_row,
		.columns = run->size.ws_col,
		.wants_end = wants_end,
	};
	struct link_frame answer;
	bool is_whole;

	if (ask(run, PDBD_GDB_STATE, &question, sizeof(question), &answer, err) < 0)
		return -1;
	is_whole = answer.length == sizeof(*ret);
	if (is_whole)
		memcpy(ret, answer.payload, sizeof(*ret));
	link_frame_deinit(&answer);
	return is_whole ? 0 : no_answer(run, err);
}

/* ---- While it runs ---- */

static void measure(struct winsize *size)
{
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, size) < 0 || !size->ws_row || !size->ws_col)
		*size = (struct winsize){.ws_row = 24, .ws_col = 80};
}

static int follow_size(struct run *run, struct pdb_error *err)
{
	struct gdb_state state;
	struct winsize now;

	if (!run->is_typed)
		return 0;
	measure(&now);
	if (now.ws_row == run->size.ws_row && now.ws_col == run->size.ws_col)
		return 0;
	run->size = now;
	return ask_state(run, false, &state, err);
}

/* Until the relay has ended. */
static int serve(struct run *run, pid_t relay, struct pdb_error *err)
{
	int pidfd = (int)syscall(SYS_pidfd_open, relay, 0), result = 0;
	uint64_t patience_ns = run->gdb->patience_s * UINT64_C(1000000000);
	uint64_t begin_ns = monotonic_ns();

	while (result == 0) {
		const struct link_limit limit = {
			.until_ns = monotonic_ns() + SIZE_MS * UINT64_C(1000000),
			.cancel_fd = pidfd,
		};

		daemons_wait(run->daemons, &limit, err);
		if (err->code == ERROR_INTERRUPTED)
			break;
		if (err->code == ERROR_TIMEOUT && patience_ns &&
		    monotonic_ns() - begin_ns > patience_ns) {
			result = error_set(err, ERROR_TIMEOUT, "gdb took too long");
		} else if (err->code == ERROR_TIMEOUT) {
			result = follow_size(run, err);
		} else {
			run->is_lost = true;
			result = -1;
		}
	}
	close(pidfd);
	return result;
}

/* Let the user talk to gdb until it ends. */
static int converse(struct run *run, struct pdb_error *err)
{
	struct child_hold hold;
	int status = 0, result;
	pid_t relay;

	child_hold_terminal(&hold);
	relay = fork();
	if (relay == 0)
		be_relay(run);
	close_sockets(run);
	result = relay < 0 ? error_errno(err, "cannot speak with gdb") : serve(run, relay, err);
	close_channels(run);
	while (relay > 0 && waitpid(relay, &status, 0) < 0 && errno == EINTR)
		;
	child_release_terminal(&hold);
	if (result == 0 && WIFEXITED(status) && WEXITSTATUS(status) == RELAY_GAVE_UP)
		result = no_answer(run, err);
	return result;
}

/* Tell gdb to end; wait until it has ended and the rank continues. */
static int await_end(struct run *run, struct remote_gdb_end *ret, struct pdb_error *err)
{
	uint64_t until = monotonic_ns() + END_MS * UINT64_C(1000000);
	bool has_ended = false;
	struct gdb_state state;

	for (;;) {
		if (ask_state(run, true, &state, err) < 0)
			return -1;
		if (state.has_ended && !has_ended)
			until = monotonic_ns() + SETTLE_MS * UINT64_C(1000000);
		has_ended = state.has_ended;
		if ((has_ended && state.state != 't') || monotonic_ns() > until)
			break;
		if (!interrupt_sleep_until(monotonic_ns() + PAUSE_MS * UINT64_C(1000000)))
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
	}
	ret->status = state.status;
	ret->after = (char)state.state;
	if (!has_ended)
		return error_set(err, ERROR_TIMEOUT, "gdb on host %s does not end", run->gdb->host);
	return 0;
}

int remote_gdb_run(struct daemons *daemons, const struct remote_gdb *gdb,
		   struct remote_gdb_end *ret, struct pdb_error *err)
{
	struct run run = {
		.daemons = daemons,
		.gdb = gdb,
		.is_typed = gdb->num_words == 0,
		.sockets = {-1, -1},
	};
	int result;

	*ret = (struct remote_gdb_end){.status = 0};
	if (run.is_typed)
		measure(&run.size);
	result = open_channels(&run, err);
	if (result == 0) {
		struct pdb_error later;

		result = order(&run, &ret->before, err);
		if (result == 0)
			result = converse(&run, err);
		else
			close_channels(&run);
		/* gdb may have started whatever the answer was, so tell it to end. */
		if (!run.is_lost && await_end(&run, ret, &later) < 0 && result == 0) {
			*err = later;
			result = -1;
		}
	}
	ret->is_lost = run.is_lost;
	return result;
}

bool remote_gdb_tell_end(const struct proc *proc, const struct remote_gdb_end *end)
{
	const char *on = proc->is_local ? "" : " on ", *host = proc->is_local ? "" : proc->host;
	int pid = (int)proc->pid;

	if (end->after == 'X' || end->after == 'Z')
		fprintf(stderr, "pdb: rank %d (pid %d%s%s) has ended\n", proc->rank, pid, on, host);
	else if ((end->after == 't' || end->after == 'T') && end->before != 'T')
		fprintf(stderr,
			"pdb: rank %d (pid %d%s%s) is still stopped; to let it go on%s%s: %skill "
			"-CONT %d\n",
			proc->rank, pid, on, host, on, host, proc->is_local ? "shell " : "", pid);
	else
		return false;
	return true;
}
