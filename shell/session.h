/* SPDX-License-Identifier: BSD-3-Clause
 * The state of one pdb: the job, the results about it, settings, focus, the source of lines and the
 * place of output. All commands get it. */
#pragma once

#include "attach/launchers/launcher.h"
#include "render/view.h"
#include "shell/options/args.h"
#include "shell/script/macro.h"
#include "shell/script/safe_paths.h"
#include "shell/options/options.h"

struct code_address;
struct code_probe;
struct sampler_cost;
struct segment_kept;

/* The stacks that were last sampled by themselves, not as part of a look. */
struct sampling {
	struct rankset *ranks; /* ranks with such stacks; NULL: none since the last look */
	bool all_threads;
};

/* The last lines that `list` has shown. */
struct listed_last {
	char *file; /* NULL: none */
	int first, last;
	uint64_t looked_ns; /* the look that they are of */
};

struct session {
	struct setting_options settings;
	struct arena *texts; /* values of settings; NULL: none is set */
	struct macros macros;
	struct safe_paths safe_paths;

	struct job *job;     /* NULL: none */
	bool is_live;        /* attached, and not known to have ended */
	bool is_hung;        /* `watch` found a hang, and the last look shows it */
	char *snapshot;      /* the file that the job was loaded from, or NULL */
	bool has_cores;      /* the job is known only from its cores */
	struct cores *cores; /* files of the cores; NULL: none */
	struct launcher_info launcher;
	struct launcher_hosts hosts; /* hosts of ranks that the launcher does not list */
	int launcher_fd;             /* pidfd of the launcher: readable when it has ended; -1 */
	bool is_own;                 /* started by `pdb run` */
	struct symbols *symbols;
	struct stack_order *stack_order; /* for the order of stacks; NULL: not needed so far */
	struct sampler *sampler;
	struct node *node;               /* the ranks of this host */
	struct daemons *daemons;         /* on all nodes, if ranks are on other hosts; NULL: none */
	bool has_lost_daemons;           /* daemons were lost, and no others started yet */
	bool keeps_traces;               /* looks keep traces for session_look_at_end() */
	bool has_saved;                  /* watching has saved the hang, or what it saw */
	struct pdb_error daemon_trouble; /* why needed daemons are missing; ERROR_NONE */

	/* Results of the last refresh. NULL without models, except verdict. */
	struct job_comms *comms;
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;
	struct evidence *evidence;
	struct waitfor *waitfor;
	struct verdict *verdict;
	struct temporal_result *order; /* of the stacks, if the verdict could use it; else NULL */
	struct sampling sampling;
	const struct code_question *question; /* what sampling also reads; NULL: nothing */
	uint64_t looked_ns;                   /* CLOCK_MONOTONIC; 0: never */
	uint64_t look_cost_ns;                /* how long the last refresh took */
	int look_ms;                          /* how long the last refresh had to take at least */
	bool is_outdated;      /* gdb was on a rank since: the next answer looks again */
	char *sample_trouble;  /* why there are no stacks at all; NULL: there are some */
	bool has_given_traces; /* the running command already got the traces of that refresh */
	bool has_shown_ranks; /* a user has seen how sets of ranks are written, and what that means */

	struct rankset *focus; /* NULL: all */
	struct listed_last listed;
	bool is_repeated; /* the running line is the last one again, by an empty line */

	FILE *out;         /* what commands print to */
	int out_fd;        /* descriptor of that output, for programs that write there directly */
	bool out_is_paged; /* output is collected, then shown on the terminal */
	bool is_json;      /* every answer that can be JSON is JSON */

	struct line_source *source; /* source of the running line; NULL: the command line */
	int depth;                  /* nesting depth of sources */
	/* command_execute(), for lines in scripts and user-defined commands */
	int (*execute)(struct session *session, const char *line, struct pdb_error *err);
	struct editor *editor; /* NULL: nobody types */
	bool is_batch;
	bool wants_quit;
};

void session_init(struct session *session);
void session_deinit(struct session *session);

/* The functions that open a job need a session without one. This one attaches to the job of the
 * launcher `pid` and looks at it. nspace: one of several jobs of one launcher, or NULL. -1 and
 * *err. */
int session_attach(struct session *session, pid_t pid, const char *nspace, struct pdb_error *err);
/* Load a snapshot. -1 and *err. */
int session_load(struct session *session, const char *path, struct pdb_error *err);
/* Take over `job`, which was read from the snapshot file `path`. */
void session_take_loaded(struct session *session, struct job *job, const char *path);
/* Load a job from core files and directories of cores. Cores that cannot be used are reported. -1
 * and *err. */
int session_load_cores(struct session *session, char *const *paths, size_t num_paths,
		       struct pdb_error *err);
/* Open an ended job of this host from the segments of its ranks, at least one. The session closes
 * them. -1 and *err. */
int session_open_kept(struct session *session, struct segment_kept *kept, int num,
		      struct pdb_error *err);

/* Take over the segments that belong to processes of the job, for session_look_at_end(). Their fd
 * becomes -1. */
void session_keep(struct session *session, struct segment_kept *kept, int num);

/* Leave the job, which keeps running. The session then has no job. */
void session_detach(struct session *session);

/* Look again and repeat all analyses. -1 and *err; ERROR_GONE: no process is left, and the last
 * snapshot stays. */
int session_refresh(struct session *session, struct pdb_error *err);

/* Look again for so long, and read meanwhile what ranks use (job->usage). Errors as
 * session_refresh(). */
int session_measure(struct session *session, int milliseconds, struct pdb_error *err);

/* Look once more, for longer, if that may make the verdict more certain. Errors as
 * session_refresh(); the last look then stays. */
int session_be_sure(struct session *session, struct pdb_error *err);

/* The job's processes have ended: look at the kept segments, those with traces, and get all traces.
 * -1: ERROR_GONE: nothing was kept, and the last snapshot stays. */
int session_look_at_end(struct session *session, struct pdb_error *err);

/* Sample the stacks of `ranks`, `times` times within `milliseconds`. The samples replace older
 * ones. After Ctrl-C the samples taken so far count, if all ranks are on this host. -1 and *err. */
int session_sample(struct session *session, const struct rankset *ranks, int times,
		   int milliseconds, struct pdb_error *err);
/* Set the question whose probes sampling reads and whose names it looks up; NULL: none.
 * Borrowed. */
void session_ask_code(struct session *session, const struct code_question *question);
/* Read the question's probes in the main threads' stacks of the job's latest samples, where ranks
 * are still at the same place. The samples do not change otherwise. *later_ret: the samples that were
 * taken for that, which the caller destroys; NULL for cores, snapshots and errors. -1 and *err. */
int session_read_values(struct session *session, struct samples **later_ret, struct pdb_error *err);
/* Is there memory of living processes, or of cores? Not to be asked of snapshots. -1 and *err. */
int session_check_memory(struct session *session, struct pdb_error *err);
/* Sample the main threads of `ranks` once, and read `num` probes in their stacks. The job's samples
 * and the question stay; the caller destroys *ret. Needs session_check_memory(). -1 and *err. */
int session_read_probes(struct session *session, const struct rankset *ranks,
			const struct code_probe *probes, size_t num, struct samples **ret,
			struct pdb_error *err);
/* Ask the daemons, if any, for functions that no file on this host has. They are added to the job's
 * code. -1 and *err. */
int session_read_code(struct session *session, const struct code_address *functions, size_t num,
		      struct pdb_error *err);
/* Get the cost of sampling so far, on all nodes; all 0 without a live job. -1 and *err. */
int session_get_cost(struct session *session, struct sampler_cost *ret, struct pdb_error *err);

/* The daemons; started if they are needed and do not run. NULL: *err says why there are none. */
struct daemons *session_daemons(struct session *session, struct pdb_error *err);
/* The daemons failed with *err. Stops them, unless the cause lies elsewhere; the next look starts
 * others. Returns -1; *err is the message for the user. */
int session_lose_daemons(struct session *session, struct pdb_error *err);

/* How long the job has run at least, in ns; 0: its launcher is gone. */
uint64_t session_age_ns(const struct session *session);

/* Get what daemons know of `ranks` (NULL: of all) beyond a look, as of the last look. parts:
 * SHARE_DETAILS, SHARE_TRACES, only for ranks that lack them. Does nothing without daemons. -1 and
 * *err. */
int session_get_more(struct session *session, const struct rankset *ranks, unsigned int parts,
		     struct pdb_error *err);

/* For session.c. Start daemons if they are needed, also after others were lost. If there are none,
 * this is reported. -1: interrupted. */
int session_ensure_daemons(struct session *session, struct pdb_error *err);
/* After a failure: were daemons lost, so that another try with new ones makes sense? */
bool session_can_try_again(const struct session *session, struct pdb_error *err);
/* Forget that stacks were sampled since the last look. */
void session_drop_sampling(struct session *session);

/* Has the launcher ended? If so, is_live becomes false. */
bool session_has_ended(struct session *session);
/* Write why the job is over: "the job has ended", or that its launcher has, and how to look at
 * ranks on this host that still run. */
void session_describe_end(const struct session *session, char *buffer, size_t size);

/* A view of the session, without an answer. All is borrowed from the session; what views make goes
 * to `arena`. */
struct view session_view(struct session *session, struct arena *arena);

/* Take rank lists ("lp", "group 2", "host node7" as this session sees them) from *next to the end
 * of the words, and unite them. Without words: the focus, else all ranks. On success the caller
 * owns *ret. -1: ERROR_USAGE and others. */
int session_take_ranks(struct session *session, const struct args *args, size_t *next,
		       struct rankset **ret, struct pdb_error *err);
/* Take one rank list that names one rank; if "lp" is several ranks, the first. -1 and *err. */
int session_take_rank(struct session *session, const struct args *args, size_t *next, int *ret,
		      struct pdb_error *err);
/* The same; the rank must have a model. */
int session_take_model_rank(struct session *session, const struct args *args, size_t *next,
			    int *ret, struct pdb_error *err);

/* Seconds since the last look. */
double session_age(const struct session *session);
/* 1: the last look or watching found a hang or a fault; 0: neither did. */
int session_status(const struct session *session);

/* Print an error to stderr as pdb does: "pdb: text", further lines indented. */
void session_complain(const struct pdb_error *err);
/* The same for a text that is no error. */
void session_note(const char *text);
/* Print no more errors and notes: this process is another program's (libpdb). */
void session_be_quiet(void);
