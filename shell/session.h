/* SPDX-License-Identifier: BSD-3-Clause
 * Everything alive: the job, what was found out about it, settings, focus, and where lines come
 * from and output goes. Passed to every command. */
#ifndef PDB_SHELL_SESSION_H
#define PDB_SHELL_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "attach/launchers/launcher.h"
#include "model/error.h"
#include "render/view.h"
#include "shell/options/args.h"
#include "shell/script/macro.h"
#include "shell/script/safe_paths.h"
#include "shell/options/options.h"

struct code_address;
struct sampler_cost;
struct segment_kept;

/* The stacks that were last taken by themselves, not with a look. */
struct sampling {
	struct rankset *ranks; /* of which there are such stacks; NULL: none since the last look */
	bool all_threads;
	uint64_t taken_ns; /* CLOCK_MONOTONIC */
};

struct session {
	struct setting_options settings;
	struct macros macros;
	struct safe_paths safe_paths;

	struct job *job;     /* NULL: none */
	bool is_live;        /* attached, and not seen to have ended */
	bool is_hung;        /* `watch` has found so, and the last look shows it */
	char *snapshot;      /* the file it was loaded from, or NULL */
	bool has_cores;      /* it is known from its cores alone */
	struct cores *cores; /* their files; NULL: none */
	struct launcher_info launcher;
	struct launcher_hosts hosts; /* where ranks are that the launcher does not tell of */
	int launcher_fd;             /* pidfd of the launcher: readable when it has ended; -1 */
	bool is_own;                 /* started by us: `pdb run` */
	struct symbols *symbols;
	struct stack_order *stack_order; /* what their order needs; NULL: nothing so far */
	struct sampler *sampler;
	struct node *node;               /* the ranks of this host */
	struct daemons *daemons;         /* on all nodes of a job that has others; NULL: none */
	bool has_lost_daemons;           /* and has started no others yet */
	bool keeps_traces;               /* looks keep them for session_look_at_end() */
	bool has_saved;                  /* watching has, a hang or what that saw */
	struct pdb_error daemon_trouble; /* why there are none where they are needed; ERROR_NONE */

	/* Of the last refresh. NULL without models, but for verdict. */
	struct job_comms *comms;
	struct progress *progress;
	struct eqgroups *groups;
	struct progress_graph *graph;
	struct evidence *evidence;
	struct waitfor *waitfor;
	struct verdict *verdict;
	struct temporal_result *order; /* of the stacks, if the verdict could go by it; NULL */
	struct sampling sampling;
	const struct code_question *question; /* what sampling asks beside stacks; NULL: nothing */
	uint64_t looked_ns;                   /* CLOCK_MONOTONIC; 0: never */
	uint64_t look_cost_ns;                /* how long the last refresh took */
	int look_ms;                          /* how long it was to take at least */
	bool is_outdated;      /* gdb has had a rank since: the next answer takes a new one */
	char *sample_trouble;  /* why there are no stacks at all; NULL: there are */
	bool has_given_traces; /* of that refresh, to the command that is being carried out */

	struct rankset *focus; /* NULL: all */

	FILE *out;         /* what commands print to */
	int out_fd;        /* where that ends, for programs that write there themselves */
	bool out_is_paged; /* collected to be shown on the terminal */
	bool is_json;      /* all answers are to be JSON that can be */

	struct line_source
		*source; /* of the line that is being carried out; NULL: the command line */
	int depth;       /* of nested sources */
	/* command_execute(), for lines that scripts and commands carry out */
	int (*execute)(struct session *session, const char *line, struct pdb_error *err);
	struct editor *editor; /* NULL: nobody types */
	bool is_batch;
	bool wants_quit;
};

void session_init(struct session *session);
void session_deinit(struct session *session);

/* All that find a job need a session without one. The job of the launcher `pid`, looked at; nspace:
 * one of several jobs of one launcher, or NULL. */
int session_attach(struct session *session, pid_t pid, const char *nspace, struct pdb_error *err);
/* A snapshot's. */
int session_load(struct session *session, const char *path, struct pdb_error *err);
/* One that was read from such a file; it is the session's from now on. */
void session_take_loaded(struct session *session, struct job *job, const char *path);
/* That of cores, from files and directories; what cannot be used of them is told. */
int session_load_cores(struct session *session, char *const *paths, size_t num_paths,
		       struct pdb_error *err);
/* An ended job of this host: segments of its ranks, one at least, which the session closes. */
int session_open_kept(struct session *session, struct segment_kept *kept, int num,
		      struct pdb_error *err);

/* Take over those of the job's processes (fd is -1 then), for session_look_at_end(). */
void session_keep(struct session *session, struct segment_kept *kept, int num);

/* Leave the job, which goes on; the session is without a job then. */
void session_detach(struct session *session);

/* Look again and do all analyses anew. ERROR_GONE: nothing is left; the last snapshot stays. */
int session_refresh(struct session *session, struct pdb_error *err);

/* Look once more, for longer, if that may make the verdict surer. Errors are those of a refresh;
 * the last look stays then. */
int session_be_sure(struct session *session, struct pdb_error *err);

/* The processes of the job have ended: look at what was kept of those with traces, and get all
 * traces. ERROR_GONE: nothing was kept, and the last snapshot stays. */
int session_look_at_end(struct session *session, struct pdb_error *err);

/* Sample the stacks of `ranks`, so many times within so many milliseconds, in the place of older
 * samples. Ctrl-C: those taken till then count, if all ranks are on this host. */
int session_sample(struct session *session, const struct rankset *ranks, int times,
		   int milliseconds, struct pdb_error *err);
/* Until it is NULL, sampling reads this question's probes and makes its names known. Borrowed. */
void session_ask_code(struct session *session, const struct code_question *question);
/* Read the question's probes in the main threads' stacks of the job's latest samples, as far as
 * ranks are still there; the samples stay what they are. Nothing for a snapshot. */
int session_read_values(struct session *session, struct pdb_error *err);
/* Ask the daemons, if any, for functions that no file here has; they come into the job's code. */
int session_read_code(struct session *session, const struct code_address *functions, size_t num,
		      struct pdb_error *err);
/* What sampling has cost so far, on all nodes; all 0 without a live job. */
int session_get_cost(struct session *session, struct sampler_cost *ret, struct pdb_error *err);

/* The daemons, started if there should be some and are none; NULL: why there are none. */
struct daemons *session_daemons(struct session *session, struct pdb_error *err);
/* The daemons have failed with *err. Unless that was for other reasons than themselves, they are
 * stopped; the next look has others. Returns -1 with what is to be said of it in *err. */
int session_lose_daemons(struct session *session, struct pdb_error *err);

/* How long the job has run already, at least, in ns; 0: its launcher is gone. */
uint64_t session_age_ns(const struct session *session);

/* What daemons have of `ranks` (NULL: of all) as of the last look and a look does not bring: parts
 * SHARE_DETAILS, SHARE_TRACES, of those that lack them. Nothing to do without daemons. */
int session_get_more(struct session *session, const struct rankset *ranks, unsigned int parts,
		     struct pdb_error *err);

/* For session.c. Try to have daemons, and again when they were lost; where they lack, this is
 * told. -1: interrupted. */
int session_ensure_daemons(struct session *session, struct pdb_error *err);
/* After a failure: were daemons lost, so that it is worth to try with others? */
bool session_can_try_again(const struct session *session, struct pdb_error *err);
/* Nothing has been sampled since the last look. */
void session_drop_sampling(struct session *session);

/* Has the launcher ended? Notes it: is_live becomes false. */
bool session_has_ended(struct session *session);
/* "the job has ended", or that its launcher has, and how to look at ranks here that live on. */
void session_describe_end(const struct session *session, char *buffer, size_t size);

/* For views, without an answer: borrowed from the session, and an arena for what they make. */
struct view session_view(struct session *session, struct arena *arena);

/* Rank lists ("lp", "group 2", "host node7" as this session sees them) from *next to the end of the
 * words, united; without words the focus, else all ranks. On success *ret belongs to the caller. */
int session_take_ranks(struct session *session, const struct args *args, size_t *next,
		       struct rankset **ret, struct pdb_error *err);
/* One rank list that must name one rank; of "lp" with several the first. */
int session_take_rank(struct session *session, const struct args *args, size_t *next, int *ret,
		      struct pdb_error *err);
/* The same for a rank that must have a model. */
int session_take_model_rank(struct session *session, const struct args *args, size_t *next,
			    int *ret, struct pdb_error *err);

/* Seconds since the last look. */
double session_age(const struct session *session);
/* 1: the last look found a hang or a fault, or watching did; 0: it did not. */
int session_status(const struct session *session);

/* Print an error as pdb does: "pdb: text", further lines indented, to stderr. */
void session_complain(const struct pdb_error *err);
/* The same of a text that is none. */
void session_note(const char *text);
/* From now on nothing of this is printed: this process is somebody else's program. */
void session_be_quiet(void);

#endif
