/* SPDX-License-Identifier: BSD-3-Clause
 * What daemons, and pdb's own processes, tell each other. The first byte says what it is. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"
#include "attach/daemons/overlay.h"
#include "attach/daemons/stream.h"
#include "attach/gdb/gdb_order.h"
#include "attach/node/daemon_job.h"
#include "attach/node/watch_digest.h"
#include "model/buffer.h"
#include "model/job/code.h"
#include "model/wire/code_bytes.h"
#include "model/error.h"
#include "model/job/modules.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "pmix/reply.h"
#include "tests/fuzz/fuzz.h"

enum { RANKS = 4096, DAEMONS = 64 };

static void take_message(const uint8_t *bytes, size_t size)
{
	struct overlay_message message;

	if (overlay_take(bytes, size, DAEMONS, &message))
		overlay_ranges_deinit(&message.ranges);
}

static void take_digest(const uint8_t *bytes, size_t size)
{
	struct watch_digest digest, sum;
	struct pdb_error err;

	watch_digest_init(&digest);
	watch_digest_init(&sum);
	if (!watch_digest_decode(bytes, size, RANKS, &digest, &err))
		watch_digest_add(&sum, &digest);
	watch_digest_deinit(&sum);
	watch_digest_deinit(&digest);
}

static void take_table(const uint8_t *bytes, size_t size)
{
	struct proctable *table;
	struct pdb_error err;

	if (!reply_take_table(bytes, size, &table, &err))
		proctable_destroy(table);
}

static void take_spawned(const uint8_t *bytes, size_t size)
{
	struct pdb_error err;
	char *name;

	if (!reply_take_spawned(bytes, size, &name, &err))
		free(name);
}

static void take_job(const uint8_t *bytes, size_t size)
{
	struct daemon_rank *ranks;

	daemon_job_take(bytes, size, &ranks);
	free(ranks);
}

static void take_scan(const uint8_t *bytes, size_t size)
{
	struct proctable *table = proctable_create();
	struct pdb_error err;

	daemon_job_take_found(bytes, size, table, &err);
	proctable_destroy(table);
}

static void take_order(const uint8_t *bytes, size_t size)
{
	struct gdb_order order;
	struct pdb_error err;

	if (!gdb_order_decode(bytes, size, &order, &err))
		gdb_order_deinit(&order);
}

static void take_question(const uint8_t *bytes, size_t size)
{
	struct modules *modules = modules_create();
	struct code_question question;

	if (!code_bytes_take_question(bytes, size, modules, &question))
		code_question_deinit(&question);
	modules_destroy(modules);
}

static void take_ranks(const uint8_t *bytes, size_t size)
{
	struct pdb_error err;
	struct rankset *set = rankset_deserialize(bytes, size, RANKS, &err);

	if (set && rankset_count(set) > RANKS)
		abort();
	rankset_destroy(set);
}

static void take_invitation(const uint8_t *bytes, size_t size)
{
	struct link_invitation invitation;
	struct pdb_error err;
	char *text = fuzz_text(bytes, size);

	link_invitation_decode(text, &invitation, &err);
	free(text);
}

/* Messages, each behind its length (2 bytes), for the end of a stream that a socket is behind. */
static void take_stream(const uint8_t *bytes, size_t size)
{
	struct stream_message message;
	struct stream *stream;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0)
		abort();
	stream = stream_create(7, fds[0], STREAM_SOCKET);
	while (size > 2 && !stream_is_over(stream)) {
		size_t length = fuzz_take(&bytes, &size, 2);

		if (length > size)
			length = size;
		if (length > sizeof(message))
			length = sizeof(message);
		memcpy(&message, bytes, length);
		bytes += length;
		size -= length;
		if (length >= STREAM_HEAD)
			stream_take(stream, &message, length);
		stream_next(stream, &message);
	}
	stream_destroy(stream);
	close(fds[1]);
}

static void (*const takers[])(const uint8_t *bytes, size_t size) = {
	take_message, take_digest,   take_table, take_spawned,    take_job,    take_scan,
	take_order,   take_question, take_ranks, take_invitation, take_stream,
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint32_t kind = fuzz_take(&bytes, &size, 1);

	if (kind < sizeof(takers) / sizeof(takers[0]))
		takers[kind](bytes, size);
	return 0;
}
