/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cause/cause_frames.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict.h"
#include "attach/code/code.h"
#include "attach/symbols/source.h"
#include "attach/values/values.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/monotonic.h"
#include "render/caused.h"
#include "render/view.h"
#include "shell/answers/find_cause.h"
#include "shell/answers/find_cause_private.h"
#include "shell/answers/list_source.h"
#include "shell/answers/stack_order.h"
#include "shell/session.h"

enum { MAX_BRANCHES = 64, MAX_DEEPER = 16, MAX_TAILS = 4, MAX_SOURCE = 100 };

#define LONGEST_NS UINT64_C(20000000000)
#define GLANCE_NS UINT64_C(3000000000) /* of other commands, which only mention it */

/* ---- Places ---- */

static bool is_own(const struct finding *finding, uint32_t node)
{
	const struct job *job = finding->session->job;
	const struct callpath_node *of;

	if (node == CALLPATH_NONE)
		return false;
	of = callpaths_get(job->callpaths, node);
	return modules_is_own_code(job->modules, of->module, of->offset);
}

static const struct code_function *function_of(const struct finding *finding, uint32_t node)
{
	const struct callpath_node *of = callpaths_get(finding->session->job->callpaths, node);
	struct pdb_error ignored;

	return stack_order_function(finding->session, of->module, of->offset - of->is_return,
				    &ignored);
}

static bool find_place(const struct finding *finding, const struct flow *flow, uint32_t node,
		       struct flow_place *ret)
{
	const struct callpath_node *of = callpaths_get(finding->session->job->callpaths, node);

	return flow_find(flow, of->offset, of->is_return, ret);
}

/* Compilers copy calls into both sides of a branch before: the same call, by target and line. */
static void find_copies(const struct finding *finding, struct pair *pair, int side)
{
	const struct code_function *function = pair->places.flow->code;
	const struct code_insn *call = &function->insns[pair->places.place[side].insn];
	uint32_t *list = NULL;
	size_t num = 0, capacity = 0;

	for (uint32_t i = 0; call->kind == CODE_CALL && i < function->num_insns; i++) {
		const struct code_insn *insn = &function->insns[i];

		if ((insn->kind == CODE_CALL || insn->kind == CODE_END) &&
		    insn->target == call->target &&
		    cause_is_same_line(finding, pair->module, insn->address, call->address))
			*ARENA_PUSH(finding->arena, list, num, capacity) = i;
	}
	pair->places.copies[side] = list;
	pair->places.num_copies[side] = num;
}

/* Does a stack have the function more than once? Then its variables are not told apart. */
static bool is_recursive(const struct finding *finding, uint32_t path, uint32_t node)
{
	const struct callpaths *callpaths = finding->session->job->callpaths;
	const struct code_function *function = function_of(finding, node);

	for (uint32_t id = path; id != CALLPATH_NONE; id = callpaths_get(callpaths, id)->parent)
		if (id != node && is_own(finding, id) && function_of(finding, id) == function)
			return true;
	return false;
}

/* The jumps at the end of the function by which it has called that of the node in its own place. */
static bool find_tail(const struct finding *finding, uint32_t module, const struct flow *flow,
		      uint32_t node, struct cause_places *places, int side)
{
	const struct code_function *function = flow->code;
	const struct code_function *called =
		is_own(finding, node) ? function_of(finding, node) : NULL;
	const char *wanted = names_function(finding->session->job->names, node)->function;
	uint32_t *list = NULL;
	size_t num = 0, capacity = 0;

	for (uint32_t i = 0; i < function->num_insns; i++) {
		const struct code_insn *insn = &function->insns[i];
		char *name SCOPED(free) = NULL;
		bool is_it;

		if (insn->kind != CODE_END || !insn->target)
			continue;
		if (!called)
			name = code_reader_name(stack_order_reader(finding->session), module,
						insn->target);
		is_it = called ? called->entry == insn->target
			       : name && !strcmp(name + (*name == 'P'), wanted + (*wanted == 'P'));
		if (is_it)
			*ARENA_PUSH(finding->arena, list, num, capacity) = i;
	}
	if (!num)
		return false;
	/* Where something follows in the function, the same call is none in its place. */
	for (uint32_t i = 0, num_tails = (uint32_t)num; i < function->num_insns; i++) {
		const struct code_insn *insn = &function->insns[i];

		for (uint32_t k = 0; insn->kind == CODE_CALL && k < num_tails; k++)
			if (insn->target == function->insns[list[k]].target &&
			    cause_is_same_line(finding, module, insn->address,
					       function->insns[list[k]].address)) {
				*ARENA_PUSH(finding->arena, list, num, capacity) = i;
				break;
			}
	}
	places->place[side] = (struct flow_place){list[0], true};
	places->copies[side] = list;
	places->num_copies[side] = num;
	return true;
}

/* The function that a frame has called, if it calls always the same. */
static const struct code_function *called_by(const struct finding *finding, uint32_t node,
					     uint32_t *module_ret)
{
	const struct callpath_node *of;
	const struct code_function *function;
	const struct code_insn *insn;
	struct pdb_error ignored;

	if (!is_own(finding, node) || !(function = function_of(finding, node)))
		return NULL;
	of = callpaths_get(finding->session->job->callpaths, node);
	insn = code_function_find(function, of->offset - of->is_return);
	*module_ret = of->module;
	if (!insn || insn->kind != CODE_CALL || !insn->target)
		return NULL;
	function = stack_order_function(finding->session, of->module, insn->target, &ignored);
	return function && function->entry == insn->target ? function : NULL;
}

/* The one function that it calls in its own place; NULL: none, or several. */
static const struct code_function *only_tail(const struct finding *finding, uint32_t module,
					     const struct code_function *function)
{
	const struct code_function *only = NULL;

	for (size_t i = 0; i < function->num_insns; i++) {
		const struct code_insn *insn = &function->insns[i];
		const struct code_function *called;
		struct pdb_error ignored;

		if (insn->kind != CODE_END || !insn->target)
			continue;
		called = stack_order_function(finding->session, module, insn->target, &ignored);
		if (!called || called->entry != insn->target || (only && only != called))
			return NULL;
		only = called;
	}
	return only;
}

/* The function that both sides are in, or in whose place they are, called by it at its end. */
static const struct code_function *common_function(const struct finding *finding,
						   const uint32_t nodes[2], uint32_t *module_ret)
{
	uint32_t known = nodes[0] != CALLPATH_NONE ? nodes[0] : nodes[1];
	const struct callpath_node *of = callpaths_get(finding->session->job->callpaths, known);
	const struct code_function *called = called_by(finding, of->parent, module_ret);
	const struct code_function *functions[2] = {NULL, NULL};

	for (int side = 0; side < 2; side++)
		if (nodes[side] != CALLPATH_NONE && is_own(finding, nodes[side]))
			functions[side] = function_of(finding, nodes[side]);
	for (int i = 0; called && i < MAX_TAILS; i++) {
		const struct code_function *tail = only_tail(finding, *module_ret, called);

		if (called == functions[0] || called == functions[1] || !tail)
			break;
		called = tail;
	}
	if (called)
		return called;
	*module_ret = of->module;
	if (nodes[0] != CALLPATH_NONE && nodes[1] != CALLPATH_NONE)
		return functions[0] == functions[1] ? functions[0] : NULL;
	return functions[nodes[0] == CALLPATH_NONE];
}

/* In the function that the nodes are in; CALLPATH_NONE: that side has left it. The next ones are
 * those of the frames inwards. */
static enum cause_result look_at(struct finding *finding, struct pair *pair, uint32_t nodes[2],
				 struct caused *ret)
{
	const struct callpaths *callpaths = finding->session->job->callpaths;
	const struct code_function *function = common_function(finding, nodes, &pair->module);
	struct cause_branch *branches;
	enum cause_result result = CAUSE_NOT_KNOWN;
	bool is_known = true, *is_tail = pair->is_tail, is_behind[2] = {false, false};
	struct flow *flow;
	size_t num;

	if (!function)
		return CAUSE_NOT_KNOWN;
	flow = flow_create(function);
	pair->places.flow = flow;
	pair->num_wanted = 0;
	for (int side = 0; side < 2; side++) {
		uint32_t node = nodes[side];

		pair->nodes[side] = pair->nodes_of[side] = node;
		is_tail[side] = false;
		pair->places.has_left[side] = node == CALLPATH_NONE;
		pair->places.is_in_library[side] = false;
		pair->places.num_copies[side] = 0;
		if (pair->places.has_left[side])
			continue;
		is_tail[side] = !is_own(finding, node) || function_of(finding, node) != function;
		if (is_tail[side]) {
			/* Its frame is gone. */
			pair->nodes[side] = CALLPATH_NONE;
			is_known &=
				find_tail(finding, pair->module, flow, node, &pair->places, side);
			pair->places.is_in_library[side] = !is_own(finding, node);
			continue;
		}
		is_known &= find_place(finding, flow, node, &pair->places.place[side]) &&
			    !is_recursive(finding, pair->groups[side]->example, node);
		if (is_known)
			find_copies(finding, pair, side);
		pair->places.is_in_library[side] = !is_own(
			finding, cause_inner_frame(callpaths, pair->groups[side]->example, node));
	}
	if (is_known) {
		num = cause_branches(finding->arena, &pair->places, &branches, &is_known);
		if (is_known && !num)
			result = CAUSE_ELSEWHERE;
		else if (is_known && num <= MAX_BRANCHES)
			result = cause_choose_by_values(finding, pair, branches, num, ret);
	}
	/* Who is behind has not come out of a function that it has called. */
	for (int side = 0; side < 2 && result == CAUSE_ELSEWHERE; side++)
		is_behind[side] = pair->places.has_left[!side] ||
				  (!pair->places.has_left[side] && pair->places.earlier < 0 &&
				   flow_compare(flow, pair->places.place[side],
						pair->places.place[!side]) == FLOW_BEFORE);
	flow_destroy(flow);
	if (is_behind[0] == is_behind[1])
		return result == CAUSE_ELSEWHERE ? CAUSE_NOT_KNOWN : result;
	for (int side = 0; side < 2; side++) {
		if (!is_behind[side])
			nodes[side] = CALLPATH_NONE;
		else if (is_tail[side])
			return CAUSE_NOT_KNOWN;
		else
			nodes[side] = cause_inner_frame(callpaths, pair->groups[side]->example,
							nodes[side]);
	}
	return result;
}

/* The text of a line of the source; NULL: its file is not here, or lines may have moved in it. */
static const char *read_source(const struct finding *finding, uint32_t node)
{
	const struct job *job = finding->session->job;
	const struct name *name = names_get(job->names, node);
	struct arena *scratch SCOPED(arena) = arena_create();
	const struct source *source = NULL;
	struct pdb_error ignored;
	bool is_newer;
	const char *text;
	size_t length;

	if (name->full_file && name->line > 0)
		source = list_open(finding->session, scratch,
				   callpaths_get(job->callpaths, node)->module, name->full_file,
				   &is_newer, &ignored);
	if (!source || is_newer || (size_t)name->line > source->num)
		return NULL;
	text = source->lines[name->line - 1];
	text += strspn(text, " \t");
	length = strlen(text);
	while (length && (text[length - 1] == ' ' || text[length - 1] == '{'))
		length--;
	return length ? arena_strndup(finding->arena, text,
				      length < MAX_SOURCE ? length : MAX_SOURCE)
		      : NULL;
}

static int find_earlier(const struct finding *finding, const struct pair *pair)
{
	struct temporal_reason reason;
	enum temporal_order order;

	if (pair->groups[0]->order == pair->groups[1]->order)
		return temporal_is_known(finding->order, pair->groups[0]->order) ? -1 : -2;
	order = temporal_order_of(finding->order, pair->groups[0]->order, pair->groups[1]->order,
				  &reason);
	switch (reason.cause) {
	case TEMPORAL_BY_NOTHING:
	case TEMPORAL_BY_POSITION:
	case TEMPORAL_BRANCHES:
	case TEMPORAL_OTHER_FUNCTIONS:
		return -1;
	case TEMPORAL_BY_VARIABLE:
		return order == TEMPORAL_BEFORE ? 0 : order == TEMPORAL_AFTER ? 1 : -2;
	default:
		return -2;
	}
}

/* One call has led to different functions, in the same iteration of all loops around it. */
static bool find_pointer(struct finding *finding, const struct pair *pair, const uint32_t nodes[2],
			 struct caused *ret)
{
	const struct callpaths *callpaths = finding->session->job->callpaths;
	uint32_t call = callpaths_get(callpaths, nodes[0])->parent;
	const struct code_function *function;
	const struct callpath_node *of;
	const struct code_insn *insn;
	const char *through;

	if (pair->places.earlier != -1 || !is_own(finding, call) || !is_own(finding, nodes[0]) ||
	    !is_own(finding, nodes[1]) ||
	    function_of(finding, nodes[0]) == function_of(finding, nodes[1]))
		return false;
	of = callpaths_get(callpaths, call);
	function = function_of(finding, call);
	insn = function ? code_function_find(function, of->offset - of->is_return) : NULL;
	if (!insn || insn->kind != CODE_CALL || insn->target)
		return false;
	through = values_called_through(finding->values, finding->arena,
					stack_order_reader(finding->session), of->module, function,
					insn->address);
	ret->kind = CAUSED_BY_POINTER;
	ret->node = call;
	ret->called[0] = nodes[0];
	ret->called[1] = nodes[1];
	ret->returned = NULL;
	ret->values = arena_alloc(finding->arena, sizeof(*ret->values));
	ret->num_values = 0;
	if (through) {
		ret->values[0].expression = through;
		ret->num_values = 1;
	}
	return true;
}

/* NULL: not known. */
static struct caused *find_between(struct finding *finding, size_t a, size_t b)
{
	const struct callpaths *callpaths = finding->session->job->callpaths;
	struct pair pair = {.groups = {&finding->groups[a], &finding->groups[b]}};
	struct caused *caused = arena_alloc(finding->arena, sizeof(*caused));
	uint32_t nodes[2];
	bool is_found = false;

	if (!cause_frames(callpaths, pair.groups[0]->example, pair.groups[1]->example, nodes))
		return NULL;
	pair.ranks = rankset_in(finding->arena, rankset_copy(pair.groups[0]->ranks));
	rankset_add_set(pair.ranks, pair.groups[1]->ranks);
	pair.places.earlier = find_earlier(finding, &pair);
	is_found = find_pointer(finding, &pair, nodes, caused);
	for (int i = 0; i < MAX_DEEPER && !is_found && !cause_is_late(finding); i++) {
		enum cause_result result = look_at(finding, &pair, nodes, caused);

		is_found = result == CAUSE_FOUND || result == CAUSE_LIKELY;
		if (result != CAUSE_ELSEWHERE ||
		    (nodes[0] == CALLPATH_NONE && nodes[1] == CALLPATH_NONE))
			break;
	}
	if (!is_found)
		return NULL;
	caused->ranks = rankset_in(finding->arena, rankset_copy(pair.groups[0]->ranks));
	caused->others = rankset_in(finding->arena, rankset_copy(pair.groups[1]->ranks));
	return caused;
}

/* ---- Groups ---- */

static bool is_same_place(const struct finding *finding, const struct caused *a,
			  const struct caused *b)
{
	struct names *names = finding->session->job->names;

	if (a->node != b->node || a->kind != b->kind)
		return false;
	for (int side = 0; a->kind == CAUSED_BY_POINTER && side < 2; side++)
		if (strcmp(names_function(names, a->called[side])->function,
			   names_function(names, b->called[side])->function) != 0)
			return false;
	return true;
}

/* Of all that have parted at one place one answer. */
static void add_caused(struct finding *finding, struct caused_list *list, size_t *capacity,
		       struct caused *caused)
{
	for (size_t i = 0; i < list->num; i++) {
		struct caused *old = &list->list[i];
		struct rankset *ranks, *others;

		if (!is_same_place(finding, old, caused))
			continue;
		old->is_likely |= caused->is_likely;
		ranks = rankset_in(finding->arena, rankset_copy(old->ranks));
		others = rankset_in(finding->arena, rankset_copy(old->others));
		rankset_add_set(ranks, caused->ranks);
		rankset_add_set(others, caused->others);
		old->ranks = ranks;
		old->others = others;
		return;
	}
	caused->source = read_source(finding, caused->node);
	*ARENA_PUSH(finding->arena, list->list, list->num, *capacity) = *caused;
}

/* The function that a path leads to from the last frame of the program. */
static const char *library_of(const struct finding *finding, uint32_t path, uint32_t program)
{
	const struct job *job = finding->session->job;
	uint32_t node = program == CALLPATH_NONE ? CALLPATH_NONE
						 : cause_inner_frame(job->callpaths, path, program);

	return node == CALLPATH_NONE
		       ? ""
		       : arena_strdup(finding->arena, names_function(job->names, node)->function);
}

static void add_rank(struct finding *finding, size_t order, int rank)
{
	const struct sample *sample = samples_find(finding->session->job->samples, rank, 0);
	const char *library;
	struct group *group;

	if (!sample || sample->path == CALLPATH_NONE ||
	    !callpaths_has_prefix(finding->session->job->callpaths, sample->path,
				  finding->order->groups[order].path))
		return;
	library = library_of(finding, sample->path, finding->order->groups[order].path);
	for (size_t i = 0; i < finding->num_groups; i++) {
		group = &finding->groups[i];
		if (group->order == order && !strcmp(group->library, library)) {
			rankset_add(group->ranks, rank);
			return;
		}
	}
	group = ARENA_PUSH(finding->arena, finding->groups, finding->num_groups,
			   finding->groups_capacity);
	*group = (struct group){.ranks = rankset_in(finding->arena, rankset_create()),
				.example = sample->path,
				.order = order,
				.library = library};
	rankset_add(group->ranks, rank);
}

static void make_groups(struct finding *finding)
{
	const struct temporal_result *order = finding->order;

	for (size_t i = 0; i < order->num_groups; i++) {
		const struct rankset *ranks = order->groups[i].ranks;

		for (int rank = rankset_first(ranks);
		     rank >= 0 && order->groups[i].path != CALLPATH_NONE;
		     rank = rankset_next(ranks, rank))
			add_rank(finding, i, rank);
	}
}

/* The groups to tell apart: those of `ranks` alone; if there are none, all but the largest. */
static void find_groups(struct finding *finding, const struct rankset *ranks, bool *is_apart)
{
	const struct group *groups = finding->groups;
	size_t largest = 0, num = 0;

	for (size_t i = 0; i < finding->num_groups; i++) {
		struct rankset *others SCOPED(rankset) = rankset_copy(groups[i].ranks);

		if (ranks)
			rankset_remove_set(others, ranks);
		is_apart[i] = ranks && rankset_is_empty(others);
		num += is_apart[i];
		if (rankset_count(groups[i].ranks) > rankset_count(groups[largest].ranks))
			largest = i;
	}
	for (size_t i = 0; i < finding->num_groups; i++)
		if (!num || num == finding->num_groups)
			is_apart[i] = i != largest;
}

static void find_all(struct finding *finding, const struct rankset *ranks, struct caused_list *ret)
{
	size_t num = finding->num_groups, capacity = 0;
	bool *is_apart = arena_array(finding->arena, num + 1, sizeof(*is_apart));

	find_groups(finding, ranks, is_apart);
	for (size_t a = 0; a < num && num <= STACK_ORDER_QUICK; a++)
		for (size_t b = 0; b < num && is_apart[a]; b++) {
			struct caused *caused = is_apart[b] ? NULL : find_between(finding, a, b);

			if (caused)
				add_caused(finding, ret, &capacity, caused);
		}
}

static int find_until(struct session *session, struct arena *arena, const struct rankset *ranks,
		      uint64_t until_ns, struct caused_list *ret, struct pdb_error *err)
{
	struct finding finding = {.session = session, .arena = arena, .until_ns = until_ns};

	*ret = (struct caused_list){.num = 0};
	if (session->snapshot)
		return error_set(
			err, ERROR_UNSUPPORTED,
			"a snapshot does not hold the program's variables, which tell where "
			"ranks parted.\nAsk \"cause\" while the job runs, or of its cores "
			"(pdb --core). \"order\" shows what the\nsnapshot holds of it.");
	if (session_check_memory(session, err) < 0)
		return -1;
	finding.order = stack_order_of_look(session, err);
	if (!finding.order)
		return -1;
	if (!ranks && session->verdict)
		ranks = session->verdict->culprits;
	finding.values = values_create(session->job->modules, 0);
	make_groups(&finding);
	find_all(&finding, ranks, ret);
	ret->is_late = cause_is_late(&finding);
	values_destroy(finding.values);
	return 0;
}

int find_cause(struct session *session, struct arena *arena, const struct rankset *ranks,
	       struct caused_list *ret, struct pdb_error *err)
{
	return find_until(session, arena, ranks, monotonic_ns() + LONGEST_NS, ret, err);
}

void find_cause_glance(struct session *session, struct answer *answer)
{
	const struct verdict *verdict = session->verdict;
	struct caused_list *list = arena_alloc(answer->arena, sizeof(*list));
	struct pdb_error ignored;

	if (!verdict || session->snapshot || verdict->kind == VERDICT_NONE ||
	    verdict->kind == VERDICT_CRASHED || rankset_is_empty(verdict->culprits) ||
	    !rankset_is_empty(verdict->moving) ||
	    find_until(session, answer->arena, NULL, monotonic_ns() + GLANCE_NS, list, &ignored) <
		    0 ||
	    list->is_late)
		return;
	answer->caused = list;
}
