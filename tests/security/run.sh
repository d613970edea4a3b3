#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What others on the machine can see of a job that is debugged, and do to it: the claims of
# docs/security.md, by two users who are nobody else, 65534 and 65533.
# usage: run.sh BUILD. Ends with the line: N passed, N failed.
set -u
build=$(realpath "$1")
. tests/suite/checks.bash
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	echo "skip: this takes root, to be two other users"
	echo "0 passed, 0 failed"
	exit 0
fi

work=$(mktemp -d) launcher= own=
stop() {
	[ -z "$launcher" ] || kill -9 "$launcher" $own 2>/dev/null
	[ -z "$launcher" ] || wait_for none_left
	rm -rf "$work"
}
none_left() { ! pgrep -u 65534 -f "$work" >/dev/null; }
trap stop EXIT

# A folder of each user, and one where all may write, as in /tmp.
mkdir -p "$work/owner" "$work/other" "$work/shared"
chmod 755 "$work" && chmod 1777 "$work/shared"
chown 65534:65534 "$work/owner" && chown 65533:65533 "$work/other"
# Another user need not reach the build directory.
cp -r "$build/pdb" "$build"/libpdbrec-*.so "$work/" && cp "$build/tests/security/names-mpich" "$work/names"
# A function, too, has a name that is none.
objcopy --redefine-sym main='main<script>' "$work/names" "$work/$(printf 'ev\033[2Jil')"
program=$(echo "$work"/ev*il)
as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$user" --clear-groups env -u XDG_RUNTIME_DIR HOME="$work/owner" \
		TMPDIR="$work/shared" PDB_SEGMENT_DIR="$work/shared" "$@"
}
pdb_as() { as "$1" "$work/pdb" "${@:2}" >"$work/said" 2>&1 </dev/null; }
says() { grep -Eq -e "$1" "$work/said"; }
explain() { head -n 20 "$work/said" "$work/planted" 2>/dev/null | cat -v; }

cd "$work/owner" || exit 1
as 65534 LD_PRELOAD="$work/libpdbrec-mpich.so" setsid mpiexec.mpich -n 2 "$program" >"$work/out" 2>&1 &
launcher=$!
is_ready() { [ "$(grep -c ready "$work/out")" = 2 ]; }
check "the job of the first user is there" wait_for is_ready
segment=$(find "$work/shared" -name 'pdb.*' | head -n 1)
launcher=$(pgrep -u 65534 -f '^mpiexec.mpich' | head -n 1)
is_quiet() {
	pdb_as 65534 --pid "$launcher" --batch -ex waits
	says 'waits for'
}
check "its own user is told who waits" wait_for is_quiet

# ---- Other users ----------------------------------------------------------------------------------

check "a segment is its user's alone" test "$(stat -c '%a %u' "$segment")" = "600 65534"
cannot_read() { ! as 65533 cat "$segment" 2>"$work/said" >/dev/null; }
check "others cannot read it" cannot_read
pdb_as 65533 --pid "$launcher" --batch -ex lp
check "pdb of another user says whose the job is" says "user 65534|another user|not permitted|root"
refuses() { ! says 'rank 0|waits for'; }
check "and nothing of it" refuses
pdb_as 65533 clean
check "he cannot clean it away" test -e "$segment"

# ---- What others plant ----------------------------------------------------------------------------

# A process gets the name of its segment taken by others: a link to a file that it could write.
plant() {
	as 65534 sh -c 'echo $$ >pid; while [ ! -e go ]; do sleep 0.1; done; exec "$@"' sh \
		env PDB_RECORD=1 LD_PRELOAD="$work/libpdbrec-mpich.so" PMI_RANK= "$work/names" \
		>"$work/planted" 2>&1 &
	wait_for test -s pid
	echo precious >target && chown 65534 target
	# What a program that no launcher has started is called.
	link=$work/shared/pdb.job.-1.$(cat pid)
	as 65533 ln -s "$work/owner/target" "$link"
	touch go
}
is_planted_ready() { grep -q ready "$work/planted"; }
plant
check "a program runs although its segment's name was taken" wait_for is_planted_ready
check "what the link points to is as before" test "$(cat target)" = precious
kill -9 "$(cat pid)" 2>/dev/null
check "the link was neither followed nor removed" test "$(stat -c %u "$link")" = 65533
is_told() { grep -qi 'not.*record' "$work/planted"; }
check "it says that it is not recorded" is_told

# ---- Files that pdb writes and reads ---------------------------------------------------------------

pdb_as 65534 --pid "$launcher" --batch -ex "save $work/shared/job.snap" -ex "graph > $work/shared/g.svg" \
	-ex "tree > $work/shared/t.svg" -ex "graph > $work/shared/g.dot" -ex "info job" -ex "info ranks" -ex "bt all" \
	-ex collectives -ex waits -ex why
check "a snapshot is its user's alone" test "$(stat -c '%a %u' "$work/shared/job.snap")" = "600 65534"
has_no_escape() { ! grep -q $'[\033\007]' "$@"; }
check "no name reaches the terminal as a command" has_no_escape "$work/said"
check "nor a drawing" has_no_escape "$work"/shared/*.svg "$work"/shared/*.dot
has_no_markup() { ! grep -qi '<script' "$@"; }
check "no name is markup in a drawing" has_no_markup "$work"/shared/*.svg
pdb_as 65533 --load "$work/shared/job.snap" --batch -ex lp
check "others cannot load it" says "[Pp]ermission denied"

# ---- Files of processes that are debugged ---------------------------------------------------------------

# Root looks at a job of the user, where the program's name is a fifo's by now. Its writer waits until somebody
# opens it; whoever did would be seen by that.
cp "$program" "$work/owner/program"
as 65534 setsid mpiexec.mpich -n 2 "$work/owner/program" >"$work/own.out" 2>&1 &
is_own_ready() { [ "$(grep -c ready "$work/own.out")" = 2 ]; }
check "another job of the first user is there" wait_for is_own_ready
own=$(pgrep -u 65534 -f "^mpiexec.mpich -n 2 $work/owner/program")
for pid in $(pgrep -u 65534 -f "^$work/owner/program"); do
	gcore -o "$work/core" "$pid" >/dev/null 2>&1
done
rm "$work/owner/program"
as 65534 mkfifo "$work/owner/program"
as 65534 sh -c 'echo nobody >"$1"' sh "$work/owner/program" &
is_waiting() { ps -u 65534 -o comm=,stat=,args= | grep -q '^sh  *S.*echo nobody'; }
check "a fifo has its program's name" wait_for is_waiting
"$work/pdb" --pid "$own" --batch -ex bt -ex order >"$work/said" 2>&1 </dev/null
check "root sees where the ranks are" says 'main'
was_opened_by() { timeout 5 cat "$work/owner/program"; }
check "and has not opened the fifo" test "$(was_opened_by)" = nobody
kill "$own"
wait_for eval '! kill -0 "$own" 2>/dev/null'

# He cuts it short while root looks at cores of it: after some of it was read, and the rest is to be read.
rm -f "$work/owner/program"
as 65534 cp "$program" "$work/owner/program"
mkfifo "$work/commands"
"$work/pdb" -nx --core "$work"/core.* <"$work/commands" >"$work/said" 2>&1 &
reader=$!
exec 7>"$work/commands"
echo bt >&7
check "root sees the ranks in cores" wait_for says 'MPI_Barrier'
as 65534 truncate -s 4096 "$work/owner/program"
printf '%s\n' "set threads on" bt order quit >&7
exec 7>&-
wait $reader
check "a program that is cut short ends nothing" test $? = 0
check "the threads are where they are, without names of what is gone" says '2:\[0-1\] program\+0x'

# ---- gdb ------------------------------------------------------------------------------------------

rank=$(pgrep -u 65534 -f "^$work/ev" | head -n 1)
cd "$work/shared" || exit 1
echo "shell touch $work/owner/done-by-gdbinit" >.gdbinit && chown 65533 .gdbinit
echo "shell touch $work/owner/done-by-pdbrc" >.pdbrc && chown 65533 .pdbrc
pdb_as 65534 --pid "$launcher" --batch -ex 'gdb 0 -ex bt'
check "gdb was on the rank" says "Attaching|pause|main"
check "a .gdbinit of others in the folder is not obeyed" test ! -e "$work/owner/done-by-gdbinit"
check "nor is a .pdbrc" test ! -e "$work/owner/done-by-pdbrc"
check "the rank lives" kill -0 "$rank"

# ---- A program that is another's while it runs -------------------------------------------------------

if findmnt -n -o OPTIONS -T "$work" | grep -q nosuid; then
	echo "skip: no setuid programs in $work"
else
	cp "$work/names" "$work/setuid" && chown 65533 "$work/setuid" && chmod 4755 "$work/setuid"
	as 65534 LD_PRELOAD="$work/libpdbrec-mpich.so" "$work/setuid" >"$work/setuid.out" 2>&1 &
	is_setuid_ready() { grep -q ready "$work/setuid.out"; }
	check "a setuid program runs" wait_for is_setuid_ready
	check "and is not recorded" test -z "$(find "$work/shared" -name 'pdb.*' -user 65533 -type f)"
	kill -9 "$(pgrep -f "^$work/setuid")"
fi
finish_checks
