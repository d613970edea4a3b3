#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sample, tree and classes on real jobs without recorder, and on a snapshot of one.
set -u
. tests/shell/lib.sh

if ! command -v mpirun >/dev/null || ! build_program nested ||
	! "$compiler" -g -O1 -fopenmp -o "$work/openmp" tests/shell/openmp.c; then
	echo 'skip: no MPI to compile and run with'
	finish
	exit
fi
cd "$work" || exit 1
[ "${build#/}" != "$build" ] || build=$OLDPWD/$build pdb=$OLDPWD/$pdb

# start OUTPUT PROGRAM...: with so many ranks; its launcher is $job.
start() {
	output=$1
	shift
	mpirun --oversubscribe -n "$@" >"$output" 2>&1 &
	job=$!
	jobs="$jobs $job"
}

stop() {
	kill "$job"
	wait "$job"
} 2>/dev/null

# ---- A rank that loops while the others wait ----

start out 4 ./nested 2
wait_for grep -q 'fault: rank 2' out || fail 'the job does not reach its fault'
others_wait() {
	run --pid "$job" --batch -ex 'set frames function' -ex classes
	printf '%s\n' "$said" | grep -q '^class 1  3:\[0-1,3\]'
}
wait_for others_wait || fail 'the others do not come to wait' "$said"
expect 'classes' '[01]' '^class 1  3:\[0-1,3\]  e.g. rank 0' '^ +MPI_' '^class 2  1:\[2\]  e.g. rank 2' '^ +relax'

run --pid "$job" --batch -ex 'set frames function' -ex 'sample 5 every 20ms' -ex tree \
	-ex 'tree -least' -ex 'tree > t.json' -ex 'classes > c.json' -ex 'tree > t.folded' \
	-ex 'tree > t.svg' -ex 'save t.pdb'
expect 'sample over time' '[01]' '^5 samples of ranks 0-3: 20 stacks, 0 of them incomplete$' \
	'^A thread stood still for [0-9]+ us' '^4:\[0-3\] 20x main' ' 3:\[0-1,3\] 15x MPI_' \
	' 1:\[2\] 5x relax.*  <-$'
if python3 - t.json c.json t.folded t.svg <<'PYTHON'; then pass; else fail 'files'; fi
import json, sys
tree, classes = (json.load(open(name))["result"] for name in sys.argv[1:3])
main = tree["stacks"][0]
assert (main["function"], main["ranks"], main["samples"]) == ("main", "0-3", 20), main
assert [(c["ranks"], c["time"]) for c in main["callees"]] == [("2", 1), ("0-1,3", 2)], main["callees"]
assert main["callees"][0]["ends"] == "2" and main["callees"][0]["file"].endswith("nested.c")
assert [c["representative"] for c in classes["classes"]] == [0, 2]
assert classes["classes"][1]["stacks"][0][1]["function"] == "relax"
folded = dict(line.rsplit(" ", 1) for line in open(sys.argv[3]))
assert folded["main;relax"] == "5\n", folded
assert "<svg" in open(sys.argv[4]).read()
PYTHON

run --pid "$job" --batch -ex 'focus 1-2' -ex 'set frames function' -ex sample -ex 'tree -join' \
	-ex 'focus all' -ex 'tree -above mpi' -ex 'tree -full lp'
expect 'focus, join, above' '[01]' '^1 sample of ranks 1-2: 2 stacks' ' 1:\[1\] MPI_' \
	'^3:\[0-1,3\] MPI_'
run --pid "$job" --batch -ex groups -ex 'bt group 1' -ex 'tree -first -join' -ex 'graph'
expect 'order in time' 2 '^First in temporal order: rank 2\.$' '^1:\[2\] main\(\) > relax' \
	'no models: lp, groups, order, bt, tree.* why'
# One look is too short to be sure, unless the machine is slow.
run --pid "$job" --batch -ex lp
case $status in
0) expect 'a short look' 0 '^(Culprit|Slow or hung): rank 2' 'not sure that this is a hang \(exit status 0\)' ;;
*) expect 'a short look' 1 '^Culprit: rank 2' ;;
esac
run --pid "$job" --batch -ex 'set look 5000' -ex refresh -ex lp
expect 'a long look' 1 '^Culprit: rank 2'
run --pid "$job" --batch -ex 'sample 0'
expect 'no samples' 2 'number of samples'
run --pid "$job" --batch -ex 'sample 3 every 5'
expect 'a time without a unit is milliseconds' '[01]' '^3 samples'
run --pid "$job" --batch -ex 'sample 3 every x'
expect 'no time' 2 '"x" is not a time'
run --pid "$job" --batch -ex 'sample 3 each 1s'
expect 'another word than every' 2 'usage: sample'
run --pid "$job" --batch -ex 'sample 100 every 1s'
expect 'too long' 2 'longer than 60 s'
stop

# ---- The same from its snapshot, with the job gone ----

run --load t.pdb --batch -ex 'set frames function' -ex tree -ex classes -ex 'tree -most -below main'
expect 'a snapshot' 0 '^4:\[0-3\] 20x main' ' 3:\[0-1,3\] 15x MPI_' ' 1:\[2\] 5x relax.*  <-$' \
	'^class 2  1:\[2\]  e.g. rank 2' '^4:\[0-3\] 20x main\(\)'
run --load t.pdb --batch -ex sample
expect 'no samples of a snapshot' 2 'is a snapshot'

# ---- Nobody can be named ----

cat >ring.c <<'END'
#include <mpi.h>
int main(void)
{
	int rank, size, word;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Recv(&word, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return 0;
}
END
"$compiler" -g -o ring ring.c || fail 'a ring is not compiled'
start ring.out 3 ./ring
all_wait() {
	run --pid "$job" --batch -ex lp
	printf '%s\n' "$said" | grep -q 'deadlock: ranks 0-2 wait for each other'
}
wait_for all_wait || fail 'the ring does not come to wait' "$said"
expect 'a ring' 1 '^Deadlock: ranks 0-2 of 3$' 'by the messages that the MPI'
stop

# ---- OpenMP ----

start omp 2 ./openmp
wait_for grep -q ready omp || fail 'the OpenMP job does not start'
workers_work() {
	run --pid "$job" --batch -ex 'set threads on' -ex 'set frames function' -ex tree
	printf '%s\n' "$said" | grep -q '(2 of 3 by OpenMP workers)'
}
wait_for workers_work || fail 'no workers in their region' "$said"
expect 'OpenMP workers' 0 'solve\(\)' 'solve._omp_fn[.0-9]*\(\).*\(2 of 3 by OpenMP workers\)' 'work_for_ever'
stop

finish
