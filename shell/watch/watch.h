/* SPDX-License-Identifier: BSD-3-Clause
 * Watch a job until it ends or hangs: cheap looks go into the statistical test
 * (analysis/hang/hang_test.h); once that says so, or nothing has moved for long, a look as `lp`'s
 * decides. Nothing that the job does is waited for or held up. */
#ifndef PDB_SHELL_WATCH_H
#define PDB_SHELL_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SECOND_NS UINT64_C(1000000000)

struct options;
struct watch_teller;
struct pdb_error;
struct session;
struct watch_options;

enum watch_end {
	WATCH_ENDED,       /* the launcher has */
	WATCH_HUNG,        /* a hang was found, and told; the session's last look shows it */
	WATCH_INTERRUPTED, /* by a signal */
};

/* Why it is called a hang. */
enum watch_proof {
	WATCH_BY_TEST,    /* the share of ranks outside MPI is low for too long to be chance */
	WATCH_BY_STAYS,   /* those of ranks are longer than one in a thousand in these places */
	WATCH_BY_COUNTS,  /* of messages and collectives, or a process was stopped or has ended */
	WATCH_BY_PATIENCE /* nothing has moved for --max-wait */
};

/* How long nobody has moved, as far as it was seen. */
struct watch_standstill {
	uint64_t ns;
	bool is_since_begin; /* only since watching began: what was before is not known */
	uint32_t num_looks;  /* at stacks, with no move; 0: each would have been seen */
	bool is_unsure;      /* ranks may have gone round between these, and have come back */
};

/* What is told of a hang beside the session's verdict. */
struct watch_hang {
	enum watch_proof proof;
	struct watch_standstill still;
	uint64_t watched_ns;  /* for how long the job was watched */
	uint32_t num_samples; /* that the test has learnt from */
	double chance;        /* BY_TEST: how often in an hour a healthy job looks like that */
};

/* The session's job is live. Messages go to `out`, one line each; a status line to the terminal
 * when there is one and nothing else was asked for. -1: it cannot be looked at any more. */
int watch_run(struct session *session, const struct watch_options *options, FILE *out,
	      enum watch_end *end_ret, struct pdb_error *err);

/* For scripts: watch the job of options->pid, or the only one; or start options->run_argv and
 * watch every job that it makes until it ends, one after the other if it is a script. Returns pdb's
 * exit status: 0 the job has ended, 1 a hang was found, 2 pdb could not do what was asked; of a
 * command that was started and ended by itself its own. */
int watch_main(struct session *session, const struct options *options);

/* Can the files be written that are asked for? Leaves none. -1 says which cannot. */
int watch_hang_check(const struct watch_options *options, struct pdb_error *err);

/* Do all that the options ask for at a hang. What fails is told, and the rest is done. */
void watch_hang_act(struct session *session, const struct watch_options *options,
		    const struct watch_hang *hang, struct watch_teller *teller);

/* Save the session's ended job, of which looks have kept the traces (session->keeps_traces), on all
 * hosts. What cannot be saved is told; nothing is where there are no traces. */
void last_look_save(struct session *session, const char *path, struct watch_teller *teller);

/* What has been started has ended: remove the segments that ranks have left to this process. If
 * nothing has been saved, as a job ended before the session could look at it, they are: those of
 * the job that began last; for that the session must be without a job, and is so again. */
void last_look_clean(struct session *session, const char *path, struct watch_teller *teller);

#endif
