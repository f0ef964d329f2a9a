// The limits of a machine for the jobs of one workload: which of them hold for a job, and what jobs hold under each.
// LimitBook is made once, and immutable; LimitUse counts, and says by its const check what one more job would break.
// Names of users and accounts are needed only to make the book. Cost of each call: O(limits that
// name the user or the group of the job, or neither x log of what is counted).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "model/limit.h"
#include "model/machine.h"
#include "model/sharers.h"

namespace rota {

// One count: a limit, and whose it is where it holds for each one by itself.
struct LimitKey {
  std::uint32_t limit = 0;
  std::uint32_t user = 0, group = 0, qos = 0, partition = 0;

  auto operator<=>(const LimitKey&) const = default;
};

// The names that limits go by, of users and groups that jobs name by number.
struct LimitNames {
  NamesByNumber users, groups;
};
// Those that `machine` needs for its limits.
LimitNames limit_names(const Machine& machine, const NamesByNumber& users, const NamesByNumber& groups);
// A line each, "u 3 anna" or "g 1 physics"; and back, nothing where it is not such a text.
std::string text_of(const LimitNames& names);
std::optional<LimitNames> parse_limit_names(std::string_view text);

class LimitBook {
 public:
  // The machine must outlive it.
  LimitBook(const Machine& machine, const LimitNames& names);

  const Limit& limit(LimitKey key) const { return machine_.limits[key.limit]; }
  // visit(LimitKey) for each limit that such a job counts under, until it returns false.
  template <class Visit>
  void for_each(const JobSpec& spec, const Visit& visit) const {
    const std::uint32_t in = partition_of(spec);
    for (const std::vector<std::uint32_t>* some : {&of_many_, found(of_group_, spec.group), found(of_user_, spec.user)})
      for (const std::uint32_t i : *some)
        if (rules_[i].counts(spec, in) && !visit(rules_[i].key(i, spec, in))) return;
  }
  // Whether the job's QOS or partition is one that the limit does not hold for: the job counts under it, and does not
  // break it.
  bool spares(LimitKey key, const JobSpec& spec) const {
    const Rule& rule = rules_[key.limit];
    return std::ranges::binary_search(rule.except_qos, std::uint32_t{spec.qos.value}) ||
           std::ranges::binary_search(rule.except_partitions, partition_of(spec));
  }
  bool of_time() const { return of_time_; }  // whether a limit goes by time limits
  // Why such a job can never start, as half a sentence: it asks for more than a limit allows in all.
  std::optional<std::string> never_fits(const JobSpec& spec) const;

 private:
  // Whose jobs, by numbers.
  struct Who {
    enum class Of : std::uint8_t { any, each, listed } of = Of::any;
    std::vector<std::uint32_t> numbers = {};  // where listed, ascending

    bool includes(std::uint32_t number) const;
    std::uint32_t by(std::uint32_t number) const { return of == Of::each ? number : 0; }
  };
  struct Rule {
    Who user, group, qos, partition;
    AcceleratorTypeId accelerator_type = {};  // invalid: any
    std::vector<std::uint32_t> except_qos = {}, except_partitions = {};

    bool counts(const JobSpec& spec, std::uint32_t in) const;
    LimitKey key(std::uint32_t limit, const JobSpec& spec, std::uint32_t in) const {
      return {limit, user.by(spec.user), group.by(spec.group), qos.by(spec.qos.value), partition.by(in)};
    }
  };

  using ByNumber = std::map<std::uint32_t, std::vector<std::uint32_t>>;
  static const std::vector<std::uint32_t>* found(const ByNumber& rules, std::uint32_t number) {
    static const std::vector<std::uint32_t> kNone;
    const auto at = rules.find(number);
    return at == rules.end() ? &kNone : &at->second;
  }

  std::uint32_t partition_of(const JobSpec& spec) const {
    return (spec.partition.valid() ? spec.partition : machine_.default_partition).value;
  }
  static Who who(const std::string& name, const NamesByNumber& names);
  Who of_account(const std::string& name, const NamesByNumber& groups) const;

  const Machine& machine_;
  std::vector<Rule> rules_;
  bool of_time_ = false;
  ByNumber of_user_, of_group_;         // indexes of rules that name users, or else groups,
  std::vector<std::uint32_t> of_many_;  // and of the others: a site has thousands of users, and few rules for all
};

class LimitUse {
 public:
  explicit LimitUse(const LimitBook* book = nullptr) : book_(book) {}

  bool kept() const { return book_ != nullptr; }
  const LimitBook& book() const { return *book_; }
  std::optional<std::string> never_fits(const JobSpec& spec) const {
    return kept() ? book_->never_fits(spec) : std::nullopt;
  }
  void count(const JobSpec& spec) { change(spec, 1); }
  void give(const JobSpec& spec) { change(spec, -1); }
  // A job that counts has run for so long of its limit.
  void has_run(const JobSpec& spec, Duration ran);
  // The first limit that one more such job would break; nothing: it may start.
  std::optional<LimitKey> broken_by(const JobSpec& spec) const;
  LimitedUse held(LimitKey key) const;

 private:
  void change(const JobSpec& spec, std::int64_t sign);

  const LimitBook* book_;
  std::map<LimitKey, LimitedUse> held_;
};

}  // namespace rota
