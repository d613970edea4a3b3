#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run tests/shell/*.sh on the pdb of a build directory and end with one line: N passed, N failed.
set -u
passed=0 failed=0
for name in cli job stacks terminal; do
	output=$(sh tests/shell/$name.sh "$1" 2>&1)
	last=$(printf '%s\n' "$output" | grep -E '^[0-9]+ passed, [0-9]+ failed$' | tail -n 1)
	if [ -z "$last" ]; then
		last='0 passed, 1 failed'
		printf '%s\n' "$output"
	fi
	printf '%s\n' "$output" | grep -vE '^[0-9]+ passed, [0-9]+ failed$'
	printf '  %-28s %s\n' "$name" "$last"
	passed=$((passed + ${last%% *}))
	last=${last#*, }
	failed=$((failed + ${last%% *}))
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
