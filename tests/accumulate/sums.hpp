// SPDX-License-Identifier: Apache-2.0
// What the tests of accumulate/ share: sums through the library, in every arrangement, and terms for them.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <deviate/accumulate/accumulation.hpp>
#include <deviate/number/named.hpp>
#include <type_traits>
#include <vector>

#include "attention/inputs.hpp"

namespace accumulate_test {

using namespace attention_test;

template <class C>
bool same(C a, C b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// A number from its carrier, and back.
template <class S>
S number(dv::carrier_of<S> x) {
  if constexpr (std::is_floating_point_v<S>)
    return x;
  else
    return S::from_carrier(x);
}
template <class S>
dv::carrier_of<S> carrier(const S& x) {
  if constexpr (std::is_floating_point_v<S>)
    return x;
  else
    return x.carrier();
}

// Members of S of either sign, whose magnitudes span a factor of 2^9 and more.
template <class S>
std::vector<dv::carrier_of<S>> terms_of(std::size_t n, std::uint64_t seed) {
  generator g(seed);
  std::vector<dv::carrier_of<S>> terms;
  for (std::size_t i = 0; i < n; ++i) {
    // A third fills every significand.
    const double x = std::ldexp((g.two_sided() + 0.25) / 3, int(g.bits() % 9));
    terms.push_back(carrier(S(x)));
  }
  return terms;
}

// ---- The library's sums ---------------------------------------------------------------------------------------------

// One sum, term after term.
template <class Accumulation, class Inside, class Terms = Inside>
dv::carrier_of<Inside> sum(const std::vector<dv::carrier_of<Terms>>& terms) {
  const dv::rounding_site<Inside> site;
  typename Accumulation::template accumulator<dv::rounding_site<Inside>, 1> total;
  for (const auto& t : terms) total.push(site, dv::fragment<Terms, 1>{t});
  return total.total(site).value;
}

// W sums side by side; sum w takes the terms of `terms` rotated by w.
template <class Accumulation, int W, class Inside, class Terms = Inside>
std::vector<dv::carrier_of<Inside>> side_by_side(const std::vector<dv::carrier_of<Terms>>& terms) {
  const dv::rounding_site<Inside> site;
  typename Accumulation::template accumulator<dv::rounding_site<Inside>, W> total;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::vector<dv::carrier_of<Terms>> adjacent;
    for (std::size_t w = 0; w < W; ++w) adjacent.push_back(terms[(i + w) % terms.size()]);
    total.push(site, dv::load<Terms, W>(adjacent.data()));
  }
  std::vector<dv::carrier_of<Inside>> result(W);
  dv::store(result.data(), total.total(site));
  return result;
}

// One sum of terms that lie W side by side.
template <class Accumulation, int W, class Inside, class Terms = Inside>
dv::carrier_of<Inside> along_a_row(std::vector<dv::carrier_of<Terms>> terms) {
  const dv::rounding_site<Inside> site;
  while (terms.size() % W != 0) terms.push_back(0);
  dv::accumulate::row_accumulator<Accumulation, dv::rounding_site<Inside>, W> total;
  for (std::size_t i = 0; i < terms.size(); i += W) total.push(site, dv::load<Terms, W>(terms.data() + i));
  return total.total(site).value;
}

// ---- What holds of every accumulation -------------------------------------------------------------------------------

// Sums side by side and along a row have the bits of plain ones, for every width.
template <class Accumulation, class Inside, class Terms = Inside>
void check_arrangements() {
  const auto check = [](auto width) {
    constexpr int W = decltype(width)::value;
    for (const std::size_t n : {1u, 7u, 16u, 33u, 70u}) {
      const auto terms = terms_of<Terms>(n, 3 * n);
      CAPTURE(n);
      CHECK(same(along_a_row<Accumulation, W, Inside, Terms>(terms), sum<Accumulation, Inside, Terms>(terms)));
      const auto got = side_by_side<Accumulation, W, Inside, Terms>(terms);
      for (std::size_t w = 0; w < W; ++w) {
        std::vector<dv::carrier_of<Terms>> rotated;
        for (std::size_t i = 0; i < n; ++i) rotated.push_back(terms[(i + w) % n]);
        CHECK(same(got[w], sum<Accumulation, Inside, Terms>(rotated)));
      }
    }
  };
  check(std::integral_constant<int, 1>{});
  check(std::integral_constant<int, 4>{});
  check(std::integral_constant<int, 8>{});
  check(std::integral_constant<int, 16>{});
}

// Zero terms of either sign change nothing, and no sum is −0.
template <class Accumulation, class Inside, class Terms = Inside>
void check_zeros() {
  using C = dv::carrier_of<Terms>;
  const auto total = [](const std::vector<C>& terms) { return sum<Accumulation, Inside, Terms>(terms); };
  const auto is_plus_zero = [](auto x) { return x == 0 && !std::signbit(x); };
  CHECK(is_plus_zero(total({})));
  for (std::size_t n = 1; n <= 40; ++n) CHECK(is_plus_zero(total(std::vector<C>(n, C(-0.0)))));
  CHECK(is_plus_zero(total({1, -1, C(0.5), C(-0.5)})));
  for (std::size_t n = 1; n <= 40; ++n) {
    auto with_zeros = terms_of<Terms>(n, n), with_minus_zeros = with_zeros;
    for (std::size_t i = 0; i < n; i += 3) {
      with_zeros[i] = 0;
      with_minus_zeros[i] = C(-0.0);
    }
    const auto before = total(with_zeros);
    CHECK(same(before, total(with_minus_zeros)));
    for (int more = 0; more < 80; ++more) {
      with_zeros.push_back(more % 2 == 0 ? C(0) : C(-0.0));
      CHECK(same(total(with_zeros), before));
    }
  }
}

}  // namespace accumulate_test
