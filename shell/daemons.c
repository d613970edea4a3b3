/* SPDX-License-Identifier: BSD-3-Clause */
#include <libgen.h>
#include <unistd.h>

#include "attach/launchers/daemon_plan.h"
#include "attach/daemons/link.h"
#include "attach/daemons/pdbd.h"
#include "attach/daemons/reach.h"
#include "attach/launchers/launcher.h"
#include "attach/launchers/launcher_kind.h"
#include "attach/launchers/words.h"
#include "attach/node/daemon_job.h"
#include "attach/process/procfs.h"
#include "attach/stacks/sampler.h"
#include "model/buffer.h"
#include "model/job/job_model.h"
#include "model/monotonic.h"
#include "model/job/proctable.h"
#include "model/job/sample.h"
#include "model/job/usage.h"
#include "model/wire/proc_bytes.h"
#include "shell/daemons.h"
#include "shell/interrupt.h"
#include "shell/start/preload.h"

#define START_MS 30000  /* a launcher may take this long over a slow ssh */
#define SLOW_MS 2000    /* then pdb checks whether all hosts answer */
#define REACH_MS 1000   /* for a host's answer to that check */
#define RETURN_MS 5000  /* between two checks whether hosts are back */
#define FIND_MS 3000    /* from a launcher's proxies to the first rank */
#define POLL_MS 50      /* between two checks whether the launcher lives */
#define STOP_MS 5000    /* for the launcher to end */
#define ANSWER_MS 25000 /* daemons have less time, see pdbd.c */
#define SILENCE_MS 4000 /* longest silence; busy daemons send signs of life */

bool daemons_are_needed(const struct proctable *table)
{
	for (size_t i = 0; i < table->num_procs; i++)
		if (!table->procs[i].is_local)
			return true;
	return false;
}

static struct link_limit limit_of(int ms)
{
	if (!interrupt_pending())
		interrupt_drain();
	return (struct link_limit){
		.until_ns = monotonic_ns() + ms * UINT64_C(1000000),
		.cancel_fd = interrupt_fd(),
	};
}

/* ---- Starting them ---- */

/* The launcher's command line or, with "environ", its environment. The caller frees both. */
static char **read_words(pid_t pid, const char *file, char **text_ret)
{
	size_t size = 0;

	*text_ret = procfs_read(pid, file, &size);
	return words_split(*text_ret, *text_ret ? size : 0, false);
}

static int make_plan(const struct daemons *daemons, const struct launcher_info *launcher,
		     const char *invitation, struct daemon_plan *plan, struct pdb_error *err)
{
	char *text SCOPED(free) = NULL, *variables SCOPED(free) = NULL;
	char *library SCOPED(free) = NULL, path[4096] = "";
	char **argv SCOPED(free) = read_words(launcher->pid, "cmdline", &text);
	char **environment SCOPED(free) = read_words(launcher->pid, "environ", &variables);
	struct launcher_step step;
	enum preload_mpi mpi;
	struct daemon_site site = {
		.table = daemons->job->proctable,
		.kind = launcher->kind,
		.hosts = daemons->hosts,
		.launcher_path = path,
		.launcher_argv = (const char *const *)argv,
		.launcher_environment = (const char *const *)environment,
		.slurm_job = step.job,
		.invitation = invitation,
		.avoided = daemons->avoided,
	};

	launcher_read_step(launcher, &step);
	/* pdb will run these words, so they must come from the user's own process. */
	if (launcher_check_own(launcher, err) < 0)
		return -1;
	if (!procfs_executable(launcher->pid, path, sizeof(path)))
		return error_set(err, ERROR_SYSTEM, "pdb cannot find the launcher's program");
	mpi = launcher->kind->mpi ? preload_mpi_of_name(launcher->kind->mpi) : preload_guess(argv);
	/* Behind MPI's own ABI there is an MPICH, as far as is known. */
	site.mpi = mpi == PRELOAD_MPICH || mpi == PRELOAD_ABI ? "mpich" : "openmpi";
	/* The daemons are installed beside the recorders. */
	if (preload_find(mpi, &library, err) < 0)
		return -1;
	site.pdbd_folder = dirname(library);
	return daemon_plan_make(&site, plan, err);
}

/* Check this here: launchers would print the error on the job's terminal. */
static int check_program(const char *path, const char *ending, struct pdb_error *err)
{
	char *program SCOPED(free) = xasprintf("%s%s", path, ending);

	return access(program, X_OK) == 0 ? 0 : error_errno(err, "%s cannot be started", program);
}

static int launch(struct daemons *daemons, const struct daemon_plan *plan,
		  const struct launcher_info *launcher, struct pdb_error *err)
{
	if (check_program(plan->program, "", err) < 0 ||
	    check_program(plan->program, PDBD_WORKER, err) < 0)
		return -1;
	if (plan->way == DAEMONS_SPAWN)
		return pmix_spawn_daemons(launcher->pid, daemons->job->proctable->job,
					  plan->program, (const char *const *)plan->environment,
					  START_MS, &daemons->spawned, err);
	return daemon_launch_start(plan, &daemons->launch, err);
}

/* Find hosts that do not answer, so that daemons are started on the others. */
static bool find_silent(struct daemons *daemons)
{
	const char **hosts;
	size_t num;

	/* The job's own launcher starts daemons on all nodes. */
	if (daemons->kind->takes_pmix)
		return false;
	hosts = daemon_plan_hosts(daemons->job->proctable, daemons->hosts, &num);
	free(daemons->avoided);
	daemons->num_avoided = reach_find_silent(hosts, num, REACH_PORT, REACH_MS, interrupt_fd(),
						 &daemons->avoided);
	daemons->reached_ns = monotonic_ns();
	free(hosts);
	return daemons->num_avoided > 0;
}

bool daemons_is_avoided(const struct daemons *daemons, const char *host)
{
	for (size_t i = 0; i < daemons->num_avoided; i++)
		if (strcmp(daemons->avoided[i], host) == 0)
			return true;
	return false;
}

static int await(struct daemons *daemons, struct pdb_error *err)
{
	for (int waited_ms = 0; waited_ms < START_MS; waited_ms += POLL_MS) {
		const struct link_limit limit = limit_of(POLL_MS);

		daemons->link = link_accept(daemons->listener, &limit, err);
		if (daemons->link)
			return 0;
		if (err->code != ERROR_TIMEOUT)
			return -1;
		if (daemons->launch.pid && daemon_launch_check(&daemons->launch, err) < 0)
			return -1;
		if (waited_ms == SLOW_MS && !daemons->avoided && find_silent(daemons))
			break;
	}
	return error_set(err, ERROR_TIMEOUT, "no daemon has connected within %d s",
			 START_MS / 1000);
}

/* ---- Asking them ---- */

/* A lost link does not mean that the job has ended. */
static int lost(struct daemons *daemons, struct pdb_error *err)
{
	if (err->code == ERROR_GONE)
		err->code = ERROR_SYSTEM;
	daemons->is_lost = err->code != ERROR_INTERRUPTED;
	return -1;
}

/* Receive the next frame. It waits in short pieces: if pdb itself was stopped, the daemon does not
 * count as silent. */
static int receive(struct daemons *daemons, uint64_t until_ns, struct link_frame *frame,
		   struct pdb_error *err)
{
	uint64_t num_received = link_num_received(daemons->link);

	for (int silent_ms = 0; silent_ms < SILENCE_MS && monotonic_ns() < until_ns;
	     silent_ms += POLL_MS) {
		const struct link_limit limit = limit_of(POLL_MS);

		if (link_receive(daemons->link, frame, &limit, err) == 0)
			return 0;
		if (err->code != ERROR_TIMEOUT)
			return -1;
		if (link_num_received(daemons->link) != num_received)
			silent_ms = 0;
		num_received = link_num_received(daemons->link);
	}
	return error_set(err, ERROR_TIMEOUT, "the daemon at %s gives no answer",
			 link_peer(daemons->link));
}

int daemons_ask(struct daemons *daemons, uint32_t kind, const void *payload, size_t length,
		int extra_ms, struct link_frame *ret, struct pdb_error *err)
{
	const struct link_limit limit = limit_of(ANSWER_MS + extra_ms);

	if (link_send(daemons->link, kind, payload, length, &limit, err) < 0)
		return lost(daemons, err);
	daemons->num_owed++;
	/* Answers to abandoned questions come first, mixed with signs of life. */
	for (;;) {
		if (receive(daemons, limit.until_ns, ret, err) < 0)
			return lost(daemons, err);
		if (ret->type != PDBD_ALIVE && --daemons->num_owed == 0)
			break;
		link_frame_deinit(ret);
	}
	if (ret->type == kind)
		return 0;
	link_frame_deinit(ret);
	return error_set(err, ERROR_FORMAT, "the daemons' answer is damaged");
}

int daemons_add_cost(struct daemons *daemons, struct sampler_cost *cost, struct pdb_error *err)
{
	struct link_frame answer;

	if (daemons_ask(daemons, PDBD_COST, NULL, 0, 0, &answer, err) < 0)
		return -1;
	for (size_t i = 0; i + sizeof(*cost) <= answer.length; i += sizeof(*cost)) {
		struct sampler_cost other;

		memcpy(&other, answer.payload + i, sizeof(other));
		sampler_add_cost(cost, &other);
	}
	link_frame_deinit(&answer);
	return 0;
}

uint32_t daemons_take_channels(struct daemons *daemons)
{
	daemons->next_channel += 2;
	return daemons->next_channel - 2;
}

int daemons_wait(struct daemons *daemons, const struct link_limit *limit, struct pdb_error *err)
{
	struct link_frame frame;

	for (;;) {
		if (link_receive(daemons->link, &frame, limit, err) < 0)
			return err->code == ERROR_TIMEOUT || err->code == ERROR_INTERRUPTED
				       ? -1
				       : lost(daemons, err);
		/* The answer to an abandoned question. */
		if (frame.type != PDBD_ALIVE && daemons->num_owed > 0)
			daemons->num_owed--;
		link_frame_deinit(&frame);
	}
}

static int tell_job(struct daemons *daemons, struct pdb_error *err)
{
	struct buffer question = {.bytes = NULL};
	struct link_frame answer;
	int result;

	proc_bytes_put(&question, daemons->job->proctable);
	result = daemons_ask(daemons, PDBD_JOB, question.bytes, question.num, 0, &answer, err);
	free(question.bytes);
	if (result == 0)
		link_frame_deinit(&answer);
	return result;
}

/* Ask once more for ranks that are not in the table. Returns how many were found. */
static int scan(struct daemons *daemons, struct pdb_error *err)
{
	const struct launcher_hosts *hosts = daemons->hosts;
	const struct pdbd_scan scan = {.user = hosts->user};
	struct buffer question = {.bytes = NULL};
	struct link_frame answer;
	int num;

	buffer_put_bytes(&question, &scan, sizeof(scan));
	buffer_put_bytes(&question, hosts->mark, strlen(hosts->mark));
	num = daemons_ask(daemons, PDBD_SCAN, question.bytes, question.num, 0, &answer, err);
	free(question.bytes);
	if (num < 0)
		return -1;
	num = daemon_job_take_found(answer.payload, answer.length, daemons->job->proctable, err);
	link_frame_deinit(&answer);
	return num;
}

int daemons_find_ranks(struct daemons *daemons, struct pdb_error *err)
{
	struct proctable *table = daemons->job->proctable;
	uint64_t end_ns = monotonic_ns() + FIND_MS * UINT64_C(1000000);
	int num;

	/* The processes that start the ranks exist, so ranks will come soon. */
	while ((num = scan(daemons, err)) == 0 && table->num_procs == 0 && monotonic_ns() < end_ns)
		if (!interrupt_sleep_until(monotonic_ns() + POLL_MS * UINT64_C(1000000)))
			return error_set(err, ERROR_INTERRUPTED, "interrupted");
	if (num < 0)
		return -1;
	if (table->num_procs == 0)
		return error_set(
			err, ERROR_NOT_FOUND,
			"the job has no rank on its %zu hosts: it has not started yet, or it "
			"has ended; try again",
			daemons->hosts->num);
	free(table->source_note);
	table->source_note = xstrdup("this launcher keeps no table of its ranks; pdb's daemons "
				     "have found them on its hosts");
	if (num > 0 && tell_job(daemons, err) < 0)
		return -1;
	return num;
}

static int start(struct daemons *daemons, const struct launcher_info *launcher,
		 struct pdb_error *err)
{
	uint64_t begin_ns = monotonic_ns(), launched_ns, connected_ns;
	struct daemon_plan plan;
	char *invitation = NULL;
	int result = -1;

	daemons->listener = link_listen(err);
	if (daemons->listener) {
		invitation = link_invitation(daemons->listener);
		result = make_plan(daemons, launcher, invitation, &plan, err);
	}
	if (result == 0) {
		daemons->num_hosts = (int)plan.num_hosts;
		result = launch(daemons, &plan, launcher, err);
		daemon_plan_deinit(&plan);
	}
	link_forget(invitation);
	launched_ns = monotonic_ns();
	if (result == 0)
		result = await(daemons, err);
	connected_ns = monotonic_ns();
	/* A job without ranks would look like one that has ended. */
	if (result == 0 && daemons->job->proctable->num_procs > 0)
		result = tell_job(daemons, err);
	daemons->launch_ns = launched_ns - begin_ns;
	daemons->connect_ns = connected_ns - launched_ns;
	daemons->tell_ns = monotonic_ns() - connected_ns;
	return result;
}

/* Free what start() began, finished or not. */
static void end(struct daemons *daemons, int timeout_ms)
{
	link_destroy(daemons->link);
	link_listener_destroy(daemons->listener);
	if (daemons->launch.pid)
		daemon_launch_stop(&daemons->launch, timeout_ms);
	pmix_release_daemons(&daemons->spawned);
	daemons->link = NULL;
	daemons->listener = NULL;
	daemons->num_owed = 0;
}

struct daemons *daemons_start(struct job *job, const struct launcher_info *launcher,
			      const struct launcher_hosts *hosts, bool is_again,
			      struct pdb_error *err)
{
	struct daemons *daemons = xcalloc(1, sizeof(*daemons));
	int result;

	daemons->job = job;
	daemons->kind = launcher->kind;
	daemons->hosts = hosts;
	daemons->next_channel = 1;
	daemons->spawned.leash = -1;
	daemons->launch.output = -1;
	if (is_again)
		find_silent(daemons);
	result = start(daemons, launcher, err);
	if (result < 0 && err->code != ERROR_INTERRUPTED && err->code != ERROR_PERMISSION &&
	    (daemons->num_avoided > 0 || find_silent(daemons)) && !is_again) {
		end(daemons, 0);
		result = start(daemons, launcher, err);
	}
	if (result == 0)
		return daemons;
	daemons_stop(daemons);
	return NULL;
}

void daemons_forget_answer(struct daemons *daemons)
{
	job_clear_holes(&daemons->answer);
	job_model_destroy(daemons->answer.model);
	samples_destroy(daemons->answer.samples);
	daemons->answer.model = NULL;
	usage_destroy(daemons->answer.usage);
	daemons->answer.samples = NULL;
	daemons->answer.usage = NULL;
}

void daemons_stop(struct daemons *daemons)
{
	if (!daemons)
		return;
	daemons_forget_answer(daemons);
	end(daemons, daemons->is_lost ? 0 : STOP_MS);
	free(daemons->avoided);
	free(daemons);
}

bool daemons_can_reach_more(struct daemons *daemons)
{
	const char **silent;
	size_t num;

	if (daemons->num_avoided == 0 ||
	    monotonic_ns() - daemons->reached_ns < RETURN_MS * UINT64_C(1000000))
		return false;
	num = reach_find_silent(daemons->avoided, daemons->num_avoided, REACH_PORT, REACH_MS / 5,
				interrupt_fd(), &silent);
	free(silent);
	daemons->reached_ns = monotonic_ns();
	return num < daemons->num_avoided;
}
