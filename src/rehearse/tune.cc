#include "rehearse/tune.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/in_parallel.h"
#include "log/window.h"
#include "policy/chain_text.h"

namespace rota {
namespace {

constexpr double kAlike = 0.01;            // shares of a figure by which settings may differ and still come out alike,
constexpr double kAlikeOfSeveral = 0.02;   // and where others decide between them
constexpr std::size_t kMostJudged = 8;     // settings, beside the one that there is now
constexpr std::size_t kAsItIs = SIZE_MAX;  // in place of a value

using Places = std::vector<std::size_t>;  // of each knob the place of its value

bool stopped(const TuneOptions& how) { return how.stop != nullptr && how.stop->load(); }

struct Part {
  log::Workload workload;
  LogBlocks cut;
};

Result<Part> part_of(const log::Workload& workload, const log::Window& window, const LogBlocks& cut) {
  Part part{workload, cut};
  part.workload.recorded.clear();
  TRY(log::cut(part.workload, window));
  return part;
}

Result<report::Blocks> rehearse_blocks(const Part& part, const Chain& chain, RehearseOptions options) {
  BlockCollector collector(part.workload, part.cut);
  options.beside = &collector;
  TRY(rehearse(part.workload, chain, options));
  return collector.blocks();
}

// The policy with these values in place of its own.
Result<std::string> policy_with(const std::string& policy,
                                const std::vector<std::pair<const Knob*, std::string>>& values) {
  const auto text = TRY(read_chain_text(policy));
  std::string changed(text.policy->name);
  for (const Setting& own : text.own) {
    const bool replaced = std::ranges::any_of(values, [&](const auto& value) { return value.first == own.knob; });
    if (!replaced) changed += fmt::format("+{}={}", own.knob->name, own.value);
  }
  for (const auto& [knob, value] : values) changed += fmt::format("+{}={}", knob->name, value);
  return changed;
}

// `a` is nowhere worse than `b`, and somewhere better.
bool beats(const TunedSetting& a, const TunedSetting& b, const std::vector<const report::Rule*>& rules) {
  bool better = false;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    const double x = rules[r]->higher ? -a.figures[r] : a.figures[r];
    const double y = rules[r]->higher ? -b.figures[r] : b.figures[r];
    if (x > y || std::isnan(x) != std::isnan(y)) return false;
    better |= x < y;
  }
  return better;
}

// A figure that the log cannot have is none of both.
bool come_to_the_same(const TunedSetting& a, const TunedSetting& b) {
  return std::ranges::equal(a.figures, b.figures,
                            [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

class Search {
 public:
  Search(const TuneOptions& how, const Part& part, const RehearseOptions& options)
      : how_(how), part_(part), options_(options) {}

  Result<void> run() {
    TRY(try_all({Places(how_.knobs.size(), kAsItIs)}));
    if (combinations() <= how_.most_tries) return try_all(every_combination());
    return knob_by_knob();
  }

  const std::vector<TunedSetting>& tried() const { return settings_; }
  std::size_t impossible() const { return impossible_.size(); }
  // Among those that come out alike with the best by the first rule, the one that is best by all rules together, and
  // then the one that changes least. Where there is one rule alone, the latter decides.
  std::size_t chosen() const {
    const bool several = how_.rules.size() > 1;
    std::size_t least = best();
    const double most = burden(least) + (several ? kAlikeOfSeveral : kAlike) * std::abs(burden(least));
    const auto key = [&](std::size_t i) {
      return std::tuple(several ? std::llround(product(i) / kAlike) : 0, settings_[i].changed, burden(i));
    };
    for (std::size_t i = 0; i < settings_.size(); ++i)
      if (burden(i) <= most && key(i) < key(least)) least = i;
    return least;
  }
  // Those that no other beats; where several come to the same, the one that changes least.
  std::vector<std::size_t> front() const {
    const std::vector<std::size_t> all = places();
    std::vector<std::size_t> front = all;
    std::erase_if(front, [&](std::size_t i) {
      const TunedSetting& one = settings_[i];
      return std::ranges::any_of(all, [&](std::size_t at) {
        const TunedSetting& other = settings_[at];
        const bool simpler = std::pair(other.changed, at) < std::pair(one.changed, i);
        return beats(other, one, how_.rules) || (come_to_the_same(other, one) && simpler);
      });
    });
    std::ranges::sort(front, {}, [&](std::size_t i) { return std::pair(burden(i), i); });
    return front;
  }

 private:
  std::vector<std::size_t> places() const {
    std::vector<std::size_t> all(settings_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  // What the figures by all rules come to, multiplied, as a logarithm.
  double product(std::size_t i) const {
    double sum = 0;
    for (std::size_t r = 0; r < how_.rules.size(); ++r) {
      const double level = std::log(std::max(settings_[i].figures[r], 0.0) + (how_.rules[r]->higher ? 0.001 : 1));
      if (!std::isnan(level)) sum += how_.rules[r]->higher ? -level : level;
    }
    return sum;
  }
  std::size_t best() const {
    const std::vector<std::size_t> all = places();
    return *std::ranges::min_element(all, {}, [&](std::size_t i) { return burden(i); });
  }
  double burden(std::size_t i) const {
    const double figure = settings_[i].figures.front();
    if (std::isnan(figure)) return INFINITY;
    return how_.rules.front()->higher ? -figure : figure;
  }

  std::size_t combinations() const {
    std::size_t all = 1;
    for (const TunedKnob& knob : how_.knobs) all = std::min(all * (knob.values.size() + 1), how_.most_tries + 1);
    return all;
  }
  std::vector<Places> every_combination() const {
    std::vector<Places> all{{}};
    for (const TunedKnob& knob : how_.knobs) {
      std::vector<Places> longer;
      for (const Places& begun : all) {
        for (std::size_t value = 0; value <= knob.values.size(); ++value) {
          longer.push_back(begun);
          longer.back().push_back(value == knob.values.size() ? kAsItIs : value);
        }
      }
      all = std::move(longer);
    }
    return all;
  }

  // Each knob in turn is tried at all its values beside the best of the others, until none of them gains.
  Result<void> knob_by_knob() {
    std::size_t reached = best();
    for (bool gained = true; gained;) {
      gained = false;
      for (std::size_t k = 0; k < how_.knobs.size(); ++k) {
        std::vector<Places> next;
        for (std::size_t value = 0; value < how_.knobs[k].values.size(); ++value) {
          next.push_back(at_[reached]);
          next.back()[k] = value;
        }
        TRY(try_all(std::move(next)));
        gained |= best() != reached;
        reached = best();
      }
    }
    return {};
  }

  struct Candidate {
    Places places;
    TunedSetting setting;
    Chain chain;
  };

  std::vector<std::pair<const Knob*, std::string>> values_at(const Places& places) const {
    std::vector<std::pair<const Knob*, std::string>> values;
    for (std::size_t k = 0; k < places.size(); ++k)
      if (places[k] != kAsItIs) values.emplace_back(how_.knobs[k].knob, how_.knobs[k].values[places[k]]);
    return values;
  }
  Result<Chain> chain_at(const Places& places) const {
    const auto values = values_at(places);
    const auto policy = values.empty() ? Result<std::string>(how_.policy) : policy_with(how_.policy, values);
    if (!policy) return std::unexpected(policy.error());
    return Chain::parse(*policy);
  }
  // Without the values that say what holds anyway.
  Places least_changed(Places places, const ChainKnobs& knobs) const {
    for (std::size_t& place : places) {
      const std::size_t value = std::exchange(place, kAsItIs);
      const auto without = chain_at(places);
      if (!without || !(without->knobs() == knobs)) place = value;
    }
    return places;
  }

  // nullopt: it does not go together, or was tried before.
  std::optional<Candidate> candidate_of(Places places) {
    auto chain = chain_at(places);
    if (!chain) {
      impossible_.insert(std::move(places));
      return std::nullopt;
    }
    if (std::ranges::find(known_, chain->knobs()) != known_.end()) return std::nullopt;
    known_.push_back(chain->knobs());
    places = least_changed(std::move(places), chain->knobs());
    chain = chain_at(places);
    TunedSetting setting{.policy = chain->text()};
    for (const auto& [knob, value] : values_at(places)) {
      setting.changes += fmt::format("{}{}={}", setting.changes.empty() ? "" : "+", knob->name, value);
      ++setting.changed;
    }
    return Candidate{std::move(places), std::move(setting), std::move(*chain)};
  }

  Result<void> try_all(std::vector<Places> all) {
    std::vector<Candidate> candidates;
    for (Places& places : all) {
      if (settings_.size() + candidates.size() >= how_.most_tries) break;
      auto candidate = candidate_of(std::move(places));
      if (candidate) candidates.push_back(std::move(*candidate));
    }
    if (how_.plans) how_.plans(candidates.size());
    std::vector<std::optional<Result<void>>> done(candidates.size());
    in_parallel(candidates.size(), how_.threads, [&](std::size_t i) {
      if (stopped(how_) && !(settings_.empty() && i == 0)) return;
      done[i] = rehearse_one(candidates[i]);
      if (how_.rehearsed) how_.rehearsed();
    });
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!done[i]) continue;
      if (!*done[i]) return std::unexpected(done[i]->error());
      settings_.push_back(std::move(candidates[i].setting));
      at_.push_back(std::move(candidates[i].places));
    }
    return {};
  }
  Result<void> rehearse_one(Candidate& candidate) const {
    const report::Blocks blocks = TRY(rehearse_blocks(part_, candidate.chain, options_));
    for (const report::Rule* rule : how_.rules) candidate.setting.figures.push_back(report::value_of(*rule, blocks));
    return {};
  }

  const TuneOptions& how_;
  const Part& part_;
  const RehearseOptions& options_;
  std::vector<ChainKnobs> known_;
  std::vector<TunedSetting> settings_;
  std::vector<Places> at_;  // as settings_
  std::set<Places> impossible_;
};

Result<void> judge(const TuneOptions& how, const Part& part, const RehearseOptions& options, Tuning& tuning) {
  auto& all = tuning.judged;
  if (how.plans) how.plans(all.size());
  std::vector<Result<void>> done(all.size());
  in_parallel(all.size(), how.threads, [&](std::size_t i) {
    const auto chain = Chain::parse(all[i].setting.policy);
    auto blocks = rehearse_blocks(part, *chain, options);
    if (blocks) {
      all[i].blocks = std::move(*blocks);
    } else {
      done[i] = std::unexpected(blocks.error());
    }
    if (how.rehearsed) how.rehearsed();
  });
  for (const Result<void>& one : done)
    if (!one) return one;
  in_parallel(all.size(), how.threads, [&](std::size_t i) {
    for (const report::Rule* rule : how.rules) {
      all[i].figures.push_back(report::drawn(*rule, all[i].blocks));
      all[i].gains.push_back(report::drawn_gain(*rule, all.front().blocks, all[i].blocks));
    }
  });
  return {};
}

// Half of the blocks, the later ones, behind one that only fills the cluster.
Result<Part> judged_part(const log::Workload& workload, const LogBlocks& cut, std::size_t searched_on) {
  LogBlocks later{cut.end(searched_on - 1), cut.length, cut.count - searched_on};
  return part_of(workload, {.from = later.begin - cut.length, .warm_up = cut.length}, later);
}

}  // namespace

bool Tuning::worth_changing() const {
  if (judged.size() < 2 || judged[1].setting.changed == 0) return false;
  const report::Drawn& gain = judged[1].gains.front();
  return gain.low > 0 && gain.value >= kAlike * std::abs(judged.front().figures.front().value);
}

Result<Tuning> tune(const log::Workload& workload, const TuneOptions& how, const RehearseOptions& given) {
  if (given.machine && !given.machine->sites.empty())
    return fail(
        "{}: knobs are tuned for one cluster, and the cluster file describes several sites. Give a file that describes "
        "one.",
        workload.name);
  if (workload.queue_floor >= 0)
    return fail(
        "{}: its jobs come whenever few wait (QueueFloor), so that it has no weeks to judge on. Give a log whose jobs "
        "come at their times.",
        workload.name);
  Tuning tuning;
  tuning.cut = blocks_of(workload, kBlocksOfTuning);
  tuning.searched_on = tuning.cut.count / 2;
  if (tuning.cut.count < kBlocksOfTuning)
    return fail("{}: all jobs come at once, so that there is no part of the log to judge on. Give a longer log.",
                workload.name);
  RehearseOptions options = given;
  options.keep_jobs = options.keep_nodes = false;
  const Part early = TRY(part_of(workload, {.until = tuning.cut.end(tuning.searched_on - 1)},
                                 {tuning.cut.begin, tuning.cut.length, tuning.searched_on}));
  const Part late = TRY(judged_part(workload, tuning.cut, tuning.searched_on));
  Search search(how, early, options);
  TRY(search.run());
  tuning.tried = search.tried().size();
  tuning.impossible = search.impossible();
  tuning.stopped = stopped(how);
  std::vector<std::size_t> places{0, search.chosen()};
  for (const std::size_t i : search.front()) places.push_back(i);
  for (std::size_t i = 0; i < places.size() && tuning.judged.size() <= kMostJudged; ++i) {
    const bool seen = std::find(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(i), places[i]) !=
                      places.begin() + static_cast<std::ptrdiff_t>(i);
    if (!seen) tuning.judged.push_back({.setting = search.tried()[places[i]]});
  }
  TRY(judge(how, late, options, tuning));
  return tuning;
}

}  // namespace rota
