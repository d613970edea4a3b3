/* SPDX-License-Identifier: BSD-3-Clause
 * The statistics of hang_test.h, without ranks and times: what S_out was in a healthy job so far,
 * and how long it may stay low before that is a hang. */
#ifndef PDB_ANALYSIS_HANG_MODEL_H
#define PDB_ANALYSIS_HANG_MODEL_H

#include "model/std.h"

enum {
	HANG_TOP = 100,       /* S_out in hundredths, rounded up, so that 0 is nobody outside MPI */
	HANG_LEVELS = 4,      /* tolerance levels */
	HANG_TAILS = 16,      /* stretches longer than 0, 1, 2, 4, ... 2^14 are counted apart */
	HANG_HISTORY = 65536, /* samples kept */
	HANG_CHECK_EVERY = 16, /* samples between runs tests */
};

/* Stretches of suspicions longer than `longer_than`, and by how much more than 1 in sum. */
struct hang_tail {
	uint32_t longer_than;
	uint64_t num, more;
};

struct hang_model {
	/* Set by the user of the model. */
	double alpha;       /* per hour */
	double shortest_ns; /* S_out has to be low for so long in any case */
	double novel_ns;    /* and for so long while hardly any low stretch was seen before */
	double interval_ns, max_interval_ns; /* I, and what it is not doubled beyond */

	uint8_t *values; /* S_out of the samples in order, the present stretch at the end */
	size_t num, capacity;
	uint32_t num_low;       /* length of the present stretch */
	uint32_t num_still;     /* the samples of it since somebody moved: only these count */
	uint32_t longest_still; /* the most that these ever were when somebody moved */
	int still_top;          /* the largest of them */
	uint32_t num_unchecked;
	bool is_settled;             /* no more runs tests */
	size_t counts[HANG_TOP + 1]; /* of values, without the present stretch's */

	/* What is suspicious: values <= threshold. Chosen anew when there are `next_choice`. */
	size_t next_choice;
	/* Tolerance of p: 0.3, 0.2, 0.1, 0.05; HANG_LEVELS: lower than ever seen; -1: none yet */
	int level;
	int threshold;
	size_t num_suspicious; /* without the present stretch */
	struct hang_tail tails[HANG_TAILS];
	uint32_t longest;
	uint32_t needed; /* for the present stretch, once it meets the plain rule; 0: not yet */
};

void hang_model_init(struct hang_model *model);
void hang_model_deinit(struct hang_model *model);

/* One more sample, 0 to HANG_TOP; has anyone moved since the last one? True if it doubled I. */
bool hang_model_add(struct hang_model *model, int value, bool has_moved);

/* Double I, forget every second sample, end the present stretch. */
void hang_model_double(struct hang_model *model);

/* The present stretch was healthy, too. */
void hang_model_end_stretch(struct hang_model *model);

/* How many suspicions in a row (`num_still`) make a hang, or UINT32_MAX. */
uint32_t hang_model_needed(const struct hang_model *model);
bool hang_model_is_hang(struct hang_model *model);

/* How often per hour a healthy job has a stretch as long as the present one; may be above 1. */
double hang_model_chance(const struct hang_model *model);

/* Samples that the next or first level needs, by what is known now. */
uint32_t hang_model_wanted(const struct hang_model *model);

#endif
