! SPDX-License-Identifier: BSD-3-Clause
! Says that it is there, in deep(), and sleeps.
program sleeps
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_size_t
  implicit none
  interface
    function c_write(fd, text, size) bind(c, name='write') result(written)
      import :: c_char, c_int, c_size_t
      integer(c_int), value :: fd
      character(kind=c_char), intent(in) :: text(*)
      integer(c_size_t), value :: size
      integer(c_size_t) :: written
    end function
    function c_pause() bind(c, name='pause') result(status)
      import :: c_int
      integer(c_int) :: status
    end function
  end interface
  call deep(2)
contains
  subroutine deep(n)
    integer, intent(in) :: n
    if (c_write(1_c_int, 'x', 1_c_size_t) == 1) stop int(c_pause()) + n
  end subroutine
end program
