C     SPDX-License-Identifier: BSD-3-Clause
C     Two ranks wait for each other: in each pair the even rank sends
C     and then receives, the odd one the other way round. The faulty
C     one receives first as well.
C     expect: kind=deadlock lp=R,R+1
C     says: MPI_Recv; tag 3
C     ranks: 4:2 8:4
      program pairs
      implicit none
      include 'mpif.h'
      integer rank, partner, step, ierr, status(MPI_STATUS_SIZE)
      double precision x, got, total
      logical fault_is_now
      external fault_is_now

      call MPI_INIT(ierr)
      call fault_arguments()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      partner = ieor(rank, 1)
      x = rank
      do 10 step = 0, 1000000000
        call fault_pause(rank, step)
        if (mod(rank, 2) .eq. 0 .and. .not. fault_is_now(rank, step))
     &  then
          call MPI_SEND(x, 1, MPI_DOUBLE_PRECISION, partner, 3,
     &                  MPI_COMM_WORLD, ierr)
          call MPI_RECV(got, 1, MPI_DOUBLE_PRECISION, partner, 3,
     &                  MPI_COMM_WORLD, status, ierr)
        else
          call MPI_RECV(got, 1, MPI_DOUBLE_PRECISION, partner, 3,
     &                  MPI_COMM_WORLD, status, ierr)
          call MPI_SEND(x, 1, MPI_DOUBLE_PRECISION, partner, 3,
     &                  MPI_COMM_WORLD, ierr)
        end if
        call MPI_ALLREDUCE(got, total, 1, MPI_DOUBLE_PRECISION,
     &                     MPI_SUM, MPI_COMM_WORLD, ierr)
        x = sqrt(abs(total))
   10 continue
      call MPI_FINALIZE(ierr)
      end

      include 'fault.fi'
