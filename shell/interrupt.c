/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shell/interrupt.h"

/* Signal handlers get no context, so these variables and model/interrupt.h are global. */
static volatile sig_atomic_t passed_to = -1;
static int wake_pipe[2] = {-1, -1};

static void handle(int number)
{
	int saved = errno;

	if (number == SIGINT)
		interrupt_wanted = 1;
	else
		interrupt_end = number;
	if (wake_pipe[1] >= 0) {
		ssize_t written = write(wake_pipe[1], "", 1);

		(void)written; /* a full pipe is readable anyway */
	}
	errno = saved;
}

static void do_nothing(int number)
{
	(void)number;
}

static void pass_on(int number)
{
	int saved = errno;

	if (passed_to >= 0)
		syscall(SYS_pidfd_send_signal, (int)passed_to, number, NULL, 0);
	errno = saved;
}

void interrupt_pass_on(int pidfd)
{
	struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

	passed_to = pidfd;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

void interrupt_init(void)
{
	const int signals[] = {SIGINT, SIGHUP, SIGTERM};
	struct sigaction action = {.sa_handler = handle}; /* no SA_RESTART: signals end waits */
	struct sigaction nothing = {.sa_handler = do_nothing};

	if (wake_pipe[0] < 0 && pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		wake_pipe[0] = wake_pipe[1] = -1;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction old;

		/* Started by nohup: keep ignoring hang-ups. */
		if (signals[i] == SIGHUP && sigaction(SIGHUP, NULL, &old) == 0 &&
		    old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
	}
	sigaction(SIGPIPE, &nothing, NULL);
	sigaction(SIGXFSZ, &nothing, NULL);
}

void interrupt_clear(void)
{
	interrupt_wanted = 0;
}

bool interrupt_wants_end(void)
{
	return interrupt_end;
}

bool interrupt_take_termination(void)
{
	if (interrupt_end != SIGTERM)
		return false;
	interrupt_end = 0;
	return true;
}

int interrupt_fd(void)
{
	return wake_pipe[0];
}

void interrupt_drain(void)
{
	char bytes[64];

	while (read(wake_pipe[0], bytes, sizeof(bytes)) > 0)
		;
}

bool interrupt_sleep_until(uint64_t until_ns)
{
	struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};

	while (!interrupt_pending()) {
		int result = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);

		if (result == 0)
			return true;
		if (result != EINTR)
			return false;
	}
	return false;
}
