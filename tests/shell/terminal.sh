#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# At a terminal (tmux): completion, history, repeat, Ctrl-C, gdb and back, questions, hang-up.
set -u
. tests/shell/lib.sh

if ! command -v tmux >/dev/null || ! command -v mpirun >/dev/null || ! build_program nested; then
	echo 'skip: no tmux, or no MPI to compile and run with'
	finish
	exit
fi

[ "${build#/}" != "$build" ] || build=$PWD/$build pdb=$PWD/$pdb
tmux="tmux -L pdb-shell-$$ -f /dev/null"
cd "$work" || exit 1
trap '$tmux kill-server 2>/dev/null; cleanup' EXIT

mpirun --oversubscribe -n 4 -x "LD_PRELOAD=$build/libpdbrec-openmpi.so" ./nested 2 >out 2>&1 &
job=$!
jobs="$jobs $job"
wait_for grep -q 'fault: rank 2' out || fail 'the job does not reach its fault'

# The terminal's text since the last `typed`.
screen() { $tmux capture-pane -p -S - -t pdb; }
shows() { screen | grep -Eq -e "$1"; }
see() {
	if wait_for shows "$2"; then pass; else fail "$1" "nothing like \"$2\"
$(screen | tail -n 20)"; fi
}
# Type keys; the screen is emptied first so that old text is not taken for an answer.
typed() {
	$tmux send-keys -t pdb -R
	$tmux clear-history -t pdb
	$tmux send-keys -t pdb "$@"
}

unset PAGER
export PDB_HISTORY="$work/history"
$tmux new-session -d -s pdb -x 100 -y 40 \
	"$pdb --pid $job -ex 'set stale 86400'; echo ended with \$?; exec sleep 1000"
see 'banner' 'recorder in 4 of 4 ranks; found by'
see 'prompt' '^\(pdb\)'

typed 'inf' Tab 'j' Tab Enter
see 'completion of two words' 'launcher  .*mpirun'
typed 'set colo' Tab 'a' Tab Enter 'show color' Enter
see 'completion of settings' 'color +auto'
typed 'bt lp -' Tab Tab
see 'options and what they are' '^  -below +cut the frames below'
typed C-u 'why ' Tab Tab
see 'ranks and where they are' '^  2 +computing, '
typed C-u 'tree -below re' Tab Tab
see 'functions' 'tree -below relax'
typed C-u 'echo first' Enter
see 'a command' '^first'
typed Enter
see 'an empty line repeats' '^first'
typed Up Enter
see 'history' '^first'
typed 'garbage'
see 'typing' 'garbage'
typed C-c
see 'Ctrl-C empties the line' '^\(pdb\) *$'
typed 'echo second' Enter
see 'a command after Ctrl-C' '^second'
typed 'shell sleep 1000' Enter
wait_for pgrep -f -x 'sleep 1000' -P "$($tmux display-message -p -t pdb '#{pane_pid}')"
typed C-c
see 'Ctrl-C ends a program, not pdb' '^\(pdb\) *$'
typed 'echo third' Enter
see 'a command after the program' '^third'
typed 'focus 0,2-3' Enter
see 'focus in the prompt' '^\(pdb 0,2-3\)'
typed 'focus all' Enter
see 'focus ends' '^\(pdb\)'
typed 'define x' Enter 'echo in x' Enter 'en' 'd' Enter 'x' Enter # "end" would be a key's name
see 'define' '^in x'

typed 'hlep' Enter
see 'a typing error' 'did you mean "help"'

typed 'help all' Enter
see 'a page' '^-- more: Enter'
typed x Enter
see 'the next page' '^\(pdb\) *$'
for key in q C-c; do
	typed 'help all' Enter
	see 'a page again' '^-- more: Enter'
	typed $key
	see "$key ends paging" '^ *\(pdb\) *$'
done
typed 'help all' Enter
see 'a page once more' '^-- more: Enter'
typed c
see 'c shows the rest' '^  startup .*'
typed 'set pager off' Enter 'help all' Enter
see 'no pages' '^\(pdb\) *$'
typed 'set pager on' Enter

typed 'tutorial' Enter
see 'the first step' '^Step 1 of '
typed 'echo between' Enter
see 'a command between steps' '^between'
typed Enter
see 'the second step' '^Step 2 of '
typed q Enter
see 'q leaves the tutorial' '^\(pdb\) *$'

typed 'sample 100 every 200ms' Enter
see 'what is being done' '^sample \[#*\.+\] [0-9]+ of 20 s  \(Ctrl-C ends it\)'
typed C-c
see 'Ctrl-C ends it' 'samples of ranks 0-3'
typed 'set stale 1' Enter 'focus 1' Enter 'shell sleep 2' Enter
see 'the age in the prompt' '^\(pdb 1 [0-9]+ (s|min) old\)'
typed 'save aged.pdb' Enter
see 'the age of what is saved' '^\(snapshot [0-9]+ (s|min) old; refresh to look again\)'
typed 'report aged.txt' Enter
see 'a report' '^written: aged.txt'
see 'the prompt after it' '^\(pdb 1.*\) *$'
if [ "$(screen | grep -c 'refresh to look again')" -le 1 ]; then pass; else fail 'a report says its age once'; fi
typed 'gdb 1 -ex "print 6 * 7"' Enter
see 'gdb carries out a command' '= 42'
typed 'groups' Enter
see 'after gdb it is looked anew' '^\(pdb 1\) *$'
typed 'set stale 86400' Enter 'focus all' Enter
see 'no age' '^\(pdb\) *$'

typed 'gdb 2' Enter
see 'gdb' '^\(gdb\)'
typed 'print 6 * 7' Enter
see 'gdb has the terminal' '= 42'
typed 'kill' Enter
see 'gdb asks before it kills' 'Kill the program being debugged'
typed 'n' Enter
see 'and does not' 'Not confirmed'
typed 'quit' Enter
see 'leaving it asks nothing' 'Rank 2 .*goes on'
typed 'gdb 2' Enter
see 'gdb again' '^\(gdb\)'
typed C-d
see 'so does its end of input' 'Rank 2 .*goes on'
typed 'echo fourth' Enter
see 'pdb has the terminal again' '^fourth'

echo old >file
typed 'lp > file' Enter
see 'asks before overwriting' 'Overwrite it'
typed 'n' Enter
see 'keeps the file' 'not written'
if [ "$(cat file)" = old ]; then pass; else fail 'the file was overwritten'; fi

typed 'refresh' Enter
see 'refresh' 'No rank has moved'
typed 'quit' Enter
see 'quit' 'ended with 1'
if grep -q 'echo fourth' history; then pass; else fail 'the history was not written'; fi

# ---- Hang-up: pdb ends, the job does not ----

$tmux kill-session -t pdb
$tmux new-session -d -s pdb -x 100 -y 40 "$pdb --pid $job"
see 'banner again' 'found by'
shell=$($tmux display-message -p -t pdb '#{pane_pid}')
$tmux kill-session -t pdb
gone() { ! kill -0 "$shell"; }
if wait_for gone; then pass; else fail 'pdb outlives its terminal'; fi
if kill -0 $job; then pass; else fail 'the job ended with the terminal'; fi

# ---- A job of its own: asks at the end ----

unset PDB_HISTORY
$tmux new-session -d -s pdb -x 100 -y 40 \
	"$pdb run --output $work/own -- mpirun --oversubscribe -n 2 ./nested; exec sleep 1000"
see 'run' '^\(pdb\)'
typed 'info job' Enter
see 'run: job' 'recorder in 2'
own=$($tmux capture-pane -p -t pdb | sed -n 's/.*launcher .*pid \([0-9]*\)$/\1/p')
jobs="$jobs $own"
# What the look at its start has found is no answer later on.
rank=$(pgrep -n -x -P "$own" nested)
typed 'set stale 1' Enter 'refresh' Enter
see 'run: it moves' ' move'
kill -STOP "$rank"
typed 'shell sleep 3' Enter
see 'run: the snapshot is old' '^\(pdb [0-9]+ (s|min) old\)'
typed 'lp' Enter
see 'run: lp looks again' "\"kill -CONT $rank\""
kill -CONT "$rank"
typed 'quit' Enter
see 'run: asks' 'End it'
typed 'y' Enter
own_gone() { ! kill -0 "$own"; }
if wait_for own_gone; then pass; else fail 'the job was not ended'; fi
nothing_left() { ! ls /dev/shm/pdb.*."$rank" >/dev/null 2>&1; }
if wait_for nothing_left; then pass; else fail 'its segments are left'; fi

finish
