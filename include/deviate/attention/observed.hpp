// SPDX-License-Identifier: Apache-2.0
/// \file observed.hpp
/// \brief Sites that report what they compute: the same bits, and an observer that sees every operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deviate/attention/located_site.hpp>
#include <deviate/attention/site.hpp>
#include <deviate/math/site_operations.hpp>
#include <string_view>

namespace deviate {

/// \brief What a site computes.
enum class operation : std::uint8_t { add, subtract, multiply, divide, fma, sqrt, round, exp, exp2, log };
/// \brief Its name.
constexpr std::string_view name(operation o) {
  constexpr std::array<std::string_view, 10> names{"add",  "subtract", "multiply", "divide", "fma",
                                                   "sqrt", "round",    "exp",      "exp2",   "log"};
  return names[std::size_t(o)];
}

/// \brief One operation of a site. Values are those of the scalars, exactly.
struct observation {
  site where = site::input;             ///< whose rounding ends the operation
  bool in_sum = false;                  ///< inside the sum of that site's terms, rather than of a term or the total
  operation what = operation::round;    ///< what is computed
  int operand_count = 0;                ///< how many of `operands` there are
  std::int64_t head = 0;                ///< query head over all batches; the key head where K and V enter
  place at = {0, 0, 0};                 ///< as the site is asked for
  std::array<double, 3> operands = {};  ///< a and b of a ∘ b; a, b and c of a · b + c
  double result = 0;                    ///< rounded
};

/// \brief Who is told. The operations of a row come in their order, from one thread; different blocks of rows may come
/// from different threads at once.
class observer {
 public:
  observer() = default;
  observer(const observer&) = default;             ///< copies
  observer& operator=(const observer&) = default;  ///< copies
  virtual ~observer() = default;
  /// \brief One operation has been computed.
  virtual void see(const observation& o) = 0;
};

/// \brief A scalar whose site computes as that of S does, bit for bit, and tells the recipe's observer of every operation.
///
/// Values are held as those of S are, and may meet any other site. A factor that is exactly 1 and a maximum are no
/// operations: nobody is told. Fragments have one lane. On the host.
/// \code
/// recipe<float, at<site::output_state, observed<fp16>>> r;
/// r.seen_by = &my_observer;
/// \endcode
/// \tparam S a native, emulated, run-time or stochastic scalar
template <class S>
struct observed {
  static_assert(!scalar_traits<S>::is_software, "observed: a native, emulated, run-time or stochastic scalar");
  using plain_type = S;  ///< the scalar that computes
};

/// \brief True for `observed`.
template <class S>
inline constexpr bool is_observed = false;
/// \copybrief is_observed
template <class S>
inline constexpr bool is_observed<observed<S>> = true;
/// \brief With the random bits of S.
template <class S>
inline constexpr bool rounds_at_random<observed<S>> = rounds_at_random<S>;

namespace detail {
template <class S>
struct plain_scalar_of {
  using type = S;
};
template <class S>
struct plain_scalar_of<observed<S>> {
  using type = S;
};
}  // namespace detail
/// \brief The scalar that computes: S of `observed<S>`, any other itself.
template <class S>
using plain_scalar = typename detail::plain_scalar_of<S>::type;

/// \brief Held and rounded as S is.
template <class S>
struct scalar_traits<observed<S>> : scalar_traits<S> {};

/// \brief The operations of an observed site.
template <class S>
class site_operations<observed<S>> {
 public:
  using scalar_type = observed<S>;                          ///< scalar of the results
  using rounder_type = typename scalar_traits<S>::rounder;  ///< what it rounds with

  site_operations() = default;
  /// \brief A site that nobody observes.
  explicit site_operations(const rounder_type& r) : plain_(r) {}
  /// \brief A site that computes as `plain` and tells `to`, which may be null.
  site_operations(const site_operations<S>& plain, observer* to, site where, bool in_sum) : plain_(plain), to_(to) {
    about_.where = where;
    about_.in_sum = in_sum;
  }
  /// \brief The same site at a place, where `plain` computes.
  site_operations at(const site_operations<S>& plain, std::int64_t head, const place& p) const {
    site_operations r(plain, to_, about_.where, about_.in_sum);
    r.about_.head = head;
    r.about_.at = p;
    return r;
  }

  // clang-format off
  /// \name As at a site of S
  /// @{

  /// \brief The operation of S; the observer is told.
  template <class A, class B> fragment<scalar_type> add(const fragment<A, 1>& a, const fragment<B, 1>& b) const { return told(operation::add, plain_.add(plain(a), plain(b)), a, b); }
  template <class A, class B> fragment<scalar_type> subtract(const fragment<A, 1>& a, const fragment<B, 1>& b) const { return told(operation::subtract, plain_.subtract(plain(a), plain(b)), a, b); }
  template <class A, class B> fragment<scalar_type> multiply(const fragment<A, 1>& a, const fragment<B, 1>& b) const { return told(operation::multiply, plain_.multiply(plain(a), plain(b)), a, b); }
  template <class A, class B> fragment<scalar_type> divide(const fragment<A, 1>& a, const fragment<B, 1>& b) const { return told(operation::divide, plain_.divide(plain(a), plain(b)), a, b); }
  template <class A, class B, class C> fragment<scalar_type> fma(const fragment<A, 1>& a, const fragment<B, 1>& b, const fragment<C, 1>& c) const { return told(operation::fma, plain_.fma(plain(a), plain(b), plain(c)), a, b, c); }
  template <class A> fragment<scalar_type> sqrt(const fragment<A, 1>& x) const { return told(operation::sqrt, plain_.sqrt(plain(x)), x); }
  template <class A> fragment<scalar_type> round(const fragment<A, 1>& x) const { return told(operation::round, plain_.round(plain(x)), x); }
  template <class A> fragment<scalar_type> exp(const fragment<A, 1>& x) const { return told(operation::exp, plain_.exp(plain(x)), x); }
  template <class A> fragment<scalar_type> log(const fragment<A, 1>& x) const { return told(operation::log, plain_.log(plain(x)), x); }
  template <exponential_base Base, class F, class A> fragment<scalar_type> apply_in_float(F f, const fragment<A, 1>& x) const { return told(Base == exponential_base::e ? operation::exp : operation::exp2, plain_.template apply_in_float<Base>(f, plain(x)), x); }
  /// @}
  // clang-format on

  /// \brief log2 e as kernels hold it, a float.
  template <int W>
  static fragment<float, W> log2_e() {
    return site_operations<S>::template log2_e<W>();
  }
  /// \brief What it rounds with.
  const rounder_type& rounder() const { return plain_.rounder(); }
  /// \brief The site of S that computes.
  const site_operations<S>& plain_site() const { return plain_; }

 private:
  template <class A>
  static fragment<plain_scalar<A>> plain(const fragment<A, 1>& x) {
    return {x.value};
  }
  template <class... Operands>
  fragment<scalar_type> told(operation what, const fragment<S>& result, const Operands&... operands) const {
    if (to_ != nullptr) {
      observation o = about_;
      o.what = what;
      o.operand_count = int(sizeof...(Operands));
      o.operands = {static_cast<double>(operands.value)...};
      o.result = static_cast<double>(result.value);
      to_->see(o);
    }
    return {result.value};
  }

  site_operations<S> plain_{};
  observer* to_ = nullptr;
  observation about_{};
};

/// \brief The arithmetic of an observed site.
template <class S>
class rounding_site<observed<S>> : public site_operations<observed<S>> {
 public:
  using site_operations<observed<S>>::site_operations;
};

/// \brief An observed site: its operations know their place.
template <class S>
class located_site<observed<S>> {
 public:
  using scalar_type = observed<S>;  ///< scalar of the results
  located_site() = default;
  /// \brief The site of a recipe.
  explicit located_site(const site_operations<observed<S>>& site) : site_(site), plain_(site.plain_site()) {}
  /// \brief The operations at a place.
  site_operations<observed<S>> here(const place& p) const { return site_.at(plain_.here(p), head_, p); }
  /// \brief The operations at a row, column and step.
  site_operations<observed<S>> here(std::int64_t row, std::int64_t column, std::int64_t step) const {
    return here(place{row, column, step});
  }
  /// \brief The operations that end a sum after its last step.
  site_operations<observed<S>> after(std::int64_t row, std::int64_t column, std::int64_t step) const {
    return site_.at(plain_.after(row, column, step), head_, place{row, column, step});
  }
  /// \brief From here on, the sites of one head.
  void enter(std::int64_t head) {
    head_ = head;
    plain_.enter(head);
  }

 private:
  site_operations<observed<S>> site_{};
  located_site<S> plain_{};
  std::int64_t head_ = 0;
};

}  // namespace deviate
