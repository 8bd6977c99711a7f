! cpu/linpack: Linpack and its BLAS in Fortran, in single and in double precision; see linpack.h.
module linpack_single
  use, intrinsic :: iso_c_binding, only: wp => c_float, c_int
  implicit none
  character(*), parameter :: prefix = 'linpack_s'
  include 'linpack.inc'
end module

module linpack_double
  use, intrinsic :: iso_c_binding, only: wp => c_double, c_int
  implicit none
  character(*), parameter :: prefix = 'linpack_d'
  include 'linpack.inc'
end module
