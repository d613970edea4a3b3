/* SPDX-License-Identifier: BSD-3-Clause
 * The one connection between pdb and rank 0 of its daemons (docs/daemons.md).
 *
 * pdb listens while its daemons start. It hands them an invitation (where it listens, and a secret)
 * in an environment, which others cannot see, never on a command line. Rank 0 connects. Each side
 * proves that it knows the secret, and pdb stops listening. From then on every byte is encrypted
 * and authenticated in its place: others cannot read, change, repeat, remove or insert anything.
 *
 * The link carries frames, of a type and a payload that callers define, and messages of streams
 * (stream.h), such as what is typed for a gdb. A channel is a stream with an end in a socket here.
 *
 * A link and its channels work only inside link_send() and link_receive(). There are no threads,
 * and a struct link_limit bounds every wait. Not for two threads at a time. */
#pragma once

#include "model/base.h"

struct link;
struct link_listener;

/* How long to wait. */
struct link_limit {
	uint64_t until_ns; /* CLOCK_MONOTONIC; UINT64_MAX: for ever. ERROR_TIMEOUT after that */
	int cancel_fd; /* ERROR_INTERRUPTED when it gets readable (interrupt_fd(), a pidfd); -1 */
};

/* ---- pdb's side: listen ---- */

#define LINK_MAX_ADDRESSES 16

/* Listen on a port that the system picks, with a new secret, at the loopback and all addresses of
 * this host that others can use, up to LINK_MAX_ADDRESSES. NULL: ERROR_SYSTEM. */
struct link_listener *link_listen(struct pdb_error *err);

void link_listener_destroy(struct link_listener *listener);

/* One word of printable ASCII without blanks, with the secret. link_forget() frees it. */
char *link_invitation(const struct link_listener *listener);

/* Wait for the daemons. Listening stops with the first connection that proves to know the secret.
 * Others are dropped: at once if they say something else, else after ten seconds. They delay
 * nobody. NULL: ERROR_TIMEOUT and ERROR_INTERRUPTED, after which it may be called again;
 * ERROR_SYSTEM; ERROR_GONE if the daemons have come already. */
struct link *link_accept(struct link_listener *listener, const struct link_limit *limit,
			 struct pdb_error *err);

/* ---- The daemons' side: connect ---- */

/* Take it out of a variable, so that programs started from here do not have it. NULL: not set. */
char *link_invitation_take(const char *variable);

/* Overwrite an invitation and free it. NULL is fine. */
void link_forget(char *invitation);

/* Connect to all addresses of the invitation at once, and use the one that pdb accepts. NULL:
 * ERROR_FORMAT (it is no invitation), ERROR_VERSION, ERROR_GONE (nobody there knows the secret, and
 * why, by address), ERROR_TIMEOUT, ERROR_INTERRUPTED. */
struct link *link_connect(const char *invitation, const struct link_limit *limit,
			  struct pdb_error *err);

/* ---- Both sides: frames ---- */

#define LINK_MAX_PAYLOAD (1u << 30) /* bytes */
#define LINK_MAX_TYPE 0xffffff00u   /* types from here on are the link's own */
#define LINK_STREAM LINK_MAX_TYPE   /* a message of a stream */

struct link_frame {
	uint32_t type;
	size_t length; /* bytes */
	uint8_t *payload;
};

void link_frame_deinit(struct link_frame *frame);

/* Send a frame, until the kernel has all of it. Meanwhile incoming data is read, up to one frame,
 * so two that send to each other do not block. -1: ERROR_USAGE (too long, or not a type of the
 * callers); ERROR_TIMEOUT, ERROR_INTERRUPTED, ERROR_GONE, ERROR_FORMAT (of incoming data), after
 * which the link is unusable, since a part may have gone. */
int link_send(struct link *link, uint32_t type, const void *payload, size_t length,
	      const struct link_limit *limit, struct pdb_error *err);

/* Wait for the next frame; link_frame_deinit() frees it. -1: ERROR_TIMEOUT and ERROR_INTERRUPTED,
 * after which the link is as before; ERROR_GONE (the other side has closed it, died, or given no
 * sign of life) and ERROR_FORMAT (the data was changed on its way, or is no frame), after which
 * every use of the link gives the same error. */
int link_receive(struct link *link, struct link_frame *ret, const struct link_limit *limit,
		 struct pdb_error *err);

/* How many bytes have come so far: whether a long frame is on its way. */
uint64_t link_num_received(const struct link *link);

/* Say good-bye, without waiting, and close; ends the channels. NULL is fine. */
void link_destroy(struct link *link);

/* If the other side's kernel gives no sign of life for about this long (30 s by default) the link
 * ends with ERROR_GONE. A stopped process is alive, unless it leaves data unread for as long. */
void link_set_patience(struct link *link, unsigned seconds);

/* The other end's address, "10.0.0.2:40123"; valid as long as the link. */
const char *link_peer(const struct link *link);

/* ---- Streams ---- */

#define LINK_MAX_CHANNELS 64

/* A channel: one end of a new socket pair is the end of a stream. The other is *fd_ret
 * (close-on-exec), the caller's; relay.h copies between it and a terminal. Each number is used once
 * in a link's life. A side opens the channel before it tells the number to the other, or when it
 * has received the frame with the number; bytes that come earlier are answered with the end of the
 * stream. -1: ERROR_USAGE, ERROR_SYSTEM. */
int link_channel_open(struct link *link, uint32_t number, int *fd_ret, struct pdb_error *err);

/* End it on both sides. The other side's socket still gets what was sent to it before. */
void link_channel_close(struct link *link, uint32_t number);

/* For a process without channels that passes streams on: messages come as frames of the type
 * LINK_STREAM. */
void link_pass_streams(struct link *link);

/* Send a message of a stream, without waiting. False: an end has sent more than its window. */
bool link_pass(struct link *link, const void *message, size_t length);
