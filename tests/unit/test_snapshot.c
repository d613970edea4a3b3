/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "model/callpath.h"
#include "model/job.h"
#include "model/job_model.h"
#include "model/model.h"
#include "model/modules.h"
#include "model/names.h"
#include "model/proctable.h"
#include "model/rankset.h"
#include "model/sample.h"
#include "model/snapshot_private.h"
#include "tests/fixtures/segment_writer.h"
#include "tests/unit/unit.h"

enum { INIT = 1, SEND, RECV };

static char dir[] = "/tmp/test_snapshot.XXXXXX";
static char path[64];

static int setup(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/job.snap", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	/* Fails if anything was left beside it. */
	return rmdir(dir);
}

/* ---- A job to save --------------------------------------------------------------------------- */

static struct segment_writer *make_rank(int rank, const char *program)
{
	struct segment_writer *w = segment_writer_create(rank, 4);
	uint32_t app = segment_writer_module(w, program);
	uint32_t start = segment_writer_frame(w, SEG_NO_FRAME, app, 0x1000);
	uint32_t jit = segment_writer_frame(w, start, SEG_NO_FRAME, 0x7f0000000010);

	segment_writer_site(w, segment_writer_frame(w, start, app, 0x1010), "MPI_Init", SEG_CLASS_INIT);
	segment_writer_site(w, segment_writer_frame(w, start, app, 0x1020), "MPI_Send", SEG_CLASS_SEND);
	segment_writer_site(w, segment_writer_frame(w, jit, app, 0x1030), "MPI_Recv", SEG_CLASS_RECV);
	segment_writer_lane(w, true, 100 + rank);
	segment_writer_call(w, 0, INIT, 1, 1000);
	return w;
}

/* Rank 0 knows of no topology, rank 1 of one without sources, rank 2 of one whose sources are the
 * members' list. */
static void add_evidence(struct segment_writer *w)
{
	static const int32_t members[] = { 3, 0, 1, 2 }, remote[] = { -1, 5 };
	uint32_t first = segment_writer_members(w, members, 4), slots[] = { 3, 1 };
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
				       .sources = rank == 0 ? SEG_NO_MEMBERS : first,
				       .name = segment_writer_string(w, "grid"),
				       .is_freed = 1,
			       });
	for (uint64_t i = 0; i < 10; i++)
		segment_writer_collective(w, 0, SEND, SEG_PEER_NONE, SEG_NO_BYTES - i);
	segment_writer_collective(w, 2, RECV, SEG_PEER_ROOT, 8);
	for (uint32_t i = 0; i < 5; i++)
		segment_writer_request(w, &(struct seg_request){
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
	segment_writer_operation(w, 0,
				 &(struct seg_operation){
					 .kind = rank ? SEG_OPERATION_SENDRECV : SEG_OPERATION_WAIT_ANY,
					 .flags = SEG_OPERATION_SYNCHRONOUS,
					 .transfers = { { .comm = 2, .peer = 1, .tag = 9, .ordinal = 4 },
							{ .comm = SEG_NO_COMM, .bytes = 5 } },
				 },
				 slots, rank ? 0 : 2);
	/* As of a poll: the lanes are outside MPI. */
	w->lanes[0].head.current.poll_site = RECV;
	segment_writer_ledger(w, 0, &(struct seg_ledger){ .comm = 2,
							  .peer = 1,
							  .tag = SEG_TAG_LEADER,
							  .cancelled = 2,
							  .sends = 1ull << 33,
							  .sends_done = 7,
							  .receives = 6,
							  .receives_done = 5,
							  .taken = 4 });
	segment_writer_ledger(w, 0, &(struct seg_ledger){ .comm = 0, .peer = 2, .tag = 1 });
	w->lanes[0].head.tables[SEG_LANE_LEDGER].dropped = 8;
}

static void add_rank(struct job *job, int rank, const char *program, uint64_t times)
{
	struct segment_writer *w = make_rank(rank, program);
	uint64_t ns = 2000;

	for (uint64_t i = 0; i < times; i++)
		ns = segment_writer_call(w, 0, RECV, 1, segment_writer_call(w, 0, SEND, 1, ns) + i);
	add_evidence(w);
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
	(void)resolver;
	(void)module;
	if (address > 0x1020)
		return -1;
	*ret = (struct name){ .function = address < 0x1010 ? "main" : "solve",
			      .file = "solve.c",
			      .full_file = "/src/solve.c",
			      .line = (int)address,
			      .is_symbol = true };
	return 0;
}

static struct job *make_job(void)
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
	job->proctable->launcher = LAUNCHER_ORTE;
	job->proctable->launcher_pid = 3999;
	job->proctable->source = PROCTABLE_MPIR;
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	job->model = job_model_create(job->modules, job->callpaths);
	/* Not in the order of ranks. */
	add_rank(job, 2, "/bin/app", 50);
	add_rank(job, 0, "/bin/app", 49);
	add_rank(job, 1, "/bin/other", 3);
	job_model_finish(job->model);
	job->model->lanes[0].has_second_look = true;
	job->model->lanes[1].has_second_look = job->model->lanes[1].has_moved = true;
	job->model->lanes[1].moves = 12345;
	job->model->lanes[3].has_polled = true;
	pc = callpaths_intern(job->callpaths, 0, 0, 0x1015, false);
	samples_add(job->samples, &(struct sample){ .rank = 0,
						    .tid = 4000,
						    .is_main = true,
						    .path = pc,
						    .state = 'R',
						    .when_ns = 77,
						    .stopped_ns = 30000 });
	samples_add(job->samples, &(struct sample){ .rank = 3,
						    .status = SAMPLE_FAILED,
						    .path = CALLPATH_NONE,
						    .state = '?',
						    .note = strdup("vanished") });
	job_add_hole(job, 3, "no recorder");
	job->taken_real_ns = 1700000000123456789;
	job->look_seconds = 0.25;
	return job;
}

/* ---- Are two jobs equal? --------------------------------------------------------------------- */

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
		const struct module *x = modules_get(a->modules, i), *y = modules_get(b->modules, i);

		assert_string_equal(x->path, y->path);
		assert_int_equal(x->build_id_size, y->build_id_size);
		assert_memory_equal(x->build_id, y->build_id, BUILD_ID_MAX);
		assert_int_equal(y->example_pid, 0);
	}
	assert_int_equal(callpaths_count(a->callpaths), callpaths_count(b->callpaths));
	for (uint32_t i = 0; i < callpaths_count(a->callpaths); i++) {
		const struct callpath_node *x = callpaths_get(a->callpaths, i);
		const struct callpath_node *y = callpaths_get(b->callpaths, i);
		const struct name *p = names_get(a->names, i), *q = names_get(b->names, i);

		assert_int_equal(x->parent, y->parent);
		assert_int_equal(x->module, y->module);
		assert_int_equal(x->offset, y->offset);
		assert_int_equal(x->is_return, y->is_return);
		assert_same_text(p->function, q->function);
		assert_same_text(p->file, q->file);
		assert_same_text(p->full_file, q->full_file);
		assert_int_equal(p->line, q->line);
		assert_int_equal(p->is_symbol, q->is_symbol);
	}
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
		assert_int_equal(x->members[a + i], y->members[b + i]);
}

static void assert_same_comm(const struct model *x, const struct model *y, size_t index)
{
	const struct model_comm *a = &x->comms[index], *b = &y->comms[index];

	assert_int_equal(a->id, b->id);
	assert_int_equal(a->parent_id, b->parent_id);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->site, b->site);
	assert_int_equal(a->ordinal, b->ordinal);
	assert_int_equal(a->rank, b->rank);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->remote_size, b->remote_size);
	assert_int_equal(a->num_sources, b->num_sources);
	assert_same_list(x, a->members, y, b->members, a->size);
	assert_same_list(x, a->remote_members, y, b->remote_members, a->remote_size);
	assert_same_list(x, a->sources, y, b->sources, a->num_sources);
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
	assert_int_equal(x->dropped_comms, y->dropped_comms);
	assert_int_equal(x->dropped_members, y->dropped_members);
	assert_int_equal(x->dropped_requests, y->dropped_requests);
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

static void assert_same_ledger(const struct model_lane *x, const struct model_lane *y)
{
	assert_int_equal(x->dropped_ledger, y->dropped_ledger);
	assert_int_equal(x->num_ledger, y->num_ledger);
	for (size_t i = 0; i < x->num_ledger; i++)
		assert_memory_equal(&x->ledger[i], &y->ledger[i], sizeof(x->ledger[i]));
}

static void assert_same_lane(const struct model *model, const struct model_lane *x,
			     const struct model_lane *y)
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
		assert_memory_equal(&x->transitions[i], &y->transitions[i], sizeof(x->transitions[i]));
	for (size_t i = 0; i < 2 * model->num_sites; i++) {
		assert_int_equal(x->longest_ns[i], y->longest_ns[i]);
		assert_int_equal(x->state_polls[i], y->state_polls[i]);
	}
	assert_int_equal(x->num_ring, y->num_ring);
	for (size_t i = 0; i < x->num_ring; i++) {
		assert_int_equal(x->ring[i].state, y->ring[i].state);
		assert_int_equal(x->ring[i].ns, y->ring[i].ns);
	}
	assert_int_equal(x->last_events, y->last_events);
	assert_same_operation(&x->operation, &y->operation);
	assert_same_ledger(x, y);
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
	assert_string_equal(x->host, y->host);
	assert_string_equal(x->job, y->job);
	assert_string_equal(x->mpi_library, y->mpi_library);
	assert_string_equal(x->executable, y->executable);
	assert_int_equal(x->now_ns, y->now_ns);
	assert_int_equal(x->now_real_ns, y->now_real_ns);
	assert_int_equal(x->bytes, y->bytes);
	assert_int_equal(x->num_sites, y->num_sites);
	for (size_t i = 0; i < x->num_sites; i++)
		assert_string_equal(x->sites[i].name, y->sites[i].name);
	assert_int_equal(x->num_lanes, y->num_lanes);
	assert_same_evidence(x, y);
}

static void assert_same_job_model(const struct job_model *a, const struct job_model *b)
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
		assert_same_lane(x->model, x->data, y->data);
	}
}

static void assert_same_job(const struct job *a, const struct job *b)
{
	assert_int_equal(a->taken_real_ns, b->taken_real_ns);
	assert_true(a->look_seconds == b->look_seconds);
	assert_int_equal(a->proctable->size, b->proctable->size);
	assert_string_equal(a->proctable->job, b->proctable->job);
	assert_string_equal(a->proctable->launcher_name, b->proctable->launcher_name);
	assert_int_equal(a->proctable->launcher, b->proctable->launcher);
	assert_int_equal(a->proctable->launcher_pid, b->proctable->launcher_pid);
	assert_int_equal(b->proctable->source, PROCTABLE_SNAPSHOT);
	assert_int_equal(a->proctable->num_procs, b->proctable->num_procs);
	for (size_t i = 0; i < a->proctable->num_procs; i++) {
		assert_int_equal(a->proctable->procs[i].rank, b->proctable->procs[i].rank);
		assert_int_equal(a->proctable->procs[i].pid, b->proctable->procs[i].pid);
		assert_string_equal(a->proctable->procs[i].host, b->proctable->procs[i].host);
		/* Nobody may look at those pids now. */
		assert_false(b->proctable->procs[i].is_local);
	}
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
	}
	assert_int_equal(a->num_holes, b->num_holes);
	for (size_t i = 0; i < a->num_holes; i++) {
		assert_int_equal(a->holes[i].rank, b->holes[i].rank);
		assert_string_equal(a->holes[i].why, b->holes[i].why);
	}
}

/* ---- Round trips ----------------------------------------------------------------------------- */

static void save(const struct job *job)
{
	struct pdb_error err = { 0 };

	if (snapshot_save(job, path, &err) < 0)
		fail_msg("%s", err.text);
}

static struct job *load(void)
{
	struct pdb_error err = { 0 };
	struct job *job = NULL;

	if (snapshot_load(path, &job, &err) < 0)
		fail_msg("%s", err.text);
	return job;
}

static void test_round_trip(void **state)
{
	struct job *job = make_job(), *again, *third;

	(void)state;
	assert_int_equal(job->model->lanes[0].data->operation.kind, SEG_OPERATION_WAIT_ANY);
	assert_int_equal(job->model->lanes[1].data->operation.kind, SEG_OPERATION_SENDRECV);
	save(job);
	again = load();
	assert_same_job(job, again);
	assert_non_null(strstr(again->proctable->source_note, "MPIR table"));
	assert_string_equal(names_get(again->names, 0)->function, "main");
	/* One that was loaded is saved the same, over the old file. */
	save(again);
	third = load();
	assert_same_job(again, third);
	assert_string_equal(third->proctable->source_note, again->proctable->source_note);
	job_destroy(job);
	job_destroy(again);
	job_destroy(third);
	job_destroy(NULL);
}

static void test_empty(void **state)
{
	struct job *job = job_create(), *again;

	(void)state;
	assert_int_equal(proctable_finish(job->proctable, NULL), 0);
	save(job);
	again = load();
	assert_same_job(job, again);
	assert_null(again->model);
	job_destroy(again);
	/* A model without ranks is not the same as none. */
	job->model = job_model_create(job->modules, job->callpaths);
	job_model_finish(job->model);
	save(job);
	again = load();
	assert_non_null(again->model);
	job_destroy(again);
	job_destroy(job);
}

static void test_file(void **state)
{
	struct job *job = job_create();
	struct pdb_error err = { 0 };
	struct stat st;
	mode_t old = umask(0);

	(void)state;
	save(job);
	umask(old);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(snapshot_save(job, "/no/such/directory/file", &err), -1);
	assert_error(&err, ERROR_NOT_FOUND, "/no/such/directory/file");
	/* What cannot be replaced stays, and nothing is left beside it (see teardown). */
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(snapshot_save(job, path, &err), -1);
	assert_error(&err, ERROR_USAGE, "no regular file");
	assert_int_equal(rmdir(path), 0);
	/* As /dev/null is none. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(snapshot_save(job, path, &err), -1);
	assert_error(&err, ERROR_USAGE, "no regular file");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(unlink(path), 0);
	if (access("/dev/full", W_OK) == 0) {
		assert_int_equal(symlink("/dev/full", path), 0);
		save(job);
		assert_int_equal(lstat(path, &st), 0);
		assert_true(S_ISREG(st.st_mode));
	}
	job_destroy(job);
}

/* Equal ranks cost little: 4,096 of them with a ring of 64 and a list of all others. */
static void test_small(void **state)
{
	struct job *job = job_create(), *again;
	struct segment_writer *w = make_rank(0, "/bin/app");
	int32_t members[4096];
	struct stat st;

	(void)state;
	job->model = job_model_create(job->modules, job->callpaths);
	segment_writer_call(w, 0, SEND, 40, 9000);
	srandom(5);
	for (int i = 0; i < 4096; i++)
		members[i] = (int32_t)(random() % 4096);
	segment_writer_comm(w, &(struct seg_comm){
				       .id = 5,
				       .size = 4096,
				       .members = segment_writer_members(w, members, 4096),
				       .remote_members = SEG_NO_MEMBERS,
				       .sources = SEG_NO_MEMBERS,
			       });
	for (int i = 0; i < 4096; i++)
		job_model_add(job->model, i, segment_writer_model(w), 0);
	segment_writer_destroy(w);
	job_model_finish(job->model);
	save(job);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1000, 200000);
	again = load();
	assert_int_equal(again->model->num_lanes, 4096);
	assert_int_equal(again->model->num_shapes, 1);
	for (int i = 0; i < 4096; i += 4095)
		assert_memory_equal(again->model->lanes[i].model->members, members,
				    sizeof(members));
	job_destroy(again);
	job_destroy(job);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static size_t read_file(uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got = fread(bytes, 1, size, file);

	fclose(file);
	assert_true(got < size);
	return got;
}

static void write_file(const void *bytes, size_t size)
{
	FILE *file;

	/* A new file, since some file systems flush one that is written over. */
	unlink(path);
	file = fopen(path, "w");

	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static void write_compressed(const void *bytes, size_t size)
{
	size_t bound = ZSTD_compressBound(size), length;
	char *packed = malloc(bound);

	length = ZSTD_compress(packed, bound, bytes, size, 1);
	assert_false(ZSTD_isError(length));
	write_file(packed, length);
	free(packed);
}

static void assert_refused(enum error_code code, const char *part)
{
	struct pdb_error err = { 0 };
	struct job *job = NULL;

	assert_int_equal(snapshot_load(path, &job, &err), -1);
	assert_null(job);
	assert_error(&err, code, part);
	assert_int_equal(snapshot_load(path, &job, NULL), -1);
}

static void test_refused(void **state)
{
	uint8_t bytes[65536], plain[65536];
	struct job *job = make_job();
	size_t size, length;

	(void)state;
	unlink(path);
	assert_refused(ERROR_NOT_FOUND, "job.snap");
	write_file("", 0);
	assert_refused(ERROR_FORMAT, "truncated");
	write_file("hello, this is text", 19);
	assert_refused(ERROR_FORMAT, "not a snapshot");
	write_compressed("hello, this is text", 19);
	assert_refused(ERROR_FORMAT, "not a snapshot");
	save(job);
	size = read_file(bytes, sizeof(bytes));
	length = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	assert_false(ZSTD_isError(length));
	write_compressed(plain, length);
	job_destroy(job);
	job = load();
	job_destroy(job);
	bytes[size] = 'x';
	write_file(bytes, size + 1);
	assert_refused(ERROR_FORMAT, "after its end");
	plain[length] = 0;
	write_compressed(plain, length + 1);
	assert_refused(ERROR_FORMAT, "after its end");
	plain[8] = 1;
	write_compressed(plain, length);
	assert_refused(ERROR_VERSION, "use the pdb that saved it");
	plain[8] = SNAPSHOT_VERSION;
	/* A section that claims a gibibyte, and one that claims more. */
	memset(plain + 12 + 1, 0, 8);
	plain[12 + 4] = 0x40;
	write_compressed(plain, length);
	assert_refused(ERROR_FORMAT, "truncated");
	plain[12 + 5] = 1;
	write_compressed(plain, length);
	assert_refused(ERROR_FORMAT, "too large");
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_refused(ERROR_FORMAT, "not a regular file");
	rmdir(path);
}

/* Each section left out, or twice, is noticed. */
static void test_sections(void **state)
{
	uint8_t bytes[65536], plain[65536], other[131072];
	struct job *job = make_job();
	size_t size, length;

	(void)state;
	save(job);
	job_destroy(job);
	size = read_file(bytes, sizeof(bytes));
	length = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	for (size_t at = 12; at < length;) {
		struct job *bad = NULL;
		size_t section = 9 + plain[at + 1] + ((size_t)plain[at + 2] << 8);

		memcpy(other, plain, at);
		memcpy(other + at, plain + at + section, length - at - section);
		write_compressed(other, length - section);
		/* A model may be missing: then the looks do not fit. */
		assert_int_equal(snapshot_load(path, &bad, NULL), -1);
		memcpy(other, plain, at + section);
		memcpy(other + at + section, plain + at, length - at);
		write_compressed(other, length + section);
		/* Only strings, lists and shapes may come twice without harm, but they shift those after. */
		if (plain[at] != SNAPSHOT_STRINGS && plain[at] != SNAPSHOT_LISTS &&
		    plain[at] != SNAPSHOT_SHAPE)
			assert_int_equal(snapshot_load(path, &bad, NULL), -1);
		else if (snapshot_load(path, &bad, NULL) == 0)
			job_destroy(bad);
		at += section;
	}
}

static void test_truncated(void **state)
{
	uint8_t bytes[65536], plain[65536];
	struct job *job = make_job();
	size_t size, length;

	(void)state;
	save(job);
	job_destroy(job);
	size = read_file(bytes, sizeof(bytes));
	for (size_t cut = 0; cut < size; cut++) {
		write_file(bytes, cut);
		assert_refused(ERROR_FORMAT, "");
	}
	/* The same inside the compression. */
	length = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	for (size_t cut = 0; cut < length; cut++) {
		write_compressed(plain, cut);
		assert_refused(ERROR_FORMAT, "truncated");
	}
}

static void test_mutated(void **state)
{
	uint8_t bytes[65536], plain[65536], copy[65536];
	struct job *job = make_job();
	size_t size, length;
	int taken = 0;

	(void)state;
	save(job);
	job_destroy(job);
	size = read_file(bytes, sizeof(bytes));
	length = ZSTD_decompress(plain, sizeof(plain), bytes, size);
	srandom(3);
	for (int round = 0; round < 4000; round++) {
		struct pdb_error err = { 0 };
		struct job *loaded;

		memcpy(copy, plain, length);
		for (int n = 1 + (int)(random() % 2); n > 0; n--) {
			uint8_t *at = &copy[12 + (size_t)random() % (length - 12)];

			*at = (uint8_t)(random() % 2 ? random() : *at + random() % 3 - 1);
		}
		write_compressed(copy, length);
		if (snapshot_load(path, &loaded, &err) == 0) {
			for (uint32_t i = 0; i < callpaths_count(loaded->callpaths); i++)
				names_get(loaded->names, i);
			job_destroy(loaded);
			taken++;
		} else {
			assert_int_equal(err.code, ERROR_FORMAT);
		}
	}
	assert_in_range(taken, 100, 3900);
	/* The compressed bytes: the checksum refuses nearly all. */
	for (int round = 0; round < 1000; round++) {
		struct job *loaded;

		memcpy(copy, bytes, size);
		copy[(size_t)random() % size] ^= (uint8_t)(1 + random() % 255);
		write_file(copy, size);
		if (snapshot_load(path, &loaded, NULL) == 0)
			job_destroy(loaded);
	}
}

/* What is small in the file is not as small in memory. */
static void test_budget(void **state)
{
	struct snapshot_input *in = calloc(1, sizeof(*in));
	uint8_t lengths[100] = { 0 };

	(void)state;
	in->at = lengths;
	in->end = lengths + sizeof(lengths);
	in->memory = 1000;
	input_take_strings(in);
	assert_true(in->is_bad);
	assert_in_range(in->num_strings, 1, 60);
	input_deinit(in);
	free(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty, setup, teardown),
		cmocka_unit_test_setup_teardown(test_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_small, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sections, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mutated, setup, teardown),
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
