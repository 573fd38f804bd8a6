// SPDX-License-Identifier: Apache-2.0
/// \file own_function.hpp
/// \brief Finds the exp, exp2 and log that a number type brings along.
///
/// Only argument-dependent lookup takes part. Ordinary lookup would also find `::exp(double)`, and a type that converts
/// to double would silently be computed by the C library; `deviate::math::exp` itself would call itself without end.
#pragma once

#include <deviate/config.hpp>

namespace deviate::math::detail {

namespace own {

// These hide the functions of the enclosing namespaces; they are never chosen.
void exp();
void exp2();
void log();

// The definitions carry DEVIATE_HD because a number type may be meant for the device; nvcc then checks at instantiation
// whether the type's function is, and that check is off here because a host-only type is as welcome.
template <class T>
concept has_exp = requires(const T& x) {
  T(exp(x));
};
template <class T>
concept has_exp2 = requires(const T& x) {
  T(exp2(x));
};
template <class T>
concept has_log = requires(const T& x) {
  T(log(x));
};

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <has_exp T>
DEVIATE_HD T call_exp(const T& x) {
  return T(exp(x));
}

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <has_exp2 T>
DEVIATE_HD T call_exp2(const T& x) {
  return T(exp2(x));
}

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class T>
requires(!has_exp2<T> && has_exp<T> && has_log<T>) DEVIATE_HD T call_exp2(const T& x) {
  return T(exp(T(x * T(log(T(2))))));
}

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <has_log T>
DEVIATE_HD T call_log(const T& x) {
  return T(log(x));
}

}  // namespace own

/// \brief Number types that are neither built in nor packs of built-in ones, and bring the named function.
template <class T>
concept brings_exp = own::has_exp<T>;
template <class T>
concept brings_exp2 = own::has_exp2<T> ||(own::has_exp<T>&& own::has_log<T>);
template <class T>
concept brings_log = own::has_log<T>;

}  // namespace deviate::math::detail
