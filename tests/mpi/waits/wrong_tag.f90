! SPDX-License-Identifier: BSD-3-Clause
! A message with the wrong tag: the faulty rank sends with tag 8 what its neighbour receives with
! tag 7.
! expect: kind=lost lp=R
! says: rank {R+1}; tag 7; tag 8
! ranks: 4:1 8:6
program halo
  use mpi
  implicit none
  integer :: rank, nranks, step, left, right, tag, ierr, status(MPI_STATUS_SIZE)
  double precision :: x, got, total
  logical, external :: fault_is_now

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  right = mod(rank + 1, nranks)
  left = mod(rank + nranks - 1, nranks)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    tag = merge(8, 7, fault_is_now(rank, step))
    call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, right, tag, MPI_COMM_WORLD, ierr)
    call MPI_Recv(got, 1, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, status, ierr)
    call MPI_Allreduce(got, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    x = sqrt(abs(total))
  end do
  call MPI_Finalize(ierr)
end program halo

include 'fault.fi'
