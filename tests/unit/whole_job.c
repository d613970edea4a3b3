/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/whole_job.h"

struct segment_writer *whole_job_segment(int rank, const char *program)
{
	struct segment_writer *w = segment_writer_create(rank, 4);
	uint32_t app = segment_writer_module(w, program);
	uint32_t start = segment_writer_frame(w, SEG_NO_FRAME, app, 0x1000);
	uint32_t jit = segment_writer_frame(w, start, SEG_NO_FRAME, 0x7f0000000010);

	segment_writer_site(w, segment_writer_frame(w, start, app, 0x1010), "MPI_Init",
			    SEG_CLASS_INIT);
	segment_writer_site(w, segment_writer_frame(w, start, app, 0x1020), "MPI_Send",
			    SEG_CLASS_SEND);
	segment_writer_site(w, segment_writer_frame(w, jit, app, 0x1030), "MPI_Recv",
			    SEG_CLASS_RECV);
	segment_writer_lane(w, true, 100 + rank);
	segment_writer_call(w, 0, INIT, 1, 1000);
	return w;
}

void whole_job_evidence(struct segment_writer *w)
{
	static const int32_t members[] = {3, 0, 1, 2}, remote[] = {-1, 5};
	uint32_t first = segment_writer_members(w, members, 4), slots[] = {3, 1};
	int rank = w->header.rank;

	segment_writer_predefined(w, 0xfedcba9876543210);
	segment_writer_comm(w, &(struct seg_comm){
				       .id = 77,
				       .parent_id = 0xfedcba9876543210,
				       .kind = SEG_COMM_INTER,
				       .site = SEND,
				       .ordinal = 3,
				       .rank = (rank + 1) % 4,
				       .size = 4,
				       .members = first,
				       .remote_size = 2,
				       .remote_members = segment_writer_members(w, remote, 2),
				       .num_sources = rank == 2 ? 4 : 0,
				       .num_destinations = rank == 2 ? 2 : 0,
				       .sources = rank == 0 ? SEG_NO_MEMBERS : first,
				       .name = segment_writer_string(w, "grid"),
				       .is_freed = 1,
			       });
	for (uint64_t i = 0; i < 10; i++)
		segment_writer_collective(w, 0, SEND, SEG_PEER_NONE, SEG_NO_BYTES - i);
	segment_writer_collective(w, 2, RECV, SEG_PEER_ROOT, 8);
	for (uint32_t i = 0; i < 5; i++)
		segment_writer_request(w,
				       &(struct seg_request){
					       .kind = i % 2 ? SEG_REQUEST_RECV : SEG_REQUEST_FREE,
					       .flags = SEG_REQUEST_ACTIVE | SEG_REQUEST_CANCELLED,
					       .comm = i == 1 ? 2 : SEG_NO_COMM,
					       .peer = SEG_PEER_ANY,
					       .tag = SEG_TAG_MANY,
					       .ordinal = 1000 + i,
					       .bytes = 1ull << 40,
					       .site = RECV,
					       .lane = i == 3 ? 50 : 0,
					       .ticks = w->start + 1500,
				       });
	segment_writer_operation(
		w, 0,
		&(struct seg_operation){
			.kind = rank ? SEG_OPERATION_SENDRECV : SEG_OPERATION_WAIT_ANY,
			.flags = SEG_OPERATION_SYNCHRONOUS,
			.transfers = {{.comm = 2, .peer = 1, .tag = 9, .ordinal = 4},
				      {.comm = SEG_NO_COMM, .bytes = 5}},
		},
		slots, rank ? 0 : 2);
	/* As of a poll: the lanes are outside MPI. */
	w->lanes[0].head.current.poll_site = RECV;
	segment_writer_ledger(w, 0,
			      &(struct seg_ledger){.comm = 2,
						   .peer = 1,
						   .tag = SEG_TAG_LEADER,
						   .cancelled = 2,
						   .sends = 1ull << 33,
						   .sends_done = 7,
						   .receives = 6,
						   .receives_done = 5,
						   .taken = 4});
	segment_writer_ledger(w, 0, &(struct seg_ledger){.comm = 0, .peer = 2, .tag = 1});
	w->lanes[0].head.tables[SEG_LANE_LEDGER].dropped = 8;
	segment_writer_note(w, 0,
			    &(struct seg_note){.number = 10,
					       .id = 0xfedcba9876543210,
					       .kind = SEG_NOTE_GIVES,
					       .num = 4,
					       .unit = 8},
			    (const uint32_t[]){1, 0, UINT32_MAX, 70000});
	if (rank != 1)
		segment_writer_note(w, 0,
				    &(struct seg_note){.number = 1,
						       .id = 77,
						       .comm = 2,
						       .kind = SEG_NOTE_ERROR,
						       .num = 1,
						       .unit = 1},
				    (const uint32_t[]){SEG_ERROR_TRUNCATE});
}

static void add_rank(struct job *job, int rank, const char *program, uint64_t times)
{
	struct segment_writer *w = whole_job_segment(rank, program);
	uint64_t ns = 2000;

	for (uint64_t i = 0; i < times; i++)
		ns = segment_writer_call(w, 0, RECV, 1, segment_writer_call(w, 0, SEND, 1, ns) + i);
	whole_job_evidence(w);
	if (rank == 2) {
		segment_writer_lane(w, false, 7);
		segment_writer_poll(w, 1, RECV, 99, 5000);
		w->lanes[1].head.use = SEG_LANE_ENDED;
		w->header.life = SEG_LIFE_STOPPED;
	}
	job_model_add(job->model, rank, segment_writer_model(w), 4000 + rank);
	segment_writer_destroy(w);
}

static int resolve(void *resolver, uint32_t module, uint64_t address, struct name *ret)
{
	static const struct name caller = {.function = "run",
					   .file = "run.c",
					   .full_file = "/src/run.c",
					   .line = 7,
					   .is_symbol = true};

	(void)resolver;
	(void)module;
	if (address > 0x1020)
		return -1;
	*ret = (struct name){.function = address < 0x1010 ? "main" : "solve",
			     .file = "solve.c",
			     .full_file = "/src/solve.c",
			     .line = (int)address,
			     .is_symbol = true,
			     .is_library = address > 0x1010,
			     .caller = address > 0x1010 ? &caller : NULL};
	return 0;
}

/* What probes have read in the first sample, and the functions that they are for. */
static void add_values(struct job *job)
{
	const struct code_probe probes[] = {make_probe(0, 0x1005), make_probe(0, 0x1015)};
	struct sample *sample = &job->samples->samples[0];

	job_set_probes(job, probes, NUM_OF(probes));
	sample->num_values = 2;
	sample->values = xcalloc(2, sizeof(*sample->values));
	sample->values[0] = (struct sample_value){.depth = 0, .probe = 1, .value = -17};
	sample->values[1] = (struct sample_value){.depth = 1, .probe = 0, .value = INT64_MAX};
	code_store_add(job->code, 0, make_function(0x1000), make_variables(0x1000));
}

static void *copy_of(const void *from, size_t size)
{
	return memcpy(xmalloc(size), from, size);
}

struct message_queues *whole_job_queues(void)
{
	static const struct queued_comm comms[] = {{"MPI_COMM_WORLD", 4}, {"", UINT32_MAX}};
	static const struct queued_message receives[] = {
		{MESSAGE_ANY_PEER, MESSAGE_ANY_TAG, 0}, {3, INT32_MAX, 0}, {0, 7, 1}, {0, 5, 1}};
	static const struct queued_message unexpected[] = {{2, MESSAGE_TAG_NOT_KNOWN, 1},
							   {2, -17, 1}};
	static const struct message_pair pairs[] = {{MESSAGE_OTHER_PEER, 0, 1, 0},
						    {MESSAGE_OTHER_PEER, 0, 2, 0},
						    {0, 0, UINT16_MAX, UINT16_MAX},
						    {(16 << 20) - 1, 0, 0, 1},
						    {1, 1, 5, 6}};
	struct message_queues *queues = message_queues_create();

	queues->comms = copy_of(comms, sizeof(comms));
	queues->num_comms = NUM_OF(comms);
	queues->receives = copy_of(receives, sizeof(receives));
	queues->num_receives = NUM_OF(receives);
	queues->unexpected = copy_of(unexpected, sizeof(unexpected));
	queues->num_unexpected = NUM_OF(unexpected);
	queues->pairs = copy_of(pairs, sizeof(pairs));
	queues->num_pairs = NUM_OF(pairs);
	queues->num_posted = UINT64_MAX;
	return queues;
}

void assert_same_queues(const struct message_queues *a, const struct message_queues *b)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->num_comms, b->num_comms);
	assert_int_equal(a->num_receives, b->num_receives);
	assert_int_equal(a->num_unexpected, b->num_unexpected);
	assert_int_equal(a->num_pairs, b->num_pairs);
	assert_int_equal(a->num_posted, b->num_posted);
	assert_memory_equal(a->receives, b->receives, a->num_receives * sizeof(*a->receives));
	assert_memory_equal(a->unexpected, b->unexpected,
			    a->num_unexpected * sizeof(*a->unexpected));
	assert_memory_equal(a->pairs, b->pairs, a->num_pairs * sizeof(*a->pairs));
	for (size_t i = 0; i < a->num_comms; i++) {
		assert_string_equal(a->comms[i].name, b->comms[i].name);
		assert_int_equal(a->comms[i].size, b->comms[i].size);
	}
}

struct job *whole_job_create(bool in_order)
{
	struct job *job = job_create();
	uint32_t pc;

	names_destroy(job->names);
	job->names = names_create(job->modules, job->callpaths, resolve, NULL);
	for (int i = 0; i < 4; i++)
		proctable_add(job->proctable, i, 4000 + i, i ? "far" : "localhost", "/bin/app");
	job->proctable->size = 5;
	job->proctable->job = strdup("job@1");
	job->proctable->launcher_name = strdup("Open MPI 4.1.4");
	job->proctable->launcher_pid = 3999;
	job->proctable->source = PROCTABLE_MPIR;
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	job->model = job_model_create(job->modules, job->callpaths);
	if (!in_order)
		add_rank(job, 2, "/bin/app", 50);
	add_rank(job, 0, "/bin/app", 49);
	add_rank(job, 1, "/bin/other", 3);
	if (in_order)
		add_rank(job, 2, "/bin/app", 50);
	job_model_finish(job->model);
	job->model->lanes[0].has_second_look = true;
	job->model->lanes[1].has_second_look = job->model->lanes[1].has_moved = true;
	job->model->lanes[1].moves = 12345;
	job->model->lanes[3].has_polled = true;
	pc = callpaths_intern(job->callpaths, 0, 0, 0x1015, false);
	samples_add(job->samples, &(struct sample){.rank = 0,
						   .tid = 4000,
						   .is_main = true,
						   .path = pc,
						   .state = 'R',
						   .when_ns = 77,
						   .stopped_ns = 30000});
	samples_add(job->samples, &(struct sample){.rank = 3,
						   .status = SAMPLE_FAILED,
						   .path = CALLPATH_NONE,
						   .state = '?',
						   .note = strdup("vanished")});
	add_values(job);
	job->samples->samples[1].queues = whole_job_queues();
	job_add_hole(job, 3, "no recorder");
	job_add_ended(job, 3,
		      &(struct job_end){.how = JOB_END_KILLED,
					.number = 9,
					.has_core = true,
					.oom_kills = 2,
					.ago_ns = 40});
	job->taken_real_ns = 1700000000123456789;
	job->look_seconds = 0.25;
	return job;
}

static void assert_same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void assert_same_tables(const struct job *a, const struct job *b)
{
	assert_int_equal(modules_count(a->modules), modules_count(b->modules));
	for (uint32_t i = 0; i < modules_count(a->modules); i++) {
		const struct module *x = modules_get(a->modules, i),
				    *y = modules_get(b->modules, i);

		assert_string_equal(x->path, y->path);
		assert_int_equal(x->build_id_size, y->build_id_size);
		assert_memory_equal(x->build_id, y->build_id, BUILD_ID_MAX);
		assert_int_equal(y->example_pid, 0);
	}
	assert_int_equal(callpaths_count(a->callpaths), callpaths_count(b->callpaths));
	for (uint32_t i = 0; i < callpaths_count(a->callpaths); i++) {
		const struct callpath_node *x = callpaths_get(a->callpaths, i);
		const struct callpath_node *y = callpaths_get(b->callpaths, i);
		const struct name *p = names_innermost(a->names, i);
		const struct name *q = names_innermost(b->names, i);

		assert_int_equal(x->parent, y->parent);
		assert_int_equal(x->module, y->module);
		assert_int_equal(x->offset, y->offset);
		assert_int_equal(x->is_return, y->is_return);
		for (; p && q; p = p->caller, q = q->caller) {
			assert_same_text(p->function, q->function);
			assert_same_text(p->file, q->file);
			assert_same_text(p->full_file, q->full_file);
			assert_int_equal(p->line, q->line);
			assert_int_equal(p->is_symbol, q->is_symbol);
			assert_int_equal(p->is_library, q->is_library);
		}
		assert_ptr_equal(p, q);
	}
}

int num_inlined(const struct job *job)
{
	int num = 0;

	for (uint32_t i = 0; i < callpaths_count(job->callpaths); i++)
		num += names_innermost(job->names, i)->caller != NULL;
	return num;
}

static void assert_same_list(const struct model *x, uint32_t a, const struct model *y, uint32_t b,
			     uint32_t num)
{
	if (a == SEG_NO_MEMBERS || a == SEG_ALL_MEMBERS) {
		assert_int_equal(a, b);
		return;
	}
	assert_true(b < SEG_ALL_MEMBERS);
	for (uint32_t i = 0; i < num; i++)
		assert_int_equal(model_members(x, a)[i], model_members(y, b)[i]);
}

/* The id of a rank's own MPI_COMM_SELF may be another. */
static void assert_same_id(const struct model *x, uint64_t a, const struct model *y, uint64_t b)
{
	if (a && x->num_comms > 1 && a == model_comm(x, 1)->id)
		assert_int_equal(b, model_comm(y, 1)->id);
	else
		assert_int_equal(a, b);
}

static void assert_same_comm(const struct model *x, const struct model *y, size_t index)
{
	const struct model_comm *a = model_comm(x, index), *b = model_comm(y, index);

	assert_same_id(x, a->id, y, b->id);
	assert_same_id(x, a->parent_id, y, b->parent_id);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->site, b->site);
	assert_int_equal(a->ordinal, b->ordinal);
	assert_int_equal(model_comm_rank(x, index), model_comm_rank(y, index));
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->remote_size, b->remote_size);
	assert_int_equal(a->num_sources, b->num_sources);
	assert_same_list(x, a->members, y, b->members, a->size);
	assert_same_list(x, a->remote_members, y, b->remote_members, a->remote_size);
	assert_same_list(x, a->sources, y, b->sources, a->num_sources);
	assert_int_equal(a->num_destinations, b->num_destinations);
	if (a->num_destinations)
		assert_same_list(x, a->destinations, y, b->destinations, a->num_destinations);
	assert_same_text(a->name, b->name);
	assert_int_equal(a->is_freed, b->is_freed);
	assert_int_equal(a->collectives, b->collectives);
	for (size_t i = 0; i < SEG_RECENT; i++) {
		assert_int_equal(a->recent[i].number, b->recent[i].number);
		assert_int_equal(a->recent[i].bytes, b->recent[i].bytes);
		assert_int_equal(a->recent[i].site, b->recent[i].site);
		assert_int_equal(a->recent[i].root, b->recent[i].root);
	}
}

static void assert_same_evidence(const struct model *x, const struct model *y)
{
	assert_int_equal(x->num_comms, y->num_comms);
	for (size_t i = 0; i < x->num_comms; i++)
		assert_same_comm(x, y, i);
	assert_int_equal(x->num_requests, y->num_requests);
	for (size_t i = 0; i < x->num_requests; i++) {
		const struct model_request *a = &x->requests[i], *b = &y->requests[i];

		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->flags, b->flags);
		assert_int_equal(a->comm, b->comm);
		assert_int_equal(a->peer, b->peer);
		assert_int_equal(a->tag, b->tag);
		assert_int_equal(a->ordinal, b->ordinal);
		assert_int_equal(a->bytes, b->bytes);
		assert_int_equal(a->site, b->site);
		assert_int_equal(a->lane, b->lane);
		assert_int_equal(a->since_ns, b->since_ns);
	}
	assert_int_equal(x->program->dropped_comms, y->program->dropped_comms);
	assert_int_equal(x->program->dropped_members, y->program->dropped_members);
	assert_int_equal(x->program->dropped_requests, y->program->dropped_requests);
}

static void assert_same_operation(const struct model_operation *x, const struct model_operation *y)
{
	assert_int_equal(x->kind, y->kind);
	assert_int_equal(x->flags, y->flags);
	assert_int_equal(x->number, y->number);
	for (int i = 0; i < model_num_transfers(x->kind); i++) {
		assert_int_equal(x->transfers[i].comm, y->transfers[i].comm);
		assert_int_equal(x->transfers[i].peer, y->transfers[i].peer);
		assert_int_equal(x->transfers[i].tag, y->transfers[i].tag);
		assert_int_equal(x->transfers[i].ordinal, y->transfers[i].ordinal);
		assert_int_equal(x->transfers[i].bytes, y->transfers[i].bytes);
	}
	assert_int_equal(x->num_waited, y->num_waited);
	for (size_t i = 0; i < x->num_waited; i++)
		assert_int_equal(x->waited[i], y->waited[i]);
}

static void assert_same_ledger(const struct model *model, const struct model_lane *x,
			       const struct model *other, const struct model_lane *y)
{
	assert_int_equal(x->dropped_ledger, y->dropped_ledger);
	assert_int_equal(x->num_ledger, y->num_ledger);
	for (size_t i = 0; i < x->num_ledger; i++) {
		const struct model_ledger *a = &x->ledger[i], *b = &y->ledger[i];

		assert_int_equal(a->comm, b->comm);
		assert_int_equal(model_ledger_peer(model, a), model_ledger_peer(other, b));
		assert_int_equal(a->tag, b->tag);
		assert_int_equal(a->cancelled, b->cancelled);
		assert_int_equal(a->sends, b->sends);
		assert_int_equal(a->sends_done, b->sends_done);
		assert_int_equal(a->receives, b->receives);
		assert_int_equal(a->receives_done, b->receives_done);
		assert_int_equal(a->taken, b->taken);
	}
}

static void assert_same_notes(const struct model_lane *x, const struct model_lane *y)
{
	assert_int_equal(x->num_notes, y->num_notes);
	assert_int_equal(x->num_note_entries, y->num_note_entries);
	for (size_t i = 0; i < x->num_notes; i++) {
		const struct model_note *a = &x->notes[i], *b = &y->notes[i];

		assert_int_equal(a->number, b->number);
		assert_int_equal(a->comm, b->comm);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->unit, b->unit);
		assert_int_equal(a->first, b->first);
		assert_int_equal(a->num, b->num);
	}
	for (size_t i = 0; i < x->num_note_entries; i++)
		assert_int_equal(x->note_entries[i], y->note_entries[i]);
}

static void assert_same_lane(const struct model *model, const struct model_lane *x,
			     const struct model *other, const struct model_lane *y)
{
	assert_int_equal(x->is_main, y->is_main);
	assert_int_equal(x->has_ended, y->has_ended);
	assert_int_equal(x->is_consistent, y->is_consistent);
	assert_int_equal(x->in_poll, y->in_poll);
	assert_int_equal(x->tid, y->tid);
	assert_int_equal(x->state, y->state);
	assert_int_equal(x->since_ns, y->since_ns);
	assert_int_equal(x->first_ns, y->first_ns);
	assert_int_equal(x->events, y->events);
	assert_int_equal(x->poll_site, y->poll_site);
	assert_int_equal(x->polls, y->polls);
	assert_int_equal(x->last_poll_ns, y->last_poll_ns);
	assert_int_equal(x->num_transitions, y->num_transitions);
	for (size_t i = 0; i < x->num_transitions; i++)
		assert_memory_equal(&x->transitions[i], &y->transitions[i],
				    sizeof(x->transitions[i]));
	for (uint32_t i = 0; i < 2 * model->num_sites; i++) {
		assert_int_equal(model_lane_stay(x, i), model_lane_stay(y, i));
		assert_int_equal(x->state_polls[i], y->state_polls[i]);
	}
	assert_int_equal(x->num_ring, y->num_ring);
	for (size_t i = 0; i < x->num_ring; i++) {
		assert_int_equal(x->ring[i].state, y->ring[i].state);
		assert_int_equal(x->ring[i].ns, y->ring[i].ns);
	}
	assert_int_equal(x->last_events, y->last_events);
	assert_same_operation(&x->operation, &y->operation);
	assert_same_ledger(model, x, other, y);
	assert_same_notes(x, y);
}

static void assert_same_model(const struct model *x, const struct model *y)
{
	assert_int_equal(x->rank, y->rank);
	assert_int_equal(x->size, y->size);
	assert_int_equal(x->pid, y->pid);
	assert_int_equal(x->pid_start, y->pid_start);
	assert_int_equal(x->uid, y->uid);
	assert_int_equal(x->life, y->life);
	assert_int_equal(x->thread_level, y->thread_level);
	assert_string_equal(x->program->host, y->program->host);
	assert_string_equal(x->program->job, y->program->job);
	assert_string_equal(x->program->mpi_library, y->program->mpi_library);
	assert_string_equal(x->program->executable, y->program->executable);
	assert_int_equal(x->now_ns, y->now_ns);
	assert_int_equal(x->now_real_ns, y->now_real_ns);
	assert_int_equal(x->bytes, y->bytes);
	assert_int_equal(x->num_sites, y->num_sites);
	for (size_t i = 0; i < x->num_sites; i++)
		assert_string_equal(x->sites[i].name, y->sites[i].name);
	assert_int_equal(x->num_lanes, y->num_lanes);
	assert_same_evidence(x, y);
}

void assert_same_job_model(const struct job_model *a, const struct job_model *b)
{
	assert_true(rankset_equal(a->ranks, b->ranks));
	assert_int_equal(a->num_shapes, b->num_shapes);
	assert_int_equal(a->num_roles, b->num_roles);
	assert_int_equal(a->num_sites, b->num_sites);
	for (size_t i = 0; i < a->num_sites; i++) {
		assert_int_equal(a->sites[i].path, b->sites[i].path);
		assert_string_equal(a->sites[i].name, b->sites[i].name);
		assert_int_equal(a->sites[i].class_id, b->sites[i].class_id);
	}
	assert_int_equal(a->num_transitions, b->num_transitions);
	for (size_t i = 0; i < a->num_transitions; i++) {
		const struct job_transition *x = &a->transitions[i], *y = &b->transitions[i];

		assert_int_equal(x->from, y->from);
		assert_int_equal(x->to, y->to);
		assert_int_equal(x->num_counts, y->num_counts);
		for (size_t j = 0; j < x->num_counts; j++) {
			assert_int_equal(x->counts[j].count, y->counts[j].count);
			assert_true(rankset_equal(x->counts[j].ranks, y->counts[j].ranks));
		}
	}
	assert_int_equal(a->num_lanes, b->num_lanes);
	for (size_t i = 0; i < a->num_lanes; i++) {
		const struct job_lane *x = &a->lanes[i], *y = &b->lanes[i];

		assert_int_equal(x->rank, y->rank);
		assert_int_equal(x->lane, y->lane);
		assert_int_equal(x->role, y->role);
		assert_int_equal(x->state, y->state);
		assert_int_equal(x->stay_ns, y->stay_ns);
		assert_int_equal(x->has_second_look, y->has_second_look);
		assert_int_equal(x->has_moved, y->has_moved);
		assert_int_equal(x->moves, y->moves);
		assert_int_equal(x->has_polled, y->has_polled);
		assert_same_model(x->model, y->model);
		assert_same_lane(x->model, x->data, y->model, y->data);
	}
}

void assert_same_contents(const struct job *a, const struct job *b)
{
	assert_int_equal(a->taken_real_ns, b->taken_real_ns);
	assert_true(a->look_seconds == b->look_seconds);
	assert_same_tables(a, b);
	assert_int_equal(!a->model, !b->model);
	if (a->model)
		assert_same_job_model(a->model, b->model);
	assert_int_equal(a->samples->num_samples, b->samples->num_samples);
	for (size_t i = 0; i < a->samples->num_samples; i++) {
		const struct sample *x = &a->samples->samples[i], *y = &b->samples->samples[i];

		assert_int_equal(x->rank, y->rank);
		assert_int_equal(x->tid, y->tid);
		assert_int_equal(x->is_main, y->is_main);
		assert_int_equal(x->status, y->status);
		assert_int_equal(x->path, y->path);
		assert_int_equal(x->state, y->state);
		assert_int_equal(x->when_ns, y->when_ns);
		assert_int_equal(x->stopped_ns, y->stopped_ns);
		assert_same_text(x->note, y->note);
		assert_same_queues(x->queues, y->queues);
		assert_int_equal(x->num_values, y->num_values);
		for (size_t k = 0; k < x->num_values; k++) {
			assert_int_equal(x->values[k].depth, y->values[k].depth);
			assert_int_equal(x->values[k].probe, y->values[k].probe);
			assert_true(x->values[k].value == y->values[k].value);
		}
	}
	assert_int_equal(a->num_holes, b->num_holes);
	for (size_t i = 0; i < a->num_holes; i++) {
		assert_int_equal(a->holes[i].rank, b->holes[i].rank);
		assert_string_equal(a->holes[i].why, b->holes[i].why);
		assert_int_equal(a->holes[i].end.how, b->holes[i].end.how);
		assert_int_equal(a->holes[i].end.number, b->holes[i].end.number);
		assert_int_equal(a->holes[i].end.has_core, b->holes[i].end.has_core);
		assert_int_equal(a->holes[i].end.oom_kills, b->holes[i].end.oom_kills);
		assert_int_equal(a->holes[i].end.ago_ns, b->holes[i].end.ago_ns);
	}
}
