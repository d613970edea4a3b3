#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stacks.sh BUILD RANKS: merge the stacks of a job whose ranks wait for each other asleep: where each
# has a processor of its own it can be stopped at once, which many busy ones on a few cannot. Then
# those of a simulated job of a million.
set -u
build=$1 ranks=$2
work=$(mktemp -d)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
	PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
job='' keeper=''

clean_up() {
	[ -n "$job" ] && kill "$job" 2>/dev/null
	[ -n "$keeper" ] && kill "$keeper" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 2' INT TERM

mkfifo "$work/in"
nice -n 19 mpirun.openmpi --oversubscribe -n "$ranks" "$build/tests/attach/blocked-openmpi" asleep \
	<"$work/in" >"$work/out" &
job=$!
sleep 600 >"$work/in" &
keeper=$!
tries=0
until grep -qx ready "$work/out" 2>/dev/null; do
	tries=$((tries + 1))
	[ $tries -gt 3000 ] && { echo 'bench: the job does not come up' >&2; exit 1; }
	sleep 0.05
done
"$build/tests/bench/stacks_bench" $job || exit 1
echo go >"$work/in"
wait $job
job=''
"$build/tests/bench/stacks_bench" --merge 1000000 20
