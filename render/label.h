/* SPDX-License-Identifier: BSD-3-Clause
 * The words that all answers share: ranks, times, functions, places, states, loops. Every label is
 * a new string that the caller frees. Labels may hold names of other people's programs: print them
 * through table.h, text_wrap() or text_fit(), which let no control character through. */
#ifndef PDB_RENDER_LABEL_H
#define PDB_RENDER_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calltree;
struct eqgroup;
struct iteration;
struct job;
struct job_crash;
struct name;
struct rankset;
struct view;

/* Short for tables and pictures: C++ names without template arguments and parameters,
 * "halo() solver.c:141". Full for sentences: "halo() at solver.c:141",
 * "LAMMPS_NS::Verlet::run(int) in liblammps.so.0". */
enum label_detail { LABEL_SHORT, LABEL_FULL };

/* ---- Ranks and times ---- */

/* Count and ranks as STAT writes them: "4:[0-2,8]", in at most `width` columns by leaving out
 * ranges at the end: "509:[0-98,...]". Only the count may be wider than asked for. */
char *label_ranks(const struct rankset *set, int width);
/* "0-2,8", in at most `width` columns: "0-2,...". */
char *label_rank_list(const struct rankset *set, int width);
/* "rank 3" or "ranks 0-2,8", in at most `width` columns. */
char *label_who(const struct rankset *set, int width);

/* "12 us", "350 ms", "7.2 s", "72 s", "2 min 5 s", "3 h 12 min", "2 d 3 h". */
char *label_time(uint64_t ns);
/* "72 s", or "3 to 72 s" where the two differ as printed. */
char *label_time_range(uint64_t min_ns, uint64_t max_ns);

/* A tag or enum seg_tag: "7", "any", "others" (SEG_TAG_MANY), "post", "complete", ... */
char *label_tag(int32_t tag);

/* How a rank was ended: "SIGSEGV at address 0x10", "SIGABRT", "SIGTERM from another process". */
char *label_crash(const struct job_crash *crash);

/* ---- Places ---- */

/* A demangled function name without return type, template arguments and parameters:
 * "void ns::sum<double>(int) const" is "ns::sum". */
char *label_function(const char *function);

/* A node of job->callpaths as a place in the source. */
char *label_place(const struct job *job, uint32_t node, enum label_detail detail);
/* The same for one of the node's names. */
char *label_name(const struct job *job, uint32_t node, const struct name *name,
		 enum label_detail detail);
/* A node of a tree of stacks, as far as it is the same in all of them: by function "halo()
 * solver.c", by line "halo() solver.c:141", by address "halo() solver.c:141 0x1a2b". */
char *label_frame(const struct job *job, const struct calltree *tree, uint32_t node);
/* The place of the innermost frame of `path` that is the program's own code. In full with what is
 * behind it: "find() at list.cpp:12 (std::_List_iterator::operator++() at stl_list.h:284)", "tick()
 * at timer.c:20, handling signal 14 that interrupted step() at solver.c:141". */
char *label_user_place(const struct job *job, uint32_t path, enum label_detail detail);

/* A state of the job model: "in MPI_Allreduce, halo() solver.c:141",
 * "computing after MPI_Send, halo() solver.c:125", "before its first MPI call". */
char *label_state(const struct job *job, uint32_t state, enum label_detail detail);

/* What a group does and where. Groups outside MPI are placed by the stack samples of their threads
 * as far as these agree, else by the MPI call that they came from. */
char *label_where(const struct job *job, const struct eqgroup *group, enum label_detail detail);

/* What a group does, in one or two words: "MPI_Allgather", "compute_forces()", "after MPI_Send". */
char *label_doing(const struct job *job, const struct eqgroup *group);

/* ---- Loops ---- */

/* "loop run() at solver.c:120"; without line information "loop in LAMMPS_NS::Verlet::run(int)".
 * loop: an index in view->progress->loops. */
char *label_loop(const struct view *view, uint32_t loop, enum label_detail detail);
/* "412" or "about 412". */
char *label_iteration(const struct iteration *iteration);

#endif
