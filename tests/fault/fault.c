/* SPDX-License-Identifier: BSD-3-Clause
 * A library that makes faults of communication in programs that have none, for tests. It is
 * preloaded in front of the recorder, which then sees what a program with this fault would do: a
 * message that is lost here was, for all that is behind, never sent.
 *
 *	SIGUSR1 to a rank	its next message to another rank is not sent
 *	SIGUSR2			its next collective is skipped
 *	SIGRTMIN+2		before its next message or collective it receives from the other
 *				rank of PDB_FAULT_PAIR=2,5, which sends nothing: a deadlock, if
 *				both are told
 *	SIGRTMIN+3		it gets ten times slower: for each millisecond that it computes, it
 *				reads memory for nine
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
 * without leaving a frame, so that call paths are the program's own.
 *
 * The calls of real programs that tests use, from C; fault_fortran.c has those from Fortran.
 * Persistent sends from C only. */
#include <dlfcn.h>
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/fault/fault.h"

#define DEADLOCK_SIGNAL (SIGRTMIN + 2)
#define SLOW_SIGNAL (SIGRTMIN + 3)
#define TICK_SIGNAL (SIGRTMIN + 4)
#define TICK_NS 1000000L
#define SLOW_TIMES 10
#define MEMORY_SIZE (64L << 20) /* above what caches hold */
#define CACHE_LINE 64
#define DEADLOCK_TAG 32001
#define MAX_PERSISTENT 1024

static atomic_bool is_message_due, is_collective_due, is_deadlock_due;
static int first_tag, last_tag = INT_MAX;
static bool is_last_meant;
/* Messages since the last collective, and between that and the one before that had any. */
static long num_messages, num_before;
static volatile char *memory;

static void arm(int signal)
{
	atomic_store(signal == SIGUSR1   ? &is_message_due
		     : signal == SIGUSR2 ? &is_collective_due
					 : &is_deadlock_due,
		     true);
}

static long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

/* At the end of each tick, of processor time, that the program has had to itself. */
static void stall(int signal)
{
	static long place;
	long end_ns = cpu_ns() + (SLOW_TIMES - 1) * TICK_NS;

	(void)signal;
	while (cpu_ns() < end_ns)
		for (int i = 0; i < 1000; i++) {
			memory[place] += 1;
			place = (place + CACHE_LINE) % MEMORY_SIZE;
		}
}

/* The timer counts all processor time: a tick of the program's, then the stall, which takes the
 * rest of the period. */
static void slow_down(int signal)
{
	struct sigaction action = {.sa_handler = stall, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = TICK_SIGNAL};
	struct itimerspec period = {.it_value = {.tv_nsec = TICK_NS},
				    .it_interval = {.tv_nsec = SLOW_TIMES * TICK_NS}};
	timer_t timer;

	(void)signal;
	memory =
		mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaction(TICK_SIGNAL, &action, NULL);
	if (memory != MAP_FAILED && timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0)
		timer_settime(timer, 0, &period, NULL);
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
	sigaction(DEADLOCK_SIGNAL, &action, NULL);
	action.sa_handler = slow_down;
	sigaction(SLOW_SIGNAL, &action, NULL);
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

/* The next library's function of this name, looked up once. */
#define NEXT(function)                                                                             \
	({                                                                                         \
		static __typeof__(&function) next;                                                 \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #function);                             \
		next;                                                                              \
	})

static void wait_for_nothing(void)
{
	const char *pair = getenv("PDB_FAULT_PAIR");
	int rank, ranks[2], nothing;

	if (!atomic_exchange(&is_deadlock_due, false) || !pair ||
	    sscanf(pair, "%d,%d", &ranks[0], &ranks[1]) != 2)
		return;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	int other = ranks[0] == rank ? ranks[1] : ranks[0];

	announce("receives from %d, tag %d", other, DEADLOCK_TAG);
	NEXT(MPI_Recv)
	(&nothing, 1, MPI_INT, other, DEADLOCK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

bool fault_loses_message(const char *function, int destination, int tag, MPI_Comm comm)
{
	int rank;

	if (atomic_load_explicit(&is_deadlock_due, memory_order_relaxed))
		wait_for_nothing();
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

bool fault_skips_collective(const char *function)
{
	if (atomic_load_explicit(&is_deadlock_due, memory_order_relaxed))
		wait_for_nothing();
	if (num_messages > 0)
		num_before = num_messages;
	num_messages = 0;
	if (!atomic_load_explicit(&is_collective_due, memory_order_relaxed))
		return false;
	atomic_store(&is_collective_due, false);
	announce("skipped %s", function);
	return true;
}

#define SEND(function)                                                                             \
	int function(const void *data, int count, MPI_Datatype type, int destination, int tag,     \
		     MPI_Comm comm)                                                                \
	{                                                                                          \
		if (fault_loses_message(#function, destination, tag, comm))                        \
			return MPI_SUCCESS;                                                        \
		return NEXT(function)(data, count, type, destination, tag, comm);                  \
	}

SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Rsend)

int MPI_Isend(const void *data, int count, MPI_Datatype type, int destination, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	if (fault_loses_message("MPI_Isend", destination, tag, comm)) {
		*request = MPI_REQUEST_NULL;
		return MPI_SUCCESS;
	}
	return NEXT(MPI_Isend)(data, count, type, destination, tag, comm, request);
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int destination, int tag,
		 void *got, int got_count, MPI_Datatype got_type, int source, int got_tag,
		 MPI_Comm comm, MPI_Status *status)
{
	if (fault_loses_message("MPI_Sendrecv", destination, tag, comm))
		return MPI_Recv(got, got_count, got_type, source, got_tag, comm, status);
	return NEXT(MPI_Sendrecv)(data, count, type, destination, tag, got, got_count, got_type,
				  source, got_tag, comm, status);
}

/* ---- Persistent sends ---- */

/* Those that are there, in no order; others are never lost. */
static struct persistent {
	MPI_Request request;
	int destination, tag;
	MPI_Comm comm;
	bool is_used;
} persistents[MAX_PERSISTENT];
static pthread_mutex_t persistents_lock = PTHREAD_MUTEX_INITIALIZER;

static struct persistent *find_persistent(bool is_used, MPI_Request request)
{
	for (int i = 0; i < MAX_PERSISTENT; i++)
		if (persistents[i].is_used == is_used &&
		    (!is_used || persistents[i].request == request))
			return &persistents[i];
	return NULL;
}

static void add_persistent(MPI_Request request, int destination, int tag, MPI_Comm comm)
{
	pthread_mutex_lock(&persistents_lock);
	struct persistent *new = find_persistent(false, request);
	if (new)
		*new = (struct persistent){request, destination, tag, comm, true};
	pthread_mutex_unlock(&persistents_lock);
}

/* One that is not started is like one that has been waited for: nothing is left to wait for. */
static bool loses_start(const char *function, MPI_Request request)
{
	struct persistent copy = {.is_used = false};

	pthread_mutex_lock(&persistents_lock);
	struct persistent *found = find_persistent(true, request);
	if (found)
		copy = *found;
	pthread_mutex_unlock(&persistents_lock);
	return copy.is_used && fault_loses_message(function, copy.destination, copy.tag, copy.comm);
}

#define SEND_INIT(function)                                                                        \
	int function(const void *data, int count, MPI_Datatype type, int destination, int tag,     \
		     MPI_Comm comm, MPI_Request *request)                                          \
	{                                                                                          \
		int error = NEXT(function)(data, count, type, destination, tag, comm, request);    \
                                                                                                   \
		if (error == MPI_SUCCESS)                                                          \
			add_persistent(*request, destination, tag, comm);                          \
		return error;                                                                      \
	}

SEND_INIT(MPI_Send_init)
SEND_INIT(MPI_Ssend_init)
SEND_INIT(MPI_Rsend_init)

int MPI_Start(MPI_Request *request)
{
	if (loses_start("MPI_Start", *request))
		return MPI_SUCCESS;
	return NEXT(MPI_Start)(request);
}

/* In two parts around one that is lost. */
int MPI_Startall(int count, MPI_Request *requests)
{
	for (int i = 0; i < count; i++) {
		if (!loses_start("MPI_Startall", requests[i]))
			continue;
		int error = NEXT(MPI_Startall)(i, requests);
		return error == MPI_SUCCESS ? NEXT(MPI_Startall)(count - i - 1, requests + i + 1)
					    : error;
	}
	return NEXT(MPI_Startall)(count, requests);
}

int MPI_Request_free(MPI_Request *request)
{
	pthread_mutex_lock(&persistents_lock);
	struct persistent *found = find_persistent(true, *request);
	if (found)
		found->is_used = false;
	pthread_mutex_unlock(&persistents_lock);
	return NEXT(MPI_Request_free)(request);
}

/* ---- Collectives ---- */

#define COLLECTIVE(function, parameters, arguments)                                                \
	int function parameters                                                                    \
	{                                                                                          \
		if (fault_skips_collective(#function))                                             \
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
COLLECTIVE(MPI_Alltoall,
	   (const void *data, int count, MPI_Datatype type, void *got, int got_count,
	    MPI_Datatype got_type, MPI_Comm comm),
	   (data, count, type, got, got_count, got_type, comm))
COLLECTIVE(MPI_Alltoallv,
	   (const void *data, const int *counts, const int *places, MPI_Datatype type, void *got,
	    const int *got_counts, const int *got_places, MPI_Datatype got_type, MPI_Comm comm),
	   (data, counts, places, type, got, got_counts, got_places, got_type, comm))
COLLECTIVE(MPI_Gather,
	   (const void *data, int count, MPI_Datatype type, void *got, int got_count,
	    MPI_Datatype got_type, int root, MPI_Comm comm),
	   (data, count, type, got, got_count, got_type, root, comm))
