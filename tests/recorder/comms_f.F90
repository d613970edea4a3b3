! SPDX-License-Identifier: BSD-3-Clause
! Communicators, a window and a file from Fortran, by -DUSE_MPIF, -DUSE_MPI or -DUSE_F08: handles of
! another kind, and MPI_IN_PLACE that is a variable. Writes what is true as comms.c does. For 4 ranks.
#ifdef USE_F08
#define HANDLE(kind) type(kind)
#else
#define HANDLE(kind) integer
#endif

program comms_f
#ifdef USE_F08
  use mpi_f08
#endif
#ifdef USE_MPI
  use mpi
#endif
  implicit none
#ifdef USE_MPIF
  include 'mpif.h'
#endif
  integer :: ierr, rank, nprocs, i, dims(2)
  integer :: in(8), out(8)
  logical :: periods(2)
  character(len=256) :: dir, path
  character(len=16) :: name
  HANDLE(MPI_Comm) :: dup, half, comm, inter
  HANDLE(MPI_Group) :: world_group, group
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Request) :: request
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  integer(kind=MPI_OFFSET_KIND) :: offset

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  call get_environment_variable('CHECK_DIR', dir)
  write (path, '(A,A,I1)') trim(dir), '/truth.', rank
  open (unit=10, file=path)
  in = rank
  out = 0

  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierr)
  call note(dup, 'dup')
  call MPI_Comm_idup(dup, comm, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call note(comm, 'idup')
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, ierr)
  write (name, '(A,I1)') 'half-', mod(rank, 2)
  call note(half, name)
  call MPI_Comm_split(dup, merge(MPI_UNDEFINED, 1, rank == 0), 0, comm, ierr)
  if (rank /= 0) call note(comm, 'without-0')

  call MPI_Comm_group(MPI_COMM_WORLD, world_group, ierr)
  call MPI_Group_incl(world_group, 2, (/1, 0/), group, ierr)
  if (rank < 2) then
    call MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, comm, ierr)
    call note(comm, 'pair')
  end if
  call MPI_Comm_create(dup, group, comm, ierr)
  if (rank < 2) call note(comm, 'create')

  dims = (/2, 2/)
  periods = .false.
  call MPI_Cart_create(dup, 2, dims, periods, .false., comm, ierr)
  call note(comm, 'grid')
  call MPI_Intercomm_create(half, 1, MPI_COMM_WORLD, 1 - mod(rank, 2), 9, inter, ierr)
  call MPI_Comm_set_name(inter, 'inter', ierr)
  if (mod(rank, 2) == 0) then
    write (10, '(A,I0,A)') 'comm inter inter ', 1 - rank / 2, ' 2,0 3,1 1'
  else
    write (10, '(A,I0,A)') 'comm inter inter ', 1 - rank / 2, ' 3,1 2,0 1'
  end if
  call MPI_Intercomm_merge(inter, .false., comm, ierr)
  call note(comm, 'merged')

  bytes = 16
  call MPI_Win_create(in, bytes, 4, MPI_INFO_NULL, half, win, ierr)
  write (name, '(A,I1)') 'win-', mod(rank, 2)
  call MPI_Win_set_name(win, name, ierr)
  call tell(half, name, 'window')
  call MPI_Win_fence(0, win, ierr)
  call did(name, 1, 'MPI_Win_fence', -4, -1)
  path = trim(dir) // '/file'
  call MPI_File_open(dup, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
  write (10, '(A,I0,A)') 'file dup ', rank, ' 0,1,2,3'
  offset = 64
  call MPI_File_set_size(file, offset, ierr)
  call did('file-of-dup', 1, 'MPI_File_set_size', -4, -1)

  call MPI_Comm_dup(dup, comm, ierr)
  call note(comm, 'even')
  call MPI_Barrier(comm, ierr)
  call did('even', 2, 'MPI_Barrier', -4, 0)
  call MPI_Bcast(in, 2, MPI_INTEGER, 1, comm, ierr)
  call did('even', 3, 'MPI_Bcast', 1, 8)
  if (rank == 2) then
    call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INTEGER, 2, comm, ierr)
  else
    call MPI_Gather(in, 1, MPI_INTEGER, out, 0, MPI_DATATYPE_NULL, 2, comm, ierr)
  end if
  call did('even', 4, 'MPI_Gather', 2, 4)
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INTEGER, comm, ierr)
  call did('even', 5, 'MPI_Alltoall', -4, 4)
  call MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INTEGER, MPI_SUM, comm, ierr)
  call did('even', 6, 'MPI_Allreduce', -4, 12)
  call MPI_Ibcast(in, 1, MPI_DOUBLE_PRECISION, 0, comm, request, ierr)
  call did('even', 7, 'MPI_Ibcast', 0, 8)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)

  do i = 1, 10
    call MPI_Comm_split(dup, mod(rank / (1 + mod(i, 2)), 2), 0, comm, ierr)
    call MPI_Comm_free(comm, ierr)
  end do
  call MPI_Comm_split(dup, rank / 2, 0, comm, ierr)
  write (name, '(A,I1)') 'last-', rank / 2
  call note(comm, name)
  close (10)
  call checkpoint_f
  call MPI_Win_free(win, ierr)
  call MPI_File_close(file, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine note(which, called)
    HANDLE(MPI_Comm), intent(in) :: which
    character(len=*), intent(in) :: called
    call MPI_Comm_set_name(which, called, ierr)
    call tell(which, called, 'intra')
  end subroutine

  subroutine tell(which, called, kind)
    HANDLE(MPI_Comm), intent(in) :: which
    character(len=*), intent(in) :: called, kind
    integer :: own, num, members(8)
    character(len=64) :: list
    call MPI_Comm_rank(which, own, ierr)
    call MPI_Comm_size(which, num, ierr)
    call MPI_Allgather(rank, 1, MPI_INTEGER, members, 1, MPI_INTEGER, which, ierr)
    write (list, '(*(I0,:,","))') members(1:num)
    write (10, '(5A,I0,3A)') 'comm ', trim(called), ' ', kind, ' ', own, ' ', trim(list), ' - 1'
  end subroutine

  subroutine did(called, number, function, root, given)
    character(len=*), intent(in) :: called, function
    integer, intent(in) :: number, root, given
    write (10, '(3A,I0,3A,I0,A,I0)') 'collective ', trim(called), ' ', number, ' ', function, ' ', &
      root, ' ', given
  end subroutine
end program
