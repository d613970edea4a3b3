/* SPDX-License-Identifier: BSD-3-Clause
 * /proc/PID/net: what a socket is, and which socket of this machine is its other end. */
#pragma once

#include "model/base.h"

/* An IPv4 address in an IPv6 one is an IPv4 address here. */
struct socket_end {
	bool is_v6;
	uint8_t address[16]; /* as on the network; the first four of IPv4 */
	uint16_t port;
};

/* A line of net/tcp, tcp6, udp or udp6. */
struct socket_inet {
	struct socket_end local, remote;
	unsigned state; /* of TCP, from 1 (include/net/tcp_states.h) */
	uint64_t inode;
};

bool socket_parse_inet(const char *line, struct socket_inet *ret);

/* In such a table, find the socket with this inode, or the one whose ends are the two of `one`,
 * swapped. Reads at most 20,000 lines. False: the table does not have it. */
bool sockets_find_inode(FILE *table, uint64_t inode, struct socket_inet *ret);
bool sockets_find_other(FILE *table, const struct socket_inet *one, struct socket_inet *ret);

/* "the TCP connection 10.0.0.1:4000 to 10.0.0.2:5000 (established)", "the listening TCP socket
 * 0.0.0.0:4000", "the UDP socket [::1]:53". The caller frees. */
char *socket_inet_words(const struct socket_inet *socket, bool is_tcp);

/* From net/unix: "the listening Unix socket /run/x", "a Unix socket"; NULL: it is not in there. The
 * caller frees. */
char *sockets_find_unix(FILE *table, uint64_t inode);

/* A socket of a process, of any kind; "a socket" if the tables do not have it. The caller frees.
 * *other_ret: the inode of the connection's other end on this machine; 0: there is none. */
char *sockets_words(pid_t pid, uint64_t inode, uint64_t *other_ret);
