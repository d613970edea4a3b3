#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh BUILD: find and sample real jobs of Open MPI and MPICH with tests/attach/look.
# Ends with a line "N passed, N failed".
set -u
. tests/attach/job.sh
build=$1/tests/attach
size=8
passed=0 failed=0
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

ok() {
	passed=$((passed + 1))
}

# Say what failed, with what `look` has last said.
bad() {
	echo "FAILED  $mpi: $1" >&2
	[ -f "$work/look" ] && sed 's/^/    /' "$work/look" >&2
	failed=$((failed + 1))
}

# check WORDS COMMAND...: does the command succeed?
check() {
	words=$1
	shift
	if "$@"; then ok; else bad "$words"; fi
}

start() {
	rm -f "$work/look"
	start_job "$@" || bad 'the job does not come up'
}

# Let the job go on to its end, which must be the same as without us.
finish() {
	finish_job
	status=$?
	check "exit status $status after sampling" [ $status -eq 0 ]
	check "output after sampling" [ "$(cat "$work/out")" = "ready
done" ]
}

look() {
	"$build/look" "$@" >"$work/look" 2>&1
}

# Until all ranks are where they are to wait: rank 0 says "ready" when the others may not be there.
look_when_blocked() {
	tries=0
	until look "$job" && has_stacks; do
		tries=$((tries + 1))
		[ $tries -gt 100 ] && return
		sleep 0.1
	done
}

rank_pid() {
	sed -n "s/^rank $1 pid \([0-9]*\) .*/\1/p" "$work/look"
}

# Every rank once, each being the program and not what it is wrapped in.
has_ranks() {
	[ "$(sed -n 's/^rank \([0-9]*\) pid [1-9][0-9]* blocked-.*/\1/p' "$work/look" | xargs)" = \
		"$(seq 0 $((size - 1)) | xargs)" ]
}

# Rank 0 in wait_for_word(), all others in MPI_Barrier() of wait_for_others(), all below main().
has_stacks() {
	[ "$(grep -c '^stack [0-9]* complete _start .* main .*wait_for_others MPI_Barrier' \
		"$work/look")" -eq $((size - 1)) ] &&
		grep -q '^stack 0 complete _start .* main wait_for_word .*read\( libc\.so[^ ]*\)*$' \
			"$work/look" # newer C libraries have frames of their own below read()
}

none_is_held() {
	for r in $(seq 0 $((size - 1))); do
		pid=$(rank_pid "$r")
		grep -q '^TracerPid:[[:space:]]*0$' "/proc/$pid/status" || return 1
		grep -q '^State:[[:space:]]*[tT]' "/proc/$pid/status" && return 1
	done
	return 0
}

# The launcher's line, the same from wherever it is looked for.
finds_launcher_from() {
	line=$(grep '^launcher ' "$work/look")
	[ "$("$build/look" "$1" | grep '^launcher ')" = "$line" ]
}

kill_sampler_often() {
	for i in $(seq 1 25); do
		"$build/look" "$job" 0 >/dev/null 2>&1 &
		sampler=$!
		sleep "0.0$((i * 3 % 10))$((i % 7))"
		kill -9 $sampler
		wait $sampler 2>/dev/null
		none_is_held || return 1
	done
}

# test_job NAME SOURCE COMMAND...: all tests on one kind of job.
test_job() {
	mpi=$1 source=$2
	shift 2
	start "$@" -n $size "$program"
	look_when_blocked
	check 'all ranks are found' has_ranks
	check "by $source" grep -qx "table $source $size" "$work/look"
	check 'the launcher is what was started' grep -q "^launcher $job " "$work/look"
	check 'stacks of all ranks' has_stacks
	check 'no rank is held afterwards' none_is_held
	check 'launcher found from a rank' finds_launcher_from "$(rank_pid 3)"
	look "$job" 30 threads
	check 'thirty rounds with all threads' has_stacks
	check 'the sampler is killed again and again' kill_sampler_often
	finish
	look 999999999
	check 'no such process' grep -q '^error no process 999999999' "$work/look"

	mpi="$mpi in shells"
	start sh -c '"$@"; exit $?' sh "$@" -n $size sh -c '"$1"; exit $?' sh "$program"
	look_when_blocked
	check 'all ranks are found' has_ranks
	check 'stacks of all ranks' has_stacks
	check 'the launcher is below the shell' \
		[ "$(sed -n 's/^launcher \([0-9]*\) .*/\1/p' "$work/look")" != "$job" ]
	finish
}

# Open MPI 5 has no such table; there pdb asks over PMIx, which is not this folder's to test.
source='MPIR table'
mpirun.openmpi --version | grep -q ') 4' || source='process tree'
program=$build/blocked-openmpi
test_job 'Open MPI' "$source" mpirun.openmpi
program=$build/blocked-mpich
test_job 'MPICH' 'process tree' mpiexec.mpich

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
