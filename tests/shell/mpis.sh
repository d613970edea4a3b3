#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several MPIs side by side: pdb run loads all recorders, that of the MPI which the program loads first. Launchers are
# scripts here that tell how they were called; libraries have no more than what MPIs are told by.
set -u
. tests/shell/lib.sh
build=$(realpath "$build") pdb=$build/pdb
cd "$work" || exit 1
unset LD_PRELOAD LD_LIBRARY_PATH PDB_LIBDIR

mkdir bin ompi mpich libs
for launcher in mpirun.openmpi mpiexec.hydra; do
	printf '#!/bin/sh\necho "$0 $*; $LD_PRELOAD" >>"%s/called"\n' "$work" >bin/$launcher
	chmod +x bin/$launcher
done
ln -s mpirun.openmpi bin/mpirun
PATH=$work/bin:$PATH
export PATH

echo 'int mpi_stub(void) { return 0; }' >stub.c
echo 'int mpi_stub(void) { return 0; } int PMPI_Comm_c2f, ompi_mpi_comm_world;' >openmpi.c
echo 'int mpi_stub(void) { return 0; } int MPIR_Dup_fn, MPI_Abi_get_version;' >mpich.c
# As MPI's own ABI is made by each of them.
echo 'int mpi_stub(void) { return 0; } int MPI_Abi_get_version, ompi_mpi_comm_world, MPIR_Err_create_code;' >abi.c
echo 'int mpi_stub(void); int middle(void) { return mpi_stub(); }' >middle.c
echo 'int middle(void); int main(void) { return middle(); }' >main.c
echo 'int mpi_stub(void); int main(void) { return mpi_stub(); }' >direct.c
# library FILE SOURCE WORD...
library() {
	target=$1 source=$2
	shift 2
	gcc -fPIC -shared -o "$target" "$source" -Wl,-soname,"$(basename "$target")" -Wl,--no-as-needed "$@"
}
library ompi/libmpi.so.40 openmpi.c
library mpich/libmpich.so.12 mpich.c
for mpi in ompi mpich; do
	stub=$(echo $mpi/lib*)
	gcc -o $mpi/direct direct.c "$stub"
	# A library whose own way to the MPI is told by itself, by the program, or by nobody.
	library $mpi/libown.so middle.c "$stub" -Wl,-rpath,"\$ORIGIN"
	library $mpi/libnone.so middle.c "$stub"
	gcc -o $mpi/runpath main.c $mpi/libown.so -Wl,--enable-new-dtags,-rpath,"\$ORIGIN"
	gcc -o $mpi/rpath main.c $mpi/libnone.so -Wl,--disable-new-dtags,-rpath,"\$ORIGIN"
	gcc -o $mpi/variable main.c $mpi/libown.so -Wl,-rpath-link,$mpi
	# In a folder of its own the loader does not find it without LD_LIBRARY_PATH.
	mkdir $mpi/other && mv $mpi/variable $mpi/other
done

# loads NAME MPI LAUNCHER WORD...: which recorder the launcher was told of first, of three
loads() {
	name=$1 mpi=$2
	shift 2
	: >called
	run -n run --output out --batch -- "$@"
	if grep -o 'libpdbrec-[a-z]*' called | head -n 1 | grep -q "libpdbrec-$mpi" &&
		[ "$(grep -o 'libpdbrec-[a-z]*' called | sort -u | grep -c .)" -eq 3 ]; then
		pass
	else
		fail "$name" "$(cat called; echo "$said")"
	fi
}

# The launcher of one MPI, the program of the other: the program's counts, also behind other words.
for program in direct runpath rpath; do
	loads "$program, MPICH" mpich mpirun -n 2 "mpich/$program" argument
	loads "$program, Open MPI" openmpi mpiexec.hydra -n 2 "ompi/$program"
done
loads 'behind env' mpich mpirun -n 2 env A=b mpich/runpath
loads 'in PATH' mpich mpirun -n 2 env "PATH=$work/mpich:$PATH" mpich/rpath
LD_LIBRARY_PATH=$work/mpich
export LD_LIBRARY_PATH
loads 'by LD_LIBRARY_PATH' mpich mpirun -n 2 mpich/other/variable
unset LD_LIBRARY_PATH
loads 'not by LD_LIBRARY_PATH' openmpi mpirun -n 2 mpich/other/variable
said=$(: >called; "$pdb" -n --mpi=openmpi run --output out --batch -- mpirun -n 2 mpich/direct 2>&1 </dev/null)
if grep -q libpdbrec-openmpi called && ! grep -q libpdbrec-mpich called; then pass; else fail '--mpi has the last word' "$said"; fi

# Names say nothing: those of one MPI with what the other exports, and those of nobody's.
for soname in libmpi_cray.so.12 libmpi_nvidia.so.12 libmpi.so.40 libmpi.so.12 libmpi_abi.so.1; do
	mkdir "named-$soname"
	library "named-$soname/$soname" mpich.c
	gcc -o "named-$soname/direct" direct.c "named-$soname/$soname" -Wl,-rpath,"\$ORIGIN"
	loads "MPICH as $soname" mpich mpirun -n 2 "named-$soname/direct"
	library "named-$soname/$soname" openmpi.c
	loads "Open MPI as $soname" openmpi mpiexec.hydra -n 2 "named-$soname/direct"
	library "named-$soname/$soname" abi.c
	loads "MPI's own ABI as $soname" abi mpirun -n 2 "named-$soname/direct"
	library "named-$soname/$soname" stub.c
	loads "stub as $soname, Open MPI" openmpi mpirun -n 2 "named-$soname/direct"
	loads "stub as $soname, MPICH" mpich mpiexec.hydra -n 2 "named-$soname/direct"
done

# Where nobody can know, the launcher's.
printf '#!/bin/sh\nexec mpich/direct\n' >script.sh
chmod +x script.sh
for program in ./script.sh 'python3 x.py' /bin/true no-such-program; do
	# shellcheck disable=SC2086
	loads "$program, Open MPI" openmpi mpirun -n 2 $program
	# shellcheck disable=SC2086
	loads "$program, MPICH" mpich mpiexec.hydra -n 2 $program
done

# Files that are not what they seem.
head -c 3000 mpich/direct >"cut" && chmod +x "cut"
loads 'a program that is cut off' openmpi mpirun -n 2 ./cut
head -c 64 /dev/zero | tr '\0' x >"text" && chmod +x "text"
loads 'no program at all' openmpi mpirun -n 2 ./text
# Two libraries that need each other.
echo 'int b(void) { return 1; }' >b.c
echo 'int b(void); int a(void) { return b(); }' >a.c
echo 'int a(void); int main(void) { return a(); }' >ab.c
library libs/libb.so b.c
library libs/liba.so a.c libs/libb.so -Wl,-rpath,"$work/libs"
library libs/libb.so b.c libs/liba.so -Wl,-rpath,"$work/libs"
gcc -o ab ab.c libs/liba.so -Wl,-rpath,"$work/libs",--allow-shlib-undefined
loads 'libraries in a circle' openmpi mpirun -n 2 ./ab

# Through /etc/ld.so.cache.
if lmp=$(command -v lmp) && ldd "$lmp" | grep -q 'libmpi.so.40'; then
	loads 'LAMMPS' openmpi mpiexec.hydra -n 2 lmp -in in.melt
fi
finish
