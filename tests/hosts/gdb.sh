#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# gdb on a rank of another host: is it as on this one, and does the rank go on however it ends?
# Runs on the first of the hosts that it makes with tests/hosts/hosts.sh.
# usage: gdb.sh BUILD_DIRECTORY; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

if [ "${2:-}" != here ]; then
	command -v gdb >/dev/null && command -v tmux >/dev/null ||
		{ echo 'skip: no gdb, or no tmux'; echo "0 passed, 0 failed"; exit 0; }
	on_hosts "$tests/hosts/hosts.sh" 2 bash "$0" "$build" here
fi

work=$(mktemp -d)
tmux="tmux -L pdb-gdb -f /dev/null"
trap '$tmux kill-server 2>/dev/null; kill $job; wait $job; rm -rf "$work"' EXIT
has() { grep -Eq -e "$1" "$2"; }
not() { ! "$@"; }

mpirun.openmpi --bind-to none --mca mpi_yield_when_idle 1 --host a:2,b:2 -n 4 \
	-x LD_PRELOAD="$build/libpdbrec-openmpi.so" \
	"$build/tests/mpi/nested-openmpi" 2 >"$work/output" 2>&1 </dev/null &
job=$!
wait_for has '^fault: rank' "$work/output"
# Rank 2, which computes without end, and rank 3, which waits for it.
read -r faulty waiting <<<"$(ssh b pgrep -x nested-openmpi | sort -n | xargs)"
ssh b renice -n $(($(nice) + 5)) -p "$faulty" >/dev/null

tracer() { ssh b sed -n "'s/^TracerPid:[[:space:]]*//p'" "/proc/$1/status"; }
state() { ssh b sed -n "'s/^State:[[:space:]]*\(.\).*/\1/p'" "/proc/$1/status"; }
is_traced() { [ "$(tracer "$1")" != 0 ]; }
goes_on() { [ "$(tracer "$1")" = 0 ] && [[ $(state "$1") = [RS] ]]; }
all_go_on() { goes_on "$faulty" && goes_on "$waiting"; }
no_gdb() { [ -z "$(ssh b pgrep -x gdb)" ]; }
no_daemons() { [ -z "$(for host in a b; do ssh $host pgrep -f "^$build/pdbd-"; done)" ]; }
job_is_quiet() { diff -a <(echo 'fault: rank 2') "$work/output"; }

# ---- Commands for gdb ----

run() { "$build/pdb" --nx --batch --pid "$job" "$@" >"$work/text" 2>"$work/errors"; }
run --ex 'gdb lp -ex "print rank + 40" -ex "info symbol $pc" -ex "print step"'
check "gdb shows the faulty function" has '^relax.* in section .text' "$work/text"
check "gdb shows its variables" has '^\$[0-9]+ = [0-9]+' "$work/text"
run --ex 'gdb 3 -ex "bt 40"' --ex 'gdb 0 -ex "bt 40"' --ex 'gdb 2 -ex "p 6 * 7"'
check "another rank there" has 'in main .*nested.c:42' "$work/text"
check "and one more" has ' = 42' "$work/text"
check "standard error is apart" not has 'No such file' "$work/text"
run --ex 'gdb 3 -ex frobnicate'
check "gdb's errors are pdb's" has 'Undefined command: "frobnicate"' "$work/errors"
check "and its status" has 'gdb ended with status 1' "$work/errors"
run --ex 'gdb 2'
check "without a terminal" has 'gdb needs a terminal' "$work/errors"
check "much text" [ "$(run --ex 'gdb 2 -ex "python print(\"x\" * 3000000)"'; wc -c <"$work/text")" -gt 3000000 ]
check "the ranks go on" wait_for all_go_on

ssh b mount --bind /dev/null "$(command -v gdb)"
run --ex 'gdb 3 -ex bt'
check "no gdb there" has 'gdb is not installed on b, where rank 3 runs' "$work/errors"
run --ex 'gdb 0 -ex bt'
check "but here" has 'in main' "$work/text"
ssh b umount "$(command -v gdb)"

# ---- At a terminal ----

screen() { $tmux capture-pane -p -S - -t pdb; }
shows() { screen | grep -Eq -e "$1"; }
see() {
	check "$1" wait_for shows "$2"
	shows "$2" || screen >&2
}
typed() {
	$tmux send-keys -t pdb -R
	$tmux clear-history -t pdb
	$tmux send-keys -t pdb "$@"
}
# Fails while the server of before is still about to end.
start_shell() { $tmux new-session -d -s pdb -x 90 -y 30 "PS1='shell> ' exec sh" 2>/dev/null; }
# A shell, and pdb in it, its pid in $shell.
start_pdb() {
	$tmux kill-server 2>/dev/null
	wait_for start_shell
	$tmux send-keys -t pdb "$build/pdb --nx --pid $job" Enter
	wait_for shows '^\(pdb[^)]*\)'
	shell=$(pgrep -f -x "$build/pdb --nx --pid $job" | head -n 1)
}
start_gdb() {
	typed "gdb $1" Enter
	wait_for shows '^\(gdb\)'
}

start_pdb
typed 'gdb 2' Enter
see "gdb" '^\(gdb\)'
check "the rank is held" is_traced "$faulty"
typed 'p 6 * 7' Enter
see "it has the terminal" ' = 42'
typed 'p 6 * ' 9 Enter
typed Up Up Enter
see "history" ' = 42'
typed 'info fram' Tab Enter
see "completion" '^info frame'
typed 'show width' Enter
see "its width" 'characters gdb thinks are in a line is 90'
$tmux resize-window -t pdb -x 70 -y 20
resized() { typed 'show width' Enter; sleep 0.2; shows 'in a line is 70'; }
check "the terminal's new width" wait_for resized
typed 'continue' Enter
see "gdb continues" '^Continuing'
typed C-c
see "Ctrl-C stops the rank" 'SIGINT'
see "and is gdb's" '^\(gdb\)'
typed 'quit' Enter
see "back in pdb" 'Rank 2 \(pid [0-9]* on b\) goes on'
check "the rank goes on" wait_for goes_on "$faulty"
typed 'echo back' Enter
see "pdb has the terminal" '^back'
typed 'gdb 3' Enter
see "gdb on another rank" '^\(gdb\)'
typed 'detach' Enter
typed 'quit' Enter
see "detach and quit" 'Rank 3 \(pid [0-9]* on b\) goes on'
typed 'gdb 0' Enter
see "gdb on one of this host" '^\(gdb\)'
typed 'detach' Enter
typed 'quit' Enter
see "that goes on, too" 'Rank 0 \(pid [0-9]*\) goes on'
typed 'gdb 3 -ex continue' Enter
runs_under_gdb() { is_traced "$waiting" && [[ $(state "$waiting") = [RS] ]]; }
see "commands at a terminal" 'MPI_Allreduce'
check "they are carried out" wait_for runs_under_gdb
typed C-c
see "Ctrl-C ends them" '^\(pdb[^)]*\)'
check "all ranks go on" wait_for all_go_on

# ---- Something ends ----

start_gdb 2
ssh b kill -KILL "$(ssh b pgrep -x gdb)"
see "gdb killed: pdb goes on" 'Rank 2 \(pid [0-9]* on b\) goes on'
check "gdb killed: the rank goes on" wait_for goes_on "$faulty"

start_gdb 2
typed 'continue' Enter
wait_for shows '^Continuing'
ssh b kill -STOP "$(ssh b pgrep -x gdb)"
# Somebody who presses it again and again.
impatient() { shows 'does not answer' || { $tmux send-keys -t pdb C-c; false; }; }
check "gdb stopped: Ctrl-C gives up" wait_for impatient
check "gdb stopped: the rank goes on" wait_for goes_on "$faulty"
check "gdb stopped: it has ended" wait_for no_gdb

start_gdb 2
check "the job has noticed nothing" job_is_quiet
ssh b kill -KILL "$(ssh b pgrep -f "^$build/pdbd-" | xargs)"
see "daemon killed: pdb goes on" '^\(pdb[^)]*\)'
check "daemon killed: the rank goes on" wait_for goes_on "$faulty"
check "daemon killed: gdb has ended" wait_for no_gdb

start_gdb 3
check "other daemons" is_traced "$waiting"
kill -KILL "$shell"
see "pdb killed: the terminal is the shell's" 'shell>'
typed 'echo as before' Enter
see "pdb killed: it is as it was" '^as before'
check "pdb killed: the rank goes on" wait_for goes_on "$waiting"
check "pdb killed: gdb has ended" wait_for no_gdb
check "pdb killed: no daemon is left" wait_for no_daemons

start_pdb
start_gdb 3
typed 'break MPI_Allreduce' Enter
wait_for shows '^Breakpoint'
typed 'continue' Enter
wait_for shows '^Continuing'
kill -KILL "$shell"
check "pdb killed while the rank runs: it goes on" wait_for goes_on "$waiting"

start_pdb
start_gdb 2
$tmux kill-session -t pdb
check "terminal gone: the rank goes on" wait_for goes_on "$faulty"
check "terminal gone: gdb has ended" wait_for no_gdb
check "terminal gone: no daemon is left" wait_for no_daemons

check "all ranks go on" wait_for all_go_on
# Daemons that MPI ends for the loss of one say so by way of Open MPI 5's launcher.
mpirun.openmpi --version | grep -q ') 5' ||
	check "the job has noticed nothing of the rest" job_is_quiet
finish_checks
