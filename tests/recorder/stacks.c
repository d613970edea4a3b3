/* SPDX-License-Identifier: BSD-3-Clause
 * MPI calls from unusual places: by the word, on another stack (ucontext), on the stack of a
 * signal, from a late thread, in an atexit handler, before MPI_Init, in a session after another,
 * or none. */
#include "coverage.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "checkpoint.h"

static void *new_stack(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void send_some(int num)
{
	int out = 1;

	for (int i = 0; i < num; i++)
		MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static ucontext_t main_context, contexts[2];

/* Two coroutines that give way to each other between calls. */
static void coroutine(int number)
{
	for (int i = 0; i < 10; i++) {
		send_some(1);
		swapcontext(&contexts[number], &contexts[1 - number]);
	}
}

static void coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_size = 256 << 10;
		contexts[i].uc_stack.ss_sp = new_stack(256 << 10);
		contexts[i].uc_link = &main_context;
		makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
	}
	swapcontext(&main_context, &contexts[0]);
	send_some(1);
}

static void on_signal(int number)
{
	(void)number;
	send_some(1);
}

static void signal_stack(void)
{
	const stack_t stack = {.ss_size = 256 << 10, .ss_sp = new_stack(256 << 10)};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 5; i++) {
		send_some(1);
		raise(SIGUSR1);
	}
}

static void raise_inside(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	raise(SIGUSR1);
}

static void *fail_with_signal(void *signals)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	const stack_t stack = {.ss_size = 256 << 10, .ss_sp = signals};
	int out = 1;

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	MPI_Send(&out, 1, MPI_INT, 12345, 0, MPI_COMM_SELF);
	send_some(1);
	return NULL;
}

/* A signal in the midst of an MPI call, handled on a stack that lies above the thread's own: what
 * the handler calls is part of that call, which has not been abandoned. */
static void signal_inside(void)
{
	char *stacks = new_stack(512 << 10);
	MPI_Errhandler handler;
	pthread_attr_t attr;
	pthread_t thread;

	MPI_Comm_create_errhandler(raise_inside, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stacks, 256 << 10);
	pthread_create(&thread, &attr, fail_with_signal, stacks + (256 << 10));
	pthread_join(thread, NULL);
}

static void *late_init(void *ignored)
{
	int provided;

	(void)ignored;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	send_some(3);
	return NULL;
}

static void finalize(void)
{
	MPI_Finalize();
}

#if HAVE_MPI4
static void two_sessions(void)
{
	MPI_Session sessions[2];

	for (int i = 0; i < 2; i++)
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[i]);
	checkpoint();
	for (int i = 0; i < 2; i++)
		MPI_Session_finalize(&sessions[i]);
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int is;

	if (strcmp(what, "none") == 0) {
		MPI_Initialized(&is);
		MPI_Finalized(&is);
		return is;
	}
#if HAVE_MPI4
	if (strcmp(what, "sessions") == 0) {
		two_sessions();
		return 0;
	}
#endif
	if (strcmp(what, "late") == 0) {
		pthread_t thread;
		pthread_create(&thread, NULL, late_init, NULL);
		pthread_join(thread, NULL);
	} else {
		MPI_Init(&argc, &argv);
	}
	if (strcmp(what, "contexts") == 0)
		coroutines();
	if (strcmp(what, "signal") == 0)
		signal_stack();
	if (strcmp(what, "inside") == 0)
		signal_inside();
	checkpoint();
	if (strcmp(what, "exit") == 0)
		_exit(0);
	if (strcmp(what, "atexit") == 0)
		atexit(finalize);
	else
		MPI_Finalize();
	return 0;
}
