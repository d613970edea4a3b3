#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run tests/shell/*.sh on the pdb of a build directory, side by side, as each of them mostly waits for
# a job of its own, and end with one line: N passed, N failed.
set -u
. tests/suite/beside.bash
names='cli inlined job json locks mpis stacks terminal'
folder=$1/tests/shell
passed=0 failed=0
run_script() { sh "tests/shell/$1.sh" "$2" >"$folder/$1.out" 2>&1; }
for name in $names; do
	beside run_script "$name" "$1"
done
wait_beside
for name in $names; do
	output=$(cat "$folder/$name.out")
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
