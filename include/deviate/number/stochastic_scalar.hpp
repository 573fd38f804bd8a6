// SPDX-License-Identifier: Apache-2.0
/// \file stochastic_scalar.hpp
/// \brief Scalars whose roundings are decided by random bits: each rounding has its own, named by where it happens.
#pragma once

#include <deviate/number/scalar.hpp>
#include <deviate/number/stochastic.hpp>

namespace deviate {

/// \brief Where a site's next rounding stands: it names the random bits, so that they do not depend on when it happens.
///
/// A stream (seed, site, head) holds one for each row and step; in it the words are numbered by column and operation.
/// The operations of one place are counted as they happen, so a sum that adds several times at a step never rounds two
/// results with the same word. Use a place in one thread: copies count apart.
class random_place {
 public:
  random_place() = default;
  /// \brief The start of a stream.
  DEVIATE_HD constexpr explicit random_place(const stochastic_rounder& stream) : stream_(stream) {}

  /// \brief The k-th of the streams within this one.
  DEVIATE_HD constexpr random_place stream(std::uint64_t k) const { return random_place(stream_.stream(k)); }
  /// \brief Lane 0 at `column` of a row and step.
  /// \pre 0 ≤ row, step < 2^32 and 0 ≤ column < 2^40: beyond, two places may share their words
  DEVIATE_HD constexpr random_place here(std::int64_t row, std::int64_t column, std::int64_t step) const {
    random_place r = stream(std::uint64_t(row) << 32 ^ std::uint64_t(step));
    r.index_ = std::uint64_t(column);
    return r;
  }
  /// \brief The same place for the operations that end a sum after its last step: none of them has a word of a step.
  DEVIATE_HD constexpr random_place after() const {
    random_place r = *this;
    r.index_ += std::uint64_t(1) << 63;
    return r;
  }
  /// \brief The place of one lane on its own.
  DEVIATE_HD constexpr random_place beside(int lane) const {
    random_place r = *this;
    r.index_ += std::uint64_t(lane);
    return r;
  }

 protected:
  /// Index of lane 0 for the next operation. At most 2^23 operations a place.
  DEVIATE_HD constexpr std::uint64_t next() const { return index_ + (operations_++ << 40); }

  stochastic_rounder stream_{};           ///< gives the words
  std::uint64_t index_ = 0;               ///< of lane 0
  mutable std::uint64_t operations_ = 0;  ///< rounded here so far
};

/// \brief Most random bits for a format of p significand bits: an exact result taken to odd in double still decides as
/// the exact one where p + n ≤ 52.
/// \tparam Carrier float or double
template <class Carrier>
constexpr int most_random_bits_for(const format& f) {
  const int left = binary64.fraction_bits - f.precision();
  return left < most_random_bits<Carrier> ? left : most_random_bits<Carrier>;
}

/// \brief A number of format F, rounded stochastically by the site that makes it. It has no operators: only a site knows
/// the random bits.
/// \tparam F the format; its own mode does not matter
/// \tparam RandomBits how many random bits decide a rounding; see round_stochastic
template <format F, int RandomBits = 23>
class stochastic {
 public:
  static constexpr format number_format = F.rounded(rounding_mode::stochastic);  ///< the format
  /// \brief float where it holds every number of F, else double.
  using carrier_type = std::conditional_t<F.subset_of(binary32), float, double>;
  static_assert(RandomBits >= 1 && RandomBits <= most_random_bits_for<carrier_type>(F),
                "1 to 23 random bits where float holds the format, 1 to 52 − p elsewhere");

  stochastic() = default;
  /// \brief The number whose carrier is already a member of F.
  static DEVIATE_HD stochastic from_carrier(carrier_type member) {
    stochastic r;
    r.value_ = member;
    return r;
  }
  /// \brief The value, exactly, in the carrier.
  DEVIATE_HD carrier_type carrier() const { return value_; }
  /// \brief The value, rounded to float where the carrier is double.
  DEVIATE_HD explicit operator float() const { return float(value_); }
  /// \brief The value, exactly.
  DEVIATE_HD explicit operator double() const { return double(value_); }

 private:
  carrier_type value_;
};

/// \brief A value of a format that only the site knows, rounded stochastically by it.
/// \tparam Carrier float or double: holds the value
template <class Carrier>
class stochastic_runtime {
 public:
  stochastic_runtime() = default;
  /// \brief The number whose carrier is already a member of the site's format.
  static DEVIATE_HD stochastic_runtime from_carrier(Carrier member) {
    stochastic_runtime r;
    r.value_ = member;
    return r;
  }
  /// \brief The value, exactly, in the carrier.
  DEVIATE_HD Carrier carrier() const { return value_; }
  /// \brief The value, rounded to float where the carrier is double.
  DEVIATE_HD explicit operator float() const { return float(value_); }
  /// \brief The value, exactly.
  DEVIATE_HD explicit operator double() const { return double(value_); }

 private:
  Carrier value_;
};

/// \brief True for the scalars of this header: their sites are used at a place.
template <class S>
inline constexpr bool rounds_at_random = false;
/// \copybrief rounds_at_random
template <format F, int RandomBits>
inline constexpr bool rounds_at_random<stochastic<F, RandomBits>> = true;
/// \copybrief rounds_at_random
template <class Carrier>
inline constexpr bool rounds_at_random<stochastic_runtime<Carrier>> = true;

/// \brief Every operation is rounded from the exact result: no theorem lets a working type compute.
template <format F, int RandomBits>
struct scalar_traits<stochastic<F, RandomBits>> {
  static constexpr bool is_software = false;                              ///< the processor computes
  static constexpr bool is_runtime = false;                               ///< its format is known at compile time
  using carrier_type = typename stochastic<F, RandomBits>::carrier_type;  ///< float or double
  using working_type = double;                                            ///< computes, to odd
  static constexpr format holds = F;  ///< a format that contains every value of the scalar
  /// \brief Never: an inexact result may reach a number of the format.
  static constexpr bool contains(const format&) { return false; }

  /// \brief Makes numbers of the scalar from results, at a place.
  class rounder : public random_place {
   public:
    rounder() = default;
    /// \brief Rounds at a place.
    DEVIATE_HD constexpr explicit rounder(const random_place& place) : random_place(place) {}
    /// \brief A zero sum of different signs is +0.
    static constexpr bool rounds_downward() { return false; }
    /// \brief The same, at another place.
    DEVIATE_HD constexpr rounder at(const random_place& place) const { return rounder(place); }
    /// \brief Any value, exact or to odd.
    template <class L>
    DEVIATE_HD auto from_odd(const L& x) const {
      using holder = std::conditional_t<F.subset_of(native_format<lane_value<L>>), lane_value<L>, double>;
      return convert_lanes<carrier_type>(
          this->stream_.template round<F, RandomBits>(convert_lanes<holder>(x), this->next()));
    }
  };
};

/// \brief A run-time site carries its format as rounding constants, and how many random bits decide.
template <class Carrier>
struct scalar_traits<stochastic_runtime<Carrier>> {
  static constexpr bool is_software = false;               ///< the processor computes
  static constexpr bool is_runtime = true;                 ///< only the site knows the format
  using carrier_type = Carrier;                            ///< float or double
  using working_type = double;                             ///< computes, to odd
  static constexpr format holds = native_format<Carrier>;  ///< a format that contains every value
  /// \brief Never: an inexact result may reach a number of the format.
  static constexpr bool contains(const format&) { return false; }

  /// \brief Makes numbers of the site's format from results, at a place.
  class rounder : public random_place {
   public:
    rounder() = default;
    /// \param f the format; a subset of the carrier's, its own mode does not matter
    /// \param random_bits how many random bits decide a rounding
    /// \param place where it rounds
    /// \pre 1 ≤ random_bits ≤ most_random_bits_for<Carrier>(f)
    constexpr explicit rounder(const format& f, int random_bits = most_random_bits<float>,
                               const random_place& place = {})
        : random_place(place), random_bits_(random_bits), wide_(f.rounded(rounding_mode::stochastic)) {
      if constexpr (std::is_same_v<Carrier, float>)
        narrow_ = rounding_constants<float>(f.rounded(rounding_mode::stochastic));
    }

    static constexpr bool operands_are_members = false;  ///< the working type never computes
    /// \brief A zero sum of different signs is +0.
    static constexpr bool rounds_downward() { return false; }
    /// \brief The same, at another place.
    DEVIATE_HD constexpr rounder at(const random_place& place) const {
      rounder r = *this;
      static_cast<random_place&>(r) = place;
      return r;
    }
    /// \brief Never used: the result of an operation in the working type.
    template <class L>
    DEVIATE_HD auto from_working(const L& x) const {
      return from_odd(x);
    }
    /// \brief Any value, exact or to odd.
    template <class L>
    DEVIATE_HD auto from_odd(const L& x) const {
      if constexpr (std::is_same_v<lane_value<L>, double>)
        return convert_lanes<Carrier>(this->stream_.round(x, random_bits_, this->next(), wide_));
      else if constexpr (std::is_same_v<Carrier, float>)
        return this->stream_.round(x, random_bits_, this->next(), narrow_);
      else
        return this->stream_.round(convert_lanes<double>(x), random_bits_, this->next(), wide_);
    }

   private:
    int random_bits_ = most_random_bits<float>;
    rounding_constants<double> wide_{binary64};
    rounding_constants<float> narrow_{binary32};
  };
};

}  // namespace deviate
