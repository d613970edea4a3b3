/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/daemons/daemon_scan.h"
#include "model/job/proctable.h"
#include "model/job/rankset.h"
#include "model/xalloc.h"

#define MAX_SIZE (1 << 24)

/* ---- What is told ---- */

static int compare_programs(const void *a, const void *b)
{
	const struct proc *x = *(const struct proc *const *)a, *y = *(const struct proc *const *)b;
	int order = strcmp(x->executable, y->executable);

	return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void print_path(FILE *out, const char *path)
{
	for (; *path; path++)
		putc((unsigned char)*path < ' ' ? '?' : *path, out);
}

char *daemon_scan_encode(const struct proctable *table)
{
	const struct proc **procs = xcalloc(table->num_procs + 1, sizeof(*procs));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < table->num_procs; i++)
		procs[i] = &table->procs[i];
	qsort(procs, table->num_procs, sizeof(*procs), compare_programs);
	for (size_t i = 0; i < table->num_procs; i++) {
		const struct proc *proc = procs[i];

		if (i == 0 || strcmp(proc->executable, procs[i - 1]->executable) != 0) {
			fprintf(out, "%s%s\t%d\t", i > 0 ? "\n" : "", proc->host, table->size);
			print_path(out, proc->executable);
			putc('\t', out);
		} else {
			putc(' ', out);
		}
		fprintf(out, "%d:%s%d", proc->rank, proc->has_ended ? "-" : "", (int)proc->pid);
	}
	if (table->num_procs > 0)
		putc('\n', out);
	fclose(out);
	free(procs);
	return text;
}

/* ---- What is heard ---- */

/* A whole number, at most `max` either way, up to the sign `end`; NULL if it is none, else what
 * follows. */
static char *take_number(char *text, char end, int max, int *ret)
{
	char *stop;
	long number;

	errno = 0;
	number = strtol(text, &stop, 10);
	if (stop == text || *stop != end || errno != 0 || number > max || number < -max)
		return NULL;
	*ret = (int)number;
	return end ? stop + 1 : stop;
}

static void add_rank(struct proctable *table, struct rankset *known, char *word, const char *host,
		     const char *executable)
{
	int rank, pid;
	char *rest = take_number(word, ':', MAX_SIZE - 1, &rank);

	if (!rest || rank < 0 || !take_number(rest, '\0', INT_MAX, &pid) || pid == 0 ||
	    rankset_contains(known, rank))
		return;
	rankset_add(known, rank);
	if (pid < 0)
		proctable_add_ended(table, rank, -pid, host);
	else
		proctable_add(table, rank, pid, host, executable);
}

static void add_line(struct proctable *table, struct rankset *known, char *line, int *size)
{
	char *fields[4] = {line}, *save;
	int number;

	for (int i = 1; i < 4; i++) {
		fields[i] = strchr(fields[i - 1], '\t');
		if (!fields[i])
			return;
		*fields[i]++ = '\0';
	}
	if (!host_is_name(fields[0]) || !take_number(fields[1], '\0', MAX_SIZE, &number) ||
	    number < 0)
		return;
	*size = number > *size ? number : *size;
	for (char *word = strtok_r(fields[3], " ", &save); word; word = strtok_r(NULL, " ", &save))
		add_rank(table, known, word, fields[0], fields[2]);
}

int daemon_scan_add(struct proctable *table, const char *text, size_t length, struct pdb_error *err)
{
	struct rankset *known = rankset_create();
	size_t num_before = table->num_procs;
	char *copy = xstrndup(text, length), *save;
	int size = table->size;

	for (size_t i = 0; i < table->num_procs; i++)
		rankset_add(known, table->procs[i].rank);
	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		add_line(table, known, line, &size);
	free(copy);
	rankset_destroy(known);
	if (proctable_finish(table, err) < 0)
		return -1;
	proctable_claim(table, size);
	return (int)(table->num_procs - num_before);
}
