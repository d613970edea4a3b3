#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# usage: run.sh BUILD [hosts]
# print, locals and gdb for several ranks, on programs whose values are known: C, C++ and Fortran,
# optimized or not, under each MPI of the machine. What an optimized program does not hold any more
# may be missing, but is never another value. With "hosts" on two hosts (tests/hosts/hosts.sh).
set -u
build=$(realpath "$1")
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"

[ "${2:-}" != hosts ] || on_hosts "$tests/hosts/hosts.sh" 2 bash "$0" "$build" here

work=$(mktemp -d)
job=
trap 'end_job; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export OMPI_MCA_mpi_yield_when_idle=1
pdb=(env COLUMNS=100 LC_ALL=C.UTF-8 "$build/pdb" --nx)
values=$build/tests/values
has() { grep -qE -- "$1" "$work/answer"; }
explain() { cat "$work/answer"; }
is_ready() { grep -q '^ready' "$work/output"; }

# start_job PROGRAM...: four ranks, of two hosts if these were made.
start_job() {
	: >"$work/output"
	if [ $mpi = openmpi ]; then
		local where=(--oversubscribe)
		[ -z "$hosts" ] || where=(--bind-to none --host "a:2,b:2")
		mpirun.openmpi "${where[@]}" -n 4 "$@" >"$work/output" 2>&1 </dev/null &
	else
		local where=()
		[ -z "$hosts" ] || where=(-hosts "a,b" -ppn 2)
		mpiexec.mpich "${where[@]}" -n 4 "$@" >"$work/output" 2>&1 </dev/null &
	fi
	job=$!
}
end_job() {
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	job=
}
# ask WHERE COMMAND...: in one session; the answers are in answer.N, from 1.
ask() {
	local from=$1 commands=() number=0 command
	shift
	rm -f "$work"/answer*
	for command; do
		number=$((number + 1))
		commands+=(--ex "echo @@@$number" --ex "$command")
	done
	"${pdb[@]}" $from "${commands[@]}" </dev/null 2>&1 |
		awk -v work="$work" '/^@@@/ { file = work "/answer." substr($0, 4); next }
			file { print >file }'
}
# Ranks 0 to 2 are in the barrier.
is_inside() {
	ask "--pid $job" bt
	grep -qE 'MPI_Barrier.* 3:\[0-2\]| 3:\[0-2\].*MPI_Barrier' "$work/answer.1"
}

# A question and what lines of its answer must have: tells WHAT COMMAND PATTERN...
tells() { questions+=("tells$(printf '\037%s' "$@")"); }
# As tells, but an optimized program may not hold the value any more, which is said.
right() { questions+=("right$(printf '\037%s' "$@")"); }

# An answer of three lines: the expression, what its columns are, and a value.
is_alone() { has "$1" && [ "$(wc -l <"$work/answer")" -eq 3 ]; }
has_all() {
	local pattern
	for pattern; do has "$pattern" || return 1; done
}
is_right() { has_all "$@" || { [ $level != O0 ] && has 'no value$' && ! has ' 4:\[0-3\]$'; }; }

# Ask all of them at once, and check the answers.
check_all() {
	local question commands=() number=0 words
	for question in "${questions[@]}"; do
		IFS=$'\037' read -r -a words <<<"$question"
		commands+=("${words[2]}")
	done
	ask "--pid $job" "${commands[@]}"
	for question in "${questions[@]}"; do
		IFS=$'\037' read -r -a words <<<"$question"
		number=$((number + 1))
		# One that only writes a file has none.
		cat "$work/answer.$number" >"$work/answer" 2>/dev/null
		if [ "${words[0]}" = right ]; then
			check "$what: ${words[1]}" is_right "${words[@]:3}"
		else
			check "$what: ${words[1]}" has_all "${words[@]:3}"
		fi
	done
	questions=()
}

in_c() {
	right "equal in all" 'print n' '^n, int' '^  1000 +4:\[0-3\]'
	tells "one differs" 'print main grid.nx' '^  10 +3:\[0-1,3\]' '^  11 +1:\[2\]'
	tells "a global" 'print per_rank' '^  7 +1:\[0\]' '^  10 +1:\[3\]'
	tells "a thread-local" 'print of_thread' '^  3 +1:\[0\]' '^  6 +1:\[3\]'
	right "a size of the run" 'print sized' '20 elements' 'max 12'
	right "a part of it" 'print sized[3][0:2]' '\{4, 4\} +1:\[1\]'
	right "no such element" 'print sized[10][0]' 'its indexes are 0 to 9'
	tells "an element" 'print grids[1].nx' '^  99 +4:\[0-3\]'
	right "text" 'print label' '"conjugate gradient" +4:\[0-3\]'
	tells "an array of characters" 'print main grid.name' '"main grid" +4:\[0-3\]'
	right "NaN is counted" 'print work' '1:\[1\]' '1 NaN' 'max 57'
	right "a slice" 'print work[0:3]' '\{0, 3, 6\} +1:\[3\]'
	right "two dimensions" 'print matrix' '\{\{1, 2, 3\}, \{4, 5, 6\}\} +4:\[0-3\]'
	right "and one of them" 'print matrix[1][2]' '^  6 +4:\[0-3\]'
	tells "enumerations" 'print main grid.color' 'GREEN +3:\[1-3\]' 'RED +1:\[0\]'
	tells "bit fields" 'print main grid.in' 'k = -2, low = 5, high = 17\} +1:\[2\]'
	tells "through a pointer" 'print main grid.data[2]' '^  6 +1:\[3\]'
	tells "through two" 'print main grid.next->nx' '^  99 +4:\[0-3\]'
	tells "no memory" 'print main grid.next->next->nx' 'no memory at that address'
	tells "some ranks" 'print main rank 1,3' '^  1 +1:\[1\]' '^  3 +1:\[3\]'
	tells "no such name" 'print nothing' 'no "nothing" in its stack +4:\[0-3\]'
	tells "no such member" 'print main grid.zz' 'no member "zz"'
	right "computed by gdb" 'print n + 1' '^  1001 +4:\[0-3\]'
	tells "for some ranks" 'print "per_rank * 2" 1,3' '^  16 +1:\[1\]' '^  20 +1:\[3\]'
	tells "in a frame" 'print main "grid.nx * 2"' '^  22 +1:\[2\]'
	tells "a name that gdb does not know" 'print nothing + 1' 'No symbol "nothing"'
	tells "text with gdb's marks" 'print "&marks[0]" 0' '"a \[pdb end\] b" +1:\[0\]'
	right "what gdb does not find either" 'print main "argc, argc" 0' '^  1 +1:\[0\]'
	tells "nothing is changed" 'print "per_rank = 5"' 'not allowed' 'no value$'
	tells "no function is called" 'print "puts(label)" 0' 'Cannot call functions' 'no value$'
	tells "and nothing was" 'print per_rank' '^  7 +1:\[0\]' '^  10 +1:\[3\]'
	tells "arguments" 'info args' '^ranks 0-3 in wait_for_all\(\):$' '^  size +4 '
	tells "no locals" locals '^ranks 0-3 in wait_for_all\(\):$' 'no variables but its arguments'
	tells "locals of a function" 'locals solve' '^ranks 0-3 in solve\(\):$' '^  many ' \
		'^  matrix +\{\{1, 2, 3\}, \{4, 5, 6\}\} +4:'
	tells "arguments of a frame" 'info args frame 1 2-3' '^ranks 2-3 in solve\(\):$' \
		'^  grid +0x'
	tells "the frame that parts" 'info args parted' '^ranks 0-3 in wait_for_all\(\):$'
	tells "no such frame" 'locals frame 9' '^ranks 0-3: no frame 9 of the program'
	tells "source with its ranks" list '^ranks 0-2: wait_for_all\(\) at values_c.c:' \
		'^3:\[0-2\] > +[0-9]+ +MPI_Barrier' '^  1:\[3\] > +[0-9]+ +pause\(\);'
	tells "list goes on" list 'values_c.c$' '^ +4[0-9]  solve\(struct grid'
	tells "and before that" 'list -' '1:\[3\] > +[0-9]+ +pause'
	tells "list of a frame" 'list parted 3' '^1:\[3\] > +[0-9]+ +pause'
	tells "list of a function" 'list main' '^4:\[0-3\] > +[0-9]+ +solve\(&grid'
	tells "list of a line" 'list values_c.c:14' '^ +10  enum color'
	tells "no such function" 'list nowhere' 'no rank is in nowhere\(\)'
	tells "a number is a rank" 'list 120' 'a line is FILE:LINE: there is no rank 120'
	tells "no such line" 'list values_c.c:4000' 'there is no line'
	tells "gdb on several ranks" 'gdb 0-1 -ex "print per_rank - per_rank"' \
		'^ranks 0-1:$' '^  \$1 = 0$'
	tells "gdb, each differs" 'gdb 0-1 -ex "print per_rank"' \
		'^rank 0:$' '^  \$1 = 7$' '^rank 1:$' '^  \$1 = 8$'
	tells "JSON is written" "print per_rank > $work/values.json"
	tells "a snapshot is saved" "save $work/job.pdb"
}
# On the other host; a folder that both have.
hangs_there() {
	mkdir -p "$values/hangs"
	printf '#!/bin/sh\nexec sleep 1000\n' >"$values/hangs/gdb"
	chmod +x "$values/hangs/gdb"
	PATH=$values/hangs:$PATH ask "--pid $job" 'print "per_rank + 1" 3'
	cp "$work/answer.1" "$work/answer"
	check "$what: a gdb that hangs is ended" has 'gdb took too long +1:\[3\]'
}
# What the last two have written.
files_of_c() {
	ask "--pid $job" 'print "per_rank + 1" 3'
	cp "$work/answer.1" "$work/answer"
	check "$what: of gdb only the value is shown" is_alone '^  11 +1:\[3\]'
	[ $mpi$hosts != mpichtwo ] || hangs_there
	cp "$work/values.json" "$work/answer"
	check "$what: JSON has numbers" has '"number": 10'
	ask "--load $work/job.pdb" 'print main grid' 'locals solve 3' 'info args solve' \
		'print main grid.nx 3' 'print parted size' list
	cat "$work"/answer.? >"$work/answer"
	check "$what: a snapshot has variables" has_all '^    \{nx = 10, ny = 20,' \
		'^rank 3 in solve\(\):$' '^  grid +0x' '1:\[3\] > +[0-9]+ +pause'
	check "$what: of some ranks, as a whole" has_all 'not in the snapshot.* 2:\[1-2\]' \
		'only whole variables are known: print grid'
	ask "--load $tests/../docs/snapshots/lammps.pdb" 'print n' locals
	cat "$work/answer.1" "$work/answer.2" >"$work/answer"
	check "$what: an old snapshot has none" \
		test "$(grep -c 'this snapshot holds no variables' "$work/answer")" -eq 2
}
# Eight ranks of two programs.
are_both_inside() {
	ask "--pid $job" bt
	[ "$(grep -c MPI_Barrier "$work/answer.1")" = 2 ] && grep -q '1:\[7\]' "$work/answer.1"
}
in_both() {
	tells "a global of one program" 'print per_rank' '^  7 +1:\[0\]' '"per_rank" .* 4:\[4-7\]'
	tells "a global of the other" 'print physics::gravity' '^  9.81 +4:\[4-7\]' \
		'no "physics::gravity" in its stack +4:\[0-3\]'
}
in_cxx() {
	tells "in a namespace" 'print physics::gravity' '^  9.81 +4:\[0-3\]'
	tells "in none" 'print chemistry::gravity' 'no "chemistry::gravity"'
	tells "std::string" 'print main field.name' '"a name that is longer than'
	tells "std::vector" 'print main field.data' '\{5 elements\} +4:\[0-3\]'
	tells "its elements" 'print main field.data[1:3]' '\{1.5, 1.5\} +4:\[0-3\]'
	tells "std::map" 'print main field.owners' '\{1 element\} +4:\[0-3\]'
	tells "of a base class" 'print main field.id' '^  4 +4:\[0-3\]'
	right "of the object" 'print last' '^  0 +1:\[0\]' '^  3 +1:\[3\]'
	right "a reference" 'print sweep seen' '^  200 +1:\[2\]'
	right "enum class" 'print mode' 'Slow +3:\[1-3\]' 'Fast +1:\[0\]'
}
in_f() {
	tells "of a module" 'print tol' '^  1e-08 +4:\[0-3\]'
	tells "by its module" 'print state::tol' '^  1e-08 +4:\[0-3\]'
	tells "two dimensions" 'print grid(2,3)' '^  10 +4:\[0-3\]'
	tells "no such element" 'print grid(5,1)' 'its indexes are 1 to 4'
	tells "a component" 'print cells(2)%tag' '"cell    " +4:\[0-3\]'
	tells "an element of one" 'print cells(3)%v(2)' '^  3 +4:\[0-3\]'
	tells "COMMON" 'print count' '^  12 +1:\[0\]' '^  15 +1:\[3\]'
	right "an argument" 'print x(1:2)' '^  \{3, 2\} +1:\[2\]'
	right "logical" 'print DONE' 'false +3:\[0,2-3\]' 'true +1:\[1\]'
	tells "numbers that only gdb knows" 'print quad' '^  1.5 +1:\[0\]' '^  4.5 +1:\[3\]'
	tells "integers that only gdb knows" 'print huge_one' \
		'^  1267650600228229401496703205378 +1:\[2\]'
	right "complex" 'print z' '\(1, -2\) +4:\[0-3\]'
}
in_shapes() {
	tells "allocated" 'print field' '\{\{0, 0, 0\}, \{0, 0, 7\}\}' '\{1, 1, 7\}, \{1, 1, 1\}\}'
	tells "an element" 'print field(3,2)' '^  7 +4:\[0-3\]'
	tells "no element of some" 'print field(1,4)' \
		'^  2 +1:\[2\]' 'its indexes are 1 to 2 +1:\[0\]'
	tells "never allocated" 'print never' 'not allocated +4:\[0-3\]'
	tells "in a struct" 'print meshes(2)%x' '\{1, 2, 3\} +4:\[0-3\]'
	tells "a row of a pointer" 'print meshes(2)%links(1,:)' '\{1, 3, 5\} +4:\[0-3\]'
	tells "not associated" 'print meshes(1)%links' 'not associated +4:\[0-3\]'
	right "bounds of arguments" 'print given' '\{1, 2, 3, 4\}, \{11, 12, 13, 14\}'
	right "a part of it" 'print given(2:3,1:2)' '\{\{12, 13\}, \{22, 23\}\} +4:\[0-3\]'
	right "assumed shape" 'print shaped(2,6:7)' '\{305, 505\} +4:\[0-3\]'
	right "assumed size" 'print rest(3)' '^  103 +4:\[0-3\]'
	right "has no end" 'print rest' 'nothing says where it ends'
	right "its length is given" 'print name' '"some name" +4:\[0-3\]'
	right "automatic" 'print automatic' '\{1, 2, 3, 4\} +4:\[0-3\]'
	right "from below 0" 'print local(-1:1)' '\{3, -7, 3\} +1:\[2\]'
	tells "locals" locals 'in iterate\(\):$' '^  automatic  \{1, 2, 3, 4\}'
	tells "arguments" 'info args' 'in iterate\(\):$' '"some name"'
}

# Of the system's Python, with NumPy where it is there.
python=/usr/bin/python3
knows_python() {
	$python -c 'import sys; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 13)))'
}
in_python() {
	tells "Python's numbers" 'locals step' '^ranks 0-3 in Solver.step\(\):$' \
		'^  big +1267650600228229401496703205376 ' \
		'^  ratio +0.1 ' '^  done +False +3:\[0-1,3\]'
	tells "its other objects" 'locals step' "^  text +'h" '^  items +list of 3 ' \
		'^  pair +tuple of 2 ' '^  table +dict of 1 ' '^  nothing +None ' '^  missing +nan '
	tells "its arguments" 'info args step 2' '^  self +a Solver ' '^  x +7 ' '^  tol +1e-08 ' \
		'^  rest +dict of 1 '
	tells "one in all ranks" 'print rank' '^rank, int' '^  2 +1:\[2\]'
	tells "its type and place" 'print ratio' '^ratio, float, Solver.step\(\) at values_py.py:'
	tells "of an outer function" 'print count' '^  7 +4:\[0-3\]'
	tells "of a closure" 'print step rank 3' '^  3 +1:\[3\]'
	tells "of the module" 'print LIMIT' '^  12 +4:\[0-3\]'
	tells "no such name in Python" 'print nowhere' 'no "nowhere" in its stack +4:\[0-3\]'
	tells "a member of an object" 'print self.n' 'only whole variables are known: print self'
	tells "Python's source" list '^  1:\[3\] > +[0-9]+ .*time.sleep\(0.01\)' \
		'^3:\[0-2\] > +[0-9]+ .*time.sleep\(100000\)'
	$python -c 'import numpy' 2>/dev/null &&
		tells "NumPy" 'print grid' 'array \(3, 4\) float64 \{12 elements: ' '2 NaN'
	tells "Python's variables are saved" "save $work/job.pdb"
}
files_of_python() {
	ask "--load $work/job.pdb" 'locals step 3' 'print count'
	cat "$work"/answer.? >"$work/answer"
	check "$what: a snapshot has Python's variables" has_all '^  ratio +0.1 +1:\[3\]' \
		'^  7 +2:\[0,3\]'
}
are_asleep() {
	ask "--pid $job" bt
	[ "$(grep -c 'sleep' "$work/answer.1")" -ge 1 ] && grep -q 'Solver.step' "$work/answer.1"
}

hosts=${2:+two}
questions=()
for mpi in openmpi mpich; do
	command -v mpirun.$mpi >/dev/null || continue
	# Compilers, not MPI libraries, make the difference: each level under one of them.
	level=O0
	[ $mpi != openmpi ] || level=O2
	for language in c cxx f shapes; do
		what="$mpi $language -$level${hosts:+ on two hosts}"
		start_job "$values/values_$language-$mpi-$level"
		wait_for is_ready
		wait_for is_inside
		in_$language
		check_all
		[ $language != c ] || files_of_c
		end_job
	done
	if [ -z "$hosts" ]; then
		what="$mpi two programs -$level"
		start_job "$values/values_c-$mpi-$level" : -n 4 "$values/values_cxx-$mpi-$level"
		wait_for is_ready
		wait_for are_both_inside
		in_both
		check_all
		end_job
	fi
	knows_python || continue
	what="$mpi Python${hosts:+ on two hosts}"
	start_job $python "$tests/values/values_py.py"
	wait_for is_ready
	wait_for are_asleep
	in_python
	check_all
	files_of_python
	end_job
done
finish_checks
