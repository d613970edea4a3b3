/* SPDX-License-Identifier: BSD-3-Clause
 * What ranks and nodes used (model/job/usage.h) as items of a share. */
#ifndef PDB_MODEL_USAGE_BYTES_H
#define PDB_MODEL_USAGE_BYTES_H

struct codec;
struct usage_node;
struct usage_rank;

/* Without the rank. What is read is the caller's, to be ended by usage_rank_deinit() and
 * usage_node_deinit(), also where it was bad. */
void usage_bytes_rank(struct codec *c, struct usage_rank *rank);
void usage_bytes_node(struct codec *c, struct usage_node *node);

#endif
