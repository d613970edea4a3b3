#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The processor time that watching a job takes, of one core, with the recorder and by stacks. The
# ranks mostly sleep, so that many have room on few processors.
# usage: watch.sh BUILD_DIRECTORY [RANKS [SECONDS]]
set -u
build=$(realpath "$1") ranks=${2:-64} seconds=${3:-30}
. tests/suite/as_root.sh
mpirun=$(command -v mpirun.openmpi || command -v mpirun)
work=$(mktemp -d)
job= watcher=
cleanup() {
	[ -z "$job" ] || kill $watcher $job 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' PIPE INT TERM

# Hundredths of a second that a process has used, user and system.
cpu_of() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# measure WHAT MPIRUN-OPTION...
measure() {
	local what=$1 begin before
	shift
	"$mpirun" --oversubscribe --mca mpi_yield_when_idle 1 "$@" -n "$ranks" \
		"$build/tests/watch/phases-openmpi" none 100000 >/dev/null 2>&1 </dev/null &
	job=$!
	"$build/pdb" -nx watch --pid $job --json >"$work/said" 2>&1 </dev/null &
	watcher=$!
	until grep -q '"begin"' "$work/said"; do
		kill -0 $watcher 2>/dev/null || { cat "$work/said"; break; }
		sleep 0.2
	done
	# Names are found, the first full look is over.
	sleep 5
	begin=$SECONDS before=$(cpu_of $watcher)
	sleep "$seconds"
	echo "$what: $(($(cpu_of $watcher) - before)) hundredths of a second in" \
		"$((SECONDS - begin)) s"
	kill $watcher $job
	wait $watcher $job 2>/dev/null
	job= watcher=
}

measure "recorder, $ranks ranks" -x LD_PRELOAD="$build/libpdbrec-openmpi.so"
measure "stacks, $ranks ranks"
