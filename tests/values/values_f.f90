! SPDX-License-Identifier: BSD-3-Clause
! Values of all kinds in Fortran, which are known for each rank.
module state
  implicit none
  real(8) :: tol = 1d-8
  integer :: grid(4, 3)
  real(16) :: quad = 1.5_16
  integer(16) :: huge_one = 2_16**100
  type :: cell
    integer :: id
    real(8) :: v(3)
    character(len=8) :: tag
  end type
  type(cell) :: cells(5)
end module

subroutine iterate(n, x, rank, size)
  use mpi
  use state
  implicit none
  integer, intent(in) :: n, rank, size
  real(8), intent(inout) :: x(10)
  logical :: done
  complex(8) :: z
  integer :: step, ierr, count
  common /shared/ count

  count = 12 + rank
  z = (1d0, -2d0)
  done = rank == 1
  step = 7
  if (rank == size - 1) then
    print '(a)', 'ready'
    flush (6)
    do
      call sleep(1000)
    end do
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  print *, z, done, x(1), step + n, count
end subroutine

program main
  use mpi
  use state
  implicit none
  integer :: rank, size, ierr, i
  real(8) :: x(10)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  x = 3d0
  x(2) = rank
  do i = 1, 5
    cells(i)%id = i * 10
    cells(i)%v = i
    cells(i)%tag = 'cell'
  end do
  grid = reshape([(i, i = 1, 12)], [4, 3])
  quad = quad + rank
  huge_one = huge_one + rank
  call iterate(10, x, rank, size)
  call MPI_Finalize(ierr)
end program
