! SPDX-License-Identifier: BSD-3-Clause
! Asking for ever about a message that is never sent: each rank receives from its left neighbour and
! calls MPI_Request_get_status until it has come. The faulty rank does not send.
! expect: kind=likely lp=R+1
! says: polling
! ranks: 4:2 8:5
program asking
  use mpi
  implicit none
  integer :: rank, num, step, request, ierr
  integer :: status(MPI_STATUS_SIZE)
  double precision :: x, got, total
  logical :: is_there
  logical, external :: fault_is_now

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, num, ierr)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    call MPI_Irecv(got, 1, MPI_DOUBLE_PRECISION, mod(rank + num - 1, num), 5, MPI_COMM_WORLD, request, ierr)
    if (.not. fault_is_now(rank, step)) then
      call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, num), 5, MPI_COMM_WORLD, ierr)
    end if
    is_there = .false.
    do while (.not. is_there)
      call MPI_Request_get_status(request, is_there, status, ierr)
    end do
    call MPI_Wait(request, status, ierr)
    call MPI_Allreduce(got, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    x = sqrt(abs(total))
  end do
  call MPI_Finalize(ierr)
end program asking

include 'fault.fi'
