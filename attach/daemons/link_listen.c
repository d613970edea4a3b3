/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/daemons/link_private.h"
#include "model/monotonic.h"

#define PROOF_NS UINT64_C(10000000000)

/* ---- Addresses ---- */

static in_port_t *port_of(struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return &((struct sockaddr_in6 *)address)->sin6_port;
	return &((struct sockaddr_in *)address)->sin_port;
}

/* Addresses that mean another host there, or need the name of an interface here, are of no use. */
static bool is_useful(const struct ifaddrs *entry, bool has_ipv6)
{
	if (!entry->ifa_addr || !(entry->ifa_flags & IFF_UP))
		return false;
	if (entry->ifa_addr->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)entry->ifa_addr;

		return ntohl(in->sin_addr.s_addr) >> 16 != 0xa9fe; /* 169.254.0.0/16 */
	}
	if (entry->ifa_addr->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const void *)entry->ifa_addr;

		return has_ipv6 && !IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr);
	}
	return false;
}

/* The addresses of this host, loopback last. */
static void list_addresses(struct link_listener *listener, bool has_ipv6, in_port_t port)
{
	struct ifaddrs *all, *entry;

	if (getifaddrs(&all) < 0)
		return;
	for (unsigned pass = 0; pass < 2; pass++)
		for (entry = all; entry; entry = entry->ifa_next) {
			struct sockaddr_storage address = {0};
			bool is_last = entry->ifa_flags & IFF_LOOPBACK;

			if (is_last != (pass == 1) || !is_useful(entry, has_ipv6) ||
			    listener->num_addresses == LINK_MAX_ADDRESSES)
				continue;
			memcpy(&address, entry->ifa_addr,
			       link_address_size(entry->ifa_addr->sa_family));
			*port_of(&address) = port;
			link_address_text((struct sockaddr *)&address,
					  listener->addresses[listener->num_addresses++]);
		}
	freeifaddrs(all);
}

/* ---- Listening ---- */

/* Listen on *address, at a port that *address then holds. */
static int listen_on(struct link_listener *listener, struct sockaddr_storage *address)
{
	bool is_v6 = address->ss_family == AF_INET6;
	socklen_t size = link_address_size(address->ss_family);
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int off = 0, saved;

	if (fd < 0)
		return -1;
	if ((!is_v6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0) &&
	    bind(fd, (struct sockaddr *)address, size) == 0 && listen(fd, RACE_MAX) == 0 &&
	    getsockname(fd, (struct sockaddr *)address, &size) == 0) {
		listener->fds[listener->num_fds++] = fd;
		return 0;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/* On one socket for both families, or for IPv4 alone where the kernel has no IPv6. */
static int listen_on_all(struct link_listener *listener, struct pdb_error *err)
{
	struct sockaddr_storage address = {.ss_family = AF_INET6}; /* :: */
	bool has_ipv6 = listen_on(listener, &address) == 0;

	if (!has_ipv6) {
		address = (struct sockaddr_storage){.ss_family = AF_INET}; /* 0.0.0.0 */
		if (listen_on(listener, &address) < 0)
			return error_errno(err, "cannot listen for the daemons");
	}
	list_addresses(listener, has_ipv6, *port_of(&address));
	if (listener->num_addresses == 0)
		return error_set(err, ERROR_SYSTEM, "this host has no network address");
	return 0;
}

static void stop_listening(struct link_listener *listener)
{
	for (size_t i = 0; i < listener->num_fds; i++)
		close(listener->fds[i]);
	listener->num_fds = 0;
}

struct link_listener *link_listen(struct pdb_error *err)
{
	struct link_listener *listener;

	if (sodium_init() < 0) {
		error_set(err, ERROR_SYSTEM, "libsodium cannot be used here");
		return NULL;
	}
	listener = xcalloc(1, sizeof(*listener));
	listener->proof_ns = PROOF_NS;
	randombytes_buf(listener->race.secret, sizeof(listener->race.secret));
	if (listen_on_all(listener, err) == 0)
		return listener;
	link_listener_destroy(listener);
	return NULL;
}

void link_listener_destroy(struct link_listener *listener)
{
	if (!listener)
		return;
	stop_listening(listener);
	race_end(&listener->race);
	free(listener);
}

/* That somebody has hung up again before he is accepted is no failure; that he cannot be, is. */
static int admit(struct link_listener *listener, int listen_fd, struct pdb_error *err)
{
	struct sockaddr_storage address = {0};
	socklen_t size = sizeof(address);
	int fd = accept4(listen_fd, (struct sockaddr *)&address, &size,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		race_add(&listener->race, HANDSHAKE_PDB, fd, false,
			 monotonic_ns() + listener->proof_ns, (struct sockaddr *)&address);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		return error_errno(err, "cannot accept the daemons' connection");
	return 0;
}

struct link *link_accept(struct link_listener *listener, const struct link_limit *limit,
			 struct pdb_error *err)
{
	struct handshake_race *race = &listener->race;
	struct handshake winner;
	struct pdb_error unasked;
	int listen_fd, result = 0;

	err = err ? err : &unasked; /* what kind it is decides here, too */
	if (listener->num_fds == 0) {
		error_set(err, ERROR_GONE, "the daemons have connected already");
		return NULL;
	}
	while (result == 0) {
		result = race_wait(race, listener->fds, listener->num_fds, limit, &listen_fd,
				   &winner, err);
		if (listen_fd >= 0 && admit(listener, listen_fd, err) < 0)
			result = -1;
	}
	if (result < 0) {
		if (err->code == ERROR_TIMEOUT && race->num_dropped > 0)
			error_set(err, ERROR_TIMEOUT,
				  "no daemon has connected in time; %u other connections failed, "
				  "the last: %s",
				  race->num_dropped, race->last.text);
		return NULL;
	}
	stop_listening(listener);
	race_end(race);
	return link_create(&winner);
}

/* ---- The invitation ---- */

char *link_invitation(const struct link_listener *listener)
{
	size_t size = LINK_VERSION_SIZE + 1 + 2 * LINK_SECRET + 1 +
		      LINK_MAX_ADDRESSES * (LINK_ADDRESS_TEXT + 1);
	char secret[2 * LINK_SECRET + 1], *text = xmalloc(size);

	sodium_bin2hex(secret, sizeof(secret), listener->race.secret, LINK_SECRET);
	size_t length = (size_t)snprintf(text, size, "%s/%s", LINK_VERSION, secret);
	sodium_memzero(secret, sizeof(secret));
	for (size_t i = 0; i < listener->num_addresses; i++)
		length += (size_t)snprintf(text + length, size - length, "%c%s", i ? ',' : '/',
					   listener->addresses[i]);
	return text;
}

/* "HOST:PORT" or "[HOST]:PORT". */
static int decode_address(const char *text, struct sockaddr_storage *ret)
{
	const char *format = *text == '[' ? "[%63[^]]]:%7[0-9]%n" : "%63[^:]:%7[0-9]%n";
	const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	char host[LINK_ADDRESS_TEXT], port[8];
	struct addrinfo *info;
	int end = 0;

	if (sscanf(text, format, host, port, &end) != 2 || text[end] ||
	    getaddrinfo(host, port, &hints, &info) != 0)
		return -1;
	*ret = (struct sockaddr_storage){0};
	memcpy(ret, info->ai_addr, info->ai_addrlen);
	freeaddrinfo(info);
	return *port_of(ret) == 0 ? -1 : 0;
}

static int decode_addresses(char *text, struct link_invitation *ret, struct pdb_error *err)
{
	char *word;

	for (ret->num_addresses = 0; (word = strsep(&text, ",")); ret->num_addresses++) {
		if (ret->num_addresses == LINK_MAX_ADDRESSES)
			return error_set(err, ERROR_FORMAT,
					 "the invitation has too many addresses");
		if (decode_address(word, &ret->addresses[ret->num_addresses]) < 0)
			return error_set(err, ERROR_FORMAT,
					 "the invitation's address \"%.*s\" is not one",
					 LINK_ADDRESS_TEXT, word);
	}
	return 0;
}

int link_invitation_decode(const char *text, struct link_invitation *ret, struct pdb_error *err)
{
	static const char common[] = "pdblink";
	size_t length;

	if (strncmp(text, common, strlen(common)) != 0)
		return error_set(err, ERROR_FORMAT, "this is no invitation of pdb");
	if (strncmp(text, LINK_VERSION "/", LINK_VERSION_SIZE + 1) != 0)
		return error_set(err, ERROR_VERSION,
				 "pdb and its daemons are of different versions");
	text += LINK_VERSION_SIZE + 1;
	if (strspn(text, "0123456789abcdef") != 2 * LINK_SECRET || text[2 * LINK_SECRET] != '/' ||
	    sodium_hex2bin(ret->secret, LINK_SECRET, text, 2 * LINK_SECRET, NULL, &length, NULL) <
		    0)
		return error_set(err, ERROR_FORMAT, "the invitation's secret is not one");
	char *addresses = xstrdup(text + 2 * LINK_SECRET + 1);
	int result = decode_addresses(addresses, ret, err);

	free(addresses);
	return result;
}

char *link_invitation_take(const char *variable)
{
	char *value = getenv(variable), *copy;

	if (!value)
		return NULL;
	copy = xstrdup(value);
	/* In place: /proc/PID/environ shows what is there. */
	sodium_memzero(value, strlen(value));
	unsetenv(variable);
	return copy;
}

void link_forget(char *invitation)
{
	if (!invitation)
		return;
	sodium_memzero(invitation, strlen(invitation));
	free(invitation);
}
