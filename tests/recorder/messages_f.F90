! SPDX-License-Identifier: BSD-3-Clause
! Messages of one rank to itself, by each way to use MPI from Fortran: what it ignores of the
! statuses, indexes from 1, handles that are integers. What the ledger must say is in run.sh.
program messages
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  implicit none
#ifdef USE_MPIF
  include 'mpif.h'
#endif
#ifdef USE_F08
#define REQUEST_TYPE type(MPI_Request)
#define MESSAGE_TYPE type(MPI_Message)
#define STATUSES(name, n) type(MPI_Status) :: name(n)
#define HANDLE(request) request%MPI_VAL
#else
#define REQUEST_TYPE integer
#define MESSAGE_TYPE integer
#define STATUSES(name, n) integer :: name(MPI_STATUS_SIZE, n)
#define HANDLE(request) request
#endif
  REQUEST_TYPE :: requests(6)
  MESSAGE_TYPE :: message
  STATUSES(all_statuses, 6)
  integer :: ierr, i, out, index, outcount, left, indices(6), values(3)
  logical :: flag

  call MPI_Init(ierr)
  out = 1
  do i = 1, 2
    call MPI_Sendrecv(out, 1, MPI_INTEGER, 0, 1, values, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end do

  call start(2)
  call MPI_Waitall(6, requests, MPI_STATUSES_IGNORE, ierr)
  call start(3)
  do i = 1, 6
    call MPI_Waitany(6, requests, index, MPI_STATUS_IGNORE, ierr)
  end do
  call start(4)
  left = 6
  do while (left > 0)
    call MPI_Waitsome(6, requests, outcount, indices, MPI_STATUSES_IGNORE, ierr)
    left = left - outcount
  end do
  call start(5)
  left = 6
  do while (left > 0)
    call MPI_Testsome(6, requests, outcount, indices, all_statuses, ierr)
    left = left - outcount
  end do
  call start(6)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(6, requests, flag, MPI_STATUSES_IGNORE, ierr)
  end do
  call start(7)
  do i = 1, 6
    flag = .false.
    do while (.not. flag)
      call MPI_Testany(6, requests, index, flag, MPI_STATUS_IGNORE, ierr)
    end do
  end do

  call MPI_Recv_init(values, 1, MPI_INTEGER, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(out, 1, MPI_INTEGER, 0, 8, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 3
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  call MPI_Isend(out, 1, MPI_INTEGER, 0, 9, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierr)
  call MPI_Mrecv(values, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)

  ! Started in C, completed here.
  call receive_in_c(HANDLE(requests(1)))
  call MPI_Isend(out, 1, MPI_INTEGER, 0, 10, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)

  ! What is pending when the test looks: a Fortran handle's number and a null one.
  call MPI_Irecv(values, 1, MPI_INTEGER, 0, 11, MPI_COMM_WORLD, requests(1), ierr)
  requests(2) = MPI_REQUEST_NULL
  call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierr)
  call checkpoint_f()
  call MPI_Isend(out, 1, MPI_INTEGER, 0, 11, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  call MPI_Finalize(ierr)
contains
  ! Three receives, the second from anybody, and what they receive.
  subroutine start(tag)
    integer, intent(in) :: tag
    integer :: j, source

    do j = 1, 3
      source = 0
      if (j == 2) source = MPI_ANY_SOURCE
      call MPI_Irecv(values(j), 1, MPI_INTEGER, source, tag, MPI_COMM_WORLD, requests(j), ierr)
    end do
    do j = 4, 6
      call MPI_Isend(out, 1, MPI_INTEGER, 0, tag, MPI_COMM_WORLD, requests(j), ierr)
    end do
  end subroutine start
end program messages
