/* SPDX-License-Identifier: BSD-3-Clause
 * Shares of the job of whole_job.h, and what is done with them. */
#ifndef PDB_TESTS_UNIT_SHARE_SAMPLE_H
#define PDB_TESTS_UNIT_SHARE_SAMPLE_H

#include "model/buffer.h"
#include "model/error.h"
#include "model/wire/share.h"
#include "tests/unit/whole_job.h"

enum { NUM_RANKS = 4 };

static inline struct buffer encode(const struct share *share)
{
	struct pdb_error err = {0};
	struct buffer bytes = {0};

	if (share_encode(share, &bytes, &err) < 0)
		fail_msg("%s", err.text);
	return bytes;
}

static inline struct share *decode(const struct buffer *bytes, int num_ranks)
{
	struct pdb_error err = {0};
	struct share *share = NULL;

	if (share_decode(bytes->bytes, bytes->num, num_ranks, &share, &err) < 0)
		fail_msg("%s", err.text);
	return share;
}

/* A share of some ranks, as it comes out at the other end. */
static inline struct share *send_share(const struct job *job, const struct rankset *ranks,
				       unsigned int parts)
{
	struct share *share = share_create(), *again;
	struct buffer bytes;

	share_fill(share, job, ranks, parts);
	bytes = encode(share);
	share_destroy(share);
	again = decode(&bytes, job->proctable->size);
	free(bytes.bytes);
	return again;
}

static inline struct job *to_job(const struct share *share)
{
	struct pdb_error err = {0};
	struct job *job = job_create();

	if (share_to_job(share, job, &err) < 0)
		fail_msg("%s", err.text);
	return job;
}

static inline void merge(struct share *into, struct share *from)
{
	struct pdb_error err = {0};

	if (share_merge(into, from, &err) < 0)
		fail_msg("%s", err.text);
	share_destroy(from);
}

#endif
