#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run cmocka programs, as many at once as there are processors, and end with one line: N passed,
# N failed.
set -u
printf '%s\n' "$@" | xargs -P "$(nproc)" -I '{}' \
	sh -c 'timeout 300 "$1" >"$1.log" 2>&1; echo $? >"$1.status"' sh '{}'
passed=0 failed=0
for program in "$@"; do
	log=$program.log
	status=$(cat "$program.status")
	rm "$program.status"
	ok=$(grep -c '^\[       OK \]' "$log")
	bad=$(grep '^\[  FAILED  \] [a-z0-9_]*$' "$log" | sort -u | wc -l)
	if [ "$status" -ne 0 ]; then
		cat "$log"
		sed -n "s/^\[  FAILED  \] \([a-z0-9_]*\)$/FAILED  $(basename "$program"): \1/p" "$log" | sort -u
		[ "$bad" -eq 0 ] && { bad=1; echo "FAILED  $(basename "$program")"; }
	fi
	printf '  %-28s %3d passed' "$(basename "$program")" "$ok"
	[ "$status" -ne 0 ] && printf ', %d FAILED (status %d)' "$bad" "$status"
	printf '\n'
	passed=$((passed + ok)) failed=$((failed + bad))
	[ "$ok" -eq 0 ] && [ "$status" -eq 0 ] && { echo "  $program ran no test" >&2; failed=$((failed + 1)); }
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
