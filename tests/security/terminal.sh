#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What reaches a terminal when everything has a name that the terminal would obey: job, hosts, programs,
# functions, communicators, files. usage: terminal.sh BUILD. Ends with the line: N passed, N failed.
set -u
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
. "$here/../suite/checks.bash"
work=$(mktemp -d) jobs=()
stop() {
	[ ${#jobs[@]} = 0 ] || kill "${jobs[@]}" 2>/dev/null
	wait
	rm -rf "$work"
}
trap stop EXIT
cd "$work" || exit 1
export PDB_HISTORY='' HOME=$work PDB_SEGMENT_DIR=$work LC_ALL=C.UTF-8
unset PAGER LESS NO_COLOR

# Clears the screen, is red, begins the line anew; C1 as a byte and as UTF-8; right to left; a title.
evil=$(printf 'ev\033[2J\033[1;31mfaked\rfaked\2332J\302\2332J\342\200\256\033]0;owned\007il')
objcopy --redefine-sym main="$evil" "$build/tests/security/names-mpich" "$work/$evil"

# at_terminal PATTERN PDB-ARGUMENT...: types standard input.
at_terminal() {
	cat >"$work/lines"
	python3 "$here/terminal.py" "$work/typed" "$work/lines" "$1" "$build/pdb" "${@:2}" >"$work/said" 2>&1
}
explain() { cat -v "$work/said"; }
# ask WHAT PATTERN LINES PDB-ARGUMENT...
ask() { check "$1" at_terminal "$2" "${@:4}" <<<"$3"; }
answers='info job
info ranks
info hosts
lp
groups
graph
loops
waits
why 0
bt all
tree
classes
collectives
messages
model 0
history 0
order
TAB bt -below ev
TAB collectives 
TAB host 
TAB why 
TAB save ev
show no-such-setting
focus host no-such-host
bt -below no-such-function'

# ---- A job with a recorder --------------------------------------------------------------------------

LD_PRELOAD="$build/libpdbrec-mpich.so" mpiexec.mpich -n 2 -env PMIX_NAMESPACE "$evil" "$work/$evil" "$evil" >out 2>&1 &
jobs+=($!)
launcher=$!
is_ready() { [ "$(grep -c ready out)" = 2 ]; }
check 'the job is there' wait_for is_ready
is_quiet() { "$build/pdb" --pid "$launcher" --batch -ex waits 2>&1 | grep -q 'waits for'; }
check 'and hangs' wait_for is_quiet
ask 'banner and answers' 'MPICH' "$answers
save job.pdb
report job.txt
TAB save job
save job.pdb
y
quit" --pid "$launcher"
ask 'a job that is watched' 'Hang: ' '' watch --max-wait=1s --pid "$launcher"
ask 'its snapshot' 'Snapshot' "$answers
quit" --load job.pdb
PAGER="cat" ask 'by the pager of the user' 'MPICH' "bt all
help all
info ranks
quit" --load job.pdb
LC_ALL=C ask 'in a terminal without Unicode' 'MPICH' "$answers
quit" --load job.pdb
has_no_escape() {
	local file
	for file in "$@"; do [ -s "$file" ] || return 1; done
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|(?<![\x80-\xff])[\x80-\xbf]' "$@"
}
"$build/pdb" --load job.pdb --batch -ex "bt all | cat" -ex "info job > job.log" -ex "graph > g.dot" \
	-ex 'info job --json' -ex "report job.html" -ex collectives >batch.log 2>&1
check 'nor do files hold what a terminal obeys' has_no_escape batch.log job.log job.txt g.dot job.html

# ---- Files -------------------------------------------------------------------------------------------

cp job.pdb "$evil.pdb"
ask 'a snapshot of such a name' 'Snapshot' "info job
TAB load $work/
save $work/ev	
n
report $work/ev	
n
quit" --load "$evil.pdb" -ex "save /no/$evil" -ex "report /no/$evil" -ex "lp > /no/$evil" -ex "source $evil" \
	-ex "$evil" -ex "echo $evil" -ex "bt -$evil" -ex "set $evil $evil"
ask 'a file that is none' 'pdb: ' '' --load "/no/$evil"
ask 'cores that are none' 'pdb: ' '' --core "$work/$evil"
ask 'a program that is none' 'pdb: ' '' run --mpi=mpich -- "/no/$evil"

# ---- A table of hosts --------------------------------------------------------------------------------

truncate -s 4096 libopen-rte.so.40
EXECUTABLE=/bin/$evil "$build/tests/security/launcher" "$work/libopen-rte.so.40" "$evil" "$work/$evil" >out.table 2>&1 &
jobs+=($!)
table=$!
is_started() { grep -q 'rank -\?[0-9]* is ready' out.table; }
check 'a launcher with such hosts is there' wait_for is_started
ask 'hosts of a table' 'mpirun' "info job
info ranks
info hosts
bt all
gdb 1
TAB host 
save table.pdb
quit" --pid "$table"
ask 'hosts of a snapshot' 'Snapshot' "info job
info ranks
info hosts
TAB host 
quit" --load table.pdb

# ---- A core --------------------------------------------------------------------------------------------

rank=$(pgrep -P "$table" | head -n 1)
gcore -o core "$rank" >/dev/null 2>&1
ask 'a core of such a program' 'Cores' "info job
info ranks
bt all
TAB bt -below ev
quit" --core "core.$rank"
finish_checks
