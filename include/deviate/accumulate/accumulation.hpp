// SPDX-License-Identifier: Apache-2.0
/// \file accumulation.hpp
/// \brief The order and precision inside a sum, apart from the format its result is stored in.
///
/// An accumulation is a type. `accumulator<Site, W>` of it holds the state of W sums side by side; term i of each sum
/// is the i-th one pushed. The order depends on i alone, never on W, so a pack has the bits of the plain text. Every
/// sum starts from +0 and is never −0, so that zero terms (masked keys, padding) never change a bit.
#pragma once

#include <concepts>
#include <deviate/number/arithmetic.hpp>
#include <deviate/number/scalar_concept.hpp>
#include <deviate/number/stochastic_scalar.hpp>

namespace deviate::accumulate {

/// \brief The precision inside the sum is that of its terms.
struct as_terms {};

namespace detail {
template <class Inside, class Terms>
struct inside_scalar {
  using type = Inside;
};
template <class Terms>
struct inside_scalar<as_terms, Terms> {
  using type = Terms;
};

/// Adds K values in a tree: distance 1, 2, 4, …, the lower one left.
template <class Site, class Fragment, int K>
DEVIATE_HD Fragment add_tree(const Site& site, Fragment (&tree)[K]) {
  for (int distance = 1; distance < K; distance *= 2)
    for (int i = 0; i < K; i += 2 * distance) tree[i] = site.add(tree[i], tree[i + distance]);
  return tree[0];
}

/// The site for the term in one lane of a fragment, alone. Only random bits differ from lane to lane.
template <class Site>
DEVIATE_HD decltype(auto) beside(const Site& site, [[maybe_unused]] int lane) {
  if constexpr (rounds_at_random<typename Site::scalar_type>)
    return Site(site.rounder().at(site.rounder().beside(lane)));
  else
    return (site);
}
}  // namespace detail

/// \brief Scalar in which an accumulation adds terms of a given scalar.
template <class Accumulation, class Terms>
using inside = typename detail::inside_scalar<typename Accumulation::inside_type, Terms>::type;

namespace detail {
template <class Accumulator, class Site, class Terms>
concept accumulator_of = std::default_initializable<Accumulator> && std::copyable<Accumulator> &&
    requires(Accumulator& sum, const Accumulator& pushed, const Site& site, const fragment<Terms, 1>& term) {
  sum.push(site, term);
  { pushed.total(site) } -> std::same_as<fragment<typename Site::scalar_type, 1>>;
};
template <class A>
concept names_its_scalar = requires {
  typename A::inside_type;
};
}  // namespace detail

/// \brief What `summed` accepts: a type that names the scalar of its running sum (`inside_type`, or `as_terms`), and whose
/// `accumulator<Site, W>` starts from +0, takes `push(site, term)` and gives `total(site)`.
/// \tparam Terms scalar of the terms
template <class A, class Terms = float>
concept accumulation = detail::names_its_scalar<A> && scalar<inside<A, Terms>> &&
                       detail::accumulator_of < typename A::template accumulator < rounding_site<inside<A, Terms>>,
1 >, rounding_site<inside<A, Terms>>, Terms > ;

/// \brief One after the other: ((0 + t₀) + t₁) + …, as a register that a loop adds into.
/// \tparam Inside scalar of the running sum
template <class Inside = as_terms>
struct sequential {
  using inside_type = Inside;  ///< scalar of the running sum, or `as_terms`

  /// \brief State of W sums side by side.
  /// \tparam Site operations of the running sum's scalar
  template <class Site, int W>
  class accumulator {
   public:
    using fragment_type = fragment<typename Site::scalar_type, W>;  ///< W sums
    /// \brief Adds the next term of each sum.
    template <class A>
    DEVIATE_HD void push(const Site& site, const fragment<A, W>& term) {
      sum_ = site.add(sum_, term);
    }
    /// \brief The sums of all terms pushed; +0 for none.
    DEVIATE_HD fragment_type total(const Site&) const { return sum_; }

   protected:
    /// The running sums.
    fragment_type sum_ = fill<typename Site::scalar_type, W>(carrier_of<typename Site::scalar_type>(0));
  };
};

/// \brief Sequential, each product fused into the sum: s ← a·b + s with one rounding, from +0. A term that is no product
/// is added.
///
/// The order of a loop of fused multiply-adds, and of a matrix unit that adds exact products into FP32 one by one.
/// \tparam Inside scalar of the running sum
template <class Inside = as_terms>
struct fused : sequential<Inside> {
  /// \brief State of W sums side by side.
  /// \tparam Site operations of the running sum's scalar
  template <class Site, int W>
  class accumulator : public sequential<Inside>::template accumulator<Site, W> {
   public:
    /// \brief Adds the next product of each sum.
    template <class A, class B>
    DEVIATE_HD void push_product(const Site& site, const fragment<A, W>& a, const fragment<B, W>& b) {
      this->sum_ = site.fma(a, b, this->sum_);
    }
  };
};

/// \brief Adds the next product of each sum, rounded by `product` first unless the accumulation fuses it.
/// \param to accumulator of W sums
/// \param site operations of the running sum's scalar
/// \param product operations of the products' scalar
/// \param a first factors
/// \param b second factors
template <class Accumulator, class Site, class Product, class A, class B, int W>
DEVIATE_HD void push_product(Accumulator& to, const Site& site, const Product& product, const fragment<A, W>& a,
                             const fragment<B, W>& b) {
  if constexpr (requires { to.push_product(site, a, b); })
    to.push_product(site, a, b);
  else
    to.push(site, product.multiply(a, b));
}

/// \brief K running sums: term i goes to sum i mod K; at the end they are added in a tree (distance 1, 2, 4, …).
///
/// The order of a vector unit with K lanes.
/// \tparam K number of sums, a power of two
template <int K, class Inside = as_terms>
struct lane_sums {
  static_assert(K > 0 && (K & (K - 1)) == 0, "the number of lane sums is a power of two");
  using inside_type = Inside;      ///< scalar of the running sum, or `as_terms`
  static constexpr int count = K;  ///< number of sums

  /// \brief State of W sums side by side.
  /// \tparam Site operations of the running sum's scalar
  template <class Site, int W>
  class accumulator {
   public:
    using fragment_type = fragment<typename Site::scalar_type, W>;  ///< W sums
    DEVIATE_HD accumulator() {
      for (int i = 0; i < K; ++i)
        sum_[i] = fill<typename Site::scalar_type, W>(carrier_of<typename Site::scalar_type>(0));
    }
    /// \brief Adds the next term of each sum.
    template <class A>
    DEVIATE_HD void push(const Site& site, const fragment<A, W>& term) {
      sum_[next_] = site.add(sum_[next_], term);
      next_ = (next_ + 1) & (K - 1);
    }
    /// \brief The sums of all terms pushed; +0 for none.
    DEVIATE_HD fragment_type total(const Site& site) const {
      fragment_type tree[K];
      for (int i = 0; i < K; ++i) tree[i] = sum_[i];
      return detail::add_tree(site, tree);
    }

   private:
    fragment_type sum_[K];
    int next_ = 0;
  };
};

/// \brief A binary tree over neighbours: (t₀ + t₁) + (t₂ + t₃) …; a sum of n terms behaves as if zeros followed.
///
/// Kept as a binary counter: a partial sum of 2^k terms waits at level k for its neighbour (at most 2^40 terms).
template <class Inside = as_terms>
struct pairwise {
  using inside_type = Inside;  ///< scalar of the running sum, or `as_terms`

  /// \brief State of W sums side by side.
  /// \tparam Site operations of the running sum's scalar
  template <class Site, int W>
  class accumulator {
   public:
    using fragment_type = fragment<typename Site::scalar_type, W>;  ///< W sums
    /// \brief Adds the next term of each sum.
    template <class A>
    DEVIATE_HD void push(const Site& site, const fragment<A, W>& term) {
      // Adding to +0 brings the term into the sum's scalar and turns −0 into +0.
      fragment_type carry = site.add(zero(), term);
      int level = 0;
      for (std::uint64_t n = count_; n & 1; n >>= 1, ++level) carry = site.add(level_[level], carry);
      level_[level] = carry;
      ++count_;
    }
    /// \brief The sums of all terms pushed; +0 for none.
    DEVIATE_HD fragment_type total(const Site& site) const {
      fragment_type sum = zero();
      int level = 0;
      for (std::uint64_t n = count_; n != 0; n >>= 1, ++level)
        if (n & 1) sum = site.add(level_[level], sum);
      return sum;
    }

   private:
    static DEVIATE_HD fragment_type zero() {
      return fill<typename Site::scalar_type, W>(carrier_of<typename Site::scalar_type>(0));
    }
    fragment_type level_[41];
    std::uint64_t count_ = 0;
  };
};

/// \brief The sum of terms that lie side by side in fragments: W terms of the same sum are pushed together.
///
/// The result is that of pushing them one by one into `Accumulation`'s accumulator; lane sums keep whole fragments.
template <class Accumulation, class Site, int W>
class row_accumulator {
 public:
  using fragment_type = fragment<typename Site::scalar_type, 1>;  ///< the sum
  /// \brief Adds the next terms, lane 0 first.
  /// \param site operations of the sum, at the place of lane 0
  /// \param terms W terms
  /// \param count how many of them are terms; the others are zeros, which change no bit
  template <class A>
  DEVIATE_HD void push(const Site& site, const fragment<A, W>& terms, [[maybe_unused]] int count = W) {
    if constexpr (W == 1)
      one_.push(site, terms);
    else
      for (int i = 0; i < W && i < count; ++i) one_.push(detail::beside(site, i), fragment<A, 1>{terms.value[i]});
  }
  /// \brief The sum of all terms pushed.
  DEVIATE_HD fragment_type total(const Site& site) const { return one_.total(site); }

 private:
  typename Accumulation::template accumulator<Site, 1> one_;
};

/// \brief True if W terms of a row are added at once; other sums are as quick only for several rows at a time.
template <class Accumulation, int W>
inline constexpr bool adds_whole_fragments = W == 1;
/// \brief Of lane sums.
template <int K, class Inside, int W>
inline constexpr bool adds_whole_fragments<lane_sums<K, Inside>, W> = K % W == 0;

/// \brief Lane sums keep whole fragments: the same order, a vector at a time.
template <int K, class Inside, class Site, int W>
requires(W > 1 && K % W == 0) class row_accumulator<lane_sums<K, Inside>, Site, W> {
 public:
  using scalar_type = typename Site::scalar_type;  ///< scalar of the sum
  using fragment_type = fragment<scalar_type, 1>;  ///< the sum
  DEVIATE_HD row_accumulator() {
    for (int g = 0; g < K / W; ++g) group_[g] = fill<scalar_type, W>(carrier_of<scalar_type>(0));
  }
  /// \brief Adds the next W terms, lane 0 first; those that are not terms are zeros, which change no bit.
  template <class A>
  DEVIATE_HD void push(const Site& site, const fragment<A, W>& terms, int = W) {
    group_[next_] = site.add(group_[next_], terms);
    next_ = next_ + 1 == K / W ? 0 : next_ + 1;
  }
  /// \brief The sum of all terms pushed.
  DEVIATE_HD fragment_type total(const Site& site) const {
    // The lanes of all groups, in order, are the K sums: the tree joins the lanes of a group first.
    fragment_type tree[K / W];
    for (int g = 0; g < K / W; ++g)
      tree[g].value = fold_neighbours(group_[g].value, [&](const auto& a, const auto& b) DEVIATE_HD_LAMBDA {
        using half = fragment<scalar_type, lane_width<std::decay_t<decltype(a)>>>;
        return site.add(half{a}, half{b}).value;
      });
    return detail::add_tree(site, tree);
  }

 private:
  fragment<scalar_type, W> group_[K / W];
  int next_ = 0;
};

}  // namespace deviate::accumulate
