// Seeded random numbers that are the same on every machine and compiler: the generator is xoshiro256++ (Blackman and
// Vigna 2019), seeded through splitmix64; the distributions are written out here because those of <random> differ
// between standard libraries. Not for cryptography: what must not be guessed (tokens, names of sockets) or must not
// come twice (keys of requests) is from getrandom(2). Not thread-safe: one generator a thread.
#pragma once

#include <array>
#include <cstdint>

namespace rota {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t bits();                                       // 64 random bits
  double unit();                                              // uniform in [0, 1)
  double uniform(double low, double high);                    // uniform in [low, high)
  std::int64_t between(std::int64_t low, std::int64_t high);  // uniform integer in [low, high]; low <= high
  bool chance(double probability);
  double exponential(double mean);
  double normal(double mean, double deviation);
  double gamma(double shape, double scale);  // Marsaglia and Tsang 2000; shape, scale > 0

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace rota
