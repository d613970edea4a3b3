! SPDX-License-Identifier: BSD-3-Clause
! Arrays whose bounds are known only when the program runs.
module shapes
  implicit none
  real(8), allocatable :: field(:, :)
  integer, allocatable :: never(:)
  type :: mesh
    integer :: id
    real(8), allocatable :: x(:)
    integer, pointer :: links(:, :) => null()
    character(len=:), allocatable :: title
  end type
  type(mesh) :: meshes(2)
end module

subroutine iterate(n, m, given, shaped, rest, name, rank, size)
  use mpi
  use shapes
  implicit none
  integer, intent(in) :: n, m, rank, size
  real(8), intent(inout) :: given(n, 0:m)
  real(8), intent(inout) :: rest(*)
  real(8), intent(inout) :: shaped(:, 5:)
  character(len=*), intent(in) :: name
  integer, pointer :: nobody(:)
  integer :: ierr, automatic(n)
  real(8), allocatable :: local(:)

  nullify (nobody)
  allocate (local(-2:n))
  local = 1.5d0 * rank
  local(0) = -7
  automatic = [(ierr, ierr = 1, n)]
  if (rank == size - 1) then
    print '(a)', 'ready'
    flush (6)
    do
      call sleep(1000)
    end do
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  print *, given(1, m), shaped(1, 5), rest(2), name, associated(nobody), local(0), automatic(n)
end subroutine

program main
  use mpi
  use shapes
  implicit none
  interface
    subroutine iterate(n, m, given, shaped, rest, name, rank, size)
      integer, intent(in) :: n, m, rank, size
      real(8), intent(inout) :: given(n, 0:m)
      real(8), intent(inout) :: rest(*)
      real(8), intent(inout) :: shaped(:, 5:)
      character(len=*), intent(in) :: name
    end subroutine
  end interface
  integer :: rank, size, ierr, i, k
  real(8), allocatable :: given(:, :), big(:, :)
  integer, target :: links(2, 3)

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  allocate (field(3, 2 + rank), given(4, 0:2), big(10, 6))
  do k = 1, 6
    do i = 1, 10
      big(i, k) = i + 100 * k
    end do
  end do
  field = rank
  field(3, 2) = 7
  do k = 0, 2
    do i = 1, 4
      given(i, k) = i + 10 * k
    end do
  end do
  links = reshape([(i, i = 1, 6)], [2, 3])
  meshes(1)%id = 1
  meshes(2)%id = 2
  allocate (meshes(2)%x(3))
  meshes(2)%x = [1d0, 2d0, 3d0]
  meshes(2)%links => links
  meshes(2)%title = 'a title'
  call iterate(4, 2, given, big(2:10:3, 1:6:2), big, 'some name', rank, size)
  call MPI_Finalize(ierr)
end program
