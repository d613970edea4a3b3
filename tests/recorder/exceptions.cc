// SPDX-License-Identifier: BSD-3-Clause
// C++ exceptions of the program, one of them out of an MPI call, and a thread that ends by
// pthread_exit: the recorder brings its own unwinder and must not get into their way.
#include "checkpoint.h"

#include <cstdio>
#include <mpi.h>
#include <pthread.h>
#include <stdexcept>

struct Unwound {
	int &count;
	~Unwound() { count++; }
};

static void throw_out_of_mpi(MPI_Comm *, int *, ...)
{
	throw std::runtime_error("from a handler");
}

static int unwound_in_thread;

static void *thread_main(void *)
{
	Unwound mark{unwound_in_thread};
	pthread_exit(nullptr);
}

int main(int argc, char **argv)
{
	int caught = 0, unwound = 0, in = 1;
	MPI_Errhandler handler;
	pthread_t thread;

	MPI_Init(&argc, &argv);
	pthread_create(&thread, nullptr, thread_main, nullptr);
	pthread_join(thread, nullptr);
	for (int i = 0; i < 3; i++) {
		try {
			Unwound mark{unwound};
			throw std::runtime_error("plain");
		} catch (const std::exception &) {
			caught++;
		}
	}
	MPI_Comm_create_errhandler(throw_out_of_mpi, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
	try {
		Unwound mark{unwound};
		MPI_Send(&in, 1, MPI_INT, 77, 0, MPI_COMM_SELF);
	} catch (const std::exception &) {
		caught++;
	}
	MPI_Barrier(MPI_COMM_SELF);
	checkpoint();
	std::printf("caught %d unwound %d thread %d\n", caught, unwound, unwound_in_thread);
	MPI_Finalize();
	return 0;
}
