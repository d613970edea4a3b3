#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The batch scripts of docs/batch, submitted to a real slurmctld: a job that hangs is ended early.
# usage: batch.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/checks.bash"

if [ "${2:-}" != here ]; then
	sh "$tests/slurm.sh" 1 bash "$0" "$build" here
	status=$?
	[ $status -ne 77 ] || { echo "0 passed, 0 failed"; exit 0; }
	exit $status
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PATH=$build:$PATH SLURM_MPI_TYPE=pmix_v4
cp "$build/tests/watch/phases-openmpi" app
explain() { sed 's/^/    | /' out; }

is_idle() { [ -z "$(squeue -h)" ]; }

# submit SCRIPT ARGUMENTS-OF-APP: until the job is over
submit() {
	rm -f out hang.*
	sed "s|\./app|./app $2|" "$tests/../docs/batch/$1" >script
	sbatch --quiet script || return 1
	wait_for is_idle || wait_for is_idle || wait_for is_idle
}

for script in slurm.sh prolog.sh; do
	check "$script, a job that hangs is over early" submit $script 'deadlock 3'
	[ $script = prolog.sh ] || check "$script: a report is there" grep -q 'do_wrong' hang.txt
	check "$script: it is told why" grep -q 'Hang: deadlock' out
	check "$script: a snapshot is there" test -s hang.pdb
	timeout 60 "$build/pdb" -nx --load hang.pdb --batch -ex lp >answer 2>&1
	check "$script: and tells who" grep -q 'deadlock: ranks 1-2' answer
	check "$script: no rank is left" bash -c '! pgrep -f "^$0/app"' "$work"
	check "$script, a job that is well" submit $script 'none 3'
	check "$script: no alarm" bash -c '! grep -q Hang out'
done
check "the script's other commands are carried out" grep -q finished out
scancel --user="$(id -un)" 2>/dev/null
finish_checks
