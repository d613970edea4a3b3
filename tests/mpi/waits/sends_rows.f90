! SPDX-License-Identifier: BSD-3-Clause
! Rows of a grid that are rings: everybody sends to the right and then receives from the left, from the
! step of the fault on by MPI_Ssend. Each row is a deadlock of its own.
! expect: kind=deadlock
! says: MPI_Ssend; tag 3; wait for each other
! ranks: 6:2 8:3
program rows
  use mpi
  implicit none
  integer :: rank, nranks, step, left, right, grid, faulty, slow, ierr
  double precision :: x, got
  logical :: unused
  logical, external :: fault_is_now
  common /fault/ faulty, slow

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, (/ 2, nranks / 2 /), (/ .false., .true. /), .false., grid, &
                       ierr)
  call MPI_Comm_rank(grid, rank, ierr)
  call MPI_Cart_shift(grid, 1, 1, left, right, ierr)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    unused = fault_is_now(rank, step)
    if (faulty >= 0 .and. step >= 12) then
      call MPI_Ssend(x, 1, MPI_DOUBLE_PRECISION, right, 3, grid, ierr)
    else
      call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, right, 3, grid, ierr)
    end if
    call MPI_Recv(got, 1, MPI_DOUBLE_PRECISION, left, 3, grid, MPI_STATUS_IGNORE, ierr)
    x = got
    if (mod(step, 4) == 0) call MPI_Barrier(grid, ierr)
  end do
  call MPI_Finalize(ierr)
end program rows

include 'fault.fi'
