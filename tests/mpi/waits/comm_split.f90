! SPDX-License-Identifier: BSD-3-Clause
! Communicators made anew in each step. The faulty rank has no work and leaves MPI_Comm_split out.
! expect: kind=deadlock,mismatch lp=R
! says: MPI_Comm_split; MPI_Barrier
! ranks: 4:2 8:5
program parts
  use mpi_f08
  implicit none
  integer :: rank, step
  type(MPI_Comm) :: part
  logical, external :: fault_is_now

  call MPI_Init()
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  do step = 0, 1000000000
    call fault_pause(rank, step)
    if (.not. fault_is_now(rank, step)) then
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, part)
      call MPI_Comm_free(part)
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
end program parts

include 'fault.fi'
