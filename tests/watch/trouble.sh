#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Watching where something goes wrong around it: files that cannot be written, commands that fail or
# do not end, ranks that die, jobs that are suspended, clocks that jump, and a watcher that is
# stopped, killed or loses its terminal. What it does, it does all the same, and the job never notices.
# usage: trouble.sh BUILD_DIRECTORY [MPI...]; ends with "N passed, N failed"
set -u
build=$(realpath "$1")
tests=$(dirname "$(realpath "$0")")
. "$tests/lib.bash"
shift
[ $# -gt 0 ] || set -- openmpi mpich

is() { [ "$1" = "$2" ] || { echo "    | $1, not $2" >&2; return 1; }; }
has_line() { grep -q -- "$1" "$2" 2>/dev/null; }
is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
rank_pids() { pgrep -f "^$work/phases-"; }

# start_job KIND SECONDS MPIRUN-OPTION...: with a recorder, its pid in $job
start_job() {
	local kind=$1 seconds=$2
	shift 2
	job_of "$mpi" 4 "$@" "$work/phases-$mpi" "$kind" "$seconds"
	(eval "$("$build/pdb" env --mpi="$mpi")"; exec "${command[@]}") >output 2>&1 </dev/null &
	job=$!
	jobs="$jobs $job"
	wait_for ranks_are_there
}
ranks_are_there() { [ "$(rank_pids | wc -l)" = 4 ]; }
end_job() {
	kill "$job" 2>/dev/null
	wait "$job" 2>/dev/null
	no_ranks "$mpi"
}

# watch_job WATCH-OPTION...: the job that runs, what is said in the file said
watch_job() { timeout -k 5 100 "$build/pdb" -nx watch --pid "$job" "$@" >said 2>&1 </dev/null; }
# The same in the background: its parent's pid in $watcher. It is looking when this returns.
begin_watching() {
	rm -f said
	timeout -k 5 100 "$build/pdb" -nx watch --pid "$job" --json "$@" >said 2>&1 </dev/null &
	watcher=$!
	wait_for has_line '"begin"' said
}

# None is traced or stopped.
ranks_are_free() {
	local pid num=0
	for pid in $(rank_pids); do
		has_line '^TracerPid:[[:space:]]*0$' "/proc/$pid/status" || return 1
		has_line '^State:[[:space:]]*[RSD]' "/proc/$pid/status" || return 1
		num=$((num + 1))
	done
	[ $num -eq 4 ]
}

# Each line is an object, and its event and its keys are in the table of docs/batch.md.
is_json() {
	python3 - "$1" "$tests/../../docs/batch.md" <<-'END_OF_PYTHON'
		import json, re, sys
		rows = re.findall(r'^\| (`[\w`, -]+`) \|(.*)\|$', open(sys.argv[2]).read(), re.M)
		keys = {name: set(re.findall(r'`(\w+)`', text)) for names, text in rows
		        for name in re.findall(r'[\w-]+', names)}
		lines = open(sys.argv[1]).read().splitlines()
		for line in lines:
		    event = json.loads(line)
		    unknown = set(event) - {"pdb", "command", "event", "time"} - keys[event["event"]]
		    assert not unknown, unknown
		assert json.loads(lines[-1])["event"] == "end", lines[-1]
	END_OF_PYTHON
}

# ---- What cannot be written ----

mpi=$1
cp "$build/tests/watch/phases-$mpi" . || exit 1
mkdir folder
refuse() {
	local what=$1 why=$2
	shift 2
	rm -f started
	timeout 20 "$build/pdb" -nx run --watch --mpi="$mpi" "$@" -- touch started >said 2>&1 </dev/null
	check "$what: status 2" test $? -eq 2
	check "$what: told why" says "$why"
	check "$what: the job is not started" test ! -e started
}
refuse "a snapshot in no folder" '--save: none/s.pdb: No such file' --save none/s.pdb
refuse "a snapshot that is a folder" '--save: folder exists and is no regular file' --save folder
refuse "a snapshot below a file" '--save: /dev/full/s.pdb: Not a directory' --save /dev/full/s.pdb
refuse "a report that is a folder" '--report: folder: Is a directory' --report folder
refuse "a report in no folder" '--report: none/r: No such file' --report none/r
refuse "one file for both" 'need different files' --save both --report both
check "nothing is left of trying" is "$(ls)" "$(printf 'folder\nphases-%s\nsaid' "$mpi")"
echo before >r.txt
timeout 20 "$build/pdb" -nx run --watch --mpi="$mpi" --report r.txt --save s.pdb -- true >said 2>&1 </dev/null
check "a job that ends at once: status 0" test $? -eq 0
check "a file that is there stays as it was" is "$(cat r.txt)" before
check "a file that was not there is not" test ! -e s.pdb

# ---- A hang, and what is done about it ----

start_job deadlock 1
(ulimit -f 2; watch_job --save small.pdb --report small.txt --on-hang 'touch done')
check "no space for the files: status 1" test $? -eq 1
check "no snapshot: told" says 'no snapshot: small.pdb.*File too large'
check "no report: told" says 'no report: cannot write to small.txt: File too large'
check "nothing is left of the snapshot" is "$(ls small.pdb* 2>/dev/null)" ''
check "the command is run all the same" test -e 'done'
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	mkdir small
	export -f watch_job
	job=$job build=$build unshare -m bash -c 'mount -t tmpfs -o size=4k tmpfs small &&
		head -c 4096 /dev/zero >small/full && watch_job --save small/s.pdb
		status=$?; ls small >left; exit $status'
	check "a file system that is full: status 1" test $? -eq 1
	check "told" says 'no snapshot: small/s.pdb.*No space left'
	check "nothing is left there" is "$(cat left)" full
fi

watch_job --on-hang './no-such-command'
check "a command that is not there: status 1" test $? -eq 1
check "a command that is not there: told" says '--on-hang: ended with status 127'
watch_job --on-hang 'kill -ABRT $$'
check "a command that is killed: told" says '--on-hang: ended by signal 6'
watch_job --on-hang-time 1s --on-hang 'trap "" TERM; sleep 300 & echo $! >sleeper; wait; sleep 300'
check "a command that does not end: status 1" test $? -eq 1
check "it is ended, and told so" says '--on-hang: not done after 1\.[0-9]* s; pdb ended it'
check "nothing of it is left" is_gone "$(cat sleeper)"
watch_job --on-hang-time 1s --on-hang 'kill -STOP $$'
check "a command that stops itself: ended" says '--on-hang: not done after 1\.[0-9]* s; pdb ended it'
watch_job --on-hang-time 100s --on-hang 'echo $$ >sleeper; kill -INT $PPID; exec sleep 300'
check "a command that is interrupted: ended" says '--on-hang: interrupted after [0-9.]* m?s; pdb ended it'
check "nothing of that is left" is_gone "$(cat sleeper)"
watch_job --on-hang 'cat; ls -l /proc/self/fd >fds'
check "a command that reads: there is nothing to read" test $? -eq 1
check "and is told nothing" bash -c '! grep -q on-hang said'
check "it has no files of pdb's" is "$(wc -l <fds)" "$(bash -c 'ls -l /proc/self/fd' </dev/null 2>&1 | wc -l)"
timeout -k 5 100 "$build/pdb" -nx --pid "$job" --batch -ex 'watch --on-hang "exit 4"' \
	-ex 'shell ps -o stat=,comm= --ppid $PPID' >said 2>&1 </dev/null
check "at the prompt, too: told" says 'on-hang: ended with status 4'
check "no zombie is left" bash -c '! grep -q "^Z" said'

# What it is told is safe with any name, and is no line of JSON.
name="a b'\$(touch oops)\".pdb"
printf 'printf "%%s|" "$PDB_SNAPSHOT" "$PDB_HANG_KIND" "$PDB_HANG_RANKS" "$PDB_JOB_SIZE" "$PDB_LAUNCHER_PID" >facts; echo "}{"' >act
watch_job --json --save "$name" --on-hang 'sh act' --report odd.txt
check "odd names: status 1" test $? -eq 1
check "the ranks are among those that wait for each other" has_line '"ranks": "\(1\|2\|1-2\)"' said
check "odd names: as they are" is "$(cat facts)" "$name|deadlock|$(sed -n 's/.*"ranks": "\([-0-9]*\)".*/\1/p' said)|4|$job|"
check "odd names: nothing else is done" test ! -e oops
grep -v '^}{$' said >lines
check "each line is JSON, and documented" is_json lines
timeout -k 5 100 "$build/pdb" -nx watch --pid "$job" --json --on-hang 'echo words' >lines 2>said </dev/null
check "the command's words are not among the JSON" is_json lines
check "but elsewhere" says '^words$'
check "the ranks are free" ranks_are_free
end_job

# ---- Without a history ----

start_job endless 0
watch_job --json --max-wait 4s
check "--max-wait: status 1" test $? -eq 1
check "--max-wait: found by that" says '"proof": "(max-wait|stays)", "still_s": ([3-9]|[1-9][0-9]+)\.'
end_job

# ---- Ranks that die ----

for mpi; do
	[ -e "phases-$mpi" ] || cp "$build/tests/watch/phases-$mpi" . || exit 1
	tolerant=--enable-recovery
	[ "$mpi" = openmpi ] || tolerant=-disable-auto-cleanup
	start_job none 200 $tolerant
	victim=$(pgrep -f "^$work/phases-$mpi" | sed -n 2p)
	rank=$(tr '\0' '\n' <"/proc/$victim/environ" | sed -n 's/^\(OMPI_COMM_WORLD_RANK\|PMI_RANK\)=//p')
	begin_watching --kill
	kill -KILL "$victim"
	wait $watcher
	status=$?
	# MPICH's ranks end when one of them is gone, but not always.
	if [ "$mpi" = openmpi ] || has_line '"hang"' said; then
		check "$mpi, a rank is killed and the launcher waits: status 1" is $status 1
		check "$mpi: it is said which" \
			says "\"event\": \"hang\".*\"(crash|left)\", \"ranks\": \"$rank\""
	fi
	check "$mpi: the job has been ended" no_ranks "$mpi"
	wait "$job" 2>/dev/null

	start_job none 200 $tolerant
	begin_watching
	for pid in $(rank_pids); do
		kill -KILL "$pid" 2>/dev/null
		sleep 0.3
	done
	wait $watcher
	status=$?
	check "$mpi, ranks die one by one: the end of the job, or a crash" \
		says '"how": "ended", "status": 0|"kind": "(crash|left)"'
	check "$mpi, ranks die one by one: its status" test $status -lt 2
	end_job
done
mpi=$1

# A rank dies, and the launcher ends the rest.
watch_started() {
	job_of "$mpi" 4 "$work/phases-$mpi" "$1" "$2"
	rm -f said
	timeout -k 5 150 "$build/pdb" -nx run --watch --mpi="$mpi" --output output --json -- \
		"${command[@]}" >said 2>&1 </dev/null &
	watcher=$!
	wait_for ranks_are_there
}
watch_started none 200
kill -KILL "$(rank_pids | tail -n 1)"
wait $watcher
status=$?
check "a rank is killed during the start: the job's status" test $status -gt 2
check "and nothing else is told" says "^\{.*\"event\": \"end\", .*\"how\": \"ended\", \"status\": $status\}"
check "and no hang" bash -c '! grep -q "\"hang\"" said'
timeout 60 "$build/pdb" -nx run --watch --mpi="$mpi" -- sh -c 'kill -SEGV $$' >said 2>&1 </dev/null
check "a job that ends by a signal: its status" test $? -eq 139
job_of "$mpi" 2 sh -c 'exit 3'
timeout 60 "$build/pdb" -nx run --watch --mpi="$mpi" -- "${command[@]}" >said 2>&1 </dev/null
check "ranks that end before MPI_Init: the job's status" test $? -eq 3

# ---- Suspended ----

start_job none 25
begin_watching
kill -STOP $(rank_pids)
check "a job that is suspended: told" wait_for has_line '"suspended"' said
sleep 8 # A rank that is stopped alone is called a hang after 2 s.
check "no alarm" bash -c '! grep -q "\"hang\"" said'
kill -CONT $(rank_pids)
check "it goes on: told" wait_for has_line '"resumed"' said
# All of it, watcher included.
kill -STOP $(rank_pids) $(pgrep -P $watcher)
sleep 6
kill -CONT $(rank_pids) $(pgrep -P $watcher)
wait "$job"
check "the job ends well" test $? -eq 0
wait $watcher
check "and no alarm was raised: status 0" test $? -eq 0
check "each line is JSON, and documented" is_json said

# ---- A date that jumps ----

start_job endless 8
LD_PRELOAD=$build/tests/watch/jump.so timeout -k 5 100 "$build/pdb" -nx watch --pid "$job" --json --save s.pdb --on-hang date \
	>lines 2>said </dev/null
check "the date jumps by years: status 1" test $? -eq 1
check "by years" is "$(sed -n 's/.*"time": "\(....\).*/\1/p' lines | sort -u | wc -l)" 2
check "only after the fault" has_line '^fault: rank 1' output
cp lines said
check "what it is, and a time that makes sense" \
	says '"computation", "ranks": "1", "certain": true, "proof": "test", "still_s": [0-9]{1,2}\.[0-9]*, "watched_s": [0-9]{1,2}\.'

end_job

# ---- The watcher is stopped, killed, or its terminal closes ----

for signal in TERM HUP INT QUIT SEGV KILL; do
	watch_started none 200
	wait_for has_line '"begin"' said
	pdb=$(pgrep -P $watcher)
	job=$(pgrep -P "$pdb")
	jobs="$jobs $job"
	kill -STOP "$pdb"
	sleep 0.5
	kill -$signal "$pdb"
	kill -CONT "$pdb" 2>/dev/null
	wait $watcher 2>/dev/null
	check "pdb run --watch ends by SIG$signal: the ranks go on, and are free" ranks_are_free
	check "and their launcher" kill -0 "$job"
	kill "$job"
	check "which still hears of its end" no_ranks "$mpi"
done

# By stacks, for which ranks are stopped now and again.
job_of "$mpi" 4 "$work/phases-$mpi" none 200
"${command[@]}" >output 2>&1 </dev/null &
job=$!
jobs="$jobs $job"
wait_for ranks_are_there
for signal in TERM SEGV KILL KILL KILL; do
	begin_watching
	sleep 1.$RANDOM
	kill -$signal "$(pgrep -P $watcher)"
	wait $watcher 2>/dev/null
	check "a watcher of stacks ends by SIG$signal: the ranks are free" wait_for ranks_are_free
done

if command -v tmux >/dev/null; then
	tmux=(tmux -L "pdb-watch-$$" -f /dev/null)
	screen() { "${tmux[@]}" capture-pane -p -t watch 2>/dev/null; }
	shows() { screen | grep -Eq -- "$1"; }
	"${tmux[@]}" new-session -d -s watch -x 100 -y 20 "$build/pdb -nx watch --pid $job"
	check "a terminal has a status line" wait_for shows '^4 ranks  outside MPI (\[[#.]{10}\] +[0-9]+ %|\?)  '
	"${tmux[@]}" send-keys -t watch C-c
	check "a terminal that is gone harms nobody" ranks_are_free
	"${tmux[@]}" kill-server 2>/dev/null
	end_job

	job_of "$mpi" 4 "$work/phases-$mpi" none 200
	"${tmux[@]}" new-session -d -s watch -x 100 -y 20 "$build/pdb -nx run --watch --mpi=$mpi -- ${command[*]}"
	wait_for ranks_are_there
	job=$(pgrep -f -o "^(${command[0]}|mpiexec).*$work/phases")
	jobs="$jobs $job"
	"${tmux[@]}" kill-server
	sleep 1
	check "its terminal closes: the ranks go on, and are free" ranks_are_free
	check "and their launcher" kill -0 "$job"
fi
end_job

# ---- In the place of a script ----

cat >script <<'END_OF_SCRIPT'
for signal in USR1 USR2 TERM; do trap "echo got $signal" $signal; done
cat
echo ready
while [ ! -e over ]; do sleep 0.1; done
exit 6
END_OF_SCRIPT
echo words >input
timeout --foreground -k 5 100 "$build/pdb" -nx run --watch --mpi="$mpi" -- bash script <input >said 2>&1 &
watcher=$!
wait_for has_line ready said
check "a script has the input" has_line words said
for signal in USR1 USR2 TERM; do
	kill -$signal "$(pgrep -P $watcher)"
	check "it is told of SIG$signal" wait_for has_line "got $signal" said
done
touch over
wait $watcher
check "and then goes on to its end: its status" test $? -eq 6

finish_checks
