! SPDX-License-Identifier: BSD-3-Clause
! Non-blocking exchange with "use mpi_f08": both neighbours of a ring and one MPI_Waitall.
! expect: lp=R kind=computation where=interior
! ranks: 4:1 8:6
program overlap
  use mpi_f08
  implicit none
  integer :: rank, nranks, faulty, step, left, right
  double precision :: x, next, halo(2)
  type(MPI_Request) :: requests(4)
  character(16) :: arg

  faulty = -1
  if (command_argument_count() >= 1) then
    call get_command_argument(1, arg)
    read (arg, *) faulty
  end if
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks)
  right = mod(rank + 1, nranks)
  left = mod(rank + nranks - 1, nranks)
  x = rank
  halo = 0
  do step = 1, 1000000000
    call MPI_Irecv(halo(1), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(halo(2), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(x, 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(x, 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4))
    next = x
    call interior(rank, faulty, step, next)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    x = (next + halo(1) + halo(2)) / 3
  end do
  call MPI_Finalize()
contains
  subroutine interior(rank, faulty, step, x)
    integer, intent(in) :: rank, faulty, step
    double precision, intent(inout) :: x
    logical, volatile :: spin

    if (rank == faulty .and. step == 20) then
      spin = .true.
      write (*, '(A,I0)') 'fault: rank ', rank
      flush (6)
      do while (spin)
      end do
    end if
    x = sqrt(abs(x)) + 0.5d0
  end subroutine interior
end program overlap
