#include "model/sharers.h"

#include <limits>
#include <set>
#include <utility>

#include "base/text.h"

namespace rota {

std::string name_by_number(const NamesByNumber& names, std::uint32_t number) {
  const auto found = names.find(number);
  return found == names.end() ? std::to_string(number) : found->second;
}

std::uint32_t users_of(const std::vector<Account>& accounts) {
  std::uint32_t users = 0;
  for (const Account& account : accounts) users += static_cast<std::uint32_t>(account.users.size());
  return users;
}

std::vector<Sharer> sharers_of(const std::vector<Account>& accounts, const NamesByNumber& users,
                               const NamesByNumber& groups, std::span<const JobSpec> jobs) {
  std::map<std::string, std::int64_t> account_of;
  std::map<std::pair<std::string, std::string>, std::uint32_t> holder_of;  // by account and user
  std::uint32_t holders = 0;
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    account_of[accounts[i].name] = static_cast<std::int64_t>(i);
    for (const ShareHolder& user : accounts[i].users) holder_of[{accounts[i].name, user.name}] = holders++;
  }
  const std::uint32_t known = holders;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  std::vector<Sharer> sharers;
  for (const JobSpec& job : jobs) {
    if (!seen.emplace(job.group, job.user).second) continue;
    const std::string account = name_by_number(groups, job.group);
    const auto [holder, fresh] = holder_of.try_emplace({account, name_by_number(users, job.user)}, holders);
    if (fresh) ++holders;
    Sharer& sharer = sharers.emplace_back(Sharer{job.user, job.group, holder->second});
    const auto above = account_of.find(account);
    if (sharer.holder >= known && above != account_of.end()) sharer.account = above->second;
  }
  return sharers;
}

std::string text_of(std::span<const Sharer> sharers) {
  std::string text;
  for (const Sharer& s : sharers) {
    if (!text.empty()) text += ',';
    text += std::to_string(s.user) + ' ' + std::to_string(s.group) + ' ' + std::to_string(s.holder);
    if (s.account >= 0) text += ' ' + std::to_string(s.account);
  }
  return text;
}

std::optional<std::vector<Sharer>> parse_sharers(std::string_view text, const std::vector<Account>& accounts) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::vector<Sharer> sharers;
  std::int64_t holders = users_of(accounts);
  const std::int64_t known = holders;
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const std::string_view each : split(text, ',')) {
    std::vector<std::int64_t> numbers;
    for (const std::string_view word : split(each, ' ')) {
      const auto number = parse_integer(word);
      if (!number || *number < 0 || *number > kMost) return std::nullopt;
      numbers.push_back(*number);
    }
    if (numbers.size() < 3 || numbers.size() > 4) return std::nullopt;
    const std::int64_t account = numbers.size() == 4 ? numbers[3] : -1;
    if (numbers[2] > holders || (account >= 0 && numbers[2] < known) || account >= std::ssize(accounts) ||
        !seen.emplace(numbers[0], numbers[1]).second) {
      return std::nullopt;
    }
    if (numbers[2] == holders) ++holders;
    sharers.push_back({static_cast<std::uint32_t>(numbers[0]), static_cast<std::uint32_t>(numbers[1]),
                       static_cast<std::uint32_t>(numbers[2]), account});
  }
  return sharers;
}

}  // namespace rota
