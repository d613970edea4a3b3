! SPDX-License-Identifier: BSD-3-Clause
! Rank-dependent exchanges with "use mpi_f08": a chain of ranks whose ends have one neighbour, and
! each neighbour has its own call sites.
! expect: lp=R kind=computation where=stencil
! ranks: 4:0 8:3
program chain
  use mpi_f08
  implicit none
  integer :: rank, nranks, faulty, step
  double precision :: x, west, east
  character(16) :: arg

  faulty = -1
  if (command_argument_count() >= 1) then
    call get_command_argument(1, arg)
    read (arg, *) faulty
  end if
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  x = rank
  do step = 1, 1000000000
    west = 0
    east = 0
    if (rank > 0) call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, rank - 1, 1, MPI_COMM_WORLD)
    if (rank < nranks - 1) call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, rank + 1, 1, MPI_COMM_WORLD)
    if (rank > 0) call MPI_Recv(west, 1, MPI_DOUBLE_PRECISION, rank - 1, 1, MPI_COMM_WORLD, &
                                MPI_STATUS_IGNORE)
    if (rank < nranks - 1) call MPI_Recv(east, 1, MPI_DOUBLE_PRECISION, rank + 1, 1, &
                                         MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    x = x + west + east
    call stencil(rank, faulty, step, x)
  end do
  call MPI_Finalize()
contains
  subroutine stencil(rank, faulty, step, x)
    integer, intent(in) :: rank, faulty, step
    double precision, intent(inout) :: x
    logical, volatile :: spin

    if (rank == faulty .and. step == 15) then
      spin = .true.
      write (*, '(A,I0)') 'fault: rank ', rank
      flush (6)
      do while (spin)
      end do
    end if
    x = sqrt(abs(x)) + 0.5d0
  end subroutine stencil
end program chain
