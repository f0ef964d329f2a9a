#include "serve/remedies.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/cpu_time.h"
#include "base/text.h"
#include "model/never_fits.h"
#include "serve/told_start.h"

namespace rota::serve {
namespace {

constexpr double kPatience = 0.3;          // seconds of CPU time, after which nothing more is tried
constexpr Duration kMinute = seconds(60);  // what is sooner is so by that much at least
constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::size_t kMostPartitions = 16;  // that are tried

// Something that a job asks for, in steps: from 1, with which it asks for least, to `present`.
struct Amount {
  std::int64_t present;
  bool roughly;  // to a twentieth is near enough
  std::function<Remedy(std::int64_t)> remedy;
  std::string any = {};  // what is said where less helps, however little less; empty: `present` is what it asks for now
};

Amount limit_of(const JobSpec& spec) {
  const bool has_none = spec.limit >= kLongest;
  const Duration limit = has_none ? seconds(60LL * 86'400) : spec.limit;
  const Duration step = limit < 20 * kMinute ? seconds(1) : kMinute;
  const std::int64_t steps = (limit + step - Duration{1}) / step;  // the last of them is what it asks for now
  return {steps, true,
          [step](std::int64_t so_many) {
            const Duration less = so_many * step;
            return Remedy{.limit = less, .text = " if it asks for at most " + limit_text(less)};
          },
          has_none ? fmt::format(" if it has a time limit at all (tried with {})", limit_text(limit)) : ""};
}

void add_licences(const Machine& machine, const JobSpec& spec, std::vector<Amount>& all) {
  std::vector<LicenceUse> held;
  each_licence(spec, [&](LicenceId kind, std::uint32_t count) { held.push_back({kind, count}); });
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::string of = held.size() == 1 ? "" : " of " + machine.licences[held[i].licence.value].name;
    all.push_back({held[i].count, false, [held, i, of](std::int64_t count) {
                     std::vector<LicenceUse> fewer = held;
                     fewer[i].count = static_cast<std::uint32_t>(count);
                     return Remedy{.licences = std::move(fewer),
                                   .text = fmt::format(" with {}{} instead of {}", amount(count, "licence"), of,
                                                       grouped(held[i].count))};
                   }});
  }
}

std::vector<Amount> amounts_of(const Machine& machine, const JobSpec& spec) {
  const std::uint32_t spread = std::max(1U, spec.nodes);  // the same number on each node
  std::vector<Amount> all{limit_of(spec)};
  all.push_back({spec.processors / spread, false, [spread, &spec](std::int64_t each) {
                   const auto processors = static_cast<std::uint32_t>(each) * spread;
                   return Remedy{.processors = processors,
                                 .text = fmt::format(" on {} instead of {}", amount(processors, "processor"),
                                                     grouped(spec.processors))};
                 }});
  all.push_back({spec.memory / kMebibyte, true, [](std::int64_t mebibytes) {
                   const std::int64_t memory = mebibytes * kMebibyte;
                   return Remedy{
                       .memory = memory,
                       .text = fmt::format(" if it asks for at most {} of memory on each node", format_size(memory))};
                 }});
  all.push_back({spec.accelerators, false, [&spec](std::int64_t each) {
                   return Remedy{.accelerators = static_cast<std::uint8_t>(each),
                                 .text = fmt::format(" with {} on each node instead of {}, submitted anew",
                                                     amount(each, "accelerator"), grouped(spec.accelerators))};
                 }});
  add_licences(machine, spec, all);
  return all;
}

class Trials {
 public:
  Trials(const Machine& machine, JobId id, const JobSpec& spec) : machine_(machine), id_(id), spec_(spec) {}

  // What helps is what starts it now, or where `by` is given not later than then.
  std::vector<Remedy> all(const WhatIf& what_if, std::optional<Instant> by) {
    what_if_ = &what_if;
    by_ = by;
    for (const Amount& amount : amounts_of(machine_, spec_)) try_less(amount);
    const auto partitions = std::min(machine_.partitions.size(), kMostPartitions);
    for (std::uint32_t i = 0; i < partitions; ++i) {
      const PartitionId other{i};
      if (other == spec_.partition) continue;
      keep_better(helped({.partition = other, .text = " in partition " + quoted(machine_.partitions[i].name)}));
    }
    return std::exchange(found_, {});
  }

 private:
  void try_less(const Amount& amount) {
    if (auto remedy = amount.any.empty() ? std::nullopt : helped(amount.remedy(amount.present))) {
      remedy->text = amount.any;
      return keep_better(std::move(remedy));
    }
    std::int64_t helps = 1;
    std::int64_t helps_not = amount.present;
    if (helps >= helps_not) return;
    std::optional<Remedy> best = helped(amount.remedy(helps));
    while (best && helps_not - helps > (amount.roughly ? std::max<std::int64_t>(1, helps / 20) : 1)) {
      const std::int64_t middle = helps + (helps_not - helps) / 2;
      if (auto better = helped(amount.remedy(middle))) {
        best = std::move(better);
        helps = middle;
      } else {
        helps_not = middle;
      }
    }
    keep_better(std::move(best));
  }

  // The remedy with its start, if it is one.
  std::optional<Remedy> helped(Remedy remedy) {
    if (cpu_seconds() > until_) return std::nullopt;
    JobSpec asked = spec_;
    asked.limit = remedy.limit.value_or(asked.limit);
    asked.processors = remedy.processors.value_or(asked.processors);
    asked.memory = remedy.memory.value_or(asked.memory);
    asked.accelerators = remedy.accelerators.value_or(asked.accelerators);
    if (remedy.licences && !set_licences(asked, *remedy.licences)) return std::nullopt;
    if (remedy.partition) move_to(*remedy.partition, asked);
    if (never_fits(machine_, asked)) return std::nullopt;
    const Start start = what_if_->start_of(id_, asked);
    if (!start.now && (!by_ || start.at > *by_)) return std::nullopt;
    if (!start.now) remedy.start = start.at;
    return remedy;
  }

  void move_to(PartitionId other, JobSpec& asked) const {
    const auto priority = [&](PartitionId id) { return id.valid() ? machine_.partitions[id.value].priority : 0; };
    asked.priority += priority(other) - priority(asked.partition);
    asked.partition = other;
  }

  void keep_better(std::optional<Remedy> remedy) {
    if (!remedy) return;
    remedy->text = (remedy->start == kNever ? "starts now" : "starts sooner") + remedy->text;
    found_.push_back(std::move(*remedy));
  }

  const Machine& machine_;
  JobId id_;
  const JobSpec& spec_;
  const double until_ = cpu_seconds() + kPatience;
  const WhatIf* what_if_ = nullptr;
  std::optional<Instant> by_;
  std::vector<Remedy> found_;
};

}  // namespace

std::string limit_text(Duration limit) {
  std::string text = format_duration(limit);
  if (text.starts_with('0')) text.erase(0, 1);
  return text;
}

std::vector<Remedy> remedies(const WhatIf& policy, const WhatIf& planned, const Machine& machine, JobId id,
                             const JobSpec& spec) {
  Trials trials(machine, id, spec);
  std::vector<Remedy> now = trials.all(policy, std::nullopt);
  if (!now.empty()) return now;
  const Start start = planned.start_of(id, spec);
  if (start.now || start.at == kNever || start.at - planned.now() < 2 * kMinute) return {};
  const Instant sooner = start.at - std::max(kMinute, (start.at - planned.now()) / 10);
  return trials.all(planned, std::min(sooner, planned.now() + kTooFar - Duration{1}));
}

}  // namespace rota::serve
