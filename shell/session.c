/* SPDX-License-Identifier: BSD-3-Clause */
#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "attach/cores/cores.h"
#include "attach/node/node.h"
#include "attach/stacks/sampler.h"
#include "attach/symbols/symbols.h"
#include "model/job/code.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/job/job_model.h"
#include "model/monotonic.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/segment/segment_reader.h"
#include "model/xalloc.h"
#include "shell/daemons.h"
#include "shell/find.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/spinner.h"
#include "shell/stack_order.h"

/* A job's processes end before its launcher, by about so much. */
#define LAUNCHER_END_MS 2000

void session_init(struct session *session)
{
	*session = (struct session){.launcher_fd = -1, .out = stdout, .out_fd = STDOUT_FILENO};
	settings_init(&session->settings);
}

static void drop_results(struct session *session)
{
	temporal_result_destroy(session->order);
	verdict_destroy(session->verdict);
	waitfor_destroy(session->waitfor);
	progress_destroy(session->progress);
	job_comms_destroy(session->comms);
	session->order = NULL;
	session->verdict = NULL;
	session->waitfor = NULL;
	session->graph = NULL;
	session->groups = NULL;
	session->progress = NULL;
	session->comms = NULL;
	session->is_hung = false;
}

static void drop_sampling(struct session *session)
{
	rankset_destroy(session->sampling.ranks);
	session->sampling = (struct sampling){.ranks = NULL};
}

static void drop_job(struct session *session)
{
	drop_results(session);
	stack_order_destroy(session->stack_order);
	drop_sampling(session);
	daemons_stop(session->daemons);
	node_destroy(session->node);
	sampler_destroy(session->sampler);
	symbols_destroy(session->symbols);
	cores_destroy(session->cores);
	job_destroy(session->job);
	if (session->launcher_fd >= 0)
		close(session->launcher_fd);
	free(session->snapshot);
	free(session->sample_trouble);
	launcher_hosts_deinit(&session->hosts);
	session->daemons = NULL;
	error_clear(&session->daemon_trouble);
	session->has_lost_daemons = false;
	session->node = NULL;
	session->sampler = NULL;
	session->job = NULL;
	session->symbols = NULL;
	session->stack_order = NULL;
	session->launcher_fd = -1;
	session->snapshot = NULL;
	session->sample_trouble = NULL;
	session->is_live = false;
	session->is_outdated = false;
	session->has_cores = false;
	session->cores = NULL;
}

void session_detach(struct session *session)
{
	drop_job(session);
}

void session_deinit(struct session *session)
{
	drop_job(session);
	rankset_destroy(session->focus);
	macros_clear(&session->macros);
	safe_paths_clear(&session->safe_paths);
}

/* By stacks alone several ranks may be left among whom their order can choose, or what MPI
 * libraries hold of messages. */
static void choose_by_stacks(struct session *session)
{
	struct verdict *verdict = session->verdict;

	if (rankset_is_empty(verdict->candidates))
		return;
	if (stack_order_of_look(session, NULL))
		verdict_choose_by_order(verdict, session->job, session->order);
	verdict_choose_by_queues(verdict, session->job, session->order);
}

/* Everything that follows from the job's models and samples. */
static void analyse(struct session *session)
{
	struct job *job = session->job;

	if (job->model) {
		session->comms = job_comms_create(job->model);
		session->progress = progress_create(job->model);
		session->groups = eqgroups_create(session->progress);
		session->graph = progress_graph_create(session->progress, session->groups);
		session->waitfor = waitfor_create(job, session->comms);
	}
	session->verdict = verdict_create(job, session->groups, session->graph, session->waitfor);
	choose_by_stacks(session);
}

/* ---- Looking at the job ---- */

/* Daemons where they are needed, and why there are none. It is tried once; those that were lost
 * are started again. -1: interrupted. */
static int ensure_daemons(struct session *session, struct pdb_error *err)
{
	const struct proctable *table = session->job->proctable;

	if (session->daemons && daemons_can_reach_more(session->daemons)) {
		daemons_stop(session->daemons);
		session->daemons = NULL;
	}
	if (session->daemons || session->daemon_trouble.code != ERROR_NONE ||
	    (!session->hosts.num && !daemons_are_needed(table)))
		return 0;
	session->daemons = daemons_start(session->job, &session->launcher, &session->hosts,
					 session->has_lost_daemons, err);
	if (session->daemons) {
		session->has_lost_daemons = false;
		return 0;
	}
	if (err->code == ERROR_INTERRUPTED)
		return -1;
	if (!table->num_procs)
		return error_prefix(err, "all ranks are on other hosts");
	session->daemon_trouble = *err;
	error_prefix(err, "only the ranks of this host are looked at");
	session_complain(err);
	return 0;
}

struct daemons *session_daemons(struct session *session, struct pdb_error *err)
{
	if (ensure_daemons(session, err) < 0)
		return NULL;
	if (!session->daemons)
		error_set(err, ERROR_UNSUPPORTED, "%s",
			  session->daemon_trouble.code != ERROR_NONE
				  ? session->daemon_trouble.text
				  : "all ranks are on this host");
	return session->daemons;
}

/* When it is for the daemons' sake, either the job has ended, or others are started with the next
 * look. */
int session_lose_daemons(struct session *session, struct pdb_error *err)
{
	struct pollfd launcher = {.fd = session->launcher_fd, .events = POLLIN};

	if (err->code == ERROR_INTERRUPTED || err->code == ERROR_GONE ||
	    err->code == ERROR_NOT_FOUND)
		return -1;
	daemons_stop(session->daemons);
	session->daemons = NULL;
	session->has_lost_daemons = true;
	if (session->launcher_fd >= 0 && poll(&launcher, 1, LAUNCHER_END_MS) > 0)
		return error_set(err, ERROR_GONE, "the job has ended");
	return error_prefix(err, "the daemons on the job's nodes were lost");
}

/* After a failure: were daemons lost, so that it is worth to try with others? */
static bool can_try_again(const struct session *session, struct pdb_error *err)
{
	if (session->daemons || !session->has_lost_daemons || err->code == ERROR_GONE ||
	    err->code == ERROR_INTERRUPTED)
		return false;
	error_prefix(err, "others are started");
	session_complain(err);
	return true;
}

/* Where the launcher does not tell of the ranks of other hosts, daemons look for those that are not
 * known yet: they may have been slow to start, or their daemon to answer. */
static int find_ranks(struct session *session, struct pdb_error *err)
{
	const struct proctable *table = session->job->proctable;
	int num;

	if (!session->hosts.num || (table->num_procs && table->num_procs == (size_t)table->size))
		return 0;
	num = daemons_find_ranks(session->daemons, err);
	if (num < 0)
		return -1;
	if (num > 0) {
		node_destroy(session->node);
		session->node = node_create(session->job, session->sampler);
	}
	return 0;
}

/* Ranks that are no processes of this host. */
static void add_other_holes(struct session *session)
{
	struct job *job = session->job;
	const struct proctable *table = job->proctable;
	/* Where none may be started, that is said in few words, and what to do. */
	const char *refusal = session->daemon_trouble.code == ERROR_PERMISSION
				      ? session->daemon_trouble.text
				      : NULL;
	size_t next = 0;
	char why[sizeof(session->daemon_trouble.text) + 300];

	for (int rank = 0; rank < table->size; rank++) {
		const struct proc *proc = next < table->num_procs ? &table->procs[next] : NULL;

		if (!proc || proc->rank != rank) {
			snprintf(why, sizeof(why), "not found on this host%s%s",
				 refusal ? ": " : "", refusal ? refusal : "");
			job_add_hole(job, rank, why);
			continue;
		}
		next++;
		if (proc->is_local && proc->pid > 0)
			continue;
		if (proc->is_local)
			snprintf(why, sizeof(why), "process id not known");
		else
			snprintf(why, sizeof(why), "on host %s: %s", proc->host,
				 refusal ? refusal : "pdb has no daemon there; see info job");
		job_add_hole(job, rank, why);
	}
}

static int look_by_daemons(struct session *session, const struct node_look_options *options,
			   struct pdb_error *err)
{
	if ((!options->is_last && find_ranks(session, err) < 0) ||
	    daemons_look(session->daemons, options, err) < 0)
		return session_lose_daemons(session, err);
	free(session->sample_trouble);
	session->sample_trouble = NULL;
	drop_results(session);
	daemons_commit(session->daemons);
	return 0;
}

static void prepare_order(void *session, const struct samples *samples)
{
	stack_order_prepare(session, samples);
}

static int look_here(struct session *session, struct node_look_options *options,
		     struct pdb_error *err)
{
	char *trouble;

	options->prepare = prepare_order;
	options->context = session;
	if (node_look(session->node, options, &trouble, err) < 0)
		return -1;
	free(session->sample_trouble);
	session->sample_trouble = trouble;
	drop_results(session);
	node_commit(session->node);
	add_other_holes(session);
	return 0;
}

/* By daemons where they are needed and can be had, or by this process. *begin_ret: when, without
 * the start of daemons. */
static int look_once(struct session *session, struct node_look_options *options,
		     uint64_t *begin_ret, struct pdb_error *err)
{
	if (ensure_daemons(session, err) < 0)
		return -1;
	*begin_ret = monotonic_ns();
	return session->daemons ? look_by_daemons(session, options, err)
				: look_here(session, options, err);
}

static int look(struct session *session, struct pdb_error *err)
{
	const int *values = session->settings.values;
	struct node_look_options options = {
		.milliseconds = values[SETTING_LOOK],
		.max_samples = values[SETTING_SAMPLES],
		.all_threads = values[SETTING_THREADS] == SWITCH_ON,
		.all_evidence = values[SETTING_EVIDENCE] == EVIDENCE_ALL,
		.keeps = session->keeps_traces,
		.sleep_until = interrupt_sleep_until,
	};
	uint64_t begin;

	if (look_once(session, &options, &begin, err) < 0 &&
	    (!can_try_again(session, err) || look_once(session, &options, &begin, err) < 0))
		return -1;
	drop_sampling(session);
	analyse(session);
	session->is_outdated = false;
	session->looked_ns = monotonic_ns();
	session->look_cost_ns = session->looked_ns - begin;
	return 0;
}

static int sample_once(struct session *session, const struct rankset *ranks,
		       const struct node_sampling *sampling, struct pdb_error *err)
{
	if (ensure_daemons(session, err) < 0)
		return -1;
	if (!session->daemons)
		return node_sample(session->node, ranks, sampling, err);
	if (daemons_sample(session->daemons, ranks, sampling, session->question, err) == 0)
		return 0;
	return session_lose_daemons(session, err);
}

void session_ask_code(struct session *session, const struct code_question *question)
{
	session->question = question;
	if (question)
		job_set_probes(session->job, question->probes, question->num_probes);
	if (session->sampler)
		sampler_set_probes(session->sampler, question ? question->probes : NULL,
				   question ? question->num_probes : 0);
}

/* Into samples of their own, which the job has in the meantime. */
static int sample_values(struct session *session, struct samples *samples, struct pdb_error *err)
{
	const struct node_sampling once = {.times = 1, .sleep_until = interrupt_sleep_until};
	struct rankset *ranks = proctable_ranks(session->job->proctable);
	struct job *job = session->job;
	int result;

	job->samples = samples_create();
	result = sample_once(session, ranks, &once, err);
	if (result == 0)
		samples_adopt_values(samples, job->samples, job->callpaths);
	samples_destroy(job->samples);
	job->samples = samples;
	rankset_destroy(ranks);
	return result;
}

int session_read_values(struct session *session, struct pdb_error *err)
{
	if (session->cores)
		cores_read_values(session->cores, session->job);
	else if (!session_has_ended(session))
		return sample_values(session, session->job->samples, err);
	return 0;
}

int session_read_code(struct session *session, const struct code_address *functions, size_t num,
		      struct pdb_error *err)
{
	const struct code_question question = {.functions = functions, .num_functions = num};
	const struct node_sampling sampling = {.times = 1};
	struct rankset *nobody;
	int result;

	if (!session->daemons)
		return 0;
	nobody = rankset_create();
	result = daemons_sample(session->daemons, nobody, &sampling, &question, err);
	rankset_destroy(nobody);
	return result < 0 ? session_lose_daemons(session, err) : 0;
}

int session_sample(struct session *session, const struct rankset *ranks, int times,
		   int milliseconds, struct pdb_error *err)
{
	const struct node_sampling how = {
		.all_threads = session->settings.values[SETTING_THREADS] == SWITCH_ON,
		.times = times,
		.milliseconds = milliseconds,
		.sleep_until = interrupt_sleep_until,
	};
	struct sampling *sampling = &session->sampling;

	if (sample_once(session, ranks, &how, err) < 0 &&
	    (!can_try_again(session, err) || sample_once(session, ranks, &how, err) < 0))
		return -1;
	if (sampling->all_threads != how.all_threads)
		drop_sampling(session);
	if (!sampling->ranks)
		sampling->ranks = rankset_create();
	rankset_add_set(sampling->ranks, ranks);
	sampling->all_threads = how.all_threads;
	sampling->taken_ns = monotonic_ns();
	return 0;
}

int session_get_cost(struct session *session, struct sampler_cost *ret, struct pdb_error *err)
{
	*ret = (struct sampler_cost){0};
	if (!session->sampler)
		return 0;
	sampler_get_cost(session->sampler, ret);
	if (session->daemons && daemons_add_cost(session->daemons, ret, err) < 0)
		return session_lose_daemons(session, err);
	return 0;
}

/* Names come from the files here. */
static void resolve_names(struct session *session)
{
	struct job *job = session->job;

	session->symbols = symbols_create(job->modules);
	names_destroy(job->names);
	job->names = names_create(job->modules, job->callpaths, symbols_resolve, session->symbols);
}

int session_attach(struct session *session, pid_t pid, const char *nspace, struct pdb_error *err)
{
	struct proctable *table;
	struct job *job;

	if (find_job(pid, nspace, &session->launcher, &session->hosts, &table, err) < 0)
		return -1;
	job = job_create();
	session->job = job;
	proctable_destroy(job->proctable);
	job->proctable = table;
	resolve_names(session);
	session->sampler = sampler_create(job->modules, job->callpaths);
	session->node = node_create(job, session->sampler);
	session->launcher_fd = syscall(SYS_pidfd_open, session->launcher.pid, 0);
	session->is_live = true;
	if (look(session, err) < 0) {
		drop_job(session);
		return error_prefix(err, "attaching to %d", (int)pid);
	}
	return 0;
}

int session_load(struct session *session, const char *path, struct pdb_error *err)
{
	struct job *job;

	if (snapshot_load(path, &job, err) < 0)
		return -1;
	session_take_loaded(session, job, path);
	return 0;
}

void session_take_loaded(struct session *session, struct job *job, const char *path)
{
	session->job = job;
	session->snapshot = xstrdup(path);
	analyse(session);
}

int session_load_cores(struct session *session, char *const *paths, size_t num_paths,
		       struct pdb_error *err)
{
	struct cores_notes notes = {0};
	int result;

	session->job = job_create();
	session->has_cores = true;
	result = cores_load(paths, num_paths, session->job, &notes, &session->cores, err);
	if (result < 0) {
		drop_job(session);
	} else {
		for (size_t i = 0; i < notes.num; i++)
			session_note(notes.lines[i]);
		resolve_names(session);
		analyse(session);
	}
	cores_notes_clear(&notes);
	return result;
}

void session_keep(struct session *session, struct segment_kept *kept, int num)
{
	for (int i = 0; session->node && i < num; i++) {
		const struct proc *proc = proctable_find(session->job->proctable, kept[i].rank);

		if (!proc || proc->pid != kept[i].pid)
			continue;
		node_keep(session->node, kept[i].rank, kept[i].fd);
		kept[i].fd = -1;
	}
}

int session_open_kept(struct session *session, struct segment_kept *kept, int num,
		      struct pdb_error *err)
{
	struct job *job = session->job = job_create();
	struct proctable *table = job->proctable;

	for (int i = 0; i < num; i++)
		if (kept[i].rank >= 0)
			proctable_add(table, kept[i].rank, kept[i].pid, kept[i].host,
				      kept[i].executable);
	if (proctable_finish(table, err) < 0) {
		drop_job(session);
		return -1;
	}
	table->job = xstrdup(kept[0].job);
	table->source = PROCTABLE_PROCFS;
	for (int i = 0; i < num; i++)
		proctable_claim(table, kept[i].size);
	resolve_names(session);
	session->sampler = sampler_create(job->modules, job->callpaths);
	session->node = node_create(job, session->sampler);
	session_keep(session, kept, num);
	if (session_look_at_end(session, err) == 0)
		return 0;
	drop_job(session);
	return -1;
}

int session_refresh(struct session *session, struct pdb_error *err)
{
	if (look(session, err) == 0)
		return 0;
	if (err->code == ERROR_GONE) {
		session->is_live = false;
		return error_set(err, ERROR_GONE,
				 "the job has ended; the answers stay those of the last look");
	}
	return -1;
}

/* Nothing is started for it, and no signal cuts it short: it waits for nobody but daemons. */
static bool do_not_sleep(uint64_t until_ns)
{
	(void)until_ns;
	return true;
}

int session_look_at_end(struct session *session, struct pdb_error *err)
{
	struct node_look_options options = {
		.keeps = true,
		.is_last = true,
		.sleep_until = do_not_sleep,
	};
	struct rankset *ranks;
	int result;

	if (!session->daemons) {
		result = look_here(session, &options, err);
	} else if ((result = look_by_daemons(session, &options, err)) == 0) {
		ranks = proctable_ranks(session->job->proctable);
		result = daemons_get_traces(session->daemons, ranks, err);
		rankset_destroy(ranks);
	}
	session->is_live = false;
	drop_sampling(session);
	if (!session->verdict)
		analyse(session);
	return result;
}

bool session_has_ended(struct session *session)
{
	struct pollfd launcher = {.fd = session->launcher_fd, .events = POLLIN};

	if (session->is_live && session->launcher_fd >= 0 && poll(&launcher, 1, 0) > 0)
		session->is_live = false;
	return !session->is_live;
}

void session_describe_end(const struct session *session, char *buffer, size_t size)
{
	const struct proctable *table = session->job ? session->job->proctable : NULL;
	int num_living = 0, pid = 0;

	for (size_t i = 0; session->node && table && i < table->num_procs; i++) {
		if (!node_is_alive(session->node, table->procs[i].rank))
			continue;
		pid = pid ? pid : (int)table->procs[i].pid;
		num_living++;
	}
	if (num_living == 0)
		snprintf(buffer, size, "the job has ended");
	else
		snprintf(buffer, size,
			 "the job's launcher has ended, %d of its ranks live%s on here: pdb --pid "
			 "%d",
			 num_living, num_living == 1 ? "s" : "", pid);
}

/* ---- How it is seen ---- */

static bool decide(const struct session *session, enum setting_id id, bool automatic)
{
	int value = session->settings.values[id];

	return value == SWITCH_AUTO ? automatic : value == SWITCH_ON;
}

/* Does the output end on this terminal, be it directly or through the pager? */
static bool is_terminal(const struct session *session)
{
	return isatty(STDOUT_FILENO) && (session->out == stdout || session->out_is_paged);
}

static int terminal_width(const struct session *session)
{
	struct winsize window;
	int width = session->settings.values[SETTING_WIDTH];

	if (!width && is_terminal(session) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
		width = window.ws_col;
	if (!width)
		width = 80;
	return width < 40 ? 40 : width;
}

struct view session_view(struct session *session, struct arena *arena)
{
	const char *term = getenv("TERM");

	return (struct view){
		.out = session->out,
		.arena = arena,
		.session = session,
		.width = terminal_width(session),
		.use_unicode = decide(session, SETTING_UNICODE,
				      strcmp(nl_langinfo(CODESET), "UTF-8") == 0),
		.use_color = decide(session, SETTING_COLOR,
				    is_terminal(session) && !getenv("NO_COLOR") && term &&
					    strcmp(term, "dumb") != 0),
		.is_script = session->is_batch,
		.is_known_hang = session->is_hung,
		.job = session->job,
		.progress = session->progress,
		.groups = session->groups,
		.graph = session->graph,
		.verdict = session->verdict,
		.comms = session->comms,
		.waitfor = session->waitfor,
		.order = session->order,
		.focus = session->focus,
	};
}

double session_age(const struct session *session)
{
	return session->looked_ns ? (monotonic_ns() - session->looked_ns) / 1e9 : 0;
}

int session_status(const struct session *session)
{
	return session->is_hung || (session->verdict && session->verdict->is_hang);
}

/* ---- Talking to people ---- */

static bool is_quiet;

void session_be_quiet(void)
{
	is_quiet = true;
}

void session_note(const char *text)
{
	if (is_quiet)
		return;
	fflush(stdout);
	spinner_hide();
	for (const char *lead = "pdb: "; text; lead = "     ") {
		int length = (int)strcspn(text, "\n");

		fprintf(stderr, "%s%.*s\n", lead, length, text);
		text = text[length] ? text + length + 1 : NULL;
	}
}

void session_complain(const struct pdb_error *err)
{
	session_note(err->text);
}
