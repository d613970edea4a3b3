/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/slow.h"

#include <errno.h>
#include <pthread.h>

/* It knows whose it is: after a jump that may be the thread, or not yet, or not any more. */
static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static __thread struct {
	bool is_inside;
	int cancel; /* whether the thread could be cancelled before */
} self __attribute__((tls_model("initial-exec")));

bool slow_begin_brief(struct slow *s)
{
	if (self.is_inside)
		return false;
	self.is_inside = true;
	s->is_brief = true;
	s->saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &self.cancel);
	pthread_mutex_lock(&lock);
	return true;
}

static void leave(void)
{
	int ignored;

	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(self.cancel, &ignored);
	self.is_inside = false;
}

bool slow_begin(struct slow *s)
{
	sigset_t all;

	if (!slow_begin_brief(s))
		return false;
	sigfillset(&all);
	/* Blocking these would turn a fault into a death without the program's own handler. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	pthread_sigmask(SIG_BLOCK, &all, &s->signals);
	s->is_brief = false;
	return true;
}

void slow_end(const struct slow *s)
{
	leave();
	if (!s->is_brief)
		pthread_sigmask(SIG_SETMASK, &s->signals, NULL);
	errno = s->saved_errno;
}

bool slow_is_inside(void)
{
	return self.is_inside;
}

void slow_left(void)
{
	if (self.is_inside)
		leave();
}

void slow_reset(void)
{
	lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	self.is_inside = false;
}
