#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Does pdb tell of a job on two of Slurm's nodes what it tells of one on a single node, and do its
# daemons, a step of the same Slurm job, leave the job alone? Runs on the first host of a Slurm that
# it makes with tests/slurm/slurm.sh.
# usage: nodes.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${2:-}" = here ] || on_hosts "$tests/slurm/slurm.sh" 2 bash "$0" "$build" here

# On all nodes.
work=$(mktemp -d "$build/tests/slurm/work.XXXXXX")
job= session= mpi=
trap 'end_job; end_session; rm -rf "$work"' EXIT
cd "$work" || exit 1
pdb=(env LC_ALL=C.UTF-8 "$build/pdb" --nx)

# The nodes of the job before may still be taken when the next one starts, and srun says so.
said_nothing() { diff /dev/null <(grep -v '^srun: job [0-9]* \(queued and waiting\|has been allocated\)' "$1"); }
not_told() { [ ! -s "$1" ]; }
has_line() { grep -q -- "$1" "$2"; }
has_ended() { [ ! -e "/proc/$1" ] || has_line '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
is_running() { ! has_ended "$1"; }
is() { [ "$1" = "$2" ] || { echo "    | $1, not $2" >&2; return 1; }; }

count_daemons() { for host in a b; do ssh $host pgrep -f "^$build/pdbd-"; done | wc -l; }
no_daemons() { [ "$(count_daemons)" = 0 ]; }
# Of all jobs; Slurm counts the script of a batch job as one.
count_steps() { squeue -h -s -o %i | grep -vc 'batch\|extern'; }
has_steps() { [ "$(count_steps)" = "$1" ]; }
nothing_is_left() { no_daemons && has_steps "$1"; }

# ---- Jobs -------------------------------------------------------------------------------------

# How ranks of this MPI are started by srun.
srun_of() {
	local plugin=pmix_v4
	[ "$1" = openmpi ] || plugin=pmi2
	srun=(srun "--mpi=$plugin")
	recorded=(env LD_PRELOAD="$build/libpdbrec-$1.so" "${srun[@]}")
}

# start_job OUTPUT COMMAND...: its pid in $job, its errors in OUTPUT.errors
start_job() {
	local output=$1
	shift
	"$@" >"$output" 2>"$output.errors" </dev/null &
	job=$!
}
end_job() {
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	job=
}

# start_nested OPTIONS...: hangs in rank 2
start_nested() {
	start_job output "${recorded[@]}" "$@" "$build/tests/mpi/nested-$mpi" 2
	wait_for has_line '^fault: rank' output && return
	cat output output.errors >&2
	check "$mpi: a job starts" false
	exit 1
}

# Two ranks on each node that count until they are told to stop: any loss shows in the output.
start_count() {
	rm -f stop
	start_job output "${recorded[@]}" -N 2 -n 4 "$build/tests/slurm/count-$mpi" stop "$1"
	wait_for counts_to 2
}
counts_to() { [ "$(grep -c " $1\$" output)" = 4 ]; }
# It still counts, ends when it is told to, with that status and every number of all ranks.
count_ends() {
	local now status
	now=$(awk '$2 > n { n = $2 } END { print n + 3 }' output)
	wait_for counts_to "$now" || { echo "  the job stands still" >&2; return 1; }
	touch stop
	if wait_for has_ended "$job"; then
		wait "$job"
		status=$?
		job=
		is $status "$1" || return 1
	elif hangs_in_finalize; then
		end_job
		: >output.errors
	else
		echo "  the job has no end" >&2
		return 1
	fi
	awk '$2 != ++last[$1] { bad = 1 } $3 == "end" { ends++ } END { exit bad || ends != 4 }' output
}
# As jobs of MPICH before 4.2 on several hosts do now and then, recorded or not, with pdb or without.
hangs_in_finalize() {
	[ $mpi = mpich ] && [ "$(grep -c ' end$' output)" = 4 ] || return 1
	"${pdb[@]}" --pid "$job" --batch --ex 'bt all' 2>/dev/null | tee stacks | grep -q MPI_Finalize || return 1
	echo "  this MPICH hangs in MPI_Finalize: ended by the test" >&2
}

# ---- pdb --------------------------------------------------------------------------------------

# What pdb tells, and the same without times. Fails as long as pdb is not sure.
tell() {
	"${pdb[@]}" --pid "$job" --batch --ex 'set color off' --ex 'set width 200' --ex lp --ex groups --ex 'why 0' --ex waits \
		--ex graph --ex loops --ex progress --ex 'bt all' >"$1" 2>"$1.errors"
	sed -E 's/([0-9.]+ (us |ms )?to )?([0-9]+ min )?[0-9.]+ (us|ms|s|min)\b/TIME/g; s/ +/ /g' "$1" >"$1.same"
	has_line '^[A-Z][a-z ]*: ranks* [0-9]' "$1" && ! has_line 'not sure' "$1"
}

# Somebody sits there and types. The daemons are there when it returns.
start_session() {
	rm -f words
	mkfifo words
	"${pdb[@]}" --pid "$job" <words >answers 2>why &
	session=$!
	exec 8>words
	echo 'info job' >&8
	wait_for has_line 'daemons   on 2 hosts' answers && return
	cat answers why >&2
	return 1
}
end_session() {
	exec 8>&-
	[ -z "$session" ] || wait "$session"
	session=
}

# ---- The checks -------------------------------------------------------------------------------

check_answers() {
	start_nested -N 1 -n 4
	check "$mpi, one node: pdb is sure" wait_for tell one
	check "$mpi, one node: no daemons are needed" not_told one.errors
	end_job
	start_nested -N 2 -n 4 --ntasks-per-node=2
	check "$mpi, two nodes: pdb is sure" wait_for tell two
	check "$mpi, two nodes: the same answers" diff one.same two.same
	check "$mpi, two nodes: nothing is missing" diff /dev/null two.errors
	check "$mpi, two nodes: daemons and their step end with pdb" wait_for nothing_is_left 1
	check "$mpi, two nodes: the job is there" is_running "$job"
	check "$mpi, two nodes: the job has said nothing" diff <(echo 'fault: rank 2') output
	check "$mpi, two nodes: nor has srun" said_nothing output.errors
	end_job
	# pdb where no rank is.
	start_nested -N 1 -n 4 -w b
	check "$mpi, the other node: pdb is sure" wait_for tell two
	check "$mpi, the other node: the same answers" diff one.same two.same
	check "$mpi, the other node: nothing is missing" diff /dev/null two.errors
	end_job
	wait_for nothing_is_left 0
}

check_ends() {
	start_count 3
	check "$mpi: daemons on two nodes" start_session
	check "$mpi: their step is one of the job's" has_steps 2
	check "$mpi: the job ends with its own status and output" count_ends 3
	check "$mpi: nothing is left of the daemons" wait_for nothing_is_left 0
	echo refresh >&8
	check "$mpi: pdb says that the job has ended" wait_for has_line 'has ended' why
	end_session

	start_count 0
	start_session
	{ kill -9 "$session"; wait "$session"; } 2>/dev/null
	exec 8>&-
	check "$mpi, killed pdb: daemons and their step end" wait_for nothing_is_left 1
	check "$mpi, killed pdb: the job has not noticed" count_ends 0
	check "$mpi, killed pdb: nor has srun" said_nothing output.errors

	start_count 0
	start_session
	ssh b "kill -KILL \$(pgrep -f '^$build/pdbd-')"
	check "$mpi, killed daemon: the others end" wait_for nothing_is_left 1
	echo refresh >&8
	check "$mpi, killed daemon: pdb says so" wait_for has_line 'daemons .* were lost' why
	end_session
	check "$mpi, killed daemon: the job has not noticed" count_ends 0
	check "$mpi, killed daemon: nor has srun" said_nothing output.errors
}

# The job's launcher is run in an allocation, on all processors that there are: daemons take none. A
# batch script and a shell of salloc have variables that srun takes for options, and mpirun for the
# nodes that it may use; a pdb that is started elsewhere has none.
write_script() {
	cat >script <<-END
		#!/bin/bash
		mpi=$mpi build=$build
		$(declare -p pdb srun)
		$(declare -f has_line has_ended wait_for tell)
		"\$@" "\$build/tests/mpi/nested-\$mpi" 2 >output 2>output.errors &
		job=\$!
		wait_for has_line '^fault: rank' output
		[ "\$1" = env ] || unset \${!SLURM_*}
		wait_for tell two
		kill "\$job"
		wait "\$job"
		[ "\$1" != env ] || "\${srun[@]}" hostname 2>/dev/null
		exit 5
	END
}
check_allocation() {
	check "$1: its status" is "$2" 5
	check "$1: the same answers" diff one.same two.same
	check "$1: nothing is missing" diff /dev/null two.errors
	check "$1: nothing is left" wait_for nothing_is_left 0
	rm -f two*
}
check_allocations() {
	local options=(-N 2 -n 4 --ntasks-per-node=2 --cpus-per-task=8 --mem-per-cpu=1 --exclusive)
	local mpirun=(mpirun.openmpi -x LD_PRELOAD="$build/libpdbrec-openmpi.so" --map-by ppr:2:node)
	[ $mpi = openmpi ] ||
		mpirun=(mpiexec.mpich -genv LD_PRELOAD "$build/libpdbrec-mpich.so" -ppn 2)
	write_script
	sbatch --wait "${options[@]}" -o batch.out script "${recorded[@]}" -n 4 >/dev/null 2>&1
	check_allocation "$mpi, srun in sbatch" $?
	check "$mpi, srun in sbatch: the next step runs" is "$(sort batch.out | xargs)" "a a b b"
	salloc -Q "${options[@]}" bash script "${recorded[@]}" -n 4 >batch.out 2>&1
	check_allocation "$mpi, srun in salloc" $?
	salloc -Q "${options[@]}" bash script "${mpirun[@]}" -n 4 >batch.out 2>&1
	check_allocation "$mpi, ${mpirun[0]} in salloc" $?
}

for mpi in openmpi mpich; do
	srun_of $mpi
	check_answers
	check_ends
	check_allocations
done
finish_checks
