#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# pdb on a job that a real srun has started. A Slurm of one node is set up for it in a folder of its
# own, with other ports than a Slurm that this machine may have, and ended again, by the pids of its
# daemons. Needs root. Usage: slurm.sh BUILD_DIRECTORY; ends with "N passed, N failed".
set -u

build=$(realpath "$1")
source=$(realpath "$(dirname "$0")")/mpi/nested.c
ranks=4 victim=2
passed=0 failed=0

skip() { echo "skip: $*"; echo "0 passed, 0 failed"; exit 0; }
die() { echo "slurm: $*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || skip "Slurm's daemons are started as root only"
for program in munged slurmctld slurmd srun mpicc.openmpi; do
	command -v "$program" >/dev/null || die "there is no $program"
done

work=$(mktemp -d)
daemons=() jobs=()

# Files that ranks ended by a signal leave: what they have mapped in /dev/shm, theirs alone.
shared_files() {
	local pid
	for pid in $(rank_pids); do
		sed -n 's|.* \(/dev/shm/[^ ]*\)$|\1|p' "/proc/$pid/maps" 2>/dev/null
	done | sort -u
}

# End the job that was started last: its srun by pid, which ends the ranks.
end_job() {
	local pid=${jobs[-1]} files
	files=$(shared_files)
	unset 'jobs[-1]'
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	wait_for 30 test ! -d "/proc/$pid" || echo "slurm: srun $pid does not end" >&2
	# shellcheck disable=SC2086
	rm -f $files
}

# Ends what we started, by pid, last first: the jobs before the daemons that would end them.
clean_up() {
	trap - EXIT
	local i
	while [ ${#jobs[@]} -gt 0 ]; do
		end_job
	done
	for ((i = ${#daemons[@]} - 1; i >= 0; i--)); do
		kill "${daemons[i]}" 2>/dev/null
		wait "${daemons[i]}" 2>/dev/null
	done
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# The processes that run our program; only we run it, its folder is ours.
rank_pids() {
	local exe pid
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe" 2>/dev/null)" = "$work/nested" ] || continue
		pid=${exe#/proc/}
		echo "${pid%/exe}"
	done
}

# Wait for a command to succeed, looking ten times a second, but not for ever.
wait_for() {
	local tries=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}

# ---- The Slurm --------------------------------------------------------------------------------

start() {
	"$@" >>"$work/daemons.log" 2>&1 &
	daemons+=($!)
}

# A port that nobody listens on, from where dynamic ports do not begin yet on Linux.
free_port() {
	local port=$1
	while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
		port=$((port + 1))
	done
	echo "$port"
}

write_config() {
	local name controller node
	name=$(hostname -s)
	controller=$(free_port 26817)
	node=$(free_port $((controller + 1)))
	mkdir -p "$work/state" "$work/spool"
	cat >"$work/slurm.conf" <<-END
		ClusterName=pdb
		SlurmctldHost=$name(127.0.0.1)
		SlurmctldPort=$controller
		SlurmdPort=$node
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=$work/munge.socket
		CryptoType=crypto/munge
		StateSaveLocation=$work/state
		SlurmdSpoolDir=$work/spool
		SlurmctldPidFile=$work/slurmctld.pid
		SlurmdPidFile=$work/slurmd.pid
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		ReturnToService=2
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SlurmdParameters=config_overrides
		NodeName=$name NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
		PartitionName=all Nodes=$name Default=YES MaxTime=INFINITE State=UP
	END
}

is_idle() { [ "$(sinfo -h -o %t)" = idle ]; }

start_slurm() {
	write_config
	export SLURM_CONF=$work/slurm.conf
	(umask 077 && head -c 1024 /dev/urandom >"$work/munge.key")
	start munged --foreground --force --key-file="$work/munge.key" \
		--socket="$work/munge.socket" --pid-file="$work/munged.pid" \
		--log-file="$work/munged.log" --seed-file="$work/munge.seed"
	wait_for 10 test -S "$work/munge.socket" || die "munged does not start"
	start slurmctld -D
	start slurmd -D -N "$(hostname -s)"
	wait_for 60 is_idle || { tail -n 20 "$work/daemons.log" >&2; die "the node does not come up"; }
}

# ---- The checks -------------------------------------------------------------------------------

check() {
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "  ok      $what"
	else
		failed=$((failed + 1))
		echo "  FAILED  $what" >&2
		sed 's/^/    | /' "$work/answer" >&2
	fi
}

# start_job NAME COMMAND...: srun in the background, its pid in $job; its output is NAME.out.
start_job() {
	local name=$1
	shift
	(cd "$work" && exec "$@" >"$name.out" 2>&1 </dev/null) &
	job=$!
	jobs+=("$job")
}

forked_srun() { ps -o pid= --ppid "$1" | tr -d ' '; }

# What pdb answers goes into the file answer; returns pdb's status.
ask() {
	timeout 60 "$build/pdb" -nx "$@" >"$work/answer" 2>&1
}
says() { grep -Eq -- "$1" "$work/answer"; }

# The fault is in effect and old enough for pdb to call it a hang.
is_hung() {
	grep -q "^fault: rank $victim" "$work/$1.out" || return 1
	ask --pid "$job" --batch -ex lp
	[ $? -eq 1 ]
}
is_complete() {
	says "launcher +Slurm srun, pid $job\$" && says "ranks +$ranks, recorder in $ranks\$"
}
finds_victim() { says "^Least progressed: rank $victim, 1 of $ranks" && says "in relax\(\)"; }
shows_all() { says "^3:\[0-1,3\]" && says "^1:\[$victim\]" && says "relax\(\) nested.c"; }

# Found whole, by the table, with the right rank behind.
check_job() {
	local name=$1 pid=$2 way=$3
	ask --pid "$pid" --batch -ex 'info job' -ex lp -ex groups -ex 'bt all'
	check "$name: a hang is found" test $? -eq 1
	check "$name: the whole job is found" is_complete
	check "$name: by $way" says "found by +$way"
	check "$name: rank $victim is least progressed" finds_victim
	check "$name: stacks of all ranks" shows_all
}

# None is traced or stopped.
ranks_are_free() {
	local pid num=0
	for pid in $(rank_pids); do
		grep -q '^TracerPid:[[:space:]]*0$' "/proc/$pid/status" || return 1
		grep -Eq '^State:[[:space:]]*[RSD]' "/proc/$pid/status" || return 1
		num=$((num + 1))
	done
	[ $num -eq $ranks ]
}

srun=(srun -n "$ranks" --mpi=pmix_v4)

check_hung_job() {
	start_job hung env LD_PRELOAD="$build/libpdbrec-openmpi.so" "${srun[@]}" ./nested $victim
	wait_for 60 is_hung hung || { cat "$work/hung.out" "$work/answer" >&2; die "the job does not hang"; }
	check_job "pid of srun" "$job" "MPIR table"
	check_job "pid of the srun that it forked" "$(forked_srun "$job")" "MPIR table"
	check_job "pid of a rank" "$(rank_pids | head -n 1)" "MPIR table"
	ask --batch
	check "without arguments srun is found" says "Slurm srun"
	check "the ranks are neither traced nor stopped" ranks_are_free
	end_job
}

check_wrapped_job() {
	printf '#!/bin/sh\n./nested "$@"\nexit 0\n' >"$work/wrapper"
	chmod +x "$work/wrapper"
	start_job wrapped env LD_PRELOAD="$build/libpdbrec-openmpi.so" "${srun[@]}" ./wrapper $victim
	wait_for 60 is_hung wrapped || { cat "$work/wrapped.out" "$work/answer" >&2; die "the wrapped job does not hang"; }
	check_job "ranks below a script" "$job" "MPIR table"
	end_job
}

# The job asks for more than the node has left, and waits.
check_waiting_job() {
	start_job filling srun -n 16 sleep 1000
	wait_for 30 eval '[ "$(squeue -h -t R -o %i | wc -l)" = 1 ]' || die "no step runs"
	start_job waiting "${srun[@]}" ./nested
	wait_for 30 grep -q "waiting for resources" "$work/waiting.out"
	ask --pid "$job" --batch -ex 'info job'
	check "a waiting job: status" test $? -eq 2
	check "a waiting job: told so" says "has not started yet"
	end_job
	end_job
}

check_run() {
	(cd "$work" && ask --batch --output run.out -ex 'info job' -ex 'bt all' run -- \
		"${srun[@]}" ./nested $victim)
	job=$(sed -n 's/.*the job goes on: pid //p' "$work/answer")
	check "pdb run: the job goes on" test -n "$job"
	[ -n "$job" ] || return
	jobs+=("$job")
	check "pdb run: every rank has a recorder" is_complete
	wait_for 60 is_hung run
	check_job "pdb run, asked again" "$job" "MPIR table"
	end_job
}

mpicc.openmpi -O2 -g -o "$work/nested" "$source" || die "nested.c does not build"
start_slurm
check_hung_job
check_wrapped_job
check_waiting_job
check_run
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
