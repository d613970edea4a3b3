/* SPDX-License-Identifier: BSD-3-Clause
 * A library that makes faults of communication in programs that have none, for tests. It is
 * preloaded in front of the recorder, which then sees what a program with this fault would do: a
 * message that is lost here was, for all that is behind, never sent.
 *
 *	SIGUSR1 to a rank	its next message to another rank is not sent
 *	SIGUSR2			its next collective is skipped
 *
 * A message that is lost need not hang a program, since a later one with the same tag is taken for
 * it. So there is a choice among messages:
 *
 *	PDB_FAULT_TAGS=2001-3000	only those with such a tag
 *	PDB_FAULT_LAST=1		only the last before a collective, if there are as many of
 *					them as between the last two
 *
 * Both return MPI_SUCCESS at once, and "fault: rank 3 lost a message: MPI_Send to 5, tag 0" or
 * "fault: rank 3 skipped MPI_Allreduce" is printed. All other calls jump to the next library
 *without leaving a frame, so that call paths are the program's own.
 *
 * The calls of real C programs that tests use; not Fortran's, and no persistent sends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_bool is_message_due, is_collective_due;
static int first_tag, last_tag = INT_MAX;
static bool is_last_meant;
/* Messages since the last collective, and between that and the one before that had any. */
static long num_messages, num_before;

static void arm(int signal)
{
	atomic_store(signal == SIGUSR1 ? &is_message_due : &is_collective_due, true);
}

__attribute__((constructor)) static void start(void)
{
	struct sigaction action = {.sa_handler = arm, .sa_flags = SA_RESTART};
	const char *tags = getenv("PDB_FAULT_TAGS");

	if (tags)
		sscanf(tags, "%d-%d", &first_tag, &last_tag);
	is_last_meant = getenv("PDB_FAULT_LAST") != NULL;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

/* One write, so that the line is whole. */
__attribute__((format(printf, 1, 2))) static void announce(const char *format, ...)
{
	char line[160];
	int rank, size;
	va_list args;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	size = snprintf(line, sizeof(line), "fault: rank %d ", rank);
	va_start(args, format);
	size += vsnprintf(line + size, sizeof(line) - (size_t)size - 1, format, args);
	va_end(args);
	line[size++] = '\n';
	if (write(STDOUT_FILENO, line, (size_t)size) != size)
		_exit(3);
}

/* The rank in MPI_COMM_WORLD of a rank of a communicator. */
static int find_world_rank(int rank, MPI_Comm comm)
{
	MPI_Group world, group;
	int world_rank;

	PMPI_Comm_group(MPI_COMM_WORLD, &world);
	PMPI_Comm_group(comm, &group);
	PMPI_Group_translate_ranks(group, 1, &rank, world, &world_rank);
	PMPI_Group_free(&group);
	PMPI_Group_free(&world);
	return world_rank;
}

static bool loses_message(const char *function, int destination, int tag, MPI_Comm comm)
{
	int rank;

	num_messages++;
	if (!atomic_load_explicit(&is_message_due, memory_order_relaxed))
		return false;
	if (tag < first_tag || tag > last_tag || (is_last_meant && num_messages != num_before))
		return false;
	PMPI_Comm_rank(comm, &rank);
	if (destination == MPI_PROC_NULL || destination == rank)
		return false;
	atomic_store(&is_message_due, false);
	announce("lost a message: %s to %d, tag %d", function, find_world_rank(destination, comm),
		 tag);
	return true;
}

static bool skips_collective(const char *function)
{
	if (num_messages > 0)
		num_before = num_messages;
	num_messages = 0;
	if (!atomic_load_explicit(&is_collective_due, memory_order_relaxed))
		return false;
	atomic_store(&is_collective_due, false);
	announce("skipped %s", function);
	return true;
}

/* The next library's function of this name, looked up once. */
#define NEXT(function)                                                                             \
	({                                                                                         \
		static __typeof__(&function) next;                                                 \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #function);                             \
		next;                                                                              \
	})

#define SEND(function)                                                                             \
	int function(const void *data, int count, MPI_Datatype type, int destination, int tag,     \
		     MPI_Comm comm)                                                                \
	{                                                                                          \
		if (loses_message(#function, destination, tag, comm))                              \
			return MPI_SUCCESS;                                                        \
		return NEXT(function)(data, count, type, destination, tag, comm);                  \
	}

SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Rsend)

int MPI_Isend(const void *data, int count, MPI_Datatype type, int destination, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	if (loses_message("MPI_Isend", destination, tag, comm)) {
		*request = MPI_REQUEST_NULL;
		return MPI_SUCCESS;
	}
	return NEXT(MPI_Isend)(data, count, type, destination, tag, comm, request);
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int destination, int tag,
		 void *got, int got_count, MPI_Datatype got_type, int source, int got_tag,
		 MPI_Comm comm, MPI_Status *status)
{
	if (loses_message("MPI_Sendrecv", destination, tag, comm))
		return MPI_Recv(got, got_count, got_type, source, got_tag, comm, status);
	return NEXT(MPI_Sendrecv)(data, count, type, destination, tag, got, got_count, got_type,
				  source, got_tag, comm, status);
}

#define COLLECTIVE(function, parameters, arguments)                                                \
	int function parameters                                                                    \
	{                                                                                          \
		if (skips_collective(#function))                                                   \
			return MPI_SUCCESS;                                                        \
		return NEXT(function) arguments;                                                   \
	}

COLLECTIVE(MPI_Barrier, (MPI_Comm comm), (comm))
COLLECTIVE(MPI_Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
	   (data, count, type, root, comm))
COLLECTIVE(MPI_Reduce,
	   (const void *data, void *got, int count, MPI_Datatype type, MPI_Op op, int root,
	    MPI_Comm comm),
	   (data, got, count, type, op, root, comm))
COLLECTIVE(MPI_Allreduce,
	   (const void *data, void *got, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
	   (data, got, count, type, op, comm))
COLLECTIVE(MPI_Scan,
	   (const void *data, void *got, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
	   (data, got, count, type, op, comm))
COLLECTIVE(MPI_Allgather,
	   (const void *data, int count, MPI_Datatype type, void *got, int got_count,
	    MPI_Datatype got_type, MPI_Comm comm),
	   (data, count, type, got, got_count, got_type, comm))
