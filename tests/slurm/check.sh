#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# pdb on jobs of one node that a real srun has started, however it is told of them. Runs on the one
# host of a Slurm that it makes with tests/slurm/slurm.sh.
# usage: check.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${2:-}" = here ] || on_hosts "$tests/slurm/slurm.sh" 1 bash "$0" "$build" here

program=$build/tests/mpi/nested-openmpi
ranks=4 victim=2
work=$(mktemp -d)
job=
trap end_job EXIT
cd "$work" || exit 1

rank_pids() { pgrep -f "^$program"; }

# start_job OUTPUT COMMAND...: srun in the background, its pid in $job
start_job() {
	local output=$1
	shift
	"$@" >"$output" 2>&1 </dev/null &
	job=$!
}
end_job() {
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	job=
}

# What pdb answers goes into the file answer; returns pdb's status.
ask() { timeout 60 "$build/pdb" -nx "$@" >answer 2>&1; }
says() {
	grep -Eq -- "$1" answer && return
	sed 's/^/    | /' answer >&2
	return 1
}
has_line() { grep -q -- "$1" "$2"; }

# The fault is in effect and old enough for pdb to call it a hang.
is_hung() {
	has_line "^fault: rank $victim" "$1" || return 1
	ask --pid "$job" --batch -ex lp
	[ $? -eq 1 ]
}
wait_until_hung() {
	wait_for is_hung "$1" && return
	cat "$1" answer >&2
	check "the job hangs" false
	exit 1
}
is_complete() {
	says "launcher +Slurm srun, pid $job\$" && says "ranks +$ranks, recorder in $ranks\$" &&
		! has_line 'daemons' answer
}
finds_victim() { says "^Culprit: rank $victim of $ranks" && says "in relax\(\)"; }
shows_all() { says "^#[12] 3:\[0-1,3\]" && says "^#[12] 1:\[$victim\]" && says "relax\(\) nested.c"; }

# Found whole, by the table, with the right rank behind.
check_job() {
	local name=$1 pid=$2
	ask --pid "$pid" --batch -ex 'info job' -ex lp -ex groups -ex 'bt all'
	check "$name: a hang is found" test $? -eq 1
	check "$name: the whole job is found, without daemons" is_complete
	check "$name: by the MPIR table" says "found by +MPIR table"
	check "$name: rank $victim is least progressed" finds_victim
	check "$name: stacks of all ranks" shows_all
}

# None is traced or stopped.
ranks_are_free() {
	local pid num=0
	for pid in $(rank_pids); do
		has_line '^TracerPid:[[:space:]]*0$' "/proc/$pid/status" || return 1
		has_line '^State:[[:space:]]*[RSD]' "/proc/$pid/status" || return 1
		num=$((num + 1))
	done
	[ $num -eq $ranks ]
}

srun=(srun -n "$ranks" --mpi=pmix_v4)
recorded=(env LD_PRELOAD="$build/libpdbrec-openmpi.so" "${srun[@]}")

start_job hung "${recorded[@]}" "$program" $victim
wait_until_hung hung
check_job "pid of srun" "$job"
check_job "pid of the srun that it forked" "$(pgrep -P "$job" -x srun)"
check_job "pid of a rank" "$(rank_pids | head -n 1)"
ask --batch -ex 'info job'
check "without arguments srun is found" is_complete
check "the ranks are neither traced nor stopped" ranks_are_free
end_job

printf '#!/bin/sh\n"%s" "$@"\nexit 0\n' "$program" >wrapper
chmod +x wrapper
start_job wrapped "${recorded[@]}" ./wrapper $victim
wait_until_hung wrapped
check_job "ranks below a script" "$job"
end_job

# The job asks for more than the node has left, and waits.
is_running() { [ "$(squeue -h -t R -o %i | wc -l)" = "$1" ]; }
wait_for is_running 0
srun -n 16 sleep 1000 2>/dev/null &
filling=$!
wait_for is_running 1
start_job waiting "${srun[@]}" "$program"
wait_for has_line "waiting for resources" waiting
ask --pid "$job" --batch -ex 'info job'
check "a waiting job: status" test $? -eq 2
check "a waiting job: told so" says "has not started yet"
end_job
kill $filling
wait $filling

ask --batch --output run.out -ex 'info job' -ex 'bt all' run -- "${srun[@]}" "$program" $victim
job=$(sed -n 's/.*the job goes on: pid //p' answer)
check "pdb run: the job goes on" test -n "$job"
check "pdb run: every rank has a recorder" is_complete
wait_until_hung run.out
check_job "pdb run, asked again" "$job"
end_job

finish_checks
