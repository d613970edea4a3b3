#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Does pdb tell of a job on two hosts what it tells of one on a single host, and do its daemons
# leave the job alone? Runs on the first of the hosts that it makes with tests/hosts.sh.
# usage: debug.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/checks.bash"

if [ "${2:-}" != here ]; then
	sh "$tests/hosts.sh" 2 bash "$0" "$build" here
	status=$?
	[ $status -ne 77 ] || { echo "0 passed, 0 failed"; exit 0; }
	exit $status
fi

work=$(mktemp -d)
job=
trap 'end_job; rm -rf "$work"' EXIT
pdb=(env COLUMNS=100 LC_ALL=C.UTF-8 "$build/pdb" --nx --batch)

not_told() { [ ! -s "$1.errors" ]; }
has_line() { grep -q -- "$1" "$2"; }
has_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
is_running() { ! has_ended "$1"; }
count_daemons() { for host in a b; do ssh $host pgrep -f "^$build/pdbd-"; done | wc -l; }
has_daemons() { [ "$(count_daemons)" -gt 0 ]; }
no_daemons() { [ "$(count_daemons)" -eq 0 ]; }

# start_job HOSTS FAULTY_RANK: nested, which hangs in that rank
start_job() {
	: >"$work/output"
	mpirun.openmpi --oversubscribe --host "$1" -n 4 \
		-x LD_PRELOAD="$build/libpdbrec-openmpi.so" \
		"$build/tests/hosts/nested-openmpi" "$2" >"$work/output" 2>&1 </dev/null &
	job=$!
	wait_for has_line '^fault: rank' "$work/output"
}
end_job() {
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	job=
}

# What pdb tells, and the same without times. Fails as long as pdb is not sure.
tell() {
	"${pdb[@]}" --pid "$job" --ex 'set color off' --ex lp --ex groups --ex 'why 0' --ex waits \
		--ex graph --ex 'loops' --ex 'progress' --ex 'bt all' >"$1" 2>"$1.errors"
	sed -E 's/([0-9.]+ (us |ms )?to )?[0-9.]+ (us|ms|s)\b/TIME/g; s/ +/ /g' "$1" >"$1.same"
	has_line '^Least progressed' "$1" && ! has_line 'not sure' "$1"
}

start_job a:4 2 || { cat "$work/output" >&2; check "a job starts" false; }
check "one host: pdb is sure" wait_for tell "$work/one"
check "one host: no daemons are needed" not_told "$work/one"
end_job

start_job a:2,b:2 2 || { cat "$work/output" >&2; check "a job starts on two hosts" false; }
check "two hosts: pdb is sure" wait_for tell "$work/two"
check "two hosts: the same answers" diff "$work/one.same" "$work/two.same"
check "two hosts: nothing is missing" diff /dev/null "$work/two.errors"
check "they end with pdb" wait_for no_daemons
check "the job is there" is_running "$job"

# Somebody types; then pdb is killed.
mkfifo "$work/words"
"$build/pdb" --nx --pid "$job" <"$work/words" >"$work/answers" 2>&1 &
killed=$!
exec 8>"$work/words"
echo 'info job' >&8
check "daemons on two hosts" wait_for has_line 'daemons   on 2 hosts' "$work/answers"
check "they are there" has_daemons
{ kill -9 $killed; wait $killed; } 2>/dev/null
exec 8>&-
check "they end with a killed pdb" wait_for no_daemons
check "the job has not noticed" is_running "$job"
check "the job has said nothing" diff <(echo 'fault: rank 2') "$work/output"

# A daemon that does not answer: its host is named, the other is looked at.
rm "$work/words"
mkfifo "$work/words"
"$build/pdb" --nx --pid "$job" <"$work/words" >"$work/answers" 2>&1 &
stopped=$!
exec 8>"$work/words"
echo 'info job' >&8
wait_for has_line 'daemons   on 2 hosts' "$work/answers"
ssh b 'kill -STOP $(for pid in $(pgrep -f "^'"$build"'/pdbd-"); do pgrep -P $pid; done)'
echo 'refresh' >&8
echo 'info recorder' >&8
echo 'info ranks' >&8
check "a stopped daemon's host is named" wait_for has_line 'on host b: no answer' "$work/answers"
exec 8>&-
wait $stopped
check "stopped daemon: none is left" wait_for no_daemons
check "stopped daemon: the job has not noticed" is_running "$job"

# A place without daemons.
cp "$build/libpdbrec-openmpi.so" "$work"
PDB_LIBDIR=$work "${pdb[@]}" --pid "$job" --ex 'info job' --ex 'info ranks' >"$work/none" 2>"$work/why"
check "no daemons: pdb says so" has_line 'daemons   none' "$work/none"
check "no daemons: and why" has_line "could not access or execute.*$work/pdbd-openmpi" "$work/why"
check "no daemons: ranks of other hosts are named" has_line '^ranks 2-3: on host b: pdb has no daemon' \
	"$work/why"
check "no daemons: the job has not noticed" is_running "$job"

# Killed daemons: the next look has others.
rm "$work/words"
mkfifo "$work/words"
"$build/pdb" --nx --pid "$job" <"$work/words" >"$work/answers" 2>"$work/why" &
again=$!
exec 8>"$work/words"
echo 'info job' >&8
wait_for has_line 'daemons   on 2 hosts' "$work/answers"
ssh b "kill -KILL \$(pgrep -f '^$build/pdbd-')"
wait_for no_daemons
echo 'bt 2' >&8
check "killed daemons: pdb says so" wait_for has_line 'daemons on the job.s nodes were lost' "$work/why"
exec 8>&-
wait $again
check "killed daemons: pdb starts others" tell "$work/two"
end_job

finish_checks
