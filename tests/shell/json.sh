#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Answers in JSON, of a real job that hangs and of its snapshot, against the schema.
set -u
. tests/shell/lib.sh

if ! command -v mpirun >/dev/null || ! build_program nested; then
	echo 'skip: no MPI to compile and run with'
	finish
	exit
fi

# documents FILE: the commands that they answer, in one line.
documents() {
	/usr/bin/python3 tests/shell/validate.py <"$1" | paste -sd, -
}

# same NAME FILE EXPECTED
same() {
	found=$(documents "$2")
	if [ "$found" = "$3" ]; then pass; else fail "$1" "$found"; fi
}

# ---- A job with traces ----

run run --trace --output "$work/out" --batch -ex 'echo started' -- \
	mpirun --oversubscribe -n 4 "$work/nested" 2
job=$(printf '%s\n' "$said" | sed -n 's/^pdb: the job goes on: pid //p')
jobs="$jobs $job"
wait_for grep -q 'fault: rank 2' "$work/out" || fail 'the job does not reach its fault' "$said"

hung() {
	run --pid "$job" --batch -ex lp
	[ $status -eq 1 ]
}
wait_for hung || fail 'the hang is not seen' "$said"

# Every command that has an answer in JSON, of the live job.
timeout 120 "$pdb" --pid "$job" --batch --json -ex lp -ex groups -ex graph -ex loops -ex progress \
	-ex 'why 0' -ex waits -ex messages -ex 'messages 0' -ex 'requests 0' -ex collectives \
	-ex 'collectives 1' -ex 'history 0 3' -ex 'model 2' -ex order -ex tree -ex classes -ex 'bt 0' \
	-ex 'sample 2' -ex slow -ex 'info job' -ex 'info ranks' -ex 'info hosts' -ex 'info overhead' \
	-ex 'info recorder' -ex list -ex 'print rank' -ex locals -ex 'info locals 0' -ex 'info args 1-2' \
	-ex 'trace 0' -ex similar -ex lattice -ex 'diff 0 2' \
	>"$work/live" 2>"$work/errors" </dev/null
run --pid "$job" --batch -ex "save $work/hang.pdb"
same 'all commands' "$work/live" "lp,groups,graph,loops,progress,why,waits,messages,messages,requests,\
collectives,collectives,history,model,order,tree,classes,bt,sample,slow,info job,info ranks,info hosts,\
info overhead,info recorder,list,print,locals,info locals,info args,trace,similar,lattice,diff"

# ---- Its snapshot ----

"$pdb" --load "$work/hang.pdb" --batch -ex 'lp --json' -ex 'why --json 0' -ex 'suspects . --json' \
	>"$work/words" 2>&1 </dev/null
same 'a word of the command' "$work/words" 'lp,why,suspects'
"$pdb" --load "$work/hang.pdb" --batch -ex "groups > $work/groups.json" -ex "lp --json > $work/lp.txt" \
	-ex "tree > $work/tree.json" >/dev/null 2>&1 </dev/null
cat "$work/groups.json" "$work/lp.txt" "$work/tree.json" >"$work/files"
same 'files' "$work/files" 'groups,lp,tree'
said=$("$pdb" --load "$work/hang.pdb" --batch --json -ex 'history 9' 2>/dev/null </dev/null)
status=$?
printf '%s\n' "$said" >"$work/error"
same 'a command that fails' "$work/error" 'history error'
expect 'its status' 2 '"kind": "(usage|not found)"' 'no rank 9'
run --load "$work/hang.pdb" --batch -ex "lp > $work/x.folded"
expect 'no folded stacks' 2 'writes no folded stacks'
run --load "$work/hang.pdb" --batch --json -ex "graph > $work/graph.svg"
expect 'a picture all the same' '[01]'
if grep -q '<svg' "$work/graph.svg"; then pass; else fail 'graph > graph.svg'; fi

# Without the recorder: stacks are all there is.
mpirun --oversubscribe -n 2 "$work/nested" 1 >"$work/bare" 2>&1 &
bare=$!
jobs="$jobs $bare"
wait_for grep -q 'fault: rank 1' "$work/bare" || fail 'the job without a recorder'
timeout 60 "$pdb" --pid "$bare" --batch --json -ex lp -ex groups -ex order -ex slow -ex 'info job' -ex waits -ex progress \
	>"$work/stacks" 2>/dev/null </dev/null
same 'without a recorder' "$work/stacks" 'lp,groups,order,slow,info job,waits,progress error'

finish
