C     SPDX-License-Identifier: BSD-3-Clause
C     A loop with two entries (irreducible), made with GO TO: even ranks
C     enter it at its top and send first, odd ranks jump into its middle
C     and receive first. Needs an even number of ranks.
C     expect: lp=R kind=computation where=digest
C     ranks: 4:3 8:2
      program jumps
      implicit none
      include 'mpif.h'
      integer rank, nranks, faulty, step, ierr, left, right
      integer status(MPI_STATUS_SIZE)
      double precision x, got
      character*16 arg

      faulty = -1
      if (iargc() .ge. 1) then
        call getarg(1, arg)
        read (arg, *) faulty
      end if
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      right = mod(rank + 1, nranks)
      left = mod(rank + nranks - 1, nranks)
      x = rank
      step = 0
      if (mod(rank, 2) .eq. 1) go to 20
   10 call MPI_SEND(x, 1, MPI_DOUBLE_PRECISION, right, 1,
     &              MPI_COMM_WORLD, ierr)
   20 call MPI_RECV(got, 1, MPI_DOUBLE_PRECISION, left, 1,
     &              MPI_COMM_WORLD, status, ierr)
      x = got
      call digest(rank, faulty, step, x)
      step = step + 1
      if (step .lt. 1000000000) go to 10
      if (mod(rank, 2) .eq. 1)
     &  call MPI_SEND(x, 1, MPI_DOUBLE_PRECISION, right, 1,
     &                MPI_COMM_WORLD, ierr)
      call MPI_FINALIZE(ierr)
      end

      subroutine digest(rank, faulty, step, x)
      implicit none
      integer rank, faulty, step, i
      double precision x
      logical, volatile :: spin

      if (rank .eq. faulty .and. step .eq. 12) then
        spin = .true.
        write (*, '(A,I0)') 'fault: rank ', rank
        flush (6)
        do while (spin)
        end do
      end if
      do 30 i = 1, 200
        x = x * 0.999d0 + 0.001d0 * i
   30 continue
      end
