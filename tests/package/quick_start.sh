#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# In a Debian root with Open MPI: install the packages of OUT/deb, do what the README says, remove them.
# usage: quick_start.sh OUT; status 1 if something fails
set -u
out=$1
. tests/suite/checks.bash
work=$(mktemp -d)
explain() { tail -n 20 "$work/said"; }
# says STATUS PATTERN COMMAND...
says() {
	timeout 100 "${@:3}" >"$work/said" 2>&1 </dev/null
	[ $? -eq "$1" ] && { [ -z "$2" ] || grep -Eq -e "$2" "$work/said"; }
}

# Of an earlier run.
dpkg --purge pdb libpdb0 >/dev/null 2>&1
apt-get update -qq
check 'the packages can be installed' says 0 'Setting up pdb' \
	apt-get install -y --no-install-recommends "$out"/deb/pdb_*.deb "$out"/deb/libpdb0_*.deb
check 'it says its version' says 0 '^pdb [0-9.]+$' pdb --version
check 'a snapshot' says 1 '^Culprit: rank 2' pdb --load docs/snapshots/lammps.pdb --batch -ex lp
check 'the library' says 1 '^lost message: 1 of 6' "$out/least" docs/snapshots/message.pdb

# pdb run -- mpirun -n 64 ./app
cd "$work" || exit 1
ready() { grep -q 'fault: rank 2' job; }
end_job() { kill "$1"; while kill -0 "$1" 2>/dev/null; do sleep 0.1; done; }
check 'pdb run' says 0 'recorder in 4' \
	pdb run --output job --batch -ex 'info job' -- mpirun --oversubscribe -n 4 "$out/app" 2
job=$(sed -n 's/^pdb: the job goes on: pid //p' said)
check 'the program hangs' wait_for ready
is_found() { says 1 '^Culprit: rank 2 of 4' pdb "$@" --batch -ex lp; }
check 'pdb --pid' wait_for is_found --pid "$job"
check 'pdb, with one job' is_found
check 'gdb is not there, and that is said' says 2 'gdb is not installed here' pdb --pid "$job" --batch -ex 'gdb lp -ex bt'
check 'stacks' says 1 'relax' pdb --pid "$job" --batch -ex 'bt lp'
check 'save' says 1 '' pdb --pid "$job" --batch -ex 'save hang.pdb'
check 'report' says 1 'hang.html' pdb --pid "$job" --batch -ex 'report hang.html'
end_job "$job"
check 'pdb --load' is_found --load hang.pdb
check 'why' says 1 '<- least progressed' pdb --load hang.pdb --batch -ex 'why 0'

# eval "$(pdb env)"; mpirun ...
(
	eval "$(pdb env)"
	exec mpirun --oversubscribe -n 4 "$out/app" 2 >job 2>&1 </dev/null
) &
job=$!
check 'the program hangs again' wait_for ready
check 'pdb env: the recorder is in it' wait_for says 1 'recorder in 4' pdb --pid "$job" --batch -ex 'info job'
kill $job
wait $job 2>/dev/null
check 'pdb clean' says 0 'of dead processes removed' pdb clean
check 'nothing is left of it' says 0 '^0 segments' pdb clean

cd / && check 'the packages can be removed' says 0 'Removing pdb' dpkg --purge pdb libpdb0
check 'nothing is left of them' test ! -e /usr/bin/pdb -a ! -e /usr/lib/pdb -a ! -e /usr/share/pdb
rm -rf "$work"
finish_checks
