! SPDX-License-Identifier: BSD-3-Clause
! What is special about calls from Fortran: texts with their hidden lengths, sentinels that MPI knows
! by their address, statuses, arrays. By -DUSE_MPIF, -DUSE_MPI or -DUSE_F08. Parts and traces like
! coverage.c.
#ifdef USE_F08
#define HANDLE(kind) type(kind)
#define STATUS(name) type(MPI_Status) :: name
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define SOURCE_OF(name) name%MPI_SOURCE
#else
#define HANDLE(kind) integer
#define STATUS(name) integer :: name(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(name) name(MPI_SOURCE)
#endif

program coverage_f
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
  integer :: ierr, rank, other, i, index, which(2), weights(1)
  integer, asynchronous :: in(8), out(8)
  logical :: flag
  character(len=256) :: dir, path
  character(len=8) :: part
  character(len=MPI_MAX_PORT_NAME) :: port
  HANDLE(MPI_Comm) :: comm, peer
  HANDLE(MPI_Request) :: requests(2)
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Win) :: win
  STATUS(status)
  STATUSES(several, 2)
  integer(kind=MPI_ADDRESS_KIND) :: size, place
  integer(kind=MPI_OFFSET_KIND) :: offset

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, i)
  other = 1 - rank
  call get_environment_variable('CHECK_DIR', dir)
  write (path, '(A,A,I1)') trim(dir), '/trace.', rank
  open (unit=10, file=path)
  call did('MPI_Init')
  do i = 1, 8
    in(i) = -1
    out(i) = 100 * (rank + 1) + i
  end do
  call get_command_argument(1, part)
  select case (part)
  case ('calls')
    call point_to_point
    call collectives
    call topologies
    call one_sided
    call files
    call errors
  case ('names')
    call names
  case ('spawn')
    call spawn
  case default
    stop 2
  end select
  close (10)
  call checkpoint_f
  call MPI_Finalize(ierr)

contains

  subroutine did(name)
    character(len=*), intent(in) :: name
    integer :: class, ignored
    call MPI_Error_class(ierr, class, ignored)
    write (10, '(A,1X,I0)') name, class
  end subroutine

  subroutine show(what)
    character(len=*), intent(in) :: what
    write (10, '(A,A,8(1X,I0))') '= ', what, in
  end subroutine

  subroutine point_to_point
    integer :: n
    call MPI_Irecv(in, 1, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(1), ierr)
    call did('MPI_Irecv')
    call MPI_Isend(out, 1, MPI_INTEGER, other, 1, MPI_COMM_WORLD, requests(2), ierr)
    call did('MPI_Isend')
    call MPI_Waitall(2, requests, several, ierr)
    call did('MPI_Waitall')
#ifdef USE_F08
    in(2) = several(1)%MPI_SOURCE
#else
    in(2) = several(MPI_SOURCE, 1)
#endif
    call MPI_Recv_init(in(3), 1, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(1), ierr)
    call did('MPI_Recv_init')
    call MPI_Send_init(out(3), 1, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(2), ierr)
    call did('MPI_Send_init')
    call MPI_Startall(2, requests, ierr)
    call did('MPI_Startall')
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call did('MPI_Waitall')
    call MPI_Start(requests(1), ierr)
    call did('MPI_Start')
    call MPI_Start(requests(2), ierr)
    call did('MPI_Start')
    call MPI_Waitany(1, requests(1:1), index, MPI_STATUS_IGNORE, ierr)
    call did('MPI_Waitany')
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(1, requests(2:2), index, flag, status, ierr)
    end do
    call did('MPI_Testany')
    call MPI_Startall(2, requests, ierr)
    call did('MPI_Startall')
    call MPI_Waitsome(1, requests(1:1), n, which, MPI_STATUSES_IGNORE, ierr)
    call did('MPI_Waitsome')
    n = 0
    do while (n == 0)
      call MPI_Testsome(1, requests(2:2), n, which, several, ierr)
    end do
    call did('MPI_Testsome')
    in(4) = which(1)
    do i = 1, 2
      call MPI_Request_free(requests(i), ierr)
      call did('MPI_Request_free')
    end do
    call MPI_Sendrecv(out, 1, MPI_INTEGER, other, 3, in(5), 1, MPI_INTEGER, other, 3, &
                      MPI_COMM_WORLD, status, ierr)
    call did('MPI_Sendrecv')
    call MPI_Get_count(status, MPI_INTEGER, in(6), ierr)
    in(7) = SOURCE_OF(status)
    call show('point to point')
  end subroutine

  subroutine collectives
    HANDLE(MPI_Datatype) :: absolute
    call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call did('MPI_Allreduce')
    in(3 + rank) = out(1)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in(3), 1, MPI_INTEGER, &
                       MPI_COMM_WORLD, ierr)
    call did('MPI_Allgather')
    call MPI_Ibcast(in(5), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1), ierr)
    call did('MPI_Ibcast')
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
    call did('MPI_Wait')
    call MPI_Get_address(in(6), place, ierr)
    call MPI_Type_create_hindexed(1, (/1/), (/place/), MPI_INTEGER, absolute, ierr)
    call MPI_Type_commit(absolute, ierr)
    call MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD, ierr)
    call did('MPI_Bcast')
    call show('collectives')
  end subroutine

  subroutine topologies
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, (/other/), MPI_UNWEIGHTED, 1, &
                                        (/other/), MPI_UNWEIGHTED, MPI_INFO_NULL, .false., &
                                        comm, ierr)
    call did('MPI_Dist_graph_create_adjacent')
    call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, comm, ierr)
    call did('MPI_Neighbor_alltoall')
    call MPI_Comm_free(comm, ierr)
    call did('MPI_Comm_free')
    weights = 0
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, weights, MPI_WEIGHTS_EMPTY, 0, &
                                        weights, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., &
                                        comm, ierr)
    call did('MPI_Dist_graph_create_adjacent')
    call MPI_Comm_free(comm, ierr)
    call did('MPI_Comm_free')
    call MPI_Cart_create(MPI_COMM_WORLD, 1, (/2/), (/.true./), .false., comm, ierr)
    call did('MPI_Cart_create')
    call MPI_Comm_free(comm, ierr)
    call did('MPI_Comm_free')
    call show('topologies')
  end subroutine

  subroutine one_sided
    size = 4 * 8
    call MPI_Win_create(in, size, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call did('MPI_Win_create')
    call MPI_Win_fence(0, win, ierr)
    call did('MPI_Win_fence')
    place = 1
    call MPI_Put(out, 1, MPI_INTEGER, other, place, 1, MPI_INTEGER, win, ierr)
    call did('MPI_Put')
    call MPI_Win_fence(0, win, ierr)
    call did('MPI_Win_fence')
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win, ierr)
    call did('MPI_Win_lock')
    call MPI_Accumulate(out, 1, MPI_INTEGER, other, place, 1, MPI_INTEGER, MPI_SUM, win, ierr)
    call did('MPI_Accumulate')
    call MPI_Win_flush(other, win, ierr)
    call did('MPI_Win_flush')
    call MPI_Win_unlock(other, win, ierr)
    call did('MPI_Win_unlock')
    call MPI_Win_free(win, ierr)
    call did('MPI_Win_free')
    call show('one-sided')
  end subroutine

  ! Names with blanks at their end, which MPI strips by the length.
  subroutine files
    write (path, '(A,A)') trim(dir), '/data  '
    call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, &
                       file, ierr)
    call did('MPI_File_open')
    offset = 0
    call MPI_File_set_view(file, offset, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    call did('MPI_File_set_view')
    offset = 2 * rank
    call MPI_File_write_at_all(file, offset, out, 2, MPI_INTEGER, status, ierr)
    call did('MPI_File_write_at_all')
    call MPI_File_read_at(file, offset, in, 2, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call did('MPI_File_read_at')
    call MPI_File_read_at_all_begin(file, offset, in(3), 2, MPI_INTEGER, ierr)
    call did('MPI_File_read_at_all_begin')
    call MPI_File_read_at_all_end(file, in(3), status, ierr)
    call did('MPI_File_read_at_all_end')
    call MPI_File_iread_at(file, offset, in(5), 2, MPI_INTEGER, requests(1), ierr)
    call did('MPI_File_iread_at')
    call MPI_Wait(requests(1), status, ierr)
    call did('MPI_Wait')
    call MPI_File_close(file, ierr)
    call did('MPI_File_close')
    if (rank == 0) then
      call MPI_File_delete(path, MPI_INFO_NULL, ierr)
      call did('MPI_File_delete')
    end if
    call show('files')
  end subroutine

  subroutine return_errors
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
  end subroutine

  subroutine names
    logical :: opened
    call return_errors
    if (rank /= 0) return
    port = ''
    call MPI_Open_port(MPI_INFO_NULL, port, ierr)
    call did('MPI_Open_port')
    opened = ierr == MPI_SUCCESS
    write (10, '(A,L1)') '= port ', opened .and. len_trim(port) > 0
    if (.not. opened) port = 'no port'
    call MPI_Publish_name('pdb-coverage ', MPI_INFO_NULL, port, ierr)
    call did('MPI_Publish_name')
    call MPI_Unpublish_name('pdb-coverage ', MPI_INFO_NULL, port, ierr)
    call did('MPI_Unpublish_name')
    if (opened) then
      call MPI_Close_port(port, ierr)
      call did('MPI_Close_port')
    end if
  end subroutine

  subroutine spawn
    call return_errors
    if (rank /= 0) return
    call get_environment_variable('COVERAGE_CHILD', path)
    call MPI_Comm_spawn(path, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, peer, &
                        MPI_ERRCODES_IGNORE, ierr)
    call did('MPI_Comm_spawn')
    if (ierr == MPI_SUCCESS) then
      in(1) = 100
      call MPI_Bcast(in, 1, MPI_INTEGER, MPI_ROOT, peer, ierr)
      call did('MPI_Bcast')
      call MPI_Comm_disconnect(peer, ierr)
      call did('MPI_Comm_disconnect')
    end if
  end subroutine

  subroutine errors
    call return_errors
    call MPI_Send(out, 1, MPI_INTEGER, 12345, 0, MPI_COMM_WORLD, ierr)
    call did('MPI_Send')
    call MPI_Bcast(in, 1, MPI_INTEGER, 77, MPI_COMM_WORLD, ierr)
    call did('MPI_Bcast')
    ! No MPI_File_open that fails: MPICH converts the handle that it has not got, and so crashes.
#ifdef USE_F08
    call MPI_Barrier(MPI_COMM_WORLD) ! without the optional ierror
    ierr = 0
    call did('MPI_Barrier')
#endif
  end subroutine
end program
