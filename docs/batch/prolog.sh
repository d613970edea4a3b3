#!/bin/sh
#SBATCH --ntasks=4
#SBATCH --time=01:00:00
#SBATCH --output=out
# For a script of any length: this line runs it again below pdb, which watches each of its jobs.
[ "$PDB_WATCHED" ] || PDB_WATCHED=1 exec pdb run --watch --kill --mpi=openmpi --save hang.pdb -- sh "$0" "$@"

echo preparing
srun ./app
echo finished
