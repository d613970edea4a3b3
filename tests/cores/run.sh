#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# pdb --core on the cores of real jobs: run.sh BUILD_DIR. One rank of eight crashes, and the kernel
# writes its core; those of the others, which wait for it, are gcore's. Nothing of the machine is
# changed, so this needs a kernel that writes cores into the working directory.
set -u
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../suite/checks.bash"
work=$build/tests/cores/work
rm -rf "$work" && mkdir -p "$work"
launcher=
end() {
	[ -z "$launcher" ] || kill "$launcher" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

# ---- Loading ends when somebody wants it to ------------------------------------------------------

# A core of nothing but notes without content: 512 MB that are stored, but never written.
fallocate -l 512M "$work/slow"
/usr/bin/python3 - "$work/slow" <<'END'
import struct, sys
with open("/proc/self/exe", "rb") as own:
    machine = own.read(20)[18:]
with open(sys.argv[1], "r+b") as core:
    core.write(b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<H", 4) + machine +
               struct.pack("<IQQQIHHHHHH", 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0) +
               struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, (512 << 20) - 120, 0, 4))
END
is_reading() { find "/proc/$pid/fd" -lname "$work/slow" 2>/dev/null | grep -q .; }
# is_ended_by SIGNAL: within a second, while it loads.
is_ended_by() {
	local began
	env --default-signal=HUP "$build/pdb" -nx -batch --core "$work/slow" -ex lp >"$work/said" 2>&1 </dev/null &
	pid=$!
	wait_for is_reading || return 1
	began=$(date +%s%N)
	kill -s "$1" $pid
	wait $pid
	status=$?
	[ $status = 2 ] && [ $(($(date +%s%N) - began)) -lt 1000000000 ]
}
explain() { echo "status $status"; cat "$work/said"; }
for signal in INT TERM HUP; do
	check "$signal ends the loading of a core" is_ended_by $signal
done
rm "$work/slow"

pattern=$(cat /proc/sys/kernel/core_pattern)
case $pattern in
*[\|/]*)
	echo "skip: cores do not go to the working directory here but to $pattern"
	finish_checks
	exit
	;;
esac
ulimit -c unlimited
# Private memory and the first pages of files, without the shared memory of MPI.
echo 0x31 >/proc/self/coredump_filter
ranks=8 culprit=3

# The processes below the launcher that run the program, "RANK PID" each.
list_ranks() {
	local pid rank
	for pid in $(pgrep -f "^$1 "); do
		rank=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" |
			sed -n 's/^\(OMPI_COMM_WORLD\|PMI\)_RANK=//p' | head -n 1)
		[ -z "$rank" ] || echo "$rank $pid"
	done
}

# crash NAME HOW: leaves core.RANK in $work/NAME; openmpi, mpich, or python with Open MPI.
crash() {
	local dir=$work/$1 program=$work/crash-$1 rank pid
	local start=(mpirun.openmpi --oversubscribe)
	if [ "$1" = python ]; then
		program="/usr/bin/python3 $here/crash.py"
	else
		cp "$build/tests/cores/crash-$1" "$program"
	fi
	[ "$1" != mpich ] || start=(mpiexec.mpich)
	mkdir "$dir"
	# shellcheck disable=SC2086 # two words with Python
	"${start[@]}" -n $ranks $program "$dir" $culprit "$2" >"$dir.log" 2>&1 &
	launcher=$!
	wait_for [ -e "$dir/ready" ] || return 1
	list_ranks "$program" | while read -r rank pid; do
		[ "$rank" = $culprit ] || gcore -o "$dir/core" "$pid" >/dev/null 2>&1
		[ "$rank" = $culprit ] || mv "$dir/core.$pid" "$dir/core.$rank"
	done
	touch "$dir/go"
	wait $launcher
	launcher=
	mv "$dir/$culprit"/core* "$dir/core.$culprit" && rm -r "$dir"/[0-9] "$dir/go" "$dir/ready"
}

# look ARGUMENTS...: what pdb says, into $out, and its status.
look() {
	out=$("$build/pdb" -nx -batch "$@" 2>&1 </dev/null)
	status=$?
}

explain() {
	printf '%s\n' "$out"
}

has() {
	grep -qF -- "$1" <<<"$out"
}

hasnt() {
	! has "$1"
}

# ---- A job of Open MPI: a fault, which its own handler sees first ------------------------------

check "openmpi: the job crashes" crash openmpi fault
look --core "$work/openmpi" -ex lp -ex bt -ex "info ranks"
check "fault: status" [ $status = 1 ]
check "fault: who" has "Crashed: rank 3 of 8"
check "fault: how and where" has "rank 3: SIGSEGV at address 0x4128, in break_down() at crash.c:"
check "fault: the culprit's stack" has "1:[3] solve() crash.c:"
check "fault: the others' stack" has "7:[0-2,4-7] solve() crash.c:"
check "fault: inside MPI" has "MPI_Barrier()"
check "fault: nothing to complain of" hasnt "pdb: "
plain=$out
look --core "$work/openmpi" -ex "set threads on" -ex bt
check "fault: other threads" has "8:[0-7] help() crash.c:"
look --core "$work/openmpi" -ex "save $work/saved"
look --load "$work/saved" -ex lp -ex bt -ex "info ranks"
check "fault: a snapshot tells the same" [ "$out" = "$plain" ]
look --core "$work/openmpi" -ex "gdb 3"
check "gdb needs processes" has "this needs the job's processes, and only their cores are there"
check "gdb: status" [ $status = 2 ]

# ---- A job of MPICH: an abort, and cores that are not all good ----------------------------------

check "mpich: the job crashes" crash mpich abort
cd "$work/mpich" || exit 1
look --core core.* -ex lp -ex bt
check "abort: who" has "Crashed: rank 3 of 8"
check "abort: how and where" has "rank 3: SIGABRT, in break_down() at crash.c:"
check "abort: the others' stack" has "7:[0-2,4-7] solve() crash.c:"

look --core core.0 core.5 -ex lp -ex "info ranks"
check "some: nobody crashed" hasnt "Crashed"
check "some: the others are holes" has "ranks 1-4,6-7: no core (6 of 8 ranks)"

cp core.2 again && touch core.2
look --core core.2 again -ex bt
check "twice: the newer one" has "again: rank 2 has a newer core, core.2; left out"
check "twice: it is used" has "1:[2] main()"
head -c 20000 core.4 >core.4.cut
look --core core.1 core.4.cut -ex bt
check "truncated: is said" has "core.4.cut: a truncated core"
check "truncated: the rest is used" has "1:[1] main()"
head -c 100000 core.3 >core.3.cut
look --core core.1 core.3.cut -ex bt
check "truncated: no rank" has "core.3.cut: its environment is not in the core, so its rank is not known"
cp core.4 core.other && printf '\xb7' | dd of=core.other bs=1 seek=18 conv=notrunc status=none
look --core core.1 core.other -ex bt
case $(uname -m) in x86_64) check "architecture" has "core.other: a core of another architecture" ;; esac
(sleep 1000 & echo $! && gcore -o core.alone $! >/dev/null 2>&1 && kill $!) >alone.pid
mv core.alone.* core.alone
look --core core.1 core.alone /dev/null nothing -ex bt
check "no rank" has "core.alone: no rank of an MPI job (sleep"
check "no file" has "/dev/null: not a regular file"
check "not there" has "nothing: No such file or directory"
check "the rest is used" has "1:[1] main()"
rm -f core.* again
cp "$build/tests/cores/crash-mpich" not.core
look --core . -ex bt
check "no cores at all" has "there is no core of a rank"
check "no cores: how many other files" has ".: 2 other files, no cores; left out"
check "no cores: status" [ $status = 2 ]

# ---- Python ------------------------------------------------------------------------------------

case $(/usr/bin/python3 --version) in
*' 3.11.'* | *' 3.13.'*)
	ranks=4
	check "python: the job crashes" crash python fault
	look --core "$work/python" -ex lp -ex bt
	check "python: how and where" has "rank 3: SIGSEGV at address 0x4128, in break_down() at crash.py:25"
	check "python: the common part" has "4:[0-3] <module>() crash.py:39"
	check "python: the culprit's stack" has "1:[3] Solver.step() crash.py:20"
	check "python: the others' stack" has "3:[0-2] Solver.step() crash.py:21"
	check "python: down to MPI" has "MPI_Barrier()"
	;;
esac

# ---- A program that has been compiled anew ------------------------------------------------------

cp "$build/tests/cores/crash-mpich" "$work/crash-openmpi"
look --core "$work/openmpi" -ex bt
check "another build: is said" has "$work/crash-openmpi (ranks 0-7): not the file that was mapped"
check "another build: no names of it" hasnt "solve()"
check "another build: names of others" has "MPI_Barrier()"
finish_checks
