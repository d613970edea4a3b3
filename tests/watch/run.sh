#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# `pdb watch` and `pdb run --watch` on real jobs: each kind of hang is found and named, programs that
# only look like it end in peace, and the exit statuses are what scripts are told.
# usage: run.sh BUILD_DIRECTORY [MPI...]; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(dirname "$(dirname "$(realpath "$0")")")
. "$(dirname "$(realpath "$0")")/lib.bash"
shift
[ $# -gt 0 ] || set -- openmpi mpich

# hang MPI KIND PATTERN WATCH-OPTION...: the hang is found, called so, and the job ended
hang() {
	local mpi=$1 kind=$2 pattern=$3
	shift 3
	PDB_SEGMENT_DIR=$work/segments watch_run "$mpi" "$kind" 3 1 --json --kill --save "$work/$kind.pdb" "$@"
	check "$mpi, $kind: status 1" test $? -eq 1
	check "$mpi, $kind: what it is" says "\"event\": \"hang\".*$pattern"
	check "$mpi, $kind: the job has been ended" no_ranks "$mpi"
	check "$mpi, $kind: nothing of it is left in memory" rmdir segments
	mkdir segments
	check "$mpi, $kind: a snapshot" test -s "$work/$kind.pdb"
}

mkdir segments
for mpi; do
	cp "$build/tests/watch/phases-$mpi" . || exit 1
	watch_run "$mpi" none 4 0
	check "$mpi: a job that ends well, status 0" test $? -eq 0
	check "$mpi: nothing is said of it" test ! -s said
	watch_run "$mpi" status 3 0
	check "$mpi: a job that fails, status 7" test $? -eq 7
	watch_run "$mpi" output 3 0 --json
	check "$mpi: one rank writes for long, status 0" test $? -eq 0
	check "$mpi: no alarm" bash -c '! grep -q "\"hang\"" said'
	watch_run "$mpi" slow 25 1 --json
	check "$mpi: one rank is slow, status 0" test $? -eq 0
	check "$mpi: it is named" says '"slow-rank", .*"slow: rank 1\. .*no hang'
	check "$mpi: and why" says '"slow-why", .*"rank 1 is slow: .*asleep outside MPI'
	check "$mpi: no alarm" bash -c '! grep -q "\"hang\"" said'
	hang "$mpi" deadlock '"deadlock", "ranks": "[12,]*"'
	hang "$mpi" endless '"computation", "ranks": "1"' --max-wait 15s
	check "$mpi, endless: not at once, as it might come back" says '"still".*rank 1 may come back.*1[05](\.[0-9]+)? s'
done
mpi=$1
# That ranks once computed for longer elsewhere says nothing of this place: no --max-wait is needed.
hang "$mpi" setup '"computation", "ranks": "1", "certain": true, "proof": "(stays|test)", "still_s": 1[0-9]\.'
hang "$mpi" lost '"lost message", "ranks": "1"'
hang "$mpi" mismatch '"mismatch"'
hang "$mpi" sleep '"computation", "ranks": "1"' --max-wait 10s
# Samples interrupt it, and that is no work.
hang "$mpi" read '"computation", "ranks": "1"' --max-wait 10s
watch_run "$mpi" long 3 1 --json --kill
check "a rank computes for longer than ever before: status 0" test $? -eq 0
check "it is told, and the job is not ended" says '"still".*rank 1 may come back'
# At once by what it is; on a busy machine the standstill may be told as soon.
hang "$mpi" stopped '"stopped", "ranks": "1", "certain": true, "proof": "(counts|test)"'

# ---- What is done about a hang ----

cat >act <<'END'
echo "$PDB_HANG_KIND of $PDB_HANG_RANKS in $PDB_JOB_SIZE, $PDB_SNAPSHOT $PDB_REPORT" >facts
END
watch_run "$mpi" deadlock 2 1 --kill --save s.pdb --report r.txt --on-hang 'sh act; exit 3'
check "everything at once: status 1" test $? -eq 1
check "--on-hang has the facts" grep -Eq '^deadlock of [12,-]+ in 4, s.pdb r.txt$' facts
check "its status is told" says 'on-hang: ended with status 3'
check "the report has the verdict" grep -q 'deadlock: ranks 1-2 wait for each other' r.txt
check "and the stacks" grep -q 'do_wrong' r.txt
timeout 60 "$build/pdb" -nx --load s.pdb --batch -ex lp -ex 'bt 1' -ex groups >said 2>&1
check "the snapshot answers: status 1" test $? -eq 1
check "with the verdict" says 'deadlock: ranks 1-2'
check "with names" says 'do_wrong\(\)'
watch_run "$mpi" deadlock 2 1 --kill --report hang.html
check "a page: told" says 'report: hang.html'
check "it is whole" /usr/bin/python3 "$tests/report/check_page.py" hang.html
check "with the verdict" grep -Eq '<h1>(Culprit|Deadlock): ranks? ' hang.html
watch_run "$mpi" deadlock 2 1 --kill --report /dev/full
check "what cannot be written: status 1" test $? -eq 1
check "no report: told" says 'no report:'
check "and the job has been ended" no_ranks "$mpi"

# ---- A job that runs ----

job_of "$mpi" 4 "$work/phases-$mpi" endless 3
"${command[@]}" >output 2>&1 </dev/null &
job=$!
jobs="$jobs $job"
# There is hardly any history to judge by.
timeout 100 "$build/pdb" -nx watch --pid $job --max-wait 3s >said 2>&1 </dev/null
check "without a recorder: status 1" test $? -eq 1
check "by stacks" says 'by their stacks: no recorder'
check "a hang" says '^Hang: computation'
check "which is not doubted" bash -c '! grep -q "not sure" said'
# Looks that take a second each are rare, but there is one when the time is over.
check "told when the time is over" says 'Nobody was seen to move (for|since watching began,) (1?[0-9]|[0-9]\.[0-9]+) s.*, in [0-9]+ looks'
check "it is not ended without --kill" kill -0 $job
kill $job
wait $job 2>/dev/null

# Of these no look ever finds anybody elsewhere: one rank computes nearly always. They move all the same.
uneven() {
	job_of "$1" 4 "$build/tests/watch/uneven-$1" "$2" 2
	"${command[@]}" >output 2>&1 </dev/null &
	job=$!
	jobs="$jobs $job"
	timeout -s INT -k 5 25 "$build/pdb" -nx watch --pid $job --max-wait 12s >said 2>&1 </dev/null
	check "$1, $2: one rank computes nearly always: no hang" bash -c '! grep -q "^Hang" said'
	check "$1, $2: and nothing of nobody moving" bash -c '! grep -q "nobody was seen" said'
	kill $job
	wait $job 2>/dev/null
}
for mpi; do
	uneven "$mpi" alone
	uneven "$mpi" master
done
mpi=$1

job_of "$mpi" 4 "$work/phases-$mpi" deeper 2 0
"${command[@]}" >output 2>&1 </dev/null &
job=$!
jobs="$jobs $job"
timeout 100 "$build/pdb" -nx watch --pid $job --json >said 2>&1 </dev/null
check "by stacks, one rank gets on in its code for long: status 0" test $? -eq 0
check "told" says '"phase", .*while rank 0 did work: no hang'
check "no alarm" bash -c '! grep -q "\"hang\"" said'
wait $job 2>/dev/null

job_of "$mpi" 4 "$work/phases-$mpi" none 100
eval "$("$build/pdb" env --mpi="$mpi")"
"${command[@]}" >output 2>&1 </dev/null &
job=$!
jobs="$jobs $job"
unset LD_PRELOAD
timeout 100 "$build/pdb" -nx watch --pid $job --json >said 2>&1 </dev/null &
watcher=$!
wait_for grep -q '"begin"' said
kill -STOP $watcher $(pgrep -P $watcher)
sleep 1
kill -KILL $(pgrep -P $watcher) $watcher
wait $watcher 2>/dev/null
check "a watcher that is stopped and killed does the job no harm" kill -0 $job
timeout 100 "$build/pdb" -nx watch --pid $job --json >said 2>&1 </dev/null &
watcher=$!
wait_for grep -q '"begin"' said
kill $job
wait $job 2>/dev/null
wait $watcher
check "mpirun is gone: status 0" test $? -eq 0
check "told" says '"how": "ended"'

job_of "$mpi" 4 "$work/phases-$mpi" endless 2
eval "$("$build/pdb" env --mpi="$mpi")"
"${command[@]}" >output 2>&1 </dev/null &
job=$!
jobs="$jobs $job"
unset LD_PRELOAD
hangs_for_long() { "$build/pdb" -nx --pid $job --batch -ex lp 2>&1 | grep -q 'no rank has moved for [1-9][0-9] s'; }
wait_for hangs_for_long
timeout 100 "$build/pdb" -nx watch --pid $job >said 2>&1 </dev/null
check "a job that hung before: status 1" test $? -eq 1
check "the time before counts" says '^Hang: computation. Nobody has moved for [1-9][0-9] s'
kill $job
wait $job 2>/dev/null

# ---- What is asked wrongly ----

for wrong in '--alpha 2' '--max-wait x' '--report' '--watch' '--load x'; do
	timeout 20 "$build/pdb" -nx watch $wrong >said 2>&1 </dev/null
	check "watch $wrong: status 2" test $? -eq 2
done
timeout 20 "$build/pdb" -nx run --kill -- true >said 2>&1
check "--kill without --watch: status 2" test $? -eq 2
timeout 20 "$build/pdb" -nx run --watch --mpi=openmpi -- ./no-such-program >said 2>&1
check "no such program: status 2" test $? -eq 2
timeout 60 "$build/pdb" -nx run --watch --mpi=openmpi -- sh -c 'exit 5' >said 2>&1
check "a job that ends at its start: its status" test $? -eq 5

finish_checks
