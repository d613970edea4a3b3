/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/recorder/wrap_p2p.h"

#ifdef WRAP_HAS_ADDRESSES
struct wrap_requests wrap_requests;

#ifdef PDB_MPI_ABI
/* By two sends to nobody: where both have the same handle, it is that of all that are complete at
 * once. */
static void *find_empty(void)
{
	MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	void *empty = NULL;
	int yes = 0;

	/* A program that has sessions alone has no MPI_COMM_SELF. */
	if (!WRAP_ASK(MPI_Initialized, &yes) || !yes || !WRAP_ASK(MPI_Finalized, &yes) || yes)
		return NULL;
	for (int i = 0; i < 2; i++)
		if (!WRAP_ASK(MPI_Isend, NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF,
			      &requests[i]))
			requests[i] = MPI_REQUEST_NULL;
	if (requests[0] == requests[1] && requests[0] != MPI_REQUEST_NULL)
		empty = requests[0];
	for (int i = 0; i < 2; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			(void)WRAP_ASK(MPI_Wait, &requests[i], MPI_STATUS_IGNORE);
	return empty;
}
#else
static void *find_empty(void)
{
	return next_variable("ompi_request_empty");
}
#endif

void wrap_find_requests(void)
{
	__typeof__(&MPI_Request_c2f) c2f = WRAP_PMPI(MPI_Request_c2f);
	void *null = WRAP_CONSTANT(MPI_REQUEST_NULL, "ompi_request_null");
	void *empty = find_empty();

	wrap_requests.null = null;
	wrap_requests.empty = empty;
	wrap_requests.fortran_null = c2f && null ? c2f(null) : -1;
	wrap_requests.fortran_empty = c2f && empty ? c2f(empty) : -1;
	__atomic_store_n(&wrap_requests.is_known, true, __ATOMIC_RELEASE);
}

/* The key that a request has if it was made in the other language; REQUESTS_KEY_NULL: none. */
static uint64_t other_key(const void *requests, int i, bool is_fortran)
{
	__typeof__(&MPI_Request_f2c) f2c = WRAP_PMPI(MPI_Request_f2c);
	__typeof__(&MPI_Request_c2f) c2f = WRAP_PMPI(MPI_Request_c2f);

	if (is_fortran) {
		MPI_Request request = f2c ? f2c(((const MPI_Fint *)requests)[i]) : NULL;
		return request ? wrap_c_key(request) : REQUESTS_KEY_NULL;
	}
	MPI_Request request = ((const MPI_Request *)requests)[i];
	return request && c2f && wrap_requests.has_fortran ? wrap_fortran_key(c2f(request))
							   : REQUESTS_KEY_NULL;
}

bool wrap_rename(struct wrap_call *w, int count, const void *requests)
{
	bool has_renamed = false;

	for (int i = 0; i < count; i++)
		has_renamed |= p2p_rename(w->lane, i, other_key(requests, i, w->is_fortran));
	return has_renamed;
}
#endif

int wrap_error_class(int ret)
{
	int class_of_error = MPI_ERR_OTHER;

	(void)WRAP_ASK(MPI_Error_class, ret, &class_of_error);
	return class_of_error;
}

void wrap_completed_with_status(struct wrap_call *w, int position, int i)
{
	struct p2p_status status = wrap_status(w, i);

	p2p_complete(w->lane, position, &status);
}

/* The handle of one that has is gone then; that of a persistent one stays, and its status tells. */
bool wrap_completed_with_error(struct wrap_call *w, int ret, int i, int count, const void *requests)
{
	int class_of_error = wrap_error_class(ret);

	if (wrap_request_key(requests, i, w->is_fortran) == REQUESTS_KEY_NULL)
		return true;
	if (class_of_error == MPI_ERR_IN_STATUS)
		return w->status && !wrap_ignores_status(w->status, w->is_fortran) &&
		       ((const MPI_Status *)w->status)[i].MPI_ERROR != MPI_ERR_PENDING;
	return count == 1 && class_of_error != MPI_ERR_REQUEST;
}
