/* SPDX-License-Identifier: BSD-3-Clause
 * From the arguments of a wrapper to what the recorder's own files understand: handles to indexes
 * or words, ranks and tags to those of the segment, MPI's special addresses to answers. Included by
 * wrap.h after mpi.h. */
#ifndef PDB_RECORDER_WRAP_ARGS_H
#define PDB_RECORDER_WRAP_ARGS_H

#include <string.h>

#include "model/recorder/wrap_comms.h"

/* A handle by value: WRAP_FROM_C(MPI_Comm, comm), WRAP_FROM_FORTRAN(MPI_Comm, a6). Communicators,
 * windows and files become indexes of the segment's table, the others C handles. */
#define WRAP_FROM_C(type_, value_) wrap_c_##type_(value_)
#define WRAP_FROM_FORTRAN(type_, reference_) wrap_f_##type_(reference_)

#define WRAP_INDEX(type_, name_)                                                                   \
	static ALWAYS_INLINE uint32_t wrap_c_##type_(type_ handle)                                 \
	{                                                                                          \
		return wrap_##name_(handle);                                                       \
	}                                                                                          \
	static inline uint32_t wrap_f_##type_(const MPI_Fint *handle)                              \
	{                                                                                          \
		return wrap_##name_##_fortran(handle);                                             \
	}

WRAP_INDEX(MPI_Comm, comm)
WRAP_INDEX(MPI_Win, win)
WRAP_INDEX(MPI_File, file)

#ifdef OPEN_MPI
#define WRAP_HANDLE_FROM_FORTRAN(type_, f2c_)                                                      \
	static inline type_ wrap_f_##type_(const MPI_Fint *handle)                                 \
	{                                                                                          \
		return WRAP_PMPI(f2c_)(*handle);                                                   \
	}
#else
/* MPICH's are the same ints in both languages; from 4.2 on its MPI_*_f2c are no macros any more. */
#define WRAP_HANDLE_FROM_FORTRAN(type_, f2c_)                                                      \
	static inline type_ wrap_f_##type_(const MPI_Fint *handle)                                 \
	{                                                                                          \
		return (type_)*handle;                                                             \
	}
#endif
#define WRAP_HANDLE_FROM_C(type_)                                                                  \
	static inline type_ wrap_c_##type_(type_ handle)                                           \
	{                                                                                          \
		return handle;                                                                     \
	}

WRAP_HANDLE_FROM_C(MPI_Group)
WRAP_HANDLE_FROM_FORTRAN(MPI_Group, MPI_Group_f2c)

/* Address of a buffer in Fortran that comes with a descriptor (CFI_cdesc_t: it stands first). */
#define WRAP_DESCRIBED(descriptor_) (*(void **)(descriptor_))

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

#ifdef OPEN_MPI
/* What MPI_Type_size() would call an error handler for. */
static inline bool wrap_has_size(MPI_Datatype type)
{
	static const void *null;

	if (!null)
		null = next_variable("ompi_mpi_datatype_null");
	return type && (const void *)type != null;
}

/* What is known of types: address << 16 | size, or WRAP_DERIVED. A predefined type keeps its
 * address and size; what has the address of a derived one is never predefined. */
enum { WRAP_DERIVED = 0xffff, WRAP_TYPES = 64 };
static _Atomic uint64_t wrap_types[WRAP_TYPES];

static COLD int wrap_learn_size(MPI_Datatype type, uint64_t address, _Atomic uint64_t *known)
{
	__typeof__(&MPI_Type_get_envelope) get_envelope = WRAP_PMPI(MPI_Type_get_envelope);
	__typeof__(&MPI_Type_size) type_size = WRAP_PMPI(MPI_Type_size);
	int ints, addresses, types, combiner, size;

	if (!get_envelope || !type_size || !wrap_has_size(type) ||
	    get_envelope(type, &ints, &addresses, &types, &combiner) != MPI_SUCCESS ||
	    type_size(type, &size) != MPI_SUCCESS)
		return 0;
	if (combiner != MPI_COMBINER_NAMED || size < 0 || size >= WRAP_DERIVED)
		size = WRAP_DERIVED;
	*known = address << 16 | size;
	return size == WRAP_DERIVED ? -1 : size;
}

static ALWAYS_INLINE int wrap_predefined_size(MPI_Datatype type)
{
	uint64_t address = (uintptr_t)type;
	_Atomic uint64_t *known = &wrap_types[(address >> 4 ^ address >> 10) % WRAP_TYPES];
	uint64_t size = relaxed_get(known) ^ address << 16;

	if (likely(size < WRAP_DERIVED))
		return size;
	return size == WRAP_DERIVED ? -1 : wrap_learn_size(type, address, known);
}

/* The C handles of Fortran's predefined types, whose integers are small and never given to
 * another. */
enum { WRAP_FORTRAN_TYPES = 128 };
static _Atomic(MPI_Datatype) wrap_fortran_types[WRAP_FORTRAN_TYPES];

static COLD MPI_Datatype wrap_ask_type(MPI_Fint handle)
{
	MPI_Datatype type = WRAP_F2C(MPI_Datatype, MPI_Type_f2c, handle);

	if (handle >= 0 && handle < WRAP_FORTRAN_TYPES && wrap_predefined_size(type) > 0)
		relaxed_set(&wrap_fortran_types[handle], type);
	return type;
}

static inline MPI_Datatype wrap_f_MPI_Datatype(const MPI_Fint *handle)
{
	MPI_Datatype type = NULL;

	if (likely(*handle >= 0 && *handle < WRAP_FORTRAN_TYPES))
		type = relaxed_get(&wrap_fortran_types[*handle]);
	return likely(type != NULL) ? type : wrap_ask_type(*handle);
}
#else
WRAP_HANDLE_FROM_FORTRAN(MPI_Datatype, MPI_Type_f2c)

/* The bits of MPICH's handles: kind (0: invalid), object (3: datatype), and in those of most
 * predefined types the size. */
static inline bool wrap_has_size(MPI_Datatype type)
{
	return ((unsigned)type & 0x3c000000u) == 0x0c000000u && (unsigned)type >> 30 != 0;
}

static inline int wrap_predefined_size(MPI_Datatype type)
{
	return ((unsigned)type & 0xff000000u) == 0x4c000000u ? type >> 8 & 0xff : -1;
}
#endif

WRAP_HANDLE_FROM_C(MPI_Datatype)

static NOINLINE int wrap_ask_size(MPI_Datatype type)
{
	__typeof__(&MPI_Type_size) type_size = WRAP_PMPI(MPI_Type_size);
	int size;

	if (!type_size || !wrap_has_size(type) || type_size(type, &size) != MPI_SUCCESS)
		return 0;
	return size;
}

/* Bytes of that many elements; 0 where the type is none. Only of arguments that are significant:
 * others may be garbage. */
static ALWAYS_INLINE uint64_t wrap_bytes(MPI_Count count, MPI_Datatype type)
{
	int size = wrap_predefined_size(type);

	if (unlikely(size < 0))
		size = wrap_ask_size(type);
	return size > 0 && count > 0 ? (uint64_t)count * size : 0;
}

/* ---- Special addresses ---- */

/* In Fortran these are variables. Some libraries have several, for mpif.h and for mpi_f08, or tell
 * the address in a variable of C. */
struct wrap_special {
	const char *name;
	bool is_pointer; /* the variable holds the address */
	void *variable;  /* NULL: not looked up, or there is none */
};

static NOINLINE bool wrap_is_special(struct wrap_special *list, int num, bool *is_known,
				     const void *address)
{
	if (!__atomic_load_n(is_known, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < num; i++)
			list[i].variable = next_variable(list[i].name);
		__atomic_store_n(is_known, true, __ATOMIC_RELEASE);
	}
	for (int i = 0; i < num; i++) {
		const void *variable = list[i].variable;
		if (variable &&
		    address == (list[i].is_pointer ? *(void *const *)variable : variable))
			return true;
	}
	return false;
}

#define WRAP_IS_SPECIAL(address_, ...)                                                             \
	({                                                                                         \
		static struct wrap_special list[] = {__VA_ARGS__};                                 \
		static bool is_known;                                                              \
		wrap_is_special(list, sizeof(list) / sizeof(list[0]), &is_known, address_);        \
	})

/* MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE */
static inline bool wrap_ignores_status(const void *status, bool is_fortran)
{
	if (!is_fortran)
		return status == MPI_STATUS_IGNORE || status == MPI_STATUSES_IGNORE;
	return WRAP_IS_SPECIAL(status,
#ifdef OPEN_MPI
			       {.name = "mpi_fortran_status_ignore_"},
			       {.name = "mpi_fortran_statuses_ignore_"},
#else
			       {.name = "MPIR_F08_MPI_STATUS_IGNORE_OBJ"},
			       {.name = "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"},
			       {.name = "MPI_F08_STATUS_IGNORE", .is_pointer = true},
			       {.name = "MPI_F08_STATUSES_IGNORE", .is_pointer = true},
#endif
			       {.name = "MPI_F_STATUS_IGNORE", .is_pointer = true},
			       {.name = "MPI_F_STATUSES_IGNORE", .is_pointer = true});
}

static inline bool wrap_is_in_place(const void *buffer, bool is_fortran)
{
	if (!is_fortran)
		return buffer == MPI_IN_PLACE;
#ifdef OPEN_MPI
	return WRAP_IS_SPECIAL(buffer, {.name = "mpi_fortran_in_place_"});
#else
	return WRAP_IS_SPECIAL(buffer, {.name = "MPIR_F08_MPI_IN_PLACE"},
			       {.name = "MPIR_F_MPI_IN_PLACE", .is_pointer = true});
#endif
}

#endif
