/* SPDX-License-Identifier: BSD-3-Clause
 * A job from the cores of its ranks.
 *
 * core_file.c reads one core, core_stack.c what is on its stacks (environment, signals),
 * core_memory.c completes its memory. cores.c chooses cores and unwinds their threads like those of
 * living processes. */
#pragma once

#include "model/base.h"

struct code_probe;
struct cores;
struct samples;
struct words;

/* Fill the job (as job_create() makes it) from files, and from all cores in directories: process
 * table, the stacks of all threads, the signals that ended them. The rank is in the environment in
 * the core. Of two cores of one rank the newer is used, of several jobs the one with the newest
 * core. What cannot be used is told in the notes, a line each, and the rest is used;
 * ERROR_NOT_FOUND if nothing is left, with the notes in its place; ERROR_INTERRUPTED. Takes time
 * and memory in proportion to what is stored of the files. */
int cores_load(char *const *paths, size_t num_paths, struct job *job, struct words *notes,
	       struct cores **cores_ret, struct pdb_error *err);

/* Which file is the core of which rank. */
void cores_destroy(struct cores *cores); /* NULL is fine */

/* The main threads' stacks, from the files again, with the values of `num` probes. The caller
 * destroys. Files that are not there any more are passed over. */
struct samples *cores_sample(const struct cores *cores, struct job *job,
			     const struct code_probe *probes, size_t num);

/* Read the job's probes in the main threads' stacks again, from the files; the values come into the
 * job's samples. Files that are not there any more are passed over. */
void cores_read_values(const struct cores *cores, struct job *job);
