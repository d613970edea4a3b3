#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh BUILD: sample the stacks of jobs of 8 ranks that are blocked in a barrier.
set -u
. tests/attach/job.sh
build=$1/tests/attach

bench() {
	start_job "$@" || exit 1
	"$build/sample_bench" "$job" || exit 1
	finish_job
}

bench mpirun.openmpi --oversubscribe -n 8 "$build/blocked-openmpi"
bench mpiexec.mpich -n 8 "$build/blocked-mpich"
