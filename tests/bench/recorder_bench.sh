#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Time added to each MPI call by the recorder, and by traces beside: runs with and without them in
# turns, medians of the runs. For some calls beside a PMPI library that only counts, and one that asks
# backtrace() for the stack. Usage: recorder_bench.sh BUILD_DIR [RUNS [OPTION OF recorder_bench...]]
set -e
build=$(cd "$1" && pwd)
runs=${2:-7}
[ $# -lt 2 ] || shift
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PDB_SEGMENT_DIR="$dir"
# Of calls that pmpi_count.c has.
compared='Send-to-nobody Irecv+Send+Wait Irecv+Isend+2*Wait 16*(Irecv+Isend)+Waitall Test Barrier Bcast Allreduce'

# The calls that are compared, without the others; for the one that takes long, fewer rounds.
compare() {
	set -f
	# shellcheck disable=SC2086 # one name each
	LD_PRELOAD="$build/tests/bench/pmpi_$2-$1.so" "$build/tests/bench/recorder_bench-$1" -n "$3" -x $compared |
		sed "s/^/$2 /" >>"$dir/log"
	set +f
}

one_mpi() {
	mpi=$1
	shift
	i=0
	: >"$dir/log"
	while [ "$i" -lt "$runs" ]; do
		"$build/tests/bench/recorder_bench-$mpi" "$@" | sed 's/^/without /' >>"$dir/log"
		LD_PRELOAD="$build/libpdbrec-$mpi.so" "$build/tests/bench/recorder_bench-$mpi" "$@" |
			sed 's/^/with /' >>"$dir/log"
		PDB_TRACE=1 LD_PRELOAD="$build/libpdbrec-$mpi.so" \
			"$build/tests/bench/recorder_bench-$mpi" "$@" | sed 's/^/traced /' >>"$dir/log"
		if [ $# -eq 0 ]; then
			compare "$mpi" count 300
			compare "$mpi" backtrace 20
		fi
		i=$((i + 1))
	done
	gawk -v mpi="$mpi" '
		{
			value[$1, $2, $3][++num[$1, $2, $3]] = $4
			requests[$2, $3] = $5
			if ($1 == "with" && !(($2, $3) in seen)) {
				seen[$2, $3]
				what[++kinds] = $2 SUBSEP $3
			}
		}
		function median(key,	n, sorted) { n = asort(value[key], sorted); return sorted[int((n + 1) / 2)] }
		function of_each(key, added) {
			return requests[key] ?
				sprintf(", %4.1f ns of each of its %d requests", added / requests[key], requests[key]) : ""
		}
		# What another library adds, if it was measured.
		function beside(other, key, without) {
			return ((other SUBSEP key) in value) ?
				sprintf(", %.1f by %s", median(other SUBSEP key) - without, other) : ""
		}
		END {
			for (i = 1; i <= kinds; i++) {
				split(what[i], part, SUBSEP)
				with = median("with" SUBSEP what[i])
				without = median("without" SUBSEP what[i])
				traced = median("traced" SUBSEP what[i])
				if (part[1] == "clock")
					printf "%-8s of which two time stamps %.1f ns\n", mpi, 2 * with
				else
					printf "%-8s %-34s %2d frames: %6.1f ns without, %6.1f ns with, %5.1f ns added to a call%s, %5.1f more with its trace%s%s\n",
						mpi, part[1], part[2], without, with, with - without, of_each(what[i], with - without), traced - with,
						beside("count", what[i], without), beside("backtrace", what[i], without)
			}
		}' "$dir/log"
}

. tests/suite/as_root.sh
one_mpi openmpi "$@"
one_mpi mpich "$@"
