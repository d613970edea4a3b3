/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <unistd.h>

#include "model/monotonic.h"
#include "render/text/gate.h"
#include "shell/interrupt.h"
#include "shell/spinner.h"

#define PATIENCE_NS UINT64_C(1000000000)
#define TICK_NS UINT64_C(200000000)
#define BAR_WIDTH 20

/* A thread draws the spinner, as the working thread has no time for it. */
static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool is_on, wants_end;
	char what[40];
	uint64_t begin_ns;
	double expected_s; /* 0: not known */
	size_t length;     /* columns drawn now */
	unsigned int turn;
} spinner = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The lock is held. */
static void erase(void)
{
	if (!spinner.length)
		return;
	gate_return(stderr);
	fprintf(stderr, "%*s", (int)spinner.length, "");
	gate_return(stderr);
	spinner.length = 0;
}

static int draw_bar(char *text, size_t size, double seconds)
{
	double share = seconds / spinner.expected_s;
	int done = share < 1 ? (int)(share * BAR_WIDTH) : BAR_WIDTH;

	return snprintf(text, size, "[%.*s%.*s] %.0f of %.0f s", done, "####################",
			BAR_WIDTH - done, "....................", seconds, spinner.expected_s);
}

/* The lock is held. */
static void draw(uint64_t now_ns)
{
	double seconds = (double)(now_ns - spinner.begin_ns) / 1e9;
	char text[200], time[60];

	if (spinner.expected_s > 1)
		draw_bar(time, sizeof(time), seconds);
	else
		snprintf(time, sizeof(time), "%c %.0f s", "|/-\\"[spinner.turn++ % 4], seconds);
	snprintf(text, sizeof(text), "%s %s  (%s)", spinner.what, time,
		 interrupt_pending() ? "ending it" : "Ctrl-C ends it");
	erase();
	spinner.length = strlen(text);
	fputs(text, stderr);
}

static void *turn(void *context)
{
	(void)context;
	pthread_mutex_lock(&spinner.lock);
	while (!spinner.wants_end) {
		uint64_t now = monotonic_ns(), next = spinner.begin_ns + PATIENCE_NS;
		struct timespec until;

		if (now >= next) {
			draw(now);
			next = now + TICK_NS;
		}
		until = (struct timespec){next / 1000000000, next % 1000000000};
		pthread_cond_timedwait(&spinner.wake, &spinner.lock, &until);
	}
	erase();
	pthread_mutex_unlock(&spinner.lock);
	return NULL;
}

void spinner_start(const char *what)
{
	pthread_condattr_t attributes;
	sigset_t all, before;

	if (spinner.is_on || !isatty(STDERR_FILENO))
		return;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&spinner.wake, &attributes);
	pthread_condattr_destroy(&attributes);
	snprintf(spinner.what, sizeof(spinner.what), "%s", what);
	spinner.begin_ns = monotonic_ns();
	spinner.wants_end = false;
	spinner.expected_s = 0;
	/* Signals go to the working thread: they end its waits. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	spinner.is_on = pthread_create(&spinner.thread, NULL, turn, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!spinner.is_on)
		pthread_cond_destroy(&spinner.wake);
}

void spinner_expect(double seconds)
{
	if (!spinner.is_on)
		return;
	pthread_mutex_lock(&spinner.lock);
	spinner.expected_s = seconds;
	pthread_mutex_unlock(&spinner.lock);
}

void spinner_hide(void)
{
	if (!spinner.is_on)
		return;
	pthread_mutex_lock(&spinner.lock);
	erase();
	pthread_mutex_unlock(&spinner.lock);
}

void spinner_stop(void)
{
	if (!spinner.is_on)
		return;
	pthread_mutex_lock(&spinner.lock);
	spinner.wants_end = true;
	pthread_cond_signal(&spinner.wake);
	pthread_mutex_unlock(&spinner.lock);
	pthread_join(spinner.thread, NULL);
	pthread_cond_destroy(&spinner.wake);
	spinner.is_on = false;
}
