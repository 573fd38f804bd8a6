// SPDX-License-Identifier: Apache-2.0
#include "deviate/report/figure.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "deviate/report/text.hpp"

namespace deviate::tool {
namespace {

std::string superscript(int power) {
  constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(power)) text += c == '-' ? "⁻" : digits[c - '0'];
  return text;
}

struct decimal {
  int digit = 1;
  int power = 0;
  double value() const { return digit * std::pow(10.0, power); }
};

std::vector<decimal> decimals_within(double least, double most, std::initializer_list<int> digits, int step) {
  std::vector<decimal> found;
  const int first = int(std::floor(std::log10(least))) - 1, last = int(std::ceil(std::log10(most)));
  for (int power = first; power <= last; ++power)
    for (const int digit : digits) {
      const decimal d{digit, power};
      if (power % step == 0 && d.value() >= least && d.value() <= most) found.push_back(d);
    }
  return found;
}

// The fewest ticks of at least three.
std::vector<decimal> decimal_ticks(double least, double most) {
  for (const int step : {8, 4, 2, 1})
    if (auto ticks = decimals_within(least, most, {1}, step); ticks.size() >= 4) return ticks;
  for (const auto& digits : {std::initializer_list<int>{1}, {1, 3}, {1, 2, 5}, {1, 2, 3, 5, 7}})
    if (auto ticks = decimals_within(least, most, digits, 1); ticks.size() >= 3) return ticks;
  return decimals_within(least, most, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 1);
}

void widen(figure_axis& axis, double least, double most, double factor) {
  axis.logarithmic = true;
  axis.least = least / factor;
  axis.most = most * factor;
}

}  // namespace

void fit_logarithmic(figure_axis& axis, double least, double most) {
  widen(axis, least, most, std::max(1.15, std::pow(most / least, 0.06)));
  const std::vector<decimal> ticks = decimal_ticks(axis.least, axis.most);
  const bool plain =
      std::all_of(ticks.begin(), ticks.end(), [](const decimal& d) { return d.value() > 0.0009 && d.value() < 10000; });
  axis.ticks.clear();
  for (const decimal& d : ticks) {
    const std::string power = "10" + superscript(d.power);
    axis.ticks.push_back({d.value(), plain          ? three_digits(d.value())
                                     : d.digit == 1 ? power
                                                    : std::to_string(d.digit) + "·" + power});
  }
}

void fit_values(figure_axis& axis, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  widen(axis, values.front(), values.back(), std::max(1.1, std::pow(values.back() / values.front(), 0.06)));
  // A label needs about a seventh of the width; the ends are labelled before what lies between.
  const double gap = std::pow(axis.most / axis.least, 1.0 / 7);
  axis.ticks.clear();
  for (const double x : values) {
    const bool crowded = !axis.ticks.empty() && x < axis.ticks.back().at * gap;
    if (crowded && x != values.back()) continue;
    if (crowded && axis.ticks.size() > 1) axis.ticks.pop_back();
    axis.ticks.push_back({x, shortest(x)});
  }
}

void fit_ratios(figure_axis& axis, double least, double most) {
  widen(axis, least, most, std::max(1.15, std::pow(most / least, 0.08)));
  const int first = int(std::ceil(std::log2(axis.least))), last = int(std::floor(std::log2(axis.most)));
  const int step = std::max(1, (last - first + 7) / 7);
  axis.ticks.clear();
  for (int power = first; power <= last; ++power)
    if (power % step == 0) axis.ticks.push_back({std::exp2(power), three_digits(std::exp2(power))});
}

void fit_integers(figure_axis& axis, double least, double most) {
  axis.logarithmic = false;
  axis.least = least - 0.6;
  axis.most = most + 0.6;
  const double step = std::max(1.0, std::ceil((most - least) / 9));
  axis.ticks.clear();
  for (double x = least; x <= most; x += step) axis.ticks.push_back({x, shortest(x)});
}

}  // namespace deviate::tool
