#include "model/limit_book.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "model/accounts_below.h"
#include "model/limit_text.h"
#include "model/moment.h"

namespace rota {
namespace {

struct Counted {
  std::int64_t LimitedUse::* what;
  const char* word;
};
constexpr std::array<Counted, 6> kCounted{{{&LimitedUse::jobs, "job"},
                                           {&LimitedUse::processors, "processor"},
                                           {&LimitedUse::nodes, "node"},
                                           {&LimitedUse::memory, "byte"},
                                           {&LimitedUse::accelerators, "accelerator"},
                                           {&LimitedUse::processor_seconds, "processor minute"}}};

// In whole seconds, begun ones counted.
std::int64_t processor_seconds(const JobSpec& spec, Duration time) {
  return std::int64_t{spec.processors} * ((time + seconds(1) - kMoment) / seconds(1));
}

LimitedUse use_of(const JobSpec& spec) {
  const std::int64_t nodes = std::max<std::uint32_t>(spec.nodes, 1);
  return {
      1, spec.processors, nodes, spec.memory * nodes, spec.accelerators * nodes, processor_seconds(spec, spec.limit)};
}

const Counted* first_over(const LimitedUse& held, const LimitedUse& more, const LimitedUse& most) {
  const auto over = std::ranges::find_if(
      kCounted, [&](const Counted& c) { return more.*c.what > 0 && held.*c.what > most.*c.what - more.*c.what; });
  return over == kCounted.end() ? nullptr : over;
}

bool is_name(const std::string& text) { return !text.empty() && text != Limit::kEach; }

std::string amount_of(const Counted& counted, std::int64_t value) {
  if (counted.what == &LimitedUse::processor_seconds) value = (value + 59) / 60;
  return counted.what == &LimitedUse::memory ? format_size(value) : amount(value, counted.word);
}

std::string whose(const Limit& limit) {
  std::string text;
  for (const auto& [what, name] : {std::pair{"user", &limit.user},
                                   {"account", &limit.account},
                                   {"QOS", &limit.qos},
                                   {"partition", &limit.partition}})
    if (!name->empty())
      text +=
          fmt::format("{}{}", text.empty() ? "of " : " and ",
                      *name == Limit::kEach ? fmt::format("each {}", what) : fmt::format("{} {}", what, quoted(*name)));
  if (text.empty()) text = "of all";
  return limit.accelerator_type.empty()
             ? text
             : fmt::format("{} for accelerators of type {}", text, quoted(limit.accelerator_type));
}

}  // namespace

LimitNames limit_names(const Machine& machine, const NamesByNumber& users, const NamesByNumber& groups) {
  std::set<std::string> of_users, of_groups;
  for (const Limit& limit : machine.limits) {
    if (is_name(limit.user)) of_users.insert(limit.user);
    if (is_name(limit.account)) of_groups.merge(with_accounts_below({limit.account}, machine.accounts));
  }
  LimitNames needed;
  for (const auto& [number, name] : users)
    if (of_users.contains(name)) needed.users.emplace(number, name);
  for (const auto& [number, name] : groups)
    if (of_groups.contains(name)) needed.groups.emplace(number, name);
  return needed;
}

std::string text_of(const LimitNames& names) {
  std::string text;
  for (const auto& [number, name] : names.users) text += fmt::format("u {} {}\n", number, name);
  for (const auto& [number, name] : names.groups) text += fmt::format("g {} {}\n", number, name);
  return text;
}

std::optional<LimitNames> parse_limit_names(std::string_view text) {
  LimitNames names;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::size_t blank = line.find(' ', 2);
    const bool of_user = line.starts_with("u "), of_group = line.starts_with("g ");
    if (blank == std::string_view::npos || !(of_user || of_group)) return std::nullopt;
    const auto number = parse_integer(line.substr(2, blank - 2));
    if (!number || *number < 0 || *number > UINT32_MAX) return std::nullopt;
    (of_user ? names.users : names.groups).emplace(static_cast<std::uint32_t>(*number), line.substr(blank + 1));
  }
  return names;
}

bool LimitBook::Who::includes(std::uint32_t number) const {
  return of == Of::any || (of == Of::each && number != UINT32_MAX) ||
         (of == Of::listed && std::ranges::binary_search(numbers, number));
}

bool LimitBook::Rule::counts(const JobSpec& spec, std::uint32_t in) const {
  if (accelerator_type.valid() && (spec.accelerators == 0 || spec.accelerator_type != accelerator_type)) return false;
  return user.includes(spec.user) && group.includes(spec.group) &&
         qos.includes(spec.qos.valid() ? spec.qos.value : UINT32_MAX) && partition.includes(in);
}

LimitBook::Who LimitBook::who(const std::string& name, const NamesByNumber& names) {
  if (name.empty()) return {};
  if (name == Limit::kEach) return {.of = Who::Of::each};
  Who who{.of = Who::Of::listed};
  for (const auto& [number, called] : names)
    if (called == name) who.numbers.push_back(number);
  if (const auto number = parse_integer(name); number && *number >= 0 && *number < UINT32_MAX && who.numbers.empty())
    who.numbers.push_back(static_cast<std::uint32_t>(*number));  // a log without names
  return who;
}

LimitBook::Who LimitBook::of_account(const std::string& name, const NamesByNumber& groups) const {
  Who all = who(name, groups);
  if (all.of != Who::Of::listed) return all;
  for (const std::string& below : with_accounts_below({name}, machine_.accounts)) {
    const Who more = who(below, groups);
    all.numbers.insert(all.numbers.end(), more.numbers.begin(), more.numbers.end());
  }
  std::ranges::sort(all.numbers);
  all.numbers.erase(std::ranges::unique(all.numbers).begin(), all.numbers.end());
  return all;
}

LimitBook::LimitBook(const Machine& machine, const LimitNames& names) : machine_(machine) {
  const auto numbers_of = [](const auto& all) {
    NamesByNumber by_index;
    for (std::uint32_t i = 0; i < all.size(); ++i) by_index.emplace(i, all[i].name);
    return by_index;
  };
  const NamesByNumber qos = numbers_of(machine.qos), partitions = numbers_of(machine.partitions);
  for (const Limit& limit : machine.limits) {
    const Who accounts =
        is_name(limit.user) ? who(limit.account, names.groups) : of_account(limit.account, names.groups);
    Rule& rule = rules_.emplace_back(
        Rule{who(limit.user, names.users), accounts, who(limit.qos, qos), who(limit.partition, partitions)});
    for (const std::string& name : limit.except_qos)
      for (const std::uint32_t number : who(name, qos).numbers) rule.except_qos.push_back(number);
    std::ranges::sort(rule.except_qos);
    for (const std::string& name : limit.except_partitions)
      for (const std::uint32_t number : who(name, partitions).numbers) rule.except_partitions.push_back(number);
    std::ranges::sort(rule.except_partitions);
    const auto& types = machine.accelerator_types;
    if (const auto type = std::ranges::find(types, limit.accelerator_type); type != types.end())
      rule.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(type - types.begin())};
    of_time_ |= limit.most.processor_seconds != Limit::kNone;
    const auto index = static_cast<std::uint32_t>(rules_.size() - 1);
    if (rule.user.of == Who::Of::listed) {
      for (const std::uint32_t user : rule.user.numbers) of_user_[user].push_back(index);
    } else if (rule.group.of == Who::Of::listed) {
      for (const std::uint32_t group : rule.group.numbers) of_group_[group].push_back(index);
    } else {
      of_many_.push_back(index);
    }
  }
}

std::optional<std::string> LimitBook::never_fits(const JobSpec& spec) const {
  std::optional<std::string> why;
  const LimitedUse more = use_of(spec);
  for_each(spec, [&](LimitKey key) {
    const Counted* over = spares(key, spec) ? nullptr : first_over({}, more, limit(key).most);
    if (over != nullptr)
      why = fmt::format("asks for {}; the limit {} is {}", amount_of(*over, more.*over->what), whose(limit(key)),
                        amount_of(*over, limit(key).most.*over->what));
    return over == nullptr;
  });
  return why;
}

std::optional<LimitKey> LimitUse::broken_by(const JobSpec& spec) const {
  std::optional<LimitKey> broken;
  const LimitedUse more = use_of(spec);
  book_->for_each(spec, [&](LimitKey key) {
    if (!book_->spares(key, spec) && first_over(held(key), more, book_->limit(key).most) != nullptr) broken = key;
    return !broken;
  });
  return broken;
}

LimitedUse LimitUse::held(LimitKey key) const {
  const auto found = held_.find(key);
  return found == held_.end() ? LimitedUse{} : found->second;
}

std::string why_over_limit(const LimitUse& use, LimitKey broken, const JobSpec& spec) {
  const Limit& limit = use.book().limit(broken);
  const LimitedUse held = use.held(broken), more = use_of(spec);
  const Counted* over = first_over(held, more, limit.most);
  CHECK(over != nullptr, "the limit is one that such a job would break");
  const std::string slurms = limit.reason.empty() ? "" : fmt::format(" Slurm calls it {}.", limit.reason);
  return fmt::format("The limit {} is {} at one time; jobs that count under it hold {}, and it asks for {}.{}",
                     whose(limit), amount_of(*over, limit.most.*over->what), amount_of(*over, held.*over->what),
                     amount_of(*over, more.*over->what), slurms);
}

void LimitUse::has_run(const JobSpec& spec, Duration ran) {
  const std::int64_t done = processor_seconds(spec, std::clamp(ran, Duration{0}, spec.limit));
  book_->for_each(spec, [&](LimitKey key) {
    held_[key].processor_seconds -= done;
    return true;
  });
}

void LimitUse::change(const JobSpec& spec, std::int64_t sign) {
  const LimitedUse more = use_of(spec);
  book_->for_each(spec, [&](LimitKey key) {
    LimitedUse& held = held_[key];
    for (const Counted& c : kCounted) held.*c.what += sign * (more.*c.what);
    if (held == LimitedUse{}) held_.erase(key);
    return true;
  });
}

}  // namespace rota
