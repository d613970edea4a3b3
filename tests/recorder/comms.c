/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators, windows and files of every kind, made in an order that differs between ranks
 * where MPI allows that. What is true of each is written to $CHECK_DIR/truth.RANK, as the
 * program itself finds it by communicating; check_comms.py compares. For 4 ranks or more. Lines:
 *
 *	comm NAME KIND RANK MEMBERS REMOTE KNOWN	lists of world ranks, - for none; KNOWN 0: no id
 *	file PARENT RANK MEMBERS			the last file of the communicator of that name
 *	sources NAME LIST
 *	collective NAME NUMBER FUNCTION ROOT BYTES	of those after the one that told the members */
#include "checkpoint.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 64 };

static FILE *truth;
static int rank, size;

static const char *list(const int *ranks, int num)
{
	static char text[2][MAX_RANKS * 12];
	static int which;
	char *to = text[which = !which];

	strcpy(to, num ? "" : "-");
	for (int i = 0; i < num; i++)
		sprintf(to + strlen(to), i ? ",%d" : "%d", ranks[i]);
	return to;
}

/* `local` is the communicator of an intercommunicator's own group. */
static void tell(const char *name, const char *kind, MPI_Comm comm, MPI_Comm local, int known)
{
	int members[MAX_RANKS], remote[MAX_RANKS], own, num, num_remote = 0;

	MPI_Comm_rank(comm, &own);
	MPI_Comm_size(comm, &num);
	MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, local);
	if (local != comm) {
		MPI_Comm_remote_size(comm, &num_remote);
		MPI_Allgather(&rank, 1, MPI_INT, remote, 1, MPI_INT, comm);
	}
	fprintf(truth, "comm %s %s %d %s %s %d\n", name, kind, own, list(members, num),
		list(remote, num_remote), known);
}

static void note(MPI_Comm comm, const char *name)
{
	MPI_Comm_set_name(comm, name);
	tell(name, "intra", comm, comm, 1);
}

static void note_inter(MPI_Comm comm, MPI_Comm local, const char *name)
{
	MPI_Comm_set_name(comm, name);
	tell(name, "inter", comm, local, 1);
}

static void note_window(MPI_Win win, MPI_Comm comm, const char *name)
{
	MPI_Win_set_name(win, name);
	tell(name, "window", comm, comm, 1);
}

static const char *numbered(const char *name, int number)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s-%d", name, number);
	return text;
}

/* ---- Making them ---- */

static MPI_Comm dup, half;

static void duplicates(void)
{
	MPI_Comm comm, started;
	MPI_Request request;

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	note(dup, "dup");
	MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &comm);
	note(comm, "dup-with-info");
	MPI_Comm_idup(dup, &started, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	note(started, "idup");
	/* Each rank's own. */
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	note(comm, numbered("self", rank));
}

/* One half makes something of its own in between. */
static void splits(void)
{
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
	note(half, numbered("half", rank % 2));
	if (rank % 2) {
		MPI_Comm_dup(half, &comm);
		note(comm, "of-odd");
	}
	MPI_Comm_split(MPI_COMM_WORLD, rank ? 1 : MPI_UNDEFINED, 0, &comm);
	if (comm != MPI_COMM_NULL)
		note(comm, "without-0");
	if (rank % 2 == 0) {
		MPI_Comm_dup(half, &comm);
		note(comm, "of-even");
	}
	MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	note(comm, "node");
}

static MPI_Group group_of(int num, const int *ranks)
{
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, num, ranks, &group);
	MPI_Group_free(&world);
	return group;
}

static void pair(int other, int tag, const char *name)
{
	int ranks[2] = {other < rank ? other : rank, other < rank ? rank : other};
	MPI_Group group = group_of(2, ranks);
	MPI_Comm comm;

	MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm);
	note(comm, name);
	MPI_Group_free(&group);
}

static void groups(void)
{
	int ranks[MAX_RANKS], num = 0;
	MPI_Comm comm;

	/* Two disjoint groups in one call. */
	for (int r = rank < 2 ? 0 : 2; r < (rank < 2 ? 2 : size); r++)
		ranks[num++] = r;
	MPI_Group group = group_of(num, ranks);
	MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	note(comm, numbered("create", rank < 2));
	MPI_Group_free(&group);

	switch (rank) {
	case 0:
		pair(1, 5, "pair-a");
		pair(2, 5, "pair-c");
		pair(1, 5, "pair-b");
		pair(1, 6, "pair-d");
		break;
	case 1:
		pair(0, 5, "pair-a");
		pair(0, 5, "pair-b");
		pair(0, 6, "pair-d");
		break;
	case 2:
		pair(0, 5, "pair-c");
		break;
	}
}

static void topologies(void)
{
	int dims[2] = {0, 0}, periods[2] = {0, 1}, keep[2] = {0, 1}, coords[2], both[2];
	int sources[4], num = 0, left = (rank + size - 1) % size, right = (rank + 1) % size;
	MPI_Comm grid, comm;

	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(dup, 2, dims, periods, 0, &grid);
	note(grid, "grid");
	for (int d = 0; d < 2; d++) {
		MPI_Cart_shift(grid, d, 1, &both[0], &both[1]);
		for (int i = 0; i < 2; i++)
			if (both[i] != MPI_PROC_NULL)
				sources[num++] = both[i];
	}
	fprintf(truth, "sources grid %s\n", list(sources, num));
	MPI_Comm_dup(grid, &comm);
	note(comm, "grid-dup");
	fprintf(truth, "sources grid-dup %s\n", list(sources, num));
	MPI_Cart_coords(grid, rank, 2, coords);
	MPI_Cart_sub(grid, keep, &comm);
	note(comm, numbered("row", coords[0]));

	MPI_Dist_graph_create_adjacent(dup, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &comm);
	note(comm, "ring");
	fprintf(truth, "sources ring %d\n", left);
	/* Open MPI 5 takes it for Cartesian, too. */
	MPI_Dist_graph_create_adjacent(grid, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
				       MPI_INFO_NULL, 0, &comm);
	note(comm, "ring-of-grid");
	fprintf(truth, "sources ring-of-grid %d\n", left);
	int one = 1, weight = 3;
	MPI_Dist_graph_create(dup, 1, &rank, &one, &left, &weight, MPI_INFO_NULL, 0, &comm);
	note(comm, "ring-back");
	fprintf(truth, "sources ring-back %d\n", right);

	int index[MAX_RANKS], edges[2 * MAX_RANKS];
	for (int r = 0; r < size; r++) {
		index[r] = 2 * (r + 1);
		edges[2 * r] = (r + size - 1) % size;
		edges[2 * r + 1] = (r + 1) % size;
	}
	MPI_Graph_create(dup, size, index, edges, 0, &comm);
	note(comm, "graph");
	fprintf(truth, "sources graph %d,%d\n", left, right);
}

static void intercommunicators(void)
{
	MPI_Comm inter, again, comm;

	/* The leaders are the last of each half, whose order is reversed: world ranks 0 and 1. */
	int half_size, half_rank;
	MPI_Comm_size(half, &half_size);
	MPI_Comm_rank(half, &half_rank);
	for (int i = 0; i < 2; i++) {
		MPI_Intercomm_create(half, half_size - 1, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
		note_inter(inter, half, i ? "inter-again" : "inter");
	}
	MPI_Comm_dup(inter, &again);
	note_inter(again, half, "inter-dup");
	MPI_Intercomm_merge(again, rank % 2, &comm);
	note(comm, "merged");
	MPI_Comm_split(inter, 0, half_rank, &comm);
	note_inter(comm, half, "inter-split");
}

static MPI_Win windows[4];
static MPI_File files[3];
static int memory[4];

static void windows_and_files(void)
{
	char path[512];
	void *base;
	MPI_Comm node;

	MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, dup, &windows[0]);
	note_window(windows[0], dup, "win-create");
	MPI_Win_allocate(16, 1, MPI_INFO_NULL, dup, &base, &windows[1]);
	note_window(windows[1], dup, "win-allocate");
	MPI_Win_create_dynamic(MPI_INFO_NULL, half, &windows[2]);
	note_window(windows[2], half, numbered("win-dynamic", rank % 2));
	MPI_Comm_split_type(dup, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Win_allocate_shared(16, 1, MPI_INFO_NULL, node, &base, &windows[3]);
	note_window(windows[3], node, "win-shared");
	/* Its communicator may be gone before the window. */
	MPI_Comm_free(&node);

	snprintf(path, sizeof(path), "%s/file", getenv("CHECK_DIR"));
	MPI_File_open(dup, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &files[0]);
	snprintf(path, sizeof(path), "%s/file-%d", getenv("CHECK_DIR"), rank % 2);
	for (int i = 1; i < 3; i++) {
		MPI_File_open(half, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			      &files[i]);
		if (i == 1)
			MPI_File_close(&files[i]);
	}
	int members[MAX_RANKS], num, own;
	MPI_Comm_size(half, &num);
	MPI_Comm_rank(half, &own);
	MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, half);
	fprintf(truth, "file %s %d %s\n", numbered("half", rank % 2), own, list(members, num));
}

/* Handles come again for something else. */
static void again_and_again(void)
{
	MPI_Request request;
	MPI_Comm comm;

	for (int i = 0; i < 30; i++) {
		MPI_Comm_split(dup, (rank >> i % 3) % 2, 0, &comm);
		if (i % 2)
			MPI_Barrier(comm);
		MPI_Comm_free(&comm);
	}
	/* In one variable, as a program's loop has it. */
	MPI_Comm_idup(dup, &comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	note(comm, "idup-again");
	MPI_Comm_split(dup, rank / 2, 0, &comm);
	note(comm, numbered("last", rank / 2));
}

/* ---- Collectives ---- */

static MPI_Comm counted;
static const char *counted_name;
static int count;

static void count_on(const char *name)
{
	MPI_Comm_dup(dup, &counted);
	note(counted, name);
	counted_name = name;
	count = 1; /* that of note() */
}

static void did(const char *function, int root, int bytes)
{
	fprintf(truth, "collective %s %d %s %d %d\n", counted_name, ++count, function, root, bytes);
}

enum { NONE = -4, UNEVEN = -1 };

static int in[4 * MAX_RANKS], out[4 * MAX_RANKS], counts[MAX_RANKS], places[MAX_RANKS];

static void even_collectives(void)
{
	MPI_Datatype three;

	count_on("even");
	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_commit(&three);
	MPI_Barrier(counted);
	did("MPI_Barrier", NONE, 0);
	/* The same in other words. */
	if (rank % 2)
		MPI_Bcast(in, 3, MPI_INT, 2, counted);
	else
		MPI_Bcast(in, 1, three, 2, counted);
	did("MPI_Bcast", 2, 12);
	MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, 1, counted);
	did("MPI_Gather", 1, 8);
	MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, 1, counted);
	did("MPI_Scatter", 1, 8);
	MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, counted);
	did("MPI_Allgather", NONE, 4);
	MPI_Alltoall(in, 2, MPI_INT, out, 2, MPI_INT, counted);
	did("MPI_Alltoall", NONE, 8);
	MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 3, counted);
	did("MPI_Reduce", 3, 16);
	MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, counted);
	did("MPI_Allreduce", NONE, 8);
	MPI_Type_free(&three);
}

static void other_collectives(void)
{
	count_on("other");
	MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, counted);
	did("MPI_Scan", NONE, 4);
	MPI_Exscan(in, out, 1, MPI_SHORT, MPI_SUM, counted);
	did("MPI_Exscan", NONE, 2);
	MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, counted);
	did("MPI_Reduce_scatter_block", NONE, 4);
	MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, counted);
	did("MPI_Reduce_scatter", NONE, UNEVEN);
	MPI_Gatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, 0, counted);
	did("MPI_Gatherv", 0, UNEVEN);
	MPI_Scatterv(in, counts, places, MPI_INT, out, 1, MPI_INT, 2, counted);
	did("MPI_Scatterv", 2, UNEVEN);
	MPI_Allgatherv(in, 1, MPI_INT, out, counts, places, MPI_INT, counted);
	did("MPI_Allgatherv", NONE, UNEVEN);
	MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, counted);
	did("MPI_Alltoallv", NONE, UNEVEN);
}

/* What is not significant is garbage: it must not be looked at. */
static void in_place(void)
{
	count_on("in-place");
	if (rank == 1)
		MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, 2, MPI_INT, 1, counted);
	else
		MPI_Gather(in, 2, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 1, counted);
	did("MPI_Gather", 1, 8);
	if (rank == 1)
		MPI_Scatter(in, 2, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, 1, counted);
	else
		MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, out, 2, MPI_INT, 1, counted);
	did("MPI_Scatter", 1, 8);
	MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, 1, MPI_INT, counted);
	did("MPI_Allgather", NONE, 4);
	MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, 1, MPI_INT, counted);
	did("MPI_Alltoall", NONE, 4);
	MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INT, MPI_SUM, counted);
	did("MPI_Allreduce", NONE, 4);
}

static void non_blocking(void)
{
	MPI_Request requests[3];
	MPI_Comm comm;

	count_on("non-blocking");
	MPI_Ibarrier(counted, &requests[0]);
	did("MPI_Ibarrier", NONE, 0);
	MPI_Ibcast(in, 1, MPI_INT, 1, counted, &requests[1]);
	did("MPI_Ibcast", 1, 4);
	MPI_Iallreduce(in, out, 2, MPI_INT, MPI_SUM, counted, &requests[2]);
	did("MPI_Iallreduce", NONE, 8);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	MPI_Comm_idup(counted, &comm, &requests[0]);
	did("MPI_Comm_idup", NONE, UNEVEN);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Comm_free(&comm);
	MPI_Comm_split(counted, MPI_UNDEFINED, 0, &comm);
	did("MPI_Comm_split", NONE, UNEVEN);
#if MPI_VERSION >= 4
	MPI_Bcast_init(in, 1, MPI_INT, 3, counted, MPI_INFO_NULL, &requests[0]);
	did("MPI_Bcast_init", 3, 4);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&requests[0]);
		did("MPI_Bcast_init", 3, 4);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&requests[0]);
#endif
}

/* One rank gives to all of the other group, then each group to the other. */
static void between_groups(void)
{
	int root = rank == 0 ? MPI_ROOT : rank % 2 ? 0 : MPI_PROC_NULL, half_size;

	MPI_Comm_size(half, &half_size);
	MPI_Intercomm_create(half, half_size - 1, MPI_COMM_WORLD, 1 - rank % 2, 8, &counted);
	note_inter(counted, half, "between");
	counted_name = "between";
	count = 1;
	if (rank % 2)
		root = half_size + size % 2 - 1; /* of the even half, whose order is reversed */
	MPI_Bcast(in, root == MPI_PROC_NULL ? 0 : 1, MPI_INT, root, counted);
	did("MPI_Bcast",
	    root == MPI_ROOT        ? -3
	    : root == MPI_PROC_NULL ? -1
				    : root,
	    root == MPI_PROC_NULL ? UNEVEN : 4);
	MPI_Allgather(in, 1 + rank % 2, MPI_INT, out, 2 - rank % 2, MPI_INT, counted);
	did("MPI_Allgather", NONE, UNEVEN);
	MPI_Barrier(counted);
	did("MPI_Barrier", NONE, 0);
}

static void on_windows_and_files(void)
{
	int n = 0;

	counted_name = "win-create";
	count = 0;
	for (int i = 0; i < 3; i++) {
		MPI_Win_fence(0, windows[0]);
		did("MPI_Win_fence", NONE, UNEVEN);
	}
	counted_name = "file-of-dup";
	count = 0;
	MPI_File_set_size(files[0], 100);
	did("MPI_File_set_size", NONE, UNEVEN);
	MPI_File_write_at_all(files[0], 4 * rank, &n, 1, MPI_INT, MPI_STATUS_IGNORE);
	did("MPI_File_write_at_all", NONE, UNEVEN);
	MPI_File_read_at_all_begin(files[0], 4 * rank, &n, 1, MPI_INT);
	did("MPI_File_read_at_all_begin", NONE, UNEVEN);
	MPI_File_read_at_all_end(files[0], &n, MPI_STATUS_IGNORE);
	MPI_File_sync(files[0]);
	did("MPI_File_sync", NONE, UNEVEN);
}

int main(int argc, char **argv)
{
	char path[512];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof(path), "%s/truth.%d", getenv("CHECK_DIR"), rank);
	truth = fopen(path, "w");
	if (!truth || size < 4 || size > MAX_RANKS)
		return 1;
	for (int r = 0; r < size; r++) {
		counts[r] = 1;
		places[r] = r;
	}
	duplicates();
	splits();
	groups();
	topologies();
	intercommunicators();
	windows_and_files();
	even_collectives();
	other_collectives();
	in_place();
	non_blocking();
	between_groups();
	on_windows_and_files();
	again_and_again();
	fclose(truth);
	checkpoint();
	for (int i = 0; i < 4; i++)
		MPI_Win_free(&windows[i]);
	MPI_File_close(&files[0]);
	MPI_File_close(&files[2]);
	MPI_Finalize();
	return 0;
}
