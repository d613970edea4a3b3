/* SPDX-License-Identifier: BSD-3-Clause
 * From the arguments of a wrapper to the recorder's terms: indexes, words, ranks, tags. */
#pragma once

#include <string.h>

#include "model/recorder/wrap_comms.h"

/* WRAP_FROM_C(MPI_Comm, comm), WRAP_FROM_FORTRAN(MPI_Comm, a6): of communicators, windows and files
 * the index in the segment's table, of others the C handle. */
#define WRAP_FROM_C(type_, value_) wrap_c_##type_(value_)
#define WRAP_FROM_FORTRAN(type_, reference_) wrap_f_##type_(reference_)

#define wrap_c_MPI_Group(handle_) (handle_)
#define wrap_c_MPI_Datatype(handle_) (handle_)
#define wrap_f_MPI_Op(handle_) WRAP_INT_F2C(MPI_Op, MPI_Op_f2c, *(const MPI_Fint *)(handle_))
#define wrap_f_MPI_Group(handle_)                                                                  \
	WRAP_INT_F2C(MPI_Group, MPI_Group_f2c, *(const MPI_Fint *)(handle_))

static inline int32_t wrap_peer(int rank)
{
	if (likely(rank >= 0))
		return rank;
	return rank == MPI_ANY_SOURCE ? SEG_PEER_ANY
	       : rank == MPI_ROOT     ? SEG_PEER_ROOT
				      : SEG_PEER_NULL;
}

/* Bytes of a text that arrives as (text, length). Fortran's end in blanks. */
static inline size_t wrap_text_length(const struct wrap_call *w, const char *text, size_t length)
{
	if (!w->is_fortran)
		return strlen(text);
	while (length > 0 && text[length - 1] == ' ')
		length--;
	return length;
}

static inline int32_t wrap_tag(int tag)
{
	return tag >= 0 ? tag : SEG_TAG_ANY;
}

/* ---- Types ---- */

#ifdef WRAP_HAS_ADDRESSES
/* What is known of types: address << 16 | size, or WRAP_DERIVED. A predefined type keeps its
 * address and size; what has the address of a derived one is never predefined. */
enum { WRAP_DERIVED = 0xffff, WRAP_TYPES = 64 };
extern _Atomic uint64_t wrap_types[WRAP_TYPES] __attribute__((visibility("hidden")));

#ifdef PDB_MPI_ABI
#define WRAP_TYPE_PLACE(address_) (address_) /* predefined types follow each other */
#else
#define WRAP_TYPE_PLACE(address_) ((address_) >> 4 ^ (address_) >> 10)
#endif

COLD int wrap_learn_size(MPI_Datatype type, uint64_t address, _Atomic uint64_t *known);

static ALWAYS_INLINE int wrap_predefined_size(MPI_Datatype type)
{
	uint64_t address = (uintptr_t)type;
	_Atomic uint64_t *known = &wrap_types[WRAP_TYPE_PLACE(address) % WRAP_TYPES];
	uint64_t size = relaxed_get(known) ^ address << 16;

	if (likely(size < WRAP_DERIVED))
		return size;
	return size == WRAP_DERIVED ? -1 : wrap_learn_size(type, address, known);
}

#ifdef PDB_MPI_ABI
/* The C handles of predefined types are such numbers, the same in Fortran. */
enum { WRAP_FIXED_HANDLES = 0x400 };

static inline MPI_Datatype wrap_f_MPI_Datatype(const MPI_Fint *handle)
{
	return likely(*handle >= 0 && *handle < WRAP_FIXED_HANDLES)
		       ? WRAP_HANDLE(MPI_Datatype, *handle)
		       : WRAP_F2C(MPI_Datatype, MPI_Type_f2c, *handle);
}
#else
/* The C handles of Fortran's predefined types: small integers, never given to another. */
enum { WRAP_FORTRAN_TYPES = 128 };
extern _Atomic(MPI_Datatype) wrap_fortran_types[WRAP_FORTRAN_TYPES]
	__attribute__((visibility("hidden")));

COLD MPI_Datatype wrap_ask_type(MPI_Fint handle);

static inline MPI_Datatype wrap_f_MPI_Datatype(const MPI_Fint *handle)
{
	MPI_Datatype type = NULL;

	if (likely(*handle >= 0 && *handle < WRAP_FORTRAN_TYPES))
		type = relaxed_get(&wrap_fortran_types[*handle]);
	return likely(type != NULL) ? type : wrap_ask_type(*handle);
}
#endif
#else
#define wrap_f_MPI_Datatype(handle_) ((MPI_Datatype) * (const MPI_Fint *)(handle_))

/* Most predefined types have their size in the bits of their handles. */
static inline int wrap_predefined_size(MPI_Datatype type)
{
	return ((unsigned)type & 0xff000000u) == 0x4c000000u ? type >> 8 & 0xff : -1;
}
#endif

/* 0: it has none. */
NOINLINE int wrap_ask_size(MPI_Datatype type);

/* Bytes of that many elements; 0: no type. Only for significant arguments: others may be
 * garbage. */
static ALWAYS_INLINE uint64_t wrap_bytes(MPI_Count count, MPI_Datatype type)
{
	int size = wrap_predefined_size(type);

	if (unlikely(size < 0))
		size = wrap_ask_size(type);
	return size > 0 && count > 0 ? (uint64_t)count * size : 0;
}

/* ---- Special addresses ---- */

NOINLINE bool wrap_is_fortran_ignore(const void *status);

/* MPI_IN_PLACE, as Fortran has it. */
NOINLINE bool wrap_is_fortran_in_place(const void *data);

/* MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE */
static inline bool wrap_ignores_status(const void *status, bool is_fortran)
{
	if (!is_fortran)
		return status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE;
	return wrap_is_fortran_ignore(status);
}
