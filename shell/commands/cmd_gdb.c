/* SPDX-License-Identifier: BSD-3-Clause
 * gdb: attach gdb to a rank, on the rank's own node, in the first frame of the program's own
 * code. With commands also to several ranks, one after the other; equal output is shown once. */
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/values/value_groups.h"
#include "attach/gdb/gdb_call.h"
#include "attach/gdb/gdb_guard.h"
#include "attach/node/node.h"
#include "attach/process/procfs.h"
#include "model/job/job.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "render/text/text.h"
#include "render/words/label.h"
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

/* What gdb is given, and where its output goes. */
struct order {
	const char *const *words;
	size_t num_words;
	int out_fd;
};

static int run_here(struct session *session, const struct proc *proc, const struct order *order,
		    struct remote_gdb_end *ret, struct pdb_error *err)
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
	gdb_call_init(&call, proc->pid, order->words, order->num_words);
	guarded.rank = (struct gdb_guard_rank){
		.pid = proc->pid,
		.start_ticks = before.start_ticks,
		.was_stopped = before.state == 'T',
	};
	result = child_run(call.argv, "DEBUGINFOD_URLS", order->out_fd, &watch, &ret->status, err);
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

static int run_there(struct session *session, const struct proc *proc, const struct order *order,
		     struct remote_gdb_end *ret, struct pdb_error *err)
{
	const struct remote_gdb gdb = {
		.rank = proc->rank,
		.host = proc->host,
		.words = order->words,
		.num_words = order->num_words,
		.output_fd = order->out_fd,
		.error_fd = STDERR_FILENO,
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
		       const struct remote_gdb_end *end, bool is_quiet)
{
	if (!remote_gdb_tell_end(proc, end) && session->editor && !is_quiet)
		printf("Rank %d (pid %d%s%s) %s.\n", proc->rank, (int)proc->pid,
		       proc->is_local ? "" : " on ", proc->is_local ? "" : proc->host,
		       end->after == 'T' ? "stays stopped, as before" : "goes on");
}

/* Before what the commands print comes what gdb says of each process that it attaches to. */
#define MARK "[pdb's commands]"

/* "-ex COMMAND" for each, as gdb takes them, behind one that prints the mark if that is wanted. The
 * caller frees. */
static const char **words_for_gdb(const struct option_list *commands, bool with_mark,
				  size_t *num_ret)
{
	const char **words = xcalloc(2 * commands->num + 3, sizeof(*words));
	size_t num = 0;

	if (with_mark) {
		words[num++] = "-ex";
		words[num++] = "echo \\n" MARK "\\n";
	}
	for (size_t i = 0; i < commands->num; i++) {
		words[num++] = "-ex";
		words[num++] = commands->words[i].text;
	}
	*num_ret = num;
	return words;
}

static int run_on(struct session *session, int rank, const struct order *order,
		  struct pdb_error *err)
{
	const struct proc *proc = proctable_find(session->job->proctable, rank);
	struct remote_gdb_end end = {.after = 0};
	int result;

	if (!proc || proc->pid <= 0)
		return error_set(err, ERROR_NOT_FOUND,
				 "pdb does not know the process of rank %d; see \"info ranks\"",
				 rank);
	fflush(session->out);
	result = proc->is_local ? run_here(session, proc, order, &end, err)
				: run_there(session, proc, order, &end, err);
	if (end.after) {
		session->is_outdated = true;
		tell_state(session, proc, &end, order->out_fd != session->out_fd);
	}
	if (result == 0 && order->num_words > 0 && end.status != 0)
		return error_set(err, ERROR_SYSTEM, "gdb ended with status %d", end.status);
	return result;
}

/* ---- Several ranks ---- */

enum { MAX_RANKS = 64, MAX_OUTPUT = 4 << 20 };

/* Where texts of ranks differ though they say the same: addresses, and numbers of processes and
 * threads. How many characters of *text one takes; 0: none begins there. */
static size_t own_number(const char *begin, const char *text)
{
	static const char *const before[] = {"process ", "LWP ", "Thread "};

	if (text[0] == '0' && text[1] == 'x' && isxdigit((unsigned char)text[2]))
		return 2 + strspn(text + 2, "0123456789abcdefABCDEF");
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		size_t length = strlen(before[i]);

		if ((size_t)(text - begin) >= length && !strncmp(text - length, before[i], length))
			return strspn(text, "0123456789");
	}
	return 0;
}

static char *take_output(struct arena *arena, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	size_t num = size < 0 ? 0 : size < MAX_OUTPUT ? (size_t)size : MAX_OUTPUT, to = 0;
	char *text = arena_alloc(arena, num + 1), *ret, *end;
	ssize_t length = pread(fd, text, num, 0);

	text[length > 0 ? length : 0] = 0;
	if ((end = strstr(text, "\n" MARK "\n")))
		text = end + strlen("\n" MARK "\n");
	if ((end = strstr(text, "\n[Inferior 1 (process ")))
		end[1] = 0;
	/* At most three characters for one. */
	ret = arena_alloc(arena, 3 * strlen(text) + 1);
	for (const char *at = text; *at;) {
		size_t skip = own_number(text, at);

		if (skip)
			to += (size_t)sprintf(ret + to, "...");
		else
			ret[to++] = *at == '\t' ? ' ' : *at;
		at += skip ? skip : 1;
	}
	ret[to] = 0;
	return ret;
}

static void print_group(const struct view *view, const struct value_group *group)
{
	text_wrap(view, 0, "%s:", label_who(view->arena, group->ranks, view->width - 1));
	for (const char *line = group->text; *line;) {
		size_t length = strcspn(line, "\n");

		fprintf(view->out, "  %s\n",
			text_clean(view->arena, arena_strndup(view->arena, line, length),
				   view->use_unicode));
		line += length + (line[length] != 0);
	}
}

/* -1: not even one rank's gdb has run as it was to, or Ctrl-C. */
static int run_on_each(struct session *session, const struct rankset *ranks, struct order *order,
		       struct arena *arena, struct pdb_error *err)
{
	struct value_reading *readings =
		arena_array(arena, (size_t)rankset_count(ranks), sizeof(*readings));
	const struct view view = session_view(session, arena);
	const struct value_groups *groups;
	size_t num = 0, num_failed = 0;

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		struct value_reading *reading = &readings[num++];
		bool has_failed;

		order->out_fd = memfd_create("pdb-gdb", MFD_CLOEXEC);
		if (order->out_fd < 0)
			return error_errno(err, "no memory for gdb's output");
		has_failed = run_on(session, rank, order, err) < 0;
		*reading = (struct value_reading){
			.rank = rank,
			.text = has_failed ? arena_strdup(arena, err->text)
					   : take_output(arena, order->out_fd),
			.has_value = !has_failed,
		};
		close(order->out_fd);
		num_failed += has_failed;
		if (has_failed && err->code == ERROR_INTERRUPTED)
			return -1;
	}
	groups = value_groups_create(arena, readings, num);
	for (size_t i = 0; i < groups->num; i++)
		print_group(&view, &groups->groups[i]);
	return num_failed == num ? -1 : 0;
}

static int run_on_ranks(struct session *session, const struct rankset *ranks,
			const struct option_list *commands, struct pdb_error *err)
{
	struct order order = {.out_fd = session->out_fd};
	struct arena *arena = arena_create();
	int num = rankset_count(ranks), result;
	const char **words = words_for_gdb(commands, num > 1 && commands->num, &order.num_words);

	order.words = words;
	if (order.num_words == 0 && num > 1)
		result = error_set(
			err, ERROR_USAGE,
			"gdb takes one rank, not %d; for several ranks give it commands: -ex bt",
			num);
	else if (order.num_words == 0 && !session->editor)
		result = error_set(err, ERROR_USAGE,
				   "gdb needs a terminal, or commands: gdb %d -ex bt",
				   rankset_first(ranks));
	else if (num > MAX_RANKS)
		result = error_set(err, ERROR_USAGE,
				   "gdb takes at most %d ranks, about a second for each.\n"
				   "\"print\" reads variables of all ranks at once.",
				   MAX_RANKS);
	else
		result = num == 1 ? run_on(session, rankset_first(ranks), &order, err)
				  : run_on_each(session, ranks, &order, arena, err);
	arena_destroy(arena);
	free(words);
	return result;
}

/* "lp" of several ranks is the first, for whom one gdb is started. */
static int take_ranks(struct session *session, const struct args *args, struct rankset **ret,
		      struct pdb_error *err)
{
	size_t next = 0;
	int rank;

	if (args->num_words != 1 || strcmp(args->words[0], "lp") != 0)
		return session_take_ranks(session, args, &next, ret, err);
	if (session_take_rank(session, args, &next, &rank, err) < 0)
		return -1;
	*ret = rankset_create();
	rankset_add(*ret, rank);
	return 0;
}

static int run_gdb(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct gdb_options options = {.commands.num = 0};
	struct rankset *ranks = NULL;
	struct args rest;
	int result;

	result = option_take_all(&gdb_option_table, 0, args, &options, &rest, err);
	if (result == 0 && rest.num_words == 0)
		result = error_set(err, ERROR_USAGE, "gdb needs a rank: gdb 3, or gdb lp");
	if (result == 0)
		result = take_ranks(session, &rest, &ranks, err);
	if (result == 0)
		result = run_on_ranks(session, ranks, &options.commands, err);
	rankset_destroy(ranks);
	option_list_free(&options.commands);
	free(rest.words);
	return result;
}

const struct command cmd_gdb = {
	.name = "gdb",
	.topic = TOPIC_STACKS,
	.usage = "gdb RANKS [-ex COMMAND]...",
	.summary = "Put gdb on a rank, in the first frame of the program's own code.",
	.text = "The rank stands still until you leave gdb with \"quit\" or \"detach\". Then it\n"
		"goes on, and you are back in pdb. A rank that a signal had stopped stays\n"
		"stopped. For the next answer, pdb looks at the job again.\n"
		"With -ex, gdb runs these commands and returns. This works in command files, and\n"
		"on several ranks, one after the other. pdb shows equal output once, with its\n"
		"ranks; \"...\" stands for addresses and numbers of processes.\n"
		"For a rank on another node, pdb uses the gdb and the files of that node. If its\n"
		"host does not answer, press Ctrl-C three times, over more than a second, to\n"
		"give up.\n"
		"gdb shows a Python rank as the interpreter's C code: in the innermost frame, or\n"
		"in the one that called MPI. \"bt RANK\" shows the Python functions.",
	.example = "gdb lp -ex \"bt 3\" -ex \"info locals\"",
	.options = &gdb_option_table,
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_TERMINAL | CMD_NO_REPEAT,
	.min_words = 1,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_gdb,
};
