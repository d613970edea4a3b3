#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The batch scripts of docs/batch, submitted to a real slurmctld, on one node and on two: a job that
# hangs is ended early, it is said why, and nothing that it has written is lost.
# usage: batch.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${2:-}" = here ] || on_hosts "$tests/slurm/slurm.sh" 2 bash "$0" "$build" here

# On both nodes.
work=$(mktemp -d "$build/tests/slurm/batch.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PATH=$build:$PATH
explain() { sed 's/^/    | /' out; }

is_idle() { [ -z "$(squeue -h)" ]; }
no_ranks_now() { ! { ssh a pgrep -x app || ssh b pgrep -x app; } >/dev/null; }
no_ranks() { wait_for no_ranks_now; }
is_over() { wait_for is_idle || wait_for is_idle || wait_for is_idle; }

# Of jobs of this MPI, on so many nodes, of so many ranks.
use() {
	mpi=$1 nodes=$2 ranks=${3:-4}
	SLURM_MPI_TYPE=pmix_v4
	[ "$mpi" = openmpi ] || SLURM_MPI_TYPE=pmi2
	export SLURM_MPI_TYPE
	rm -f app
	cp "$build/tests/watch/phases-$mpi" app
}

# begin SCRIPT ARGUMENTS-OF-APP: submitted
begin() {
	rm -f out hang.*
	sed "s|\./app|./app $2|; s|--mpi=openmpi|--mpi=$mpi|" "$tests/../docs/batch/$1" >script
	sbatch --quiet -N "$nodes" --ntasks="$ranks" --ntasks-per-node=$((ranks / nodes)) --output=out script
}
# The same, until the job is over.
submit() { begin "$@" && is_over; }

# check_hang WHAT SCRIPT: a deadlock is found and named, and the job ended
check_hang() {
	check "$1, a job that hangs is over early" submit "$2" 'deadlock 3'
	[ "$2" = prolog.sh ] || check "$1: a report is there" grep -q 'do_wrong' hang.txt
	check "$1: it is told why" grep -q 'Hang: deadlock' out
	check "$1: a snapshot is there" test -s hang.pdb
	timeout 60 "$build/pdb" -nx --load hang.pdb --batch -ex lp >answer 2>&1
	check "$1: and tells who" grep -q 'deadlock: ranks 1-2' answer
	check "$1: all ranks are in it" bash -c '! grep -q "Not known" answer'
	check "$1: no rank is left" no_ranks
	check "$1: what it wrote before is there" grep -q '^fault: rank 1 deadlock' out
}
check_healthy() {
	check "$1, a job that is well" submit "$2" 'none 3'
	check "$1: no alarm" bash -c '! grep -v "no hang$" out | grep -q "Hang\|pdb:"'
}

use openmpi 1
check_hang "srun, one node" slurm.sh
check_healthy "srun, one node" slurm.sh
check_hang "a script, one node" prolog.sh
check_healthy "a script, one node" prolog.sh
check "the script's other commands are carried out" grep -q finished out

use openmpi 2
check_hang "srun, two nodes" slurm.sh
check_healthy "srun, two nodes" slurm.sh
check_hang "a script, two nodes" prolog.sh
# As in PBS; here Open MPI starts its own daemons with srun.
export PBS_O_WORKDIR=$work
check_hang "mpirun, two nodes" pbs.sh
check_healthy "mpirun, two nodes" pbs.sh

# The batch system lets another job run for a while, in the midst of it.
use openmpi 2
begin slurm.sh 'none 10'
has_ranks() { ssh b pgrep -x app >/dev/null; }
check "a job that is going to be suspended" wait_for has_ranks
sleep 3
id=$(squeue -h -o %i)
check "it is suspended" scontrol suspend "$id"
sleep 6
check "it goes on" scontrol resume "$id"
check "to its end" is_over
check "which it came to by itself" grep -q '^fault: rank 1 none' out
check "no alarm was raised" bash -c '! grep -q "Hang" out'

# Somebody stops the ranks alone, on both nodes.
begin slurm.sh 'none 10'
wait_for has_ranks
sleep 3
for host in a b; do ssh $host 'kill -STOP $(pgrep -x app)'; done
check "ranks that are stopped on both nodes: told" wait_for grep -q 'the job is suspended' out
for host in a b; do ssh $host 'kill -CONT $(pgrep -x app)'; done
check "it goes on to its end" is_over
check "which is told, too" grep -q 'the job goes on, and so does watching' out
check "no alarm was raised for that" bash -c '! grep -q "Hang" out'

# A batch system that warns the script.
cat >warned <<'END_OF_SCRIPT'
#!/bin/bash
[ "$PDB_WATCHED" ] || PDB_WATCHED=1 exec pdb run --watch --mpi=openmpi -- bash "$0" "$@"
trap 'echo warned; touch over' USR1
srun ./app over 0 &
until wait; do :; done
END_OF_SCRIPT
rm -f app
cp "$build/tests/slurm/count-openmpi" app
rm -f out over
counts_to() { [ "$(grep -c " $1\$" out 2>/dev/null)" = 4 ]; }
check "a script that waits for a warning" sbatch --quiet -N 2 -n 4 --ntasks-per-node=2 --output=out warned "$work/warned"
check "its job counts" wait_for counts_to 20
scancel --signal=USR1 --batch "$(squeue -h -o %i)"
check "the script hears of it and goes on to its end" is_over
check "it was warned" grep -q warned out
check "the job came to its end" test "$(grep -c ' end$' out)" = 4

# One that writes all the time: nothing of it may be lost. A rank of the other node is stopped.
rm -f over
begin slurm.sh "over 0"
check "a job that writes" wait_for counts_to 30
ssh b 'kill -STOP $(pgrep -x app | head -n 1)'
check "it is over early" is_over
check "it was a rank that is stopped" grep -q 'Hang: stopped' out
check "each rank's numbers are there, without a gap" awk '$1 ~ /^[0-3]$/ && $2 ~ /^[0-9]+$/ {
	if ($2 != ++last[$1]) bad = 1 } END { for (rank = 0; rank < 4; rank++) if (last[rank] < 30) bad = 1; exit bad }' out
check "no rank is left" no_ranks

use mpich 2
check_hang "srun, MPICH, two nodes" slurm.sh
# MPICH's ranks may stay in MPI_Finalize for minutes when there are two on each of these hosts, watched or not.
use mpich 2 2
check_healthy "srun, MPICH, two nodes" slurm.sh
scancel --user="$(id -un)" 2>/dev/null
finish_checks
