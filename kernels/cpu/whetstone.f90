! cpu/whetstone: the Whetstone program in Fortran, single precision (B1) and double precision (B1D); see whetstone.c.
module whetstone_b1
  use, intrinsic :: iso_c_binding, only: wp => c_float, c_double, c_int
  implicit none
  character(*), parameter :: prefix = 'b1_'
  include 'whetstone.inc'
end module

module whetstone_b1d
  use, intrinsic :: iso_c_binding, only: wp => c_double, c_double, c_int
  implicit none
  character(*), parameter :: prefix = 'b1d_'
  include 'whetstone.inc'
end module
