! SPDX-License-Identifier: BSD-3-Clause
! All ranks wait for each other: a value goes round, and rank 0 is to send before it receives. In
! the step of the fault it receives first, like everybody else.
! expect: kind=deadlock lp=R
! says: MPI_Recv; tag 4
! ranks: 4:0 8:0
program ring
  use mpi_f08
  implicit none
  integer :: rank, nranks, step, left, right
  double precision :: x
  logical :: is_first
  logical, external :: fault_is_now

  call MPI_Init()
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  right = mod(rank + 1, nranks)
  left = mod(rank + nranks - 1, nranks)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    is_first = rank == 0
    if (fault_is_now(rank, step)) is_first = .false.
    if (is_first) call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD)
    call MPI_Recv(x, 1, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    if (.not. is_first) call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
end program ring

include 'fault.fi'
