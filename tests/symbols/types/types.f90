! Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
module shapes
  type point
    character :: kind
    integer :: number
    real(8) :: x(2)
  end type point
  type(point), save :: a_point
end module shapes

program says
  use shapes
  print '(4i8)', storage_size(a_point) / 8, loc(a_point%kind) - loc(a_point), loc(a_point%number) - loc(a_point), &
    loc(a_point%x) - loc(a_point)
end program says
