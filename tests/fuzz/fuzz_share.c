/* SPDX-License-Identifier: BSD-3-Clause
 * What two nodes tell, united, sent on and made a job. The bytes are the length of the first share
 * (3 bytes) and both shares as they are inside the compression and the checksum. */
#include <stdlib.h>
#include <string.h>

#include "model/hash.h"
#include "model/blobs.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/job/job.h"
#include "model/job/job_model.h"
#include "model/wire/share_private.h"
#include "tests/fuzz/fuzz.h"

enum { RANKS = 4096 };

static void put_u64(struct buffer *b, uint64_t value)
{
	buffer_put_bytes(b, &value, sizeof(value));
}

/* docs/share-format.md */
static struct share *take_share(const uint8_t *bytes, size_t size)
{
	const uint32_t version = SHARE_VERSION;
	struct buffer b = {.bytes = NULL};
	struct share *share = NULL;
	struct pdb_error err;
	uint64_t checksum;
	size_t packed;
	uint8_t *frame = fuzz_compress(bytes, size, &packed);

	buffer_put_bytes(&b, SHARE_MAGIC, 8);
	buffer_put_bytes(&b, &version, sizeof(version));
	put_u64(&b, 0);
	put_u64(&b, size);
	put_u64(&b, packed);
	buffer_put_bytes(&b, frame, packed);
	checksum = hash_bytes(b.bytes + 20, b.num - 20);
	memcpy(b.bytes + 12, &checksum, sizeof(checksum));
	if (share_decode(b.bytes, b.num, RANKS, &share, &err) < 0)
		share = NULL;
	free(b.bytes);
	free(frame);
	return share;
}

static void make_job(const struct share *share)
{
	struct job *job = job_create();
	struct pdb_error err;

	if (!share_to_job(share, job, &err)) {
		share_add(share, job, &err);
		fuzz_analyse(job);
	}
	job_destroy(job);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	size_t first = fuzz_take(&bytes, &size, 3);
	struct buffer encoded = {.bytes = NULL};
	struct share *share, *other;
	struct pdb_error err;

	if (first > size)
		first = size;
	share = take_share(bytes, first);
	other = take_share(bytes + first, size - first);
	if (share && other)
		share_merge(share, other, &err);
	if (share) {
		share_encode(share, &encoded, &err);
		make_job(share);
	}
	free(encoded.bytes);
	share_destroy(share);
	share_destroy(other);
	return 0;
}
