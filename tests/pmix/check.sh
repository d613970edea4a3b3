#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The PMIx tool connection against a real Open MPI 5 mpirun: is the answer right, is the time kept,
# and does the job live on, whatever happens in the middle? usage: check.sh ASK [ROUNDS]
set -u
. "$(dirname "$0")/../suite/checks.bash"
ask=$(realpath "$1") rounds=${2:-40}
work=$(mktemp -d)
job=
# Codes of model/error.h.
ERROR_NOT_FOUND=2 ERROR_GONE=4 ERROR_TIMEOUT=8 ERROR_UNSUPPORTED=9

trap 'end_job; rm -rf "$work"' EXIT

# start_job COUNT: four ranks that count to it, five in a second at most: any loss or disorder shows in the
# output.
start_job() {
	count=$1
	mpirun --oversubscribe -n 4 bash -c \
		"for ((i = 1; i <= $count; i++)); do echo \"\$OMPI_COMM_WORLD_RANK \$i\"; sleep 0.2; done" \
		>"$work/output" 2>"$work/errors" &
	job=$!
	wait_for has_ranks
}
has_ranks() { [ "$(grep -c ' 1$' "$work/output")" = 4 ]; }
end_job() { [ -z "$job" ] || { kill "$job" && wait "$job"; } 2>/dev/null; job=; }
job_ends_well() {
	wait "$job"
	local status=$?
	job=
	[ $status -eq 0 ] && [ ! -s "$work/errors" ] &&
		[ "$(sort -n -k1,1 -k2,2 "$work/output")" = "$(expected_output)" ]
}
expected_output() { for r in 0 1 2 3; do for ((i = 1; i <= count; i++)); do echo "$r $i"; done; done; }

# What procfs says of mpirun's children, in the words of ask.
expected_ranks() {
	for pid in $(ps -o pid= --ppid "$job"); do
		rank=$(tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
		echo "$rank $pid $(hostname) $(readlink "/proc/$pid/exe")"
	done | sort -n
}
answer_is_right() { [ "$("$ask" "$job" 5000 | tail -n +2)" = "$(expected_ranks)" ]; }
# pmix-ask, and the process of its own that speaks to the launcher.
is_asking() { [ "$(pgrep -cx pmix-ask)" -ge 2 ]; }
nobody_asks() { ! pgrep -x pmix-ask >/dev/null; }

fails_with() {
	local code=$1 limit_ms=$2 start status
	shift 2
	start=$(date +%s%N)
	"$ask" "$@" 2>"$work/message"
	status=$?
	[ $status -eq "$code" ] && [ $((($(date +%s%N) - start) / 1000000)) -lt "$limit_ms" ] &&
		return
	echo "  status $status, wanted $code: $(cat "$work/message")" >&2
	return 1
}

# So long that it is there at the end, on a machine that has much else to do, too.
start_job 80 || { cat "$work/errors" >&2; echo "0 passed, 1 failed"; exit 1; }
check "ranks, pids, host and executable" answer_is_right
check "no job of that name" fails_with $ERROR_NOT_FOUND 5000 "$job" 5000 no-such-job
check "a rank is no launcher" fails_with $ERROR_UNSUPPORTED 5000 "$(pgrep -P "$job" -o)" 5000

kill -STOP "$job"
check "a stopped launcher" fails_with $ERROR_TIMEOUT 1500 "$job" 1000
kill -CONT "$job"
check "a launcher that has been stopped answers" answer_is_right

# Longer than PMIx's own patience with a handshake, which must not break the connection either.
check "a launcher that hangs" fails_with $ERROR_TIMEOUT 6500 --hold "$job" 6000
check "a launcher that has hung answers" answer_is_right
check "the process that asked has taken its leave" wait_for nobody_asks
check "the job has not noticed" job_ends_well

start_job 40
for ((round = 0; round < rounds; round++)); do
	"$ask" "$job" 5000 >/dev/null &
	victim=$!
	sleep 0.00$((RANDOM % 10))
	kill -9 $victim
	wait $victim
done 2>/dev/null
check "an answer after $rounds of those who asked were killed" answer_is_right
check "the job has not noticed that" job_ends_well

start_job 40
"$ask" --hold "$job" 1000 2>/dev/null &
victim=$!
wait_for is_asking
{ kill -9 "$job" $victim
wait "$job" $victim; } 2>/dev/null
check "a launcher that has ended" fails_with $ERROR_GONE 5000 "$job" 5000
job=
check "nobody waits for a launcher that has ended" wait_for nobody_asks

# A launcher for several jobs: the latest that lives is taken, or the one named.
# In a temporary folder of its own: prun gives up on what killed launchers have left in /tmp.
mkdir "$work/tmp"
export TMPDIR=$work/tmp
prte --daemonize --report-pid "$work/prte" --report-uri "$work/uri" >/dev/null 2>"$work/errors" \
	</dev/null
run() { prun --dvm-uri "file:$work/uri" -n 1 "$@" 2>>"$work/errors" & }
if wait_for test -s "$work/prte" && wait_for test -s "$work/uri"; then
	job=$(cat "$work/prte")
	check "no job yet" fails_with $ERROR_NOT_FOUND 5000 "$job" 5000
	run sleep 1000
	first=$!
	wait_for "$ask" "$job" 5000 >/dev/null 2>&1
	first_name=$("$ask" "$job" 5000 | head -n 1)
	run sleep 1000
	second=$!
	is_another() { [ "$("$ask" "$job" 5000 | head -n 1)" != "$first_name" ]; }
	check "the latest job" wait_for is_another
	named() { [ "$("$ask" "$job" 5000 "$first_name" | head -n 1)" = "$first_name" ]; }
	check "the job named" named
	[ $failed -eq 0 ] || cat "$work/errors" >&2
	{ kill $first $second "$job"
	wait $first $second; } 2>/dev/null
	job=
else
	cat "$work/errors" >&2
	check "prte starts" false
fi

finish_checks
