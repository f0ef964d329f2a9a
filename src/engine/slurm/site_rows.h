// What Slurm prints of what is around its jobs: nodes that are reserved, and what users have used. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/manager_jobs.h"

namespace rota::slurm {

inline constexpr const char* kReservationCommand = "scontrol -a -o show reservation";
inline constexpr const char* kShareCommand = "sshare -a -P -n -o Account,User,RawUsage";

struct ReservationRow {
  std::string name;
  std::string users;  // and accounts
  std::vector<std::string> nodes = {};
  std::int64_t from = 0, until = 0;  // Unix milliseconds
  std::int64_t processors = 0;       // of these nodes; 0: not said
};

// Those that are of nodes and of a certain time. Fails where the text ends in the middle of one, or is of something
// else.
Result<std::vector<ReservationRow>> read_reservations(std::string_view text);

// What users have used, as much as counts by now. Rows of accounts alone, and what makes no sense, are left out.
std::vector<ManagerUse> read_use(std::string_view text);

}  // namespace rota::slurm
