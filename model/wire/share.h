/* SPDX-License-Identifier: BSD-3-Clause
 * A share: what one node, or several nodes together, know of their ranks, in a form that is merged
 * without being understood.
 *
 * Each kind of fact is a column. A column holds each different value (item) once, and for each run
 * of ranks the row of items that these have. Items name nothing outside themselves: no index into
 * another table, times relative to the rank's own clock, peers relative to the rank. So equal ranks
 * have equal items, and merging two shares is uniting sets of byte strings. The cost follows what
 * is different.
 *
 *	node:	share_fill(share, job, NULL, SHARE_ANSWERS);  share_encode(share, &bytes);
 *	tree:	share_decode(bytes, ..., &other, &err);  share_merge(share, other, &err);
 *	pdb:	share_to_job(share, job, &err);
 *
 * docs/share-format.md tells the format in words. */
#pragma once

#include "model/base.h"

struct share;

/* What a share tells of its ranks. */
enum share_parts {
	SHARE_ANSWERS =
		1 << 0, /* all that analyses need of every rank, samples and holes included */
	/* The times of the ring, the longest stays in other states than the present one, polls by
	 * state: those of the ranks that have them. */
	SHARE_DETAILS = 1 << 1,
	SHARE_NAMES = 1 << 2, /* of the frames; asks job->names for all of them */
	SHARE_ALL = SHARE_ANSWERS | SHARE_DETAILS | SHARE_NAMES,
	/* Of stack samples no times and no numbers of threads, in which all ranks differ: the same
	 * stack is the same whoever has it. For main threads, whose number is their process's. */
	SHARE_STACKS_ONLY = 1 << 3,
	SHARE_CODE = 1 << 4, /* the functions of job->code, with their variables */
	/* The traces of every lane: asked for by themselves. */
	SHARE_TRACES = 1 << 5,
	SHARE_ANY = (1 << 6) - 1,
};

enum { SHARE_MAX_RANKS = 16 << 20 };

struct share *share_create(void);
void share_destroy(struct share *share); /* NULL is fine */

/* Put what `job` knows of `ranks` (NULL: of all) into an empty share. The job's process table is
 * left out: whoever asks has one. */
void share_fill(struct share *share, const struct job *job, const struct rankset *ranks,
		unsigned int parts);

/* Add what `from` tells. ERROR_FORMAT and no change if both tell of the same rank, or one tells
 * SHARE_ANSWERS or SHARE_DETAILS and the other does not. An empty share takes all. */
int share_merge(struct share *into, const struct share *from, struct pdb_error *err);

/* Append the share to *out: compressed, with a checksum. -1: zstd failed. */
int share_encode(const struct share *share, struct buffer *out, struct pdb_error *err);
/* From untrusted bytes, which must be one whole share; ranks must be below num_ranks. Memory is
 * bounded by the size. ERROR_FORMAT or ERROR_VERSION and no share on failure. */
int share_decode(const uint8_t *bytes, size_t size, int num_ranks, struct share **share_ret,
		 struct pdb_error *err);

/* Fill a job that has no models and samples yet, with what a share with SHARE_ANSWERS tells; items
 * are checked as if they came from segments. Of ranks without details the entries of rings have
 * time 0, no polls are known, and of the longest stays only those that verdicts go by; their lanes
 * share tables. On failure (ERROR_FORMAT) the job is to be destroyed. */
int share_to_job(const struct share *share, struct job *job, struct pdb_error *err);
/* Add the details and traces of some ranks to a job made from answers of the same moment. Details
 * of another moment are left out; a trace that is not valid there leaves a note. */
int share_add(const struct share *share, struct job *job, struct pdb_error *err);

/* How many ranks have a model in it. */
size_t share_num_ranks(const struct share *share);
