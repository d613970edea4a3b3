# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For the scripts beside it: a folder to work in, running tests and counting them.
#
# A script is given the build directory, says in $only what the names of the tests to run have in them, has a function
# `leave` for what is to be done after each test, removes $work when it ends, and ends with finish_tests.

# shellcheck disable=SC2034
build=$(cd "$1" && pwd) here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
. "$here/../suite/as_root.sh"
export PDB_SEGMENT_DIR="$work/segments" CHECK_DIR="$work/check"
passed=0 failed=0 skipped=0

say() { echo "    $*" >>"$work/why"; }

fresh() {
	rm -rf "$work/segments" "$CHECK_DIR"
	mkdir -p "$work/segments" "$CHECK_DIR"
	: >"$work/why"
}

# run NAME FUNCTION ARGUMENT...; a function that returns 77 was skipped, why it has said.
run() {
	name=$1
	shift
	case $name in *"$only"*) ;; *) return ;; esac
	fresh
	"$@"
	case $? in
	0)
		passed=$((passed + 1))
		echo "ok      $name$(sed 's/^ */: /; q' "$work/why")"
		;;
	77)
		skipped=$((skipped + 1))
		echo "skip    $name: $(sed 's/^ *//; q' "$work/why")"
		;;
	*)
		failed=$((failed + 1))
		echo "FAILED  $name"
		cat "$work/why"
		;;
	esac
	leave
}

# The sum, and its status.
finish_tests() {
	[ $skipped = 0 ] || echo "$skipped skipped"
	echo "$passed passed, $failed failed"
	[ $failed = 0 ]
}
