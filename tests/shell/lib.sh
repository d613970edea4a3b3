# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For the scripts beside it: run the real pdb, look at what it said, count.
#
# A script is given the build directory, makes checks, and ends with `finish`.

pdb=$1/pdb build=$1
work=$(mktemp -d /tmp/pdb-shell.XXXXXX)
passed=0 failed=0 jobs=

export HOME=$work PDB_HISTORY= TERM=${TERM:-dumb}
. tests/suite/as_root.sh

cleanup() {
	for job in $jobs; do
		kill "$job" 2>/dev/null
	done
	wait
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

pass() {
	passed=$((passed + 1))
}

# fail NAME [WHY]
fail() {
	failed=$((failed + 1))
	printf 'FAILED  %s: %s\n' "$(basename "$0" .sh)" "$1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | sed 's/^/    /'
}

# run PDB-ARGUMENT...: what it said in $said (both outputs), its status in $status.
run() {
	said=$(timeout 60 "$pdb" "$@" 2>&1 </dev/null)
	status=$?
}

# expect NAME STATUS PATTERN...: of the last run. The status may be a pattern, too: [01] where it depends
# on how long a look took whether a job without a recorder hangs.
expect() {
	name=$1
	# shellcheck disable=SC2254
	case $status in
	$2) ;;
	*)
		fail "$name" "status $status, not $2
$said"
		return
		;;
	esac
	shift 2
	for pattern; do
		if ! printf '%s\n' "$said" | grep -Eq -e "$pattern"; then
			fail "$name" "nothing like \"$pattern\"
$said"
			return
		fi
	done
	pass
}

# wait_for COMMAND...: until it succeeds, at most 30 s.
wait_for() {
	for _ in $(seq 600); do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
	done
	return 1
}

# Compile one of tests/mpi into $work.
build_program() {
	compiler=$(command -v mpicc.openmpi || command -v mpicc) || return 1
	"$compiler" -g -O1 -iquote . -o "$work/$1" "tests/mpi/$1.c"
}

finish() {
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
}
