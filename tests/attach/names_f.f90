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

  subroutine contain(probe)
    external :: probe
    call inner() ! line 14
    count = count + 3
  contains
    subroutine inner()
      call probe() ! line 18
      count = count + 4
    end subroutine inner
  end subroutine contain
end module grid_mod

subroutine sweep(probe)
  use grid_mod
  external :: probe
  call probe() ! line 27
  count = count + 2
end subroutine sweep
