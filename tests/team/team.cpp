// SPDX-License-Identifier: Apache-2.0
#include <deviate/team/team.hpp>

#include <doctest/doctest.h>

#include <deviate/team/serial.hpp>
#include <deviate/team/threads.hpp>
#include <string>

namespace dv = deviate;

static_assert(dv::team<dv::serial_team<>> && dv::team<dv::serial_team<dv::plain_tile>>);
static_assert(dv::team<dv::thread_team<>> && dv::team<dv::thread_team<dv::plain_tile>>);
static_assert(dv::plain_tile::width == 1 && dv::plain_tile::rows == 1 && dv::plain_tile::columns == 1);

namespace {

struct no_reduction {
  using tile = dv::plain_tile;
  int size() const;
  template <class Body>
  void lanes(Body&&);
  template <class T>
  T* shared(std::size_t);
};
static_assert(!dv::team<no_reduction> && !dv::team<int>);

// A team of n lanes that are said to exist; each runs in turn.
struct counted_lanes {
  int n;
  int size() const { return n; }
  template <class Body>
  void lanes(Body body) {
    for (int lane = 0; lane < n; ++lane) body(lane);
  }
};

}  // namespace

TEST_CASE("for_each runs every iteration once, whatever the number of lanes") {
  for (const int lanes : {1, 2, 3, 8, 100})
    for (const int n : {0, 1, 7, 8, 9, 64}) {
      std::string seen(std::size_t(n), '0');
      counted_lanes team{lanes};
      dv::for_each(team, n, [&](int i) { ++seen[std::size_t(i)]; });
      CHECK(seen == std::string(std::size_t(n), '1'));
    }
}

TEST_CASE("the tree of a reduction: distance 1, 2, 4, …, the lower lane left") {
  const auto tree = [](int n) {
    std::vector<std::string> value;
    for (int i = 0; i < n; ++i) value.push_back(std::string(1, char('a' + i)));
    return dv::detail::reduce_tree(value.data(), n,
                                   [](const std::string& x, const std::string& y) { return "(" + x + y + ")"; });
  };
  CHECK(tree(1) == "a");
  CHECK(tree(2) == "(ab)");
  CHECK(tree(3) == "((ab)c)");
  CHECK(tree(4) == "((ab)(cd))");
  CHECK(tree(5) == "(((ab)(cd))e)");
  CHECK(tree(6) == "(((ab)(cd))(ef))");
  CHECK(tree(7) == "(((ab)(cd))((ef)g))");
  CHECK(tree(8) == "(((ab)(cd))((ef)(gh)))");
}
