// SPDX-License-Identifier: Apache-2.0
// `deviate run`, and what every command shares: help, version, overview.
#include <cmath>

#include "cli/tool.hpp"
#include "deviate/progress.hpp"

namespace {

using namespace cli_test;
using deviate::tool::read_npy;

words run_on(const words& more) {
  words all{"run", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--out", "o.npy"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST_CASE("run: O and LSE of two queries and two keys, by hand") {
  const scratch_directory files;
  put_npy(files / "q.npy", {1, 2, 1}, {0, 1});
  put_npy(files / "k.npy", {1, 2, 1}, {1, -1});
  put_npy(files / "v.npy", {1, 2, 2}, {1, 10, 3, 30});
  for (const char* recipe : {"baseline", "flash1_all", "flash2_all", "flash2_fp32_state"}) {
    for (const char* format : {"fp32", "fp64"}) {
      INFO(recipe, " ", format);
      REQUIRE(outcome_in(files / "", run_on({"--recipe", recipe, "--format", format, "--lse", "l.npy"})).status == 0);
      const auto output = read_npy(files / "o.npy"), lse = read_npy(files / "l.npy");
      CHECK(output.shape == std::vector<std::int64_t>{1, 2, 2});
      CHECK(lse.shape == std::vector<std::int64_t>{1, 2});
      const bool wide = std::string(format) == "fp64";
      CHECK(output.type == (wide ? deviate::tool::element_type::float64 : deviate::tool::element_type::float32));
      const double error = wide ? 1e-14 : 1e-5, p = 1 / (1 + std::exp(-2.0));
      CHECK(output.as_double()[0] == doctest::Approx(2).epsilon(error));
      CHECK(output.as_double()[1] == doctest::Approx(20).epsilon(error));
      CHECK(output.as_double()[2] == doctest::Approx(p + 3 * (1 - p)).epsilon(error));
      CHECK(lse.as_double()[0] == doctest::Approx(std::log(2)).epsilon(error));
      CHECK(lse.as_double()[1] == doctest::Approx(std::log(std::exp(1) + std::exp(-1))).epsilon(error));
    }
  }
  REQUIRE(outcome_in(files / "", run_on({"--causal", "--scale", "0"})).status == 0);
  CHECK(read_npy(files / "o.npy").as_double() == std::vector<double>{1, 10, 2, 20});
}

TEST_CASE("run: O has the rank of Q, key heads are shared, and threads do not show") {
  const scratch_directory files;
  std::vector<float> values(2 * 2 * 33 * 4);
  io_test::generator random(1);
  for (float& x : values) x = static_cast<float>(random.below(1000)) / 512;
  put_npy(files / "q.npy", {2, 2, 33, 4}, values);
  put_npy(files / "k.npy", {2, 1, 33, 4}, {values.begin(), values.begin() + 264});
  put_npy(files / "v.npy", {2, 1, 33, 4}, {values.begin() + 264, values.end()});
  const words common{"--recipe", "flash1_all", "--format", "e5m7", "--tile-key", "8", "--window", "9,3"};
  words one = run_on(common), two = one;
  one.insert(one.end(), {"--workers", "1"});
  two.insert(two.end(), {"--workers", "2", "--tile-query", "5"});
  REQUIRE(outcome_in(files / "", one).status == 0);
  CHECK(read_npy(files / "o.npy").shape == std::vector<std::int64_t>{2, 2, 33, 4});
  const std::string bytes = bytes_of(files / "o.npy");
  REQUIRE(outcome_in(files / "", two).status == 0);
  CHECK(bytes_of(files / "o.npy") == bytes);
}

TEST_CASE("run: both outputs in one file, or in none, are refused") {
  const scratch_directory files;
  expect_refusal(run_on({"--lse", "./o.npy"}), "the same file", files / "");
  expect_refusal(run_on({"--lse", "absent/l.npy"}), "absent", files / "");
}

TEST_CASE("help: without arguments the overview, and for every command its options, units and an example") {
  const outcome overview = outcome_of({});
  CHECK(overview.status == 0);
  CHECK(std::count(overview.out.begin(), overview.out.end(), '\n') <= 11);
  CHECK(outcome_of({"--help"}).out == overview.out);
  for (const char* command : {"study", "attribute", "run", "compare", "formats", "round"}) {
    CHECK(contains(overview.out, command));
    const outcome help = outcome_of({command, "--help"});
    CHECK(help.status == 0);
    CHECK(help.err.empty());
    CHECK(contains(help.out, std::string("Usage: deviate ") + command));
    CHECK(contains(help.out, "Example"));
    CHECK(outcome_of({"help", command}).out == help.out);
  }
  for (const char* part : {"default 64", "default 1024", "bf16,fp16", "1/sqrt(d)", "unit of V"})
    CHECK(contains(outcome_of({"study", "--help"}).out, part));
  CHECK(contains(outcome_of({"--version"}).out, "deviate 0."));
}

TEST_CASE("progress: only for work of more than two seconds, with the time left") {
  CHECK(!deviate::tool::is_long(0.01, 0.3));
  CHECK(!deviate::tool::is_long(0.5, 0.9));
  CHECK(deviate::tool::is_long(0.1, 0.6));
  CHECK(deviate::tool::is_long(0, 1));
  CHECK(deviate::tool::progress_line(0.25, 30) == "[##########..............................]  25 %  1:30 left");
  CHECK(contains(deviate::tool::progress_line(1, 5), "100 %  0:00 left"));
  CHECK(contains(deviate::tool::progress_line(0, 5), "  0 %"));
  CHECK(outcome_of({"study", "--random", "normal", "--n", "16", "--quiet"}).err.empty());  // no terminal, no bar
}

}  // namespace
