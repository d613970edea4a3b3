#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The commands on a real job that hangs, and on its snapshot.
set -u
. tests/shell/lib.sh

if ! command -v mpirun >/dev/null || ! build_program nested; then
	echo 'skip: no MPI to compile and run with'
	finish
	exit
fi

# ---- Started by pdb ----

cd "$work" || exit 1
[ "${build#/}" != "$build" ] || build=$OLDPWD/$build pdb=$OLDPWD/$pdb
run run --output "$work/out" --batch -ex 'echo started' -ex 'info job' -- \
	mpirun --oversubscribe -n 4 ./nested 2
job=$(printf '%s\n' "$said" | sed -n 's/^pdb: the job goes on: pid //p')
jobs="$jobs $job"
case $status in
0 | 1) expect 'run' "$status" '^started' 'ranks     4, recorder in 4' 'the job goes on' ;;
*) fail 'run' "$said" ;;
esac
wait_for grep -q 'fault: rank 2' "$work/out" || fail 'the job does not reach its fault'

# Sure enough for status 1, which takes a stay much longer than those before.
hung() {
	run --pid "$job" --batch -ex lp
	[ $status -eq 1 ]
}
wait_for hung || fail 'the hang is not seen' "$said"

# ---- Answers ----

run --pid "$job" --batch -ex lp
expect 'lp' 1 '^Culprit: rank 2 of 4' 'relax'
run --pid "$job" --batch -ex 'set frames function' -ex 'tree > usual.json' -ex 'set evidence all' -ex refresh -ex 'save all.pdb' -ex lp
expect 'a look with all evidence' 1 '^Culprit: rank 2 of 4' 'no rank has moved'
run --load all.pdb --batch -ex 'set frames function' -ex 'tree > all.json' -ex lp
expect 'its snapshot' 1 '^Culprit: rank 2 of 4' 'no rank has moved'
if python3 - usual.json all.json <<'PYTHON'; then pass; else fail 'one sample of each rank, and four with all evidence'; fi
import json, sys
numbers = [sum(one["samples"] for one in json.load(open(name))["result"]["stacks"]) for name in sys.argv[1:]]
assert numbers == [4, 16], numbers
PYTHON
run --pid "$job" --batch -ex groups -ex graph -ex loops -ex progress -ex 'why 0'
expect 'answers' 1 'relax'
run --pid "$job" --batch -ex 'history 0 5' -ex 'model 0' -ex 'model --all 0' -ex 'bt' -ex 'bt lp'
expect 'looking closer' 1 'relax' 'main' 'left out: [0-9]+ states? outside the loops' \
	'^  before its first MPI call'
run --pid "$job" --batch -ex 'info ranks' -ex 'info hosts' -ex 'info overhead' -ex 'info recorder'
expect 'info' 1 'stack samples' 'transitions'
run --pid "$job" --batch -ex messages -ex 'messages 0' -ex 'messages lp' -ex collectives \
	-ex 'collectives 1' -ex 'collectives MPI_COMM_WORLD' -ex 'requests 0'
expect 'messages, collectives, requests' 1 'ranks 0-3.*: [0-9]+ messages sent' \
	'rank 0.*: [0-9]+ messages sent' '^1: MPI_COMM_WORLD, 4 ranks' 'members: 4:\[0-3\]' \
	'rank 0 has begun nothing|rank 0: [0-9]+ request'
run --pid "$job" --batch -ex waits -ex 'waits 0-1' -ex 'waits lp' -ex 'waits > w.svg'
expect 'waits' 1 'waits for$' 'nobody: outside MPI +<-'
if grep -q '<svg' w.svg; then pass; else fail 'waits > w.svg'; fi
run --pid "$job" --batch -ex 'report r.txt'
if grep -q '^---- lp$' r.txt && grep -q '^Culprit: rank 2' r.txt; then pass; else fail 'report r.txt'; fi
run --pid "$job" --batch -ex 'report r.html'
expect 'report' 1 '^written: r.html'
if said=$(/usr/bin/python3 "$OLDPWD/tests/report/check_page.py" r.html) &&
	grep -q '<h1>Culprit: rank 2' r.html; then
	pass
else
	fail 'the page' "$said"
fi
run --pid "$job" --batch -ex 'waits nosuch'
expect 'waits of no ranks' 2 '"nosuch"'
run --pid "$job" --batch -ex 'messages 0-9'
expect 'messages of ranks that are none' 2 '9'
run --pid "$job" --batch -ex 'messages x'
expect 'messages of no ranks' 2 '"x"'
run --pid "$job" --batch -ex 'requests'
expect 'requests of nobody' 2 'requests RANK'
run --pid "$job" --batch -ex 'requests 0-1'
expect 'requests of two ranks' 2 'this needs one rank'
run --pid "$job" --batch -ex 'collectives nosuch'
expect 'a communicator that is none' 2 'no communicator "nosuch"'
run --pid "$job" --batch -ex 'collectives 99'
expect 'a communicator beyond the list' 2 'no communicator "99"'
run --pid "$job" --batch -ex 'collectives 1 2'
expect 'two communicators' 2 'collectives \[COMM\]'
run --pid "$job" --batch -ex 'why 4'
expect 'a rank that is none' 2 '4'
run --pid "$job" --batch -ex 'why 0-1'
expect 'two ranks where one is needed' 2 'this needs one rank'
run --pid "$job" --batch -ex 'why group 99'
expect 'a group that is none' 2 'group "99"'
run --pid "$job" --batch -ex 'focus host nosuch'
expect 'a host that is none' 2 'nosuch'

# ---- Several jobs ----

long=$(printf '%070d' 0)
mpirun --oversubscribe -n 1 sh -c "sleep 60 # $long" the-other-program &
other=$!
jobs="$jobs $other"
lists_both() {
	run
	printf '%s\n' "$said" | grep -q "^ *$other " && printf '%s\n' "$said" | grep -q "^ *$job "
}
wait_for lists_both || fail 'the list of jobs' "$said"
expect 'several jobs' 2 "^ *$job .*nested 2\$" "^ *$other .*the-other-program\$" 'choose one with --pid'
if printf '%s\n' "$said" | grep -Eq '.{81}'; then fail 'several jobs: width' "$said"; else pass; fi
kill "$other"
wait "$other"

# ---- Output ----

rm -f h.svg h.dot h.txt
run --pid "$job" --batch -ex 'graph > h.dot' -ex 'graph > h.svg' -ex 'lp > h.txt' \
	-ex 'lp | sed s/rank/RANK/'
expect 'files and pipes' 1 '^Culprit: RANK 2'
if grep -q digraph h.dot && grep -q '<svg' h.svg && grep -q 'rank 2' h.txt; then
	pass
else
	fail 'files were not written'
fi

# ---- Command files ----

printf 'echo one\n# comment\ndefine both\n  echo $arg0\n  lp | head -n 1\nend\nboth two\n' >c.pdb
run --pid "$job" --batch -ex 'echo zero' -x c.pdb -ex 'echo three'
expect 'a command file' 1 '^two$' '^Culprit: rank 2'
order=$(printf '%s\n' "$said" | grep -xE 'zero|one|two|three' | tr '\n' ' ')
if [ "$order" = 'zero one two three ' ]; then pass; else fail 'order of -ex and -x' "$order"; fi
printf 'echo one\n\nfrob 3\necho two\n' >bad.pdb
run --pid "$job" --batch -x bad.pdb -ex 'echo three'
expect 'garbage in a command file' 2 'bad.pdb:3: .*frob'
if printf '%s\n' "$said" | grep -qE '^(two|three)$'; then fail 'it went on' "$said"; else pass; fi
run --pid "$job" --batch -x /dev/urandom
expect 'a command file of noise' 2 '/dev/urandom:'
said=$(printf 'lp\nfrob\necho after\n' | "$pdb" --pid "$job" 2>&1)
status=$?
expect 'commands on standard input' 2 'rank 2' ':2: .*frob'

# ---- gdb ----

pid=$("$pdb" --pid "$job" --batch -ex 'info ranks 2' | awk '$1 == 2 { print $3 }')
run --pid "$job" --batch -ex 'gdb lp -ex "print rank + 40" -ex "info symbol $pc"'
expect 'gdb' 1 'relax'
tracer=$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$pid/status")
state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status")
case $tracer$state in
0[RS]) pass ;;
*) fail 'after gdb' "traced by $tracer, state $state" ;;
esac
run --pid "$job" --batch -ex 'set stale 4' -ex 'shell sleep 5' -ex 'gdb lp -ex "print 1"' -ex 'save new.pdb'
expect 'after gdb' 1 '^saved: '
if printf '%s\n' "$said" | grep -q '^(snapshot'; then fail 'after gdb it is looked anew' "$said"; else pass; fi
said=$(PATH=/nowhere "$pdb" --pid "$job" --batch -ex 'gdb 2 -ex bt' 2>&1)
status=$?
expect 'no gdb' 2 'gdb is not installed here' '"bt 2" shows'
run --pid "$job" --batch -ex 'gdb 2'
expect 'gdb without a terminal' 2 'terminal'
run --pid "$job" --batch -ex 'gdb 2 -ex'
expect 'gdb -ex without a command' 2 '-ex takes COMMAND'
run --pid "$job" --batch -ex 'gdb 2 bt'
expect 'gdb with other words' 2 'is no list of ranks'

# ---- Snapshots ----

run --pid "$job" --batch -ex 'save h.pdb'
expect 'save' 1 'h.pdb'
if [ "$(stat -c %a h.pdb)" = 600 ]; then pass; else fail 'mode of the snapshot'; fi
run --pid "$job" --batch -ex 'set stale 1' -ex 'shell sleep 2' -ex 'save aged.pdb' -ex 'report aged.html'
expect 'save and report of an old look' 1 '^saved: ' '^written: ' '^\(snapshot [0-9]+ s old; refresh to look again\)'
run --load h.pdb --batch -ex lp -ex groups -ex graph -ex 'why 0' -ex 'bt' -ex loops -ex 'info job'
expect 'load' 1 '^Culprit: rank 2 of 4' 'relax' 'loaded from h.pdb'
echo 'shell echo from the init file' >.pdbrc
chmod 600 .pdbrc
run --load h.pdb --batch -ex lp
expect 'own init file' 1 '^from the init file'
chmod 666 .pdbrc
run --load h.pdb --batch -ex lp
expect 'init file that others can write' 1 '.pdbrc can be written by others' '^Culprit: '
if printf '%s' "$said" | grep -q '^from the init file'; then
	fail 'the init file of others was read' "$said"
else
	pass
fi
rm .pdbrc
run --load h.pdb --batch -ex tutorial
expect 'tutorial' 1 '^Step 1 of [0-9]+$' '^Which job' '^\(pdb\) lp' '^Culprit: rank 2' '^\(pdb\) why [013]' \
	'This was the tutorial'
mkdir -p .config/pdb project/below
echo 'shell echo from the user' >.config/pdb/pdbrc
echo 'shell echo not this one' >.pdbrc
echo 'shell echo from the project' >project/below/.pdbrc
chmod 600 .pdbrc .config/pdb/pdbrc project/below/.pdbrc
chmod 755 project project/below
# What pdb says of the project's files, started in its directory.
in_project() {
	said=$(cd project/below && timeout 60 "$pdb" --load ../../h.pdb --batch "$@" 2>&1 </dev/null)
	status=$?
	ran=$(printf '%s\n' "$said" | grep -c -e '^from the project' -e '^not this one')
}
in_project -ex lp
expect 'a project that is not allowed' 1 '^from the user' 'is not run' "safe-path $work/project/below"
if [ "$ran" = 0 ]; then pass; else fail 'a project was run' "$said"; fi
echo "safe-path $work/project" >>.config/pdb/pdbrc
in_project -ex lp -ex safe-path
expect 'a project that is allowed' 1 '^from the user' '^from the project' "^  $work/project"
chmod 666 project/below/.pdbrc
in_project -ex lp
expect 'a project that others can write' 1 'can be written by others'
if [ "$ran" = 0 ]; then pass; else fail "others' project was run" "$said"; fi
chmod 600 project/below/.pdbrc
chmod 777 project/below
in_project -ex lp
expect 'a directory that others can write' 1 'below can be written by others'
if [ "$ran" = 0 ]; then pass; else fail 'a project in an open directory was run' "$said"; fi
chmod 755 project/below
if [ "$(id -u)" = 0 ]; then
	chown 65534 project/below/.pdbrc
	in_project -ex lp
	expect "another user's project" 1 'belongs to another user'
	if [ "$ran" = 0 ]; then pass; else fail "another user's project was run" "$said"; fi
fi
in_project -n -ex lp
expect 'no files' 1 '^Culprit: '
if printf '%s\n' "$said" | grep -q '^from'; then fail 'run in spite of -n' "$said"; else pass; fi
echo nosuch >.config/pdb/pdbrc
run --load h.pdb --batch -ex lp
expect 'a wrong line at the start' 1 'pdbrc:1: no command "nosuch"' '^Culprit: '
rm -r .pdbrc .config project
run --load h.pdb --batch -ex 'gdb 2 -ex bt'
expect 'gdb on a snapshot' 2 'h.pdb is a snapshot'
run --load h.pdb --batch -ex refresh
expect 'refresh of a snapshot' 2 'h.pdb is a snapshot'
size=$(stat -c %s h.pdb)
for part in 1 2 3; do
	head -c $((size * part / 4)) h.pdb >cut.pdb
	run --load cut.pdb --batch -ex lp
	expect "a snapshot cut at $part/4" 2 'cut.pdb'
done
run --pid "$job" --batch -ex 'save /no/such/folder/x'
expect 'save where nothing can be' 2 '/no/such/folder/x'

# ---- The end of the job ----

said=$({
	echo 'lp'
	echo "shell kill $job; while kill -0 $job 2>/dev/null; do sleep 0.1; done"
	printf 'info job\nlp\nrefresh\n'
} | "$pdb" --pid "$job" 2>&1)
status=$?
expect 'the job ends meanwhile' 2 'ended; the last snapshot' 'rank 2' 'pdb: .*the job has ended'
run --pid "$job" --batch -ex lp
expect 'the job is gone' 2 "$job"

finish
