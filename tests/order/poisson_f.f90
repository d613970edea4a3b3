! SPDX-License-Identifier: BSD-3-Clause
! The same as poisson.c in Fortran.
module solver
   use mpi
   implicit none
   integer, parameter :: width = 64, height = 8, stall = 17
   integer :: rank, nranks, stalled
   double precision :: a(width, 0:height + 1), b(width, 0:height + 1)
   integer, volatile :: flag = 1
contains
   subroutine exchange_band(band)
      double precision, intent(inout) :: band(width, 0:height + 1)
      integer :: up, down, ierr
      up = merge(rank - 1, MPI_PROC_NULL, rank > 0)
      down = merge(rank + 1, MPI_PROC_NULL, rank + 1 < nranks)
      call MPI_Sendrecv(band(1, 1), width, MPI_DOUBLE_PRECISION, up, 0, band(1, height + 1), width, &
                        MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Sendrecv(band(1, height), width, MPI_DOUBLE_PRECISION, down, 1, band(1, 0), width, &
                        MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
   end subroutine

   subroutine sweep_band(from, to)
      double precision, intent(in) :: from(width, 0:height + 1)
      double precision, intent(inout) :: to(width, 0:height + 1)
      integer :: row, column
      do row = 1, height
         do column = 2, width - 1
            to(column, row) = 0.25d0*(from(column, row - 1) + from(column, row + 1) + &
                                      from(column - 1, row) + from(column + 1, row))
         end do
      end do
   end subroutine

   double precision function get_norm(from, to, stalls)
      double precision, intent(in) :: from(width, 0:height + 1), to(width, 0:height + 1)
      logical, intent(in) :: stalls
      if (stalls) then
         print '(a, i0)', 'fault: rank ', rank
         flush (6)
         do while (flag == 1)
         end do
      end if
      get_norm = sum(abs(to(:, 1:height) - from(:, 1:height)))
   end function

   subroutine poisson(most)
      integer, intent(in) :: most
      integer :: it, ierr
      double precision :: norm, total
      do it = 0, most - 1
         call exchange_band(a)
         call sweep_band(a, b)
         norm = get_norm(a, b, rank == stalled .and. it == stall)
         call exchange_band(b)
         call sweep_band(b, a)
         norm = norm + get_norm(b, a, .false.)
         call MPI_Allreduce(norm, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
         if (total <= 0) exit
      end do
   end subroutine
end module

program main
   use solver
   implicit none
   character(len=16) :: word
   integer :: ierr
   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
   call get_command_argument(1, word)
   read (word, *) stalled
   a = 0
   b = 0
   a(:, 0) = rank + 1
   b(:, 0) = rank + 1
   call poisson(1000000)
   call MPI_Finalize(ierr)
end program
