/* SPDX-License-Identifier: BSD-3-Clause
 * From linker symbols to the names in the source. */
#pragma once

/* The name in the source of the function that a linker symbol stands for; the caller frees.
 *   C++        _ZN5Verlet3runEi         Verlet::run       (without parameters; as it is if no
 *                                                          libstdc++ is installed)
 *   Fortran    solve_                   solve
 *              __solver_MOD_step        solver::step      (gfortran)
 *   compiler's step.constprop.0.isra.1  step              (clones and parts)
 *   versions   memcpy@@GLIBC_2.14       memcpy
 * All else stays as it is, MAIN__ included. */
char *demangle(const char *symbol);
