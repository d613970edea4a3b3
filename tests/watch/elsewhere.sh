#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What --save has written tells on another machine what it tells where it was written: every command
# is run on it there and here. The other machine is a root directory that holds pdb and the libraries
# that it needs, in places of their own, and the snapshot: nothing of the program, its libraries and
# sources, or MPI.
# usage: elsewhere.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(dirname "$(realpath "$0")")
. "$tests/lib.bash"
mpi=openmpi
compiler=$(command -v mpicc.openmpi || command -v mpicc)

enter=(chroot)
[ "$(id -u)" = 0 ] || enter=(unshare --map-root-user chroot)
if ! "${enter[@]}" / true 2>/dev/null; then
	echo "skip: chroot is not allowed here" >&2
	finish_checks
	exit
fi

# A program of two parts, with sources that nobody else has.
mkdir program
cp "$tests/phases.c" program/part.c
printf 'int run_part(int argc, char **argv);\nint main(int argc, char **argv)\n{\n\treturn run_part(argc, argv);\n}\n' >program/main.c
(cd program && "$compiler" -O1 -g -Dmain=run_part -fPIC -shared -o libpart.so part.c &&
	"$compiler" -O1 -g -o "phases-$mpi" main.c -L. -lpart -Wl,-rpath,'$ORIGIN') || exit 1

# save_hang NAME KIND RECORDER: NAME.pdb
save_hang() {
	local preload=()
	[ "$3" = without ] || preload=(-x LD_PRELOAD="$build/libpdbrec-$mpi.so")
	job_of "$mpi" 4 "${preload[@]}" "$work/program/phases-$mpi" "$2" 2
	"${command[@]}" >output 2>&1 </dev/null &
	job=$!
	jobs="$jobs $job"
	wait_for grep -q '^fault:' output
	timeout 100 "$build/pdb" -nx watch --pid "$job" --max-wait 5s --save "$1.pdb" --kill >said 2>&1 </dev/null
	check "$1: a hang is found" test $? -eq 1
	wait "$job" 2>/dev/null
}
save_hang deadlock deadlock with
save_hang endless endless with
save_hang stacks endless without
rm -rf program

# pdb and its libraries, found by a loader that is not where programs look for it.
mkdir -p root/tool root/tmp
cp "$build/pdb" deadlock.pdb endless.pdb stacks.pdb root/tool
ldd "$build/pdb" | grep -o '/[^ ]*' | xargs cp -L -t root/tool
loader=/tool/$(basename "$(readelf -p .interp "$build/pdb" | grep -o '/[^ ]*')")
there() { "${enter[@]}" root "$loader" --library-path /tool /tool/pdb -nx --load "tool/$1.pdb" "${asked[@]}"; }
here() { (cd root && "$build/pdb" -nx --load "tool/$1.pdb" "${asked[@]}"); }

# All commands: alone, as their example says, and what else they can be asked. Those that are about
# this machine's programs and files, or end pdb, are no questions.
names() {
	"$build/pdb" -nx --load endless.pdb --batch -ex 'help all' | sed '/^Topics:/,$d' | grep -o '^  [-a-z]*' | tr -d ' ' | sort -u |
		grep -vx 'shell\|quit\|save\|source\|define\|gdb\|report'
}
examples() { sed -n 's/^Example: `\([^>|`]*[^>|` ]\).*`$/\1/p' "$tests/../../docs/commands.md" |
	grep -v '^shell\|^quit\|^save\|^source\|^define\|^gdb\|^report'; }
others() {
	printf '%s\n' 'bt all' 'bt full' 'info hosts' 'info ranks' 'info overhead' 'info recorder' 'show' \
		'tree -full' 'groups 0' 'model' 'why 0' 'why 1' 'messages 0' 'requests' 'history 1' 'order' \
		'graph > /tmp/graph.dot' 'tree > /tmp/tree.folded' 'tree > /tmp/tree.json' 'waits > /tmp/waits.dot' \
		'set frames full' 'bt 1' 'lp'
}
# No terminal or language has a say.
export LC_ALL=C COLUMNS=100
asked=()
while read -r line; do asked+=(-ex "echo ---- '${line//\'/}'" -ex "$line"); done < <(names; examples; others)
asked+=(-ex quit)
check "there are commands" test ${#asked[@]} -gt 100

# Times since it was saved go on.
calm() { sed -E 's/[0-9.]+ (us|ms|s|min|h)( ago)/TIME\2/g'; }

for name in deadlock endless stacks; do
	here $name 2>&1 </dev/null | calm >$name.here
	mkdir -p files && mv /tmp/graph.dot /tmp/tree.folded /tmp/tree.json /tmp/waits.dot files/ 2>/dev/null
	there $name 2>&1 </dev/null | calm >$name.there
	check "$name: the same is told elsewhere" diff $name.here $name.there
	for file in graph.dot tree.folded tree.json waits.dot; do
		check "$name: the same $file" diff files/$file root/tmp/$file
	done
	check "$name: with functions and lines of the program" grep -q 'do_wrong.* part.c:[0-9]' $name.there
	check "$name: and of its parts" grep -q 'libpart.so\|run_part' $name.there
	check "$name: no command is unknown" bash -c '! grep -i "no command\|unknown command" $0' $name.there
done
finish_checks
