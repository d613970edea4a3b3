#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Functions that are inlined and handlers of signals, in real jobs without recorder: what lp says and bt
# shows, the latter beside gdb.
set -u
. tests/shell/lib.sh
build=$(realpath "$build") pdb=$build/pdb

# start LAUNCHER PROGRAM: on 3 ranks; its launcher is $job.
start() {
	"$1" --oversubscribe -n 3 true >/dev/null 2>&1 && set -- "$@" --oversubscribe
	launcher=$1 program=$2
	shift 2
	"$launcher" "$@" -n 3 "$program" 1 >"$work/out" 2>&1 &
	job=$!
	jobs="$jobs $job"
}

stop() {
	kill "$job"
	wait "$job"
} 2>/dev/null

# Until the others wait and no look is too early.
names_rank_1() {
	run --pid "$job" --batch -ex lp
	printf '%s\n' "$said" | grep -q '^Culprit: rank 1 of'
}

# Frames with a line, innermost first: "update handler.cpp:29". Both outputs are of one moment: the rank
# does not move any more.
by_gdb() {
	run --pid "$job" --batch -ex 'gdb 1 -ex bt'
	# It shows the frame that it has chosen before.
	printf '%s\n' "$said" | sed -n '/^#0 /,$p' | sed -nE \
		's/^#[0-9]+ +(0x[0-9a-f]+ in )?([^ (]+) \(.*\) at (.*\/)?([^/]+:[0-9]+)$/\2 \4/p; s/^#[0-9]+ +<signal handler called>$/<signal>/p' |
		grep -E 'handler.cpp|std_mutex.h|gthr-default.h|<signal>'
}
by_pdb() {
	"$pdb" --pid "$job" --batch -ex 'bt --json 1' 2>"$work/errors" | python3 -c '
import json, os, sys
frames, lines = json.load(sys.stdin)["result"]["stacks"], []
while frames:
    frame, frames = frames[0], frames[0]["callees"]
    if frame["function"] == "<signal 14 handler called>":
        lines.append("<signal>")
    elif os.path.basename(frame.get("file", "")) in ("handler.cpp", "std_mutex.h", "gthr-default.h"):
        lines.append("%s %s:%d" % (frame["function"], os.path.basename(frame["file"]), frame["line"]))
print("\n".join(reversed(lines)))'
}

for mpi in openmpi mpich; do
	launcher=$(command -v mpirun.$mpi || command -v mpiexec.$mpi) || continue
	if ! mpicxx.$mpi -g -O2 -iquote tests/mpi -o "$work/handler-$mpi" tests/mpi/handler.cpp ||
		! mpicc.$mpi -g -O2 -o "$work/in_handler-$mpi" tests/shell/in_handler.c; then
		fail "$mpi: the programs are not compiled"
		continue
	fi

	start "$launcher" "$work/handler-$mpi"
	wait_for grep -q 'fault: rank 1' "$work/out" || fail "$mpi: the job does not reach its fault"
	wait_for names_rank_1 || fail "$mpi: rank 1 is not named" "$said"
	said=$(printf '%s\n' "$said" | tr -s ' \n' ' ')
	expect "$mpi: a handler that waits for a lock" '[01]' \
		'in on_alarm\(\) at handler\.cpp:[0-9]+ \(__gthread_mutex_lock\(\) at gthr-default\.h:[0-9]+\)' \
		'handling signal 14 that interrupted update\(\) at handler\.cpp:[0-9]+'
	frames=$(by_pdb) others=$(by_gdb)
	if [ "$frames" = "$others" ] && [ "$(printf '%s\n' "$frames" | grep -c .)" -eq 6 ]; then
		pass
	else
		fail "$mpi: gdb shows other frames" "$frames
gdb:
$others
$said"
	fi
	stop

	start "$launcher" "$work/in_handler-$mpi"
	wait_for grep -q 'in the handler' "$work/out" || fail "$mpi: no signal has come"
	wait_for names_rank_1 || fail "$mpi: rank 1 is not named" "$said"
	said=$(printf '%s\n' "$said" | tr -s ' \n' ' ')
	expect "$mpi: a handler inside MPI" '[01]' \
		'in on_alarm\(\) at in_handler\.c:[0-9]+, handling signal 14 that interrupted MPI_Allreduce, main\(\)'
	run --pid "$job" --batch -ex 'set frames function' -ex 'bt 1'
	said=$(printf '%s\n' "$said" | tr -s ' \n' ' ')
	expect "$mpi: its stack" '[01]' \
		'MPI_Allreduce\(\) <signal 14 handler called> on_alarm\(\) in_handler\.c'
	stop
done

finish
