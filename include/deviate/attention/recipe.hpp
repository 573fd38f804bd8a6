// SPDX-License-Identifier: Apache-2.0
/// \file recipe.hpp
/// \brief Which scalar each site uses and how each sum is accumulated: composed, not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deviate/accumulate/accumulation.hpp>
#include <deviate/attention/exponential.hpp>
#include <deviate/attention/site.hpp>
#include <deviate/math/site_operations.hpp>
#include <deviate/number/runtime_format.hpp>
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
/// A compile-time recipe is an empty type. A recipe with `runtime_scalar` sites carries a format for each.
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

/// Formats of the run-time sites of a recipe; nothing where there are none.
template <bool Needed>
struct runtime_formats {};
template <>
struct runtime_formats<true> {
  format formats[site_count];  ///< by site; read only where the site's scalar is a runtime_scalar

  runtime_formats() = default;
  /// \brief Every run-time site uses `f`.
  explicit runtime_formats(const format& f) {
    for (format& site_format : formats) site_format = f;
  }
};

/// The scalars of a recipe, one by one.
template <class Recipe, std::size_t... I>
constexpr bool any_runtime(std::index_sequence<I...>) {
  return (scalar_traits<typename Recipe::template scalar<site(I)>>::is_runtime || ...);
}
template <class Recipe, std::size_t... I>
constexpr bool any_software(std::index_sequence<I...>) {
  return (is_software<typename Recipe::template scalar<site(I)>> || ...);
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

  /// \brief True if some site's scalar is a `runtime_scalar`: then the recipe object carries formats.
  static constexpr bool has_runtime = detail::any_runtime<types>(std::make_index_sequence<std::size_t(site_count)>{});
  /// \brief True if some site's scalar is a software scalar: then fragments have one lane.
  static constexpr bool has_software = detail::any_software<types>(std::make_index_sequence<std::size_t(site_count)>{});
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
    if constexpr (scalar_traits<scalar<S>>::is_runtime)
      return site_operations<scalar<S>>{
          typename scalar_traits<scalar<S>>::rounder{this->formats[int(S)], shares_one_format()}};
    else
      return {};
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
/// Inside a sum the operations are those of the accumulation's own scalar: `score_sum`, `row_sum_inside`, `value_sum`.
template <class Recipe>
struct forward_sites {
  /// \brief exp(x − m), with the recipe's exponential: the argument rounded at `shifted_score`, the result at `result`.
  template <class Site, class X, class M>
  DEVIATE_HD auto exp(const Site& result, const X& x, const M& m) const {
    return Recipe::exponential_type::of(shifted_score, result, x, m);
  }
  /// \brief Operations of a site.
  template <site S>
  using operations = site_operations<typename Recipe::template scalar<S>>;
  /// \brief Operations inside the sum that ends in a site.
  template <site Sum, site Terms>
  using inside = site_operations<
      accumulate::inside<typename Recipe::template accumulation<Sum>, typename Recipe::template scalar<Terms>>>;

  /// \brief The sites of a recipe object, formats included.
  explicit forward_sites(const Recipe& r)
      : input(r.template operations<site::input>()),
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
        score_sum(inside_sum<site::score, site::score_product>(r)),
        row_sum_inside(inside_sum<site::row_sum_partial, site::row_sum_partial>(r)),
        value_sum(inside_sum<site::value_partial, site::value_product>(r)) {}

  operations<site::input> input;                                        ///< site::input
  operations<site::score_product> score_product;                        ///< site::score_product
  operations<site::score> score;                                        ///< site::score
  operations<site::row_max> row_max;                                    ///< site::row_max
  operations<site::shifted_score> shifted_score;                        ///< site::shifted_score
  operations<site::probability> probability;                            ///< site::probability
  operations<site::probability_operand> probability_operand;            ///< site::probability_operand
  operations<site::row_sum_partial> row_sum_partial;                    ///< site::row_sum_partial
  operations<site::row_sum> row_sum;                                    ///< site::row_sum
  operations<site::rescale_factor> rescale_factor;                      ///< site::rescale_factor
  operations<site::rescaled_sum> rescaled_sum;                          ///< site::rescaled_sum
  operations<site::rescaled_output> rescaled_output;                    ///< site::rescaled_output
  operations<site::value_product> value_product;                        ///< site::value_product
  operations<site::value_partial> value_partial;                        ///< site::value_partial
  operations<site::output_state> output_state;                          ///< site::output_state
  operations<site::normalizer> normalizer;                              ///< site::normalizer
  operations<site::output> output;                                      ///< site::output
  operations<site::log_sum_exp> log_sum_exp;                            ///< site::log_sum_exp
  inside<site::score, site::score_product> score_sum;                   ///< inside the sum over d of Q·Kᵀ
  inside<site::row_sum_partial, site::row_sum_partial> row_sum_inside;  ///< inside the row sum of a tile
  inside<site::value_partial, site::value_product> value_sum;           ///< inside the sum over keys of P·V

 private:
  template <site Sum, site Terms>
  static inside<Sum, Terms> inside_sum(const Recipe& r) {
    if constexpr (std::is_same_v<inside<Sum, Terms>, operations<Terms>>)
      return r.template operations<Terms>();
    else
      return {};
  }
};

}  // namespace deviate
