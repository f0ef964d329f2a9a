// The cluster as it is described before anything happens on it: nodes and partitions with their limits. Plain data; the
// reader of the file sees to it that its parts agree (site/cluster_file.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "model/billing.h"
#include "model/cpu_factor.h"
#include "model/limit.h"
#include "model/load_rule.h"
#include "model/reservation.h"
#include "model/tariff.h"

namespace rota {

// All processors of a cluster: more cannot be counted.
inline constexpr std::int64_t kMostProcessors = 2'147'483'647;
inline constexpr std::int64_t kMostAccelerators = 64;                // of a node
inline constexpr std::int64_t kMostMemory = std::int64_t{1} << 60U;  // bytes of a node or a job

// What a node draws and how long it takes to go to sleep and to wake. Milliwatts times milliseconds are microjoules.
struct PowerDraw {
  std::int64_t off = 0;            // milliwatts while it is off
  std::int64_t idle = 0;           // while it is on
  std::int64_t busy = 0;           // that each busy processor adds to that,
  std::int64_t accelerator = 0;    // and each accelerator that a job holds or that computes a task
  Duration boot = seconds(300);    // from the command to the first job
  Duration shutdown = seconds(0);  // from the command until it is off
  std::int64_t boot_energy = -1;   // microjoules of a whole boot; -1: it draws `idle` meanwhile
  std::int64_t shutdown_energy = -1;
  std::int32_t boot_fails = 0;        // per mille: so many boots leave the node off
  Duration boot_retry = seconds(60);  // a node whose boot failed is left alone so long, after the first time

  bool operator==(const PowerDraw&) const = default;

  // Milliwatts while it boots or shuts down.
  std::int64_t booting() const { return mean(boot_energy, boot); }
  std::int64_t shutting_down() const { return mean(shutdown_energy, shutdown); }

  // The shortest sleep that pays (Orgerie and Lefevre): from the command to sleep until the node is on again. A node
  // that would be idle for less had better stay on. kLongest: sleep never pays.
  Duration break_even() const {
    const Duration turns = shutdown + boot;
    if (idle <= off) return idle == 0 ? turns : kLongest;
    const std::int64_t energy = boot.count() * booting() + shutdown.count() * shutting_down() - off * turns.count();
    return std::max(turns, Duration{(energy + idle - off - 1) / (idle - off)});
  }

 private:
  std::int64_t mean(std::int64_t energy, Duration length) const {
    return energy < 0 || length <= Duration{0} ? idle : energy / length.count();
  }
};

// The site's own commands that switch nodes of one kind, where these are real.
struct SwitchCommands {
  std::string suspend;  // for /bin/sh, as are the others
  std::string resume;
  std::string probe;       // says by 0 that jobs can start there; empty: the times of the description are waited out
  Duration timeout{0};     // in which a node must be on, or off, after it was told to
  std::int64_t tries = 3;  // boots that fail one after the other before the node is taken out of use
};

// One computer.
struct Node {
  std::string name;                     // unique
  std::uint32_t processors = 1;         // 0: it has gone
  std::int64_t memory = 0;              // bytes; 0: not said, and then no job asks for too much
  std::vector<PartitionId> partitions;  // that it belongs to, ascending; empty where the machine has none
  RackId rack = RackId{0};              // where it stands
  std::uint32_t accelerators = 0;
  AcceleratorTypeId accelerator_type = {};  // of each of them; invalid where there are none
  std::int32_t accelerator_speed = 1000;    // of each of them: per mille of that for which accelerator times are told
  PowerDraw power = {};
  std::int32_t cpu_factor =
      kStandardFactor;                // per mille: how fast it runs jobs beside a node for which run times are told
  std::int64_t accelerator_link = 0;  // bytes a second between each accelerator and other nodes; 0: they take no time
  std::uint64_t features = 0;         // bit f: it has feature f
  std::int64_t weight = 1;            // under policy slurm a job goes to the nodes with the least of those that will do
  std::shared_ptr<const SwitchCommands> commands = {};  // nullptr: nothing can switch it

  bool has_gone() const { return processors == 0; }  // it keeps its id, and no job can use it
  bool operator==(const Node&) const = default;
};

// Nodes that share limits. A job that asks for more than a limit is rejected when it is submitted.
struct Partition {
  std::string name;                  // unique
  std::vector<NodeId> nodes;         // ascending; empty where processors are counted: then it has all of them
  std::int64_t processors = 0;       // of its nodes together
  Duration max_time = kLongest;      // the longest time limit of a job
  Duration default_time = kLongest;  // of a job that asks for none; at most max_time
  std::uint32_t min_nodes = 1;       // the fewest nodes of a job
  std::uint32_t max_nodes = 0;       // the most nodes of a job; 0: no limit
  std::uint32_t max_processors = 0;  // the most processors of a job; 0: no limit
  std::int32_t priority = 0;         // jobs of the partition with the higher one go first
  std::int64_t job_factor = 1;       // beside that of others, under policy slurm
  std::int64_t memory = 0;           // bytes of its nodes together, as are
  std::int64_t accelerators = 0;
  Billing billing = {};                            // what use counts in fair share, under policy slurm
  std::shared_ptr<const LoadRule> load_rule = {};  // nullptr: nothing of its own
};

// Licences of a program, which all nodes share: a job holds as many as it asks for while it runs.
struct Licence {
  std::string name;        // unique
  std::int64_t count = 0;  // of jobs at one time
};

// A quality of service, as Slurm has them.
struct Qos {
  std::string name;                     // unique
  std::int64_t priority = 0;            // beside that of others
  std::int64_t usage_factor = 1000;     // per mille: so much what its jobs use counts in fair share
  std::vector<QosId> over = {};         // whose jobs give way to its jobs, where a policy goes by that; ascending
  std::vector<std::string> users = {};  // of a service that may ask for it; empty: all
};

// A user that can charge an account, and what part of it this user is to have beside the others below it. Slurm's
// association.
struct ShareHolder {
  std::string name;
  std::int64_t shares = 1;
  bool first = false;  // before all others below the account (Slurm's fairshare=parent)
};

// A part of the fair share, which accounts and users below it divide.
struct Account {
  std::string name;          // unique
  std::int64_t parent = -1;  // index; -1: it stands at the top
  std::int64_t shares = 1;
  bool inherits = false;  // what is below it counts as below its parent (Slurm's fairshare=parent)
  std::vector<ShareHolder> users;
};

struct Machine {
  std::string name;
  std::int64_t processors = 0;  // in all
  std::int64_t memory = 0;      // bytes of its nodes together, as are
  std::int64_t accelerators = 0;
  std::vector<Node> nodes;            // empty: processors are interchangeable and only counted
  std::vector<Partition> partitions;  // empty: every job may use the whole machine
  PartitionId default_partition;      // of a job that names none; invalid where there are no partitions
  std::vector<Licence> licences = {};
  std::vector<Qos> qos = {};
  std::vector<Account> accounts = {};
  std::vector<Limit> limits = {};
  std::vector<std::string> accelerator_types = {};  // names, each of which some node has
  std::vector<std::string> features = {};           // of nodes: names, kMostFeatures at most
  std::vector<std::string> racks;  // names, by rack id; one of them nameless where nodes say nothing of racks
  std::int64_t price = -1;         // thousandths of the currency for a kilowatt-hour; -1: not said
  Tariff tariff = {};              // instead of the price, where it goes by the time of day
  std::int64_t co2 = -1;           // milligrams for a kilowatt-hour; -1: not said
  std::int64_t boot_seed = 1;      // decides which boots fail
  std::vector<Reservation> reservations = {};       // known from the beginning, by id
  std::vector<std::string> reservation_names = {};  // one for each; "": no job asks for it
  // The sites of a federation, which all of the above describes together: a machine for each site, named as the site
  // is, with nodes and racks of its own. Partitions, licences, features and types of accelerators have the same ids at
  // all sites; a partition may have no nodes at one, a licence may count 0, and no node may have a type. Empty: there
  // is one site.
  std::vector<Machine> sites = {};
  std::int64_t bandwidth = 0;  // of a site: bytes a second between it and the others; 0: inputs take no time

  bool tells_watts() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.power.idle > 0; });
  }
  bool tells_price() const { return price >= 0 || tariff.has_steps(); }
  // Whether jobs of one QOS give way to jobs of another; to none and none to them where a job has no QOS.
  bool gives_way(QosId of, QosId to) const {
    return of.valid() && to.valid() && std::ranges::binary_search(qos[to.value].over, of);
  }
  bool has_accelerators() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.accelerators > 0; });
  }

  // So many interchangeable processors, and no limits.
  static Machine counted(std::int64_t processors) {
    Machine machine;
    machine.processors = processors;
    return machine;
  }
};

}  // namespace rota
