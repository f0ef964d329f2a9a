// Whose share of the accounts (Machine::accounts) the jobs of a workload use, by the numbers of their users and groups.
// Names are needed only to make these; a journal keeps them as text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/job.h"
#include "model/machine.h"

namespace rota {

struct Sharer {
  std::uint32_t user = 0, group = 0;  // of jobs; each pair once
  std::uint32_t holder = 0;           // an index: the users of the accounts in their order, and then those not there
  std::int64_t account = -1;          // of a user not there: the index of the account above that user; -1: at the top

  bool operator==(const Sharer&) const = default;
};

using NamesByNumber = std::map<std::uint32_t, std::string>;  // a user that is not there goes by number
std::string name_by_number(const NamesByNumber& names, std::uint32_t number);

std::uint32_t users_of(const std::vector<Account>& accounts);  // that they name, one in several accounts several times

// In the order in which the jobs name them. A user that jobs name and the accounts do not has one share: of the account
// of the job, or at the top.
std::vector<Sharer> sharers_of(const std::vector<Account>& accounts, const NamesByNumber& users,
                               const NamesByNumber& groups, std::span<const JobSpec> jobs);

// "1 4 0,2 4 7 1": user, group, holder and, where it is not -1, account.
std::string text_of(std::span<const Sharer> sharers);
// Reads that back; nothing where text_of() did not write it for these accounts.
std::optional<std::vector<Sharer>> parse_sharers(std::string_view text, const std::vector<Account>& accounts);

}  // namespace rota
