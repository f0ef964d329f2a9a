#include "site/service_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "base/file.h"
#include "base/text.h"
#include "site/cluster_description.h"
#include "site/cluster_file.h"
#include "site/toml_document.h"

namespace rota::site {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

using Place = std::variant<std::string ServiceSettings::*, std::vector<std::string> ServiceSettings::*,
                           Duration ServiceSettings::*, std::int64_t ServiceSettings::*, bool ServiceSettings::*>;

struct Key {
  std::string_view name;
  Place place;
  std::string_view takes;
  std::string_view fallback;
  std::string_view meaning;
};

const std::array<Key, 15>& keys() {
  using S = ServiceSettings;
  static const std::array<Key, 15> all{{
      {"policy", &S::policy, "a policy, as `rota policies` lists them", "easy",
       "the policy of a new state; later `rota policy set` changes it"},
      {"operators", &S::operators, "a list of user names", "none",
       "users with all rights, beside root and the user that runs the service"},
      {"kill_wait", &S::kill_wait, "a time", "30s", "from SIGTERM to SIGKILL, for jobs that ask for no other time"},
      {"keep_history", &S::keep_history, "a time", "90d",
       "how long ended jobs, their scripts and output paths are kept; the latter two go earlier if a user has too "
       "much of the disk"},
      {"max_array", &S::most_array, "a whole number from 1", "10000",
       "the most tasks of one array, and of one request, which may have 10,000 in any case"},
      {"max_jobs", &S::most_jobs, "a whole number from 1", "10000000",
       "the most jobs that wait and run; more are refused"},
      {"max_jobs_of_user", &S::most_jobs_of_user, "a whole number from 1", "nine tenths of `max_jobs`",
       "the most jobs of one user that is no operator"},
      {"slurm_variables", &S::slurm_variables, "true or false", "false",
       "every job gets SLURM_JOB_ID and its like, and not only those with #SBATCH lines"},
      {"mail_command", &S::mail_command, "a command, for /bin/sh", "none: no mail is sent",
       "sends mail about jobs to the users that ask for it"},
      {"licence_command", &S::licence_command, "a command, for /bin/sh", "none",
       "asks the site's licence server how many licences it has and how many are used; needs `licences`"},
      {"licence_interval", &S::licence_interval, "a time", "60s",
       "from an answer of `licence_command` to its next run"},
      {"licence_timeout", &S::licence_timeout, "a time", "20s", "a `licence_command` that runs for longer is killed"},
      {"listen", &S::listen, "HOST:PORT", "none",
       "the service answers there too; requests need a token, and TLS unless HOST is this computer itself"},
      {"tls_certificate", &S::tls_certificate, "an absolute path", "none",
       "a PEM file: the server's certificate, then its chain; read again when it is replaced"},
      {"tls_key", &S::tls_key, "an absolute path", "none",
       "the PEM file of its key; not for all users to read or write"},
  }};
  return all;
}

bool take_list(const TomlValue& value, std::vector<std::string>& into) {
  if (value.kind != TomlValue::Kind::list) return false;
  for (const TomlValue& item : value.items) {
    if (item.kind != TomlValue::Kind::text || item.text.empty()) return false;
    into.push_back(item.text);
  }
  return true;
}

bool take_time(const TomlValue& value, Duration& into) {
  if (value.kind == TomlValue::Kind::whole && value.whole >= 0 && value.whole <= kLongest.count() / 1000) {
    into = seconds(value.whole);
    return true;
  }
  const auto time = value.kind == TomlValue::Kind::text ? parse_duration(value.text) : fail("");
  if (time) into = *time;
  return time.has_value();
}

// False where the value is of another type or out of range.
bool take(const Key& key, const TomlValue& value, ServiceSettings& into) {
  if (const auto* text = std::get_if<std::string ServiceSettings::*>(&key.place)) {
    if (value.kind != TomlValue::Kind::text || value.text.empty()) return false;
    into.*(*text) = value.text;
    return true;
  }
  if (const auto* list = std::get_if<std::vector<std::string> ServiceSettings::*>(&key.place))
    return take_list(value, into.*(*list));
  if (const auto* time = std::get_if<Duration ServiceSettings::*>(&key.place)) return take_time(value, into.*(*time));
  if (const auto* number = std::get_if<std::int64_t ServiceSettings::*>(&key.place)) {
    if (value.kind != TomlValue::Kind::whole || value.whole < 1) return false;
    into.*(*number) = value.whole;
    return true;
  }
  if (value.kind != TomlValue::Kind::yes_no) return false;
  into.*std::get<bool ServiceSettings::*>(key.place) = value.yes;
  return true;
}

std::unexpected<Error> unknown_key(const TomlMember& member, const std::string& where) {
  std::vector<std::string_view> names;
  for (const Key& key : keys()) names.push_back(key.name);
  std::string message = fmt::format("{}[service] has no key {}", where, quoted(member.name));
  const std::string_view near = nearest(member.name, names);
  message += near.empty() ? "; docs/serve.md lists them." : fmt::format("; did you mean `{}`?", near);
  return fail(std::move(message));
}

// What belongs together is there together.
Result<void> check_network(const ServiceSettings& settings) {
  if (settings.tls_certificate.empty() != settings.tls_key.empty())
    return fail("`tls_certificate` and `tls_key` in [service] go together; name both files.");
  if (settings.listen.empty() && !settings.tls_key.empty())
    return fail(
        "[service] has TLS and does not say where; name HOST:PORT with `listen`, or leave `tls_certificate` and "
        "`tls_key` out.");
  for (const std::string* path : {&settings.tls_certificate, &settings.tls_key}) {
    if (!path->empty() && !path->starts_with('/'))
      return fail("`tls_certificate` and `tls_key` in [service] take absolute paths, not {}.", quoted(*path));
  }
  return {};
}

Result<ServiceSettings> read_settings(const TomlValue& document, const std::string& shown) {
  ServiceSettings settings;
  const TomlValue* table = document.find("service");
  if (table == nullptr) return settings;
  if (table->kind != TomlValue::Kind::table)
    return fail("{}:{}: `service` is a table: write [service] on a line.", shown, table->line);
  for (const TomlMember& member : table->members) {
    const std::string where = fmt::format("{}:{}: ", shown, member.line);
    const auto key = std::ranges::find(keys(), member.name, &Key::name);
    if (key == keys().end()) return unknown_key(member, where);
    if (take(*key, member.value, settings)) continue;
    return fail("{}`{}` in [service] takes {}, not {}.", where, member.name, key->takes, member.value.shown());
  }
  if (auto good = check_network(settings); !good) return fail("{}: {}", shown, good.error().message);
  return settings;
}

}  // namespace

Result<Configuration> parse_configuration(std::string_view text, const std::string& shown) {
  const auto document = TRY(parse_toml(text, shown));
  auto settings = TRY(read_settings(document, shown));
  auto described = TRY(describe_cluster(document, shown));
  Machine& machine = described.machine;
  if (!machine.sites.empty())
    return fail(shown + ": a service runs one site; leave [[sites]] out, and give each of them a file of its own.");
  if (!settings.licence_command.empty() && machine.licences.empty())
    return fail(
        "{}: `licence_command` in [service] counts licences, and this cluster has none; name them with `licences = "
        "\"matlab:4\"` at the top, each with the most that there can be.",
        shown);
  return Configuration{std::move(machine), std::move(settings), std::move(described.dated), std::string(text)};
}

Result<Configuration> read_configuration(const std::string& path, const std::string& here) {
  const auto text = TRY(read_file(path, kMostBytes));
  const std::string shown = path == "-" ? "standard input" : path;
  const auto document = TRY(parse_toml(text, shown));
  const auto has = [&](const char* name) { return document.find(name) != nullptr; };
  if (here.empty() || has("nodes") || has("processors") || has("sites")) return parse_configuration(text, shown);
  const std::size_t nodes = here.find('\n') + 1;  // behind its name
  const std::string described = fmt::format("{}\n{}", text, here.substr(nodes));
  auto read = parse_configuration(described, shown);  // first, since its lines are those of the file
  if (!read || has("name")) return read;
  return parse_configuration(here.substr(0, nodes) + described, shown);
}

std::string cluster_of_this_host(const std::string& name, std::int64_t processors, std::int64_t memory,
                                 std::int64_t accelerators) {
  std::string text =
      fmt::format("name = \"{}\"\n\n[[nodes]]\nnames = \"{}\"\nprocessors = {}\n", name, name, processors);
  if (memory > 0) text += fmt::format("memory = {}\n", memory);
  if (accelerators > 0) text += fmt::format("accelerators = {}\n", accelerators);
  return text;
}

std::vector<ServiceKey> service_keys() {
  std::vector<ServiceKey> rows;
  for (const Key& key : keys()) {
    rows.push_back(
        {std::string(key.name), std::string(key.takes), std::string(key.fallback), std::string(key.meaning)});
  }
  return rows;
}

}  // namespace rota::site
