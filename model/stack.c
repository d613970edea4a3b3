/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/base.h"
#include "model/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#define ENOUGH ((size_t)1 << 20)
#define SIZE ((size_t)8 << 20) /* as Linux gives without limit; what is not used costs nothing */

static struct {
	int (*body)(int argc, char **argv);
	int argc, result;
	char **argv;
	ucontext_t here, there;
} run;

static void run_body(void)
{
	run.result = run.body(run.argc, run.argv);
}

/* glibc gives threads as much as the limit of the program's own stack. */
static void give_to_threads(void)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) != 0)
		return;
	if (pthread_attr_setstacksize(&attributes, SIZE) == 0)
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

int stack_run(int (*body)(int argc, char **argv), int argc, char **argv)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= ENOUGH)
		return body(argc, argv);
	give_to_threads();
	void *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, 65536, PROT_NONE) < 0 ||
	    getcontext(&run.there) < 0)
		return body(argc, argv);
	run.body = body;
	run.argc = argc;
	run.argv = argv;
	run.there.uc_stack.ss_sp = stack;
	run.there.uc_stack.ss_size = SIZE;
	run.there.uc_link = &run.here;
	makecontext(&run.there, run_body, 0);
	swapcontext(&run.here, &run.there);
	munmap(stack, SIZE);
	return run.result;
}
