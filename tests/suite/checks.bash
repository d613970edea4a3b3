# SPDX-License-Identifier: BSD-3-Clause
# Counting checks and waiting for events, for the tests that are shell scripts. Source it.
. "$(dirname "${BASH_SOURCE[0]}")/as_root.sh"
passed=0 failed=0

# check WHAT COMMAND...: of a failure the command is shown, with what its words became; a script's function
# explain, if it has one, tells more.
check() {
	local what=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED  $what" >&2
		echo "      $*" >&2
		[ "$(type -t explain)" != function ] || explain >&2
	fi
}

# on_hosts MAKER ARGUMENT...: go on as a command on hosts that tests/hosts/hosts.sh or slurm.sh makes, and end as it does.
# Where there can be none nothing has passed or failed.
on_hosts() {
	local status
	sh "$@"
	status=$?
	[ $status -ne 77 ] || { echo "0 passed, 0 failed"; exit 0; }
	exit $status
}

# Until the command succeeds, half a minute at most.
wait_for() {
	local until=$((SECONDS + 30))
	until "$@"; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.1
	done
}

# The line that make check adds up, and the status for make.
finish_checks() {
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
}
