C     SPDX-License-Identifier: BSD-3-Clause
C     A nested loop in fixed-form Fortran with mpif.h: time steps, and
C     in each a few sweeps with a global residual.
C     expect: lp=R kind=computation where=relax
C     ranks: 4:1 8:4
      program nested
      implicit none
      include 'mpif.h'
      integer rank, nranks, faulty, step, sweep, ierr, left, right
      integer status(MPI_STATUS_SIZE)
      double precision x, got, total
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
      do 20 step = 1, 1000000000
        call MPI_SENDRECV(x, 1, MPI_DOUBLE_PRECISION, right, 1,
     &                    got, 1, MPI_DOUBLE_PRECISION, left, 1,
     &                    MPI_COMM_WORLD, status, ierr)
        x = (x + got) / 2
        do 10 sweep = 1, 4
          call relax(rank, faulty, step, sweep, x)
          call MPI_ALLREDUCE(x, total, 1, MPI_DOUBLE_PRECISION,
     &                       MPI_SUM, MPI_COMM_WORLD, ierr)
          x = total / nranks
   10   continue
   20 continue
      call MPI_FINALIZE(ierr)
      end

      subroutine relax(rank, faulty, step, sweep, x)
      implicit none
      integer rank, faulty, step, sweep, i
      double precision x
      logical, volatile :: spin

      if (rank .eq. faulty .and. step .eq. 8 .and. sweep .eq. 3) then
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
