#!/bin/sh
#SBATCH --ntasks=4
#SBATCH --time=01:00:00
#SBATCH --output=out
# Ends the job when it hangs. hang.txt says why; pdb --load hang.pdb shows more.

pdb run --watch --kill --save hang.pdb --report hang.txt -- srun ./app
