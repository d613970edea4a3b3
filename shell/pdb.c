/* SPDX-License-Identifier: BSD-3-Clause
 * libpdb: a session for other programs. The library exports only names in pdb.h, so pdb's modules
 * can be used here. Fewer commands need fewer libraries. */
#include <locale.h>

#include "analysis/progress/eqgroup.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict.h"
#include "model/arena.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"
#include "render/text/gate.h"
#include "render/text/text.h"
#include "render/view.h"
#include "render/words/label.h"
#include "render/words/parts.h"
#include "shell/answers/answer.h"
#include "shell/options/args.h"
#include "shell/command.h"
#include "shell/answers/document.h"
#include "shell/pdb.h"
#include "shell/session.h"
#include "shell/answers/stack_order.h"

struct pdb_job {
	struct session session;
	FILE *nowhere;       /* the session's output outside of questions */
	struct arena *facts; /* verdict and groups of the last look; NULL: not made yet */
	struct pdb_verdict verdict;
	struct pdb_group *groups;
	size_t num_groups;
};

/* Commands that only need the last look; order also looks at stacks. */
static const struct command *const questions[] = {
	&cmd_collectives, &cmd_graph,    &cmd_groups, &cmd_history, &cmd_loops,
	&cmd_lp,          &cmd_messages, &cmd_model,  &cmd_order,   &cmd_progress,
	&cmd_requests,    &cmd_waits,    &cmd_why,
};

const char *pdb_version(void)
{
	return PDB_VERSION;
}

/* ---- The caller's world ---- */

/* Use a decimal point and UTF-8, whatever the program's locale. Returns the argument of leave(). */
static locale_t enter(void)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);

	session_be_quiet();
	if (!plain)
		plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return plain ? uselocale(plain) : (locale_t)0;
}

static void leave(locale_t before)
{
	if (before)
		freelocale(uselocale(before));
}

static void give_error(const struct pdb_error *err, char *error)
{
	FILE *memory, *out;

	if (!error)
		return;
	memory = fmemopen(error, PDB_ERROR_SIZE, "w");
	if (!memory)
		abort();
	out = gate_open(memory);
	fputs(err->text, out);
	fclose(out);
	fclose(memory);
	error[PDB_ERROR_SIZE - 1] = '\0';
}

/* ---- A job ---- */

static struct pdb_job *create(void)
{
	struct pdb_job *job = xcalloc(1, sizeof(*job));

	session_init(&job->session);
	job->nowhere = fopen("/dev/null", "w");
	job->session.out = job->nowhere;
	return job;
}

static void drop_facts(struct pdb_job *job)
{
	arena_destroy(job->facts);
	job->facts = NULL;
	job->groups = NULL;
	job->num_groups = 0;
}

static void destroy(struct pdb_job *job)
{
	drop_facts(job);
	session_deinit(&job->session);
	if (job->nowhere)
		fclose(job->nowhere);
	free(job);
}

/* The job of a snapshot, or of the launcher `pid`. */
static struct pdb_job *open_job(const char *path, pid_t pid, char *error)
{
	struct pdb_job *job = create();
	locale_t before = enter();
	struct pdb_error err;
	int result = path ? session_load(&job->session, path, &err)
			  : session_attach(&job->session, pid, NULL, &err);

	if (result < 0) {
		give_error(&err, error);
		destroy(job);
		job = NULL;
	}
	leave(before);
	return job;
}

struct pdb_job *pdb_load(const char *path, char *error)
{
	return open_job(path, 0, error);
}

struct pdb_job *pdb_attach(int pid, char *error)
{
	return open_job(NULL, pid, error);
}

int pdb_look(struct pdb_job *job, char *error)
{
	locale_t before = enter();
	struct pdb_error err;
	int result;

	if (job->session.is_live) {
		result = session_refresh(&job->session, &err);
	} else {
		result = error_set(&err, ERROR_GONE, "%s",
				   job->session.snapshot ? "a snapshot stays what it is"
							 : "the job has ended");
	}
	if (result < 0)
		give_error(&err, error);
	else
		drop_facts(job);
	leave(before);
	return result;
}

void pdb_close(struct pdb_job *job)
{
	locale_t before;

	if (!job)
		return;
	before = enter();
	destroy(job);
	leave(before);
}

int pdb_num_ranks(const struct pdb_job *job)
{
	return job->session.job->proctable->size;
}

int pdb_is_live(struct pdb_job *job)
{
	return !session_has_ended(&job->session);
}

/* ---- Verdict and groups ---- */

/* Let the facts own a text. */
static char *keep(struct pdb_job *job, char *text)
{
	return arena_keep(job->facts, text, free);
}

static char *keep_ranks(struct pdb_job *job, const struct rankset *ranks)
{
	return keep(job, rankset_encode(ranks, 0));
}

static void find_verdict(struct pdb_job *job)
{
	const struct verdict *verdict = job->session.verdict;

	job->verdict = (struct pdb_verdict){
		.kind = view_verdict_name(verdict),
		.is_hang = verdict->is_hang,
		.is_likely = verdict->doubt != DOUBT_NONE,
		.ranks = keep_ranks(job, verdict->culprits),
		.num_ranks = rankset_count(verdict->culprits),
		.waiting = keep_ranks(job, verdict->waiting),
		.stay = verdict->stay_ns / 1e9,
	};
}

/* Groups by the recorder. */
static void find_model_groups(struct pdb_job *job, const struct view *view)
{
	const struct eqgroups *all = job->session.groups;

	job->groups = arena_array(job->facts, all->num_groups, sizeof(*job->groups));
	for (; job->num_groups < all->num_groups; job->num_groups++) {
		const struct eqgroup *group = &all->groups[job->num_groups];
		job->groups[job->num_groups] = (struct pdb_group){
			.ranks = keep_ranks(job, group->ranks),
			.num_ranks = rankset_count(group->ranks),
			.where =
				text_clean(view->arena, label_where(view, group, LABEL_FULL), true),
			.activity = parts_activity(group),
			.iterations = parts_iterations(view, group),
			.least = keep_ranks(job, parts_culprits(view, job->num_groups)),
			.stay = group->stay_min_ns / 1e9,
		};
	}
}

/* Groups by stacks; none if stacks do not give any. */
static void find_stack_groups(struct pdb_job *job, const struct view *view)
{
	const struct temporal_result *order = stack_order_of_look(&job->session, NULL);

	job->groups = arena_array(job->facts, order ? order->num_groups : 0, sizeof(*job->groups));
	for (; order && job->num_groups < order->num_groups; job->num_groups++) {
		const struct temporal_group *group = &order->groups[job->num_groups];
		job->groups[job->num_groups] = (struct pdb_group){
			.ranks = keep_ranks(job, group->ranks),
			.num_ranks = rankset_count(group->ranks),
			.where = text_clean(view->arena, order_text_where(view, group), true),
			.activity = "",
			.iterations = "",
			.least = keep_ranks(job, parts_both(view, group->ranks,
							    job->session.verdict->culprits)),
		};
	}
}

static void find_facts(struct pdb_job *job)
{
	struct view view;
	locale_t before;

	if (job->facts)
		return;
	job->facts = arena_create();
	before = enter();
	view = session_view(&job->session, job->facts);
	find_verdict(job);
	if (job->session.groups)
		find_model_groups(job, &view);
	else
		find_stack_groups(job, &view);
	leave(before);
}

const struct pdb_verdict *pdb_verdict(struct pdb_job *job)
{
	find_facts(job);
	return &job->verdict;
}

size_t pdb_num_groups(struct pdb_job *job)
{
	find_facts(job);
	return job->num_groups;
}

const struct pdb_group *pdb_group(struct pdb_job *job, size_t number)
{
	find_facts(job);
	return number < job->num_groups ? &job->groups[number] : NULL;
}

int pdb_next_rank(const char *ranks, int after)
{
	struct rankset *set;
	int next;

	if (rankset_decode(ranks, -1, &set, NULL) < 0)
		return -1;
	next = after < 0 ? rankset_first(set) : rankset_next(set, after);
	rankset_destroy(set);
	return next;
}

/* ---- Answers ---- */

/* The command at the beginning of *question, which moves past it. */
static const struct command *take_question(const char **question, struct pdb_error *err)
{
	const char *word = *question + strspn(*question, " \t");
	size_t length = strcspn(word, " \t");

	*question = word + length;
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (command_is_called(questions[i], word, length))
			return questions[i];
	}
	error_set(err, ERROR_USAGE, "no question \"%.*s\"", (int)length, word);
	return NULL;
}

/* The answer as the command writes it; NULL and *err. */
static char *run_question(struct session *session, const struct command *command, const char *words,
			  enum format format, struct pdb_error *err)
{
	FILE *outer = session->out, *memory;
	struct args *args;
	char *text = NULL;
	size_t size;
	int result;

	if (args_parse(words, &args, err) < 0)
		return NULL;
	memory = open_memstream(&text, &size);
	session->out = gate_open(memory);
	result = command_check(session, command, args, err);
	if (!result)
		result = answer_write(session, command, args, format, err);
	fclose(session->out);
	fclose(memory);
	session->out = outer;
	args_destroy(args);
	if (!result)
		return text;
	free(text);
	return NULL;
}

static char *make_document(struct session *session, const char *command, const char *line,
			   const char *result)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	document_write(session, out, command, line, result, NULL);
	fclose(out);
	return text;
}

static char *ask(struct pdb_job *job, const char *question, bool is_json, char *error)
{
	locale_t before = enter();
	const char *words = question;
	char *text = NULL, *result;
	struct pdb_error err;
	const struct command *command = take_question(&words, &err);

	if (command)
		text = run_question(&job->session, command, words,
				    is_json ? FORMAT_JSON : FORMAT_TEXT, &err);
	if (!text)
		give_error(&err, error);
	if (text && is_json) {
		result = text;
		text = make_document(&job->session, command->name, question, result);
		free(result);
	}
	leave(before);
	return text;
}

char *pdb_text(struct pdb_job *job, const char *question, char *error)
{
	return ask(job, question, false, error);
}

char *pdb_json(struct pdb_job *job, const char *question, char *error)
{
	return ask(job, question, true, error);
}
