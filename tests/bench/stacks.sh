#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stacks.sh BUILD RANKS: merge the stacks of a job whose ranks wait for each other asleep: where each
# has a processor of its own it can be stopped at once, which many busy ones on a few cannot. Then
# those of a simulated job of a million.
set -u
. tests/attach/job.sh
build=$1 ranks=$2

start_job nice -n 19 mpirun.openmpi --oversubscribe -n "$ranks" \
	"$build/tests/attach/blocked-openmpi" asleep || exit 1
"$build/tests/bench/stacks_bench" "$job" || exit 1
finish_job
"$build/tests/bench/stacks_bench" --merge 1000000 20
