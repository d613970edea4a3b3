C     SPDX-License-Identifier: BSD-3-Clause
C     A message to the wrong rank: the faulty one sends to its right
C     neighbour's right neighbour, which does not receive it.
C     expect: kind=lost lp=R
C     says: rank {R+1}; tag 7; rank {R+2}
C     ranks: 4:2 8:3
      program halo
      implicit none
      include 'mpif.h'
      integer rank, nranks, step, left, right, ierr
      integer status(MPI_STATUS_SIZE)
      double precision x, got, total
      logical fault_is_now
      external fault_is_now

      call MPI_INIT(ierr)
      call fault_arguments()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      left = mod(rank + nranks - 1, nranks)
      x = rank
      do 10 step = 0, 1000000000
        call fault_pause(rank, step)
        right = mod(rank + 1, nranks)
        if (fault_is_now(rank, step)) right = mod(rank + 2, nranks)
        call MPI_SEND(x, 1, MPI_DOUBLE_PRECISION, right, 7,
     &                MPI_COMM_WORLD, ierr)
        call MPI_RECV(got, 1, MPI_DOUBLE_PRECISION, left, 7,
     &                MPI_COMM_WORLD, status, ierr)
        call MPI_ALLREDUCE(got, total, 1, MPI_DOUBLE_PRECISION,
     &                     MPI_SUM, MPI_COMM_WORLD, ierr)
        x = sqrt(abs(total))
   10 continue
      call MPI_FINALIZE(ierr)
      end

      include 'fault.fi'
