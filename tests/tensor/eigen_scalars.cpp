// SPDX-License-Identifier: Apache-2.0
#include <deviate/tensor/eigen_scalars.hpp>

#include <deviate/number/named.hpp>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <type_traits>

namespace {

using deviate::double_double;
constexpr int n = 5;
/// Small, so that Eigen needs no blocked kernels, and of dynamic size, so that it unrolls nothing: both take long to
/// compile.
template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, n, n>;
/// Exact in double_double where T has up to 26 bits; it is no other number's arithmetic.
using wide = matrix<double_double>;

static_assert(!std::is_same_v<deviate::bf16, Eigen::bfloat16> &&
              !std::is_convertible_v<Eigen::bfloat16, deviate::bf16>);

template <class T>
double epsilon() {
  return double(std::numeric_limits<T>::epsilon());
}
template <class T>
wide widened(const matrix<T>& m) {
  return m.unaryExpr([](const T& x) { return double_double(double(x)); });
}
/// Members of T in (−1, 1), by an own generator: well scaled, and with no structure.
template <class T>
matrix<T> entries(std::uint64_t seed) {
  return matrix<T>::NullaryExpr(n, n, [&](Eigen::Index, Eigen::Index) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return T(double(std::int64_t(seed) >> 11) * 0x1p-52);
  });
}
/// |a − b| in units of epsilon of T, against the size of b.
template <class T>
double distance(const wide& a, const wide& b) {
  return double(wide(a - b).norm() / (b.norm() * double_double(epsilon<T>())));
}

template <class T>
void check_products() {
  const matrix<T> identity = matrix<T>::Identity(n, n), a = entries<T>(1), b = entries<T>(2);
  CHECK(matrix<T>(identity * identity) == identity);
  CHECK(matrix<T>(identity * a) == a);
  CHECK(distance<T>(widened<T>(a * b), widened(a) * widened(b)) < n);
  CHECK(std::fabs(double(a.norm()) / double(widened(a).norm()) - 1) < n * epsilon<T>());
  CHECK(double(a.cwiseAbs().maxCoeff()) == double(widened(a).cwiseAbs().maxCoeff()));
  CHECK(double(matrix<T>::Ones(n, n).topLeftCorner(3, 3).norm()) == 3);
  CHECK(a.isApprox(a));
  CHECK(!a.isApprox(matrix<T>(-a)));
  CHECK(a.allFinite());
}

/// What is computed in T must solve a problem within n·epsilon of the given one; judged in double_double.
template <class T>
void check_decompositions() {
  const matrix<T> identity = matrix<T>::Identity(n, n), a = entries<T>(3) + identity * T(2);
  const wide exact = widened(a);

  const Eigen::PartialPivLU<matrix<T>> lu(a);
  const wide factors = widened<T>(lu.matrixLU());
  wide l = wide::Identity(n, n), u = wide::Zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) (i > j ? l : u)(i, j) = factors(i, j);
  const wide permuted = widened<T>(lu.permutationP() * a);
  CHECK(distance<T>(l * u, permuted) < n);
  CHECK(distance<T>(widened<T>(lu.solve(identity)), Eigen::PartialPivLU<wide>(exact).inverse()) < n * n);

  const Eigen::HouseholderQR<matrix<T>> qr(a);
  const wide q = widened<T>(qr.householderQ() * identity);
  wide r = widened<T>(qr.matrixQR());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) r(i, j) = 0;
  CHECK(distance<T>(q * r, exact) < n);
  CHECK(distance<T>(q.transpose() * q, wide::Identity(n, n)) < n);

  const matrix<T> symmetric = a * a.transpose() + identity;
  const Eigen::LLT<matrix<T>> cholesky(symmetric);
  CHECK(cholesky.info() == Eigen::Success);
  const wide factor = widened<T>(cholesky.matrixL());
  wide product = factor * factor.transpose(), lower = widened(symmetric);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) product(i, j) = lower(i, j) = 0;
  CHECK(distance<T>(product, lower) < n);
  CHECK(Eigen::LLT<matrix<T>>(matrix<T>(-symmetric)).info() == Eigen::NumericalIssue);
}

template <class T>
void check_svd() {
  const matrix<T> a = entries<T>(3) + matrix<T>::Identity(n, n) * T(2);
  const wide exact = widened(a);
  const Eigen::JacobiSVD<matrix<T>, Eigen::NoQRPreconditioner> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  wide scaled = widened<T>(svd.matrixU());
  for (int j = 0; j < n; ++j) scaled.col(j) *= double_double(double(svd.singularValues()(j)));
  CHECK(distance<T>(scaled * widened<T>(svd.matrixV()).transpose(), exact) < 4 * n);
  const Eigen::JacobiSVD<wide, Eigen::NoQRPreconditioner> right(exact, Eigen::ComputeFullU | Eigen::ComputeFullV);
  for (int j = 0; j < n; ++j)
    CHECK(std::fabs(double(svd.singularValues()(j)) - double(right.singularValues()(j))) <
          n * epsilon<T>() * double(exact.norm()));
}

}  // namespace

TEST_CASE_TEMPLATE("Eigen: products and norms", T, deviate::bf16, deviate::fp16, deviate::tf32, deviate::fp8_e4m3) {
  check_products<T>();
}

TEST_CASE_TEMPLATE("Eigen: LU, QR and Cholesky", T, deviate::bf16, deviate::fp16, deviate::tf32) {
  check_decompositions<T>();
}

TEST_CASE_TEMPLATE("Eigen: Jacobi SVD", T, deviate::bf16, deviate::tf32) { check_svd<T>(); }

TEST_CASE("Eigen: double_double, by residuals in itself and known values") {
  using T = double_double;
  const wide identity = wide::Identity(n, n);
  // Entries with both parts in use.
  const wide a = entries<T>(5) + entries<T>(6) * T(0x1p-60) + identity * T(2);
  CHECK(wide(identity * identity) == identity);
  CHECK(wide(identity * a) == a);
  CHECK(distance<T>(a * Eigen::PartialPivLU<wide>(a).inverse(), identity) < n * n);
  const Eigen::HouseholderQR<wide> qr(a);
  const wide q = qr.householderQ() * identity;
  wide r = qr.matrixQR();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) r(i, j) = 0;
  CHECK(distance<T>(q * r, a) < n);
  CHECK(distance<T>(q.transpose() * q, identity) < n);
  const wide symmetric = a * a.transpose(), factor = Eigen::LLT<wide>(symmetric).matrixL();
  CHECK(distance<T>(factor * factor.transpose(), symmetric) < n);
  const Eigen::JacobiSVD<wide, Eigen::NoQRPreconditioner> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  wide scaled = svd.matrixU();
  for (int j = 0; j < n; ++j) scaled.col(j) *= svd.singularValues()(j);
  CHECK(distance<T>(scaled * svd.matrixV().transpose(), a) < 8 * n);
  // The Hilbert matrix: its determinant is 1/266716800000, its inverse has integers such as 25, −300, 4410 for n = 5.
  wide hilbert(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) hilbert(i, j) = T(1) / T(i + j + 1);
  const Eigen::PartialPivLU<wide> lu(hilbert);
  CHECK(double(T(lu.determinant() * T(266716800000.0) - T(1))) == doctest::Approx(0).epsilon(1e-24));
  CHECK(std::fabs(double(T(lu.inverse()(0, 0) - T(25)))) < 1e-23);
  CHECK(std::fabs(double(T(lu.inverse()(4, 4) - T(44100)))) < 1e-20);
  CHECK(a.isApprox(a * T(1 + 1e-30)));
  CHECK(!a.isApprox(a * T(1 + 1e-14)));
}

TEST_CASE("Eigen: a blocked product of dynamic matrices of bf16 rounds at every step") {
  using dynamic = Eigen::Matrix<deviate::bf16, Eigen::Dynamic, Eigen::Dynamic>;
  const deviate::bf16 one(1.0);
  const dynamic ones = dynamic::Constant(300, 12, one);
  // 256 + 1 is a tie that goes to 256.
  const dynamic product = dynamic::Constant(12, 300, one) * ones;
  CHECK((double(product(0, 0)) >= 256 && double(product(0, 0)) <= 300));
  CHECK(dynamic(dynamic::Identity(12, 12) * dynamic::Identity(12, 12)) == dynamic::Identity(12, 12));
}

TEST_CASE("Eigen: what its traits say, and matrices to a stream") {
  CHECK(double(Eigen::NumTraits<deviate::bf16>::epsilon()) == 0x1p-7);
  CHECK(double(Eigen::NumTraits<deviate::bf16>::dummy_precision()) == 0x1p-4);
  CHECK(double(Eigen::NumTraits<deviate::fp8_e4m3>::dummy_precision()) == 0.5);
  CHECK(double(Eigen::NumTraits<deviate::fp16>::highest()) == 65504);
  CHECK(Eigen::NumTraits<deviate::fp16>::digits10() == 3);
  CHECK(Eigen::NumTraits<double_double>::digits10() == 31);
  Eigen::Matrix<deviate::fp16, 1, 2> row;
  row << deviate::fp16(0.1), deviate::fp16(-2);
  std::ostringstream out;
  out << row;
  CHECK(out.str() == "0.1  -2");
  CHECK(double(row.cwiseAbs()(1)) == 2);
  CHECK(double(row.cwiseAbs2()(1)) == 4);
  CHECK(double(row.array().exp()(1)) == double(deviate::fp16(std::exp(-2.0))));
  row(0) = deviate::fp16(std::numeric_limits<double>::infinity());
  CHECK(!row.allFinite());
  CHECK(!row.hasNaN());
}
