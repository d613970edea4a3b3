#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run make targets that test something, one after the other, and add up what they report.
# usage: check.sh MAKE O=DIR TARGET...
# A target's last line of the form "N passed, N failed" counts; a target that ends with a failure
# without having counted one counts as one failed test. What a target prints goes to
# DIR/check/TARGET.log, and of a target that fails to the output as well, but for the tests that
# passed; V=1 in the environment shows all of it at once. A target that fails is run once more, and
# the second run counts: tests of real jobs share few processors with everything else on the machine.
# What failed the first time is listed as UNSTEADY: look into it. Ends with the sum, in the same form.
set -u
make=$1 build=$2
shift 2
logs=${build#O=}/check
rm -rf "$logs" && mkdir -p "$logs" || exit 1

# Runs the target $1 and sets passed and failed.
run_part() {
	log=$logs/$1.log
	began=$(date +%s)
	if [ "${V:-0}" != 0 ]; then
		{ $make --no-print-directory "$build" "$1" 2>&1; echo $? >"$log.status"; } | tee "$log"
	else
		$make --no-print-directory "$build" "$1" >"$log" 2>&1
		echo $? >"$log.status"
	fi
	status=$(cat "$log.status")
	rm "$log.status"
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	passed=${counts%% *} failed=${counts#*, } failed=${failed%% *}
	: "${passed:=0}" "${failed:=0}"
	[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
	[ "$failed" -ne 0 ] && [ "${V:-0}" = 0 ] && grep -vE '^ok ' "$log"
	printf '%-20s %5d passed, %d failed  (%d s)\n' \
		"$1" "$passed" "$failed" $(($(date +%s) - began))
}

total_passed=0 total_failed=0
for target in "$@"; do
	run_part "$target"
	if [ "$failed" -ne 0 ]; then
		echo "$target once more: does it fail again?"
		cp "$log" "$log.first"
		run_part "$target"
		[ "$failed" -ne 0 ] || sed -n "s/^ *FAILED/UNSTEADY $target:/p" "$log.first" >>"$logs/unsteady"
	fi
	total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
done

echo "== summary"
[ ! -e "$logs/unsteady" ] || cat "$logs/unsteady"
grep -hE '^UNSTEADY' "$logs"/*.log
[ $total_failed -eq 0 ] || grep -hE '^ *FAILED' "$logs"/*.log
echo "$total_passed passed, $total_failed failed"
[ $total_failed -eq 0 ] && [ $total_passed -gt 0 ]
