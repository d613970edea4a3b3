#!/bin/sh
#PBS -l select=1:ncpus=4:mpiprocs=4
#PBS -l walltime=01:00:00
# For PBS and Torque. The mpirun of their Open MPI and MPICH knows the job's nodes.
cd "$PBS_O_WORKDIR" || exit 1

pdb run --watch --kill --save hang.pdb --report hang.txt -- mpirun -n 4 ./app
