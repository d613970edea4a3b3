#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bench.sh BUILD: sample the stacks of jobs of 8 ranks that are blocked in a barrier.
set -u
build=$1/tests/attach
work=$(mktemp -d)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
job='' keeper=''

clean_up() {
	[ -n "$job" ] && kill "$job" 2>/dev/null
	[ -n "$keeper" ] && kill "$keeper" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 2' INT TERM

bench() {
	rm -f "$work/in" "$work/out"
	mkfifo "$work/in"
	"$@" <"$work/in" >"$work/out" &
	job=$!
	sleep 600 >"$work/in" &
	keeper=$!
	tries=0
	until grep -qx ready "$work/out" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -gt 600 ] && { echo 'bench: the job does not come up' >&2; exit 1; }
		sleep 0.05
	done
	"$build/sample_bench" $job || exit 1
	echo go >"$work/in"
	wait $job
	job=''
	kill $keeper
	keeper=''
}

bench mpirun.openmpi --oversubscribe -n 8 "$build/blocked-openmpi"
bench mpiexec.mpich -n 8 "$build/blocked-mpich"
