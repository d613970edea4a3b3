#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# queues.sh BUILD: how long it takes to read a rank's message queues while it runs, by MPI and ranks of the job.
# The first time is longer: the library's objects are looked for.
set -u
. tests/attach/job.sh
build=$1/tests/attach
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_pml=ob1

# bench NAME MPI COMMAND...
bench() {
	name=$1 mpi=$2
	shift 2
	for ranks in 4 16 64; do
		start_job "$@" -n $ranks "$build/queues-$mpi" || exit 1
		# shellcheck disable=SC2046
		"$build/print_queues" -t $(sed -n 's/^rank [0-9]* is //p' "$work/out") | grep ' us' | sort -n >"$work/times"
		awk -v mpi="$name" -v ranks=$ranks '{ again[NR] = $1; first[NR] = $4 }
			END { middle = int((NR + 1) / 2)
			      printf "queues of %s, %d ranks: %.0f us a rank (%.0f to %.0f), the first time %.0f us\n", mpi,
				     ranks, again[middle], again[1], again[NR], first[middle] }' "$work/times"
		kill "$job"
		wait "$job"
		job=''
		kill "$keeper"
		keeper=''
	done
}

bench openmpi openmpi nice -n 19 mpirun.openmpi
if ompi_info 2>/dev/null | grep -q 'MCA pml: ucx'; then
	bench openmpi-ucx openmpi env OMPI_MCA_pml=ucx OMPI_MCA_osc=^ucx OMPI_MCA_opal_common_ucx_tls=any \
		OMPI_MCA_opal_common_ucx_devices=any UCX_TLS=sm,self nice -n 19 mpirun.openmpi
fi
bench mpich mpich nice -n 19 mpiexec.mpich
