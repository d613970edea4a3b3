# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# A job of tests/attach/blocked.c, whose ranks wait for each other until they are let go. For the
# scripts that look at it; source it. $work is a folder of their own; the launcher, or the shell around
# it, is $job.
work=$(mktemp -d)
job='' keeper=''
. tests/suite/as_root.sh

clean_up() {
	[ -n "$job" ] && kill "$job" 2>/dev/null
	[ -n "$keeper" ] && kill "$keeper" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 2' INT TERM

# start_job COMMAND...: until it is ready, which it says itself; the number of tries only bounds that.
# A pipe is its standard input, which `sleep` keeps open without writing to it.
start_job() {
	rm -f "$work/in" "$work/out"
	mkfifo "$work/in"
	"$@" <"$work/in" >"$work/out" 2>"$work/err" &
	job=$!
	sleep 600 >"$work/in" &
	keeper=$!
	tries=0
	until grep -qx ready "$work/out" 2>/dev/null; do
		tries=$((tries + 1))
		[ $tries -gt 3000 ] && { echo 'the job does not come up'; cat "$work/err"; return 1; } >&2
		sleep 0.05
	done
}

# Let the job go on to its end; the status is its own.
finish_job() {
	echo go >"$work/in"
	wait "$job"
	status=$?
	job=''
	kill "$keeper" 2>/dev/null
	keeper=''
	return $status
}
