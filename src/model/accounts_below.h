// Accounts and those that are parts of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/machine.h"

namespace rota {

// With the accounts below those named, each of which stands behind the one that it is a part of. O(accounts)
inline std::set<std::string> with_accounts_below(std::set<std::string> names, const std::vector<Account>& accounts) {
  for (const Account& account : accounts)
    if (account.parent >= 0 && names.contains(accounts[static_cast<std::size_t>(account.parent)].name))
      names.insert(account.name);
  return names;
}

}  // namespace rota
