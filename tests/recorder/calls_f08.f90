! SPDX-License-Identifier: BSD-3-Clause
program calls_f08
  use mpi_f08
  implicit none
  type(MPI_Request) :: request
  type(MPI_File) :: file
  include 'calls_body.inc'
  call checkpoint_f
  call MPI_Finalize() ! ierror left out
  print '(A)', 'done'
end program
