/* SPDX-License-Identifier: BSD-3-Clause
 * waits: who waits for whom. */
#include "analysis/verdict/verdict.h"
#include "analysis/waits/wait_groups.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/rankset.h"
#include "render/view.h"
#include "shell/command.h"
#include "shell/commands/cmd.h"
#include "shell/session.h"

enum { MAX_GROUPS = 24, MAX_GROUPS_DOT = 300 };

static int run_waits(struct session *session, const struct args *args, struct pdb_error *err);

const struct command cmd_waits = {
	.name = "waits",
	.topic = TOPIC_ANSWERS,
	.usage = "waits [RANKS]",
	.summary = "Show who waits for whom.",
	.text = "By the messages and collectives that were counted; without a recorder by the\n"
		"stacks and what the MPI library holds of messages. Ranks that wait alike stand\n"
		"together. Those of a deadlock, who wait for each other, are marked <->, and <=>\n"
		"where \"lp\" names them. With a recorder, and where others wait for these, or "
		"for\n"
		"ranks that do not wait, up to 24 groups are drawn below the table, an arrow\n"
		"leading to those who are waited for. Without RANKS: those in focus, else all.\n"
		"\"waits > FILE\" with .dot, .svg, .png or .pdf makes a picture.",
	.example = "waits > deadlock.svg",
	.flags = CMD_NEEDS_JOB | CMD_NEEDS_WAITS | CMD_GRAPHIC | CMD_DATA | CMD_ANSWERS,
	.max_words = -1,
	.words = WORDS_RANKS,
	.run = run_waits,
};

static void show_queues(const struct session *session, const struct view *view,
			const struct rankset *ranks)
{
	if (session->wants_dot)
		view_queue_waits_dot(view, ranks);
	else if (session->wants_data)
		view_queue_waits_json(view, ranks);
	else
		view_queue_waits(view, ranks);
}

static int run_waits(struct session *session, const struct args *args, struct pdb_error *err)
{
	struct view view = session_view(session);
	struct wait_groups *groups;
	struct rankset *ranks;
	size_t next = 0;

	if (session_take_ranks(session, args, &next, &ranks, err) < 0)
		return -1;
	if (!session->job->model) {
		show_queues(session, &view, ranks);
		rankset_destroy(ranks);
		return 0;
	}
	groups = wait_groups_create(
		session->waitfor, session->groups, ranks, session->verdict->culprits,
		session->wants_dot || session->wants_data ? MAX_GROUPS_DOT : MAX_GROUPS);
	if (session->wants_dot)
		view_waits_dot(&view, groups);
	else if (session->wants_data)
		view_waits_json(&view, groups);
	else
		view_waits(&view, groups);
	wait_groups_destroy(groups);
	rankset_destroy(ranks);
	return 0;
}
