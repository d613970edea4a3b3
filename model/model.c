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

void model_borrow_tables(struct model *model, struct model *lender)
{
	model->lender = lender;
	lender->num_borrowers++;
	model->strings = lender->strings;
	model->num_strings = lender->num_strings;
	model->modules = lender->modules;
	model->num_modules = lender->num_modules;
	model->frames = lender->frames;
	model->num_frames = lender->num_frames;
	model->sites = lender->sites;
	model->num_sites = lender->num_sites;
}

static void destroy_tables(struct model *model)
{
	for (size_t i = 0; i < model->num_modules; i++)
		free(model->modules[i].path);
	free(model->strings);
	free(model->modules);
	free(model->frames);
	free(model->sites);
}

void model_destroy(struct model *model)
{
	if (!model)
		return;
	/* The one that owns it and each borrower destroy it once. */
	if (model->num_borrowers > 0) {
		model->num_borrowers--;
		return;
	}
	if (model->lender)
		model_destroy(model->lender);
	else
		destroy_tables(model);
	for (size_t i = 0; i < model->num_lanes; i++) {
		free(model->lanes[i].operation.waited);
		free(model->lanes[i].ledger);
		free(model->lanes[i].transitions);
		free(model->lanes[i].longest_ns);
		free(model->lanes[i].state_polls);
		free(model->lanes[i].ring);
	}
	free(model->comms);
	free(model->members);
	free(model->requests);
	free(model->lanes);
	free(model);
}
