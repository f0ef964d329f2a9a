#include "base/random.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace rota {

Random::Random(std::uint64_t seed) {
  for (auto& word : state_) {
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31U);
  }
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::unit() { return static_cast<double>(bits() >> 11U) * 0x1.0p-53; }

double Random::uniform(double low, double high) { return low + (high - low) * unit(); }

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (span == 0) return static_cast<std::int64_t>(bits());
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % span;  // reject the last, partial run: no bias
  std::uint64_t draw = bits();
  while (draw >= limit) draw = bits();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw % span);
}

bool Random::chance(double probability) { return unit() < probability; }

double Random::exponential(double mean) { return -mean * std::log1p(-unit()); }

double Random::normal(double mean, double deviation) {  // Box-Muller, one of the pair
  const double radius = std::sqrt(-2.0 * std::log1p(-unit()));
  return mean + deviation * radius * std::cos(2.0 * std::numbers::pi * unit());
}

double Random::gamma(double shape, double scale) {
  if (shape < 1.0) return gamma(shape + 1.0, scale) * std::pow(1.0 - unit(), 1.0 / shape);
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal(0.0, 1.0);
    const double v = std::pow(1.0 + c * x, 3.0);
    if (v <= 0.0) continue;
    if (std::log1p(-unit()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v * scale;
  }
}

}  // namespace rota
