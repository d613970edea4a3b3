#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run make targets that test something, and add up what they report.
# usage: check.sh MAKE O=DIR TARGET[+TARGET...]...
# One after the other; those that are joined by a + run side by side, since a part that waits for one
# job after the other leaves most of the processors to others. All that they need is built before.
# A target's last line of the form "N passed, N failed" counts; a target that ends with a failure
# without having counted one counts as one failed test. What a target prints goes to
# DIR/check/TARGET.log, and of a target that fails to the output as well, but for the tests that
# passed; V=1 in the environment shows all of it at once. A target that fails is run once more, alone,
# and the second run counts: tests of real jobs share few processors with everything else on the
# machine. What failed the first time is listed as UNSTEADY: look into it. Beside the time that a
# target took is how long processors worked for it. Ends with the sum, in the same form.
set -u
make=$1 build=$2
shift 2
logs=${build#O=}/check
. "$(dirname "$0")/beside.bash"
rm -rf "$logs" && mkdir -p "$logs" || exit 1

# Runs the target $1; what is to be known of it is in $logs/$1.* then.
run_part() (
	log=$logs/$1.log
	began=$(date +%s)
	if [ "${V:-0}" != 0 ]; then
		{ $make --no-print-directory "$build" "$1" 2>&1; echo $? >"$log.status"; } | tee "$log"
	else
		$make --no-print-directory "$build" "$1" >"$log" 2>&1
		echo $? >"$log.status"
	fi
	echo $(($(date +%s) - began)) >"$log.seconds"
	times >"$log.times" # of what this shell has waited for: not in a shell below it
)

# Reports on the target $1 and sets passed and failed.
report_part() {
	log=$logs/$1.log
	status=$(cat "$log.status")
	worked=$(awk 'NR == 2 { split($0, t, /[ms ]+/); printf "%d", t[1] * 60 + t[2] + t[3] * 60 + t[4] }' \
		"$log.times")
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	passed=${counts%% *} failed=${counts#*, } failed=${failed%% *}
	: "${passed:=0}" "${failed:=0}"
	[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
	[ "$failed" -ne 0 ] && [ "${V:-0}" = 0 ] && grep -vE '^ok ' "$log"
	printf '%-20s %5d passed, %d failed  (%d s, processors %d s)\n' \
		"$1" "$passed" "$failed" "$(cat "$log.seconds")" "$worked"
	rm "$log.status" "$log.seconds" "$log.times"
}

total_passed=0 total_failed=0
for group in "$@"; do
	targets=${group//+/ }
	for target in $targets; do
		beside run_part "$target"
	done
	wait_beside
	for target in $targets; do
		report_part "$target"
		if [ "$failed" -ne 0 ]; then
			echo "$target once more: does it fail again?"
			cp "$log" "$log.first"
			beside run_part "$target"
			wait_beside
			report_part "$target"
			[ "$failed" -ne 0 ] ||
				sed -n "s/^ *FAILED/UNSTEADY $target:/p" "$log.first" >>"$logs/unsteady"
		fi
		total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
	done
done

echo "== summary"
[ ! -e "$logs/unsteady" ] || cat "$logs/unsteady"
grep -hE '^UNSTEADY' "$logs"/*.log
[ $total_failed -eq 0 ] || grep -hE '^ *FAILED' "$logs"/*.log
echo "$total_passed passed, $total_failed failed"
[ $total_failed -eq 0 ] && [ $total_passed -gt 0 ]
