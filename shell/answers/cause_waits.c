/* SPDX-License-Identifier: BSD-3-Clause
 * Do ranks wait at their place for those of another? Then these have not been there before. */
#include "analysis/cause/cause_frames.h"
#include "analysis/evidence/evidence.h"
#include "analysis/verdict/verdict.h"
#include "analysis/waits/waitfor.h"
#include "attach/code/code.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/message_queues.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "shell/answers/find_cause_private.h"
#include "shell/answers/stack_order.h"
#include "shell/session.h"

enum { MAX_CALLS = 256 }; /* of one function */

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

static uint32_t main_actor(const struct finding *finding, int rank)
{
	const struct waitfor *waitfor = finding->session->waitfor;
	uint32_t actor = waitfor_first_actor(waitfor, rank);

	while (waitfor_is_actor_of(waitfor, actor, rank) &&
	       !waitfor->evidence->actors[actor].is_main)
		actor++;
	return waitfor_is_actor_of(waitfor, actor, rank) ? actor : WAITFOR_NONE;
}

/* By counts: the others have not started the collective, or another function as the same one. */
static bool is_counted(const struct finding *finding, int rank, const struct rankset *others)
{
	const struct waitfor *waitfor = finding->session->waitfor;
	uint32_t lane = main_actor(finding, rank), mismatch;

	if (lane == WAITFOR_NONE)
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

/* The communicator of what the library waits for inside a collective; UINT32_MAX: none, or
 * several. */
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

/* How often a lane has come to a call, by the job's state; UINT64_MAX: not known. */
static uint64_t visits_of(const struct finding *finding, int rank, uint32_t state)
{
	const struct waitfor *waitfor = finding->session->waitfor;
	uint32_t actor = main_actor(finding, rank);
	const struct job_lane *lane =
		actor == WAITFOR_NONE ? NULL : waitfor->evidence->actors[actor].lane;
	uint64_t visits = 0;

	if (!lane || lane->model->program->dropped_transitions)
		return UINT64_MAX;
	for (size_t i = 0; i < lane->data->num_transitions; i++) {
		const struct model_transition *transition = &lane->data->transitions[i];
		uint32_t site = SEG_STATE_SITE(transition->to);

		if (transition->to == SEG_STATE_ENTER(site) &&
		    SEG_STATE_ENTER(lane->site_map[site]) == state)
			visits += transition->count;
	}
	return visits;
}

/* Has each of the others been at this call less often than the rank? */
static bool have_been_less(const struct finding *finding, int rank, const struct rankset *others)
{
	uint32_t actor = main_actor(finding, rank);
	const struct job_lane *lane =
		actor == WAITFOR_NONE ? NULL : finding->session->evidence->actors[actor].lane;
	uint64_t visits;

	if (!lane || lane->state != SEG_STATE_ENTER(SEG_STATE_SITE(lane->state)))
		return false;
	visits = visits_of(finding, rank, lane->state);
	for (int other = rankset_first(others); other >= 0; other = rankset_next(others, other))
		if (visits == UINT64_MAX || visits_of(finding, other, lane->state) >= visits)
			return false;
	return true;
}

/* Is the call at the address in a frame that both sides share, and made just as often as what that
 * frame has called? Then none of them has left it out. */
static bool is_made_by_all(const struct finding *finding, uint32_t module, uint32_t frame,
			   uint64_t address)
{
	const struct callpaths *callpaths = finding->session->job->callpaths;

	for (; frame != CALLPATH_NONE; frame = callpaths_get(callpaths, frame)->parent) {
		const struct callpath_node *of = callpaths_get(callpaths, frame);
		const struct code_insn *call, *insn;
		const struct code_function *function;
		struct pdb_error ignored;
		struct flow *flow;
		bool is_equivalent;

		if (of->module != module)
			continue;
		function = stack_order_function(finding->session, module,
						of->offset - of->is_return, &ignored);
		insn = function ? code_function_find(function, address) : NULL;
		call = function ? code_function_find(function, of->offset - of->is_return) : NULL;
		if (!insn || !call)
			continue;
		flow = flow_create(function);
		is_equivalent = cause_are_equivalent(flow, (uint32_t)(insn - function->insns),
						     (uint32_t)(call - function->insns));
		flow_destroy(flow);
		return is_equivalent;
	}
	return false;
}

static bool is_copy(const struct cause_places *places, int side, uint64_t address)
{
	const struct code_function *function = places->flow->code;

	for (size_t i = 0; i < places->num_copies[side]; i++)
		if (function->insns[places->copies[side][i]].address == address)
			return true;
	return function->insns[places->place[side].insn].address == address;
}

/* Is it in the C++ bindings of MPI, which headers put into all programs? */
static bool is_in_bindings(const struct finding *finding, uint32_t module, uint64_t address)
{
	char *name SCOPED(free) =
		code_reader_name(stack_order_reader(finding->session), module, address);

	return name && ((!strncmp(name, "_ZN3MPI", 7) || !strncmp(name, "_ZNK3MPI", 8)));
}

/* Are calls of `target`, but for the one at `own` or the copies of the side's place, none that
 * ranks may leave out? */
static bool is_only_call(const struct finding *finding, const struct pair *pair, int side,
			 uint64_t target, uint64_t own, uint32_t frame)
{
	uint64_t calls[MAX_CALLS];
	size_t num = target ? code_reader_calls(stack_order_reader(finding->session), pair->module,
						target, calls, MAX_CALLS)
			    : SIZE_MAX;

	if (num == SIZE_MAX)
		return false;
	for (size_t i = 0; i < num; i++)
		if (cause_is_late(finding) ||
		    (calls[i] != own && !is_copy(&pair->places, side, calls[i]) &&
		     !is_in_bindings(finding, pair->module, calls[i]) &&
		     !is_made_by_all(finding, pair->module, frame, calls[i])))
			return false;
	return true;
}

/* Can no other call of the program have met the ranks that this one of the side waits for? If one
 * was left out before, the others' next calls have taken its part, this one among them. */
static bool is_only_place(const struct finding *finding, const struct pair *pair, int side)
{
	const struct session *session = finding->session;
	const struct callpaths *callpaths = session->job->callpaths;
	const struct code_insn *insn =
		&pair->places.flow->code->insns[pair->places.place[side].insn];
	uint32_t path = pair->groups[side]->example, node = pair->nodes_of[side];
	uint32_t frame = callpaths_get(callpaths, node)->parent;
	char *name SCOPED(free) = NULL;
	uint64_t target = insn->target;

	if (!is_only_call(finding, pair, side, target, insn->address, frame))
		return false;
	if (!pair->is_tail[side])
		node = cause_inner_frame(callpaths, path, node);
	for (; node != CALLPATH_NONE; node = cause_inner_frame(callpaths, path, node)) {
		const struct callpath_node *of = callpaths_get(callpaths, node);
		const struct code_function *function;
		struct pdb_error ignored;

		if (!modules_is_own_code(session->job->modules, of->module, of->offset))
			break;
		function = stack_order_function(finding->session, of->module,
						of->offset - of->is_return, &ignored);
		insn = function ? code_function_find(function, of->offset - of->is_return) : NULL;
		if (!insn || of->module != pair->module ||
		    !is_only_call(finding, pair, side, insn->target, insn->address, frame))
			return false;
		target = insn->target;
	}
	name = code_reader_name(stack_order_reader(finding->session), pair->module, target);
	for (uint32_t m = 0; name && m < modules_count(session->job->modules); m++)
		if (m != pair->module &&
		    modules_get(session->job->modules, m)->kind == MODULE_PROGRAM &&
		    code_reader_may_import(stack_order_reader(finding->session), m, name))
			return false;
	return name != NULL;
}

bool cause_waits_for(const struct finding *finding, const struct pair *pair, int side)
{
	const struct session *session = finding->session;
	const struct group *group = pair->groups[side], *others = pair->groups[!side];
	bool is_only = false, is_looked = false;

	/* Who moves may just have left it. */
	if (pair->places.has_left[side] || !session->waitfor || !session->verdict ||
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
		if (have_been_less(finding, rank, others->ranks))
			continue;
		is_only = is_looked ? is_only : is_only_place(finding, pair, side);
		is_looked = true;
		if (!is_only)
			return false;
	}
	return true;
}
