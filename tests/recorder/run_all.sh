#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run tests/recorder/run.sh and unharmed.sh for both MPIs (JOBS_MPI: for one), side by side, as most of the time is the
# start of jobs, and end with one line: N passed, N failed.
# usage: run_all.sh BUILD_DIR [WORD: only tests whose name holds it]
set -u
. tests/suite/beside.bash
folder=$1/tests/recorder
mkdir -p "$folder"
run_scripts() {
	sh tests/recorder/run.sh "$1" "$2" "$3" >"$folder/$2.out" 2>&1
	bash tests/recorder/unharmed.sh "$1" "$2" short "$3" >>"$folder/$2.out" 2>&1
}
outputs=()
for mpi in ${JOBS_MPI:-openmpi mpich}; do
	beside run_scripts "$1" $mpi "${2:-}"
	outputs+=("$mpi.out")
done
wait_beside
cd "$folder" || exit 1
grep -hvE '^[0-9]+ (passed,|skipped)' "${outputs[@]}"
# A script that has not come to its sum has failed.
awk -v scripts=$((2 * ${#outputs[@]})) '/^[0-9]+ skipped/ { skipped += $1 }
     /^[0-9]+ passed,/ { passed += $1; failed += $3; sums++ }
     END {
	if (skipped)
		print skipped " skipped"
	failed += scripts - sums
	print passed + 0 " passed, " failed " failed"
	exit failed != 0
     }' "${outputs[@]}"
