// The one table of the keys of a cluster file: from it come reading, checks, messages and the reference page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "model/limit.h"

namespace rota::site {

inline constexpr std::size_t kMostTables = 10'000;  // of one kind
inline constexpr std::size_t kLongestText = 200;
inline constexpr std::size_t kLongestUsers = std::size_t{4} << 20U;
inline constexpr std::int64_t kMostShares = 2'000'000'000;
inline constexpr std::int64_t kMostBilling = 1'000'000'000;  // per mille

enum class KeyType : std::uint8_t {
  text,
  command,
  hosts,
  licences,
  features,
  shares,
  whole,
  size,
  time,
  factor,
  yes_no,
  prices,
  zone,
  moment
};

// Where in the file an entry and each of its keys stand.
struct Entry {
  std::uint32_t line = 0;
  std::vector<std::pair<std::string_view, std::uint32_t>> lines;  // of the keys that are there

  // The line of the key, or 0 where it is left out.
  std::uint32_t line_of(std::string_view key) const;
};

// The kinds of table as they are written, before they are looked at together.
struct TopEntry : Entry {
  std::string name = "cluster";
  std::int64_t processors = 0;
  std::int64_t price = -1;
  std::string prices;
  std::string zone;
  std::int64_t co2 = -1;
  std::string licences;
  std::int64_t boot_seed = 1;
};
struct NodesEntry : Entry {
  std::string names;
  std::string site;
  std::int64_t processors = 1;
  std::int64_t memory = 0;
  std::string rack;
  std::int64_t accelerators = 0;
  std::string accelerator_type = "gpu";
  std::int64_t accelerator_speed = 1000;  // per mille
  std::int64_t accelerator_link = 0;      // bytes a second; 0: not said
  std::string features;
  std::int64_t weight = 1;
  std::int64_t watts_off = 0;  // milliwatts, as are
  std::int64_t watts_idle = 0;
  std::int64_t watts_busy = 0;
  std::int64_t watts_accelerator = 0;
  Duration boot_time = seconds(300);
  Duration shutdown_time = seconds(0);
  std::int64_t boot_energy = -1;  // millijoules
  std::int64_t shutdown_energy = -1;
  std::int64_t cpu_factor = 1000;  // per mille
  std::int64_t boot_fails = 0;     // per mille
  Duration boot_retry = seconds(60);
  std::string suspend_command;
  std::string resume_command;
  std::string probe_command;
  Duration power_timeout{0};  // 0: not said
  std::int64_t power_tries = 3;
};
struct PartitionEntry : Entry {
  std::string name;
  std::string nodes;
  bool by_default = false;
  Duration max_time = kLongest;
  Duration default_time = kLongest;
  std::int64_t min_nodes = 1;
  std::int64_t max_nodes = 0;
  std::int64_t max_processors = 0;
  std::int64_t priority = 0;
  std::int64_t job_factor = 1;
  std::int64_t billing_processor = 1000;  // per mille, as are these
  std::int64_t billing_node = 0;
  std::int64_t billing_memory = 0;
  std::int64_t billing_accelerator = 0;
  bool billing_most = false;
  std::int64_t power_close = -1;  // per mille, as are these; -1: not said
  std::int64_t power_open = -1;
  std::int64_t power_close_to = -1;
  std::int64_t power_open_to = -1;
  std::int64_t power_least = 0;
  std::int64_t power_most = 0;  // 0: not said
  std::string power_load;
};

struct QosEntry : Entry {
  std::string name;
  std::int64_t priority = 0;
  std::int64_t usage_factor = 1000;  // per mille
  std::string preempts;
  std::string users;
};

struct AccountEntry : Entry {
  std::string name;
  std::string parent;
  std::int64_t shares = 1;
  bool inherits = false;
  std::string users;
};

struct LimitEntry : Entry {
  std::string user, account, qos, partition;
  std::string accelerator_type;
  std::string except_qos, except_partitions;
  std::int64_t jobs = Limit::kNone;
  std::int64_t processors = Limit::kNone;
  std::int64_t nodes = Limit::kNone;
  std::int64_t memory = Limit::kNone;
  std::int64_t accelerators = Limit::kNone;
  std::int64_t processor_minutes = Limit::kNone;
  std::string reason;
};

struct SiteEntry : Entry {
  std::string name;
  std::int64_t processors = 0;
  std::int64_t bandwidth = 0;  // bytes a second; 0: inputs take no time
  std::string licences;
  std::int64_t price = -1;
  std::string prices;
  std::string zone;
  std::int64_t co2 = -1;
};

struct ReservationEntry : Entry {
  std::string name;
  std::string nodes;
  std::int64_t processors = 0;
  Duration start{0};  // from second 0 of the log, as is
  Duration end{0};

  bool dated() const { return start > kLongest && end > kLongest; }
};

// A moment beyond that is a date: so long after it as Unix time counts.
inline constexpr Duration kDates = kLongest;

template <class Of>
struct Key {
  using Place = std::variant<std::string Of::*, std::int64_t Of::*, Duration Of::*, bool Of::*>;

  std::string_view name;
  KeyType type;
  Place place;
  std::int64_t low;  // of a whole number; bytes of a size; milliseconds of a time; thousandths of a factor
  std::int64_t high;
  std::string_view fallback;  // what holds where it is left out, in words; empty: must be there
  std::string_view meaning;
};

std::span<const Key<TopEntry>> top_keys();
std::span<const Key<NodesEntry>> nodes_keys();
std::span<const Key<PartitionEntry>> partition_keys();
std::span<const Key<QosEntry>> qos_keys();
std::span<const Key<AccountEntry>> account_keys();
std::span<const Key<LimitEntry>> limit_keys();
std::span<const Key<SiteEntry>> site_keys();
std::span<const Key<ReservationEntry>> reservation_keys();

// "a whole number from 1 to 100", "a time from 1s, such as 90, \"1h\" or \"2d\"".
std::string takes_text(KeyType type, std::int64_t low, std::int64_t high);

}  // namespace rota::site
