// SPDX-License-Identifier: Apache-2.0
/// \file double_double.hpp
/// \brief A number held as the unevaluated sum of two doubles: about 106 significand bits, on host and device.
///
/// It is the cheap way to show that a golden in double is exact enough. It has the exponent range of double, not more:
/// where a result or its error term falls below 2^−1022 the precision shrinks to that of double.
#pragma once

#include <deviate/config.hpp>
#include <deviate/number/exact.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>

namespace deviate {

class double_double;

namespace detail {

/// A class that converts to double, such as an emulated or a multiple-precision number.
template <class T>
concept class_with_double = std::is_class_v<T> && !std::same_as<T, double_double> && requires(const T& x) {
  static_cast<double>(x);
};

/// A class of numbers that holds every double_double near enough to be added up in it.
template <class T>
concept wider_than_double_double =
    std::is_class_v<T> && std::numeric_limits<T>::is_specialized && std::numeric_limits<T>::digits >= 106 &&
    !std::same_as<T, double_double>;

}  // namespace detail

/// \brief hi + lo, where hi is the double nearest to the sum.
///
/// The operations are those of M. Joldes, J.-M. Muller and V. Popescu, "Tight and rigorous error bounds for basic
/// building blocks of double-word arithmetic" (2017), called JMP below, each with its published bound on the relative
/// error in units of u² = 2^−106. The bounds hold while operands and result are between 2^−900 and 2^1000 in magnitude,
/// and are held there by tests/number/double_double.cpp against MPFR. Products are split by a fused multiply-add, which
/// is right with and without hardware for it. No operation rounds to nearest: a type for references, not a format.
///
/// Infinities, NaN and the sign of zero follow the plain double operation on the hi parts, and lo is 0 beside them.
/// A sum does not depend on the order of its operands; the last bits of a product do.
/// Runs on host and device with the same bits.
class double_double {
 public:
  double_double() = default;
  /// \brief Exact.
  DEVIATE_HD constexpr double_double(double x) : hi_(x), lo_(0) {}
  /// \brief Exact.
  DEVIATE_HD constexpr double_double(float x) : hi_(x), lo_(0) {}
  /// \brief Exact, for integers of up to 64 bits.
  template <std::integral I>
  requires(sizeof(I) <= 8) DEVIATE_HD constexpr double_double(I i) : double_double(from_integer(i)) {}
  /// \brief From an emulated number, exactly; from a multiple-precision number to within u².
  template <detail::class_with_double T>
  DEVIATE_HD explicit double_double(const T& x) : hi_(static_cast<double>(x)), lo_(0) {
    if constexpr (requires { static_cast<double>(x - T(hi_)); })
      if (detail::is_finite(hi_)) *this = from_sum(hi_, static_cast<double>(x - T(hi_)));
  }

  /// \brief The number with these parts, unchecked.
  /// \pre hi = RN(hi + lo), or lo = 0
  static DEVIATE_HD constexpr double_double from_parts(double hi, double lo) {
    double_double r(hi);
    r.lo_ = lo;
    return r;
  }
  /// \brief a + b without error, unless it overflows. JMP algorithm 2, 2Sum.
  static DEVIATE_HD double_double from_sum(double a, double b) {
    const two s = two_sum(a, b);
    return finish(s.hi, s.hi, s.lo);
  }
  /// \brief a × b without error, unless it overflows or is below 2^−969. JMP algorithm 3, 2Prod.
  static DEVIATE_HD double_double from_product(double a, double b) {
    const two p = two_product(a, b);
    return finish(p.hi, p.hi, p.lo);
  }

  /// \brief The nearest double: the upper part.
  DEVIATE_HD constexpr double hi() const { return hi_; }
  /// \brief The lower part: at most half a last place of the upper one.
  DEVIATE_HD constexpr double lo() const { return lo_; }

  /// \brief The nearest double.
  DEVIATE_HD explicit constexpr operator double() const { return hi_; }
  /// \brief The nearest float, in one rounding.
  DEVIATE_HD explicit operator float() const { return float(detail::to_odd(hi_, lo_)); }
  /// \brief The sum of the parts in a wider type, such as Boost.Multiprecision's.
  template <detail::wider_than_double_double T>
  explicit operator T() const {
    return lo_ == 0 ? T(hi_) : T(T(hi_) + T(lo_));
  }

  /// \brief Error at most 3u² + 13u³, cancellation included. JMP algorithm 6, AccurateDWPlusDW.
  friend DEVIATE_HD double_double operator+(const double_double& x, const double_double& y) {
    const two s = two_sum(x.hi_, y.hi_);
    const two t = two_sum(x.lo_, y.lo_);
    const two v = fast_two_sum(s.hi, s.lo + t.hi);
    return finish(s.hi, v.hi, t.lo + v.lo);
  }
  /// \brief As the sum of x and −y.
  friend DEVIATE_HD double_double operator-(const double_double& x, const double_double& y) { return x + -y; }

  /// \brief Error at most 5u². JMP algorithm 12, DWTimesDW3.
  friend DEVIATE_HD double_double operator*(const double_double& x, const double_double& y) {
    const two c = two_product(x.hi_, y.hi_);
    const double t = std::fma(x.lo_, y.hi_, std::fma(x.hi_, y.lo_, x.lo_ * y.lo_));
    return finish(c.hi, c.hi, c.lo + t);
  }

  /// \brief Error at most 15u² + 56u³. JMP algorithm 17, DWDivDW2.
  friend DEVIATE_HD double_double operator/(const double_double& x, const double_double& y) {
    const double t = x.hi_ / y.hi_;
    // r = y·t by JMP algorithm 7, DWTimesFP1.
    const two c = two_product(y.hi_, t);
    const two d = fast_two_sum(c.hi, y.lo_ * t);
    const two r = fast_two_sum(d.hi, d.lo + c.lo);
    const double remainder = (x.hi_ - r.hi) + (x.lo_ - r.lo);
    return finish(t, t, remainder / y.hi_);
  }

  /// \brief √x, error at most 25/8 u². Algorithm SQRTDWtoDW of V. Lefèvre, N. Louvet, J.-M. Muller, J. Picot and
  /// L. Rideau, "Accurate calculation of Euclidean norms using double-word arithmetic" (2023).
  friend DEVIATE_HD double_double sqrt(const double_double& x) {
    const double s = std::sqrt(x.hi_);
    const double remainder = std::fma(-s, s, x.hi_) + x.lo_;
    return finish(s, s, remainder / (2 * s));
  }

  // clang-format off
  /// \brief −x, exact.
  friend DEVIATE_HD double_double operator-(const double_double& x) { return from_parts(-x.hi_, -x.lo_); }
  /// \brief x itself.
  friend DEVIATE_HD double_double operator+(const double_double& x) { return x; }
  /// \name Assignments
  /// @{

  /// \brief The operation, into x.
  friend DEVIATE_HD double_double& operator+=(double_double& x, const double_double& y) { return x = x + y; }
  friend DEVIATE_HD double_double& operator-=(double_double& x, const double_double& y) { return x = x - y; }
  friend DEVIATE_HD double_double& operator*=(double_double& x, const double_double& y) { return x = x * y; }
  friend DEVIATE_HD double_double& operator/=(double_double& x, const double_double& y) { return x = x / y; }
  /// @}
  /// \name Comparisons
  /// @{

  /// \brief Exact; false with NaN, but for !=.
  friend DEVIATE_HD bool operator==(const double_double& x, const double_double& y) { return x.hi_ == y.hi_ && x.lo_ == y.lo_; }
  friend DEVIATE_HD bool operator<(const double_double& x, const double_double& y) { return x.hi_ < y.hi_ || (x.hi_ == y.hi_ && x.lo_ < y.lo_); }
  friend DEVIATE_HD bool operator>(const double_double& x, const double_double& y) { return y < x; }
  friend DEVIATE_HD bool operator<=(const double_double& x, const double_double& y) { return x.hi_ < y.hi_ || (x.hi_ == y.hi_ && x.lo_ <= y.lo_); }
  friend DEVIATE_HD bool operator>=(const double_double& x, const double_double& y) { return y <= x; }
  friend DEVIATE_HD constexpr std::partial_ordering operator<=>(const double_double& x, const double_double& y) { return x.hi_ != y.hi_ ? x.hi_ <=> y.hi_ : x.lo_ <=> y.lo_; }
  /// @}
  /// \name Classes
  /// @{

  /// \brief As for double.
  friend DEVIATE_HD bool isfinite(const double_double& x) { return detail::is_finite(x.hi_); }
  friend DEVIATE_HD bool isnan(const double_double& x) { return x.hi_ != x.hi_; }
  friend DEVIATE_HD bool isinf(const double_double& x) { return !isfinite(x) && !isnan(x); }
  friend DEVIATE_HD bool signbit(const double_double& x) { return bits(x.hi_) >> 63 != 0; }
  /// @}
  /// \brief |x|, exact; +0 for −0.
  friend DEVIATE_HD double_double abs(const double_double& x) { return signbit(x) ? -x : x; }
  // clang-format on

  /// \brief x·2^n: exact, unless it overflows or its parts fall below 2^−1022.
  friend DEVIATE_HD double_double ldexp(const double_double& x, int n) {
    const double hi = std::ldexp(x.hi_, n);
    return finish(hi, hi, std::ldexp(x.lo_, n));
  }

 private:
  /// Two doubles on their way to being a number.
  struct two {
    double hi;
    double lo;
  };

  /// JMP algorithm 2, 2Sum.
  static DEVIATE_HD two two_sum(double a, double b) {
    const double s = a + b;
    const double of_a = s - b;
    return {s, (a - of_a) + (b - (s - of_a))};
  }
  /// JMP algorithm 1, Fast2Sum. \pre |a| ≥ |b| or a = 0
  static DEVIATE_HD two fast_two_sum(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
  }
  /// JMP algorithm 3, 2Prod.
  static DEVIATE_HD two two_product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
  }
  /// The last Fast2Sum of every operation. Where it gives no finite number other than zero, the error terms mean
  /// nothing (∞ − ∞ has been among them), and `plain`, the operation on the hi parts alone, is the result.
  static DEVIATE_HD double_double finish(double plain, double hi, double lo) {
    const two z = fast_two_sum(hi, lo);
    return detail::is_finite(z.hi) && z.hi != 0 ? from_parts(z.hi, z.lo) : from_parts(plain, 0);
  }

  template <class I>
  static DEVIATE_HD constexpr double_double from_integer(I i) {
    if constexpr (sizeof(I) <= 4) {
      return double_double(double(i));
    } else {
      // Both halves are exact; the upper one is a multiple of 2^32, or zero.
      const double upper = double(i >> 32) * 0x1p32;
      const double lower = double(std::uint32_t(i & 0xffffffff));
      const double sum = upper + lower;
      return from_parts(sum, lower - (sum - upper));
    }
  }

  double hi_;
  double lo_;
};

/// \brief The decimal text of x, as `printf` writes a double with "%.*e": scientific, with `digits` significant digits.
/// \param x the number
/// \param digits 33 tell any two numbers of 106 bits apart
/// \pre 1 ≤ digits ≤ 1000
/// \return correctly rounded, ties to even, if the C library's `printf` writes exact decimals (glibc does); "nan",
///   "inf" and "-inf" for those. Host only.
inline std::string to_string(const double_double& x, int digits = 33) {
  if (isnan(x)) return "nan";
  if (isinf(x)) return signbit(x) ? "-inf" : "inf";
  // Both parts in fixed point, 310 digits before and 1074 after the point, are exact; their sum needs carries only.
  constexpr int whole = 310, places = whole + 1074;
  std::array<int, places + 1> sum{};
  std::array<char, places + 3> text;
  const double sign = signbit(x) ? -1 : 1;
  for (const double part : {sign * x.hi(), sign * x.lo()}) {
    const int length = std::snprintf(text.data(), text.size(), "%.1074f", std::fabs(part));
    int place = whole - (length - 1075);
    for (const char* c = text.data(); *c != 0; ++c)
      if (*c >= '0' && *c <= '9') sum[std::size_t(place++)] += part < 0 ? '0' - *c : *c - '0';
  }
  const auto carry_up = [&sum](int from) {
    for (int i = from; i > 0; --i) {
      const int carry = (sum[std::size_t(i)] + 10) / 10 - 1;
      sum[std::size_t(i)] -= 10 * carry;
      sum[std::size_t(i - 1)] += carry;
    }
  };
  const auto first_digit = [&sum] {
    const auto found = std::find_if(sum.begin(), sum.end(), [](int d) { return d != 0; });
    return found == sum.end() ? whole - 1 : int(found - sum.begin());
  };
  carry_up(places - 1);
  int first = first_digit();
  if (const int next = first + digits; next < places) {
    const auto rest = sum.begin() + next;
    const bool tie = *rest == 5 && std::all_of(rest + 1, sum.end(), [](int d) { return d == 0; });
    if (tie ? *(rest - 1) % 2 != 0 : *rest >= 5) ++*(rest - 1);
    std::fill(rest, sum.end(), 0);
    carry_up(next - 1);
    first = first_digit();
  }
  std::string result = signbit(x) ? "-" : "";
  for (int i = first; i < first + digits; ++i) {
    if (i == first + 1) result += '.';
    result += char('0' + (i < places ? sum[std::size_t(i)] : 0));
  }
  std::snprintf(text.data(), text.size(), "e%+03d", whole - 1 - first);
  return result + text.data();
}

/// \brief Writes `to_string(x)`. Needs `<ostream>` where it is called.
template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const double_double& x) {
  return out << to_string(x).c_str();
}

}  // namespace deviate

/// \brief Limits of double_double, taken as a format of 106 bits: epsilon is 2^−105, although numbers lie closer to 1.
template <>
class std::numeric_limits<deviate::double_double> : public std::numeric_limits<double> {
  using number = deviate::double_double;

 public:
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 106;
  static constexpr int digits10 = 31;
  static constexpr int max_digits10 = 33;
  /// Below 2^(min_exponent − 1) the lo part is short of bits.
  static constexpr int min_exponent = -968;
  static constexpr int min_exponent10 = -291;
  static constexpr number min() noexcept { return 0x1p-969; }
  static constexpr number max() noexcept { return number::from_parts(0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+969); }
  static constexpr number lowest() noexcept {
    return number::from_parts(-0x1.fffffffffffffp+1023, -0x1.fffffffffffffp+969);
  }
  static constexpr number epsilon() noexcept { return 0x1p-105; }
  static constexpr number round_error() noexcept { return 0.5; }
  static constexpr number infinity() noexcept { return std::numeric_limits<double>::infinity(); }
  static constexpr number quiet_NaN() noexcept { return std::numeric_limits<double>::quiet_NaN(); }
  static constexpr number signaling_NaN() noexcept { return std::numeric_limits<double>::signaling_NaN(); }
  static constexpr number denorm_min() noexcept { return std::numeric_limits<double>::denorm_min(); }
};
