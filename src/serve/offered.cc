#include "serve/offered.h"

#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "serve/request_json.h"
#include "serve/stage_commands.h"
#include "store/sha256.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostRead = 10'000;  // offers that are kept in memory
constexpr uid_t kFirstOrdinary = 1000;     // users below are the system's

}  // namespace

std::optional<std::string> row_of(const std::vector<std::string>& rows, const std::string& key) {
  for (const std::string& row : rows) {
    if (row.starts_with(key) && row.size() > key.size() && row[key.size()] == '=') return row.substr(key.size() + 1);
  }
  return std::nullopt;
}

std::vector<std::string> paths_home(const JobRequest& request) {
  auto paths = stage_paths("stage_out", request.stage_out).value_or(std::vector<std::string>());
  for (const std::string* path : {&request.output, &request.error})
    if (!path->empty()) paths.push_back(*path);
  return paths;
}

std::string offer_text(const Travelling& travelling, std::int64_t unix_start) {
  JobRequest asked = travelling.request;
  asked.script.clear();
  asked.command.clear();
  asked.environment.clear();
  Json json{{"user", travelling.user},
            {"sealed", travelling.sealed},
            {"run_bytes", travelling.run_bytes},
            {"request", json_of(asked, unix_start)}};
  if (const auto& task = travelling.task)
    json["task"] = {task->array, task->index, task->of.count, task->of.least, task->of.most, task->of.step};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Travelling> read_offer(const std::string& text, std::int64_t unix_start) {
  const Json json = Json::parse(text, nullptr, false);
  Travelling read;
  if (!json.is_object() || !json.contains("user") || !read_value(json["user"], read.user) || !json.contains("request"))
    return fail("what the job asks for cannot be read.");
  const bool good = (!json.contains("sealed") || read_value(json["sealed"], read.sealed)) &&
                    (!json.contains("run_bytes") || take_number(json["run_bytes"], read.run_bytes, 0, INT64_MAX));
  if (!good) return fail("what is said of what the job runs cannot be read.");
  if (json.contains("task")) {
    std::array<std::int64_t, 6> numbers{};
    const Json& task = json["task"];
    if (!task.is_array() || task.size() != numbers.size()) return fail("the index of an array's task cannot be read.");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!take_number(task[i], numbers[i], 0, INT64_MAX)) return fail("the index of an array's task cannot be read.");
    }
    read.task = ArrayTask{numbers[0], numbers[1], {numbers[2], numbers[3], numbers[4], numbers[5]}};
  }
  read.request = TRY(read_request(json["request"], unix_start));
  return read;
}

std::string digest_of(const Offer& offer) {
  const std::string all = fmt::format("{} {} {} {}\n{}", offer.spec.number, offer.home.value, offer.serial,
                                      offer.data.value, offer.request);
  return store::hexadecimal(store::sha256(std::as_bytes(std::span(all)))) + '\n';
}

// Bytes of the script and of the command, then these, and the environment.
std::string run_text(const std::string& script, const std::vector<std::string>& command,
                     const std::string& environment) {
  const std::string words = zero_ended(command);
  return fmt::format("{} {}\n", script.size(), words.size()) + script + words + environment;
}

bool read_run(std::string_view text, JobRequest& into) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  const auto sizes = split(text.substr(0, end), ' ');
  if (sizes.size() != 2) return false;
  const auto script = parse_integer(sizes[0]), command = parse_integer(sizes[1]);
  const std::string_view rest = text.substr(end + 1);
  const auto has = static_cast<std::int64_t>(rest.size());
  if (!script || !command || *script < 0 || *command < 0 || *script > has || *command > has - *script) return false;
  const auto words = static_cast<std::size_t>(*script), variables = words + static_cast<std::size_t>(*command);
  into.script = rest.substr(0, words);
  into.command = texts_of(rest.substr(words, variables - words));
  into.environment = texts_of(rest.substr(variables));
  return into.script.find('\0') == std::string::npos;
}

JobRequest without_names(JobRequest request) {
  request.partition.clear();
  request.licence.clear();
  request.more_licences.clear();
  request.qos.clear();
  request.features.clear();
  request.excluded_nodes.clear();
  request.accelerator_type.clear();
  request.licences = 0;
  request.accelerators = 0;
  request.memory = 0;
  return request;
}

Result<void> may_travel(const JobRequest& request, const site::FederationSettings& settings) {
  for (const auto& [wish, paths] :
       {std::pair{"stage_in", &request.stage_in}, std::pair{"stage_out", &request.stage_out}}) {
    if (paths->empty()) continue;
    TRY(stage_paths(wish, *paths));
    if (settings.data.empty())
      return fail("this site brings no files to others: its [federation] has no `data`; submit the job without `{}`.",
                  wish);
    for (const auto& [name, file] : {std::pair{"output", &request.output}, std::pair{"error", &request.error}}) {
      if (file->starts_with('/') || file->find("..") != std::string::npos)
        return fail("with `{}`, `{}` is a file within the job's folder, and not {}.", wish, name, rota::quoted(*file));
    }
  }
  const bool throttled = request.array.find('%') != std::string::npos;
  const std::pair<bool, const char*> kinds[] = {{throttled, "an array with a limit of tasks at one time"},
                                                {!request.after.empty(), "a job that waits for others"},
                                                {request.held, "a job that is held"},
                                                {!request.attach.socket.empty(), "a job at a terminal"},
                                                {!request.required_nodes.empty(), "a job that names its nodes"},
                                                {!request.reservation.empty(), "a job of a reservation"}};
  for (const auto& [is, what] : kinds) {
    if (is) return fail("{} cannot go to other sites; submit it without `sites`.", what);
  }
  return {};
}

bool may_come(const Travelling& asks, const std::string& home, bool has_key, const site::FederationSettings& settings) {
  if (!user_here(home, asks.user, settings)) return false;
  if (asks.sealed != has_key || (asks.has_files() && settings.data.empty())) return false;
  const auto& open = settings.partitions;
  return open.empty() || std::ranges::find(open, asks.request.partition) != open.end();
}

const Travelling* OfferBook::find(const Offer& offer) {
  if (read_.size() > kMostRead) read_.clear();
  const auto [row, fresh] = read_.try_emplace(offer.spec.number);
  auto& [text, travelling] = row->second;
  if (fresh || text != offer.request) {  // another site may have put up something else before
    text = offer.request;
    travelling.reset();
    if (auto read = read_offer(text, unix_start_)) travelling = std::move(*read);
  }
  return travelling ? &*travelling : nullptr;
}

std::optional<Caller> user_here(const std::string& site, const std::string& user,
                                const site::FederationSettings& settings) {
  const auto row = row_of(settings.users, site + ':' + user);
  const std::string name = row.value_or(user);
  const passwd* known = name.empty() ? nullptr : ::getpwnam(name.c_str());
  if (known == nullptr || (::geteuid() != 0 && known->pw_uid != ::geteuid())) return std::nullopt;
  const bool ordinary = known->pw_uid >= kFirstOrdinary && name != settings.account;
  if (!row && !ordinary && known->pw_uid != ::geteuid()) return std::nullopt;
  if (known->pw_uid == 0 && !settings.takes_root) return std::nullopt;
  return Caller{known->pw_uid, known->pw_gid, name, false};
}

std::int32_t priority_here(const std::string& site, const std::string& user, std::int32_t asked,
                           const site::FederationSettings& settings) {
  auto row = row_of(settings.priorities, site + ':' + user);
  if (!row) row = row_of(settings.priorities, site);
  const std::int64_t most = row ? parse_integer(*row).value_or(0) : settings.most_priority;
  return static_cast<std::int32_t>(std::min<std::int64_t>(asked, most));
}

bool names_site(std::string_view sites, std::string_view name) {
  const auto named = split(sites, ',');
  return sites == "any" || std::ranges::find(named, name) != named.end();
}

}  // namespace rota::serve
