// SPDX-License-Identifier: Apache-2.0
#include <deviate/deviation/metrics.hpp>
//
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deviate/number/double_double.hpp>
#include <deviate/number/named.hpp>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "generator.hpp"

using namespace deviate;
using deviation_test::close;
using deviation_test::generator;
using deviation_test::values;

namespace {

using numbers = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

tensor<double> row(const numbers& x) { return {{1, 1, 1, std::int64_t(x.size())}, x}; }

deviation_report compare(const numbers& got, const numbers& golden, const deviation_options& options = {}) {
  return deviation(row(got), row(golden), options);
}

bool same_bits(const deviation_summary& x, const deviation_summary& y) {
  const auto equal = [](double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; };
  return equal(x.max_abs, y.max_abs) && equal(x.mean_abs, y.mean_abs) && equal(x.std_abs, y.std_abs) &&
         equal(x.rmse, y.rmse) && equal(x.relative_l1, y.relative_l1) && equal(x.relative_l2, y.relative_l2) &&
         equal(x.norm_ratio, y.norm_ratio) && equal(x.cosine, y.cosine) && equal(x.bias, y.bias) &&
         equal(x.bias_ci95, y.bias_ci95) && equal(x.max_ulp, y.max_ulp) && equal(x.mean_ulp, y.mean_ulp) &&
         equal(x.wasserstein_1, y.wasserstein_1) && equal(x.wasserstein_2, y.wasserstein_2) && x.ulps == y.ulps &&
         x.compared == y.compared && x.finite_pairs == y.finite_pairs && x.identical == y.identical &&
         x.worst.batch == y.worst.batch && x.worst.head == y.worst.head && x.worst.row == y.worst.row &&
         x.worst.column == y.worst.column;
}

// The inputs of the NumPy comparison: [1, 2, 5, 6], golden in [−8, 8), off by up to 9/64.
struct sample {
  tensor<double> golden{{1, 2, 5, 6}, values(1, 60)};
  tensor<double> got = golden;
  sample() {
    const numbers noise = values(2, 60);
    for (std::size_t i = 0; i < 60; ++i) got.values()[i] += noise[i] / 64 + 0x1p-6;
  }
};

}  // namespace

TEST_CASE("metrics agree with NumPy 2.4 and SciPy 1.17") {
  const sample s;
  const deviation_report d = deviation(s.got, s.golden, {.ulp_format = bf16_format, .per_row = true});
  constexpr double eps = 1e-14;
  CHECK(d.max_abs == 0.13962873816490173);                            // abs(d).max(), d = a - b
  CHECK(close(d.mean_abs, 0.06693346599737802, eps));                 // abs(d).mean()
  CHECK(close(d.std_abs, 0.03568193662697291, eps));                  // abs(d).std()
  CHECK(close(d.rmse, 0.07585044147447971, eps));                     // sqrt((d*d).mean())
  CHECK(close(d.relative_l1, 0.018075823080508282, eps));             // abs(d).sum() / abs(b).sum()
  CHECK(close(d.relative_l2, 0.017277078432853324, eps));             // norm(d) / norm(b)
  CHECK(close(d.norm_ratio, 0.9955740994846666, eps));                // norm(a) / norm(b)
  CHECK(close(d.cosine, 0.9998599256228402, eps));                    // 1 - scipy.spatial.distance.cosine(a, b)
  CHECK(close(d.bias, 0.005626030266284943, 1e-13));                  // d.mean()
  CHECK(close(d.bias_ci95, 0.019301462875982615, eps));               // 1.96 * scipy.stats.sem(d)
  CHECK(d.max_ulp == 122.78172302246094);                             // u = abs(d) / 2**(floor(log2(abs(b))) - 7)
  CHECK(close(d.mean_ulp, 7.5305554946263635, eps));                  // u.mean()
  CHECK(close(d.wasserstein_1, 0.05840249607960383, eps));            // scipy.stats.wasserstein_distance(a, b)
  CHECK(close(d.wasserstein_2, 0.06773283148595029, eps));            // sqrt(mean((sort(a) - sort(b))**2))
  const std::int64_t histogram[] = {0, 0, 4, 8, 26, 7, 10, 4, 0, 1};  // numpy.histogram by hand, bins (lower, upper]
  for (std::size_t bin = 0; bin < 10; ++bin) CHECK(d.ulps.counts[bin] == histogram[bin]);
  CHECK(d.ulps.total() == 60);
  CHECK(!d.is_biased());

  CHECK(d.compared == 60);
  CHECK(d.finite_pairs == 60);
  CHECK(d.identical == 0);
  CHECK(d.worst.batch == 0);  // abs(d).argmax() = 19
  CHECK(d.worst.head == 0);
  CHECK(d.worst.row == 3);
  CHECK(d.worst.column == 1);
  CHECK(d.worst.got == s.got(0, 0, 3, 1));
  CHECK(d.worst.golden == s.golden(0, 0, 3, 1));

  REQUIRE(d.heads.size() == 2);
  CHECK(close(d.heads[0].rmse, 0.07809307217007022, eps));
  CHECK(close(d.heads[1].rmse, 0.07353945215180181, eps));
  CHECK(close(d.heads[0].bias, -0.0007927641272544861, 1e-13));
  CHECK(close(d.heads[1].bias, 0.012044824659824371, 1e-13));
  CHECK(d.heads[1].worst.head == 1);
  REQUIRE(d.rows.size() == 5);
  const double row_max[] = {0.1360127031803131, 0.12820060551166534, 0.0816967785358429, 0.13962873816490173,
                            0.10863710939884186};
  const double row_rmse[] = {0.07802213424157495, 0.08155610324805022, 0.04408311313600095, 0.09224902007637892,
                             0.07466186028982114};
  for (std::size_t r = 0; r < 5; ++r) {
    CHECK(d.rows[r].max_abs == row_max[r]);
    CHECK(close(d.rows[r].rmse, row_rmse[r], eps));
    CHECK(d.rows[r].compared == 12);
    CHECK(d.rows[r].worst.row == std::int64_t(r));
  }
  CHECK(deviation(s.got, s.golden).rows.empty());
  CHECK(same_bits(d.whole(), d));
  static_assert(std::is_base_of_v<deviation_summary, deviation_report>);
}

TEST_CASE("heads stand in batch-major order, each as if it were compared alone") {
  const extents shape{2, 3, 4, 5};
  const tensor<double> golden(shape, values(51, 120));
  tensor<double> got = golden;
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 3; ++h) got(b, h, 2, 4) += double(10 * b + h + 1);
  const deviation_report d = deviation(got, golden);
  REQUIRE(d.heads.size() == 6);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 3; ++h) {
      const deviation_summary& head = d.heads[std::size_t(b * 3 + h)];
      CHECK(close(head.max_abs, double(10 * b + h + 1), 1e-15));
      CHECK(head.worst.batch == b);
      CHECK(head.worst.head == h);
      CHECK(head.worst.row == 2);
      CHECK(head.worst.column == 4);
      CHECK(head.compared == 20);
      CHECK(head.identical == 19);
      CHECK(head.rmse == deviation(got.view().head(b, h), golden.view().head(b, h)).rmse);
    }
  CHECK(d.worst.batch == 1);
  CHECK(d.worst.head == 2);
  CHECK(d.identical_share() == 114.0 / 120);
  CHECK(d.ulps.counts[0] == 114);
}

TEST_CASE("strides and element types change no bit, nor does a repetition") {
  const extents shape{2, 3, 7, 5};
  tensor<float> got(shape), golden(shape);
  generator g(61);
  for (float& v : golden.values()) v = float(g.value());
  for (std::size_t i = 0; i < golden.values().size(); ++i)
    got.values()[i] = float(double(golden.values()[i]) + g.value());
  const deviation_report d = deviation(got, golden);

  // [batch, rows, heads, columns] in memory, rows apart by 3, columns backwards.
  const strides layout{7 * 3 * 15, 15, 3 * 15, -3};
  std::vector<double> memory(2 * 7 * 3 * 15, not_a_number);
  const tensor_view<double> view(memory.data() + 12, shape, layout);
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t r = 0; r < 7; ++r)
        for (std::int64_t c = 0; c < 5; ++c) view(b, h, r, c) = got(b, h, r, c);
  const deviation_report strided = deviation(view, golden.view());
  CHECK(same_bits(strided, d));
  for (std::size_t i = 0; i < d.heads.size(); ++i) CHECK(same_bits(strided.heads[i], d.heads[i]));
  CHECK(same_bits(deviation(got, golden), d));
  CHECK(same_bits(deviation(tensor_view<const float>(got), tensor_view<const double>(view)), deviation(got, view)));

  tensor<bf16> narrow(shape);
  for (std::size_t i = 0; i < narrow.values().size(); ++i) narrow.values()[i] = bf16(got.values()[i]);
  const deviation_report rounding = deviation(narrow, got, {.ulp_format = bf16_format});
  CHECK(rounding.max_ulp <= 0.5);
  CHECK(rounding.max_ulp > 0.45);
  static_assert(!readable_tensor<tensor<std::string>>);
  static_assert(!readable_tensor<std::vector<double>>);
}

TEST_CASE("sums are compensated: what cancels leaves the rest") {
  // A plain sum of the differences loses both ones and gives 0.
  const deviation_report d = compare({0x1p60, 1, -0x1p60, 1}, {0, 0, 0, 0});
  CHECK(d.bias == 0.5);
  const std::size_t n = 1000000;
  const deviation_report tenths = compare(numbers(n, 0.1), numbers(n, 0), {.wasserstein = false});
  CHECK(tenths.bias == 0.1);
  CHECK(tenths.mean_abs == 0.1);
  CHECK(std::isnan(tenths.wasserstein_1));
  CHECK(tenths.std_abs == 0);
  CHECK(tenths.bias_ci95 == 0);
  CHECK(tenths.is_biased());
}

TEST_CASE("metrics of a million elements, against their definitions in long double") {
  const std::size_t n = 1000000;
  const numbers b = values(71, n);
  numbers a = values(72, n);
  for (std::size_t i = 0; i < n; ++i) a[i] = b[i] + a[i] * 0x1p-10;
  using wide = long double;
  wide l1 = 0, signed_sum = 0, squares = 0, norm_a = 0, norm_b = 0, dot = 0, sum_b = 0, largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const wide x = a[i], y = b[i], d = x - y;
    l1 += std::fabs(d);
    signed_sum += d;
    squares += d * d;
    norm_a += x * x;
    norm_b += y * y;
    dot += x * y;
    sum_b += std::fabs(y);
    largest = std::max(largest, std::fabs(d));
  }
  const wide count = n, mean = l1 / count, bias = signed_sum / count;
  wide spread = 0, signed_spread = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const wide d = wide(a[i]) - wide(b[i]);
    spread += (std::fabs(d) - mean) * (std::fabs(d) - mean);
    signed_spread += (d - bias) * (d - bias);
  }
  const deviation_report d = compare(a, b);
  constexpr double eps = 1e-13;
  CHECK(d.max_abs == double(largest));
  CHECK(close(d.mean_abs, double(mean), eps));
  CHECK(close(d.bias, double(bias), 1e-11));
  CHECK(close(d.std_abs, double(std::sqrt(spread / count)), eps));
  CHECK(close(d.bias_ci95, double(1.96L * std::sqrt(signed_spread / (count - 1) / count)), eps));
  CHECK(close(d.rmse, double(std::sqrt(squares / count)), eps));
  CHECK(close(d.relative_l1, double(l1 / sum_b), eps));
  CHECK(close(d.relative_l2, double(std::sqrt(squares / norm_b)), eps));
  CHECK(close(d.norm_ratio, double(std::sqrt(norm_a / norm_b)), eps));
  CHECK(close(d.cosine, double(dot / std::sqrt(norm_a * norm_b)), eps));
}

TEST_CASE("a golden wider than double is not rounded before it is subtracted") {
  // golden is got + d, with d far below an ulp of got; dividing by a power of two makes the expected metrics exact.
  const numbers got{1, -3, 0.5, 1024}, d{0x1p-70, -0x1p-60, 0x1p-60, -0x1p-62};
  tensor<double_double> golden({1, 1, 1, 4});
  for (std::size_t i = 0; i < 4; ++i) golden.values()[i] = double_double::from_sum(got[i], d[i]);
  const auto r = deviation(row(got), golden, {.ulp_format = binary64});
  CHECK(r.max_abs == 0x1p-60);
  CHECK(r.worst.column == 1);
  CHECK(r.mean_abs == (0x1p-70 + 2 * 0x1p-60 + 0x1p-62) / 4);
  CHECK(r.bias == (0x1p-62 - 0x1p-70) / 4);
  CHECK(r.rmse == doctest::Approx(std::sqrt((0x1p-140 + 2 * 0x1p-120 + 0x1p-124) / 4)).epsilon(1e-15));
  CHECK(r.relative_l1 == r.mean_abs * 4 / 1028.5);
  CHECK(r.max_ulp == 0x1p-60 / 0x1p-53);  // at 0.5, not at −3, whose ulp is 2^−51
  CHECK(r.wasserstein_1 == r.mean_abs);
  CHECK(r.wasserstein_2 == doctest::Approx(r.rmse).epsilon(1e-15));
  CHECK(r.identical == 4);
  // Rounded to double, the golden says that there is no deviation.
  tensor<double> rounded({1, 1, 1, 4});
  for (std::size_t i = 0; i < 4; ++i) rounded.values()[i] = double(golden.values()[i]);
  CHECK(deviation(row(got), rounded).max_abs == 0);
}

TEST_CASE("a golden in double_double that double holds gives the metrics of double, NaN and infinities too") {
  const sample s;
  tensor<double> got = s.got, golden = s.golden;
  const auto same = [&] {
    const tensor<double_double> wide(golden.shape(),
                                     std::vector<double_double>(golden.values().begin(), golden.values().end()));
    const auto a = deviation(got, golden), b = deviation(got, wide);
    CHECK(b.wasserstein_1 == doctest::Approx(a.wasserstein_1).epsilon(1e-15));
    CHECK(b.wasserstein_2 == doctest::Approx(a.wasserstein_2).epsilon(1e-15));
    deviation_summary c = b;
    c.wasserstein_1 = a.wasserstein_1;
    c.wasserstein_2 = a.wasserstein_2;
    CHECK(same_bits(a, c));
    CHECK(b.nan_in_golden == a.nan_in_golden);
    CHECK(b.infinities_equal == a.infinities_equal);
    CHECK(b.infinity_mismatches == a.infinity_mismatches);
  };
  same();
  golden.values()[3] = got.values()[3] = infinity;
  same();
  golden.values()[4] = -infinity;
  same();
  golden.values()[5] = not_a_number;
  same();
}

TEST_CASE("squares neither over- nor underflow") {
  for (const double unit : {0x1p-1060, 0x1p-600, 0x1p600, 0x1p1019}) {
    const deviation_report d = compare({3 * unit, 4 * unit, -unit, 8 * unit}, {unit, 4 * unit, unit, 5 * unit});
    CHECK(close(d.rmse / unit, std::sqrt(17.0 / 4), 1e-3));
    CHECK(close(d.relative_l2, std::sqrt(17.0 / 43), 1e-15));
    CHECK(close(d.norm_ratio, std::sqrt(90.0 / 43), 1e-15));
    CHECK(close(d.cosine, 58 / std::sqrt(90.0 * 43), 1e-15));
    CHECK(d.relative_l1 == 7.0 / 11);
    CHECK(d.mean_abs == 1.75 * unit);
    CHECK(d.bias == 0.75 * unit);
  }
  // Golden and difference of very different size.
  const deviation_report d = compare({0x1p-500, 0}, {0x1p500, 0});
  CHECK(d.norm_ratio == 0x1p-1000);
  CHECK(d.relative_l2 == 1);
}

TEST_CASE("case 18: fp16 and bf16 differ by 18.06 dB on the same data, whatever computes") {
  const std::size_t n = 100000;
  generator g(18);
  tensor<double> golden({1, 1, 1, std::int64_t(n)});
  tensor<bf16> as_bf16(golden.shape());
  tensor<fp16> as_fp16(golden.shape());
  for (std::size_t i = 0; i < n; ++i) {
    golden.values()[i] = g.gaussian();
    as_bf16.values()[i] = bf16(golden.values()[i]);
    as_fp16.values()[i] = fp16(golden.values()[i]);
  }
  const double gap = deviation(as_fp16, golden).signal_to_noise_db() - deviation(as_bf16, golden).signal_to_noise_db();
  CHECK(gap == doctest::Approx(18.06).epsilon(0.5 / 18.06 / 2));  // ± 0.5 dB
  CHECK(compare({1.1, 0}, {1, 0}).signal_to_noise_db() == doctest::Approx(20));
  CHECK(compare({1}, {1}).signal_to_noise_db() == infinity);
}

TEST_CASE("case 54: a gradient five times too large that points elsewhere shows in norm ratio and cosine") {
  const numbers golden = values(54, 2000), other = values(55, 2000);
  double dot = 0, norm = 0, rest = 0;
  for (std::size_t i = 0; i < golden.size(); ++i) {
    dot += golden[i] * other[i];
    norm += golden[i] * golden[i];
  }
  numbers across(golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    across[i] = other[i] - dot / norm * golden[i];
    rest += across[i] * across[i];
  }
  numbers got(golden.size());
  for (std::size_t i = 0; i < golden.size(); ++i)
    got[i] = 5 * (-0.11 * golden[i] + std::sqrt((1 - 0.11 * 0.11) * norm / rest) * across[i]);
  const deviation_report d = compare(got, golden);
  CHECK(close(d.norm_ratio, 5, 1e-12));
  CHECK(close(d.cosine, -0.11, 1e-12));
  CHECK(close(d.relative_l2, std::sqrt(1 + 25 + 2 * 5 * 0.11), 1e-12));
}

TEST_CASE("case 57: products of TF32 operands are off by about 2.9e-4, which identifies them") {
  const std::size_t n = 2000, depth = 64;
  generator g(57);
  numbers exact(n), rounded(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < depth; ++k) {
      const double q = g.gaussian(), key = g.gaussian();
      exact[i] += q * key;
      rounded[i] += double(tf32(q)) * double(tf32(key));
    }
  const double relative = compare(rounded, exact).relative_l2;
  CHECK(relative > 2.3e-4);
  CHECK(relative < 3.3e-4);  // and below the bound of one operand, 2^-11 = 4.9e-4
}

TEST_CASE("case 78: NaN on either side stays in the maximum and is counted") {
  for (std::size_t where = 0; where < 3; ++where) {
    numbers with_nan{1, 2, 4}, plain{1, 2, 3};
    with_nan[where] = not_a_number;
    const deviation_report got = compare(with_nan, plain), golden = compare(plain, with_nan);
    CHECK(std::isnan(got.max_abs));
    CHECK(std::isnan(got.max_ulp));
    CHECK(got.nan_in_got == 1);
    CHECK(got.nan_in_golden == 0);
    CHECK(got.worst.column == std::int64_t(where));
    CHECK(std::isnan(got.worst.got));
    CHECK(got.worst.golden == plain[where]);
    CHECK(got.finite_pairs == 2);
    CHECK(got.compared == 3);
    CHECK(got.mean_abs == (where == 2 ? 0 : 0.5));  // over the other two
    CHECK(std::isnan(golden.max_abs));
    CHECK(golden.nan_in_got == 0);
    CHECK(golden.nan_in_golden == 1);  // "the reference is NaN" is said
    CHECK(golden.saturated == 0);
  }
  // The first NaN is the worst, also after an infinity.
  const deviation_report d = compare({infinity, not_a_number, not_a_number, 0}, {0, 0, 1, 0});
  CHECK(std::isnan(d.max_abs));
  CHECK(d.worst.column == 1);
  CHECK(d.nan_in_got == 2);
  CHECK(d.infinity_mismatches == 1);
}

TEST_CASE("case 78: NaN on both sides follows the declared policy") {
  const numbers x{1, not_a_number, 2};
  const deviation_report differ = compare(x, x), equal = compare(x, x, {.both_nan_equal = true});
  CHECK(std::isnan(differ.max_abs));
  CHECK(differ.worst.column == 1);
  CHECK(differ.identical == 2);
  CHECK(equal.max_abs == 0);
  CHECK(equal.max_ulp == 0);
  CHECK(equal.identical == 3);
  for (const deviation_report& d : {differ, equal}) {
    CHECK(d.nan_in_both == 1);
    CHECK(d.nan_in_got == 0);
    CHECK(d.nan_in_golden == 0);
    CHECK(d.finite_pairs == 2);
  }
  CHECK(std::isnan(compare({not_a_number}, {1}, {.both_nan_equal = true}).max_abs));
}

TEST_CASE("case 78: infinities of one sign are equal, any other pair of them differs infinitely") {
  const deviation_report equal = compare({infinity, -infinity, 1}, {infinity, -infinity, 1});
  CHECK(equal.max_abs == 0);
  CHECK(equal.max_ulp == 0);
  CHECK(equal.infinities_equal == 2);
  CHECK(equal.infinity_mismatches == 0);
  CHECK(equal.identical == 3);
  for (const auto& [got, golden] : {std::pair{infinity, -infinity}, {infinity, 1.0}, {1.0, -infinity}}) {
    const deviation_report d = compare({0, got, 0.5}, {0, golden, 0});
    CHECK(d.max_abs == infinity);
    CHECK(d.max_ulp == infinity);
    CHECK(d.infinity_mismatches == 1);
    CHECK(d.infinities_equal == 0);
    CHECK(d.worst.column == 1);
    CHECK(d.finite_pairs == 2);
    CHECK(d.mean_abs == 0.25);
    CHECK(d.identical == 1);
  }
}

TEST_CASE("nothing compared, or nothing finite, is never a reassuring zero") {
  const deviation_report none = deviation(tensor<float>({1, 1, 0, 4}), tensor<float>({1, 1, 0, 4}));
  CHECK(none.compared == 0);
  CHECK(std::isnan(none.max_abs));
  CHECK(std::isnan(none.rmse));
  CHECK(std::isnan(none.identical_share()));
  CHECK(none.worst.row == -1);
  const deviation_report broken = compare({not_a_number, 1}, {1, infinity});
  for (const double metric :
       {broken.mean_abs, broken.std_abs, broken.rmse, broken.relative_l1, broken.relative_l2, broken.norm_ratio,
        broken.cosine, broken.bias, broken.bias_ci95, broken.mean_ulp, broken.wasserstein_1, broken.wasserstein_2})
    CHECK(std::isnan(metric));
  const deviation_report one = compare({1.5}, {1});
  CHECK(one.bias == 0.5);
  CHECK(one.bias_ci95 == infinity);  // one sample bounds nothing
  CHECK(!one.is_biased());
}

TEST_CASE("case 80: at a zero reference the absolute error is reported, and relative metrics are defined") {
  const deviation_report d = compare({1e-8}, {0}, {.ulp_format = fp16_format});
  CHECK(d.max_abs == 1e-8);
  CHECK(d.relative_l1 == infinity);
  CHECK(d.relative_l2 == infinity);
  CHECK(d.norm_ratio == infinity);
  CHECK(d.cosine == 0);
  CHECK(d.max_ulp == 1e-8 * 0x1p24);  // in subnormal steps
  const deviation_report zero = compare({0, 0}, {0, 0});
  CHECK(zero.relative_l1 == 0);
  CHECK(zero.relative_l2 == 0);
  CHECK(zero.norm_ratio == 1);
  CHECK(zero.cosine == 1);
  CHECK(compare({0}, {1}).norm_ratio == 0);
  CHECK(compare({0}, {1}).cosine == 0);
  // One zero among others does not make a relative metric infinite.
  CHECK(close(compare({1e-8, 1}, {0, 1}).relative_l2, 1e-8, 1e-15));
}

TEST_CASE("case 80: masked rows, exact zeros on both sides, leave the relative metrics as they are") {
  const sample s;
  tensor<double> got({1, 2, 9, 6}), golden({1, 2, 9, 6});
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t r = 0; r < 5; ++r)
      for (std::int64_t c = 0; c < 6; ++c) {
        got(0, h, r + 2, c) = s.got(0, h, r, c);
        golden(0, h, r + 2, c) = s.golden(0, h, r, c);
      }
  const deviation_report bare = deviation(s.got, s.golden), padded = deviation(got, golden);
  CHECK(padded.relative_l1 == bare.relative_l1);
  CHECK(padded.relative_l2 == bare.relative_l2);
  CHECK(padded.norm_ratio == bare.norm_ratio);
  CHECK(padded.cosine == bare.cosine);
  CHECK(padded.rmse < bare.rmse);  // what they do change: the mask of valid rows is for that
  CHECK(padded.finite_pairs == 108);
}

TEST_CASE("case 83: a sum of 2.1 over 20480 elements is a mean of 1e-4") {
  const deviation_report d = compare(numbers(20480, 1 + 2.1 / 20480), numbers(20480, 1));
  CHECK(close(d.mean_abs, 1.025390625e-4, 1e-11));
}

TEST_CASE("case 89: padding rows are left out by a mask, for all heads or for each") {
  const extents shape{2, 2, 3, 4};
  const tensor<double> golden(shape, values(89, 48));
  tensor<double> got = golden;
  for (double& v : got.values()) v += 0.25;
  // Row 2 of batch 0 and rows 1 and 2 of batch 1 are padding: arbitrary here, even NaN.
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t c = 0; c < 4; ++c) {
      got(0, h, 2, c) = not_a_number;
      got(1, h, 1, c) = 1e30;
      got(1, h, 2, c) = infinity;
    }
  CHECK(std::isnan(deviation(got, golden).max_abs));

  const std::vector<std::uint8_t> rows{1, 1, 0, 1, 0, 0};
  const deviation_report d = deviation(got, golden, {.valid_rows = rows, .per_row = true});
  CHECK(close(d.max_abs, 0.25, 1e-15));
  CHECK(d.compared == 3 * 2 * 4);
  CHECK(d.nan_in_got == 0);
  CHECK(d.infinity_mismatches == 0);
  CHECK(d.heads[0].compared == 8);
  CHECK(d.heads[3].compared == 4);
  CHECK(d.rows[0].compared == 16);
  CHECK(d.rows[1].compared == 8);
  CHECK(d.rows[2].compared == 0);
  CHECK(std::isnan(d.rows[2].max_abs));

  // The same, and head 1 of batch 1 without any row.
  const std::vector<std::uint8_t> rows_of_heads{1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0};
  const deviation_report each = deviation(got, golden, {.valid_rows = rows_of_heads});
  CHECK(close(each.max_abs, 0.25, 1e-15));
  CHECK(each.compared == 20);
  CHECK(each.heads[2].compared == 4);
  CHECK(each.heads[3].compared == 0);

  const std::vector<std::uint8_t> wrong(5, 1);
  try {
    deviation(got, golden, {.valid_rows = wrong});
    FAIL("accepted a mask of 5 rows");
  } catch (const contract_violation& e) {
    CHECK(std::string(e.what()).find("valid_rows has 5 entries for shape [2, 2, 3, 4]") != std::string::npos);
  }
}

TEST_CASE("different shapes are refused, and both are named") {
  try {
    deviation(tensor<float>({1, 2, 3, 4}), tensor<double>({1, 2, 4, 3}));
    FAIL("accepted different shapes");
  } catch (const contract_violation& e) {
    CHECK(std::string(e.what()) ==
          "deviation: got has shape [1, 2, 3, 4] and golden [1, 2, 4, 3]; they must be the same");
  }
}

TEST_CASE("saturated: at the end of the range, where rounding golden would not put it") {
  const auto saturated = [](double got, double golden, const format& f) {
    return compare({got}, {golden}, {.ulp_format = f}).saturated;
  };
  // E4M3 keeps 448 for everything up to the tie at 464; fp16 overflows at 65520, its tie.
  CHECK(saturated(448, 464, fp8_e4m3_format) == 0);
  CHECK(saturated(448, 464.0001, fp8_e4m3_format) == 1);
  CHECK(saturated(448, 432, fp8_e4m3_format) == 0);
  CHECK(saturated(448, 1, fp8_e4m3_format) == 1);
  CHECK(saturated(65504, 65519.99, fp16_format) == 0);
  CHECK(saturated(65504, 65520, fp16_format) == 1);
  CHECK(saturated(-65504, -1e9, fp16_format) == 1);
  CHECK(saturated(-65504, -infinity, fp16_format) == 1);
  CHECK(saturated(65504, -65504, fp16_format) == 1);
  CHECK(saturated(65504, 65504, fp16_format) == 0);
  CHECK(saturated(65504, not_a_number, fp16_format) == 0);
  CHECK(saturated(65472, 1e9, fp16_format) == 0);
}

TEST_CASE("flushed and identical: which pairs count") {
  const deviation_report d = compare({0, -0.0, 0, 0, 0, 1, 0x1p-24}, {1e-300, -1, 0, -0.0, not_a_number, 0, 0x1p-24});
  CHECK(d.flushed_to_zero == 2);
  CHECK(d.identical == 2);  // +0 and −0 differ in a bit
  CHECK(compare({0}, {-0.0}).max_abs == 0);
}
