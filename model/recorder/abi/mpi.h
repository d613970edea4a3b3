/* SPDX-License-Identifier: BSD-3-Clause
 * What the recorder needs of the mpi.h of MPI's own ABI: names, types and values of MPI 5.0, annex
 * A. They are the same in every library of that ABI, so none has to be installed. Prototypes that
 * an installed mpi.h has as well come from there: the makefile writes them to abi_prototypes.h. */
#pragma once

#include <stdint.h>

/* How the recorder's sources know this header. */
#define PDB_MPI_ABI 1

typedef int MPI_Fint;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct {
	int MPI_SOURCE;
	int MPI_TAG;
	int MPI_ERROR;
	int MPI_internal[5];
} MPI_Status;

/* ---- Handles: addresses, of which predefined ones are small numbers ---- */

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_GROUP_NULL ((MPI_Group)0x108)
#define MPI_WIN_NULL ((MPI_Win)0x110)
#define MPI_FILE_NULL ((MPI_File)0x118)
#define MPI_SESSION_NULL ((MPI_Session)0x120)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_REPLACE ((MPI_Op)0x3c)
#define MPI_NO_OP ((MPI_Op)0x3d)
#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)1)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

/* ---- Numbers ---- */

enum {
	MPI_SUCCESS = 0,
	MPI_ERR_BUFFER = 1,
	MPI_ERR_COUNT = 2,
	MPI_ERR_TYPE = 3,
	MPI_ERR_TAG = 4,
	MPI_ERR_COMM = 5,
	MPI_ERR_RANK = 6,
	MPI_ERR_REQUEST = 7,
	MPI_ERR_ROOT = 8,
	MPI_ERR_GROUP = 9,
	MPI_ERR_OP = 10,
	MPI_ERR_TOPOLOGY = 11,
	MPI_ERR_DIMS = 12,
	MPI_ERR_ARG = 13,
	MPI_ERR_UNKNOWN = 14,
	MPI_ERR_TRUNCATE = 15,
	MPI_ERR_OTHER = 16,
	MPI_ERR_INTERN = 17,
	MPI_ERR_PENDING = 18,
	MPI_ERR_IN_STATUS = 19,
	MPI_ANY_SOURCE = -1,
	MPI_ANY_TAG = -2,
	MPI_PROC_NULL = -3,
	MPI_ROOT = -4,
	MPI_UNDEFINED = -32766,
	MPI_THREAD_FUNNELED = 1024,
	MPI_THREAD_SERIALIZED = 2048,
	MPI_THREAD_MULTIPLE = 4096,
	MPI_COMBINER_NAMED = 101,
	MPI_LOCK_EXCLUSIVE = 301,
	MPI_LOCK_SHARED = 302,
};

/* ---- Functions ---- */

typedef int(MPI_Grequest_query_function)(void *extra_state, MPI_Status *status);
typedef int(MPI_Grequest_free_function)(void *extra_state);
typedef int(MPI_Grequest_cancel_function)(void *extra_state, int complete);

#include <abi_prototypes.h>

/* Newer than some that are installed. */
int MPI_Buffer_flush(void);
int MPI_Comm_detach_buffer(MPI_Comm comm, void *buffer_addr, int *size);
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void *buffer_addr, MPI_Count *size);
int MPI_Comm_flush_buffer(MPI_Comm comm);
int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
			       MPI_Status *array_of_statuses);
int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *indx,
			       int *flag, MPI_Status *status);
int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
				int array_of_indices[], MPI_Status *array_of_statuses);

/* What c2f and f2c are elsewhere. */
MPI_Comm MPI_Comm_fromint(int value);
MPI_File MPI_File_fromint(int value);
MPI_Group MPI_Group_fromint(int value);
MPI_Message MPI_Message_fromint(int value);
MPI_Op MPI_Op_fromint(int value);
MPI_Request MPI_Request_fromint(int value);
MPI_Session MPI_Session_fromint(int value);
MPI_Win MPI_Win_fromint(int value);
MPI_Datatype MPI_Type_fromint(int value);
int MPI_Request_toint(MPI_Request request);

#define MPI_Comm_f2c MPI_Comm_fromint
#define MPI_File_f2c MPI_File_fromint
#define MPI_Group_f2c MPI_Group_fromint
#define MPI_Message_f2c MPI_Message_fromint
#define MPI_Op_f2c MPI_Op_fromint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Session_f2c MPI_Session_fromint
#define MPI_Type_f2c MPI_Type_fromint
#define MPI_Win_f2c MPI_Win_fromint
