/* SPDX-License-Identifier: BSD-3-Clause
 * Prints which ranks hold a job up, where each group of ranks is, and why the first waiting rank
 * waits:
 *
 *	cc least.c $(pkg-config --cflags --libs pdb) -o least
 *	./least hang.pdb     a snapshot
 *	./least 4711         the launcher of a job on this host
 *
 * Exit status: 0 no certain hang, 1 hang or crash, 2 pdb failed. */
#include <pdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_groups(struct pdb_job *job)
{
	for (size_t i = 0; i < pdb_num_groups(job); i++) {
		const struct pdb_group *group = pdb_group(job, i);

		printf("%d ranks (%s) %s", group->num_ranks, group->ranks, group->where);
		if (*group->iterations)
			printf(", iteration %s", group->iterations);
		printf("%s\n", *group->least ? " <-" : "");
	}
}

static int print_why(struct pdb_job *job, int rank)
{
	char question[32], error[PDB_ERROR_SIZE], *why;

	snprintf(question, sizeof(question), "why %d", rank);
	why = pdb_text(job, question, error);
	if (!why) {
		fprintf(stderr, "least: %s\n", error);
		return -1;
	}
	fputs(why, stdout);
	free(why);
	return 0;
}

int main(int argc, char **argv)
{
	const struct pdb_verdict *verdict;
	char error[PDB_ERROR_SIZE], *end;
	struct pdb_job *job;
	int waiting, status;
	long pid;

	if (argc != 2) {
		fprintf(stderr, "usage: least SNAPSHOT | PID\n");
		return 2;
	}
	pid = strtol(argv[1], &end, 10);
	job = *end ? pdb_load(argv[1], error) : pdb_attach((int)pid, error);
	if (!job) {
		fprintf(stderr, "least: %s\n", error);
		return 2;
	}
	verdict = pdb_verdict(job);
	printf("%s: %d of %d ranks (%s)\n", verdict->kind, verdict->num_ranks, pdb_num_ranks(job),
	       verdict->ranks);
	print_groups(job);
	status = verdict->is_hang;
	waiting = pdb_next_rank(verdict->waiting, -1);
	if (waiting >= 0 && print_why(job, waiting) < 0)
		status = 2;
	pdb_close(job);
	return status;
}
