/* SPDX-License-Identifier: BSD-3-Clause
 * gdb: put gdb on a rank, in the first frame of the program's own code.
 *
 * gdb finds that frame itself, by a short script that goes up until the program counter is in a
 * module of the program: pdb counts frames otherwise than gdb, which has one more for each inlined
 * function. The script is an anonymous file that gdb inherits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "attach/maps.h"
#include "attach/node.h"
#include "attach/procfs.h"
#include "model/error.h"
#include "model/job.h"
#include "model/modules.h"
#include "model/proctable.h"
#include "model/xalloc.h"
#include "shell/child.h"
#include "shell/cmd.h"
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/session.h"

static int run_gdb(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_gdb = {
	.name = "gdb",
	.topic = TOPIC_LOOKING,
	.usage = "gdb RANK [-ex COMMAND]...",
	.summary = "Put gdb on a rank, in the first frame of the program's own code.",
	.text = "The rank stands still until you leave gdb (\"quit\" or \"detach\"); then it goes "
		"on\n"
		"and you are back here. With -ex, gdb carries out these commands and returns;\n"
		"that works in command files too.",
	.example = "gdb lp -ex \"bt 3\" -ex \"info locals\"",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_TERMINAL | CMD_NO_REPEAT,
	.min_words = 1,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_gdb,
};

/* How far up it looks for the program's code. */
#define MAX_FRAMES 512

/* ---- The script ---------------------------------------------------------------------------- */

/* "|| (pc in A to B)" for each part of the program's own code. */
static void put_ranges(FILE *out, const struct maps *maps)
{
	for (size_t i = 0; i < maps->num_ranges; i++) {
		const struct maps_range *range = &maps->ranges[i];

		if (!range->is_executable || range->object == MAPS_NO_OBJECT ||
		    module_kind_of_path(maps->objects[range->object].path) != MODULE_PROGRAM)
			continue;
		fprintf(out, " || ((unsigned long)$pc >= 0x%llx && (unsigned long)$pc < 0x%llx)",
			(unsigned long long)range->start, (unsigned long long)range->end);
	}
}

/* The condition is in C whatever the program is in. Errors (no more frames) end the script only. */
static void put_script(FILE *out, const struct maps *maps)
{
	fprintf(out,
		"set language c\n"
		"set $pdb_level = 0\n"
		"set $pdb_found = 0\n"
		"while !$pdb_found && $pdb_level < %d\n"
		"if 0",
		MAX_FRAMES);
	put_ranges(out, maps);
	fputs("\nset $pdb_found = 1\n"
	      "else\n"
	      "up-silently\n"
	      "set $pdb_level = $pdb_level + 1\n"
	      "end\n"
	      "end\n"
	      /* gdb has shown frame 0 already. */
	      "if $pdb_level > 0\n"
	      "set language auto\n"
	      "frame\n"
	      "end\n",
	      out);
}

/* An inheritable descriptor of the script, or -1. */
static int make_script(pid_t pid)
{
	struct maps *maps = maps_read(pid);
	int fd, copy;
	FILE *out;

	if (!maps)
		return -1;
	fd = memfd_create("pdb-frame", 0);
	copy = fd < 0 ? -1 : dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (out) {
		put_script(out, maps);
		fclose(out);
	}
	maps_destroy(maps);
	return fd;
}

/* ---- The rank ------------------------------------------------------------------------------ */

static int find_process(struct session *session, int rank, pid_t *ret, struct pdb_error *err)
{
	const struct proc *proc = proctable_find(session->job->proctable, rank);
	struct procfs_status status;

	if (!proc || proc->pid <= 0)
		return error_set(err, ERROR_NOT_FOUND, "the process of rank %d is not known", rank);
	if (!proc->is_local)
		return error_set(err, ERROR_UNSUPPORTED,
				 "rank %d runs on %s, and pdb reaches only its own host so far.\n"
				 "There: gdb -p %d",
				 rank, proc->host, (int)proc->pid);
	if (!node_is_alive(session->node, rank) || procfs_status(proc->pid, &status) < 0)
		return error_set(err, ERROR_GONE, "rank %d (pid %d) has ended", rank,
				 (int)proc->pid);
	if (status.tracer)
		return error_set(err, ERROR_PERMISSION,
				 "rank %d (pid %d) is being traced by process %d already", rank,
				 (int)proc->pid, (int)status.tracer);
	*ret = proc->pid;
	return 0;
}

/* What /proc says once the debugger is off it; it may take a moment. */
static char settled_state(pid_t pid)
{
	uint64_t end = monotonic_ns() + UINT64_C(1000000000);
	struct procfs_stat stat;

	do {
		if (procfs_stat(pid, 0, &stat) < 0)
			return 'X';
		if (stat.state != 't')
			return stat.state;
	} while (monotonic_ns() < end && interrupt_sleep_until(monotonic_ns() + 10000000));
	return stat.state;
}

static void tell_state(const struct session *session, int rank, pid_t pid, char before)
{
	char state = settled_state(pid);

	if (state == 'X' || state == 'Z')
		fprintf(stderr, "pdb: rank %d (pid %d) has ended\n", rank, (int)pid);
	else if ((state == 't' || state == 'T') && before != 'T')
		fprintf(stderr,
			"pdb: rank %d (pid %d) is still stopped; to let it go on: shell kill -CONT "
			"%d\n",
			rank, (int)pid, (int)pid);
	else if (session->editor)
		printf("Rank %d (pid %d) goes on%s.\n", rank, (int)pid,
		       state == 'T' ? ", stopped as it was before" : "");
}

/* ---- gdb ----------------------------------------------------------------------------------- */

/* Words after the rank: any number of "-ex COMMAND". */
static int check_words(const struct args *args, size_t next, struct pdb_error *err)
{
	for (; next < args->num_words; next += 2) {
		if (strcmp(args->words[next], "-ex") != 0 && strcmp(args->words[next], "--ex") != 0)
			return error_set(err, ERROR_USAGE, "\"%s\" is not -ex", args->words[next]);
		if (next + 1 >= args->num_words)
			return error_set(err, ERROR_USAGE, "-ex needs a command for gdb after it");
	}
	return 0;
}

static int start_gdb(struct session *session, pid_t pid, const struct args *args, size_t next,
		     struct pdb_error *err)
{
	bool is_batch = next < args->num_words;
	const char **argv = xcalloc(args->num_words + 16, sizeof(*argv));
	int script = make_script(pid), status, result;
	char pid_text[16], script_path[32];
	size_t num = 0;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)pid);
	snprintf(script_path, sizeof(script_path), "/proc/self/fd/%d", script);
	argv[num++] = "gdb";
	argv[num++] = "-q";
	if (is_batch)
		argv[num++] = "-batch";
	argv[num++] = "-p";
	argv[num++] = pid_text;
	if (script >= 0) {
		argv[num++] = "-x";
		argv[num++] = script_path;
		argv[num++] = "-ex";
		argv[num++] = "set language auto";
	}
	for (; next < args->num_words; next++)
		argv[num++] = args->words[next];
	fflush(session->out);
	result = child_run(argv, "DEBUGINFOD_URLS", fileno(session->out), &status, err);
	if (script >= 0)
		close(script);
	free(argv);
	if (!result && is_batch && status != 0)
		result = error_set(err, ERROR_SYSTEM, "gdb ended with status %d", status);
	return result;
}

static int run_gdb(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct procfs_stat before;
	size_t next = 0;
	int rank, result;
	pid_t pid = 0;

	if (session_take_rank(session, args, &next, &rank, err) < 0 ||
	    check_words(args, next, err) < 0 || find_process(session, rank, &pid, err) < 0)
		return -1;
	if (next == args->num_words && !session->editor)
		return error_set(err, ERROR_USAGE,
				 "gdb needs a terminal, or commands: gdb %d -ex bt", rank);
	if (procfs_stat(pid, 0, &before) < 0)
		return error_set(err, ERROR_GONE, "rank %d (pid %d) has ended", rank, (int)pid);
	result = start_gdb(session, pid, args, next, err);
	tell_state(session, rank, pid, before.state);
	return result;
}
