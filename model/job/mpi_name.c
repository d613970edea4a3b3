/* SPDX-License-Identifier: BSD-3-Clause */
#include <strings.h>

#include "model/job/mpi_name.h"

static bool has_end(const char *text, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && memcmp(text + length - size, end, size) == 0;
}

/* Without what bindings for Fortran have at the end: underscores, "_f", "_f08ts", ... */
static size_t cut_end(const char *text)
{
	static const char *const ends[] = {"_large", "_f08ts", "_f08", "_f"};
	size_t length = strlen(text), whole;

	do {
		whole = length;
		while (length > 1 && text[length - 1] == '_')
			length--;
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (has_end(text, length, ends[i]))
				length -= strlen(ends[i]);
	} while (length < whole);
	return length;
}

/* Behind "mpi_" in any case, and what may be before that; NULL: it is something else. */
static const char *find_stem(const char *symbol)
{
	static const char *const starts[] = {"mpi_", "pmpi_", "pmpir_"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncasecmp(symbol, starts[i], strlen(starts[i])) == 0)
			return symbol + strlen(starts[i]);
	/* Open MPI's wrappers for Fortran: ompi_allreduce_f. */
	return strncmp(symbol, "ompi_", 5) == 0 && has_end(symbol, strlen(symbol), "_f")
		       ? symbol + 5
		       : NULL;
}

/* One that a program is likely to be found in; its own functions cannot be called so. */
static bool is_known(const char *name)
{
	static const char known[] =
		" accumulate allgather allgatherv allreduce alltoall alltoallv alltoallw barrier"
		" bcast bsend cart_create comm_accept comm_connect comm_create comm_create_group"
		" comm_disconnect comm_dup comm_free comm_idup comm_spawn comm_spawn_multiple"
		" comm_split comm_split_type compare_and_swap dist_graph_create"
		" dist_graph_create_adjacent exscan fetch_and_op file_close file_open"
		" file_read_all file_read_at_all file_set_view file_write_all file_write_at_all"
		" finalize gather gatherv get get_accumulate graph_create iallreduce ibarrier"
		" ibcast improbe init init_thread intercomm_create intercomm_merge iprobe irecv"
		" isend mprobe mrecv neighbor_allgather neighbor_allgatherv neighbor_alltoall"
		" neighbor_alltoallv neighbor_alltoallw probe put recv reduce reduce_scatter"
		" reduce_scatter_block rget rput rsend scan scatter scatterv send sendrecv"
		" sendrecv_replace ssend start startall test testall testany testsome wait"
		" waitall waitany waitsome win_allocate win_complete win_create win_fence"
		" win_flush win_flush_all win_free win_lock win_lock_all win_post win_start"
		" win_unlock win_unlock_all win_wait ";
	char word[MPI_NAME_SIZE + 2];

	snprintf(word, sizeof(word), " %s ", name);
	return strcasestr(known, word);
}

const char *mpi_name_of(const char *symbol, bool is_library, char *buffer)
{
	static const char *const jumps[][2] = {
		{"ompi_mpi_init", "MPI_Init"},
		{"ompi_mpi_finalize", "MPI_Finalize"},
		{"ompi_mpi_abort", "MPI_Abort"},
	};
	bool has_upper = false, has_lower = false;

	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++)
		if (strcmp(symbol, jumps[i][0]) == 0)
			return strcpy(buffer, jumps[i][1]);
	const char *stem = find_stem(symbol);
	if (!stem)
		return NULL;
	size_t length = cut_end(stem);
	if (!isalpha((unsigned char)stem[0]) || length + sizeof("MPI_") > MPI_NAME_SIZE)
		return NULL;
	memcpy(buffer, "MPI_", 4);
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)stem[i]) && stem[i] != '_')
			return NULL;
		has_upper |= isupper((unsigned char)stem[i]);
		has_lower |= islower((unsigned char)stem[i]);
		buffer[4 + i] = stem[i];
	}
	buffer[4 + length] = '\0';
	/* Fortran has no case. */
	for (size_t i = 0; i < length && !(has_upper && has_lower); i++)
		buffer[4 + i] = (char)(i ? tolower((unsigned char)stem[i])
					 : toupper((unsigned char)stem[i]));
	if (!is_library && !is_known(buffer + 4))
		return NULL;
	return strcmp(buffer, symbol) == 0 ? NULL : buffer;
}
