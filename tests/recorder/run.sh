#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The recorder in real MPI programs: counts, languages, threads, processes, failures, other tools.
# Usage: run.sh BUILD_DIR MPI [WORD: only tests whose name holds it]
# FORTRAN=no: what is in PATH for this MPI (mpicc.MPI, mpicxx.MPI and its launcher) has no mpif90.MPI.
own_mpi=$2
only=${3:-}
. "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
mounts=
job=
PRELOAD=

finish() {
	[ -z "$job" ] || kill "$job" 2>/dev/null
	for m in $mounts; do umount "$m"; done
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# What the job said; Open MPI 5 puts zero bytes into its messages.
say_errors() { tr -d '\000' <"$work/err" >>"$work/why"; }

# ---- Building the programs ---------------------------------------------------------------------

has_fortran() { [ "${FORTRAN:-yes}" != no ]; }

compile() {
	[ $own_mpi != mpich ] || mpicc.mpich -O2 -g -o "$work/comms_session-mpich" "$here/comms_session.c" \
		"$here/checkpoint.c" || return 1
	for mpi in $own_mpi; do
		for p in calls stacks tokens flushes plugins tool; do
			shared=
			[ $p = tool ] && shared="-shared -fPIC"
			mpicc.$mpi -O2 -g $shared -o "$work/$p-$mpi" "$here/$p.c" "$here/checkpoint.c" -lpthread || return 1
		done
		for shift in 16 32 64; do
			mpicc.$mpi -O2 -g -shared -fPIC -DSHIFT=$shift -o "$work/plugin$shift-$mpi.so" \
				"$here/plugin.c" || return 1
		done
		mpicxx.$mpi -O2 -g -o "$work/exceptions-$mpi" -I"$here" "$here/exceptions.cc" \
			-x c++ "$here/checkpoint.c" -lpthread || return 1
		# The sentinels of MPI (MPI_STATUSES_IGNORE...) look like bad pointers to the compiler.
		mpicc.$mpi -O2 -g -Wno-stringop-overflow -Wno-stringop-overread -o "$work/coverage-$mpi" \
			"$here/coverage.c" "$here/coverage_trace.c" "$here/checkpoint.c" || return 1
		mpicc.$mpi -O2 -g -Wno-stringop-overflow -Wno-stringop-overread -Wno-nonnull \
			-o "$work/comms-$mpi" "$here/comms.c" "$here/checkpoint.c" || return 1
		mpicc.$mpi -O2 -g -Wno-stringop-overflow -Wno-stringop-overread -o "$work/messages-$mpi" \
			"$here/messages.c" "$here/checkpoint.c" -lpthread || return 1
		mpicc.$mpi -O2 -g -Wno-stringop-overflow -Wno-stringop-overread -o "$work/threads-$mpi" \
			"$here/threads.c" "$here/checkpoint.c" -lpthread || return 1
		has_fortran || continue
		mpicc.$mpi -O2 -g -c -o "$work/messages_c-$mpi.o" "$here/messages_c.c" || return 1
		gcc -c -I"$here" -o "$work/checkpoint_f.o" "$here/checkpoint_f.c"
		gcc -c -o "$work/checkpoint.o" "$here/checkpoint.c"
		for p in calls_mpif.f calls_usempi.f90 calls_f08.f90 flushes_f.f90; do
			(cd "$work" && mpif90.$mpi -O2 -g -I"$here" -o "$work/${p%.*}-$mpi" "$here/$p" \
				checkpoint_f.o checkpoint.o) || return 1
		done
		for way in MPIF MPI F08; do
			for p in coverage comms messages; do
				(cd "$work" && mpif90.$mpi -O2 -g -w -DUSE_$way -fallow-argument-mismatch \
					-o "${p}_$way-$mpi" "$here/${p}_f.F90" "messages_c-$mpi.o" checkpoint_f.o \
					checkpoint.o) || return 1
			done
		done
	done
}

# ---- Running -----------------------------------------------------------------------------------

preload() { echo "$build/libpdbrec-$1.so"; }

# launch MPI RANKS PROGRAM ARGUMENT...: in the background, with the recorder in the ranks.
# All on this machine, which may have no network interface but lo that Open MPI would take.
launch() {
	launch_mpi=$1
	ranks=$2
	shift 2
	if [ "$launch_mpi" = openmpi ]; then
		timeout 180 mpirun.openmpi --oversubscribe --mca btl_tcp_if_include lo -n "$ranks" \
			env LD_PRELOAD="${PRELOAD:-$(preload openmpi)}" "$@" >"$work/out" 2>"$work/err" &
	else
		timeout 180 mpiexec.hydra -n "$ranks" env LD_PRELOAD="${PRELOAD:-$(preload "$launch_mpi")}" \
			"$@" >"$work/out" 2>"$work/err" &
	fi
	job=$!
}

# Until N ranks are at their checkpoint, the job has ended, or three minutes have gone by.
wait_ready() {
	n=0
	while [ "$(find "$CHECK_DIR" -mindepth 1 -name '*ready*' | wc -l)" -lt "$1" ]; do
		kill -0 "$job" 2>/dev/null || { say "the job ended early"; say_errors; return 1; }
		n=$((n + 1))
		[ $n -lt 3600 ] || { say "ranks not ready in time"; return 1; }
		sleep 0.05
	done
}

go() {
	: >"$CHECK_DIR/go"
	wait "$job"
	status=$?
	job=
	return $status
}

segments() { find "$work/segments" -name 'pdb.*' | sort; }
dump() { "$python" "$here/dump_segment.py" "$@"; }

# expect_equal WHAT IS SHOULD
expect_equal() {
	[ "$2" = "$3" ] && return 0
	say "$1: is"
	echo "$2" >>"$work/why"
	say "but should be"
	echo "$3" >>"$work/why"
	return 1
}

expect_no_segment() { expect_equal "segments left" "$(segments)" ""; }
field() { dump "$2" | sed -n "s/^$1: //p"; }

leave() {
	PRELOAD=
	if [ -n "$job" ]; then
		kill "$job" 2>/dev/null
		wait "$job" 2>/dev/null
		job=
	fi
}

# ---- The tests ----------------------------------------------------------------------------------

c_counts="MPI_Allreduce c 5
MPI_Init c 1
MPI_Isend c 1
MPI_Sendrecv c 15
MPI_Test c 1"
fortran_counts="MPI_Allreduce fortran 5
MPI_File_close fortran 1
MPI_File_open fortran 1
MPI_Init fortran 1
MPI_Isend fortran 1
MPI_Sendrecv fortran 5
MPI_Test fortran 1"

# Every rank's calls, each once; seven failed polls apart; nothing left after MPI_Finalize.
test_counts() {
	mpi=$1 program=$2 expected=$3
	launch "$mpi" 2 "$work/$program-$mpi"
	wait_ready 2 || return 1
	expect_equal "number of segments" "$(segments | wc -l)" 2 || return 1
	for s in $(segments); do
		expect_equal "calls" "$(dump --calls "$s")" "$expected" || return 1
		expect_equal "failed polls" "$(dump "$s" | grep -c 'polls 7$')" 1 || return 1
		expect_equal "size" "$(field size "$s")" 2 || return 1
		expect_equal "life" "$(field life "$s")" running || return 1
		expect_equal "mode" "$(stat -c %a "$s")" 600 || return 1
	done
	go || { say "the job failed"; return 1; }
	# The launcher may put both ranks' words into one line.
	expect_equal "output" "$(tr -s '\n' ' ' <"$work/out" | sed 's/donedone/done done/')" "done done " &&
		expect_no_segment
}

# One rank, inspected at its checkpoint with the commands of $check.
inspect() {
	mpi=$1 check=$2
	shift 2
	launch "$mpi" 1 "$@"
	wait_ready 1 || return 1
	segment=$(segments)
	$check || return 1
	go || { say "the job failed"; return 1; }
}

# Communicators, windows and files: ids equal in all members and different for all else, true members,
# true numbers of collectives.
test_comms() {
	mpi=$1 ranks=$2
	shift 2
	launch "$mpi" "$ranks" "$@"
	wait_ready "$ranks" || return 1
	"$python" "$here/check_comms.py" "$CHECK_DIR" $(segments) >>"$work/why" || return 1
	go || { say "the job failed"; say_errors; return 1; }
	expect_no_segment
}

# Until a line of the rank's evidence is as given: the rank may be on its way into the call.
await() {
	n=0
	until dump --evidence "$work"/segments/pdb.*."$1".* | grep -x -- "$2" >"$work/found"; do
		n=$((n + 1))
		if [ $n -eq 200 ]; then
			say "rank $1 has no line '$2' but"
			dump --evidence "$work"/segments/pdb.*."$1".* >>"$work/why"
			return 1
		fi
		sleep 0.05
	done
}

# Rank 1 has not done its part: what the others have told each other, and wait for.
test_tokens() {
	mpi=$1 case=$2
	launch "$mpi" 4 "$work/tokens-$mpi" "$case"
	wait_ready 4 || return 1
	request="flags active comm"
	case $case in
	epochs | epochs-test)
		await 0 "request .: recv $request 2 peer 1 tag post ordinal 1 .*" &&
			await 0 "  operation: wait_all flags - number . waited 0,1" &&
			await 0 "  ledger: comm 2 peer 1 tag post .* sends 0/0 receives 1/0 .*" &&
			await 2 "request .: recv $request 2 peer 0 tag complete ordinal 1 .*" &&
			await 2 "  operation: wait_all flags - number . waited 0" &&
			await 2 "  ledger: comm 2 peer 0 tag post .* sends 1/1 receives 0/0 .*"
		;;
	locks)
		await 1 "request .: lock $request 2 peer 3 tag 1 .*" &&
			await 0 "  operation: lock flags - .*" &&
			await 0 "    transfer: comm 2 peer 3 tag 0 .*"
		;;
	lock-all) await 1 "request .: lock $request 2 peer any tag 0 .*" ;;
	group)
		await 0 "request .: recv $request 0 peer 1 tag group ordinal 1 .*" &&
			await 0 "  operation: wait_all flags - number . waited 0,1" &&
			await 2 "  ledger: comm 0 peer 0 tag group .* sends 1/1 receives 1/0 .*"
		;;
	leaders)
		await 0 "request .: collective $request 3 peer 0 .* ordinal 1 .*" &&
			await 0 "request .: recv $request 0 peer 1 tag leader ordinal 1 .*" &&
			await 0 "  operation: wait_all flags - number . waited 0,1" &&
			await 2 "  operation: collective flags - number 2 .*"
		;;
	esac || return 1
	go || { say "the job failed"; say_errors; return 1; }
	expect_no_segment
}

test_tokens_balance() {
	launch "$1" 4 "$work/tokens-$1" all
	wait_ready 4 || return 1
	"$python" "$here/check_tokens.py" $(segments) >>"$work/why" || return 1
	go || { say "the job failed"; say_errors; return 1; }
}

# Those that have nothing to do are left out: test_flushes MPI PROGRAM CALLS
test_flushes() {
	launch "$1" 2 "$work/$2-$1"
	wait_ready 2 || return 1
	for segment in $(segments); do
		expect_equal flushes "$(dump --calls "$segment" | grep flush | LC_ALL=C sort)" "$3" || return 1
	done
	go || { say "the job failed"; say_errors; return 1; }
	expect_no_segment
}

# What a segment tells of messages, beside what the program has counted itself.
evidence() { dump --evidence "$1" | sed -n "s/^ *\($2\)/\1/p" | LC_ALL=C sort; }
# Rows of all threads added up, since the one that completes a request counts that.
sum_of_ledgers() {
	evidence "$1" ledger: | gawk '{
		split($11 "/" $13, n, "/")
		key = $2 " " $3 " " $4 " " $5 " " $6 " " $7
		cancelled[key] += $9
		for (i = 1; i <= 4; i++)
			count[key, i] += n[i]
		taken[key] += $15
	}
	END {
		for (key in cancelled)
			printf "ledger: %s cancelled %d sends %d/%d receives %d/%d taken %d\n", key, cancelled[key],
				count[key, 1], count[key, 2], count[key, 3], count[key, 4], taken[key]
	}' | LC_ALL=C sort
}
test_messages() {
	launch "$1" 2 "$work/messages-$1" $2
	wait_ready 2 || return 1
	for s in $(segments); do
		expect_equal "ledger" "$(sum_of_ledgers "$s")" \
			"$(LC_ALL=C sort "$CHECK_DIR/truth.$(field rank "$s")")" || return 1
		expect_equal "requests" "$(evidence "$s" request)" "" || return 1
	done
	go || { say "the job failed"; say_errors; return 1; }
	expect_no_segment
}

# Rank 1 in an operation that cannot end: what it says of it. It gets there some time after rank 0
# is at its checkpoint.
test_blocked() {
	mpi=$1 word=$2 expected=$3
	launch "$mpi" 2 "$work/messages-$mpi" "$word"
	wait_ready 1 || return 1
	n=0
	while
		segment=$(segments | grep '\.1\.[0-9]*$')
		is=$(evidence "${segment:-/dev/null}" 'operation:\|transfer:\|request')
		[ "$is" != "$expected" ] && [ $n -lt 200 ]
	do
		n=$((n + 1))
		sleep 0.05
	done
	expect_equal "operation" "$is" "$expected" || return 1
	go || { say "the job failed"; say_errors; return 1; }
	expect_no_segment
}

three_receives="request 0: recv flags active comm 0 peer 0 tag 70 ordinal 1 bytes 4 by MPI_Irecv lane 0
request 1: recv flags active comm 0 peer 0 tag 71 ordinal 1 bytes 4 by MPI_Irecv lane 0
request 2: recv flags active comm 0 peer 0 tag 72 ordinal 1 bytes 4 by MPI_Irecv lane 0"
all_blocked() {
	test_blocked "$1" recv "operation: recv flags - number 0 waited -
transfer: comm 0 peer 0 tag 70 ordinal 1 bytes 4" && fresh &&
	test_blocked "$1" probe "operation: probe flags - number 0 waited -
transfer: comm 0 peer any tag 70 ordinal 0 bytes 0" && fresh &&
	test_blocked "$1" send "operation: send flags synchronous number 0 waited -
transfer: comm 0 peer 0 tag 70 ordinal 1 bytes 1048576" && fresh &&
	test_blocked "$1" waitall "operation: wait_all flags - number 0 waited 0,1,2
$three_receives" && fresh &&
	test_blocked "$1" waitany "operation: wait_any flags - number 0 waited 0,1,2
$three_receives" && fresh &&
	test_blocked "$1" testall "operation: wait_all flags - number 0 waited 0,1,2
$three_receives"
}

messages_of_fortran() {
	echo "comm 0 peer 0 tag 1 cancelled 0 sends 2/2 receives 0/0 taken 2"
	echo "comm 0 peer any tag 1 cancelled 0 sends 0/0 receives 2/2 taken 0"
	for tag in 2 3 4 5 6 7; do
		echo "comm 0 peer 0 tag $tag cancelled 0 sends 3/3 receives 2/2 taken 1"
		echo "comm 0 peer any tag $tag cancelled 0 sends 0/0 receives 1/1 taken 0"
	done
	echo "comm 0 peer 0 tag 8 cancelled 0 sends 3/3 receives 0/0 taken 3"
	echo "comm 0 peer any tag 8 cancelled 0 sends 0/0 receives 3/3 taken 0"
	echo "comm 0 peer 0 tag 9 cancelled 0 sends 1/1 receives 0/0 taken 1"
	echo "comm 0 peer 0 tag 10 cancelled 0 sends 1/1 receives 0/0 taken 1"
	echo "comm 0 peer any tag 10 cancelled 0 sends 0/0 receives 1/1 taken 0"
	echo "comm 0 peer 0 tag 11 cancelled 0 sends 0/0 receives 1/0 taken 0"
}
check_messages_of_fortran() {
	expect_equal "ledger" "$(evidence "$segment" 'ledger: ')" \
		"$(messages_of_fortran | sed 's/^/ledger: /' | LC_ALL=C sort)" &&
		expect_equal "requests" "$(evidence "$segment" request | sed 's/ by MPI.*//; s/request [0-9]*/request/')" \
			"request: recv flags active comm 0 peer 0 tag 11 ordinal 1 bytes 4" &&
		expect_equal "waited" "$(evidence "$segment" 'operation:' | sed 's/[0-9]*$//')" \
			"operation: wait_all flags - number 0 waited "
}
test_messages_of_fortran() {
	inspect "$1" check_messages_of_fortran "$work/messages_$2-$1" && expect_no_segment
}

check_threads() {
	expect_equal "lanes" "$(field num_lanes "$segment")" 4 &&
		expect_equal "ended lanes" "$(dump "$segment" | grep -c '^lane.*use 2')" 3 &&
		expect_equal "thread level" "$(field thread_level "$segment")" 3 &&
		expect_equal "calls" "$(dump --calls "$segment" | sed -n 's/MPI_Sendrecv c //p')" 95
}
test_threads() { inspect "$1" check_threads "$work/calls-$1" threads && expect_no_segment; }

# pdb's own reader and the one made from the format's description tell the same of a program that
# has called everything; and pdb's gets through the segment when it is damaged.
test_readers() {
	launch "$1" 2 "$work/coverage-$1" calls
	wait_ready 2 || return 1
	for s in $(segments); do
		dump --evidence "$s" >"$work/evidence"
		expect_equal "evidence by pdb's reader" "$("$build/tests/recorder/read_segment" "$s" 2>&1)" \
			"$(cat "$work/evidence")" || return 1
		grep -q '^comm 5' "$work/evidence" || { say "no communicators"; return 1; }
	done
	"$build/tests/recorder/read_segment" --damage 5 "$s" >>"$work/why" 2>&1 || return 1
	go || { say "the job failed"; return 1; }
}

# Threads that get each other's handles: every message is counted by the thread that had it, and no
# request is left.
test_concurrent() {
	launch "$1" 2 "$work/threads-$1"
	wait_ready 2 || return 1
	for s in $(segments); do
		dump --evidence "$s" >"$work/evidence"
		other=$((1 - $(field rank "$s")))
		for tag in 0 10 20 30; do
			echo "comm 0 peer $other tag $tag cancelled 0 sends 300/300 receives 300/300 taken 0"
			echo "comm 0 peer $other tag $((tag + 1)) cancelled 0 sends 300/300 receives 0/0 taken 300"
		done | LC_ALL=C sort >"$work/expected"
		expect_equal "ledgers" "$(sed -n 's/^  ledger: //p' "$work/evidence" | LC_ALL=C sort)" \
			"$(cat "$work/expected")" || return 1
		expect_equal "requests" "$(grep '^request' "$work/evidence")" "" || return 1
	done
	go || { say "the job failed"; say_errors; return 1; }
	expect_no_segment
}

# Calls from unusual places: all counted, none taken for abandoned.
check_sends() {
	expect_equal "sends" "$(dump --calls "$segment" | sed -n 's/MPI_Send c //p')" "$sends" &&
		expect_equal "abandoned" "$(field abandoned "$segment")" 0
}
test_stacks() {
	sends=$3
	inspect "$1" check_sends "$work/stacks-$1" "$2" && expect_no_segment
}

# Libraries that come and go in the same place: each call is of the one that was there then.
check_plugins() {
	expect_equal "sends of each library" "$(dump "$segment" | gawk '
		/^site .* MPI_Send / { split($7, frame, "+"); of[2 * $2 + 0] = frame[1] }
		/ -> enter MPI_Send / { gsub(/[():]/, ""); sends[of[$(NF - 1)]] += $NF }
		END { for (name in sends) print name, sends[name] }' | LC_ALL=C sort)" "$(for shift in 16 32 64; do
			echo "plugin$shift-$launch_mpi.so 60"
		done)"
}
test_plugins() {
	libraries="$work/plugin16-$1.so $work/plugin32-$1.so $work/plugin64-$1.so"
	inspect "$1" check_plugins "$work/plugins-$1" 20 $libraries || return 1
	expect_equal "output" "$(cat "$work/out")" "59 in the same place
end" && expect_no_segment
}
# While another thread loads and unloads one.
test_plugins_beside() {
	inspect "$1" true "$work/plugins-$1" beside "$work/plugin16-$1.so" "$work/plugin64-$1.so" && expect_no_segment
}

# A program that leaves by _exit() without MPI_Finalize leaves its segment. Run without a launcher,
# which would call that a failure.
test_underscore_exit() {
	: >"$CHECK_DIR/go"
	LD_PRELOAD=$(preload "$1") "$work/stacks-$1" exit >"$work/out" 2>"$work/err"
	expect_equal "status" $? 0 && expect_equal "life" "$(field life "$(segments)")" running
}

# Nothing but questions that are allowed before MPI_Init: no segment, no word.
test_never_init() {
	LD_PRELOAD=$(preload "$1") "$work/stacks-$1" none >"$work/out" 2>"$work/err"
	expect_equal "status" $? 0 && expect_equal "stderr" "$(cat "$work/err")" "" && expect_no_segment
}

check_base() { expect_equal "calls" "$(dump --calls "$segment")" "$c_counts"; }
test_fork() { inspect "$1" check_base "$work/calls-$1" fork && expect_no_segment; }

# The last jump is noticed at the next call; Comm_set_errhandler is not wrapped, MPI_Finalize is.
check_jumps_so_far() {
	expect_equal "abandoned" "$(field abandoned "$segment")" 2 &&
		expect_equal "sends" "$(dump --calls "$segment" | sed -n 's/MPI_Send c //p')" 3
}
test_jumps() { inspect "$1" check_jumps_so_far "$work/calls-$1" jumps; }

# Two very deep recursions are one path: innermost and outermost frames, a mark between.
check_deep() {
	expect_equal "paths" "$(dump "$segment" | grep -c 'site.*MPI_Send class')" 1 &&
		expect_equal "mark" "$(dump "$segment" | grep 'MPI_Send class' | grep -c ' < \.\.\.$')" 1
}
test_deep() { inspect "$1" check_deep "$work/calls-$1" deep; }

# Paths that share most of their frames are told apart: to turn left takes one frame more. Each is
# taken from two lines.
check_alike() {
	expect_equal "paths by their length" \
		"$(dump "$segment" | sed -n 's/^site.*MPI_Send class //p' | awk -F ' < ' '{print NF}' |
			sort -n | uniq -c | awk '{print $1}' | xargs)" "2 16 56 112 140 112 56 16 2"
}
test_alike() { inspect "$1" check_alike "$work/calls-$1" alike; }

# Same pid before and after: the new program's segment takes the old one's place.
test_exec() {
	LD_PRELOAD=$(preload mpich) "$work/calls-mpich" exec >"$work/out" 2>"$work/err" &
	job=$!
	wait_ready 1 || return 1
	segment=$(segments)
	expect_equal "number of segments" "$(segments | wc -l)" 1 && check_base && go &&
		expect_no_segment
}

test_abort() {
	launch "$1" 1 "$work/calls-$1" abort
	wait "$job"
	job=
	expect_equal "life" "$(field life "$(segments)")" aborted
}

test_killed() {
	launch "$1" 1 "$work/calls-$1" killed
	wait "$job"
	job=
	expect_equal "life" "$(field life "$(segments)")" running &&
		expect_equal "calls" "$(dump --calls "$(segments)")" "$c_counts"
}

# A program that calls everything makes the same trace with and without the recorder, and what it has
# called is what was counted.
calls_of_trace() {
	gawk -v language="$2" '/^MPI_/ { n[$1]++ } END { for (name in n) print name, language, n[name] }' "$1" |
		LC_ALL=C sort
}
test_coverage() {
	mpi=$1 program=$2 language=$3 part=$4
	export COVERAGE_CHILD="$work/coverage-$mpi"
	PRELOAD=" "
	: >"$CHECK_DIR/go"
	launch "$mpi" 2 "$work/$program-$mpi" "$part"
	wait "$job" 2>/dev/null || { cannot_cover $?; return; }
	expect_no_segment || return 1
	rm -rf "$work/without"
	mv "$CHECK_DIR" "$work/without"
	fresh
	PRELOAD=
	launch "$mpi" 2 "$work/$program-$mpi" "$part"
	wait_ready 2 || return 1
	for s in $(segments); do
		expect_equal "calls" "$(dump --calls "$s")" \
			"$(calls_of_trace "$CHECK_DIR/trace.$(field rank "$s")" "$language")" || return 1
	done
	go || { say "the job failed"; return 1; }
	for rank in 0 1; do
		diff "$work/without/trace.$rank" "$CHECK_DIR/trace.$rank" >>"$work/why" || return 1
	done
	cat "$CHECK_DIR"/trace.* >>"$work/called-$mpi-$language"
	expect_no_segment
}

# The MPI itself does not get through a part: no word on the recorder, and skipped if MPI may fail
# at it. coverage-complete then does without the functions that may be called nowhere else.
cannot_cover() {
	say "fails without the recorder (status $1): $(tr -d '\000' <"$work/err" | grep -m 1 '[[:alpha:]]')"
	say_errors
	case $part in
	names) only_here="MPI_Open_port MPI_Publish_name MPI_Lookup_name MPI_Unpublish_name" ;;
	connect) only_here="MPI_Open_port MPI_Comm_accept MPI_Comm_connect" ;;
	join) only_here=MPI_Comm_join ;;
	spawn) only_here=MPI_Comm_spawn ;;
	spawn-multiple) only_here=MPI_Comm_spawn_multiple ;;
	*) return 1 ;;
	esac
	for f in $only_here; do echo "$f"; done >>"$work/skipped-$mpi-$language"
	return 77
}

# The C functions that are wrapped but in no trace; those left out have tests of their own, are
# of a skipped part, are no events (QUIET), or are not to be called where MPI opens no ports.
test_all_called() {
	mpi=$1
	: >>"$work/skipped-$mpi-c"
	expect_equal "wrapped but not called" "$(not_called)" ""
}
not_called() {
	gawk '/ QUIET / { for (i = 1; $i != "QUIET"; i++) print $i }' "$here/../../model/recorder/mpi_calls.def" >"$work/quiet"
	sed -n 's/^int \(MPI_[A-Za-z_0-9]*\)(.*/\1/p' "$build/model/recorder/wrappers-$mpi.c" |
		grep -vxE 'MPI_(Abort|Finalize|Init_thread|Close_port)' |
		grep -vxFf "$work/quiet" | grep -vxFf "$work/skipped-$mpi-c" | LC_ALL=C sort >"$work/wrapped"
	sed -n 's/^\(MPI_[A-Za-z_0-9]*\) .*/\1/p' "$work/called-$mpi-c" | LC_ALL=C sort -u |
		LC_ALL=C comm -23 "$work/wrapped" -
}

# The program is not harmed; one line says that it is not recorded; PDB_QUIET takes that back.
not_recorded() {
	CHECK_DIR= LD_PRELOAD=$(preload mpich) "$work/calls-mpich" >"$work/out" 2>"$work/err" ||
		{ say "the program failed"; say_errors; return 1; }
	expect_equal "lines" "$(grep -c '^pdb: rank .* is not recorded: ' "$work/err")" 1 || return 1
	CHECK_DIR= PDB_QUIET=1 LD_PRELOAD=$(preload mpich) "$work/calls-mpich" >"$work/out" 2>"$work/err"
	expect_equal "status" $? 0 && expect_equal "stderr" "$(cat "$work/err")" ""
}

test_no_dir() { (export PDB_SEGMENT_DIR="$work/nowhere"; not_recorded); }

# Under a limit with which the program runs without the recorder it runs with it as well.
# The recorder maps 16 MB of address space (not memory): that much is added.
under_limits() {
	option=$1 add=$2
	shift 2
	tried=0
	# What MPICH leaves behind when a limit ends it.
	export UCX_POSIX_DIR="$work"
	for limit in "$@"; do
		( ulimit "$option" "$limit"; CHECK_DIR= exec "$work/calls-mpich" ) >/dev/null 2>&1 || continue
		tried=$((tried + 1))
		( ulimit "$option" $((limit + add)); CHECK_DIR= PDB_QUIET=1 LD_PRELOAD=$(preload mpich) \
			exec "$work/calls-mpich" ) >"$work/out" 2>"$work/err" && continue
		say "runs within $limit without the recorder but not with it"
		say_errors
	done
	[ $tried -gt 0 ] || say "the program runs within none of the limits"
	[ ! -s "$work/why" ]
}
test_file_limit() { under_limits -f 0 16 1000 5000 10000 17000 18000 19000 21000 25000 100000; }
test_memory_limit() { under_limits -v 49152 60000 80000 100000 120000 150000 200000; }

with_tmpfs() {
	options=$1
	shift
	mkdir -p "$work/tmpfs"
	mount -t tmpfs -o "$options" none "$work/tmpfs" || return 1
	mounts="$work/tmpfs"
	"$@"
	with_status=$?
	if [ -n "$job" ]; then
		kill "$job" 2>/dev/null
		wait "$job" 2>/dev/null
		job=
	fi
	umount "$work/tmpfs"
	mounts=
	return $with_status
}
skip_mounts() { say "only root can mount"; return 77; }
test_full_dir() { (export PDB_SEGMENT_DIR="$work/tmpfs"; not_recorded); }

# Room for a start, not for all paths: the program ends well and the loss is counted.
test_fills_up() {
	launch mpich 1 env PDB_SEGMENT_DIR="$work/tmpfs" "$work/calls-mpich" paths
	wait_ready 1 || return 1
	segment=$(ls "$work"/tmpfs/pdb.*)
	case $(field dropped "$segment") in
	*[1-9]*) ;;
	*) say "nothing dropped"; return 1 ;;
	esac
	go || { say "the job failed"; return 1; }
	expect_equal "segments left" "$(ls "$work/tmpfs")" ""
}

# A file of that name from an earlier process of the same pid is replaced, a link is not followed.
test_stale() {
	echo old >"$work/victim"
	for how in 'echo garbage >' "ln -s $work/victim"; do
		fresh
		PDB_RECORDER=$(preload mpich) sh -c "$how $work/segments/pdb.job.-1.\$\$
			exec env LD_PRELOAD=\$PDB_RECORDER $work/calls-mpich" >"$work/out" 2>"$work/err" &
		job=$!
		wait_ready 1 || return 1
		expect_equal "victim" "$(cat "$work/victim")" old || return 1
		case $how in echo*)
			segment=$(segments)
			check_base || return 1
		;;
		*) expect_equal "lines" "$(grep -c 'is not recorded' "$work/err")" 1 || return 1 ;;
		esac
		go || return 1
	done
}

check_tool_and_us() { expect_equal "sendrecvs" "$(dump --calls "$segment" | sed -n 's/MPI_Sendrecv c //p')" "$should_see"; }
test_tool() {
	mpi=$1 order=$2 should_see=$3 tool_sees=$4
	shift 4
	PRELOAD="$build/libpdbrec-$mpi.so:$work/tool-$mpi"
	[ "$order" = before ] && PRELOAD="$work/tool-$mpi:$build/libpdbrec-$mpi.so"
	inspect "$mpi" check_tool_and_us env "$@" "$work/calls-$mpi"
	tool_status=$?
	PRELOAD=
	[ $tool_status = 0 ] && expect_equal "tool" "$(grep tool "$work/out")" "$tool_sees"
}

check_python() {
	expect_equal "calls" "$(dump --calls "$segment" | grep -E 'Barrier|Bcast|Init')" "MPI_Barrier c 3
MPI_Bcast c 1
MPI_Init_thread c 1"
}
test_python() {
	cat >"$work/calls.py" <<-'PY'
	import os, time
	from mpi4py import MPI
	for i in range(3):
	    MPI.COMM_WORLD.Barrier()
	MPI.COMM_WORLD.Bcast(bytearray(8))
	check = os.environ["CHECK_DIR"]
	open("%s/ready.%d" % (check, os.getpid()), "w").close()
	for i in range(6000):
	    if os.path.exists(check + "/go"):
	        break
	    time.sleep(0.01)
	PY
	inspect openmpi check_python "$python" "$work/calls.py" && expect_no_segment
}

check_exceptions() { expect_equal "abandoned" "$(field abandoned "$segment")" 1; }
test_exceptions() {
	inspect "$1" check_exceptions "$work/exceptions-$1" &&
		expect_equal "output" "$(cat "$work/out")" "caught 4 unwound 4 thread 1"
}

# Processes without MPI: nothing is made, nothing is loaded, nothing is said.
test_other_programs() {
	LD_PRELOAD=$(preload openmpi) sh -c 'cat /proc/self/maps' >"$work/out" 2>"$work/err"
	expect_equal "libraries" "$(grep -cE 'libmpi|libunwind' "$work/out")" 0 &&
		expect_equal "stderr" "$(cat "$work/err")" "" && expect_no_segment
}

test_switched_off() {
	CHECK_DIR= PDB_RECORD=0 LD_PRELOAD=$(preload mpich) "$work/calls-mpich" killed >/dev/null 2>&1
	expect_no_segment
}

# Needs the C library only, exports MPI's names and those of instrumented functions, refers to nothing of MPI.
test_library() {
	expect_equal "needed" "$(objdump -p "$(preload "$1")" | awk '/NEEDED/ {print $2}')" libc.so.6 &&
		expect_equal "exports" "$(nm -D --defined-only "$(preload "$1")" | awk '{print $3}' |
			grep -ivcE '^(mpi_|__cyg_profile_func_(enter|exit)$)')" 0 &&
		expect_equal "imports" "$(nm -D --undefined-only "$(preload "$1")" | awk '{print $2}' |
			grep -ciE 'mpi|unw_|backtrace|malloc')" 0
}

compile || exit 1
for mpi in $own_mpi; do
	run "library-$mpi" test_library $mpi
	run "c-$mpi" test_counts $mpi calls "$c_counts"
	fortran='' fortran_ways=''
	! has_fortran || { fortran='calls_mpif calls_usempi calls_f08' fortran_ways='MPIF MPI F08'; }
	for p in $fortran; do
		run "fortran-$p-$mpi" test_counts $mpi $p "$fortran_counts"
	done
	for part in calls names connect join spawn spawn-multiple; do
		run "coverage-$part-$mpi" test_coverage $mpi coverage c $part
	done
	for way in $fortran_ways; do
		for part in calls names spawn; do
			run "coverage-fortran-$way-$part-$mpi" test_coverage $mpi coverage_$way fortran $part
		done
	done
	run "coverage-complete-$mpi" test_all_called $mpi
	run "messages-$mpi" test_messages $mpi
	run "messages-threads-$mpi" test_messages $mpi threads
	run "messages-blocked-$mpi" all_blocked $mpi
	for way in $fortran_ways; do
		run "messages-fortran-$way-$mpi" test_messages_of_fortran $mpi $way
	done
	for ranks in 4 5; do
		run "comms-$mpi-$ranks" test_comms $mpi $ranks "$work/comms-$mpi"
	done
	# Both halves of this job make a window at the same time. In Open MPI 4 that can fail: its osc/sm
	# has them take the same file.
	mpirun.openmpi --version | grep -q ') 4' && export OMPI_MCA_osc='^sm'
	for way in $fortran_ways; do
		run "comms-fortran-$way-$mpi" test_comms $mpi 4 "$work/comms_$way-$mpi"
	done
	unset OMPI_MCA_osc
	run "readers-$mpi" test_readers $mpi
	run "concurrent-$mpi" test_concurrent $mpi
	for case in epochs epochs-test locks lock-all group leaders; do
		run "tokens-$case-$mpi" test_tokens $mpi $case
	done
	run "tokens-balance-$mpi" test_tokens_balance $mpi
	run "flushes-$mpi" test_flushes $mpi flushes "\
MPI_Win_flush c 3
MPI_Win_flush_all c 17
MPI_Win_flush_local c 1
MPI_Win_flush_local_all c 13"
	! has_fortran || run "flushes-fortran-$mpi" test_flushes $mpi flushes_f "MPI_Win_flush_all fortran 11"
	run "stacks-contexts-$mpi" test_stacks $mpi contexts 21
	run "stacks-signal-$mpi" test_stacks $mpi signal 10
	run "stacks-signal-inside-$mpi" test_stacks $mpi inside 2
	run "stacks-late-init-$mpi" test_stacks $mpi late 3
	run "stacks-atexit-$mpi" test_stacks $mpi atexit ""
	run "stacks-exit-$mpi" test_underscore_exit $mpi
	run "stacks-never-init-$mpi" test_never_init $mpi
	run "plugins-$mpi" test_plugins $mpi
	run "plugins-beside-$mpi" test_plugins_beside $mpi
	run "threads-$mpi" test_threads $mpi
	run "fork-$mpi" test_fork $mpi
	run "longjmp-$mpi" test_jumps $mpi
	run "deep-$mpi" test_deep $mpi
	run "alike-$mpi" test_alike $mpi
	run "abort-$mpi" test_abort $mpi
	run "killed-$mpi" test_killed $mpi
	run "exceptions-$mpi" test_exceptions $mpi
	run "tool-behind-$mpi" test_tool $mpi behind 15 "tool saw 15"
	run "tool-behind-pmpi-$mpi" test_tool $mpi behind 15 "" PDB_CHAIN=pmpi
	run "tool-before-$mpi" test_tool $mpi before 15 "tool saw 15" TOOL_NEXT=1
done
if [ "$own_mpi" = openmpi ]; then
	run comms-python test_comms openmpi 4 "$python" "$here/comms.py"
	run python test_python
	run other-programs test_other_programs
elif [ "$own_mpi" = mpich ]; then
	run exec test_exec
	run stacks-sessions test_stacks mpich sessions ""
	run comms-sessions test_comms mpich 4 "$work/comms_session-mpich"
	run switched-off test_switched_off
	run no-directory test_no_dir
	run file-limit test_file_limit
	run memory-limit test_memory_limit
	run stale-file test_stale
	if [ "$(id -u)" = 0 ]; then
		run full-directory with_tmpfs size=64k test_full_dir
		run fills-up with_tmpfs size=300k test_fills_up
		run read-only-directory with_tmpfs ro test_full_dir
	else
		for name in full-directory fills-up read-only-directory; do
			run $name skip_mounts
		done
	fi
fi
finish_tests
