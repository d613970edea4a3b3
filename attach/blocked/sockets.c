/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>

#include "attach/blocked/sockets.h"

#define MAX_LINES 20000
#define MAX_LINE 512
#define TCP_LISTENS 0x0a
#define TCP_CLOSED 0x07
#define UNIX_LISTENS 0x10000 /* __SO_ACCEPTCON */
#define V4_DIGITS 8
#define V6_DIGITS 32
#define NUM_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Words of 32 bits, each printed as a number of this machine's byte order. */
static bool parse_end(const char *digits, unsigned port, struct socket_end *ret)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	size_t length = strlen(digits);

	*ret = (struct socket_end){.is_v6 = length == V6_DIGITS, .port = (uint16_t)port};
	if ((length != V4_DIGITS && length != V6_DIGITS) || port > UINT16_MAX)
		return false;
	for (size_t i = 0; i < length / 8; i++) {
		char word[9] = "";
		uint32_t value;

		memcpy(word, digits + 8 * i, 8);
		value = (uint32_t)strtoul(word, NULL, 16);
		memcpy(ret->address + 4 * i, &value, sizeof(value));
	}
	if (ret->is_v6 && !memcmp(ret->address, mapped, sizeof(mapped))) {
		memmove(ret->address, ret->address + sizeof(mapped), 4);
		memset(ret->address + 4, 0, sizeof(mapped));
		ret->is_v6 = false;
	}
	return true;
}

bool socket_parse_inet(const char *line, struct socket_inet *ret)
{
	char local[V6_DIGITS + 1], remote[V6_DIGITS + 1];
	unsigned local_port, remote_port;
	unsigned long long inode;

	if (sscanf(line,
		   " %*u: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*x:%*x %*x:%*x %*x %*u %*u %llu",
		   local, &local_port, remote, &remote_port, &ret->state, &inode) != 6)
		return false;
	ret->inode = inode;
	return parse_end(local, local_port, &ret->local) &&
	       parse_end(remote, remote_port, &ret->remote);
}

bool sockets_find_inode(FILE *table, uint64_t inode, struct socket_inet *ret)
{
	char line[MAX_LINE];

	for (int i = 0; i < MAX_LINES && fgets(line, sizeof(line), table); i++)
		if (socket_parse_inet(line, ret) && ret->inode == inode)
			return true;
	return false;
}

static bool is_same_end(const struct socket_end *a, const struct socket_end *b)
{
	return a->is_v6 == b->is_v6 && a->port == b->port &&
	       !memcmp(a->address, b->address, sizeof(a->address));
}

bool sockets_find_other(FILE *table, const struct socket_inet *one, struct socket_inet *ret)
{
	char line[MAX_LINE];

	for (int i = 0; i < MAX_LINES && fgets(line, sizeof(line), table); i++)
		if (socket_parse_inet(line, ret) && is_same_end(&ret->local, &one->remote) &&
		    is_same_end(&ret->remote, &one->local))
			return true;
	return false;
}

static void print_end(const struct socket_end *end, char *buffer, size_t size)
{
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(end->is_v6 ? AF_INET6 : AF_INET, end->address, address, sizeof(address));
	snprintf(buffer, size, end->is_v6 ? "[%s]:%u" : "%s:%u", address, (unsigned)end->port);
}

static const char *state_name(unsigned state)
{
	/* As ss and netstat have them. */
	static const char *const names[] = {
		"unknown",   "established", "syn-sent",   "syn-recv", "fin-wait-1", "fin-wait-2",
		"time-wait", "closed",      "close-wait", "last-ack", "listening",  "closing",
	};

	return names[state < NUM_OF(names) ? state : 0];
}

char *socket_inet_words(const struct socket_inet *socket, bool is_tcp)
{
	char local[INET6_ADDRSTRLEN + 16], remote[INET6_ADDRSTRLEN + 16];

	print_end(&socket->local, local, sizeof(local));
	print_end(&socket->remote, remote, sizeof(remote));
	if (!is_tcp)
		return socket->remote.port ? xasprintf("the UDP socket %s to %s", local, remote)
					   : xasprintf("the UDP socket %s", local);
	if (socket->state == TCP_LISTENS)
		return xasprintf("the listening TCP socket %s", local);
	if (socket->state == TCP_CLOSED && !socket->remote.port)
		return xstrdup("a TCP socket without a connection");
	return xasprintf("the TCP connection %s to %s (%s)", local, remote,
			 state_name(socket->state));
}

/* "00000000d9a723dd: 00000003 00000000 00010000 0001 01  1056 /run/x" */
static char *parse_unix(const char *line, uint64_t inode)
{
	unsigned long long found;
	unsigned flags;
	const char *path;
	int used = 0;

	if (sscanf(line, "%*x: %*x %*x %x %*x %*x %llu%n", &flags, &found, &used) != 2 || !used ||
	    found != inode)
		return NULL;
	path = line + used + strspn(line + used, " ");
	if (!*path || *path == '\n')
		return xstrdup("a Unix socket");
	return xasprintf("the %sUnix socket %.*s", flags & UNIX_LISTENS ? "listening " : "",
			 (int)strcspn(path, "\n"), path);
}

char *sockets_find_unix(FILE *table, uint64_t inode)
{
	char line[MAX_LINE], *words = NULL;

	for (int i = 0; i < MAX_LINES && !words && fgets(line, sizeof(line), table); i++)
		words = parse_unix(line, inode);
	return words;
}

static FILE *open_table(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, name);
	return fopen(path, "re");
}

static bool find_in(pid_t pid, const char *name, uint64_t inode, struct socket_inet *ret)
{
	FILE *table = open_table(pid, name);
	bool found = table && sockets_find_inode(table, inode, ret);

	if (table)
		fclose(table);
	return found;
}

/* One end may have an IPv6 socket, the other an IPv4 one. */
static uint64_t find_other(pid_t pid, const struct socket_inet *one)
{
	static const char *const names[] = {"tcp", "tcp6"};
	struct socket_inet other = {.inode = 0};
	bool found = false;

	for (size_t i = 0; i < NUM_OF(names) && !found; i++) {
		FILE *table = open_table(pid, names[i]);

		found = table && sockets_find_other(table, one, &other);
		if (table)
			fclose(table);
	}
	return found ? other.inode : 0;
}

static char *find_inet(pid_t pid, uint64_t inode, uint64_t *other_ret)
{
	static const char *const names[] = {"tcp", "tcp6", "udp", "udp6"};
	struct socket_inet socket;

	for (size_t i = 0; i < NUM_OF(names); i++) {
		bool is_tcp = i < 2;

		if (!find_in(pid, names[i], inode, &socket))
			continue;
		if (is_tcp && socket.state != TCP_LISTENS && socket.remote.port)
			*other_ret = find_other(pid, &socket);
		return socket_inet_words(&socket, is_tcp);
	}
	return NULL;
}

char *sockets_words(pid_t pid, uint64_t inode, uint64_t *other_ret)
{
	FILE *table;
	char *words;

	*other_ret = 0;
	words = find_inet(pid, inode, other_ret);
	if (words)
		return words;
	table = open_table(pid, "unix");
	if (table) {
		words = sockets_find_unix(table, inode);
		fclose(table);
	}
	return words ? words : xstrdup("a socket");
}
