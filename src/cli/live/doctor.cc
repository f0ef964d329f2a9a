// rota doctor: what stands between a person and a service that works. A line each, with what to do.
#include <fmt/core.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/letters.h"
#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/doctor_bundle.h"
#include "cli/live/service.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

constexpr std::size_t kMostNamed = 5;  // nodes

enum class Grade : std::uint8_t {
  good,
  warn,  // the service works, but a user should look
  bad,
};
constexpr std::array<const char*, 3> kGrades{"good", "WARN", "BAD"};

struct Finding {
  const char* of;
  Grade grade;
  std::string text;
};

Finding socket_finding(const std::string& socket) {
  struct stat found{};
  const std::string shown = shown_path(socket);
  if (::stat(socket.c_str(), &found) != 0) {
    const std::string todo =
        errno == ENOENT || errno == ENOTDIR
            ? "; start a service with `rota serve`, or name its socket with --socket or ROTA_SOCKET."
            : "; ask the user who runs the service for access.";
    return {"socket", Grade::bad, fmt::format("{} cannot be found: {}{}", shown, std::strerror(errno), todo)};
  }
  if (!S_ISSOCK(found.st_mode))
    return {"socket", Grade::bad, shown + " is no socket; name the service's with --socket or ROTA_SOCKET."};
  if (::access(socket.c_str(), W_OK) != 0)
    return {"socket", Grade::bad, shown + " may not be used by you; ask the user who runs the service."};
  return {"socket", Grade::good, shown + " is there and may be used."};
}

Finding version_finding(const Json& status) {
  const std::string theirs = text_of(status, "version");
  if (theirs == ROTA_VERSION)
    return {"version", Grade::good, "The service and this command are of version " ROTA_VERSION "."};
  return {"version", Grade::bad,
          fmt::format("The service is of version {}{}", theirs.empty() ? "unknown" : theirs,
                      ", this command of " ROTA_VERSION "; install the same version of both.")};
}

// Advice on the service's clock, which never steps: where the time of day of its own computer was set.
std::string clock_advice(double ahead) {
  if (ahead < 0)
    return fmt::format(
        "The service's clock is {} behind: its computer's was set forward. Start the service again while nothing runs: "
        "until then it keeps the clock by which it knows how long jobs have run.",
        spoken_time(-ahead));
  return fmt::format(
      "The service's clock is {} ahead: its computer's was set back, and what is written down would be in the future. "
      "Start the service again once nothing has run, or happened, for that long.",
      spoken_time(ahead));
}

Finding clock_finding(const Json& status) {
  constexpr double kApart = 5;  // seconds
  const double ahead = number_of(status, "clock_ahead", 0);
  if (std::abs(ahead) > kApart) return {"clock", Grade::bad, clock_advice(ahead)};
  const double apart = std::abs(number_of(status, "now", -1) - static_cast<double>(unix_now()));
  if (!has_number(status, "now"))
    return {"clock", Grade::bad, "The service does not say what time it has; see its version."};
  if (apart > kApart)
    return {"clock", Grade::bad,
            fmt::format("The service's clock and this one are {} apart; have both set by one time server, or wait "
                        "until it is less busy.",
                        spoken_time(apart))};
  return {"clock", Grade::good, "The service's clock and this one agree."};
}

Finding disk_finding(const Json& status, bool remote) {
  constexpr double kLittle = 1U << 30U;
  const std::string folder = text_of(status, "state_folder");
  struct statvfs disk{};
  if (folder.empty()) return {"disk", Grade::good, "Where the service keeps its state, it tells operators only."};
  if (remote)
    return {"disk", Grade::good,
            fmt::format("Where the service keeps its state, {}, is not seen from here.", shown_path(folder))};
  if (::statvfs(folder.c_str(), &disk) != 0)
    return {"disk", Grade::bad,
            fmt::format("{} cannot be looked at from here: {}; run `rota doctor` as the user who runs the service.",
                        shown_path(folder), std::strerror(errno))};
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  const std::string text = fmt::format("The state folder {} has {} free", shown_path(folder), memory_text(free));
  if (free >= kLittle) return {"disk", Grade::good, text + "."};
  return {"disk", Grade::bad, text + "; make room, or no more jobs can be taken in."};
}

Finding limit_finding() {
  constexpr rlim_t kFew = 256;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= kFew)
    return {"limits", Grade::good, "Enough files may be open at a time."};
  return {"limits", Grade::bad,
          fmt::format("Only {} files may be open at a time; raise that with `ulimit -n 1024`.", files.rlim_cur)};
}

// Where nothing can start: on no node at all, or on none of a partition.
// `watched`: another manager has the nodes.
std::vector<Finding> node_findings(const Json& nodes, bool watched) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> partitions;  // how many nodes, and of them in use
  std::string out_of_use;
  std::size_t away = 0;
  for (const Json& node : nodes) {
    const bool asleep = flag_of(node, "left_asleep");
    const bool up = text_of(node, "health") == "up" && !asleep;
    for (const Json& name : list_of(node, "partitions")) {
      auto& [all, used] = partitions[name.is_string() ? name.get<std::string>() : ""];
      ++all;
      used += up ? 1 : 0;
    }
    if (up) continue;
    const std::string by = text_of(node, "by"), reason = text_of(node, "reason");
    if (away++ < kMostNamed)
      out_of_use += fmt::format("{}{} ({}{}{}{})", away > 1 ? ", " : "", text_of(node, "name"), text_of(node, "state"),
                                by.empty() ? "" : " by " + by, reason.empty() ? "" : ": " + reason,
                                asleep ? ", and the policy wakes no node" : "");
    if (away == kMostNamed + 1) out_of_use += " and others";
  }
  const std::string todo = watched ? "; `scontrol update NodeName=... State=RESUME` puts nodes back."
                                   : "; `rota nodes resume` puts nodes back, `rota nodes power-up` wakes them.";
  if (away == 0) return {{"nodes", Grade::good, amount(static_cast<std::int64_t>(nodes.size()), "node") + " in use."}};
  if (away == nodes.size())
    return {{"nodes", Grade::bad, fmt::format("No node is in use, and no job can start: {}{}", out_of_use, todo)}};
  std::vector<Finding> found{
      {"nodes", Grade::warn, fmt::format("{} of {} nodes are out of use: {}{}", away, nodes.size(), out_of_use, todo)}};
  for (const auto& [name, counts] : partitions) {
    if (counts.second == 0)
      found.push_back({"nodes", Grade::bad,
                       fmt::format("No node of partition {} is in use, and no job can start there{}", name, todo)});
  }
  return found;
}

std::vector<Finding> policy_findings(const Json& status) {
  std::vector<Finding> out;
  const std::string policy = text_of(status, "policy");
  if (flag_of(status, "plain")) {
    out.push_back({"policy", Grade::bad,
                   fmt::format("{} is not followed since a plan was refused ({}); jobs start in order of the queue. "
                               "Set a policy with `rota policy set`.",
                               policy, text_of(status, "last_refusal"))});
  } else {
    out.push_back({"policy", Grade::good, fmt::format("The service follows {}.", policy)});
  }
  for (const Json& warning : list_of(status, "warnings")) {
    if (warning.is_string()) out.push_back({"warning", Grade::warn, warning.get<std::string>()});
  }
  return out;
}

std::vector<Finding> findings(const ServiceFlags& flags) {
  const Service service(flags);
  std::vector<Finding> out;
  if (service.remote()) {
    out.push_back({"address", Grade::good, service.shown() + " is asked, with a token."});
  } else if (!service.socket().empty()) {
    out.push_back(socket_finding(service.socket()));
  }
  const auto status = service.get("/v1/status");
  if (!status) {
    out.push_back({"service", Grade::bad, status.error().message});
    out.push_back(limit_finding());
    return out;
  }
  const bool watched = status->contains("readings");
  const auto health = service.text("/healthz");
  out.push_back(health ? Finding{"service", Grade::good,
                                 watched ? "It answers, and watches Slurm." : "It answers, and takes jobs in."}
                       : Finding{"service", Grade::bad, "It answers, but takes no jobs in: " + health.error().message});
  out.push_back(version_finding(*status));
  out.push_back(clock_finding(*status));
  out.push_back(disk_finding(*status, service.remote()));
  out.push_back(limit_finding());
  for (Finding& each : policy_findings(*status)) out.push_back(std::move(each));
  if (const auto nodes = service.get("/v1/nodes"); nodes && !list_of(*nodes, "nodes").empty()) {
    for (Finding& each : node_findings(list_of(*nodes, "nodes"), watched)) out.push_back(std::move(each));
  }
  return out;
}

struct DoctorFlags {
  ServiceFlags service;
  std::string bundle;
};

Result<int> doctor(const DoctorFlags& asked) {
  const ServiceFlags& flags = asked.service;
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  bool well = true;
  for (const Finding& each : findings(flags)) {
    well &= each.grade != Grade::bad;
    const char* const grade = kGrades[static_cast<std::size_t>(each.grade)];
    rows.push_back({grade, each.of, each.text});
    list.push_back(
        Json{{"of", each.of}, {"good", each.grade == Grade::good}, {"grade", lower(grade)}, {"text", each.text}});
  }
  const std::string text = flags.json ? shown_json(Json{{"findings", list}}) : table({{""}, {""}, {""}}, rows, false);
  if (auto done = printed(text); !done) return done;
  if (!asked.bundle.empty()) {
    auto file = TRY(OutputFile::create(asked.bundle));
    file.stream() << doctor_bundle(flags, text);
    TRY(file.commit());
  }
  return well ? kDone : kNo;
}

}  // namespace

void add_doctor(Command app, Action& action) {
  auto flags = std::make_shared<DoctorFlags>();
  Command command = app.add_subcommand("doctor", "look for what keeps the service from working");
  command.description(
      "Is there a socket, does a service answer, is it of this version, do the clocks agree, is there "
      "room for its state, can jobs start on its nodes. A line each, and where it is bad, what to do.");
  command
      .add_option(
          "--bundle", flags->bundle,
          "also write a file with what the service says of itself and, where it watches Slurm, versions, settings, "
          "rights and sdiag before and after a reading; it has names of users and jobs in it, and no secrets")
      .type_name("FILE");
  flags->service.declare_json(command);
  command.footer(
      "The exit code is 3 where something is BAD; what only WARNs does not change it.\n\n"
      "Examples:\n  rota doctor\n  rota doctor --bundle rota.txt");
  command.callback([&action, flags] { action = [flags] { return doctor(*flags); }; });
}

}  // namespace rota::cli
