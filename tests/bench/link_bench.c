/* SPDX-License-Identifier: BSD-3-Clause
 * What the link to the daemons costs, beside a plain TCP socket: over the loopback, to a process of
 * its own, in turns.
 *
 *	link_bench [MEGABYTES]
 *
 * Each figure is the best and the median of RUNS. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/daemons/link.h"
#include "model/error.h"
#include "model/monotonic.h"
#include "model/xalloc.h"

enum { RUNS = 9, MB = 1 << 20 };

static const struct link_limit forever = {UINT64_MAX, -1};

static void die(const char *text)
{
	fprintf(stderr, "link_bench: %s\n", text);
	exit(1);
}

/* What one run took. */
struct run {
	double connect_us, transfer_ms;
};

/* ---- A link ---- */

static void send_over_link(const char *invitation, const void *bytes, size_t length)
{
	struct link_frame frame;
	struct pdb_error err;
	struct link *link = link_connect(invitation, &forever, &err);

	if (!link || link_receive(link, &frame, &forever, &err) < 0 ||
	    link_send(link, 1, bytes, length, &forever, &err) < 0)
		die(err.text);
	_exit(0);
}

static struct run run_link(const void *bytes, size_t length)
{
	struct link_frame frame;
	struct pdb_error err;
	struct link_listener *listener = link_listen(&err);
	struct link *link;
	struct run run;
	uint64_t start;
	char *invitation;
	pid_t pid;

	if (!listener)
		die(err.text);
	invitation = link_invitation(listener);
	start = monotonic_ns();
	pid = fork();
	if (pid == 0)
		send_over_link(invitation, bytes, length);
	link = link_accept(listener, &forever, &err);
	if (!link)
		die(err.text);
	run.connect_us = (double)(monotonic_ns() - start) / 1e3;
	start = monotonic_ns();
	if (link_send(link, 1, NULL, 0, &forever, &err) < 0 ||
	    link_receive(link, &frame, &forever, &err) < 0)
		die(err.text);
	run.transfer_ms = (double)(monotonic_ns() - start) / 1e6;
	if (frame.length != length || memcmp(frame.payload, bytes, length) != 0)
		die("what came is not what was sent");
	link_frame_deinit(&frame);
	link_destroy(link);
	link_listener_destroy(listener);
	link_forget(invitation);
	waitpid(pid, NULL, 0);
	return run;
}

/* ---- A plain socket ---- */

static void send_over_socket(const struct sockaddr_in *address, const char *bytes, size_t length)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char go;

	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
	    read(fd, &go, 1) != 1)
		die("cannot connect");
	for (ssize_t n; length > 0; bytes += n, length -= (size_t)n) {
		n = write(fd, bytes, length);
		if (n < 0)
			die("cannot write");
	}
	_exit(0);
}

static struct run run_socket(const void *bytes, size_t length)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	char *got = xmalloc(length);
	struct run run;
	size_t have = 0;
	uint64_t start;
	pid_t pid;

	if (bind(listener, (struct sockaddr *)&address, size) < 0 || listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) < 0)
		die("cannot listen");
	start = monotonic_ns();
	pid = fork();
	if (pid == 0)
		send_over_socket(&address, bytes, length);
	fd = accept(listener, NULL, NULL);
	run.connect_us = (double)(monotonic_ns() - start) / 1e3;
	start = monotonic_ns();
	if (write(fd, "", 1) != 1)
		die("cannot write");
	while (have < length) {
		ssize_t n = read(fd, got + have, length - have);

		if (n <= 0)
			die("cannot read");
		have += (size_t)n;
	}
	run.transfer_ms = (double)(monotonic_ns() - start) / 1e6;
	if (memcmp(got, bytes, length) != 0)
		die("what came is not what was sent");
	free(got);
	close(fd);
	close(listener);
	waitpid(pid, NULL, 0);
	return run;
}

/* ---- Figures ---- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_row(const char *what, const struct run runs[RUNS], size_t length)
{
	double connect_us[RUNS], transfer_ms[RUNS];

	for (int i = 0; i < RUNS; i++) {
		connect_us[i] = runs[i].connect_us;
		transfer_ms[i] = runs[i].transfer_ms;
	}
	qsort(connect_us, RUNS, sizeof(double), compare);
	qsort(transfer_ms, RUNS, sizeof(double), compare);
	printf("%-14s %9.0f %9.0f %12.0f %9.0f %9.0f\n", what, connect_us[0], connect_us[RUNS / 2],
	       transfer_ms[0], transfer_ms[RUNS / 2], (double)length / 1e3 / transfer_ms[RUNS / 2]);
}

int main(int argc, char **argv)
{
	size_t length = (size_t)(argc > 1 ? atoi(argv[1]) : 100) * MB;
	struct run links[RUNS], sockets[RUNS];
	char *bytes = xmalloc(length);

	for (size_t i = 0; i < length; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	for (int i = 0; i < RUNS; i++) {
		sockets[i] = run_socket(bytes, length);
		links[i] = run_link(bytes, length);
	}
	printf("%zu MiB to pdb over the loopback, best and median of %d runs in turns\n",
	       length / MB, RUNS);
	printf("%-14s %9s %9s %12s %9s %9s\n", "", "start us", "median", "transfer ms", "median",
	       "MB/s");
	print_row("plain socket", sockets, length);
	print_row("link", links, length);
	free(bytes);
	return 0;
}
