#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Are the hosts that tests/hosts/hosts.sh makes apart where they must be and one where they must be, do
# MPI jobs run over them, and is nothing left of them, however they end?
# usage: check.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
script=$tests/hosts/hosts.sh
passed=0 failed=0
work=$(mktemp -d)
# The hosts' script that was started last, and process 1 of its world.
caller='' world=''
trap '[ -z "$caller" ] || kill $caller 2>/dev/null; rm -rf "$work"' EXIT

check() {
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok      $what"
	else
		failed=$((failed + 1))
		echo "FAILED  $what"
	fi
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

# ---- Processes --------------------------------------------------------------------------------

child() { ps -o pid= --ppid "$1" | awk 'NR == 1 { print $1 }'; }

# A process and all below it, with the times that they began, so that no pid is taken for another.
list_tree() {
	ps -eo pid=,ppid=,lstart= | awk -v root="$1" '
		{ pid = $1; parent[pid] = $2; $1 = $2 = ""; began[pid] = $0 }
		function is_below(p) {
			for (; p in parent; p = parent[p])
				if (p == root) return 1
			return 0
		}
		END { for (p in parent) if (is_below(p)) print p, began[p] }' | sort
}

# None of the processes in the list is there any more.
are_gone() { [ -z "$(comm -12 <(echo "$1") <(ps -eo pid=,lstart= | awk '{ p = $1; $1 = ""; print p, $0 }' | sort))" ]; }

# What hosts could leave behind on this machine.
list_traces() {
	sed 's/^[^ ]* [^ ]* //' /proc/self/mountinfo
	ip -o link | awk '{ print $2 }'
	# Listening on ssh's port.
	grep -c ':0016 .* 0A ' /proc/net/tcp
	cksum /etc/hosts
	ls -lARd --time-style=full-iso /etc/ssh /etc/ssh/* /etc/pam.d/sshd ~/.ssh ~/.ssh/* \
		/run/hosts /run/sshd /run/mount /run/mount/* 2>/dev/null
}

is_asleep() { ps -o args= -p "$(list_tree "$1" | cut -d' ' -f1 | paste -sd,)" | grep -qx 'sleep 1000'; }

# ---- Worlds -----------------------------------------------------------------------------------

# start NUMBER: make hosts, and return when they are there.
start() {
	local line=
	exec 5< <(exec sh "$script" -x "$1" sh -c 'echo ready; exec sleep infinity' \
		2>"$work/errors")
	caller=$!
	read -r -t 60 line <&5
	world=$(child "$(child $caller)")
	[ "$line" = ready ] || { cat "$work/errors"; return 1; }
}

on() { sh "$script" -w "$world" on "$@"; }
do_hosts() { sh "$script" -w "$world" "$@"; }
is() { [ "$1" = "$2" ]; }
has() { grep -q -- "$2" <<<"$1"; }
not() { ! "$@"; }

# ends HOW COMMAND...: after the command nothing is left of the world.
ends() {
	local how=$1 all
	shift
	all=$(list_tree $caller)
	check "$how: there was something to end" has "$all" "^$caller "
	"$@"
	check "$how: no process is left" wait_for 30 are_gone "$all"
	check "$how: no trace is left" is "$(list_traces)" "$traces"
	exec 5<&-
	caller=''
}

# ---- The checks -------------------------------------------------------------------------------

check_apart() {
	local host mark=pdb-hosts-$$
	check "host names" is "$(for host in a b c d; do on $host hostname; done | tr '\n' ' ')" "a b c d "
	for host in /dev/shm /tmp /run; do
		on a touch $host/$mark
		check "$host of its own" not on b test -e $host/$mark
		check "$host is not this machine's" not test -e $host/$mark
	done
	check "pids of its own" is "$(on b sh -c 'tr "\0" " " </proc/1/cmdline')" "sh $script --host b $(dirname "$tests") "
	check "the tree is at its place" on d cmp "$script" "$script"
	for host in a b c d; do
		check "ssh from a to $host" is "$(on a ssh $host hostname)" $host
		check "ssh from $host to a" is "$(on $host ssh a hostname)" a
	done
	check "no trace outside" is "$(list_traces)" "$traces"
}

# "RANK HOST PID" of each line of the program.
list_ranks() { sed -n 's/^rank \([0-9]*\) of 4 on \(.*\), pid \([0-9]*\)$/\1 \2 \3/p' "$1" | sort -n; }
all_are_there() { [ "$(list_ranks "$1" | wc -l)" = 4 ]; }

no_rank_is_left() {
	! ps -o comm= -p "$(list_tree $caller | cut -d' ' -f1 | paste -sd,)" | grep -q '^where-'
}

# check_mpi NAME HOSTS LAUNCHER...: a job of 4 ranks on these hosts.
check_mpi() {
	local what=$1 hosts=$2 launcher out=$work/job status
	shift 2
	(exec sh "$script" -w "$world" on a "$@") >"$out" 2>&1 </dev/null &
	launcher=$!
	check "$what on $hosts: four ranks speak with each other" wait_for 60 all_are_there "$out"
	check "$what on $hosts: on these hosts" is "$(list_ranks "$out" | cut -d' ' -f2 | sort | uniq -c | xargs)" "$hosts"
	# MPICH before 4.2 may hang in MPI_Finalize when there is more than one host.
	[ "$what" != MPICH ] || kill $launcher 2>/dev/null
	wait $launcher
	status=$?
	[ "$what" = MPICH ] || check "$what on $hosts: status" is $status 0
	all_are_there "$out" || cat "$out"
	check "$what on $hosts: no rank is left" wait_for 30 no_rank_is_left
}

check_jobs() {
	local where=$build/tests/hosts/where
	if command -v mpirun.openmpi >/dev/null && [ -e "$where-openmpi" ]; then
		check_mpi "Open MPI" "2 a 2 b" mpirun.openmpi --host a:2,b:2 -n 4 "$where-openmpi"
		check_mpi "Open MPI" "1 a 1 b 1 c 1 d" mpirun.openmpi --host a:1,b:1,c:1,d:1 -n 4 "$where-openmpi"
	fi
	if command -v mpiexec.mpich >/dev/null && [ -e "$where-mpich" ]; then
		check_mpi MPICH "2 a 2 b" mpiexec.mpich -hosts a,b -n 4 "$where-mpich"
		check_mpi MPICH "1 a 1 b 1 c 1 d" mpiexec.mpich -hosts a,b,c,d -n 4 "$where-mpich"
	fi
}

reaches() { on "$1" ssh -o ConnectTimeout=3 "$2" true 2>/dev/null; }

check_cut() {
	do_hosts cut b
	check "b is cut off" not reaches a b
	check "b cannot get out" not reaches b c
	check "b runs" is "$(on b hostname)" b
	check "the others are not cut off" reaches a c
	check "status: cut" has "$(do_hosts status)" "^host b, 10.0.0.2: cut$"
	do_hosts join b
	check "b is back" reaches a b
	check "status: joined" has "$(do_hosts status)" "^host b, 10.0.0.2: joined$"
}

check_kill() {
	do_hosts kill d
	check "d has ended" not on d true
	check "status: ended" has "$(do_hosts status)" "^host d, 10.0.0.4: ended$"
	check "the others have not" reaches a c
}

check_beside() {
	local out
	out=$(sh "$script" 2 sh -c 'hostname; ssh b hostname; exit 7')
	check "hosts beside other hosts: status" is $? 7
	check "hosts beside other hosts: names" is "$out" $'a\nb'
	check "the other hosts are there" reaches b c
}

# On a terminal, Ctrl-C ends what the command runs, and not the command or the hosts.
check_terminal() {
	local out=$work/terminal fifo=$work/keys
	mkfifo "$fifo"
	SHELL=/bin/bash script -qec "sh $script 2" /dev/null <"$fifo" >"$out" 2>&1 &
	exec 6>"$fifo"
	echo 'echo i-am-on-$(hostname); sleep 1000' >&6
	wait_for 30 grep -q '^i-am-on-a' "$out"
	wait_for 30 is_asleep $!
	printf '\003' >&6
	echo 'echo i-am-still-on-$(hostname)' >&6
	check "Ctrl-C ends what the shell on a runs" wait_for 30 grep -q 'i-am-still-on-a' "$out"
	exec 6>&-
	wait_for 10 not test -d /proc/$! || kill $!
	wait $!
}

check_ends() {
	local how pid
	ends "SIGTERM for the script" kill $caller
	for how in script unshare "process 1"; do
		start 2
		case $how in
		script) pid=$caller ;;
		unshare) pid=$(child $caller) ;;
		*) pid=$world ;;
		esac
		ends "kill -9 of $how" kill -KILL "$pid"
	done
	start 2
	ends "the command ends" kill "$(pgrep -P "$world" -x sleep)"
}

# Killed while the hosts are being made, at whatever moment it is then.
check_half_made() {
	local moment
	for moment in 1 2 3 4 6 8; do
		exec 5< <(exec sh "$script" 2 sleep infinity 2>/dev/null)
		caller=$!
		wait_for 30 eval 'world=$(child "$(child $caller)"); [ -n "$world" ]'
		wait_for 30 eval "[ \$(list_tree $caller | wc -l) -ge $((moment + 3)) ]"
		ends "kill -9 when $moment of the world are there" kill -KILL $caller
	done
}

refuses_user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups sh "$script" 2 true 2>/dev/null
	[ $? = 77 ]
}

sh "$script" 1 true
status=$?
if [ $status = 77 ]; then
	echo "skip: hosts cannot be made here"
	echo "0 passed, 0 failed"
	exit
fi
check "one host" is $status 0
traces=$(list_traces)
check "four hosts" start 4
check_apart
check_jobs
check_cut
check_beside
check_kill
check_terminal
check_ends
check_half_made
! setpriv --reuid 65534 --clear-groups test -r "$script" || check "not for others than root" refuses_user
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
