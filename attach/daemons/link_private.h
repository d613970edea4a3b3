/* SPDX-License-Identifier: BSD-3-Clause
 * Shared by the parts of the link.
 *
 *	link_listen.c	  pdb's side before the handshake, and the invitation's text
 *	link_connect.c	  the daemons' side of it
 *	link_handshake.c  proofs and keys, and the race of several handshakes
 *	link.c		  records, frames, channels
 *
 * After the handshake records are on the wire: a length (4 bytes, little endian, as all numbers),
 * then as many bytes, made by libsodium's secretstream of up to LINK_CHUNK bytes. They are
 * encrypted, authenticated together with the length, and numbered by their order. A frame is one
 * record or several: type (4 bytes), length of what follows (4 bytes), bytes. The secretstream's
 * tag is PUSH in a frame's last record, MESSAGE in those before it, and FINAL in the last record of
 * all, which is empty. A connection that ends without it was cut. */
#pragma once

#include <endian.h>
#include <netinet/in.h>
#include <sodium.h>

#include "attach/daemons/link.h"

#define LINK_VERSION "pdblink1" /* the first bytes of both sides, and of the invitation */
#define LINK_VERSION_SIZE 8
#define LINK_SECRET crypto_auth_KEYBYTES
#define LINK_ADDRESS_TEXT 64

static inline void link_put_u32(uint8_t *to, uint32_t value)
{
	value = htole32(value);
	memcpy(to, &value, sizeof(value));
}

static inline uint32_t link_get_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return le32toh(value);
}

/* Of an IPv4 or IPv6 address. */
static inline socklen_t link_address_size(sa_family_t family)
{
	return family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* "10.0.0.1:4711" or "[fd00::1]:4711"; a mapped IPv4 address is shown as one. */
void link_address_text(const struct sockaddr *address, char text[LINK_ADDRESS_TEXT]);

/* ---- Handshake ---- */

/* All that the two say, in this order, in bytes, so that there is no padding. The keys are made for
 * this one connection. A proof is an HMAC, under the secret, of all bytes before it: so it is of no
 * other connection, and no side's proof can be the other's. */
struct link_transcript {
	/* pdb: who is there? */
	struct {
		uint8_t version[LINK_VERSION_SIZE];
		uint8_t key[crypto_kx_PUBLICKEYBYTES];
	} challenge;
	/* The daemon. The header starts its stream of records. */
	struct {
		uint8_t version[LINK_VERSION_SIZE];
		uint8_t key[crypto_kx_PUBLICKEYBYTES];
		uint8_t header[crypto_secretstream_xchacha20poly1305_HEADERBYTES];
		uint8_t proof[crypto_auth_BYTES];
	} answer;
	/* pdb: you are it. */
	struct {
		uint8_t header[crypto_secretstream_xchacha20poly1305_HEADERBYTES];
		uint8_t proof[crypto_auth_BYTES];
	} acceptance;
};

enum handshake_side { HANDSHAKE_PDB, HANDSHAKE_DAEMON };

struct handshake {
	int fd; /* not blocking */
	enum handshake_side side;
	bool is_connecting; /* connect() is under way */
	uint64_t until_ns;
	char peer[LINK_ADDRESS_TEXT];
	uint8_t secret_key[crypto_kx_SECRETKEYBYTES];
	struct link_transcript transcript;
	uint8_t *expected; /* where in the transcript the next byte belongs */
	size_t missing;    /* bytes of this part still to come */
	crypto_secretstream_xchacha20poly1305_state send, receive;
};

#define RACE_MAX 16

/* Handshakes that run side by side until one of them is done. */
struct handshake_race {
	uint8_t secret[LINK_SECRET];
	struct handshake peers[RACE_MAX]; /* in order of age */
	size_t num_peers;
	struct pdb_error last; /* why the last peer was dropped */
	unsigned num_dropped;
};

/* Add a peer; the oldest makes room for it when there are too many. The race owns `fd`. */
void race_add(struct handshake_race *race, enum handshake_side side, int fd, bool is_connecting,
	      uint64_t until_ns, const struct sockaddr *address);

/* Wait once for the peers, `listen_fds`, and the limit. *listen_ret has a connection to accept; or
 * -1. 0: go on. 1: *winner_ret is done, whose fd is the caller's. -1: ERROR_TIMEOUT,
 * ERROR_INTERRUPTED, ERROR_SYSTEM. */
int race_wait(struct handshake_race *race, const int listen_fds[], size_t num_listen,
	      const struct link_limit *limit, int *listen_ret, struct handshake *winner_ret,
	      struct pdb_error *err);

/* Drop all peers and forget the secret. */
void race_end(struct handshake_race *race);

/* ---- Invitation ---- */

/* VERSION/SECRET/ADDRESS,ADDRESS...: in hexadecimal digits, as link_address_text() writes them. */
struct link_invitation {
	uint8_t secret[LINK_SECRET];
	struct sockaddr_storage addresses[LINK_MAX_ADDRESSES];
	size_t num_addresses;
};

int link_invitation_decode(const char *text, struct link_invitation *ret, struct pdb_error *err);

struct link_listener {
	int fds[LINK_MAX_ADDRESSES];
	size_t num_fds;
	char addresses[LINK_MAX_ADDRESSES][LINK_ADDRESS_TEXT];
	size_t num_addresses;
	uint64_t proof_ns; /* for how long a peer may owe its proof */
	struct handshake_race race;
};

/* ---- Link ---- */

#define LINK_CHUNK 65536
#define LINK_RECORD_MAX (LINK_CHUNK + crypto_secretstream_xchacha20poly1305_ABYTES)
#define LINK_OUT_BULK (2 * LINK_CHUNK) /* no more payload is put behind so many bytes */
#define LINK_OUT_MAX (16 * LINK_CHUNK) /* nothing is read that might have to be answered */

/* Bytes that are put in at the end and taken from the start. */
struct link_buffer {
	uint8_t *bytes;
	size_t start, end, capacity;
};

struct link {
	int fd;
	char peer[LINK_ADDRESS_TEXT];
	unsigned patience;       /* seconds */
	struct pdb_error broken; /* why it is of no more use; no code: it works */
	bool has_read_all;       /* the other end sends no more */
	uint64_t num_received;   /* bytes */
	crypto_secretstream_xchacha20poly1305_state send, receive;
	struct link_buffer out, in; /* records */
	/* One record that is on its way out, or in: too large for small stacks. */
	uint8_t plain_out[LINK_CHUNK], plain_in[LINK_CHUNK];
	struct link_frame frame; /* what has come of it so far, or all of it */
	size_t frame_capacity, frame_have;
	bool has_frame_start, has_frame;
	bool passes_streams;
	struct stream *channels[LINK_MAX_CHANNELS];
	size_t num_channels;
};

/* A link over a connection whose handshake is done, and is wiped. The link owns its fd. */
struct link *link_create(struct handshake *handshake);

/* Put a frame of at most LINK_CHUNK - 8 bytes into the output. */
void link_put_frame(struct link *link, uint32_t type, const void *bytes, size_t length);
