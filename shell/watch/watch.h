/* SPDX-License-Identifier: BSD-3-Clause
 * Watches a job until it ends or hangs. Cheap looks feed a statistical test
 * (analysis/hang/hang_test.h). When the test suspects a hang, or nothing has moved for long, a full
 * look as for `lp` decides. The job never waits for any of this. */
#ifndef PDB_SHELL_WATCH_H
#define PDB_SHELL_WATCH_H

#include "model/std.h"

#define SECOND_NS UINT64_C(1000000000)

struct options;
struct watch_teller;
struct pdb_error;
struct session;
struct watch_options;

enum watch_end {
	WATCH_ENDED,       /* the launcher has ended */
	WATCH_HUNG,        /* a hang was found and reported; the session's last look shows it */
	WATCH_INTERRUPTED, /* by a signal */
};

/* Why pdb calls it a hang. */
enum watch_proof {
	WATCH_BY_TEST,    /* the share of ranks outside MPI was low for too long to be chance */
	WATCH_BY_STAYS,   /* chance of stays this long at these places: below 1 in 1,000 */
	WATCH_BY_COUNTS,  /* counts of messages and collectives, or a stopped or ended process */
	WATCH_BY_PATIENCE /* nothing has moved for --max-wait */
};

/* A standstill: how long no rank was seen to move. */
struct watch_standstill {
	uint64_t ns;
	bool is_since_begin; /* `ns` begins when watching began; earlier times are not known */
	uint32_t num_looks;  /* looks at stacks that saw no move; 0: the recorder shows each move */
	bool is_unsure;      /* ranks may have gone round a loop between these looks */
};

/* What a report of a hang says beside the session's verdict. */
struct watch_hang {
	enum watch_proof proof;
	struct watch_standstill still;
	uint64_t watched_ns;  /* for how long the job was watched */
	uint32_t num_samples; /* samples that the test has learnt from */
	double chance;        /* WATCH_BY_TEST: how often per hour a healthy job looks like this */
};

/* Watch the session's live job. Writes messages to `out`, one per line. A status line goes to the
 * terminal, if there is one and nothing else was asked for. *end_ret: why watching ended. -1 and
 * *err: pdb can no longer look at the job. */
int watch_run(struct session *session, const struct watch_options *options, FILE *out,
	      enum watch_end *end_ret, struct pdb_error *err);

/* `pdb watch`: watch the job options->pid, or the user's only job. Or start options->run_argv and
 * watch every job that it starts until that job ends; a script may start several in turn. Returns
 * pdb's exit status: 0: the job has ended; 1: a hang was found; 2: pdb failed. If a command was
 * started and ended by itself, returns the command's own status. */
int watch_main(struct session *session, const struct options *options);

/* Check that the requested files can be written; leaves no files behind. -1: *err names the file
 * that cannot be written. */
int watch_hang_check(const struct watch_options *options, struct pdb_error *err);

/* Do everything that the options ask for at a hang. Failures are reported, and the rest is done. */
void watch_hang_act(struct session *session, const struct watch_options *options,
		    const struct watch_hang *hang, struct watch_teller *teller);

/* Save the ended job of the session with the traces of all hosts. Looks must have kept the traces
 * (session->keeps_traces). Without traces nothing is saved. What cannot be saved is reported. */
void last_look_save(struct session *session, const char *path, struct watch_teller *teller);

/* Call this when the started command has ended. Removes the segments that ranks left to this
 * process. A job may have ended before the session could look at it, so that nothing was saved.
 * Then the segments of the job that began last are saved first; the session must have no job, and
 * has none afterwards. */
void last_look_clean(struct session *session, const char *path, struct watch_teller *teller);

#endif
