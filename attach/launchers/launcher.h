/* SPDX-License-Identifier: BSD-3-Clause
 * What a launcher process is, and the ways to find its ranks that need no help from it: the MPIR
 * table in its memory, and the process tree of this node. Nothing here stops or changes it. */
#ifndef PDB_ATTACH_LAUNCHER_H
#define PDB_ATTACH_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/job/proctable.h"

struct maps;

struct launcher_info {
	const struct launcher_kind *kind; /* launcher_kind.h; NULL: no launcher */
	pid_t pid; /* the process that holds the job: for srun the parent of the forked pair */
	uint64_t start_ticks; /* of that process */
	uid_t user;           /* whose it is: procfs_status.owner */
	char name[128];    /* for people: "Open MPI 4.1.4 mpirun", "srun 22.05" , "mpiexec.hydra" */
	char command[512]; /* its command line, shortened */
};

/* Look at what the process has mapped and is. A rank's pid or a shell script that runs the launcher
 * as its child is followed to the launcher; one of Slurm's, to an srun on this node that has it in
 * its MPIR table. Errors: ERROR_GONE (no such process; says so),
 * ERROR_PERMISSION (another user's: says whose), ERROR_UNSUPPORTED (no launcher and nothing that
 * looks like a rank below it: says what pdb expects). */
int launcher_identify(pid_t pid, struct launcher_info *ret, struct pdb_error *err);

/* May what the launcher says be carried out? Only if it is this process's own user's, by all its
 * user ids, and no container lies between. To be asked after what it says was read. Returns -1 if
 * not: ERROR_PERMISSION (says whose it is and what to do), ERROR_GONE (it has ended; another
 * process may have its pid). */
int launcher_check_own(const struct launcher_info *launcher, struct pdb_error *err);

/* Read MPIR_proctable out of the launcher's memory (process_vm_readv, no stop), the symbol found
 * in the binary or the libraries it has mapped. Cross-checked with the local ranks' environment
 * (rank numbers there win). Every string and pointer is bounded. On success *ret is finished and
 * belongs to the caller; its source_note says what is odd about the table, NULL if nothing is. */
int launcher_read_mpir(const struct launcher_info *launcher, struct proctable **ret,
		       struct pdb_error *err);

/* A variable of the launcher's program or libraries. The executable is first; where it has a copy
 * of a library's variable, its copy counts. */
bool launcher_find_variable(const struct launcher_info *launcher, const struct maps *maps,
			    const char *name, uint64_t *address_ret);

/* What a launcher of a batch system has started: a step of a job. Numbers; "" for what is not
 * known. */
struct launcher_step {
	char job[16];
	char step[16];
};

/* All is "" for launchers of no batch system. */
void launcher_read_step(const struct launcher_info *launcher, struct launcher_step *ret);

/* Find the ranks among the descendants of `pid` by their environment (PMIX_RANK,
 * OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, MPI_LOCALRANKID ...): of nested processes with one
 * rank, the one that has an MPI library mapped, outermost first. Only this node's ranks. One that
 * has no process but has left its segment is in the table as ended. */
int launcher_scan_procfs(const struct launcher_info *launcher, struct proctable **ret,
			 struct pdb_error *err);

/* The hosts of a job whose launcher keeps no table that could be read, and what its processes are
 * known by there. */
struct launcher_hosts {
	char **names;   /* as the launcher calls them, each once, sorted */
	size_t num;     /* 0: there is only this host, or others are not known */
	char *launcher; /* how it reaches them: "ssh", "slurm"; "": not known; NULL: no hosts */
	char *mark;     /* for launcher_scan_mark(); NULL: no hosts */
	uid_t user;     /* whose processes they are */
};

/* Tell them by the processes that the launcher has started to reach them. What is in *ret is freed
 * by launcher_hosts_deinit(), which leaves no hosts. */
void launcher_find_hosts(const struct launcher_info *launcher, struct launcher_hosts *ret);
void launcher_hosts_deinit(struct launcher_hosts *hosts);

/* Find this host's ranks of a job whose launcher runs on another: below processes of the user that
 * have all these words on their command lines, separated by blanks, each two of them an option and
 * its value. As launcher_scan_procfs() otherwise; the table does not name the launcher. */
int launcher_scan_mark(const char *mark, uid_t user, struct proctable **ret, struct pdb_error *err);

/* The launchers of the user's jobs on this machine (root: of all users), by pid. Returns their
 * number, at most `max`. */
size_t launcher_list(struct launcher_info *infos, size_t max);

#endif
