/* SPDX-License-Identifier: BSD-3-Clause
 * The one connection between pdb and rank 0 of its daemons.
 *
 * pdb listens for as long as its daemons take to start, and hands them an invitation (where it
 * listens, and a secret) on a way that others cannot see: an environment, a standard input, never a
 * command line. Rank 0 of the daemons connects. Each side proves to the other that it knows the
 * secret, pdb stops listening, and from then on every byte is encrypted and authenticated in its
 * place: nothing can be read, changed, repeated, left out or put in by others
 * (docs/daemons.md).
 *
 * What goes over it: frames, of a type and a payload that the callers give a meaning; and the
 * messages of streams (stream.h), such as what is typed for a gdb and what that prints. A channel
 * is a stream with an end in a socket here.
 *
 * There are no threads. A link does its work inside link_send() and link_receive(), the channels'
 * too. Every wait is bounded by a struct link_limit. Not safe for use by two threads at a time. */
#ifndef PDB_ATTACH_LINK_H
#define PDB_ATTACH_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct link;
struct link_listener;
struct pdb_error;

/* How long to wait. */
struct link_limit {
	uint64_t until_ns; /* CLOCK_MONOTONIC; UINT64_MAX: for ever. ERROR_TIMEOUT after that */
	int cancel_fd; /* ERROR_INTERRUPTED when it gets readable (interrupt_fd(), a pidfd); -1 */
};

/* ---- pdb's side: listen ---- */

#define LINK_MAX_ADDRESSES 16

/* Listen on a port that the system picks, with a new secret, at all addresses of this host that others
 * can use, up to LINK_MAX_ADDRESSES, and the loopback. NULL: ERROR_SYSTEM. */
struct link_listener *link_listen(struct pdb_error *err);

/* Stops listening. */
void link_listener_destroy(struct link_listener *listener);

/* The invitation: one word of printable ASCII without blanks. It holds the secret. The caller frees
 * it with link_forget(). */
char *link_invitation(const struct link_listener *listener);

/* Wait for the daemons. Connections that do not prove that they know the secret are dropped: at
 * once when they say something else, else after ten seconds; they hold up nobody. Listening stops
 * with the first that does. NULL: ERROR_TIMEOUT and ERROR_INTERRUPTED, after which it may be called
 * again; ERROR_SYSTEM; ERROR_GONE when the daemons have come already. */
struct link *link_accept(struct link_listener *listener, const struct link_limit *limit,
			 struct pdb_error *err);

/* ---- The daemons' side: connect ---- */

/* Take the invitation out of an environment variable, and out of the environment, so that no
 * program started from here has it. The caller frees it with link_forget(). NULL: not set. */
char *link_invitation_take(const char *variable);

/* Overwrite an invitation and free it. NULL is fine. */
void link_forget(char *invitation);

/* Connect to all addresses of the invitation at once; the one that pdb accepts is it. NULL:
 * ERROR_FORMAT and ERROR_VERSION when it is no invitation, or none of this version; ERROR_GONE when
 * nobody who knows the secret is there, with the reason for each address; ERROR_TIMEOUT;
 * ERROR_INTERRUPTED. */
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

/* free() the payload. */
void link_frame_deinit(struct link_frame *frame);

/* Send a frame; returns when the kernel has all of it. While it waits it takes in what comes, up to
 * one frame, so two that send to each other do not block. -1: ERROR_TIMEOUT, ERROR_INTERRUPTED,
 * ERROR_GONE, ERROR_FORMAT (from what came in), ERROR_USAGE (too long, or not a type of the
 * callers). After any but the last the link is of no more use, since a part may have gone. */
int link_send(struct link *link, uint32_t type, const void *payload, size_t length,
	      const struct link_limit *limit, struct pdb_error *err);

/* Wait for the next frame; the caller frees it with link_frame_deinit(). -1: ERROR_TIMEOUT and
 * ERROR_INTERRUPTED, after which the link is as before (cancel_fd may end a wait that was only for
 * the channels' sake); ERROR_GONE: the other side has closed it, died, or given no sign of life;
 * ERROR_FORMAT: what came was changed on its way or is no frame. After these two the link is of no
 * more use: whatever is done with it gives the same error again. */
int link_receive(struct link *link, struct link_frame *ret, const struct link_limit *limit,
		 struct pdb_error *err);

/* How many bytes have come so far: whether a long frame is on its way. */
uint64_t link_num_received(const struct link *link);

/* Say good-bye, without waiting, and close; ends the channels. NULL is fine. */
void link_destroy(struct link *link);

/* The other side's kernel is asked for a sign of life: when none comes for about this long (60 s
 * unless set here) the link ends with ERROR_GONE. A process that is stopped is alive, unless it
 * leaves data unread for as long. */
void link_set_patience(struct link *link, unsigned seconds);

/* The other end's address, such as "10.0.0.2:40123"; valid as long as the link. */
const char *link_peer(const struct link *link);

/* ---- Streams ---- */

#define LINK_MAX_CHANNELS 64

/* A channel: one end of a new socket pair is the end of a stream, *fd_ret is the other
 * (close-on-exec), the caller's. Each number is used once in a link's life. A side opens it before
 * it lets the other know the number, or when it has received the frame that says it: until then
 * bytes for it are answered with its end. A process that stands between fd and a terminal calls
 * relay_run() of attach/daemons/relay.h. -1: ERROR_USAGE: too many, or in use; ERROR_SYSTEM. */
int link_channel_open(struct link *link, uint32_t number, int *fd_ret, struct pdb_error *err);

/* End it on both sides. The other side's socket still gets what was sent to it before. */
void link_channel_close(struct link *link, uint32_t number);

/* For who has no channels but passes streams on: messages come as frames of the type LINK_STREAM. */
void link_pass_streams(struct link *link);

/* Send a message of a stream without waiting. False: so much waits to be sent already that somebody
 * does not keep to his window. */
bool link_pass(struct link *link, const void *message, size_t length);

#endif
