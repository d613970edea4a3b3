/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder_bench.h"

#include <mpi.h>

enum { REQUESTS = 16 };

static int in, out = 1;

/* ---- Blocking ---- */

static void nobody(void)
{
	MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void sendrecv(void)
{
	MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
		     MPI_STATUS_IGNORE);
}

/* ---- Thousands of call paths ---- */

/* The function calls the next one from 16 places; nothing to make one call of them with. */
#define FROM(i, call)                                                                              \
	case i:                                                                                    \
		call;                                                                              \
		__asm__ volatile("" ::"i"(i));                                                     \
		break
#define FROM_4(i, call)                                                                            \
	FROM(i, call);                                                                             \
	FROM(i + 1, call);                                                                         \
	FROM(i + 2, call);                                                                         \
	FROM(i + 3, call)
#define FROM_16(call)                                                                              \
	FROM_4(0, call);                                                                           \
	FROM_4(4, call);                                                                           \
	FROM_4(8, call);                                                                           \
	FROM_4(12, call)

static __attribute__((noinline)) void inner(int path)
{
	switch (path & 15) {
		FROM_16(nobody());
	}
}

static __attribute__((noinline)) void middle(int path)
{
	switch (path & 15) {
		FROM_16(inner(path >> 4));
	}
}

static __attribute__((noinline)) void outer(int path)
{
	switch (path & 15) {
		FROM_16(middle(path >> 4));
	}
}

/* Each by another path than the calls before, in the same order again and again, which is not
 * that in which they came first; and between two calls a program touches data of its own. */
static void nobody_by_paths(void)
{
	enum { PATHS = 16 * 16 * 16, LINE = 64, TOUCHED = 32 };
	static volatile char data[8 << 20];
	static unsigned calls, path;

	for (unsigned i = 0; i < TOUCHED; i++)
		data[(calls * TOUCHED + i) * LINE % sizeof(data)]++;
	path = calls < PATHS ? calls : path * 1637 + 17;
	calls++;
	outer(path % PATHS);
}

/* ---- Requests ---- */

/* MPICH keeps a rank that sends to itself until it has posted the receive. */
static void send_wait(int source)
{
	MPI_Request request;

	MPI_Irecv(&in, 1, MPI_INT, source, 1, MPI_COMM_SELF, &request);
	MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void irecv_send_wait(void)
{
	send_wait(0);
}

static void irecv_any_send_wait(void)
{
	send_wait(MPI_ANY_SOURCE);
}

static void isend_irecv_wait(void)
{
	MPI_Request requests[2];

	MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
	MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static int values[REQUESTS];

static void start_many(MPI_Request *requests, int num)
{
	for (int i = 0; i < num; i++)
		MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
	for (int i = 0; i < num; i++)
		MPI_Isend(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[num + i]);
}

static void many_waitall(void)
{
	MPI_Request requests[2 * REQUESTS];

	start_many(requests, REQUESTS);
	MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
}

static void many_testall(void)
{
	MPI_Request requests[2 * REQUESTS];
	int flag;

	start_many(requests, REQUESTS);
	MPI_Testall(2 * REQUESTS, requests, &flag, MPI_STATUSES_IGNORE);
	if (!flag)
		MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
}

static void waitany(void)
{
	MPI_Request requests[4];
	int index;

	start_many(requests, 2);
	for (int i = 0; i < 4; i++)
		MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
}

/* All have completed when it is called. */
static void waitsome(void)
{
	MPI_Request requests[4];
	int num, indices[4];

	start_many(requests, 2);
	MPI_Waitsome(4, requests, &num, indices, MPI_STATUSES_IGNORE);
}

static void testsome(void)
{
	MPI_Request requests[4];
	int num, indices[4];

	start_many(requests, 2);
	MPI_Testsome(4, requests, &num, indices, MPI_STATUSES_IGNORE);
	if (num < 4)
		MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static MPI_Request persistent[2 * REQUESTS];

static void start_wait(void)
{
	MPI_Start(&persistent[0]);
	MPI_Start(&persistent[REQUESTS]);
	MPI_Wait(&persistent[0], MPI_STATUS_IGNORE);
	MPI_Wait(&persistent[REQUESTS], MPI_STATUS_IGNORE);
}

static void startall_waitall(void)
{
	MPI_Startall(2 * REQUESTS, persistent);
	MPI_Waitall(2 * REQUESTS, persistent, MPI_STATUSES_IGNORE);
}

/* ---- Polls that find nothing ---- */

static MPI_Request pending[REQUESTS];

static void test(void)
{
	int flag;

	MPI_Test(&pending[0], &flag, MPI_STATUS_IGNORE);
}

static void testall(void)
{
	int flag;

	MPI_Testall(REQUESTS, pending, &flag, MPI_STATUSES_IGNORE);
}

static void iprobe(void)
{
	int flag;

	MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* ---- Probes ---- */

/* Of a message that is on its way: MPI_Isend returns before it is received. */
static void probe(void)
{
	MPI_Request request;

	MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
	MPI_Probe(0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Recv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void mprobe(void)
{
	MPI_Request request;
	MPI_Message message;

	MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
	MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- Collectives ---- */

static MPI_Comm ring; /* whose neighbours are the rank itself */

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_SELF);
}

static void bcast(void)
{
	MPI_Bcast(&out, 1, MPI_INT, 0, MPI_COMM_SELF);
}

static void allreduce(void)
{
	MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void gatherv(void)
{
	const int count = 1, place = 0;

	MPI_Gatherv(&out, 1, MPI_INT, &in, &count, &place, MPI_INT, 0, MPI_COMM_SELF);
}

static void neighbor_alltoall(void)
{
	int from[2], to[2] = {1, 2};

	MPI_Neighbor_alltoall(to, 1, MPI_INT, from, 1, MPI_INT, ring);
}

static void iallreduce_wait(void)
{
	MPI_Request request;

	MPI_Iallreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- One-sided ---- */

static MPI_Win fenced, posted, locked;
static MPI_Group self;
static int *memory; /* of `fenced` */

static void put(void)
{
	MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, fenced);
}

static void put_fence(void)
{
	put();
	MPI_Win_fence(0, fenced);
}

static void get_fence(void)
{
	MPI_Get(&in, 1, MPI_INT, 0, 0, 1, MPI_INT, fenced);
	MPI_Win_fence(0, fenced);
}

static void post_start_complete_wait(void)
{
	MPI_Win_post(self, 0, posted);
	MPI_Win_start(self, 0, posted);
	MPI_Win_complete(posted);
	MPI_Win_wait(posted);
}

static void lock_put_unlock(void)
{
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, locked);
	MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, locked);
	MPI_Win_unlock(0, locked);
}

static void lock_all_flush(void)
{
	MPI_Win_lock_all(0, locked);
	MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, locked);
	MPI_Win_flush(0, locked);
	MPI_Win_unlock_all(locked);
}

/* ---- All ---- */

/* recorder_bench_f.f90 */
void fortran_nobody(void);
void fortran_isend_irecv_wait(void);
void fortran_many_waitall(void);
void fortran_allreduce(void);
void f08_isend_irecv_wait(void);

const struct measured all_measured[] = {
	{"Send-to-nobody", 1, 0, nobody},
	{"Send-to-nobody-by-4096-paths", 1, 0, nobody_by_paths},
	{"Sendrecv", 1, 0, sendrecv},
	{"Irecv+Send+Wait", 3, 0, irecv_send_wait},
	{"Irecv-any+Send+Wait", 3, 0, irecv_any_send_wait},
	{"Irecv+Isend+2*Wait", 4, 0, isend_irecv_wait},
	{"16*(Irecv+Isend)+Waitall", 2 * REQUESTS + 1, 0, many_waitall},
	{"16*(Irecv+Isend)+Testall", 2 * REQUESTS + 1, 0, many_testall},
	{"2*(Irecv+Isend)+4*Waitany", 8, 0, waitany},
	{"2*(Irecv+Isend)+Waitsome", 5, 0, waitsome},
	{"2*(Irecv+Isend)+Testsome", 5, 0, testsome},
	{"2*Start+2*Wait", 4, 0, start_wait},
	{"Startall+Waitall-of-32", 2, 2 * REQUESTS, startall_waitall},
	{"Test", 1, 0, test},
	{"Testall-of-16", 1, REQUESTS, testall},
	{"Iprobe", 1, 0, iprobe},
	{"Isend+Probe+Recv+Wait", 4, 0, probe},
	{"Isend+Mprobe+Mrecv+Wait", 4, 0, mprobe},
	{"Barrier", 1, 0, barrier},
	{"Bcast", 1, 0, bcast},
	{"Allreduce", 1, 0, allreduce},
	{"Gatherv", 1, 0, gatherv},
	{"Neighbor_alltoall", 1, 0, neighbor_alltoall},
	{"Iallreduce+Wait", 2, 0, iallreduce_wait},
	{"Put", 1, 0, put},
	{"Put+Win_fence", 2, 0, put_fence},
	{"Get+Win_fence", 2, 0, get_fence},
	{"Win_post+start+complete+wait", 4, 0, post_start_complete_wait},
	{"Win_lock+Put+Win_unlock", 3, 0, lock_put_unlock},
	{"Win_lock_all+Put+flush+unlock_all", 4, 0, lock_all_flush},
	{"Fortran-Send-to-nobody", 1, 0, fortran_nobody},
	{"Fortran-Irecv+Isend+2*Wait", 4, 0, fortran_isend_irecv_wait},
	{"Fortran-16*(Irecv+Isend)+Waitall", 2 * REQUESTS + 1, 0, fortran_many_waitall},
	{"Fortran-Allreduce", 1, 0, fortran_allreduce},
	{"mpi_f08-Irecv+Isend+2*Wait", 4, 0, f08_isend_irecv_wait},
};
const int num_measured = sizeof(all_measured) / sizeof(all_measured[0]);

void measured_begin(void)
{
	const int one = 1, is_periodic = 1;

	for (int i = 0; i < REQUESTS; i++) {
		MPI_Irecv(&values[i], 1, MPI_INT, 0, 100 + i, MPI_COMM_SELF, &pending[i]);
		MPI_Recv_init(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &persistent[i]);
		MPI_Send_init(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF, &persistent[REQUESTS + i]);
	}
	MPI_Cart_create(MPI_COMM_SELF, 1, &one, &is_periodic, 0, &ring);
	MPI_Comm_group(MPI_COMM_SELF, &self);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &memory, &fenced);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &memory, &posted);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &memory, &locked);
	MPI_Win_fence(0, fenced);
}

void measured_end(void)
{
	MPI_Win_fence(0, fenced);
	MPI_Win_free(&fenced);
	MPI_Win_free(&posted);
	MPI_Win_free(&locked);
	MPI_Group_free(&self);
	MPI_Comm_free(&ring);
	for (int i = 0; i < REQUESTS; i++)
		MPI_Send(&out, 1, MPI_INT, 0, 100 + i, MPI_COMM_SELF);
	MPI_Waitall(REQUESTS, pending, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 2 * REQUESTS; i++)
		MPI_Request_free(&persistent[i]);
}
