// SPDX-License-Identifier: Apache-2.0
/// \file block_fixture.hpp
/// \brief Blocks as gfloat 0.5.2 encodes them, its scale from compute_scale_amax, one 0 .. 2047 after another.
///
/// Recipe: x = inputs as below in float64; s = compute_scale_amax(fi.etype.emax, x); encode_block(fi, s, x / s) gives
/// 33 bytes, the scale's code first. `hash` is FNV-1a over those of all blocks, from 0: h = (h xor byte) · 0x100000001b3.
/// ml_dtypes 0.6.0 gives the same codes for x / s clipped at the largest element (MXINT8, which it has not, apart).
/// gfloat lets an MXINT8 element be -128, which the symmetric range here has not: the 26 such codes were replaced by
/// -127 before hashing.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "number/oracle.hpp"

namespace oracle {

/// \brief 32 floats within up to 20 binades anywhere in the range, subnormals too; every other one is short, so that it
/// is often a tie.
inline std::array<float, 32> fixture_block(std::uint64_t n) {
  const auto word = [](std::uint64_t seed, std::uint64_t i) {
    words w(seed + i * 0x9e3779b97f4a7c15u);
    return w.next();
  };
  const auto top = long(word(1, n) % 255), spread = long(1 + word(2, n) % 20);
  std::array<float, 32> x{};
  for (std::uint64_t i = 0; i < 32; ++i) {
    const std::uint64_t w = word(1000 + n, i);
    const auto exponent = std::uint32_t(std::max(0L, top - long(w >> 40) % spread));
    std::uint32_t fraction = std::uint32_t(w) & 0x7fffff;
    if (i % 2 == 1) fraction &= 0x780000;
    if (i % 4 == 3) fraction &= 0x600000;
    x[i] = std::bit_cast<float>(std::uint32_t(w >> 63) << 31 | exponent << 23 | fraction);
  }
  return x;
}

struct block_fixture {
  std::uint64_t hash;
  const char* first[6];  ///< the bytes of blocks 0 to 5
};

// clang-format off
inline constexpr block_fixture mxfp8_e4m3_fixture{0xd8c0b6a69dd019c4u, {
    "576dbff574c7e74fe4e673eae83ea873562e707ac4cde67670c1f6617cb9eeceb8",
    "1a74797452dbdc6e52ccd0cdf8e87ac9507662cbf451dc4c6e5df67c54cbf1ec64",
    "00bf3a3cb0babd363c22bab9bcc0b038803ebdb630baac3fb0a6b9b90035aca8bc",
    "47ae6aba3ef8efe85e2ae3febc6185d07aacde4f20a9141572f35c88887e244436",
    "94d05ee73af2c0c24ac34fc4e6fbcdf35671f8c656b73949ceb2eb586abbf0c1bc",
    "3ccd6300c001847703721e323c27002fb4e0a6661c44f7975a818063fc2d80c862"}};
inline constexpr block_fixture mxfp8_e5m2_fixture{0x1a026d1ea7fd62fdu, {
    "5072dcf676e0f064eeef76f1f05bd07667537479dee3ef7774ddf76d7ad8f3e3d8",
    "1376787665eaea7365e2e4e3f8f079e164776de1f665ea62736bf77a66e2f4f26e",
    "00c03d3eb8bdbe3b3e31bdbdbec0b83c803fbebb38bdb63fb8b3bcbc003bb6b4be",
    "40d371d95bf8f4f06b51eefbda6cbde479d2eb634cd0464675f56ac0c07b4e5e57",
    "8de46bf059f5dcdd61de64deeffae2f66774f8df67d75860e3d5f26871daf4ddda",
    "35e36e2fdc35bb783a754b555a502e53d6eccf6f4a5ef8c769b5ae6efa53ade06d"}};
inline constexpr block_fixture mxfp6_e3m2_fixture{0x14c51fc14c8f4959u, {
    "5b16223a1a24340832331a353402201a0b00181d2327331b18223b111e21372721",
    "1e1a1c1a092e2e17092628273c341d25081b11253a092e06170f3b1e0a26383612",
    "00300d0e282d2e0b0e022d2d2e30280c200f2e2b082d260f28232c2c000b26242e",
    "4b201521023c38340f00323f221020281d202f070020000019390e20201f000301",
    "98280f340139222205230823333e263a0b183c240b2101042721360c1521382222",
    "402712002200201c00190001020000002130201300033c200d2020123e00202411"}};
inline constexpr block_fixture mxfp6_e2m3_fixture{0xf0da80044e5940e0u, {
    "5d0d2035142028012627132a280020130200101a20212716102036051c202e2120",
    "201419140123230e0121212138281a2101160521340123010e03361c0221312c06",
    "002f0a0c242a2d070c012a292c302408200e2d27042a230f24222929000723222c",
    "4d200a2000382f280400263f200420211a2024010020000012330320201e000000",
    "9a2104280032202001200120273b2133021138200220000121202b020a20302020",
    "422106002000201700120000000000002024200700003720022020063c00202105"}};
inline constexpr block_fixture mxfp4_fixture{0x46a16e019e1318feu, {
    "5d03080d05080a000a0a050a0a0008050000040608080a0504080e0107080c0808",
    "2005060500090904000808080e0a0608000501080d00090004010e0700080c0b02",
    "000c0203090a0b0203000a0a0b0c090208040b0a010a090409080a0a000209080b",
    "4d080208000e0c0a0100090f080108080608090000080000040d01080807000000",
    "9a08010a000d0808000800080a0f080d00040e080008000008080b0002080c0808",
    "420801000800080600050000000000000809080200000e08010808010f00080801"}};
inline constexpr block_fixture mxint8_fixture{0x3019eee75d6da91bu, {
    "5f1a00ce30fff102f4f22cecf000002e04002250fffef23820ffc6096000e3fe00",
    "2232483002fafa1d02fffefec0f050ff02380affd002fa011c07c85f03ffdce80c",
    "00855064e0b39839600ab0b5a081e043007398c920b1e875e0f2b8ba0035e8f0a0",
    "4f00140000bfe2ef0700f58c000900fe5000f9020000000028d50600006c000100",
    "9cfe07f100d700ff01ff02fff2a7fed20422c0ff04000001fe00ea041400e0ff00",
    "44fe0b000000003e002900000000000000f8000e0001c4000500000ba00000ff0a"}};
// clang-format on

}  // namespace oracle
