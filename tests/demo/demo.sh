#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hang a real program and debug it: LAMMPS with 8 ranks on two hosts, one rank of the other host caught
# in an endless loop inside one of its own functions. The hosts are made with hosts.sh; where that
# cannot be, all ranks are on this one. Runs with the Open MPI of the system it runs on: 5 is found by
# PMIx, 4 by its MPIR table. "make demo" arranges that; usage: demo.sh BUILD_DIRECTORY
# What pdb said is in BUILD_DIRECTORY/demo.said.
set -eu

# "RANK HOST PID" of each rank on this host: what runs lmp in that folder.
print_ranks() { # FOLDER HOST
	for pid in $(pgrep -x lmp); do
		[ "$(readlink "/proc/$pid/cwd")" = "$1" ] || continue
		rank=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" |
			sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
		[ -z "$rank" ] || echo "$rank $2 $pid"
	done
}

self=$(realpath "$0")
if [ "$1" = --ranks ]; then
	print_ranks "$2" "$3"
	exit
fi
if [ $# -eq 1 ]; then
	status=0
	sh "$(dirname "$self")/../hosts/hosts.sh" 2 sh "$self" "$1" a b || status=$?
	[ $status -eq 77 ] || exit $status
	echo "demo: so all ranks are on this host" >&2
	set -- "$1" localhost
fi

build=$(realpath "$1")
shift
hosts=$*
commands=$(dirname "$self")/demo.pdb
ranks=8 victim=5 function=LAMMPS_NS::PairLJCut::compute
input=/usr/share/lammps/examples/melt/in.melt

say() { printf '\n== %s\n' "$*"; }
die() { echo "demo: $*" >&2; exit 1; }

# In the tree, which is the same on all hosts.
work=$(mktemp -d "$build/demo.XXXXXX")
job=
# Ends our mpirun, by pid, and with it the ranks; the segments that they leave are named after them.
clean_up() {
	trap - EXIT
	list_ranks >"$work/ranks" || :
	[ -z "$job" ] || { kill "$job" 2>/dev/null && wait "$job" 2>/dev/null; } || :
	while read -r _ host pid; do
		on "$host" "kill -9 $pid; rm -f /dev/shm/pdb.*.$pid" 2>/dev/null </dev/null || :
	done <"$work/ranks"
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# A command for the shell on a host.
on() {
	case $1 in
	localhost) shift; sh -c "$*" ;;
	*) ssh "$@" ;;
	esac
}

list_ranks() {
	for host in $hosts; do
		on "$host" sh "$self" --ranks "$work" "$host"
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
case $hosts in
localhost) where="on this host" placement=--oversubscribe ;;
*)
	where="on hosts $(echo "$hosts" | sed 's/ / and /')"
	# As many slots as ranks: Open MPI takes all of a host's cores for the job's own, but they are few.
	placement="--host $(for host in $hosts; do printf '%s:%d,' "$host" $((ranks / 2)); done |
		sed 's/,$//') --mca mpi_yield_when_idle 1 --bind-to none" ;;
esac
say "starting LAMMPS (in.melt) with $ranks ranks $where, with the recorder, Open MPI $version"
eval "$("$build/pdb" env)"
# shellcheck disable=SC2086
(cd "$work" && exec mpirun $placement -n $ranks lmp -in in.melt >output 2>&1) &
job=$!
wait_for 60 has_reached_step 100 || { cat "$work/output" >&2; die "LAMMPS has not started"; }
grep -E '^ *(Step|[0-9]+ +[-0-9])' "$work/output" | head -n 4

place=$(list_ranks | sed -n "s/^$victim //p")
[ -n "$place" ] || die "rank $victim was not found"
host=${place% *} pid=${place#* }
say "catching rank $victim (process $pid on host $host) in an endless loop inside $function()"
on "$host" "$build/inject" --timeout 30 "$pid" "$function"
wait_for 30 stands_still || die "the job goes on"
echo "the job prints no more steps"

say "pdb --pid $job --batch -x $(basename "$commands")"
status=0
"$build/pdb" --pid "$job" --batch -x "$commands" >"$work/answer" 2>&1 || status=$?
cat "$work/answer"
{ echo "\$ pdb --pid $job --batch -x $(basename "$commands")"; cat "$work/answer"; } >"$build/demo.said"

say "ending the job"
[ $status -eq 1 ] || die "pdb ended with status $status, not 1 (a hang was found)"
grep -q "^Culprit: rank $victim of $ranks" "$work/answer" ||
	die "pdb has not found rank $victim"
grep -q "^ *launcher *Open MPI $version mpirun" "$work/answer" || die "pdb has mistaken the launcher"
grep -q "^ *found by *$way" "$work/answer" || die "pdb has not found the job by $way"
say "rank $victim was found"
