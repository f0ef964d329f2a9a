// rota sites init, forfeit, remove: what an operator of a federation does at its etcd.
#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "serve/dead_site.h"
#include "site/service_file.h"

namespace rota::cli {

void add_site_admin(Command sites, Action& action);

namespace {

struct DeadSiteFlags {
  std::string site;
  std::string configuration;
  std::string certificate, key;
};

Result<etcd::DeadSite::Done> settle(const DeadSiteFlags& flags, etcd::DeadSite::Wish wish) {
  const site::Configuration read = TRY(site::read_configuration(flags.configuration));
  const site::FederationSettings& settings = read.service.federation;
  if (!settings.joins())
    return fail("{} has no table [federation]; docs/sites.md says what belongs into it.", flags.configuration);
  if (flags.certificate.empty() != flags.key.empty()) return fail("--certificate and --key go together; name both.");
  return serve::settle_dead_site(settings, {flags.certificate, flags.key}, flags.site, wish);
}

Result<int> forfeit(const DeadSiteFlags& flags) {
  const auto done = TRY(settle(flags, etcd::DeadSite::Wish::forfeit));
  remark(fmt::format("rota: on offer again: {} that {} had. Its own, which it keeps: {}.",
                     amount(static_cast<std::int64_t>(done.jobs), "job"), flags.site,
                     amount(static_cast<std::int64_t>(done.kept), "job")));
  return kDone;
}

Result<int> remove_site(const DeadSiteFlags& flags) {
  TRY(settle(flags, etcd::DeadSite::Wish::remove));
  remark(fmt::format("rota: {0} is listed no more. Should it come back, it is; `etcdctl user delete {0}` shuts it out.",
                     flags.site));
  return kDone;
}

struct InitFlags {
  std::vector<std::string> sites;
  std::vector<std::string> members;
  std::string prefix = "/rota/";
};

constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-/";

// By another file of the script's.
bool is_taken(const std::string& name) {
  return name.starts_with('-') || name == "root" || name == "ca" || name == "peer-ca";
}

// What the script does for one site at etcd: its own records, those of jobs on sale, and to see all.
std::string role_of(const std::string& site, const std::string& prefix) {
  std::string text =
      fmt::format("  user_of {0}\n  etcd_ctl role get {0} > /dev/null 2>&1 || etcd_ctl role add {0}\n", site);
  text += fmt::format("  etcd_ctl role grant-permission {} --prefix=true read {}\n", site, prefix);
  for (const char* record : {"site", "epoch", "card", "last"})
    text += fmt::format("  etcd_ctl role grant-permission {} readwrite {}{}/{}\n", site, prefix, record, site);
  for (const char* records : {"bid", "won", "cancel", "~payload"})
    text += fmt::format("  etcd_ctl role grant-permission {} --prefix=true readwrite '{}{}/{}/'\n", site, prefix,
                        records, site);
  for (const char* records : {"job", "claim", "ended"})
    text += fmt::format("  etcd_ctl role grant-permission {} --prefix=true readwrite '{}{}/'\n", site, prefix, records);
  return text + fmt::format("  etcd_ctl user grant-role {0} {0}\n  number_of {0}\n", site);
}

constexpr std::string_view kScript = R"sh(#!/bin/sh
# Certificates and rights for sites that share jobs, in the folder federation/ of where it is run. Run it where the keys
# of the authorities are to stay:
#   sh federation.sh certificates     # then start etcd with these
#   sh federation.sh rights           # once etcd answers
# What is there already stays as it is: with more sites, print it anew and run both again. A site gets ca.crt, NAME.crt,
# NAME.key and secret; a member of etcd ca.crt, peer-ca.crt, and HOST.crt, HOST.key, HOST-peer.crt, HOST-peer.key.
set -eu
umask 077
mkdir -p federation
cd federation

authority() {{  # FILE
  [ -e "$1.crt" ] ||
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=rota $1" \
      -keyout "$1.key" -out "$1.crt"
}}

certificate() {{  # AUTHORITY FILE NAME EXTENSIONS
  [ ! -e "$2.crt" ] || return 0
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$3" -keyout "$2.key" -out "$2.csr"
  printf 'extendedKeyUsage=serverAuth,clientAuth\n%s\n' "$4" > "$2.ext"
  openssl x509 -req -days 3650 -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -in "$2.csr" -out "$2.new" -extfile "$2.ext"
  mv "$2.new" "$2.crt"
  rm "$2.csr" "$2.ext"
}}

certificates() {{
  authority ca
  authority peer-ca  # of the members among themselves: no site may speak there
  [ -e secret ] || head -c 32 /dev/urandom > secret
{certificates}}}

etcd_ctl() {{
  ETCDCTL_API=3 etcdctl --endpoints {endpoints} --cacert ca.crt --cert root.crt --key root.key "$@"
}}

rights() {{
  user_of root
  etcd_ctl user grant-role root root
{rights}  etcd_ctl auth enable
}}

user_of() {{
  etcd_ctl user get "$1" > /dev/null 2>&1 || etcd_ctl user add "$1" --no-password
}}

number_of() {{  # SITE: no site gives itself another's number or name
  known=$(etcd_ctl get --prefix '{prefix}number/')
  ! printf '%s\n' "$known" | grep -qFx -e "$1" || return 0
  etcd_ctl put "{prefix}number/$(printf %06d "$(printf '%s\n' "$known" | grep -c '^{prefix}number/')")" "$1" > /dev/null
}}

case "${{1:-}}" in
  certificates) certificates ;;
  rights) rights ;;
  *) echo "usage: sh federation.sh certificates|rights" >&2; exit 2 ;;
esac
)sh";

Result<int> init(const InitFlags& flags) {
  for (const std::string& site : flags.sites) {
    if (!is_site_name(site) || is_taken(site))
      return fail("{} is no name for a site: it has letters, digits, `.` and `-`, and is not root, ca or peer-ca.",
                  rota::quoted(site));
  }
  const bool plain = flags.prefix.find_first_not_of(kPlain) == std::string::npos;
  if (!plain || flags.prefix.size() < 2 || !flags.prefix.starts_with('/') || !flags.prefix.ends_with('/'))
    return fail("--prefix begins and ends with a slash, as /rota/ does, and has letters, digits, `.`, `-` and `/`.");
  std::string certificates = "  certificate ca root root basicConstraints=CA:FALSE\n", endpoints;
  for (const std::string& member : flags.members) {
    const std::string host = member.substr(0, member.rfind(':'));
    if (host == member || !is_site_name(host) || !parse_integer(member.substr(host.size() + 1)))
      return fail("--member takes HOST:PORT, such as etcd1.example.org:2379, not {}.", rota::quoted(member));
    if (std::ranges::find(flags.sites, host) != flags.sites.end() || is_taken(host))
      return fail("a member of etcd is called {}, as a site or an authority is: give it another name.",
                  rota::quoted(host));
    const bool address = host.find_first_not_of("0123456789.") == std::string::npos;
    const char* const kind = address ? "IP" : "DNS";
    const std::string lines = fmt::format(
        "  certificate ca {0} {0} subjectAltName={1}:{0}\n  certificate peer-ca {0}-peer {0} subjectAltName={1}:{0}\n",
        host, kind);
    if (certificates.find(lines) == std::string::npos) certificates += lines;
    endpoints += (endpoints.empty() ? "" : ",") + member;
  }
  std::string rights;
  for (const std::string& site : flags.sites) {
    certificates += fmt::format("  certificate ca {0} {0} basicConstraints=CA:FALSE\n", site);
    rights += role_of(site, flags.prefix);
  }
  return printed(fmt::format(kScript, fmt::arg("certificates", certificates), fmt::arg("endpoints", endpoints),
                             fmt::arg("rights", rights), fmt::arg("prefix", flags.prefix)));
}

}  // namespace

namespace {

// What both commands about a dead site take.
void about_dead_site(Command& command, Action& action, Result<int> (*run)(const DeadSiteFlags&)) {
  auto flags = std::make_shared<DeadSiteFlags>();
  command.add_option("SITE", flags->site, "the site that is dead").required();
  command.add_option("--config", flags->configuration, "of any site of the federation: where etcd is")
      .type_name("FILE.toml")
      .required();
  command
      .add_option("--certificate", flags->certificate,
                  "of a user that may write the dead site's records: root's; without: the site's of FILE.toml")
      .type_name("FILE");
  command.add_option("--key", flags->key, "of that certificate").type_name("FILE");
  command.callback([&action, flags, run] { action = [flags, run] { return run(*flags); }; });
}

}  // namespace

void add_site_admin(Command sites, Action& action) {
  Command forfeits = sites.add_subcommand("forfeit", "give the jobs of a site that is dead for good to the others");
  forfeits.description(
      "Jobs of other homes that the site has taken and not ended go on offer again. Should it come back, it ends what "
      "it has of them. Jobs that were submitted there stay its own.");
  forfeits.footer(
      "Examples:\n  rota sites forfeit lyon --config /etc/rota/rota.toml --certificate root.crt --key root.key");
  about_dead_site(forfeits, action, &forfeit);

  Command removes = sites.add_subcommand("remove", "list a site no more that is dead for good");
  removes.description(
      "Once nothing of the federation is left there (forfeit), the others list it no more, and offer it nothing. Its "
      "name and number are never another site's.");
  removes.footer(
      "Examples:\n  rota sites remove lyon --config /etc/rota/rota.toml --certificate root.crt --key root.key");
  about_dead_site(removes, action, &remove_site);

  auto wanted = std::make_shared<InitFlags>();
  Command begin = sites.add_subcommand("init", "print a script that makes certificates and rights for sites");
  begin.description(
      "The script makes an authority, a certificate for each site and each member of etcd, and one for root, an "
      "operator's; then, in etcd, a user for each site, who may write its own records and those of jobs on sale.");
  begin.add_option("SITE", wanted->sites, "names of the sites").required();
  begin.add_option("--member", wanted->members, "a member of etcd; once for each").type_name("HOST:PORT").required();
  begin.add_option("--prefix", wanted->prefix, "as in [federation]").type_name("PREFIX").capture_default_str();
  begin.footer(
      "Examples:\n  rota sites init berlin lyon graz --member etcd1.example.org:2379 --member etcd2.example.org:2379 "
      "--member etcd3.example.org:2379 > federation.sh");
  begin.callback([&action, wanted] { action = [wanted] { return init(*wanted); }; });
}

}  // namespace rota::cli
