/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of calls that make and free communicators, windows and files. MPI is asked only for
 * local properties of a new one: its groups and its topology. */
#pragma once

#include "model/recorder/wrap_counts.h"

/* Or that of its parent. */
enum wrap_topology { WRAP_NO_TOPOLOGY, WRAP_CART, WRAP_GRAPH, WRAP_DIST_GRAPH };

/* Ranks in `base` of members `first` to `first + num - 1` of a group; -1 for those not in it. */
bool wrap_translate(MPI_Group group, MPI_Group base, int first, int num, int *to);

/* It exists now; of `n`, what MPI does not tell. */
void wrap_made(struct wrap_call *w, const void *at, enum wrap_topology topology,
	       struct comms_new n);

void wrap_session_init_after(struct wrap_call *w, const void *at);
void wrap_session_finalize_before(struct wrap_call *w, const void *at);

void wrap_make_before(struct wrap_call *w, uint32_t parent);
void wrap_make_after(struct wrap_call *w, const void *comm, enum wrap_topology topology);
void wrap_duplicate_after(struct wrap_call *w, const void *comm);
void wrap_idup_before(struct wrap_call *w, uint32_t parent);
void wrap_idup_after(struct wrap_call *w, int ret, const void *comm, const void *request);
void wrap_from_group_after(struct wrap_call *w, const char *tag, size_t length, const void *comm);
void wrap_spawn_before(struct wrap_call *w, int root, uint32_t comm);
void wrap_spawn_after(struct wrap_call *w, const void *comm);
void wrap_join_after(struct wrap_call *w, const void *comm);
void wrap_get_parent_after(struct wrap_call *w, const void *comm);
void wrap_make_win_after(struct wrap_call *w, const void *at);
void wrap_open_file_after(struct wrap_call *w, const void *at);
void wrap_name_after(struct wrap_call *w, uint32_t index, const char *text, size_t length);

void wrap_free_comm_before(struct wrap_call *w, const void *at);
void wrap_free_win_before(struct wrap_call *w, const void *at);
void wrap_close_file_before(struct wrap_call *w, const void *at);
void wrap_freed_after(struct wrap_call *w, int ret);
