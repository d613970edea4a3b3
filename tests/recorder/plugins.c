/* SPDX-License-Identifier: BSD-3-Clause
 * Libraries that call MPI are loaded and unloaded in turn, each in the place of the one before.
 * usage: plugins HOW_OFTEN LIBRARY...; "beside" instead of a number: another thread loads and
 * unloads the first one all the time, while this one calls MPI from the last one. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"

enum { SENDS = 3, TIMES_BESIDE = 300 };

static atomic_bool has_ended;

static void *load(const char *path, void (**act_ret)(int num))
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(4);
	}
	*(void **)act_ret = dlsym(library, "act");
	return library;
}

/* How often a library was where the one before had been. */
static int take_turns(int how_often, char **paths, int num_paths)
{
	uintptr_t before = 0;
	int num_same = 0;
	void (*act)(int num);

	for (int i = 0; i < how_often * num_paths; i++) {
		void *library = load(paths[i % num_paths], &act);

		num_same += (uintptr_t)act == before;
		before = (uintptr_t)act;
		act(SENDS);
		dlclose(library);
	}
	return num_same;
}

static void *load_and_unload(void *path)
{
	void (*act)(int num);

	for (int i = 0; i < TIMES_BESIDE; i++)
		dlclose(load(path, &act));
	has_ended = true;
	return NULL;
}

static void call_beside(char **paths, int num_paths)
{
	pthread_t thread;
	void (*act)(int num);

	pthread_create(&thread, NULL, load_and_unload, paths[0]);
	while (!has_ended) {
		void *library = load(paths[num_paths - 1], &act);

		act(SENDS);
		dlclose(library);
	}
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	if (argc > 2 && strcmp(argv[1], "beside") == 0)
		call_beside(argv + 2, argc - 2);
	else if (argc > 2)
		printf("%d in the same place\n", take_turns(atoi(argv[1]), argv + 2, argc - 2));
	checkpoint();
	MPI_Finalize();
	puts("end");
	return 0;
}
