/* SPDX-License-Identifier: BSD-3-Clause
 * Rank lists of commands, resolved with the names that the session knows. */
#include "analysis/progress/eqgroup.h"
#include "analysis/stacks/temporal.h"
#include "analysis/verdict/verdict.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "shell/session.h"
#include "shell/answers/stack_order.h"

static int find_least(const struct session *session, struct rankset **ret, struct pdb_error *err)
{
	if (session->verdict && session->verdict->kind == VERDICT_UNKNOWN)
		return error_set(err, ERROR_NOT_FOUND,
				 "lp: pdb does not know which rank is behind");
	if (!session->verdict || rankset_is_empty(session->verdict->culprits))
		return error_set(err, ERROR_NOT_FOUND, "lp: no rank is behind");
	*ret = rankset_copy(session->verdict->culprits);
	return 0;
}

/* Without a recorder, groups come from the temporal order of stacks. */
static int find_group(struct session *session, const char *word, struct rankset **ret,
		      struct pdb_error *err)
{
	const struct temporal_result *order =
		session->groups ? NULL : stack_order_of_look(session, err);
	size_t num = order ? order->num_groups : session->groups ? session->groups->num_groups : 0;
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	if (!order && !session->groups)
		return -1;
	if (!*word || *end || number < 1 || number > num)
		return error_set(err, ERROR_USAGE,
				 "group \"%s\" is not a number from 1 to %zu; see \"groups\"", word,
				 num);
	*ret = rankset_copy(order ? order->groups[number - 1].ranks
				  : session->groups->groups[number - 1].ranks);
	return 0;
}

static int find_host(const struct session *session, const char *host, struct rankset **ret,
		     struct pdb_error *err)
{
	const struct proctable *table = session->job->proctable;
	struct rankset *set = rankset_create();

	for (size_t i = 0; i < table->num_procs; i++)
		if (strcmp(table->procs[i].host, host) == 0)
			rankset_add(set, table->procs[i].rank);
	if (rankset_is_empty(set)) {
		rankset_destroy(set);
		return error_set(err, ERROR_NOT_FOUND,
				 "no rank runs on host \"%s\"; see \"info hosts\"", host);
	}
	*ret = set;
	return 0;
}

/* Take one rank list at *next and move *next past it: "0,3-5", "0-63:8", "all", "lp", "group 2",
 * "host node7" (two words). The result is not empty. */
static int take(struct session *session, const struct args *args, size_t *next,
		struct rankset **ret, struct pdb_error *err)
{
	const struct proctable *table = session->job->proctable;
	size_t at = *next;
	const char *word = at < args->num_words ? args->words[at++] : NULL;
	bool is_group = word && strcmp(word, "group") == 0;
	int result;

	if (!word)
		return error_set(err, ERROR_USAGE,
				 "ranks are missing: give 0,3-5, all, lp, group N or host NAME");
	if (isdigit((unsigned char)word[0])) {
		result = rankset_decode(word, table->size, ret, err);
	} else if (strcmp(word, "all") == 0 && table->size == 0) {
		result = error_set(err, ERROR_NOT_FOUND, "the job has no ranks");
	} else if (strcmp(word, "all") == 0) {
		*ret = proctable_ranks(table);
		result = 0;
	} else if (strcmp(word, "lp") == 0) {
		result = find_least(session, ret, err);
	} else if (!is_group && strcmp(word, "host") != 0) {
		result = error_set(
			err, ERROR_USAGE,
			"\"%s\" is no list of ranks: give 0,3-5, all, lp, group N or host NAME",
			word);
	} else if (at >= args->num_words) {
		result = error_set(err, ERROR_USAGE,
				   "\"%s\" needs a word after it: group N, host NAME", word);
	} else {
		result = is_group ? find_group(session, args->words[at], ret, err)
				  : find_host(session, args->words[at], ret, err);
		at++;
	}
	if (result == 0)
		*next = at;
	return result;
}

int session_take_ranks(struct session *session, const struct args *args, size_t *next,
		       struct rankset **ret, struct pdb_error *err)
{
	struct rankset *set, *more;

	if (*next >= args->num_words) {
		*ret = session->focus ? rankset_copy(session->focus)
				      : proctable_ranks(session->job->proctable);
		return 0;
	}
	set = rankset_create();
	while (*next < args->num_words) {
		if (take(session, args, next, &more, err) < 0) {
			rankset_destroy(set);
			return -1;
		}
		rankset_add_set(set, more);
		rankset_destroy(more);
	}
	*ret = set;
	return 0;
}

int session_take_rank(struct session *session, const struct args *args, size_t *next, int *ret,
		      struct pdb_error *err)
{
	size_t first = *next;
	struct rankset *set SCOPED(rankset) = NULL;

	if (take(session, args, next, &set, err) < 0)
		return -1;
	if (rankset_count(set) > 1 && strcmp(args->words[first], "lp") != 0)
		return error_set(err, ERROR_USAGE, "this needs one rank, and \"%s\" names %d",
				 args->words[first], rankset_count(set));
	*ret = rankset_first(set);
	return 0;
}

int session_take_model_rank(struct session *session, const struct args *args, size_t *next,
			    int *ret, struct pdb_error *err)
{
	const char *why;
	int rank;

	if (session_take_rank(session, args, next, &rank, err) < 0)
		return -1;
	why = job_find_hole(session->job, rank);
	if (!rankset_contains(session->job->model->ranks, rank))
		return error_set(err, ERROR_NOT_FOUND, "rank %d has no model: %s", rank,
				 why ? why : "no recorder");
	*ret = rank;
	return 0;
}
