! SPDX-License-Identifier: BSD-3-Clause
! A pipeline (wavefront) with "use mpi": planes go through all ranks forwards and backwards with
! blocking sends; the rank behind the faulty one waits for a plane that the faulty one has got.
! expect: lp=R kind=computation where=solve_plane
! ranks: 4:2 8:5
module solver
  use mpi
  implicit none
  integer, parameter :: planes = 6, cells = 16
contains
  subroutine solve_plane(rank, faulty, step, plane, x)
    integer, intent(in) :: rank, faulty, step, plane
    double precision, intent(inout) :: x(cells)
    logical, volatile :: spin

    if (rank == faulty .and. step == 5 .and. plane == 4) then
      spin = .true.
      write (*, '(A,I0)') 'fault: rank ', rank
      flush (6)
      do while (spin)
      end do
    end if
    x = sqrt(abs(x)) + 0.5d0
  end subroutine solve_plane

  subroutine sweep(rank, from, to, faulty, step, x)
    integer, intent(in) :: rank, from, to, faulty, step
    double precision, intent(inout) :: x(cells)
    integer :: plane, ierr, status(MPI_STATUS_SIZE)

    do plane = 1, planes
      call MPI_Recv(x, cells, MPI_DOUBLE_PRECISION, from, plane, MPI_COMM_WORLD, status, ierr)
      call solve_plane(rank, faulty, step, plane, x)
      call MPI_Send(x, cells, MPI_DOUBLE_PRECISION, to, plane, MPI_COMM_WORLD, ierr)
    end do
  end subroutine sweep
end module solver

program wavefront
  use mpi
  use solver
  implicit none
  integer :: rank, nranks, faulty, step, ierr, next, previous
  double precision :: x(cells), norm
  character(16) :: arg

  faulty = -1
  if (command_argument_count() >= 1) then
    call get_command_argument(1, arg)
    read (arg, *) faulty
  end if
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  previous = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  next = merge(rank + 1, MPI_PROC_NULL, rank < nranks - 1)
  x = rank
  do step = 1, 1000000000
    call sweep(rank, previous, next, faulty, step, x)
    call sweep(rank, next, previous, faulty, -1, x)
    if (mod(step, 4) == 0) &
      call MPI_Allreduce(x(1), norm, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
end program wavefront
