/* SPDX-License-Identifier: BSD-3-Clause
 * watch: until the job ends or hangs. */
#include "model/error.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/watch/watch.h"
#include "shell/watch/watch_hang.h"
#include "shell/options/watch_options.h"

static int run_watch(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_watch = {
	.name = "watch",
	.topic = TOPIC_ANSWERS,
	.usage = "watch [--alpha RATE] [--max-wait TIME] [--save FILE] [--report FILE] [--on-hang "
		 "COMMAND] [--on-hang-time TIME] [--kill] [--json]",
	.summary = "Watch the job until it ends or hangs, and tell why it hangs.",
	.text = "Looks at who is inside MPI, many times a second and without stopping anybody\n"
		"where there is a recorder, by a few stacks where there is none. A hang is told\n"
		"when that is too unlikely in a healthy job (--alpha: false alarms in an hour),\n"
		"when messages or collectives are certain not to match, when others wait for a\n"
		"rank that is stopped or gone, or when nothing has moved for --max-wait. Then\n"
		"the answer is that of \"lp\". Ranks that the others wait for most of the time,\n"
		"and a job that has become slow, are told and are no hang.\n"
		"  --alpha RATE          0.001 if it is left out\n"
		"  --max-wait TIME       90s, 5min, 1h; for a job without a history: 5min\n"
		"  --save FILE           save a snapshot of the hang, for pdb --load; if there\n"
		"                        are traces and none is found, of the job's end\n"
		"  --report FILE         write down what lp, groups, waits, tree and others say\n"
		"  --on-hang COMMAND     run it, with PDB_HANG_KIND, PDB_HANG_RANKS,\n"
		"                        PDB_HANG_SECONDS, PDB_JOB, PDB_JOB_SIZE,\n"
		"                        PDB_LAUNCHER_PID, PDB_SNAPSHOT and PDB_REPORT\n"
		"  --on-hang-time TIME   how long that may take: 60s\n"
		"  --kill                then end the job by its launcher; where a rank computes,\n"
		"                        which may come back, only after --max-wait\n"
		"  --json                tell what happens as JSON, a line for each event\n"
		"Ctrl-C ends watching, never the job. For scripts: pdb watch --pid PID, and\n"
		"pdb run --watch -- mpirun ..., with the same options.",
	.example = "watch --save hang.pdb --kill",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_LIVE | CMD_TERMINAL | CMD_NO_REPEAT,
	.max_words = -1,
	.words = WORDS_FILES,
	.run = run_watch,
};

static int run_watch(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct watch_options options;
	enum watch_end end;

	watch_options_init(&options);
	if (watch_options_take(&options, args, err) < 0 || watch_hang_check(&options, err) < 0 ||
	    watch_run(session, &options, session->out, &end, err) < 0)
		return -1;
	if (end == WATCH_ENDED)
		fputs("The job has ended.\n", session->out);
	if (end == WATCH_INTERRUPTED)
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	return 0;
}
