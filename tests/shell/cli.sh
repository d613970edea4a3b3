#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line, and what can be asked without a job.
set -u
. tests/shell/lib.sh

run --version
expect 'version' 0 '^pdb [0-9]'
run --help
expect 'help' 0 '--pid=PID' 'pdb run -- mpirun' 'Exit status'

for arguments in '--pid x' '--pid 0' '--pid -3' '--pid 99999999999' '--nosuch' 'frobnicate' 'run' \
	'env extra' 'clean --pid 1' '--pid 1 --load f' '--core c --load f' '--core c run' '--core' 'run --core c -- a' '--mpi=foo env' '--pid'; do
	run $arguments
	expect "usage: $arguments" 2 'pdb'
done

run rnu -- mpirun
expect 'a mistyped word' 2 'no "rnu"; did you mean "run"'
run tests/shell/cli.sh
expect 'a file without an option' 2 'pdb run -- mpirun'

# ---- What is no job ----

sh -c 'exit 0' &
gone=$!
wait $gone
run --pid $gone --batch -ex lp
expect 'a pid that is gone' 2 "pdb: .*$gone"

sleep 1000 &
sleeper=$!
jobs="$jobs $sleeper"
run --pid $sleeper --batch -ex lp
expect 'not a launcher' 2 "pdb: .*$sleeper"

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	cp "$pdb" "$work/pdb"
	said=$(setpriv --reuid=65534 --regid=65534 --clear-groups "$work/pdb" --pid $sleeper \
		--batch -ex lp 2>&1 </dev/null)
	status=$?
	expect "another user's process" 2 'pdb: .*root'
fi

# ---- Snapshots that are none ----

run --load "$work/nosuch" --batch -ex lp
expect 'no such snapshot' 2 'nosuch'
for size in 0 1 100 100000; do
	head -c $size /dev/urandom >"$work/garbage"
	run --load "$work/garbage" --batch -ex lp
	expect "a snapshot of $size random bytes" 2 'pdb: .*garbage'
done
run --load "$work" --batch -ex lp
expect 'a folder as snapshot' 2 'pdb: '

# ---- run, env, clean ----

run run --mpi=openmpi -- /no/such/launcher
expect 'run: no such program' 2 '/no/such/launcher'
run run -- /bin/true
expect 'run: no MPI in sight' 2 'ended with status 0'
run run --mpi=openmpi -- /bin/false
expect 'run: ends at once' 2 'ended with status 1'

run env
expect 'env for all MPIs' 0 "^export LD_PRELOAD='.*/libpdbrec-[a-z]*.so:.*/libpdbrec-[a-z]*.so'" 'OMPI_MCA_mca_base_env_list'
run env --mpi=openmpi
expect 'env' 0 "^export LD_PRELOAD='.*/libpdbrec-openmpi.so'" 'OMPI_MCA_mca_base_env_list'
run env --mpi=mpich
expect 'env for MPICH' 0 "libpdbrec-mpich.so'"
odd="$work/it's odd"
mkdir "$odd"
cp "$build/libpdbrec-openmpi.so" "$odd/"
value=$(unset LD_PRELOAD; eval "$(PDB_LIBDIR=$odd "$pdb" env --mpi=openmpi)"; printf %s "$LD_PRELOAD")
if [ "$value" = "$odd/libpdbrec-openmpi.so" ]; then pass; else fail 'env: quoting' "$value"; fi
unset_leaves() { # WHAT LD_PRELOAD LIST: what a shell has of both after env, twice, and env --unset
	value=$(LD_PRELOAD=$2 OMPI_MCA_mca_base_env_list=$3
		[ -n "$LD_PRELOAD" ] || unset LD_PRELOAD
		eval "$(PDB_TRACE=1M "$pdb" env --mpi=openmpi)"
		eval "$("$pdb" env --mpi=mpich)"
		eval "$("$pdb" env --unset)"
		printf '%s|%s' "${LD_PRELOAD-unset}" "${OMPI_MCA_mca_base_env_list-unset}")
	if [ "$value" = "${2:-unset}|${3:-unset}" ]; then pass; else fail "env --unset: $1" "$value"; fi
}
libm=$(echo /lib/*/libm.so.6)
unset_leaves 'all of it' '' ''
unset_leaves "what is not pdb's" "$libm" 'MY_VARIABLE;OTHER=1'
said=$(unset LD_PRELOAD; "$pdb" env --unset)
if [ -z "$said" ]; then pass; else fail 'env --unset with nothing to undo' "$said"; fi
run --unset
expect '--unset alone' 2 '--unset is for env'
said=$(PDB_LIBDIR=/no/such/folder "$work/pdb" env --mpi=openmpi 2>&1)
status=$?
expect 'env: no recorder' 2 'PDB_LIBDIR'

segments=$(mktemp -d /dev/shm/test-clean.XXXXXX)
true & gone=$!
wait $gone
(umask 077 && : >"$segments/pdb.job.0.$gone" && : >"$segments/other")
said=$(PDB_SEGMENT_DIR=$segments "$pdb" clean 2>&1)
status=$?
expect 'clean' 0 '^1 segment of dead processes removed'
said=$(ls "$segments")
if [ "$said" = other ]; then pass; else fail 'what clean leaves' "$said"; fi
rm -r "$segments"
said=$(PDB_SEGMENT_DIR=$segments "$pdb" clean 2>&1)
status=$?
expect 'clean: no such folder' 2 "pdb: $segments: "

# ---- Files of commands that do not end ----

snapshot=docs/snapshots/lammps.pdb
mkfifo "$work/fifo"

# opened FILE: has pdb opened it?
opened() {
	find "/proc/$asked/fd" -lname "$1" 2>/dev/null | grep -q .
}

# end_by SIGNAL FILE: pdb that waits for commands of the file, which it has opened.
end_by() {
	env --default-signal=HUP "$pdb" --load "$snapshot" --batch -x "$2" >"$work/said" 2>&1 </dev/null &
	asked=$!
	wait_for opened "$2"
	begin=$(date +%s%N)
	kill -s "$1" $asked
	wait $asked
	status=$?
	took=$((($(date +%s%N) - begin) / 1000000)) said=$(cat "$work/said")
	expect "source of $2 and SIG$1" '[!0]*' '^pdb: interrupted$'
	[ $took -lt 1000 ] || fail "source of $2 and SIG$1" "$took ms"
}
end_by TERM "$work/fifo"
end_by INT "$work/fifo"
end_by HUP "$work/fifo"
(exec >"$work/fifo" && echo 'info job' && echo 'info hosts') &
run --load "$snapshot" --batch -x "$work/fifo"
wait $!
expect 'source of a fifo' '[01]' '^  ranks     4' '^  host '
run --load "$snapshot" --batch -x /dev/zero
expect 'source of a device' 2 '^pdb: /dev/zero:1: the line does not end'
run --load "$snapshot" --batch -x "$work"
expect 'source of a folder' 2 'Is a directory'
printf 'info job\r\ninfo hosts' >"$work/commands"
run --load "$snapshot" --batch -x "$work/commands"
expect 'source without a last newline' '[01]' '^  ranks     4' '^  host '
run --load "$snapshot" --batch -ex 'apropos (((a{1,255}){1,255}){1,255})'
expect 'an expression that explodes' 2 'use a simpler one'

# ---- The manual ----

if "$build/tests/shell/print_commands" | cmp -s - docs/commands.md; then
	pass
else
	fail 'docs/commands.md is not what the command table says: make docs/commands.md'
fi

if "$build/tests/shell/print_commands" man <docs/packaging/pdb.1.in | cmp -s - docs/man/pdb.1; then
	pass
else
	fail 'docs/man/pdb.1 is not what options.def says: make docs/man/pdb.1'
fi

said=$(mandoc -Tlint docs/man/* 2>&1)
if [ -z "$said" ]; then pass; else fail 'man pages' "$said"; fi

# Each option that pdb says it has.
said=$(for option in $("$pdb" --help | grep -o -e '--[a-z][a-z-]*' | sort -u); do
	sed 's/\\-/-/g' docs/man/pdb.1 | grep -q -e "$option\b" || echo "$option"
done)
if [ -z "$said" ]; then pass; else fail 'options without a word in the man page' "$said"; fi

finish
