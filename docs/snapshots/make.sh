#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Make the snapshots that the pages' transcripts are of, by hanging real jobs on this machine:
#   sh tests/hosts/hosts.sh 1 sh docs/snapshots/make.sh build
# (so that the host has a name that is nobody's).
# Then "make docs-transcripts" writes the pages' transcripts anew. Needed only when snapshots of an older
# format cannot be read any more, or to show something new.
set -eu

build=$(realpath "$1")
folder=$(realpath "$(dirname "$0")")
work=$(mktemp -d /tmp/snapshots.XXXXXX)
job=
clean_up() {
	trap - EXIT
	[ -z "$job" ] || { kill "$job" && wait "$job"; } 2>/dev/null || :
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

die() { echo "$0: $*" >&2; exit 1; }

# Until the command succeeds, at most two minutes.
wait_for() {
	for _ in $(seq 1200); do
		! "$@" || return 0
		sleep 0.1
	done
	return 1
}

# The process of rank $1 of the job, which runs in $work.
find_rank() {
	for pid in $(pgrep -x "$2"); do
		[ "$(readlink "/proc/$pid/cwd")" = "$work" ] || continue
		if tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1"; then
			echo "$pid"
		fi
	done
}

# Save the job as $1 once its verdict is $2.
save() {
	is_hung() { "$build/pdb" --pid "$job" --batch -ex lp | grep -q "$2"; }
	wait_for is_hung "$@" || die "the job does not hang as expected: $2"
	sleep 5 # a hang is looked at later than at its first moment
	rm -f "$folder/$1"
	"$build/pdb" --pid "$job" --batch -ex 'sample 3' -ex "save $folder/$1" || [ $? -eq 1 ]
	chmod 644 "$folder/$1"
	{ kill "$job" && wait "$job"; } || :
	job=
}

cd "$work"
eval "$("$build/pdb" env --mpi=openmpi)"

# LAMMPS, one rank of four caught in an endless loop in a function that computes.
sed 's/^run.*/run 100000000/' /usr/share/lammps/examples/melt/in.melt >in.melt
mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 lmp -in in.melt >output 2>&1 &
job=$!
wait_for grep -Eqs '^ *100 ' output || die "LAMMPS has not started"
"$build/inject" --timeout 60 "$(find_rank 2 lmp)" LAMMPS_NS::PairLJCut::compute
save lammps.pdb 'Culprit: rank 2'

# A message that is never sent, in a program of the tests.
tree=$folder/../..
cp "$tree/tests/mpi/waits/missing_send.c" "$tree/tests/mpi/fault.h" .
mpicc.openmpi -g -O1 -fdebug-prefix-map="$work=." -o missing_send missing_send.c
mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 6 ./missing_send 2 >output 2>&1 &
job=$!
wait_for grep -qs 'fault: rank 2' output || die "missing_send has not reached its fault"
save message.pdb 'lost message'

# Traces of two versions of a program, the new one with its lines moved: docs/hunting-a-difference.md.
cp "$tree/tests/traces/stencil.c" "$tree/tests/traces/version.h" .
mkdir new && sed 's/^#include <mpi.h>/\n\n\n\n\n\n\n&/' stencil.c >new/stencil.c
mpicc.openmpi -g -O1 -fdebug-prefix-map="$work=." -I. -o stencil stencil.c
mpicc.openmpi -g -O1 -fdebug-prefix-map="$work=." -I. -o stencil-new new/stencil.c

start_traced() {
	PDB_TRACE=1M mpirun --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$@" &
	job=$!
}
at_rest='last move of any rank: [0-9.]* s\|no rank has moved for [0-9.]* s'
# Save a run that is done, or hangs, as $1.
save_at_rest() {
	is_at_rest() { "$build/pdb" --pid "$job" --batch -ex lp | grep -q "$at_rest"; }
	wait_for is_at_rest || die "$1: the job does not come to rest"
	rm -f "$folder/$1"
	"$build/pdb" --pid "$job" --batch -ex "save $folder/$1" || [ $? -eq 1 ]
	chmod 644 "$folder/$1"
	{ kill "$job" && wait "$job"; } || :
	job=
}
start_traced ./stencil
save_at_rest good.pdb
start_traced ./stencil-new collective 2 21
save_at_rest bad.pdb
