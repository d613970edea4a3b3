/* SPDX-License-Identifier: BSD-3-Clause
 * A launcher that somebody has made up: by what it has mapped and by its table pdb takes it for
 * one of a job that has a rank here and one on another host. usage: launcher LIBRARY HOST
 * [PROGRAM ARGUMENT...] It maps the file LIBRARY, and runs the program, or sleeps, as rank 0;
 * rank 1 is on HOST, process 1 there, or process RANK_1 of the environment, which comes first in
 * the table, so that it makes the job's name, if there is such a process. With "" there is no
 * rank 1. The table says that all run the program EXECUTABLE of the environment. Started in any
 * other way it writes who it is to the file PATH.ran, PATH being its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct procdesc {
	const char *host, *executable;
	int pid;
};

extern struct procdesc *MPIR_proctable;
extern int MPIR_proctable_size;
extern char *totalview_jobid, *totalview_stepid;
struct procdesc *MPIR_proctable;
int MPIR_proctable_size;
/* As srun has them. */
char *totalview_jobid = (char *)"4711", *totalview_stepid = (char *)"0";

static int tell_who(void)
{
	char path[4096 + 8] = "";
	ssize_t length = readlink("/proc/self/exe", path, 4096);
	FILE *out;

	if (length < 0)
		return 1;
	strcpy(path + length, ".ran");
	out = fopen(path, "a");
	if (!out)
		return 1;
	fprintf(out, "uid %d\n", (int)geteuid());
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	static char host[256];
	static struct procdesc table[2];
	int fd = argc > 2 && argv[1][0] == '/' ? open(argv[1], O_RDONLY) : -1;
	const char *other = getenv("RANK_1"), *named = getenv("EXECUTABLE");
	const char *executable = named ? named : "rank";
	bool is_first;
	pid_t rank;

	if (fd < 0)
		return tell_who();
	if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
	    gethostname(host, sizeof(host) - 1) < 0)
		return 1;
	rank = fork();
	if (rank == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("OMPI_COMM_WORLD_RANK", "0", 1);
		setenv("OMPI_COMM_WORLD_SIZE", *argv[2] ? "2" : "1", 1);
		if (argc > 3)
			execvp(argv[3], argv + 3);
		else
			execlp("sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	is_first = other && (kill(atoi(other), 0) == 0 || errno == EPERM);
	table[is_first] = (struct procdesc){host, executable, rank};
	table[!is_first] = (struct procdesc){argv[2], executable, other ? atoi(other) : 1};
	MPIR_proctable = table;
	MPIR_proctable_size = *argv[2] ? 2 : 1;
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
