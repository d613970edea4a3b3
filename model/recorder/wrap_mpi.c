/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_comms.h"

static bool world(int *rank, int *size)
{
	MPI_Comm all = wrap_world_comm();
	int yes = 0;

	return WRAP_WORD(all) && WRAP_ASK(MPI_Initialized, &yes) && yes &&
	       WRAP_ASK(MPI_Comm_rank, all, rank) && WRAP_ASK(MPI_Comm_size, all, size);
}

/* Of the four levels, counted from 0. */
static bool thread_level(int *level)
{
	bool is_known = WRAP_ASK(MPI_Query_thread, level);

#ifdef PDB_MPI_ABI
	*level = is_known ? (*level >= MPI_THREAD_FUNNELED) + (*level >= MPI_THREAD_SERIALIZED) +
				    (*level >= MPI_THREAD_MULTIPLE)
			  : -1;
#endif
	return is_known;
}

static bool version(char *text, size_t size)
{
	char own[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length = 0;
	size_t i;

	if (!WRAP_ASK(MPI_Get_library_version, own, &length))
		return false;
	for (i = 0; i + 1 < size && own[i] && own[i] != '\n'; i++)
		text[i] = own[i] == '\t' ? ' ' : own[i];
	text[i] = '\0';
	return true;
}

static void predefined(void (*map)(uint64_t key, uint32_t index))
{
	map(wrap_comm_key(wrap_world_comm()), 0);
	map(wrap_comm_key(WRAP_CONSTANT(MPI_COMM_SELF, "ompi_mpi_comm_self")), 1);
	map(wrap_comm_key(WRAP_CONSTANT(MPI_COMM_NULL, "ompi_mpi_comm_null")), SEG_NO_COMM);
	map(wrap_win_key(WRAP_CONSTANT(MPI_WIN_NULL, "ompi_mpi_win_null")), SEG_NO_COMM);
	map(wrap_file_key(WRAP_CONSTANT(MPI_FILE_NULL, "ompi_mpi_file_null")), SEG_NO_COMM);
}

const struct process_mpi wrap_mpi = {
	.world = world,
	.thread_level = thread_level,
	.multiple = 3,
	.version = version,
	.predefined = predefined,
};

static const struct next_mpi own_mpi = {
#ifdef OPEN_MPI
	/* An Open MPI of MPI's own ABI needs the same libraries, but cannot convert handles. */
	.marks = {"ompi_mpi_comm_world", "PMPI_Comm_c2f"},
#elif defined(PDB_MPI_ABI)
	/* Libraries with an ABI of their own may ask for the other's version, too. */
	.marks = {"PMPI_Abi_get_version"},
	.others = {"MPIR_Dup_fn", "PMPI_Comm_c2f"},
#else
	/* Of all with MPICH's ABI and none with MPI's: mpi.h calls MPI_COMM_DUP_FN so. */
	.marks = {"MPIR_Dup_fn"},
#endif
	.no_function = MPI_ERR_OTHER,
};

JUMP_RESOLVE();

void *wrap_resolve(struct recorder_function *function, const struct jump_info *info,
		   struct jump_frame *frame, void *arguments, uintptr_t caller)
{
	return next_resolve(function, info, frame, arguments, caller, &own_mpi);
}
