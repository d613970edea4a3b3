#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What goes wrong with pdb's daemons on a job over several hosts: daemons are killed and stopped,
# hosts are cut off, in the middle of an answer and before it. Each time pdb answers soon with what
# it has and names what is missing, the next answer is whole again where it can be, and the job has
# not noticed. Makes its hosts with tests/hosts/hosts.sh and runs beside them, so that it can pull cables.
# usage: faults.sh BUILD_DIRECTORY [NUMBER_OF_HOSTS]; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
number=${2:-4}
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${3:-}" = here ] || on_hosts "$tests/hosts/hosts.sh" -x "$number" bash "$0" "$build" "$number" here

# In the tree, which all hosts share.
said=
work=$(mktemp -d "$build/tests/hosts/faults.XXXXXX")
pdb='' job=''
trap '' PIPE # pdb may have ended before it is told anything
trap 'end_pdb; end_job; rm -rf "$work"' EXIT
hosts=$(echo a b c d e f g h | cut -d' ' -f-"$number")
last=${hosts##* }
export COLUMNS=1000 LC_ALL=C.UTF-8

on() { sh "$tests/hosts/hosts.sh" on "$@"; }
has_line() { grep -q -- "$1" "$2"; }
has_ended() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
not() { ! "$@"; }

# ---- The job: a rank on each host, of which the first hangs --------------------------------------

start_job() {
	: >"$work/output"
	local list=${hosts// /:1,}:1
	on a sh -c 'echo $$ >"$0/job"; exec "$@"' "$work" mpirun --host "$list" \
		-n "$number" --mca mpi_yield_when_idle 1 -x LD_PRELOAD="$build/libpdbrec-openmpi.so" \
		"$build/tests/mpi/nested-openmpi" 0 >"$work/output" 2>&1 </dev/null &
	launcher=$!
	wait_for has_line '^fault: rank' "$work/output" || { cat "$work/output" >&2; return 1; }
	job=$(cat "$work/job")
	wait_for pdb_is_sure
}
pdb_is_sure() {
	on a "$build/pdb" --nx --batch --pid "$job" --ex lp >"$work/sure" 2>&1
	has_line '^Culprit: rank 0' "$work/sure" && not has_line 'not sure' "$work/sure"
}
end_job() {
	[ -z "$job" ] || on a kill "$job" 2>/dev/null
	job=
	wait "$launcher" 2>/dev/null
}
# Every rank is there, neither stopped nor traced, and nobody has said anything.
job_has_not_noticed() {
	local host state
	for host in $hosts; do
		state=$(grep -he ^State -e ^TracerPid \
			"/proc/$(processes "$host" -x nested-openmpi)/status" | tr '\n\t' '  ')
		case $state in
		"State: "[RS]*"TracerPid: 0 ") ;;
		*) echo "  host $host: $state" >&2; return 1 ;;
		esac
	done
	[ "$(cat "$work/output")" = 'fault: rank 0' ] || { cat "$work/output" >&2; return 1; }
}

# ---- pdb on the first host, in a terminal ------------------------------------------------------

start_pdb() {
	rm -f "$work/words"
	mkfifo "$work/words"
	on a env TERM=dumb script -qec "stty -echo cols 1000; exec $build/pdb --nx --pid $job" \
		/dev/null <"$work/words" >"$work/answers" 2>&1 &
	pdb=$!
	exec 8>"$work/words"
	asked=0 read=0
	SECONDS=0
	wait_for has_line '^(pdb)' "$work/answers"
	# What a busy machine takes to start daemons; lost ones are ended first.
	restart=$((8 + 3 * SECONDS))
	ask 5 'set pager off'
}
# ask SECONDS COMMAND...: fails if it takes longer. The answers are in $said.
ask() {
	local limit=$1
	shift
	tell "$@"
	has_answer "$limit" "$*"
}
# The same in two: what is done in between is done meanwhile.
tell() {
	local command
	asked=$((asked + 1)) begin=$(date +%s%N)
	for command in "$@" "echo asked $asked"; do
		echo "$command" >&8
	done
}
has_answer() {
	local now
	until has_line "asked $asked.$" "$work/answers"; do
		! has_ended "$pdb" || { sed 's/^/  pdb has ended: /' "$work/answers" >&2; return 1; }
		[ $(($(date +%s%N) - begin)) -lt 60000000000 ] || return 1
		sleep 0.05
	done
	now=$((($(date +%s%N) - begin) / 1000000))
	said=$(sed "1,${read}d" "$work/answers" | sed "s/^\(\((pdb) \)*\)//; s/\r//")
	read=$(wc -l <"$work/answers")
	[ -z "${SHOW:-}" ] || printf '==== %s: %d ms\n%s\n' "$2" $now "$said" >&2
	[ $now -le "${1}000" ] && return
	echo "  $2 took $now ms: $said" >&2
	return 1
}
press() { printf "$1" >&8; }
end_pdb() {
	[ -z "$pdb" ] || echo quit >&8
	exec 8>&-
	[ -z "$pdb" ] || wait "$pdb"
	pdb=
}
says() { grep -q -- "$1" <<<"$said" || { echo "  not said: $1: $said" >&2; return 1; }; }
says_not() { ! grep -q -- "$1" <<<"$said" || { echo "  said: $1: $said" >&2; return 1; }; }
# Rank N is on the N-th host.
names_hole() { says "^rank $1: on host $2[:,].* answer"; }
is_whole() { says_not 'on host .* answer' && says '^Culprit: rank 0'; }
is_whole_again() { ask 30 refresh lp && is_whole 2>/dev/null; }

# ---- The daemons -------------------------------------------------------------------------------

# What runs on a host, by the pids that it has here: processes HOST PGREP-OPTION...
processes() {
	local space pid
	space=$(readlink "/proc/$(cat "/run/hosts/$1.pid")/ns/pid")
	shift
	for pid in $(pgrep "$@"); do
		[ "$(readlink "/proc/$pid/ns/pid")" != "$space" ] || echo "$pid"
	done
}
daemons() { processes "$1" -f "^$build/pdbd-" | grep .; }
# The process that speaks MPI, not its guard.
worker() { for pid in $(daemons "$1"); do pgrep -P "$pid" -f "^$build/pdbd-"; done; }
signal_worker() { kill "-$1" $(worker "$2"); }
no_daemons() {
	local host
	for host in $hosts; do
		! daemons "$host" >/dev/null || return 1
	done
}
# What daemons and their launcher could leave behind, on each host.
list_files() {
	local host
	for host in $hosts; do
		on "$host" find /dev/shm /tmp -path "$build" -prune -o -printf "$host %p\n"
	done | sort
}
has_left_nothing() { [ "$(list_files)" = "$files" ]; }
leaves_nothing() {
	wait_for has_left_nothing && return
	diff <(echo "$files") <(list_files) >&2
	return 1
}

# ---- The faults --------------------------------------------------------------------------------

# Limits are in seconds: three of silence, twice that where the machine may be busy, those of a look,
# and the start of other daemons.
check_killed() {
	local how
	for how in "killed daemon" "daemon killed during a look"; do
		if [ "$how" = "killed daemon" ]; then
			signal_worker KILL "$last"
			check "$how: an answer in time" ask $restart refresh lp
		else
			tell 'set look 4000' refresh 'set look 100' lp
			sleep 1
			signal_worker KILL "$last"
			check "$how: an answer in time" has_answer $((4 + restart)) "$how"
		fi
		check "$how: pdb says so" says 'pdb starts new daemons: the daemons on the job.s nodes were lost'
		check "$how: the answer is whole" is_whole
	done
}

# Its guard ends one that has been stopped for long; others are started then.
check_stopped() {
	signal_worker STOP "$last"
	check "stopped daemon: an answer in time" ask 6 refresh lp
	check "stopped daemon: its rank is named" names_hole $((number - 1)) "$last"
	check "stopped daemon: the others have answered" others_have_answered
	check "stopped daemon: the next answer is quick" ask 3 refresh lp
	check "stopped daemon: others take its place" wait_for is_whole_again
}

# The one that pdb is connected to.
check_first_stopped() {
	signal_worker STOP a
	check "stopped first daemon: an answer in time" ask $((4 + restart)) refresh lp
	check "stopped first daemon: pdb says so" says 'were lost: the daemon at .* gives no answer'
	check "stopped first daemon: the answer is whole" is_whole

	signal_worker STOP a
	echo refresh >&8
	sleep 1
	press '\003'
	check "Ctrl-C while daemons are silent: the prompt is back" ask 2 'show look'
	wait_for is_whole_again
}

# In a look of four seconds, of which one is over.
check_cut() {
	tell 'set look 4000' refresh 'set look 100' lp
	sleep 1
	sh "$tests/hosts/hosts.sh" cut "$cut"
	check "host cut off during a look: an answer in time" has_answer 16 "host cut off"
	check "host cut off during a look: its rank is named" names_hole $cut_rank "$cut"
	check "host cut off during a look: the others have answered" others_have_answered
	check "cut off host: the next answer is quick" ask 3 refresh lp
	check "cut off host: its rank is named" names_hole $cut_rank "$cut"
	sh "$tests/hosts/hosts.sh" join "$cut"
	check "host back: it takes part again" wait_for is_whole_again

	sh "$tests/hosts/hosts.sh" cut "$cut"
	check "host cut off before a look: an answer in time" ask 8 refresh lp
	check "host cut off before a look: its rank is named" names_hole $cut_rank "$cut"
	check "host cut off before a look: the others have answered" others_have_answered
	end_pdb
	check "pdb ends with a host cut off" no_daemons_but_on "$cut"

	# A new pdb finds it cut off.
	start_pdb
	check "started with a host cut off: an answer in time" ask $((4 + restart)) refresh lp
	check "started with a host cut off: its rank is named" \
		says "^rank $cut_rank: on host $cut, which does not answer"
	check "started with a host cut off: the others have answered" others_have_answered
	sh "$tests/hosts/hosts.sh" join "$cut"
	check "started with a host cut off: it takes part when it is back" wait_for is_whole_again
}
# One line of what is missing, of one rank.
others_have_answered() { [ "$(grep -c '^Not known: ' <<<"$said")" = 1 ] && says '^Not known: rank [0-9]* '; }
no_daemons_but_on() {
	local host
	for host in $hosts; do
		[ "$host" = "$1" ] || wait_for not daemons "$host" >/dev/null || return 1
	done
}

says_job_has_ended() { ask 12 refresh && says 'the job has ended' 2>/dev/null; }

# A rank of a job that is ended by a signal takes the job with it.
check_job_ends() {
	tell 'set look 3000' refresh lp
	sleep 1
	kill -KILL "$(processes "$last" -x nested-openmpi)"
	check "the job ends during a look: an answer in time" has_answer $((4 + restart)) "the job ends"
	check "the job ends: pdb says so" wait_for says_job_has_ended
}

start_job || { check "a job starts" false; finish_checks; exit; }
# With daemons below it in the tree, where there are as many hosts.
[ "$number" -gt 2 ] && cut=c cut_rank=2 || cut=b cut_rank=1
files=$(list_files)
start_pdb
check "an answer on $number hosts" ask 15 refresh lp
check "it is whole" is_whole
check_killed
check_stopped
check_first_stopped
check_cut
end_pdb
check "the job has not noticed" job_has_not_noticed
check "no daemon is left" wait_for no_daemons
check "no file is left" leaves_nothing
start_pdb
check_job_ends
end_pdb
check "the job has ended: no daemon is left" wait_for no_daemons
job=
finish_checks
