#include "log/pbs_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

#include "base/text.h"

namespace rota::log {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 60U;
constexpr std::int64_t kMostCount = 2'147'483'647;

// What is told elsewhere, or says nothing about where a job can run.
using namespace std::string_view_literals;

constexpr std::array kKnown{
    "place"sv,        "nodect"sv,        "neednodes"sv,       "mpiprocs"sv,      "ompthreads"sv,  "cput"sv,
    "pcput"sv,        "vmem"sv,          "pvmem"sv,           "arch"sv,          "host"sv,        "vnode"sv,
    "file"sv,         "nice"sv,          "software"sv,        "naccelerators"sv, "accelerator"sv, "min_walltime"sv,
    "max_walltime"sv, "soft_walltime"sv, "preempt_targets"sv, "opsys"sv,         "procct"sv,      "size"sv,
    "mpparch"sv,      "min_mem"sv,       "cpupercent"sv,      "exec_vnode"sv,    "walltime"sv,    "epilogue"sv};

constexpr std::array<std::string_view, 4> kAcceleratorTypes{"gpu_type", "gputype", "gpu_model", "accelerator_model"};

Result<std::int64_t> parse_count(std::string_view name, std::string_view value) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (error != std::errc{} || end != value.data() + value.size() || count < 0 || count > kMostCount)
    return fail("Resource_List.{} is {}, which is no number from 0 to 2147483647", escaped(name), quoted(value));
  return count;
}

// "matlab_lic" and "license_matlab" as "matlab"; "" : it is no licence by its name.
std::string_view licence_of(std::string_view name) {
  for (const std::string_view ending : {"_licenses", "_licences", "_license", "_licence", "_lic"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  for (const std::string_view begin : {"license_", "licence_", "lic_"}) {
    if (name.size() > begin.size() && name.starts_with(begin)) return name.substr(begin.size());
  }
  return {};
}

bool nothing(std::string_view value) {
  return value.empty() || value == "0" || value == "False" || value == "false" || value == "0b" || value == "0kb";
}

}  // namespace

Result<void> PbsRequest::read_resource(std::string_view name, std::string_view value) {
  if (name == "pmem" || name == "mppmem") {
    process_memory = TRY(parse_pbs_size(value));
  } else if (name == "walltime" || name == "mem" || name == "ncpus" || name == "ngpus" || name == "gpus" ||
             name == "procs") {
    auto number = TRY(name == "walltime" ? parse_pbs_time(value)
                      : name == "mem"    ? parse_pbs_size(value)
                                         : parse_count(name, value));
    (name == "walltime" ? limit : name == "mem" ? memory : name.ends_with("gpus") ? accelerators : processors) = number;
  } else if (name == "mppwidth" || name == "mppdepth" || name == "mppnppn") {
    const auto number = TRY(parse_count(name, value));
    (name == "mppwidth" ? width : name == "mppdepth" ? depth : per_node) = number;
  } else if (name == "select") {
    return take_select(value, false);
  } else if (name == "nodes") {
    return take_select(value, true);
  } else if (name == "place") {
    one_node = value.starts_with("pack");
    spread = spread || value.starts_with("scatter") || value.starts_with("vscatter");
  } else if (std::ranges::find(kAcceleratorTypes, name) != kAcceleratorTypes.end()) {
    accelerator_type = value;
  } else if (const auto licensed = licence_of(name); !licensed.empty()) {
    const auto count = TRY(parse_count(name, value));
    take_licence(licensed, count);
  } else if (std::ranges::find(kKnown, name) == kKnown.end() && !nothing(value)) {
    other = name;
  }
  return {};
}

// Where a licence is told of several times, the last count holds.
void PbsRequest::take_licence(std::string_view name, std::int64_t count) {
  if (count == 0) return;
  const auto uses = static_cast<std::uint32_t>(std::min(count, kMostCount));
  const auto known = std::ranges::find(licences, name, &NamedLicences::name);
  if (known == licences.end()) {
    licences.push_back({std::string(name), uses});
  } else {
    known->count = uses;
  }
}

// "2:ncpus=4:mem=8gb+1:ncpus=1", or of Torque "2:ppn=8:gpus=1+n7:ppn=4".
Result<void> PbsRequest::take_select(std::string_view value, bool torque) {
  if (torque) value = value.substr(0, value.find('#'));  // "#excl" and "#shared" say which other jobs may be there
  const auto kinds = split(value, '+');
  std::map<std::string_view, std::int64_t> of_chunks;  // licences, of all of them
  const auto what_of = [](std::string_view kind) { return kind.substr(std::min(kind.find(':'), kind.size())); };
  uneven = uneven || std::ranges::any_of(kinds, [&](auto kind) { return what_of(kind) != what_of(kinds[0]); });
  spread = spread || torque;
  for (const std::string_view kind : kinds) {
    const auto parts = split(kind, ':');
    const bool counted = !parts[0].empty() && parts[0].find_first_not_of("0123456789") == std::string_view::npos;
    const auto count = TRY(counted ? parse_count(torque ? "nodes" : "select", parts[0]) : Result<std::int64_t>(1));
    std::int64_t on_each = 1;
    for (const std::string_view part : parts) {
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view name = part.substr(0, equals), what = part.substr(equals + 1);
      if (name == "mem") {
        const auto bytes = TRY(parse_pbs_size(what));
        if (count > 0 && bytes > (kMost - chunk_memory_) / count)
          return fail("the job asks for more memory than there is");
        chunk_memory_ += count * bytes;
      } else if (name == "ncpus" || name == "ppn" || name == "ngpus" || name == "gpus") {
        const auto number = TRY(parse_count(name, what));
        if (name == "ngpus" || name == "gpus") {
          chunk_accelerators_ = std::min(chunk_accelerators_ + count * number, kMostCount + 1);
        } else {
          on_each = number;
        }
      } else if (std::ranges::find(kAcceleratorTypes, name) != kAcceleratorTypes.end()) {
        accelerator_type = what;
      } else if (const auto licensed = licence_of(name); !licensed.empty()) {
        const auto number = TRY(parse_count(name, what));
        std::int64_t& uses = of_chunks[licensed];
        uses = std::min(uses + count * number, kMostCount);
        take_licence(licensed, uses);
      } else if (std::ranges::find(kKnown, name) == kKnown.end() && !nothing(what)) {
        other = name;
      }
    }
    chunks += count;
    chunk_processors_ += count * on_each;
    if (chunks > kMostCount || chunk_processors_ > kMostCount || chunk_accelerators_ > kMostCount)
      return fail("the job asks for more than 2147483647 of something");
  }
  return {};
}

std::int64_t processors_of(const PbsRequest& request) {
  if (request.width > 0) return std::min(request.width * std::max<std::int64_t>(request.depth, 1), kMostCount);
  const std::int64_t most = std::max(request.processors, request.chunk_processors_);  // Torque's ncpus is 1 by itself
  return most > 0 ? most : -1;
}

Result<JobAttributes> attributes_of(const PbsRequest& request, std::int64_t hosts) {
  JobAttributes asks;
  const std::int64_t gpus = std::max(request.accelerators, request.chunk_accelerators_);
  std::int64_t memory = request.memory > 0 ? request.memory : request.chunk_memory_;
  if (memory == 0 && request.process_memory > 0)
    memory = request.process_memory *
             std::min(std::max<std::int64_t>(processors_of(request), 1), kMost / request.process_memory);
  std::int64_t nodes = 0;
  if (request.width > 0) {
    nodes = request.per_node > 0 ? (request.width + request.per_node - 1) / request.per_node : 0;
  } else if (request.one_node || (request.chunks == 1)) {
    nodes = 1;
  } else if (request.spread && request.chunks > 0) {
    nodes = request.chunks;
  } else if (request.chunks > 0 || gpus > 0 || memory > 0) {
    nodes = hosts;  // chunks may share a node, and memory and accelerators are counted by nodes
  }
  asks.nodes = static_cast<std::uint32_t>(nodes);
  if (nodes > 0) asks.memory = memory / nodes;
  if (gpus > 0) {
    const std::int64_t on = std::max<std::int64_t>(nodes, 1);
    const std::int64_t on_each = (gpus + on - 1) / on;
    TRY(set_accelerators(asks, on_each));
    asks.accelerator_type = request.accelerator_type;
  }
  asks.licences = request.licences;
  return asks;
}

Result<std::int64_t> parse_pbs_time(std::string_view text) {
  std::int64_t total = 0;
  const auto parts = split(text, ':');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view whole = parts[i].substr(0, parts[i].find('.'));  // a fraction of a second says nothing
    const auto number = parse_integer(whole);
    const std::int64_t unit = parts.size() == 4 && i == 1 ? 24 : 60;  // days come before hours
    if (!number || *number < 0 || *number > 100'000'000'000 || parts.size() > 4)
      return fail(quoted(text) + " is no time such as 96:00:00");
    total = (i == 0 ? 0 : total * unit) + *number;
  }
  if (total > 100'000'000'000) return fail(quoted(text) + " is longer than any job runs");
  return total;
}

Result<std::int64_t> parse_pbs_size(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto wrong = [&] { return fail(quoted(text) + " is no size such as 10gb"); };
  if (error != std::errc{} || number < 0) return wrong();
  std::string unit(end, text.data() + text.size());
  std::ranges::transform(unit, unit.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  std::int64_t factor = 1;
  if (unit.ends_with('w')) factor = 8;
  if (unit.ends_with('b') || unit.ends_with('w')) unit.pop_back();
  constexpr std::string_view kUnits = "kmgtp";
  if (unit.size() > 1) return wrong();
  if (unit.size() == 1) {
    const std::size_t power = kUnits.find(unit[0]);
    if (power == std::string_view::npos) return wrong();
    factor <<= 10U * (power + 1);
  }
  if (number > kMost / factor) return wrong();
  return number * factor;
}

PbsPlace parse_exec_host(std::string_view text) {
  PbsPlace place;
  std::set<std::string_view> hosts;
  for (const std::string_view part : split(text, '+')) {
    const std::size_t slash = part.find('/');
    if (part.empty()) continue;
    hosts.insert(part.substr(0, slash));
    const std::string_view cpus = slash == std::string_view::npos ? "" : part.substr(slash + 1);
    if (const std::size_t star = cpus.find('*'); star != std::string_view::npos) {
      const auto count = parse_integer(cpus.substr(star + 1));
      place.processors += count && *count > 0 && *count <= kMostCount ? *count : 1;
      continue;
    }
    for (const std::string_view range : split(cpus, ',')) {
      const std::size_t dash = range.find('-');
      const auto first = parse_integer(range.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : parse_integer(range.substr(dash + 1));
      const bool ordered = first && last && *first >= 0 && *last >= *first && *last <= kMostCount;
      place.processors += ordered ? *last - *first + 1 : 1;
    }
  }
  place.hosts = std::ssize(hosts);
  return place;
}

PbsPlace parse_exec_vnode(std::string_view text) {
  PbsPlace place;
  std::set<std::string_view> hosts;
  for (std::string_view part : split(text, '+')) {
    while (part.starts_with('(')) part.remove_prefix(1);
    while (part.ends_with(')')) part.remove_suffix(1);
    const auto pieces = split(part, ':');
    if (!pieces[0].empty()) hosts.insert(pieces[0]);
    for (const std::string_view piece : pieces) {
      if (!piece.starts_with("ncpus=")) continue;
      const auto count = parse_integer(piece.substr(6));
      if (count && *count > 0 && *count <= kMostCount) place.processors += *count;
    }
  }
  place.hosts = std::ssize(hosts);
  return place;
}

}  // namespace rota::log
