#!/bin/sh
#SBATCH --ntasks=4
#SBATCH --time=01:00:00
#SBATCH --output=out
# A job that is ended when it hangs. What it was is in hang.txt and, for pdb --load, in hang.pdb.

pdb run --watch --kill --save hang.pdb --report hang.txt -- srun ./app
