C     SPDX-License-Identifier: BSD-3-Clause
C     One rank believes that it has converged, leaves the loop and waits
C     in MPI_FINALIZE; the others wait for it in their next sum.
C     expect: kind=mismatch,left lp=R
C     says: MPI_Finalize; MPI_Allreduce
C     ranks: 4:1 8:4
      program solve
      implicit none
      include 'mpif.h'
      integer rank, step, ierr
      double precision x, total
      logical fault_is_now
      external fault_is_now

      call MPI_INIT(ierr)
      call fault_arguments()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      x = rank
      do 10 step = 0, 1000000000
        call fault_pause(rank, step)
        call MPI_ALLREDUCE(x, total, 1, MPI_DOUBLE_PRECISION,
     &                     MPI_SUM, MPI_COMM_WORLD, ierr)
        x = sqrt(abs(total))
        if (fault_is_now(rank, step)) go to 20
   10 continue
   20 call MPI_FINALIZE(ierr)
      end

      include 'fault.fi'
