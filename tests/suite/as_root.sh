# SPDX-License-Identifier: BSD-3-Clause
# Open MPI, 4 and 5, runs as root only when it is told so. Source it.
# shellcheck shell=sh
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
