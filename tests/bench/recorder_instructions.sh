#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Instructions of the recorder in each MPI call, counted by callgrind: the same on a busy machine, so that
# a change of the recorder can be judged there. What the libraries that it calls spend is not in them.
# Usage: recorder_instructions.sh BUILD_DIR [OTHER_BUILD_DIR [NAME...]]: with another build of the
# recorder beside, the earlier one say, if that is not "-".
set -e
build=$(cd "$1" && pwd)
other=${2:--}
shift $(($# > 2 ? 2 : $#))
[ "$other" = - ] || other=$(cd "$other" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PDB_SEGMENT_DIR="$dir" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
rounds=5
calls=1000 # of a round, about: a pattern of seven calls is run 142 times

# count RECORDER BENCH [NAME...]: lines "CALLS FRAMES INSTRUCTIONS". The counters are written down before
# and after each measurement, so that every second file is one.
count() {
	local recorder=$1 bench=$2
	shift 2
	rm -f "$dir"/out*
	LD_PRELOAD="$recorder" valgrind --tool=callgrind --callgrind-out-file="$dir/out" --combine-dumps=no \
		--dump-before=measure --dump-after=measure "$bench" -n $rounds "$@" >"$dir/names" 2>"$dir/log" ||
		{ cat "$dir/log" >&2; return 1; }
	local part=0
	while read -r name frames _; do
		[ "$name" != clock ] || continue
		part=$((part + 2))
		callgrind_annotate --threshold=100 "$dir/out.$part" 2>/dev/null |
			gawk -v name="$name" -v frames="$frames" -v calls=$((rounds * calls)) '
				/libpdbrec/ { gsub(",", "", $1); sum += $1 }
				END { printf "%s %d %.0f\n", name, frames, sum / calls }'
	done <"$dir/names"
}

for mpi in openmpi mpich; do
	bench=$build/tests/bench/recorder_bench-$mpi
	count "$build/libpdbrec-$mpi.so" "$bench" "$@" >"$dir/new"
	if [ "$other" = - ]; then
		gawk -v mpi=$mpi '{ printf "%-8s %-34s %2d frames: %5d instructions a call\n", mpi, $1, $2, $3 }' "$dir/new"
	else
		count "$other/libpdbrec-$mpi.so" "$bench" "$@" >"$dir/old"
		paste -d' ' "$dir/new" "$dir/old" | gawk -v mpi=$mpi '{
			printf "%-8s %-34s %2d frames: %5d instructions a call, %5d in the other, ratio %.3f\n",
				mpi, $1, $2, $3, $6, $6 ? $3 / $6 : 1 }'
	fi
done
