// The configuration of a service: a cluster file (site/cluster_file.h) that may have a table [service] beside the
// cluster's own keys. docs/serve.md tells of every key.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/machine.h"

namespace rota::site {

// The table [federation]: the site is one of several that share jobs over etcd.
struct FederationSettings {
  std::string name;                    // of this site; empty: it is alone
  std::vector<std::string> endpoints;  // of etcd, HOST:PORT; the nearest first
  std::string prefix = "/rota/";       // of the keys there
  std::string authority;               // PEM files, by absolute paths: of the members' authority; empty: no TLS
  std::string certificate;             // of this site
  std::string key;
  std::string secret;  // a file, by an absolute path: seals what jobs run, in etcd; empty: it stands there in clear
  Duration lease = seconds(10);         // without a sign of life for so long the site counts as dead
  std::int64_t most_priority = 0;       // that a job of another site has here
  std::vector<std::string> priorities;  // "SITE=N" or "SITE:USER=N": instead of that
  bool takes_root = false;              // jobs of root come from other sites, too
  std::vector<std::string> users;       // "SITE:USER=NAME": whom they are here; others have the same name
  std::vector<std::string> partitions;  // that jobs of other sites may have; none: all
  std::int64_t share = 100;             // percent of the site's processors that they may have
  // What jobs need with them and leave behind.
  std::string data;                    // a folder, by an absolute path, for files on their way; empty: none come and go
  std::string address;                 // from where others read its part `out`, as rsync takes it
  std::vector<std::string> addresses;  // "SITE=ADDRESS": in place of what that site says of itself
  std::string account;                 // the user that reads and is read from; empty: the service's own
  std::string fetch;                   // a command instead of rsync
  std::int64_t bandwidth = 100;        // MB/s to and from other sites, until transfers have shown what it is

  bool joins() const { return !name.empty(); }
  bool operator==(const FederationSettings&) const = default;
};

// The table [slurm]: how often a service beside a Slurm cluster reads it.
struct SlurmReading {
  Duration poll = seconds(30);        // from one reading to the next
  Duration gap = seconds(1);          // from one of Slurm's commands to the next, at least
  Duration write_gap{200};            // from one command that changes something to the next, at least
  std::string history = "now-7days";  // from when on a new state takes in jobs that have ended, as sacct -S takes it
  std::string report;  // an absolute path or an address, for a report in each period; empty: none is made
  Duration report_every = seconds(7 * 86'400LL);

  bool operator==(const SlurmReading&) const = default;
};

struct ServiceSettings {
  std::string policy = "easy";
  std::vector<std::string> operators;   // names of users that may do everything, besides root and the service's user
  Duration kill_wait = seconds(30);     // from SIGTERM to SIGKILL, for jobs that do not say
  Duration keep_history = days(90);     // ended jobs and their scripts are forgotten after that long
  std::int64_t most_array = 10'000;     // tasks of one array
  std::int64_t most_jobs = 10'000'000;  // known at one time: more are refused
  std::int64_t most_jobs_of_user = 0;   // of them, of a user that is no operator; 0: nine tenths
  bool slurm_variables = false;         // jobs get SLURM_* beside ROTA_*
  std::string mail_command;             // sends mail about jobs; empty: none is sent
  std::string licence_command;          // says how many licences there are and are used; empty: there is none
  Duration licence_interval = seconds(60);
  Duration licence_timeout = seconds(20);
  std::string listen;           // "host:port" for TCP beside the Unix socket; empty: none
  std::string tls_certificate;  // PEM files, by absolute paths; empty: no TLS
  std::string tls_key;
  FederationSettings federation;
  SlurmReading slurm;

  bool operator==(const ServiceSettings&) const = default;

 private:
  static constexpr Duration days(std::int64_t n) { return seconds(n * 86'400); }
};

struct Configuration {
  Machine machine;
  ServiceSettings service;
  std::vector<Reservation> reservations;  // by date: their times are Unix times
  std::string text;                       // of the cluster file, for the journal
};

// Reads the file or fails with a sentence "FILE:LINE: ...", as read_cluster_file does. Where it describes neither nodes
// nor processors, those of `here` are added to its text, and the name if it has none: cluster_of_this_host().
Result<Configuration> read_configuration(const std::string& path, const std::string& here = "");
// Reads a text in the same way; `shown` stands for the file in messages.
Result<Configuration> parse_configuration(std::string_view text, const std::string& shown);

// The text of a cluster file for one node: this computer, as it is.
std::string cluster_of_this_host(const std::string& name, std::int64_t processors, std::int64_t memory,
                                 std::int64_t accelerators = 0);

// One row of the table of keys, for people.
struct ServiceKey {
  std::string name;
  std::string takes;
  std::string fallback;
  std::string meaning;
};
std::vector<ServiceKey> service_keys();
std::vector<ServiceKey> federation_keys();
std::vector<ServiceKey> slurm_keys();

}  // namespace rota::site
