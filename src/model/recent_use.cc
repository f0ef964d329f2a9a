#include "model/recent_use.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace rota {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kParts = 1024;  // of a millisecond

constexpr std::uint64_t high(Wide product) { return static_cast<std::uint64_t>(product >> 64U); }

// The largest whole number whose square is at most this.
constexpr std::uint64_t root(Wide square) {
  std::uint64_t found = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63U; bit != 0; bit >>= 1U) {
    const std::uint64_t tried = found | bit;
    if (Wide{tried} * tried <= square) found = tried;
  }
  return found;
}

// 2^-(1/2), 2^-(1/4), 2^-(1/8) and so on, in 2^-64.
constexpr auto kRoots = [] {
  std::array<std::uint64_t, 64> roots{};
  roots[0] = root(Wide{1} << 127U);
  for (std::size_t i = 1; i < roots.size(); ++i) roots[i] = root(Wide{roots[i - 1]} << 64U);
  return roots;
}();

// 2^-fraction, both in 2^-64.
std::uint64_t power_of_half(std::uint64_t fraction) {
  std::uint64_t power = UINT64_MAX;
  for (std::size_t i = 0; i < kRoots.size() && fraction != 0; ++i, fraction <<= 1U) {
    if (fraction >> 63U != 0) power = high(Wide{power} * kRoots[i]);
  }
  return power;
}

// log2 of a number from 1 up to 2, which is given in 2^-63; in 2^-64.
std::uint64_t log2_of(std::uint64_t number) {
  std::uint64_t log = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63U; bit != 0; bit >>= 1U) {
    const Wide square = Wide{number} * number;
    const bool two = square >> 127U != 0;
    number = high(two ? square : square << 1U);
    if (two) log |= bit;
  }
  return log;
}

// So much of a half-life, to the nearest.
std::int64_t part_of(std::int64_t half_life, std::uint64_t fraction) {
  return static_cast<std::int64_t>(high(Wide{static_cast<std::uint64_t>(half_life)} * fraction + (Wide{1} << 63U)));
}

// How long so much use takes to fade to one.
std::int64_t fades_in(Wide use, std::int64_t half_life) {
  const int whole =
      high(use) != 0 ? 127 - std::countl_zero(high(use)) : 63 - std::countl_zero(static_cast<std::uint64_t>(use));
  const Wide leading = whole > 63 ? use >> static_cast<unsigned>(whole - 63) : use << static_cast<unsigned>(63 - whole);
  return whole * half_life + part_of(half_life, log2_of(static_cast<std::uint64_t>(leading)));
}

// How much later two uses together are spent than the larger, which by itself is spent so far apart from the smaller.
std::int64_t together(std::uint64_t apart, std::int64_t half_life) {
  const auto length = static_cast<std::uint64_t>(half_life);
  if (apart / length >= 64) return 0;
  const auto fraction = static_cast<std::uint64_t>((Wide{apart % length} << 64U) / length);
  const std::uint64_t smaller = power_of_half(fraction) >> (apart / length);  // beside the larger
  return part_of(half_life, log2_of((std::uint64_t{1} << 63U) + (smaller >> 1U)));
}

}  // namespace

void RecentUse::add(std::uint32_t user, std::uint32_t processors, Duration run, Instant end) {
  if (run > Duration{0}) add(user, Work{processors} * static_cast<std::uint64_t>(run.count()), end);
}

void RecentUse::add(std::uint32_t user, Work work, Instant end) {
  if (work == 0) return;
  add_spent(user, end.time_since_epoch().count() * kParts + fades_in(work, half_life_.count() * kParts));
}

void RecentUse::take_over(RecentUse& other) {
  for (const auto& [user, spent] : other.spent_) add_spent(user, spent);
  other.spent_.clear();
  other.changed_.clear();
}

void RecentUse::add_spent(std::uint32_t user, std::int64_t alone) {
  const std::int64_t half_life = half_life_.count() * kParts;
  changed_.push_back(user);
  ++changes_;
  const auto [at, first] = spent_.try_emplace(user, alone);
  if (first) return;
  const auto [smaller, larger] = std::minmax(at->second, alone);
  const std::uint64_t apart = static_cast<std::uint64_t>(larger) - static_cast<std::uint64_t>(smaller);
  const std::int64_t both = larger + together(apart, half_life);
  at->second = both;
}

double RecentUse::beside(std::int64_t spent, std::int64_t other) const {
  if (spent == kNothing) return 0;
  const double apart = static_cast<double>(spent) - static_cast<double>(other);
  return std::exp2(apart / static_cast<double>(half_life_.count() * kParts));
}

void RecentUse::put_back(std::uint32_t user, std::int64_t spent) {
  constexpr std::int64_t kFar = INT64_MAX / 32 * 31;  // more than add() makes of anything, with room for what it adds
  if (spent == kNothing || !kept()) return;
  spent_[user] = std::clamp(spent, -kFar, kFar);
  changed_.push_back(user);
  ++changes_;
}

}  // namespace rota
