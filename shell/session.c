/* SPDX-License-Identifier: BSD-3-Clause */
#include <langinfo.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/progress/progress.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "attach/cores/cores.h"
#include "attach/launchers/words.h"
#include "attach/node/node.h"
#include "attach/process/procfs.h"
#include "attach/stacks/sampler.h"
#include "attach/symbols/symbols.h"
#include "model/job/job.h"
#include "model/job/job_comms.h"
#include "model/monotonic.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/segment/segment_reader.h"
#include "model/wire/share.h"
#include "shell/daemons.h"
#include "shell/start/find.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/spinner.h"
#include "shell/answers/stack_order.h"

void session_init(struct session *session)
{
	*session = (struct session){.launcher_fd = -1, .out = stdout, .out_fd = STDOUT_FILENO};
	option_init(&setting_option_table, &session->settings);
}

#define DROP(destroy, member) (destroy(member), (member) = NULL)

static void drop_results(struct session *session)
{
	DROP(temporal_result_destroy, session->order);
	DROP(verdict_destroy, session->verdict);
	DROP(waitfor_destroy, session->waitfor);
	DROP(evidence_destroy, session->evidence);
	session->graph = NULL;
	session->groups = NULL;
	DROP(progress_destroy, session->progress);
	DROP(job_comms_destroy, session->comms);
	session->is_hung = false;
}

void session_detach(struct session *session)
{
	drop_results(session);
	DROP(stack_order_destroy, session->stack_order);
	session_drop_sampling(session);
	DROP(daemons_stop, session->daemons);
	DROP(node_destroy, session->node);
	DROP(sampler_destroy, session->sampler);
	DROP(symbols_destroy, session->symbols);
	DROP(cores_destroy, session->cores);
	DROP(job_destroy, session->job);
	if (session->launcher_fd >= 0)
		close(session->launcher_fd);
	session->launcher_fd = -1;
	DROP(free, session->snapshot);
	DROP(free, session->sample_trouble);
	launcher_hosts_deinit(&session->hosts);
	error_clear(&session->daemon_trouble);
	session->has_lost_daemons = false;
	session->is_live = false;
	session->is_outdated = false;
	session->has_cores = false;
}

void session_deinit(struct session *session)
{
	session_detach(session);
	rankset_destroy(session->focus);
	macros_clear(&session->macros);
	safe_paths_clear(&session->safe_paths);
	arena_destroy(session->texts);
	free(session->listed.file);
}

/* The start time includes sleep of the machine, the current time does not. So the age may be too
 * short, but never too long. */
uint64_t session_age_ns(const struct session *session)
{
	uint64_t now_ns = monotonic_ns(), start_ns;
	struct procfs_stat stat;

	if (procfs_stat(session->launcher.pid, 0, &stat) < 0)
		return 0;
	start_ns = stat.start_ticks * (UINT64_C(1000000000) / sysconf(_SC_CLK_TCK));
	return now_ns > start_ns ? now_ns - start_ns : 0;
}

/* Everything that follows from the job's models and samples. */
static void analyse(struct session *session)
{
	struct job *job = session->job;
	struct verdict_input input;

	session->evidence = evidence_create(job);
	if (job->model) {
		const struct progress_code code = stack_order_loops(session);

		session->comms = job_comms_create(job->model);
		session->progress = progress_create_by_code(job->model, &code);
		session->groups = eqgroups_create(session->progress);
		session->graph = progress_graph_create(session->progress, session->groups);
	}
	session->waitfor = waitfor_create(session->evidence, session->comms);
	if (verdict_wants_order(session->evidence))
		stack_order_of_look(session, NULL);
	input = (struct verdict_input){
		.evidence = session->evidence,
		.groups = session->groups,
		.graph = session->graph,
		.waitfor = session->waitfor,
		.order = session->order,
		.age_ns = session->is_live ? session_age_ns(session) : 0,
	};
	session->verdict = verdict_create(&input);
}

/* ---- Looking at the job ---- */

/* If the launcher does not list the ranks of other hosts, daemons look for ranks not known yet.
 * These may have started late, or their daemon may have answered late. */
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
	/* If daemons must not be started, say so briefly, and what to do. */
	const char *refusal = session->daemon_trouble.code == ERROR_PERMISSION
				      ? session->daemon_trouble.text
				      : NULL;
	char why[sizeof(session->daemon_trouble.text) + 300];

	for (int rank = 0; rank < table->size; rank++) {
		const struct proc *proc = proctable_find(table, rank);

		if (!proc) {
			snprintf(why, sizeof(why), "not found on this host%s%s",
				 refusal ? ": " : "", refusal ? refusal : "");
			job_add_hole(job, rank, why);
			continue;
		}
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
	DROP(free, session->sample_trouble);
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

/* Look through daemons if they are needed, else from here. *begin_ret: when, after the start of
 * daemons. */
static int look_once(struct session *session, struct node_look_options *options,
		     uint64_t *begin_ret, struct pdb_error *err)
{
	if (session_ensure_daemons(session, err) < 0)
		return -1;
	*begin_ret = monotonic_ns();
	return session->daemons ? look_by_daemons(session, options, err)
				: look_here(session, options, err);
}

static int look(struct session *session, int milliseconds, bool measures, struct pdb_error *err)
{
	const struct setting_options *settings = &session->settings;
	struct node_look_options options = {
		.milliseconds = milliseconds,
		.max_samples = settings->samples,
		.all_threads = settings->threads == SWITCH_ON,
		.all_evidence = settings->evidence == EVIDENCE_ALL,
		.keeps = session->keeps_traces,
		.measures = measures,
		.sleep_until = interrupt_sleep_until,
	};
	uint64_t begin;

	if (look_once(session, &options, &begin, err) < 0 &&
	    (!session_can_try_again(session, err) || look_once(session, &options, &begin, err) < 0))
		return -1;
	session_drop_sampling(session);
	analyse(session);
	session->is_outdated = false;
	session->look_ms = milliseconds;
	session->looked_ns = monotonic_ns();
	session->look_cost_ns = session->looked_ns - begin;
	return 0;
}

/* Names come from files of this host. */
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
	/* Open answers keep using the results that they were made from. */
	job->keeps_replaced = true;
	session->job = job;
	proctable_destroy(job->proctable);
	job->proctable = table;
	resolve_names(session);
	session->sampler = sampler_create(job->modules, job->callpaths);
	session->node = node_create(job, session->sampler);
	session->launcher_fd = syscall(SYS_pidfd_open, session->launcher.pid, 0);
	session->is_live = true;
	if (look(session, session->settings.look, false, err) < 0) {
		session_detach(session);
		return error_prefix(err, "cannot attach to %d", (int)pid);
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
	struct words notes = {0};
	int result;

	session->job = job_create();
	session->has_cores = true;
	result = cores_load(paths, num_paths, session->job, &notes, &session->cores, err);
	if (result < 0) {
		session_detach(session);
	} else {
		for (size_t i = 0; i < notes.num; i++)
			session_note(notes.words[i]);
		resolve_names(session);
		analyse(session);
	}
	words_free(notes.words);
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
		session_detach(session);
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
	session_detach(session);
	return -1;
}

static int look_again(struct session *session, int milliseconds, bool measures,
		      struct pdb_error *err)
{
	if (look(session, milliseconds, measures, err) == 0)
		return 0;
	if (err->code == ERROR_GONE) {
		session->is_live = false;
		return error_set(err, ERROR_GONE,
				 "the job has ended; all answers are those of the last look");
	}
	return -1;
}

int session_refresh(struct session *session, struct pdb_error *err)
{
	return look_again(session, session->settings.look, false, err);
}

int session_measure(struct session *session, int milliseconds, struct pdb_error *err)
{
	return look_again(session, milliseconds, true, err);
}

int session_be_sure(struct session *session, struct pdb_error *err)
{
	int longer = session->verdict ? verdict_longer_look(session->verdict) : 0;

	if (!session->is_live || session->look_ms >= longer || session_has_ended(session))
		return 0;
	spinner_expect(longer / 1e3);
	return look_again(session, longer, false, err);
}

/* No new samples, and no signal stops it: it waits only for daemons. */
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
		result = daemons_get_more(session->daemons, ranks, SHARE_TRACES, err);
		rankset_destroy(ranks);
	}
	session->is_live = false;
	session_drop_sampling(session);
	if (!session->verdict)
		analyse(session);
	return result;
}

/* ---- How it is seen ---- */

static bool decide(unsigned int value, bool automatic)
{
	return value == SWITCH_AUTO ? automatic : value == SWITCH_ON;
}

/* Does the output go to this terminal, directly or through the pager? */
static bool is_terminal(const struct session *session)
{
	return isatty(STDOUT_FILENO) && (session->out == stdout || session->out_is_paged);
}

static int terminal_width(const struct session *session)
{
	struct winsize window;
	int width = (int)session->settings.width;

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
		.use_unicode = decide(session->settings.unicode,
				      strcmp(nl_langinfo(CODESET), "UTF-8") == 0),
		.use_color = decide(session->settings.color, is_terminal(session) &&
								     !getenv("NO_COLOR") && term &&
								     strcmp(term, "dumb") != 0),
		.is_script = session->is_batch,
		.is_known_hang = session->is_hung,
		.is_past = session->job && !session->is_live,
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
