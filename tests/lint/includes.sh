#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fails if a folder includes a header of a folder it must not know (docs/architecture.md).
set -eu

allowed() {
	case $1 in
	model) echo model ;;
	attach) echo 'attach model' ;;
	pmix) echo 'pmix model' ;;
	analysis) echo 'analysis model' ;;
	render) echo 'render analysis model' ;;
	shell) echo 'shell render analysis attach pmix model' ;;
	esac
}

bad=0
for folder in model attach pmix analysis render shell; do
	for file in "$folder"/*.[ch] "$folder"/*/*.[ch]; do
		[ -e "$file" ] || continue
		for target in $(sed -n 's/^#include "\([a-z]*\)\/.*/\1/p' "$file" | sort -u); do
			case " $(allowed $folder) " in
			*" $target "*) ;;
			*) echo "$file: $folder/ must not include $target/" >&2; bad=1 ;;
			esac
		done
	done
done
# The parts of a folder that one of them knows. Those of attach/ know process/, too.
known_parts() {
	case $1 in
	analysis/verdict) echo 'waits stacks progress' ;;
	analysis/waits | analysis/stacks) echo progress ;;
	attach/code) echo symbols ;;
	attach/stacks) echo queues ;;
	attach/cores) echo 'launchers stacks' ;;
	attach/node) echo 'stacks symbols' ;;
	attach/daemons) echo 'code gdb launchers node stacks symbols' ;;
	render/words) echo text ;;
	render/draw | render/lp) echo 'text words' ;;
	render/report | render/traces) echo 'draw text words' ;;
	shell/line) echo 'options script' ;;
	shell/script) echo options ;;
	shell/start) echo 'line options script' ;;
	shell/answers) echo options ;;
	shell/watch) echo 'answers line options script start' ;;
	shell/commands) echo 'answers line options script start watch' ;;
	esac
}
for file in analysis/*/*.[ch] attach/*/*.[ch] render/*/*.[ch] shell/*/*.[ch]; do
	folder=${file%%/*}
	part=${file%/*}
	for target in $(sed -n 's|^#include "'"$folder"'/\([a-z]*\)/.*|\1|p' "$file" | sort -u); do
		case " ${part#*/} $(known_parts "$part") $folder/$target " in
		*" $target "* | *" attach/process ") ;;
		*) echo "$file: $part/ must not include $folder/$target/" >&2; bad=1 ;;
		esac
	done
done
# The recorder sees the formats of segments and traces, what writes and removes them, and nothing else of ours.
for file in model/recorder/*.[ch]; do
	[ -e "$file" ] || continue
	for header in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
		case $header in
		model/segment/segment.h | model/segment/segment_sweep.h | model/trace/trace_format.h | model/trace/trace_writer.h | model/recorder/* | recorder/*) ;;
		*) echo "$file: the recorder must not include $header" >&2; bad=1 ;;
		esac
	done
done
if [ $bad -eq 0 ]; then echo "1 passed, 0 failed"; else echo "0 passed, 1 failed"; fi
exit $bad
