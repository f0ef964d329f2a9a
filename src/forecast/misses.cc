#include "forecast/misses.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"

namespace rota::forecast {
namespace {

constexpr double kCountsHalf = 50;  // forecasts of its own, with which what others missed counts half

double seconds_of(Duration time) { return static_cast<double>(time.count()) / 1000; }

double uncertain(Instant at, const Misses::Foretold& foretold) {
  const double spread = seconds_of(foretold.back() - foretold.front());
  const double wait = seconds_of(std::max(foretold[2] - at, Duration{0}));
  return 10 + spread / 2 + wait / 10;
}

bool reaches(const Misses::Foretold& foretold) { return std::ranges::find(foretold, kNever) == foretold.end(); }

}  // namespace

void Misses::keep(const Miss& miss) {
  known_.push_back(miss);
  if (known_.size() > kMost) known_.pop_front();
}

void Misses::add(Instant at, const Foretold& foretold, Instant truth) {
  if (!reaches(foretold) || truth == kNever) return;
  const double beside = uncertain(at, foretold);
  Miss miss{};
  for (std::size_t i = 0; i < miss.size(); ++i) miss[i] = seconds_of(truth - foretold[i]) / beside;
  keep(miss);
}

// Outwards, so that a band is rather too wide than too narrow.
double Misses::of_share(std::size_t share) const {
  if (known_.empty()) return kElsewhere[share];
  std::vector<double> misses(known_.size());
  std::ranges::transform(known_, misses.begin(), [&](const Miss& miss) { return miss[share]; });
  std::ranges::sort(misses);
  const auto known = static_cast<double>(known_.size());
  const double place = kShares[share] * (known + 1) / 100;
  const double rank = kShares[share] < 50   ? std::floor(place)
                      : kShares[share] > 50 ? std::ceil(place)
                                            : std::round(place);
  const double own = misses[static_cast<std::size_t>(std::clamp(rank, 1.0, known)) - 1];
  const double elsewhere = 1 / (1 + std::pow(known / kCountsHalf, 2));
  return elsewhere * kElsewhere[share] + (1 - elsewhere) * own;
}

Misses::Foretold Misses::corrected(Instant at, const Foretold& foretold) const {
  if (!reaches(foretold)) return foretold;
  const double beside = uncertain(at, foretold);
  Foretold told = foretold;
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    const Duration moved{std::llround(of_share(i) * beside * 1000)};
    told[i] = std::max(foretold[i] + std::clamp(moved, -kLongest, kLongest), at);
    if (i > 0) told[i] = std::max(told[i], told[i - 1]);
  }
  return told;
}

std::string Misses::text() const {
  std::string text;
  for (const Miss& miss : known_) {
    for (const double each : miss) text += fmt::format("{:.4g} ", each);
    text.back() = ';';
  }
  return text;
}

void Misses::read(std::string_view text) {
  for (const std::string_view part : split(text, ';')) {
    const auto words = split(part, ' ');
    Miss miss{};
    if (words.size() != miss.size()) continue;
    bool sound = true;
    for (std::size_t i = 0; i < miss.size(); ++i) {
      const auto number = parse_number(words[i]);
      sound = sound && number && std::isfinite(*number);
      if (sound) miss[i] = *number;
    }
    if (sound) keep(miss);
  }
}

}  // namespace rota::forecast
