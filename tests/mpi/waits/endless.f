C     SPDX-License-Identifier: BSD-3-Clause
C     No fault of communication: one rank computes for ever, the next
C     waits for its message, the one after that for the next one's, and
C     the last for the whole chain.
C     expect: kind=computation lp=R
C     says: rank {R+1} waits for|waits for rank {R}|for its messages
C     ranks: 4:1 8:3
      program chain
      implicit none
      include 'mpif.h'
      integer rank, nranks, step, ierr, status(MPI_STATUS_SIZE)
      double precision x

      call MPI_INIT(ierr)
      call fault_arguments()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      x = rank
      do 10 step = 0, 1000000000
        call fault_pause(rank, step)
        if (rank .gt. 0)
     &    call MPI_RECV(x, 1, MPI_DOUBLE_PRECISION, rank - 1, 1,
     &                  MPI_COMM_WORLD, status, ierr)
        call advance(rank, step, x)
        if (rank .lt. nranks - 1)
     &    call MPI_SEND(x, 1, MPI_DOUBLE_PRECISION, rank + 1, 1,
     &                  MPI_COMM_WORLD, ierr)
        call MPI_BCAST(x, 1, MPI_DOUBLE_PRECISION, nranks - 1,
     &                 MPI_COMM_WORLD, ierr)
   10 continue
      call MPI_FINALIZE(ierr)
      end

      subroutine advance(rank, step, x)
      implicit none
      integer rank, step
      double precision x
      logical, volatile :: spin
      logical fault_is_now
      external fault_is_now

      spin = fault_is_now(rank, step)
      do while (spin)
      end do
      x = sqrt(abs(x)) + 0.5d0
      end

      include 'fault.fi'
