! cpu/linpack-tuned: the same two halves of Linpack as cpu/linpack; the BLAS that they call there comes from elsewhere.
include 'linpack.f90'
