// SPDX-License-Identifier: Apache-2.0
/// \file switchable.hpp
/// \brief A recipe whose sites are switched, at run time, between the recipe's own scalars and double: the instrument of
/// error attribution.
#pragma once

#include <cmath>
#include <cstdint>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/attention/problem.hpp>
#include <deviate/attention/recipe.hpp>
#include <deviate/number/switched.hpp>
#include <type_traits>

namespace deviate {

/// \brief A set of sites; bit i is site number i.
class site_set {
 public:
  constexpr site_set() = default;
  /// \brief These sites.
  template <class... Sites>
  requires(std::is_same_v<Sites, site>&&...) constexpr explicit site_set(Sites... sites) {
    ((bits_ |= bit(sites)), ...);
  }
  /// \brief Every site.
  static constexpr site_set all() {
    site_set r;
    r.bits_ = (std::uint32_t(1) << site_count) - 1;
    return r;
  }
  /// \brief True if the site is in the set.
  constexpr bool contains(site s) const { return (bits_ & bit(s)) != 0; }
  /// \brief True if no site is.
  constexpr bool empty() const { return bits_ == 0; }
  /// \brief Both sets together.
  friend constexpr site_set operator|(site_set a, site_set b) {
    a.bits_ |= b.bits_;
    return a;
  }
  /// \brief What both have.
  friend constexpr site_set operator&(site_set a, site_set b) {
    a.bits_ &= b.bits_;
    return a;
  }
  /// \brief What is in the first alone.
  friend constexpr site_set operator-(site_set a, site_set b) {
    a.bits_ &= ~b.bits_;
    return a;
  }
  /// \brief The same sites.
  friend constexpr bool operator==(site_set, site_set) = default;

 private:
  static constexpr std::uint32_t bit(site s) { return std::uint32_t(1) << int(s); }
  std::uint32_t bits_ = 0;
};

/// \brief The formats a recipe rounds to, site by site, with their modes.
struct recipe_formats {
  format of_site[site_count];  ///< what a value produced at the site is rounded to
  format row_sum_inside;       ///< inside the row sum of a tile
  format scale;                ///< what the scale is held in: binary32 or binary64
};

namespace detail {

/// The same order of additions, over another scalar.
template <class Accumulation, class Inside>
struct over_scalar;
template <class I, class Inside>
struct over_scalar<accumulate::sequential<I>, Inside> {
  using type = accumulate::sequential<Inside>;
};
template <class I, class Inside>
struct over_scalar<accumulate::fused<I>, Inside> {
  using type = accumulate::fused<Inside>;
};
template <int K, class I, class Inside>
struct over_scalar<accumulate::lane_sums<K, I>, Inside> {
  using type = accumulate::lane_sums<K, Inside>;
};
template <class I, class Inside>
struct over_scalar<accumulate::pairwise<I>, Inside> {
  using type = accumulate::pairwise<Inside>;
};

/// The scalars of a switchable recipe: values that are stored, and values inside the sums.
struct switched_sites {
  template <site>
  using stored = wide_runtime;
  template <site>
  using inside = switched;
};

template <class Low, class Sites, class Exponential>
struct switchable_of {
  template <site Sum>
  using summation = typename Low::template accumulation<Sum>;
  template <site Sum>
  using as_terms = typename over_scalar<summation<Sum>, accumulate::as_terms>::type;
  static_assert(std::is_same_v<typename summation<site::score>::inside_type, accumulate::as_terms> &&
                    std::is_same_v<typename summation<site::value_partial>::inside_type, accumulate::as_terms>,
                "switchable: the sums of Q·K and P·V must be computed in the scalar of their products");

  template <class>
  struct over;
  template <std::size_t... I>
  struct over<std::index_sequence<I...>> {
    using type =
        recipe<double, at<site(I), typename Sites::template stored<site(I)>>..., at<site::input, double>,
               at<site::score_product, typename Sites::template inside<site::score_product>>,
               at<site::value_product, typename Sites::template inside<site::value_product>>,
               summed<site::score, as_terms<site::score>>, summed<site::value_partial, as_terms<site::value_partial>>,
               summed<site::row_sum_partial,
                      typename over_scalar<summation<site::row_sum_partial>,
                                           typename Sites::template inside<site::row_sum_partial>>::type>,
               normalized<Low::when_normalized>, divided<Low::how_divided>, exponential<Exponential>>;
  };
  using type = typename over<std::make_index_sequence<std::size_t(site_count)>>::type;
};

template <class S, class Recipe>
format format_of(const Recipe& r, site where) {
  if constexpr (scalar_traits<S>::is_runtime)
    return r.formats[int(where)];
  else
    return scalar_traits<S>::holds;
}

template <class Low, std::size_t... I>
recipe_formats formats_of(const Low& r, std::index_sequence<I...>) {
  static_assert(!Low::has_software && !Low::has_random, "switchable: a recipe of native, emulated or run-time formats");
  recipe_formats f{{format_of<typename Low::template scalar<site(I)>>(r, site(I))...}, binary64, binary64};
  using inside = inside_sum<Low, site::row_sum_partial, site::row_sum_partial>;
  f.row_sum_inside = f.of_site[int(site::row_sum_partial)];
  if constexpr (!std::is_same_v<inside, typename Low::template scalar<site::row_sum_partial>>) {
    if constexpr (scalar_traits<inside>::is_runtime)
      f.row_sum_inside = r.row_sum_inside;
    else
      f.row_sum_inside = scalar_traits<inside>::holds;
  }
  if constexpr (std::is_same_v<wide_scalar<typename Low::template scalar<site::score>>, float>) f.scale = binary32;
  return f;
}

}  // namespace detail

/// \brief The formats of a recipe object.
template <class Low>
recipe_formats formats_of(const Low& r) {
  return detail::formats_of(r, std::make_index_sequence<std::size_t(site_count)>{});
}

/// \brief A recipe in the order of Low, whose sites round to what they are told: every stored value through the exact
/// result (`wide_runtime`), every value inside a sum through the double one (`switched`).
///
/// Inputs are held in double and are not rounded. In the formats of Low it has the bits of Low wherever the operands of
/// the sums have at most 12 significand bits; elsewhere a sum may be rounded twice.
/// \tparam Low a recipe of native, emulated or run-time formats
/// \tparam Exponential as in a recipe; by default that of Low
template <class Low, class Exponential = typename Low::exponential_type>
using switchable = typename detail::switchable_of<Low, detail::switched_sites, Exponential>::type;

/// \brief A switchable recipe object in which the sites of `low` round as in `formats`, and all others not at all.
template <class Switchable>
Switchable switched_to(const recipe_formats& formats, site_set low) {
  Switchable r(binary64);
  for (int i = 0; i < site_count; ++i)
    if (low.contains(site(i))) r.formats[i] = formats.of_site[i];
  if (low.contains(site::row_sum_partial)) r.row_sum_inside = formats.row_sum_inside;
  return r;
}

/// \brief The problem as such a recipe object sees it: the scale is rounded where the score is.
inline problem switched_problem(const problem& p, const recipe_formats& formats, site_set low, std::int64_t d) {
  problem r = p;
  const double scale = p.scale ? *p.scale : 1.0 / std::sqrt(double(d));
  r.scale = low.contains(site::score) && formats.scale == binary32 ? double(float(scale)) : scale;
  return r;
}

}  // namespace deviate
