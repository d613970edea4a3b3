#!/bin/sh
#SBATCH --ntasks=4
#SBATCH --time=01:00:00
#SBATCH --output=out
# The same for a script of any length, by one line at its beginning: the script is run once more,
# with each job that it makes watched.
[ "$PDB_WATCHED" ] || PDB_WATCHED=1 exec pdb run --watch --kill --mpi=openmpi --save hang.pdb -- sh "$0" "$@"

echo preparing
srun ./app
echo finished
