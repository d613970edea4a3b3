/* SPDX-License-Identifier: BSD-3-Clause
 * Every MPI function that the recorder wraps, called at least once by two ranks. What an MPI may be
 * unable to do where it runs stands apart: the parts, one in each run, are at the end. */
#include "coverage.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "checkpoint.h"

static MPI_Comm world, node, ring;
static MPI_File file, shared_file; /* one of this rank, one of all */
static int rank, other;
static char *program;
static int in[64], out[64];
static char room[4096 + MPI_BSEND_OVERHEAD];

static void reset_buffers(void)
{
	for (int i = 0; i < 64; i++) {
		in[i] = -1;
		out[i] = 100 * (rank + 1) + i;
	}
	DO(MPI_Barrier, world);
}

#define COUNT int
#define DISPLACEMENT int
#define C(name) name
#define IN(name) small_##name
#include "coverage_counts.h"
#undef COUNT
#undef DISPLACEMENT
#undef C
#undef IN
#if HAVE_LARGE_COUNTS
#define COUNT MPI_Count
#define DISPLACEMENT MPI_Aint
#define C(name) name##_c
#define IN(name) large_##name
#include "coverage_counts.h"
#undef C
#undef IN
#endif

/* ---- Completion ---- */

static int query(void *state, MPI_Status *status)
{
	(void)state;
	MPI_Status_set_elements(status, MPI_INT, 0);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
	return MPI_SUCCESS;
}

static int no_free(void *state)
{
	(void)state;
	return MPI_SUCCESS;
}

static int no_cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

static void exchange(MPI_Request *r)
{
	for (int i = 0; i < 2; i++) {
		DO(MPI_Irecv, in + i, 1, MPI_INT, other, i, world, &r[i]);
		DO(MPI_Isend, out + i, 1, MPI_INT, other, i, world, &r[2 + i]);
	}
}

static void completion(void)
{
	MPI_Request r[4];
	MPI_Status statuses[4];
	int flag, index, which[4];

	exchange(r);
	DO(MPI_Waitall, 4, r, statuses);
	show("source", &statuses[0].MPI_SOURCE, 1);
	/* Waitany and Waitsome may take any order: one request at a time. */
	exchange(r);
	for (int i = 0; i < 4; i += 2) {
		DO(MPI_Waitany, 1, &r[i], &index, MPI_STATUS_IGNORE);
		DO(MPI_Waitsome, 1, &r[i + 1], &index, which, MPI_STATUSES_IGNORE);
		show("waitsome", which, 1);
	}
	exchange(r);
	POLL_UNTIL(MPI_Request_get_status, flag, r[0], &flag, statuses);
#if HAVE_MPI41
	POLL_UNTIL(MPI_Request_get_status_any, flag, 1, r, &index, &flag, statuses);
	POLL_UNTIL(MPI_Request_get_status_some, index, 1, r, &index, which, statuses);
	POLL_UNTIL(MPI_Request_get_status_all, flag, 4, r, &flag, statuses);
	show("status of all", &statuses[0].MPI_SOURCE, 1);
#endif
	POLL_UNTIL(MPI_Test, flag, &r[0], &flag, statuses);
	POLL_UNTIL(MPI_Testany, flag, 1, &r[1], &index, &flag, MPI_STATUS_IGNORE);
	POLL_UNTIL(MPI_Testsome, index, 1, &r[2], &index, which, MPI_STATUSES_IGNORE);
	POLL_UNTIL(MPI_Testall, flag, 1, &r[3], &flag, MPI_STATUSES_IGNORE);
	show("tested", in, 2);
	DO(MPI_Isend, out, 1, MPI_INT, other, 5, world, r);
	POLL_UNTIL(MPI_Iprobe, flag, other, 5, world, &flag, statuses);
	DO(MPI_Recv, in, 1, MPI_INT, other, 5, world, statuses);
	DO(MPI_Wait, r, statuses);
	DO(MPI_Irecv, in, 1, MPI_INT, other, 77, world, r);
	DO(MPI_Cancel, r);
	DO(MPI_Wait, r, statuses);
	MPI_Test_cancelled(statuses, &flag);
	show("cancelled", &flag, 1);
	DO(MPI_Ibarrier, world, r);
	DO(MPI_Wait, r, MPI_STATUS_IGNORE);
#if HAVE_MPI4
	DO(MPI_Barrier_init, world, MPI_INFO_NULL, r);
	DO(MPI_Start, r);
	DO(MPI_Wait, r, MPI_STATUS_IGNORE);
	DO(MPI_Request_free, r);
#endif
	DO(MPI_Grequest_start, query, no_free, no_cancel, NULL, r);
	DO(MPI_Grequest_complete, *r);
	DO(MPI_Wait, r, MPI_STATUS_IGNORE);
}

#if HAVE_MPI4
static void partitioned(void)
{
	MPI_Request r[2];
	int flag, list[1] = {3};

	DO(MPI_Precv_init, in, 4, 1, MPI_INT, other, 1, world, MPI_INFO_NULL, &r[0]);
	DO(MPI_Psend_init, out, 4, 1, MPI_INT, other, 1, world, MPI_INFO_NULL, &r[1]);
	DO(MPI_Startall, 2, r);
	DO(MPI_Pready, 0, r[1]);
	DO(MPI_Pready_range, 1, 2, r[1]);
	DO(MPI_Pready_list, 1, list, r[1]);
	POLL_UNTIL(MPI_Parrived, flag, r[0], 0, &flag);
	DO(MPI_Waitall, 2, r, MPI_STATUSES_IGNORE);
	show("partitioned", in, 4);
	DO(MPI_Request_free, &r[0]);
	DO(MPI_Request_free, &r[1]);
}

static void sessions(void)
{
	MPI_Session session;
	MPI_Group group, local, remote;
	MPI_Comm comm, inter;
	int sum = -1;

	DO(MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	DO(MPI_Comm_create_from_group, group, "pdb-coverage", MPI_INFO_NULL, MPI_ERRORS_RETURN,
	   &comm);
	DO(MPI_Allreduce, out, &sum, 1, MPI_INT, MPI_SUM, comm);
	show("session", &sum, 1);
	MPI_Group_incl(group, 1, &rank, &local);
	MPI_Group_incl(group, 1, &other, &remote);
	if (DO(MPI_Intercomm_create_from_groups, local, 0, remote, 0, "pdb-inter", MPI_INFO_NULL,
	       MPI_ERRORS_RETURN, &inter) == MPI_SUCCESS)
		DO(MPI_Comm_free, &inter);
	DO(MPI_Comm_free, &comm);
	MPI_Group_free(&group);
	MPI_Group_free(&local);
	MPI_Group_free(&remote);
	DO(MPI_Session_finalize, &session);
}
#endif

/* ---- Communicators ---- */

static void communicators(void)
{
	MPI_Comm comm, inter;
	MPI_Group group;
	MPI_Request r;
	int size = 2, yes = 1, index[2] = {1, 2}, edges[2] = {1, 0};

	MPI_Comm_group(world, &group);
	DO(MPI_Comm_create, world, group, &comm);
	DO(MPI_Comm_free, &comm);
	DO(MPI_Comm_create_group, world, group, 3, &comm);
	DO(MPI_Comm_free, &comm);
	MPI_Group_free(&group);
	DO(MPI_Comm_dup_with_info, world, MPI_INFO_NULL, &comm);
	DO(MPI_Comm_free, &comm);
	DO(MPI_Comm_idup, world, &comm, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	DO(MPI_Comm_free, &comm);
#if HAVE_MPI4
	DO(MPI_Comm_idup_with_info, world, MPI_INFO_NULL, &comm, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	DO(MPI_Comm_free, &comm);
#endif
	DO(MPI_Comm_split, world, 0, -rank, &comm);
	MPI_Comm_rank(comm, in);
	show("split", in, 1);
	DO(MPI_Comm_free, &comm);
	DO(MPI_Cart_create, world, 1, &size, &yes, 0, &comm);
	DO(MPI_Cart_sub, comm, &yes, &inter);
	DO(MPI_Comm_free, &inter);
	DO(MPI_Comm_free, &comm);
	DO(MPI_Graph_create, world, 2, index, edges, 0, &comm);
	DO(MPI_Comm_free, &comm);
	DO(MPI_Dist_graph_create, world, 1, &rank, &yes, &other, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
	   &comm);
	DO(MPI_Neighbor_allgather, out, 1, MPI_INT, in, 1, MPI_INT, comm);
	show("dist_graph", in, 1);
	DO(MPI_Comm_free, &comm);
	DO(MPI_Dist_graph_create_adjacent, world, 1, &other, MPI_UNWEIGHTED, 1, &other,
	   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
	DO(MPI_Comm_free, &comm);
	DO(MPI_Dist_graph_create_adjacent, world, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
	   MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
	DO(MPI_Comm_free, &comm);

	DO(MPI_Intercomm_create, MPI_COMM_SELF, 0, world, other, 5, &inter);
	DO(MPI_Sendrecv, out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
	DO(MPI_Bcast, in, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, inter);
	DO(MPI_Allreduce, out, in + 1, 1, MPI_INT, MPI_SUM, inter);
	DO(MPI_Barrier, inter);
	show("inter", in, 2);
	DO(MPI_Intercomm_merge, inter, rank, &comm);
	DO(MPI_Comm_disconnect, &comm);
	DO(MPI_Comm_free, &inter);
}

/* ---- One-sided synchronisation ---- */

static void epochs(void)
{
	MPI_Win win;
	MPI_Group world_group, group;
	int flag, *base, *mine;
	MPI_Aint address;

	MPI_Comm_group(world, &world_group);
	MPI_Group_incl(world_group, 1, &other, &group);
	DO(MPI_Win_create, in, sizeof(in), sizeof(int), MPI_INFO_NULL, world, &win);
	for (int round = 0; round < 2; round++) {
		DO(MPI_Win_post, group, 0, win);
		DO(MPI_Win_start, group, 0, win);
		DO(MPI_Put, out + round, 1, MPI_INT, other, round, 1, MPI_INT, win);
		DO(MPI_Win_complete, win);
		if (round == 0)
			DO(MPI_Win_wait, win);
		else
			POLL_UNTIL(MPI_Win_test, flag, win, &flag);
	}
	show("pscw", in, 2);
	in[2] = in[3] = rank;
	DO(MPI_Barrier, world);
	DO(MPI_Win_lock_all, 0, win);
	DO(MPI_Put, out + 2, 1, MPI_INT, other, 4, 1, MPI_INT, win);
	DO(MPI_Win_flush, other, win);
	DO(MPI_Fetch_and_op, out, in + 6, MPI_INT, other, 2, MPI_SUM, win);
	DO(MPI_Win_flush_local, other, win);
	DO(MPI_Compare_and_swap, out, &other, in + 7, MPI_INT, other, 3, win);
	DO(MPI_Win_flush_local_all, win);
	DO(MPI_Win_flush_all, win);
	DO(MPI_Win_sync, win);
	DO(MPI_Win_unlock_all, win);
	DO(MPI_Barrier, world);
	show("atomics", in, 8);
	DO(MPI_Win_free, &win);

	DO(MPI_Win_create_dynamic, MPI_INFO_NULL, world, &win);
	mine = in;
	MPI_Win_attach(win, mine, sizeof(in));
	MPI_Get_address(mine, &address);
	base = in;
	MPI_Win_detach(win, base);
	DO(MPI_Win_free, &win);
	MPI_Group_free(&group);
	MPI_Group_free(&world_group);
	/* Absolute addresses: the buffer is MPI_BOTTOM. */
	MPI_Datatype absolute;
	int block = 1;
	MPI_Type_create_hindexed(1, &block, &address, MPI_INT, &absolute);
	MPI_Type_commit(&absolute);
	DO(MPI_Bcast, MPI_BOTTOM, 1, absolute, 0, world);
	show("bottom", in, 1);
	MPI_Type_free(&absolute);
}

/* ---- Processes ---- */

enum { FOR_CHILDREN = 100 };

static void leave_children(MPI_Comm *children)
{
	if (*children == MPI_COMM_NULL)
		return;
	DO(MPI_Bcast, out, 1, MPI_INT, MPI_ROOT, *children);
	DO(MPI_Comm_disconnect, children);
}

static void spawn(void)
{
	MPI_Comm children = MPI_COMM_NULL;
	char child[] = "child";
	char *arguments[] = {child, NULL};
	int code = -1;

	if (rank != 0)
		return;
	out[0] = FOR_CHILDREN;
	DO(MPI_Comm_spawn, program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
	   &code);
	show("spawned", &code, 1);
	leave_children(&children);
}

/* Programs without arguments: they learn by their parent that they are children. */
static void spawn_multiple(void)
{
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
	const int num = 1; /* over a second one mpirun crashes, at least up to 5.0.7 */
#else
	const int num = 2;
#endif
	MPI_Comm children = MPI_COMM_NULL;
	char *programs[] = {program, program};
	MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
	int one[] = {1, 1};

	if (rank != 0)
		return;
	out[0] = FOR_CHILDREN;
	DO(MPI_Comm_spawn_multiple, num, programs, MPI_ARGVS_NULL, one, infos, 0, MPI_COMM_SELF,
	   &children, MPI_ERRCODES_IGNORE);
	leave_children(&children);
}

static int be_child(MPI_Comm parent)
{
	int value = 0;

	MPI_Bcast(&value, 1, MPI_INT, 0, parent);
	MPI_Comm_disconnect(&parent);
	MPI_Finalize();
	return value == FOR_CHILDREN ? 0 : 1;
}

static bool open_port(char *port)
{
	return DO(MPI_Open_port, MPI_INFO_NULL, port) == MPI_SUCCESS;
}

/* MPICH may crash over a port that it has not opened. */
static void close_port(bool opened, const char *port)
{
	if (opened)
		DO(MPI_Close_port, port);
}

static void names(void)
{
	char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";

	if (rank != 0)
		return;
	bool opened = open_port(port);
	/* MPICH's mpiexec, from 4.2 on, ends the job over a name published without a text. */
	const char *text = opened ? port : "no port";
	DO(MPI_Publish_name, "pdb-coverage", MPI_INFO_NULL, text);
	if (DO(MPI_Lookup_name, "pdb-coverage", MPI_INFO_NULL, found) == MPI_SUCCESS) {
		out[63] = strcmp(text, found);
		show("found", out + 63, 1);
	}
	DO(MPI_Unpublish_name, "pdb-coverage", MPI_INFO_NULL, text);
	close_port(opened, port);
}

static void connect_port(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm peer = MPI_COMM_NULL;
	bool opened = false;

	if (rank == 0)
		opened = open_port(port);
	DO(MPI_Bcast, port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, world);
	if (rank == 0)
		DO(MPI_Comm_accept, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
	else
		DO(MPI_Comm_connect, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &peer);
	if (peer != MPI_COMM_NULL) {
		DO(MPI_Sendrecv, out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, 0, 0, peer,
		   MPI_STATUS_IGNORE);
		show("connected", in, 1);
		DO(MPI_Comm_disconnect, &peer);
	}
	close_port(opened, port);
}

/* Join two ranks by a socket of their own. */
static void join(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0), listening = -1;
	MPI_Comm peer = MPI_COMM_NULL;

	if (rank == 0) {
		listening = fd;
		if (bind(fd, (void *)&address, size) != 0 || listen(fd, 1) != 0 ||
		    getsockname(fd, (void *)&address, &size) != 0)
			exit(5);
	}
	DO(MPI_Bcast, &address, sizeof(address), MPI_BYTE, 0, world);
	if (rank == 0) {
		fd = accept(listening, NULL, NULL);
		close(listening);
	} else if (connect(fd, (void *)&address, size) != 0) {
		exit(5);
	}
	DO(MPI_Comm_join, fd, &peer);
	if (peer != MPI_COMM_NULL)
		DO(MPI_Comm_disconnect, &peer);
	close(fd);
}

/* ---- Errors ---- */

static void errors(void)
{
	MPI_Request none = MPI_REQUEST_NULL;
	MPI_Comm comm;
	MPI_File no_file;
	int flag = 0;

	DO(MPI_Send, out, 1, MPI_INT, 12345, 0, world);
	DO(MPI_Send, out, -1, MPI_INT, 0, 0, world);
	DO(MPI_Send, out, 1, MPI_DATATYPE_NULL, 0, 0, world);
	DO(MPI_Recv, in, 1, MPI_INT, 0, -77, world, MPI_STATUS_IGNORE);
	DO(MPI_Bcast, in, 1, MPI_INT, 77, world);
	DO(MPI_Allreduce, out, in, 1, MPI_INT, MPI_OP_NULL, world);
	DO(MPI_Barrier, MPI_COMM_NULL);
	DO(MPI_Wait, &none, MPI_STATUS_IGNORE);
	POLL(MPI_Iprobe, flag, 12345, 0, world, &flag, MPI_STATUS_IGNORE);
	DO(MPI_Comm_split, world, -5, 0, &comm);
	DO(MPI_File_open, MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL,
	   &no_file);
	DO(MPI_File_delete, "/nowhere/at/all", MPI_INFO_NULL);
	DO(MPI_Win_fence, 0, MPI_WIN_NULL);
}

static void return_errors(void)
{
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

/* ---- All ---- */

static void open_files(char *own, char *all, size_t size)
{
	const char *dir = getenv("CHECK_DIR");
	const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;

	snprintf(own, size, "%s/file.%d", dir, rank);
	snprintf(all, size, "%s/file", dir);
	DO(MPI_File_open, MPI_COMM_SELF, own, mode, MPI_INFO_NULL, &file);
	DO(MPI_File_open, world, all, mode, MPI_INFO_NULL, &shared_file);
	DO(MPI_File_set_size, file, 1024);
	DO(MPI_File_preallocate, file, 2048);
	DO(MPI_File_set_atomicity, file, 0);
}

static void close_files(const char *own)
{
	DO(MPI_File_sync, file);
	DO(MPI_File_close, &file);
	DO(MPI_File_close, &shared_file);
	DO(MPI_File_delete, own, MPI_INFO_NULL);
}

static void call_all(void)
{
	char own[512], all[512];
	int two = 2, yes = 1;

	DO(MPI_Comm_split_type, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	DO(MPI_Cart_create, world, 1, &two, &yes, 0, &ring);
	open_files(own, all, sizeof(own));
	small_all();
#if HAVE_LARGE_COUNTS
	large_all();
#endif
	close_files(own);
	reset_buffers();
	completion();
#if HAVE_MPI4
	partitioned();
	sessions();
#endif
	communicators();
	epochs();
	return_errors();
	errors();
}

/* MPICH over UCX has no dynamic processes, Open MPI spawns none where no network interface suits
 * it, and without a name server nothing is published. Most say so by an error, which the trace
 * shows; but some break the job. */
static const struct part {
	const char *name;
	void (*call)(void);
	bool may_fail;
} parts[] = {
	{"calls", call_all, false},      {"names", names, true},
	{"connect", connect_port, true}, {"join", join, true},
	{"spawn", spawn, true},          {"spawn-multiple", spawn_multiple, true},
};

static const struct part *find_part(const char *name)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (name && strcmp(parts[i].name, name) == 0)
			return &parts[i];
	return NULL;
}

/* The argument is the name of the part; a child may have any. */
int main(int argc, char **argv)
{
	int code = MPI_Init(&argc, &argv);
	MPI_Comm parent;

	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		return be_child(parent);
	const struct part *part = find_part(argv[1]);
	if (!part)
		return 2;
	program = argv[0];
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	other = 1 - rank;
	trace_open(rank);
	did("MPI_Init", code);
	DO(MPI_Comm_dup, MPI_COMM_WORLD, &world);
	reset_buffers();
	if (part->may_fail)
		return_errors();
	part->call();
	trace_close();
	checkpoint();
	MPI_Finalize();
	return 0;
}
