/* SPDX-License-Identifier: BSD-3-Clause
 * What kind of launcher a process is, and two ways to find its ranks without its help: the MPIR
 * table in its memory, and the process tree of this node. Nothing here stops or changes it. */
#pragma once

#include "model/base.h"
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

/* Find the launcher: the process itself, the one above a rank or below a shell script, an srun on
 * this node that has a rank of Slurm's in its MPIR table. Errors: ERROR_GONE, ERROR_PERMISSION
 * (another user's), ERROR_UNSUPPORTED (no launcher, and nothing below that looks like a rank). */
int launcher_identify(pid_t pid, struct launcher_info *ret, struct pdb_error *err);

/* May what the launcher says be carried out? Only if it is this process's own user's, by all its
 * user ids, and no container lies between. To be asked after what it says was read. -1:
 * ERROR_PERMISSION, ERROR_GONE (it has ended; another process may have its pid). */
int launcher_check_own(const struct launcher_info *launcher, struct pdb_error *err);

/* Read MPIR_proctable out of the launcher's memory, which does not stop it. Rank numbers in the
 * environments of local ranks win. Every string and pointer is bounded. On success *ret is finished
 * and the caller's; its source_note says what is odd about the table, NULL if nothing is. */
int launcher_read_mpir(const struct launcher_info *launcher, struct proctable **ret,
		       struct pdb_error *err);

/* Of its program or libraries. The executable is first: its copy of a library's variable counts. */
bool launcher_find_variable(const struct launcher_info *launcher, const struct maps *maps,
			    const char *name, uint64_t *address_ret);

/* A step of a batch system's job, by numbers; "": not known, as with launchers of no such
 * system. */
struct launcher_step {
	char job[16], step[16];
};

void launcher_read_step(const struct launcher_info *launcher, struct launcher_step *ret);

/* Find this node's ranks among the launcher's descendants by their environment: of nested processes
 * with one rank, the outermost that has an MPI library mapped. A rank that has no process but has
 * left its segment is in the table as ended. */
int launcher_scan_procfs(const struct launcher_info *launcher, struct proctable **ret,
			 struct pdb_error *err);

/* The hosts of a job whose launcher keeps no table, and what its processes are known by there. */
struct launcher_hosts {
	char **names;   /* as the launcher calls them, each once, sorted */
	size_t num;     /* 0: there is only this host, or others are not known */
	char *launcher; /* how it reaches them: "ssh", "slurm"; "": not known; NULL: no hosts */
	char *mark;     /* for launcher_scan_mark(); NULL: no hosts */
	uid_t user;     /* whose processes they are */
};

/* Tell them by the processes that the launcher has started to reach them.
 * launcher_hosts_deinit() frees what is in *ret and leaves no hosts. */
void launcher_find_hosts(const struct launcher_info *launcher, struct launcher_hosts *ret);
void launcher_hosts_deinit(struct launcher_hosts *hosts);

/* Find this host's ranks of a job whose launcher runs on another: below processes of the user that
 * have all these words on their command lines, separated by blanks, each two of them an option and
 * its value. As launcher_scan_procfs() otherwise; the table does not name the launcher. */
int launcher_scan_mark(const char *mark, uid_t user, struct proctable **ret, struct pdb_error *err);

/* The user's launchers on this machine (root: all users'), by pid. Returns how many. */
size_t launcher_list(struct launcher_info *infos, size_t max);
