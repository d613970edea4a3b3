! SPDX-License-Identifier: BSD-3-Clause
! Flushes that have nothing to do, in Fortran: MPICH's own Fortran calls its C functions.
program flushes_f
  use mpi
  implicit none
  integer :: memory(8), win, ierr, i
  integer(kind=MPI_ADDRESS_KIND) :: bytes = 32

  call MPI_Init(ierr)
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_lock_all(0, win, ierr)
  call MPI_Win_flush_all(win, ierr) ! 1: the lock
  do i = 1, 640 ! 2 to 11
    call MPI_Win_flush_all(win, ierr)
  end do
  call checkpoint_f
  call MPI_Win_unlock_all(win, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
end program
