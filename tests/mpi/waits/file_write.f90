! SPDX-License-Identifier: BSD-3-Clause
! A collective write to a file that one rank leaves out: the others wait for it in the write, it for
! them in the barrier.
! expect: kind=deadlock,mismatch lp=R
! says: MPI_File_write_at_all
! ranks: 4:2 8:5
program output
  use mpi
  implicit none
  integer, parameter :: cells = 64
  integer :: rank, nranks, step, pid, ierr, file, status(MPI_STATUS_SIZE)
  integer(MPI_OFFSET_KIND) :: offset
  double precision :: x(cells)
  character(512) :: name
  logical, external :: fault_is_now

  call MPI_Init(ierr)
  call fault_arguments()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  pid = getpid()
  call MPI_Bcast(pid, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  ! Beside the program, which is where all hosts see it.
  call get_command_argument(0, name)
  write (name(len_trim(name) + 1:), '(A,I0)') '.output.', pid
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, ierr)
  ! Nothing is to be left of it, however the program ends.
  if (rank == 0) call unlink(name)
  x = rank
  do step = 0, 1000000000
    call fault_pause(rank, step)
    offset = 8 * cells * rank
    if (.not. fault_is_now(rank, step)) &
      call MPI_File_write_at_all(file, offset, x, cells, MPI_DOUBLE_PRECISION, status, ierr)
    x = sqrt(abs(x)) + 0.5d0
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_File_close(file, ierr)
  call MPI_Finalize(ierr)
end program output

include 'fault.fi'
