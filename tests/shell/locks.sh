#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks that wait for locks which sleeping threads of theirs hold: pdb says which lock, who holds it,
# and where that thread is. With the recorder and without; the first rank has one lock, then another;
# OpenMP's of gcc and of clang.
set -u
. tests/shell/lib.sh

compiler=$(command -v mpicc.openmpi || command -v mpicc)
if ! command -v mpirun >/dev/null || [ -z "$compiler" ] ||
	! "$compiler" -g -O1 -fopenmp -pthread -o "$work/locks" tests/shell/locks.c; then
	echo 'skip: no MPI to compile and run with'
	finish
	exit
fi
programs=locks
if OMPI_CC=clang "$compiler" -g -O1 -fopenmp -pthread -o "$work/locks-clang" tests/shell/locks.c 2>/dev/null; then
	programs='locks locks-clang'
else
	echo "skip: clang's OpenMP: clang and libomp-dev are not installed"
fi
case $build in
/*) ;;
*) build=$PWD/$build pdb=$PWD/$pdb ;;
esac
cd "$work" || exit 1

# What the rank that has this lock says.
holder='thread [0-9]+ holds \(.*\), which is in sleep_on_it'
text_of() {
	case $1 in
	0) echo "waits for mutex 'table' that $holder" ;;
	1) echo "waits for mutex 'cells'.64 that $holder" ;;
	2) echo "waits for rwlock 'tree' that $holder" ;;
	3) echo "waits for rwlock 'tree' .*: a reader holds it" ;;
	4) echo "waits for the lock of stdin that $holder" ;;
	5) echo "waits for (an )?OpenMP critical section.*: likely thread [0-9]+ holds it, which is in sleep_on_it" ;;
	esac
}

# All but the last wait outside MPI, and the last is there.
all_wait() {
	[ "$(grep -c ready out)" = 6 ] || return 1
	run --pid "$job" --batch -ex 'set width 500' -ex 'bt 6' -ex 'bt 0-2' -ex 'bt 3-5'
	printf '%s\n' "$said" | grep -q 'MPI_Barrier' || return 1
	[ "$(printf '%s\n' "$said" | grep -c ' the main thread waits ')" = 6 ]
}

wait_for_all() {
	for _ in $(seq 60); do
		all_wait && return 0
		sleep 0.2
	done
	return 1
}

# expect_each NAME SHIFT: all of them in what was said.
expect_each() {
	expect "$1" '[01]' "rank 0: the main thread $(text_of $((($2 + 0) % 6)))" \
		"rank 1: the main thread $(text_of $((($2 + 1) % 6)))" \
		"rank 2: the main thread $(text_of $((($2 + 2) % 6)))" \
		"rank 3: the main thread $(text_of $((($2 + 3) % 6)))" \
		"rank 4: the main thread $(text_of $((($2 + 4) % 6)))" \
		"rank 5: the main thread $(text_of $((($2 + 5) % 6)))"
}

# What a culprit sleeps in is in lp's JSON, rank 0 first.
check_json() {
	python3 - "$1" "$2" <<'PYTHON'
import json, sys
calls = json.load(open(sys.argv[1]))["result"]["system_calls"]
assert calls[0]["call"] == "futex" and calls[0]["object"] == sys.argv[2], calls
assert calls[0]["reason"].startswith("thread ") and calls[0]["reason"].endswith(" holds it"), calls
PYTHON
}

# check NAME SHIFT PROGRAM LOCK-OF-RANK-0 [OPTION...]
check() {
	what=$1 shift=$2 program=$3 first=$4
	shift 4
	mpirun --oversubscribe -n 7 "$@" "./$program" "$shift" >out 2>&1 &
	job=$!
	jobs="$jobs $job"
	if wait_for_all; then
		run --pid "$job" --batch -ex 'set width 500' -ex 'bt 0' -ex 'bt 1' -ex 'bt 2' \
			-ex 'bt 3' -ex 'bt 4' -ex 'bt 5' -ex 'save saved.pdb'
		expect_each "$what" "$shift"
		run --load saved.pdb --batch -ex 'set width 500' -ex 'bt 0' -ex 'bt 1' -ex 'bt 2' \
			-ex 'bt 3' -ex 'bt 4' -ex 'bt 5'
		expect_each "$what, saved" "$shift"
		run --pid "$job" --batch -ex 'set width 500' -ex 'set look 5000' -ex refresh \
			-ex 'lp > lp.json' -ex lp -ex 'why 6'
		expect "$what, lp and why" '[01]' "$(text_of "$shift")"
		if check_json lp.json "$first"; then pass; else fail "$what, JSON" "$(cat lp.json)"; fi
	else
		fail "$what: the ranks do not come to wait" "$(cat out)
$said"
	fi
	kill "$job"
	wait "$job"
}

for program in $programs; do
	check "$program" 0 "$program" "mutex 'table'"
	check "$program with recorder" 1 "$program" "mutex 'cells'+64" \
		-x "LD_PRELOAD=$build/libpdbrec-openmpi.so"
done
finish
