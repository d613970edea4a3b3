#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh BUILD [hosts]
# The temporal order of jobs without the recorder, under each MPI of the machine: the solver of Ahn et
# al. (SC 2009), figure 1, with one rank stalled in get_norm(), which must be first, before its
# neighbours, and these before those that wait in the reduction; and loops that count in three ways.
# With "hosts" on two hosts (tests/hosts/hosts.sh), which must tell the same, also of a program that pdb's host
# does not have, and of what was saved of it. Cores of a job tell the same, too. The order is what lp goes
# by when the stalled rank, too, is inside MPI.
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${2:-}" != hosts ] || on_hosts "$tests/hosts/hosts.sh" 2 bash "$0" "$build" here

work=$(mktemp -d)
job=
trap 'end_job; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMPI_MCA_mpi_yield_when_idle=1
pdb=(env COLUMNS=100 LC_ALL=C.UTF-8 "$build/pdb" --nx --batch)
has() { grep -q -- "$1" "$work/answer"; }
explain() { cat "$work/answer"; }
has_lines() { [ "$(grep -c -- "$1" "$work/output")" -ge "$2" ]; }

# start_job HOSTS RANKS PROGRAM ARGUMENTS...: without HOSTS on this one.
start_job() {
	local hosts=$1 ranks=$2 per_host
	shift 2
	: >"$work/output"
	per_host=$((ranks / $(wc -w <<<"${hosts:-here}")))
	if [ $mpi = openmpi ]; then
		local where=(--oversubscribe)
		[ -z "$hosts" ] || where=(--bind-to none --host "${hosts// /:$per_host,}:$per_host")
		nice -n 19 mpirun.openmpi "${where[@]}" -n "$ranks" "$@" >"$work/output" 2>&1 </dev/null &
	else
		local where=()
		[ -z "$hosts" ] || where=(-hosts "${hosts// /,}" -ppn $per_host)
		nice -n 19 mpiexec.mpich "${where[@]}" -n "$ranks" "$@" >"$work/output" 2>&1 </dev/null &
	fi
	job=$!
}
end_job() {
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	job=
}

# Until everybody has come to where they stay: ask COMMAND [COMMAND]; says COMMAND LINE
ask() { "${pdb[@]}" --pid "$job" --ex "$1" ${2:+--ex "$2"} >"$work/answer" 2>&1; }
says() { ask "$1" && has "$2"; }

# poisson HOSTS RANKS RANK PROGRAM
poisson() {
	local what="$mpi ${4##*/}${1:+ on $1}"
	start_job "$1" "$2" "$4" "$3"
	wait_for has_lines '^fault' 1
	check "$what: the stalled rank is first" wait_for says order "^First in temporal order: rank $3\\.$"
	check "$what: where it is" has 'get_norm'
	check "$what: the iteration" has 'it=17'
	check "$what: why" has 'before 2: '
	# Of one look alone, although the stalled rank is at another instruction each time.
	ask bt
	check "$what: bt tells it" has '^#1: the least progressed branch'
	ask 'sample 3 every 20ms' tree
	check "$what: tree tells it" has '^#1: the least progressed branch'
	ask "save $work/poisson.pdb"
	"${pdb[@]}" --load "$work/poisson.pdb" --ex order >"$work/answer" 2>&1
	check "$what: so does a snapshot" has "^First in temporal order: rank $3\\.$"
	rm "$work/poisson.pdb"
}
in_order() {
	has '1 before 2: doubled is 2 and 8 in the loop at counting.c' &&
		has '2 before 3: down is 7 and 5 in the loop at counting.c' &&
		has '3 before 4: up is 3 and 4 in the loop at counting.c'
}
# counting HOSTS PROGRAM
counting() {
	start_job "$1" 4 "$2"
	wait_for has_lines '^stopped' 4
	wait_for says order '3 before 4'
	check "$mpi counting${1:+ on $1}" in_order
}
# A loop whose first and last instructions are those of a function that is inlined into its own.
inlined() {
	start_job '' 3 "$order/inlined-$mpi"
	wait_for has_lines '^stalled' 3
	wait_for says order '2 before 3'
	line=$(sed -n '/LOOP/=' "$tests/order/inlined.c")
	check "$mpi inlined: the loop is the caller's" \
		has "1 before 2: sweep is 10 and 11 in the loop at inlined.c:$line of smooth()"
}
# receive HOSTS RANKS RANK: the stalled rank, too, is inside MPI. Not with MPICH, whose ranks poll: their
# stacks inside MPI differ from sample to sample.
receive() {
	local what="$mpi receive${1:+ on $1}"
	start_job "$1" "$2" "$order/poisson-$mpi-O2" "$3" receive
	wait_for has_lines '^fault' 1
	check "$what: the stalled rank is first" wait_for says order "^First in temporal order: rank $3\\.$"
	ask lp
	check "$what: lp names it" has "^Culprit: rank $3 of $2$"
	check "$what: it says why" has 'waits for itself'
}

# What is told of stacks, without times: tell WHERE [LAST_COMMAND]
tell() {
	"${pdb[@]}" $1 --ex order --ex tree --ex classes --ex 'bt all' ${2:+--ex "$2"} 2>/dev/null |
		sed -E 's/[0-9.]+ ([nmu]?s)\b/TIME/g; s/ +/ /g; /^(No recorder|"pdb run)|the main thread sleeps/d'
}
# saved NAME: a snapshot of the job tells the same when the job is gone
saved() {
	tell "--pid $job" "save $work/$1.pdb" | sed '/^saved/d' >"$work/live"
	end_job
	rm -f "$work/program"
	tell "--load $work/$1.pdb" >"$work/answer"
	check "$mpi $1: the order is in the snapshot" grep -q before "$work/answer"
	check "$mpi $1: it is what the job told" diff "$work/live" "$work/answer"
}

# The cores of all ranks, as gcore takes them.
cores() {
	mkdir "$work/cores"
	for pid in $(pgrep -f "^$1"); do
		gcore -o "$work/cores/core" "$pid" >/dev/null 2>&1
	done
	"${pdb[@]}" --core "$work/cores" --ex order >"$work/answer" 2>&1
	check "$mpi: cores tell the order" in_order
	"${pdb[@]}" --core "$work/cores" --ex "save $work/cores.pdb" >/dev/null 2>&1
	rm -rf "$work/cores"
	"${pdb[@]}" --load "$work/cores.pdb" --ex order >"$work/answer" 2>&1
	check "$mpi: so does what was saved of them" in_order
}

on_one_host() {
	local big=4 stalled=1 level
	[ $mpi != openmpi ] || big=32 stalled=8
	for level in O0 O2; do
		poisson '' $big $stalled "$order/poisson-$mpi-$level"
		end_job
		poisson '' $big $stalled "$order/poisson_f-$mpi-$level"
		end_job
	done
	[ $mpi != openmpi ] || receive '' $big $stalled
	end_job
	inlined
	end_job
	counting '' "$order/counting-$mpi"
	! command -v gcore >/dev/null || cores "$order/counting-$mpi"
	saved counting
}

# The program is in a directory of host b alone.
elsewhere() {
	ssh b "mkdir -p '$work' && cp '$order/counting-$mpi' '$work/program'"
	counting b "$work/program"
	saved elsewhere
	ssh b "rm -rf '$work'"
}
on_two_hosts() {
	poisson 'a b' 4 1 "$order/poisson-$mpi-O2"
	saved hosts
	[ $mpi != openmpi ] || receive 'a b' 4 1
	end_job
	counting 'a b' "$order/counting-$mpi"
	end_job
	elsewhere
}

order=$build/tests/order
for mpi in openmpi mpich; do
	[ -x "$order/counting-$mpi" ] || continue
	if [ "${2:-}" = here ]; then
		on_two_hosts
	else
		on_one_host
	fi
done
finish_checks
