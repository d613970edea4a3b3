! SPDX-License-Identifier: BSD-3-Clause
! Different roots: the faulty rank takes rank 0 for the one that deals out, all others rank 1.
! expect: kind=mismatch lp=R
! says: MPI_Scatter; root 0; root 1
! ranks: 5:2 8:5
program dealt
  use mpi_f08
  implicit none
  integer :: rank, nranks, step, root, mine(4)
  integer, allocatable :: all(:)
  logical, external :: fault_is_now

  call MPI_Init()
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  allocate (all(4 * nranks))
  all = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    root = merge(0, 1, fault_is_now(rank, step))
    call MPI_Scatter(all, 4, MPI_INTEGER, mine, 4, MPI_INTEGER, root, MPI_COMM_WORLD)
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
end program dealt

include 'fault.fi'
