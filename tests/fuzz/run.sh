#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Run fuzz targets, one after the other: all inputs that are kept (tests/fuzz/corpus), those that
# the unit tests' means make, those of earlier runs (BUILD/corpus), then new ones.
# usage: run.sh BUILD SECONDS_EACH TARGET...
# What a target crashes by, hangs at or grows too large with is left in BUILD/found, and the target
# has failed. Ends with the line: N passed, N failed.
set -u
build=$1 seconds=$2
shift 2
programs=$build/tests/fuzz
seeds=$build/seeds
passed=0 failed=0

rm -rf "$seeds"
"$programs/seeds" "$seeds" || exit 1
mkdir -p "$seeds/elf"
for address in 0000 0010 4010 8010; do
	printf "\\x${address:0:2}\\x${address:2:2}" | cat - "$programs/small.so" >"$seeds/elf/$address"
done

# Real inputs take milliseconds and some megabytes, and none may take more than 64 MiB
# (docs/reliability.md): no single allocation here, and all together with what the sanitizers
# keep, 256 MiB of what was freed among it. Time is that on the wall, of slow programs, and the
# machine may be busy with other things.
limits=(-timeout=60 -rss_limit_mb=1000 -malloc_limit_mb=64 -max_len=131072)
export ASAN_OPTIONS=allocator_may_return_null=0:detect_leaks=1 LSAN_OPTIONS=report_objects=0

for target in "$@"; do
	mkdir -p "$build/corpus/$target" "$build/found"
	kept=$build/kept/$target archive=tests/fuzz/corpus/$target.tar.xz
	rm -rf "$kept" && mkdir -p "$kept"
	[ ! -e "$archive" ] || tar -xJf "$archive" -C "$kept" || exit 1
	begin=$(date +%s)
	"$programs/fuzz_$target" "${limits[@]}" -max_total_time="$seconds" -print_final_stats=1 \
		-artifact_prefix="$build/found/$target-" \
		"$build/corpus/$target" "$kept" "$seeds/$target" >"$build/$target.log" 2>&1
	status=$?
	inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")
	printf '%-10s %s inputs in %d s' "$target" "${inputs:-?}" $(($(date +%s) - begin))
	if [ $status -eq 0 ]; then
		echo
		passed=$((passed + 1))
	else
		printf '\nFAILED  %s\n' "$target"
		grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$build/$target.log" | head -n 8
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
