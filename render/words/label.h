/* SPDX-License-Identifier: BSD-3-Clause
 * Labels for all answers: ranks, times, functions, places, states, loops. Labels live as long as
 * the arena, or the view's arena. They may contain names from other people's programs. So print
 * them through table.h, text_wrap() or text_fit(), which let no control character through. */
#pragma once

#include "model/base.h"

struct calltree;
struct eqgroup;
struct iteration;
struct job_crash;
struct job_end;
struct json;
struct name;
struct progress;
struct temporal_group;
struct temporal_loop;
struct temporal_reason;
struct temporal_result;
struct view;
struct waitfor_need;

/* Short for tables and pictures: C++ names without template arguments and parameters,
 * "halo() solver.c:141". Full for sentences: "halo() at solver.c:141",
 * "LAMMPS_NS::Verlet::run(int) in liblammps.so.0". */
enum label_detail { LABEL_SHORT, LABEL_FULL };

/* ---- Ranks and times ---- */

/* Count and ranks as STAT writes them: "4:[0-2,8]". To fit `width` columns, ranges at the end are
 * left out: "509:[0-98,...]". Only the count may exceed the width. */
const char *label_ranks(struct arena *arena, const struct rankset *set, int width);
/* "0-2,8", in at most `width` columns: "0-2,...". */
const char *label_rank_list(struct arena *arena, const struct rankset *set, int width);
/* "rank 3" or "ranks 0-2,8", in at most `width` columns. */
const char *label_who(struct arena *arena, const struct rankset *set, int width);

/* "12 us", "350 ms", "7.2 s", "72 s", "2 min 5 s", "3 h 12 min", "2 d 3 h". By value. */
struct label_time {
	char text[32];
};
struct label_time label_time(uint64_t ns);
/* "72 s", or "3 to 72 s" where the two differ as printed. */
const char *label_time_range(struct arena *arena, uint64_t min_ns, uint64_t max_ns);

/* A tag or enum seg_tag: "7", "any", "others" (SEG_TAG_MANY), "post", "complete", ... */
const char *label_tag(struct arena *arena, int32_t tag);
/* What ended a rank: "SIGSEGV at address 0x10", "SIGABRT", "SIGTERM from another process". */
const char *label_crash(struct arena *arena, const struct job_crash *crash);
/* "was killed by SIGKILL 40 s ago, most likely out of memory: its cgroup counts 1 oom kill", "has
 * exited with status 3"; "has ended" where nothing is known (NULL). */
const char *label_end(struct arena *arena, const struct job_end *end);
/* The same for a column: "SIGKILL, out of memory?", "exit 3"; NULL: nothing is known. */
const char *label_end_short(struct arena *arena, const struct job_end *end);
/* "412" or "about 412". */
const char *label_iteration(struct arena *arena, const struct iteration *iteration);
/* A demangled name without types and parameters: "void ns::sum<double>(int) const" is "ns::sum". */
const char *label_function(struct arena *arena, const char *function);

/* ---- Places: label_place.c ---- */

/* A function with parentheses: "halo()". In full with the parameters of a C++ name. */
const char *label_called(const struct view *view, const struct name *name,
			 enum label_detail detail);
/* A node of job->callpaths as a place in the source. */
const char *label_place(const struct view *view, uint32_t node, enum label_detail detail);
/* The same for one of the node's names. */
const char *label_name(const struct view *view, uint32_t node, const struct name *name,
		       enum label_detail detail);
/* The frame at a node of a stack tree, as far as all its stacks agree: by function "halo()
 * solver.c", by line "halo() solver.c:141", by address "halo() solver.c:141 0x1a2b". */
const char *label_frame(const struct view *view, const struct calltree *tree, uint32_t node);
/* The place of the innermost frame of `path` in the program's own code. In full, what that frame
 * called follows: "find() at list.cpp:12 (std::_List_iterator::operator++() at stl_list.h:284)",
 * "tick() at timer.c:20, handling signal 14 that interrupted step() at solver.c:141". */
const char *label_user_place(const struct view *view, uint32_t path, enum label_detail detail);

/* The text that LABEL_FULL adds behind the place of `user`, the program's own frame in `path`. */
const char *label_behind(const struct view *view, uint32_t path, uint32_t user);
/* The MPI call that a path is in; NULL outside MPI, or in a signal handler. Borrowed. */
const char *label_mpi_call(const struct view *view, uint32_t path);
/* A call path (not CALLPATH_NONE) as text: "MPI_Recv, exchange() at halo.c:12". */
const char *label_stack(const struct view *view, uint32_t path);

/* ---- States and groups: label_state.c ---- */

/* A state of the job model: "in MPI_Allreduce, halo() solver.c:141",
 * "computing after MPI_Send, halo() solver.c:125", "before its first MPI call". */
const char *label_state(const struct view *view, uint32_t state, enum label_detail detail);
/* A group's activity and place. Outside MPI the place comes from its threads' stack samples as far
 * as they agree, else from their last MPI call. */
const char *label_where(const struct view *view, const struct eqgroup *group,
			enum label_detail detail);
/* A group's activity in one or two words: "MPI_Allgather", "compute_forces()", "after MPI_Send". */
const char *label_doing(const struct view *view, const struct eqgroup *group);
/* Is a state of the job model in the loop, or in one inside it? */
bool label_is_in_loop(const struct progress *progress, uint32_t loop, uint32_t state);
/* "loop run() at solver.c:120"; without line information "loop in LAMMPS_NS::Verlet::run(int)".
 * loop: an index in view->progress->loops. */
const char *label_loop(const struct view *view, uint32_t loop, enum label_detail detail);

/* ---- Communicators, windows and files: label_comm.c ---- */

/* A communicator of job->comms, by its name or the call that made it. Short: "MPI_COMM_WORLD",
 * "rows (2nd of 4)", "split at grid.c:40 (2nd of 4)". Full: "split of MPI_COMM_WORLD at grid.c:40
 * (2nd of 4)". Those with the same name, or made by the same call, are numbered in order of
 * creation, then of members. SEG_NO_COMM: "unknown communicator". */
const char *label_comm(const struct view *view, uint32_t comm, enum label_detail detail);
/* The same for an entry of a rank's own table, also one that job->comms leaves out. */
const char *label_comm_local(const struct view *view, const struct model *model, uint32_t local,
			     enum label_detail detail);
/* "communicator", "intercommunicator", "window" or "file". Static text. */
const char *label_comm_kind(const struct view *view, uint32_t comm);

/* ---- Who waits for what: label_wait.c ---- */

/* A lane: "rank 7", or if the rank has several threads "rank 7, main thread". lane: index in the
 * job model. */
const char *label_wait_who(const struct view *view, uint32_t lane);
/* Where an actor is: "in MPI_Recv, exchange() at pair.c:31", "outside MPI, in compute() at
 * force.c:88". */
const char *label_wait_where(const struct view *view, uint32_t actor, enum label_detail detail);
/* A need as text after "waits for": "message 413 with tag 7 from rank 100, which has sent 412",
 * "ranks 99,101 to call MPI_Allgather, number 1237 on MPI_COMM_WORLD". */
const char *label_wait_need(const struct view *view, const struct waitfor_need *need);
/* Many needs of one kind, without numbers: "messages with tag 7 from ranks 3-9". */
const char *label_wait_needs(const struct view *view, const struct waitfor_need *need,
			     const struct rankset *peers, int width);
/* Why pdb does not know, or not completely, what an actor waits for. NULL: it knows. Static
 * text. */
const char *label_wait_gap(const struct view *view, uint32_t actor);
/* " on halo", or "" for MPI_COMM_WORLD. */
const char *label_wait_on(const struct view *view, uint32_t comm);

/* ---- Who waits for threads of its own process: label_thread.c ---- */

/* What a thread waits for in its own process: "waits for thread 4321 to end (pthread_join), which
 * is in MPI_Recv, work() at x.c:12", "waits for mutex 'table' that it holds itself
 * (pthread_mutex_lock)". For other locks outside MPI, what is known of them. If it waits for no
 * lock, label_blocked(). has_numbers false: "another thread", so that ranks that do the same get
 * the same text. */
const char *label_thread_wait(const struct view *view, const struct sample *sample,
			      bool has_numbers);
/* The system call in which the thread sleeps outside MPI: "sleeps in read(), a pipe: process 812
 * (sh) has it open for writing"; NULL: not known. */
const char *label_blocked(const struct view *view, const struct sample *sample);
/* The lock that it waits for: "mutex 'table'"; "a lock" if no more is known, or sample is NULL. */
const char *label_lock(const struct view *view, const struct sample *sample);
/* The same for a column: "read()", "page fault"; NULL: not known. */
const char *label_blocked_short(const struct view *view, const struct sample *sample);
/* What the system knows of the rank's process: how it ended, else the limit that it has reached,
 * else label_blocked(); NULL: nothing. */
const char *label_process(const struct view *view, int rank);
/* The function in which it waits for other threads, "pthread_join"; NULL: not known. */
const char *label_thread_function(const struct view *view, const struct sample *sample);
/* Write the member "thread_waits": threads of `ranks` that wait for other threads, as samples show.
 * Writes nothing if there are none. */
void label_json_thread_waits(struct json *json, const struct view *view,
			     const struct rankset *ranks);
/* Write the member "system_calls": what main threads of `ranks` sleep in. Nothing if not known. */
void label_json_system_calls(struct json *json, const struct view *view,
			     const struct rankset *ranks);
/* "limits": those that processes of these ranks have reached. Nothing if none has. */
void label_json_limits(struct json *json, const struct view *view, const struct rankset *ranks);

/* ---- The temporal order of stacks: order_text.c ---- */

/* The place of a group of stacks: "in MPI_Allreduce, halo() at solver.c:12". */
const char *order_text_where(const struct view *view, const struct temporal_group *group);
/* A loop: "the loop at solver.c:12 of relax()". Its line is the lowest line among its beginning and
 * its ends in the same file. */
const char *order_text_loop(const struct view *view, const struct temporal_loop *loop);
/* Why two groups are unordered: "they are in different branches". */
const char *order_text_cause(const struct view *view, const struct temporal_reason *reason);
/* Why no stack is before another, or the first reason for two of them. */
const char *order_text_no_order(const struct view *view, const struct temporal_result *order);
/* For a verdict by the temporal order: print why the culprits are earlier, one paragraph per
 * reason. */
void order_text_print_choice(const struct view *view);
/* For a verdict that the temporal order could not decide: print why not, if there is an order. */
void order_text_print_doubt(const struct view *view);
