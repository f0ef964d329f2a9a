#include "site/service_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <variant>

#include "base/file.h"
#include "base/letters.h"
#include "base/text.h"
#include "site/cluster_description.h"
#include "site/cluster_file.h"
#include "site/toml_document.h"

namespace rota::site {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

template <class Settings>
using Place = std::variant<std::string Settings::*, std::vector<std::string> Settings::*, Duration Settings::*,
                           std::int64_t Settings::*, bool Settings::*>;

template <class Settings>
struct Key {
  std::string_view name;
  Place<Settings> place;
  std::string_view takes;
  std::string_view fallback;
  std::string_view meaning;
};

std::span<const Key<ServiceSettings>> keys_of(const ServiceSettings&) {
  using S = ServiceSettings;
  static const std::array<Key<S>, 15> all{{
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

std::span<const Key<FederationSettings>> keys_of(const FederationSettings&) {
  using F = FederationSettings;
  static const std::array<Key<F>, 20> all{{
      {"name", &F::name, "a name of letters, digits and -", "none", "this site's, which no other one has"},
      {"endpoints", &F::endpoints, "a list of HOST:PORT", "none", "the members of etcd, the nearest first"},
      {"prefix", &F::prefix, "a text that begins and ends with /", "/rota/",
       "of all keys in etcd; the same at all sites of a federation"},
      {"authority", &F::authority, "an absolute path", "none: no TLS",
       "a PEM file: the authority that vouches for the members of etcd"},
      {"certificate", &F::certificate, "an absolute path", "none",
       "a PEM file: this site's certificate, whose common name is the user in etcd"},
      {"key", &F::key, "an absolute path", "none", "the PEM file of its key"},
      {"secret", &F::secret, "an absolute path", "none: in clear",
       "a file with 32 bytes or more, the same at all sites: scripts, commands and environments stand sealed in etcd"},
      {"lease", &F::lease, "a time from 2s", "10s",
       "without a sign of life for so long this site counts as dead, and what it has not settled is sold again"},
      {"max_priority", &F::most_priority, "a whole number from 1", "0",
       "the most that jobs of other sites have here, whatever their home gave them"},
      {"priorities", &F::priorities, "a list of SITE=N and SITE:USER=N", "none",
       "in place of `max_priority`, for jobs of that site, or of that user there"},
      {"root", &F::takes_root, "true or false", "false",
       "root's jobs at other sites may come here and run as root; else this site does not bid for them"},
      {"users", &F::users, "a list of SITE:USER=NAME", "none: the same name",
       "users of other sites and who they are here; `SITE:USER=` with no name: that user's jobs do not come. Users "
       "below "
       "1000 and `account` are named here, or their jobs do not come"},
      {"partitions", &F::partitions, "a list of partitions", "all", "those that jobs of other sites may have"},
      {"share", &F::share, "a whole number from 1", "100",
       "percent of this site's processors that jobs of other sites may have, waiting ones counted"},
      {"data", &F::data, "an absolute path", "none: no files come or go",
       "a folder for files of jobs on their way; other sites read its part `out`"},
      {"address", &F::address, "a path or HOST:PATH", "none",
       "where other sites find `out`, as rsync takes it: `rota@berlin.example.org:`, `rsync://berlin/rota`, or the "
       "path of `out` on a shared file system"},
      {"addresses", &F::addresses, "a list of SITE=ADDRESS", "none: as each site says",
       "where the files of these sites are, whatever they say themselves"},
      {"account", &F::account, "a user", "the service's", "fetches files from other sites, and owns those in `out`"},
      {"fetch", &F::fetch, "a command", "rsync",
       "fetches instead of rsync: /bin/sh runs it with `ROTA_FROM` (the other site's `address`), `ROTA_NAME` (a folder "
       "there) and `ROTA_TO` (a folder here)"},
      {"bandwidth", &F::bandwidth, "a whole number from 1", "100",
       "MB/s to and from other sites, until transfers have shown what it is"},
  }};
  return all;
}

std::span<const Key<SlurmReading>> keys_of(const SlurmReading&) {
  using S = SlurmReading;
  static const std::array<Key<S>, 6> all{{
      {"poll", &S::poll, "a time from 1s", "30s", "from one reading of Slurm to the next"},
      {"gap", &S::gap, "a time", "1s", "from one of Slurm's commands to the next, at least"},
      {"write_gap", &S::write_gap, "a time from 10ms", "200ms",
       "from one command that changes something to the next, at least: only where a mode is `act`"},
      {"history", &S::history, "a time as `sacct -S` takes it", "now-7days",
       "from when on a new state takes in jobs that have ended: forecasts are drawn from them"},
      {"report", &S::report, "an absolute path or an address", "none",
       "where a report is put, or mailed by `mail_command` of [service], once in each `report_every`"},
      {"report_every", &S::report_every, "a time from 1s", "7d",
       "from one report to the next; it looks back as long, in whole days"},
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
template <class S>
bool take(const Key<S>& key, const TomlValue& value, S& into) {
  if (const auto* text = std::get_if<std::string S::*>(&key.place)) {
    if (value.kind != TomlValue::Kind::text || value.text.empty()) return false;
    into.*(*text) = value.text;
    return true;
  }
  if (const auto* list = std::get_if<std::vector<std::string> S::*>(&key.place)) return take_list(value, into.*(*list));
  if (const auto* time = std::get_if<Duration S::*>(&key.place)) return take_time(value, into.*(*time));
  if (const auto* number = std::get_if<std::int64_t S::*>(&key.place)) {
    if (value.kind != TomlValue::Kind::whole || value.whole < 1) return false;
    into.*(*number) = value.whole;
    return true;
  }
  if (value.kind != TomlValue::Kind::yes_no) return false;
  into.*std::get<bool S::*>(key.place) = value.yes;
  return true;
}

template <class S>
std::unexpected<Error> unknown_key(const TomlMember& member, const std::string& where, const S& settings,
                                   const char* table) {
  std::vector<std::string_view> names;
  for (const auto& key : keys_of(settings)) names.push_back(key.name);
  std::string message = fmt::format("{}[{}] has no key {}", where, table, quoted(member.name));
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

Result<void> check_federation(const FederationSettings& settings) {
  if (settings == FederationSettings{}) return {};
  if (!is_site_name(settings.name))
    return fail("[federation] needs a `name` for this site, of letters, digits, `.` and `-`, 60 at most.");
  if (settings.endpoints.empty())
    return fail("[federation] needs `endpoints`, the members of etcd, such as [\"etcd1.example.org:2379\"].");
  if (!settings.prefix.starts_with('/') || !settings.prefix.ends_with('/') || settings.prefix.size() < 2)
    return fail("`prefix` in [federation] begins and ends with a slash, as \"/rota/\" does.");
  if (settings.lease < seconds(2)) return fail("`lease` in [federation] is 2s at least: etcd has none shorter.");
  if (settings.certificate.empty() != settings.key.empty())
    return fail("`certificate` and `key` in [federation] go together; name both files.");
  if (settings.authority.empty() && !settings.certificate.empty())
    return fail("[federation] has a certificate and no `authority` for the members of etcd; name its file.");
  for (const auto& [key, path] :
       {std::pair{"authority", &settings.authority}, std::pair{"certificate", &settings.certificate},
        std::pair{"key", &settings.key}, std::pair{"secret", &settings.secret}, std::pair{"data", &settings.data}}) {
    if (!path->empty() && !path->starts_with('/'))
      return fail("`{}` in [federation] takes an absolute path, not {}.", key, quoted(*path));
  }
  if (settings.data.empty() != settings.address.empty())
    return fail("`data` and `address` in [federation] go together: a folder, and where other sites read it.");
  if (settings.share > 100) return fail("`share` in [federation] is a percentage: 100 at most.");
  for (const std::string& row : settings.priorities) {
    const std::size_t equals = row.find('=');
    if (equals == std::string::npos || equals == 0 || !parse_integer(row.substr(equals + 1)))
      return fail("`priorities` in [federation] has SITE=N or SITE:USER=N in each row, not {}.", quoted(row));
  }
  for (const std::string& row : settings.users) {
    const std::size_t colon = row.find(':'), equals = row.find('=');
    if (colon == std::string::npos || equals == std::string::npos || colon == 0 || equals < colon + 2)
      return fail("`users` in [federation] has SITE:USER=NAME in each row, not {}.", quoted(row));
  }
  return {};
}

template <class S>
Result<void> read_table(const TomlValue& document, const char* name, const std::string& shown, S& settings) {
  const TomlValue* table = document.find(name);
  if (table == nullptr) return {};
  if (table->kind != TomlValue::Kind::table)
    return fail("{}:{}: `{}` is a table: write [{}] on a line.", shown, table->line, name, name);
  for (const TomlMember& member : table->members) {
    const std::string where = fmt::format("{}:{}: ", shown, member.line);
    const auto keys = keys_of(settings);
    const auto key = std::ranges::find(keys, member.name, &Key<S>::name);
    if (key == keys.end()) return unknown_key(member, where, settings, name);
    if (take(*key, member.value, settings)) continue;
    return fail("{}`{}` in [{}] takes {}, not {}.", where, member.name, name, key->takes, member.value.shown());
  }
  return {};
}

Result<ServiceSettings> read_settings(const TomlValue& document, const std::string& shown) {
  ServiceSettings settings;
  TRY(read_table(document, "service", shown, settings));
  TRY(read_table(document, "federation", shown, settings.federation));
  TRY(read_table(document, "slurm", shown, settings.slurm));
  if (settings.slurm.write_gap < Duration{10}) return fail("{}: `write_gap` in [slurm] is 10ms at least.", shown);
  if (settings.slurm.poll < seconds(1)) return fail("{}: `poll` in [slurm] is 1s at least.", shown);
  if (settings.slurm.report_every < seconds(1)) return fail("{}: `report_every` in [slurm] is 1s at least.", shown);
  const std::string& report = settings.slurm.report;
  if (!report.empty() && !report.starts_with('/') && report.find('@') == std::string::npos)
    return fail("{}: `report` in [slurm] is an absolute path, or an address such as operator@example.org, not {}.",
                shown, quoted(report));
  constexpr std::string_view kOfTimes = "abcdefghijklmnopqrstuvwxyzT0123456789-+:/.";  // the shell sees it
  if (settings.slurm.history.find_first_not_of(kOfTimes) != std::string::npos)
    return fail("{}: `history` in [slurm] is a time such as now-7days or 2026-11-01, not {}.", shown,
                quoted(settings.slurm.history));
  if (auto good = check_network(settings); !good) return fail("{}: {}", shown, good.error().message);
  if (auto good = check_federation(settings.federation); !good) return fail("{}: {}", shown, good.error().message);
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
  const std::size_t tables = here.find("\n[") + 1;  // behind its own keys, which go to the top
  const std::string described = fmt::format("{}\n{}", text, here.substr(tables));
  auto read = parse_configuration(described, shown);  // first, since its lines are those of the file
  std::string top;
  for (const std::string_view line : split(std::string_view(here).substr(0, tables), '\n')) {
    const std::string key(line.substr(0, line.find(' ')));
    if (!line.empty() && !line.starts_with('#') && !has(key.c_str())) top += fmt::format("{}\n", line);
  }
  return read && !top.empty() ? parse_configuration(top + described, shown) : std::move(read);
}

std::string cluster_of_this_host(const std::string& name, std::int64_t processors, std::int64_t memory,
                                 std::int64_t accelerators) {
  std::string text =
      fmt::format("name = \"{}\"\n\n[[nodes]]\nnames = \"{}\"\nprocessors = {}\n", name, name, processors);
  if (memory > 0) text += fmt::format("memory = {}\n", memory);
  if (accelerators > 0) text += fmt::format("accelerators = {}\n", accelerators);
  return text;
}

namespace {

template <class S>
std::vector<ServiceKey> rows_of(const S& settings) {
  std::vector<ServiceKey> rows;
  for (const auto& key : keys_of(settings)) {
    rows.push_back(
        {std::string(key.name), std::string(key.takes), std::string(key.fallback), std::string(key.meaning)});
  }
  return rows;
}

}  // namespace

std::vector<ServiceKey> service_keys() { return rows_of(ServiceSettings{}); }
std::vector<ServiceKey> federation_keys() { return rows_of(FederationSettings{}); }
std::vector<ServiceKey> slurm_keys() { return rows_of(SlurmReading{}); }

}  // namespace rota::site
