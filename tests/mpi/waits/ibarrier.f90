! SPDX-License-Identifier: BSD-3-Clause
! A non-blocking collective that one rank leaves out: the others wait for their MPI_Ibarrier, and the
! faulty rank for what its left neighbour would send it after that.
! expect: kind=deadlock lp=R
! says: MPI_Ibarrier; MPI_Wait
! ranks: 4:1 8:6
program phases
  use mpi_f08
  implicit none
  integer :: rank, nranks, step, left, right
  double precision :: x, got
  type(MPI_Request) :: request
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
    if (.not. fault_is_now(rank, step)) then
      call MPI_Ibarrier(MPI_COMM_WORLD, request)
      x = sqrt(abs(x)) + 0.5d0
      call MPI_Wait(request, MPI_STATUS_IGNORE)
    end if
    call MPI_Sendrecv(x, 1, MPI_DOUBLE_PRECISION, right, 1, got, 1, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    x = got
  end do
  call MPI_Finalize()
end program phases

include 'fault.fi'
