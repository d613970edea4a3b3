/* SPDX-License-Identifier: BSD-3-Clause
 * A stream of bytes between descriptors of pdb and of a daemon, carried by messages: over the link
 * (link.h) to rank 0, by MPI from there on. This is the state of one end, without link and MPI.
 *
 * At most STREAM_WINDOW bytes are on the way that the other end has not yet written to its
 * descriptor. It returns what it has written as credit. So a descriptor that nobody reads blocks
 * only its own stream, with STREAM_WINDOW bytes of memory. */
#pragma once

#include "model/base.h"

#define STREAM_WINDOW 65536
#define STREAM_PIECE 8192 /* bytes of one message */

enum stream_kind {
	STREAM_DATA = 1,
	STREAM_CREDIT, /* 4 bytes: so many more may be sent */
	STREAM_EOF,    /* no more bytes from this end */
	STREAM_END,    /* this end is no more */
};

/* Sent as it is; the nodes of a job have one byte order. */
struct stream_message {
	uint32_t number; /* of the stream */
	uint32_t kind;
	uint8_t bytes[STREAM_PIECE];
};

#define STREAM_HEAD offsetof(struct stream_message, bytes)

enum stream_end {
	STREAM_SOCKET,   /* takes an end of its own in each direction */
	STREAM_TERMINAL, /* when no more is to be written, the owner is to hang up */
	STREAM_PIPE,     /* is only read */
};

struct stream;

struct stream *stream_create(uint32_t number, int fd, enum stream_end end); /* owns fd */
void stream_destroy(struct stream *stream);                                 /* NULL is fine */

uint32_t stream_number(const struct stream *stream);
int stream_fd(const struct stream *stream); /* -1: it was hung up */

/* What to wait for at fd: POLLIN, POLLOUT, both or neither. */
short stream_events(const struct stream *stream);

/* The next message for the other end: its length; 0: there is none now. */
size_t stream_next(struct stream *stream, struct stream_message *ret);

/* A message of the other end has come. One that it could not have sent ends the stream. */
void stream_take(struct stream *stream, const struct stream_message *message, size_t length);

/* The writer has ended: what is there is all, though fd's other end may be open elsewhere. */
void stream_finish(struct stream *stream);

/* The other end has no more for this terminal: hang up, now or when gdb can bear it. */
bool stream_wants_hang_up(const struct stream *stream);
void stream_hang_up(struct stream *stream);

/* All has been sent and received: destroy it. */
bool stream_is_over(const struct stream *stream);
