/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

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

bool model_is_in_collective(const struct model *model, uint32_t comm, uint64_t number)
{
	for (size_t i = 0; i < model->num_lanes; i++) {
		const struct model_operation *operation = &model->lanes[i].operation;

		if (!SEG_STATE_IS_EXIT(model->lanes[i].state) &&
		    operation->kind == SEG_OPERATION_COLLECTIVE &&
		    operation->transfers[0].comm == comm && operation->number == number)
			return true;
	}
	return false;
}

bool model_has_begun_collective(const struct model *model, uint32_t comm, uint64_t number)
{
	for (size_t i = 0; i < model->num_requests; i++) {
		const struct model_request *request = &model->requests[i];

		if (request->kind == SEG_REQUEST_COLLECTIVE &&
		    (request->flags & SEG_REQUEST_ACTIVE) && request->comm == comm &&
		    (number == 0 || request->ordinal == number))
			return true;
	}
	return false;
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

void model_lend(struct model *lender, void *table)
{
	lender->lent = xgrow(lender->lent, lender->num_lent, &lender->lent_capacity,
			     sizeof(*lender->lent));
	lender->lent[lender->num_lent++] = table;
}

static void *copy(const void *from, size_t num, size_t size)
{
	void *to = xcalloc(num, size);

	if (num)
		memcpy(to, from, num * size);
	return to;
}

void model_own_lane_tables(const struct model *model, struct model_lane *lane)
{
	if (!lane->is_borrowing)
		return;
	lane->transitions = copy(lane->transitions, lane->num_transitions, sizeof(*lane->transitions));
	lane->state_polls = copy(lane->state_polls, 2 * model->num_sites, sizeof(*lane->state_polls));
	lane->ring = copy(lane->ring, lane->num_ring, sizeof(*lane->ring));
	lane->is_borrowing = false;
}

static void destroy_tables(struct model *model)
{
	for (size_t i = 0; i < model->num_modules; i++)
		free(model->modules[i].path);
	for (size_t i = 0; i < model->num_lent; i++)
		free(model->lent[i]);
	free(model->lent);
	free(model->strings);
	free(model->modules);
	free(model->frames);
	free(model->sites);
}

static void destroy_lane(struct model_lane *lane)
{
	free(lane->operation.waited);
	free(lane->ledger);
	free(lane->longest_ns);
	if (lane->is_borrowing)
		return;
	free(lane->transitions);
	free(lane->state_polls);
	free(lane->ring);
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
	for (size_t i = 0; i < model->num_lanes; i++)
		destroy_lane(&model->lanes[i]);
	free(model->comms);
	free(model->members);
	free(model->requests);
	free(model->lanes);
	free(model);
}
