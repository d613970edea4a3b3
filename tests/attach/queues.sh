#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# queues.sh BUILD: read the message queues of real jobs with tests/attach/print_queues.
# queues.sh BUILD PROGRAM COMMAND...: the same of another Open MPI, with its queues.c and its launcher.
# Ends with a line "N passed, N failed".
set -u
. tests/attach/job.sh
build=$1/tests/attach
shift
passed=0 failed=0
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_pml=ob1

# The library's own communicators are its own affair, unless the program uses no others.
library='MPI[_ ]COMM'

# The program's own processes, which say themselves what ranks they are.
queues() {
	# shellcheck disable=SC2046
	"$build/print_queues" $(sed -n 's/^rank [0-9]* is //p' "$work/out") >"$work/queues" 2>&1
	grep -v "${library:-^$}" "$work/queues" | sort
}

# What tests/attach/queues.c leaves: messages that no receive asks for, and the other way round.
left='0 halo of 4: 1 sent 0 arrived 5
0 halo of 4: receive from 1 tag 7
0 halo of 4: receive from 3 tag any
0 halo of 4: receive from any tag 11
0 halo of 4: unexpected from 1 tag 10
0 halo of 4: unexpected from 1 tag 8
0 halo of 4: unexpected from 1 tag 8
0 halo of 4: unexpected from 1 tag 8
0 halo of 4: unexpected from 1 tag 9
0 other of 2: receive from 3 tag 12
0 reversed of 4: 3 sent 0 arrived 1
0 reversed of 4: unexpected from 3 tag 15
1 halo of 4: 0 sent 5 arrived 0
3 reversed of 4: 0 sent 1 arrived 0'

# test_queues NAME EXPECTED COMMAND...
test_queues() {
	name=$1 expected=$2
	shift 2
	start_job "$@" -n 4 "$program" || { failed=$((failed + 1)); return; }
	found=$(queues)
	if [ "$found" = "$expected" ]; then
		passed=$((passed + 1))
	else
		printf 'FAILED  the queues of %s are\n%s\n' "$name" "$found" >&2
		failed=$((failed + 1))
	fi
	kill "$job"
	wait "$job"
	job=''
	kill "$keeper"
	keeper=''
}

end() {
	echo "$passed passed, $failed failed"
	[ $failed -eq 0 ]
	exit
}

# The same, but for counts, which UCX has none of: of whom a receive from any may be is told without.
uncounted='0 halo of 4: 0 sent 0 arrived 0
0 halo of 4: 1 sent 0 arrived 0
0 halo of 4: 2 sent 0 arrived 0
0 halo of 4: 3 sent 0 arrived 0
'$(echo "$left" | grep -v sent)
# Open MPI over UCX takes what is no InfiniBand if it is told to.
over_ucx='env OMPI_MCA_pml=ucx OMPI_MCA_osc=^ucx OMPI_MCA_opal_common_ucx_tls=any
	OMPI_MCA_opal_common_ucx_devices=any UCX_TLS=sm,self'

if [ $# -gt 0 ]; then
	program=$1
	shift
	test_queues 'Open MPI' "$left" "$@"
	# shellcheck disable=SC2086
	test_queues 'Open MPI over UCX' "$uncounted" $over_ucx "$@"
	end
fi

program=$build/queues-openmpi
test_queues 'Open MPI' "$left" mpirun.openmpi
if ompi_info 2>/dev/null | grep -q 'MCA pml: ucx'; then
	# shellcheck disable=SC2086
	test_queues 'Open MPI over UCX' "$uncounted" $over_ucx mpirun.openmpi
else
	echo 'queues of Open MPI over UCX: left out, this Open MPI has no PML ucx' >&2
fi
program=$build/queues-mpich
test_queues 'MPICH' "$uncounted" mpiexec.mpich
# As ranks that are alone on their nodes and make no communicators: then the library has not made any itself.
program=$build/alone-mpich
library=
test_queues 'MPICH with a rank on each node' '2 MPI_COMM_WORLD of 4: receive from 1 tag 7' \
	env MPIR_CVAR_NOLOCAL=1 mpiexec.mpich
end
