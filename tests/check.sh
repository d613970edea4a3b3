#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run make targets that test something, one after the other, and add up what they report.
# usage: check.sh MAKE O=DIR TARGET...
# A target's last line of the form "N passed, N failed" counts; a target that ends with a failure
# without having counted one counts as one failed test. Ends with the sum, in the same form.
set -u
make=$1 build=$2
shift 2
log=${build#O=}/check.log
results=${build#O=}/check.results
mkdir -p "${build#O=}" && : >"$results" || exit 1

total_passed=0 total_failed=0
for target in "$@"; do
	echo "== $target"
	{ $make --no-print-directory "$build" "$target" 2>&1; echo $? >"$log.status"; } | tee "$log"
	status=$(cat "$log.status")
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	passed=${counts%% *} failed=${counts#*, } failed=${failed%% *}
	: "${passed:=0}" "${failed:=0}"
	[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
	printf '%-20s %s passed, %s failed\n' "$target" "$passed" "$failed" >>"$results"
	total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
done
rm -f "$log" "$log.status"

echo "== summary"
cat "$results"
echo "$total_passed passed, $total_failed failed"
[ $total_failed -eq 0 ] && [ $total_passed -gt 0 ]
