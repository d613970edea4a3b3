# SPDX-License-Identifier: BSD-3-Clause
# What is saved of jobs that end or hang, by pdb run and pdb watch. Part of run.sh.

# Where segments are, so that one that is left is seen. Hosts have memory of their own.
segments=/dev/shm
if [ -z "${hosts:-}" ]; then
	segments=$(mktemp -d /dev/shm/pdb-test.XXXXXX)
	export PDB_SEGMENT_DIR=$segments
fi
# on_all COMMAND: where ranks are
on_all() {
	local host
	sh -c "$1"
	[ -z "${hosts:-}" ] || for host in ${hosts#* }; do ssh "$host" "$1"; done
}
nothing_left() {
	on_all "ls $segments" >"$work/left"
	! grep '^pdb\.' "$work/left" >>"$work/answer"
}

# run_pdb STATUS PROGRAM ROUNDS END [OPTION...]: pdb run --trace --save, until the job's end or a hang.
run_pdb() {
	local expected=$1 program=$2 rounds=$3 end=$4
	shift 4
	rm -f "$work"/out.* "$work/saved"
	find_launcher
	timeout 300 "$build/pdb" run --trace --save "$work/saved" "$@" -- "${launcher[@]}" -n $ranks \
		"$work/$program-$mpi" "$work/out" "$rounds" $end >"$work/output" 2>&1 </dev/null
	echo "status $?" >"$work/answer"
	from=(--load "$work/saved")
	has "^status $expected$"
}
# A run that ends when it is watched. One that ended before that is known on pdb's own host alone.
run_watched() {
	rm -f "$work/out.go" "$work/output"
	(wait_long grep -qs '"event": "begin"' "$work/output" && touch "$work/out.go") &
	run_pdb 0 reference 40 go --json
}
# What rank 1 did until it was killed; the others ended at some moment.
killed_rank() {
	local rank
	take_all
	cmp "$work/got.1.0" "$work/out.1.0" >>"$work/answer" 2>&1 || return 1
	for ((rank = 0; rank < ranks; rank++)); do
		[ -s "$work/got.$rank.0" ] || return 1
	done
}
is_watched() { grep -q '"event": "begin"' "$work/watch"; }
# The job is one that knows nothing of pdb run.
watch_to_end() {
	local watch status
	start_job reference 30 go
	wait_long all_written Allreduce || return 1
	"$build/pdb" watch --pid $job --save "$work/saved" --json >"$work/watch" 2>&1 &
	watch=$!
	wait_long is_watched
	status=$?
	touch "$work/out.go"
	wait $watch || status=1
	wait $job || status=1
	job=
	from=(--load "$work/saved")
	[ $status -eq 0 ]
}

# For one MPI what does not depend on it, too.
check_special_ends() {
	check "$mpi a run with a rank that is killed" run_pdb '[19][0-9]*' reference 20 kill
	check "$mpi what it did till then" killed_rank
	check "$mpi nothing is left of them" nothing_left
	check "$mpi with children" run_pdb 0 functions 20 fork
	check "$mpi traces without what children do" equal_all
	check "$mpi another program in the end" run_pdb 0 reference 20 exec
	check "$mpi traces of the first program" equal_all
	check "$mpi nothing is left of either" nothing_left
	check "$mpi a run with a filter" run_pdb 0 functions 20 end --trace-filter 'mpi,!MPI_Is*'
	check "$mpi what the filter lets pass" equal_all '^(I[^s]|[A-HJ-Z]).*[^)s]$'
	check "$mpi a run with small traces" run_pdb 0 reference 121 end --trace=8k,16
	check "$mpi their beginning" truncated
}

check_ends() {
	# Of jobs that were killed.
	on_all "rm -f $segments/pdb.*"
	check "$mpi a run that hangs" run_pdb 1 reference 30 '' --kill
	check "$mpi the traces of the hang" equal_all
	[ -n "${hosts:-}" ] || check "$mpi nothing is left of the hang" nothing_left
	# MPICH 4.0 hangs in MPI_Finalize on several hosts.
	[ -z "${hosts:-}" ] || [ $mpi = openmpi ] || return
	on_all "rm -f $segments/pdb.*"
	check "$mpi a run that ends" run_watched
	check "$mpi its traces" equal_all
	check "$mpi nothing is left of it" nothing_left
	check "$mpi a job that is watched" watch_to_end
	check "$mpi its traces as well" equal_all
	check "$mpi nothing is left of that" nothing_left
	[ -z "${hosts:-}" ] || return
	# It may have ended before pdb sees it.
	check "$mpi a short run" run_pdb 0 reference 1 end
	check "$mpi the traces of the short one" equal_all
	check "$mpi nothing is left of the short one" nothing_left
	[ -n "$had_special" ] || check_special_ends
	had_special=yes
}
had_special=
