! SPDX-License-Identifier: BSD-3-Clause
! A matched probe for a message that is never sent.
! expect: kind=lost lp=R
! says: rank {R+1}; tag 5; MPI_Mprobe
! ranks: 4:2 8:5
program lists
  use mpi_f08
  implicit none
  integer :: rank, nranks, step, left, right, length
  double precision :: x(3), got(3), total
  type(MPI_Status) :: status
  type(MPI_Message) :: message
  logical, external :: fault_is_now

  call MPI_Init()
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  left = modulo(rank - 1, nranks)
  right = modulo(rank + 1, nranks)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    if (.not. fault_is_now(rank, step)) &
      call MPI_Send(x, 1 + mod(step, 3), MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD)
    call MPI_Mprobe(left, 5, MPI_COMM_WORLD, message, status)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, length)
    call MPI_Mrecv(got, length, MPI_DOUBLE_PRECISION, message, status)
    call MPI_Allreduce(got(1), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    x = total * 1d-3
  end do
  call MPI_Finalize()
end program lists

include 'fault.fi'
