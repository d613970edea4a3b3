/* SPDX-License-Identifier: BSD-3-Clause
 * Which recorder a program needs, how its launcher is told to preload it into all ranks, and where
 * recorders and daemons are: found from where pdb or libpdb is, so that all can be moved
 * together. */
#ifndef PDB_SHELL_PRELOAD_H
#define PDB_SHELL_PRELOAD_H

#include <stddef.h>

struct pdb_error;

/* As the choices of --mpi, from 1 on. */
enum preload_mpi { PRELOAD_UNKNOWN, PRELOAD_OPENMPI, PRELOAD_MPICH };

/* "openmpi", "mpich"; PRELOAD_UNKNOWN for other words and NULL. */
enum preload_mpi preload_mpi_of_name(const char *name);

/* By the MPI library that a program in the command line loads, directly or through other libraries:
 * it need not be the launcher's, nor the one that PATH has first. Where there is none, as of
 * scripts, by the launcher itself: its real name and what it loads. */
enum preload_mpi preload_guess(char *const argv[]);

/* The recorder's path. The caller frees *path_ret. */
int preload_find(enum preload_mpi mpi, char **path_ret, struct pdb_error *err);

/* The paths of all recorders there are, with colons between: each is awake in programs of its own
 * MPI. Others cost a jump a call, so that of `first` comes first. The caller frees *paths_ret. */
int preload_find_all(enum preload_mpi first, char **paths_ret, struct pdb_error *err);

/* The command line that makes its launcher preload `library` (or several, with colons) into the
 * ranks and hand them PDB_* variables: -x for Open MPI, -genv for hydra. For srun and unknown
 * launchers this process' environment is changed instead. words_free() frees it. */
char **preload_command(char *const argv[], const char *library);

/* The lines for a shell that `pdb env` prints, for one MPI or, when it is unknown, for all; and
 * those of `pdb env --unset`, for the shell of this process' environment: they undo the others,
 * however often and for whichever MPI these were carried out, and no more. The caller frees. */
char *preload_shell_lines(enum preload_mpi mpi, const char *library);
char *preload_unset_lines(void);

#endif
