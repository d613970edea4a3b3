/* SPDX-License-Identifier: BSD-3-Clause
 * Every function that the recorder wraps with valid arguments, with each argument wrong, and
 * with each two of them wrong, on one rank. A line for each case tells what came of it: the
 * class of the error, which error handlers were called, what was stored; it goes to file
 * descriptor 3. These must be the same with and without the recorder. The calls are made by
 * errors.gawk.
 *
 * usage: errors DIR FIRST SKIPPED one|two [FUNCTIONS]: from case number FIRST on, without those
 * in the file SKIPPED, since MPI itself does not survive them; with one wrong argument, or up to
 * two; FUNCTIONS is a regular expression. Status 0: that was all. */
#include <mpi.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind {
	KIND_COMM,
	KIND_DATATYPE,
	KIND_WIN,
	KIND_FILE,
	KIND_GROUP,
	KIND_OP,
	KIND_INFO,
	KIND_ERRHANDLER,
	KIND_SESSION,
	KIND_REQUEST,
	KIND_REQUESTS,
	KIND_NEW_REQUEST,
	KIND_STATUSES,
	KIND_MESSAGE,
	KIND_NEW_MESSAGE,
	KIND_OLD_COMM,
	KIND_OLD_WIN,
	KIND_OLD_FILE,
	KIND_OLD_GROUP,
	KIND_OLD_SESSION,
	KIND_NEW_COMM,
	KIND_NEW_WIN,
	KIND_NEW_FILE,
	KIND_NEW_GROUP,
	KIND_NEW_SESSION,
	KIND_TYPES,
	KIND_INFOS,
	KIND_INTS,
	KIND_LONGS,
	KIND_PATH,
	KIND_TEXT,
	KIND_POINTER,
	KIND_BUFFER,
	KIND_IN_PLACE,
	KIND_PEER,
	KIND_PARTNERS,
	KIND_RANK,
	KIND_TAG,
	KIND_LOCK,
	KIND_AMODE,
	KIND_SPLIT,
	KIND_ZERO,
	KIND_COUNT,
};

enum { MAX_ARGUMENTS = 14, NUM_ELEMENTS = 64, PRESET = 77 };

/* An argument of the call that is made next; which one of its kind: 0 is valid, the others
 * mostly are not. */
static union {
	MPI_Comm comm;
	MPI_Datatype type;
	MPI_Win win;
	MPI_File file;
	MPI_Group group;
	MPI_Op op;
	MPI_Info info;
	MPI_Errhandler errhandler;
	MPI_Request request;
	void *pointer;
	long number;
} values[MAX_ARGUMENTS];

#define VALUE_COMM(i) values[i].comm
#define VALUE_DATATYPE(i) values[i].type
#define VALUE_WIN(i) values[i].win
#define VALUE_FILE(i) values[i].file
#define VALUE_GROUP(i) values[i].group
#define VALUE_OP(i) values[i].op
#define VALUE_INFO(i) values[i].info
#define VALUE_ERRHANDLER(i) values[i].errhandler
#define VALUE_REQUEST(i) values[i].request
#define VALUE_REQUESTS(i) values[i].pointer
#define VALUE_NEW_REQUEST(i) values[i].pointer
#define VALUE_STATUSES(i) values[i].pointer
#define VALUE_MESSAGE(i) values[i].pointer
#define VALUE_NEW_MESSAGE(i) values[i].pointer
#define VALUE_OLD_COMM(i) values[i].pointer
#define VALUE_OLD_WIN(i) values[i].pointer
#define VALUE_OLD_FILE(i) values[i].pointer
#define VALUE_OLD_GROUP(i) values[i].pointer
#define VALUE_OLD_SESSION(i) values[i].pointer
#define VALUE_NEW_COMM(i) values[i].pointer
#define VALUE_NEW_WIN(i) values[i].pointer
#define VALUE_NEW_FILE(i) values[i].pointer
#define VALUE_TYPES(i) values[i].pointer
#define VALUE_INTS(i) values[i].pointer
#define VALUE_LONGS(i) values[i].pointer
#define VALUE_PATH(i) values[i].pointer
#define VALUE_TEXT(i) values[i].pointer
#define VALUE_POINTER(i) values[i].pointer
#define VALUE_BUFFER(i) values[i].pointer
#define VALUE_IN_PLACE(i) values[i].pointer
#define VALUE_PARTNERS(i) values[i].number
#define VALUE_PEER(i) values[i].number
#define VALUE_RANK(i) values[i].number
#define VALUE_TAG(i) values[i].number
#define VALUE_LOCK(i) values[i].number
#define VALUE_AMODE(i) values[i].number
#define VALUE_SPLIT(i) values[i].number
#define VALUE_ZERO(i) values[i].number
#define VALUE_COUNT(i) values[i].number

struct call {
	const char *name;
	int (*make)(void);
	int num;
	enum kind kinds[MAX_ARGUMENTS];
};

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "errors_calls.h"

/* ---- What comes of it ---- */

static char line[4096];
static size_t used;

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	int n = vsnprintf(line + used, sizeof(line) - used, format, list);
	va_end(list);
	if (n > 0)
		used = used + n < sizeof(line) ? used + n : sizeof(line) - 1;
}

static int class_of(int code)
{
	int class = -1;

	PMPI_Error_class(code, &class);
	return class;
}

static MPI_Comm own;
static MPI_Win window;

static void comm_failed(MPI_Comm *comm, int *code, ...)
{
	say(" %s:%d",
	    *comm == MPI_COMM_WORLD  ? "world"
	    : *comm == MPI_COMM_SELF ? "self"
				     : "own",
	    class_of(*code));
}

static void win_failed(MPI_Win *win, int *code, ...)
{
	say(" %s:%d", *win == window ? "window" : "win", class_of(*code));
}

static void file_failed(MPI_File *file, int *code, ...)
{
	say(" %s:%d", *file == MPI_FILE_NULL ? "null" : "file", class_of(*code));
}

/* ---- What is passed ---- */

static char path[512], buffer[4096];
static MPI_Comm freed_comm;
static MPI_Datatype uncommitted, freed_type;
static MPI_File file;
static MPI_Group group;
static MPI_Errhandler comm_handler, win_handler, file_handler;

/* Renewed before each call. */
static MPI_Request requests[4], new_request;
static MPI_Status statuses[NUM_ELEMENTS];
static MPI_Message message, new_message;
static MPI_Comm old_comm, new_comm;
static MPI_Win old_win, new_win;
static MPI_File old_file, new_file;
static MPI_Group old_group;
static MPI_Datatype types[NUM_ELEMENTS];
static int ints[MAX_ARGUMENTS][NUM_ELEMENTS];
static long longs[MAX_ARGUMENTS][NUM_ELEMENTS];
static void *pointer;

static void prepare(void)
{
	char name[600];

	comm_handler = MPI_ERRHANDLER_NULL;
	MPI_Comm_create_errhandler(comm_failed, &comm_handler);
	MPI_Win_create_errhandler(win_failed, &win_handler);
	MPI_File_create_errhandler(file_failed, &file_handler);
	/* A topology: without one some of MPI's neighbourhood collectives read what is not
	 * there. */
	MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){1}, (int[]){1}, 0, &own);
	MPI_Comm_dup(MPI_COMM_SELF, &freed_comm);
	MPI_Comm_free(&freed_comm);
	MPI_Type_contiguous(3, MPI_INT, &uncommitted);
	MPI_Type_contiguous(5, MPI_INT, &freed_type);
	MPI_Type_free(&freed_type);
	MPI_Win_create(buffer, sizeof(buffer), 1, MPI_INFO_NULL, own, &window);
	snprintf(name, sizeof(name), "%s.open", path);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, comm_handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, comm_handler);
	MPI_Comm_set_errhandler(own, comm_handler);
	MPI_Win_set_errhandler(window, win_handler);
	MPI_File_set_errhandler(file, file_handler);
	MPI_File_set_errhandler(MPI_FILE_NULL, file_handler);
}

static bool has(const struct call *call, enum kind kind)
{
	for (int i = 0; i < call->num; i++)
		if (call->kinds[i] == kind)
			return true;
	return false;
}

static void renew(const struct call *call)
{
	char name[600];

	for (int i = 0; i < NUM_ELEMENTS; i++) {
		memset(&statuses[i], 0, sizeof(statuses[i]));
		statuses[i].MPI_SOURCE = statuses[i].MPI_TAG = statuses[i].MPI_ERROR = PRESET;
		types[i] = MPI_INT;
		for (int j = 0; j < MAX_ARGUMENTS; j++)
			ints[j][i] = longs[j][i] = i == 0;
	}
	new_request = MPI_REQUEST_NULL;
	message = MPI_MESSAGE_NULL;
	new_message = MPI_MESSAGE_NULL;
	new_comm = MPI_COMM_NULL;
	new_win = MPI_WIN_NULL;
	new_file = MPI_FILE_NULL;
	pointer = NULL;
	if (has(call, KIND_REQUESTS) || has(call, KIND_REQUEST)) {
		MPI_Isend(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, own, &requests[0]);
		MPI_Recv_init(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, own, &requests[1]);
		MPI_Send_init(buffer, 1, MPI_INT, MPI_PROC_NULL, 1, own, &requests[2]);
		MPI_Start(&requests[2]);
		requests[3] = MPI_REQUEST_NULL;
	}
	if (has(call, KIND_GROUP))
		MPI_Comm_group(own, &group);
	if (has(call, KIND_OLD_COMM))
		MPI_Comm_dup(own, &old_comm);
	if (has(call, KIND_OLD_GROUP))
		MPI_Comm_group(own, &old_group);
	if (has(call, KIND_OLD_WIN))
		MPI_Win_create(buffer, sizeof(buffer), 1, MPI_INFO_NULL, own, &old_win);
	snprintf(name, sizeof(name), "%s.old", path);
	if (has(call, KIND_OLD_FILE))
		MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			      &old_file);
}

#define CHOOSE(member_, ...)                                                                       \
	do {                                                                                       \
		const __typeof__(values[0].member_) list_[] = {__VA_ARGS__};                       \
		const int num_ = sizeof(list_) / sizeof(list_[0]);                                 \
		if (which >= num_)                                                                 \
			return false;                                                              \
		values[i].member_ = list_[which];                                                  \
		return true;                                                                       \
	} while (0)

/* Handles of Open MPI are addresses: only of what exists may it be asked. */
#ifdef OPEN_MPI
#define FREED(null_, freed_) (null_), ((__typeof__(freed_))NULL)
#else
#define FREED(null_, freed_) (null_), (freed_)
#endif

/* Argument i of that kind becomes that one; false: there are no more. */
static bool choose(enum kind kind, int i, int which)
{
	static MPI_Request null_request = MPI_REQUEST_NULL;
	static MPI_Message null_message = MPI_MESSAGE_NULL;
	static MPI_Comm null_comm = MPI_COMM_NULL, world = MPI_COMM_WORLD;
	static MPI_Win null_win = MPI_WIN_NULL;
	static MPI_File null_file = MPI_FILE_NULL;
	static MPI_Group null_group = MPI_GROUP_NULL;
	static MPI_Datatype null_types[NUM_ELEMENTS];
	static char text[] = "text", native[] = "native";

	for (int j = 0; j < NUM_ELEMENTS; j++)
		null_types[j] = MPI_DATATYPE_NULL;
	switch (kind) {
	case KIND_COMM:
		CHOOSE(comm, own, FREED(MPI_COMM_NULL, freed_comm));
	case KIND_DATATYPE:
		CHOOSE(type, MPI_INT, uncommitted, FREED(MPI_DATATYPE_NULL, freed_type));
	case KIND_WIN:
		CHOOSE(win, window, MPI_WIN_NULL);
	case KIND_FILE:
		CHOOSE(file, file, MPI_FILE_NULL);
	case KIND_GROUP:
		CHOOSE(group, group, MPI_GROUP_NULL, MPI_GROUP_EMPTY);
	case KIND_OP:
		CHOOSE(op, MPI_SUM, MPI_OP_NULL);
	case KIND_INFO:
		CHOOSE(info, MPI_INFO_NULL);
	case KIND_ERRHANDLER:
		CHOOSE(errhandler, MPI_ERRORS_RETURN);
	case KIND_REQUEST:
		CHOOSE(request, requests[1], MPI_REQUEST_NULL);
	case KIND_REQUESTS:
		CHOOSE(pointer, &requests[0], &requests[1], &requests[2], &null_request, NULL);
	case KIND_NEW_REQUEST:
		CHOOSE(pointer, &new_request, NULL);
	case KIND_STATUSES:
		CHOOSE(pointer, statuses, MPI_STATUS_IGNORE, NULL);
	case KIND_MESSAGE:
		CHOOSE(pointer, &message, &null_message, NULL);
	case KIND_NEW_MESSAGE:
		CHOOSE(pointer, &new_message, NULL);
	case KIND_OLD_COMM:
		CHOOSE(pointer, &old_comm, &null_comm, &world, NULL);
	case KIND_OLD_WIN:
		CHOOSE(pointer, &old_win, &null_win, NULL);
	case KIND_OLD_FILE:
		CHOOSE(pointer, &old_file, &null_file, NULL);
	case KIND_OLD_GROUP:
		CHOOSE(pointer, &old_group, &null_group, NULL);
	case KIND_NEW_COMM:
		CHOOSE(pointer, &new_comm, NULL);
	case KIND_NEW_WIN:
		CHOOSE(pointer, &new_win, NULL);
	case KIND_NEW_FILE:
		CHOOSE(pointer, &new_file, NULL);
	case KIND_TYPES:
		CHOOSE(pointer, types, null_types, NULL);
	case KIND_INTS:
		CHOOSE(pointer, ints[i], NULL);
	case KIND_LONGS:
		CHOOSE(pointer, longs[i], NULL);
	case KIND_PATH:
		CHOOSE(pointer, path);
	case KIND_TEXT:
		CHOOSE(pointer, native, text, NULL);
	case KIND_POINTER:
		CHOOSE(pointer, &pointer, NULL);
	case KIND_BUFFER:
		CHOOSE(pointer, buffer + 128 * i);
	case KIND_IN_PLACE:
		CHOOSE(pointer, buffer + 128 * i, MPI_IN_PLACE);
	case KIND_PEER:
		CHOOSE(number, MPI_PROC_NULL, 0, 12345, MPI_ANY_SOURCE, -77);
	case KIND_PARTNERS:
		CHOOSE(number, MPI_PROC_NULL, 12345, -77);
	case KIND_RANK:
		CHOOSE(number, 0, 12345, MPI_PROC_NULL, -77);
	case KIND_TAG:
		CHOOSE(number, 3, MPI_ANY_TAG, -77);
	case KIND_LOCK:
		CHOOSE(number, MPI_LOCK_SHARED, 99);
	case KIND_AMODE:
		CHOOSE(number, MPI_MODE_CREATE | MPI_MODE_RDWR, 0);
	case KIND_SPLIT:
		CHOOSE(number, MPI_COMM_TYPE_SHARED, -99);
	case KIND_ZERO:
		CHOOSE(number, 0, -1);
	case KIND_COUNT:
		CHOOSE(number, 1, 4, 0, -1);
	default:
		return false;
	}
}

/* ---- A case ---- */

static void tell_results(const struct call *call)
{
	for (int i = 0; i < call->num; i++) {
		if (call->kinds[i] == KIND_INTS)
			for (int j = 0; j < 5; j++)
				say("%c%d", j ? ',' : ' ', ints[i][j]);
		if (call->kinds[i] == KIND_STATUSES)
			for (int j = 0; j < 4; j++)
				say(" %d/%d/%d", statuses[j].MPI_SOURCE, statuses[j].MPI_TAG,
				    statuses[j].MPI_ERROR);
	}
	if (has(call, KIND_REQUESTS))
		for (int i = 0; i < 4; i++)
			say(" %s", requests[i] == MPI_REQUEST_NULL ? "null" : "request");
	if (new_request != MPI_REQUEST_NULL)
		say(" request");
	if (new_comm != MPI_COMM_NULL)
		say(" comm");
	if (new_win != MPI_WIN_NULL)
		say(" win");
	if (new_file != MPI_FILE_NULL)
		say(" file");
	if (new_message != MPI_MESSAGE_NULL)
		say(" message");
}

static MPI_Request partner = MPI_REQUEST_NULL;
static char given[4096], got[4096]; /* the partner's */

/* This rank is also who a send or a receive waits for. */
static void be_partner(const struct call *call)
{
	const bool sends = strstr(call->name, "end"),
		   receives = strstr(call->name, "ecv") || strstr(call->name, "robe");

	if (has(call, KIND_MESSAGE)) {
		PMPI_Isend(given, 1, MPI_INT, 0, 3, own, &partner);
		MPI_Mprobe(0, 3, own, &message, MPI_STATUS_IGNORE);
	}
	if (!has(call, KIND_PEER) || sends == receives)
		return;
	if (sends)
		PMPI_Irecv(got, sizeof(got), MPI_BYTE, 0, MPI_ANY_TAG, own, &partner);
	else
		PMPI_Isend(given, 1, MPI_INT, 0, 3, own, &partner);
}

/* Messages of this rank to itself that nobody has received; and the partner. */
static void drain(const struct call *call)
{
	int flag = 1;

	if (message != MPI_MESSAGE_NULL)
		PMPI_Mrecv(got, sizeof(got), MPI_BYTE, &message, MPI_STATUS_IGNORE);
	if (new_message != MPI_MESSAGE_NULL)
		PMPI_Mrecv(got, sizeof(got), MPI_BYTE, &new_message, MPI_STATUS_IGNORE);
	if (partner != MPI_REQUEST_NULL && strstr(call->name, "end"))
		PMPI_Cancel(&partner);
	while (flag && PMPI_Iprobe(0, MPI_ANY_TAG, own, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
	       flag)
		PMPI_Recv(got, sizeof(got), MPI_BYTE, 0, MPI_ANY_TAG, own, MPI_STATUS_IGNORE);
	PMPI_Wait(&partner, MPI_STATUS_IGNORE);
}

static void clean(const struct call *call)
{
	if (has(call, KIND_REQUESTS) || has(call, KIND_REQUEST))
		for (int i = 0; i < 3; i++)
			if (requests[i] != MPI_REQUEST_NULL)
				MPI_Request_free(&requests[i]);
	if (new_request != MPI_REQUEST_NULL) {
		if (strstr(call->name, "ecv") && !strstr(call->name, "_init"))
			MPI_Cancel(&new_request);
		MPI_Request_free(&new_request);
	}
	drain(call);
	if (has(call, KIND_GROUP))
		MPI_Group_free(&group);
	if (new_comm != MPI_COMM_NULL)
		MPI_Comm_free(&new_comm);
	if (new_win != MPI_WIN_NULL)
		MPI_Win_free(&new_win);
	if (new_file != MPI_FILE_NULL)
		MPI_File_close(&new_file);
}

/* The call with argument i being number a of its kind, and j number b; false: there is none. */
static bool make(const struct call *call, int i, int a, int j, int b)
{
	for (int k = 0; k < call->num; k++)
		choose(call->kinds[k], k, 0);
	if (call->num > 0 && (!choose(call->kinds[j], j, b) || !choose(call->kinds[i], i, a)))
		return false;
	return true;
}

static int number, first;
static bool is_skipped[1 << 20], takes_two;

static void read_skipped(const char *name)
{
	FILE *list = fopen(name, "r");
	unsigned n;

	while (list && fscanf(list, "%u", &n) == 1)
		is_skipped[n % (1 << 20)] = true;
	if (list)
		fclose(list);
}

static bool run_case(const struct call *call, int i, int a, int j, int b)
{
	/* Handles are renewed only where the case is run. */
	if (!make(call, i, a, j, b))
		return false;
	if (number++ < first || is_skipped[number - 1])
		return true;
	used = 0;
	say("%d %s %d:%d %d:%d", number - 1, call->name, i, a, j, b);
	alarm(1);
	renew(call);
	make(call, i, a, j, b);
	be_partner(call);
	say(" ->");
	int code = call->make();
	say(" %d", class_of(code));
	tell_results(call);
	clean(call);
	say("\n");
	if (write(3, line, used) != (ssize_t)used)
		exit(3);
	return true;
}

static void run_cases(const struct call *call)
{
	if (call->num == 0) {
		run_case(call, 0, 0, 0, 0);
		return;
	}
	for (int i = 0; i < call->num; i++)
		for (int a = i > 0; run_case(call, i, a, i, a); a++)
			for (int j = 0; takes_two && a > 0 && j < i; j++)
				for (int b = 1; run_case(call, i, a, j, b); b++)
					;
}

int main(int argc, char **argv)
{
	regex_t wanted;

	if (argc < 5 || regcomp(&wanted, argc > 5 ? argv[5] : ".", REG_EXTENDED | REG_NOSUB) != 0)
		return 2;
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	first = atoi(argv[2]);
	read_skipped(argv[3]);
	takes_two = strcmp(argv[4], "two") == 0;
	MPI_Init(NULL, NULL);
	prepare();
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (regexec(&wanted, calls[i].name, 0, NULL, 0) == 0)
			run_cases(&calls[i]);
	/* After all this MPI_Finalize may not get far. */
	_exit(0);
}
