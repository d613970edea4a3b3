/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_counts.h"

#include <string.h>

#include "model/recorder/notes.h"

/* ---- Notes ---- */

static uint64_t last_of(uint32_t comm)
{
	return comms_last(&comms_here, comm);
}

/* One count. */
static void note_one(struct wrap_call *w, enum seg_note_kind kind, uint32_t comm, MPI_Count count,
		     MPI_Datatype type)
{
	uint32_t *entry = notes_begin(w->lane, kind, comm, last_of(comm), wrap_bytes(1, type), 1);

	if (!entry)
		return;
	*entry = notes_entry(count);
	notes_end(w->lane);
}

static void copy_counts(uint32_t *to, struct wrap_counts counts, uint32_t num)
{
	if (counts.size == sizeof(int)) {
		memcpy(to, counts.at, num * sizeof(int));
		return;
	}
	for (uint32_t i = 0; i < num; i++)
		to[i] = notes_entry(((const MPI_Count *)counts.at)[i]);
}

static void note_counts(struct wrap_call *w, enum seg_note_kind kind, uint32_t comm,
			struct wrap_counts counts, MPI_Datatype type, uint32_t num)
{
	uint32_t *entries;

	if (!counts.at || num == 0)
		return;
	entries = notes_begin(w->lane, kind, comm, last_of(comm), wrap_bytes(1, type), num);
	if (!entries)
		return;
	copy_counts(entries, counts, num);
	notes_end(w->lane);
}

static MPI_Datatype type_at(const struct wrap_call *w, const void *types, uint32_t i)
{
	if (w->is_fortran)
		return wrap_f_MPI_Datatype((const MPI_Fint *)types + i);
	return ((const MPI_Datatype *)types)[i];
}

static int64_t count_at(struct wrap_counts counts, uint32_t i)
{
	return counts.size == sizeof(int) ? ((const int *)counts.at)[i]
					  : ((const MPI_Count *)counts.at)[i];
}

/* Counts of different types: their bytes. */
static void note_bytes(struct wrap_call *w, enum seg_note_kind kind, uint32_t comm,
		       struct wrap_counts counts, const void *types, uint32_t num)
{
	if (!counts.at || !types || num == 0)
		return;
	uint32_t *entries = notes_begin(w->lane, kind, comm, last_of(comm), 1, num);
	if (!entries)
		return;
	for (uint32_t i = 0; i < num; i++) {
		int64_t count = count_at(counts, i);
		entries[i] = count > 0 ? notes_entry(wrap_bytes(count, type_at(w, types, i)))
				       : notes_entry(count);
	}
	notes_end(w->lane);
}

/* ---- Collectives with a root ---- */

void wrap_note_rooted(struct wrap_call *w, enum seg_note_kind of_root, struct wrap_counts counts,
		      MPI_Datatype type, enum seg_note_kind of_other, MPI_Count count,
		      MPI_Datatype other_type, int root, uint32_t comm)
{
	int own = comms_rank(&comms_here, comm);

	if (own < 0 || root == MPI_PROC_NULL)
		return;
	if (wrap_is_inter(comm) ? root == MPI_ROOT : root == own)
		note_counts(w, of_root, comm, counts, type, comms_num_peers(&comms_here, comm));
	else
		note_one(w, of_other, comm, count, other_type);
}

/* ---- Collectives of all with all ---- */

/* How many ranks to note something of; 0: too many, or the communicator is not known. */
static uint32_t num_noted(uint32_t comm)
{
	uint32_t num = comms_num_peers(&comms_here, comm);

	return num <= WRAP_MAX_NOTED && comms_rank(&comms_here, comm) >= 0 ? num : 0;
}

/* Takes the place of the data that it gives: MPI finds it where it goes to. */
static bool is_in_place(const struct wrap_call *w, const void *data)
{
	return w->is_fortran ? wrap_is_fortran_in_place(data) : data == MPI_IN_PLACE;
}

void wrap_note_allgatherv(struct wrap_call *w, const void *data, MPI_Count count, MPI_Datatype type,
			  struct wrap_counts counts, MPI_Datatype from_type, uint32_t comm)
{
	uint32_t num = num_noted(comm);

	if (!num || !counts.at)
		return;
	note_counts(w, SEG_NOTE_TAKES, comm, counts, from_type, num);
	if (!is_in_place(w, data))
		note_one(w, SEG_NOTE_GIVES_EACH, comm, count, type);
	else if (!wrap_is_inter(comm))
		note_one(w, SEG_NOTE_GIVES_EACH, comm,
			 count_at(counts, (uint32_t)comms_rank(&comms_here, comm)), from_type);
}

void wrap_note_alltoallv(struct wrap_call *w, const void *data, struct wrap_counts counts,
			 MPI_Datatype type, struct wrap_counts from_counts, MPI_Datatype from_type,
			 uint32_t comm)
{
	uint32_t num = num_noted(comm);

	if (!num)
		return;
	note_counts(w, SEG_NOTE_TAKES, comm, from_counts, from_type, num);
	if (is_in_place(w, data))
		note_counts(w, SEG_NOTE_GIVES, comm, from_counts, from_type, num);
	else
		note_counts(w, SEG_NOTE_GIVES, comm, counts, type, num);
}

void wrap_note_alltoallw(struct wrap_call *w, const void *data, struct wrap_counts counts,
			 const void *types, struct wrap_counts from_counts, const void *from_types,
			 uint32_t comm)
{
	uint32_t num = num_noted(comm);

	if (!num)
		return;
	note_bytes(w, SEG_NOTE_TAKES, comm, from_counts, from_types, num);
	if (is_in_place(w, data))
		note_bytes(w, SEG_NOTE_GIVES, comm, from_counts, from_types, num);
	else
		note_bytes(w, SEG_NOTE_GIVES, comm, counts, types, num);
}

/* ---- Neighbourhoods ---- */

/* The graph's neighbours; NULL: they are too many. */
static const struct seg_comm *graph_of(uint32_t comm)
{
	const struct seg_comm *entry = &comms_here.entries[comm];

	return entry->num_destinations <= WRAP_MAX_NOTED && entry->num_sources <= WRAP_MAX_NOTED
		       ? entry
		       : NULL;
}

void wrap_note_neighbors(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
			 MPI_Count from_count, MPI_Datatype from_type, uint32_t comm)
{
	const struct seg_comm *graph = graph_of(comm);

	if (!graph)
		return;
	note_one(w, SEG_NOTE_GIVES_EACH, comm, count, type);
	if (graph->num_sources > 0)
		note_one(w, SEG_NOTE_TAKES_EACH, comm, from_count, from_type);
}

void wrap_note_neighbors_allgatherv(struct wrap_call *w, MPI_Count count, MPI_Datatype type,
				    struct wrap_counts from_counts, MPI_Datatype from_type,
				    uint32_t comm)
{
	const struct seg_comm *graph = graph_of(comm);

	if (!graph)
		return;
	note_one(w, SEG_NOTE_GIVES_EACH, comm, count, type);
	note_counts(w, SEG_NOTE_TAKES_NEIGHBOURS, comm, from_counts, from_type, graph->num_sources);
}

void wrap_note_neighbors_v(struct wrap_call *w, struct wrap_counts counts, MPI_Datatype type,
			   struct wrap_counts from_counts, MPI_Datatype from_type, uint32_t comm)
{
	const struct seg_comm *graph = graph_of(comm);

	if (!graph)
		return;
	note_counts(w, SEG_NOTE_GIVES_NEIGHBOURS, comm, counts, type, graph->num_destinations);
	note_counts(w, SEG_NOTE_TAKES_NEIGHBOURS, comm, from_counts, from_type, graph->num_sources);
}

void wrap_note_neighbors_w(struct wrap_call *w, struct wrap_counts counts, const void *types,
			   struct wrap_counts from_counts, const void *from_types, uint32_t comm)
{
	const struct seg_comm *graph = graph_of(comm);

	if (!graph)
		return;
	note_bytes(w, SEG_NOTE_GIVES_NEIGHBOURS, comm, counts, types, graph->num_destinations);
	note_bytes(w, SEG_NOTE_TAKES_NEIGHBOURS, comm, from_counts, from_types, graph->num_sources);
}

/* ---- Errors ---- */

static enum seg_error error_of(int ret)
{
	static const struct {
		int of_mpi;
		enum seg_error error;
	} errors[] = {
		{MPI_ERR_BUFFER, SEG_ERROR_BUFFER},     {MPI_ERR_COUNT, SEG_ERROR_COUNT},
		{MPI_ERR_TYPE, SEG_ERROR_TYPE},         {MPI_ERR_TAG, SEG_ERROR_TAG},
		{MPI_ERR_COMM, SEG_ERROR_COMM},         {MPI_ERR_RANK, SEG_ERROR_RANK},
		{MPI_ERR_REQUEST, SEG_ERROR_REQUEST},   {MPI_ERR_ROOT, SEG_ERROR_ROOT},
		{MPI_ERR_GROUP, SEG_ERROR_GROUP},       {MPI_ERR_OP, SEG_ERROR_OP},
		{MPI_ERR_TOPOLOGY, SEG_ERROR_TOPOLOGY}, {MPI_ERR_DIMS, SEG_ERROR_DIMS},
		{MPI_ERR_ARG, SEG_ERROR_ARG},           {MPI_ERR_UNKNOWN, SEG_ERROR_UNKNOWN},
		{MPI_ERR_TRUNCATE, SEG_ERROR_TRUNCATE}, {MPI_ERR_INTERN, SEG_ERROR_INTERN},
	};
	int class_of_error = wrap_error_class(ret);

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].of_mpi == class_of_error)
			return errors[i].error;
	return SEG_ERROR_OTHER;
}

void wrap_failed(struct wrap_call *w, int ret)
{
	const struct seg_operation *op = &w->lane->seg->operation;

	/* That of this call, if it was one. */
	if (relaxed_get(&op->kind) != SEG_OPERATION_COLLECTIVE ||
	    relaxed_get(&op->event) != relaxed_get(&w->lane->current->events))
		return;
	uint32_t *entry = notes_begin(w->lane, SEG_NOTE_ERROR, relaxed_get(&op->transfers[0].comm),
				      relaxed_get(&op->number), 1, 1);
	if (!entry)
		return;
	*entry = error_of(ret);
	notes_end(w->lane);
}
