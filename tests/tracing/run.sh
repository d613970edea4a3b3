#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh BUILD [hosts]
# Traces of jobs under each MPI of the machine, on this host or on two: expanded they are what the
# program wrote down itself (reference.c), of each rank and thread, of the job and of what was saved.
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${2:-}" != hosts ] || on_hosts "$tests/hosts/hosts.sh" 2 bash "$0" "$build" here

# Where hosts with a /tmp of their own see it, too.
work=$(mktemp -d -p "$build" tracing.XXXXXX)
job=
ranks=3 hosts=
[ "${2:-}" != here ] || { hosts="a b"; ranks=4; }
trap 'end_job; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMPI_MCA_mpi_yield_when_idle=1
pdb=(env COLUMNS=100 LC_ALL=C.UTF-8 "$build/pdb" --nx --batch)
# A busy machine may take minutes; what waits ends as soon as it can.
wait_long() {
	local until=$((SECONDS + 120))
	until "$@"; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.2
	done
}
explain() { cat "$work/answer" "$work/output"; }
has() { grep -q -- "$1" "$work/answer"; }

# For the hosts in $hosts, or for this one.
find_launcher() {
	if [ $mpi = openmpi ]; then
		launcher=(mpirun.openmpi --oversubscribe)
		[ -z "${hosts:-}" ] || launcher=(mpirun.openmpi --bind-to none --host "${hosts// /:2,}:2")
	else
		launcher=(mpiexec.mpich)
		[ -z "${hosts:-}" ] || launcher=(mpiexec.mpich -hosts "${hosts// /,}" -ppn 2)
	fi
}
# start_job PROGRAM ROUNDS [END]: with what pdb env says.
start_job() {
	find_launcher
	rm -f "$work"/out.* "$work/saved"
	(eval "$("$build/pdb" --mpi $mpi env)"
	exec "${launcher[@]}" -n $ranks "$work/$1-$mpi" "$work/out" "${@:2}" \
		>"$work/output" 2>&1 </dev/null) &
	job=$!
}
end_job() {
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	job=
}

# All ranks and threads have written down all that they do, or all ranks a first line of that kind.
all_done() { [ "$(cat "$work"/out.*.[01] 2>/dev/null | grep -c '^Recv$')" -eq $((2 * ranks)) ]; }
all_written() { [ "$(grep -l "^$1" "$work"/out.*.1 2>/dev/null | wc -l)" -eq $ranks ]; }
# ask COMMAND: what the status says of a hang is nothing to this test.
ask() { "${pdb[@]}" "${from[@]}" --ex "$1" >"$work/answer" 2>&1; }
# The traces of all ranks and threads, as the reference writes them down, into got.RANK.THREAD.
take_all() {
	local rank thread commands=()
	rm -f "$work"/got.*
	for ((rank = 0; rank < ranks; rank++)); do
		for thread in 0 1; do
			commands+=(--ex "trace $rank $thread --full > $work/got.$rank.$thread")
		done
	done
	"${pdb[@]}" "${from[@]}" "${commands[@]}" >"$work/answer" 2>&1
	sed -i '/^rank/d; s/^  //; s/  .*//' "$work"/got.* 2>>"$work/answer"
}
# equal_all [WHAT]: to those lines of the reference that fit this
equal_all() {
	local rank thread
	take_all
	for ((rank = 0; rank < ranks; rank++)); do
		for thread in 0 1; do
			grep -E "${1:-.}" "$work/out.$rank.$thread" >"$work/expected"
			cmp "$work/got.$rank.$thread" "$work/expected" >>"$work/answer" 2>&1 || return 1
		done
	done
}
# What there is of a trace that was full is the reference's beginning.
truncated() {
	local num
	take_all
	num=$(sed -n 's/^truncated after \([0-9]*\) events.*/\1/p' "$work/got.0.0")
	sed -i '/^truncated/,$d' "$work/got.0.0"
	[ "${num:-0}" -gt 100 ] && [ "$(wc -l <"$work/got.0.0")" -eq "$num" ] &&
		cmp "$work/got.0.0" <(head -n "$num" "$work/out.0.0") >>"$work/answer" 2>&1
}
# What is saved holds as much as pdb could find at that moment: from=... is that from then on.
saved() {
	rm -f "$work/saved"
	from=(--pid $job)
	ask "save $work/saved"
	from=(--load "$work/saved")
	equal_all
}
has_no_trace() { ask "trace 0"; has 'no rank has a trace'; }
is_json() {
	ask "trace 0 > $work/trace.json"
	/usr/bin/python3 - "$work/trace.json" "$work/out.0.0" <<'END'
import json, sys

trace = json.load(open(sys.argv[1]))["result"]
names = {s["symbol"]: s["name"] for s in trace["symbols"]}


def expand(row):
    for element in row:
        for _ in range(element["count"]):
            if "loop" in element:
                yield from expand(trace["bodies"][element["loop"]])
            else:
                yield names[element["symbol"]].removeprefix("MPI_")


events = list(expand(trace["sequence"]))
sys.exit(events != open(sys.argv[2]).read().split() or len(events) != trace["events"])
END
}
has_loops() {
	ask "trace 0"
	has '\[ Irecv Isend Waitall \]^4  *exchange() reference.c:[0-9]*-[0-9]*$'
}

. "$tests/tracing/ends.bash"
trap 'end_job; rm -rf "$work"; [ $segments = /dev/shm ] || rm -rf "$segments"' EXIT

for mpi in ${TRACING_MPI:-openmpi mpich}; do
	command -v mpicc.$mpi >/dev/null || continue
	mpicc.$mpi -g -O1 -pthread -o "$work/reference-$mpi" "$tests/tracing/reference.c" &&
		mpicc.$mpi -g -O1 -pthread -DFUNCTIONS -finstrument-functions \
			-o "$work/functions-$mpi" "$tests/tracing/reference.c" || exit 1

	export PDB_TRACE=1M
	start_job reference 40
	check "$mpi the job comes to its end" wait_long all_done
	from=(--pid $job)
	check "$mpi as it runs" wait_long equal_all
	check "$mpi loops" has_loops
	check "$mpi as saved" wait_long saved
	end_job
	check "$mpi as JSON" is_json
	check_ends
	[ -z "${hosts:-}" ] || { unset PDB_TRACE; continue; }

	export PDB_TRACE=8k
	start_job reference 121
	check "$mpi the long job comes to its end" wait_long all_done
	from=(--pid $job)
	check "$mpi truncated" wait_long truncated
	end_job

	PDB_TRACE=0 start_job reference 10
	check "$mpi the job without traces comes to its end" wait_long all_done
	from=(--pid $job)
	check "$mpi no trace" wait_long has_no_trace
	end_job

	export PDB_TRACE=1
	start_job functions 20
	check "$mpi the job with functions comes to its end" wait_long all_done
	from=(--pid $job)
	check "$mpi with functions" wait_long equal_all
	end_job
	PDB_TRACE_FILTER=mpi start_job functions 20
	check "$mpi the job of MPI only comes to its end" wait_long all_done
	from=(--pid $job)
	check "$mpi MPI only" wait_long equal_all '^[A-Z]'
	end_job
	PDB_TRACE_FILTER='depth=2,!MPI_I*' start_job functions 20
	check "$mpi the job of two levels comes to its end" wait_long all_done
	from=(--pid $job)
	check "$mpi two levels, by name" wait_long equal_all '^(compute|[A-HJ-Z])'
	end_job
	unset PDB_TRACE
done
finish_checks
