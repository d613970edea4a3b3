/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/evidence_sample.h"
#include "tests/unit/segment_damage.h"

/* ---- Good ones ---- */

static void assert_comms(const struct model *model)
{
	const struct model_comm *rows = &model->comms[ROWS], *inter = &model->comms[INTER];

	assert_int_equal(model->num_comms, NUM_COMMS);
	assert_int_equal(model->comms[0].id, WORLD_ID);
	assert_int_equal(model->comms[0].rank, 1);
	assert_int_equal(model->comms[0].size, 4);
	assert_int_equal(model->comms[0].members, SEG_ALL_MEMBERS);
	assert_null(model->comms[0].name);
	assert_int_equal(model->comms[0].collectives, 20);
	for (size_t i = 0; i < SEG_RECENT; i++) {
		assert_int_equal(model->comms[0].recent[i].number, 20 - i);
		assert_int_equal(model->comms[0].recent[i].bytes, 19 - i);
		assert_int_equal(model->comms[0].recent[i].root, SEG_PEER_NONE);
	}
	assert_int_equal(rows->id, ROWS_ID);
	assert_int_equal(rows->parent_id, WORLD_ID);
	assert_int_equal(rows->site, SPLIT);
	assert_int_equal(rows->ordinal, 4);
	assert_int_equal(rows->rank, 1);
	assert_int_equal(rows->size, 2);
	assert_int_equal(model->members[rows->members], 3);
	assert_int_equal(model->members[rows->members + 1], 1);
	assert_int_equal(rows->num_sources, 3);
	assert_int_equal(model->members[rows->sources + 2], 0);
	assert_int_equal(rows->num_destinations, 1);
	assert_int_equal(model->members[rows->destinations], 0);
	assert_int_equal(inter->num_destinations, 0);
	assert_string_equal(rows->name, "rows");
	assert_false(rows->is_freed);
	assert_int_equal(rows->collectives, 3);
	assert_int_equal(rows->recent[0].number, 3);
	assert_int_equal(rows->recent[0].bytes, 102);
	assert_int_equal(rows->recent[1].root, 1);
	assert_int_equal(rows->recent[2].site, BCAST);
	assert_int_equal(rows->recent[3].number, 0);
	assert_int_equal(inter->kind, SEG_COMM_INTER);
	assert_int_equal(inter->remote_size, 3);
	assert_int_equal(model->members[inter->remote_members + 1], -1);
	assert_int_equal(model->comms[WINDOW].kind, SEG_COMM_WINDOW);
	assert_int_equal(model->comms[WINDOW].members, SEG_NO_MEMBERS);
	assert_true(model->comms[WINDOW].is_freed);
}

static void assert_notes(const struct model_lane *lane)
{
	const struct model_note *error = &lane->notes[0], *takes = &lane->notes[1];

	assert_int_equal(lane->num_notes, 2);
	assert_int_equal(error->number, 3);
	assert_int_equal(error->comm, ROWS);
	assert_int_equal(error->kind, SEG_NOTE_ERROR);
	assert_int_equal(lane->note_entries[error->first], SEG_ERROR_ROOT);
	assert_int_equal(takes->number, 19);
	assert_int_equal(takes->kind, SEG_NOTE_TAKES);
	assert_int_equal(takes->unit, 8);
	assert_int_equal(takes->num, 4);
	assert_int_equal(lane->note_entries[takes->first + 1], 1);
	assert_int_equal(lane->note_entries[takes->first + 2], UINT32_MAX);
}

static void assert_requests(const struct model *model, uint64_t start)
{
	const struct model_request *request = &model->requests[RECEIVES];

	assert_int_equal(model->num_requests, NUM_REQUESTS);
	assert_int_equal(request->kind, SEG_REQUEST_RECV);
	assert_int_equal(request->flags, SEG_REQUEST_ACTIVE | SEG_REQUEST_PERSISTENT);
	assert_int_equal(request->comm, INTER);
	assert_int_equal(request->peer, 2);
	assert_int_equal(request->tag, SEG_TAG_ANY);
	assert_int_equal(request->ordinal, 7);
	assert_int_equal(request->bytes, 800);
	assert_int_equal(request->site, RECV);
	assert_int_equal(request->lane, 0);
	assert_int_equal(request->since_ns, start + 5000);
	assert_int_equal(model->requests[EMPTY].kind, SEG_REQUEST_FREE);
	assert_int_equal(model->requests[EMPTY].comm, SEG_NO_COMM);
	assert_int_equal(model->requests[EMPTY].peer, 0);
	assert_int_equal(model->requests[SENDS].lane, 1);
	/* Its thread is not among the lanes; what it waits for is known all the same. */
	assert_int_equal(model->requests[REDUCES].lane, MODEL_NO_LANE);
	assert_int_equal(model->requests[REDUCES].ordinal, 3);
}

static void assert_lanes(const struct model *model)
{
	const struct model_operation *operation = &model->lanes[0].operation;
	const struct model_ledger *row = model->lanes[0].ledger;

	assert_int_equal(model->lanes[0].last_events, model->lanes[0].events);
	assert_int_equal(operation->kind, SEG_OPERATION_WAIT_ALL);
	assert_int_equal(operation->flags, SEG_OPERATION_INCOMPLETE);
	assert_int_equal(operation->num_waited, 2);
	assert_int_equal(operation->waited[0], SENDS);
	assert_int_equal(operation->waited[1], RECEIVES);
	assert_int_equal(model->lanes[0].num_ledger, 3);
	assert_int_equal(model->lanes[0].dropped_ledger, 0);
	assert_int_equal(row[0].comm, ROWS);
	assert_int_equal(row[0].peer, 0);
	assert_int_equal(row[0].tag, 5);
	assert_int_equal(row[0].cancelled, 1);
	assert_int_equal(row[0].sends, 30);
	assert_int_equal(row[0].sends_done, 29);
	assert_int_equal(row[0].receives, 20);
	assert_int_equal(row[0].receives_done, 19);
	assert_int_equal(row[0].taken, 2);
	assert_int_equal(row[1].peer, SEG_PEER_ANY);
	assert_int_equal(row[1].tag, SEG_TAG_ANY);
	assert_int_equal(row[2].tag, SEG_TAG_POST);
	operation = &model->lanes[1].operation;
	assert_int_equal(operation->kind, SEG_OPERATION_RECV);
	assert_int_equal(operation->num_waited, 0);
	assert_int_equal(operation->transfers[0].comm, 0);
	assert_int_equal(operation->transfers[0].peer, SEG_PEER_ANY);
	assert_int_equal(operation->transfers[0].tag, 9);
	assert_int_equal(operation->transfers[0].ordinal, 11);
	assert_int_equal(operation->transfers[0].bytes, 16);
	assert_int_equal(operation->transfers[1].comm, SEG_NO_COMM);
	assert_int_equal(model->lanes[1].num_ledger, 0);
}

static void test_read(void **state)
{
	static const uint32_t extras[] = {0, 8, 200};

	(void)state;
	for (size_t i = 0; i < NUM_OF(extras); i++) {
		struct segment_writer *w = evidence_sample();
		struct model *model;

		/* Entries of a later version are larger. */
		w->extra = extras[i];
		model = segment_writer_model(w);
		assert_comms(model);
		assert_requests(model, w->start);
		assert_notes(&model->lanes[0]);
		assert_lanes(model);
		model_destroy(model);
		segment_writer_destroy(w);
	}
}

static void test_dropped(void **state)
{
	struct segment_writer *w = evidence_sample();
	uint8_t *bytes;
	size_t size;
	struct model *model;
	struct seg_header *h;

	(void)state;
	w->lanes[0].head.tables[SEG_LANE_LEDGER].dropped = 5;
	size = segment_writer_bytes(w, &bytes);
	h = (void *)bytes;
	h->tables[SEG_TABLE_COMMS].dropped = 1;
	h->tables[SEG_TABLE_MEMBERS].dropped = 2;
	h->tables[SEG_TABLE_REQUESTS].dropped = 3;
	h->reused_comms = 70;
	assert_int_equal(read_bytes(bytes, size, &model, NULL), 0);
	assert_int_equal(model->program->dropped_comms, 1 + 1);
	assert_int_equal(model->program->dropped_members, 2);
	assert_int_equal(model->program->dropped_requests, 3);
	assert_int_equal(model->lanes[0].dropped_ledger, 5);
	model_destroy(model);
	free(bytes);
	segment_writer_destroy(w);
}

/* When is the operation that of the present stay? */
static void test_operation_in_progress(void **state)
{
	static const struct {
		const char *what;
		int event_off;
		uint32_t kind, state, poll_site, use;
		bool is_known;
	} table[] = {
		{"in a call", 0, SEG_OPERATION_SEND, SEG_STATE_ENTER(SEND), 0, SEG_LANE_ACTIVE,
		 true},
		{"of the call before", -1, SEG_OPERATION_SEND, SEG_STATE_ENTER(SEND), 0,
		 SEG_LANE_ACTIVE, false},
		{"of the call to come", 1, SEG_OPERATION_SEND, SEG_STATE_ENTER(SEND), 0,
		 SEG_LANE_ACTIVE, false},
		{"computes", 0, SEG_OPERATION_SEND, SEG_STATE_EXIT(SEND), 0, SEG_LANE_ACTIVE,
		 false},
		{"polls", 0, SEG_OPERATION_PROBE, SEG_STATE_EXIT(SEND), TEST, SEG_LANE_ACTIVE,
		 true},
		{"has ended", 0, SEG_OPERATION_PROBE, SEG_STATE_EXIT(SEND), TEST, SEG_LANE_ENDED,
		 false},
		{"later kind", 0, SEG_OPERATION_LOOK + 1, SEG_STATE_ENTER(SEND), 0, SEG_LANE_ACTIVE,
		 false},
	};

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct segment_writer *w = evidence_sample();
		struct seg_lane *head = &w->lanes[1].head;
		const struct model_operation *operation;
		struct model *model;

		segment_writer_go(w, 1, table[i].state, 4000);
		head->current.poll_site = table[i].poll_site;
		head->use = table[i].use;
		head->operation.kind = table[i].kind;
		head->operation.event = head->current.events + (uint64_t)table[i].event_off;
		model = segment_writer_model(w);
		operation = &model->lanes[1].operation;
		if ((operation->kind != SEG_OPERATION_OTHER) != table[i].is_known)
			fail_msg("%s", table[i].what);
		assert_int_equal(operation->transfers[0].comm, table[i].is_known ? 0 : SEG_NO_COMM);
		model_destroy(model);
		segment_writer_destroy(w);
	}
}

/* ---- Damage ---- */

/* Each case is a statement that spoils the bytes, by name and by what the message has to hold. */
#define CORRUPTIONS(X)                                                                             \
	X(comms_count, p->tables[SEG_TABLE_COMMS].count = 6, "6 of 5 communicators")               \
	X(comms_many,                                                                              \
	  p->tables[SEG_TABLE_COMMS].count = p->tables[SEG_TABLE_COMMS].capacity =                 \
		  SEG_MAX_COMMS + 1,                                                               \
	  "communicators")                                                                         \
	X(comms_offset, p->tables[SEG_TABLE_COMMS].offset = UINT64_MAX, "communicators beyond")    \
	X(comms_entry, p->tables[SEG_TABLE_COMMS].entry_size = 80, "communicators of 80 bytes")    \
	X(members_count, p->tables[SEG_TABLE_MEMBERS].count = 1000, "members")                     \
	X(members_cut, p->tables[SEG_TABLE_MEMBERS].count = 5, "communicator 2")                   \
	X(members_entry, p->tables[SEG_TABLE_MEMBERS].entry_size = 0, "members of 0 bytes")        \
	X(no_members, memset(&p->tables[SEG_TABLE_MEMBERS], 0, 32), "communicator 1")              \
	X(requests_count, p->tables[SEG_TABLE_REQUESTS].count = UINT32_MAX, "requests")            \
	X(requests_entry, p->tables[SEG_TABLE_REQUESTS].entry_size = 5000, "requests of 5000")     \
	X(comm_site, p->comms[ROWS].site = NUM_SITES, "communicator 2")                            \
	X(comm_name, p->comms[ROWS].name = 1 << 20, "communicator 2")                              \
	X(comm_size, p->comms[ROWS].size = UINT32_MAX, "communicator 2")                           \
	X(comm_size_all, p->comms[0].size = SEG_MAX_MEMBERS + 1, "communicator 0")                 \
	X(comm_members, p->comms[ROWS].members = 9, "communicator 2")                              \
	X(comm_members_wrap, p->comms[ROWS].members = UINT32_MAX - 2, "communicator 2")            \
	X(comm_remote, p->comms[INTER].remote_size = 5, "communicator 3")                          \
	X(comm_sources, p->comms[ROWS].num_sources = 8, "communicator 2")                          \
	X(comm_sources_all, p->comms[ROWS].sources = SEG_ALL_MEMBERS, "communicator 2")            \
	X(comm_destinations, p->comms[ROWS].num_destinations = 8, "communicator 2")                \
	X(comm_destinations_wrap, p->comms[ROWS].num_destinations = UINT32_MAX, "communicator 2")  \
	X(note_words, p->lane->note_words = 100, "100 words of notes")                             \
	X(note_many, p->lane->note_words = 2 * SEG_NOTE_WORDS, "words of notes")                   \
	X(note_offset, p->lane->note_offset = UINT32_MAX, "words of notes")                        \
	X(collective_site, p->comms[ROWS].recent[2].site = NUM_SITES, "communicator 2")            \
	X(request_comm, p->requests[SENDS].comm = NUM_COMMS, "request 2")                          \
	X(request_site, p->requests[SENDS].site = NUM_SITES, "request 2")                          \
	X(waited_count, p->lane->operation.num_waited = 3, "3 of 2 requests waited for")           \
	X(waited_capacity, p->lane_tables[SEG_LANE_WAITED].capacity = SEG_MAX_WAITED + 1,          \
	  "requests waited for")                                                                   \
	X(waited_offset, p->lane_tables[SEG_LANE_WAITED].offset = UINT64_MAX - 1,                  \
	  "requests waited for beyond")                                                            \
	X(ledger_count, p->lane_tables[SEG_LANE_LEDGER].count = 4, "4 of 3 rows")                  \
	X(ledger_offset, p->lane_tables[SEG_LANE_LEDGER].offset = 1ull << 40,                      \
	  "rows of a ledger beyond")                                                               \
	X(ledger_entry, p->lane_tables[SEG_LANE_LEDGER].entry_size = 55, "55 bytes")               \
	X(ledger_comm, p->ledger[1].comm = NUM_COMMS, "ledger of lane 0")                          \
	X(operation_comm, p->other->operation.transfers[0].comm = 77, "operation of lane 1")

#define SPOIL(name, statement, part)                                                               \
	static void spoil_##name(struct places *p)                                                 \
	{                                                                                          \
		statement;                                                                         \
	}
CORRUPTIONS(SPOIL)

static void test_corrupt(void **state)
{
#define ENTRY(name, statement, part) {#name, spoil_##name, part},
	static const struct {
		const char *name;
		void (*spoil)(struct places *p);
		const char *part;
	} table[] = {CORRUPTIONS(ENTRY)};
	struct segment_writer *w = evidence_sample();

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = {0};
		struct model *model = NULL;
		uint8_t *bytes;
		size_t size = segment_writer_bytes(w, &bytes);
		struct places places = find_places(bytes);

		table[i].spoil(&places);
		if (read_bytes(bytes, size, &model, &err) == 0)
			fail_msg("%s was taken", table[i].name);
		assert_error(&err, ERROR_FORMAT, table[i].part);
		free(bytes);
	}
	segment_writer_destroy(w);
}

/* What is not known to this version, or was left half written, is not evidence. Each case is what
 * spoils the bytes and what has to hold of the model then. */
#define UNKNOWNS(X)                                                                                \
	X(comm_kind, p->comms[ROWS].kind = 4, m->comms[ROWS].id == 0)                              \
	X(comm_rank, p->comms[ROWS].rank = 2, m->comms[ROWS].id == 0 && m->comms[ROWS].rank == -1) \
	X(comm_locked, p->comms[ROWS].seq |= 1,                                                    \
	  m->comms[ROWS].id == 0 && m->comms[ROWS].collectives == 0 &&                             \
		  m->comms[INTER].id == INTER_ID)                                                  \
	X(note_none, p->lane->note_offset = 0, m->lanes[0].num_notes == 0)                         \
	X(note_odd, p->lane->note_last++, m->lanes[0].num_notes == 0)                              \
	X(note_far, p->lane->note_last += 1ull << 40, m->lanes[0].num_notes == 0)                  \
	X(note_over, p->lane->note_end += SEG_NOTE_WORDS, m->lanes[0].num_notes == 0)              \
	X(note_kind, p->note->kind = SEG_NUM_NOTES, m->lanes[0].num_notes == 0)                    \
	X(note_no_kind, p->note->kind = 0, m->lanes[0].num_notes == 0)                             \
	X(note_num, p->note->num = SEG_MAX_NOTED, m->lanes[0].num_notes == 0)                      \
	X(note_num_huge, p->note->num = UINT32_MAX, m->lanes[0].num_notes == 0)                    \
	X(note_empty, p->note->num = 0, m->lanes[0].num_notes == 1)                                \
	X(note_comm, p->note->comm = NUM_COMMS, m->lanes[0].num_notes == 1)                        \
	X(note_number, p->note->number = 4, m->lanes[0].num_notes == 1)                            \
	X(note_back_none, p->note->back = 0, m->lanes[0].num_notes == 1)                           \
	X(note_back_self, p->note->back = 1, m->lanes[0].num_notes == 1)                           \
	X(note_back_far, p->note->back = UINT32_MAX, m->lanes[0].num_notes == 1)                   \
	X(comm_no_recent, p->comms[ROWS].recent[3].number = 8,                                     \
	  m->comms[ROWS].recent[0].number == 2 && m->comms[ROWS].collectives == 3)                 \
	X(member, p->members[1] = INT32_MIN, m->members[1] == -1)                                  \
	X(request_kind, p->requests[SENDS].kind = 7,                                               \
	  m->requests[SENDS].kind == SEG_REQUEST_OTHER &&                                          \
		  m->requests[SENDS].comm == SEG_NO_COMM && m->lanes[0].operation.num_waited == 2) \
	X(request_locked, p->requests[RECEIVES].seq |= 1,                                          \
	  m->requests[RECEIVES].kind == SEG_REQUEST_OTHER)                                         \
	X(request_flags, p->requests[SENDS].flags |= 1 << 20,                                      \
	  m->requests[SENDS].flags == SEG_REQUEST_ACTIVE)                                          \
	X(request_peer, p->requests[SENDS].peer = 2, m->requests[SENDS].comm == SEG_NO_COMM)       \
	X(request_negative, p->requests[SENDS].peer = -5, m->requests[SENDS].comm == SEG_NO_COMM)  \
	X(request_tag, p->requests[SENDS].tag = -7, m->requests[SENDS].comm == SEG_NO_COMM)        \
	X(request_lane, p->requests[SENDS].lane = 2,                                               \
	  m->requests[SENDS].lane == MODEL_NO_LANE && m->requests[SENDS].ordinal == 0)             \
	X(request_freed, p->requests[SENDS].kind = SEG_REQUEST_FREE,                               \
	  m->lanes[0].operation.num_waited == 1 && m->lanes[0].operation.waited[0] == RECEIVES)    \
	X(request_later, p->requests[SENDS].ticks = p->lane->current.since + 1,                    \
	  m->lanes[0].operation.num_waited == 1 && m->lanes[0].operation.waited[0] == RECEIVES)    \
	X(waited_slot, p->waited[1] = NUM_REQUESTS,                                                \
	  m->lanes[0].operation.num_waited == 1 && m->lanes[0].operation.waited[0] == SENDS)       \
	X(operation_locked, p->lane->operation.seq |= 1,                                           \
	  m->lanes[0].operation.kind == SEG_OPERATION_OTHER &&                                     \
		  m->lanes[0].operation.num_waited == 0)                                           \
	X(operation_flags, p->lane->operation.flags = 0x10, m->lanes[0].operation.flags == 0)      \
	X(transfer_peer, p->other->operation.transfers[0].peer = 4,                                \
	  m->lanes[1].operation.transfers[0].comm == SEG_NO_COMM)                                  \
	X(ledger_peer, p->ledger[0].peer = -9,                                                     \
	  m->lanes[0].num_ledger == 2 && m->lanes[0].dropped_ledger == 1)                          \
	X(ledger_tag, p->ledger[2].tag = -100,                                                     \
	  m->lanes[0].num_ledger == 2 && m->lanes[0].dropped_ledger == 1)                          \
	X(ledger_no_comm, p->ledger[2].comm = SEG_NO_COMM,                                         \
	  m->lanes[0].num_ledger == 3 && m->lanes[0].dropped_ledger == 0)                          \
	/* A row that counts nothing, of a larger communicator that had the entry before. */       \
	X(ledger_former, p->ledger[2].peer = 1000;                                                 \
	  p->ledger[2].sends = 0, m->lanes[0].num_ledger == 2 && m->lanes[0].dropped_ledger == 0)  \
	X(no_tables, memset(p->tables + SEG_TABLE_COMMS, 0, 3 * 32);                               \
	  memset(p->lane_tables + SEG_LANE_LEDGER, 0, 32);                                         \
	  p->other->operation.kind = 0, m->num_comms == 0 && m->num_requests == 0 &&               \
						m->lanes[0].num_ledger == 0 &&                     \
						m->lanes[0].operation.num_waited == 0)

#define DOUBT(name, statement, condition)                                                          \
	static void doubt_##name(struct places *p)                                                 \
	{                                                                                          \
		statement;                                                                         \
	}                                                                                          \
	static bool holds_##name(const struct model *m)                                            \
	{                                                                                          \
		return condition;                                                                  \
	}
UNKNOWNS(DOUBT)

static void test_unknown(void **state)
{
#define CASE(name, statement, condition) {#name, doubt_##name, holds_##name},
	static const struct {
		const char *name;
		void (*spoil)(struct places *p);
		bool (*holds)(const struct model *m);
	} table[] = {UNKNOWNS(CASE)};
	struct segment_writer *w = evidence_sample();

	(void)state;
	for (size_t i = 0; i < NUM_OF(table); i++) {
		struct pdb_error err = {0};
		struct model *model;
		uint8_t *bytes;
		size_t size = segment_writer_bytes(w, &bytes);
		struct places places = find_places(bytes);

		table[i].spoil(&places);
		if (read_bytes(bytes, size, &model, &err) < 0)
			fail_msg("%s: %s", table[i].name, err.text);
		if (!table[i].holds(model))
			fail_msg("%s", table[i].name);
		model_destroy(model);
		free(bytes);
	}
	segment_writer_destroy(w);
}

/* An operation that waits for what is not known does not know all that it waits for. */
static void test_incomplete(void **state)
{
	static void (*const spoil[])(struct places * p) = {
		NULL,
		doubt_request_kind,
		doubt_request_locked,
		doubt_request_freed,
		doubt_waited_slot,
		doubt_request_later,
	};
	struct segment_writer *w = evidence_sample();

	(void)state;
	w->lanes[0].head.operation.flags = 0;
	for (size_t i = 0; i < NUM_OF(spoil); i++) {
		struct model *model;
		uint8_t *bytes;
		size_t size = segment_writer_bytes(w, &bytes);
		struct places places = find_places(bytes);

		if (spoil[i])
			spoil[i](&places);
		assert_int_equal(read_bytes(bytes, size, &model, NULL), 0);
		assert_int_equal(model->lanes[0].operation.flags,
				 spoil[i] ? SEG_OPERATION_INCOMPLETE : 0);
		model_destroy(model);
		free(bytes);
	}
	segment_writer_destroy(w);
}

/* All slots locked for ever: that many tries are not made. */
static void test_many_locked(void **state)
{
	struct segment_writer *w = evidence_sample();
	struct model *model;

	(void)state;
	for (int i = 0; i < 60000; i++)
		segment_writer_request(w,
				       &(struct seg_request){.seq = 1, .kind = SEG_REQUEST_SEND});
	model = segment_writer_model(w);
	assert_int_equal(model->num_requests, NUM_REQUESTS + 60000);
	assert_int_equal(model->requests[SENDS].kind, SEG_REQUEST_SEND);
	assert_int_equal(model->requests[60000].kind, SEG_REQUEST_OTHER);
	model_destroy(model);
	segment_writer_destroy(w);
}

static void test_truncated(void **state)
{
	struct segment_writer *w = evidence_sample();

	(void)state;
	assert_needs_all(w, 64);
	segment_writer_destroy(w);
}

/* Random damage: a valid model or a refusal, and never an access outside (run under ASan too). */
static void test_mutated(void **state)
{
	struct segment_writer *w = evidence_sample();
	uint8_t *bytes, *copy;
	size_t size = segment_writer_bytes(w, &bytes), evidence;
	int taken = 0;

	(void)state;
	evidence = ((struct seg_header *)bytes)->tables[SEG_TABLE_COMMS].offset;
	copy = malloc(size);
	srandom(11);
	for (int round = 0; round < 6000; round++) {
		memcpy(copy, bytes, size);
		for (int n = 1 + (int)(random() % 3); n > 0; n--) {
			size_t at = evidence + (size_t)random() % (size - evidence);

			/* A third of them in the descriptors of the header's tables. */
			if (random() % 3 == 0)
				at = offsetof(struct seg_header, tables) +
				     (size_t)random() % sizeof(((struct seg_header *)0)->tables);
			damage(copy, size, at);
		}
		taken += is_taken(copy, size);
	}
	assert_in_range(taken, 1000, 5500);
	free(copy);
	free(bytes);
	segment_writer_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_operation_in_progress),
		cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_many_locked),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
