#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh BUILD [RANKS]
# The temporal order of a job that hangs without the recorder: the solver of Ahn et al. (SC 2009),
# figure 1, with one rank stalled in get_norm(). It must be first, before its neighbours, and these
# before those that wait in the reduction; with and without optimization. The same is what lp goes by
# when that rank, too, is inside MPI, and what tree shows.
set -u

build=$1
ranks=${2:-32}
stalled=8
passed=0
failed=0
job=
work=$(mktemp -d)
trap 'end; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

check() {
	if grep -q "$2" "$work/answer"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$1: no \"$2\" in:"
		cat "$work/answer"
	fi
}

# start PROGRAM [ARGUMENT]: until the rank has stalled.
start() {
	program=$1
	shift
	nice -n 19 mpirun.openmpi --oversubscribe -n "$ranks" "$build/tests/order/$program" \
		$stalled "$@" >"$work/output" 2>&1 &
	job=$!
	tries=0
	until grep -q '^fault' "$work/output" || [ $tries -eq 300 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

# ask COMMAND LINE: till the answer begins so. The others go on until they wait, which takes some
# messages.
ask() {
	tries=0
	until "$build/pdb" --pid $job --batch -ex "$1" >"$work/answer" 2>&1 &&
		grep -q "$2" "$work/answer" || [ $tries -eq 5 ]; do
		tries=$((tries + 1))
	done
}

end() {
	[ -n "$job" ] || return
	kill $job
	wait $job 2>/dev/null
	job=
}

for program in poisson-O0 poisson-O2 poisson_f-O0 poisson_f-O2; do
	start $program
	ask order "^First in temporal order: rank $stalled\\.\$"
	check $program "^First in temporal order: rank $stalled\\.\$"
	check $program 'get_norm'
	check $program 'it=17'
	check $program 'before 2: '
	end
done
start poisson-O2 receive
ask lp "^Least progressed: rank $stalled,"
check lp "^Least progressed: rank $stalled, 1 of $ranks ranks"
check lp 'by the order of the stacks: '
check lp 'need not be the cause'
end
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
