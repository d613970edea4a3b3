/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "attach/mpi_queues.h"
#include "attach/mpich_queues.h"
#include "attach/openmpi_queues.h"
#include "model/xalloc.h"

/* One of them. */
struct mpi_queues {
	struct openmpi_queues *openmpi;
	struct mpich_queues *mpich;
};

struct mpi_queues *mpi_queues_create(const struct memory *memory, const struct maps *maps)
{
	struct mpi_queues *queues = xcalloc(1, sizeof(*queues));

	queues->openmpi = openmpi_queues_create(memory, maps);
	if (!queues->openmpi)
		queues->mpich = mpich_queues_create(memory, maps);
	if (queues->openmpi || queues->mpich)
		return queues;
	free(queues);
	return NULL;
}

void mpi_queues_destroy(struct mpi_queues *queues)
{
	if (!queues)
		return;
	openmpi_queues_destroy(queues->openmpi);
	mpich_queues_destroy(queues->mpich);
	free(queues);
}

struct message_queues *mpi_queues_read(struct mpi_queues *queues)
{
	return queues->openmpi ? openmpi_queues_read(queues->openmpi) : mpich_queues_read(queues->mpich);
}
