/* SPDX-License-Identifier: BSD-3-Clause
 * Which states of a loop mark its iterations (job_loops.h says which are chosen). */
#ifndef PDB_ANALYSIS_JOB_HEADS_H
#define PDB_ANALYSIS_JOB_HEADS_H

#include <stdint.h>

struct graph;
struct job_heads;
struct job_loop;
struct job_model;
struct loop_part;

/* jm and the graph of its states are borrowed. */
struct job_heads *job_heads_create(const struct job_model *jm, const struct graph *graph);
void job_heads_destroy(struct job_heads *jh); /* NULL is fine */

/* How many ranks visit any site of the part, and the site of the state. */
uint32_t job_heads_count_runners(struct job_heads *jh, const struct loop_part *part);
uint32_t job_heads_count_visits(const struct job_heads *jh, uint32_t state);

/* Set header, region and is_comparable of the loop, and is_head of the part if the head is more
 * than one state. The header found first is given in the loop. */
void job_heads_choose(struct job_heads *jh, struct job_loop *loop, struct loop_part *part);

#endif
