#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Does inject catch a process where it says, and leave it whole where it does not?
# usage: check.sh INJECT VICTIM
set -u
. "$(dirname "$0")/../suite/checks.bash"
inject=$(realpath "$1") victim=$(realpath "$2")
pid=
work=$(mktemp -d)
trap 'stop; rm -rf "$work"' EXIT

start() { # arguments of the victim
	rm -f "$work/steps" # that of the one before
	OMPI_COMM_WORLD_RANK=7 "$victim" "$@" >"$work/steps" &
	pid=$!
	wait_for test -s "$work/steps"
}
stop() { [ -z "$pid" ] || { kill -9 "$pid"; wait "$pid"; } 2>/dev/null; pid=; }

steps() { wc -l <"$work/steps"; }
has_more_than() { [ "$(steps)" -gt "$1" ]; }
moves() { wait_for has_more_than "$(steps)" && ! grep -q wrong "$work/steps"; }
stands() { local n; n=$(steps); sleep 0.3; [ "$(steps)" -eq "$n" ]; }
has_written() { grep -q '^wchar: [^0]' "/proc/$1/io"; }
state_is() { [ "$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null)" = "$1" ]; }
stack_has() {
	gdb -nx -batch -p "$pid" -ex bt 2>/dev/null | sed -n 's/^#\([0-9]*\) .* in \([^ (]*\).*/\1 \2/p' |
		grep -qx "$1"
}
# Inject, and compare what it prints with a pattern.
injects() {
	local pattern=$1
	shift
	"$inject" "$@" >"$work/said" 2>&1
	local status=$?
	grep -Eqx "$pattern" "$work/said" && return $status
	cat "$work/said" >&2
	return 1
}
refuses() { ! injects "$@"; }

address='0x[0-9a-f]+'
start
check "a C++ function by its name" \
	injects "injected: rank 7 pid $pid _ZN6victim6Solver7computeEi $address" \
	"$pid" victim::Solver::compute
check "it stands" stands
check "it computes" wait_for state_is R
check "it is in that function" stack_has "0 victim::Solver::compute"
check "which was called from its caller" stack_has "1 advance"
stop

start
check "a const function" injects "injected: rank 7 pid $pid _ZNK6victim6Solver6resultEv $address" \
	"$pid" victim::Solver::result
stop

start
check "a C function after some calls" injects "injected: rank 7 pid $pid advance $address" \
	--skip 20 "$pid" advance
check "the calls before were made in full" test "$(steps)" -ge 20
check "no call was spoilt" bash -c "! grep -q wrong '$work/steps'"
stop

start
check "sleeping" injects "injected: rank 7 pid $pid advance $address" --sleep "$pid" advance
check "it sleeps" wait_for state_is S
check "it is in the function" stack_has "0 advance"
check "it stands asleep" stands
stop

start
check "stopping" injects "injected: rank 7 pid $pid stopped 0x0" --stop "$pid"
check "it is stopped" wait_for state_is T
stop

start
check "wherever it is" injects "injected: rank 7 pid $pid here $address" --here "$pid"
check "it stands there" stands
stop

start sleeping
check "where it comes back to" injects "injected: rank 7 pid $pid here $address" --here "$pid"
check "it stands there, and computes" eval 'stands && wait_for state_is R'
stop

# Any place in a function, by its symbol, or without one by the unwinding information.
strip -o "$work/stripped" "$victim"
offset=$(nm "$victim" | awk '$3 == "advance" {print $1}')
inside=$(printf '0x%x' $((0x$offset + 5)))
start
check "a function by a place in it" injects "injected: rank 7 pid $pid advance $address" \
	--around "$pid" "$(basename "$victim")+$inside"
check "it is in that function" stack_has "0 advance"
stop
whole=$victim victim=$work/stripped
start
check "the same in a stripped program" injects \
	"injected: rank 7 pid $pid stripped\\+$(printf '0x%x' "0x$offset") $address" \
	--around "$pid" "stripped+$inside"
check "it stands there, too" stands
stop
victim=$whole

start
check "a branch turned" injects "injected: rank 7 pid $pid _ZN6victim6Solver7computeEi $address" \
	--turn 0 "$pid" victim::Solver::compute
check "the program has gone another way" wait_for grep -q wrong "$work/steps"
stop

start
check "a function without a branch" refuses "inject: .*resultEv has no such branch" \
	--turn 0 "$pid" victim::Solver::result
check "it goes on" moves
stop

start
check "a function that is not called" refuses "inject: process $pid has not called .*never.* in time" \
	--timeout 0.5 "$pid" victim::Solver::never
check "a function that is not there" refuses "inject: process $pid has no function nosuch" \
	"$pid" nosuch
"$inject" --timeout 30 "$pid" victim::Solver::never 2>/dev/null &
killed=$!
wait_for has_written "$killed"
{ kill -9 $killed; wait $killed; } 2>/dev/null
check "it goes on after all these" moves
stop

"$inject" 2>/dev/null
check "no arguments" test $? -eq 64
check "no such process" refuses "inject: .*" 4194304 advance

finish_checks
