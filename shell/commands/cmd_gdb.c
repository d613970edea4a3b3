/* SPDX-License-Identifier: BSD-3-Clause
 * gdb: attach gdb to a rank, on the rank's own node, in the first frame of the program's own
 * code. */
#include "attach/gdb/gdb_call.h"
#include "attach/gdb/gdb_guard.h"
#include "attach/node/node.h"
#include "attach/process/procfs.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/xalloc.h"
#include "shell/start/child.h"
#include "shell/command.h"
#include "shell/options/options.h"
#include "shell/interrupt.h"
#include "shell/remote_gdb.h"
#include "shell/session.h"

static int check_process(struct session *session, const struct proc *proc, struct pdb_error *err)
{
	if (!node_is_alive(session->node, proc->rank))
		return error_set(err, ERROR_GONE, "rank %d (pid %d) has ended", proc->rank,
				 (int)proc->pid);
	if (procfs_check_tracer(proc->pid, "be debugged", err) < 0)
		return error_prefix(err, "rank %d", proc->rank);
	return 0;
}

/* The process state in /proc after the debugger has detached, which may take a moment. 0: not
 * known. */
static char settled_state(pid_t pid)
{
	uint64_t end = monotonic_ns() + UINT64_C(1000000000);
	struct procfs_stat stat;

	do {
		if (procfs_stat(pid, 0, &stat) < 0)
			return procfs_has_ended(pid, 0) ? 'X' : 0;
		if (stat.state != 't')
			return stat.state;
	} while (monotonic_ns() < end && interrupt_sleep_until(monotonic_ns() + 10000000));
	return stat.state;
}

struct guarded {
	struct gdb_guard_rank rank;
	pid_t guard;
};

static void start_guard(void *context, pid_t gdb)
{
	struct guarded *guarded = context;

	guarded->guard = gdb_guard_start(&guarded->rank, gdb);
}

/* May gdb be killed? While the rank is stopped, it contains none of gdb's break points. */
static bool holds_rank(void *context)
{
	const struct guarded *guarded = context;
	struct procfs_stat stat;

	return procfs_stat(guarded->rank.pid, 0, &stat) == 0 && stat.state == 't';
}

static int run_here(struct session *session, const struct proc *proc, const char *const words[],
		    size_t num_words, struct remote_gdb_end *ret, struct pdb_error *err)
{
	struct guarded guarded = {.guard = 0};
	const struct child_watch watch = {start_guard, holds_rank, &guarded};
	struct procfs_stat before;
	struct gdb_call call;
	int result;

	if (check_process(session, proc, err) < 0)
		return -1;
	if (procfs_look(proc->pid, 0, &before, err) < 0)
		return error_prefix(err, "rank %d", proc->rank);
	gdb_call_init(&call, proc->pid, words, num_words);
	guarded.rank = (struct gdb_guard_rank){
		.pid = proc->pid,
		.start_ticks = before.start_ticks,
		.was_stopped = before.state == 'T',
	};
	result =
		child_run(call.argv, "DEBUGINFOD_URLS", session->out_fd, &watch, &ret->status, err);
	if (result < 0 && err->code == ERROR_NOT_FOUND)
		error_set(err, ERROR_NOT_FOUND,
			  "gdb is not installed here.\nInstall it, or put its directory into PATH. "
			  "\"bt %d\" shows the stack without gdb.",
			  proc->rank);
	gdb_guard_wait(guarded.guard);
	gdb_call_deinit(&call);
	ret->before = before.state;
	ret->after = settled_state(proc->pid);
	return result;
}

static int run_there(struct session *session, const struct proc *proc, const char *const words[],
		     size_t num_words, struct remote_gdb_end *ret, struct pdb_error *err)
{
	const struct remote_gdb gdb = {
		.rank = proc->rank,
		.host = proc->host,
		.words = words,
		.num_words = num_words,
		.output_fd = session->out_fd,
	};
	struct daemons *daemons = session_daemons(session, err);
	int result;

	if (!daemons && err->code != ERROR_INTERRUPTED)
		error_prefix(err, "rank %d runs on %s, where pdb has no daemon", proc->rank,
			     proc->host);
	if (!daemons)
		return -1;
	result = remote_gdb_run(daemons, &gdb, ret, err);
	return result < 0 && ret->is_lost ? session_lose_daemons(session, err) : result;
}

static void tell_state(const struct session *session, const struct proc *proc,
		       const struct remote_gdb_end *end)
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
	else if (session->editor)
		printf("Rank %d (pid %d%s%s) %s.\n", proc->rank, pid, on, host,
		       end->after == 'T' ? "stays stopped, as before" : "goes on");
}

/* "-ex COMMAND" for each, as gdb takes them. The caller frees. */
static const char **words_for_gdb(const struct option_list *commands)
{
	const char **words = xcalloc(2 * commands->num + 1, sizeof(*words));

	for (size_t i = 0; i < commands->num; i++) {
		words[2 * i] = "-ex";
		words[2 * i + 1] = commands->words[i].text;
	}
	return words;
}

static int run_on(struct session *session, int rank, const struct option_list *commands,
		  struct pdb_error *err)
{
	const struct proc *proc = proctable_find(session->job->proctable, rank);
	size_t num = 2 * commands->num;
	struct remote_gdb_end end = {.after = 0};
	const char **words;
	int result;

	if (!proc || proc->pid <= 0)
		return error_set(err, ERROR_NOT_FOUND, "the process of rank %d is not known", rank);
	if (num == 0 && !session->editor)
		return error_set(err, ERROR_USAGE,
				 "gdb needs a terminal, or commands: gdb %d -ex bt", rank);
	fflush(session->out);
	words = words_for_gdb(commands);
	result = proc->is_local ? run_here(session, proc, words, num, &end, err)
				: run_there(session, proc, words, num, &end, err);
	free(words);
	if (end.after) {
		session->is_outdated = true;
		tell_state(session, proc, &end);
	}
	if (result == 0 && num > 0 && end.status != 0)
		return error_set(err, ERROR_SYSTEM, "gdb ended with status %d", end.status);
	return result;
}

static int run_gdb(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct gdb_options options = {.commands.num = 0};
	struct args rest;
	size_t next = 0;
	int rank, result;

	result = option_take_all(&gdb_option_table, 0, args, &options, &rest, err);
	if (result == 0)
		result = session_take_rank(session, &rest, &next, &rank, err);
	if (result == 0)
		result = args_end(&rest, next, err);
	if (result == 0)
		result = run_on(session, rank, &options.commands, err);
	option_list_free(&options.commands);
	free(rest.words);
	return result;
}

const struct command cmd_gdb = {
	.name = "gdb",
	.topic = TOPIC_STACKS,
	.usage = "gdb RANK [-ex COMMAND]...",
	.summary = "Put gdb on a rank, in the first frame of the program's own code.",
	.text = "The rank stands still until you leave gdb with \"quit\" or \"detach\". Then it\n"
		"goes on, and you are back in pdb. A rank that a signal had stopped stays\n"
		"stopped. The next answer is of a new look. With -ex, gdb runs these commands\n"
		"and returns; this works in command files, too.\n"
		"A rank on another node gets the gdb and the files of that node. If its host\n"
		"does not answer, press Ctrl-C three times, over more than a second, to give\n"
		"up.\n"
		"gdb shows a Python rank as the interpreter's C code: in the innermost frame,\n"
		"or in the one that called MPI. \"bt RANK\" shows the Python functions.",
	.example = "gdb lp -ex \"bt 3\" -ex \"info locals\"",
	.options = &gdb_option_table,
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_TERMINAL | CMD_NO_REPEAT,
	.min_words = 1,
	.max_words = -1,
	.words = WORDS_RANK,
	.run = run_gdb,
};
