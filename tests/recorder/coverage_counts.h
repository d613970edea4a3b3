/* SPDX-License-Identifier: BSD-3-Clause
 * The calls that exist with int and with large counts; coverage.c includes this for each. Before:
 * COUNT and DISPLACEMENT types, C(name) the function, IN(name) a name of this inclusion. */

static void IN(blocking)(void)
{
	int n = 0, flag;
	MPI_Message message;
	MPI_Status status;
	void *attached;
	COUNT attached_size;

	DO(MPI_Barrier, world);
	if (rank == 0) {
		DO(C(MPI_Send), out, 2, MPI_INT, 1, 1, world);
		DO(C(MPI_Ssend), out, 2, MPI_INT, 1, 2, world);
		MPI_Buffer_attach(room, sizeof(room));
		DO(C(MPI_Bsend), out, 2, MPI_INT, 1, 3, world);
		DO(C(MPI_Buffer_detach), &attached, &attached_size);
		n = attached == room && attached_size == sizeof(room);
		DO(C(MPI_Recv), in, 2, MPI_INT, 1, 4, world, MPI_STATUS_IGNORE);
		DO(C(MPI_Rsend), out, 2, MPI_INT, 1, 5, world);
		DO(C(MPI_Send), out, 2, MPI_INT, 1, 6, world);
		DO(C(MPI_Send), out, 2, MPI_INT, 1, 7, world);
	} else {
		MPI_Request ready;
		DO(MPI_Probe, 0, 1, world, &status);
		DO(C(MPI_Recv), in, 2, MPI_INT, 0, 1, world, &status);
		MPI_Get_count(&status, MPI_INT, &n);
		DO(C(MPI_Recv), in + 2, 2, MPI_INT, MPI_ANY_SOURCE, 2, world, MPI_STATUS_IGNORE);
		DO(C(MPI_Recv), in + 4, 2, MPI_INT, 0, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
		DO(C(MPI_Irecv), in + 6, 2, MPI_INT, 0, 5, world, &ready);
		DO(C(MPI_Send), out, 2, MPI_INT, 0, 4, world);
		DO(MPI_Wait, &ready, &status);
		DO(MPI_Mprobe, 0, 6, world, &message, MPI_STATUS_IGNORE);
		DO(C(MPI_Mrecv), in + 8, 2, MPI_INT, &message, &status);
		POLL_UNTIL(MPI_Improbe, flag, 0, 7, world, &flag, &message, MPI_STATUS_IGNORE);
		DO(C(MPI_Imrecv), in + 10, 2, MPI_INT, &message, &ready);
		DO(MPI_Wait, &ready, MPI_STATUS_IGNORE);
	}
	show("blocking", in, 12);
	show("count", &n, 1);
	DO(C(MPI_Sendrecv), out, 1, MPI_INT, other, 8, in, 1, MPI_INT, other, 8, world, &status);
	DO(C(MPI_Sendrecv_replace), in, 1, MPI_INT, other, 9, other, 9, world, MPI_STATUS_IGNORE);
	show("sendrecv", in, 1);
}

/* One of each non-blocking or persistent kind against a receive, completed by `how` it goes. */
static void IN(nonblocking)(void)
{
	MPI_Request r[5];
	void *attached;
	COUNT attached_size;

	MPI_Buffer_attach(room, sizeof(room));
	DO(C(MPI_Irecv), in, 1, MPI_INT, other, 1, world, &r[0]);
	DO(C(MPI_Irecv), in + 1, 1, MPI_INT, other, 2, world, &r[1]);
	DO(C(MPI_Irecv), in + 2, 1, MPI_INT, other, 3, world, &r[2]);
	DO(C(MPI_Irecv), in + 3, 1, MPI_INT, other, 4, world, &r[3]);
	DO(MPI_Barrier, world);
	DO(C(MPI_Isend), out, 1, MPI_INT, other, 1, world, &r[4]);
	DO(MPI_Wait, &r[4], MPI_STATUS_IGNORE);
	DO(C(MPI_Issend), out + 1, 1, MPI_INT, other, 2, world, &r[4]);
	DO(MPI_Wait, &r[4], MPI_STATUS_IGNORE);
	DO(C(MPI_Irsend), out + 2, 1, MPI_INT, other, 3, world, &r[4]);
	DO(MPI_Wait, &r[4], MPI_STATUS_IGNORE);
	DO(C(MPI_Ibsend), out + 3, 1, MPI_INT, other, 4, world, &r[4]);
	DO(MPI_Waitall, 5, r, MPI_STATUSES_IGNORE);
	DO(C(MPI_Buffer_detach), &attached, &attached_size);
	show("nonblocking", in, 4);
#if HAVE_MPI4
	DO(C(MPI_Isendrecv), out, 1, MPI_INT, other, 5, in, 1, MPI_INT, other, 5, world, r);
	DO(MPI_Wait, r, MPI_STATUS_IGNORE);
	DO(C(MPI_Isendrecv_replace), in, 1, MPI_INT, other, 5, other, 5, world, r);
	DO(MPI_Wait, r, MPI_STATUS_IGNORE);
	show("isendrecv", in, 1);
#endif
}

static void IN(persistent)(void)
{
	MPI_Request r[8];
	void *attached;
	COUNT attached_size;

	MPI_Buffer_attach(room, sizeof(room));
	for (int i = 0; i < 4; i++)
		DO(C(MPI_Recv_init), in + i, 1, MPI_INT, other, i, world, &r[i]);
	DO(C(MPI_Send_init), out, 1, MPI_INT, other, 0, world, &r[4]);
	DO(C(MPI_Ssend_init), out + 1, 1, MPI_INT, other, 1, world, &r[5]);
	DO(C(MPI_Bsend_init), out + 2, 1, MPI_INT, other, 2, world, &r[6]);
	DO(C(MPI_Rsend_init), out + 3, 1, MPI_INT, other, 3, world, &r[7]);
	for (int round = 0; round < 2; round++) {
		DO(MPI_Startall, 4, r);
		DO(MPI_Barrier, world);
		for (int i = 4; i < 8; i++)
			DO(MPI_Start, &r[i]);
		DO(MPI_Waitall, 8, r, MPI_STATUSES_IGNORE);
		show("persistent", in, 4);
	}
	for (int i = 0; i < 8; i++)
		DO(MPI_Request_free, &r[i]);
	DO(C(MPI_Buffer_detach), &attached, &attached_size);
}

#if HAVE_MPI41
/* The buffer of all and the buffer of one communicator. */
static void IN(flushed)(void)
{
	MPI_Request r[2];
	void *attached;
	COUNT attached_size;

	DO(C(MPI_Irecv), in, 1, MPI_INT, other, 1, world, &r[0]);
	DO(C(MPI_Irecv), in + 1, 1, MPI_INT, other, 2, world, &r[1]);
	MPI_Buffer_attach(room, sizeof(room));
	DO(C(MPI_Bsend), out, 1, MPI_INT, other, 1, world);
	DO(MPI_Buffer_flush);
	DO(C(MPI_Buffer_detach), &attached, &attached_size);
	MPI_Comm_attach_buffer(world, room, sizeof(room));
	DO(C(MPI_Bsend), out + 1, 1, MPI_INT, other, 2, world);
	DO(MPI_Comm_flush_buffer, world);
	DO(C(MPI_Comm_detach_buffer), world, &attached, &attached_size);
	DO(MPI_Waitall, 2, r, MPI_STATUSES_IGNORE);
	show("flushed", in, 2);
}
#endif

static void IN(collective)(void)
{
	COUNT one[2] = {1, 1};
	DISPLACEMENT place[2] = {0, 1}, bytes[2] = {0, 4};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};

#define COLLECTIVE(name, ...)                                                                      \
	do {                                                                                       \
		DO(C(name), __VA_ARGS__);                                                          \
		show(#name, in, 4);                                                                \
	} while (0)
	COLLECTIVE(MPI_Bcast, in, 2, MPI_INT, 0, world);
	COLLECTIVE(MPI_Gather, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
	COLLECTIVE(MPI_Gatherv, out, 1, MPI_INT, in, one, place, MPI_INT, 1, world);
	COLLECTIVE(MPI_Scatter, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
	COLLECTIVE(MPI_Scatterv, out, one, place, MPI_INT, in, 1, MPI_INT, 1, world);
	COLLECTIVE(MPI_Allgather, out, 1, MPI_INT, in, 1, MPI_INT, world);
	COLLECTIVE(MPI_Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, world);
	COLLECTIVE(MPI_Allgatherv, out, 1, MPI_INT, in, one, place, MPI_INT, world);
	COLLECTIVE(MPI_Alltoall, out, 1, MPI_INT, in, 1, MPI_INT, world);
	COLLECTIVE(MPI_Alltoallv, out, one, place, MPI_INT, in, one, place, MPI_INT, world);
	COLLECTIVE(MPI_Alltoallw, out, one, bytes, types, in, one, bytes, types, world);
	COLLECTIVE(MPI_Reduce, out, in, 2, MPI_INT, MPI_SUM, 0, world);
	COLLECTIVE(MPI_Allreduce, out, in, 2, MPI_INT, MPI_MAX, world);
	COLLECTIVE(MPI_Allreduce, MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, world);
	COLLECTIVE(MPI_Reduce_scatter, out, in, one, MPI_INT, MPI_SUM, world);
	COLLECTIVE(MPI_Reduce_scatter_block, out, in, 1, MPI_INT, MPI_SUM, world);
	COLLECTIVE(MPI_Scan, out, in, 1, MPI_INT, MPI_SUM, world);
	COLLECTIVE(MPI_Exscan, out, in, 1, MPI_INT, MPI_SUM, world);
#undef COLLECTIVE
}

static void IN(icollective)(void)
{
	COUNT one[2] = {1, 1};
	DISPLACEMENT place[2] = {0, 1}, bytes[2] = {0, 4};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};

#define ICOLLECTIVE(name, ...)                                                                     \
	do {                                                                                       \
		MPI_Request request_;                                                              \
		DO(C(name), __VA_ARGS__, &request_);                                               \
		DO(MPI_Wait, &request_, MPI_STATUS_IGNORE);                                        \
		show(#name, in, 4);                                                                \
	} while (0)
	ICOLLECTIVE(MPI_Ibcast, in, 2, MPI_INT, 0, world);
	ICOLLECTIVE(MPI_Igather, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
	ICOLLECTIVE(MPI_Igatherv, out, 1, MPI_INT, in, one, place, MPI_INT, 1, world);
	ICOLLECTIVE(MPI_Iscatter, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
	ICOLLECTIVE(MPI_Iscatterv, out, one, place, MPI_INT, in, 1, MPI_INT, 1, world);
	ICOLLECTIVE(MPI_Iallgather, out, 1, MPI_INT, in, 1, MPI_INT, world);
	ICOLLECTIVE(MPI_Iallgatherv, out, 1, MPI_INT, in, one, place, MPI_INT, world);
	ICOLLECTIVE(MPI_Ialltoall, out, 1, MPI_INT, in, 1, MPI_INT, world);
	ICOLLECTIVE(MPI_Ialltoallv, out, one, place, MPI_INT, in, one, place, MPI_INT, world);
	ICOLLECTIVE(MPI_Ialltoallw, out, one, bytes, types, in, one, bytes, types, world);
	ICOLLECTIVE(MPI_Ireduce, out, in, 2, MPI_INT, MPI_SUM, 0, world);
	ICOLLECTIVE(MPI_Iallreduce, out, in, 2, MPI_INT, MPI_MAX, world);
	ICOLLECTIVE(MPI_Ireduce_scatter, out, in, one, MPI_INT, MPI_SUM, world);
	ICOLLECTIVE(MPI_Ireduce_scatter_block, out, in, 1, MPI_INT, MPI_SUM, world);
	ICOLLECTIVE(MPI_Iscan, out, in, 1, MPI_INT, MPI_SUM, world);
	ICOLLECTIVE(MPI_Iexscan, out, in, 1, MPI_INT, MPI_SUM, world);
#undef ICOLLECTIVE
}

#if HAVE_MPI4
static void IN(persistent_collective)(void)
{
	COUNT one[2] = {1, 1};
	DISPLACEMENT place[2] = {0, 1}, bytes[2] = {0, 4};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};

#define PERSISTENT(name, ...)                                                                      \
	do {                                                                                       \
		MPI_Request request_;                                                              \
		DO(C(name), __VA_ARGS__, MPI_INFO_NULL, &request_);                                \
		DO(MPI_Start, &request_);                                                          \
		DO(MPI_Wait, &request_, MPI_STATUS_IGNORE);                                        \
		DO(MPI_Request_free, &request_);                                                   \
		show(#name, in, 4);                                                                \
	} while (0)
	PERSISTENT(MPI_Bcast_init, in, 2, MPI_INT, 0, world);
	PERSISTENT(MPI_Gather_init, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
	PERSISTENT(MPI_Gatherv_init, out, 1, MPI_INT, in, one, place, MPI_INT, 1, world);
	PERSISTENT(MPI_Scatter_init, out, 1, MPI_INT, in, 1, MPI_INT, 0, world);
	PERSISTENT(MPI_Scatterv_init, out, one, place, MPI_INT, in, 1, MPI_INT, 1, world);
	PERSISTENT(MPI_Allgather_init, out, 1, MPI_INT, in, 1, MPI_INT, world);
	PERSISTENT(MPI_Allgatherv_init, out, 1, MPI_INT, in, one, place, MPI_INT, world);
	PERSISTENT(MPI_Alltoall_init, out, 1, MPI_INT, in, 1, MPI_INT, world);
	PERSISTENT(MPI_Alltoallv_init, out, one, place, MPI_INT, in, one, place, MPI_INT, world);
	PERSISTENT(MPI_Alltoallw_init, out, one, bytes, types, in, one, bytes, types, world);
	PERSISTENT(MPI_Reduce_init, out, in, 2, MPI_INT, MPI_SUM, 0, world);
	PERSISTENT(MPI_Allreduce_init, out, in, 2, MPI_INT, MPI_MAX, world);
	PERSISTENT(MPI_Reduce_scatter_init, out, in, one, MPI_INT, MPI_SUM, world);
	PERSISTENT(MPI_Reduce_scatter_block_init, out, in, 1, MPI_INT, MPI_SUM, world);
	PERSISTENT(MPI_Scan_init, out, in, 1, MPI_INT, MPI_SUM, world);
	PERSISTENT(MPI_Exscan_init, out, in, 1, MPI_INT, MPI_SUM, world);
	PERSISTENT(MPI_Neighbor_allgather_init, out, 1, MPI_INT, in, 1, MPI_INT, ring);
	PERSISTENT(MPI_Neighbor_allgatherv_init, out, 1, MPI_INT, in, one, place, MPI_INT, ring);
	PERSISTENT(MPI_Neighbor_alltoall_init, out, 1, MPI_INT, in, 1, MPI_INT, ring);
	PERSISTENT(MPI_Neighbor_alltoallv_init, out, one, place, MPI_INT, in, one, place, MPI_INT,
		   ring);
	MPI_Aint far[2] = {0, 4};
	PERSISTENT(MPI_Neighbor_alltoallw_init, out, one, far, types, in, one, far, types, ring);
#undef PERSISTENT
}
#endif

static void IN(neighbours)(void)
{
	COUNT one[2] = {1, 1};
	DISPLACEMENT place[2] = {0, 1};
	MPI_Aint far[2] = {0, 4};
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Request r[5];

	DO(C(MPI_Neighbor_allgather), out, 1, MPI_INT, in, 1, MPI_INT, ring);
	DO(C(MPI_Neighbor_allgatherv), out, 1, MPI_INT, in + 2, one, place, MPI_INT, ring);
	DO(C(MPI_Neighbor_alltoall), out, 1, MPI_INT, in + 4, 1, MPI_INT, ring);
	DO(C(MPI_Neighbor_alltoallv), out, one, place, MPI_INT, in + 6, one, place, MPI_INT, ring);
	DO(C(MPI_Neighbor_alltoallw), out, one, far, types, in + 8, one, far, types, ring);
	show("neighbours", in, 10);
	DO(C(MPI_Ineighbor_allgather), out, 1, MPI_INT, in, 1, MPI_INT, ring, &r[0]);
	DO(C(MPI_Ineighbor_allgatherv), out, 1, MPI_INT, in + 2, one, place, MPI_INT, ring, &r[1]);
	DO(C(MPI_Ineighbor_alltoall), out, 1, MPI_INT, in + 4, 1, MPI_INT, ring, &r[2]);
	DO(C(MPI_Ineighbor_alltoallv), out, one, place, MPI_INT, in + 6, one, place, MPI_INT, ring,
	   &r[3]);
	DO(C(MPI_Ineighbor_alltoallw), out, one, far, types, in + 8, one, far, types, ring, &r[4]);
	DO(MPI_Waitall, 5, r, MPI_STATUSES_IGNORE);
	show("ineighbours", in, 10);
}

static void IN(one_sided)(void)
{
	MPI_Win win;
	MPI_Request r[4];
	int *base;

	DO(C(MPI_Win_create), in, sizeof(in), sizeof(int), MPI_INFO_NULL, world, &win);
	DO(MPI_Win_fence, MPI_MODE_NOPRECEDE, win);
	DO(C(MPI_Put), out, 1, MPI_INT, other, 0, 1, MPI_INT, win);
	DO(C(MPI_Accumulate), out + 1, 1, MPI_INT, other, 1, 1, MPI_INT, MPI_SUM, win);
	DO(C(MPI_Get), in + 2, 1, MPI_INT, other, 3, 1, MPI_INT, win);
	DO(MPI_Win_fence, 0, win);
	show("fence", in, 4);
	DO(C(MPI_Get_accumulate), out, 1, MPI_INT, in + 4, 1, MPI_INT, other, 5, 1, MPI_INT,
	   MPI_REPLACE, win);
	DO(MPI_Win_fence, MPI_MODE_NOSUCCEED, win);
	show("get_accumulate", in, 6);
	DO(MPI_Win_lock, MPI_LOCK_EXCLUSIVE, other, 0, win);
	DO(C(MPI_Rput), out, 1, MPI_INT, other, 6, 1, MPI_INT, win, &r[0]);
	DO(C(MPI_Rget), in + 7, 1, MPI_INT, other, 8, 1, MPI_INT, win, &r[1]);
	DO(C(MPI_Raccumulate), out, 1, MPI_INT, other, 9, 1, MPI_INT, MPI_SUM, win, &r[2]);
	DO(C(MPI_Rget_accumulate), out, 1, MPI_INT, in + 10, 1, MPI_INT, other, 11, 1, MPI_INT,
	   MPI_SUM, win, &r[3]);
	DO(MPI_Waitall, 4, r, MPI_STATUSES_IGNORE);
	DO(MPI_Win_unlock, other, win);
	DO(MPI_Barrier, world);
	show("lock", in, 12);
	DO(MPI_Win_free, &win);

	DO(C(MPI_Win_allocate), 16, 4, MPI_INFO_NULL, world, &base, &win);
	base[0] = rank;
	show("allocated", base, 1);
	DO(MPI_Win_free, &win);
	DO(C(MPI_Win_allocate_shared), 16, 4, MPI_INFO_NULL, node, &base, &win);
	base[0] = rank;
	show("shared", base, 1);
	DO(MPI_Win_free, &win);
}

static void IN(independent_file)(void)
{
	MPI_Status status;
	MPI_Request r;
	int n;

	DO(C(MPI_File_write), file, out, 2, MPI_INT, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	show("written", &n, 1);
	DO(C(MPI_File_write_at), file, 8, out, 2, MPI_INT, MPI_STATUS_IGNORE);
	DO(C(MPI_File_read_at), file, 0, in, 4, MPI_INT, MPI_STATUS_IGNORE);
	show("read_at", in, 4);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	DO(C(MPI_File_read), file, in, 2, MPI_INT, &status);
	DO(C(MPI_File_iread_at), file, 8, in + 2, 2, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	DO(C(MPI_File_iread), file, in + 4, 1, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	show("iread", in, 5);
	DO(C(MPI_File_iwrite_at), file, 0, out + 4, 1, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	DO(C(MPI_File_iwrite), file, out + 5, 1, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	DO(C(MPI_File_read_at), file, 0, in, 4, MPI_INT, &status);
	show("iwrite", in, 4);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
}

/* Each rank sees its own half of the file, so that what is read does not hang on who is first. */
static void IN(collective_file)(void)
{
	MPI_Status status;
	MPI_Request r;
	const MPI_Offset at = 2 * rank;

	DO(MPI_File_set_view, shared_file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	DO(C(MPI_File_write_at_all), shared_file, at, out, 2, MPI_INT, &status);
	DO(C(MPI_File_read_at_all), shared_file, at, in, 2, MPI_INT, MPI_STATUS_IGNORE);
	show("at_all", in, 2);
	MPI_File_seek(shared_file, at, MPI_SEEK_SET);
	DO(C(MPI_File_write_all), shared_file, out + 1, 2, MPI_INT, &status);
	MPI_File_seek(shared_file, at, MPI_SEEK_SET);
	DO(C(MPI_File_read_all), shared_file, in, 2, MPI_INT, &status);
	show("all", in, 2);
	DO(C(MPI_File_iwrite_at_all), shared_file, at, out, 2, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	DO(C(MPI_File_iread_at_all), shared_file, at, in, 2, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	MPI_File_seek(shared_file, at, MPI_SEEK_SET);
	DO(C(MPI_File_iwrite_all), shared_file, out + 2, 2, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	MPI_File_seek(shared_file, at, MPI_SEEK_SET);
	DO(C(MPI_File_iread_all), shared_file, in + 2, 2, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	show("iall", in, 4);
	DO(C(MPI_File_write_at_all_begin), shared_file, at, out, 2, MPI_INT);
	DO(MPI_File_write_at_all_end, shared_file, out, &status);
	DO(C(MPI_File_read_at_all_begin), shared_file, at, in, 2, MPI_INT);
	DO(MPI_File_read_at_all_end, shared_file, in, MPI_STATUS_IGNORE);
	MPI_File_seek(shared_file, at, MPI_SEEK_SET);
	DO(C(MPI_File_write_all_begin), shared_file, out + 3, 2, MPI_INT);
	DO(MPI_File_write_all_end, shared_file, out + 3, &status);
	MPI_File_seek(shared_file, at, MPI_SEEK_SET);
	DO(C(MPI_File_read_all_begin), shared_file, in + 2, 2, MPI_INT);
	DO(MPI_File_read_all_end, shared_file, in + 2, &status);
	show("split", in, 4);
}

static void IN(shared_pointer)(void)
{
	MPI_Status status;
	MPI_Request r;

	DO(MPI_File_seek_shared, shared_file, 0, MPI_SEEK_SET);
	DO(C(MPI_File_write_ordered), shared_file, out, 1, MPI_INT, &status);
	DO(C(MPI_File_write_ordered_begin), shared_file, out + 1, 1, MPI_INT);
	DO(MPI_File_write_ordered_end, shared_file, out + 1, &status);
	DO(MPI_File_seek_shared, shared_file, 0, MPI_SEEK_SET);
	DO(C(MPI_File_read_ordered), shared_file, in, 1, MPI_INT, &status);
	DO(C(MPI_File_read_ordered_begin), shared_file, in + 1, 1, MPI_INT);
	DO(MPI_File_read_ordered_end, shared_file, in + 1, MPI_STATUS_IGNORE);
	show("ordered", in, 2);
	DO(MPI_Barrier, world);
	DO(MPI_File_seek_shared, shared_file, 0, MPI_SEEK_SET);
	DO(C(MPI_File_write_shared), shared_file, out + 2, 1, MPI_INT, &status);
	DO(C(MPI_File_iwrite_shared), shared_file, out + 2, 1, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	DO(MPI_Barrier, world);
	DO(MPI_File_seek_shared, shared_file, 0, MPI_SEEK_SET);
	/* Which rank's comes first is open: not shown. */
	DO(C(MPI_File_read_shared), shared_file, in, 1, MPI_INT, &status);
	DO(C(MPI_File_iread_shared), shared_file, in, 1, MPI_INT, &r);
	DO(MPI_Wait, &r, MPI_STATUS_IGNORE);
	in[0] = 0;
	DO(MPI_Barrier, world);
}

static void IN(all)(void)
{
	reset_buffers();
	IN(blocking)();
	IN(nonblocking)();
	IN(persistent)();
#if HAVE_MPI41
	IN(flushed)();
#endif
	reset_buffers();
	IN(collective)();
	IN(icollective)();
#if HAVE_MPI4
	IN(persistent_collective)();
#endif
	IN(neighbours)();
	reset_buffers();
	IN(one_sided)();
	reset_buffers();
	IN(independent_file)();
	IN(collective_file)();
	IN(shared_pointer)();
}
