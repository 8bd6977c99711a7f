! Solves a dense random system of order 100, by columns and without a BLAS: what scripts/against-cpu holds
! cpu/linpack-100/dp-reference against. Prints MFLOPS, the median of all solutions: 2/3 n^3 + 2 n^2.
program linpack
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: order = 100, leading = 201, times = 2001
  real(real64) :: matrix(leading, order), a(leading, order), b(order)
  integer(int64) :: took(times), begin, end, rate, held
  integer :: pivot(order), i, j
  call random_number(matrix)
  matrix = matrix - 0.5_real64
  do i = 1, times
    a = matrix
    b = sum(matrix(1:order, :), dim=2)
    call system_clock(begin, rate)
    call factor(a, leading, order, pivot)
    call solve(a, leading, order, pivot, b)
    call system_clock(end)
    if (maxval(abs(b - 1)) > 1e-8_real64) error stop 'the solution is wrong'
    held = end - begin
    do j = i, 2, -1
      if (took(j - 1) <= held) exit
      took(j) = took(j - 1)
    end do
    took(j) = held
  end do
  print '(f0.2)', (2 / 3.0_real64 * order**3 + 2 * order**2) * rate / took((times + 1) / 2) / 1e6_real64

contains

  subroutine factor(a, lda, n, pivot)
    integer, intent(in) :: lda, n
    real(real64), intent(inout) :: a(lda, n)
    integer, intent(out) :: pivot(n)
    real(real64) :: held
    integer :: i, j, k, l
    do k = 1, n - 1
      l = k
      do i = k + 1, n
        if (abs(a(i, k)) > abs(a(l, k))) l = i
      end do
      pivot(k) = l
      held = a(l, k)
      a(l, k) = a(k, k)
      a(k, k) = held
      do i = k + 1, n
        a(i, k) = a(i, k) / held
      end do
      do j = k + 1, n
        held = a(l, j)
        a(l, j) = a(k, j)
        a(k, j) = held
        do i = k + 1, n
          a(i, j) = a(i, j) - held * a(i, k)
        end do
      end do
    end do
  end subroutine

  subroutine solve(a, lda, n, pivot, b)
    integer, intent(in) :: lda, n, pivot(n)
    real(real64), intent(in) :: a(lda, n)
    real(real64), intent(inout) :: b(n)
    real(real64) :: held
    integer :: k, l
    do k = 1, n - 1
      l = pivot(k)
      held = b(l)
      b(l) = b(k)
      b(k) = held
      b(k + 1:n) = b(k + 1:n) - held * a(k + 1:n, k)
    end do
    do k = n, 1, -1
      b(k) = b(k) / a(k, k)
      b(1:k - 1) = b(1:k - 1) - b(k) * a(1:k - 1, k)
    end do
  end subroutine
end program
