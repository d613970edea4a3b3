/* SPDX-License-Identifier: BSD-3-Clause
 * What a session asks the job's processes besides looks, with daemons and samples; and the messages
 * about it. */
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "attach/cores/cores.h"
#include "attach/node/node.h"
#include "attach/stacks/sampler.h"
#include "model/job/code.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/wire/share.h"
#include "render/text/text.h"
#include "render/view.h"
#include "shell/daemons.h"
#include "shell/interrupt.h"
#include "shell/session.h"
#include "shell/spinner.h"

/* A job's processes end up to about this long before its launcher. */
#define LAUNCHER_END_MS 2000

static bool is_quiet;

void session_be_quiet(void)
{
	is_quiet = true;
}

void session_note(const char *text)
{
	struct view view = {.out = stderr, .use_unicode = true};
	struct winsize window;

	if (is_quiet)
		return;
	fflush(stdout);
	spinner_hide();
	/* Files and pipes get each line in one. */
	if (isatty(STDERR_FILENO) && ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0) {
		view.width = window.ws_col ?: 80;
		text_wrap_behind(&view, "pdb: ", text);
		return;
	}
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

int session_ensure_daemons(struct session *session, struct pdb_error *err)
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
	error_prefix(err, "pdb looks only at the ranks of this host");
	session_complain(err);
	return 0;
}

struct daemons *session_daemons(struct session *session, struct pdb_error *err)
{
	if (session_ensure_daemons(session, err) < 0)
		return NULL;
	if (!session->daemons)
		error_set(err, ERROR_UNSUPPORTED, "%s",
			  session->daemon_trouble.code != ERROR_NONE
				  ? session->daemon_trouble.text
				  : "all ranks are on this host");
	return session->daemons;
}

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

static bool lacks(const struct model_lane *lane, unsigned int parts)
{
	return (parts & SHARE_DETAILS && lane->is_borrowing) ||
	       (parts & SHARE_TRACES && !lane->trace && !lane->trace_note);
}

int session_get_more(struct session *session, const struct rankset *ranks, unsigned int parts,
		     struct pdb_error *err)
{
	const struct job_model *jm = session->job->model;
	struct rankset *missing SCOPED(rankset) = rankset_create();

	if (!session->daemons || !jm || session_has_ended(session))
		return 0;
	for (size_t i = 0; i < jm->num_lanes; i++)
		if ((!ranks || rankset_contains(ranks, jm->lanes[i].rank)) &&
		    lacks(jm->lanes[i].data, parts))
			rankset_add(missing, jm->lanes[i].rank);
	if (rankset_is_empty(missing) ||
	    daemons_get_more(session->daemons, missing, parts, err) == 0)
		return 0;
	return session_lose_daemons(session, err);
}

bool session_can_try_again(const struct session *session, struct pdb_error *err)
{
	if (session->daemons || !session->has_lost_daemons || err->code == ERROR_GONE ||
	    err->code == ERROR_INTERRUPTED)
		return false;
	error_prefix(err, "pdb starts new daemons");
	session_complain(err);
	return true;
}

void session_drop_sampling(struct session *session)
{
	rankset_destroy(session->sampling.ranks);
	session->sampling = (struct sampling){.ranks = NULL};
}

static int sample_once(struct session *session, const struct rankset *ranks,
		       const struct node_sampling *sampling, struct pdb_error *err)
{
	if (session_ensure_daemons(session, err) < 0)
		return -1;
	if (!session->daemons)
		return node_sample(session->node, ranks, sampling, err);
	if (daemons_sample(session->daemons, ranks, sampling, session->question, err) == 0)
		return 0;
	return session_lose_daemons(session, err);
}

static void set_question(struct session *session, const struct code_question *question)
{
	session->question = question;
	if (session->sampler)
		sampler_set_probes(session->sampler, question ? question->probes : NULL,
				   question ? question->num_probes : 0);
	if (session->sampler)
		sampler_set_variables(session->sampler, question && question->wants_variables);
}

void session_ask_code(struct session *session, const struct code_question *question)
{
	if (question)
		job_set_probes(session->job, question->probes, question->num_probes);
	set_question(session, question);
}

/* Sample into separate samples, which are the job's meanwhile. The caller destroys *ret, NULL on
 * failure. */
static int sample_apart(struct session *session, const struct rankset *ranks, struct samples **ret,
			struct pdb_error *err)
{
	const struct node_sampling once = {.times = 1, .sleep_until = interrupt_sleep_until};
	struct job *job = session->job;
	struct samples *samples = job->samples;
	int result;

	job->samples = samples_create();
	result = sample_once(session, ranks, &once, err);
	*ret = job->samples;
	job->samples = samples;
	if (result == 0)
		return 0;
	samples_destroy(*ret);
	*ret = NULL;
	return -1;
}

int session_check_memory(struct session *session, struct pdb_error *err)
{
	char why[200];

	if (session->cores || !session_has_ended(session))
		return 0;
	session_describe_end(session, why, sizeof(why));
	return error_set(err, ERROR_GONE, "%s", why);
}

int session_read_probes(struct session *session, const struct rankset *ranks,
			const struct code_probe *probes, size_t num, struct samples **ret,
			struct pdb_error *err)
{
	const struct code_question *before = session->question;
	const struct code_question question = {
		.probes = probes, .num_probes = num, .wants_variables = true};
	int result;

	if (session->cores) {
		*ret = cores_sample(session->cores, session->job, probes, num);
		return 0;
	}
	set_question(session, &question);
	result = sample_apart(session, ranks, ret, err);
	set_question(session, before);
	return result;
}

int session_read_values(struct session *session, struct samples **later_ret, struct pdb_error *err)
{
	struct rankset *ranks;
	int result;

	*later_ret = NULL;
	if (session->cores)
		cores_read_values(session->cores, session->job);
	if (session->cores || session_has_ended(session))
		return 0;
	ranks = proctable_ranks(session->job->proctable);
	result = sample_apart(session, ranks, later_ret, err);
	if (result == 0)
		samples_adopt_values(session->job->samples, *later_ret, session->job->callpaths);
	rankset_destroy(ranks);
	return result;
}

int session_read_code(struct session *session, const struct code_address *functions, size_t num,
		      struct pdb_error *err)
{
	const struct code_question question = {.functions = functions, .num_functions = num};
	const struct node_sampling sampling = {.times = 1};
	struct rankset *nobody SCOPED(rankset) = rankset_create();

	if (!session->daemons ||
	    daemons_sample(session->daemons, nobody, &sampling, &question, err) == 0)
		return 0;
	return session_lose_daemons(session, err);
}

int session_sample(struct session *session, const struct rankset *ranks, int times,
		   int milliseconds, struct pdb_error *err)
{
	const struct node_sampling how = {
		.all_threads = session->settings.threads == SWITCH_ON,
		.times = times,
		.milliseconds = milliseconds,
		.sleep_until = interrupt_sleep_until,
	};
	struct sampling *sampling = &session->sampling;

	if (sample_once(session, ranks, &how, err) < 0 &&
	    (!session_can_try_again(session, err) || sample_once(session, ranks, &how, err) < 0))
		return -1;
	if (sampling->all_threads != how.all_threads)
		session_drop_sampling(session);
	if (!sampling->ranks)
		sampling->ranks = rankset_create();
	rankset_add_set(sampling->ranks, ranks);
	sampling->all_threads = how.all_threads;
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
