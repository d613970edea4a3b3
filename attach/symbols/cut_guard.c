/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/symbols/cut_guard.h"

/* Handlers have no context to be given. What the process has one of is shared by its threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int num_guards;
static struct sigaction others;
static long page_size;
static __thread struct cut_guard *volatile current;

static void pass_on(int number, siginfo_t *info, void *context)
{
	if (others.sa_flags & SA_SIGINFO) {
		others.sa_sigaction(number, info, context);
	} else if (others.sa_handler != SIG_DFL && others.sa_handler != SIG_IGN) {
		others.sa_handler(number);
	} else if (others.sa_handler == SIG_DFL || info->si_code > 0) {
		/* A fault comes again by itself. */
		signal(number, SIG_DFL);
		if (info->si_code <= 0)
			raise(number);
	}
}

static void handle(int number, siginfo_t *info, void *context)
{
	struct cut_guard *guard = current;
	uintptr_t address = (uintptr_t)info->si_addr;
	void *page = (void *)(address - address % (uintptr_t)page_size), *zeros = MAP_FAILED;
	int saved = errno;

	/* As the rest of a file's last page is. */
	if (guard && info->si_code == BUS_ADRERR)
		zeros = mmap(page, (size_t)page_size, PROT_READ,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (zeros == page)
		guard->is_cut = true;
	else
		pass_on(number, info, context);
	errno = saved;
}

void cut_guard_enter(struct cut_guard *guard)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigset_t set;

	guard->is_cut = false;
	pthread_mutex_lock(&lock);
	if (!num_guards++) {
		page_size = sysconf(_SC_PAGESIZE);
		sigaction(SIGBUS, NULL, &others);
		sigaction(SIGBUS, &action, NULL);
	}
	pthread_mutex_unlock(&lock);
	current = guard;
	/* Blocked, it would end the process. */
	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &set, &guard->mask);
}

bool cut_guard_leave(struct cut_guard *guard)
{
	struct sigaction now;

	pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
	current = NULL;
	pthread_mutex_lock(&lock);
	/* Not if the program has set another meanwhile. */
	if (!--num_guards && !sigaction(SIGBUS, NULL, &now) && now.sa_flags & SA_SIGINFO &&
	    now.sa_sigaction == handle)
		sigaction(SIGBUS, &others, NULL);
	pthread_mutex_unlock(&lock);
	return guard->is_cut;
}
