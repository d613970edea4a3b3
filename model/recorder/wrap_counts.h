/* SPDX-License-Identifier: BSD-3-Clause
 * The hooks of collectives in which ranks give each other different amounts; they note what each
 * gives and takes. Also notes of calls that have returned with an error. Arguments that are not
 * significant in this rank may be garbage and are not read. */
#pragma once

#include "model/recorder/wrap_collectives.h"

/* Where all give something to all, notes are of so many ranks at most. */
enum { WRAP_MAX_NOTED = 512 };

/* An array of int or, of functions with large counts, MPI_Count. NULL: none. */
struct wrap_counts {
	const void *at;
	size_t size; /* bytes of an element */
};

/* ---- What is noted of the last collective of `comm`: wrap_counts.c ---- */

/* The root's counts, or another rank's own. */
NOINLINE void wrap_note_rooted(struct wrap_call *w, enum seg_note_kind of_root,
			       struct wrap_counts counts, MPI_Datatype type,
			       enum seg_note_kind of_other, MPI_Count count,
			       MPI_Datatype other_type, int root, uint32_t comm);
NOINLINE void wrap_note_allgatherv(struct wrap_call *w, const void *data, MPI_Count count,
				   MPI_Datatype type, struct wrap_counts counts,
				   MPI_Datatype from_type, uint32_t comm);
NOINLINE void wrap_note_alltoallv(struct wrap_call *w, const void *data, struct wrap_counts counts,
				  MPI_Datatype type, struct wrap_counts from_counts,
				  MPI_Datatype from_type, uint32_t comm);
NOINLINE void wrap_note_alltoallw(struct wrap_call *w, const void *data, struct wrap_counts counts,
				  const void *types, struct wrap_counts from_counts,
				  const void *from_types, uint32_t comm);
/* Of neighbours in a graph: to each, or from each, or both, the same. */
NOINLINE void wrap_note_neighbors(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
				  MPI_Count from_count, MPI_Datatype from_type, uint32_t comm);
NOINLINE void wrap_note_neighbors_allgatherv(struct wrap_call *w, MPI_Count count,
					     MPI_Datatype type, struct wrap_counts from_counts,
					     MPI_Datatype from_type, uint32_t comm);
NOINLINE void wrap_note_neighbors_v(struct wrap_call *w, struct wrap_counts counts,
				    MPI_Datatype type, struct wrap_counts from_counts,
				    MPI_Datatype from_type, uint32_t comm);
NOINLINE void wrap_note_neighbors_w(struct wrap_call *w, struct wrap_counts counts,
				    const void *types, struct wrap_counts from_counts,
				    const void *from_types, uint32_t comm);

/* The call, which is a collective, has returned with this error. */
COLD void wrap_failed(struct wrap_call *w, int ret);

/* Are its neighbours those of a graph, and known? */
static ALWAYS_INLINE bool wrap_is_graph(uint32_t comm)
{
	return comms_has(&comms_here, comm) && comms_here.entries[comm].num_destinations > 0;
}

/* ---- Hooks ---- */

/* Of a shape: what it gives, flags, and what is noted. */
#define WRAP_NOTED(shape_, given_, flags_, note_, ...)                                             \
	static inline void wrap_##shape_##_before(struct wrap_call *w, __VA_ARGS__, uint32_t comm) \
	{                                                                                          \
		wrap_collective(w, comm, given_, flags_ ? SEG_OPERATION_NEIGHBOURS : 0);           \
		note_;                                                                             \
	}                                                                                          \
	static inline void wrap_i##shape_##_before(struct wrap_call *w, __VA_ARGS__,               \
						   uint32_t comm, uint32_t flags)                  \
	{                                                                                          \
		wrap_start(w, comm, given_, flags | (flags_ ? SEG_REQUEST_NEIGHBOURS : 0));        \
		note_;                                                                             \
	}

WRAP_NOTED(scatterv, wrap_rooted_given(root), false,
	   wrap_note_rooted(w, SEG_NOTE_GIVES, counts, type, SEG_NOTE_TAKES_ROOT, count, other_type,
			    root, comm),
	   struct wrap_counts counts, MPI_Datatype type, MPI_Count count, MPI_Datatype other_type,
	   int root)
WRAP_NOTED(gatherv, wrap_rooted_given(root), false,
	   wrap_note_rooted(w, SEG_NOTE_TAKES, counts, type, SEG_NOTE_GIVES_ROOT, count, other_type,
			    root, comm),
	   MPI_Count count, MPI_Datatype other_type, struct wrap_counts counts, MPI_Datatype type,
	   int root)
WRAP_NOTED(allgatherv, wrap_uneven, false,
	   wrap_note_allgatherv(w, data, count, type, counts, from_type, comm), const void *data,
	   MPI_Count count, MPI_Datatype type, struct wrap_counts counts, MPI_Datatype from_type)
WRAP_NOTED(alltoallv, wrap_uneven, false,
	   wrap_note_alltoallv(w, data, counts, type, from_counts, from_type, comm),
	   const void *data, struct wrap_counts counts, MPI_Datatype type,
	   struct wrap_counts from_counts, MPI_Datatype from_type)
WRAP_NOTED(alltoallw, wrap_uneven, false,
	   wrap_note_alltoallw(w, data, counts, types, from_counts, from_types, comm),
	   const void *data, struct wrap_counts counts, const void *types,
	   struct wrap_counts from_counts, const void *from_types)
WRAP_NOTED(neighbor, wrap_uneven, true,
	   if (wrap_is_graph(comm))
		   wrap_note_neighbors(w, count, type, from_count, from_type, comm),
	   MPI_Count count, MPI_Datatype type, MPI_Count from_count, MPI_Datatype from_type)
WRAP_NOTED(neighbor_allgatherv, wrap_uneven, true,
	   if (wrap_is_graph(comm))
		   wrap_note_neighbors_allgatherv(w, count, type, from_counts, from_type, comm),
	   MPI_Count count, MPI_Datatype type, struct wrap_counts from_counts,
	   MPI_Datatype from_type)
WRAP_NOTED(neighbor_alltoallv, wrap_uneven, true,
	   if (wrap_is_graph(comm))
		   wrap_note_neighbors_v(w, counts, type, from_counts, from_type, comm),
	   struct wrap_counts counts, MPI_Datatype type, struct wrap_counts from_counts,
	   MPI_Datatype from_type)
WRAP_NOTED(neighbor_alltoallw, wrap_uneven, true,
	   if (wrap_is_graph(comm))
		   wrap_note_neighbors_w(w, counts, types, from_counts, from_types, comm),
	   struct wrap_counts counts, const void *types, struct wrap_counts from_counts,
	   const void *from_types)
