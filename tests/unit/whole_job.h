/* SPDX-License-Identifier: BSD-3-Clause
 * A job with something of everything in it, and whether two jobs are equal. */
#ifndef PDB_TESTS_UNIT_WHOLE_JOB_H
#define PDB_TESTS_UNIT_WHOLE_JOB_H

#include <stdbool.h>
#include <string.h>

#include "model/job/callpath.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/job/message_queues.h"
#include "model/job/model.h"
#include "model/job/modules.h"
#include "model/job/names.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/job/sample.h"
#include "model/xalloc.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/code_sample.h"
#include "tests/unit/unit.h"

enum { INIT = 1, SEND, RECV };

struct segment_writer *whole_job_segment(int rank, const char *program);

/* Rank 0 knows of no topology, rank 1 of one without sources, rank 2 of one whose sources are the
 * members' list. */
void whole_job_evidence(struct segment_writer *w);

/* With what is smallest and largest. */
struct message_queues *whole_job_queues(void);

void assert_same_queues(const struct message_queues *a, const struct message_queues *b);

/* in_order: ranks are added by number, else not. */
struct job *whole_job_create(bool in_order);

/* In how many frames something is inlined. */
int num_inlined(const struct job *job);

void assert_same_job_model(const struct job_model *a, const struct job_model *b);

void assert_same_contents(const struct job *a, const struct job *b);

#endif
