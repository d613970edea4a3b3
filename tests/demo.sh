#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hang a real program and debug it: LAMMPS on 8 ranks, one of them caught in an endless loop inside
# one of its own functions. Runs with the Open MPI of the system it runs on: 5 is found by PMIx, 4
# by its MPIR table. "make demo" arranges that; usage: demo.sh BUILD_DIRECTORY
set -eu

build=$(realpath "$1")
commands=$(realpath "$(dirname "$0")")/demo.pdb
ranks=8 victim=5 function=LAMMPS_NS::PairLJCut::compute
input=/usr/share/lammps/examples/melt/in.melt

say() { printf '\n== %s\n' "$*"; }
die() { echo "demo: $*" >&2; exit 1; }

work=$(mktemp -d)
job=
# Ends our mpirun, by pid, and with it the ranks; the segments that they leave are named after them.
clean_up() {
	trap - EXIT
	pids=$(rank_pids)
	[ -z "$job" ] || { kill "$job" 2>/dev/null && wait "$job" 2>/dev/null; } || :
	for pid in $pids; do
		kill -9 "${pid#*:}" 2>/dev/null || :
		rm -f /dev/shm/pdb.*."${pid#*:}"
	done
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# "RANK:PID" of each rank; all are children of mpirun on this machine.
rank_pids() {
	[ -n "$job" ] || return 0
	for pid in $(ps -o pid= --ppid "$job"); do
		rank=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" |
			sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
		[ -z "$rank" ] || echo "$rank:$pid"
	done
}

# Wait for a command to succeed, looking ten times a second, but not for ever.
wait_for() {
	tries=$(($1 * 10))
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		kill -0 "$job" 2>/dev/null || return 1
		sleep 0.1
	done
}

has_reached_step() { grep -Eqs "^ *$1 +[-0-9]" "$work/output"; }
num_steps_printed() { grep -Ec '^ *[0-9]+ +[-0-9]' "$work/output" || :; }
stands_still() {
	steps=$(num_steps_printed)
	sleep 1
	[ "$(num_steps_printed)" = "$steps" ]
}

[ -r "$input" ] || die "$input is missing: apt-get install lammps-examples"
sed 's/^run.*/run 100000000/' "$input" >"$work/in.melt"
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

version=$(mpirun --version | sed -n '1s/.*) //p')
case $version in
4.*) way="MPIR table" ;;
*) way=PMIx ;;
esac
say "starting LAMMPS (in.melt) on $ranks ranks with the recorder, Open MPI $version"
eval "$("$build/pdb" env)"
(cd "$work" && exec mpirun --oversubscribe -n $ranks lmp -in in.melt >output 2>&1) &
job=$!
wait_for 60 has_reached_step 100 || { cat "$work/output" >&2; die "LAMMPS has not started"; }
grep -E '^ *(Step|[0-9]+ +[-0-9])' "$work/output" | head -n 4

pid=$(rank_pids | sed -n "s/^$victim://p")
[ -n "$pid" ] || die "rank $victim was not found below mpirun, process $job"
say "catching rank $victim (process $pid) in an endless loop inside $function()"
"$build/inject" --timeout 30 "$pid" "$function"
wait_for 30 stands_still || die "the job goes on"
echo "the job prints no more steps"

say "pdb --pid $job --batch -x $(basename "$commands")"
status=0
"$build/pdb" --pid "$job" --batch -x "$commands" >"$work/answer" 2>&1 || status=$?
cat "$work/answer"

say "ending the job"
[ $status -eq 1 ] || die "pdb ended with status $status, not 1 (a hang was found)"
grep -q "^Least progressed: rank $victim, 1 of $ranks" "$work/answer" ||
	die "pdb has not found rank $victim"
grep -q "^ *launcher *Open MPI $version mpirun" "$work/answer" || die "pdb has mistaken the launcher"
grep -q "^ *found by *$way" "$work/answer" || die "pdb has not found the job by $way"
say "rank $victim was found"
