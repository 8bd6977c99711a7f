! vm/fft: the two-dimensional complex Fourier transform in Fortran, in single and in double precision; see fft.c.
module fft_single
  use, intrinsic :: iso_c_binding, only: wp => c_float, c_int
  implicit none
  character(*), parameter :: prefix = 'fft_single_'
  include 'fft.inc'
end module

module fft_double
  use, intrinsic :: iso_c_binding, only: wp => c_double, c_int
  implicit none
  character(*), parameter :: prefix = 'fft_double_'
  include 'fft.inc'
end module
