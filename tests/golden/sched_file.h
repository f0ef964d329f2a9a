// Reads a *.sched file: a first line with its lesson; the cluster and the policy; the jobs; the timeline that they must
// come to. Seconds throughout; '#' begins a comment.
//
//   # lesson: ...
//   processors 4
//   node 2 16              optional, one for each node, in place of `processors`: its processors, and maybe its memory;
//   node 2 factor=1950     and maybe its CPU factor, per mille; accelerators=N of type=N, speed=N (per mille) and
//   rack=N, features=N (a sum of 2^feature) licences matlab 2      optional, one for each kind node 2 partition=1 and
//   maybe that it is in partition 1 too (all are in partition 0) node 2 fails=500       and maybe how many of its boots
//   fail, per mille boot 5 optional, as is `shutdown 1`: of every node named so far; without it a boot takes 1 s
//   boot-seed 7 optional: which boots fail site texel 10          optional: what is described from here to the next one
//   is there; its link, bytes a second reserve processors=4 from=10 until=20      optional, one for each reservation;
//   on nodes: nodes=1,3 (the first and
//                          the third)
//   limit user=* jobs=2    optional, one for each limit: of one user or each, how many jobs or processors at one time
//   policy easy
//   ties submit-first      optional, as are `estimates exact` and `clamp`
//   jobs
//   1 0 3 10 10            id submit processors limit run, and maybe priority=N user=N nodes=N memory=N;
//                          checkpoint=N or rerun=N (can move, at that cost), once=1 (must not begin a second time),
//                          licences=N (of the first kind)
//                          second_licences=N, accelerators=N (on each node) of type=N, partition=N, features=N (that
//                          its nodes must have), on=N (the Nth node; may be there again), not-on=N, site=N (the Nth,
//                          where it is submitted), input=N (bytes), anywhere=0 (it stays there); tasks=N accelerator=N
//                          cpu=N start_up=N (what one takes there) task_limit=N
//   timeline
//   1 0 10 promised=5      id start end, and maybe promised=N (the first promise; unsaid: not looked at), backfilled,
//   killed preempted=N (of its dispatches so many gave way) migrated=N (moves) at=N (the Nth site), 2 rejected
//   asleep 40 cycles=2     optional: processor-seconds off, and times that a node was sent to sleep; failed=1: boots
//   tasks cpu=4 local=18   optional, as are `remote=N`, `redone=N`, `bound=N` and `rebound=N`: how many tasks were
//   finished on
//                          CPUs, on accelerators of the nodes where they lay and of others, how many had been begun in
//                          vain, and how often nodes or slots were bound to an accelerator node, or to another one
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/text.h"
#include "scenario/scenario.h"

namespace rota::golden {

struct Expected {
  std::int64_t id = 0;
  std::int64_t start = 0, end = 0;
  std::optional<std::int64_t> promised;
  std::int64_t preempted = 0;
  std::int64_t migrated = 0;
  std::optional<std::int64_t> at;
  bool backfilled = false, killed = false, rejected = false;
};

struct SchedFile {
  std::string lesson;
  std::string policy;
  RehearseOptions options = scenario::on(0);
  std::vector<scenario::Row> jobs;
  std::vector<Expected> timeline;
  std::optional<std::int64_t> asleep;
  std::optional<std::int64_t> cycles;
  std::optional<std::int64_t> failed;
  std::map<std::string, std::int64_t> tasks;
};

class SchedReader {
 public:
  static SchedFile read(const std::filesystem::path& path) { return SchedReader(path).file_; }

 private:
  explicit SchedReader(const std::filesystem::path& path) : shown_(path.filename().string()) {
    std::ifstream in(path);
    for (std::string text; std::getline(in, text);) {
      ++line_;
      if (line_ == 1) read_lesson(text);
      std::istringstream words(text.substr(0, text.find('#')));
      if (std::string word; words >> word) read_line(word, words);
    }
    if (!attributes_.empty()) {
      const auto read = log::Attributes::parse(
          "job,licences,restart,restart_cost,input,site,accelerators,accelerator_type,anywhere\n" + attributes_, shown_,
          &machine_);
      if (!read) fail(read.error().message);
      file_.options.attributes = std::make_shared<const log::Attributes>(*read);
    }
    add_partitions();
    for (Machine& site : machine_.sites) {
      site.accelerator_types = machine_.accelerator_types;
      site.features = machine_.features;
    }
    if (!machine_.sites.empty() && !machine_.reservations.empty()) fail("reservations are for one site");
    const bool beside_counts = !machine_.reservations.empty() || !machine_.limits.empty();
    if (machine_.nodes.empty() && beside_counts) machine_.processors = file_.options.processors;
    if (!machine_.nodes.empty() || !machine_.sites.empty() || beside_counts) {
      file_.options.processors = machine_.processors;
      file_.options.machine = std::make_shared<const Machine>(machine_);
      if (!tasks_.empty()) file_.options.tasks = std::make_shared<const TaskTable>(tasks_);
    }
    if (file_.options.processors < 1 || file_.policy.empty() || file_.jobs.empty() || file_.timeline.empty()) {
      fail("processors, policy, jobs or timeline is missing");
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", shown_, line_, what));
  }

  void read_lesson(const std::string& text) {
    const std::string mark = "# lesson: ";
    if (!text.starts_with(mark)) fail("the first line does not say the lesson");
    file_.lesson = text.substr(mark.size());
  }

  std::int64_t number(const std::string& word) const {
    const auto value = parse_integer(word);
    if (!value) fail(value.error().message);
    return *value;
  }
  std::int64_t next_number(std::istringstream& words) const {
    std::string word;
    if (!(words >> word)) fail("a number is missing");
    return number(word);
  }

  void read_line(const std::string& word, std::istringstream& words) {
    if (word == "jobs" || word == "timeline") {
      part_ = word;
    } else if (part_ == "jobs") {
      read_job(word, words);
    } else if (part_ == "timeline") {
      read_expected(word, words);
    } else {
      read_setting(word, words);
    }
  }

  void read_setting(const std::string& word, std::istringstream& words) {
    std::string value;
    words >> value;
    if (word == "site") {
      machine_.sites.emplace_back().name = value;
      machine_.sites.back().racks = {""};
      if (std::string link; words >> link) machine_.sites.back().bandwidth = number(link);
    } else if (word == "processors" && machine_.sites.empty()) {
      file_.options.processors = number(value);
    } else if (word == "processors") {
      machine_.sites.back().processors = number(value);
      machine_.processors += number(value);
    } else if (word == "node") {
      read_node(number(value), words);
    } else if (word == "boot" || word == "shutdown") {
      const Duration time = seconds(number(value));
      const auto set = [&](Machine& machine) {
        for (Node& node : machine.nodes) (word == "boot" ? node.power.boot : node.power.shutdown) = time;
      };
      set(machine_);
      for (Machine& site : machine_.sites) set(site);
    } else if (word == "boot-seed") {
      machine_.boot_seed = number(value);
    } else if (word == "licences") {
      const Licence licence{value, next_number(words)};
      if (!machine_.sites.empty()) machine_.sites.back().licences.push_back(licence);
      const bool known = std::ranges::find(machine_.licences, value, &Licence::name) != machine_.licences.end();
      if (!known) machine_.licences.push_back(licence);
    } else if (word == "limit") {
      read_limit(value, words);
    } else if (word == "reserve") {
      read_reservation(value, words);
    } else if (word == "policy") {
      file_.policy = value;
    } else if (word == "ties" && value == "submit-first") {
      file_.options.ties = sim::Ties::submit_first;
    } else if (word == "estimates" && value == "exact") {
      file_.options.exact_estimates = true;
    } else if (word == "clamp" && value.empty()) {
      file_.options.clamp = true;
    } else {
      fail(fmt::format("there is no setting \"{} {}\"", word, value));
    }
  }

  void read_limit(std::string word, std::istringstream& words) {
    Limit& limit = machine_.limits.emplace_back();
    do {
      const std::string name = word.substr(0, word.find('=')),
                        value = word.substr(std::min(word.size(), name.size() + 1));
      if (name == "user") {
        limit.user = value;
      } else if (name == "jobs" || name == "processors") {
        (name == "jobs" ? limit.most.jobs : limit.most.processors) = number(value);
      } else {
        fail(fmt::format("a limit has no \"{}\"", word));
      }
    } while (words >> word);
  }

  void read_reservation(std::string word, std::istringstream& words) {
    Reservation& r = machine_.reservations.emplace_back();
    r.id = ReservationId{static_cast<std::uint32_t>(machine_.reservations.size() - 1)};
    do {
      if (word.starts_with("nodes=")) {
        for (const std::string_view node : split(std::string_view(word).substr(6), ',')) {
          r.nodes.push_back(NodeId{static_cast<std::uint32_t>(number(std::string(node)) - 1)});
        }
        continue;
      }
      const auto [name, value] = named(word);
      if (name == "processors") {
        r.processors = value;
      } else if (name == "from" || name == "until") {
        (name == "from" ? r.from : r.until) = at_seconds(value);
      } else {
        fail(fmt::format("a reservation has no \"{}\"", word));
      }
    } while (words >> word);
  }

  void add_partitions() {
    if (in_partition_.empty()) return;
    machine_.default_partition = PartitionId{0};
    machine_.partitions.resize(2);
    for (const auto& [node, partition] : in_partition_) {
      if (partition >= machine_.partitions.size()) machine_.partitions.resize(partition + 1);
    }
    for (std::size_t i = 0; i < machine_.partitions.size(); ++i) machine_.partitions[i].name = std::to_string(i);
    for (std::uint32_t i = 0; i < machine_.nodes.size(); ++i) {
      Node& node = machine_.nodes[i];
      node.partitions = {PartitionId{0}};
      if (in_partition_.contains(i)) node.partitions.push_back(PartitionId{in_partition_[i]});
      for (const PartitionId p : node.partitions) {
        machine_.partitions[p.value].nodes.push_back(NodeId{i});
        machine_.partitions[p.value].processors += node.processors;
      }
    }
    for (scenario::Row& row : file_.jobs) row.partition = row.partition.value_or(0);
  }

  void read_node(std::int64_t processors, std::istringstream& words) {
    Node node;
    node.name = "node " + std::to_string(machine_.nodes.size() + 1);
    node.processors = static_cast<std::uint32_t>(processors);
    node.power.boot = seconds(1);
    for (std::string more; words >> more;) {
      if (more.starts_with("factor=")) {
        node.cpu_factor = static_cast<std::int32_t>(named(more).second);
      } else if (more.starts_with("fails=")) {
        node.power.boot_fails = static_cast<std::int32_t>(named(more).second);
      } else if (more.starts_with("partition=")) {
        in_partition_[machine_.nodes.size()] = static_cast<std::uint32_t>(named(more).second);
      } else if (more.starts_with("accelerators=")) {
        node.accelerators = static_cast<std::uint32_t>(named(more).second);
        if (!node.accelerator_type.valid()) node.accelerator_type = type_named(0);
      } else if (more.starts_with("type=")) {
        node.accelerator_type = type_named(named(more).second);
      } else if (more.starts_with("features=")) {
        node.features = static_cast<std::uint64_t>(named(more).second);
        while (machine_.features.size() < static_cast<std::size_t>(std::bit_width(node.features)))
          machine_.features.push_back("f" + digits(static_cast<std::int64_t>(machine_.features.size())));
      } else if (more.starts_with("speed=")) {
        node.accelerator_speed = static_cast<std::int32_t>(named(more).second);
      } else if (more.starts_with("rack=")) {
        node.rack = RackId{static_cast<std::uint32_t>(named(more).second)};
      } else {
        node.memory = number(more);
      }
    }
    machine_.nodes.push_back(node);
    machine_.processors += processors;
    if (machine_.sites.empty()) return;
    machine_.sites.back().nodes.push_back(node);
    machine_.sites.back().processors += processors;
  }

  AcceleratorTypeId type_named(std::int64_t type) {
    const auto least = static_cast<std::size_t>(type) + 1;
    while (machine_.accelerator_types.size() < least) {
      machine_.accelerator_types.push_back(digits(static_cast<std::int64_t>(machine_.accelerator_types.size())));
    }
    return AcceleratorTypeId{static_cast<std::uint8_t>(type)};
  }

  void read_job(const std::string& id, std::istringstream& words) {
    scenario::Row& row = file_.jobs.emplace_back();
    row.number = number(id);
    row.submit = next_number(words);
    row.processors = static_cast<std::uint32_t>(next_number(words));
    row.limit = next_number(words);
    row.run = next_number(words);
    std::int64_t input = 0;
    std::size_t site = 0;
    bool anywhere = true;
    for (std::string word; words >> word;) {
      const auto [name, value] = named(word);
      if (name == "site") {
        site = static_cast<std::size_t>(value);
        if (site > machine_.sites.size()) fail("there is no site " + std::to_string(value));
      } else if (name == "input") {
        input = value;
      } else if (name == "anywhere") {
        anywhere = value != 0;
      } else if (name == "priority") {
        row.priority = static_cast<std::int32_t>(value);
      } else if (name == "user") {
        row.user = static_cast<std::uint32_t>(value);
      } else if (name == "nodes") {
        row.nodes = static_cast<std::uint32_t>(value);
      } else if (name == "memory") {
        row.memory = value;
      } else if (name == "accelerators") {
        row.accelerators = static_cast<std::uint8_t>(value);
      } else if (name == "type") {
        row.accelerator_type = type_named(value);
      } else if (name == "checkpoint" || name == "rerun") {
        row.restart = name == "rerun" ? Restart::from_start : Restart::checkpoint;
        row.restart_cost = value;
      } else if (name == "once") {
        row.restart = Restart::once;
      } else if (name == "partition") {
        row.partition = static_cast<std::uint32_t>(value);
      } else if (name == "licences") {
        row.licences = static_cast<std::uint32_t>(value);
      } else if (name == "second_licences") {
        row.second_licences = static_cast<std::uint32_t>(value);
      } else if (read_task_word(row.number, name, value) || read_wish_word(row, name, value)) {
        continue;
      } else {
        fail(fmt::format("a job has no \"{}\"", word));
      }
    }
    if (site > 0 || input > 0 || !anywhere) tell_apart(row, site, input, anywhere);
  }

  static bool read_wish_word(scenario::Row& row, const std::string& name, std::int64_t value) {
    NodeWish wish = row.wish ? *row.wish : NodeWish{};
    const NodeId node{static_cast<std::uint32_t>(value - 1)};
    if (name == "features") wish.features.push_back(static_cast<std::uint64_t>(value));
    if (name == "on") wish.among.push_back(node);
    if (name == "not-on") wish.without.push_back(node);
    if (name == "on") row.nodes = static_cast<std::uint32_t>(wish.among.size());
    row.wish = std::make_shared<const NodeWish>(std::move(wish));
    return name == "features" || name == "on" || name == "not-on";
  }
  bool read_task_word(std::int64_t job, const std::string& name, std::int64_t value) {
    if (name != "tasks" && name != "accelerator" && name != "cpu" && name != "start_up" && name != "task_limit") {
      return false;
    }
    TaskSpec& spec = tasks_.of_named[job] ? *tasks_.of_named[job] : tasks_.of_named[job].emplace();
    if (name == "tasks") spec.count = static_cast<std::uint32_t>(value);
    if (name == "accelerator") spec.accelerator = seconds(value);
    if (name == "cpu") spec.cpu = seconds(value);
    if (name == "start_up") spec.start_up = seconds(value);
    if (name == "task_limit") spec.limit = seconds(value);
    return true;
  }
  // As a sidecar says it, which then says everything of the job that it can.
  void tell_apart(const scenario::Row& row, std::size_t site, std::int64_t input, bool anywhere) {
    attributes_ += digits(row.number) + ",";
    std::vector<NamedLicences> licences;
    if (row.licences > 0) licences.push_back({machine_.licences.at(0).name, row.licences});
    if (row.second_licences > 0) licences.push_back({machine_.licences.at(1).name, row.second_licences});
    attributes_ += '"' + named_licences_text(licences) + '"';
    constexpr std::array<const char*, 4> kRestarts{"", "checkpoint", "from-start", "once"};
    const bool moves = row.restart == Restart::checkpoint || row.restart == Restart::from_start;
    attributes_ += fmt::format(",{},", kRestarts[static_cast<std::size_t>(row.restart)]);
    attributes_ += fmt::format("{},{},", moves ? digits(row.restart_cost) : "", digits(input));
    attributes_ += (site > 0 ? machine_.sites[site - 1].name : "") + ",";
    attributes_ += (row.accelerators > 0 ? digits(row.accelerators) : "") + ",";
    attributes_ += (row.accelerator_type.valid() ? digits(row.accelerator_type.value) : "") + ",";
    attributes_ += anywhere ? "\n" : "no\n";
  }
  static std::string digits(std::int64_t number) { return std::to_string(number); }

  void read_expected(const std::string& id, std::istringstream& words) {
    if (id == "asleep") {
      file_.asleep = next_number(words);
      for (std::string word; words >> word;) {
        const auto [name, value] = named(word);
        if (name != "cycles" && name != "failed") fail(fmt::format("sleep has no \"{}\"", word));
        (name == "cycles" ? file_.cycles : file_.failed) = value;
      }
      return;
    }
    if (id == "tasks") {
      for (std::string word; words >> word;) file_.tasks.insert(named(word));
      return;
    }
    Expected& e = file_.timeline.emplace_back();
    e.id = number(id);
    std::string word;
    words >> word;
    if (word == "rejected") {
      e.rejected = true;
      return;
    }
    e.start = number(word);
    e.end = next_number(words);
    while (words >> word) {
      if (word == "backfilled") {
        e.backfilled = true;
      } else if (word == "killed") {
        e.killed = true;
      } else if (const auto [name, value] = named(word); name == "promised") {
        e.promised = value;
      } else if (name == "preempted") {
        e.preempted = value;
      } else if (name == "migrated") {
        e.migrated = value;
      } else if (name == "at") {
        e.at = value;
      } else {
        fail(fmt::format("a timeline has no \"{}\"", word));
      }
    }
  }

  std::pair<std::string, std::int64_t> named(const std::string& word) const {
    const auto equals = word.find('=');
    if (equals == std::string::npos) fail(fmt::format("\"{}\" is not understood", word));
    return {word.substr(0, equals), number(word.substr(equals + 1))};
  }

  Machine machine_;
  std::map<std::size_t, std::uint32_t> in_partition_;  // by node
  TaskTable tasks_;
  std::string attributes_;  // rows of a sidecar
  std::string shown_;
  std::string part_;
  int line_ = 0;
  SchedFile file_;
};

inline std::string folder() { return std::string(ROTA_SOURCE_DIR) + "/tests/golden"; }

// Names without their ending, sorted.
inline std::vector<std::string> every_file() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".sched") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rota::golden
