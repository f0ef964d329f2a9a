// The policy that a Slurm site has now, from what `scontrol show config` or slurm.conf says. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rota {

// A name and its value, as printed ("SchedulerParameters", "bf_interval=60,bf_window=2880"); "(null)" is no value.
// Units are slurm.conf's: bf_window in minutes, bf_interval and bf_resolution in seconds, ages as D-HH:MM:SS.
using SlurmSettings = std::vector<std::pair<std::string, std::string>>;

struct SlurmPolicy {
  std::string chain;          // "slurm+bf-window=2d": what is not named has Slurm's default (22.05)
  std::string at_limit = {};  // "+overrun=10m": its end, which is of the site and not of the policy; may be empty
  std::vector<std::string> remarks = {};  // sentences: what is set there and is not followed here
};

// What is known beside the settings.
struct SlurmKnown {
  bool qos = false;       // the priorities of QOS
  bool accounts = false;  // and the shares of accounts and users
  bool values = true;  // remarks tell what is set; false: only which setting it is, for values may have names in them
  bool gives_way = true;        // the policy may have jobs give way, as PreemptType says
  std::int64_t unix_start = 0;  // Unix time of second 0 of the jobs; 0: not known
};

SlurmPolicy slurm_policy_of(const SlurmSettings& settings, const SlurmKnown& known = {});

}  // namespace rota
