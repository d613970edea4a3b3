/* SPDX-License-Identifier: BSD-3-Clause
 * How the two ends of a link prove to each other that they know the secret, and agree on keys.
 *
 *	pdb     -> daemon   challenge:  a public key made for this connection
 *	daemon  -> pdb      answer:     another, the header of its records, proof
 *	pdb     -> daemon   acceptance: the header of its records, proof
 *
 * The records' keys come from the two key pairs alone (X25519), so who learns the secret later
 * cannot read what was said; the proofs (HMAC-SHA512-256 under the secret, over all that was said
 * before) keep everybody else out of the middle. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"
#include "model/monotonic.h"

/* ---- Addresses ---- */

void link_address_text(const struct sockaddr *address, char text[LINK_ADDRESS_TEXT])
{
	static const char mapped[] = "::ffff:";
	char host[LINK_ADDRESS_TEXT], port[8];

	if (getnameinfo(address, link_address_size(address->sa_family), host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		snprintf(text, LINK_ADDRESS_TEXT, "?");
	else if (strncmp(host, mapped, strlen(mapped)) == 0)
		snprintf(text, LINK_ADDRESS_TEXT, "%s:%s", host + strlen(mapped), port);
	else
		snprintf(text, LINK_ADDRESS_TEXT, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host,
			 port);
}

/* ---- One handshake ---- */

static void expect(struct handshake *handshake, void *part, size_t size)
{
	handshake->expected = part;
	handshake->missing = size;
}

/* All parts together are much smaller than the buffer of a new socket. */
static int say(struct handshake *handshake, const void *part, size_t size, struct pdb_error *err)
{
	ssize_t n = send(handshake->fd, part, size, MSG_NOSIGNAL);

	if (n < 0)
		return error_errno(err, "%s", handshake->peer);
	if ((size_t)n != size)
		return error_set(err, ERROR_SYSTEM, "%s: no room in a new socket", handshake->peer);
	return 0;
}

/* The proof that belongs at `place` in the transcript. */
static void prove(const struct handshake *handshake, const uint8_t secret[LINK_SECRET],
		  const uint8_t *place, uint8_t proof[crypto_auth_BYTES])
{
	const uint8_t *start = (const uint8_t *)&handshake->transcript;

	crypto_auth(proof, start, (unsigned long long)(place - start), secret);
}

static int check_proof(const struct handshake *handshake, const uint8_t secret[LINK_SECRET],
		       const uint8_t *place, struct pdb_error *err)
{
	uint8_t proof[crypto_auth_BYTES];

	prove(handshake, secret, place, proof);
	if (sodium_memcmp(proof, place, sizeof(proof)) == 0)
		return 0;
	return error_set(err, ERROR_PERMISSION, "%s does not know the secret", handshake->peer);
}

/* Derive the keys of both directions and start the own stream, whose header is to be sent. Until
 * the other's has come, its key is kept where its stream will be. */
static int start_sending(struct handshake *handshake, uint8_t *header, struct pdb_error *err)
{
	struct link_transcript *said = &handshake->transcript;
	uint8_t *receive = handshake->receive.k, send_key[crypto_kx_SESSIONKEYBYTES];
	int result =
		handshake->side == HANDSHAKE_PDB
			? crypto_kx_server_session_keys(receive, send_key, said->challenge.key,
							handshake->secret_key, said->answer.key)
			: crypto_kx_client_session_keys(receive, send_key, said->answer.key,
							handshake->secret_key, said->challenge.key);

	if (result < 0)
		return error_set(err, ERROR_FORMAT, "%s sent no key", handshake->peer);
	crypto_secretstream_xchacha20poly1305_init_push(&handshake->send, header, send_key);
	sodium_memzero(send_key, sizeof(send_key));
	return 0;
}

static int start_receiving(struct handshake *handshake, const uint8_t *header,
			   struct pdb_error *err)
{
	uint8_t key[crypto_kx_SESSIONKEYBYTES];
	int result;

	memcpy(key, handshake->receive.k, sizeof(key));
	result = crypto_secretstream_xchacha20poly1305_init_pull(&handshake->receive, header, key);
	sodium_memzero(key, sizeof(key));
	if (result < 0)
		return error_set(err, ERROR_FORMAT, "%s sent no header", handshake->peer);
	return 0;
}

static int start(struct handshake *handshake, struct pdb_error *err)
{
	struct link_transcript *said = &handshake->transcript;

	if (handshake->side == HANDSHAKE_DAEMON) {
		expect(handshake, &said->challenge, sizeof(said->challenge));
		return 0;
	}
	memcpy(said->challenge.version, LINK_VERSION, LINK_VERSION_SIZE);
	crypto_kx_keypair(said->challenge.key, handshake->secret_key);
	expect(handshake, &said->answer, sizeof(said->answer));
	return say(handshake, &said->challenge, sizeof(said->challenge), err);
}

/* The daemon has been challenged. */
static int answer(struct handshake *handshake, const uint8_t secret[LINK_SECRET],
		  struct pdb_error *err)
{
	struct link_transcript *said = &handshake->transcript;

	memcpy(said->answer.version, LINK_VERSION, LINK_VERSION_SIZE);
	crypto_kx_keypair(said->answer.key, handshake->secret_key);
	if (start_sending(handshake, said->answer.header, err) < 0)
		return -1;
	prove(handshake, secret, said->answer.proof, said->answer.proof);
	expect(handshake, &said->acceptance, sizeof(said->acceptance));
	return say(handshake, &said->answer, sizeof(said->answer), err);
}

/* The daemon has answered. 1: it is it. */
static int accept_answer(struct handshake *handshake, const uint8_t secret[LINK_SECRET],
			 struct pdb_error *err)
{
	struct link_transcript *said = &handshake->transcript;

	if (check_proof(handshake, secret, said->answer.proof, err) < 0 ||
	    start_sending(handshake, said->acceptance.header, err) < 0 ||
	    start_receiving(handshake, said->answer.header, err) < 0)
		return -1;
	prove(handshake, secret, said->acceptance.proof, said->acceptance.proof);
	return say(handshake, &said->acceptance, sizeof(said->acceptance), err) < 0 ? -1 : 1;
}

/* pdb has accepted the daemon. 1: it is pdb. */
static int accept_acceptance(struct handshake *handshake, const uint8_t secret[LINK_SECRET],
			     struct pdb_error *err)
{
	struct link_transcript *said = &handshake->transcript;

	if (check_proof(handshake, secret, said->acceptance.proof, err) < 0 ||
	    start_receiving(handshake, said->acceptance.header, err) < 0)
		return -1;
	return 1;
}

/* Whoever starts with other bytes is dropped without waiting for the rest. */
static int check_version(const struct handshake *handshake, struct pdb_error *err)
{
	const struct link_transcript *said = &handshake->transcript;
	const uint8_t *version =
		handshake->side == HANDSHAKE_PDB ? said->answer.version : said->challenge.version;
	size_t have = (size_t)(handshake->expected - version);

	if (handshake->expected > said->acceptance.header)
		return 0;
	if (memcmp(version, LINK_VERSION, have < LINK_VERSION_SIZE ? have : LINK_VERSION_SIZE) != 0)
		return error_set(err, ERROR_FORMAT, "%s does not speak pdb's protocol",
				 handshake->peer);
	return 0;
}

/* What the other has said is read, and no byte more. 1: done, 0: go on, -1: it is not it. */
static int listen_to(struct handshake *handshake, const uint8_t secret[LINK_SECRET],
		     struct pdb_error *err)
{
	ssize_t n = recv(handshake->fd, handshake->expected, handshake->missing, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return error_errno(err, "%s", handshake->peer);
	if (n == 0)
		return error_set(err, ERROR_GONE, "%s has hung up", handshake->peer);
	handshake->expected += n;
	handshake->missing -= (size_t)n;
	if (check_version(handshake, err) < 0)
		return -1;
	if (handshake->missing > 0)
		return 0;
	if (handshake->side == HANDSHAKE_PDB)
		return accept_answer(handshake, secret, err);
	if (handshake->expected == (uint8_t *)(&handshake->transcript.challenge + 1))
		return answer(handshake, secret, err);
	return accept_acceptance(handshake, secret, err);
}

/* connect() has come to an end. */
static int finish_connecting(struct handshake *handshake, struct pdb_error *err)
{
	socklen_t size = sizeof(errno);
	int error = 0;

	if (getsockopt(handshake->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	errno = error;
	if (error)
		return error_errno(err, "%s", handshake->peer);
	handshake->is_connecting = false;
	return start(handshake, err);
}

/* ---- The race ---- */

static void drop(struct handshake_race *race, size_t i)
{
	close(race->peers[i].fd);
	race->num_peers--;
	memmove(&race->peers[i], &race->peers[i + 1],
		(race->num_peers - i) * sizeof(race->peers[0]));
	sodium_memzero(&race->peers[race->num_peers], sizeof(race->peers[0]));
	race->num_dropped++;
}

void race_add(struct handshake_race *race, enum handshake_side side, int fd, bool is_connecting,
	      uint64_t until_ns, const struct sockaddr *address)
{
	if (race->num_peers == RACE_MAX)
		drop(race, 0);
	struct handshake *peer = &race->peers[race->num_peers++];
	*peer = (struct handshake){
		.fd = fd, .side = side, .is_connecting = is_connecting, .until_ns = until_ns};
	link_address_text(address, peer->peer);
	if (!is_connecting && start(peer, &race->last) < 0)
		drop(race, race->num_peers - 1);
}

/* Up to the first that drops out, so that race->last tells of each. True: *winner_ret is done. */
static bool serve(struct handshake_race *race, const struct pollfd *fds,
		  struct handshake *winner_ret)
{
	uint64_t now = monotonic_ns();

	for (size_t i = 0; i < race->num_peers; i++) {
		struct handshake *peer = &race->peers[i];
		int result = 0;

		if (fds[i].revents)
			result = peer->is_connecting ? finish_connecting(peer, &race->last)
						     : listen_to(peer, race->secret, &race->last);
		else if (peer->until_ns <= now)
			result = error_set(&race->last, ERROR_TIMEOUT, "%s says nothing",
					   peer->peer);
		if (result < 0) {
			drop(race, i);
			return false;
		}
		if (result > 0) {
			*winner_ret = *peer;
			peer->fd = -1;
			return true;
		}
	}
	return false;
}

int race_wait(struct handshake_race *race, const int listen_fds[], size_t num_listen,
	      const struct link_limit *limit, int *listen_ret, struct handshake *winner_ret,
	      struct pdb_error *err)
{
	struct pollfd fds[RACE_MAX + LINK_MAX_ADDRESSES + 1];
	size_t num = 0, first_listen, cancel;
	uint64_t until_ns = limit->until_ns;

	*listen_ret = -1;
	for (; num < race->num_peers; num++) {
		const struct handshake *peer = &race->peers[num];

		fds[num] = (struct pollfd){peer->fd, peer->is_connecting ? POLLOUT : POLLIN, 0};
		if (peer->until_ns < until_ns)
			until_ns = peer->until_ns;
	}
	first_listen = num;
	for (size_t i = 0; i < num_listen; i++)
		fds[num++] = (struct pollfd){listen_fds[i], POLLIN, 0};
	cancel = num;
	fds[num++] = (struct pollfd){limit->cancel_fd, POLLIN, 0};
	int n = poll(fds, num, monotonic_timeout(until_ns));
	if (n < 0 && errno != EINTR)
		return error_errno(err, "cannot wait for connections");
	if (n < 0)
		return 0;
	if (fds[cancel].revents)
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	if (serve(race, fds, winner_ret))
		return 1;
	for (size_t i = first_listen; i < cancel && *listen_ret < 0; i++)
		if (fds[i].revents)
			*listen_ret = fds[i].fd;
	if (limit->until_ns <= monotonic_ns())
		return error_set(err, ERROR_TIMEOUT, "nobody has connected in time");
	return 0;
}

void race_end(struct handshake_race *race)
{
	for (size_t i = 0; i < race->num_peers; i++)
		if (race->peers[i].fd >= 0)
			close(race->peers[i].fd);
	sodium_memzero(race, sizeof(*race));
}
