! SPDX-License-Identifier: BSD-3-Clause
! A probe for a message that is never sent: the length of what comes from the left is not known
! before, so everybody probes for it. The faulty rank sends nothing.
! expect: kind=lost lp=R
! says: rank {R+1}; tag 5; MPI_Probe
! ranks: 4:2 8:5
program lists
  use mpi
  implicit none
  integer :: rank, nranks, step, left, right, length, ierr, status(MPI_STATUS_SIZE)
  double precision :: x(4), got(4), total
  logical, external :: fault_is_now

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  right = mod(rank + 1, nranks)
  left = mod(rank + nranks - 1, nranks)
  x = rank
  got = 0
  do step = 0, 1000000000
    call fault_pause(rank, step)
    if (.not. fault_is_now(rank, step)) &
      call MPI_Send(x, 1 + mod(step, 4), MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, ierr)
    call MPI_Probe(left, 5, MPI_COMM_WORLD, status, ierr)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, length, ierr)
    call MPI_Recv(got, length, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, status, ierr)
    call MPI_Allreduce(got(1), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    x = sqrt(abs(total))
  end do
  call MPI_Finalize(ierr)
end program lists

include 'fault.fi'
