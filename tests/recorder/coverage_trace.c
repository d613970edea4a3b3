/* SPDX-License-Identifier: BSD-3-Clause */
#include "coverage.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *trace;

void trace_open(int rank)
{
	const char *dir = getenv("CHECK_DIR");
	char path[512];

	snprintf(path, sizeof(path), "%s/trace.%d", dir ? dir : ".", rank);
	trace = fopen(path, "w");
	if (!trace)
		exit(4);
	setvbuf(trace, NULL, _IOLBF, 0);
}

void trace_close(void)
{
	fclose(trace);
	trace = NULL;
}

int did(const char *name, int code)
{
	int class;

	/* The code itself differs from run to run in MPICH. */
	MPI_Error_class(code, &class);
	fprintf(trace, "%s %d\n", name, class);
	return code;
}

int did_poll(const char *name, int code, int found)
{
	return code != MPI_SUCCESS || found ? did(name, code) : code;
}

void show(const char *what, const int *values, int num)
{
	fprintf(trace, "= %s", what);
	for (int i = 0; i < num; i++)
		fprintf(trace, " %d", values[i]);
	fputc('\n', trace);
}
