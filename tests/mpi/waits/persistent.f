C     SPDX-License-Identifier: BSD-3-Clause
C     Persistent requests: the faulty rank starts its receive from the
C     left but not its send to the right.
C     expect: kind=lost lp=R
C     says: rank {R+1}; tag 2; MPI_Wait; MPI_Send_init; not started it
C     ranks: 4:1 8:6
      program halo
      implicit none
      include 'mpif.h'
      integer rank, nranks, step, left, right, ierr
      integer requests(2), statuses(MPI_STATUS_SIZE, 2)
      double precision x, got, total
      logical fault_is_now
      external fault_is_now

      call MPI_INIT(ierr)
      call fault_arguments()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      right = mod(rank + 1, nranks)
      left = mod(rank + nranks - 1, nranks)
      call MPI_SEND_INIT(x, 1, MPI_DOUBLE_PRECISION, right, 2,
     &                   MPI_COMM_WORLD, requests(1), ierr)
      call MPI_RECV_INIT(got, 1, MPI_DOUBLE_PRECISION, left, 2,
     &                   MPI_COMM_WORLD, requests(2), ierr)
      x = rank
      do 10 step = 0, 1000000000
        call fault_pause(rank, step)
        call MPI_START(requests(2), ierr)
        if (.not. fault_is_now(rank, step))
     &    call MPI_START(requests(1), ierr)
        call MPI_WAITALL(2, requests, statuses, ierr)
        call MPI_ALLREDUCE(got, total, 1, MPI_DOUBLE_PRECISION,
     &                     MPI_SUM, MPI_COMM_WORLD, ierr)
        x = sqrt(abs(total))
   10 continue
      call MPI_FINALIZE(ierr)
      end

      include 'fault.fi'
