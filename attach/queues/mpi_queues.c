/* SPDX-License-Identifier: BSD-3-Clause */

#include "attach/queues/mpi_queues.h"
#include "model/base.h"

/* Those that may be: which way Open MPI sends is seen only when it does. */
struct mpi_queues {
	struct openmpi_queues *openmpi;
	struct openmpi_ucx *openmpi_ucx;
	struct mpich_queues *mpich;
};

struct mpi_queues *mpi_queues_create(const struct memory *memory, const struct maps *maps)
{
	struct mpi_queues *queues = xcalloc(1, sizeof(*queues));

	queues->openmpi = openmpi_queues_create(memory, maps);
	if (queues->openmpi)
		queues->openmpi_ucx = openmpi_ucx_create(memory, maps);
	else
		queues->mpich = mpich_queues_create(memory, maps);
	if (queues->openmpi || queues->mpich)
		return queues;
	free(queues);
	return NULL;
}

void mpi_queues_update(struct mpi_queues *queues, const struct memory *memory,
		       const struct maps *maps)
{
	if (queues->openmpi && !queues->openmpi_ucx)
		queues->openmpi_ucx = openmpi_ucx_create(memory, maps);
}

void mpi_queues_destroy(struct mpi_queues *queues)
{
	if (!queues)
		return;
	free(queues->openmpi);
	free(queues->openmpi_ucx);
	free(queues->mpich);
	free(queues);
}

struct message_queues *mpi_queues_read(struct mpi_queues *queues)
{
	struct message_queues *ret = NULL;

	if (queues->mpich)
		return mpich_queues_read(queues->mpich);
	if (queues->openmpi_ucx)
		ret = openmpi_ucx_read(queues->openmpi_ucx);
	return ret ? ret : openmpi_queues_read(queues->openmpi);
}
