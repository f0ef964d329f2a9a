#include "cli/live/doctor_bundle.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <string_view>
#include <thread>

#include "base/letters.h"
#include "base/text.h"
#include "cli/rehearse/kept_state.h"
#include "cli/when.h"
#include "engine/slurm/take_back.h"
#include "store/sqlite_reader.h"

namespace rota::cli {
namespace {

std::string part(std::string_view name, const std::string& text) {
  return fmt::format("==== {}\n{}{}\n", name, text, text.ends_with('\n') || text.empty() ? "" : "\n");
}

std::string said_by(const std::string& command) {
  const slurm::Ran ran = slurm::run_here()("exec 2>&1; " + command);
  return ran.code == 0 ? ran.output : fmt::format("{}({} failed)\n", ran.output, command);
}

std::string without_secrets(const std::string& text) {
  std::string kept;
  for (const std::string_view line : split(text, '\n')) {
    const std::string name = lower(line.substr(0, line.find('=')));
    const bool secret = std::ranges::any_of(std::array{"secret", "pass", "token", "key", "authinfo", "auth_info"},
                                            [&](const char* word) { return name.contains(word); });
    if (line.empty()) continue;
    kept += secret ? fmt::format("{}= (left out)\n", line.substr(0, line.find('='))) : fmt::format("{}\n", line);
  }
  return kept;
}

std::int64_t readings_of(const Service& service) {
  const auto status = service.get("/v1/status");
  if (!status || !status->contains("readings")) return -1;
  return static_cast<std::int64_t>(number_of(status->at("readings"), "done"));
}

// Calls by message, of what sdiag printed: "REQUEST_JOB_INFO ( 2003) count:1 ave_time:210 total_time:210".
std::map<std::string, std::pair<std::int64_t, std::int64_t>> calls_of(const std::string& diagnosed) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> calls;
  const std::size_t from = diagnosed.find("by message type"), until = diagnosed.find("by user");
  if (from == std::string::npos || until == std::string::npos || until < from) return calls;
  const std::string_view lines = std::string_view(diagnosed).substr(from, until - from);
  for (std::string_view line : split(lines, '\n')) {
    line = trimmed(line);
    const auto number = [&](std::string_view name) {
      const std::size_t at = line.find(name);
      if (at == std::string_view::npos) return std::int64_t{-1};
      const std::string_view rest = line.substr(at + name.size());
      return parse_integer(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(-1);
    };
    const std::int64_t count = number("count:"), time = number("total_time:");
    if (count >= 0 && time >= 0) calls[std::string(line.substr(0, line.find(' ')))] = {count, time};
  }
  return calls;
}

// What slurmctld did for all that called it, Rota among them, from before a reading to after the next.
std::string cost_text(const Service& service) {
  const std::int64_t had = readings_of(service);
  if (had < 0) return {};
  const std::string before = said_by("sdiag");
  constexpr int kLooks = 240;
  for (int look = 0; look < kLooks && readings_of(service) == had; ++look)
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::string after = said_by("sdiag");
  const auto were = calls_of(before);
  std::string text =
      fmt::format("From before to after {} of Rota's readings slurmctld answered:\n", readings_of(service) - had);
  for (const auto& [message, now] : calls_of(after)) {
    const auto was = were.find(message);
    const std::int64_t count = now.first - (was == were.end() ? 0 : was->second.first);
    const std::int64_t time = now.second - (was == were.end() ? 0 : was->second.second);
    if (count > 0)
      text += fmt::format("  {}: {}, {:.3f} s\n", message, amount(count, "call"), static_cast<double>(time) / 1e6);
  }
  return part("what a reading costs", text) + part("sdiag before", before) + part("sdiag after", after);
}

std::string slurm_parts(const Service& service) {
  std::string text = part("Slurm's version", said_by("scontrol --version"));
  text += part("rights of this user in Slurm (Operator or Administrator may write; PrivateData hides from others)",
               said_by("id; sacctmgr -n -P show user \"$(id -un)\" format=User,AdminLevel; scontrol show config | "
                       "grep -E \"^(PrivateData|SlurmUser)\""));
  text += part("slurm.conf", without_secrets(said_by("scontrol show config")));
  return text + cost_text(service);
}

}  // namespace

std::string doctor_bundle(const ServiceFlags& flags, const std::string& found) {
  const Service service(flags);
  std::string text =
      part("rota doctor", fmt::format("rota {} on {}", ROTA_VERSION, time_text(static_cast<double>(unix_now()))));
  text += part("found", found);
  const auto status = service.get("/v1/status");
  text += part("/v1/status", status ? shown_json(*status) : status.error().message);
  for (const char* path : {"/v1/shadow", "/v1/nodes", "/v1/reservations"}) {
    const auto answer = service.get(path);
    text += part(path, answer ? shown_json(*answer) : answer.error().message);
  }
  if (const auto metrics = service.text("/metrics")) text += part("/metrics", metrics->body);
  if (!status) return text;
  if (const std::string folder = text_of(*status, "state_folder"); !folder.empty() && !service.remote()) {
    const auto state = store::SqliteReader::open(database_of(folder));
    text += part("configuration and cluster", state ? without_secrets(state->head().cluster) : state.error().message);
  }
  return status->contains("readings") ? text + slurm_parts(service) : text;
}

}  // namespace rota::cli
