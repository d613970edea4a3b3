/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "attach/daemons/daemon_watch.h"
#include "attach/daemons/pdbd.h"
#include "attach/node/daemon_job.h"
#include "attach/node/watch_digest.h"
#include "attach/node/watch_look.h"
#include "model/buffer.h"
#include "model/error.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

struct daemon_watch {
	struct daemon_rank *ranks;
	size_t num_ranks;
	struct watch_look *look; /* NULL: not asked yet */
};

struct daemon_watch *daemon_watch_create(const struct daemon_rank *ranks, size_t num_ranks)
{
	struct daemon_watch *watch = xcalloc(1, sizeof(*watch));

	watch->ranks = xcalloc(num_ranks + 1, sizeof(*ranks));
	if (num_ranks)
		memcpy(watch->ranks, ranks, num_ranks * sizeof(*ranks));
	watch->num_ranks = num_ranks;
	return watch;
}

void daemon_watch_destroy(struct daemon_watch *watch)
{
	if (!watch)
		return;
	watch_look_destroy(watch->look);
	free(watch->ranks);
	free(watch);
}

void daemon_watch_answer(struct daemon_watch *watch, const uint8_t *payload, size_t length,
			 struct buffer *ret)
{
	struct pdbd_watch question;
	struct watch_digest digest;
	struct rankset *sampled;

	if (length < sizeof(question))
		return;
	memcpy(&question, payload, sizeof(question));
	sampled = rankset_deserialize(payload + sizeof(question), length - sizeof(question),
				      (int)question.num_ranks, NULL);
	if (!sampled)
		return;
	if (!watch->look)
		watch->look = watch_look_create(watch->ranks, watch->num_ranks);
	watch_digest_init(&digest);
	watch_look_take(watch->look, sampled, &digest);
	watch_digest_encode(&digest, ret);
	watch_digest_deinit(&digest);
	rankset_destroy(sampled);
}

int daemon_watch_merge(int num_ranks, struct buffer *into, const uint8_t *part, size_t length)
{
	struct watch_digest sum, other;
	int result = 0;

	if (length == 0) /* no ranks there */
		return 0;
	watch_digest_init(&sum);
	watch_digest_init(&other);
	if (watch_digest_decode(part, length, num_ranks, &other, NULL) < 0 ||
	    (into->num > 0 &&
	     watch_digest_decode(into->bytes, into->num, num_ranks, &sum, NULL) < 0)) {
		result = -1;
	} else {
		watch_digest_add(&sum, &other);
		into->num = 0;
		watch_digest_encode(&sum, into);
	}
	watch_digest_deinit(&sum);
	watch_digest_deinit(&other);
	return result;
}
