! SPDX-License-Identifier: BSD-3-Clause
! Two halves coupled by an intercommunicator: each rank of the lower half sends to its partner in the
! upper one and then receives, the partner the other way round. The faulty one receives first; its
! partner is rank 0, 1, ... of the remote group, not of MPI_COMM_WORLD.
! expect: kind=deadlock lp=R,R+N/2
! says: MPI_Recv; tag 11
! ranks: 4:1 8:2
program coupled
  use mpi_f08
  implicit none
  integer :: rank, nranks, half, step, me
  double precision :: x, total
  logical :: is_first
  type(MPI_Comm) :: own, both
  logical, external :: fault_is_now

  call MPI_Init()
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  half = nranks / 2
  call MPI_Comm_split(MPI_COMM_WORLD, rank / half, rank, own)
  call MPI_Comm_rank(own, me)
  call MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, merge(half, 0, rank < half), 1, both)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    is_first = rank < half
    if (fault_is_now(rank, step)) is_first = .false.
    if (is_first) call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, me, 11, both)
    call MPI_Recv(x, 1, MPI_DOUBLE_PRECISION, me, 11, both, MPI_STATUS_IGNORE)
    if (.not. is_first) call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, me, 11, both)
    call MPI_Allreduce(x, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, own)
    x = sqrt(abs(total))
  end do
  call MPI_Comm_free(both)
  call MPI_Comm_free(own)
  call MPI_Finalize()
end program coupled

include 'fault.fi'
