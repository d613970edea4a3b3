/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the recorder that a program needs, and the command line that makes its launcher preload it
 * into all ranks. Recorders and daemons are found relative to pdb or libpdb, so all can be moved
 * together. */
#pragma once

#include "model/base.h"

/* Values of --mpi, from 1. */
enum preload_mpi { PRELOAD_UNKNOWN, PRELOAD_OPENMPI, PRELOAD_MPICH, PRELOAD_ABI };

/* The MPI called "openmpi" or "mpich"; "abi": any with MPI's own ABI. PRELOAD_UNKNOWN for other
 * words and NULL. */
enum preload_mpi preload_mpi_of_name(const char *name);

/* Guess the MPI of a command line: the MPI library that a program in it loads, directly or through
 * other libraries. It may differ from the launcher's, and from the first one in PATH. For scripts
 * and others without one, the launcher decides: its real name and what it loads. */
enum preload_mpi preload_guess(char *const argv[]);

/* Get the recorder's path. The caller frees *path_ret. -1 and *err: there is none. */
int preload_find(enum preload_mpi mpi, char **path_ret, struct pdb_error *err);

/* Get the paths of all recorders, separated by colons. A recorder is active only in programs of its
 * own MPI, and costs a jump per call in other programs. So the recorder of `first` comes first. The
 * caller frees *paths_ret. -1 and *err. */
int preload_find_all(enum preload_mpi first, char **paths_ret, struct pdb_error *err);

/* The command line that makes its launcher preload `library` (or several, with colons) into the
 * ranks and pass on PDB_* variables: -x for Open MPI, -genv for hydra. For srun and unknown
 * launchers this process' environment is changed instead. words_free() frees the result. */
char **preload_command(char *const argv[], const char *library);

/* The shell lines of `pdb env`, for one MPI, or for all if `mpi` is unknown; and those of `pdb env
 * --unset`, for a shell with this process' environment. --unset undoes exactly what `pdb env` did,
 * even if it ran several times or for another MPI. The caller frees. */
char *preload_shell_lines(enum preload_mpi mpi, const char *library);
char *preload_unset_lines(void);
