// SPDX-License-Identifier: Apache-2.0
/// \file matrix_unit.hpp
/// \brief The sum inside a matrix unit: several products and the running sum, aligned, truncated and added at once.
#pragma once

#include <deviate/accumulate/accumulation.hpp>
#include <deviate/accumulate/detail/fused_add.hpp>

namespace deviate::accumulate {

/// \brief Fused additions of `Terms` terms to a running sum, as matrix units do them, in integers.
///
/// Every `Terms` terms: the largest exponent E among the running sum and the terms is found; each is truncated toward
/// zero to a multiple of 2^(E − FractionBits); they are added exactly; the sum is normalised and rounded to `Output`.
/// A last group that is not full is filled with zeros. E is at least −126; a running sum below `Output`'s smallest
/// normal number takes that number's exponent. A result beyond the largest finite number is infinite. Any infinity is
/// the sum, infinities of both signs and NaN give NaN. A zero is +0, a truncated one included.
///
/// Terms are products that nothing has rounded: give score_product and value_product a scalar that holds them. `float`
/// does for factors of FP16 and FP8; those of BF16 and TF32 leave its range at both ends, `double` holds all of them.
/// A term's exponent is that of its value. Hardware adds the factors' exponents and leaves the product in [1, 4): its E
/// may be one less, and one bit more is kept. Terms of scalar `exact_product` bring that exponent, for every bit.
///
/// Same bits on host and device. tests/accumulate/matrix_unit.cpp holds every bit to a model in rationals.
/// References: P. Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", 2025,
/// arXiv 2511.10909; "Accurate Models of NVIDIA Tensor Cores", 2025, arXiv 2512.07004.
/// \tparam Terms terms in one fused addition, the running sum apart
/// \tparam FractionBits fraction bits kept below the largest exponent; at least those of Output
/// \tparam Output scalar of the running sum, held in float
/// \tparam Rounding how the running sum is rounded to Output
template <int Terms, int FractionBits, class Output = float, unit_rounding Rounding = unit_rounding::toward_zero>
struct matrix_unit {
  static constexpr format output_format = scalar_traits<Output>::holds;  ///< format of the running sum
  static_assert(Terms >= 1 && Terms <= 64, "a fused addition has 1 to 64 terms");
  static_assert(FractionBits >= output_format.fraction_bits && FractionBits <= 40,
                "a term that is zero must not change the sum: no fewer fraction bits than the output, and at most 40");
  static_assert(output_format.subset_of(binary32) && output_format.has_infinity() &&
                    output_format.overflow == overflow_rule::infinity &&
                    output_format.subnormals == subnormal_rule::gradual,
                "the running sum is float or an IEEE-style format within it");

  using inside_type = Output;                         ///< scalar of the running sum
  static constexpr int terms = Terms;                 ///< terms in one fused addition
  static constexpr int fraction_bits = FractionBits;  ///< fraction bits below the largest exponent

  /// \brief State of W sums side by side.
  /// \tparam Site operations of Output; nothing of it is used
  template <class Site, int W>
  class accumulator {
    static_assert(std::is_same_v<typename Site::scalar_type, Output>, "a matrix unit has its own output scalar");

   public:
    using fragment_type = fragment<Output, W>;  ///< W sums
    /// \brief Takes the next term of each sum; every `Terms`-th adds.
    template <class A>
    DEVIATE_HD void push(const Site&, const fragment<A, W>& term) {
      if constexpr (W == 1)
        waiting_[0][count_] = detail::as_term(term.value);
      else
        for (int i = 0; i < W; ++i) waiting_[i][count_] = detail::as_term(term.value[i]);
      if (++count_ == Terms) {
        for (int i = 0; i < W; ++i) sum_[i] = added(i);
        count_ = 0;
      }
    }
    /// \brief The sum of all terms pushed; +0 for none.
    DEVIATE_HD fragment_type total(const Site&) const {
      fragment_type r{};
      if constexpr (W == 1)
        r.value = added(0);
      else
        for (int i = 0; i < W; ++i) r.value.set(i, added(i));
      return r;
    }

   private:
    DEVIATE_HD float added(int lane) const {
      return detail::fused_add<output_format, FractionBits, Rounding>(sum_[lane], waiting_[lane], count_);
    }

    detail::unit_term waiting_[W][Terms];
    float sum_[W] = {};
    int count_ = 0;
  };
};

}  // namespace deviate::accumulate
