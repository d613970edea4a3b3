#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# pdb's daemons on real jobs: do they come, do they end, whatever happens, and does the job live on,
# with all of its output? On one host, where pdb itself would start none.
# usage: check.sh BUILD_DIRECTORY [openmpi | mpich]; without an MPI both, at the same time
set -u
build=$(realpath "$1")
. "$(dirname "$0")/../suite/checks.bash"

if [ $# -eq 1 ]; then
	results=$(mktemp -d)
	for mpi in openmpi mpich; do
		[ ! -x "$build/pdbd-$mpi" ] || bash "$0" "$build" $mpi >"$results/$mpi" &
	done
	wait
	passed=$(cat "$results"/* | awk '/passed,/ { n += $1 } END { print n + 0 }')
	failed=$(cat "$results"/* | awk '/passed,/ { n += $3 } END { print n + 0 }')
	[ "$(cat "$results"/* | wc -l)" = "$(ls "$results" | wc -l)" ] || failed=$((failed + 1))
	rm -r "$results"
	finish_checks
	exit
fi

mpi=$2
start=$build/tests/daemons/start
work=$(mktemp -d)
job= driver=
mkdir "$work/tmp"
export TMPDIR=$work/tmp

trap '' PIPE # a driver may end before it is told anything
trap 'end_driver; end_job; rm -rf "$work"' EXIT

case $mpi in
openmpi) tree=(mpirun.openmpi --oversubscribe -n 4) ;;
mpich) tree=(mpiexec.mpich -n 4) ;;
esac

explain() { sed "s/^/  $mpi: /" "$work/answers" "$work/errors"; }

# Two ranks that count until they are told to stop counting: any loss shows in the output.
start_job() {
	local launcher=(mpirun.openmpi --oversubscribe -n 2)
	[ $mpi = mpich ] && launcher=(mpiexec.mpich -n 2)
	rm -f "$work/stop"
	: >"$work/answers"
	: >"$work/output"
	"${launcher[@]}" bash -c 'i=0; while [ ! -e "$1/stop" ]; do
			i=$((i + 1)); echo "${OMPI_COMM_WORLD_RANK:-$PMI_RANK} $i"; sleep 0.1; done
		i=$((i + 1)); echo "${OMPI_COMM_WORLD_RANK:-$PMI_RANK} $i end"' \
		counter "$work" >"$work/output" 2>"$work/errors" </dev/null &
	job=$!
	wait_for counts_to 2
}
counts_to() { [ "$(grep -c " $1\$" "$work/output")" = 2 ]; }
end_job() { [ -z "$job" ] || { kill -9 "$job" && wait "$job"; } 2>/dev/null; job=; }
# It still counts, ends when it is told to, and every number of both ranks is there.
job_ends_well() {
	local now status
	now=$(awk '$2 > n { n = $2 } END { print n + 3 }' "$work/output")
	wait_for counts_to "$now" || { echo "  the job stands still" >&2; return 1; }
	touch "$work/stop"
	wait_for has_ended "$job" || { echo "  the job has no end" >&2; end_job; return 1; }
	wait "$job"
	status=$?
	job=
	[ $status -eq 0 ] || { echo "  the job's status is $status" >&2; return 1; }
	[ ! -s "$work/errors" ] &&
		awk '$2 != ++last[$1] { bad = 1 } $3 == "end" { ends++ }
			END { exit bad || ends != 2 }' "$work/output"
}

# The program that starts daemons, with words to ask as its input.
start_driver() {
	rm -f "$work/words"
	mkfifo "$work/words"
	: >"$work/answers" # not those of the one before
	"$start" "$job" "$mpi" "$build" --everywhere <"$work/words" >"$work/answers" 2>&1 &
	driver=$!
	exec 8>"$work/words"
	wait_for grep -q -e '^ready' -e '^error' "$work/answers"
	grep -q '^ready' "$work/answers"
}
end_driver() {
	exec 8>&-
	[ -z "$driver" ] || { kill -9 "$driver"; wait "$driver"; } 2>/dev/null
	driver=
}
say() { echo "$*" >&8; } 2>/dev/null
# Somebody else asks at the same time.
second_finds_job() {
	echo job | "$start" "$job" "$mpi" "$build" --everywhere | grep -qx 'job: 2'
}
answers() { wait_for grep -qx "$1" "$work/answers"; }
# Lets go of the daemons by itself at the end of its input.
driver_ends() {
	exec 8>&-
	wait_for has_ended "$driver" && wait "$driver"
	driver=
}
has_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
# Not those that other tests have on hosts that they have made.
daemons() { pgrep --ns $$ --nslist pid -f "^$build/pdbd-$mpi"; }
# The process that speaks MPI, not its guard.
workers() { for pid in $(daemons); do pgrep -P "$pid" -f "^$build/pdbd-$mpi"; done; }
no_daemons() { ! daemons >/dev/null; }
nobody_connected() { ! pgrep -f "^$start [0-9]* $mpi" >/dev/null; }

# Launchers and their MPI write below TMPDIR, which is this test's own. /dev/shm is everybody's: there
# what counts is what the daemons have open.
list_files() { find "$work/tmp" | sort; }
has_no_file() { [ -z "$(comm -13 "$work/files" <(list_files))" ]; }
# A launcher that has been ended with pdb takes a moment to clean up.
leaves_no_file() {
	wait_for has_no_file && return
	comm -13 "$work/files" <(list_files) >&2
	return 1
}
shares_no_file() {
	for pid in $(daemons); do
		grep '/dev/shm/[^ ]*$' "/proc/$pid/maps" >&2 && return 1
	done
	return 0
}

start_both() { start_job && start_driver; }

check_life() {
	start_job || { cat "$work/errors" >&2; check "a job starts" false; return; }
	list_files >"$work/files"
	check "daemons start" start_driver
	say living
	check "a daemon that knows of no job" answers 'living: 0'
	say job
	check "they find the job's processes" answers 'job: 2'
	say living
	check "the job lives" answers 'living: 2'
	check "they are not taken for the job" second_finds_job
	check "they have no files in shared memory" shares_no_file
	check "they are told to end" driver_ends
	check "none is left" wait_for no_daemons
	check "nobody stays connected" wait_for nobody_connected
	check "no file is left" leaves_no_file

	check "daemons start again" start_driver
	say job
	answers 'job: 2'
	end_driver
	check "killed pdb: none is left" wait_for no_daemons
	check "killed pdb: nobody stays connected" wait_for nobody_connected

	check "daemons for one to be killed" start_driver
	say job
	answers 'job: 2'
	kill -9 $(workers)
	say living
	check "a killed daemon is noticed" answers gone
	check "killed daemon: none is left" wait_for no_daemons
	end_driver
	check "daemons for one to be killed with its guard" start_driver
	kill -9 $(daemons)
	say living
	check "a daemon killed with its guard is noticed" answers gone
	check "daemon killed with its guard: none is left" wait_for no_daemons
	end_driver
	check "killed daemon: no file is left" leaves_no_file
	check "the job has not noticed" job_ends_well
}

check_stopped() {
	check "a job and daemons" start_both
	say job
	answers 'job: 2'
	stopped=$(workers)
	kill -STOP $stopped
	end_driver
	kill -CONT $stopped
	check "stopped daemon: goes on only to end" wait_for no_daemons
	check "stopped daemon: the job has not noticed" job_ends_well

	check "a job and daemons" start_both
	kill -STOP $(workers)
	check "stopped daemon: the job ends" job_ends_well
	end_driver
	check "stopped daemon: ends with the job" wait_for no_daemons
}

check_job_ends() {
	check "a job and daemons" start_both
	say job
	answers 'job: 2'
	check "the job ends with daemons there" job_ends_well
	check "the job's end: none is left" wait_for no_daemons
	end_driver

	check "a job and daemons" start_both
	say job
	answers 'job: 2'
	{ kill -9 "$job"; wait "$job"; } 2>/dev/null
	job=
	check "killed launcher: none is left" wait_for no_daemons
	end_driver
	check "killed launcher: nobody stays connected" wait_for nobody_connected
}

# The tree counts its own checks, and takes its time while these go on.
"${tree[@]}" "$build/tests/daemons/tree-$mpi" >"$work/tree" 2>&1 </dev/null &
tree_pid=$!
check_life
check_stopped
check_job_ends
wait "$tree_pid"
grep -v passed, "$work/tree" >&2
read -r more _ bad _ <<<"$(grep passed, "$work/tree" || echo 0 passed, 1 failed)"
passed=$((passed + more)) failed=$((failed + bad))
finish_checks
