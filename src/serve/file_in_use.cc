#include "serve/file_in_use.h"

#include <fmt/core.h>
#include <grp.h>
#include <pwd.h>

#include <set>
#include <utility>

#include "base/hash.h"
#include "base/text.h"

namespace rota::serve {
namespace {

constexpr std::uint32_t kFirstAccount = 1U << 31;

bool is_name(const std::string& text) { return !text.empty() && text != Limit::kEach; }

FileInUse with_names(std::shared_ptr<const site::Configuration> file, const LimitNames& names) {
  FileInUse made;
  if (!file->machine.limits.empty()) {
    made.limit_names = text_of(names);
    made.limits = std::make_unique<const LimitBook>(file->machine, names);
  }
  made.configuration = std::move(file);
  return made;
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
  std::vector<std::string> unknown;
  std::set<std::string> accounts;
  for (const Limit& limit : machine.limits) {
    if (is_name(limit.account)) accounts.insert(limit.account);
    if (!is_name(limit.user)) continue;
    const passwd* user = ::getpwnam(limit.user.c_str());
    if (user != nullptr) users.emplace(user->pw_uid, limit.user);
    if (user == nullptr && !parse_integer(limit.user)) unknown.push_back(limit.user);
  }
  if (!accounts.empty())
    for (const Account& account : machine.accounts) accounts.insert(account.name);
  for (const std::string& name : accounts) {
    groups.emplace(account_number(name), name);
    if (const group* same = ::getgrnam(name.c_str())) groups.emplace(same->gr_gid, name);
  }
  FileInUse use = with_names(std::move(file), rota::limit_names(machine, users, groups));
  use.unknown = std::move(unknown);
  return std::make_shared<const FileInUse>(std::move(use));
}

std::shared_ptr<const FileInUse> FileInUse::as_kept(std::shared_ptr<const site::Configuration> file,
                                                    const std::string& limit_names) {
  const auto names = limit_names.empty() ? std::nullopt : parse_limit_names(limit_names);
  return names ? std::make_shared<const FileInUse>(with_names(std::move(file), *names)) : made(std::move(file));
}

}  // namespace rota::serve
