/* SPDX-License-Identifier: BSD-3-Clause
 * Where pdb's own files are, recorders and daemons: found from where pdb itself is, or libpdb,
 * so that all of them can be moved together. */
#ifndef PDB_SHELL_LIBDIR_H
#define PDB_SHELL_LIBDIR_H

struct pdb_error;

/* The path of such a file, without symbolic links: in PDB_LIBDIR; beside the program that runs
 * or in ../lib/pdb from there; in pdb/, ../pdb/ or ../lib/pdb/ from the library that this is
 * part of, or in the folder above it; where it was installed. ERROR_NOT_FOUND names the places.
 * The caller frees *path_ret. */
int libdir_find(const char *name, char **path_ret, struct pdb_error *err);

#endif
