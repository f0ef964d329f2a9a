#include "log/sacct_cell.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>

#include "base/text.h"

namespace rota::log {
namespace {

constexpr std::int64_t kLatest = 32'503'680'000;  // the beginning of the year 3000
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60U;
constexpr std::string_view kNothingAsked = "184467440737095516";  // 2^64 or a little less: no number in Slurm

bool one_of(std::string_view cell, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), cell) != words.end();
}

// The digits of text[at, at + count) as a number; -1 if they are not all digits.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  int number = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

// "Z", "+01:00" or "-0330" as seconds east of Greenwich.
std::optional<std::int64_t> offset_of(std::string_view zone) {
  if (zone == "Z") return 0;
  const bool colon = zone.size() == 6 && zone[3] == ':';
  if ((zone.size() != 5 && !colon) || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const int hours = digits(zone, 1, 2), minutes = digits(zone, colon ? 4 : 3, 2);
  if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59) return std::nullopt;
  return (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

// With an offset behind it, of an instant; else of a clock on the wall.
std::optional<std::int64_t> civil_time(std::string_view cell) {
  if (cell.size() > 19) {
    const auto offset = offset_of(cell.substr(19));
    const auto time = offset ? civil_time(cell.substr(0, 19)) : std::nullopt;
    return time && *time >= *offset ? std::optional(*time - *offset) : std::nullopt;
  }
  if (cell.size() != 19 || cell[4] != '-' || cell[7] != '-' || cell[10] != 'T' || cell[13] != ':' || cell[16] != ':')
    return std::nullopt;
  const int year = digits(cell, 0, 4), month = digits(cell, 5, 2), day = digits(cell, 8, 2);
  const int hour = digits(cell, 11, 2), minute = digits(cell, 14, 2), second = digits(cell, 17, 2);
  if (year < 1970 || year > 2999 || month < 0 || day < 0) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

}  // namespace

Result<std::optional<std::int64_t>> parse_sacct_time(std::string_view cell) {
  if (one_of(cell, {"", "Unknown", "None", "N/A"})) return std::nullopt;
  if (const auto time = civil_time(cell)) return *time > 0 ? time : std::nullopt;
  const auto epoch = parse_integer(cell);
  if (!epoch || *epoch < 0 || *epoch >= kLatest) return fail("which is not a time such as 2024-03-31T01:59:59");
  return *epoch > 0 ? std::optional(*epoch) : std::nullopt;
}

bool is_local_time(std::string_view cell) { return cell.size() == 19 && cell[4] == '-'; }

Result<std::optional<Duration>> parse_sacct_duration(std::string_view cell) {
  if (one_of(cell, {"", "UNLIMITED", "Partition_Limit", "INVALID", "Unknown"})) return std::nullopt;
  const auto duration = cell.find(':') == std::string_view::npos ? fail("") : parse_duration(cell);
  if (!duration) return fail("which is not a duration such as 1-12:00:00");
  return *duration;
}

Result<std::int64_t> parse_sacct_count(std::string_view cell) {
  if (one_of(cell, {"", "Unknown", "UNLIMITED", "Partition_Limit", "INVALID"})) return -1;
  const std::string_view unit = "KMG";
  const std::size_t power = cell.empty() ? std::string_view::npos : unit.find(cell.back());
  if (power == std::string_view::npos) {
    const auto number = parse_integer(cell);
    if (!number || *number < 0 || *number > INT32_MAX) return fail("which is not a number from 0 to 2147483647");
    return *number;
  }
  const auto number = parse_number(cell.substr(0, cell.size() - 1));
  const double all = number ? std::ldexp(*number, 10 * (static_cast<int>(power) + 1)) : -1;
  if (!(all >= 0 && all <= INT32_MAX)) return fail("which is not a number such as 1K or 1.50K up to 2147483647");
  return std::llround(all);
}

namespace {

constexpr std::string_view kGpu = "gres/gpu";

// visit(item) for each of "a,b,c", until one fails.
template <class Visit>
Result<void> for_each_item(std::string_view cell, const Visit& visit) {
  while (!cell.empty()) {
    const std::size_t end = std::min(cell.find(','), cell.size());
    if (auto done = visit(cell.substr(0, end)); !done) return done;
    cell.remove_prefix(std::min(end + 1, cell.size()));
  }
  return {};
}

// "gres/gpu=4" says how many in all, and so many of them "gres/gpu:a100=4" are of a type.
void add_gpus(std::string_view name, std::int64_t count, SacctTres& into, std::int64_t& of_types) {
  const bool typed = name.size() > kGpu.size();
  if (typed) of_types += count;
  into.accelerators = std::max(into.accelerators, typed ? of_types : count);
  if (!typed || count == 0) return;
  const std::string_view type = name.substr(kGpu.size() + 1);
  into.more = into.more || (!into.accelerator_type.empty() && into.accelerator_type != type);
  if (into.accelerator_type.empty()) into.accelerator_type = type;
}

void add_licence(std::string_view name, std::int64_t count, SacctTres& into) {
  if (count > 0) into.licences.push_back({std::string(name), static_cast<std::uint32_t>(count)});
}

}  // namespace

Result<SacctTres> parse_sacct_tres(std::string_view cell) {
  SacctTres tres;
  std::int64_t of_types = 0;  // of which the total is not told always
  auto read = for_each_item(cell, [&](std::string_view item) -> Result<void> {
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const bool gpu = name == kGpu || name.starts_with("gres/gpu:");
    const bool gres = name.starts_with("gres/") && name != "gres/gpumem" && name != "gres/gpuutil";
    if (name == "mem" && equals != std::string_view::npos) {
      const auto memory = TRY(parse_sacct_memory(item.substr(equals + 1)));
      tres.memory = memory.bytes;
    }
    if (!gres && !name.starts_with("license/") && name != "cpu" && name != "node") return {};
    const auto count = TRY(parse_sacct_count(equals == std::string_view::npos ? "1" : item.substr(equals + 1)));
    if (name == "cpu") tres.processors = count;
    if (name == "node") tres.nodes = count;
    if (gpu) add_gpus(name, count, tres, of_types);
    if (gres && !gpu) tres.others = true;
    if (name.starts_with("license/")) add_licence(name.substr(8), count, tres);
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return tres;
}

Result<SacctTres> parse_sacct_gres(std::string_view cell) {
  SacctTres tres;
  if (one_of(cell, {"", "0", "PER_NODE:", "(null)", "Unknown"})) return tres;
  if (cell.starts_with("PER_NODE:")) cell.remove_prefix(9);
  auto read = for_each_item(cell, [&](std::string_view item) -> Result<void> {
    if (item.starts_with("gres:")) item.remove_prefix(5);
    const std::string_view name = item.substr(0, item.find(':'));
    item.remove_prefix(std::min(name.size() + 1, item.size()));
    const std::size_t colon = item.rfind(':');
    const std::string_view last = item.substr(colon == std::string_view::npos ? 0 : colon + 1);
    const bool counted = !last.empty() && last.front() >= '0' && last.front() <= '9';
    const auto count = TRY(parse_sacct_count(counted ? last : "1"));
    if (name != "gpu") {
      tres.others = true;
      return Result<void>{};
    }
    if (tres.accelerators < 0) tres.accelerators = 0;
    tres.accelerators += count;
    const std::string_view type = counted ? item.substr(0, colon == std::string_view::npos ? 0 : colon) : item;
    tres.more = tres.more || (!tres.accelerator_type.empty() && type != tres.accelerator_type);
    if (tres.accelerator_type.empty()) tres.accelerator_type = type;
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return tres;
}

namespace {

// Slurm keeps a request as a number of megabytes with a flag for "for each processor": bit 63, and once bit 31. Dumps
// of its database have the number as it is, and sacct prints it so of jobs that are older than it. No processor has
// more than the 16 TB behind the flag that are taken for such a request, and not for a job of some petabytes.
std::optional<std::int64_t> flagged_megabytes(std::string_view cell) {
  if (cell.ends_with('M')) cell.remove_suffix(1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
  for (const unsigned bit : {31U, 63U}) {
    const std::uint64_t flag = std::uint64_t{1} << bit;
    if (number >= flag && number - flag <= std::uint64_t{1} << 24U) return static_cast<std::int64_t>(number - flag);
  }
  return std::nullopt;
}

}  // namespace

Result<SacctMemory> parse_sacct_memory(std::string_view cell) {
  SacctMemory memory;
  if (const auto megabytes = flagged_megabytes(cell))
    return SacctMemory{.bytes = *megabytes << 20U, .per = SacctMemory::Per::processor, .impossible = *megabytes == 0};
  if (one_of(cell, {"", "0", "Unknown"}) || cell.ends_with('?')) return memory;
  if (cell.ends_with('n')) memory.per = SacctMemory::Per::node;
  if (cell.ends_with('c')) memory.per = SacctMemory::Per::processor;
  if (memory.per != SacctMemory::Per::job) cell.remove_suffix(1);
  const bool plain = !cell.empty() && cell.back() >= '0' && cell.back() <= '9';  // in megabytes, then
  const auto size = parse_size(plain ? std::string(cell) + "M" : std::string(cell));
  if (size && *size <= kMostBytes) memory.bytes = *size;
  const bool amount = size || cell.find_first_not_of("0123456789.KMGTP") == std::string_view::npos;
  if (!amount || cell.empty()) return fail("which is not an amount of memory such as 16G or 4000Mc");
  // 2.00P is what sacct makes of the flag 31, and whatever stands behind that is lost.
  if (memory.bytes == std::int64_t{1} << 51U && cell.ends_with('P')) return SacctMemory{.impossible = true};
  const bool told = size ? *size > kMostBytes : cell.find_first_of("123456789") != std::string_view::npos;
  memory.impossible = told && !cell.starts_with(kNothingAsked);
  return memory;
}

Result<SacctId> parse_sacct_id(std::string_view cell) {
  const auto fails = [] { return fail("which is not the number of a job"); };
  const auto number = [](std::string_view text) -> std::int64_t {
    const bool digits =
        !text.empty() && text.size() <= 11 && text.find_first_not_of("0123456789") == std::string_view::npos;
    return digits ? *parse_integer(text) : -1;
  };
  SacctId id;
  id.step = cell.find('.') != std::string_view::npos;
  cell = cell.substr(0, cell.find('.'));
  const std::size_t end = cell.find_first_of("_+");
  id.number = number(cell.substr(0, end));
  if (id.number < 0) return fails();
  if (end == std::string_view::npos) return id;
  const std::string_view part = cell.substr(end + 1);
  if (cell[end] == '_' && part.starts_with('[')) {
    id.part = SacctId::kTogether;
    return id;
  }
  id.part = number(part.substr(0, part.find('+')));
  if (id.part < 0) return fails();
  if (cell[end] == '+') id.part += SacctId::kComponents;
  return id;
}

SacctState parse_sacct_state(std::string_view cell) {
  cell = cell.substr(0, cell.find_first_of(" +"));
  if (cell == "COMPLETED") return SacctState::completed;
  if (cell == "CANCELLED") return SacctState::cancelled;
  if (cell == "RESIZING") return SacctState::resizing;
  if (one_of(cell, {"PENDING", "CONFIGURING"})) return SacctState::pending;
  if (one_of(cell, {"RUNNING", "SUSPENDED", "COMPLETING"})) return SacctState::running;
  if (one_of(cell, {"REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"})) return SacctState::requeued;
  if (one_of(cell, {"DEADLINE", "REVOKED"})) return SacctState::given_up;
  if (one_of(cell, {"FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "BOOT_FAIL"}))
    return SacctState::failed;
  return SacctState::unknown;
}

}  // namespace rota::log
