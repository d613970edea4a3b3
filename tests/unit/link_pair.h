/* SPDX-License-Identifier: BSD-3-Clause
 * Both ends of a link in one process, for the tests of it. */
#ifndef PDB_TESTS_LINK_PAIR_H
#define PDB_TESTS_LINK_PAIR_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"
#include "model/monotonic.h"
#include "tests/unit/unit.h"

static inline struct link_limit within_ms(unsigned ms)
{
	return (struct link_limit){monotonic_ns() + ms * UINT64_C(1000000), -1};
}

/* For what is expected to come; long, since the machine may be busy. */
static inline struct link_limit soon(void)
{
	return within_ms(100000);
}

/* link_connect() in a thread of its own. */
struct connecting {
	pthread_t thread;
	char *invitation;
	struct link *link;
	struct pdb_error err;
};

static inline void *connect_thread(void *argument)
{
	struct connecting *connecting = argument;
	struct link_limit limit = soon();

	connecting->link = link_connect(connecting->invitation, &limit, &connecting->err);
	return NULL;
}

static inline void connecting_start(struct connecting *connecting, const char *invitation)
{
	connecting->invitation = strdup(invitation);
	assert_int_equal(pthread_create(&connecting->thread, NULL, connect_thread, connecting), 0);
}

/* The link, or NULL with connecting->err. */
static inline struct link *connecting_end(struct connecting *connecting)
{
	pthread_join(connecting->thread, NULL);
	free(connecting->invitation);
	return connecting->link;
}

struct pair {
	struct link *pdb, *daemon;
	struct pdb_error err;
};

static inline struct link_listener *listen_here(void)
{
	struct pdb_error err = {0};
	struct link_listener *listener = link_listen(&err);
	size_t last = 0;

	if (!listener)
		fail_msg("%s", err.text);
	/* At the loopback only. */
	while (last < listener->num_addresses &&
	       strncmp(listener->addresses[last], "127.0.0.1:", 10) != 0)
		last++;
	assert_true(last < listener->num_addresses);
	if (last > 0)
		memcpy(listener->addresses[0], listener->addresses[last], LINK_ADDRESS_TEXT);
	listener->num_addresses = 1;
	return listener;
}

static inline void pair_init(struct pair *pair)
{
	struct link_listener *listener = listen_here();
	char *invitation = link_invitation(listener);
	struct link_limit limit = soon();
	struct connecting connecting;

	memset(pair, 0, sizeof(*pair));
	connecting_start(&connecting, invitation);
	pair->pdb = link_accept(listener, &limit, &pair->err);
	pair->daemon = connecting_end(&connecting);
	if (!pair->pdb || !pair->daemon)
		fail_msg("%s %s", pair->err.text, connecting.err.text);
	link_forget(invitation);
	link_listener_destroy(listener);
}

static inline void pair_deinit(struct pair *pair)
{
	link_destroy(pair->pdb);
	link_destroy(pair->daemon);
}

/* `link` gets this frame next. */
static inline void assert_receives(struct link *link, uint32_t type, const void *bytes,
				   size_t length)
{
	struct link_limit limit = soon();
	struct pdb_error err = {0};
	struct link_frame frame;

	if (link_receive(link, &frame, &limit, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(frame.type, type);
	assert_int_equal(frame.length, length);
	if (length)
		assert_memory_equal(frame.payload, bytes, length);
	link_frame_deinit(&frame);
}

/* `link` gets no frame but this error, and the same when asked again. */
static inline void assert_ends(struct link *link, enum error_code code, const char *part)
{
	for (int i = 0; i < 2; i++) {
		struct link_limit limit = soon();
		struct pdb_error err = {0};
		struct link_frame frame;

		assert_int_equal(link_receive(link, &frame, &limit, &err), -1);
		assert_error(&err, code, part);
	}
}

static inline void assert_sends(struct link *link, uint32_t type, const void *bytes, size_t length)
{
	struct link_limit limit = soon();
	struct pdb_error err = {0};

	if (link_send(link, type, bytes, length, &limit, &err) < 0)
		fail_msg("%s", err.text);
}

/* Bytes that no compression, repetition or shift leaves as they are. */
static inline uint8_t *make_bytes(size_t length)
{
	uint8_t *bytes = malloc(length ? length : 1);
	uint32_t x = 12345;

	for (size_t i = 0; i < length; i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(x >> 24);
	}
	return bytes;
}

#endif
