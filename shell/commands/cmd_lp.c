/* SPDX-License-Identifier: BSD-3-Clause
 * lp: the verdict. */
#include "analysis/slow/slow.h"
#include "analysis/verdict/verdict.h"
#include "model/job/rankset.h"
#include "render/view.h"
#include "shell/answers/find_cause.h"
#include "shell/command.h"
#include "shell/session.h"

/* An old answer "no hang", perhaps from the start of the job, is of no use. */
static bool is_worth_a_look(struct session *session)
{
	return session->editor && !session->snapshot && !session->has_cores &&
	       !session_has_ended(session) && session->verdict && !session_status(session) &&
	       session_age(session) > session->settings.stale;
}

/* Who clearly holds the others up, if that is no hang; not one that waits itself. */
static const struct slow *glance(struct session *session, struct arena *arena)
{
	const struct verdict *verdict = session->verdict;
	const struct slow *slow;

	if (!verdict || verdict->kind != VERDICT_NONE || verdict->is_edge)
		return NULL;
	slow = slow_glance(arena, session->job, session->progress);
	return slow && rankset_contains(verdict->waiting, slow->ranks[0].rank) ? NULL : slow;
}

static int find_lp(struct session *session, const struct args *args, struct answer *answer,
		   struct pdb_error *err)
{
	(void)args;
	/* If nothing of the job is left, the answer is that of the last look, with its age. */
	if (is_worth_a_look(session))
		session_refresh(session, err);
	session_be_sure(session, err);
	answer->own = glance(session, answer->arena);
	find_cause_glance(session, answer);
	return 0;
}

const struct command cmd_lp = {
	.name = "lp",
	.aliases = {"l", "culprit"},
	.topic = TOPIC_ANSWERS,
	.usage = "lp",
	.summary = "Name the ranks that hold the others up.",
	.text = "The first line names them:\n"
		"  Culprit: rank 3 of 8       it left something out, or does not continue\n"
		"  Slow or hung: rank 2 of 8  others wait for it; look for longer\n"
		"  Least progressed: rank 2   only the order of progress names it\n"
		"  Least progressed: undecided among ranks 2,5   the order cannot decide\n"
		"  Deadlock: ranks 2,5 of 8   they wait for each other, and none stands out\n"
		"  Message lost between: ...  neither end is to blame\n"
		"  Crashed: ...               a fault or abort() ended them\n"
		"  No hang: ...               no rank waits for one that makes no progress\n"
		"  No certain hang: ...       it may hang or be slow, or it is too early to tell\n"
		"  Not known: ...             pdb does not know which rank holds the others up\n"
		"Below are the cause, where these ranks are, in which iteration of which loop,\n"
		"the evidence, how sure pdb is, and what to type next.\n"
		"Without a recorder lp goes by stacks. It names the ranks outside MPI that\n"
		"others wait for. If all ranks are inside MPI, or several are outside, it names\n"
		"the first ones of \"order\". If all are inside, the messages that the MPI\n"
		"library holds show who waits for whom, and who left something out. If lp can\n"
		"name nobody, it shows where the ranks are, and which are elsewhere than most.\n"
		"If there is no hang and a rank clearly holds the others up, lp says so. \"slow\"\n"
		"tells more.\n"
		"At a prompt, lp looks again if a look older than \"set stale\" found no hang.",
	.example = "lp",
	.flags = CMD_NEEDS_JOB | CMD_ANSWERS,
	.find = find_lp,
	.views = {[FORMAT_TEXT] = view_lp, [FORMAT_JSON] = view_lp_json},
};
