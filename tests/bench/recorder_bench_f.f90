! SPDX-License-Identifier: BSD-3-Clause
! Calls from Fortran for recorder_bench, by mpif.h and by mpi_f08.
subroutine fortran_nobody() bind(c)
  implicit none
  include 'mpif.h'
  integer :: out(1) = 1, ierr

  call MPI_Send(out, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, ierr)
end subroutine

subroutine fortran_isend_irecv_wait() bind(c)
  implicit none
  include 'mpif.h'
  integer, save :: in(1), out(1) = 1
  integer :: requests(2), ierr

  call MPI_Irecv(in, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(1), ierr)
  call MPI_Isend(out, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(2), ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
end subroutine

subroutine fortran_many_waitall() bind(c)
  implicit none
  include 'mpif.h'
  integer, save :: in(16), out(16) = 1
  integer :: requests(32), i, ierr

  do i = 1, 16
    call MPI_Irecv(in(i), 1, MPI_INTEGER, 0, i, MPI_COMM_SELF, requests(i), ierr)
  end do
  do i = 1, 16
    call MPI_Isend(out(i), 1, MPI_INTEGER, 0, i, MPI_COMM_SELF, requests(16 + i), ierr)
  end do
  call MPI_Waitall(32, requests, MPI_STATUSES_IGNORE, ierr)
end subroutine

subroutine fortran_allreduce() bind(c)
  implicit none
  include 'mpif.h'
  integer, save :: in(1), out(1) = 1
  integer :: ierr

  call MPI_Allreduce(out, in, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, ierr)
end subroutine

subroutine f08_isend_irecv_wait() bind(c)
  use mpi_f08
  implicit none
  integer, save, asynchronous :: in(1), out(1) = 1
  type(MPI_Request) :: requests(2)

  call MPI_Irecv(in, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(1))
  call MPI_Isend(out, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, requests(2))
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
end subroutine
