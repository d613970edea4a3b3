! SPDX-License-Identifier: BSD-3-Clause
! One rank finds its input wrong, deep inside a step, and gives up by MPI_Finalize; the others wait for
! it in the sum of this step.
! expect: kind=mismatch,left lp=R where=give_up
! says: MPI_Finalize; MPI_Allreduce
! ranks: 4:2 8:5
module input
  use mpi
  implicit none
contains
  subroutine give_up()
    integer :: ierr
    call MPI_Finalize(ierr)
    stop 1
  end subroutine

  subroutine load(rank, step)
    integer, intent(in) :: rank, step
    logical, external :: fault_is_now
    if (fault_is_now(rank, step)) call give_up()
  end subroutine
end module

program restarted
  use input
  implicit none
  integer :: rank, step, ierr
  double precision :: x, total

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    call load(rank, step)
    call MPI_Allreduce(x, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    x = total * 1d-3
  end do
  call MPI_Finalize(ierr)
end program restarted

include 'fault.fi'
