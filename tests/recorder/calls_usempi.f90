! SPDX-License-Identifier: BSD-3-Clause
program calls_usempi
  use mpi
  implicit none
  integer :: request, file
  include 'calls_body.inc'
  call checkpoint_f
  call MPI_Finalize(ierr)
  print '(A)', 'done'
end program
