/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/evidence_sample.h"

static void sample_add_sites(struct segment_writer *w)
{
	static const struct {
		const char *name;
		enum seg_class class_id;
	} sites[] = {
		{"MPI_Init", SEG_CLASS_INIT},        {"MPI_Comm_split", SEG_CLASS_COMM},
		{"MPI_Send", SEG_CLASS_SEND},        {"MPI_Recv", SEG_CLASS_RECV},
		{"MPI_Bcast", SEG_CLASS_COLLECTIVE}, {"MPI_Waitall", SEG_CLASS_WAIT},
		{"MPI_Test", SEG_CLASS_POLL},
	};
	uint32_t app = segment_writer_module(w, "/bin/app");

	for (size_t i = 0; i < NUM_OF(sites); i++)
		segment_writer_site(w, segment_writer_frame(w, SEG_NO_FRAME, app, 0x1000 + 16 * i),
				    sites[i].name, sites[i].class_id);
}

static void sample_add_comms(struct segment_writer *w)
{
	static const int32_t rows[] = {3, 1}, others[] = {0, -1, 2}, neighbours[] = {1, 1, 0, 0};

	segment_writer_predefined(w, WORLD_ID);
	segment_writer_comm(w, &(struct seg_comm){
				       .id = ROWS_ID,
				       .parent_id = WORLD_ID,
				       .site = SPLIT,
				       .ordinal = 4,
				       .rank = 1,
				       .size = 2,
				       .members = segment_writer_members(w, rows, 2),
				       .remote_members = SEG_NO_MEMBERS,
				       .num_sources = 3,
				       .num_destinations = 1,
				       .sources = segment_writer_members(w, neighbours, 4),
				       .name = segment_writer_string(w, "rows"),
			       });
	segment_writer_comm(w, &(struct seg_comm){
				       .id = INTER_ID,
				       .kind = SEG_COMM_INTER,
				       .rank = 1,
				       .size = 2,
				       .members = w->comms[ROWS].members,
				       .remote_size = 3,
				       .remote_members = segment_writer_members(w, others, 3),
				       .sources = SEG_NO_MEMBERS,
			       });
	segment_writer_comm(w, &(struct seg_comm){
				       .id = 4000,
				       .kind = SEG_COMM_WINDOW,
				       .rank = 1,
				       .size = 4,
				       .members = SEG_NO_MEMBERS,
				       .remote_members = SEG_NO_MEMBERS,
				       .sources = SEG_NO_MEMBERS,
				       .is_freed = 1,
			       });
	for (uint64_t i = 0; i < 3; i++)
		segment_writer_collective(w, ROWS, BCAST, (int32_t)i % 2, 100 + i);
	for (uint64_t i = 0; i < 20; i++)
		segment_writer_collective(w, 0, BCAST, SEG_PEER_NONE, i);
}

static void sample_add_requests(struct segment_writer *w)
{
	segment_writer_request(w, &(struct seg_request){
					  .seq = 4,
					  .kind = SEG_REQUEST_RECV,
					  .flags = SEG_REQUEST_ACTIVE | SEG_REQUEST_PERSISTENT,
					  .comm = INTER,
					  .peer = 2,
					  .tag = SEG_TAG_ANY,
					  .ordinal = 7,
					  .bytes = 800,
					  .site = RECV,
					  .lane = 0,
					  .ticks = w->start + 5000,
				  });
	/* Used again and again, and free now. */
	segment_writer_request(w, &(struct seg_request){.seq = 8, .comm = 99, .peer = 77});
	segment_writer_request(w, &(struct seg_request){
					  .kind = SEG_REQUEST_SEND,
					  .flags = SEG_REQUEST_ACTIVE,
					  .comm = ROWS,
					  .peer = 0,
					  .tag = 5,
					  .ordinal = 3,
					  .site = SEND,
					  .lane = 1,
				  });
	segment_writer_request(w, &(struct seg_request){
					  .kind = SEG_REQUEST_COLLECTIVE,
					  .flags = SEG_REQUEST_ACTIVE | SEG_REQUEST_NEIGHBOURS,
					  .comm = ROWS,
					  .peer = SEG_PEER_NONE,
					  .ordinal = 3,
					  .site = BCAST,
					  .lane = 100,
				  });
}

struct segment_writer *evidence_sample(void)
{
	static const uint32_t waited[] = {SENDS, RECEIVES};
	struct segment_writer *w = segment_writer_create(1, 4);

	sample_add_sites(w);
	sample_add_comms(w);
	sample_add_requests(w);
	segment_writer_lane(w, true, 50);
	segment_writer_call(w, 0, INIT, 1, 1000);
	segment_writer_go(w, 0, SEG_STATE_ENTER(WAITALL), 6000);
	segment_writer_operation(w, 0,
				 &(struct seg_operation){.seq = 2,
							 .kind = SEG_OPERATION_WAIT_ALL,
							 .flags = SEG_OPERATION_INCOMPLETE},
				 waited, 2);
	segment_writer_ledger(w, 0,
			      &(struct seg_ledger){.comm = ROWS,
						   .peer = 0,
						   .tag = 5,
						   .cancelled = 1,
						   .sends = 30,
						   .sends_done = 29,
						   .receives = 20,
						   .receives_done = 19,
						   .taken = 2});
	segment_writer_ledger(
		w, 0,
		&(struct seg_ledger){
			.comm = INTER, .peer = SEG_PEER_ANY, .tag = SEG_TAG_ANY, .receives = 1});
	segment_writer_ledger(
		w, 0,
		&(struct seg_ledger){.comm = WINDOW, .peer = 3, .tag = SEG_TAG_POST, .sends = 6});
	/* Of a collective long ago, of another communicator, and two that are wanted. */
	segment_writer_note(w, 0, &(struct seg_note){2, WORLD_ID, 0, 0, SEG_NOTE_GIVES, 1, 4, 0},
			    (const uint32_t[]){5});
	segment_writer_note(w, 0,
			    &(struct seg_note){3, ROWS_ID + 1, ROWS, 0, SEG_NOTE_GIVES, 1, 4, 0},
			    (const uint32_t[]){6});
	segment_writer_note(w, 0, &(struct seg_note){19, WORLD_ID, 0, 0, SEG_NOTE_TAKES, 4, 8, 0},
			    (const uint32_t[]){0, 1, 1u << 31, 3});
	segment_writer_note(w, 0, &(struct seg_note){3, ROWS_ID, ROWS, 0, SEG_NOTE_ERROR, 1, 1, 0},
			    (const uint32_t[]){SEG_ERROR_ROOT});
	segment_writer_lane(w, false, 51);
	segment_writer_call(w, 1, SEND, 1, 2000);
	segment_writer_poll(w, 1, TEST, 10, 3000);
	segment_writer_operation(w, 1,
				 &(struct seg_operation){
					 .kind = SEG_OPERATION_RECV,
					 .transfers = {{.comm = 0,
							.peer = SEG_PEER_ANY,
							.tag = 9,
							.ordinal = 11,
							.bytes = 16}},
				 },
				 NULL, 0);
	return w;
}

struct places find_places(uint8_t *bytes)
{
	struct seg_header *h = (void *)bytes;
	struct places p = {.tables = h->tables};

	p.comms = (void *)(bytes + p.tables[SEG_TABLE_COMMS].offset);
	p.members = (void *)(bytes + p.tables[SEG_TABLE_MEMBERS].offset);
	p.requests = (void *)(bytes + p.tables[SEG_TABLE_REQUESTS].offset);
	p.lane = (void *)(bytes + h->lane_offset);
	p.other = (void *)(bytes + h->lane_offset + h->lane_size);
	p.lane_tables = p.lane->tables;
	p.waited = (void *)((uint8_t *)p.lane + p.lane_tables[SEG_LANE_WAITED].offset);
	p.ledger = (void *)((uint8_t *)p.lane + p.lane_tables[SEG_LANE_LEDGER].offset);
	if (p.lane->note_offset)
		p.note = (void *)((uint8_t *)p.lane + p.lane->note_offset +
				  p.lane->note_last % SEG_NOTE_WORDS * sizeof(uint32_t));
	return p;
}
