/* SPDX-License-Identifier: BSD-3-Clause
 * Do ranks wait at their place for those of another? Then these have not been there before. */
#include "analysis/evidence/evidence.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/message_queues.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "shell/answers/find_cause_private.h"
#include "shell/session.h"

/* Collectives that nobody leaves before all have come, if anybody has to wait in them at all. Where
 * each rank has its own counts, those of one may be 0. */
static bool is_in_collective(const struct job *job, uint32_t path)
{
	static const char *const names[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather",
					    "MPI_Alltoall", "MPI_Reduce_scatter_block"};

	for (uint32_t id = path; id != CALLPATH_NONE;
	     id = callpaths_get(job->callpaths, id)->parent) {
		const char *function;

		if (!names_is_mpi(job->names, id))
			continue;
		function = names_get(job->names, id)->function;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strcmp(function, names[i]))
				return true;
	}
	return false;
}

/* By counts: the others have not started the collective, or another function as the same one. */
static bool is_counted(const struct finding *finding, int rank, const struct rankset *others)
{
	const struct waitfor *waitfor = finding->session->waitfor;
	uint32_t lane = waitfor_first_actor(waitfor, rank), mismatch;

	while (waitfor_is_actor_of(waitfor, lane, rank) &&
	       !finding->session->evidence->actors[lane].is_main)
		lane++;
	if (!waitfor_is_actor_of(waitfor, lane, rank))
		return false;
	for (const struct waitfor_need *need = NULL;
	     (need = waitfor_next_need(waitfor, lane, need));) {
		struct rankset *missing SCOPED(rankset) = rankset_create();
		uint32_t collective = waitfor_collective_of(waitfor, need->node);

		if (collective == WAITFOR_NONE || !waitfor->collectives[collective].needs_all)
			continue;
		waitfor_add_missing(waitfor, collective, missing);
		rankset_keep_set(missing, others);
		if (rankset_equal(missing, others))
			return true;
	}
	mismatch = waitfor_mismatch_of(waitfor, lane);
	if (mismatch == WAITFOR_NONE ||
	    waitfor->mismatches[mismatch].what != WAITFOR_OTHER_FUNCTION)
		return false;
	for (size_t i = 0; i < waitfor->mismatches[mismatch].num_parties; i++) {
		const struct waitfor_party *party = &waitfor->mismatches[mismatch].parties[i];
		struct rankset *rest SCOPED(rankset) = rankset_copy(others);

		rankset_remove_set(rest, party->ranks);
		if (rankset_is_empty(rest))
			return !rankset_contains(party->ranks, rank);
	}
	return false;
}

/* The communicator of what the library waits for inside a collective; UINT32_MAX: none, or several. */
static uint32_t awaited_comm(const struct message_queues *queues)
{
	uint32_t comm = UINT32_MAX;

	for (size_t i = 0; i < queues->num_receives; i++) {
		const struct queued_message *receive = &queues->receives[i];

		if (receive->tag >= 0 || receive->tag == MESSAGE_ANY_TAG ||
		    receive->tag == MESSAGE_TAG_NOT_KNOWN)
			continue;
		if (comm != UINT32_MAX && comm != receive->comm)
			return UINT32_MAX;
		comm = receive->comm;
	}
	return comm;
}

/* By what the MPI library holds: all others are members of the communicator. */
static bool are_members(const struct finding *finding, const struct message_queues *queues,
			const struct rankset *others)
{
	struct rankset *members SCOPED(rankset) = NULL;
	struct rankset *rest SCOPED(rankset) = rankset_copy(others);
	uint32_t comm = queues ? awaited_comm(queues) : UINT32_MAX;
	bool is_whole;

	if (comm == UINT32_MAX)
		return false;
	members = proctable_ranks(finding->session->job->proctable);
	is_whole = queues->comms[comm].size == (uint32_t)rankset_count(members);
	for (size_t i = 0; i < queues->num_pairs; i++) {
		is_whole &= queues->pairs[i].peer >= 0;
		if (queues->pairs[i].comm == comm && queues->pairs[i].peer >= 0)
			rankset_remove(rest, queues->pairs[i].peer);
	}
	for (size_t i = 0; i < queues->num_receives; i++)
		if (queues->receives[i].comm == comm && queues->receives[i].peer >= 0)
			rankset_remove(rest, queues->receives[i].peer);
	if (is_whole)
		rankset_remove_set(rest, members);
	return rankset_is_empty(rest);
}

bool cause_waits_for(const struct finding *finding, const struct group *group,
		     const struct group *others)
{
	const struct session *session = finding->session;

	/* Who moves may just have left it. */
	if (!session->waitfor || !session->verdict ||
	    !is_in_collective(session->job, group->example) ||
	    rankset_meets(session->verdict->moving, group->ranks) ||
	    rankset_meets(session->verdict->moving, others->ranks))
		return false;
	for (int rank = rankset_first(group->ranks); rank >= 0;
	     rank = rankset_next(group->ranks, rank)) {
		const struct stack_fact *fact = stack_facts_get(session->evidence->stacks, rank);

		if (!is_counted(finding, rank, others->ranks) &&
		    (fact->has_moved || !are_members(finding, fact->queues, others->ranks)))
			return false;
	}
	return true;
}
