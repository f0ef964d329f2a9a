// Random numbers by the Mersenne Twister, for streams of jobs that were drawn with it before there was a rota::Random
// and whose figures hold for just these streams. Anything new takes rota::Random.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>

namespace rota::study {

// MT19937 (Matsumoto and Nishimura 1998), whose output the C++ standard fixes to the bit. The distributions of <random>
// are not fixed; those here are.
class MersenneStream {
 public:
  explicit MersenneStream(std::uint32_t seed) {
    Seeding seeding{seed};
    twister_.seed(seeding);
  }

  double unit() {  // in [0, 1), 53 bits
    const auto high = static_cast<double>(twister_() >> 5U);
    const auto low = static_cast<double>(twister_() >> 6U);
    return (high * 67'108'864.0 + low) / 9'007'199'254'740'992.0;
  }
  double exponential(double mean) { return -std::log(1.0 - unit()) * mean; }
  double normal() {  // Kinderman and Monahan 1977
    for (;;) {
      const double u = unit();
      const double v = 1.0 - unit();
      const double z = 4 * std::exp(-0.5) / std::sqrt(2.0) * (u - 0.5) / v;
      if (z * z / 4.0 <= -std::log(v)) return z;
    }
  }

 private:
  // The generator's authors' way to fill its state from an array, here of one word; the library's seed_seq is another.
  struct Seeding {
    using result_type = std::uint32_t;
    std::uint32_t seed;

    template <class Word>
    void generate(Word* begin, Word* end) const {
      std::array<std::uint32_t, std::mt19937::state_size> state{19'650'218U};
      const auto before = [&](std::uint32_t i) { return state[i - 1] ^ state[i - 1] >> 30U; };
      for (std::uint32_t i = 1; i < state.size(); ++i) state[i] = 1'812'433'253U * before(i) + i;
      std::uint32_t at = 1;
      const auto advance = [&] {  // the first word follows the last
        if (++at < state.size()) return;
        state[0] = state.back();
        at = 1;
      };
      for (std::size_t k = 0; k < state.size(); ++k, advance()) {
        state[at] = (state[at] ^ before(at) * 1'664'525U) + seed;
      }
      for (std::size_t k = 1; k < state.size(); ++k, advance()) {
        state[at] = (state[at] ^ before(at) * 1'566'083'941U) - at;
      }
      state[0] = 0x80000000U;
      std::copy_n(state.begin(), end - begin, begin);
    }
  };

  std::mt19937 twister_;
};

}  // namespace rota::study
