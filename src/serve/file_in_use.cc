#include "serve/file_in_use.h"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/text.h"

namespace rota::serve {
namespace {

constexpr std::uint32_t kFirstAccount = 1U << 31;

bool is_name(const std::string& text) { return !text.empty() && text != Limit::kEach; }

std::shared_ptr<const FileInUse> with_names(std::shared_ptr<const site::Configuration> file, const LimitNames& names) {
  FileInUse made;
  const std::vector<Limit>& limits = file->machine.limits;
  if (!limits.empty()) {
    made.limit_names = text_of(names);
    made.limits = std::make_unique<const LimitBook>(file->machine, names);
  }
  for (const Limit& limit : limits) {
    const auto is_it = [&](const auto& known) { return known.second == limit.user; };
    if (is_name(limit.user) && !parse_integer(limit.user) && std::ranges::none_of(names.users, is_it))
      made.unknown.push_back(limit.user);
  }
  made.configuration = std::move(file);
  return std::make_shared<const FileInUse>(std::move(made));
}

}  // namespace

std::uint32_t account_number(std::string_view account) {
  Hash hash;
  for (const char letter : account) hash.mix(static_cast<unsigned char>(letter));
  return kFirstAccount | static_cast<std::uint32_t>(hash.value() >> 33);
}

std::shared_ptr<const FileInUse> FileInUse::made(std::shared_ptr<const site::Configuration> file) {
  const Machine& machine = file->machine;
  NamesByNumber users, groups;
  std::set<std::string> accounts;
  for (const Limit& limit : machine.limits) {
    if (is_name(limit.account)) accounts.insert(limit.account);
    if (!is_name(limit.user)) continue;
    if (const passwd* user = ::getpwnam(limit.user.c_str())) users.emplace(user->pw_uid, limit.user);
  }
  if (!accounts.empty())
    for (const Account& account : machine.accounts) accounts.insert(account.name);
  for (const std::string& name : accounts) {
    groups.emplace(account_number(name), name);
    if (const group* same = ::getgrnam(name.c_str())) groups.emplace(same->gr_gid, name);
  }
  const LimitNames names = rota::limit_names(machine, users, groups);
  return with_names(std::move(file), names);
}

std::shared_ptr<const FileInUse> FileInUse::as_kept(std::shared_ptr<const site::Configuration> file,
                                                    const std::string& limit_names) {
  const auto names = limit_names.empty() ? std::nullopt : parse_limit_names(limit_names);
  return names ? with_names(std::move(file), *names) : made(std::move(file));
}

}  // namespace rota::serve
