/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "model/model.h"
#include "model/xalloc.h"

struct model *model_create(void)
{
	return xcalloc(1, sizeof(struct model));
}

int model_num_transfers(enum seg_operation_kind kind)
{
	switch (kind) {
	case SEG_OPERATION_SENDRECV:
		return 2;
	case SEG_OPERATION_SEND:
	case SEG_OPERATION_RECV:
	case SEG_OPERATION_PROBE:
	case SEG_OPERATION_COLLECTIVE:
	case SEG_OPERATION_LOCK:
		return 1;
	case SEG_OPERATION_OTHER:
	case SEG_OPERATION_WAIT_ALL:
	case SEG_OPERATION_WAIT_ANY:
	case SEG_OPERATION_LOCAL:
		break;
	}
	return 0;
}

void model_destroy(struct model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->num_modules; i++)
		free(model->modules[i].path);
	for (size_t i = 0; i < model->num_lanes; i++) {
		free(model->lanes[i].operation.waited);
		free(model->lanes[i].ledger);
		free(model->lanes[i].transitions);
		free(model->lanes[i].longest_ns);
		free(model->lanes[i].state_polls);
		free(model->lanes[i].ring);
	}
	free(model->strings);
	free(model->modules);
	free(model->frames);
	free(model->sites);
	free(model->comms);
	free(model->members);
	free(model->requests);
	free(model->lanes);
	free(model);
}
