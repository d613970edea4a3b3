#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run make targets that test something, and add up what they report.
# usage: check.sh MAKE O=DIR NAME TARGET[,TARGET...][+TARGET[,TARGET...]...]...
# One after the other; those that are joined by a + run side by side, since a part that waits for one
# job after the other leaves most of the processors to others; each side can be some that run one after
# the other, joined by commas. All that they need is built before. Each is reported on when it ends.
# A target's last line of the form "N passed, N failed" counts; a target that ends with a failure
# without having counted one counts as one failed test. What a target prints goes to
# DIR/NAME/TARGET.log; V=1 in the environment shows it at once. A target that fails is run once
# more, alone: tests of real jobs share few processors with everything else on the machine. One that
# is such a suite itself has done so. A test has failed if it failed both times; what failed once is
# listed as UNSTEADY: look into it. Tests are told apart by the lines "FAILED  NAME" that they print,
# reasons in the lines below them. What failed is shown at the end, but for the tests that passed; so
# are lines "MOVED ...", of figures that differ from kept ones, which is no failure. Beside the time
# that a target took is how long processors worked for it. Ends with the sum, in the same form.
set -u
make=$1 build=$2
logs=${build#O=}/$3
shift 3
. "$(dirname "$0")/beside.bash"
rm -rf "$logs" && mkdir -p "$logs" || exit 1

# Runs the target $1 and reports on it; "PASSED FAILED" are in $logs/$1.counts then.
run_part() (
	log=$logs/$1.log
	began=$(date +%s)
	if [ "${V:-0}" != 0 ]; then
		{ $make --no-print-directory "$build" "$1" 2>&1; echo $? >"$log.status"; } | tee "$log"
		status=$(cat "$log.status")
		rm "$log.status"
	else
		$make --no-print-directory "$build" "$1" >"$log" 2>&1
		status=$?
	fi
	seconds=$(($(date +%s) - began))
	times >"$log.times" # of what this shell has waited for: not in a shell below it
	worked=$(awk 'NR == 2 { split($0, t, /[ms ]+/); printf "%d", t[1] * 60 + t[2] + t[3] * 60 + t[4] }' \
		"$log.times")
	rm "$log.times"
	counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)
	passed=${counts%% *} failed=${counts#*, } failed=${failed%% *}
	: "${passed:=0}" "${failed:=0}"
	[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1
	echo "$passed $failed" >"$logs/$1.counts"
	printf '%-20s %5d passed, %d failed  (%d s, processors %d s)\n' \
		"$1" "$passed" "$failed" "$seconds" "$worked"
)

# Runs the targets of $1, joined by commas.
run_parts() {
	local part
	for part in ${1//,/ }; do
		run_part "$part"
	done
}

# Sets log, passed and failed to those of the target $1.
read_part() {
	log=$logs/$1.log
	read -r passed failed <"$logs/$1.counts"
	rm "$logs/$1.counts"
}

# The names of the tests that failed in the logs given, a line each.
list_failed() {
	sed -n 's/^ *FAILED  *//p' "$@" | sort -u
}

# Its parts have been repeated already.
is_suite() { grep -q '^== summary$' "$log"; }

# Run the target $1 again, which has failed; passed and failed are those of both times together.
repeat_part() {
	grep -A 3 '^ *FAILED' "$log" | head -n 40 | cut -c 1-300
	echo "$1 once more: does it fail again?"
	cp "$log" "$log.first"
	beside run_part "$1"
	wait_beside
	read_part "$1"
	list_failed "$log.first" >"$log.once"
	list_failed "$log" >"$log.twice"
	# Failures without a name cannot be told apart.
	if [ "$failed" -gt 0 ] && [ "$failed" -le "$(wc -l <"$log.twice")" ]; then
		both=$(comm -12 "$log.once" "$log.twice" | wc -l)
		passed=$((passed + failed - both)) failed=$both
	fi
	if [ "$failed" -eq 0 ]; then
		sort -u "$log.once" "$log.twice"
	else
		comm -3 "$log.once" "$log.twice" | tr -d '\t'
	fi | sed "s/^/UNSTEADY $1:  /" >>"$logs/unsteady"
	rm "$log.once" "$log.twice"
}

total_passed=0 total_failed=0 broken=()
for group in "$@"; do
	for side in ${group//+/ }; do
		beside run_parts "$side"
	done
	wait_beside
	for target in ${group//[+,]/ }; do
		read_part "$target"
		[ "$failed" -eq 0 ] || is_suite || repeat_part "$target"
		[ "$failed" -eq 0 ] || broken+=("$target")
		total_passed=$((total_passed + passed)) total_failed=$((total_failed + failed))
	done
done

for target in "${broken[@]}"; do
	echo "== $target failed"
	[ "${V:-0}" != 0 ] || grep -vE '^ok ' "$logs/$target.log" | tail -n 100
done
echo "== summary"
[ ! -e "$logs/unsteady" ] || cat "$logs/unsteady"
grep -hE '^(UNSTEADY|MOVED)' "$logs"/*.log
for target in "${broken[@]}"; do
	{ list_failed "$logs/$target.log" | grep . || echo "(no test by name)"; } |
		sed "s/^/FAILED  $target: /"
done
echo "$total_passed passed, $total_failed failed"
[ $total_failed -eq 0 ] && [ $total_passed -gt 0 ]
