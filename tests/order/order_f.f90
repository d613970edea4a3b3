! SPDX-License-Identifier: BSD-3-Clause
! Loops of Fortran. tests/unit/test_order.c says what is expected of each.
module order_f
   use iso_c_binding
   implicit none
   interface
      subroutine visit_f(place) bind(c)
         import :: c_int
         integer(c_int), intent(in) :: place
      end subroutine
   end interface
contains
   subroutine up_f(n) bind(c)
      integer(c_int), value :: n
      integer :: i
      do i = 1, n
         call visit_f(0)
      end do
   end subroutine

   subroutine down_f(n) bind(c)
      integer(c_int), value :: n
      integer :: i
      do i = 12, 13 - 3 * n, -3
         call visit_f(i + 1)
      end do
   end subroutine

   subroutine nested_f(n) bind(c)
      integer(c_int), value :: n
      integer :: i, j
      do j = 1, n
         do i = 1, 2
            call visit_f(1)
         end do
         call visit_f(2)
      end do
   end subroutine

   subroutine while_f(n) bind(c)
      integer(c_int), value :: n
      integer :: k
      k = 0
      do while (k < n)
         call visit_f(0)
         k = k + 1
      end do
   end subroutine

   ! The variable itself is handed over by reference.
   subroutine by_reference_f(n) bind(c)
      integer(c_int), value :: n
      integer :: i
      do i = 1, n
         call visit_f(i)
      end do
   end subroutine
end module
