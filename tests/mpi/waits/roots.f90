! SPDX-License-Identifier: BSD-3-Clause
! Different roots: all reduce to rank 0, but the faulty rank believes that it is the root itself.
! expect: kind=mismatch lp=R
! says: MPI_Reduce; root 0; root {R}
! ranks: 4:3 8:5
program norms
  use mpi_f08
  implicit none
  integer :: rank, step, root
  double precision :: x, norm
  logical, external :: fault_is_now

  call MPI_Init()
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  x = rank
  norm = 0
  do step = 0, 1000000000
    call fault_pause(rank, step)
    root = merge(rank, 0, fault_is_now(rank, step))
    call MPI_Reduce(x, norm, 1, MPI_DOUBLE_PRECISION, MPI_MAX, root, MPI_COMM_WORLD)
    x = sqrt(abs(x)) + norm * 1d-9
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
end program norms

include 'fault.fi'
