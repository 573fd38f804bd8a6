// SPDX-License-Identifier: Apache-2.0
/// \file located_site.hpp
/// \brief A site of the algorithm, whose operations are asked for at the place where they are used.
#pragma once

#include <cstdint>
#include <deviate/math/site_operations.hpp>
#include <deviate/number/stochastic_scalar.hpp>

namespace deviate {

/// \brief Which result of a site is meant, by the problem's own indices: they do not depend on tiles or teams, except
/// where a key tile is named by its first key.
struct place {
  std::int64_t row;     ///< query row
  std::int64_t column;  ///< key of a score or a probability, feature of an output; 0 for what a row has one of
  std::int64_t step;    ///< of a sum: index over d, or key; first key of the tile for what every tile computes anew
};

/// \brief A site that rounds without random bits: its operations are the same at every place.
/// \tparam S scalar of the results
template <class S>
class located_site : site_operations<S> {
 public:
  using scalar_type = S;  ///< scalar of the results
  located_site() = default;
  /// \brief The site of a recipe.
  DEVIATE_HD explicit located_site(const site_operations<S>& site) : site_operations<S>(site) {}
  /// \brief The operations.
  DEVIATE_HD const site_operations<S>& here(const place&) const { return *this; }
  /// \brief The operations, at a row, column and step.
  DEVIATE_HD const site_operations<S>& here(std::int64_t, std::int64_t, std::int64_t) const { return *this; }
  /// \brief The operations that end a sum.
  DEVIATE_HD const site_operations<S>& after(std::int64_t, std::int64_t, std::int64_t) const { return *this; }
  /// \brief Nothing changes from head to head.
  DEVIATE_HD void enter(std::int64_t) {}
};

/// \brief A site that rounds at random: its operations exist only at a place, which names their random bits.
template <class S>
requires rounds_at_random<S>
class located_site<S> {
 public:
  using scalar_type = S;  ///< scalar of the results
  located_site() = default;
  /// \brief The site of a recipe.
  DEVIATE_HD explicit located_site(const site_operations<S>& site) : rounder_(site.rounder()) {}
  /// \brief The operations at a place. They are counted there, so use them where they were asked for.
  DEVIATE_HD site_operations<S> here(const place& p) const { return here(p.row, p.column, p.step); }
  /// \brief The operations at a row, column and step.
  DEVIATE_HD site_operations<S> here(std::int64_t row, std::int64_t column, std::int64_t step) const {
    return site_operations<S>(rounder_.at(rounder_.here(row, column, step)));
  }
  /// \brief The operations that end a sum after its last step.
  DEVIATE_HD site_operations<S> after(std::int64_t row, std::int64_t column, std::int64_t step) const {
    return site_operations<S>(rounder_.at(rounder_.here(row, column, step).after()));
  }
  /// \brief From here on, the random bits of one head.
  DEVIATE_HD void enter(std::int64_t head) { rounder_ = rounder_.at(rounder_.stream(std::uint64_t(head))); }

 private:
  typename scalar_traits<S>::rounder rounder_{};
};

}  // namespace deviate
