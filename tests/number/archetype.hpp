// SPDX-License-Identifier: Apache-2.0
// The smallest software scalar: a double in a box that offers what the concept asks for, and nothing else.
#pragma once

#include <deviate/math/exp.hpp>
#include <deviate/math/log.hpp>

#include <type_traits>

namespace archetype_test {

class archetype {
 public:
  archetype() = default;
  explicit archetype(int x) : value_(x) {}
  explicit archetype(float x) : value_(double(x)) {}
  explicit archetype(double x) : value_(x) {}
  // Without this one, any arithmetic type would reach the three above by a conversion.
  template <class T>
  requires(!std::is_same_v<T, archetype>) explicit archetype(T) = delete;
  explicit operator double() const { return value_; }

  friend archetype operator+(const archetype& a, const archetype& b) { return archetype(a.value_ + b.value_); }
  friend archetype operator-(const archetype& a, const archetype& b) { return archetype(a.value_ - b.value_); }
  friend archetype operator*(const archetype& a, const archetype& b) { return archetype(a.value_ * b.value_); }
  friend archetype operator/(const archetype& a, const archetype& b) { return archetype(a.value_ / b.value_); }
  friend archetype operator-(const archetype& a) { return archetype(-a.value_); }
  friend bool operator==(const archetype& a, const archetype& b) { return a.value_ == b.value_; }
  friend bool operator<(const archetype& a, const archetype& b) { return a.value_ < b.value_; }
  friend archetype exp(const archetype& x) { return archetype(deviate::math::exp(x.value_)); }
  friend archetype log(const archetype& x) { return archetype(deviate::math::log(x.value_)); }

 private:
  double value_;
};

}  // namespace archetype_test
