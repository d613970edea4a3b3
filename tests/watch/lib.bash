# SPDX-License-Identifier: BSD-3-Clause
# What the tests of watching share. Source it with the build directory in $build; they are in $work
# then, which goes away with their jobs at the end.
. "$(dirname "${BASH_SOURCE[0]}")/../suite/checks.bash"

export HOME=${HOME:-/}
work=$(mktemp -d /tmp/pdb-watch.XXXXXX)
jobs=
cleanup() {
	for job in $jobs; do kill "$job"; done 2>/dev/null
	wait
	rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1

says() {
	grep -Eq -- "$1" "$work/said" && return
	sed 's/^/    | /' "$work/said" >&2
	return 1
}

explain() { [ ! -e said ] || tail -n 20 said | sed 's/^/    | /'; }

# The command line of a job of so many ranks in $command.
job_of() {
	local mpi=$1 num=$2
	shift 2
	case $mpi in
	openmpi) command=("$(command -v mpirun.openmpi || command -v mpirun)" --oversubscribe -n "$num") ;;
	mpich) command=(mpiexec.mpich -n "$num") ;;
	esac
	command+=("$@")
}

# watch_run MPI KIND SECONDS RANK WATCH-OPTION...: what it says in the file said; its status
watch_run() {
	local mpi=$1 kind=$2 seconds=$3 rank=$4
	shift 4
	job_of "$mpi" 4 "$work/phases-$mpi" "$kind" "$seconds" "$rank"
	timeout -k 5 150 "$build/pdb" -nx run --watch --mpi="$mpi" --output "$work/output" "$@" -- \
		"${command[@]}" >said 2>&1 </dev/null
}

# Launchers may end before the last of their ranks is gone.
no_ranks_now() { ! pgrep -f "^$work/phases-$1" >/dev/null; }
no_ranks() { wait_for no_ranks_now "$1"; }
