! SPDX-License-Identifier: BSD-3-Clause
      program calls_mpif
      implicit none
      include 'mpif.h'
      integer ierr, i, rank, inv, outv, request, file
      integer status(MPI_STATUS_SIZE)
      logical flag
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      inv = 1
      do i = 1, 5
        call MPI_SENDRECV(inv, 1, MPI_INTEGER, rank, 0, outv, 1,
     &    MPI_INTEGER, rank, 0, MPI_COMM_WORLD, status, ierr)
        call MPI_ALLREDUCE(inv, outv, 1, MPI_INTEGER, MPI_SUM,
     &    MPI_COMM_WORLD, ierr)
      end do
      do i = 1, 7
        call MPI_IPROBE(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, flag,
     &    status, ierr)
      end do
      call MPI_ISEND(inv, 1, MPI_INTEGER, MPI_PROC_NULL, 0,
     &  MPI_COMM_WORLD, request, ierr)
      call MPI_TEST(request, flag, status, ierr)
      if (.not. flag) stop 1
      call MPI_FILE_OPEN(MPI_COMM_SELF, '/dev/null  ',
     &  MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
      if (ierr .ne. MPI_SUCCESS) stop 2
      call MPI_FILE_CLOSE(file, ierr)
      call checkpoint_f
      call MPI_FINALIZE(ierr)
      print '(A)', 'done'
      end
