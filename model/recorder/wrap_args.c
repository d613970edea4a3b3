/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_args.h"

/* ---- Types ---- */

#ifdef WRAP_HAS_ADDRESSES
_Atomic uint64_t wrap_types[WRAP_TYPES];

/* What MPI_Type_size() would call an error handler for. */
static bool has_size(MPI_Datatype type)
{
	static const void *null;

	if (!null)
		null = WRAP_CONSTANT(MPI_DATATYPE_NULL, "ompi_mpi_datatype_null");
	return type && (const void *)type != null;
}

int wrap_learn_size(MPI_Datatype type, uint64_t address, _Atomic uint64_t *known)
{
	int ints, addresses, types, combiner, size;

	if (!has_size(type) ||
	    !WRAP_ASK(MPI_Type_get_envelope, type, &ints, &addresses, &types, &combiner) ||
	    !WRAP_ASK(MPI_Type_size, type, &size))
		return 0;
	if (combiner != MPI_COMBINER_NAMED || size < 0 || size >= WRAP_DERIVED)
		size = WRAP_DERIVED;
	*known = address << 16 | size;
	return size == WRAP_DERIVED ? -1 : size;
}

#ifdef OPEN_MPI
_Atomic(MPI_Datatype) wrap_fortran_types[WRAP_FORTRAN_TYPES];

MPI_Datatype wrap_ask_type(MPI_Fint handle)
{
	MPI_Datatype type = WRAP_F2C(MPI_Datatype, MPI_Type_f2c, handle);

	if (handle >= 0 && handle < WRAP_FORTRAN_TYPES && wrap_predefined_size(type) > 0)
		relaxed_set(&wrap_fortran_types[handle], type);
	return type;
}
#endif
#else
/* The bits of MPICH's handles: kind (0: invalid), object (3: datatype). */
static bool has_size(MPI_Datatype type)
{
	return ((unsigned)type & 0x3c000000u) == 0x0c000000u && (unsigned)type >> 30 != 0;
}
#endif

int wrap_ask_size(MPI_Datatype type)
{
	int size;

	return has_size(type) && WRAP_ASK(MPI_Type_size, type, &size) ? size : 0;
}

/* ---- Special addresses ---- */

/* Variables in Fortran; some libraries have several (mpif.h, mpi_f08), or their addresses in C. */
struct special {
	const char *name;
	bool is_pointer; /* the variable holds the address */
	void *variable;  /* NULL: not looked up, or there is none */
};

static bool is_one_of(struct special *specials, int num, bool *is_known, const void *address)
{
	if (!__atomic_load_n(is_known, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < num; i++)
			specials[i].variable = next_variable(specials[i].name);
		__atomic_store_n(is_known, true, __ATOMIC_RELEASE);
	}
	for (int i = 0; i < num; i++) {
		const void *variable = specials[i].variable;
		if (variable &&
		    address == (specials[i].is_pointer ? *(void *const *)variable : variable))
			return true;
	}
	return false;
}

static struct special ignores[] = {
#ifdef WRAP_HAS_ADDRESSES
	{.name = "mpi_fortran_status_ignore_"},
	{.name = "mpi_fortran_statuses_ignore_"},
#endif
#ifndef OPEN_MPI
	{.name = "MPIR_F08_MPI_STATUS_IGNORE_OBJ"},
	{.name = "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"},
	{.name = "MPI_F08_STATUS_IGNORE", .is_pointer = true},
	{.name = "MPI_F08_STATUSES_IGNORE", .is_pointer = true},
#endif
	{.name = "MPI_F_STATUS_IGNORE", .is_pointer = true},
	{.name = "MPI_F_STATUSES_IGNORE", .is_pointer = true},
};
static bool knows_ignores;

bool wrap_is_fortran_ignore(const void *status)
{
	return is_one_of(ignores, sizeof(ignores) / sizeof(ignores[0]), &knows_ignores, status);
}

static struct special in_places[] = {
#ifdef WRAP_HAS_ADDRESSES
	{.name = "mpi_fortran_in_place_"},
#endif
#ifndef OPEN_MPI
	{.name = "MPIR_F08_MPI_IN_PLACE"},
	{.name = "MPIR_F_MPI_IN_PLACE", .is_pointer = true},
#endif
};
static bool knows_in_places;

bool wrap_is_fortran_in_place(const void *data)
{
	return is_one_of(in_places, sizeof(in_places) / sizeof(in_places[0]), &knows_in_places,
			 data);
}
