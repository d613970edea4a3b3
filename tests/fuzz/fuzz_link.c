/* SPDX-License-Identifier: BSD-3-Clause
 * What somebody who has proved that he knows the secret says on a link. The bytes are records
 * before their encryption: tag (1 byte), length (2 bytes), contents. One channel is joined. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"
#include "model/buffer.h"
#include "tests/fuzz/fuzz.h"

enum { CHANNEL = 1, MAX_BYTES = 60000 };

static void put_record(struct buffer *b, crypto_secretstream_xchacha20poly1305_state *send,
		       uint8_t tag, const uint8_t *plain, size_t length)
{
	uint8_t head[4], sealed[LINK_RECORD_MAX];
	size_t size = length + crypto_secretstream_xchacha20poly1305_ABYTES;

	link_put_u32(head, (uint32_t)size);
	crypto_secretstream_xchacha20poly1305_push(send, sealed, NULL, plain, length, head,
						   sizeof(head), tag);
	buffer_put_bytes(b, head, sizeof(head));
	buffer_put_bytes(b, sealed, size);
}

/* The sealed records. */
static void seal(const uint8_t *bytes, size_t size,
		 crypto_secretstream_xchacha20poly1305_state *send, struct buffer *b)
{
	while (size > 0) {
		uint8_t tag = (uint8_t)fuzz_take(&bytes, &size, 1);
		size_t length = fuzz_take(&bytes, &size, 2);

		if (length > size)
			length = size;
		put_record(b, send, tag, bytes, length);
		bytes += length;
		size -= length;
	}
}

static void receive_all(struct link *link)
{
	const struct link_limit now = {0, -1};
	struct link_frame frame;
	struct pdb_error err;

	/* Twice: what a channel has to say is found out after all has come. */
	for (int i = 0; i < 2; i++)
		while (!link_receive(link, &frame, &now, &err))
			link_frame_deinit(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static const uint8_t key[crypto_secretstream_xchacha20poly1305_KEYBYTES];
	uint8_t header[crypto_secretstream_xchacha20poly1305_HEADERBYTES];
	struct handshake handshake = {.peer = "peer"};
	struct buffer sealed = {.bytes = NULL};
	crypto_secretstream_xchacha20poly1305_state send;
	struct pdb_error err;
	struct link *link;
	int fds[2], channel;

	/* All of it is to fit into the socket. */
	if (size > MAX_BYTES || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	crypto_secretstream_xchacha20poly1305_init_push(&send, header, key);
	crypto_secretstream_xchacha20poly1305_init_pull(&handshake.receive, header, key);
	crypto_secretstream_xchacha20poly1305_init_push(&handshake.send, header, key);
	handshake.fd = fds[0];
	seal(bytes, size, &send, &sealed);
	if (sealed.num && write(fds[1], sealed.bytes, sealed.num) != (ssize_t)sealed.num)
		abort();
	free(sealed.bytes);
	link = link_create(&handshake);
	if (link_channel_open(link, CHANNEL, &channel, &err) < 0)
		abort();
	receive_all(link);
	link_destroy(link);
	close(channel);
	close(fds[1]);
	return 0;
}
