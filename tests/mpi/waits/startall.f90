! SPDX-License-Identifier: BSD-3-Clause
! Persistent requests started at once: the faulty rank's MPI_Startall has a count that is one too small,
! so that its send to the right is never started.
! expect: kind=lost lp=R
! says: rank {R+1}; tag 12; MPI_Waitall
! ranks: 4:2 8:5
program halo
  use mpi
  implicit none
  integer :: rank, nranks, step, left, right, count, ierr, requests(4)
  double precision :: mine(2), other(2), total
  logical, external :: fault_is_now

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  left = modulo(rank - 1, nranks)
  right = modulo(rank + 1, nranks)
  mine = rank
  call MPI_Recv_init(other(1), 1, MPI_DOUBLE_PRECISION, left, 12, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Recv_init(other(2), 1, MPI_DOUBLE_PRECISION, right, 11, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Send_init(mine(1), 1, MPI_DOUBLE_PRECISION, left, 11, MPI_COMM_WORLD, requests(3), ierr)
  call MPI_Send_init(mine(2), 1, MPI_DOUBLE_PRECISION, right, 12, MPI_COMM_WORLD, requests(4), ierr)
  do step = 0, 1000000000
    call fault_pause(rank, step)
    count = merge(3, 4, fault_is_now(rank, step))
    call MPI_Startall(count, requests, ierr)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
    call MPI_Allreduce(other(1), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    mine = total * 1d-3
  end do
  call MPI_Finalize(ierr)
end program halo

include 'fault.fi'
