// SPDX-License-Identifier: Apache-2.0
/// \file scalar.hpp
/// \brief What the algorithms need to know of a number type, and how a result becomes a number of it.
#pragma once

#include <deviate/number/emulated.hpp>
#include <deviate/number/lanes.hpp>

namespace deviate {

/// \brief Properties of a scalar. The primary template serves *software* scalars (Boost.Multiprecision, double_double):
/// types that are their own carrier, know + − × ÷ and convert from and to double.
/// \tparam S the scalar
template <class S>
struct scalar_traits {
  static constexpr bool is_software = true;  ///< its own operations compute
  static constexpr bool is_runtime = false;  ///< its format is known at compile time
  using carrier_type = S;                    ///< type that holds a value
  /// \brief Empty: a software scalar's own operations round.
  struct rounder {};
};

/// \brief float and double: operations are the processor's.
template <class S>
requires(std::is_same_v<S, float> || std::is_same_v<S, double>) struct scalar_traits<S> {
  static constexpr bool is_software = false;         ///< the processor computes
  static constexpr bool is_runtime = false;          ///< its format is known at compile time
  using carrier_type = S;                            ///< type that holds a value
  using working_type = S;                            ///< type in which operations are computed before rounding
  static constexpr format holds = native_format<S>;  ///< a format that contains every value of the scalar
  /// \brief True if an operand of this format needs no more than the working type.
  static constexpr bool contains(const format& operand) { return operand.subset_of(native_format<S>); }
  /// \brief Makes numbers of the scalar from results.
  struct rounder {
    /// \brief The processor rounds to nearest even.
    static constexpr bool rounds_downward() { return false; }
    /// \brief The result of an operation in the working type.
    template <class L>
    DEVIATE_HD L from_working(const L& x) const {
      return x;
    }
    /// \brief Any value, exact or to odd.
    template <class L>
    DEVIATE_HD auto from_odd(const L& x) const {
      return convert_lanes<S>(x);
    }
  };
};

/// \brief Emulated numbers: computed in float where the theorem allows, else in double, and rounded once more.
template <format F>
struct scalar_traits<emulated<F>> {
  static constexpr bool is_software = false;                ///< the processor computes
  static constexpr bool is_runtime = false;                 ///< its format is known at compile time
  using carrier_type = typename emulated<F>::carrier_type;  ///< float or double
  /// \brief True if float may compute.
  static constexpr bool innocuous_in_float = double_rounding_is_innocuous(F, binary32);
  /// \brief True if double may compute.
  static constexpr bool innocuous_in_double = double_rounding_is_innocuous(F, binary64);
  /// \brief Type in which operations on members are computed before rounding.
  using working_type = std::conditional_t<innocuous_in_float, float, double>;
  static constexpr format holds = F;  ///< a format that contains every value of the scalar
  /// \brief True if an operand of this format takes part in the theorem: then working type and one more rounding
  /// suffice.
  static constexpr bool contains(const format& operand) {
    return (innocuous_in_float || innocuous_in_double) && operand.subset_of(F);
  }
  /// \brief Makes numbers of the scalar from results.
  struct rounder {
    static_assert(F.precision() + 2 <= binary64.precision(), "a result to odd in double is rounded as the exact one");
    /// \brief True if a zero sum of different signs is −0.
    static constexpr bool rounds_downward() { return F.rounding == rounding_mode::downward; }
    /// \brief The result of an operation in the working type.
    template <class L>
    DEVIATE_HD auto from_working(const L& x) const {
      return convert_lanes<carrier_type>(round_to<F>(x));
    }
    /// \brief Any value, exact or to odd.
    template <class L>
    DEVIATE_HD auto from_odd(const L& x) const {
      // Floats widen first where float does not hold every number of F.
      using holder = std::conditional_t<F.subset_of(native_format<lane_value<L>>), lane_value<L>, double>;
      return convert_lanes<carrier_type>(round_to<F>(convert_lanes<holder>(x)));
    }
  };
};

/// \brief The type that holds values of a scalar.
template <class S>
using carrier_of = typename scalar_traits<S>::carrier_type;

namespace detail {
template <class S>
struct wide_scalar_of {
  using type = std::conditional_t<scalar_traits<S>::is_software, S, carrier_of<S>>;
};
template <class S>
requires requires { typename scalar_traits<S>::wide_type; }
struct wide_scalar_of<S> {
  using type = typename scalar_traits<S>::wide_type;
};

/// True for a scalar that carries a record besides its value, which a site of another kind would lose.
template <class S>
inline constexpr bool keeps_record = false;
}  // namespace detail

/// \brief The scalar of values that are held as those of S are, but not rounded to it: the carrier; a software scalar
/// itself.
template <class S>
using wide_scalar = typename detail::wide_scalar_of<S>::type;

/// \brief W adjacent values of a scalar, computed together; W = 1 is the plain text.
/// \tparam S scalar: the values are members of it, which the operations rely on
/// \tparam W number of lanes; 1 for software scalars
template <class S, int W = 1>
struct fragment {
  using scalar_type = S;           ///< the scalar
  static constexpr int width = W;  ///< number of lanes
  lanes<carrier_of<S>, W> value;   ///< the values, in their carrier
};

/// \brief W adjacent values from memory.
template <class S, int W>
DEVIATE_HD fragment<S, W> load(const carrier_of<S>* from) {
  fragment<S, W> r;
  if constexpr (W == 1)
    r.value = *from;
  else
    std::memcpy(&r.value, from, sizeof r.value);
  return r;
}
/// \brief Stores W adjacent values.
template <class S, int W>
DEVIATE_HD void store(carrier_of<S>* to, const fragment<S, W>& x) {
  if constexpr (W == 1)
    *to = x.value;
  else
    std::memcpy(to, &x.value, sizeof x.value);
}
/// \brief W values from memory, `stride` apart.
template <class S, int W>
DEVIATE_HD fragment<S, W> gather(const carrier_of<S>* from, int stride) {
  fragment<S, W> r;
  if constexpr (W == 1) {
    r.value = *from;
  } else {
    using P = pack<carrier_of<S>, W>;
    for (int part = 0; part < P::parts; ++part) {
      if constexpr (P::part_lanes == 1) {
        r.value.part[part] = from[part * stride];
      } else {
        for (int lane = 0; lane < P::part_lanes; ++lane)
          r.value.part[part][lane] = from[(part * P::part_lanes + lane) * stride];
      }
    }
  }
  return r;
}
/// \brief One value in every lane.
template <class S, int W>
DEVIATE_HD fragment<S, W> fill(const carrier_of<S>& x) {
  return {broadcast<lanes<carrier_of<S>, W>>(x)};
}

}  // namespace deviate
