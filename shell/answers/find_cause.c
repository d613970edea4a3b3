/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cause/cause.h"
#include "analysis/cause/cause_frames.h"
#include "analysis/stacks/temporal.h"
#include "analysis/values/value_groups.h"
#include "analysis/verdict/verdict.h"
#include "attach/code/code.h"
#include "attach/values/values.h"
#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/job/value_type.h"
#include "render/caused.h"
#include "render/printed.h"
#include "shell/answers/find_cause.h"
#include "shell/answers/print_values.h"
#include "shell/answers/stack_order.h"
#include "shell/session.h"

enum { MAX_BRANCHES = 64, MAX_DEEPER = 16, MAX_SOURCE = 100, MAX_LINE = 4096 };

/* Ranks with the same stack, up to the function of a library that they have called. */
struct group {
	struct rankset *ranks;
	uint32_t example; /* the lowest rank's whole path */
	size_t order;     /* in finding.order */
	const char *library;
};

struct finding {
	struct session *session;
	struct arena *arena;
	struct values *values;
	struct temporal_result *order;
	struct group *groups;
	size_t num_groups, groups_capacity;
};

/* A variable that a branch goes by. */
struct wanted {
	const char *name, *function;
	const struct value_type *type;
	struct printed printed;
	/* Of a side at whose place it is known to be where the branch had it: what reads it there. */
	struct code_probe probes[2];
	bool has_probe[2];
	struct value_reading *readings;
	size_t num_readings;
	const struct value_groups *groups; /* of all ranks of the pair */
};

/* Two groups of ranks, and the function in which they part. */
struct pair {
	const struct group *groups[2];
	uint32_t module;
	struct cause_places places;
	struct rankset *ranks; /* of both */
	uint32_t nodes[2];     /* of its frames; CALLPATH_NONE: has_left */
	struct wanted *wanted;
	size_t num_wanted, wanted_capacity;
};

struct judged {
	struct condition condition;
	bool is_known;
	int left, right;         /* in pair.wanted; -1: none */
	bool is_unchanged[2][2]; /* [side][left, right] */
};

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

/* Collectives that nobody leaves before all have come. */
static bool waits_together(const struct finding *finding, uint32_t path)
{
	static const char *const names[] = {
		"MPI_Barrier",    "MPI_Allreduce",      "MPI_Allgather",
		"MPI_Allgatherv", "MPI_Alltoall",       "MPI_Alltoallv",
		"MPI_Alltoallw",  "MPI_Reduce_scatter", "MPI_Reduce_scatter_block",
	};
	const struct job *job = finding->session->job;

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

static uint32_t node_of(const struct finding *finding, const struct pair *pair, uint64_t address)
{
	return callpaths_intern(finding->session->job->callpaths, CALLPATH_NONE, pair->module,
				address, false);
}

/* ---- Values ---- */

static int want(struct finding *finding, struct pair *pair, const struct condition_term *term)
{
	for (size_t i = 0; term->name && i < pair->num_wanted; i++) {
		const struct wanted *wanted = &pair->wanted[i];

		if (!strcmp(wanted->name, term->name) &&
		    !strcmp(wanted->function ?: "", term->function ?: ""))
			return (int)i;
	}
	if (!term->name)
		return -1;
	*ARENA_PUSH(finding->arena, pair->wanted, pair->num_wanted, pair->wanted_capacity) =
		(struct wanted){.name = term->name, .function = term->function, .type = term->type};
	return (int)pair->num_wanted - 1;
}

/* One function's variables at a time, whose frame print_values() looks for. */
static void read_wanted(struct finding *finding, struct pair *pair)
{
	const char **names = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*names));
	struct printed *printed =
		arena_array(finding->arena, pair->num_wanted + 1, sizeof(*printed));
	bool *done = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*done));

	for (size_t i = 0; i < pair->num_wanted; i++) {
		const char *function = pair->wanted[i].function;
		struct pdb_error ignored;
		size_t num = 0;

		if (done[i])
			continue;
		for (size_t k = i; k < pair->num_wanted; k++)
			if (!strcmp(pair->wanted[k].function ?: "", function ?: ""))
				names[num++] = pair->wanted[k].name;
		if (print_values(finding->session, finding->arena, names, num, function,
				 pair->ranks, printed, &ignored) < 0)
			num = 0;
		for (size_t k = i, at = 0; k < pair->num_wanted; k++) {
			if (strcmp(pair->wanted[k].function ?: "", function ?: "") != 0)
				continue;
			done[k] = true;
			if (at < num)
				pair->wanted[k].printed = printed[at++];
		}
	}
}

/* Where the branch had it, it is what it was, even if debug information has it no more. */
static void want_there(const struct finding *finding, struct pair *pair,
		       const struct condition_term *term, int number, int side)
{
	const struct callpath_node *node;
	struct wanted *wanted;

	if (number < 0 || pair->nodes[side] == CALLPATH_NONE || !term->is_known ||
	    !term->has_place || term->place.size > 8 ||
	    (term->place.kind == CODE_MEMORY && term->place.reg != CODE_CFA))
		return;
	wanted = &pair->wanted[number];
	node = callpaths_get(finding->session->job->callpaths, pair->nodes[side]);
	wanted->has_probe[side] = true;
	wanted->probes[side] =
		(struct code_probe){.module = node->module,
				    .offset = node->offset,
				    .is_return = node->is_return,
				    .size = term->place.size,
				    .value = {.is_known = true,
					      .num_terms = 1,
					      .terms = {{.place = term->place, .factor = 1}}}};
}

static const struct sample_value *find_value(const struct sample *sample, uint32_t depth,
					     uint32_t probe)
{
	for (size_t i = 0; i < sample->num_values; i++)
		if (sample->values[i].depth == depth && sample->values[i].probe == probe)
			return &sample->values[i];
	return NULL;
}

static void add_reading(const struct finding *finding, struct wanted *wanted, int rank,
			const uint8_t *bytes, const struct value_type *type)
{
	struct value_reading *reading = &wanted->readings[wanted->num_readings++];

	*reading = (struct value_reading){
		.rank = rank, .has_value = true, .text = value_text(finding->arena, type, bytes)};
	reading->is_number = value_number(type, bytes, &reading->number);
}

/* What the ranks of a side have there. */
static void take_probes(const struct finding *finding, struct pair *pair,
			const struct samples *samples, int side, const uint32_t *numbers)
{
	const struct callpaths *callpaths = finding->session->job->callpaths;
	const struct rankset *ranks = pair->groups[side]->ranks;

	for (size_t i = 0; i < samples->num_samples; i++) {
		const struct sample *sample = &samples->samples[i];

		if (!sample->is_main || !rankset_contains(ranks, sample->rank) ||
		    pair->nodes[side] == CALLPATH_NONE ||
		    !callpaths_has_prefix(callpaths, sample->path, pair->nodes[side]))
			continue;
		for (size_t k = 0; k < pair->num_wanted; k++) {
			struct wanted *wanted = &pair->wanted[k];
			const struct sample_value *value =
				wanted->has_probe[side]
					? find_value(sample,
						     callpaths_get(callpaths, pair->nodes[side])
							     ->depth,
						     numbers[2 * k + (size_t)side])
					: NULL;

			if (value)
				add_reading(finding, wanted, sample->rank,
					    (const uint8_t *)&value->value, wanted->type);
		}
	}
}

static void read_probes(struct finding *finding, struct pair *pair)
{
	struct code_probe *probes =
		arena_array(finding->arena, 2 * pair->num_wanted + 1, sizeof(*probes));
	uint32_t *numbers = arena_array(finding->arena, 2 * pair->num_wanted + 1, sizeof(*numbers));
	struct samples *samples;
	struct pdb_error ignored;
	size_t num = 0;

	for (size_t i = 0; i < pair->num_wanted; i++)
		for (size_t side = 0; side < 2; side++)
			if (pair->wanted[i].has_probe[side]) {
				numbers[2 * i + side] = (uint32_t)num;
				probes[num++] = pair->wanted[i].probes[side];
			}
	if (!num ||
	    session_read_probes(finding->session, pair->ranks, probes, num, &samples, &ignored) < 0)
		return;
	take_probes(finding, pair, samples, 0, numbers);
	take_probes(finding, pair, samples, 1, numbers);
	samples_destroy(samples);
}

/* Of the ranks without a value from where the branch had it, those that debug information tells. */
static void join_values(const struct finding *finding, const struct pair *pair,
			struct wanted *wanted)
{
	const struct value_groups *groups = wanted->printed.groups;
	size_t num_there = wanted->num_readings;

	for (size_t i = 0; groups && i < groups->num_values; i++) {
		const struct value_group *group = &groups->groups[i];

		for (int rank = rankset_first(group->ranks); rank >= 0;
		     rank = rankset_next(group->ranks, rank)) {
			size_t k = 0;

			while (k < num_there && wanted->readings[k].rank != rank)
				k++;
			if (k == num_there && rankset_contains(pair->ranks, rank))
				wanted->readings[wanted->num_readings++] =
					(struct value_reading){.rank = rank,
							       .text = group->text,
							       .has_value = true,
							       .is_number = group->is_number,
							       .number = group->number};
		}
	}
	wanted->groups =
		value_groups_create(finding->arena, wanted->readings, wanted->num_readings);
}

static void read_values(struct finding *finding, struct pair *pair)
{
	for (size_t i = 0; i < pair->num_wanted; i++)
		pair->wanted[i].readings =
			arena_array(finding->arena, 2 * (size_t)rankset_count(pair->ranks) + 1,
				    sizeof(struct value_reading));
	read_wanted(finding, pair);
	read_probes(finding, pair);
	for (size_t i = 0; i < pair->num_wanted; i++)
		join_values(finding, pair, &pair->wanted[i]);
}

/* The rank's value of a term's name. True for constants. */
static bool value_of(const struct pair *pair, const struct condition_term *term, int wanted,
		     int rank, double *ret)
{
	const struct value_groups *groups = wanted < 0 ? NULL : pair->wanted[wanted].groups;

	*ret = term->number;
	if (term->is_constant)
		return true;
	for (size_t i = 0; groups && i < groups->num_values; i++)
		if (groups->groups[i].is_number &&
		    rankset_contains(groups->groups[i].ranks, rank)) {
			*ret = groups->groups[i].number;
			return true;
		}
	return false;
}

/* The successor that all of a side take; CAUSE_NONE: not known. */
static uint32_t side_now(const struct pair *pair, const struct cause_branch *branch,
			 const struct judged *judged, int side)
{
	const struct rankset *ranks = pair->groups[side]->ranks;
	uint32_t now = CAUSE_NONE;

	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		double left, right;
		uint32_t to;

		if (!value_of(pair, &judged->condition.left, judged->left, rank, &left) ||
		    (judged->condition.relation != CONDITION_TABLE &&
		     !value_of(pair, &judged->condition.right, judged->right, rank, &right)))
			return CAUSE_NONE;
		if (judged->condition.relation == CONDITION_TABLE)
			right = 0;
		to = cause_successor(pair->places.flow, branch, &judged->condition, left, right);
		if (to == CAUSE_NONE || (now != CAUSE_NONE && now != to))
			return CAUSE_NONE;
		now = to;
	}
	return now;
}

static bool is_unchanged(const struct pair *pair, const struct cause_branch *branch,
			 const struct condition_term *term, int side)
{
	return term->is_constant ||
	       (term->has_place &&
		cause_is_unchanged(&pair->places, branch, (uint32_t)side, &term->place));
}

static bool is_counter(const struct pair *pair, const struct cause_branch *branch,
		       const struct condition *condition, const struct condition_term *term)
{
	if (term->is_constant || condition->is_float)
		return false;
	return term->has_place && cause_is_counter(&pair->places, branch, &term->place);
}

/* Is the side in the loop only since it has not counted as far as the others? With their bound it
 * would still be in it. */
static bool is_behind(const struct pair *pair, const struct cause_branch *branch,
		      const struct judged *judged, int side)
{
	const struct condition *condition = &judged->condition;
	bool is_left = is_counter(pair, branch, condition, &condition->left);
	bool is_right = is_counter(pair, branch, condition, &condition->right);
	bool is_ordered = condition->relation >= CONDITION_LESS &&
			  condition->relation <= CONDITION_GREATER_EQUAL;
	int example = rankset_first(pair->groups[!side]->ranks);
	double left, right, other_left, other_right;
	const struct rankset *ranks = pair->groups[side]->ranks;

	if (condition->is_float || is_left == is_right)
		return !condition->is_float && is_ordered && !condition->left.is_constant &&
		       !condition->right.is_constant && is_left;
	if (!value_of(pair, &condition->left, judged->left, example, &other_left) ||
	    !value_of(pair, &condition->right, judged->right, example, &other_right))
		return false;
	for (int rank = rankset_first(ranks); rank >= 0; rank = rankset_next(ranks, rank)) {
		if (!value_of(pair, &condition->left, judged->left, rank, &left) ||
		    !value_of(pair, &condition->right, judged->right, rank, &right))
			return false;
		if (cause_successor(pair->places.flow, branch, condition,
				    is_left ? left : other_left,
				    is_left ? other_right : right) != branch->to[side])
			return false;
	}
	return true;
}

static struct cause_evidence judge(const struct pair *pair, const struct cause_branch *branch,
				   const struct judged *judged, uint32_t line)
{
	struct cause_evidence evidence = {.line = line, .now = {CAUSE_NONE, CAUSE_NONE}};

	if (!judged->is_known)
		return evidence;
	for (int side = 0; side < 2; side++) {
		evidence.now[side] = side_now(pair, branch, judged, side);
		evidence.is_unchanged[side] = judged->is_unchanged[side][0] &&
					      (judged->condition.relation == CONDITION_TABLE ||
					       judged->is_unchanged[side][1]);
	}
	for (int side = 0; side < 2; side++)
		if (cause_is_in_loop(&pair->places, branch, (uint32_t)side))
			evidence.is_behind |= is_behind(pair, branch, judged, side);
	return evidence;
}

/* ---- The answer for two groups ---- */

/* Equal numbers stand for one line: the index of the first branch that has it. */
static uint32_t line_of(const struct finding *finding, const struct pair *pair,
			const struct cause_branch *branches, size_t i)
{
	struct names *names = finding->session->job->names;
	const struct name *name = names_get(names, node_of(finding, pair, branches[i].address));
	int line = name->line;
	const char *file = name->file ? arena_strdup(finding->arena, name->file) : "";

	for (size_t k = 0; k < i && line; k++) {
		const struct name *other =
			names_get(names, node_of(finding, pair, branches[k].address));

		if (other->line == line && other->file && !strcmp(other->file, file))
			return (uint32_t)k;
	}
	return (uint32_t)i;
}

/* The text of a line of the source, if its file is here. */
static const char *read_source(const struct finding *finding, uint32_t node)
{
	const struct name *name = names_get(finding->session->job->names, node);
	char text[MAX_LINE];
	const char *ret = NULL;
	FILE *file;

	if (!name->full_file || name->line <= 0 || !(file = fopen(name->full_file, "re")))
		return NULL;
	for (int line = 1; line <= name->line && fgets(text, sizeof(text), file); line++) {
		char *begin = text + strspn(text, " \t");
		size_t length = strcspn(begin, "\r\n");

		while (length && (begin[length - 1] == ' ' || begin[length - 1] == '{'))
			length--;
		if (line == name->line && length)
			ret = arena_strndup(finding->arena, begin,
					    length < MAX_SOURCE ? length : MAX_SOURCE);
	}
	fclose(file);
	return ret;
}

static bool is_line_of_loop(const struct pair *pair, const struct cause_branch *branch)
{
	return cause_is_in_loop(&pair->places, branch, 0) ||
	       cause_is_in_loop(&pair->places, branch, 1);
}

static void add_values(struct finding *finding, const struct pair *pair,
		       const struct judged *judged, const struct cause_evidence *evidence,
		       size_t num, uint32_t found, struct caused *ret)
{
	bool *done = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*done));

	ret->values = arena_array(finding->arena, pair->num_wanted + 1, sizeof(*ret->values));
	for (size_t i = 0; i < num; i++) {
		const struct condition *condition = &judged[i].condition;
		const int wanted[2] = {judged[i].left, judged[i].right};
		const struct condition_term *terms[2] = {&condition->left, &condition->right};

		if (evidence[i].line != evidence[found].line)
			continue;
		for (int t = 0; t < 2; t++) {
			const struct value_groups *groups =
				wanted[t] < 0 ? NULL : pair->wanted[wanted[t]].groups;
			struct caused_value *value = &ret->values[ret->num_values];

			if (terms[t]->called && !terms[t]->name)
				ret->returned = terms[t]->called;
			if (!groups || !groups->num_values || done[wanted[t]])
				continue;
			done[wanted[t]] = true;
			value->expression = terms[t]->name;
			value->groups = groups;
			for (int side = 0; side < 2; side++)
				value->may_have_changed |= !judged[i].is_unchanged[side][t];
			ret->num_values++;
		}
	}
}

static enum cause_result choose(struct finding *finding, struct pair *pair,
				const struct cause_branch *branches, size_t num, struct caused *ret)
{
	const struct code_function *function = pair->places.flow->code;
	struct judged *judged = arena_array(finding->arena, num + 1, sizeof(*judged));
	struct cause_evidence *evidence = arena_array(finding->arena, num + 1, sizeof(*evidence));
	const bool is_together[2] = {waits_together(finding, pair->groups[0]->example),
				     waits_together(finding, pair->groups[1]->example)};
	enum cause_result result;
	uint32_t found;

	for (size_t i = 0; i < num; i++) {
		struct judged *of = &judged[i];

		of->is_known = values_condition(finding->values, finding->arena,
						stack_order_reader(finding->session), pair->module,
						function, branches[i].address, &of->condition);
		of->left = want(finding, pair, &of->condition.left);
		of->right = want(finding, pair, &of->condition.right);
		for (int side = 0; side < 2; side++) {
			of->is_unchanged[side][0] =
				is_unchanged(pair, &branches[i], &of->condition.left, side);
			of->is_unchanged[side][1] =
				is_unchanged(pair, &branches[i], &of->condition.right, side);
			if (of->is_unchanged[side][0])
				want_there(finding, pair, &of->condition.left, of->left, side);
			if (of->is_unchanged[side][1])
				want_there(finding, pair, &of->condition.right, of->right, side);
		}
	}
	read_values(finding, pair);
	for (size_t i = 0; i < num; i++)
		evidence[i] =
			judge(pair, &branches[i], &judged[i], line_of(finding, pair, branches, i));
	result = cause_choose(&pair->places, branches, evidence, num, is_together, &found);
	if (getenv("PDB_CAUSE_DEBUG"))
		for (size_t i = 0; i < num; i++)
			fprintf(stderr,
				"  branch %lx line %d rel %d left %s %s right %s %s to %d %d now "
				"%d %d un %d %d "
				"behind %d\n",
				(long)branches[i].address,
				names_get(finding->session->job->names,
					  node_of(finding, pair, branches[i].address))
					->line,
				judged[i].condition.relation, judged[i].condition.left.name,
				judged[i].condition.left.called, judged[i].condition.right.name,
				judged[i].condition.right.is_constant ? "const" : "",
				(int)branches[i].to[0], (int)branches[i].to[1],
				(int)evidence[i].now[0], (int)evidence[i].now[1],
				evidence[i].is_unchanged[0], evidence[i].is_unchanged[1],
				evidence[i].is_behind);
	if (result != CAUSE_FOUND)
		return result;
	ret->node = node_of(finding, pair, branches[found].address);
	ret->kind = judged[found].condition.relation == CONDITION_TABLE ? CAUSED_BY_TABLE
		    : is_line_of_loop(pair, &branches[found])           ? CAUSED_BY_LOOP
									: CAUSED_BY_BRANCH;
	add_values(finding, pair, judged, evidence, num, found, ret);
	return result;
}

/* The jump at the end of the function by which it has called that of the node in its own place. */
static bool find_tail(const struct finding *finding, uint32_t module, const struct flow *flow,
		      uint32_t node, struct flow_place *ret)
{
	const struct code_function *function = flow->code;
	const struct code_function *called =
		is_own(finding, node) ? function_of(finding, node) : NULL;
	const char *wanted = names_function(finding->session->job->names, node)->function;
	size_t num = 0;

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
			*ret = (struct flow_place){i, true};
		num += is_it;
		if (getenv("PDB_CAUSE_DEBUG"))
			fprintf(stderr, "tail %s wanted %s\n", name, wanted);
	}
	return num == 1;
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
	bool is_known = true, is_tail[2] = {false, false}, is_behind[2] = {false, false};
	struct flow *flow;
	size_t num;

	if (getenv("PDB_CAUSE_DEBUG"))
		fprintf(stderr, "function %lx nodes %d %d\n", function ? (long)function->entry : 0,
			(int)nodes[0], (int)nodes[1]);
	if (!function)
		return CAUSE_NOT_KNOWN;
	flow = flow_create(function);
	pair->places.flow = flow;
	pair->num_wanted = 0;
	for (int side = 0; side < 2; side++) {
		uint32_t node = nodes[side];

		pair->nodes[side] = node;
		pair->places.has_left[side] = node == CALLPATH_NONE;
		pair->places.is_in_library[side] = false;
		if (pair->places.has_left[side])
			continue;
		is_tail[side] = !is_own(finding, node) || function_of(finding, node) != function;
		if (is_tail[side]) {
			/* Its frame is gone. */
			pair->nodes[side] = CALLPATH_NONE;
			is_known &= find_tail(finding, pair->module, flow, node,
					      &pair->places.place[side]);
			pair->places.is_in_library[side] = !is_own(finding, node);
			continue;
		}
		is_known &= find_place(finding, flow, node, &pair->places.place[side]) &&
			    !is_recursive(finding, pair->groups[side]->example, node);
		pair->places.is_in_library[side] = !is_own(
			finding, cause_inner_frame(callpaths, pair->groups[side]->example, node));
	}
	if (is_known) {
		num = cause_branches(finding->arena, &pair->places, &branches, &is_known);
		if (getenv("PDB_CAUSE_DEBUG"))
			fprintf(stderr, "look_at %lx: known %d num %zu earlier %d\n",
				(long)function->entry, is_known, num, pair->places.earlier);
		if (is_known && !num)
			result = CAUSE_ELSEWHERE;
		else if (is_known && num <= MAX_BRANCHES)
			result = choose(finding, pair, branches, num, ret);
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
	for (int i = 0; i < MAX_DEEPER && !is_found; i++) {
		enum cause_result result = look_at(finding, &pair, nodes, caused);

		is_found = result == CAUSE_FOUND;
		if (result != CAUSE_ELSEWHERE ||
		    (nodes[0] == CALLPATH_NONE && nodes[1] == CALLPATH_NONE))
			break;
	}
	if (!is_found)
		return NULL;
	caused->ranks = rankset_in(finding->arena, rankset_copy(pair.groups[0]->ranks));
	caused->others = rankset_in(finding->arena, rankset_copy(pair.groups[1]->ranks));
	caused->source = read_source(finding, caused->node);
	return caused;
}

/* ---- Groups ---- */

/* Of all that have parted at one place one answer. */
static void add_caused(struct finding *finding, struct caused_list *list, size_t *capacity,
		       const struct caused *caused)
{
	for (size_t i = 0; i < list->num; i++) {
		struct caused *old = &list->list[i];
		struct rankset *ranks, *others;

		if (old->node != caused->node)
			continue;
		ranks = rankset_in(finding->arena, rankset_copy(old->ranks));
		others = rankset_in(finding->arena, rankset_copy(old->others));
		rankset_add_set(ranks, caused->ranks);
		rankset_add_set(others, caused->others);
		old->ranks = ranks;
		old->others = others;
		return;
	}
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

/* The groups to tell apart: those of `ranks`; without any, all but the largest. */
static void find_groups(struct finding *finding, const struct rankset *ranks, bool *is_apart)
{
	const struct group *groups = finding->groups;
	size_t largest = 0;

	for (size_t i = 0; i < finding->num_groups; i++)
		if (rankset_count(groups[i].ranks) > rankset_count(groups[largest].ranks))
			largest = i;
	for (size_t i = 0; i < finding->num_groups; i++)
		is_apart[i] = ranks && !rankset_is_empty(ranks)
				      ? rankset_meets(groups[i].ranks, ranks)
				      : i != largest;
}

static void find_all(struct finding *finding, const struct rankset *ranks, struct caused_list *ret)
{
	size_t num = finding->num_groups, capacity = 0;
	bool *is_apart = arena_array(finding->arena, num + 1, sizeof(*is_apart));

	find_groups(finding, ranks, is_apart);
	for (size_t a = 0; a < num && num <= STACK_ORDER_QUICK; a++)
		for (size_t b = 0; b < num && is_apart[a]; b++) {
			const struct caused *caused =
				is_apart[b] ? NULL : find_between(finding, a, b);

			if (caused)
				add_caused(finding, ret, &capacity, caused);
		}
}

int find_cause(struct session *session, struct arena *arena, const struct rankset *ranks,
	       struct caused_list *ret, struct pdb_error *err)
{
	struct rankset *all SCOPED(rankset) = proctable_ranks(session->job->proctable);
	struct finding finding = {.session = session, .arena = arena};

	*ret = (struct caused_list){.num = 0};
	if (session_check_memory(session, err) < 0)
		return -1;
	finding.order = stack_order_compare(session, all, STACK_ORDER_QUICK, err);
	if (!finding.order)
		return -1;
	if (!ranks && session->verdict)
		ranks = session->verdict->culprits;
	finding.values = values_create(session->job->modules, 0);
	make_groups(&finding);
	find_all(&finding, ranks, ret);
	values_destroy(finding.values);
	temporal_result_destroy(finding.order);
	return 0;
}
