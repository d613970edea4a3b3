! SPDX-License-Identifier: BSD-3-Clause
! Polling of both sides: in each pair the even rank sends and then polls for the answer, the odd one
! polls first. The faulty one polls first, too. Both call MPI_Iprobe for ever, but nothing says that
! they could not stop doing so.
! expect: kind=likely
! ranks: 4:2 8:4
program pairs
  use mpi
  implicit none
  integer :: rank, partner, step, ierr
  double precision :: x, got, total
  logical, external :: fault_is_now

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  partner = ieor(rank, 1)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    if (mod(rank, 2) == 0 .and. .not. fault_is_now(rank, step)) then
      call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, partner, 3, MPI_COMM_WORLD, ierr)
      call receive(got)
    else
      call receive(got)
      call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, partner, 3, MPI_COMM_WORLD, ierr)
    end if
    call MPI_Allreduce(got, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    x = sqrt(abs(total))
  end do
  call MPI_Finalize(ierr)
contains
  subroutine receive(got)
    double precision, intent(out) :: got
    integer :: status(MPI_STATUS_SIZE)
    logical :: is_there

    is_there = .false.
    do while (.not. is_there)
      call MPI_Iprobe(partner, 3, MPI_COMM_WORLD, is_there, status, ierr)
    end do
    call MPI_Recv(got, 1, MPI_DOUBLE_PRECISION, partner, 3, MPI_COMM_WORLD, status, ierr)
  end subroutine receive
end program pairs

include 'fault.fi'
