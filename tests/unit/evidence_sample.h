/* SPDX-License-Identifier: BSD-3-Clause
 * A segment with all kinds of evidence in it: communicators, requests, operations, a ledger. */
#ifndef PDB_TESTS_UNIT_EVIDENCE_SAMPLE_H
#define PDB_TESTS_UNIT_EVIDENCE_SAMPLE_H

#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

/* Sites; site 0 is "start". */
enum { INIT = 1, SPLIT, SEND, RECV, BCAST, WAITALL, TEST, NUM_SITES };
/* Communicators after MPI_COMM_WORLD and MPI_COMM_SELF. */
enum { ROWS = 2, INTER, WINDOW, NUM_COMMS };
/* Slots of requests. */
enum { RECEIVES = 0, EMPTY, SENDS, REDUCES, NUM_REQUESTS };

enum { WORLD_ID = 1000, ROWS_ID = 2000, INTER_ID = 3000 };

/* Where things are in its bytes. */
struct places {
	struct seg_table *tables, *lane_tables;
	struct seg_comm *comms;
	int32_t *members;
	struct seg_request *requests;
	struct seg_lane *lane, *other;
	uint32_t *waited;
	struct seg_ledger *ledger;
	struct seg_note *note; /* the last one */
};

/* Rank 1 of 4: waits for two requests; another thread polls for a message. */
struct segment_writer *evidence_sample(void);

struct places find_places(uint8_t *bytes);

#endif
