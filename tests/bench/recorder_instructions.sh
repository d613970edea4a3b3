#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Instructions of the recorder in each MPI call, counted by callgrind: the same on a busy machine, so that
# a change of the recorder can be judged there. What the libraries that it calls spend is not in them.
#	recorder_instructions.sh BUILD_DIR [BEFORE [NAME...]]
# BEFORE: "-", or the directory of another build of the recorder, the earlier one say, or a file that this has
# printed: those beside. Where it is a file only those are printed that differ by more than 3 %, as "MOVED", and
# how many were counted. 1 if the recorder was not there in a call.
set -e
build=$(cd "$1" && pwd)
other=${2:--}
shift $(($# > 2 ? 2 : $#))
[ ! -d "$other" ] || other=$(cd "$other" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. tests/suite/as_root.sh
export PDB_SEGMENT_DIR="$dir"
rounds=5
calls=1000 # of a round, about: a pattern of seven calls is run 142 times

# count RECORDER BENCH [NAME...]: lines "CALLS FRAMES INSTRUCTIONS". The counters are written down before
# and after each measurement, of which there is one before that does not count: every fourth file is one.
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
		part=$((part + 4))
		gawk -v name="$name" -v frames="$frames" -v calls=$((rounds * calls)) \
			-v object=libpdbrec -f tests/bench/callgrind_object.gawk "$dir/out.$part"
	done <"$dir/names"
}

show() {
	gawk '{ printf "%-8s %-34s %2d frames: %5d instructions a call\n", $1, $2, $3, $4 }' "$1"
}

for mpi in openmpi mpich; do
	bench=$build/tests/bench/recorder_bench-$mpi
	count "$build/libpdbrec-$mpi.so" "$bench" "$@" >"$dir/part"
	sed "s/^/$mpi /" "$dir/part" >>"$dir/new"
	if [ -d "$other" ]; then
		count "$other/libpdbrec-$mpi.so" "$bench" "$@" >"$dir/part"
		sed "s/^/$mpi /" "$dir/part" >>"$dir/old"
	fi
done
if [ "$other" = - ]; then
	show "$dir/new"
elif [ -d "$other" ]; then
	show "$dir/new" | paste -d' ' - "$dir/old" |
		gawk '{ before = $NF; sub(/ [^ ]+ [^ ]+ [^ ]+ [^ ]+$/, "")
			printf "%s, %5d in the other, ratio %.3f\n", $0, before, before ? $(NF - 3) / before : 1 }'
else
	show "$dir/new" | gawk '
		{ call = $1 " " $2 " " $3 }
		NR == FNR { before[call] = $5; next }
		call in before && ($5 > 1.03 * before[call] || $5 < 0.97 * before[call]) {
			printf "MOVED  %s, %d before, ratio %.3f\n", $0, before[call], $5 / before[call]
		}' "$other" -
fi
gawk '$4 > 0 { passed++ } $4 == 0 { failed++; print "FAILED  " $1 " " $2 }
	END { printf "%d passed, %d failed\n", passed, failed; exit failed > 0 || !passed }' "$dir/new"
