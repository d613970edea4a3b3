/* SPDX-License-Identifier: BSD-3-Clause */

#include "model/job/rankset.h"
#include "model/job/usage.h"

struct usage *usage_create(void)
{
	return xcalloc(1, sizeof(struct usage));
}

void usage_rank_deinit(struct usage_rank *rank)
{
	rankset_destroy(rank->allowed);
	free(rank->group);
}

void usage_node_deinit(struct usage_node *node)
{
	for (size_t i = 0; i < node->num_others; i++)
		rankset_destroy(node->others[i].processors);
}

void usage_destroy(struct usage *usage)
{
	if (!usage)
		return;
	for (size_t i = 0; i < usage->num_ranks; i++)
		usage_rank_deinit(&usage->ranks[i]);
	for (size_t i = 0; i < usage->num_nodes; i++)
		usage_node_deinit(&usage->nodes[i]);
	free(usage->ranks);
	free(usage->nodes);
	free(usage);
}

void usage_add_rank(struct usage *usage, const struct usage_rank *rank)
{
	usage->ranks = xgrow(usage->ranks, usage->num_ranks, &usage->ranks_capacity,
			     sizeof(*usage->ranks));
	usage->ranks[usage->num_ranks++] = *rank;
}

void usage_add_node(struct usage *usage, const struct usage_node *node)
{
	usage->nodes = xgrow(usage->nodes, usage->num_nodes, &usage->nodes_capacity,
			     sizeof(*usage->nodes));
	usage->nodes[usage->num_nodes++] = *node;
}

static int compare_rank(const void *rank, const void *element)
{
	/* The first member of both kinds. */
	return *(const int *)rank - *(const int *)element;
}

const struct usage_rank *usage_find(const struct usage *usage, int rank)
{
	if (!usage || !usage->num_ranks)
		return NULL;
	return bsearch(&rank, usage->ranks, usage->num_ranks, sizeof(*usage->ranks), compare_rank);
}

const struct usage_node *usage_node(const struct usage *usage, const struct usage_rank *rank)
{
	if (!usage->num_nodes)
		return NULL;
	return bsearch(&rank->node_rank, usage->nodes, usage->num_nodes, sizeof(*usage->nodes),
		       compare_rank);
}
