#include "site/slurm_policy.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/letters.h"
#include "base/text.h"
#include "base/time.h"
#include "site/date.h"
#include "site/slurm_parameters.h"
#include "site/slurm_records.h"

namespace rota {
namespace {

// Parts that say how long decisions may take or how often locks are given up: here a decision takes no time.
constexpr std::string_view kOfNoAccount[]{"bf_continue",
                                          "bf_max_time",
                                          "bf_yield_interval",
                                          "bf_yield_sleep",
                                          "bf_yield_rpc_cnt",
                                          "max_rpc_cnt",
                                          "max_sched_time",
                                          "sched_min_interval",
                                          "build_queue_timeout",
                                          "bf_node_space_size",
                                          "defer",
                                          "defer_batch",
                                          "max_switch_wait",
                                          "enable_user_top",
                                          "nohold_on_prolog_fail",
                                          "requeue_setup_env_fail",
                                          "salloc_wait_nodes",
                                          "sbatch_wait_nodes",
                                          "whole_hetjob",
                                          "max_array_tasks",
                                          "disable_hetjob_steps",
                                          "preempt_send_user_signal"};

// A line that counts only where it has a certain value.
struct Line {
  std::string_view name;
  std::string_view harmless;  // values, separated by blanks
  std::string_view remark;    // follows the setting
};
constexpr Line kLines[]{
    {"PriorityWeightAssoc", "0", "associations have no factor here"},
    {"PrioritySiteFactorPlugin", "", "there is no site factor here"},
    {"PriorityUsageResetPeriod", "NONE", "use is only halved, never set back"},
    {"CompleteWait", "0", "a node that a job has left is free at once"},
};

bool same(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

// The largest unit in which it is a whole number: 2d, 90s.
std::string short_time(Duration time) {
  constexpr std::array<std::pair<std::int64_t, char>, 4> kUnits{{{86'400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}}};
  const std::int64_t whole = time / seconds(1);
  for (const auto& [size, letter] : kUnits) {
    if (whole % size == 0) return std::to_string(whole / size) + letter;
  }
  return "";
}

class Mapping {
 public:
  Mapping(const SlurmSettings& settings, const SlurmKnown& known) : settings_(settings), known_(known) {}

  SlurmPolicy done() {
    map_type();
    map_parameters();
    map_priority();
    map_preemption();
    for (const Line& line : kLines) map_line(line);
    map_at_limit();
    policy_.chain += policy_.at_limit;
    return std::move(policy_);
  }

 private:
  // Empty: not set.
  std::string_view value(std::string_view name) const {
    const auto found = std::ranges::find_if(settings_, [&](const auto& s) { return same(s.first, name); });
    if (found == settings_.end()) return "";
    const std::string_view text = trimmed(found->second);
    return text == "(null)" || same(text, "N/A") ? std::string_view{} : text;
  }
  void knob(std::string_view name, const std::string& value) { policy_.chain += fmt::format("+{}={}", name, value); }
  void remark(std::string_view setting, std::string_view what) {
    std::string sentence = fmt::format("{}: {}.", setting, what);
    const auto& told = policy_.remarks;
    if (std::ranges::find(told, sentence) == told.end()) policy_.remarks.push_back(std::move(sentence));
  }
  std::string setting(std::string_view name, std::string_view value) const {
    return fmt::format("{}={}", name, known_.values ? one_line(value) : "...");
  }

  void map_type() {
    const std::string_view type = value("SchedulerType");
    backfills_ = !same(type, "sched/builtin");
    if (!type.empty() && backfills_ && !same(type, "sched/backfill"))
      remark(setting("SchedulerType", type), "policy slurm does what sched/backfill does");
  }

  void map_parameters() {
    const auto parts = split(value("SchedulerParameters"), ',');
    for (const std::string_view part : parts) backfills_ = backfills_ && !same(trimmed(part), "bf_interval=-1");
    std::set<std::string> seen;  // what stands there twice counts the first time, as in Slurm
    for (const std::string_view part : parts) {
      const std::string_view name = trimmed(part.substr(0, part.find('=')));
      if (!name.empty() && seen.insert(lower(name)).second) map_part(trimmed(part));
    }
    if (!backfills_) return knob("bf-interval", "no");
    const std::int64_t clock = known_.unix_start % std::lcm(std::int64_t{30}, resolution_);
    if (clock > 0 && clock <= 1'000'000'000) knob("bf-clock", std::to_string(clock) + "s");
  }
  void map_part(std::string_view part) {
    const auto equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const auto known =
        std::ranges::find_if(kSlurmParameters, [&](const SlurmParameter& p) { return same(p.name, name); });
    if (known != std::end(kSlurmParameters)) {
      map_parameter(*known, part, part.substr(std::min(equals + 1, part.size())));
    } else if (!std::ranges::any_of(kOfNoAccount, [&](std::string_view other) { return same(other, name); })) {
      remark(known_.values ? one_line(part) : setting("SchedulerParameters", part), "policy slurm knows nothing of it");
    }
  }
  void map_parameter(const SlurmParameter& p, std::string_view part, std::string_view text) {
    const bool of_backfill = p.name.starts_with("bf_");
    const auto number = parse_integer(trimmed(text));
    if (p.name == "bf_interval" && number && *number == -1) return;  // map_parameters() has seen it
    if (!number || *number < p.least || *number > p.most) {
      remark(known_.values ? one_line(part) : setting(p.name, text), "that is no value, and the default is taken");
    } else if (*number != p.fallback && (backfills_ || !of_backfill)) {
      const std::int64_t unit = p.unit == SlurmUnit::minutes ? 60 : 1;
      if (p.knob == "bf-resolution") resolution_ = *number;
      knob(p.knob, p.unit == SlurmUnit::jobs ? std::to_string(*number) : short_time(seconds(*number * unit)));
    }
  }

  void map_priority() {
    const std::string_view type = value("PriorityType");
    if (type.empty() || same(type, "priority/basic")) return;
    if (!same(type, "priority/multifactor")) {
      return remark(setting("PriorityType", type), "the queue goes by arrival, as under priority/basic");
    }
    knob("priority", "multifactor");
    map_weight("PriorityWeightJobSize", "weight-job-size");
    map_weight("PriorityWeightPartition", "weight-partition");
    map_qos();
    map_resources();
    const std::string_view storage = value("AccountingStorageType");
    if (storage.empty() || same(storage, "accounting_storage/slurmdbd")) {
      map_what_varies();
    } else {
      remark(setting("AccountingStorageType", storage),
             "without slurmdbd Slurm reckons neither ages nor shares anew, so that these weights are left out");
    }
    const std::string_view small = value("PriorityFavorSmall");
    if (same(small, "yes") || same(small, "true") || small == "1") knob("favor-small", "yes");
    for (const std::string_view flag : split(value("PriorityFlags"), ',')) map_flag(trimmed(flag));
  }
  void map_what_varies() {
    map_weight("PriorityWeightAge", "weight-age");
    const bool shares = map_weight("PriorityWeightFairShare", "weight-fairshare");
    map_age("PriorityMaxAge", "max-age", seconds(7 * 86'400));
    map_age("PriorityCalcPeriod", "calc-period", seconds(300));
    map_phase();
    if (shares) map_half_life();
  }
  bool map_weight(std::string_view name, std::string_view name_of_knob) {
    const auto number = parse_integer(value(name));
    if (!number || *number <= 0) return false;
    knob(name_of_knob, std::to_string(std::min<std::int64_t>(*number, 1'000'000'000)));
    return true;
  }
  void map_qos() {
    const std::string_view weight = value("PriorityWeightQOS");
    if (weight.empty() || weight == "0") return;
    if (known_.qos) {
      map_weight("PriorityWeightQOS", "weight-qos");
    } else {
      remark(setting("PriorityWeightQOS", weight),
             "the weight is left out, for nothing says what priorities the QOS have (qos.txt)");
    }
  }
  // "CPU=1000,GRES/gpu=0.5"; of what is there twice the last one counts, as in Slurm.
  void map_resources() {
    std::map<std::string_view, std::string> knobs;
    for (const std::string_view part : split(value("PriorityWeightTRES"), ','))
      if (!trimmed(part).empty()) map_resource(trimmed(part), knobs);
    for (const auto& [known, name] : kSlurmTres)
      if (const auto at = knobs.find(name); at != knobs.end()) knob(name, at->second);
  }
  void map_resource(std::string_view part, std::map<std::string_view, std::string>& knobs) {
    const auto equals = std::min(part.find('='), part.size());
    const std::string_view name = trimmed(part.substr(0, equals));
    const auto weight = parse_number(trimmed(part.substr(std::min(equals + 1, part.size()))));
    const auto known = std::ranges::find_if(kSlurmTres, [&](const auto& of) { return same(of.first, name); });
    const std::string shown = setting("PriorityWeightTRES", part);
    if (!weight || *weight < 0) return remark(shown, "that is no value, and the default is taken");
    if (known == std::end(kSlurmTres)) return *weight > 0 ? remark(shown, "it has no factor here") : void();
    if (*weight > 0 && same(name, "Mem") && lower(value("SelectTypeParameters")).find("memory") == std::string::npos)
      return remark(shown, "it has no factor here, for memory does not count (SelectTypeParameters)");
    const std::string whole = std::to_string(std::llround(std::min(*weight, 1e9)));
    if (*weight < 1e9 && *weight != std::round(*weight)) remark(shown, "it is rounded to " + whole);
    knobs.erase(known->second);
    if (whole != "0") knobs[known->second] = whole;
  }
  // A bare number counts minutes in slurm.conf.
  std::optional<Duration> time(std::string_view name) {
    const std::string_view text = value(name);
    if (text.empty()) return std::nullopt;
    if (const auto minutes = parse_integer(text); minutes && *minutes >= 0 && *minutes <= kLongest / seconds(60)) {
      return seconds(*minutes * 60);
    }
    if (const auto clock = parse_duration(text)) return *clock;
    remark(setting(name, text), "that is no time, and the default is taken");
    return std::nullopt;
  }
  void map_age(std::string_view name, std::string_view name_of_knob, Duration fallback) {
    const auto age = time(name);
    if (age && *age >= seconds(1) && *age != fallback) knob(name_of_knob, short_time(*age));
  }
  // slurmctld reckons for the first time a second after it has started, and then in each period. Its clock may be ahead
  // of UTC by quarters of an hour.
  void map_phase() {
    const Duration period = time("PriorityCalcPeriod").value_or(seconds(300));
    const auto boot = site::unix_milliseconds_of(std::string(value("BOOT_TIME")) + "Z");
    if (!boot || known_.unix_start == 0 || period < seconds(1) || seconds(900) % period != Duration{0}) return;
    const Duration phase = (Duration{*boot} + seconds(1) - seconds(known_.unix_start)) % period;
    if (phase != Duration{0}) knob("calc-phase", short_time(phase < Duration{0} ? phase + period : phase));
  }
  void map_half_life() {
    if (!known_.accounts)
      remark("PriorityWeightFairShare",
             "every user has the same shares and accounts have none, for nothing says what they have (assoc.txt)");
    const auto half_life = time("PriorityDecayHalfLife");
    if (half_life && *half_life < seconds(1)) {
      remark("PriorityDecayHalfLife=0", "use is never forgotten there; here half of it is, every ten years");
      knob("fair-half-life", "3650d");
    } else if (half_life && *half_life != seconds(7 * 86'400)) {
      knob("fair-half-life", short_time(*half_life));
    }
  }
  // Ages count from when a job was submitted, as with ACCRUE_ALWAYS, and fair share is that of the fair tree.
  void map_flag(std::string_view flag) {
    if (flag.empty() || same(flag, "ACCRUE_ALWAYS") || same(flag, "FAIR_TREE") || same(flag, "MAX_TRES")) return;
    if (same(flag, "NO_FAIR_TREE")) return map_classic();
    if (same(flag, "SMALL_RELATIVE_TO_TIME")) return knob("small-relative-to-time", "yes");
    remark(setting("PriorityFlags", flag), "policy slurm does not follow it");
  }

  void map_classic() {
    if (!policy_.chain.contains("+weight-fairshare=")) return;
    if (!known_.accounts) return remark("PriorityFlags=NO_FAIR_TREE", "users without accounts stand in one line");
    knob("fair-tree", "no");
    const auto dampening = parse_integer(value("FairShareDampeningFactor"));
    if (dampening && *dampening > 1 && *dampening <= 65'535) knob("fair-dampening", std::to_string(*dampening));
  }

  void map_preemption() {
    const std::string_view type = value("PreemptType");
    if (type.empty() || same(type, "preempt/none")) return;
    const std::string_view mode = value("PreemptMode");
    const auto is = [&](std::string_view how) {
      return std::ranges::any_of(split(mode, ','), [&](std::string_view each) { return same(trimmed(each), how); });
    };
    const bool by_qos = same(type, "preempt/qos");
    if (!by_qos && !same(type, "preempt/partition_prio"))
      return remark(setting("PreemptType", type), "no job gives way here");
    if (is("off")) return;
    if (!is("requeue") && !is("cancel"))
      return remark(setting("PreemptMode", mode), "policy slurm suspends no job, and none gives way");
    if (!known_.gives_way) return remark(setting("PreemptType", type), "no job gives way in a forecast");
    if (by_qos && !known_.qos)
      return remark(setting("PreemptType", type), "no job gives way, for nothing says to which QOS (qos.txt)");
    knob("preempt", is("requeue") ? "requeue" : "cancel");
    if (by_qos) knob("preempt-by", "qos");
    const auto exempt = time("PreemptExemptTime");
    if (exempt && *exempt >= seconds(1)) knob("preempt-exempt", short_time(*exempt));
  }

  void map_at_limit() {
    const std::string_view text = value("OverTimeLimit");
    const auto grace = site::parse_slurm_time(text);
    if (!grace) {
      remark(setting("OverTimeLimit", text), "that is no time, and jobs end at their limits");
    } else if (grace->value_or(Duration{0}) == kLongest) {
      policy_.at_limit = "+overrun=run-on";
    } else if (*grace && **grace > Duration{0}) {
      policy_.at_limit = "+overrun=" + short_time(**grace);
    }
  }

  void map_line(const Line& line) {
    const std::string_view text = value(line.name);
    if (text.empty()) return;
    const auto harmless = split(line.harmless, ' ');
    const std::string_view bare = text.substr(0, std::min(text.find(' '), text.size()));  // "0 sec" is 0
    if (std::ranges::any_of(harmless, [&](std::string_view value) { return same(value, bare); })) return;
    remark(setting(line.name, text), line.remark);
  }

  const SlurmSettings& settings_;
  const SlurmKnown& known_;
  SlurmPolicy policy_{.chain = "slurm"};
  bool backfills_ = true;
  std::int64_t resolution_ = 60;  // of backfill's times, in seconds
};

}  // namespace

SlurmPolicy slurm_policy_of(const SlurmSettings& settings, const SlurmKnown& known) {
  return Mapping(settings, known).done();
}

}  // namespace rota
