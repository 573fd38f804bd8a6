// SPDX-License-Identifier: Apache-2.0
/// \file recipe.hpp
/// \brief Which scalar each site uses and how each sum is accumulated: composed, not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deviate/accumulate/accumulation.hpp>
#include <deviate/attention/detail/recipe_data.hpp>
#include <deviate/attention/exponential.hpp>
#include <deviate/attention/located_site.hpp>
#include <deviate/attention/observed.hpp>
#include <deviate/attention/site.hpp>
#include <deviate/contract.hpp>
#include <deviate/math/scalar_with_functions.hpp>
#include <deviate/math/site_operations.hpp>
#include <type_traits>
#include <utility>

namespace deviate {

/// \name Changes to a recipe
/// @{
/// \brief The site uses this scalar.
template <site Where, class Scalar>
struct at {};
/// \brief The sum that ends in this site (score, row_sum_partial or value_partial) is accumulated so.
template <site Where, class Accumulation>
struct summed {};

/// \brief When the output state is divided by the row sum.
enum class normalization : std::uint8_t {
  once,        ///< after the last tile, as FlashAttention-2 does
  every_tile,  ///< after every tile, as FlashAttention (1), Algorithm 1, does
};
template <normalization When>
struct normalized {};

/// \brief How a value is divided by the row sum.
enum class division : std::uint8_t {
  direct,      ///< O ÷ l, one rounding
  reciprocal,  ///< O × (1 ÷ l), with 1 ÷ l rounded at site::normalizer, as kernels do
};
template <division How>
struct divided {};

/// \brief `probability` and `rescale_factor` are computed by this function instead of the correctly rounded exp.
/// \tparam Function see exponential_function in exponential.hpp
template <class Function>
struct exponential {};
/// @}

/// \brief A recipe: one scalar for every site, then changes; a later change wins over an earlier one.
///
/// A compile-time recipe is an empty type. A recipe with `runtime_scalar` sites carries a format for each; one with
/// stochastic sites carries a seed, which with a rounding's site, head, row, column and step names its random bits; one
/// with observed sites carries a pointer to the observer.
/// \code
/// using kernel  = recipe<float, at<site::probability_operand, bf16>, at<site::output, bf16>>;   // FP32 state
/// using suspect = with<kernel, at<site::output_state, bf16>>;  // … but O stored in BF16
/// \endcode
/// \tparam Default scalar of every site that no change names
/// \tparam Changes `at`, `summed`, `normalized`, `divided`, `exponential`
template <class Default, class... Changes>
struct recipe;

namespace detail {

template <class T>
struct type_is {
  using type = T;
};

template <site S, class Found, class... Changes>
struct find_scalar {
  using type = Found;
};
template <site S, class Found, class Scalar, class... Rest>
struct find_scalar<S, Found, at<S, Scalar>, Rest...> : find_scalar<S, Scalar, Rest...> {};
template <site S, class Found, class Other, class... Rest>
struct find_scalar<S, Found, Other, Rest...> : find_scalar<S, Found, Rest...> {};

template <site S, class Found, class... Changes>
struct find_sum {
  using type = Found;
};
template <site S, class Found, class Accumulation, class... Rest>
struct find_sum<S, Found, summed<S, Accumulation>, Rest...> : find_sum<S, Accumulation, Rest...> {};
template <site S, class Found, class Other, class... Rest>
struct find_sum<S, Found, Other, Rest...> : find_sum<S, Found, Rest...> {};

template <class Found, class... Changes>
struct find_exponential {
  using type = Found;
};
template <class Found, class Function, class... Rest>
struct find_exponential<Found, exponential<Function>, Rest...> : find_exponential<Function, Rest...> {};
template <class Found, class Other, class... Rest>
struct find_exponential<Found, Other, Rest...> : find_exponential<Found, Rest...> {};

constexpr normalization latest(normalization found, ...) { return found; }
template <normalization When>
constexpr normalization latest(normalization, type_is<normalized<When>>*) {
  return When;
}
constexpr division latest(division found, ...) { return found; }
template <division How>
constexpr division latest(division, type_is<divided<How>>*) {
  return How;
}
/// The last change of a policy's kind, or the value it starts from.
template <class Policy, class... Changes>
constexpr Policy latest_of(Policy found) {
  ((found = latest(found, static_cast<type_is<Changes>*>(nullptr))), ...);
  return found;
}

/// The scalars of a recipe, one by one.
template <class Recipe, std::size_t... I>
constexpr bool any_runtime(std::index_sequence<I...>) {
  return (scalar_traits<typename Recipe::template scalar<site(I)>>::is_runtime || ...);
}
template <class Recipe, std::size_t... I>
constexpr bool any_software(std::index_sequence<I...>) {
  return (is_software<typename Recipe::template scalar<site(I)>> || ...);
}

/// Only the terms of the two products may be less than a scalar.
template <class S, site Where>
inline constexpr bool fits =
    Where == site::score_product || Where == site::value_product ? product_scalar<S> : scalar<S>;
template <class Recipe, std::size_t... I>
constexpr bool every_scalar_fits(std::index_sequence<I...>) {
  return (fits<typename Recipe::template scalar<site(I)>, site(I)> && ...);
}
/// Where a software scalar takes part, the function is its own: the result's, or else the operand's.
template <class Recipe, site Result, site Operand>
using scalar_of_function =
    std::conditional_t<is_software<typename Recipe::template scalar<Result>>, typename Recipe::template scalar<Result>,
                       typename Recipe::template scalar<Operand>>;

/// The sum that ends in a site takes terms of another.
template <class Recipe, site Sum, site Terms>
inline constexpr bool adds_up =
    accumulate::accumulation<typename Recipe::template accumulation<Sum>, typename Recipe::template scalar<Terms>>;
template <class Recipe, site Sum, site Terms>
using inside_sum =
    accumulate::inside<typename Recipe::template accumulation<Sum>, typename Recipe::template scalar<Terms>>;
template <class Recipe, std::size_t... I>
constexpr bool any_random(std::index_sequence<I...>) {
  return (rounds_at_random<typename Recipe::template scalar<site(I)>> || ...) ||
         rounds_at_random<inside_sum<Recipe, site::score, site::score_product>> ||
         rounds_at_random<inside_sum<Recipe, site::row_sum_partial, site::row_sum_partial>> ||
         rounds_at_random<inside_sum<Recipe, site::value_partial, site::value_product>>;
}

template <class Recipe, std::size_t... I>
constexpr bool any_observed(std::index_sequence<I...>) {
  return (is_observed<typename Recipe::template scalar<site(I)>> || ...) ||
         is_observed<inside_sum<Recipe, site::score, site::score_product>> ||
         is_observed<inside_sum<Recipe, site::row_sum_partial, site::row_sum_partial>> ||
         is_observed<inside_sum<Recipe, site::value_partial, site::value_product>>;
}

template <class Default, class... Changes>
struct recipe_types {
  template <site S>
  using scalar = typename find_scalar<S, Default, Changes...>::type;
  template <site S>
  using accumulation = typename find_sum<S, accumulate::sequential<>, Changes...>::type;
};

}  // namespace detail

template <class Default, class... Changes>
struct recipe : detail::runtime_formats<detail::any_runtime<detail::recipe_types<Default, Changes...>>(
                    std::make_index_sequence<std::size_t(site_count)>{})>,
                detail::random_source<detail::any_random<detail::recipe_types<Default, Changes...>>(
                    std::make_index_sequence<std::size_t(site_count)>{})>,
                detail::observer_link<detail::any_observed<detail::recipe_types<Default, Changes...>>(
                    std::make_index_sequence<std::size_t(site_count)>{})> {
  using types = detail::recipe_types<Default, Changes...>;  ///< lookup of scalars and accumulations
  /// \brief Scalar of a site.
  template <site S>
  using scalar = typename types::template scalar<S>;
  /// \brief Accumulation of the sum that ends in a site.
  template <site S>
  using accumulation = typename types::template accumulation<S>;

  /// \brief The exp of `probability` and `rescale_factor`.
  using exponential_type = typename detail::find_exponential<natural_exponential, Changes...>::type;
  static_assert(exponential_function<exponential_type>, "the recipe's exponential is not an exponential_function");
  static_assert(
      detail::every_scalar_fits<types>(std::make_index_sequence<std::size_t(site_count)>{}),
      "a type that the recipe names for a site is not a scalar: number/scalar_concept.hpp says what it lacks");
  static_assert(scalar_with_exp<detail::scalar_of_function<types, site::probability, site::shifted_score>> &&
                    scalar_with_exp<detail::scalar_of_function<types, site::rescale_factor, site::shifted_score>>,
                "the scalar of probability, rescale_factor or shifted_score is not a scalar_with_exp");
  static_assert(scalar_with_log<detail::scalar_of_function<types, site::log_sum_exp, site::row_sum>>,
                "the scalar of log_sum_exp or row_sum is not a scalar_with_log");
  static_assert(detail::adds_up<types, site::score, site::score_product> &&
                    detail::adds_up<types, site::row_sum_partial, site::row_sum_partial> &&
                    detail::adds_up<types, site::value_partial, site::value_product>,
                "a type that `summed` names is not an accumulation: accumulate/accumulation.hpp says what it lacks");

  /// \brief True if some site's scalar is a `runtime_scalar`: then the recipe object carries formats.
  static constexpr bool has_runtime = detail::any_runtime<types>(std::make_index_sequence<std::size_t(site_count)>{});
  /// \brief True if some site's scalar is a software scalar: then fragments have one lane.
  static constexpr bool has_software = detail::any_software<types>(std::make_index_sequence<std::size_t(site_count)>{});
  /// \brief True if some site rounds stochastically: then the recipe object carries a seed.
  static constexpr bool has_random = detail::any_random<types>(std::make_index_sequence<std::size_t(site_count)>{});
  /// \brief True if some site is observed: then the recipe object names the observer, and fragments have one lane.
  static constexpr bool has_observed = detail::any_observed<types>(std::make_index_sequence<std::size_t(site_count)>{});
  /// \brief When O is divided by l.
  static constexpr normalization when_normalized = detail::latest_of<normalization, Changes...>(normalization::once);
  /// \brief How a value is divided by l.
  static constexpr division how_divided = detail::latest_of<division, Changes...>(division::direct);

  using detail::runtime_formats<has_runtime>::runtime_formats;
  recipe() = default;

  /// \brief True if all run-time sites have the same format, so that each may rely on its operands' being members of it.
  bool shares_one_format() const requires has_runtime {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      const format* first = nullptr;
      bool same = true;
      const auto compare = [&](const format& f) {
        if (first == nullptr) first = &f;
        same = same && f == *first;
      };
      ((scalar_traits<scalar<site(I)>>::is_runtime ? compare(this->formats[I]) : void()), ...);
      return same;
    }
    (std::make_index_sequence<std::size_t(site_count)>{});
  }

  /// \brief The operations of a site.
  template <site S>
  site_operations<scalar<S>> operations() const {
    return operations_in<scalar<S>>(S, int(S));
  }
  /// \brief The operations inside the sum that ends in Sum, of terms rounded at Terms: in its own scalar, or as its
  /// terms.
  template <site Sum, site Terms>
  site_operations<detail::inside_sum<recipe, Sum, Terms>> operations_inside() const {
    using inside = detail::inside_sum<recipe, Sum, Terms>;
    using plain = plain_scalar<inside>;
    site_operations<plain> inner;
    if constexpr (std::is_same_v<inside, scalar<Terms>> ||
                  (rounds_at_random<inside> && !scalar_traits<inside>::is_runtime))
      inner = operations_in<plain>(Terms, site_count + int(Sum));
    else if constexpr (scalar_traits<inside>::is_runtime && Sum == site::row_sum_partial)
      inner = site_operations<plain>{typename scalar_traits<plain>::rounder{this->row_sum_inside}};
    if constexpr (is_observed<inside>)
      return site_operations<inside>(inner, this->seen_by, Terms, true);
    else
      return inner;
  }

 private:
  /// A site's operations in Scalar, with the site's format; its random bits are those of the stream.
  template <class Scalar>
  site_operations<Scalar> operations_in([[maybe_unused]] site s, [[maybe_unused]] int stream) const {
    using rounder [[maybe_unused]] = typename scalar_traits<Scalar>::rounder;
    if constexpr (is_observed<Scalar>) {
      return {operations_in<plain_scalar<Scalar>>(s, stream), this->seen_by, s, false};
    } else if constexpr (rounds_at_random<Scalar>) {
      const random_place start(stochastic_rounder(this->seed).stream(std::uint64_t(stream)));
      if constexpr (scalar_traits<Scalar>::is_runtime) {
        const format& f = this->formats[int(s)];
        // A number of the carrier's own format is left as it is, whatever the random bits.
        const bool exact = f.fraction_bits == native_format<carrier_of<Scalar>>.fraction_bits;
        expects(this->random_bits >= 1 && (exact || this->random_bits <= most_random_bits_for<carrier_of<Scalar>>(f)),
                "recipe: random_bits is not in 1 … 23, or in 1 … 52 − p where double holds a format of p bits");
        return site_operations<Scalar>{rounder{f, this->random_bits, start}};
      } else {
        return site_operations<Scalar>{rounder{start}};
      }
    } else if constexpr (scalar_traits<Scalar>::is_runtime) {
      const format& f = this->formats[int(s)];
      expects(f.rounding != rounding_mode::stochastic,
              "recipe: a runtime_scalar has no random bits: stochastic_runtime rounds stochastically");
      return site_operations<Scalar>{rounder{f, shares_one_format()}};
    } else {
      return {};
    }
  }
};

namespace detail {
template <class Recipe, class... Changes>
struct changed;
template <class Default, class... Earlier, class... Changes>
struct changed<recipe<Default, Earlier...>, Changes...> {
  using type = recipe<Default, Earlier..., Changes...>;
};
}  // namespace detail

/// \brief This recipe, with changes.
template <class Recipe, class... Changes>
using with = typename detail::changed<Recipe, Changes...>::type;

/// \brief The sites of a recipe by name, so that an algorithm reads as the paper does. Built once per launch.
///
/// A site's operations are asked for where they are used: `at.score_product.here(row, column, step)`.
/// Inside a sum the operations are those of the accumulation's own scalar: `score_sum`, `row_sum_inside`, `value_sum`.
template <class Recipe>
struct forward_sites {
  /// \brief A site of the recipe.
  template <site S>
  using located = located_site<typename Recipe::template scalar<S>>;
  /// \brief Inside the sum that ends in a site.
  template <site Sum, site Terms>
  using inside = located_site<detail::inside_sum<Recipe, Sum, Terms>>;

  /// \brief The sites of a recipe object, formats and seed included.
  explicit forward_sites(const Recipe& r)
      : input(r.template operations<site::input>()),
        key_input(r.template operations<site::input>()),
        score_product(r.template operations<site::score_product>()),
        score(r.template operations<site::score>()),
        row_max(r.template operations<site::row_max>()),
        shifted_score(r.template operations<site::shifted_score>()),
        probability(r.template operations<site::probability>()),
        probability_operand(r.template operations<site::probability_operand>()),
        row_sum_partial(r.template operations<site::row_sum_partial>()),
        row_sum(r.template operations<site::row_sum>()),
        rescale_factor(r.template operations<site::rescale_factor>()),
        rescaled_sum(r.template operations<site::rescaled_sum>()),
        rescaled_output(r.template operations<site::rescaled_output>()),
        value_product(r.template operations<site::value_product>()),
        value_partial(r.template operations<site::value_partial>()),
        output_state(r.template operations<site::output_state>()),
        normalizer(r.template operations<site::normalizer>()),
        output(r.template operations<site::output>()),
        log_sum_exp(r.template operations<site::log_sum_exp>()),
        score_sum(r.template operations_inside<site::score, site::score_product>()),
        row_sum_inside(r.template operations_inside<site::row_sum_partial, site::row_sum_partial>()),
        value_sum(r.template operations_inside<site::value_partial, site::value_product>()) {}

  /// \brief exp(x − m) with the recipe's exponential: the argument rounded at `shifted_score`, the result at `result`.
  template <class Site, class X, class M>
  DEVIATE_HD auto exp(const Site& result, const place& where, const X& x, const M& m) const {
    return Recipe::exponential_type::of(shifted_score.here(where), result.here(where), x, m);
  }

  /// \brief The sites as one head sees them. K and V are rounded as their own head is, whichever query head reads them.
  /// \param query_head number of the query head, over all batches
  /// \param key_head number of the key head, over all batches
  DEVIATE_HD decltype(auto) of_head([[maybe_unused]] std::int64_t query_head,
                                    [[maybe_unused]] std::int64_t key_head) const {
    if constexpr (Recipe::has_random || Recipe::has_observed) {
      forward_sites r = *this;
      const auto enter = [&](auto&... sites) DEVIATE_HD_LAMBDA { (sites.enter(query_head), ...); };
      enter(r.input, r.score_product, r.score, r.row_max, r.shifted_score, r.probability, r.probability_operand,
            r.row_sum_partial, r.row_sum, r.rescale_factor, r.rescaled_sum, r.rescaled_output, r.value_product,
            r.value_partial, r.output_state, r.normalizer, r.output, r.log_sum_exp, r.score_sum, r.row_sum_inside,
            r.value_sum);
      r.key_input.enter(key_head);
      return r;
    } else {
      return (*this);
    }
  }

  located<site::input> input;                                           ///< site::input of Q
  located<site::input> key_input;                                       ///< site::input of K and V
  located<site::score_product> score_product;                           ///< site::score_product
  located<site::score> score;                                           ///< site::score
  located<site::row_max> row_max;                                       ///< site::row_max
  located<site::shifted_score> shifted_score;                           ///< site::shifted_score
  located<site::probability> probability;                               ///< site::probability
  located<site::probability_operand> probability_operand;               ///< site::probability_operand
  located<site::row_sum_partial> row_sum_partial;                       ///< site::row_sum_partial
  located<site::row_sum> row_sum;                                       ///< site::row_sum
  located<site::rescale_factor> rescale_factor;                         ///< site::rescale_factor
  located<site::rescaled_sum> rescaled_sum;                             ///< site::rescaled_sum
  located<site::rescaled_output> rescaled_output;                       ///< site::rescaled_output
  located<site::value_product> value_product;                           ///< site::value_product
  located<site::value_partial> value_partial;                           ///< site::value_partial
  located<site::output_state> output_state;                             ///< site::output_state
  located<site::normalizer> normalizer;                                 ///< site::normalizer
  located<site::output> output;                                         ///< site::output
  located<site::log_sum_exp> log_sum_exp;                               ///< site::log_sum_exp
  inside<site::score, site::score_product> score_sum;                   ///< inside the sum over d of Q·Kᵀ
  inside<site::row_sum_partial, site::row_sum_partial> row_sum_inside;  ///< inside the row sum of a tile
  inside<site::value_partial, site::value_product> value_sum;           ///< inside the sum over keys of P·V
};

}  // namespace deviate
