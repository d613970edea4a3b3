#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `slow` says of real jobs: run.sh BUILD_DIR [hosts]. One of three ranks is slow in each, or
# none is. A cause that was made must be told, and what was not made must not: other processes of
# the machine may be among the causes, as they are. With the recorder and by stacks alone. With
# "hosts" the slow rank is on another host (tests/hosts/hosts.sh).
set -u
build=$(cd "$1" && pwd)
tests=$(realpath "$(dirname "$0")/..")
. "$tests/suite/checks.bash"
[ "${2:-}" != hosts ] || on_hosts "$tests/hosts/hosts.sh" 2 bash "$0" "$build" here
work=$build/tests/slow/work
steps=$build/tests/slow/steps-openmpi
group=/sys/fs/cgroup/cpu/pdb-test-$$
rm -rf "$work" && mkdir -p "$work"
launcher='' competitor=''

end_job() {
	[ -z "$competitor" ] || kill "$competitor"
	[ -z "$launcher" ] || { kill "$launcher"; wait "$launcher"; } 2>/dev/null
	[ ! -d "$group" ] || wait_for rmdir "$group"
	launcher='' competitor=''
}
end() {
	end_job
	rm -rf "$work"
}
trap end EXIT

is_started() { [ "$(grep -cs '^rank' "$work/out")" = 3 ]; }

# launch OPTION...: ranks that wait give up their processors.
where=(--oversubscribe)
launch() {
	rm -f "$work/out"
	mpirun.openmpi "${where[@]}" --bind-to none --mca mpi_yield_when_idle 1 "$@" \
		>"$work/out" 2>&1 </dev/null &
	launcher=$!
	wait_for is_started
}
# start KIND RANK
start() { launch -n 3 ${preload:+-x "$preload"} "$steps" "$1" "$2" "$work/file"; }
pid_of() { sed -n "s/^rank $1 is //p" "$work/out"; }

# ask SECONDS: what slow says, in "$work/said".
ask() {
	"$build/pdb" -nx --pid "$launcher" -batch --json -ex "slow $1" \
		>"$work/said" 2>"$work/errors"
}
explain() { cat "$work/said" "$work/errors" "$work/out"; }

# says EXPRESSION: of the result r, in three looks at most. names: ranks; why: kinds of reasons.
says() {
	local i
	for i in 1 2 3; do
		ask "${seconds:-3}" && holds "$1" && return
	done
	return 1
}
holds() {
	/usr/bin/python3 - "$work/said" "$1" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as said:
    r = json.loads(said.readline())["result"]
slow = {rank["rank"]: rank for rank in r["slow"]}
why = {number: [reason["kind"] for reason in rank["reasons"]] for number, rank in slow.items()}
every = [reason["kind"] for reason in r["reasons"]]
every += [kind for kinds in why.values() for kind in kinds]
sys.exit(not eval(sys.argv[2]))
END
}

causes() {
	start even 1
	check "all alike, by $how" says 'r["kind"] in ("balanced", "turns", "mpi")'
	check "no cause that there is not, by $how" holds \
		'not {"throttled", "page_faults", "sleeps", "more_calls", "frequency"} & set(every)'
	end_job

	start work 1
	check "more work, by $how" says '"computes" in why.get(1, [])'
	check "only that rank, by $how" holds 'r["ranks"] == "1"'
	check "its function, by $how" holds \
		'"compute" in slow[1]["where"] or "more_work" in slow[1]["where"]'
	"$build/pdb" -nx --pid "$launcher" -batch -ex "slow 3" -ex "save $work/saved" \
		>/dev/null 2>&1
	"$build/pdb" -nx --load "$work/saved" -batch --json -ex slow >"$work/said" 2>"$work/errors"
	check "saved and told again, by $how" holds 'r["measured"] and 1 in slow and why[1]'
	end_job

	start sleep 2
	check "asleep, by $how" says '"sleeps" in why.get(2, [])'
	end_job

	start pages 0
	check "pages from a disk, by $how" says '"page_faults" in why.get(0, [])'
	end_job

	start even 1
	for rank in 1 2; do taskset -pc 0 "$(pid_of $rank)" >/dev/null; done
	check "two ranks on one processor, by $how" says '"shared_processors" in every'
	check "its number is told, by $how" holds '"1-2 are bound to processor 0" in json.dumps(r)'
	end_job

	start even 1
	taskset -pc 0 "$(pid_of 1)" >/dev/null
	taskset -c 0 /usr/bin/python3 -c 'while True: pass' &
	competitor=$!
	check "another process, by $how" says \
		"'other_processes' in every and '\"pid\": $competitor,' in json.dumps(r)"
	end_job

	if mkdir "$group" 2>/dev/null && echo 10000 >"$group/cpu.cfs_quota_us"; then
		start work 1
		pid_of 1 >"$group/cgroup.procs"
		check "a quota, by $how" says '"throttled" in every'
		check "its size is told, by $how" holds \
			'"its quota of 0.1 processors" in json.dumps(r)'
		end_job
	else
		echo "skip: no group with a quota can be made here"
	fi
}

since() {
	start later 1
	seconds=5
	check "slow since a step" says 'abs(slow[1]["since_iteration"] - 200) < 10'
	"$build/pdb" -nx --pid "$launcher" -batch -ex lp >"$work/said" 2>"$work/errors"
	check "lp says so" grep -q '^  slow: rank 1 holds the others up' "$work/said"
	end_job
}

# The slow rank has no recorder, the others have one: nobody knows its times.
partly() {
	launch -n 2 -x "$preload" "$steps" work 2 "$work/file" : -n 1 "$steps" work 2 "$work/file"
	check "a slow rank without a recorder" says 'r["ranks"] == "2" and "computes" in why[2]'
	end_job
}

# Ranks 0 and 1 on host a, rank 2 on b, where it has no processor for itself.
causes_elsewhere() {
	start work 2
	check "on another host, by $how" says 'r["ranks"] == "2" and "computes" in why[2]'
	check "no rank is left out, by $how" holds 'r.get("left_out") == ""'
	end_job

	start sleep 2
	check "asleep on another host, by $how" says '"sleeps" in why.get(2, [])'
	end_job

	start work 2
	ssh b taskset -pc 0 "$(pid_of 2)" >/dev/null
	ssh -tt b taskset -c 0 /usr/bin/python3 -c "'while True: pass'" >/dev/null 2>&1 </dev/null &
	competitor=$!
	check "another process on that host, by $how" says \
		'"other_processes" in why.get(2, []) and "(python3)" in json.dumps(slow[2])'
	end_job
}

recorder=LD_PRELOAD=$build/libpdbrec-openmpi.so
[ "${2:-}" != here ] || where=(--host "a:2,b:1")
for preload in "$recorder" ""; do
	how=${preload:+the recorder}
	how=${how:-stacks}
	if [ "${2:-}" = here ]; then
		causes_elsewhere
	else
		causes
	fi
done
preload=$recorder
if [ "${2:-}" != here ]; then
	partly
	since
fi
finish_checks
