! SPDX-License-Identifier: BSD-3-Clause
! Two communicators of the same ranks: all sum over the first and then over the second, the faulty
! one the other way round.
! expect: kind=deadlock lp=R
! says: mass; energy; MPI_Allreduce
! ranks: 4:2 8:7
program sums
  use mpi
  implicit none
  integer :: rank, step, ierr, mass, energy
  double precision :: x(2), total(2)
  logical, external :: fault_is_now

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, mass, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, energy, ierr)
  call MPI_Comm_set_name(mass, 'mass', ierr)
  call MPI_Comm_set_name(energy, 'energy', ierr)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    if (fault_is_now(rank, step)) then
      call MPI_Allreduce(x(2), total(2), 1, MPI_DOUBLE_PRECISION, MPI_SUM, energy, ierr)
      call MPI_Allreduce(x(1), total(1), 1, MPI_DOUBLE_PRECISION, MPI_SUM, mass, ierr)
    else
      call MPI_Allreduce(x(1), total(1), 1, MPI_DOUBLE_PRECISION, MPI_SUM, mass, ierr)
      call MPI_Allreduce(x(2), total(2), 1, MPI_DOUBLE_PRECISION, MPI_SUM, energy, ierr)
    end if
    x = sqrt(abs(total))
  end do
  call MPI_Comm_free(mass, ierr)
  call MPI_Comm_free(energy, ierr)
  call MPI_Finalize(ierr)
end program sums

include 'fault.fi'
