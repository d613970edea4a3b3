! SPDX-License-Identifier: BSD-3-Clause
! See names_c.c.
module grid_mod
  integer :: count = 0
contains
  subroutine relax(probe)
    external :: probe
    call probe() ! line 8
    count = count + 1
  end subroutine relax
end module grid_mod

subroutine sweep(probe)
  use grid_mod
  external :: probe
  call probe() ! line 16
  count = count + 2
end subroutine sweep
