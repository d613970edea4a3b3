#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What "make install" has put somewhere works when it is moved elsewhere, and "make uninstall" takes
# all of it back.
# usage: run.sh BUILD MAKE [FLAG...]; the flags are for compiling with the library, as -fsanitize=...
# Ends with the line: N passed, N failed.
set -u
build=$(realpath "$1") make=$2 flags=("${@:3}")
tree=$PWD
. tests/suite/checks.bash
work=$(mktemp -d /tmp/pdb-install.XXXXXX)
job=
cleanup() {
	[ -z "$job" ] || kill "$job" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
explain() { tail -n 20 "$work/said"; }

export HOME=$work
unset PDB_LIBDIR LD_PRELOAD MAKEFLAGS MFLAGS

run_make() { $make --no-print-directory O="$build" PREFIX=/opt/pdb DESTDIR="$work/first" "$@" >"$work/said" 2>&1; }
in_file() { grep -Eq -e "$1" "$2"; }
# says STATUS PATTERN COMMAND...; a pattern of '' is for nothing said
says() {
	timeout 60 "${@:3}" >"$work/said" 2>&1 </dev/null
	[ $? -eq "$1" ] && { [ -z "$2" ] || in_file "$2" "$work/said"; }
}

# ---- Install, move ----

check 'make install' run_make install
there=$work/else/where
mkdir -p "$work/else" && cp -a "$work/first/opt/pdb" "$there" && rm -rf "$work/first/opt"
for file in bin/pdb lib/pdb/libpdbrec-{openmpi,mpich,abi}.so lib/pdb/pdbd-{openmpi,mpich}{,-worker} \
	lib/libpdb.so.0 lib/libpdb.so lib/libpdb.a include/pdb.h lib/pkgconfig/pdb.pc share/man/man1/pdb.1 \
	share/bash-completion/completions/pdb share/zsh/site-functions/_pdb share/pdb/modulefile share/pdb/modulefile-recorder; do
	check "$file is installed" test -f "$there/$file"
done
path=$there/bin:$PATH
check 'mpidb is pdb' test "$(readlink -f "$there/bin/mpidb")" = "$(realpath "$there/bin/pdb")"
check 'mpidb says its version' says 0 '^pdb [0-9]' env PATH="$path" mpidb --version
check 'mpidb finds the recorder' says 0 "$there/lib/pdb/libpdbrec-mpich.so" env PATH="$path" mpidb env --mpi=mpich
check 'man mpidb has the name' in_file '^pdb, mpidb ' "$there/share/man/man1/mpidb.1"

# ---- A job that hangs, by the pdb that was moved ----

for mpi in openmpi mpich; do
	check "the recorder of $mpi is found" says 0 "LD_PRELOAD='$there/lib/pdb/libpdbrec-$mpi.so'" \
		env PATH="$path" pdb env --mpi="$mpi"
	# The daemon's guard starts the worker that is beside it, which without an invitation ends.
	check "the daemon of $mpi can be loaded" says 0 'pdbd-' \
		bash -c "ldd '$there/lib/pdb/pdbd-$mpi-worker' | grep 'not found' || echo pdbd-"
done
check 'the module names both recorders' test "$(sed -n "s|^prepend-path LD_PRELOAD *.prefix/|$there/|p" \
	"$there/share/pdb/modulefile-recorder" | sort)" = "$(ls "$there"/lib/pdb/libpdbrec-*.so)"
compiler=$(command -v mpicc.openmpi || command -v mpicc)
check 'a program that hangs' "$compiler" -g -O1 -iquote "$tree" -o "$work/nested" "$tree/tests/mpi/nested.c"
cd "$work" || exit 1
PATH=$path timeout 60 pdb -n run --output out --batch -ex 'info job' -- \
	"$(command -v mpirun.openmpi || command -v mpirun)" --oversubscribe -n 4 ./nested 2 >said 2>&1 </dev/null
job=$(sed -n 's/^pdb: the job goes on: pid //p' said)
check 'the recorder is in all ranks' in_file 'ranks +4, recorder in 4' said
check 'the job reaches its fault' wait_for grep -q 'fault: rank 2' out
is_found() { says 1 '^Culprit: rank 2 of 4' env PATH="$path" pdb -n --pid "$job" --batch -ex lp; }
check 'the hang is found' wait_for is_found

# ---- The library and the examples ----

export PKG_CONFIG_PATH=$there/lib/pkgconfig
has=$(pkg-config --define-prefix --variable=prefix pdb)
check 'pkg-config finds where it is' test "$(realpath "$has")" = "$(realpath "$there")"
check 'its version is that of pdb' says 0 "^pdb $(pkg-config --modversion pdb)\$" env PATH="$path" pdb --version
read -ra words <<<"$(pkg-config --define-prefix --cflags --libs pdb)"
check 'the example is compiled' says 0 '' gcc -Wall -Wextra -Werror "${flags[@]}" -o least "$tree/docs/examples/least.c" "${words[@]}"
read -ra words <<<"$(pkg-config --define-prefix --cflags --libs --static pdb)"
check 'also with the archive' says 0 '' gcc "${flags[@]}" -o least-static "$tree/docs/examples/least.c" \
	"${words[@]/#-lpdb/$there/lib/libpdb.a}"
check 'as C++' says 0 '' bash -c "echo '#include <pdb.h>
int main() { return pdb_version()[0] == 0; }' | g++ -Wall -Wextra -Werror ${flags[*]} -x c++ - -o cpp ${words[*]}"
export LD_LIBRARY_PATH=$there/lib
for snapshot in lammps message; do
	file=$tree/docs/snapshots/$snapshot.pdb
	# What pdb itself says of it, in one pattern: the kind of verdict and the ranks.
	PATH=$path pdb -n --load "$file" --batch --json -ex lp >lp.json
	status=$?
	want=$(/usr/bin/python3 -c '
import json
answer = json.load(open("lp.json"))
lp = answer["result"]
print("{}: {} of {} ranks [(]{}[)]".format(lp["verdict"], lp["count"], answer["job"]["size"], lp["ranks"]))')
	check "least.c: $snapshot" says $status "^$want" ./least "$file"
	check "least.c with the archive: $snapshot" says $status "^$want" ./least-static "$file"
	check "least.py: $snapshot" says $status "^$want" env PATH="$path" "$tree/docs/examples/least.py" --load "$file"
done
check 'least.c says what it cannot do' says 2 '^least: .*no-such' ./least no-such
check 'least.py, too' says 2 'no-such' env PATH="$path" "$tree/docs/examples/least.py" --load no-such
check 'least.c: the job that runs' says 1 '^computation: 1 of 4 ranks [(]2[)]' ./least "$job"
check 'least.py: the job that runs' says 1 '^computation: 1 of 4 ranks [(]2[)]' \
	env PATH="$path" "$tree/docs/examples/least.py" --pid "$job"
unset LD_LIBRARY_PATH
nm -D --defined-only "$there/lib/libpdb.so.0" | awk '$2 != "A" && $3 !~ /^pdb_.*@@LIBPDB_/' >said
check 'the library shows nothing else' test ! -s said
# Instrumented ones have names of their tools'.
nm -g --defined-only "$there/lib/libpdb.a" | awk 'NF == 3 && $3 !~ /^(pdb_|__[a-z]*san|__gcov)/' >said
check 'nor does the archive' test ! -s said
kill "$job" 2>/dev/null
job=

# ---- Completion ----

# completes WORD...: what bash offers for the last word, a line each.
completes() {
	PATH=$path bash -c '. "$0/share/bash-completion/completions/pdb"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_pdb pdb "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' "$there" "$@" 2>&1 | sort
}
is_same() { [ "$(wc -l <"$1")" -gt 3 ] && diff "$1" "$2" >said; }
completes pdb -- >offered
PATH=$path pdb --usage | grep -oE -- '--[a-z-]+' | sort -u >want
check 'bash completes all options' is_same want offered
completes pdb -ex '' >offered
sed -n 's/^### \([a-z-]*\)$/\1/p;/^## Settings/q' "$tree/docs/commands.md" | sort >want
check 'bash completes all commands' is_same want offered
check 'the beginning of one' test "$(completes pdb -ex 'gro')" = groups
check 'actions' test "$(completes pdb ru)" = run
check 'the MPIs' test "$(completes pdb run --mpi = mp)" = mpich
check 'files' test "$(completes pdb --load "$there/share/pdb/js")" = "$there/share/pdb/json-schema.json"
check 'the second name' test "$(bash -c '. "$0" && complete -p mpidb' "$there/share/bash-completion/completions/mpidb")" = 'complete -F _pdb mpidb'
check 'programs to run' test "$(completes pdb run -- bas | grep -x bash | head -n 1)" = bash
# zsh_completes WORD...: the same of zsh, whose own functions only say here what they are told to offer.
zsh_completes() {
	PATH=$path zsh -f -c 'fpath=("$0/share/zsh/site-functions" $fpath)
		autoload -Uz _pdb
		compadd() { [[ $1 != -- ]] || shift; print -l -- "$@"; }
		compset() { words[CURRENT]=${words[CURRENT]#*=}; }
		_call_program() { shift; eval "$@"; }
		_describe() { print -l -- "${(@)${(P)2}%%:*}"; }
		_files() { print files; }
		_normal() { print -- "$CURRENT of $words"; }
		words=("$@") CURRENT=$#
		_pdb' "$there" "$@" 2>&1 | sort
}
zsh_completes pdb -- >offered
PATH=$path pdb --usage | grep -oE -- '--[a-z-]+' | sort -u >want
check 'zsh completes all options' is_same want offered
zsh_completes pdb -ex '' >offered
sed -n 's/^### \([a-z-]*\)$/\1/p;/^## Settings/q' "$tree/docs/commands.md" | sort >want
check 'zsh completes all commands' is_same want offered
check 'zsh: actions' test "$(zsh_completes pdb '' | tr '\n' ' ')" = 'clean env run watch '
check 'zsh: the second name' in_file '^#compdef.* mpidb( |$)' "$there/share/zsh/site-functions/_pdb"
check 'zsh: the MPIs' test "$(zsh_completes pdb run --mpi= | tr '\n' ' ')" = 'abi mpich openmpi '
check 'zsh: files' test "$(zsh_completes pdb --load '')" = files
check 'zsh: files behind =' test "$(zsh_completes pdb --load=x)" = files
check 'zsh: another program behind --' test "$(zsh_completes pdb run -- mpirun -n)" = '2 of mpirun -n'
check 'the module file names the place' in_file '^set prefix /opt/pdb$' "$there/share/pdb/modulefile"

# ---- Uninstall ----

cd "$tree" || exit 1
check 'make install once more' run_make install
check 'make uninstall' run_make uninstall
find "$work/first" ! -type d >"$work/said"
check 'nothing is left' test ! -s "$work/said"
find "$work/first" -name 'pdb*' ! -path "$work/first/opt/pdb" >"$work/said"
check 'nor a folder of its own' test ! -s "$work/said"
check 'make install with LIBDIR' run_make install LIBDIR=/opt/pdb/lib64
cp -a "$work/first/opt/pdb" "$work/else/64"
check 'pdb finds the recorder there' says 0 "$work/else/64/lib/pdb/libpdbrec-mpich.so" "$work/else/64/bin/pdb" env --mpi=mpich
check 'pkg-config, too' says 0 'lib64 -lpdb' env PKG_CONFIG_PATH="$work/else/64/lib64/pkgconfig" pkg-config --libs pdb
check 'make uninstall with LIBDIR' run_make uninstall LIBDIR=/opt/pdb/lib64
find "$work/first" ! -type d >"$work/said"
check 'nothing is left of that' test ! -s "$work/said"
finish_checks
