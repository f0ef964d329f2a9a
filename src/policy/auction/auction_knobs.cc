#include "policy/auction/auction_knobs.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace rota {
namespace {

template <class Value, std::size_t N>
using Names = std::array<std::pair<std::string_view, Value>, N>;

constexpr Names<Siting, 8> kSitings{{{"none", Siting::none},
                                     {"english", Siting::english},
                                     {"announced", Siting::announced},
                                     {"random", Siting::random},
                                     {"round-robin", Siting::round_robin},
                                     {"least-loaded", Siting::least_loaded},
                                     {"race", Siting::race},
                                     {"staged-race", Siting::staged_race}}};
constexpr Names<Valuation, 3> kBids{
    {{"published", Valuation::published}, {"rate", Valuation::by_rate}, {"plan", Valuation::by_plan}}};
constexpr Names<Close, 3> kCloses{
    {{"on-time", Close::on_time}, {"unbeatable", Close::unbeatable}, {"stopping", Close::stopping}}};

struct TimeKnob {
  std::string_view name;
  Duration AuctionKnobs::* place;
  Duration least;
};
constexpr std::array<TimeKnob, 5> kTimes{{{"auction-round", &AuctionKnobs::round, seconds(1)},
                                          {"auction-look", &AuctionKnobs::look, seconds(1)},
                                          {"auction-patience", &AuctionKnobs::patience, Duration{0}},
                                          {"auction-margin", &AuctionKnobs::margin, Duration{0}},
                                          {"auction-run-time", &AuctionKnobs::mean_run_time, seconds(1)}}};

const TimeKnob* time_knob(std::string_view name) {
  const auto* found = std::ranges::find(kTimes, name, &TimeKnob::name);
  return found == kTimes.end() ? nullptr : found;
}

std::unexpected<Error> wrong(std::string_view name, const std::string& takes, std::string_view value) {
  return fail("policy knob " + std::string(name) + " is " + takes + ", not " + quoted(value) + ".");
}

template <class Value, std::size_t N>
Result<void> choose(Value& place, const Names<Value, N>& names, std::string_view knob, std::string_view value) {
  std::string all;
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i].first == value) return place = names[i].second, Result<void>{};
    all += std::string(i == 0 ? "" : i + 1 == N ? " or " : ", ") + std::string(names[i].first);
  }
  return wrong(knob, all, value);
}

// Where everybody hears at once, nobody need wait for anybody, and a site that has to wait can say for how long.
Result<void> set_siting(AuctionKnobs& knobs, std::string_view value) {
  const AuctionKnobs defaults;
  if (auto chosen = choose(knobs.siting, kSitings, "auction", value); !chosen) return chosen;
  const bool announced = knobs.siting == Siting::announced;
  knobs.round = announced ? seconds(30) : defaults.round;
  knobs.bid = announced ? Valuation::by_plan : defaults.bid;
  knobs.close = announced ? Close::stopping : defaults.close;
  return {};
}

Result<void> set_spare(AuctionKnobs& knobs, std::string_view value) {
  const auto number = parse_number(value);
  if (!number || !(*number >= 0) || *number > 100) {
    return wrong("auction-spare", "a number of mean run times from 0 to 100", value);
  }
  knobs.spare = *number;
  return {};
}

Result<void> set_second_thoughts(AuctionKnobs& knobs, std::string_view value) {
  const auto time = value == "no" ? Result<Duration>(Duration{0}) : parse_duration(value);
  if (!time || (value != "no" && *time < seconds(1)) || *time > kLongest) {
    return wrong("auction-second-thoughts", "no, or a time of a second or more such as 5m", value);
  }
  knobs.second_thoughts = *time;
  return {};
}

Result<void> set_seed(AuctionKnobs& knobs, std::string_view value) {
  const auto number = parse_integer(value);
  if (!number || *number < 0) return wrong("auction-seed", "a whole number from 0 on", value);
  knobs.seed = *number;
  return {};
}

}  // namespace

bool is_auction_knob(std::string_view name) { return name == "auction" || name.starts_with("auction-"); }

Result<void> set_auction_knob(AuctionKnobs& knobs, std::string_view name, std::string_view value) {
  if (name == "auction") return set_siting(knobs, value);
  if (name == "auction-bid") return choose(knobs.bid, kBids, name, value);
  if (name == "auction-close") return choose(knobs.close, kCloses, name, value);
  if (name == "auction-spare") return set_spare(knobs, value);
  if (name == "auction-seed") return set_seed(knobs, value);
  if (name == "auction-second-thoughts") return set_second_thoughts(knobs, value);
  const TimeKnob* knob = time_knob(name);
  if (!knob) {
    return fail("there is no policy knob " + quoted(name) + "; `rota policies auction` and `rota policies` list them.");
  }
  const auto time = parse_duration(value);
  if (!time || *time < knob->least || *time > kLongest) {
    return wrong(name, knob->least > Duration{0} ? "a time of a second or more such as 20m" : "a time such as 20m",
                 value);
  }
  knobs.*knob->place = *time;
  return {};
}

std::string_view idle_auction_knob(const AuctionKnobs& knobs, std::string_view name) {
  if (name == "auction" || !is_auction_knob(name)) return {};
  if (name == "auction-seed") {
    const bool chance = knobs.siting == Siting::random || knobs.siting == Siting::race;
    return chance ? "" : "it is for auction=random and auction=race";
  }
  if (!knobs.auctions()) return "it is for auction=english and auction=announced";
  if (name == "auction-look") return knobs.siting == Siting::english ? "" : "it is for auction=english";
  if (name == "auction-patience") return knobs.close == Close::stopping ? "" : "it is for auction-close=stopping";
  if (name == "auction-margin" || name == "auction-spare" || name == "auction-second-thoughts") {
    return knobs.by_expected_start() ? "" : "it is for auction-bid=plan and auction-bid=rate";
  }
  return {};
}

}  // namespace rota
