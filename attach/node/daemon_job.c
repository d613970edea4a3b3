/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/node/daemon_job.h"
#include "attach/process/procfs.h"
#include "model/job/proctable.h"
#include "model/xalloc.h"

static int compare_hosts(const void *a, const void *b)
{
	const struct proc *x = *(const struct proc *const *)a, *y = *(const struct proc *const *)b;
	int order = strcmp(x->host, y->host);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

char *daemon_job_encode(const struct proctable *table)
{
	const struct proc **procs = xcalloc(table->num_procs + 1, sizeof(*procs));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < table->num_procs; i++)
		procs[i] = &table->procs[i];
	qsort(procs, table->num_procs, sizeof(*procs), compare_hosts);
	for (size_t i = 0; i < table->num_procs; i++) {
		if (i == 0 || strcmp(procs[i]->host, procs[i - 1]->host) != 0)
			fprintf(out, "%s%s", i > 0 ? "\n" : "", procs[i]->host);
		if (procs[i]->pid > 0)
			fprintf(out, " %d:%d", procs[i]->rank, (int)procs[i]->pid);
	}
	fclose(out);
	free(procs);
	return text;
}

/* A whole number 0 .. INT_MAX up to the sign `end`, NULL if it is none; else what follows. */
static char *take_number(char *text, char end, int *ret)
{
	char *stop;
	long number;

	errno = 0;
	number = strtol(text, &stop, 10);
	if (stop == text || *stop != end || *text < '0' || *text > '9' || errno != 0 ||
	    number > INT_MAX)
		return NULL;
	*ret = number;
	return end ? stop + 1 : stop;
}

static void decode_line(char *line, bool (*is_here)(const char *host), struct daemon_rank **ranks,
			size_t *num, size_t *capacity)
{
	char *save, *host = strtok_r(line, " ", &save);

	if (!host || !is_here(host))
		return;
	for (char *word = strtok_r(NULL, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		int rank, pid;
		char *rest = take_number(word, ':', &rank);

		if (!rest || !take_number(rest, '\0', &pid) || pid == 0)
			continue;
		*ranks = xgrow(*ranks, *num, capacity, sizeof(**ranks));
		(*ranks)[(*num)++] = (struct daemon_rank){.rank = rank, .pid = pid};
	}
}

size_t daemon_job_decode(const char *text, size_t length, bool (*is_here)(const char *host),
			 struct daemon_rank **ret)
{
	char *copy = xstrndup(text, length), *save;
	size_t num = 0, capacity = 0;

	*ret = NULL;
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		decode_line(line, is_here, ret, &num, &capacity);
	free(copy);
	return num;
}

void daemon_job_note_start(struct daemon_rank *ranks, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		struct procfs_stat stat;

		ranks[i].start_ticks = procfs_stat(ranks[i].pid, 0, &stat) == 0 &&
						       !procfs_has_ended(ranks[i].pid, 0)
					       ? stat.start_ticks
					       : 0;
	}
}

size_t daemon_job_count_living(const struct daemon_rank *ranks, size_t num)
{
	size_t num_living = 0;

	for (size_t i = 0; i < num; i++)
		num_living += ranks[i].start_ticks &&
			      !procfs_has_ended(ranks[i].pid, ranks[i].start_ticks);
	return num_living;
}
