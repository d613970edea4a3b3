#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Does pdb tell of a job on two hosts what it tells of one on a single host, and do its daemons
# leave the job alone? Runs on the first of the hosts that it makes with tests/hosts/hosts.sh.
# usage: debug.sh BUILD_DIRECTORY; ends with "N passed, N failed"; JOBS_MPI=openmpi: under this one alone
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${2:-}" = here ] || on_hosts "$tests/hosts/hosts.sh" 2 bash "$0" "$build" here

work=$(mktemp -d)
job=
trap 'end_job; rm -rf "$work"' EXIT
version=$(mpirun.openmpi --version | sed -n '1s/.*) \([0-9]*\).*/\1/p')
pdb=(env COLUMNS=100 LC_ALL=C.UTF-8 "$build/pdb" --nx --batch)

not_told() { [ ! -s "$1.errors" ]; }
has_line() { grep -q -- "$1" "$2"; }
has_lines() { [ "$(grep -c -- "$2" "$3")" -eq "$1" ]; }
has_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
is_running() { ! has_ended "$1"; }
count_daemons() { for host in a b; do ssh $host pgrep -f "^$build/pdbd-"; done | wc -l; }
has_daemons() { [ "$(count_daemons)" -gt 0 ]; }
no_daemons() { [ "$(count_daemons)" -eq 0 ]; }

# start_job HOSTS: nested on them, which hangs in rank 2; "a" or "a b"
start_job() {
	: >"$work/output"
	start_$mpi "$1" >"$work/output" 2>&1 </dev/null &
	job=$!
	# Launching on two hosts can take longer than other things where there is much else to do.
	wait_for has_line '^fault: rank' "$work/output" || wait_for has_line '^fault: rank' "$work/output" || return 1
	# All of them wait busily from now on: what looks at them goes first.
	for host in $1; do ssh "$host" "renice -n $(($(nice) + 5)) -p \$(pgrep -x nested-$mpi)" >/dev/null; done
	# Launchers may have said something before.
	cp "$work/output" "$work/said"
}
start_openmpi() {
	local slots=$((4 / $(wc -w <<<"$1")))
	exec mpirun.openmpi --bind-to none --mca mpi_yield_when_idle 1 --host "${1// /:$slots,}:$slots" -n 4 \
		-x LD_PRELOAD="$build/libpdbrec-openmpi.so" "$build/tests/mpi/nested-openmpi" 2
}
start_mpich() {
	exec mpiexec.mpich -hosts "${1// /,}" -ppn $((4 / $(wc -w <<<"$1"))) -n 4 \
		-genv LD_PRELOAD "$build/libpdbrec-mpich.so" "$build/tests/mpi/nested-mpich" 2
}
end_job() {
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	job=
}

# What pdb tells, and the same without times. Fails as long as pdb is not sure.
tell() {
	"${pdb[@]}" --pid "$job" --ex 'set color off' --ex lp --ex groups --ex 'why 0' --ex waits \
		--ex graph --ex 'loops' --ex 'progress' --ex 'bt all' --ex 'sample 3 every 50ms' --ex tree \
		--ex classes >"$1" 2>"$1.errors"
	# The mark is explained in its row or below, as the times leave room. Who was stopped a moment ago
	# may not sleep again.
	sed -E 's/([0-9.]+ ([nmu]s )?to )?[0-9.]+ ([nmu]?s)\b/TIME/g; s/ +/ /g; /^ <- culprit$/d
		s/ <- culprit$/ <-/; /the main thread sleeps/d' "$1" >"$1.same"
	has_line '^[A-Z][a-z ]*: ranks* [0-9]' "$1" && ! has_line 'not sure' "$1"
}

# An interactive pdb whose standard input is fd 8, with daemons on two hosts.
start_pdb() {
	rm -f "$work/words"
	mkfifo "$work/words"
	"$build/pdb" --nx --pid "$job" <"$work/words" >"$work/answers" 2>&1 &
	pdb_pid=$!
	exec 8>"$work/words"
	echo 'info job' >&8
	check "$mpi: daemons on two hosts" wait_for has_line 'daemons   on 2 hosts' "$work/answers"
	check "$mpi: they are there" has_daemons
}
end_pdb() {
	exec 8>&-
	wait $pdb_pid
}

check_unharmed() {
	check "$mpi: $1: no daemon is left" wait_for no_daemons
	check "$mpi: $1: the job is there" is_running "$job"
	# Daemons that MPI ends for the loss of one say so by way of Open MPI 5's launcher.
	[ "$mpi$version $1" = "openmpi5 killed daemons" ] ||
		check "$mpi: $1: the job has said nothing" diff -a "$work/said" "$work/output"
}

check_same_answers() {
	start_job a || { cat "$work/output" >&2; check "$mpi: a job starts" false; }
	check "$mpi: one host: pdb is sure" wait_for tell "$work/one"
	check "$mpi: one host: no daemons are needed" not_told "$work/one"
	# Without it the answers from several hosts could be without it, too.
	check "$mpi: one host: bt and tree tell the order" has_lines 2 '^#1: the least progressed branch' "$work/one"
	end_job
	# pdb's own host has ranks, or none.
	for hosts in b "a b"; do
		start_job "$hosts" || { cat "$work/output" >&2; check "$mpi: a job starts on $hosts" false; }
		check "$mpi: on $hosts: pdb is sure" wait_for tell "$work/two"
		check "$mpi: on $hosts: the same answers" diff "$work/one.same" "$work/two.same"
		check "$mpi: on $hosts: nothing is missing" diff /dev/null "$work/two.errors"
		check_unharmed "pdb on $hosts has ended"
		[ "$hosts" != b ] || end_job
	done
}

check_killed_pdb() {
	start_pdb
	{ kill -9 $pdb_pid; wait $pdb_pid; } 2>/dev/null
	exec 8>&-
	check_unharmed "killed pdb"
}

# A daemon that does not answer: its host is named, the other is looked at.
check_stopped_daemon() {
	start_pdb
	ssh b 'kill -STOP $(for pid in $(pgrep -f "^'"$build"'/pdbd-"); do pgrep -P $pid; done)'
	echo 'refresh' >&8
	echo 'info recorder' >&8
	echo 'info ranks' >&8
	check "$mpi: a stopped daemon's host is named" wait_for has_line 'on host b: no answer' \
		"$work/answers"
	end_pdb
	check_unharmed "stopped daemon"
}

# A place without daemons.
check_no_daemons() {
	local hole='on host b: pdb has no daemon'
	[ $mpi = openmpi ] || hole='not found on this host'
	cp "$build/libpdbrec-$mpi.so" "$work"
	PDB_LIBDIR=$work "${pdb[@]}" --pid "$job" --ex 'info job' --ex 'info ranks' \
		>"$work/none" 2>"$work/why"
	check "$mpi: no daemons: pdb says so" has_line 'daemons   none' "$work/none"
	check "$mpi: no daemons: and why" has_line "$work/pdbd-$mpi cannot be started: No such file" "$work/why"
	check "$mpi: no daemons: ranks of other hosts are named" has_line "^ranks 2-3: $hole" "$work/why"
	check_unharmed "no daemons"
}

# The next look has others.
check_killed_daemons() {
	start_pdb
	ssh b "kill -KILL \$(pgrep -f '^$build/pdbd-')"
	wait_for no_daemons
	echo 'bt 2' >&8
	check "$mpi: killed daemons: pdb says so" wait_for has_line 'daemons on the job.s nodes were lost' \
		"$work/answers"
	end_pdb
	check "$mpi: killed daemons: pdb starts others" tell "$work/two"
	check_unharmed "killed daemons"
}

for mpi in ${JOBS_MPI:-openmpi mpich}; do
	[ -e "$build/tests/mpi/nested-$mpi" ] || continue
	check_same_answers
	check_killed_pdb
	check_stopped_daemon
	check_no_daemons
	check_killed_daemons
	end_job
done
finish_checks
