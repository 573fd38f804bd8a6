// SPDX-License-Identifier: Apache-2.0
// The smallest scalar through every algorithm: it compiles, and its numbers are those of the double inside.
#include <doctest/doctest.h>

#include <cmath>
#include <deviate/accumulate/compensated.hpp>
#include <deviate/accumulate/exact.hpp>
#include <deviate/accumulate/two_level.hpp>
#include <deviate/attention/forward.hpp>
#include <deviate/attention/golden.hpp>
#include <deviate/attention/named_recipes.hpp>
#include <deviate/deviation/metrics.hpp>
#include <deviate/deviation/tolerance.hpp>
#include <deviate/deviation/wasserstein.hpp>
#include <deviate/number/named.hpp>
#include <string>

#include "attention/inputs.hpp"
#include "number/archetype.hpp"

using namespace attention_test;
using namespace dv::accumulate;
using archetype_test::archetype;
using dv::at;
using dv::site;
using dv::summed;

namespace {

dv::tensor<double> doubles(const dv::tensor<archetype>& t) {
  dv::tensor<double> r(t.shape());
  for (std::size_t i = 0; i < t.values().size(); ++i) r.values()[i] = double(t.values()[i]);
  return r;
}
bool same_numbers(const dv::attention_result<archetype>& a, const dv::attention_result<double>& b) {
  return same_bits(doubles(a.output).values(), b.output.values()) &&
         same_bits(doubles(a.log_sum_exp).values(), b.log_sum_exp.values());
}

const auto in = gaussian_inputs({.query_heads = 2, .key_heads = 1, .n_query = 26, .n_key = 23, .d = 5, .d_v = 3}, 1);
// The first rows have no key.
const dv::problem p{.scale = 0.3, .mask = dv::causal{}};
const dv::schedule plan{.tile_query = 3, .tile_key = 4, .order = dv::key_order::descending};
const dv::workers one{1};

template <class Boxed, class Plain>
void check_both_algorithms() {
  CHECK(same_numbers(dv::flash_forward(Boxed{}, in.q, in.k, in.v, p, plan, one),
                     dv::flash_forward(Plain{}, in.q, in.k, in.v, p, plan, one)));
  CHECK(same_numbers(dv::baseline_forward(Boxed{}, in.q, in.k, in.v, p, one),
                     dv::baseline_forward(Plain{}, in.q, in.k, in.v, p, one)));
}
template <class S, template <class> class Accumulation>
using summed_by = dv::recipe<S, summed<site::score, Accumulation<S>>, summed<site::row_sum_partial, Accumulation<S>>,
                             summed<site::value_partial, Accumulation<S>>>;
template <class S>
using four_lanes = lane_sums<4, S>;
template <class S>
using promoted = two_level<pairwise<S>, 3, compensated<S>>;

}  // namespace

TEST_CASE_TEMPLATE("Flash in both orders and both divisions, and Baseline", When,
                   dv::normalized<dv::normalization::once>, dv::normalized<dv::normalization::every_tile>) {
  check_both_algorithms<dv::recipe<archetype, When>, dv::recipe<double, When>>();
  using reciprocal = dv::divided<dv::division::reciprocal>;
  check_both_algorithms<dv::recipe<archetype, When, reciprocal>, dv::recipe<double, When, reciprocal>>();
}

TEST_CASE("every accumulation that rounds as it goes") {
  check_both_algorithms<summed_by<archetype, four_lanes>, summed_by<double, four_lanes>>();
  check_both_algorithms<summed_by<archetype, pairwise>, summed_by<double, pairwise>>();
  check_both_algorithms<summed_by<archetype, compensated>, summed_by<double, compensated>>();
  check_both_algorithms<summed_by<archetype, promoted>, summed_by<double, promoted>>();
}

TEST_CASE("named recipes, and sites of both kinds in one recipe") {
  // A software scalar's fused multiply-add is its own product and its own sum.
  check_both_algorithms<dv::flash2_fp32_state<archetype>,
                        dv::with<dv::flash2_fp32_state<double>, summed<site::score, dv::accumulate::sequential<>>,
                                 summed<site::value_partial, dv::accumulate::sequential<>>>>();
  const auto bits_of = [](auto recipe) { return dv::flash_forward(recipe, in.q, in.k, in.v, p, plan, one); };
  using kernel = dv::recipe<float, at<site::probability_operand, dv::bf16>>;
  using boxed = dv::with<kernel, at<site::output_state, archetype>, at<site::probability, archetype>,
                         summed<site::score, compensated<archetype>>>;
  using plain = dv::with<kernel, at<site::output_state, double>, at<site::probability, double>,
                         summed<site::score, compensated<double>>>;
  CHECK(same_bits(bits_of(boxed{}), bits_of(plain{})));
}

namespace {
// The golden's text for software scalars, over double: golden<double> sums in another order.
dv::attention_result<double> plain_golden() {
  const auto q = in.q.view(), k = in.k.view(), v = in.v.view();
  const dv::detail::bound_problem bound = dv::detail::bind(q.shape(), k.shape(), v.shape(), p);
  const dv::detail::golden_plain_head<double> head(bound, 0, k.head(0, 0), v.head(0, 0));
  dv::attention_result<double> result{
      dv::tensor<double>({1, 2, q.rows(), v.columns()}), dv::tensor<double>({1, 2, q.rows(), 1}), {}};
  std::vector<double> score(std::size_t(k.rows()));
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t i = 0; i < q.rows(); ++i)
      dv::detail::golden_row(head, i, q.head(0, h), score.data(), &result.output(0, h, i, 0),
                             result.log_sum_exp(0, h, i, 0));
  return result;
}
}  // namespace

TEST_CASE("golden, from tensors of the archetype, and every deviation") {
  inputs<archetype> boxed;
  const auto box = [](const dv::tensor<double>& from) {
    dv::tensor<archetype> t(from.shape());
    for (std::size_t i = 0; i < t.values().size(); ++i) t.values()[i] = archetype(from.values()[i]);
    return t;
  };
  boxed.q = box(in.q);
  boxed.k = box(in.k);
  boxed.v = box(in.v);
  const auto golden = dv::golden<archetype>(boxed.q, boxed.k, boxed.v, p, one);
  CHECK(same_numbers(golden, plain_golden()));

  const auto got = dv::flash_forward(dv::uniform<dv::bf16>{}, boxed.q, boxed.k, boxed.v, p, plan, one);
  const auto right = doubles(golden.output);
  CHECK(dv::deviation(got.output, golden.output).max_abs == dv::deviation(got.output, right).max_abs);
  CHECK(dv::deviation(golden.output, right).identical_share() == 1);
  CHECK(dv::within(golden.output, right, 0, 0).passed());
}

// A type that lacks something does not get as far as the algorithms: concepts name what is missing.
namespace {
struct no_total : sequential<> {
  template <class Site, int W>
  struct accumulator {
    template <class Term>
    void push(const Site&, const Term&) {}
  };
};
struct unnamed {};
static_assert(accumulation<sequential<>> && accumulation<exact<>> && accumulation<compensated<archetype>, dv::bf16>);
static_assert(accumulation<sequential<>, archetype> && !accumulation<sequential<std::string>>);
static_assert(!accumulation<no_total> && !accumulation<unnamed> && !accumulation<float>);

template <class S>
concept has_golden = requires {
  dv::golden<S>(in.q, in.k, in.v);
};
static_assert(has_golden<archetype> && has_golden<double> && !has_golden<int> && !has_golden<long double>);
}  // namespace
