#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs that do unusual things do the same with the recorder as without it.
# Usage: unharmed.sh BUILD_DIR MPI short|long [WORD: only tests whose name holds it]
mpi=$2
length=$3
only=${4:-}
. "$(dirname "$0")/lib.sh"
export TMPDIR=$work UCX_POSIX_DIR=$work
# Nobody wants to read the stacks of what is to crash; no network interface but lo may be there.
export OMPI_MCA_opal_signal='' OMPI_MCA_btl_tcp_if_include=lo
# Open MPI 4's osc/sm makes no window on a communicator of one rank.
[ "$mpi" = mpich ] || ! mpirun.openmpi --version | grep -q ') 4' || export OMPI_MCA_osc='^sm'
recorder=$build/libpdbrec-$mpi.so
ulimit -c 0

finish() {
	! mountpoint -q "$work/small" || umount "$work/small"
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

leave() { :; }

# ---- Every function with wrong arguments ---------------------------------------------------------

build_errors() {
	gawk -f "$here/../../model/recorder/prototypes.gawk" -f "$here/errors.gawk" \
		"$here/../../model/recorder/mpi_calls.def" "$build/model/recorder/wrappers-$mpi.i" \
		>"$work/errors_calls.h" &&
		"mpicc.$mpi" -O1 -g -w -I"$work" -o "$work/errors" "$here/errors.c"
}

# errors_from FIRST PRELOAD: what comes of the cases from there on.
errors_from() {
	mkdir -p "$work/files"
	{ LD_PRELOAD=$2 "$work/errors" "$work/files" "$1" "$work/not_survived" "$how_many" "$functions" 3>>"$work/cases" \
		>"$work/out" 2>"$work/err"; } 2>/dev/null
}

# The number of the first case that has not been told of.
next_case() { tail -n 1 "$work/cases" | gawk '{ last = $1 + 1 } END { print last + 0 }'; }

# The cases that kill MPI itself, or that it never returns from; some only after others, so once more. What
# dies then has survived by itself, and it may be the doing of the one before that: Open MPI 5 takes a wrong
# MPI_Precv_init, and dies of it at its next call.
find_not_survived() {
	local next=0 dead once_more=
	: >"$work/not_survived"
	: >"$work/cases"
	for ((dead = 0; dead < 3000; dead++)); do
		if errors_from "$next" ""; then
			[ "$next" != 0 ] || return 0
			next=0 once_more=yes
			: >"$work/cases"
			continue
		fi
		last=$(next_case)
		if [ "$next" = 0 ] && [ -n "$once_more" ] && [ "$last" -gt 0 ]; then
			echo $((last - 1)) >>"$work/not_survived"
		fi
		[ "$last" -le "$next" ] || next=$last
		while grep -qx "$next" "$work/not_survived"; do next=$((next + 1)); done
		echo "$next" >>"$work/not_survived"
		[ "$(tail -n 3 "$work/not_survived" | tr '\n' ' ')" != "0 1 2 " ] || break
	done
	say "MPI survives nothing, or too little: $(tail -n 1 "$work/err")"
	return 1
}

test_errors() {
	how_many=$1 functions=$2
	build_errors && find_not_survived || return 1
	mv "$work/cases" "$work/without"
	errors_from 0 "$recorder" || say "ends with status $? after $(tail -n 1 "$work/cases")"
	diff "$work/without" "$work/cases" | head -n 40 >>"$work/why"
	[ ! -s "$work/why" ] || return 1
	say "$(wc -l <"$work/cases") cases, $(wc -l <"$work/not_survived") that MPI does not survive"
}

# ---- Correct programs that strain ------------------------------------------------------------------

build_unusual() {
	# The statuses that are ignored look like arrays without room to the compiler.
	"mpicc.$mpi" -O1 -g -Wall -Wextra -Wno-stringop-overflow "$@" "$here/unusual.c" -lpthread
}

# outcome_of COMMAND...: what it prints, its status, and what the recorder says; but not what MPICH's UCX does,
# with the time.
outcome_of() {
	timeout "${limit:-120}" "$@" >"$work/out" 2>"$work/err"
	echo "status $?"
	grep -v ' UCX  ' "$work/out"
	grep '^pdb:' "$work/err"
}

# same COMMAND...: has the same outcome with the recorder.
same() {
	outcome_of "$@" >"$work/without"
	outcome_of env LD_PRELOAD="${before:+$before:}$recorder" "$@" >"$work/with"
	diff "$work/without" "$work/with" >>"$work/why" || tail -n 3 "$work/err" >>"$work/why"
	grep -q '^status 0$' "$work/without" || say "$* fails without the recorder: $(tail -n 1 "$work/err")"
	[ ! -s "$work/why" ]
}

test_unusual() { same "$work/unusual" "$@"; }

# The program is instrumented, the recorder is not. Its runtime wants to come first.
test_sanitized() {
	local sanitizer=$1 before=
	shift
	build_unusual "-fsanitize=$sanitizer" -o "$work/$sanitizer" 2>>"$work/why" || return 1
	[ "$sanitizer" = undefined ] || before=$(gcc -print-file-name="lib${sanitizer:0:1}san.so")
	export ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=report_bugs=0
	# ThreadSanitizer does not get along with addresses that are very random, nor with a UCX (of MPICH) that
	# wants to know of each mapping.
	export UCX_MEM_EVENTS=no
	outcome_of setarch -R "$work/$sanitizer" "$@" >"$work/without"
	grep -q '^status 0$' "$work/without" || { say "it does not run without the recorder"; return 77; }
	same setarch -R "$work/$sanitizer" "$@"
}

# A program that runs with the rights of its owner: no segment, no word.
test_setuid() {
	[ "$(id -u)" = 0 ] || { say "only root can make such a program"; return 77; }
	chmod 777 "$work"
	chmod 777 "$work/segments"
	cp "$work/unusual" "$work/of-nobody"
	chown nobody "$work/of-nobody"
	chmod 4755 "$work/of-nobody"
	same "$work/of-nobody" callbacks || return 1
	[ -z "$(ls "$work/segments")" ] || say "there is a segment"
	[ ! -s "$work/why" ]
}

# The directory of the segments becomes full at each point: sizes in KB.
test_full() {
	local size
	[ "$(id -u)" = 0 ] || { say "only root can mount"; return 77; }
	outcome_of "$work/unusual" paths 3000 >"$work/without"
	mkdir -p "$work/small"
	mount -t tmpfs -o size=64k none "$work/small" || return 1
	for size in "$@"; do
		mount -o "remount,size=${size}k" "$work/small"
		PDB_SEGMENT_DIR=$work/small PDB_QUIET=1 LD_PRELOAD=$recorder outcome_of "$work/unusual" paths 3000 \
			>"$work/with"
		diff "$work/without" "$work/with" >>"$work/why" || say "with $size KB"
		rm -f "$work"/small/*
	done
	umount "$work/small"
	[ ! -s "$work/why" ]
}

# ---- Recorders of several MPIs -------------------------------------------------------------------

orders=("openmpi" "mpich" "openmpi mpich" "mpich openmpi")
# libraries ORDER: what to preload
libraries() { printf "$build/libpdbrec-%s.so:" $1 | sed 's/:$//'; }

# same_orders COMMAND...: has the same outcome with each of the recorders, and with all in each order.
same_orders() {
	local order
	outcome_of "$@" >"$work/without"
	grep -q '^status 0$' "$work/without" || say "$* fails without a recorder: $(tail -n 1 "$work/err")"
	for order in "${orders[@]}"; do
		rm -f "$CHECK_DIR/segments"
		outcome_of env LD_PRELOAD="$(libraries "$order")" "$@" >"$work/with"
		diff "$work/without" "$work/with" >>"$work/why" || say "with $order: $(tail -n 1 "$work/err")"
		[ -z "$recorded_by" ] || expect_recorded "$order" "$@"
	done
	[ ! -s "$work/why" ]
}

# The program has seen a segment of its own if the recorder of its MPI was there, and none is left.
expect_recorded() {
	local wanted=0 seen
	case " $1 " in *" $recorded_by "*) wanted=1 ;; esac
	seen=$(sort -u "$CHECK_DIR/segments" | tr '\n' ' ')
	[ "$seen" = "$wanted " ] || say "with $1: $seen segments, not $wanted: $*"
	[ -z "$(ls "$work/segments")" ] || say "with $1 there is a segment left: $*"
}

test_preloaded() {
	local launcher recorded_by=$mpi
	launcher=(mpiexec.hydra -n 2)
	[ "$mpi" = mpich ] || launcher=(mpirun.openmpi --oversubscribe -n 2)
	"mpicc.$mpi" -O1 -Wall -o "$work/preloaded" "$here/preloaded.c" -ldl &&
		"mpicc.$mpi" -O1 -Wall -DPLUGIN -shared -fPIC -o "$work/plugin.so" "$here/preloaded.c" &&
		gcc -O1 -Wall -DHOST -o "$work/host" "$here/preloaded.c" -ldl || return 1
	same_orders "$work/preloaded"
	# It comes late, to all or to the plugin alone.
	same_orders "$work/host" "$work/plugin.so"
	same_orders "$work/host" "-$work/plugin.so"
	# Another MPI is there, too.
	gcc -O1 -w -fno-builtin -shared -fPIC -DMARK=none -o "$work/other.so" "$here/other_mpi.c" || return 1
	same_orders "$work/host" "=$work/other.so" "$work/plugin.so"
	# In a job; ranks print in any order, but its status tells.
	same_orders sh -c '"$@" >"$0"' "$work/job.out" "${launcher[@]}" "$work/preloaded"
}

# Programs of a library that is none of the MPIs that there are recorders for, whatever its name and whatever it
# has of theirs.
test_other_mpis() {
	local recorded_by= name mark
	gcc -O1 -Wall -DHOST -o "$work/host" "$here/preloaded.c" -ldl || return 1
	for name in libmpi_abi.so.0 libmpi_cray.so.12 libmpi_nvidia.so libmpi.so.12 libmpi.so.40 libmine.so; do
		for mark in none ompi_mpi_comm_world MPIR_Err_create_code MPI_Abi_get_version; do
			rm -rf "$work/other"
			mkdir "$work/other"
			gcc -O1 -w -fno-builtin -shared -fPIC "-DMARK=$mark" -Wl,-soname,$name -o "$work/other/$name" \
				"$here/other_mpi.c" &&
				gcc -O1 -w -o "$work/other/program" "$here/other_mpi_program.c" "$work/other/$name" \
					-Wl,-rpath,"$work/other" &&
				gcc -O1 -w -DPLUGIN -shared -fPIC -o "$work/other/plugin.so" \
					"$here/other_mpi_program.c" "$work/other/$name" -Wl,-rpath,"$work/other" ||
				return 1
			same_orders "$work/other/program" || { say "$name with $mark"; return 1; }
		done
	done
	# A plugin brings it, and takes it with it when it is closed; then comes another.
	same_orders "$work/host" "+$work/other/plugin.so" "+$work/other/plugin.so"
}

# What a shell that is prepared for all jobs starts besides: neither output, status, environment nor descriptors
# may tell.
test_no_mpi() {
	local recorded_by= show='env | grep -v "^LD_PRELOAD=" | sort; ls /proc/self/fd; ulimit -a'
	printf 'all:\n\t@echo made; env | grep -v "^LD_PRELOAD=" | sort\n' >"$work/Makefile"
	echo 'int main(void) { return 0; }' >"$work/empty.c"
	gcc -static -o "$work/static" "$work/empty.c" && gcc -DHOST -o "$work/host" "$here/preloaded.c" -ldl || return 1
	cat >"$work/weak.c" <<-'END'
		int MPI_Initialized(int *) __attribute__((weak));
		int main(void) { int yes = 0; return MPI_Initialized && MPI_Initialized(&yes) == 0 && yes; }
	END
	gcc -o "$work/weak" "$work/weak.c" || return 1
	same_orders "$work/host"
	same_orders "$work/static"
	same_orders "$work/weak"
	same_orders bash -c "$show"
	same_orders env -i bash -c "$show"
	same_orders make -s -f "$work/Makefile"
	same_orders /usr/bin/python3 -c 'import os; print(os.listdir("/proc/self/fd"), os.environ.get("PATH"))'
	same_orders gcc -v -o "$work/empty" "$work/empty.c"
	outcome_of env LD_PRELOAD="$(libraries "openmpi mpich")" bash -c 'exit 7' >"$work/with"
	[ "$(cat "$work/with")" = 'status 7' ] || say "a shell's status: $(cat "$work/with")"
	[ -z "$(ls "$work/segments")" ] || say "there is a segment"
	[ ! -s "$work/why" ]
}

# ---- Other people's programs ---------------------------------------------------------------------

# jobs_outcome RANKS PRELOAD PROGRAM...: what a job prints and its status; but for times and rates, the only
# numbers with a point, and the order in which ranks print.
jobs_outcome() {
	local ranks=$1 preload=$2
	shift 2
	case $mpi in
	openmpi) set -- mpirun.openmpi --oversubscribe -n "$ranks" env "LD_PRELOAD=$preload" "$@" ;;
	*) set -- mpiexec.hydra -n "$ranks" env "LD_PRELOAD=$preload" "$@" ;;
	esac
	(cd "$work/job" && outcome_of "$@" <"${input:-/dev/null}") | sed -E 's/[0-9]*\.[0-9]+([DE][-+]?[0-9]+)?//g; s/[ *]+/ /g' | LC_ALL=C sort
}

# same_job RANKS PROGRAM...: prints the same with the recorder, in the folder $work/job.
same_job() {
	# Ranks of MPICH that wait take the processor from those they wait for.
	local ranks=$1 limit=900
	shift
	jobs_outcome "$ranks" "" "$@" >"$work/without"
	# Where a rank aborts, it is chance how much of the output has come through before.
	grep -q '^status 0$' "$work/without" || { say "it does not succeed without the recorder"; return 77; }
	jobs_outcome "$ranks" "$recorder" "$@" >"$work/with"
	diff "$work/without" "$work/with" | head -n 20 >>"$work/why"
	[ ! -s "$work/why" ] || return 1
	say "$(wc -l <"$work/without") lines"
}

# A test program with the inputs beside it, in a job of two ranks: what is for more it leaves out.
test_program() {
	local program=$1 input=${2:-} file
	[ -x "$program" ] || { say "$program is not installed"; return 77; }
	rm -rf "$work/job"
	mkdir -p "$work/job"
	for file in "${program%/*}"/*.dat; do [ ! -e "$file" ] || cp "$file" "$work/job"; done
	same_job 2 "$program"
}

# test_petsc SOURCE RANKS ARGUMENT...: an example of PETSc.
test_petsc() {
	local source program=$work/petsc-${1//\//-} ranks=$2 input= flags
	source=$(ls /usr/share/petsc/*/share/petsc/examples/src/"$1.c" 2>/dev/null) ||
		{ say "PETSc's examples are not installed"; return 77; }
	read -ra flags < <(pkg-config --cflags --libs petsc)
	[ -x "$program" ] || mpicc.openmpi -O1 -w -o "$program" "$source" "${flags[@]}" -lm 2>>"$work/why" || return 1
	rm -rf "$work/job"
	mkdir -p "$work/job"
	shift 2
	same_job "$ranks" "$program" "$@"
}

# What h5py's own tests have for jobs: files that ranks write together, from Python through mpi4py. Their status
# tells.
test_h5py() {
	local tests=/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi/tests
	[ -d "$tests" ] || { say "h5py's tests are not installed"; return 77; }
	rm -rf "$work/job"
	mkdir -p "$work/job"
	same_job 4 /usr/bin/python3 -m pytest -p no:terminal -p no:cacheprovider --with-mpi -m mpi "$tests"
}

# One of each kind of ScaLAPACK's tests, MUMPS's examples, h5py's tests, and some of PETSc's.
all_programs() {
	local program mumps=/usr/lib/mumps
	for program in xdllt xdlu xdqr xdls xdhrd xdbrd xdtrd xdinv xdnep xdgblu xddblu xdpbllt xdptllt xcllt xzlu; do
		run "$program-$mpi" test_program "/usr/lib/x86_64-linux-gnu/scalapack/$mpi-tests/$program"
	done
	if [ "$mpi" = openmpi ]; then
		run mumps-real test_program $mumps/dsimpletest $mumps/input_simpletest_real
		run mumps-complex test_program $mumps/zsimpletest $mumps/input_simpletest_cmplx
		run h5py test_h5py
		all_of_petsc
	fi
}

# Solvers, files, and its way to send along a graph by each means that MPI has.
all_of_petsc() {
	local way sync what
	run petsc-linear test_petsc ksp/ksp/tutorials/ex2 2 -m 20 -n 20 -ksp_monitor
	run petsc-multigrid test_petsc ksp/ksp/tutorials/ex29 4 -pc_type mg -da_refine 3 -ksp_monitor
	run petsc-nonlinear test_petsc snes/tutorials/ex19 4 -da_refine 2 -snes_monitor -ksp_monitor
	run petsc-time test_petsc ts/tutorials/ex2 2 -ts_monitor
	run petsc-ghosts test_petsc vec/vec/tutorials/ex9 2
	run petsc-files test_petsc vec/vec/tutorials/ex5 4 -viewer_binary_mpiio
	for way in basic neighbor; do
		run "petsc-graph-$way" test_petsc vec/is/sf/tutorials/ex1 4 -test_all -sf_type $way
	done
	# The other ways do not work with this PETSc and Open MPI 4.
	for sync in fence lock; do
		for what in bcast reduce; do
			run "petsc-graph-$sync-$what" test_petsc vec/is/sf/tutorials/ex1 4 "-test_$what" \
				-sf_type window -sf_window_flavor create -sf_window_sync $sync
		done
	done
}

build_unusual -o "$work/unusual" || exit 1
case $length in
short)
	# Where the recorder has pointers to follow, mostly; of Open MPI what does not die by itself.
	case $mpi in
	mpich) run "errors-$mpi" test_errors one '^MPI_(I?mrecv|Wait|Test|Start|Cancel|Request_|Bcast|Recv$|Comm_|Win_create|Win_free|File_open|File_close)' ;;
	*) run "errors-$mpi" test_errors one '^MPI_(Wait|Test|Start|Cancel|Request_|Bcast|Recv$|Win_create$|File_open|File_close)' ;;
	esac
	run "communicators-$mpi" test_unusual communicators 1000
	run "requests-$mpi" test_unusual requests 10000
	run "threads-$mpi" test_unusual threads 200
	run "storm-$mpi" test_unusual storm 100
	for word in callbacks processes no-descriptors; do
		run "$word-$mpi" test_unusual $word
	done
	run "exec-$mpi" test_unusual exec 1
	run "preloaded-$mpi" test_preloaded
	if [ "$mpi" = mpich ]; then
		run other-mpis test_other_mpis
		run no-mpi test_no_mpi
	fi
	[ "$mpi" = openmpi ] || run setuid test_setuid
	run "full-$mpi" test_full 128 600 1200
	;;
long)
	run "errors-one-$mpi" test_errors one .
	# MPICH takes a leader that is not in its group for an index all the same: what it finds there is luck.
	case $mpi in
	mpich) run "errors-two-$mpi" test_errors two '^MPI_([^I]|I[^n]|In[^t]|Intercomm_(m|create$))' ;;
	*) run "errors-two-$mpi" test_errors two . ;;
	esac
	run "communicators-$mpi" test_unusual communicators 20000
	# MPICH 4.0.2 has no room for more.
	run "requests-$mpi" test_unusual requests $([ "$mpi" = mpich ] && echo 250000 || echo 1000000)
	run "threads-$mpi" test_unusual threads 1000
	run "storm-$mpi" test_unusual storm 5000
	for sanitizer in address undefined thread; do
		run "$sanitizer-communicators-$mpi" test_sanitized $sanitizer communicators 1000
		run "$sanitizer-requests-$mpi" test_sanitized $sanitizer requests 10000
		run "$sanitizer-threads-$mpi" test_sanitized $sanitizer threads 100
		run "$sanitizer-callbacks-$mpi" test_sanitized $sanitizer callbacks
	done
	run "full-$mpi" test_full $(seq 64 32 3000)
	all_programs
	;;
esac
finish_tests
