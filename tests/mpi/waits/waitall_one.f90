! SPDX-License-Identifier: BSD-3-Clause
! One unmatched request of many: everybody sends to everybody, and one of the faulty rank's messages,
! that to its right neighbour, is left out. All other requests of that neighbour complete.
! expect: kind=lost lp=R
! says: rank {R+1}; tag 9; MPI_Waitall
! ranks: 4:1 8:6
program transpose
  use mpi_f08
  implicit none
  integer :: rank, nranks, step, other, n
  double precision :: total
  double precision, allocatable :: x(:), got(:)
  type(MPI_Request), allocatable :: requests(:)
  logical :: is_wrong
  logical, external :: fault_is_now

  call MPI_Init()
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  allocate (x(nranks), got(nranks), requests(2 * nranks))
  x = rank
  got = 0
  do step = 0, 1000000000
    call fault_pause(rank, step)
    is_wrong = fault_is_now(rank, step)
    n = 0
    do other = 0, nranks - 1
      n = n + 1
      call MPI_Irecv(got(other + 1), 1, MPI_DOUBLE_PRECISION, other, 9, MPI_COMM_WORLD, requests(n))
    end do
    do other = 0, nranks - 1
      if (is_wrong .and. other == mod(rank + 1, nranks)) cycle
      n = n + 1
      call MPI_Isend(x(other + 1), 1, MPI_DOUBLE_PRECISION, other, 9, MPI_COMM_WORLD, requests(n))
    end do
    call MPI_Waitall(n, requests, MPI_STATUSES_IGNORE)
    call MPI_Allreduce(sum(got), total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    x = sqrt(abs(total))
  end do
  call MPI_Finalize()
end program transpose

include 'fault.fi'
