/* SPDX-License-Identifier: BSD-3-Clause
 * watch: until the job ends or hangs. */
#include "shell/command.h"
#include "shell/session.h"
#include "shell/watch/watch.h"
#include "shell/options/options.h"

static int run_watch(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct watch_options options = {.save = NULL};
	enum watch_end end;

	option_init(&watch_option_table, &options);
	if (option_take_all(&watch_option_table, 1u << ACTION_WATCH, args, &options, NULL, err) <
		    0 ||
	    watch_hang_check(&options, err) < 0 ||
	    watch_run(session, &options, session->out, &end, err) < 0)
		return -1;
	if (end == WATCH_ENDED)
		fputs("The job has ended.\n", session->out);
	if (end == WATCH_INTERRUPTED)
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	return 0;
}

const struct command cmd_watch = {
	.name = "watch",
	.topic = TOPIC_JOB,
	.usage = "watch [OPTION...]",
	.summary = "Watch the job until it ends or hangs, and tell why it hangs.",
	.text = "With a recorder, watch sees who is inside MPI many times a second, and stops\n"
		"nobody. Without a recorder it takes a few stacks. It reports a hang when:\n"
		"  what it sees is too unlikely in a healthy job (--alpha)\n"
		"  messages or collectives certainly do not match\n"
		"  others wait for a rank that is stopped or gone\n"
		"  nothing has moved for --max-wait\n"
		"It then answers as \"lp\" does. It also reports ranks that the others wait for\n"
		"most of the time, and a job that has become slow. These are no hangs.\n"
		"Ctrl-C ends watching, never the job. In scripts, the same options work with\n"
		"pdb watch --pid PID, and with pdb run --watch -- mpirun ...",
	.options = &watch_option_table,
	.users = 1u << ACTION_WATCH,
	.example = "watch --save hang.pdb --kill",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_TERMINAL | CMD_NO_REPEAT,
	.max_words = -1,
	.words = WORDS_FILES,
	.run = run_watch,
};
